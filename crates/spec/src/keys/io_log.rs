//! The keys of the log of every I/O. Data only; must not parse.

use super::{Key, Limits, Mapping, Shape, optional, required};
use stend_base::Bytes;

/// Size of the log of a trial: the least has room for 65,536 I/Os, the most for a billion.
pub const SIZE: Limits<Bytes> = Limits { least: Bytes::mib(1), most: Bytes::gib(16) };

/// `io_log`.
pub const KEY: Key = optional(
    "io_log",
    "none",
    Shape::Either(&[Shape::Word(|| vec![("none", "only histograms and counters are kept")]), Shape::Map(&IO_LOG)]),
    "Keeps every I/O of the window in the run file, in 16 bytes, for `stend export --ios`: its time (in an open loop when it was due), latency, kind, offset and size, and whether it failed. Memory is bounded, and the load never waits: I/Os that could not be kept are counted. Not with `trace`, with more than 16 block sizes in a stream, or with `engine: fio`.",
);

/// A log.
pub const IO_LOG: Mapping = Mapping {
    en: "io_log",
    ru: "io_log",
    doc: "Limits of the log.",
    keys: &[required(
        "size",
        Shape::Size(SIZE, 1),
        "Size of the log of each trial; I/Os take 16 bytes each, and those beyond are counted and not kept.",
    )],
};
