//! A mean with its interval: over trials, or over batch means inside a single one.

use super::{batch_means, mean, t_interval};
use serde::{Deserialize, Serialize};

/// A value with the interval that covers the true one with 95 % confidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The value: mean over trials.
    pub value: f64,
    /// 95 % interval; `None` with the reason in `basis`.
    pub interval: Option<(f64, f64)>,
    /// Where the interval comes from.
    pub basis: Basis,
}

impl Estimate {
    /// Half of the interval relative to the value; `None` without an interval or a value.
    pub fn half_width(&self) -> Option<f64> {
        // The lower end is cut at 0, the upper one is not.
        self.interval.filter(|_| self.value > 0.0).map(|(_, high)| (high - self.value) / self.value)
    }
}

/// Where an interval comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// t interval over the means of interleaved trials.
    Trials {
        /// Number of trials.
        n: u32,
    },
    /// t interval over batch means inside one trial, independence accepted.
    Batches {
        /// Number of batches.
        n: u32,
    },
    /// Too few trials, and batches were not independent or too few.
    TooFew {
        /// Number of trials.
        n: u32,
    },
}

/// Mean of the trials with the t interval over them; with a single trial, over the batch means of its `single_series`,
/// each of `least` values or more.
pub fn estimate(trials: &[f64], single_series: &[f64], least: usize) -> Estimate {
    let value = mean(trials).unwrap_or(0.0);
    let n = trials.len() as u32;
    if let Some(interval) = t_interval::interval(trials) {
        return Estimate { value, interval: Some(interval), basis: Basis::Trials { n } };
    }
    match batch_means::batches(single_series, least) {
        Some(found) if n == 1 => {
            let half = found.half_width();
            let interval = Some(((value - half).max(0.0), value + half));
            Estimate { value, interval, basis: Basis::Batches { n: found.pairs().len() as u32 } }
        }
        _ => Estimate { value, interval: None, basis: Basis::TooFew { n } },
    }
}
