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
    doc: "Batches I/Os of a closed loop to save CPU time, as other tools do (fio: `iodepth_batch_submit` and `iodepth_batch_complete_min`). Latencies then include waiting for the rest of the batch.",
    keys: &[
        optional(
            "size",
            "1",
            Shape::Whole(SIZE),
            "Stend waits for so many completions, then begins as many I/Os; at most the queue depth.",
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
        "one by one; if the thread is the limit (completions are always waiting), those that begin together go by one call. With `batch` always by one call",
        Submit::Auto,
    ),
    (
        "each",
        "one by one, as fio does by default; an I/O begins when its turn comes, and the result shows how long it waited",
        Submit::Each,
    ),
    ("batch", "those that begin together by one call, after the last of them", Submit::Batch),
];

/// `submit`.
pub const SUBMIT_KEY: Key = optional(
    "submit",
    "auto",
    Shape::Word(|| words(SUBMIT)),
    "How I/Os that follow several completions are submitted. One call costs less CPU time, but the device waits until the last of them is prepared. Has no effect at depth 1 and with `backend: psync`. The result shows how I/Os were submitted.",
);
