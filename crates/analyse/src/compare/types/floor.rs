//! How far a configuration is from itself.

use super::mean::Metric;

/// How far a configuration is from itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    /// Rates; `None` with fewer than six distances.
    pub rate: Option<Noise>,
    /// p99 of latencies; `None` with fewer than six distances.
    pub latency: Option<Noise>,
    /// What was compared with itself: names of arms, or the id of a run.
    pub from: Vec<String>,
}

/// 95th percentile of the distances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// The distance, as a part of the value: 0.03 is from 1 / 1.03 to 1.03.
    pub share: f64,
    /// Distances that it is of, one for each block of each cell; with fewer than 20 it is the largest.
    pub distances: u32,
}

impl Floor {
    /// The floor of what is compared.
    pub fn of(&self, metric: Metric) -> Option<Noise> {
        match metric {
            Metric::Rate => self.rate,
            Metric::P99(_) => self.latency,
        }
    }
}
