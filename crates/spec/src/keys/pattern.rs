//! The keys of `pattern`. Data only.

use super::{Choice, Key, Limits, Mapping, Shape, optional, required};
use crate::pattern::{self, Pattern};
use stend_base::{Bytes, Millionths};

/// Patterns that are one word.
pub const PATTERNS: &[Choice<Pattern>] = &[
    ("sequential", "ascending from a seeded start, wrapping at the end of the job's region", Pattern::Sequential),
    (
        "shared_sequential",
        "the same, but all jobs of the stream share one region and take the next block from one cursor",
        Pattern::SharedSequential,
    ),
    (
        "append",
        "every job writes to the end of a new file of its own; when that is as long as the job's region, it is emptied. Only writes, one at a time, to a directory; not with `verify` or `region`",
        Pattern::Append,
    ),
    ("reverse", "descending from a seeded start, wrapping at the beginning of the job's region", Pattern::Reverse),
    (
        "random",
        "every block once in a seeded order, then again in another order (fio: `norandommap=0`)",
        Pattern::Random,
    ),
    ("uniform", "every I/O to any block, independent of earlier ones (fio: `norandommap=1`)", Pattern::Uniform),
];

/// Least and most of a stride; a multiple of the block size.
pub const STRIDE: Limits<Bytes> = Limits { least: Bytes(1024), most: Bytes::gib(1024) };
/// Shares of zones.
pub const ZONE_SHARE: Limits<Millionths> = Limits { least: Millionths(0), most: Millionths::ALL };

const fn absent(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    optional(name, "absent", shape, doc)
}

/// `pattern` with settings.
pub const PATTERN: Mapping = Mapping {
    en: "pattern",
    ru: "pattern",
    doc: "Exactly one of these. [Patterns](patterns.md) has exact definitions and fio's names.",
    keys: &[
        absent("zipf", Shape::Map(&ZIPF), "A few blocks are hot; the hottest are scattered over the job's region."),
        absent(
            "pareto",
            Shape::Map(&PARETO),
            "A share of the blocks is hot, and a share of that still hotter; scattered.",
        ),
        absent("normal", Shape::Map(&NORMAL), "Heat follows a bell curve; scattered."),
        absent(
            "zones",
            Shape::List(&ZONE, pattern::ZONES),
            "Parts of the region, in this order, each with its share of accesses.",
        ),
        absent("strided", Shape::Map(&STRIDED), "Steps of one length; every block comes once before any comes again."),
        absent(
            "sequential",
            Shape::Share(pattern::SEQUENTIAL),
            "This share of the I/Os goes on where the one before it ended; the others jump to any block (fio: `percentage_random`).",
        ),
    ],
};

/// `zipf`.
pub const ZIPF: Mapping = Mapping {
    en: "zipf",
    ru: "zipf",
    doc: "The k-th hottest block has a probability proportional to 1 / k^theta.",
    keys: &[required("theta", Shape::Thousandths(pattern::THETA), "Exponent; 1 is allowed.")],
};

/// `pareto`.
pub const PARETO: Mapping = Mapping {
    en: "pareto",
    ru: "pareto",
    doc: "Self-similar heat: `hot: 20%` gives that share of the blocks 80 % of the accesses, and of these again 80 % go to the hottest 20 % of it.",
    keys: &[required("hot", Shape::Share(pattern::HOT), "The hot share of the blocks.")],
};

/// `normal`.
pub const NORMAL: Mapping = Mapping {
    en: "normal",
    ru: "normal",
    doc: "The heat of the bell curve over the job's region.",
    keys: &[required("deviation", Shape::Share(pattern::DEVIATION), "Standard deviation as a share of the region.")],
};

/// An item of `zones`.
pub const ZONE: Mapping = Mapping {
    en: "a zone",
    ru: "зона",
    doc: "A part of each job's region, uniform inside. Over all zones both shares add up to 100 %.",
    keys: &[
        required("space", Shape::Share(ZONE_SHARE), "Share of the region."),
        required("accesses", Shape::Share(ZONE_SHARE), "Share of the accesses."),
    ],
};

/// `strided`.
pub const STRIDED: Mapping = Mapping {
    en: "strided",
    ru: "strided",
    doc: "Steps through the job's region from its start; at the end again from the next block.",
    keys: &[required(
        "stride",
        Shape::Size(STRIDE, super::BLOCK_UNIT),
        "From the start of one I/O to the start of the next; a multiple of every block size of the stream, at least twice as much.",
    )],
};
