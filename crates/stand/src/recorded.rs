//! Inventory over made-up machines: hardware that no test host has. Each tree is what sysfs, procfs and /dev
//! of such a machine show; device nodes are plain files that hold what is on the device.

use crate::access::{Viewer, judge};
use crate::devices::Devices;
use crate::identity;
use crate::inspect::inspect_under;
use crate::pools::{Device, Pool};
use crate::roots::Roots;
use std::os::unix::fs::{FileExt, symlink};
use std::path::Path;
use stend_base::Bytes;
use stend_record::{Refusal, WriteAccess};

mod exports;
mod fabrics;
mod memory;
mod mounts;
mod tables;

pub(crate) struct Tree {
    dir: tempfile::TempDir,
    pub(crate) roots: Roots,
}

const MIB: u64 = 1 << 20;

impl Tree {
    pub(crate) fn new() -> Tree {
        let dir = tempfile::tempdir().unwrap();
        // Links in sysfs are resolved, so the root of the tree must not be a link itself.
        let roots = Roots::under(&dir.path().canonicalize().unwrap());
        Tree { dir, roots }
    }

    pub(crate) fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A disk of 8 MiB at a place below `/sys/devices`, with attributes.
    pub(crate) fn disk(&self, name: &str, number: &str, place: &str, attributes: &[(&str, &str)]) {
        let sysfs = format!("sys/devices/{place}/block/{name}");
        self.device(name, number, &sysfs, 8 * MIB);
        for (file, text) in attributes {
            self.put(&format!("{sysfs}/{file}"), text);
        }
    }

    fn device(&self, name: &str, number: &str, sysfs: &str, size: u64) {
        self.put(&format!("{sysfs}/dev"), number);
        self.put(&format!("{sysfs}/size"), (size / 512).to_string());
        std::fs::create_dir_all(self.dir.path().join(sysfs).join("holders")).unwrap();
        self.put(&format!("dev/{name}"), "");
        std::fs::File::options()
            .write(true)
            .open(self.dir.path().join("dev").join(name))
            .unwrap()
            .set_len(size)
            .unwrap();
        std::fs::create_dir_all(self.roots.sys.join("class/block")).unwrap();
        symlink(self.dir.path().join(sysfs), self.roots.sys.join("class/block").join(name)).unwrap();
    }

    /// A partition of 2 MiB, the first one at 1 MiB.
    pub fn partition(&self, disk: &str, place: &str, number: u64, dev: &str) {
        let name = format!("{disk}{number}");
        let sysfs = format!("sys/devices/{place}/block/{disk}/{name}");
        self.device(&name, dev, &sysfs, 2 * MIB);
        self.put(&format!("{sysfs}/partition"), number.to_string());
        self.put(&format!("{sysfs}/start"), ((2 * number - 1) * MIB / 512).to_string());
    }

    /// A device built on others.
    pub(crate) fn over(&self, name: &str, number: &str, below: &[&str], attributes: &[(&str, &str)]) {
        self.disk(name, number, "virtual", attributes);
        for slave in below {
            self.put(&format!("sys/devices/virtual/block/{name}/slaves/{slave}"), "");
            self.put(&format!("sys/class/block/{slave}/holders/{name}"), "");
        }
    }

    fn poke(&self, device: &str, offset: u64, bytes: &[u8]) {
        let file = std::fs::File::options().write(true).open(self.roots.dev.join(device)).unwrap();
        file.write_all_at(bytes, offset).unwrap();
    }

    fn identity(&self, name: &str) -> String {
        let devices = Devices::read(&self.roots);
        identity::of(&self.roots, &devices, devices.by_name(name).unwrap()).unwrap_or_else(|| "none".to_string())
    }

    fn access(&self, name: &str) -> WriteAccess {
        let devices = Devices::read(&self.roots);
        judge(&self.roots, &devices, devices.by_name(name).unwrap(), Viewer::Stranger).access
    }

    fn reasons(&self, name: &str) -> Vec<Refusal> {
        match self.access(name) {
            WriteAccess::Refused(reasons) => reasons,
            WriteAccess::Confirm { .. } | WriteAccess::OwnDirectory | WriteAccess::Nowhere => Vec::new(),
        }
    }
}

const SATA: &str = "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0";
const SATA_2: &str = "pci0000:00/0000:00:1f.2/ata2/host1/target1:0:0/1:0:0:0";

fn one_sata_disk() -> Tree {
    let tree = Tree::new();
    tree.disk("sda", "8:0", SATA, &[("device/wwid", "naa.5000c500a1b2c3d4")]);
    tree
}

/// An ext4 superblock as far as it is looked at, with UUID 0101…01 and a label.
fn put_ext4(tree: &Tree, device: &str, label: &[u8]) {
    tree.poke(device, 1024 + 56, b"\x53\xef");
    tree.poke(device, 1024 + 92, &[4, 0, 0, 0, 0x40]);
    tree.poke(device, 1024 + 104, &[1; 16]);
    tree.poke(device, 1024 + 120, label);
}

#[test]
fn a_device_is_known_by_the_first_thing_that_is_unique_about_it() {
    let tree = one_sata_disk();
    tree.partition("sda", SATA, 2, "8:2");
    let mut page = vec![0, 0x80, 0, 6];
    page.extend(b"QM 001");
    let scsi = "pci0000:00/0000:00:05.0/virtio3/host2/target2:0:0/2:0:0:1";
    tree.disk("sdb", "8:16", scsi, &[("device/wwid", "t10.QEMU    QEMU HARDDISK   x")]);
    tree.put(&format!("sys/devices/{scsi}/block/sdb/device/vpd_pg80"), page);
    tree.disk("sdc", "8:32", "pci0000:00/0000:00:06.0/host3/target3:0:0/3:0:0:0", &[]);
    tree.disk("nvme0n1", "259:0", "pci0000:00/0000:00:1d.0/nvme/nvme0", &[("wwid", "eui.0025385c2140105d")]);
    tree.disk("vda", "254:0", "pci0000:00/0000:00:02.0/virtio1", &[("serial", "data 1")]);
    tree.disk("vdb", "254:16", "pci0000:00/0000:00:04.0/virtio2", &[]);
    tree.partition("vdb", "pci0000:00/0000:00:04.0/virtio2", 1, "254:17");
    tree.disk("zram0", "252:0", "virtual", &[]);
    tree.over("dm-0", "253:0", &["sda2"], &[("dm/uuid", "LVM-abc")]);
    tree.over("md0", "9:0", &["vda"], &[("md/level", "raid1")]);
    tree.poke("vda", 4096, &[0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    tree.poke("vda", 4096 + 16, &[0xab; 16]);
    let expected = [
        ("sda", "wwn:0x5000c500a1b2c3d4"),
        ("sda2", "wwn:0x5000c500a1b2c3d4-part2"),
        ("sdb", "serial:QM_001"),
        ("nvme0n1", "wwn:eui.0025385c2140105d"),
        ("vda", "serial:data_1"),
        ("dm-0", "dm:LVM-abc"),
        ("md0", "md:abababab-abab-abab-abab-abababababab"),
        // A host number is given in the order of discovery, so this place is not stable.
        ("sdc", "none"),
        ("vdb", "path:pci0000:00/0000:00:04.0/virtio2,8388608"),
        ("vdb1", "path:pci0000:00/0000:00:04.0/virtio2,8388608-part1"),
        ("zram0", "none"),
    ];
    for (name, identity) in expected {
        assert_eq!(tree.identity(name), identity, "{name}");
    }
    assert!(tree.reasons("sdc").contains(&Refusal::NoIdentity));
    put_ext4(&tree, "sdc", b"");
    assert_eq!(tree.identity("sdc"), "fs-uuid:01010101-0101-0101-0101-010101010101");
    tree.put("dev/disk/by-path/.keep", "");
    symlink("../../vdb", tree.roots.dev.join("disk/by-path/pci-0000:00:04.0")).unwrap();
    assert_eq!(tree.identity("vdb"), "path:pci-0000:00:04.0,8388608");
}

#[test]
fn a_device_is_found_by_its_identity() {
    let tree = one_sata_disk();
    tree.partition("sda", SATA, 1, "8:1");
    let facts = inspect_under(&tree.roots, "wwn:0x5000c500a1b2c3d4-part1").unwrap();
    assert!(facts.path.ends_with("dev/sda1"));
    assert_eq!(facts.access, WriteAccess::Confirm { identity: facts.named.clone(), signatures: Vec::new() });
    let stack: Vec<_> = facts.devices.iter().map(|d| (d.depth, d.name.as_str(), d.kind.as_str())).collect();
    assert_eq!(stack, [(0, "sda1", "partition"), (1, "sda", "disk")]);
    assert!(inspect_under(&tree.roots, "wwn:0x5000c500a1b2c3d4-part9").is_err());
}

#[test]
fn a_stack_is_walked_down_to_every_drive_once() {
    let tree = one_sata_disk();
    tree.disk("sdb", "8:16", SATA_2, &[("device/wwid", "naa.5000c500ffffffff")]);
    tree.over("md0", "9:0", &["sda", "sdb"], &[("md/level", "raid1")]);
    tree.over("dm-0", "253:0", &["md0"], &[("dm/uuid", "LVM-a")]);
    tree.over("dm-1", "253:1", &["dm-0", "md0"], &[("dm/uuid", "LVM-b")]);
    let facts = inspect_under(&tree.roots, "dm:LVM-b").unwrap();
    let stack: Vec<_> = facts.devices.iter().map(|d| (d.depth, d.name.as_str())).collect();
    assert_eq!(stack, [(0, "dm-1"), (1, "dm-0"), (1, "md0"), (2, "sda"), (2, "sdb")]);
}

#[test]
fn a_volume_lies_on_what_its_snapshots_keep_their_copies_on() {
    let tree = one_sata_disk();
    tree.disk("sdb", "8:16", SATA_2, &[("device/wwid", "naa.5000c500ffffffff")]);
    tree.over("dm-0", "253:0", &["sda"], &[("dm/uuid", "LVM-a-real")]);
    tree.over("dm-1", "253:1", &["dm-0"], &[("dm/uuid", "LVM-a")]);
    tree.over("dm-2", "253:2", &["sdb"], &[("dm/uuid", "LVM-b-cow")]);
    tree.over("dm-3", "253:3", &["dm-0", "dm-2"], &[("dm/uuid", "LVM-b")]);
    let stack = |of: &str| {
        let facts = inspect_under(&tree.roots, of).unwrap();
        facts.devices.iter().map(|d| (d.depth, d.name.clone())).collect::<Vec<_>>()
    };
    let with =
        |top: &str| [(0, top), (1, "dm-0"), (1, "dm-2"), (2, "sda"), (2, "sdb")].map(|(d, n)| (d, n.to_string()));
    assert_eq!(stack("dm:LVM-a"), with("dm-1"));
    assert_eq!(stack("dm:LVM-b"), with("dm-3"));
}

#[test]
fn swap_on_a_logical_volume_makes_the_drive_busy() {
    let tree = one_sata_disk();
    tree.over("dm-0", "253:0", &["sda"], &[("dm/uuid", "LVM-swap")]);
    tree.put("proc/swaps", "Filename Type Size Used Priority\n/dev/dm-0 partition 1024 0 -2\n");
    for name in ["sda", "dm-0"] {
        assert!(tree.reasons(name).contains(&Refusal::Swap { device: "dm-0".into() }), "{name}");
    }
}

#[test]
fn of_two_paths_to_one_drive_neither_is_written_only_the_multipath_device_above_them() {
    let tree = one_sata_disk();
    tree.disk("sdb", "8:16", SATA_2, &[("device/wwid", "naa.5000c500a1b2c3d4")]);
    let duplicate = |other: &str| Refusal::DuplicateIdentity { other: other.into() };
    assert_eq!(tree.reasons("sda"), [duplicate("sdb")]);
    assert_eq!(tree.reasons("sdb"), [duplicate("sda")]);
    tree.over("dm-0", "253:0", &["sda", "sdb"], &[("dm/uuid", "mpath-35000c500a1b2c3d4")]);
    assert_eq!(tree.reasons("sda"), [Refusal::Holder { device: "dm-0".into() }, duplicate("sdb")]);
    let identity = "dm:mpath-35000c500a1b2c3d4".to_string();
    assert_eq!(tree.access("dm-0"), WriteAccess::Confirm { identity, signatures: Vec::new() });
}

#[test]
fn hidden_paths_of_nvme_multipath_are_no_duplicates() {
    let tree = Tree::new();
    let wwid = ("wwid", "eui.0025385c2140105d");
    tree.disk("nvme0n1", "259:0", "virtual/nvme-subsystem/nvme-subsys0", &[wwid]);
    tree.disk("nvme0c0n1", "259:1", "pci0000:00/0000:00:1d.0/nvme/nvme0", &[wwid, ("hidden", "1")]);
    assert_eq!(tree.reasons("nvme0n1"), []);
    tree.disk("nvme1n1", "259:2", "pci0000:00/0000:00:1e.0/nvme/nvme1", &[wwid]);
    assert_eq!(tree.reasons("nvme0n1"), [Refusal::DuplicateIdentity { other: "nvme1n1".into() }]);
}

#[test]
fn a_volume_and_a_dataset_of_zfs_lie_on_the_drives_of_their_pool() {
    let tree = Tree::new();
    for (name, dev) in [("sda", "8:0"), ("sdb", "8:16"), ("sdc", "8:32"), ("zd0", "230:0")] {
        tree.disk(name, dev, "virtual", &[]);
    }
    tree.partition("sda", "virtual", 1, "8:1");
    tree.put("proc/self/mountinfo", "30 1 0:44 / /tank rw - zfs tank/files rw\n");
    let mut devices = Devices::read(&tree.roots);
    devices.stack_pools(vec![Pool {
        name: "tank".into(),
        devices: ["/dev/sda1", "/dev/sdb"].map(|path| Device { path: path.into(), group: "mirror-0".into() }).to_vec(),
        volumes: vec![("tank/v".into(), "zd0".into())],
    }]);
    let volume = devices.by_name("zd0").unwrap();
    let stack = devices.stack(&[volume]);
    let facts = crate::drives::describe(&tree.roots, &devices, &stack);
    let told: Vec<_> = facts.iter().map(|device| (device.depth, device.name.as_str(), device.kind.as_str())).collect();
    assert_eq!(told, [(0, "zd0", "zvol"), (1, "sda1", "partition"), (1, "sdb", "disk"), (2, "sda", "disk")]);
    assert_eq!(identity::of(&tree.roots, &devices, volume).as_deref(), Some("zvol:tank/v"));
    let reasons = |name: &str| judge(&tree.roots, &devices, devices.by_name(name).unwrap(), Viewer::Stranger).access;
    let held = |name: &str| matches!(reasons(name), WriteAccess::Refused(why) if why.contains(&Refusal::Holder { device: "zd0".into() }));
    assert!(held("sda") && held("sda1") && held("sdb") && !held("sdc"));
    let mounts = crate::mounts::own(&tree.roots);
    let below = crate::mounts::devices_of(&tree.roots, &devices, &mounts, &mounts[0]);
    assert_eq!(below.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["sda1", "sdb"]);
}

#[test]
fn arrays_tell_their_level_and_drives_their_transport_and_fua() {
    let tree = Tree::new();
    let over_tcp = [("device/transport", "tcp\n"), ("queue/fua", "1\n"), ("queue/write_cache", "write back\n")];
    tree.disk("nvme1n1", "259:2", "virtual/nvme-fabrics/ctl/nvme1", &[over_tcp[0], over_tcp[1], over_tcp[2]]);
    let paths = ("device/nvme0/transport", "pcie\n");
    tree.disk("nvme0n1", "259:0", "virtual/nvme-subsystem/nvme-subsys0", &[paths, ("queue/fua", "0\n")]);
    tree.disk("sda", "8:0", "platform/host3/session12/target3:0:0/3:0:0:0", &[]);
    let md = [
        ("md/level", "raid6\n"),
        ("md/raid_disks", "5 (4)\n"),
        ("md/chunk_size", "524288\n"),
        ("md/layout", "2\n"),
        ("wwid", "x"),
    ];
    tree.over("md0", "9:0", &["nvme1n1", "nvme0n1", "sda"], &md);
    tree.put("proc/self/mountinfo", "40 1 9:0 / /srv rw - xfs /dev/md0 rw\n");
    let devices = Devices::read(&tree.roots);
    let stack = devices.stack(&[devices.by_name("md0").unwrap()]);
    let facts = crate::drives::describe(&tree.roots, &devices, &stack);
    let of = |name: &str| facts.iter().find(|device| device.name == name).unwrap();
    assert_eq!(of("md0").array().as_deref(), Some("raid6 × 5"));
    assert_eq!((of("md0").chunk, of("md0").copies), (Some(Bytes::kib(512)), None));
    assert_eq!((of("nvme1n1").transport.as_deref(), of("nvme1n1").fua), (Some("tcp"), Some(true)));
    assert_eq!((of("nvme0n1").transport.as_deref(), of("nvme0n1").fua), (Some("pcie"), Some(false)));
    assert_eq!((of("sda").transport.as_deref(), of("sda").fua, of("sda").array()), (Some("iscsi"), None, None));
}

/// An array of partitions and disks of which some are not in sync, in the words of the kernel.
#[test]
fn members_of_an_array_that_are_not_in_sync_are_its_reserve_with_what_lies_below_them() {
    let (tree, other) = (Tree::new(), SATA_2);
    tree.disk("sda", "8:0", SATA, &[]);
    tree.partition("sda", SATA, 1, "8:1");
    tree.partition("sda", SATA, 2, "8:2");
    tree.disk("sdb", "8:16", other, &[]);
    tree.partition("sdb", other, 1, "8:17");
    tree.disk("sdc", "8:32", "pci0000:00/0000:00:06.0/host3/target3:0:0/3:0:0:0", &[]);
    tree.disk("sdd", "8:48", "pci0000:00/0000:00:07.0/host4/target4:0:0/4:0:0:0", &[]);
    let states = |states: &[(&str, &str)]| {
        let path = |name: &str| format!("sys/devices/virtual/block/md0/md/dev-{name}/state");
        states.iter().for_each(|(name, state)| tree.put(&path(name), format!("{state}\n")));
    };
    tree.over("md0", "9:0", &["sda1", "sdb1", "sdc", "sdd"], &[("md/level", "raid5"), ("md/raid_disks", "3")]);
    let reserve = |top: &str| -> Vec<(String, Option<bool>)> {
        let devices = Devices::read(&tree.roots);
        let stack = devices.stack(&[devices.by_name(top).unwrap()]);
        let facts = crate::drives::describe(&tree.roots, &devices, &stack);
        facts.into_iter().map(|device| (device.name, device.reserve)).collect()
    };
    let of = |found: &[(String, Option<bool>)], name: &str| found.iter().find(|(n, _)| n == name).unwrap().1;
    let green = reserve("md0");
    assert!(green.iter().all(|(_, reserve)| *reserve != Some(true)), "an array that tells no states: {green:?}");
    states(&[("sda1", "in_sync,write_error"), ("sdb1", "spare"), ("sdc", "in_sync"), ("sdd", "faulty")]);
    let found = reserve("md0");
    let told = ["md0", "sda1", "sda", "sdb1", "sdb", "sdc", "sdd"].map(|name| of(&found, name));
    let (work, idle) = (Some(false), Some(true));
    assert_eq!(told, [None, work, None, idle, idle, work, idle]);
    // The disk of a spare is at work where another part of it is.
    states(&[("sda1", "spare"), ("sdb1", "in_sync")]);
    tree.over("md1", "9:1", &["md0", "sda2"], &[("md/level", "raid0")]);
    let found = reserve("md1");
    assert_eq!(["sda1", "sda", "sda2", "sdb"].map(|name| of(&found, name)), [idle, None, work, None]);
}

#[test]
fn copies_of_a_raid_10_are_near_times_far_and_a_mirror_has_no_chunk() {
    let tree = one_sata_disk();
    // 2 near; 1 near and 2 far, offset; 2 near and 2 far.
    for (name, number, level, layout, chunk, copies) in [
        ("md1", "9:1", "raid10", "258", "65536", Some(2)),
        ("md2", "9:2", "raid10", "66049", "65536", Some(2)),
        ("md3", "9:3", "raid10", "514 (258)", "65536", Some(4)),
        ("md4", "9:4", "raid10", "0", "65536", None),
        ("md5", "9:5", "raid1", "0", "0", None),
    ] {
        tree.over(name, number, &["sda"], &[("md/level", level), ("md/layout", layout), ("md/chunk_size", chunk)]);
        let devices = Devices::read(&tree.roots);
        let facts = crate::drives::describe(&tree.roots, &devices, &devices.stack(&[devices.by_name(name).unwrap()]));
        assert_eq!(facts[0].copies, copies, "{name}");
        assert_eq!(facts[0].chunk.is_some(), level == "raid10");
    }
}

#[test]
fn a_copied_file_system_is_no_identity() {
    let tree = one_sata_disk();
    tree.disk("sdb", "8:16", "virtual/a/host7", &[]);
    put_ext4(&tree, "sdb", b"");
    assert_eq!(tree.reasons("sdb"), []);
    put_ext4(&tree, "sda", b"");
    assert_eq!(tree.reasons("sdb"), [Refusal::DuplicateIdentity { other: "sda".into() }]);
    assert_eq!(tree.reasons("sda"), [], "this one is known by its WWN");
}

#[test]
fn what_cannot_be_read_or_written_is_refused() {
    let tree = one_sata_disk();
    tree.put(&format!("sys/devices/{SATA}/block/sda/ro"), "1");
    assert_eq!(tree.reasons("sda"), [Refusal::ReadOnly]);
    std::fs::remove_file(tree.roots.dev.join("sda")).unwrap();
    let reasons = tree.reasons("sda");
    assert!(matches!(&reasons[0], Refusal::Unreadable { why } if why.contains("No such file")), "{reasons:?}");
}

#[test]
fn a_machine_without_any_of_this_has_no_devices_and_no_panic() {
    let roots = Roots::under(Path::new("/nonexistent"));
    assert_eq!(Devices::read(&roots).all().count(), 0);
    assert!(inspect_under(&roots, "wwn:0x1").is_err());
}

#[test]
fn an_inventory_is_a_tree_from_the_drives_up() {
    let tree = one_sata_disk();
    tree.disk("sdb", "8:16", SATA_2, &[("device/wwid", "naa.5000c500a1b2c3d5")]);
    tree.partition("sda", SATA, 1, "8:1");
    tree.over("md0", "9:0", &["sda1", "sdb"], &[("md/level", "raid1\n"), ("md/raid_disks", "2\n")]);
    put_ext4(&tree, "md0", b"data");
    let found = crate::inventory::inventory_under(&tree.roots);
    let lines: Vec<(u32, &str)> = found.iter().map(|line| (line.device.depth, line.device.name.as_str())).collect();
    assert_eq!(lines, [(0, "sda"), (1, "sda1"), (2, "md0"), (0, "sdb"), (1, "md0")]);
    assert!(found[2].signatures.iter().any(|mark| mark.name == "ext4"));
    assert!(
        matches!(found[0].access, WriteAccess::Refused(_))
            && matches!(found[2].access, WriteAccess::Refused(_) | WriteAccess::Confirm { .. })
    );
    assert!(found.iter().all(|line| line.health.is_none()));
}

#[test]
fn the_drives_of_a_recording_are_described_without_a_look_into_them() {
    let tree = one_sata_disk();
    // A place that is not stable: only a look into this one would find a name for it.
    tree.disk("sdc", "8:32", "pci0000:00/0000:00:06.0/host3/target3:0:0/3:0:0:0", &[("device/model", "X1")]);
    put_ext4(&tree, "sdc", b"data");
    tree.over("dm-0", "253:0", &["sda"], &[]);
    let found = crate::inventory::described_under(&tree.roots);
    let identities: Vec<(&str, Option<&str>)> =
        found.iter().map(|drive| (drive.devices[0].name.as_str(), drive.identity.as_deref())).collect();
    assert_eq!(identities, [("sda", Some("wwn:0x5000c500a1b2c3d4")), ("sdc", None)]);
    assert_eq!((found[1].devices[0].model.as_deref(), found[1].size), (Some("X1"), Bytes(8 * MIB)));
    assert!(found[1].signatures.is_empty() && found[1].access == WriteAccess::Refused(Vec::new()));
}
