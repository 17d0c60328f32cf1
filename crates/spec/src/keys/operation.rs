//! The keys that say what I/Os do and when writes are durable. Data only; must not parse.

use super::{Choice, Key, Limits, Mapping, Shape, optional};
use crate::workload::{Mix, Op, Sync};

/// Only one kind of operation.
pub const OPERATIONS: &[Choice<Mix>] = &[
    ("read", "only reads", Mix::only(Op::Read)),
    ("write", "only writes", Mix::only(Op::Write)),
    ("discard", "only discards (TRIM): they mark a range as unused", Mix::only(Op::Discard)),
    (
        "write_zeroes",
        "only writes of zeroes without data transfer: the target makes a range read as zeroes",
        Mix::only(Op::WriteZeroes),
    ),
];

/// Shares of a mix.
pub const PERCENT: Limits<u32> = Limits { least: 0, most: 100 };
/// Writes per sync.
pub const SYNC_EVERY: Limits<u32> = Limits { least: 1, most: 1_000_000 };

const fn share(name: &'static str, doc: &'static str) -> Key {
    optional(name, "0", Shape::Whole(PERCENT), doc)
}

/// `op` as a mix.
pub const MIX: Mapping = Mapping {
    en: "op",
    ru: "op",
    doc: "Shares of operations by their number, in percent; they add up to 100.",
    keys: &[
        share("read", "Share of reads."),
        share("write", "Share of writes."),
        share("discard", "Share of discards."),
        share("write_zeroes", "Share of writes of zeroes."),
    ],
};

/// `sync` in a word.
pub const SYNC_WORDS: &[Choice<Sync>] = &[
    ("none", "the target may keep writes in volatile caches", Sync::None),
    (
        "dsync",
        "a write completes, and its latency ends, when it is durable, as if `fdatasync` followed (`RWF_DSYNC`)",
        Sync::Dsync,
    ),
    ("o_dsync", "the same by opening the target with `O_DSYNC`, as databases do", Sync::ODsync),
];

/// `sync`.
pub const SYNC: Mapping = Mapping {
    en: "sync",
    ru: "sync",
    doc: "Exactly one of these. With 1 a write completes, and its latency ends, with its sync.",
    keys: &[
        optional("fdatasync", "absent", Shape::Whole(SYNC_EVERY), "`fdatasync` after every N writes of a job."),
        optional("fsync", "absent", Shape::Whole(SYNC_EVERY), "`fsync` after every N writes of a job."),
        optional(
            "sync_file_range",
            "absent",
            Shape::Whole(SYNC_EVERY),
            "`sync_file_range` over the job's part of the range after every N writes of a job: the page cache passes the data to the target, which may keep them in volatile caches. Needs `direct: false`.",
        ),
    ],
};
