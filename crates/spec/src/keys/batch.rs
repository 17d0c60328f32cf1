//! The keys of what is done for several I/Os together. Data only; must not parse.

use super::{Choice, Limits, Mapping, Shape, optional, words};

/// I/Os of a batch.
pub const SIZE: Limits<u32> = Limits { least: 1, most: 4096 };
/// How often the clock is read for I/Os that begin together, and whether that is once.
pub const STAMPS: &[Choice<bool>] = &[
    ("each", "for each of them, when it is queued", false),
    ("once", "once for all of them, before the first is queued: their latencies include being queued", true),
];

/// `batch`.
pub const BATCH: Mapping = Mapping {
    en: "batch",
    ru: "batch",
    doc: "What is done for several I/Os of a closed loop together, as other tools do it to save CPU time (fio: `iodepth_batch_submit` and `iodepth_batch_complete_min`). Latencies then include waiting for the others.",
    keys: &[
        optional(
            "size",
            "1",
            Shape::Whole(SIZE),
            "So many completions are waited for, then as many I/Os begin; at most the queue depth.",
        ),
        optional(
            "stamps",
            "each",
            Shape::Word(|| words(STAMPS)),
            "When the clock is read as I/Os begin. H44 warns where the time over which one reading is shared is more than 2 % of the median latency.",
        ),
    ],
};
