//! Moments of an event of a case.

use serde::{Deserialize, Serialize};

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
