//! One figure for a whole table.

use stend_spec::workload::Op;

/// What of a case is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// The rate: I/Os or bytes per second; more is better.
    Rate,
    /// p99 of the latency of an operation; less is better.
    P99(Op),
}

/// Geometric mean of the ratios of one run to the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Mean {
    /// Index of the run.
    pub run: usize,
    /// What is averaged.
    pub metric: Metric,
    /// Ratios in it, at least two.
    pub cells: u32,
    /// Ratios of the table that are not in it, because they have no interval, failed a check or are of another workload.
    pub left_out: u32,
    /// The mean; 1 is equal.
    pub value: f64,
    /// Its 95 % interval, from the mean log ratio of each block; `None` with fewer than two blocks that all cells have.
    pub interval: Option<(f64, f64)>,
}
