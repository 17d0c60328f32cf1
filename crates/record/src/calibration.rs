//! Ceilings as they were observed: a drive, all drives, or the engine alone, under a load of a known form.

use crate::observed::{TrialOutcome, ZeroSample};
use serde::{Deserialize, Serialize};
use stend_base::Say;
use stend_spec::workload::Trial;

/// One reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// What was loaded.
    pub subject: Subject,
    /// How. With several drives job *n* is that of drive *n*.
    pub asked: Trial,
    /// What was seen, or why there is nothing.
    pub found: Result<Box<TrialOutcome>, Say>,
    /// One drive alone: blocks at random places that held only zeros. A drive answers what was never written without its
    /// medium. `None` where they were not looked at.
    pub zeros: Option<ZeroSample>,
}

/// What a reading is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// These drives at the same time, by kernel name; one alone, or all.
    Drives(Vec<String>),
    /// The engine with nothing behind it.
    Engine,
}
