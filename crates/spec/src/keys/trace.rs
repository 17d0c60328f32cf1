//! The keys below `trace`: which recorded I/O is replayed, and how. Data only; must not parse.

use super::{Choice, Limits, Mapping, Shape, axis, optional, required, words};
use crate::trace::{Arrival, Beyond, Pace};
use stend_base::Bytes;

/// Pace in thousandths of the original one.
pub const PACE: Limits<u32> = Limits { least: 10, most: 100_000 };
/// What offsets and ends are rounded to.
pub const ALIGN: Limits<Bytes> = Limits { least: Bytes(512), most: Bytes::mib(1) };
/// Paces without a number.
pub const PACES: &[Choice<Pace>] = &[(
    "asap",
    "as a closed loop: the next I/O begins when one ends, and after the last comes the first again (fio: `replay_no_stall`)",
    Pace::Asap,
)];
/// What an arrival is.
pub const ARRIVALS: &[Choice<Arrival>] = &[
    ("queued", "`Q`: as programs and file systems asked for it", Arrival::Queued),
    ("issued", "`D`: after merging and scheduling", Arrival::Issued),
];
/// What becomes of I/O beyond the range.
pub const BEYOND: &[Choice<Beyond>] = &[
    ("refuse", "the case does not run", Beyond::Refuse),
    ("wrap", "offsets begin again at the start of the range", Beyond::Wrap),
    ("scale", "if any does, all offsets shrink alike (fio: `replay_scale`)", Beyond::Scale),
];

/// `trace`.
pub const TRACE: Mapping = Mapping {
    en: "trace",
    ru: "trace",
    doc: "Recorded I/O ([trace.md](trace.md)). Offsets count from the start of the range or of the stream's `region`.",
    keys: &[
        required(
            "file",
            Shape::Name,
            "A fio iolog of version 2 or 3 or the default output of blkparse (fio: `read_iolog`); a relative path begins at the suite's directory. The host with the target needs no copy.",
        ),
        axis(optional(
            "pace",
            "1",
            Shape::Either(&[Shape::Thousandths(PACE), Shape::Word(|| words(PACES))]),
            "How fast: 2 is twice as fast as it was recorded (fio: `replay_time_scale: 200`).",
        )),
        optional(
            "device",
            "absent",
            Shape::Name,
            "Whose I/O is taken if the trace holds that of several: `\"8,0\"` (major and minor number), the name of a file, or `all`, which puts them all on the target (fio: `replay_redirect`).",
        ),
        optional(
            "arrival",
            "queued",
            Shape::Word(|| words(ARRIVALS)),
            "Which event of blkparse is the arrival of an I/O.",
        ),
        optional(
            "align",
            "absent",
            Shape::Size(ALIGN, super::BLOCK_UNIT),
            "Offsets are rounded down and ends up to a multiple of this, a power of two (fio: `replay_align`).",
        ),
        optional("beyond", "refuse", Shape::Word(|| words(BEYOND)), "What becomes of I/O that lies beyond the range."),
    ],
};
