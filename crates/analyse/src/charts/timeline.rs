//! The whole run on one axis of time: its phases, the trials of every case, what happened, and when nothing was recorded.

use super::{events, phases, since};
use crate::chart::{Band, Mark};
use crate::findings::Findings;
use crate::series;
use std::collections::BTreeMap;
use stend_base::{Nanos, Say, format, say, say_in};
use stend_record::{EventKind, RunRecord, TrialRecord, TrialStatus};

/// Most rows: a screen holds them with their names. With more cases, neighbours share a row.
const ROWS_MAX: usize = 24;
/// Blocks beyond are only stripes.
const BLOCKS_MAX: usize = 100;
/// Stretches of a row that are closer than this part of the run are drawn as one.
const APART: f64 = 0.001;
/// Samples come every second; in ten seconds without any something was wrong.
const GAP: Nanos = Nanos(10_000_000_000);

/// A run on one axis of time, in seconds since its start.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The picture in one sentence.
    pub summary: Say,
    /// Where the run ended, above 0.
    pub to: f64,
    /// Its phases.
    pub phases: Vec<Band>,
    /// Blocks of trials in the order in which they ran; none where they are too many.
    pub blocks: Vec<Band>,
    /// When the trials of each case ran.
    pub rows: Vec<Row>,
    /// When nothing was recorded.
    pub gaps: Vec<Band>,
    /// What happened.
    pub events: Vec<Mark>,
}

/// A case, or several neighbours, on the axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its number in the report: `3`, or `3–5`.
    pub number: Say,
    /// Its label.
    pub label: Say,
    /// Rounds before its trials, and the ramps of these: load that is not measured.
    pub unmeasured: Vec<(f64, f64)>,
    /// Measuring windows.
    pub measured: Vec<(f64, f64)>,
    /// Trials that did not end as planned.
    pub broken: Vec<(f64, f64)>,
}

/// The timeline of a run; `None` if no trial began, and of results of other tools, which do not tell when they ran.
pub fn timeline(run: &RunRecord, findings: &Findings) -> Option<Timeline> {
    if run.header.imported.is_some() {
        return None;
    }
    let (start, end) = series::span(run);
    let rows = rows(run, findings, start, end);
    let to = since(start, end);
    if rows.is_empty() || to <= 0.0 {
        return None;
    }
    let (phases, _) = phases::of(run, start, end);
    let gaps = gaps(run, start, end);
    Some(Timeline {
        summary: summary(&phases, &gaps),
        to,
        phases,
        blocks: blocks(run, start),
        rows,
        gaps,
        events: events::within(run, start, Nanos(0), Nanos(u64::MAX)),
    })
}

/// Start and end of the load of a trial as far as it is known.
fn load(trial: &TrialRecord) -> (Nanos, Nanos) {
    let from = series::load_start(trial);
    let seen = from + series::observed(&trial.slices);
    (from, trial.outcome.as_ref().map_or(seen, |outcome| outcome.window_end.max(from)))
}

/// Trials of a case, and its rounds.
type Ran<'r> = (Vec<&'r TrialRecord>, Vec<&'r TrialRecord>);

/// Whether a trial ran to the end of its window.
fn whole(trial: &&TrialRecord) -> bool {
    let status = trial.outcome.as_ref().map(|outcome| outcome.status);
    matches!(status, Some(TrialStatus::Complete | TrialStatus::Mismatch | TrialStatus::Stalled))
}

fn rows(run: &RunRecord, findings: &Findings, start: Nanos, end: Nanos) -> Vec<Row> {
    let label = |case: u32| match findings.cases.iter().find(|found| found.case == case) {
        Some(found) => Say::same(&found.label),
        None => {
            let number = u64::from(case) + 1;
            say!("case {number}", "случай {number}")
        }
    };
    let mut of: BTreeMap<u32, Ran> = BTreeMap::new();
    run.trials.iter().for_each(|trial| of.entry(trial.case).or_default().0.push(trial));
    run.rounds.iter().for_each(|round| of.entry(round.case).or_default().1.push(round));
    let cases: Vec<(u32, _)> = of.into_iter().collect();
    let together = cases.len().div_ceil(ROWS_MAX).max(1);
    let apart = APART * since(start, end);
    let row = |cases: &[(u32, Ran)]| {
        let (first, last) = (cases.first()?.0, cases.last()?.0);
        let trials = || cases.iter().flat_map(|(_, (trials, _))| trials.iter().copied());
        let placed = |(from, to): (Nanos, Nanos)| (since(start, from), since(start, to));
        let rounds = cases.iter().flat_map(|(_, (_, rounds))| rounds.iter().map(|round| load(round)));
        let windows = |trial: &TrialRecord| trial.outcome.as_ref().map(|o| (o.window_start, o.window_end));
        let ramps = trials().filter(whole).filter_map(|trial| Some((load(trial).0, windows(trial)?.0)));
        let (from, to) = (u64::from(first) + 1, u64::from(last) + 1);
        Some(Row {
            number: if from == to { Say::same(from.to_string()) } else { Say::same(format!("{from}–{to}")) },
            label: if from == to { label(first) } else { say!("cases {from} to {to}", "случаи {from}–{to}") },
            unmeasured: merged(rounds.chain(ramps).map(placed).collect(), apart),
            measured: merged(trials().filter(whole).filter_map(windows).map(placed).collect(), apart),
            broken: merged(trials().filter(|trial| !whole(trial)).map(load).map(placed).collect(), apart),
        })
    };
    cases.chunks(together).filter_map(row).collect()
}

/// Stretches in the order of time, of which those that nearly touch are one.
fn merged(mut stretches: Vec<(f64, f64)>, apart: f64) -> Vec<(f64, f64)> {
    stretches.retain(|(from, to)| to >= from);
    stretches.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut out: Vec<(f64, f64)> = Vec::new();
    for (from, to) in stretches {
        match out.last_mut() {
            Some(last) if from - last.1 < apart => last.1 = last.1.max(to),
            _ => out.push((from, to)),
        }
    }
    out
}

/// Trials of one block in a row, from the start of the first to the end of the last.
fn blocks(run: &RunRecord, start: Nanos) -> Vec<Band> {
    let mut trials: Vec<&TrialRecord> = run.trials.iter().collect();
    trials.sort_by_key(|trial| load(trial).0);
    let stretches: Vec<&[&TrialRecord]> = trials.chunk_by(|a, b| a.block == b.block).collect();
    if !(2..=BLOCKS_MAX).contains(&stretches.len()) {
        return Vec::new();
    }
    let band = |trials: &&[&TrialRecord]| {
        let number = u64::from(trials.first()?.block) + 1;
        let (from, to) = (load(trials.first()?).0, load(trials.last()?).1);
        Some(Band { from: since(start, from), to: since(start, to), label: Say::same(number.to_string()) })
    };
    let bands: Vec<Band> = stretches.iter().filter_map(band).collect();
    // What ran at the same time has no order.
    if bands.windows(2).all(|two| two[0].to <= two[1].from) { bands } else { Vec::new() }
}

/// Stretches in which neither a sample nor a trial nor an event was recorded, if samples were taken at all.
fn gaps(run: &RunRecord, start: Nanos, end: Nanos) -> Vec<Band> {
    let samples = &run.load().samples;
    if samples.is_empty() {
        return Vec::new();
    }
    let moments = samples.iter().map(|s| s.at).chain(run.events.iter().map(|e| e.at)).map(|at| (at, at));
    let mut known: Vec<(Nanos, Nanos)> = moments.chain(run.trials.iter().chain(&run.rounds).map(load)).collect();
    known.sort();
    let resumed = |at: Nanos| run.events.iter().any(|e| e.at == at && matches!(e.kind, EventKind::Resumed { .. }));
    let (mut gaps, mut last) = (Vec::new(), start);
    for (from, to) in known.into_iter().chain([(end, end)]) {
        if from.saturating_sub(last) > GAP {
            let label = match resumed(from) {
                true => say!("not running", "прогон стоял"),
                false => say!("nothing recorded", "записей нет"),
            };
            gaps.push(Band { from: since(start, last), to: since(start, from), label });
        }
        last = last.max(to);
    }
    gaps
}

/// How long each phase took, and for how long nothing was recorded.
fn summary(phases: &[Band], gaps: &[Band]) -> Say {
    let mut took: Vec<(&Say, f64)> = Vec::new();
    for band in phases {
        match took.iter_mut().find(|(name, _)| **name == band.label) {
            Some(known) => known.1 += band.to - band.from,
            None => took.push((&band.label, band.to - band.from)),
        }
    }
    let missing: f64 = gaps.iter().map(|gap| gap.to - gap.from).sum();
    Say::both(|l| {
        let length = |seconds: f64| format::duration(Nanos((seconds * 1e9) as u64), l);
        // What took no tenth of a second is not seen either.
        let told = took.iter().filter(|(_, seconds)| *seconds >= 0.1);
        let mut parts: Vec<String> =
            told.map(|(name, seconds)| format!("{} {}", name.get(l), length(*seconds))).collect();
        if missing > 0.0 {
            parts.push(say_in!(l, "nothing recorded for {t}", "без записей {t}", t = length(missing)));
        }
        match parts.is_empty() {
            true => say_in!(l, "The phases were not recorded.", "Фазы не записаны."),
            false => format!("{}.", parts.join(", ")),
        }
    })
}

#[cfg(test)]
mod tests;
