//! What a load thread counted between two cuts. Must not be shared: it has one owner at a time and
//! travels between load thread and collector.

use stend_base::Nanos;
use stend_base::histogram::Histogram;
use stend_spec::workload::Op;

/// In which part of a trial an I/O completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Before the window.
    Ramp,
    /// Inside it.
    Window,
    /// After it: nothing new is issued.
    Drain,
}

/// Counters of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counter {
    /// Completed.
    pub ops: u64,
    /// Bytes of those.
    pub bytes: u64,
    /// Failed.
    pub errors: u64,
    /// Largest latency, ns.
    pub latency_max_ns: u64,
}

impl Counter {
    /// Adds another counter of the same kind.
    pub fn add(&mut self, other: &Counter) {
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
    }

    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.ops == 0 && self.errors == 0
    }
}

/// Everything one thread counted in `span` intervals from `interval` on.
#[derive(Debug)]
pub(crate) struct Part {
    /// Phase; a part never spans two.
    pub phase: Phase,
    /// First interval.
    pub interval: u32,
    /// Number of intervals.
    pub span: u32,
    /// By operation, in the order of [`Op::ALL`].
    pub counters: [Counter; 3],
    /// Latencies by operation.
    pub latencies: [Histogram; 3],
}

impl Part {
    /// An empty part; the only place that allocates.
    pub fn new() -> Part {
        Part {
            phase: Phase::Ramp,
            interval: 0,
            span: 1,
            counters: [Counter::default(); 3],
            latencies: std::array::from_fn(|_| Histogram::new()),
        }
    }

    /// Counts a completed I/O.
    #[inline(always)]
    pub fn record(&mut self, op: Op, bytes: u64, latency: Nanos) {
        let counter = &mut self.counters[op.index()];
        counter.ops += 1;
        counter.bytes += bytes;
        counter.latency_max_ns = counter.latency_max_ns.max(latency.0);
        self.latencies[op.index()].record(latency);
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counters.iter().all(Counter::is_empty)
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.counters = [Counter::default(); 3];
        self.latencies.iter_mut().filter(|h| h.count() > 0).for_each(Histogram::clear);
    }
}
