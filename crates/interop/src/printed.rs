//! A trial as tools print it that have no jobs and groups of their own: one load, its kinds of I/O, and the numbers of each. Pure.

use crate::build::Found;
use std::collections::BTreeMap;
use stend_base::buckets::Buckets;
use stend_base::histogram::Sparse;
use stend_base::{Bytes, Nanos};
use stend_record::observed::{EngineFacts, External, IoErrors, JobTotals, Slice, TrialOutcome, TrialStatus};
use stend_record::{ToolNumber, ToolOp, ToolOutput};
use stend_spec::workload::{Engine, Mix, OPS, Op, Pages, Region, Stream, Trial};

/// A mean must be known to this share of itself before anything is computed from it: Little's law multiplies it by the rate.
const MEAN_PRECISION: f64 = 0.01;

/// A trial as a tool printed it.
pub(crate) struct Printed {
    /// Index of the file.
    pub file: u32,
    /// Its line, from 1.
    pub line: u32,
    /// What the tool calls itself, with its version.
    pub version: String,
    /// The tool's options, as it repeats them; empty if it does not.
    pub command: String,
    /// Name of the case.
    pub name: String,
    /// What its load is made of, by the tool's own names.
    pub options: BTreeMap<String, String>,
    /// When it began, since 1970.
    pub started: Option<Nanos>,
    /// Warm-up that is not in the numbers.
    pub ramp: Nanos,
    /// What the numbers are of.
    pub window: Nanos,
    /// What its I/Os are. A depth of 0: not told.
    pub stream: Stream,
    /// Around the page cache.
    pub direct: bool,
    /// What its buffers were asked to lie in, where the tool tells.
    pub pages: Pages,
    /// The tool held the load back.
    pub paced: bool,
    /// Every I/O has the block size of the stream, and bytes are known to better than a thousandth.
    pub sizes_known: bool,
    /// It did not run to its end.
    pub failed: bool,
    /// Failed I/Os.
    pub errors: u64,
    /// Kinds of I/O that occurred.
    pub sides: Vec<Side>,
    /// Its intervals; empty if they are not told.
    pub slices: Vec<Slice>,
}

/// One kind of I/O of a trial.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Side {
    /// Kind.
    pub op: Op,
    /// Completed I/Os.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Latency from before the submission to the end; `None` without a mean of it.
    pub latency: Option<Latency>,
    /// Every number of it, as it was printed.
    pub numbers: Vec<ToolNumber>,
}

/// Latencies of one kind of I/O.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Latency {
    /// Mean, ns.
    pub mean_ns: f64,
    /// One unit of the last digit of the mean, ns: so far it may be off.
    pub step_ns: f64,
    /// Smallest, ns; 0 if it is not told.
    pub min_ns: u64,
    /// Largest, ns; of all kinds together where they are not told apart.
    pub max_ns: u64,
    /// Share in millionths, and ns.
    pub percentiles: Vec<(u32, u64)>,
}

/// A number as it was printed.
pub(crate) fn number(name: &str, unit: &str, printed: &str) -> ToolNumber {
    ToolNumber { name: name.to_string(), unit: unit.to_string(), printed: printed.to_string() }
}

/// Shares of these counts, in whole percent.
pub(crate) fn mix_of(read: u64, write: u64) -> Mix {
    let all = read.saturating_add(write).max(1);
    Mix::of_reads((read as f64 / all as f64 * 100.0).round() as u8)
}

impl Printed {
    /// The trial, for [`crate::build::run`]. Trials are repetitions of a case if name and options are the same; what of a command says more of
    /// the load has to be among the options, because names of files and results are in it, too.
    pub fn found(self) -> Found {
        let region = Region { start: Bytes(0), len: Bytes(0) };
        let asked = Trial {
            ramp: self.ramp,
            direct: self.direct,
            pages: self.pages,
            engine: Engine::Other,
            ..Trial::new(vec![self.stream.clone()], self.window, region)
        };
        let mut key = format!("{}\0", self.name);
        for (name, value) in &self.options {
            key += &format!("{name}={value}\0");
        }
        let lasted = self.ramp + self.window;
        let outcome = self.outcome();
        let Printed { name, options, started, slices, .. } = self;
        Found { name, key, options, started, lasted, asked, outcome, slices }
    }

    /// What came of it; its times count from its start.
    fn outcome(&self) -> TrialOutcome {
        let (version, job_file) = (self.version.clone(), self.command.clone());
        let external = External { version, job_file, start_uncertainty_ns: 0 };
        let first = self.sides.first().map_or(Op::Read, |side| side.op);
        let errors = IoErrors { stream: 0, op: first, errno: 0, count: self.errors, first_offset: None };
        TrialOutcome {
            status: if self.failed { TrialStatus::Failed } else { TrialStatus::Complete },
            // Nothing is known of the ramp, so the load begins with the window.
            engine: EngineFacts { direct: self.direct, external: Some(external), ..EngineFacts::default() },
            jobs: vec![totals(&self.sides)],
            errors: if self.errors > 0 { vec![errors] } else { Vec::new() },
            tool_output: Some(ToolOutput {
                file: self.file,
                line: self.line,
                paced: self.paced,
                depth_known: self.stream.queue_depth > 0,
                sizes_known: self.sizes_known,
                ops: self.sides.iter().map(Side::told).collect(),
            }),
            ..TrialOutcome::empty(self.ramp, (self.ramp, self.ramp + self.window))
        }
    }
}

/// Counts by kind, and of latencies sums and extremes.
fn totals(sides: &[Side]) -> JobTotals {
    let (mut done, mut latency) = ([(0, 0); OPS], Op::ALL.map(|_| Sparse::default()));
    for side in sides {
        done[side.op.index()] = (side.ios, side.bytes);
        if let Some(told) = &side.latency {
            let (sum_ns, min_ns, max_ns) = (side.sum_ns(), told.min_ns, told.max_ns);
            latency[side.op.index()] = Sparse { buckets: Buckets::default(), sum_ns, min_ns, max_ns };
        }
    }
    JobTotals { done, latency, ..JobTotals::empty(0, 0) }
}

impl Side {
    /// Sum of its latencies, ns, as mean and count give it.
    fn sum_ns(&self) -> u128 {
        self.latency.as_ref().map_or(0, |told| (told.mean_ns * self.ios as f64).round() as u128)
    }

    fn told(&self) -> ToolOp {
        let none = Latency::default();
        let latency = self.latency.as_ref().unwrap_or(&none);
        let precise = latency.mean_ns > 0.0 && latency.step_ns <= latency.mean_ns * MEAN_PRECISION;
        ToolOp {
            stream: 0,
            job: 0,
            op: self.op,
            latency: if self.latency.is_some() { "lat" } else { "" }.to_string(),
            count: if self.latency.is_some() { self.ios } else { 0 },
            sum_ns: self.sum_ns(),
            min_ns: latency.min_ns,
            max_ns: latency.max_ns,
            occupied_ns: precise.then(|| self.sum_ns()),
            mergeable: false,
            percentiles: latency.percentiles.clone(),
            numbers: self.numbers.clone(),
        }
    }
}
