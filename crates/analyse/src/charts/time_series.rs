//! The course of a case: its rate, and p50, p99 and the largest latency per second, over the run's time.

use super::thin::{self, Join};
use super::{caps, events, few, from_zero, latency_axis, since, time_axis};
use crate::chart::{Band, Chart, Mark, Pane, Point, Quantity, Series, Unit};
use crate::findings::Headline;
use crate::phrase::op as op_name;
use crate::prober;
use crate::series::{self, Cell, INTERVAL, INTERVALS_MAX};
use crate::trials::CaseTrials;
use stend_base::{Histogram, Nanos, Say, Share, format, say, say_in};
use stend_record::{RunRecord, TrialRecord};
use stend_spec::workload::Op;

/// With more trials than this their bands would only be stripes.
const BANDS_MAX: usize = 24;

/// Panes: rate of all I/Os but syncs, then latency per operation. `None` if nothing was recorded.
pub fn chart(run: &RunRecord, case: &CaseTrials<'_>, headline: Headline, run_start: Nanos) -> Option<Chart> {
    let mut trials = case.all.clone();
    trials.sort_by_key(|trial| series::load_start(trial));
    let ops: Vec<Op> =
        Op::ALL.into_iter().filter(|&op| trials.iter().any(|t| t.slices.iter().any(|s| s.op == op))).collect();
    let rates: Vec<Series> = ops
        .iter()
        .filter(|&&op| op != Op::Sync)
        .enumerate()
        .map(|(variant, &op)| rate(&trials, op, headline, variant as u8, run_start))
        .collect();
    if rates.iter().all(|s| s.points.is_empty()) {
        return None;
    }
    let (title, label, unit) = match headline {
        Headline::Iops => {
            let title = say!("IOPS and latency over time", "IOPS и задержка по времени");
            (title, Say::same("IOPS"), Unit::Plain)
        }
        Headline::Throughput => {
            let title = say!("Throughput and latency over time", "Пропускная способность и задержка по времени");
            (title, say!("throughput, MB/s", "пропускная способность, МБ/с"), Unit::BytesPerSecond)
        }
    };
    let mut panes = vec![Pane::lines(from_zero(label, unit, &rates), rates)];
    panes.extend(ops.iter().filter_map(|&op| latency(&trials, op, run_start)));
    let bounds = |trial: &&TrialRecord| {
        let start = series::load_start(trial);
        (since(run_start, start), since(run_start, start + shown(trial)))
    };
    let from = trials.iter().map(bounds).map(|b| b.0).fold(f64::INFINITY, f64::min);
    let to = trials.iter().map(bounds).map(|b| b.1).fold(0.0, f64::max);
    let unshaded = if trials.len() > BANDS_MAX { trials.len() } else { 0 };
    Some(Chart {
        id: format!("case-{}-time", case.case),
        title,
        summary: caps::left_out(summary(trials.len(), &panes), &say!("Shaded windows", "Закрашенные окна"), unshaded),
        x: time_axis(from, to),
        panes,
        bands: bands(&trials, run_start),
        events: events(run, case, &trials, run_start),
    })
}

/// Length of a trial that is drawn: ramp and window; I/O that drains afterwards is not load.
pub fn shown(trial: &TrialRecord) -> Nanos {
    series::load_length(trial, series::observed(&trial.slices))
}

/// What happened while trials of the case ran, standstills among it.
fn events(run: &RunRecord, case: &CaseTrials<'_>, trials: &[&TrialRecord], run_start: Nanos) -> Vec<Mark> {
    let during = |trial: &&TrialRecord| {
        let start = series::load_start(trial);
        events::within(run, run_start, start, start + shown(trial))
    };
    let stood = |(at, length): (Nanos, Nanos)| {
        let name = say!(|l| "standstill {t}", "остановка {t}", t = format::latency(length, l));
        Mark { at: since(run_start, at), name, detail: Say::same("") }
    };
    let mut marks: Vec<Mark> =
        trials.iter().flat_map(during).chain(prober::standstills(case).into_iter().map(stood)).collect();
    marks.sort_by(|a, b| a.at.total_cmp(&b.at));
    events::at_most(marks, BANDS_MAX)
}

/// Rate of one operation per interval, a stretch per trial.
fn rate(trials: &[&TrialRecord], op: Op, headline: Headline, variant: u8, run_start: Nanos) -> Series {
    let value = |cell: &Cell| match headline {
        Headline::Iops => cell.ops / INTERVAL.as_secs(),
        Headline::Throughput => cell.bytes / INTERVAL.as_secs(),
    };
    let stretch = |trial: &&TrialRecord| -> Vec<Point> {
        let mut cells = series::cells(&trial.slices, |s| s.op == op);
        // An operation may have stalled while the other went on: that is zero, not the end.
        cells.resize((shown(trial).0 / INTERVAL.0).min(INTERVALS_MAX as u64) as usize, Cell::default());
        let start = series::load_start(trial);
        let x = |index: usize| since(run_start, start) + (index as f64 + 0.5) * INTERVAL.as_secs();
        cells.iter().enumerate().map(|(i, cell)| Point { x: x(i), y: Some(value(cell)), envelope: None }).collect()
    };
    let points = thin::line(trials.iter().map(stretch).collect(), Join::Mean);
    let quantity = match headline {
        Headline::Iops => Quantity::Iops,
        Headline::Throughput => Quantity::Throughput,
    };
    Series { variant, dots: few(&points), ..Series::line(op_name(op), quantity, points) }
}

/// A line of a latency pane: its name in English and Russian, and its value of a second.
type Line = (&'static str, &'static str, fn(&Histogram) -> Option<Nanos>);

/// Latency of one operation per second; `None` if there were no histograms.
fn latency(trials: &[&TrialRecord], op: Op, run_start: Nanos) -> Option<Pane> {
    let of: [Line; 3] = [
        ("p50", "p50", |h| h.quantile(Share(0.5))),
        ("p99", "p99", |h| h.quantile(Share(0.99))),
        ("max", "макс.", Histogram::max),
    ];
    let mut stretches: [Vec<Vec<Point>>; 3] = Default::default();
    for trial in trials {
        let start = since(run_start, series::load_start(trial));
        let end = shown(trial).as_secs();
        let mut points: [Vec<Point>; 3] = Default::default();
        series::each_second(&trial.slices, op, |second, histogram| {
            // A last, shorter second is drawn in the middle of its own part.
            let second = second as f64;
            let x = start + (second + (second + 1.0).min(end.max(second))) / 2.0;
            for (points, (_, _, value)) in points.iter_mut().zip(of) {
                points.extend(value(histogram).map(|v| Point { x, y: Some(v.0.max(1) as f64), envelope: None }));
            }
        });
        stretches.iter_mut().zip(points).for_each(|(stretch, points)| stretch.push(points));
    }
    let series: Vec<Series> = stretches
        .into_iter()
        .zip(of)
        .enumerate()
        .map(|(variant, (stretches, (en, ru, _)))| {
            let points = thin::line(stretches, Join::Largest);
            let name = Say::both(|l| l.pick(en, ru).to_string());
            Series { variant: variant as u8, dots: few(&points), ..Series::line(name, Quantity::Latency, points) }
        })
        .collect();
    let label = Say::both(|l| format!("{}{}", op_name(op).get(l), l.pick(" latency", ", задержка")));
    series.iter().any(|s| !s.points.is_empty()).then(|| Pane::lines(latency_axis(label, &series), series))
}

/// The measuring window of each trial.
pub fn bands(trials: &[&TrialRecord], run_start: Nanos) -> Vec<Band> {
    if trials.len() > BANDS_MAX {
        return Vec::new();
    }
    let band = |trial: &&TrialRecord| {
        let outcome = trial.outcome.as_ref()?;
        let (from, to) = (since(run_start, outcome.window_start), since(run_start, outcome.window_end));
        let number = trial.block.saturating_add(1);
        (to > from).then(|| Band { from, to, label: say!("block {number}", "блок {number}") })
    };
    trials.iter().filter_map(band).collect()
}

/// The chart in one sentence: how far the rate moved.
fn summary(trials: usize, panes: &[Pane]) -> Say {
    let rates = panes.first();
    let drawn = || rates.iter().flat_map(|p| super::values(&p.series));
    let (low, high) = (drawn().fold(f64::INFINITY, f64::min), drawn().fold(0.0, f64::max));
    let unit = rates.map_or(Unit::Plain, |p| p.y.unit);
    Say::both(|l| {
        let value = |v: f64| match unit {
            Unit::BytesPerSecond => format::throughput(v, l),
            _ => format!("{} IOPS", format::iops(v, l)),
        };
        say_in!(
            l,
            "Trials: {trials}. Each point of the rate is 0.1 s or more; the values drawn lie between {low} and {high}.",
            "Испытаний: {trials}. Каждая точка скорости — 0,1 с или больше; показанные значения — от {low} до {high}.",
            low = value(low),
            high = value(high)
        )
    })
}
