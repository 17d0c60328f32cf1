//! A stretch of a run in buckets, from the part of its file that lies around it. Must not keep more of the run than that.

use serde::Serialize;
use std::ops::Range;
use std::path::Path;
use stend_analyse::intervals::{self, INTERVAL, INTERVALS_MAX, Rate, Reduced, Reducer};
use stend_api::{Intervals, OperationIntervals, Stretch, TrialIntervals};
use stend_base::{Error, Nanos, Result, say};
use stend_record::store::SliceRows;
use stend_record::{HostId, RunRecord, TrialRecord};

/// A trial that ran in the stretch.
struct Part<'a> {
    trial: &'a TrialRecord,
    /// Which of its intervals.
    intervals: Range<usize>,
    /// How many it has.
    whole: usize,
}

/// The stretch of the run in a file.
///
/// Errors: `Usage` for a stretch that ends before it begins, or holds more than is read at once; those of reading the file.
pub fn of(path: &Path, asked: &Stretch) -> Result<Intervals> {
    let stretch = asked.from..asked.to.unwrap_or(Nanos(u64::MAX));
    if stretch.is_empty() {
        return Err(Error::usage(say!(
            "the stretch ends before it begins",
            "отрезок кончается раньше, чем начинается"
        ))
        .hint(say!("`to` must be larger than `from`", "`to` должно быть больше `from`")));
    }
    let (record, mut rows) = SliceRows::open(path)?;
    let start = stend_analyse::start(&record);
    let parts = parts(&record, &mut rows, start, &stretch, asked.case)?;
    let lengths: Vec<usize> = parts.iter().map(|part| part.intervals.len()).collect();
    let seconds: Vec<usize> = parts.iter().map(|part| intervals::seconds(&part.intervals).len()).collect();
    let size = intervals::bucket_size(&lengths, asked.points);
    let seconds_size = intervals::bucket_size(&seconds, asked.points);
    let reduced = |part: &Part<'_>| {
        let mut reducer = Reducer::new(part.trial, part.intervals.clone(), size, seconds_size);
        let around = part.intervals.start as u32..part.intervals.end as u32;
        rows.each(part.trial.trial, &around, |host, slice| {
            if part.trial.has_slices_of(host) {
                reducer.take(slice);
            }
        });
        of_trial(&record, part, intervals::load_start(part.trial, start), (size, seconds_size), reducer.finish())
    };
    let trials = parts.iter().map(reduced).collect();
    Ok(Intervals {
        schema: "stend-intervals",
        schema_version: 1,
        run: record.header.id.clone(),
        resolution_ms: size as u64 * INTERVAL.0 / 1_000_000,
        latency_resolution_ms: seconds_size as u64 * 1000,
        is_damaged: rows.is_damaged(),
        trials,
    })
}

/// Trials that ran in a stretch.
fn parts<'a>(
    record: &'a RunRecord,
    rows: &mut SliceRows,
    start: Nanos,
    stretch: &Range<Nanos>,
    case: Option<u32>,
) -> Result<Vec<Part<'a>>> {
    let mut parts = Vec::new();
    let mut total = 0;
    for trial in &record.trials {
        let ended = trial.outcome.as_ref().map(|outcome| outcome.window_end.saturating_sub(start));
        let is_meant = case.is_none_or(|case| case == trial.case)
            && intervals::load_start(trial, start) < stretch.end
            && ended.is_none_or(|ended| ended > stretch.start);
        if !is_meant {
            continue;
        }
        let observed = rows.observed(trial.trial);
        let intervals = intervals::within(trial, observed, start, stretch);
        let whole = intervals::within(trial, observed, start, &(Nanos(0)..Nanos(u64::MAX))).end;
        total += intervals.len();
        if total > INTERVALS_MAX {
            return Err(too_long());
        }
        if !intervals.is_empty() {
            parts.push(Part { trial, intervals, whole });
        }
    }
    Ok(parts)
}

fn too_long() -> Box<Error> {
    let hours = INTERVALS_MAX as u64 * INTERVAL.0 / Nanos::secs(3600).0;
    Error::usage(say!("the stretch has more than {hours} hours of load", "в отрезке больше {hours} часов нагрузки"))
        .hint(say!("ask for a shorter one with `from` and `to`", "запросите более короткий с `from` и `to`"))
}

/// Columns of a trial whose load started at `begin`, with so many intervals and seconds to a bucket.
fn of_trial(
    record: &RunRecord,
    Part { trial, intervals, whole }: &Part<'_>,
    begin: Nanos,
    (size, seconds_size): (usize, usize),
    reduced: Vec<Reduced>,
) -> TrialIntervals {
    let second = (Nanos::SECOND.0 / INTERVAL.0) as usize;
    let at = |interval: f64| rounded(begin.as_secs() + interval * INTERVAL.as_secs());
    let middle = |from: usize, to: usize| at((from + to) as f64 / 2.0);
    let rates = intervals.clone().step_by(size);
    let seconds = intervals::seconds(intervals);
    let latencies = seconds.clone().step_by(seconds_size);
    let hosts: Vec<HostId> = match trial.parts.as_slice() {
        [] => vec![HostId::LOAD],
        parts => parts.iter().map(|part| part.host).collect(),
    };
    TrialIntervals {
        trial: trial.trial,
        case: trial.case,
        block: trial.block,
        hosts: hosts.into_iter().map(|host| name(record, host)).collect(),
        from_s: at(intervals.start as f64),
        to_s: at(intervals.end as f64),
        at_s: rates.map(|from| middle(from, (from + size).min(intervals.end))).collect(),
        // A last, shorter second has its middle in its own part.
        latency_at_s: latencies
            .map(|from| middle(from * second, ((from + seconds_size).min(seconds.end) * second).min(*whole)))
            .collect(),
        operations: reduced.iter().map(operation).collect(),
    }
}

/// What the user calls a host, or what it calls itself.
fn name(record: &RunRecord, host: HostId) -> String {
    let named = record.name_of(host);
    let own = || record.loads().find(|(id, _)| *id == host)?.1.facts.as_ref().map(|facts| facts.hostname.clone());
    if named.is_empty() { own().unwrap_or_default() } else { named.to_string() }
}

fn operation(Reduced { op, iops, bytes, largest, latencies }: &Reduced) -> OperationIntervals {
    let column = |rates: &[Rate], of: fn(&Rate) -> f64| rates.iter().map(|rate| rounded(of(rate))).collect();
    let latency = |of: fn(&intervals::Latency) -> Nanos| {
        latencies.iter().map(|latency| latency.as_ref().map(|latency| of(latency).0)).collect()
    };
    OperationIntervals {
        operation: word(op),
        iops_mean: column(iops, |rate| rate.mean),
        iops_min: column(iops, |rate| rate.min),
        iops_max: column(iops, |rate| rate.max),
        bytes_per_s_mean: column(bytes, |rate| rate.mean),
        bytes_per_s_min: column(bytes, |rate| rate.min),
        bytes_per_s_max: column(bytes, |rate| rate.max),
        interval_latency_ns_max: largest.iter().map(|latency| latency.0).collect(),
        latency_ns_p50: latency(|latency| latency.p50),
        latency_ns_p99: latency(|latency| latency.p99),
        latency_ns_max: latency(|latency| latency.max),
    }
}

/// A word of an enum without fields: it has no case in which it cannot be written.
fn word(value: &impl Serialize) -> String {
    let word = serde_json::to_value(value).unwrap_or_default();
    word.as_str().unwrap_or_default().to_string()
}

/// Without digits that only binary fractions have.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
