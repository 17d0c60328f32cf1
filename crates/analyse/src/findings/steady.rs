//! What the rounds before a case found. Data only.

use serde::{Deserialize, Serialize};
use stend_base::{Nanos, Share};

/// What the rounds of a case found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SteadyFinding {
    /// Rounds before its trials; after a pause those that came last.
    pub rounds: u32,
    /// As many there might have been.
    pub rounds_most: u32,
    /// Length of each as planned.
    pub round: Nanos,
    /// Rate of each since the last one with failed I/O: I/Os or bytes per second, as the headline of the case.
    pub values: Vec<f64>,
    /// Largest less smallest of the last five, relative to their mean; `None` for fewer.
    pub range: Option<Share>,
    /// How far the line fitted through them moves, relative to their mean.
    pub slope: Option<Share>,
    /// The rule held whenever trials of the case began.
    pub reached: bool,
}
