//! What the load engine observed during one trial.

use crate::app::AppOutcome;
pub use crate::engine::{BufferPages, Chosen, EngineFacts, External, JobFacts};
use crate::imported::ToolOutput;
use crate::io_log::IoLogTotals;
pub use crate::phase::Phase;
use crate::probes::Probes;
use crate::verification::Verification;
use serde::{Deserialize, Serialize};
use stend_base::histogram::Sparse;
use stend_base::{Bytes, Nanos};
use stend_spec::workload::{OPS, Op};

/// Counters of one stream and operation in one interval, merged over jobs.
///
/// Several slices may carry the same (trial, interval, stream, op): late parts of an interval arrive on their own and readers add them up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// Index of the interval since the start of load (ramp included).
    pub interval: u32,
    /// How many base intervals this slice spans (more than 1 after merging on a slow stream).
    pub span: u32,
    /// Index of the stream in the trial.
    pub stream: u16,
    /// Operation.
    pub op: Op,
    /// Completed I/Os.
    pub ops: u64,
    /// Bytes of completed I/Os.
    pub bytes: u64,
    /// Failed I/Os.
    pub errors: u64,
    /// Largest latency, ns.
    pub latency_max_ns: u64,
    /// Latencies of the completed I/Os. Present once per second: it then covers every interval since the last slice that had one.
    /// In an open loop they count from the time when an I/O was due (response).
    pub latency: Option<Sparse>,
    /// What only an open loop has; `None` in a closed one. Elsewhere, because a long run has millions of slices without it.
    pub open: Option<Box<OpenSlice>>,
}

/// Arrivals of an open-loop stream in one interval. The backlog at its end is the sum of `due` less the sum of
/// `begun` over all operations and intervals so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OpenSlice {
    /// I/Os of the stream that were due, of all operations: told in slices of the first operation in use, 0 in those of the others.
    pub due: u64,
    /// I/Os of this operation that began.
    pub begun: u64,
    /// Time by which those began later than they were due, ns, summed: waiting for a place in flight included.
    pub late_sum_ns: u64,
    /// The latest of them, ns.
    pub late_max_ns: u64,
    /// Latencies from the begin of an I/O to its end (service), present with `latency`.
    pub service: Option<Sparse>,
}

/// How a trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialStatus {
    /// The whole window was measured.
    Complete,
    /// Stopped early by the user, a signal or a lost stream; what was measured is kept.
    Interrupted,
    /// Stopped because the target failed I/O.
    Failed,
    /// I/O was still in flight when the drain limit ended.
    Stalled,
    /// The whole window was measured, and verification found blocks that were not as written.
    Mismatch,
}

/// Everything about a trial that is known at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialOutcome {
    /// How it ended.
    pub status: TrialStatus,
    /// Start of load, CLOCK_MONOTONIC ns.
    pub load_start: Nanos,
    /// Start of the measuring window, CLOCK_MONOTONIC ns.
    pub window_start: Nanos,
    /// End of the measuring window as it really was (earlier than planned if interrupted).
    pub window_end: Nanos,
    /// How I/O was really submitted.
    pub engine: EngineFacts,
    /// One entry per job, over the window only.
    pub jobs: Vec<JobTotals>,
    /// I/Os in flight at the end of the window that completed while draining, with their full latency;
    /// part of the latency distribution, not of throughput. One entry per (stream, op).
    pub drained: Vec<Drained>,
    /// I/Os that did not complete within the drain limit.
    pub censored: Vec<Censored>,
    /// One entry per open-loop stream.
    pub open: Vec<OpenTotals>,
    /// Failed I/Os by class.
    pub errors: Vec<IoErrors>,
    /// What the prober saw; `None` if the trial has none.
    pub probes: Option<Probes>,
    /// What verification found; `None` if no stream asked for it.
    pub verification: Option<Verification>,
    /// What became of the I/Os of the window; `None` if the trial kept no log of them.
    pub io_log: Option<IoLogTotals>,
    /// What another tool printed of it, where its results were imported; `None`: it was seen.
    #[serde(rename = "told")]
    pub tool_output: Option<ToolOutput>,
    /// What instances of an application did, where those were the load; then there are no jobs.
    pub app: Option<AppOutcome>,
    /// (monotonic, boottime, realtime) ns at start and end: steps of the wall clock show here.
    pub clocks: [(u64, u64, u64); 2],
}

impl TrialOutcome {
    /// A complete one of this load and this window, in which nothing was seen.
    pub fn empty(load_start: Nanos, (window_start, window_end): (Nanos, Nanos)) -> TrialOutcome {
        TrialOutcome {
            status: TrialStatus::Complete,
            load_start,
            window_start,
            window_end,
            engine: EngineFacts::default(),
            jobs: Vec::new(),
            drained: Vec::new(),
            censored: Vec::new(),
            open: Vec::new(),
            errors: Vec::new(),
            probes: None,
            verification: None,
            io_log: None,
            tool_output: None,
            app: None,
            clocks: [(0, 0, 0); 2],
        }
    }

    /// Moves its times by `by_ns` on the run's axis. What `clocks` holds is what the host's clocks said, and stays.
    pub fn shift(&mut self, by_ns: i64) {
        for at in [&mut self.load_start, &mut self.window_start, &mut self.window_end] {
            *at = at.shifted(by_ns);
        }
    }
}

/// Latencies of I/Os that completed after the window. In an open loop some of them began after it, too: they were due inside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drained {
    /// Index of the stream in the trial.
    pub stream: u16,
    /// Operation.
    pub op: Op,
    /// Latencies; in an open loop from the time when an I/O was due.
    pub latency: Sparse,
    /// Latencies from the begin of an I/O; `None` in a closed loop, where that is the same.
    pub service: Option<Sparse>,
}

/// What is known about an open-loop stream over the whole trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenTotals {
    /// Index of the stream in the trial.
    pub stream: u16,
    /// I/Os that were due inside the window, by the arrivals drawn.
    pub due: u64,
    /// How much later than they were due I/Os began, for whatever reason. All I/Os, ramp and drain included.
    pub late: Sparse,
    /// How much later than possible I/Os began, by fault of the engine alone: after they were due and there was a place
    /// for them. All I/Os, ramp and drain included.
    pub own_late: Sparse,
    /// I/Os that were due before the end of the window and never began: their ages at the end, by operation, in
    /// the order of [`Op::ALL`]. Beyond a million per job, ages are counted in groups of neighbours.
    pub never_begun: [Sparse; OPS],
}

/// Totals of one job over the measuring window.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JobTotals {
    /// Index of the stream in the trial.
    pub stream: u16,
    /// Index of the job in the stream.
    pub job: u32,
    /// Completed (ops, bytes) by operation, in the order of [`Op::ALL`].
    pub done: [(u64, u64); OPS],
    /// Latencies by operation, in the order of [`Op::ALL`]; in an open loop from the time when an I/O was due.
    pub latency: [Sparse; OPS],
    /// Latencies from the begin of an I/O; `None` in a closed loop, where that is the same.
    pub service: Option<[Sparse; OPS]>,
    /// Time its threads were on a CPU, ns (schedstat).
    pub cpu_ns: Option<u64>,
    /// Time its threads were runnable but waited for a CPU, ns (schedstat), of the worst thread.
    pub run_delay_ns: Option<u64>,
    /// Time the busiest thread of the job was on a CPU, ns.
    pub cpu_max_ns: Option<u64>,
    /// Mean time from the one reading of the clock for a batch until its last I/O was queued, ns; `None`: the clock was
    /// read for each.
    pub batch_span_ns: Option<u64>,
    /// How its I/Os were given to the kernel, ramp and drain included; `None`: by a call each that returns when the I/O is complete,
    /// or another program made them.
    pub submissions: Option<Submissions>,
}

impl JobTotals {
    /// A job that completed nothing, and of which nothing else is known.
    pub fn empty(stream: u16, job: u32) -> JobTotals {
        JobTotals {
            stream,
            job,
            done: [(0, 0); OPS],
            latency: Op::ALL.map(|_| Sparse::default()),
            service: None,
            cpu_ns: None,
            run_delay_ns: None,
            cpu_max_ns: None,
            batch_span_ns: None,
            submissions: None,
        }
    }
}

/// How I/Os were given to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Submissions {
    /// Calls that gave it I/Os.
    pub calls: u64,
    /// I/Os, syncs and repeated ones included.
    pub ios: u64,
    /// Those that were submitted together with others.
    pub together: u64,
    /// How long I/Os that went one by one waited for those before them, all together, ns, before their latencies began.
    pub waited_ns: u64,
    /// How long before its stamp each may have been complete because the thread was busy, all together, ns: since it last had read all that
    /// was complete. Without what a wake-up takes, and without one submission that precedes a wait in the same call.
    pub late_ns: u64,
}

impl Submissions {
    /// Adds those of another thread.
    pub fn add(&mut self, more: Submissions) {
        self.calls += more.calls;
        self.ios += more.ios;
        self.together += more.together;
        self.waited_ns += more.waited_ns;
        self.late_ns += more.late_ns;
    }
}

/// An I/O whose end was not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Censored {
    /// Index of the stream in the trial.
    pub stream: u16,
    /// Operation.
    pub op: Op,
    /// How long it had been in flight when we stopped waiting, in an open loop how long it had been due: its
    /// latency is more than this.
    pub age: Nanos,
    /// How long it had been in flight; the same as `age` in a closed loop.
    pub in_flight: Nanos,
}

/// Failed I/Os of one class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoErrors {
    /// Index of the stream in the trial.
    pub stream: u16,
    /// Operation; the likeliest where another engine does not name it.
    pub op: Op,
    /// The kernel's error number; 0 for a short transfer.
    pub errno: i32,
    /// How many.
    pub count: u64,
    /// Byte offset of the first one; `None` where another engine does not tell it.
    pub first_offset: Option<u64>,
}

/// Blocks read before the first read case to see whether the range was ever written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ZeroSample {
    /// 4 KiB blocks read at random offsets.
    pub sampled: u32,
    /// Blocks that held only zero bytes.
    pub zero: u32,
    /// What is in the others; `None` if nobody looked.
    pub contents: Option<Contents>,
}

/// How far storage could make sampled blocks smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Contents {
    /// Bytes that they take when each is compressed by zstd at level 1, at most its own size.
    pub compressed: Bytes,
    /// Blocks that equal one sampled before.
    pub repeated: u32,
}

/// How a range was emptied before it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PurgeMethod {
    /// It was not.
    #[default]
    None,
    /// A device was asked to drop a range (TRIM, UNMAP, deallocate).
    Discard,
    /// Holes were punched into test files.
    Holes,
    /// The kernel was asked to make it read as zeroes, because the target takes no discards.
    Zeroes,
}

/// What was done to the range before measuring, and how long it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FillOutcome {
    /// Bytes written, all passes together.
    pub written: Bytes,
    /// Time it took, purging included.
    pub elapsed: Nanos,
    /// Passes that came to their end.
    pub passes: u32,
    /// Bytes per write.
    pub block_size: Bytes,
    /// How it was emptied first.
    pub purge: PurgeMethod,
    /// Time that this took.
    pub purge_elapsed: Nanos,
}
