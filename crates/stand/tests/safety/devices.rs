//! The data safety of docs/ARCHITECTURE.md on real loop devices: everything that is in use is refused with
//! its reason and no byte of it changes, and the neighbour of each, which differs in one thing, may be written.

use crate::bench::{Bench, poke, run, run_when_free};
use crate::checks::{allowed, allowed_with_remains, everything, reasons, refused};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use stend_base::Kind;
use stend_record::{Refusal, TargetFacts};
use stend_stand::{inspect, may_write};

fn member(name: &'static str) -> impl Fn(&Refusal) -> bool {
    move |reason| matches!(reason, Refusal::Member { of, .. } if of == name)
}

fn is_mounted(reason: &Refusal) -> bool {
    matches!(reason, Refusal::Mounted { .. })
}

fn is_mounted_elsewhere(reason: &Refusal) -> bool {
    matches!(reason, Refusal::MountedElsewhere { pid: 1.., name, .. } if name == "sleep")
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
            bench.start(Command::new("unshare").args(["-m", "--propagation", "slave", "sh", "-c", &line]));
        },
        reason: is_mounted_elsewhere,
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
        name: "a drive that ZFS has partitioned",
        mib: 64,
        take: |_, device| {
            run(&["sh", "-c", &format!("printf 'label: gpt\\n1MiB,40MiB\\n' | sfdisk -q {device}")]);
            for slot in 4..12 {
                poke(device, (1 << 20) + (128 << 10) + slot * 1024, &0x00ba_b10cu64.to_le_bytes());
            }
        },
        reason: |r| member("zfs_member")(r),
        release: wipe,
        signatures: &[],
    },
    Row {
        name: "active swap",
        mib: 16,
        take: |bench, device| bench.swap_on(device),
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
    for row in ROWS {
        let Some(mut bench) = Bench::new(row.name) else { continue };
        println!("{}", row.name);
        let device = bench.disk(row.mib);
        (row.take)(&mut bench, &device);
        refused(&mut bench, &device, &row.reason);
        (row.release)(&mut bench, &device);
        allowed_with_remains(&bench, &device, row.signatures);
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
    // `wipefs` leaves the copy at 64 MiB, which says that there are two devices.
    run(&["wipefs", "-aq", &second]);
    refused(&mut bench, &second, &member("btrfs"));
    run(&["blkdiscard", "-fz", &second]);
    allowed(&bench, &second, &[]);
    refused(&mut bench, &first, &member("btrfs"));
}

#[test]
fn a_disk_is_as_busy_as_its_partitions_and_a_partition_does_not_speak_for_its_neighbour() {
    for label in ["gpt", "dos"] {
        let Some(mut bench) = Bench::new("a_disk_is_as_busy_as_its_partitions") else { return };
        let (disk, first, second) = bench.partitioned(32, label);
        run(&["mkfs.ext4", "-qF", &first]);
        bench.mount(&first);
        refused(&mut bench, &first, &is_mounted);
        let kernel_name = first.trim_start_matches("/dev/").to_string();
        refused(&mut bench, &disk, &|r| matches!(r, Refusal::RelativeMounted { device, .. } if *device == kernel_name));
        allowed(&bench, &second, &[]);
        bench.undo_last();
        bench.swap_on(&second);
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
    run_when_free(&["partx", "-d", &disk]);
    refused(&mut bench, &disk, &member("LVM2_member"));
    run(&["wipefs", "-aq", &disk]);
    run(&["wipefs", "-aqf", &disk]);
    allowed(&bench, &disk, &["unknown-data"]);
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
fn the_stack_of_a_loop_device_reaches_down_to_the_drive_of_its_file() {
    let Some(mut bench) = Bench::on_disk("the_stack_of_a_loop_device_reaches_down_to_the_drive_of_its_file") else {
        return;
    };
    let device = bench.disk(16);
    run(&["mkfs.ext4", "-qF", &device]);
    let at = bench.mount(&device);
    let facts = inspect(at.to_str().unwrap()).unwrap();
    assert_eq!((facts.file_system.as_deref(), facts.journal), (Some("ext4"), Some(true)));
    let without = bench.disk(16);
    run(&["mkfs.ext4", "-qF", "-O", "^has_journal", &without]);
    let other = bench.mount(&without);
    assert_eq!(inspect(other.to_str().unwrap()).unwrap().journal, Some(false));
    assert_eq!((facts.devices[0].kind.as_str(), facts.devices[0].depth), ("loop", 0));
    let below = inspect(bench.dir().to_str().unwrap()).unwrap();
    let names = |facts: &TargetFacts| facts.devices.iter().map(|d| d.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&facts)[1..], names(&below), "the image lies on the drive below the bench");
    let shares = |dir: &str| stend_stand::shares_drive(Path::new(dir), &facts);
    assert!(shares(bench.dir().to_str().unwrap()) || below.devices.is_empty());
    assert!(!shares("/dev/shm"), "memory is not on a drive");
}
