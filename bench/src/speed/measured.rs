//! What one trial gave.

/// What one trial gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// I/Os per second.
    pub iops: f64,
    /// I/Os per second of CPU time.
    pub per_cpu: f64,
    /// Median and 99th percentile of the latency, ns; `None` where it was not measured.
    pub latency: Option<(f64, f64)>,
}
