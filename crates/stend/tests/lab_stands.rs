//! Stands of real kernels in a machine of the lab: built on drives with limits, measured, taken down; the arithmetic of RAID
//! shows, and nothing stays on the drives. One machine for what is judged by rates, one for the rest.

use crate::support::lab::{Machine, ready};
use crate::support::*;
use std::path::Path;

/// One I/O in flight waits for one drive, however many there are; many keep all of them at work.
const DEPTHS: &str = "suite: depths\ndefaults: {ramp: 500ms, trial: 3s}\nfill: {size: 48MiB}\nrepeats: {blocks: 1}\ncases:\n  \
    - {name: d, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: [1, 32]}]}\n";

/// Beyond what RAID 5 keeps of its 256 last stripes: 16 MiB were so few that every tenth write found what it had to read there.
const SUITE: &str = "suite: raid\ndefaults: {ramp: 300ms, trial: 2s}\nfill: {size: 48MiB}\nrepeats: {blocks: 1}\ncases:\n  \
    - {name: write, streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 32}]}\n  \
    - {name: read, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 32}]}\n";

/// Most I/Os per second of each drive: far below what the emulation itself can do.
const DRIVE_IOPS: f64 = 400.0;

impl Machine<'_> {
    /// A run of a suite on a stand that ends with `exit`: what it printed, and its file.
    fn measure(&self, name: &str, drives: u32, layer: &str, suite: &str, exit: i32) -> ((String, String), String) {
        let suite = self.scratch.file(&format!("{name}-suite.yaml"), suite);
        let stand = self.stand(name, drives, layer);
        let file = self.scratch.join(&format!("{name}.stend")).to_string_lossy().into_owned();
        let words = ["run", &suite, "--stand", &stand, "--progress", "none", "-o", &file, "--allow-commands"];
        (self.stend(&words, exit), file)
    }

    /// Writes and reads per second on a stand, which is put up and taken down for it.
    fn rates(&self, name: &str, drives: u32, layer: &str) -> (f64, f64) {
        let (_, file) = self.measure(name, drives, layer, SUITE, 0);
        assert_eq!(
            self.guest("wipefs /dev/nvme?n1; dmsetup ls; grep -c ^md /proc/mdstat || true").trim(),
            "No devices found\n0",
            "{name}"
        );
        let found = show_json(self.scratch, Path::new(&file));
        let rate =
            |case: usize| found["cases"][case]["iops"]["value"].as_f64().unwrap_or_else(|| panic!("{name}: {found}"));
        (rate(0), rate(1))
    }

    /// Nothing is handed out any more, and nobody is logged in.
    fn no_target_is_left(&self) {
        let left = "ls /sys/kernel/config/target/core /sys/kernel/config/nvmet/subsystems /sys/class/iscsi_session; \
                    iscsiadm --mode node 2>&1 || true";
        let left = self.guest(left);
        // What the kernel has by itself once it serves anything.
        let usual = |line: &str| line.is_empty() || line.ends_with(':') || line == "alua";
        let left: Vec<&str> = left.lines().filter(|line| !usual(line)).collect();
        assert_eq!(left, ["iscsiadm: No records found"]);
    }
}

/// On drives with a service time, one I/O in flight is as fast on four as on one, and 32 are four times as fast.
fn depths(machine: &Machine) {
    let suite = machine.scratch.file("depths.yaml", DEPTHS);
    let rates = |name: &str, drives: u32, layer: &str| {
        let drives: Vec<String> = (1..=drives).map(|number| format!("{{id: {}L{number}}}", machine.serial)).collect();
        let text = format!("stand: {name}\ndrives: [{}]\nlayers: [{layer}]\n", drives.join(", "));
        let stand = machine.scratch.file(&format!("{name}.yaml"), &text);
        let file = machine.scratch.join(&format!("{name}.stend")).to_string_lossy().into_owned();
        let words = ["run", &suite, "--stand", &stand, "--progress", "none", "-o", &file, "--allow-commands"];
        machine.stend(&words, 0);
        let found = show_json(machine.scratch, Path::new(&file));
        [0, 1].map(|case: usize| {
            found["cases"][case]["iops"]["value"].as_f64().unwrap_or_else(|| panic!("{name}: {found}"))
        })
    };
    let [one, four] = [rates("one", 1, "dm: {linear: whole}"), rates("four", 4, "md: {level: 0}")];
    let [alone, deep] = [four[0] / one[0], four[1] / one[1]];
    assert!((alone - 1.0).abs() <= 0.1, "depth 1: {alone} of one drive: {one:?} {four:?}");
    assert!(about(deep, 4.0), "depth 32: {deep} of one drive: {one:?} {four:?}");
}

/// Within 8 %.
fn about(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() <= 0.08
}

/// An array is built whole, is there again after a restart, and tells what it lacks.
fn mirror(machine: &Machine) {
    // A synchronisation is waited for, and a degraded array is reported.
    let stand = machine.stand("mirror", 2, "md: {level: 1, member_size: 32MiB}");
    machine.stend(&["stand", "up", &stand], 0);
    assert!(machine.guest("cat /proc/mdstat").contains("[UU]"));
    // An array that was stopped, as a restart of the host stops it, is put together again with what is in it.
    machine.guest("printf kept | dd of=/dev/md127 conv=fsync status=none && mdadm --quiet --stop /dev/md127");
    let (_, done) = machine.stend(&["stand", "up", &stand], 0);
    assert!(done.contains("mdadm --assemble") && !done.contains("--create"), "{done}");
    assert_eq!(machine.guest("head -c 4 /dev/md127"), "kept");
    machine.guest("mdadm --fail /dev/md127 $(ls /sys/block/md127/slaves | head -1)");
    let (told, _) = machine.stend(&["stand", "status", "mirror"], 0);
    assert!(told.contains("degraded: 1 members are missing"), "{told}");
    machine.stend(&["stand", "down", "mirror"], 0);
    assert_eq!(machine.guest("wipefs /dev/nvme?n1"), "");
}

/// One place fails, and those beside it do not; what is encrypted cannot be read on the drive.
fn mappings(machine: &Machine) {
    let stand = machine.stand("bad", 1, "dm: {error: {from: 8MiB, length: 1MiB}}");
    machine.stend(&["stand", "up", &stand], 0);
    let read = |mib: u32| {
        format!(
            "dd if=/dev/mapper/stend-bad-dm of=/dev/null bs=1M count=1 skip={mib} iflag=direct status=none 2>&1; echo $?"
        )
    };
    let told: Vec<bool> = [7, 8, 9].into_iter().map(|mib| machine.guest(&read(mib)).trim() == "0").collect();
    assert_eq!(told, [true, false, true]);
    assert_eq!(machine.guest("blockdev --getsize64 /dev/mapper/stend-bad-dm").trim(), (96 << 20).to_string());
    machine.stend(&["stand", "down", "bad"], 0);

    let stand = machine.stand("crypt", 1, "dm: {crypt: aes-256-xts}");
    machine.stend(&["stand", "up", &stand], 0);
    let over = "/dev/mapper/stend-crypt-dm";
    machine.guest(&format!("printf plainly | dd of={over} bs=4k conv=sync,fsync oflag=direct status=none"));
    assert_eq!(machine.guest(&format!("head -c 7 {over}")), "plainly");
    let under = machine.guest("dmsetup deps -o blkdevname stend-crypt-dm | grep -o 'nvme[0-9]n1'");
    let raw = format!("dd if=/dev/{} bs=4k count=1 iflag=direct status=none | grep -c plainly || true", under.trim());
    assert_eq!(machine.guest(&raw).trim(), "0");
    machine.stend(&["stand", "down", "crypt"], 0);
    assert_eq!(machine.guest("dmsetup ls").trim(), "No devices found");
}

/// What is under checksums comes back after a restart. What is in a cache of writes does, too, and all is written back when it goes.
/// Neither leaves anything.
fn superblocks(machine: &Machine) {
    let stand = machine.stand("sums", 1, "dm: {integrity: journal}");
    machine.stend(&["stand", "up", &stand], 0);
    let over = "/dev/mapper/stend-sums-dm";
    machine.guest(&format!(
        "printf kept | dd of={over} bs=4k conv=sync,fsync oflag=direct status=none; dmsetup remove --retry stend-sums-dm"
    ));
    let (_, done) = machine.stend(&["stand", "up", &stand], 0);
    assert!(done.contains("dmsetup create") && !done.contains("integritysetup"), "{done}");
    assert_eq!(machine.guest(&format!("head -c 4 {over}")), "kept");
    machine.stend(&["stand", "down", "sums"], 0);

    let stand = machine.stand("ahead", 2, "dm: {writecache: {}}");
    machine.stend(&["stand", "up", &stand], 0);
    let over = "/dev/mapper/stend-ahead-dm";
    // What is written counts: at the end of the drive the stand leaves its mark.
    let sum = |path: &str| machine.guest(&format!("dd if={path} bs=1M count=8 iflag=direct status=none | md5sum"));
    let slow = "/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_".to_string() + &machine.serial + "1";
    machine.guest(&format!("dd if=/dev/urandom of={over} bs=1M count=8 oflag=direct conv=fsync status=none"));
    let written = sum(over);
    assert_ne!(sum(&slow), written, "it is in the cache alone");
    machine.guest("dmsetup remove --retry stend-ahead-dm");
    let (_, done) = machine.stend(&["stand", "up", &stand], 0);
    assert!(!done.contains("blkdiscard"), "{done}");
    assert_eq!(sum(over), written);
    machine.stend(&["stand", "down", "ahead"], 0);
    assert_eq!(sum(&slow), written);
    assert_eq!(machine.guest("dmsetup ls; wipefs /dev/nvme?n1").trim(), "No devices found");
}

/// Drives are formatted to other sectors and back, once each and those alone that had others; what carries something is not.
fn sectors(machine: &Machine) {
    let drive = |number: u32| format!("/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_{}{number}", machine.serial);
    let blocks = || {
        let shown = machine.guest(&format!("blockdev --getss {} {}", drive(1), drive(2)));
        shown.split_whitespace().map(|bytes| bytes.parse().expect("bytes")).collect::<Vec<u32>>()
    };
    let stand = machine.stand("blocks", 2, "{sectors: 4KiB}, {md: {level: 0, chunk: 64KiB}}");
    machine.guest(&format!("mkfs.ext4 -q {}", drive(1)));
    let (_, told) = machine.stend(&["stand", "up", &stand], 5);
    assert!(told.contains("ext4") && blocks() == [512, 512], "{told}");
    machine.guest(&format!("blkdiscard -fz {}; nvme format {} --block-size=4096 --force", drive(1), drive(2)));
    assert_eq!(blocks(), [512, 4096]);
    let (_, done) = machine.stend(&["stand", "up", &stand], 0);
    assert_eq!((done.matches("nvme format").count(), blocks()), (1, vec![4096, 4096]), "{done}");
    let (_, done) = machine.stend(&["stand", "up", &stand], 0);
    assert!(!done.contains("nvme format"), "{done}");
    assert_eq!(machine.guest("blockdev --getss /dev/md127").trim(), "4096");
    machine.stend(&["stand", "down", "blocks"], 0);
    assert_eq!(blocks(), [512, 4096], "the second one was so before");
    machine.guest(&format!("nvme format {} --block-size=512 --force", drive(2)));
    // What somebody put on a drive meanwhile is not erased.
    let stand = machine.stand("taken", 1, "{sectors: 4KiB}");
    machine.stend(&["stand", "up", &stand], 0);
    machine.guest(&format!("mkfs.ext4 -q {}", drive(1)));
    let (_, told) = machine.stend(&["stand", "down", "taken"], 5);
    assert!(told.contains("it was not formatted back") && blocks() == [4096, 512], "{told}");
    assert!(machine.guest(&format!("wipefs {}", drive(1))).contains("ext4"), "{told}");
    machine.guest(&format!("blkdiscard -fz {}", drive(1)));
    machine.stend(&["stand", "down", "taken"], 0);
    assert_eq!(blocks(), [512, 512]);
    let (_, told) = machine.stend(&["stand", "up", &machine.stand("disks", 1, "{sectors: 512B}")], 0);
    assert!(!told.contains("nvme format"), "{told}");
    machine.stend(&["stand", "down", "disks"], 0);
    assert_eq!(machine.guest("wipefs /dev/nvme?n1"), "");
}

/// A file system over NBD is there again after all of it went, as a restart of the machine takes it, although its mark can be seen on
/// the drive; and leaves nothing.
fn over_nbd(machine: &Machine) {
    let stand = machine.stand("far", 1, "{nbd: {}}, {fs: {type: ext4}}");
    machine.stend(&["stand", "up", &stand], 0);
    let at = "/run/stend/stands/far-fs";
    machine.guest(&format!(
        "printf kept > {at}/kept; umount {at}; nbd-client -d /dev/nbd0; pkill --exact nbd-server; rm -r /run/stend/nbd"
    ));
    let (_, done) = machine.stend(&["stand", "up", &stand], 0);
    assert!(done.contains("nbd-client 127.0.0.1") && !done.contains("mkfs"), "{done}");
    assert_eq!(machine.guest(&format!("cat {at}/kept")), "kept");
    machine.stend(&["stand", "down", "far"], 0);
    let left = "pgrep --exact nbd-server; cat /sys/block/nbd*/pid 2>/dev/null; ls /run/stend/nbd; wipefs /dev/nvme?n1";
    assert_eq!(machine.guest(left), "");
}

/// What happened in a trial, in its order.
fn moments(trial: &serde_json::Value) -> Vec<&str> {
    trial["moments"].as_array().expect("moments").iter().filter_map(|one| one["what"]["en"].as_str()).collect()
}

/// A snapshot comes and goes on the far side of iSCSI, and one of two paths to it as well: no I/O fails, all data are there.
fn copies_and_paths(machine: &Machine) {
    let suite = "suite: copies\nfill: {size: 16MiB}\nrepeats: {blocks: 1}\ncases:\n  - name: mix\n    ramp: 500ms\n    trial: 8s\n    \
        events: [{at: 2s, for: 2s, do: snapshot}, {at: 5s, for: 1s, do: path.down, path: 1}]\n    streams:\n      \
        - {op: write, pattern: random, block_size: 4KiB, rate: 100/s, queue_depth: 64, verify: {after: true}}\n";
    let layers = "lvm: {type: thin, virtual_size: 64MiB}}, {iscsi: {paths: 2}";
    let (_, file) = machine.measure("copies", 1, &format!("{{{layers}}}"), suite, 0);
    let document = show_json(machine.scratch, Path::new(&file));
    let found = &document["faults"][0]["trials"][0];
    let expected = ["a snapshot is made", "the snapshot is removed", "path 1 is down", "path 1 is back"];
    assert_eq!(moments(found)[..4], expected, "{found}");
    assert_eq!((&found["errors"], &found["mismatches"]), (&0.into(), &0.into()));
}

/// Drives that come over two controllers are one device each, also for LVM: a path goes and comes back under load, and no I/O fails.
/// Without the layer, with another number of paths, or while somebody has one of them, nothing is built.
fn two_ways(machine: &Machine) {
    let stand = |name: &str, layers: &str| {
        let drives = [1, 2].map(|number| format!("{{id: {}W{number}}}", machine.serial)).join(", ");
        machine.scratch.file(name, &format!("stand: ways\ndrives: [{drives}]\nlayers: [{layers}]\n"))
    };
    let refused = |layers: &str, exit: i32| machine.stend(&["stand", "up", &stand("refused.yaml", layers)], exit).1;
    let told = refused("lvm: {type: striped}", 5);
    assert!(told.contains("is the identity of `sd") && told.contains("put a layer `multipath` on it"), "{told}");
    let told = refused("multipath: {paths: 3}", 4);
    assert!(told.contains("here: 2, but the layer `multipath` needs 3"), "{told}");
    machine.guest("dmsetup create taken --table \"0 8 linear $(ls /dev/sd? | tail -1) 0\"");
    let told = refused("multipath: {paths: 2}", 5);
    assert!(told.contains("/dev/sd") && told.contains("dm-0"), "{told}");
    machine.guest("dmsetup remove taken");
    assert_eq!(machine.guest("dmsetup ls").trim(), "No devices found");

    let suite = "suite: ways\nfill: {size: 16MiB}\nrepeats: {blocks: 1}\ncases:\n  - name: mix\n    ramp: 500ms\n    trial: 6s\n    \
        events: [{at: 2s, for: 2s, do: path.down, path: 1}]\n    streams:\n      \
        - {op: write, pattern: random, block_size: 4KiB, rate: 100/s, queue_depth: 64, verify: {after: true}}\n";
    let suite = machine.scratch.file("ways-suite.yaml", suite);
    let file = machine.scratch.join("ways.stend").to_string_lossy().into_owned();
    let over = stand("ways.yaml", "{multipath: {paths: 2, policy: round-robin}}, {lvm: {type: striped}}");
    let words = ["run", &suite, "--stand", &over, "--progress", "none", "-o", &file];
    machine.stend(&words, 0);
    let document = show_json(machine.scratch, Path::new(&file));
    let found = &document["faults"][0]["trials"][0];
    assert_eq!(moments(found)[..2], ["path 1 is down", "path 1 is back"], "{found}");
    assert_eq!((&found["errors"], &found["mismatches"]), (&0.into(), &0.into()));
    assert_eq!(machine.guest("dmsetup ls; wipefs /dev/sd?").trim(), "No devices found");
}

/// A member fails under load, a new one comes and is rebuilt; all data are as they were written. What would lose data is refused.
fn events(machine: &Machine) {
    let suite = "suite: loss\nfill: {size: 16MiB}\nrepeats: {blocks: 1}\ncases:\n  - name: mix\n    ramp: 500ms\n    trial: 14s\n    \
        events: [{at: 3s, for: 3s, do: drive.fail, drive: 2}, {at: 4s, for: 1s, do: cpu.offline, cpu: 1}]\n    streams:\n      \
        - {op: read, pattern: random, block_size: 4KiB, region: {size: 50%}, rate: 150/s, queue_depth: 64}\n      \
        - {op: write, pattern: random, block_size: 4KiB, region: {start: 50%}, rate: 30/s, queue_depth: 64, verify: {after: true}}\n";
    let ((_, refused), _) = machine.measure("lossless", 4, "md: {level: 0}", suite, 4);
    assert!(refused.contains("is raid0: without a member all of its data would be lost"), "{refused}");

    let layer = "md: {level: 5, chunk: 64KiB, initial_sync: skip, member_size: 16MiB}";
    let (_, file) = machine.measure("loss", 4, layer, suite, 0);
    let document = show_json(machine.scratch, Path::new(&file));
    let found = &document["faults"][0]["trials"][0];
    let moments = moments(found);
    let [failed, "CPU 1 is offline", "CPU 1 is back", "a new drive is put in", "arrays are whole"] = moments[..] else {
        panic!("{moments:?}")
    };
    assert!(failed.starts_with("drive 2 fails and is taken out (nvme"), "{failed}");
    let time = |key: &str| found[key].as_f64().unwrap_or_else(|| panic!("{key}: {found}")) / 1e9;
    let put_in = found["moments"][3]["at_s"].as_f64().unwrap_or_else(|| panic!("{found}"));
    assert!((time("redundant_again_ns") - put_in - time("rebuilt_ns")).abs() < 0.01, "{found}");
    assert!(put_in > 2.0 && time("rebuilt_ns") > 0.0, "{found}");
    assert_eq!((&found["errors"], &found["mismatches"]), (&0.into(), &0.into()));
    assert!(about(found["recovery"]["before_per_s"].as_f64().unwrap_or_default(), 180.0), "{found}");
    let h64 = document["cases"][0]["checks"].as_array().into_iter().flatten().find(|check| check["id"] == "H64");
    assert_eq!(h64.map(|check| &check["status"]), Some(&"not_applicable".into()));
    assert_eq!(machine.guest("cat /sys/devices/system/cpu/cpu1/online; wipefs /dev/nvme?n1").trim(), "1");
}

const SMALL_DRIVES: &str = "count: 4, size: 96MiB";

#[test]
#[ignore = "takes minutes under emulation: `make lab` runs it"]
fn raid_on_drives_with_limits_costs_what_its_layout_says() {
    let scratch = Scratch::new();
    if !ready(&scratch, "raid_on_drives_with_limits_costs_what_its_layout_says") {
        return;
    }
    let machine = Machine::up(&scratch, "raid", |serial| {
        format!(
            "memory: 1GiB\ncpus: 2\ndrives: [{{serial: {serial}, {SMALL_DRIVES}, iops: {DRIVE_IOPS}}}, \
             {{serial: {serial}L, {SMALL_DRIVES}, iops: {DRIVE_IOPS}, latency: 3ms}}]\n"
        )
    });
    for (name, drives, layer, writes, reads) in [
        ("md0", 4, "md: {level: 0}", 4.0, 4.0),
        // Each write goes to two drives.
        ("md10", 4, "md: {level: 10, initial_sync: skip}", 2.0, 4.0),
        // Each write reads data and parity and writes both.
        ("md5", 4, "md: {level: 5, chunk: 64KiB, initial_sync: skip}", 1.0, 4.0),
        ("striped", 4, "lvm: {type: striped}", 4.0, 4.0),
        // Deep enough a queue hides what each I/O waits for.
        ("tcp", 1, "{dm: {delay: {read: 2ms, write: 2ms}}}, {nvme_of: {transport: tcp}}", 1.0, 1.0),
    ] {
        let (written, read) = machine.rates(name, drives, layer);
        assert!(about(written, writes * DRIVE_IOPS), "{name}: {written} writes per second");
        assert!(about(read, reads * DRIVE_IOPS), "{name}: {read} reads per second");
    }
    depths(&machine);
    mirror(&machine);
    mappings(&machine);
    machine.no_target_is_left();
    machine.down();
}

#[test]
fn stands_outlive_restarts_and_a_failed_drive_and_leave_nothing() {
    let scratch = Scratch::new();
    if !ready(&scratch, "stands_outlive_restarts_and_a_failed_drive_and_leave_nothing") {
        return;
    }
    let machine = Machine::up(&scratch, "layers", |serial| {
        format!("memory: 1GiB\ncpus: 2\ndrives: [{{serial: {serial}, {SMALL_DRIVES}, iops: {DRIVE_IOPS}}}]\n")
    });
    superblocks(&machine);
    events(&machine);
    machine.no_target_is_left();
    machine.down();
}

#[test]
#[ignore = "takes minutes under emulation: `make lab` runs it"]
fn stands_outlive_lost_paths_and_other_sectors_and_leave_nothing() {
    let scratch = Scratch::new();
    if !ready(&scratch, "stands_outlive_lost_paths_and_other_sectors_and_leave_nothing") {
        return;
    }
    let machine = Machine::up(&scratch, "paths", |serial| {
        format!(
            "memory: 1GiB\ncpus: 2\ndrives: [{{serial: {serial}, {SMALL_DRIVES}, iops: {DRIVE_IOPS}}}, \
             {{serial: {serial}W, kind: scsi, count: 2, size: 64MiB, paths: 2, wwn: 5000c500a0b1c2d0}}]\n"
        )
    });
    sectors(&machine);
    over_nbd(&machine);
    two_ways(&machine);
    copies_and_paths(&machine);
    machine.no_target_is_left();
    machine.down();
}
