//! The keys of several test files. Data only; must not parse.

use super::{JOBS, Limits, Mapping, Shape, axis, optional, required};
use stend_base::Bytes;

/// Test files of a run; each takes four descriptors.
pub const COUNT: Limits<u32> = Limits { least: 1, most: 10_000 };
/// Size of one of them.
pub const SIZE: Limits<Bytes> = Limits { least: Bytes::kib(4), most: Bytes(u64::MAX) };
/// A file is a multiple of this, bytes: the smallest direct I/O of every common file system.
pub const UNIT: u64 = 4096;

/// `files`.
pub const FILES: Mapping = Mapping {
    en: "files",
    ru: "files",
    doc: "Test files that together form one range. Every job has its own part of the range: with as many jobs as equal files each has one file, with more they share files, with fewer each has several.",
    keys: &[
        required("count", Shape::Whole(COUNT), "How many."),
        optional(
            "size",
            "equal",
            Shape::Either(&[
                Shape::Word(|| vec![("equal", "equal parts of the range that `fill` gives")]),
                Shape::Size(SIZE, UNIT),
                Shape::Sizes(SIZE),
            ]),
            "Size of each file, or sizes with their shares of the files, mixed evenly. Then the range is as large as all files, and `fill` is `auto` or absent.",
        ),
    ],
};

/// Another way to say `jobs`.
pub const JOBS_EACH: Mapping = Mapping {
    en: "jobs of each",
    ru: "задания каждого",
    doc: "Jobs counted per file or per target: one of the keys. All streams of a case count in the same way.",
    keys: &[
        axis(optional(
            "per_file",
            "absent",
            Shape::Whole(JOBS),
            "Jobs of each of `files`; with all files 1024 at most. The jobs share the range equally, so each has a file, or an equal part of one, of its own if all files are of one size.",
        )),
        axis(optional(
            "per_target",
            "absent",
            Shape::Whole(JOBS),
            "Jobs of each target (each `--on`); with all targets 1024 at most. Every job works on one target only, a shared cursor is one per target, and the result shows each target.",
        )),
    ],
};
