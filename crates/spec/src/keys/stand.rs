//! The keys of a stand file. Data only; must not parse.

pub mod ceph;
pub mod dm;
pub mod drbd;
pub mod exports;
pub mod lvm;
pub mod zfs;

use super::machine::LOGICAL_BLOCK_SIZES;
use super::{COMMAND, Choice, Limits, Mapping, SETTINGS, Shape, optional, required, words};
use crate::stand::{Consistency, FsKind, InitialSync, MdLevel, Profile};
use stend_base::Bytes;

/// Drives; those of a shelf.
pub const DRIVES: Limits<usize> = Limits { least: 0, most: 64 };
/// Layers; real stacks have about five.
pub const LAYERS: Limits<usize> = Limits { least: 1, most: 16 };
/// References of a layer or of the targets.
pub const REFS: Limits<usize> = Limits { least: 1, most: 64 };
/// Signatures that may be lost.
pub const SIGNATURES: Limits<usize> = Limits { least: 1, most: 32 };
/// Things of one kind that a layer makes.
pub const COUNT: Limits<u32> = Limits { least: 1, most: 64 };
/// Things that one layer makes of all that is below it.
pub const THINGS_MAX: u32 = 256;
/// Size of files and volumes.
pub const SIZE: Limits<Bytes> = Limits { least: Bytes::mib(16), most: Bytes::gib(1 << 20) };
/// Sizes are multiples of this, bytes.
pub const UNIT: u64 = 1 << 20;
/// A chunk or stripe: what `mdadm` and LVM take.
pub const CHUNK: Limits<Bytes> = Limits { least: Bytes::kib(4), most: Bytes::mib(512) };
/// Stripes of a volume.
pub const STRIPES: Limits<u32> = Limits { least: 2, most: 63 };
/// Spares of an array.
pub const SPARES: Limits<u32> = Limits { least: 0, most: 32 };
/// Levels of md, as `mdadm` calls them.
pub const MD_LEVELS: &[(u32, MdLevel)] =
    &[(0, MdLevel::Raid0), (1, MdLevel::Raid1), (10, MdLevel::Raid10), (5, MdLevel::Raid5), (6, MdLevel::Raid6)];
/// What keeps an array consistent.
pub const CONSISTENCIES: &[Choice<Consistency>] = &[
    ("resync", "a whole resync after a crash", Consistency::Resync),
    ("bitmap", "a resync of what an internal bitmap marks", Consistency::Bitmap),
    ("ppl", "partial parity log, for level 5: closes the write hole", Consistency::Ppl),
];
/// The first synchronisation.
pub const INITIAL_SYNC: &[Choice<InitialSync>] = &[
    ("wait", "wait until it is done", InitialSync::Wait),
    (
        "skip",
        "assume that the members agree, where the layer allows it; unwritten blocks may then read differently each time",
        InitialSync::Skip,
    ),
    ("beside", "do not wait: trials then measure a synchronising array", InitialSync::Beside),
];
/// Profiles of btrfs.
pub const PROFILES: &[Choice<Profile>] = &[
    ("single", "one copy", Profile::Single),
    ("dup", "two copies, also on one device", Profile::Dup),
    ("raid0", "stripes", Profile::Raid0),
    ("raid1", "two copies on two devices", Profile::Raid1),
    ("raid10", "stripes of mirrors", Profile::Raid10),
    ("raid5", "one parity", Profile::Raid5),
    ("raid6", "two parities", Profile::Raid6),
];
/// File systems.
pub const FILE_SYSTEMS: &[Choice<FsKind>] =
    &[("ext4", "ext4", FsKind::Ext4), ("xfs", "XFS", FsKind::Xfs), ("f2fs", "F2FS", FsKind::F2fs)];

const SYNC_KEY: super::Key =
    optional("initial_sync", "wait", Shape::Word(|| words(INITIAL_SYNC)), "How to treat the first synchronisation.");
const INITIAL_SYNC_OF_DRBD: super::Key = optional(
    "initial_sync",
    "wait",
    Shape::Word(|| words(INITIAL_SYNC)),
    "How to treat the first synchronisation. `skip` reads the devices of both hosts and refuses one that is not blank throughout.",
);
const MOUNT_OPTIONS: super::Key =
    optional("options", "absent", Shape::Several(&Shape::Name, SETTINGS), "Options of the mount, such as `noatime`.");

/// The whole file.
pub const STAND: Mapping = Mapping {
    en: "stand",
    ru: "стенд",
    doc: "Drives, the layers built on them, and the targets.",
    keys: &[
        required(
            "stand",
            Shape::Name,
            "Name, 1 to 32 small letters, digits and `-`: part of all names that Stend creates.",
        ),
        optional(
            "machine",
            "absent: it is built on the host of the run",
            Shape::Name,
            "Machine file of the lab, beside the stand file: the stand starts its own host, and `drives` are those of the machine. Not with `hosts` or `across`.",
        ),
        optional("drives", "[]", Shape::List(&DRIVE, DRIVES), "Drives that the stand may write over."),
        optional(
            "overwrite",
            "absent",
            Shape::Several(&Shape::Name, SIGNATURES),
            "Signatures on the drives that may be lost, as `stend inspect` calls them (`ext4`, `gpt`, …).",
        ),
        optional(
            "layers",
            "absent",
            Shape::List(&LAYER, LAYERS),
            "From the drives up; without one the drives are measured as they are.",
        ),
        optional(
            "across",
            "absent",
            Shape::Map(&ACROSS),
            "Short for `hosts` with the names `storage` and `client`, where one export (`nvme_of`, `iscsi`, `nbd`, `nfs`) goes from the one to the other: drives and layers up to it are on `storage`, the layers above on `client`, which is measured.",
        ),
        optional(
            "hosts",
            "absent: one host",
            Shape::Named(&ADDRESSES, HOSTS),
            "The hosts of the stand by name, each with the address by which the others reach it, or several. `--storage NAME=HOST` says which machine each is; the one with the targets is measured.",
        ),
        optional(
            "targets",
            "all that the last layer makes",
            Shape::Several(&Shape::Name, REFS),
            "What is measured: names of layers, or `LAYER/2` for one of several things that a layer makes.",
        ),
    ],
};

/// Hosts of a stand.
pub const HOSTS: Limits<usize> = Limits { least: 2, most: 16 };
/// Addresses of a host: one for each network, and of the measured one for each load host.
pub const ADDRESSES_OF_A_HOST: Limits<usize> = Limits { least: 1, most: 64 };
const ADDRESSES: Shape = Shape::Either(&[ADDRESS, Shape::Several(&ADDRESS, ADDRESSES_OF_A_HOST)]);
const ADDRESS: Shape = Shape::Spelled("IPv4 address, such as `10.77.0.1`", "^[0-9]{1,3}(\\.[0-9]{1,3}){3}$");

/// `across`.
pub const ACROSS: Mapping = Mapping {
    en: "across",
    ru: "across",
    doc: "Addresses of two hosts, by which they reach each other.",
    keys: &[
        required(
            "storage",
            ADDRESSES,
            "Address of the host with the drives, or several. It exports them there, and on no other address.",
        ),
        required("client", ADDRESSES, "Address of the host that is measured; of several load hosts one of each."),
    ],
};

/// An item of `drives`.
pub const DRIVE: Mapping = Mapping {
    en: "a drive",
    ru: "накопитель",
    doc: "A drive by its identity. Naming it here confirms that its contents may be lost.",
    keys: &[
        required(
            "id",
            Shape::Name,
            "Identity as `stend inspect` prints it (`serial:…`, `wwn:…`, `loop:…`), or a bare serial number or WWN.",
        ),
        optional("name", "d1, d2, … in their order", Shape::Name, "Name in this file."),
        optional(
            "host",
            "absent",
            Shape::Name,
            "The host that has it, where the stand has `hosts`; then it is required.",
        ),
    ],
};

/// An item of `layers`.
pub const LAYER: Mapping = Mapping {
    en: "a layer",
    ru: "слой",
    doc: "Exactly one kind, and what it is built on.",
    keys: &[
        optional("name", "its kind", Shape::Name, "Name, unique in the stand."),
        optional(
            "on",
            "all that the layer before makes; for the first all drives",
            Shape::Several(&Shape::Name, REFS),
            "Names of drives and layers, or `LAYER/2`.",
        ),
        optional(
            "host",
            "that of what it is built on",
            Shape::Name,
            "The host that builds it, where the stand has `hosts`. Required of what is built on nothing; not for `drbd`, which two build.",
        ),
        optional(
            "to",
            "absent",
            Shape::Name,
            "The host that takes in what an export (`nvme_of`, `iscsi`, `nbd`, `nfs`) hands out, or that is primary of a mirror (`drbd`). Required of these where the stand has `hosts`.",
        ),
        optional("loop", "absent", Shape::Map(&LOOP), "Files as block devices."),
        optional("zram", "absent", Shape::Map(&ZRAM), "Compressed memory as block devices."),
        optional("partition", "absent", Shape::Map(&PARTS), "Equal partitions of each device (GPT)."),
        optional("md", "absent", Shape::Map(&MD), "A software RAID of Linux."),
        optional("lvm", "absent", Shape::Map(&lvm::LVM), "A logical volume in a group of its own."),
        optional("dm", "absent", Shape::Map(&dm::DM), "A mapping over each device, or a cache of writes."),
        optional(
            "luns",
            "absent",
            Shape::Map(&PARTS),
            "Equal parts of one device, without a table on it; a MiB at either end is left out, so that contents of a part are not mistaken for contents of the whole.",
        ),
        optional(
            "nvme_of",
            "absent",
            Shape::Map(&exports::NVME_OF),
            "Exports each device over NVMe-oF; this host connects to it.",
        ),
        optional(
            "iscsi",
            "absent",
            Shape::Map(&exports::ISCSI),
            "Exports each device over iSCSI; this host connects to it.",
        ),
        optional("nbd", "absent", Shape::Map(&exports::NBD), "Exports each device over NBD; this host imports it."),
        optional(
            "nfs",
            "absent",
            Shape::Map(&exports::NFS),
            "Exports a mounted directory over NFS; this host mounts it.",
        ),
        optional(
            "existing",
            "absent",
            Shape::Map(&EXISTING),
            "An existing directory, measured as it is. An existing device needs no layer: name the drive in `targets`.",
        ),
        optional("btrfs", "absent", Shape::Map(&BTRFS), "A btrfs, mounted."),
        optional("zfs", "absent", Shape::Map(&zfs::ZFS), "A pool of ZFS with a volume or a mounted dataset."),
        optional("fs", "absent", Shape::Map(&FS), "A file system on one device, mounted."),
        optional("ceph", "absent", Shape::Map(&ceph::CEPH), "A Ceph of this host, with a mounted file system."),
        optional(
            "sectors",
            "absent",
            Shape::Word(|| words(LOGICAL_BLOCK_SIZES)),
            "Formats NVMe drives to this logical block size (`nvme format`, without metadata): all data on them are lost. `down` formats them back. Only directly on drives.",
        ),
        optional(
            "multipath",
            "absent",
            Shape::Map(&exports::MULTIPATH),
            "Drives that the host reaches over several paths (Fibre Channel, SAS, iSCSI), each as one device. Only directly on drives, as the first layer.",
        ),
        optional("drbd", "absent", Shape::Map(&drbd::DRBD), "A device of which two hosts keep a copy."),
        optional(
            "settings",
            "absent",
            Shape::Named(&Shape::Name, SETTINGS),
            "Files below `/proc/sys` or `/sys` with the values to write; `down` restores the old values. Creates no device: the next layer is built on the layer before.",
        ),
    ],
};

/// `loop`.
pub const LOOP: Mapping = Mapping {
    en: "loop",
    ru: "loop",
    doc: "Files, each as a block device. The first layer of a stand without drives.",
    keys: &[
        required("directory", Shape::Name, "An existing directory; the files lie in a new one in it."),
        required("size", Shape::Size(SIZE, UNIT), "Size of each."),
        optional("count", "1", Shape::Whole(COUNT), "How many."),
    ],
};
/// `zram`.
pub const ZRAM: Mapping = Mapping {
    en: "zram",
    ru: "zram",
    doc: "Compressed memory. The first layer of a stand without drives.",
    keys: &[
        required("size", Shape::Size(SIZE, UNIT), "Size of each."),
        optional("count", "1", Shape::Whole(COUNT), "How many."),
    ],
};
/// `partition` and `luns`.
pub const PARTS: Mapping = Mapping {
    en: "parts",
    ru: "части",
    doc: "Equal parts.",
    keys: &[required("count", Shape::Whole(COUNT), "How many of each device below.")],
};
/// `md`.
pub const MD: Mapping = Mapping {
    en: "md",
    ru: "md",
    doc: "A software RAID of Linux, made by `mdadm`.",
    keys: &[
        required("level", Shape::Whole(Limits { least: 0, most: 10 }), "0, 1, 10, 5 or 6."),
        optional("chunk", "512KiB", Shape::Size(CHUNK, 4096), "Size of a chunk; not for level 1."),
        optional(
            "consistency",
            "what mdadm takes",
            Shape::Word(|| words(CONSISTENCIES)),
            "What keeps it consistent after a power failure; not for level 0.",
        ),
        optional("journal", "false", Shape::Bool, "The last device is a write journal; for levels 5 and 6."),
        optional("spares", "0", Shape::Whole(SPARES), "So many of the last devices (before a journal) are spares."),
        optional("member_size", "all of it", Shape::Size(SIZE, UNIT), "Used of each member."),
        SYNC_KEY,
    ],
};
/// `existing`.
pub const EXISTING: Mapping = Mapping {
    en: "existing",
    ru: "existing",
    doc: "An existing mounted directory. The stand creates nothing; a run makes its own file in it.",
    keys: &[required("directory", Shape::Name, "Its path from the root.")],
};
/// `btrfs`.
pub const BTRFS: Mapping = Mapping {
    en: "btrfs",
    ru: "btrfs",
    doc: "A btrfs over all devices.",
    keys: &[
        optional("data", "single", Shape::Word(|| words(PROFILES)), "Profile of data."),
        optional("metadata", "as data, at least dup", Shape::Word(|| words(PROFILES)), "Profile of metadata."),
        MOUNT_OPTIONS,
    ],
};
/// `fs`.
pub const FS: Mapping = Mapping {
    en: "fs",
    ru: "fs",
    doc: "A file system on one device.",
    keys: &[
        required("type", Shape::Word(|| words(FILE_SYSTEMS)), "Which."),
        optional("make", "absent", Shape::Several(&Shape::Name, COMMAND), "Words for its `mkfs`."),
        MOUNT_OPTIONS,
    ],
};

/// Every mapping of a stand file, the whole first.
pub const ALL: &[&Mapping] = &[
    &STAND,
    &ACROSS,
    &DRIVE,
    &LAYER,
    &LOOP,
    &ZRAM,
    &PARTS,
    &MD,
    &lvm::LVM,
    &dm::DM,
    &dm::DELAY,
    &dm::FLAKEY,
    &dm::ERROR,
    &dm::WRITECACHE,
    &dm::LOG_WRITES,
    &exports::NVME_OF,
    &exports::ISCSI,
    &exports::NBD,
    &exports::NFS,
    &exports::MULTIPATH,
    &EXISTING,
    &BTRFS,
    &zfs::ZFS,
    &FS,
    &ceph::CEPH,
    &ceph::REPLICATED,
    &ceph::EC,
    &drbd::DRBD,
];
