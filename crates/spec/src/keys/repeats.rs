//! The keys of `repeats`. Data only; must not parse.

use super::{Limits, Mapping, Shape, optional, required};
use stend_base::Millionths;

/// Blocks.
pub const BLOCKS: Limits<u32> = Limits { least: 1, most: 1000 };
/// Relative half-widths: a tenth of a percent is more than storage ever keeps to, half of a value says nothing.
pub const WIDTH: Limits<Millionths> = Limits { least: Millionths(1000), most: Millionths::percent(50) };
/// Precision of a rate, if none is named (method S7).
pub const WIDTH_DEFAULT: Millionths = Millionths::percent(2);
/// Precision of a p99, if none is named (method S7).
pub const P99_DEFAULT: Millionths = Millionths::percent(5);

/// `repeats`.
pub const REPEATS: Mapping = Mapping {
    en: "repeats",
    ru: "repeats",
    doc: "How often cases are repeated.",
    keys: &[
        required(
            "blocks",
            Shape::Whole(BLOCKS),
            "Interleaved blocks: each runs every cell once, in a random order and then in its mirror. Six are the fewest for an interval that may be published. With `until` this is the largest number.",
        ),
        optional(
            "until",
            "absent",
            Shape::Map(&UNTIL),
            "A case that is precise enough is not repeated any more; the others go on, at most for all blocks. Stend looks after 6, 8, 12, 16, 20 trials and so on, and never at the size of a difference. With `arms` the difference must be precise: `width` is then that of the ratio of rates, and `p99` that of the ratio of p99, of every arm to the first. The case then ends in all arms at once. Not possible where a person or a reboot switches arms. Needs at least 6 blocks; a search for a rate has its own rule.",
        ),
    ],
};

/// `until`.
pub const UNTIL: Mapping = Mapping {
    en: "until",
    ru: "until",
    doc: "Sufficient precision: both must hold.",
    keys: &[
        optional(
            "width",
            "2%",
            Shape::Share(WIDTH),
            "Half of the 95 % interval of the rate (IOPS, or throughput from 64 KiB on), relative to it.",
        ),
        optional(
            "p99",
            "5%",
            Shape::Either(&[Shape::Word(|| vec![("none", "percentiles do not matter")]), Shape::Share(WIDTH)]),
            "The same of the p99 of every operation, syncs included. A trial that is too short for a p99 is never precise enough.",
        ),
    ],
};
