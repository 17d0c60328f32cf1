//! The keys that say where a stream works and when it rests. Data only; must not parse.

use super::{Choice, Limits, Mapping, Shape, optional, required};
use crate::topology::Numa;
use stend_base::{Bytes, Millionths, Nanos};

/// Share of the range at which a region begins.
pub const START: Limits<Millionths> = Limits { least: Millionths(0), most: Millionths(999_999) };
/// Share of the range that a region takes.
pub const SIZE: Limits<Millionths> = Limits { least: Millionths(1), most: Millionths::ALL };
/// Where a region begins, in bytes.
pub const START_BYTES: Limits<Bytes> = Limits { least: Bytes(0), most: Bytes(1 << 62) };
/// How long a region is, in bytes.
pub const SIZE_BYTES: Limits<Bytes> = Limits { least: Bytes(super::BLOCK_UNIT), most: Bytes(1 << 62) };
/// A rest; shorter than 1 µs nobody can sleep.
pub const THINK_TIME: Limits<Nanos> = Limits { least: Nanos(1000), most: Nanos::secs(3600) };
/// I/Os between two rests.
pub const THINK_EVERY: Limits<u32> = Limits { least: 1, most: 1_000_000 };

/// Number of a CPU or of a NUMA node.
pub const NUMBER: Limits<u32> = Limits { least: 0, most: 8191 };
/// CPUs of a stream.
pub const CPUS: Limits<usize> = Limits { least: 1, most: 1024 };
/// NUMA nodes by what they are.
pub const NUMA_WORDS: &[Choice<Option<Numa>>] = &[
    ("any", "the scheduler chooses CPUs, and memory lies where its thread runs", None),
    ("local", "threads and memory on the node of the target's device", Some(Numa::Local)),
    ("remote", "threads and memory on another node; not run where there is none", Some(Numa::Remote)),
    (
        "every",
        "every node with CPUs combined with every node for memory, each pair a cell of its own. The result has their matrix, in percent of the cell local to the target's device. Only one stream of a case may have it",
        Some(Numa::Every),
    ),
];

/// `numa`.
pub const NUMA: Mapping = Mapping {
    en: "numa",
    ru: "numa",
    doc: "At least one of the two. A node that the machine does not have is an error.",
    keys: &[
        optional("cpu", "absent", Shape::Whole(NUMBER), "Node on whose CPUs the threads run."),
        optional("memory", "absent", Shape::Whole(NUMBER), "Node to which their buffers are bound."),
    ],
};

/// `region`.
pub const REGION: Mapping = Mapping {
    en: "region",
    ru: "region",
    doc: "A part of the range of all trials, or of that of each target where jobs are counted `per_target`. Shares are cut to multiples of 4 KiB.",
    keys: &[
        optional(
            "start",
            "0%",
            Shape::Either(&[Shape::Share(START), Shape::Size(START_BYTES, super::BLOCK_UNIT)]),
            "Where it begins, from the start of the range.",
        ),
        optional(
            "size",
            "absent",
            Shape::Either(&[Shape::Share(SIZE), Shape::Size(SIZE_BYTES, super::BLOCK_UNIT)]),
            "How long it is; without it, it goes to the end of the range.",
        ),
    ],
};

/// `think`.
pub const THINK: Mapping = Mapping {
    en: "think",
    ru: "think",
    doc: "Each I/O in flight stands for a user, who makes so many I/Os one after the other, then rests. Rests do not count in latency.",
    keys: &[
        required("time", Shape::Span(THINK_TIME), "How long it rests, from the end of its last I/O."),
        optional("every", "1", Shape::Whole(THINK_EVERY), "After how many I/Os; more than 1 makes bursts."),
    ],
};
