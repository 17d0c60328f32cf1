//! Logs of the jobs of one run of fio, as a trial. Pure.

use super::choice::Of;
use super::totals::{Latencies, SumOf, Sums};
use crate::build::{ImportedRun, sum};
use std::collections::BTreeMap;
use stend_base::histogram::Sparse;
use stend_base::{Bytes, Nanos, Say};
use stend_plan::Case;
use stend_record::observed::{EngineFacts, External, JobTotals, TrialOutcome};
use stend_record::{Entry, SourceFile, ToolNumber, ToolOp, ToolOutput};
use stend_spec::pattern::Pattern;
use stend_spec::workload::{Engine, Mix, OPS, Op, Region, Stream, Trial};

/// What one log came to.
pub(super) struct JobLog {
    pub(super) file: u32,
    pub(super) of: Of,
    pub(super) lines: u64,
    pub(super) sums: Sums,
    /// Logs of averages, which have no sizes.
    pub(super) averaged: bool,
    /// Mean latencies as printed, by kind of I/O.
    pub(super) means: BTreeMap<usize, Vec<ToolNumber>>,
}

/// Trials so far.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) files: Vec<SourceFile>,
    cases: Vec<Case>,
    blocks: Vec<u32>,
    entries: Vec<Entry>,
    /// Where the next trial begins.
    at: Nanos,
}

impl Gathered {
    /// Adds a trial. Those of one prefix are trials of one case, in the order in which they were named.
    pub(super) fn add(&mut self, trial: u32, name: String, jobs: &[JobLog]) {
        let asked = asked(jobs);
        let case = self.cases.iter().position(|case| case.name == name).unwrap_or_else(|| {
            self.cases.push(Case {
                name,
                axes: Vec::new(),
                trial: asked.clone(),
                not_run: None,
                arm: None,
                steady: None,
                faults: Vec::new(),
            });
            self.blocks.push(0);
            self.cases.len() - 1
        });
        let at = self.at;
        let outcome = outcome(jobs, &asked, at);
        self.at = outcome.window_end + Nanos::SECOND;
        let block = self.blocks[case];
        self.blocks[case] += 1;
        self.entries.push(Entry::TrialStart {
            trial,
            case: case as u32,
            block,
            round: false,
            asked: Box::new(asked),
            at,
        });
        self.entries.push(Entry::trial_end(trial, outcome));
    }

    /// The run. Logs do not tell when they were written.
    pub(super) fn finish(self, dropped: Vec<Say>) -> ImportedRun {
        let blocks = self.blocks.iter().copied().max().unwrap_or(0);
        let mut run = ImportedRun::nothing_yet("fio");
        (run.inputs.suite.imported, run.inputs.suite.blocks) = (self.cases, blocks);
        (run.imported.files, run.imported.dropped) = (self.files, dropped);
        run.entries = self.entries;
        run
    }
}

/// What the I/Os tell of what was asked for: kinds, and the largest size. Order and depth they do not tell.
fn asked(jobs: &[JobLog]) -> Trial {
    let mut done = [(0u64, 0u64); OPS];
    for (op, own) in jobs.iter().flat_map(|job| done_of(&job.sums)) {
        done[op].0 = done[op].0.saturating_add(own.0);
    }
    let all = sum(done.iter().map(|(ops, _)| *ops)).max(1);
    let share = |op: Op| (done[op.index()].0 as f64 / all as f64 * 100.0).round() as u8;
    let (write, discard) = (share(Op::Write), share(Op::Discard));
    let mix = Mix { read: 100u8.saturating_sub(write).saturating_sub(discard), write, discard, write_zeroes: 0 };
    let largest = jobs.iter().flat_map(|job| &job.sums.kinds).map(|kind| kind.largest).max().unwrap_or(0);
    let stream =
        Stream { queue_depth: 0, jobs: jobs.len() as u32, ..Stream::new(mix, Pattern::Sequential, Bytes(largest)) };
    let window = Nanos::millis(jobs.iter().map(|job| job.sums.last_ms).max().unwrap_or(0));
    let region = Region { start: Bytes(0), len: Bytes(0) };
    Trial { engine: Engine::Fio, direct: true, ..Trial::new(vec![stream], window, region) }
}

fn done_of(sums: &Sums) -> impl Iterator<Item = (usize, (u64, u64))> {
    sums.done().into_iter().enumerate()
}

fn outcome(jobs: &[JobLog], asked: &Trial, at: Nanos) -> TrialOutcome {
    let totals = |(index, job): (u32, &JobLog)| {
        let mut latency = Op::ALL.map(|_| Sparse::default());
        job.sums.kinds.iter().for_each(|kind| latency[kind.op.index()] = kind.latency.stored());
        JobTotals { done: job.sums.done(), latency, ..JobTotals::empty(0, index) }
    };
    let indexed = || (0u32..).zip(jobs);
    TrialOutcome {
        engine: EngineFacts {
            external: Some(External { version: "fio".into(), job_file: String::new(), start_uncertainty_ns: 0 }),
            direct: asked.direct,
            ..EngineFacts::default()
        },
        jobs: indexed().map(totals).collect(),
        tool_output: Some(ToolOutput {
            file: jobs.first().map_or(0, |job| job.file),
            line: 1,
            paced: false,
            depth_known: false,
            sizes_known: jobs.iter().all(|job| job.of != Of::Histogram && !job.averaged && one_size(&job.sums, asked)),
            ops: indexed()
                .flat_map(|(index, job)| job.sums.kinds.iter().map(move |kind| told(index, job, kind)))
                .collect(),
        }),
        ..TrialOutcome::empty(at, (at, at + asked.window))
    }
}

/// Whether every I/O is as large as the largest of the trial.
fn one_size(sums: &Sums, asked: &Trial) -> bool {
    let size = asked.streams.first().map_or(0, |stream| stream.block_size.0);
    sums.kinds.iter().all(|kind| kind.ops.checked_mul(size) == Some(kind.bytes))
}

fn told(job: u32, log: &JobLog, kind: &SumOf) -> ToolOp {
    let stored = kind.latency.stored();
    let each = matches!(kind.latency, Latencies::Each(_));
    let known = !matches!(kind.latency, Latencies::Mean(None));
    let number = |name: &str, unit: &str, value: u64| ToolNumber {
        name: name.to_string(),
        unit: unit.to_string(),
        printed: value.to_string(),
    };
    let mut numbers = vec![number("lines", "", log.lines), number("last_time", "ms", log.sums.last_ms)];
    numbers.extend(log.means.get(&kind.op.index()).into_iter().flatten().cloned());
    let latency = match log.of {
        _ if !known => "",
        Of::Lat => "lat",
        _ => "clat",
    };
    ToolOp {
        stream: 0,
        job,
        op: kind.op,
        latency: latency.to_string(),
        count: if known { kind.ops } else { 0 },
        sum_ns: stored.sum_ns,
        min_ns: stored.min_ns,
        max_ns: stored.max_ns,
        // Means of intervals are brought to the I/Os of rates, which is too rough for Little's law.
        occupied_ns: (each && log.of == Of::Lat).then_some(stored.sum_ns),
        mergeable: each,
        percentiles: Vec::new(),
        numbers,
    }
}
