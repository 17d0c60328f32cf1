//! From what fio told to the outcome of a trial. Pure: no clock, no files.

use super::document::{Document, Report, Side};
use super::faults;
use super::job;
use super::logs::Row;
use super::ran::{Ran, kinds};
use super::slices::{self, Done};
use crate::child::Cut;
use crate::layout::Job;
use stend_base::{Bytes, Nanos};
use stend_record::External;
use stend_record::fio_bins::{self as bins, Bins};
use stend_record::observed::{EngineFacts, JobFacts, JobTotals, Slice, TrialOutcome, TrialStatus};
use stend_spec::workload::{OPS, Op, Region};

/// Times in fio's logs are cut to whole ms twice, and so are the two ends of what it calls its runtime.
const TIME_ERROR: Nanos = Nanos::millis(2);

/// What fio told.
#[derive(Debug)]
pub(super) struct Printed {
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
pub(super) fn conclude(ran: &Ran, told: Option<Printed>) -> Result<(TrialOutcome, Vec<Slice>), String> {
    if ran.ended.cut == Some(Cut::Talked) {
        return Err("it printed without end".into());
    }
    let Some(told) = told else { return Ok((nothing_known(ran), Vec::new())) };
    let reports = reports(ran, &told.document)?;
    possible(ran, &reports, &told.rows)?;
    let mut errors = faults::failed(ran, &reports);
    if errors.is_empty() && reports.iter().any(|report| report.error != 0) {
        return Err("a job failed, and not by an I/O".into());
    }
    let placed = place(ran, &reports, &told.rows);
    if errors.is_empty() && ran.ended.cut.is_none() {
        ran_to_its_end(ran, placed.length)?;
    }
    let (mut done, mut series) = (Vec::new(), Vec::new());
    // For a stopped ramp fio prints bytes, and nothing else.
    if placed.length > Nanos(0) {
        if errors.is_empty() {
            errors = faults::short(ran, &reports)?;
        }
        for ((job, report), rows) in ran.jobs.iter().zip(&reports).zip(&told.rows) {
            let totals = totals(job, report)?;
            if errors.is_empty() {
                syncs_as_asked(job, &totals.done)?;
            }
            done.push(totals);
            series.extend(of_kinds(job, report, rows, placed.log_start)?);
        }
    }
    let slices = slices::slices(&series, placed.length)?;
    let status = match ran.ended.cut {
        _ if !errors.is_empty() => TrialStatus::Failed,
        Some(Cut::Stopped) if placed.length < ran.trial.window => TrialStatus::Interrupted,
        Some(Cut::Late) => TrialStatus::Stalled,
        _ => TrialStatus::Complete,
    };
    let outcome = TrialOutcome {
        status,
        window_end: placed.start + placed.length,
        jobs: done,
        errors,
        ..at(ran, &reports, placed.start, placed.uncertainty)
    };
    Ok((outcome, slices))
}

/// Refuses times that lie beyond the life of fio, before anything is computed from them.
fn possible(ran: &Ran, reports: &[&Report], rows: &[Vec<Row>]) -> Result<(), String> {
    let lived = ran.ended.ended.saturating_sub(ran.ended.started);
    let beyond = |ms: &u64, end: Nanos| Nanos::millis(*ms) > end + TIME_ERROR;
    if let Some(ms) = reports.iter().map(|report| report.runtime_ms()).find(|ms| beyond(ms, lived)) {
        return Err(format!("it tells of {ms} ms of I/O and ran for {} ms", lived.0 / 1_000_000));
    }
    let last = if ran.monotonic { ran.ended.ended } else { lived };
    match rows.iter().flatten().map(|row| row.at_ms).find(|ms| beyond(ms, last)) {
        Some(ms) => Err(format!("its histogram log has the time {ms} ms, which is after its end")),
        None => Ok(()),
    }
}

/// Refuses what nobody cut and that is no whole trial all the same: somebody else may have ended it.
fn ran_to_its_end(ran: &Ran, length: Nanos) -> Result<(), String> {
    if let Some(status) = ran.ended.status.filter(|status| !status.success()) {
        return Err(format!("it ended by itself or by somebody else ({status})"));
    }
    if length + TIME_ERROR < ran.trial.window {
        let [is, asked] = [length, ran.trial.window].map(|time| time.0 / 1_000_000);
        return Err(format!("it measured for {is} ms of {asked} ms and does not say why"));
    }
    Ok(())
}

/// What a job did of each kind, with the lines of its log.
fn of_kinds<'a>(job: &Job, report: &Report, rows: &'a [Row], log_start: Nanos) -> Result<Vec<Done<'a>>, String> {
    let of = |(op, side): (Op, &Side)| {
        // There is no log of syncs: fio reports them once, over the whole window.
        let total = if op == Op::Sync { &side.lat_ns } else { &side.clat_ns }.bins()?;
        let rows = slices::since(rows, op, log_start);
        Ok(Done { stream: job.stream, op, total, bytes: Bytes(side.io_bytes), rows })
    };
    kinds(job).filter_map(|op| Some((op, report.side(op)?))).map(of).collect()
}

/// fio was killed before it said anything: at its start, if somebody wanted to stop, or because I/O did not end.
fn nothing_known(ran: &Ran) -> TrialOutcome {
    let status = if ran.ended.cut == Some(Cut::Late) { TrialStatus::Stalled } else { TrialStatus::Interrupted };
    TrialOutcome { status, ..at(ran, &[], ran.ended.ended, ran.ended.ended.saturating_sub(ran.ended.started)) }
}

/// An outcome with a window that begins at `start` and has no length.
fn at(ran: &Ran, reports: &[&Report], start: Nanos, uncertainty: Nanos) -> TrialOutcome {
    // Without all of them it is not known what was set up.
    let jobs = ran.jobs.iter().zip(reports).map(|(job, report)| facts(job, report)).collect::<Option<Vec<_>>>();
    TrialOutcome {
        // Nothing is known of the ramp, so for readers the load begins with the window.
        engine: EngineFacts {
            jobs: jobs.unwrap_or_default(),
            external: Some(External {
                version: String::new(),
                job_file: String::new(),
                start_uncertainty_ns: uncertainty.0,
            }),
            ..EngineFacts::default()
        },
        ..TrialOutcome::empty(start, (start, start))
    }
}

/// A job as fio says that it has read it; `None` if it does not say all.
fn facts(job: &Job, report: &Report) -> Option<JobFacts> {
    let number = |name: &str| report.option(name)?.parse::<u64>().ok();
    // A mixture is written as `4096/60:16384/40`.
    let mixture = || report.option("bssplit")?.split(':').map(|part| part.split('/').next()?.parse().ok()).max()?;
    Some(JobFacts {
        stream: job.stream,
        job: job.job,
        in_flight: number("iodepth")?.try_into().ok()?,
        block_size: Bytes(number("bs").or_else(mixture)?),
        area: Region { start: Bytes(number("offset")?), len: Bytes(number("size")?) },
        dsync: report.option("sync") == Some("dsync"),
        memory_node: None,
    })
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

fn totals(job: &Job, report: &Report) -> Result<JobTotals, String> {
    let (mut done, mut latency) = ([(0, 0); OPS], Op::ALL.map(|_| Default::default()));
    for op in kinds(job) {
        let Some(side) = report.side(op) else { continue };
        let counts: Bins = side.lat_ns.bins()?;
        done[op.index()] = (bins::count(&counts), side.io_bytes);
        latency[op.index()] = bins::sparse(&counts, Some(side.lat_ns.exact()));
    }
    let cpu_ns = Some(report.cpu_ns());
    Ok(JobTotals { done, latency, cpu_ns, cpu_max_ns: cpu_ns, ..JobTotals::empty(job.stream, job.job) })
}

/// One sync after every so many writes, but for those at either end; fio counts them on its own.
fn syncs_as_asked(job: &Job, done: &[(u64, u64); OPS]) -> Result<(), String> {
    let [writes, syncs] = [Op::Write, Op::Sync].map(|op| done[op.index()].0);
    let every = u64::from(job.spec.sync.every());
    if every == 0 || job.spec.mix.write == 0 || syncs.saturating_mul(every).abs_diff(writes) <= every {
        return Ok(());
    }
    Err(format!("job `{}` made {syncs} syncs and {writes} writes, not {every} writes per sync", job::name(job)))
}

/// Where the window lies. fio does not tell when it began, but a line of a log is never written before one `hist_ms` of it
/// is over, and the first I/O of a closed loop ends within the longest latency.
fn place(ran: &Ran, reports: &[&Report], rows: &[Vec<Row>]) -> Placed {
    let length = Nanos::millis(reports.iter().map(|report| report.runtime_ms()).max().unwrap_or(0));
    let began = reports.iter().any(|r| Op::TRANSFERS.iter().any(|op| r.side(*op).is_some_and(|s| s.lat_ns.max > 0)));
    // Stopped before its end, fio reports a ramp as if it were the window.
    let length = if began { length } else { Nanos(0) };
    let bounds = (ran.ended.started + ran.trial.ramp, ran.ended.ended.saturating_sub(length));
    let times = || rows.iter().flatten().map(|row| Nanos::millis(row.at_ms));
    let (Some(first), Some(last), true) = (times().min(), times().max(), ran.monotonic) else {
        let uncertainty = bounds.1.saturating_sub(bounds.0);
        return Placed { start: bounds.1, uncertainty, log_start: Nanos(0), length };
    };
    let latest = first.saturating_sub(Nanos::millis(ran.hist_ms)).min(bounds.1);
    let longest = reports.iter().flat_map(|r| Op::TRANSFERS.map(|op| r.side(op).map_or(0, |s| s.lat_ns.max))).max();
    let within = latest.saturating_sub(Nanos(longest.unwrap_or(0)) + TIME_ERROR);
    let earliest = bounds.0.max(last.saturating_sub(length)).max(within).min(latest);
    Placed { start: latest, uncertainty: latest.saturating_sub(earliest), log_start: latest, length }
}

#[cfg(test)]
mod tests;
