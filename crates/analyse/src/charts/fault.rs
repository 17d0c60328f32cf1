//! The course of the rate around an event: every trial on one axis that begins with the event.

use super::{SERIES_MAX, caps, few, from_zero};
use crate::chart::{Axis, Chart, Mark, Pane, Point, Quantity, Scale, Series, Unit};
use crate::findings::FaultFinding;
use crate::series::{self, INTERVAL};
use stend_base::{Nanos, Say, say};
use stend_record::{EventKind, FaultMoment, RunRecord, TrialRecord};
use stend_spec::workload::Op;

/// One line for each trial, the first ones if there are many; marks are those of the first.
pub fn chart(run: &RunRecord, found: &FaultFinding) -> Option<Chart> {
    let mut trials: Vec<&TrialRecord> =
        found.trials.iter().filter_map(|of| run.trials.iter().find(|trial| trial.trial == of.trial)).collect();
    let left_out = caps::cut(&mut trials, SERIES_MAX);
    let lines: Vec<Series> =
        trials.iter().zip(0u8..).filter_map(|(trial, variant)| line(run, trial, variant)).collect();
    let xs = || lines.iter().flat_map(|line| &line.points).map(|point| point.x);
    let (from, to) = (xs().reduce(f64::min)?, xs().reduce(f64::max)?);
    let mark = |(at, what): &(f64, Say)| Mark { at: *at, name: what.clone(), detail: Say::same("") };
    let events = found.trials.first()?.moments.iter().filter(|(at, _)| *at <= to).map(mark).collect();
    Some(Chart {
        id: format!("case-{}-events", found.case),
        title: say!("IOPS around the event", "IOPS вокруг события"),
        summary: caps::left_out(found.say(), &say!("Trials", "Испытания"), left_out),
        x: Axis::new(
            say!("time since the event, s", "время от события, с"),
            Scale::Linear,
            Unit::Seconds,
            from.floor(),
            to.ceil(),
        ),
        panes: vec![Pane::lines(from_zero(Say::same("IOPS"), Unit::Plain, &lines), lines)],
        bands: Vec::new(),
        events,
    })
}

/// Means of whole seconds back and forth from the event.
fn line(run: &RunRecord, trial: &TrialRecord, variant: u8) -> Option<Series> {
    let begins = |kind: &EventKind| matches!(kind, EventKind::Fault { trial: of, moment: FaultMoment::Begins, .. } if *of == trial.trial);
    let at = run.events.iter().find(|event| begins(&event.kind))?.at;
    let cells = series::inside_window(trial, series::cells(&trial.slices, |slice| slice.op != Op::Sync));
    let outcome = trial.outcome.as_ref()?;
    let event = (at.saturating_sub(outcome.load_start).0 / INTERVAL.0) as usize;
    let event = event.checked_sub(series::window(trial).start).filter(|event| *event <= cells.len())?;
    let per_second = (Nanos::SECOND.0 / INTERVAL.0) as usize;
    let first = event % per_second;
    let value = |index: usize, second: &[series::Cell]| Point {
        x: index as f64 + 0.5 - (event / per_second) as f64,
        y: Some(second.iter().map(|cell| cell.ops).sum()),
        envelope: None,
    };
    let points: Vec<Point> =
        cells[first..].chunks_exact(per_second).enumerate().map(|(index, second)| value(index, second)).collect();
    let number = u64::from(trial.block) + 1;
    Some(Series {
        variant,
        dots: few(&points),
        ..Series::line(say!("block {number}", "блок {number}"), Quantity::Iops, points)
    })
}
