//! The keys that say what is written. Data only; must not parse.

use super::{Mapping, RATIO, Shape, optional};

/// `data`.
pub const DATA: Mapping = Mapping {
    en: "data",
    ru: "data",
    doc: "At least one of the two. Storage sees these ratios: they hold within 2 % (compression: for zstd, up to 4 within records of 128 KiB and more).",
    keys: &[
        optional(
            "compress",
            "1",
            Shape::Thousandths(RATIO),
            "Bytes over bytes after compression, in every 4 KiB: the first part of each is random, the rest one byte repeated.",
        ),
        optional(
            "dedup",
            "1",
            Shape::Thousandths(RATIO),
            "Blocks of 4 KiB over distinct ones. Whole I/Os are repeated, each repeated content up to 128 times this ratio.",
        ),
    ],
};
