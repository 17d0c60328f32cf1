//! The keys of a file of virtual machines. Data only; must not parse.

use super::machine::{BANDWIDTH, CPUS, IOPS, MEMORY, SIZE, UNIT};
use super::{Choice, Limits, Mapping, Shape, optional, placement, required, words};
use crate::vm::{Accelerator, Bus, Cache, DiskIo};
use stend_base::Nanos;

/// Machines of one file.
pub const COUNT: Limits<u32> = Limits { least: 1, most: crate::vm::NUMBER_MAX };
/// Characters of their name: libvirt, the kernel and a file get it with more around it.
pub const NAME: Limits<usize> = Limits { least: 1, most: crate::vm::NAME_MAX };
/// Disks of a machine.
pub const DISKS: Limits<usize> = Limits { least: 1, most: 16 };
/// How long a guest may take until it answers.
pub const BOOT_LIMIT: Limits<Nanos> = Limits { least: Nanos::secs(1), most: Nanos::secs(3600) };
/// Bytes of a path, or of what libvirt is reached by.
pub const PATH: Limits<usize> = Limits { least: 1, most: 1024 };
/// Block devices of a disk, one for each machine.
pub const DEVICES: Limits<usize> = Limits { least: 1, most: crate::vm::NUMBER_MAX as usize };
/// Signatures that may be lost.
pub const SIGNATURES: Limits<usize> = Limits { least: 0, most: 32 };

/// Places of machines.
pub const PLACES: Limits<usize> = Limits { least: 1, most: crate::vm::NUMBER_MAX as usize };

/// How instructions of guests are executed.
pub const ACCELERATORS: &[Choice<Accelerator>] = &[
    ("kvm", "by the processor", Accelerator::Kvm),
    ("tcg", "in software: ten times slower, and latencies describe the emulator", Accelerator::Tcg),
];
/// What a guest sees a disk as.
pub const BUSES: &[Choice<Bus>] = &[
    ("virtio", "a virtio block device", Bus::Virtio),
    ("scsi", "a SCSI disk behind a virtio controller of its own", Bus::Scsi),
];
/// How the host caches a disk.
//= libvirt, formatdomain, "Hard drives, floppy disks, CDROMs": `cache` and `io` of `driver`
pub const CACHES: &[Choice<Cache>] = &[
    ("none", "past the page cache of the host", Cache::None),
    ("writeback", "through the page cache; flushes of the guest reach the disk", Cache::Writeback),
    ("writethrough", "through the page cache; every write reaches the disk", Cache::Writethrough),
    ("directsync", "past the page cache; every write reaches the disk", Cache::Directsync),
    ("unsafe", "through the page cache; flushes of the guest are dropped", Cache::Unsafe),
];
/// How the host reads and writes a disk.
pub const IO: &[Choice<DiskIo>] = &[
    ("threads", "by threads", DiskIo::Threads),
    ("native", "by Linux AIO; needs `cache: none` or `directsync`", DiskIo::Native),
    ("io_uring", "by io_uring", DiskIo::IoUring),
];

const NAMED: Shape = Shape::Spelled("1 to 30 letters, digits, `-`, `_`", "^[A-Za-z0-9][A-Za-z0-9_-]{0,29}$");
/// What libvirt is reached by.
pub const URI: Shape =
    Shape::Spelled("a URI of libvirt", "^[^\\s\\u0000-\\u001f\\u007f-][^\\s\\u0000-\\u001f\\u007f]{0,1023}$");
/// A directory, by a path that is the same wherever it is handed to.
pub const DIRECTORY: Shape = Shape::Spelled("an absolute path", "^/[^\\u0000-\\u001f\\u007f]{0,1023}$");
const IDENTITY: Shape = Shape::Spelled("identity of a block device", "^[^\\u0000-\\u001f\\u007f]{1,1024}$");
const SIGNATURE: Shape = Shape::Spelled("name of a signature, such as `ext4`", "^[A-Za-z0-9_-]{1,64}$");

/// The whole file.
pub const FILE: Mapping = Mapping {
    en: "machines file",
    ru: "файл виртуальных машин",
    doc: "Virtual machines of libvirt that are alike.",
    keys: &[
        required(
            "machines",
            NAMED,
            "Name of them all. Each has its number behind it: `web-1`, in libvirt `stend-web-1`.",
        ),
        optional(
            "connection",
            "as `virsh` chooses",
            URI,
            "What libvirt is reached by, as in `virsh --connect`. It must be on this machine.",
        ),
        required("count", Shape::Whole(COUNT), "How many machines."),
        optional("cpus", "1", Shape::Whole(CPUS), "Virtual CPUs of each."),
        optional("memory", "1GiB", Shape::Size(MEMORY, UNIT), "Memory of each."),
        optional(
            "accelerator",
            "`kvm` where it works, else `tcg`",
            Shape::Word(|| words(ACCELERATORS)),
            "How instructions of the guests are executed.",
        ),
        optional("boot_limit", "5m", Shape::Span(BOOT_LIMIT), "How long the guests may take until all of them answer."),
        optional(
            "overwrite",
            "[]",
            Shape::Several(&SIGNATURE, SIGNATURES),
            "Signatures on `devices` that may be lost, as `--overwrite-signature`.",
        ),
        optional(
            "placement",
            "absent",
            Shape::List(&PLACE, PLACES),
            "Where the machines run: the first one has the first item, and so on, and behind the last item it begins anew. Without it the host decides.",
        ),
        required("disks", Shape::List(&DISK, DISKS), "Disks of each machine; every machine has its own."),
    ],
};

/// An item of `placement`.
pub const PLACE: Mapping = Mapping {
    en: "a place of a virtual machine",
    ru: "место виртуальной машины",
    doc: "`cpus`, `memory_node`, or both. When a machine answers, Stend reads from the kernel whether each of its threads may run on these CPUs alone.",
    keys: &[
        optional(
            "cpus",
            "all",
            Shape::Several(&Shape::Whole(placement::NUMBER), placement::CPUS),
            "CPUs of the host on which its CPUs may run, and everything else of the machine: the emulator and the threads of its disks.",
        ),
        optional(
            "memory_node",
            "any",
            Shape::Whole(placement::NUMBER),
            "NUMA node of the host that all of its memory is on. Where that has too little, the machine does not start.",
        ),
    ],
};

/// An item of `disks`.
pub const DISK: Mapping = Mapping {
    en: "a disk of a virtual machine",
    ru: "диск виртуальной машины",
    doc: "A disk of each machine: either `directory` with `size`, or `devices`.",
    keys: &[
        optional(
            "directory",
            "absent",
            DIRECTORY,
            "The disk is a new raw file in this directory, which must exist; `down` removes it.",
        ),
        optional("size", "absent", Shape::Size(SIZE, UNIT), "Size of the file. Needed with `directory`."),
        optional(
            "sparse",
            "false",
            Shape::Bool,
            "Blocks of the file are allocated when they are first written. Only with `directory`.",
        ),
        optional(
            "devices",
            "absent",
            Shape::Several(&IDENTITY, DEVICES),
            "The disk is a block device of the host: one for each machine, by its identity as `stend inspect` shows it. This confirms that its contents may be lost.",
        ),
        optional("bus", "virtio", Shape::Word(|| words(BUSES)), "What the guest sees."),
        optional("cache", "as libvirt chooses", Shape::Word(|| words(CACHES)), "How the host caches it."),
        optional("io", "as libvirt chooses", Shape::Word(|| words(IO)), "How the host reads and writes it."),
        optional("iothread", "false", Shape::Bool, "A thread of its own handles its I/O."),
        optional(
            "iops",
            "absent",
            Shape::Whole(IOPS),
            "Most I/Os per second, reads and writes together; libvirt limits them (`iotune`).",
        ),
        optional("bandwidth", "absent", Shape::Size(BANDWIDTH, 1), "Most bytes per second, reads and writes together."),
    ],
};

/// Every mapping of the file, the whole first.
pub const ALL: &[&Mapping] = &[&FILE, &PLACE, &DISK];
