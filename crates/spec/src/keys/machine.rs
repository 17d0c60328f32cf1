//! The keys of a machine file, a virtual machine of the lab. Data only; must not parse.

use super::{Choice, Limits, Mapping, Shape, optional, required, words};
use crate::machine::DriveKind;
use stend_base::Bytes;

/// What a drive is connected by.
pub const KINDS: &[Choice<DriveKind>] = &[
    ("nvme", "an NVMe controller with one namespace", DriveKind::Nvme),
    ("virtio", "a virtio block device", DriveKind::Virtio),
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
/// Drives; more would need bridges.
pub const DRIVES: Limits<usize> = Limits { least: 1, most: 16 };
/// Characters of a serial number: what a virtio disk can tell.
pub const SERIAL: Limits<usize> = Limits { least: 1, most: 20 };
/// Size of a drive; only what is written takes room.
pub const SIZE: Limits<Bytes> = Limits { least: Bytes::mib(1), most: Bytes::gib(16 << 10) };
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
            "nvme_poll_queues",
            "0",
            Shape::Whole(POLL_QUEUES),
            "Queues that the NVMe driver of the guest sets aside for polling, per drive (its parameter `poll_queues`); `io_uring_iopoll` needs one.",
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
        optional("kind", "nvme", Shape::Word(|| words(KINDS)), "What it is connected by."),
        required("serial", Shape::Serial(SERIAL), "Serial number, unique in the machine."),
        required("size", Shape::Size(SIZE, UNIT), "Size. Takes room in the cache directory only for what is written."),
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
            "Most I/Os per second, reads and writes together. The emulation itself ends at some ten thousand.",
        ),
        optional("bandwidth", "absent", Shape::Size(BANDWIDTH, 1), "Most bytes per second, reads and writes together."),
    ],
};

/// Every mapping of a machine file, the whole first.
pub const ALL: &[&Mapping] = &[&MACHINE, &DRIVE];
