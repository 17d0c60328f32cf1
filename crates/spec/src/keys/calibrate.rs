//! The key `calibrate`. Data only; must not parse.

use super::{Choice, Key, Shape, optional, words};
use crate::calibration::Calibrate;

/// What is calibrated.
pub const CHOICES: &[Choice<Calibrate>] = &[
    ("none", "nothing", Calibrate::None),
    (
        "members",
        "reads every drive below the targets alone, then all of them together; and runs the load of each case without a target, which shows the limit of the engine",
        Calibrate::Members,
    ),
];

/// `calibrate`.
pub const KEY: Key = optional(
    "calibrate",
    "none",
    Shape::Word(|| words(CHOICES)),
    "Measures ceilings before the fill and the first trial, so that the result can show what limits it and how near the limit is. Drives are opened read-only, also those of an array in use: random 4 KiB with 32 in flight and sequential 1 MiB with 8, 3 s each. Writing to drives is never measured; state it in `ceilings`.",
);
