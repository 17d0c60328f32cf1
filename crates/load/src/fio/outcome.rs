//! From what fio told to the outcome of a trial. Pure: no clock, no files.

use super::bins::{self, Bins};
use super::child::{Cut, Ended};
use super::document::{Document, Report};
use super::job;
use super::logs::Row;
use super::slices::{self, Done, Window};
use crate::layout::Job;
use stend_base::{Bytes, Nanos};
use stend_record::External;
use stend_record::observed::{EngineFacts, IoErrors, JobFacts, JobTotals, Slice, TrialOutcome, TrialStatus};
use stend_spec::workload::{OPS, Op, Region, Sync, Trial};

/// Times in fio's logs are cut to whole ms twice.
const LOG_TIME_ERROR: Nanos = Nanos::millis(2);

/// A trial that fio ran.
#[derive(Debug)]
pub(super) struct Ran<'a> {
    /// What was asked for.
    pub trial: &'a Trial,
    /// The jobs, in the order of the sections.
    pub jobs: &'a [Job],
    /// How fio ended.
    pub ended: &'a Ended,
    /// Time between two lines of a log, ms.
    pub hist_ms: u64,
    /// Logs have the times of CLOCK_MONOTONIC.
    pub monotonic: bool,
}

/// What fio told.
#[derive(Debug)]
pub(super) struct Told {
    /// Its summary.
    pub document: Document,
    /// Its histogram logs, by job.
    pub rows: Vec<Vec<Row>>,
}

/// When the window was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Placed {
    /// Its latest possible start, CLOCK_MONOTONIC.
    start: Nanos,
    /// How much earlier it may have been.
    uncertainty: Nanos,
    /// What is subtracted from the times of logs.
    log_start: Nanos,
    length: Nanos,
}

/// The outcome, but for what only the caller knows, and all slices. The error says what cannot be believed.
pub(super) fn conclude(ran: &Ran, told: Option<Told>) -> Result<(TrialOutcome, Vec<Slice>), String> {
    let Some(told) = told else { return Ok((nothing_known(ran), Vec::new())) };
    let reports = reports(ran, &told.document)?;
    let errors = errors(ran, &reports);
    if errors.is_empty() && reports.iter().any(|report| report.error != 0) {
        return Err("a job failed, and not by an I/O".into());
    }
    let mut done = Vec::new();
    for (job, report) in ran.jobs.iter().zip(&reports) {
        done.push(totals(job, report)?);
    }
    let placed = place(ran, &reports, &told.rows);
    let mut series = Vec::new();
    for ((job, report), rows) in ran.jobs.iter().zip(&reports).zip(&told.rows) {
        for op in kinds(job) {
            let Some(side) = report.side(op) else { continue };
            let rows = slices::since(rows, op, placed.log_start);
            // Of syncs there is no log: they are told once, over the whole window.
            let total = if op == Op::Sync { &side.lat_ns } else { &side.clat_ns };
            let total = total.bins()?;
            series.push(Done { stream: job.stream, op, total, bytes: Bytes(side.io_bytes), rows });
        }
    }
    let slices = slices::slices(&series, Window { ramp: ran.trial.ramp, length: placed.length })?;
    let status = match ran.ended.cut {
        _ if !errors.is_empty() => TrialStatus::Failed,
        Some(Cut::Stopped) if placed.length < ran.trial.window => TrialStatus::Interrupted,
        Some(Cut::Late) => TrialStatus::Stalled,
        Some(Cut::Stopped) | None => TrialStatus::Complete,
    };
    let outcome = TrialOutcome {
        status,
        window_end: placed.start + placed.length,
        jobs: done,
        errors,
        ..at(ran, placed.start, placed.uncertainty)
    };
    Ok((outcome, slices))
}

/// fio was killed before it said anything: at its start, if somebody wanted to stop, or because I/O did not end.
fn nothing_known(ran: &Ran) -> TrialOutcome {
    let status = if ran.ended.cut == Some(Cut::Late) { TrialStatus::Stalled } else { TrialStatus::Interrupted };
    TrialOutcome { status, ..at(ran, ran.ended.ended, ran.ended.ended.saturating_sub(ran.ended.started)) }
}

/// An outcome with a window that begins at `start` and has no length.
fn at(ran: &Ran, start: Nanos, uncertainty: Nanos) -> TrialOutcome {
    TrialOutcome {
        status: TrialStatus::Complete,
        load_start: start.saturating_sub(ran.trial.ramp),
        window_start: start,
        window_end: start,
        engine: EngineFacts {
            jobs: ran.jobs.iter().map(facts).collect(),
            external: Some(External {
                version: String::new(),
                job_file: String::new(),
                start_uncertainty_ns: uncertainty.0,
            }),
            ..EngineFacts::default()
        },
        jobs: Vec::new(),
        drained: Vec::new(),
        censored: Vec::new(),
        open: Vec::new(),
        errors: Vec::new(),
        verification: None,
        clocks: [(0, 0, 0); 2],
    }
}

fn facts(job: &Job) -> JobFacts {
    let block_size = job.spec.block_size;
    JobFacts {
        stream: job.stream,
        job: job.job,
        in_flight: job.spec.queue_depth,
        block_size,
        area: Region { start: Bytes(job.area.start), len: Bytes(job.area.blocks * block_size.0) },
        dsync: job.spec.sync == Sync::ODsync,
        memory_node: None,
    }
}

/// The report of every job, in our order.
fn reports<'a>(ran: &Ran, document: &'a Document) -> Result<Vec<&'a Report>, String> {
    let of = |job: &Job| {
        let name = job::name(job);
        let found = document.jobs.iter().find(|report| report.jobname == name);
        found.ok_or(format!("{} says nothing of job `{name}`", document.version))
    };
    ran.jobs.iter().map(of).collect()
}

/// Kinds of I/O that a job makes.
fn kinds(job: &Job) -> impl Iterator<Item = Op> {
    let syncs = job.spec.mix.write > 0 && job.spec.sync.every() > 0;
    job.spec.mix.shares().map(|(op, _)| op).chain(syncs.then_some(Op::Sync))
}

fn totals(job: &Job, report: &Report) -> Result<JobTotals, String> {
    let (mut done, mut latency) = ([(0, 0); OPS], Op::ALL.map(|_| Default::default()));
    for op in kinds(job) {
        let Some(side) = report.side(op) else { continue };
        let counts: Bins = side.lat_ns.bins()?;
        done[op.index()] = (bins::count(&counts), side.io_bytes);
        latency[op.index()] = bins::sparse(&counts, Some(side.lat_ns.exact()));
    }
    let cpu_ns = Some(report.cpu_ns());
    Ok(JobTotals {
        stream: job.stream,
        job: job.job,
        done,
        latency,
        service: None,
        cpu_ns,
        run_delay_ns: None,
        cpu_max_ns: cpu_ns,
        batch_span_ns: None,
    })
}

/// Where the window lies. fio does not tell when it began, but a line of a log is never written before one `hist_ms` of it
/// is over, and the first I/O of a closed loop ends within the longest latency.
fn place(ran: &Ran, reports: &[&Report], rows: &[Vec<Row>]) -> Placed {
    let length = Nanos::millis(reports.iter().map(|report| report.runtime_ms()).max().unwrap_or(0));
    let began = reports.iter().any(|r| Op::TRANSFERS.iter().any(|op| r.side(*op).is_some_and(|s| s.lat_ns.max > 0)));
    // Stopped before its end, a ramp is told as if it were the window.
    let length = if began { length } else { Nanos(0) };
    let bounds = (ran.ended.started + ran.trial.ramp, ran.ended.ended.saturating_sub(length));
    let times = || rows.iter().flatten().map(|row| Nanos::millis(row.at_ms));
    let (Some(first), Some(last), true) = (times().min(), times().max(), ran.monotonic) else {
        let uncertainty = bounds.1.saturating_sub(bounds.0);
        return Placed { start: bounds.1, uncertainty, log_start: Nanos(0), length };
    };
    let latest = first.saturating_sub(Nanos::millis(ran.hist_ms)).min(bounds.1);
    let longest = reports.iter().flat_map(|r| Op::TRANSFERS.map(|op| r.side(op).map_or(0, |s| s.lat_ns.max))).max();
    let within = latest.saturating_sub(Nanos(longest.unwrap_or(0)) + LOG_TIME_ERROR);
    let earliest = bounds.0.max(last.saturating_sub(length)).max(within).min(latest);
    Placed { start: latest, uncertainty: latest.saturating_sub(earliest), log_start: latest, length }
}

/// Failed I/O by job: fio names kind and offset of the first on its standard error, and the number in its summary.
fn errors(ran: &Ran, reports: &[&Report]) -> Vec<IoErrors> {
    let told: Vec<(Op, u64)> = ran.ended.words.lines().filter_map(io_error).collect();
    let of = |(job, report): (&Job, &&Report)| {
        let area = facts(job).area;
        let (op, first_offset) =
            told.iter().copied().find(|(_, at)| area.start.0 <= *at && *at < area.start.0 + area.len.0)?;
        (report.error != 0).then_some(IoErrors { stream: job.stream, op, errno: report.error, count: 1, first_offset })
    };
    ran.jobs.iter().zip(reports).filter_map(of).collect()
}

/// Kind and offset in a line such as `fio: io_u error on file F: Input/output error: read offset=4096, buflen=4096`.
fn io_error(line: &str) -> Option<(Op, u64)> {
    let (_, what) = line.split_once("io_u error on file ")?;
    let (before, rest) = what.rsplit_once(" offset=")?;
    let op = match before.rsplit(' ').next()? {
        "read" => Op::Read,
        "write" => Op::Write,
        _ => Op::Sync,
    };
    Some((op, rest.split(',').next()?.trim().parse().ok()?))
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
