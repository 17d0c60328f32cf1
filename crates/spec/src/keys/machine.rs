//! The keys of a machine file, a virtual machine of the lab. Data only; must not parse.

use super::{Choice, Limits, Mapping, Shape, optional, required, words};
use crate::machine::DriveKind;
use stend_base::{Bytes, Nanos};

/// What a drive is connected by.
pub const KINDS: &[Choice<DriveKind>] = &[
    ("nvme", "an NVMe controller with one namespace", DriveKind::Nvme),
    ("virtio", "a virtio block device", DriveKind::Virtio),
    ("scsi", "a SCSI disk of a virtio controller", DriveKind::Scsi),
    ("sas", "a SAS disk of an LSI controller (`mptsas`)", DriveKind::Sas),
];
/// What an NVMe drive may complain about, and the bit for that.
//= NVM Express Base Specification 2.0c, figure 207, "Critical Warning"
pub const WARNINGS: &[Choice<u8>] = &[
    ("spare", "spare blocks are below the threshold", 1),
    ("temperature", "too hot or too cold", 1 << 1),
    ("reliability", "degraded by errors of its media", 1 << 2),
    ("read_only", "the media can only be read", 1 << 3),
    ("backup", "what protects its volatile memory has failed", 1 << 4),
];
/// Sizes of a logical block.
pub const LOGICAL_BLOCK_SIZES: &[Choice<u32>] =
    &[("512B", "as most drives", 512), ("4KiB", "as drives formatted so", 4096)];
/// Virtual CPUs.
pub const CPUS: Limits<u32> = Limits { least: 1, most: 64 };
/// Memory; the kernel, the worker and its buffers fit into the least.
pub const MEMORY: Limits<Bytes> = Limits { least: Bytes::mib(256), most: Bytes::gib(1024) };
/// Memory and drives are multiples of this, bytes.
pub const UNIT: u64 = 1 << 20;
/// Queues for polling, per drive.
pub const POLL_QUEUES: Limits<u32> = Limits { least: 0, most: 64 };
/// Drives in all; each takes a slot of the 32 that a bus has, and the machine itself some.
pub const DRIVES: Limits<usize> = Limits { least: 1, most: 24 };
/// Drives that one item stands for.
pub const COUNT: Limits<u32> = Limits { least: 1, most: DRIVES.most as u32 };
/// NUMA nodes.
pub const NODES: Limits<usize> = Limits { least: 1, most: 8 };
/// Memory of a node.
pub const NODE_MEMORY: Limits<Bytes> = Limits { least: Bytes::mib(128), most: Bytes::gib(1024) };
/// Networks.
pub const LINKS: Limits<usize> = Limits { least: 1, most: 4 };
/// Number of the last node at most.
pub const NODE: Limits<u32> = Limits { least: 0, most: NODES.most as u32 - 1 };
/// Least time of an I/O of a drive.
//= nbdkit-delay-filter(1): delays are whole milliseconds
pub const LATENCY: Limits<Nanos> = Limits { least: Nanos::millis(1), most: Nanos::secs(1) };
/// Revolutions per minute.
//= SCSI Block Commands 4, "MEDIUM ROTATION RATE field": 1 is a drive that does not rotate, 401 to FFFEh are revolutions
pub const ROTATION: Limits<u32> = Limits { least: 401, most: 0xFFFE };
/// Further packages, and parameters of the kernel.
pub const LIST: Limits<usize> = Limits { least: 0, most: 64 };
/// Characters of one of those.
pub const WORD: Limits<usize> = Limits { least: 2, most: 100 };
//= Debian Policy 5.6.1, "Source": names of packages
const PACKAGE: Shape = Shape::Spelled("name of a package of Debian", "^[a-z0-9][a-z0-9+.-]{1,99}$");
const PARAMETER: Shape =
    Shape::Spelled("2 to 100 characters without spaces and quotes", "^[A-Za-z0-9][A-Za-z0-9_.,:=/+-]{1,99}$");
const ADDRESS: Shape = Shape::Spelled(
    "IPv4 address and length of its network's prefix, such as `10.77.0.1/24`",
    "^[0-9]{1,3}(\\.[0-9]{1,3}){3}/[0-9]{1,2}$",
);
const WWN: Shape = Shape::Spelled("16 hexadecimal digits, letters in lower case", "^[0-9a-f]{16}$");
const WARNING: Shape = Shape::Word(|| words(WARNINGS));
/// Characters of a serial number: what a virtio disk can tell.
pub const SERIAL: Limits<usize> = Limits { least: 1, most: 20 };
/// Size of a drive; only what is written takes room.
pub const SIZE: Limits<Bytes> = Limits { least: Bytes::mib(1), most: Bytes::gib(16 << 10) };
/// Controllers over which a drive is reached: an array often has four.
pub const PATHS: Limits<u32> = Limits { least: 1, most: 4 };
/// Most I/Os per second.
pub const IOPS: Limits<u32> = Limits { least: 1, most: 10_000_000 };
/// Most bytes per second.
pub const BANDWIDTH: Limits<Bytes> = Limits { least: Bytes::kib(4), most: Bytes::gib(1024) };

/// The whole file.
pub const MACHINE: Mapping = Mapping {
    en: "machine",
    ru: "машина",
    doc: "A virtual machine of the lab.",
    keys: &[
        required("machine", Shape::Name, "Name of the machine."),
        optional("cpus", "1", Shape::Whole(CPUS), "Virtual CPUs."),
        optional("memory", "1GiB", Shape::Size(MEMORY, UNIT), "Memory; the drives take none of it."),
        optional(
            "numa",
            "absent",
            Shape::List(&NUMA, NODES),
            "NUMA nodes in the order of their numbers, from 0; the machine then has their CPUs and memory, and `cpus` and `memory` are not given. The cost of access to another node is not emulated.",
        ),
        optional(
            "packages",
            "[]",
            Shape::Several(&PACKAGE, LIST),
            "Extra packages of Debian 13; `stend lab build FILE` builds an image with them.",
        ),
        optional(
            "zfs",
            "false",
            Shape::Bool,
            "The guest has ZFS; `stend lab build FILE` makes an image with it, and builds its modules for the guest's kernel.",
        ),
        optional(
            "kernel",
            "[]",
            Shape::Several(&PARAMETER, LIST),
            "Parameters of the guest's kernel and of its modules (`nvme_core.io_timeout=5`).",
        ),
        optional(
            "nvme_poll_queues",
            "0",
            Shape::Whole(POLL_QUEUES),
            "Queues that the NVMe driver of the guest sets aside for polling, per drive (its parameter `poll_queues`); `io_uring_iopoll` needs one.",
        ),
        optional(
            "links",
            "absent",
            Shape::List(&LINK, LINKS),
            "Networks between this machine and one other each (`stend lab up`). In the guest they are `link1`, `link2`, … in this order; they lead nowhere else.",
        ),
        required("drives", Shape::List(&DRIVE, DRIVES), "Its drives, empty at every start."),
    ],
};

/// An item of `drives`.
pub const DRIVE: Mapping = Mapping {
    en: "a drive",
    ru: "накопитель",
    doc: "An emulated drive. Names such as `nvme0n1` may be shuffled at every start; serial numbers are not.",
    keys: &[
        optional("kind", "nvme", Shape::Word(|| words(KINDS)), "Its interface."),
        required("serial", Shape::Serial(SERIAL), "Serial number, unique in the machine."),
        optional(
            "count",
            "1",
            Shape::Whole(COUNT),
            "Number of such drives. Each serial number ends with a number from 1 on, padded to equal length.",
        ),
        optional(
            "node",
            "absent",
            Shape::Whole(NODE),
            "NUMA node of the drive; needs `numa`, and not the kind `sas`. Without it the drive has no node.",
        ),
        required("size", Shape::Size(SIZE, UNIT), "Size. Only written data take space in the cache directory."),
        optional(
            "logical_block_size",
            "512B",
            Shape::Word(|| words(LOGICAL_BLOCK_SIZES)),
            "Smallest I/O of the drive.",
        ),
        optional(
            "iops",
            "absent",
            Shape::Whole(IOPS),
            "Most I/Os per second, reads and writes together. The emulation itself reaches some ten thousand.",
        ),
        optional("bandwidth", "absent", Shape::Size(BANDWIDTH, 1), "Most bytes per second, reads and writes together."),
        optional(
            "latency",
            "absent",
            Shape::Span(LATENCY),
            "Least time of every read and write, in whole milliseconds; needs `nbdkit` on this machine. Without it a drive answers at once until `iops` or `bandwidth` is reached: then one I/O in flight reads six drives six times as fast as one, unlike real drives. With at least 1 / `iops` (3 ms at 400 per second), one I/O in flight stays below the limit.",
        ),
        optional(
            "rotation",
            "absent",
            Shape::Whole(ROTATION),
            "Revolutions per minute that a drive of the kinds `scsi` and `sas` reports; without it, it reports a solid-state drive.",
        ),
        optional(
            "wwn",
            "absent",
            WWN,
            "World-wide name of a drive of the kinds `scsi` and `sas`; with `count`, of the first, and each further one is greater by 1.",
        ),
        optional(
            "paths",
            "1",
            Shape::Whole(PATHS),
            "Number of controllers that connect a drive of the kinds `scsi` and `sas`; more than one needs a `wwn`. The guest sees the drive so many times.",
        ),
        optional(
            "warnings",
            "[]",
            Shape::Several(&WARNING, Limits { least: 0, most: WARNINGS.len() }),
            "Critical warning of a drive of the kind `nvme` in its SMART log (`critical_warning`). Wear, spare and media errors of emulated drives are always 0.",
        ),
    ],
};

/// An item of `numa`.
pub const NUMA: Mapping = Mapping {
    en: "a NUMA node",
    ru: "узел NUMA",
    doc: "CPUs with their local memory.",
    keys: &[
        required("cpus", Shape::Whole(CPUS), "Virtual CPUs; in all nodes together at most 64."),
        required("memory", Shape::Size(NODE_MEMORY, UNIT), "Memory."),
    ],
};

/// An item of `links`.
pub const LINK: Mapping = Mapping {
    en: "a link",
    ru: "связь",
    doc: "A network of this machine and one other, which has a link to this one. The first one up waits for the other.",
    keys: &[
        required("to", Shape::Name, "Name of the other machine: 1 to 40 letters, digits, `-` and `_`."),
        required("address", ADDRESS, "Address of this machine on it."),
    ],
};

/// Every mapping of a machine file, the whole first.
pub const ALL: &[&Mapping] = &[&MACHINE, &NUMA, &LINK, &DRIVE];
