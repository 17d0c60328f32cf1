//! The data safety of docs/ARCHITECTURE.md on real loop devices: everything that is in use is refused with
//! its reason and no byte of it changes, and the neighbour of each, which differs in one thing, may be written.

use crate::bench::{Bench, poke, run};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use stend_base::Kind;
use stend_record::{Refusal, TargetFacts, WriteAccess};
use stend_stand::{Need, Owner, Permission, inspect, may_write, prepare};

fn owner() -> Owner {
    Owner { run_id: "R-test".into(), run_file: "/runs/R-test.stend".into() }
}

/// Everything that a user could say to have the target written.
fn everything(facts: &TargetFacts) -> Permission {
    Permission {
        confirm: facts.identity.clone().into_iter().collect(),
        overwrite_signatures: facts.signatures.iter().map(|s| s.name.clone()).collect(),
    }
}

fn reasons(facts: &TargetFacts) -> &[Refusal] {
    match &facts.access {
        WriteAccess::Refused(reasons) => reasons,
        other => panic!("{} is not refused but {other:?}", facts.named),
    }
}

/// A device in use: under every name it is refused for this reason, only read, and not one byte changes.
fn refused(bench: &mut Bench, device: &str, is_reason: &dyn Fn(&Refusal) -> bool) {
    let before = bench.hash();
    let scratch = bench.dir().join("links");
    let link = bench.link(device, &scratch);
    let by_id = bench.link(device, Path::new("/dev/disk/by-id"));
    let bare = by_id.file_name().and_then(|n| n.to_str()).map(str::to_string).unwrap_or_default();
    let identity = inspect(device).unwrap().identity.unwrap();
    let names = [device, link.to_str().unwrap(), by_id.to_str().unwrap(), &bare, &identity];
    for name in names {
        let facts = inspect(name).unwrap();
        assert_eq!(facts.path, device, "{name}");
        assert!(reasons(&facts).iter().any(is_reason), "{name}: {:?}", facts.access);
        assert!(may_write(&facts, &Permission::default()).unwrap().is_err(), "only read when nothing is asked");
        let asked = may_write(&facts, &everything(&facts)).unwrap_err();
        assert_eq!((asked.kind, asked.kind.exit_code()), (Kind::Unsafe, 5), "{name}");
        let forced = TargetFacts {
            access: WriteAccess::Confirm {
                identity: identity.clone(),
                signatures: everything(&facts).overwrite_signatures,
            },
            ..facts.clone()
        };
        // Even facts that say otherwise do not help: the target is looked at again.
        for facts in [&facts, &forced] {
            let refused = prepare(facts, &everything(facts), &Need::WriteDevice(owner()), &mut |_| {}).unwrap_err();
            assert_eq!(refused.kind, Kind::Unsafe, "{name}: {refused}");
        }
        let reading = prepare(&facts, &Permission::default(), &Need::Read, &mut |_| {}).unwrap();
        assert_eq!(reading.open(false, false).unwrap().read_at(&mut [0; 512], 0).unwrap(), 512);
        assert_eq!(reading.open(true, false).unwrap_err().kind, Kind::Unsafe);
    }
    bench.undo_last();
    bench.undo_last();
    assert_eq!(bench.hash(), before, "bytes of {device} changed");
}

/// A device that may be written when its identity is confirmed and exactly these signatures are named.
fn allowed(bench: &Bench, device: &str, signatures: &[&str]) {
    let before = bench.hash();
    let facts = inspect(device).unwrap();
    let identity = facts.identity.clone().unwrap();
    let names: Vec<String> = signatures.iter().map(|s| s.to_string()).collect();
    assert_eq!(
        facts.access,
        WriteAccess::Confirm { identity: identity.clone(), signatures: names.clone() },
        "{device}"
    );
    let permission = |confirm: &str, names: &[String]| Permission {
        confirm: vec![confirm.to_string()],
        overwrite_signatures: names.to_vec(),
    };
    let need = Need::WriteDevice(owner());
    let mut half_hearted =
        vec![Permission::default(), permission("serial:other", &names), permission(&identity, &["zfs".into()])];
    if !names.is_empty() {
        half_hearted.push(permission(&identity, &names[1..]));
    }
    for permission in half_hearted {
        let refused = prepare(&facts, &permission, &need, &mut |_| {}).unwrap_err();
        assert_eq!(refused.kind, Kind::Unsafe, "{device} with {permission:?}");
    }
    assert_eq!(bench.hash(), before, "bytes of {device} changed before they were allowed to");
    let prepared = prepare(&facts, &permission(&identity, &names), &need, &mut |_| {}).unwrap();
    let second = prepare(&facts, &permission(&identity, &names), &need, &mut |_| {}).unwrap_err();
    let who = format!("process {}, `/runs/R-test.stend`", std::process::id());
    assert!(second.message.en.contains(&who), "{second}");
    let file = prepared.open(true, false).unwrap();
    assert_eq!(file.write_at(&[0xa5; 4096], 0).unwrap(), 4096);
    file.sync_all().unwrap();
    prepared.undo(&mut |_| {}).unwrap();
    drop(file);
    assert_ne!(bench.hash(), before, "{device} was not written");
    nothing_held(device);
}

fn nothing_held(device: &str) {
    let facts = inspect(device).unwrap();
    assert!(matches!(facts.access, WriteAccess::Confirm { .. }), "{device} is still held: {:?}", facts.access);
}

fn member(name: &'static str) -> impl Fn(&Refusal) -> bool {
    move |reason| matches!(reason, Refusal::Member { of, .. } if of == name)
}

fn is_mounted(reason: &Refusal) -> bool {
    matches!(reason, Refusal::Mounted { .. })
}

/// Makes the blkid of the system say what our reader says, so that a superblock written by hand counts.
fn blkid_says(device: &str, name: &str) {
    assert_eq!(run(&["blkid", "-p", "-s", "TYPE", "-o", "value", device]).trim(), name);
}

/// One kind of use: how a device gets into it, why it is refused, how it gets out of it, and what must then
/// be named.
struct Row {
    name: &'static str,
    mib: u64,
    take: fn(&mut Bench, &str),
    reason: fn(&Refusal) -> bool,
    release: fn(&mut Bench, &str),
    signatures: &'static [&'static str],
}

fn wipe(_: &mut Bench, device: &str) {
    run(&["wipefs", "-aq", device]);
}

const ROWS: &[Row] = &[
    Row {
        name: "a mounted ext4",
        mib: 16,
        take: |bench, device| {
            run(&["mkfs.ext4", "-qF", device]);
            bench.mount(device);
        },
        reason: is_mounted,
        release: |bench, _| bench.undo_last(),
        signatures: &["ext4"],
    },
    Row {
        name: "a mounted xfs",
        mib: 320,
        take: |bench, device| {
            run(&["mkfs.xfs", "-qf", device]);
            bench.mount(device);
        },
        reason: is_mounted,
        release: |bench, _| bench.undo_last(),
        signatures: &["xfs"],
    },
    Row {
        name: "a mounted btrfs",
        mib: 128,
        take: |bench, device| {
            run(&["mkfs.btrfs", "-qf", device]);
            bench.mount(device);
        },
        reason: is_mounted,
        release: |bench, _| bench.undo_last(),
        signatures: &["btrfs"],
    },
    Row {
        name: "a file system mounted in another mount namespace only",
        mib: 16,
        take: |bench, device| {
            run(&["mkfs.ext4", "-qF", device]);
            let line = format!("mount -o ro {device} /mnt && echo ready && exec sleep 60");
            bench.start(Command::new("unshare").args(["-m", "sh", "-c", &line]));
        },
        reason: is_mounted,
        release: |bench, _| bench.undo_last(),
        signatures: &["ext4"],
    },
    Row {
        name: "an LVM physical volume",
        mib: 16,
        take: |_, device| {
            run(&["pvcreate", "-qy", "--nolocking", device]);
            blkid_says(device, "LVM2_member");
        },
        reason: |r| member("LVM2_member")(r),
        release: wipe,
        signatures: &[],
    },
    Row {
        name: "an md member",
        mib: 16,
        take: |_, device| {
            let mut superblock = vec![0; 256];
            superblock[..8].copy_from_slice(&[0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0]);
            superblock[16..32].copy_from_slice(&[7; 16]);
            superblock[144] = 8; // its own sector
            poke(device, 4096, &superblock);
            blkid_says(device, "linux_raid_member");
        },
        reason: |r| member("linux_raid_member")(r),
        release: |_, device| poke(device, 4096, &[0; 256]),
        signatures: &[],
    },
    Row {
        name: "a ZFS member",
        mib: 64,
        take: |_, device| {
            for slot in 4..12 {
                poke(device, (128 << 10) + slot * 1024, &0x00ba_b10cu64.to_le_bytes());
            }
            blkid_says(device, "zfs_member");
        },
        reason: |r| member("zfs_member")(r),
        release: |_, device| poke(device, 128 << 10, &[0; 16 << 10]),
        signatures: &[],
    },
    Row {
        name: "active swap",
        mib: 16,
        take: |bench, device| {
            run(&["mkswap", "-q", device]);
            run(&["swapon", device]);
            bench.undo_with(&["swapoff", device]);
        },
        reason: |r| matches!(r, Refusal::Swap { .. }),
        release: |bench, _| bench.undo_last(),
        signatures: &["swap"],
    },
    Row {
        name: "a device that a process holds open",
        mib: 16,
        take: |bench, device| {
            let line = format!("exec 3<{device}; echo ready; exec sleep 60");
            bench.start(Command::new("sh").args(["-c", &line]));
        },
        reason: |r| matches!(r, Refusal::HeldBy { pid: 1.., name } if name == "sleep"),
        release: |bench, _| bench.undo_last(),
        signatures: &[],
    },
    Row {
        name: "a device under another device",
        mib: 16,
        take: |bench, device| {
            bench.attach(Path::new(device), &[]);
        },
        reason: |r| matches!(r, Refusal::Holder { .. }),
        release: |bench, _| bench.undo_last(),
        signatures: &[],
    },
];

#[test]
fn everything_in_use_is_refused_and_its_neighbour_is_allowed() {
    let Some(mut bench) = Bench::new("everything_in_use_is_refused_and_its_neighbour_is_allowed") else { return };
    for row in ROWS {
        println!("{}", row.name);
        let device = bench.disk(row.mib);
        (row.take)(&mut bench, &device);
        refused(&mut bench, &device, &row.reason);
        (row.release)(&mut bench, &device);
        allowed(&bench, &device, row.signatures);
        bench.undo_last();
    }
}

#[test]
fn a_member_of_a_btrfs_with_two_devices_is_refused_mounted_or_not() {
    let Some(mut bench) = Bench::new("a_member_of_a_btrfs_with_two_devices_is_refused_mounted_or_not") else { return };
    let (first, second) = (bench.disk(128), bench.disk(128));
    run(&["mkfs.btrfs", "-qf", &first, &second]);
    for device in [&first, &second] {
        refused(&mut bench, device, &member("btrfs"));
    }
    bench.mount(&first);
    // The mount table names only one of them.
    for device in [&first, &second] {
        refused(&mut bench, device, &is_mounted);
    }
    bench.undo_last();
    run(&["wipefs", "-aq", &second]);
    allowed(&bench, &second, &[]);
    refused(&mut bench, &first, &member("btrfs"));
}

#[test]
fn a_disk_is_as_busy_as_its_partitions_and_a_partition_does_not_speak_for_its_neighbour() {
    let Some(mut bench) = Bench::new("a_disk_is_as_busy_as_its_partitions") else { return };
    for label in ["gpt", "dos"] {
        let (disk, first, second) = bench.partitioned(32, label);
        run(&["mkfs.ext4", "-qF", &first]);
        bench.mount(&first);
        refused(&mut bench, &first, &is_mounted);
        let kernel_name = first.trim_start_matches("/dev/").to_string();
        refused(&mut bench, &disk, &|r| matches!(r, Refusal::RelativeMounted { device, .. } if *device == kernel_name));
        allowed(&bench, &second, &[]);
        bench.undo_last();
        run(&["mkswap", "-q", &second]);
        run(&["swapon", &second]);
        bench.undo_with(&["swapoff", &second]);
        refused(&mut bench, &disk, &|r| matches!(r, Refusal::Swap { .. }));
        bench.undo_last();
        let mut all = vec!["ext4", "swap", label];
        all.sort();
        allowed(&bench, &disk, &all);
    }
}

#[test]
fn a_member_inside_a_partition_that_the_kernel_does_not_know_is_found() {
    let Some(mut bench) = Bench::new("a_member_inside_a_partition_that_the_kernel_does_not_know_is_found") else {
        return;
    };
    let (disk, first, _) = bench.partitioned(32, "gpt");
    run(&["pvcreate", "-qy", "--nolocking", &first]);
    run(&["partx", "-d", &disk]);
    refused(&mut bench, &disk, &member("LVM2_member"));
    run(&["wipefs", "-aq", &disk]);
    run(&["wipefs", "-aqf", &disk]);
    allowed(&bench, &disk, &[]);
}

#[test]
fn two_devices_over_one_file_are_refused() {
    let Some(mut bench) = Bench::new("two_devices_over_one_file_are_refused") else { return };
    let image = bench.image(16);
    let first = bench.attach(&image, &[]);
    let second = bench.attach(&image, &[]);
    for device in [&first, &second] {
        let facts = inspect(device).unwrap();
        assert!(reasons(&facts).iter().any(|r| matches!(r, Refusal::DuplicateIdentity { .. })), "{:?}", facts.access);
    }
    bench.undo_last();
    allowed(&bench, &first, &[]);
}

#[test]
fn a_device_set_read_only_is_refused() {
    let Some(mut bench) = Bench::new("a_device_set_read_only_is_refused") else { return };
    let image = bench.image(16);
    let device = bench.attach(&image, &["-r"]);
    refused(&mut bench, &device, &|r| *r == Refusal::ReadOnly);
}

#[test]
fn the_disk_of_the_running_system_is_refused() {
    let number = std::fs::metadata("/").unwrap().dev();
    let name = std::fs::read_link(format!("/sys/dev/block/{}:{}", number >> 8 & 0xfff, number & 0xff));
    let Ok(name) = name else {
        println!("skipped: the root file system is not on a device of its own");
        return;
    };
    let facts = inspect(&format!("/dev/{}", name.file_name().unwrap().to_string_lossy())).unwrap();
    assert!(reasons(&facts).iter().any(|r| matches!(r, Refusal::RootDisk { .. })), "{:?}", facts.access);
    assert_eq!(may_write(&facts, &everything(&facts)).unwrap_err().kind, Kind::Unsafe);
}

#[test]
fn a_run_that_was_killed_holds_nothing_and_one_that_lives_is_named() {
    let Some(mut bench) = Bench::new("a_run_that_was_killed_holds_nothing_and_one_that_lives_is_named") else { return };
    let device = bench.disk(16);
    let this = std::env::current_exe().unwrap();
    let mut command = Command::new(this);
    command.args(["--exact", "devices::claimed_by_another_process", "--nocapture"]).env("STEND_TEST_CLAIM", &device);
    let pid = bench.start(&mut command);
    let run = Refusal::InUseByRun { pid, run: "/runs/R-test.stend".into() };
    refused(&mut bench, &device, &|r| *r == run);
    bench.undo_last(); // kill -9
    allowed(&bench, &device, &[]);
}

/// The other process of the test above.
#[test]
fn claimed_by_another_process() {
    let Some(device) = std::env::var_os("STEND_TEST_CLAIM") else { return };
    let facts = inspect(device.to_str().unwrap()).unwrap();
    let held = prepare(&facts, &everything(&facts), &Need::WriteDevice(owner()), &mut |_| {}).unwrap();
    println!("ready");
    loop {
        std::thread::park();
        assert!(held.size() > stend_base::Bytes(0));
    }
}

#[test]
fn two_runs_cannot_write_to_two_partitions_of_one_disk() {
    let Some(mut bench) = Bench::new("two_runs_cannot_write_to_two_partitions_of_one_disk") else { return };
    let (_, first, second) = bench.partitioned(32, "gpt");
    let (one, two) = (inspect(&first).unwrap(), inspect(&second).unwrap());
    let held = prepare(&one, &everything(&one), &Need::WriteDevice(owner()), &mut |_| {}).unwrap();
    let refused = prepare(&two, &everything(&two), &Need::WriteDevice(owner()), &mut |_| {}).unwrap_err();
    assert!(refused.message.en.contains("in use by another run"), "{refused}");
    drop(held);
    prepare(&two, &everything(&two), &Need::WriteDevice(owner()), &mut |_| {}).unwrap();
}

#[test]
fn a_target_that_changed_after_it_was_confirmed_is_not_written() {
    let Some(mut bench) = Bench::new("a_target_that_changed_after_it_was_confirmed_is_not_written") else { return };
    let device = bench.disk(16);
    let facts = inspect(&device).unwrap();
    let permission = everything(&facts);
    let need = Need::WriteDevice(owner());
    // Between the claim and the first write.
    let prepared = prepare(&facts, &permission, &need, &mut |_| {}).unwrap();
    poke(&device, 4086, b"SWAPSPACE2");
    let refused = prepared.open(true, false).unwrap_err();
    assert_eq!(refused.kind, Kind::Unsafe);
    assert!(refused.message.en.contains("signatures"), "{refused}");
    drop(prepared);
    // Between the confirmation and the claim.
    let refused = prepare(&facts, &permission, &need, &mut |_| {}).unwrap_err();
    assert!(refused.message.en.contains("changed since it was looked at (signatures)"), "{refused}");
    run(&["truncate", "-s", "8M", bench.dir().join("image0").to_str().unwrap()]);
    poke(&device, 4086, &[0; 10]);
    run(&["losetup", "-c", &device]);
    let refused = prepare(&facts, &permission, &need, &mut |_| {}).unwrap_err();
    assert!(refused.message.en.contains("(size)"), "{refused}");
    allowed(&bench, &device, &[]);
}

#[test]
fn direct_io_reaches_the_device() {
    let Some(mut bench) = Bench::new("direct_io_reaches_the_device") else { return };
    let device = bench.disk(16);
    let facts = inspect(&device).unwrap();
    let prepared = prepare(&facts, &everything(&facts), &Need::WriteDevice(owner()), &mut |_| {}).unwrap();
    assert!(prepared.open(true, true).unwrap().is_direct());
    assert!(prepared.open(false, true).unwrap().is_direct());
}

#[test]
fn the_stack_of_a_loop_device_reaches_down_to_the_drive_of_its_file() {
    let Some(mut bench) = Bench::new("the_stack_of_a_loop_device_reaches_down_to_the_drive_of_its_file") else {
        return;
    };
    let device = bench.disk(16);
    run(&["mkfs.ext4", "-qF", &device]);
    let at = bench.mount(&device);
    let facts = inspect(at.to_str().unwrap()).unwrap();
    assert_eq!(facts.file_system.as_deref(), Some("ext4"));
    assert_eq!((facts.devices[0].kind.as_str(), facts.devices[0].depth), ("loop", 0));
    let below = inspect(bench.dir().to_str().unwrap()).unwrap();
    let names = |facts: &TargetFacts| facts.devices.iter().map(|d| d.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&facts)[1..], names(&below), "the image lies on the drive below the bench");
    let shares = |dir: &str| stend_stand::shares_drive(Path::new(dir), &facts);
    assert!(shares(bench.dir().to_str().unwrap()) || below.devices.is_empty());
    assert!(!shares("/dev/shm"), "memory is not on a drive");
}
