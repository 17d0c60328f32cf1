//! Findings as chart documents: which lines, over which axes. All sums are done elsewhere.

mod caps;
mod curve;
pub(crate) mod distribution;
pub(crate) mod events;
pub(crate) mod family;
pub(crate) mod fault;
mod heat;
pub(crate) mod history;
mod hosts;
mod instances;
mod matrix;
mod overview;
mod phases;
pub(crate) mod recording;
mod resources;
mod rounds;
mod scaling;
mod sources;
mod steady;
mod sweep;
mod thin;
mod time_series;
pub mod timeline;
mod tint;
mod written;

use crate::chart::{Axis, Chart, Point, Scale, Series, Unit};
use crate::findings::{CaseFinding, DensityFinding, Headline, SearchFinding};
use crate::operations::OpLatency;
use crate::trials::CaseTrials;
use stend_base::{Nanos, Say, say};
use stend_plan::Plan;
use stend_record::RunRecord;

/// Most points of one line: more than a screen has columns for.
const POINTS_MAX: usize = 600;
/// Below this many points a line pretends to know what lies between them.
const LINE_FROM: usize = 30;
/// Most lines in a pane; more are not told apart.
const SERIES_MAX: usize = 6;
/// Room above the largest value of a linear axis.
const HEADROOM: f64 = 1.05;

/// Whether the charts over time are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charts {
    /// As pages show them.
    Drawn,
    /// None.
    LeftOut,
}

/// Charts of a case: its course over time, its latencies over time and by share, its rounds, its blocks. Those
/// without data are left out.
pub fn of_case(
    run: &RunRecord,
    case: &CaseTrials<'_>,
    headline: Headline,
    latencies: &[OpLatency],
    run_start: Nanos,
) -> Vec<Chart> {
    let charts = [
        time_series::chart(run, case, headline, run_start).map(caps::merged),
        hosts::chart(run, case, headline, run_start),
        written::chart(case, headline),
        heat::chart(case, run_start),
        distribution::chart(case.case, latencies),
        rounds::chart(run, case.case, headline),
        steady::chart(case, headline),
    ];
    charts.into_iter().flatten().collect()
}

/// Charts that hold cases against each other, where the suite varies a parameter or searches a rate or a number of instances.
pub fn across(
    plan: &Plan,
    cases: &[CaseFinding],
    searches: &[SearchFinding],
    density: &[DensityFinding],
) -> Vec<Chart> {
    let families = family::families(plan, cases);
    let mut charts = curve::charts(plan, cases, searches);
    charts.extend(instances::charts(density));
    charts.extend(scaling::charts(&families));
    charts.extend(matrix::charts(&families));
    charts.extend(sweep::charts(&families));
    charts
}

/// Charts about the whole run: what each case took from the host and from the storage host, and CPUs and temperatures over time.
pub fn of_run(
    run: &RunRecord,
    trials: &[CaseTrials<'_>],
    cases: &[CaseFinding],
    (start, end): (Nanos, Nanos),
) -> Vec<Chart> {
    let several = run.several_loads();
    let mut charts: Vec<Chart> = match several.as_slice() {
        [] => resources::chart(run.load(), trials, cases).into_iter().collect(),
        some => resources::of_loads(run, some, trials, cases),
    };
    charts.extend(run.storages().filter_map(|(id, storage)| resources::of_storage(id, storage, trials, cases)));
    charts.extend(run.observed().filter_map(|(id, host)| resources::of_observed(id, host, trials, cases)));
    charts.extend(sources::charts(run, trials, (start, end)));
    charts.extend(overview::chart(run, start, end).map(caps::merged));
    charts
}

/// A line is drawn as dots when it has few points.
fn few(points: &[Point]) -> bool {
    points.iter().filter(|p| p.y.is_some()).count() < LINE_FROM
}

/// Every value that is drawn, envelopes included.
fn values(series: &[Series]) -> impl Iterator<Item = f64> + '_ {
    series.iter().flat_map(|s| &s.points).flat_map(|p| {
        let (low, high) = p.envelope.unzip();
        [p.y, low, high].into_iter().flatten()
    })
}

/// A linear axis from zero to a little above the largest value.
fn from_zero(label: Say, unit: Unit, series: &[Series]) -> Axis {
    let most = values(series).fold(0.0, f64::max);
    Axis::new(label, Scale::Linear, unit, 0.0, if most > 0.0 { most * HEADROOM } else { 1.0 })
}

/// A logarithmic latency axis over whole decades.
fn latency_axis(label: Say, series: &[Series]) -> Axis {
    let least = values(series).fold(f64::INFINITY, f64::min).max(1.0);
    let most = values(series).fold(1.0, f64::max);
    let from = 10f64.powf(if least.is_finite() { least.log10().floor() } else { 0.0 });
    let to = 10f64.powf(most.log10().ceil());
    Axis::new(label, Scale::Log, Unit::LatencyNs, from, if to > from { to } else { from * 10.0 })
}

/// Time since the start of the run.
fn time_axis(from: f64, to: f64) -> Axis {
    let label = say!("time since the start of the run, s", "время от начала прогона, с");
    Axis::new(label, Scale::Linear, Unit::Seconds, from, if to > from { to } else { from + 1.0 })
}

/// A moment on the run's axis, in seconds since its start.
fn since(run_start: Nanos, at: Nanos) -> f64 {
    at.saturating_sub(run_start).as_secs()
}

#[cfg(test)]
mod across_tests;
#[cfg(test)]
mod tests;
