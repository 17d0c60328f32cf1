//! A run in the terms of fio's job results, for programs that read results of fio. What fio would know and Stend does not is
//! `None`; nothing is made up for it. The layout of the document is the business of `report`.
//!
//! Source: fio 3.33, stat.c (`show_thread_status_json`, `add_ddir_status_json`, `calc_lat`), io_u.c (`io_u_mark_latency`).

mod latency;

pub use latency::{LatencyAsFio, Marks};

use crate::operations::{OpLatency, latencies};
use crate::rates::{rates, window_series};
use crate::trials::{CaseTrials, Counting, by_case};
use stend_base::{Nanos, Result};
use stend_plan::Plan;
use stend_record::RunRecord;
use stend_spec::workload::{Op, Trial};
use stend_stats::{mean, variance};

/// Kinds of I/O that fio has, in its order; writes of zeroes it has not.
pub const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Discard, Op::Sync];
/// Intervals of 100 ms in one sample of fio's rates: it takes one every 500 ms (`bwavgtime`).
const SAMPLE_INTERVALS: usize = 5;

/// What to make of the trials of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trials {
    /// One group of jobs for each, in the order of the run.
    Each,
    /// One group of jobs for all of them, which lasts as long as all of them together.
    Together,
}

/// Jobs that ran at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupAsFio {
    /// Index of the case in the plan.
    pub case: u32,
    /// Its label.
    pub label: String,
    /// Name of its arm; `None` if the suite has no arms.
    pub arm: Option<String>,
    /// Name of the case in the suite.
    pub name: String,
    /// Values of the axes that vary.
    pub axes: Vec<(String, String)>,
    /// What was asked for.
    pub asked: Trial,
    /// How I/O was submitted: `io_uring`, `libaio`, `psync`, …
    pub backend: String,
    /// Trials in it.
    pub trials: u32,
    /// When the load of its first trial began, ms since 1970.
    pub began_unix_ms: u64,
    /// When the window of its last trial ended, ms since 1970.
    pub ended_unix_ms: u64,
    /// Measuring windows, one behind the other.
    pub runtime: Nanos,
    /// One for each stream, over all of its jobs.
    pub jobs: Vec<JobAsFio>,
}

/// All jobs of a stream, reported as one (`group_reporting`).
#[derive(Debug, Clone, PartialEq)]
pub struct JobAsFio {
    /// Index of the stream.
    pub stream: u16,
    /// Time that its threads were on a CPU, user and kernel together, ns; `None` if it is not known.
    pub cpu_ns: Option<u64>,
    /// I/Os that failed.
    pub failed: u64,
    /// By kind of I/O, those that occurred, in the order of [`OPS`].
    pub sides: Vec<SideAsFio>,
    /// How its I/Os, syncs left out, share between fio's coarse classes of latency; `None` without a histogram.
    pub marks: Option<Marks>,
}

/// One kind of I/O.
#[derive(Debug, Clone, PartialEq)]
pub struct SideAsFio {
    /// Which.
    pub op: Op,
    /// I/Os completed in the window.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// I/Os per second: the mean over the trials.
    pub iops: f64,
    /// Bytes per second: the mean over the trials.
    pub throughput: f64,
    /// I/Os per second in every half second; `None` where no interval was seen.
    pub iops_samples: Option<Samples>,
    /// Bytes per second in every half second.
    pub throughput_samples: Option<Samples>,
    /// Latency of its I/Os; `None` if none is known.
    pub latency: Option<LatencyAsFio>,
}

/// A value that was looked at again and again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Samples {
    /// How often.
    pub count: u64,
    /// Smallest.
    pub least: f64,
    /// Largest.
    pub most: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation; 0 of a single one.
    pub deviation: f64,
}

/// Every case with a trial that counts, in the order of the run; trials that do not count and tests of cause are left out.
///
/// Errors: as [`analyse`](crate::analyse).
pub fn as_fio(run: &RunRecord, trials: Trials) -> Result<Vec<GroupAsFio>> {
    let plan = run.plan()?;
    let mut groups = Vec::new();
    // Tests of cause are no results of the suite; every other export leaves them out, too.
    for case in by_case(run).into_iter().filter(|case| plan.confirming(case.case).is_none()) {
        match trials {
            Trials::Each => groups.extend(case.counting.iter().filter_map(|trial| {
                let (all, counting) = (vec![trial.record], vec![*trial]);
                let alone =
                    CaseTrials { case: case.case, asked: &trial.record.asked, all, counting, of_other_hosts: 0 };
                group(run, &plan, &alone)
            })),
            Trials::Together => groups.extend(group(run, &plan, &case)),
        }
    }
    groups.sort_by_key(|group| group.began_unix_ms);
    Ok(groups)
}

fn group(run: &RunRecord, plan: &Plan, case: &CaseTrials<'_>) -> Option<GroupAsFio> {
    let (first, last) = (case.counting.first()?, case.counting.last()?);
    let latencies = latencies(case);
    let planned = plan.cases.get(case.case as usize);
    let name = || format!("case {}", case.case);
    let unix_ms = |at: Nanos| {
        let ns = i128::from(run.header.realtime_offset_ns) + i128::from(at.0);
        u64::try_from(ns / 1_000_000).unwrap_or(0)
    };
    let began = first.outcome.window_start.saturating_sub(case.asked.ramp);
    Some(GroupAsFio {
        case: case.case,
        label: planned.map_or_else(name, |case| case.label()),
        arm: planned.and_then(|case| case.arm.clone()),
        name: planned.map_or_else(name, |case| case.name.clone()),
        axes: planned.map_or_else(Vec::new, |case| case.axes.clone()),
        asked: case.asked.clone(),
        backend: first.outcome.engine.backend.clone(),
        trials: case.counting.len() as u32,
        began_unix_ms: unix_ms(began),
        ended_unix_ms: unix_ms(last.outcome.window_end),
        runtime: case.counting.iter().fold(Nanos(0), |sum, trial| Nanos(sum.0.saturating_add(trial.window.0))),
        jobs: (0..case.asked.streams.len() as u16).map(|stream| job(case, &latencies, stream)).collect(),
    })
}

fn job(case: &CaseTrials<'_>, latencies: &[OpLatency], stream: u16) -> JobAsFio {
    let sides: Vec<SideAsFio> = OPS.into_iter().filter_map(|op| side(case, latencies, stream, op)).collect();
    let of_stream = || case.counting.iter().flat_map(|t| &t.outcome.jobs).filter(move |job| job.stream == stream);
    let errors = case.counting.iter().flat_map(|t| &t.outcome.errors).filter(|e| e.stream == stream);
    let cpu = of_stream().map(|job| job.cpu_ns).try_fold(0u64, |sum, own| Some(sum.saturating_add(own?)));
    JobAsFio {
        stream,
        cpu_ns: cpu.filter(|_| of_stream().next().is_some()),
        failed: errors.fold(0, |sum, e| sum.saturating_add(e.count)),
        marks: latency::marks(sides.iter().filter(|side| side.op != Op::Sync)),
        sides,
    }
}

fn side(case: &CaseTrials<'_>, latencies: &[OpLatency], stream: u16, op: Op) -> Option<SideAsFio> {
    let of = latencies.iter().find(|latency| (latency.stream, latency.op) == (stream, op));
    let latency = of.and_then(|of| latency::latency(case, of));
    let (ios, bytes) = case.counting.iter().fold((0u64, 0u64), |(ios, bytes), trial| {
        let done = trial.done(Some(stream), &[op]);
        (ios.saturating_add(done.0), bytes.saturating_add(done.1))
    });
    if ios == 0 && latency.is_none() {
        return None;
    }
    let rates = rates(case, Some(stream), &[op]);
    let sampled = |bytes: bool| {
        let of = |trial: &Counting<'_>| match bytes {
            true => window_series(trial, Some(stream), &[op], |cell| cell.bytes),
            false => window_series(trial, Some(stream), &[op], |cell| cell.ops),
        };
        samples(case.counting.iter().flat_map(|trial| halves(&of(trial))).collect())
    };
    Some(SideAsFio {
        op,
        ios,
        bytes,
        iops: rates.iops.value,
        throughput: rates.throughput.value,
        iops_samples: sampled(false),
        throughput_samples: sampled(true),
        latency,
    })
}

/// Means of every half second; what does not fill one is left out.
fn halves(series: &[f64]) -> Vec<f64> {
    series.chunks_exact(SAMPLE_INTERVALS).filter_map(mean).collect()
}

fn samples(values: Vec<f64>) -> Option<Samples> {
    let mean = mean(&values)?;
    Some(Samples {
        count: values.len() as u64,
        least: values.iter().copied().fold(f64::INFINITY, f64::min),
        most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        mean,
        deviation: variance(&values).unwrap_or(0.0).sqrt(),
    })
}

#[cfg(test)]
mod tests;
