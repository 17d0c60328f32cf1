//! Moments of an event of a case, and how long it took until something was there again.

use serde::{Deserialize, Serialize};
use stend_base::Nanos;

/// How far an event of a case is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultMoment {
    /// It begins to be done.
    Begins,
    /// It is done.
    Done,
    /// It begins to be undone.
    Ends,
    /// It is undone.
    Undone,
    /// All arrays have their redundancy again; told once after the last event of a trial.
    Whole,
}

/// How long it took after a cut of power until there was something again, each from the cut on, by the CLOCK_MONOTONIC of the
/// coordinator: that of the machine began anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Back {
    /// Ordinal of the trial that was cut.
    pub trial: u32,
    /// Until the guest answered.
    pub answered: Nanos,
    /// Until the stand was up; `None`: the run has none.
    pub stood: Option<Nanos>,
    /// Until the first block had been read and compared.
    pub read: Nanos,
}
