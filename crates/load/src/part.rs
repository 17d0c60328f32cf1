//! What a load thread counted between two cuts. Must not be shared: it has one owner at a time and
//! travels between load thread and collector.

use stend_base::Nanos;
use stend_base::histogram::Histogram;
use stend_spec::workload::{OPS, Op};

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
    /// Begun in an open loop, and not only completed.
    pub begun: u64,
    /// Time by which those began late, ns, summed.
    pub late_sum_ns: u64,
    /// The latest of them, ns.
    pub late_max_ns: u64,
    /// Due in an open loop; counted by the collector.
    pub due: u64,
}

impl Counter {
    /// Adds another counter of the same kind.
    pub fn add(&mut self, other: &Counter) {
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
        self.begun += other.begun;
        self.late_sum_ns = self.late_sum_ns.saturating_add(other.late_sum_ns);
        self.late_max_ns = self.late_max_ns.max(other.late_max_ns);
        self.due += other.due;
    }

    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.ops == 0 && self.errors == 0 && self.begun == 0
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
    /// By operation, in the order of [`Op::ALL`]; what histograms know as well is taken from them, once a part.
    counters: [Counter; OPS],
    /// Latencies by operation; in an open loop from the time when an I/O was due.
    pub latencies: [Histogram; OPS],
    /// Latencies of an open loop from the begin of an I/O.
    pub services: Option<Box<[Histogram; OPS]>>,
}

impl Part {
    /// An empty part, `open` for an open loop; the only place that allocates.
    pub fn new(open: bool) -> Part {
        let histograms = || std::array::from_fn(|_| Histogram::new());
        Part {
            phase: Phase::Ramp,
            interval: 0,
            span: 1,
            counters: [Counter::default(); OPS],
            latencies: histograms(),
            services: open.then(|| Box::new(histograms())),
        }
    }

    /// Counts an I/O that completed `latency` after it was due and `service` after it began; in a closed loop
    /// both are the same.
    #[inline(always)]
    pub fn record(&mut self, op: Op, bytes: u64, latency: Nanos, service: Nanos) {
        self.counters[op.index()].bytes += bytes;
        self.latencies[op.index()].record(latency);
        if let Some(services) = &mut self.services {
            services[op.index()].record(service);
        }
    }

    /// Counts an I/O of an open loop that began `late` after it was due.
    #[inline(always)]
    pub fn begin(&mut self, op: Op, late: Nanos) {
        let counter = &mut self.counters[op.index()];
        counter.begun += 1;
        counter.late_sum_ns = counter.late_sum_ns.saturating_add(late.0);
        counter.late_max_ns = counter.late_max_ns.max(late.0);
    }

    /// Counts an I/O that failed.
    pub fn fault(&mut self, op: Op) {
        self.counters[op.index()].errors += 1;
    }

    /// What was counted of an operation.
    pub fn counter(&self, op: Op) -> Counter {
        let latencies = &self.latencies[op.index()];
        let latency_max_ns = latencies.max().unwrap_or_default().0;
        Counter { ops: latencies.count(), latency_max_ns, ..self.counters[op.index()] }
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        Op::ALL.into_iter().all(|op| self.counter(op).is_empty())
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.counters = [Counter::default(); OPS];
        let services = self.services.iter_mut().flat_map(|services| services.iter_mut());
        self.latencies.iter_mut().chain(services).filter(|h| h.count() > 0).for_each(Histogram::clear);
    }
}
