//! The keys of what is done for several I/Os together. Data only; must not parse.

use super::{Choice, Key, Limits, Mapping, Shape, optional, words};
use crate::workload::Submit;

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

/// How I/Os are given to the kernel.
pub const SUBMIT: &[Choice<Submit>] = &[
    (
        "auto",
        "each by itself; where the thread is the limit, because completions are there whenever it looks, those that begin together (with `batch` always)",
        Submit::Auto,
    ),
    (
        "each",
        "each by itself, as fio does by default; an I/O begins when its turn comes, and the result tells how long it waited",
        Submit::Each,
    ),
    ("batch", "those that begin together by one call, after the last of them", Submit::Batch),
];

/// `submit`.
pub const SUBMIT_KEY: Key = optional(
    "submit",
    "auto",
    Shape::Word(|| words(SUBMIT)),
    "How the I/Os that follow several completions are given to the kernel. By one call they cost less CPU time, and the device waits until the last of them was made. Of no meaning at depth 1 and with `backend: psync`. The result says what was done.",
);
