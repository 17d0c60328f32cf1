//! The key `calibrate`. Data only; must not parse.

use super::{Choice, Key, Shape, optional, words};
use crate::calibration::Calibrate;

/// What is calibrated.
pub const CHOICES: &[Choice<Calibrate>] = &[
    ("none", "nothing", Calibrate::None),
    (
        "members",
        "every drive under the targets alone, then all of them together, by reading only; and the load of each case against nothing, which is what the engine can do",
        Calibrate::Members,
    ),
];

/// `calibrate`.
pub const KEY: Key = optional(
    "calibrate",
    "none",
    Shape::Word(|| words(CHOICES)),
    "Ceilings that are measured before the fill and the first trial, so that the result can say what bounds it and how near it is. Drives are opened for reading only and never written, also those of an array that is in use; 4 KiB at random with 32 in flight and 1 MiB one after the other with 8, 3 s each. What drives write is never measured; `ceilings` can state it.",
);
