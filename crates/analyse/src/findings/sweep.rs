//! What queue depth or jobs buy. Data only; `sweeps` finds it, and has its words.

use super::Headline;
use serde::{Deserialize, Serialize};
use stend_base::{Nanos, Share};

/// What was varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SweepOf {
    /// I/Os in flight per job.
    QueueDepth,
    /// Load threads.
    Jobs,
    /// Load hosts.
    LoadHosts,
}

/// A closed loop at four or more queue depths, or numbers of jobs or load hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepFinding {
    /// Name of the case, with the axes that were not varied here.
    pub label: String,
    /// What was varied.
    pub of: SweepOf,
    /// Which rate is shown.
    pub headline: Headline,
    /// The values, ascending.
    pub points: Vec<SweepPoint>,
    /// The value at which the rate bends; `None`: it does not, up to the last one.
    pub knee: Option<u64>,
    /// What the Universal Scalability Law says.
    pub model: ScalingModel,
}

impl super::Findings {
    /// The sweep that is all of the run: then where it bends is the question.
    pub fn only_sweep(&self) -> Option<&SweepFinding> {
        let [sweep] = self.sweeps.as_slice() else { return None };
        (sweep.points.len() == self.cases.len()).then_some(sweep)
    }
}

/// One value of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SweepPoint {
    /// Queue depth, or jobs.
    pub value: u64,
    /// I/Os or bytes per second.
    pub rate: f64,
    /// p99 of the operation for which it is largest; `None` where there were too few I/Os.
    pub p99: Option<Nanos>,
}

/// The Universal Scalability Law fitted to a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScalingModel {
    /// It describes what was measured.
    Fits(Scaling),
    /// The rates lie too far from it.
    Deviates {
        /// Root of the mean squared relative deviation.
        deviation: Share,
    },
    /// Three coefficients need more values.
    TooFew {
        /// Values that there are.
        have: u32,
    },
}

/// Coefficients of the Universal Scalability Law.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// Rate of one alone, as fitted.
    pub gamma: f64,
    /// Contention.
    pub alpha: f64,
    /// Coherence.
    pub beta: f64,
    /// Value at which the rate is largest; `None`: it does not fall.
    pub peak: Option<f64>,
    /// The largest rate of the model: at the peak, or what it comes nearer to. `None` where the model knows no bound.
    pub peak_rate: Option<f64>,
    /// The peak lies beyond what was measured.
    pub extrapolated: bool,
    /// Root of the mean squared relative deviation.
    pub deviation: Share,
}
