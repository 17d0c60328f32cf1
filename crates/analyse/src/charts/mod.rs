//! Findings as chart documents: which lines, over which axes. All sums are done elsewhere.

mod distribution;
mod overview;
mod thin;
mod time_series;

pub use overview::cpu;

use crate::case::OpLatency;
use crate::chart::{Axis, Chart, Point, Scale, Series, Unit};
use crate::findings::Headline;
use crate::trials::CaseTrials;
use stend_base::{Nanos, Say, say};

/// Most points of one line: more than a screen has columns for.
const POINTS_MAX: usize = 600;
/// Below this many points a line pretends to know what lies between them.
const LINE_FROM: usize = 30;
/// Most lines in a pane; more are not told apart.
const SERIES_MAX: usize = 6;
/// Room above the largest value of a linear axis.
const HEADROOM: f64 = 1.05;

/// Charts of a case: its course over time, its latency distribution. Those without data are left out.
pub fn of_case(case: &CaseTrials<'_>, headline: Headline, latencies: &[OpLatency], run_start: Nanos) -> Vec<Chart> {
    let time = time_series::chart(case, headline, run_start);
    time.into_iter().chain(distribution::chart(case.case, latencies)).collect()
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
    Axis { label, scale: Scale::Linear, unit, from: 0.0, to: if most > 0.0 { most * HEADROOM } else { 1.0 } }
}

/// A logarithmic latency axis over whole decades.
fn latency_axis(label: Say, series: &[Series]) -> Axis {
    let least = values(series).fold(f64::INFINITY, f64::min).max(1.0);
    let most = values(series).fold(1.0, f64::max);
    let from = 10f64.powf(if least.is_finite() { least.log10().floor() } else { 0.0 });
    let to = 10f64.powf(most.log10().ceil());
    Axis { label, scale: Scale::Log, unit: Unit::LatencyNs, from, to: if to > from { to } else { from * 10.0 } }
}

/// Time since the start of the run.
fn time_axis(from: f64, to: f64) -> Axis {
    let label = say!("time since the start of the run, s", "время от начала прогона, с");
    Axis { label, scale: Scale::Linear, unit: Unit::Seconds, from, to: if to > from { to } else { from + 1.0 } }
}

/// A moment on the run's axis, in seconds since its start.
fn since(run_start: Nanos, at: Nanos) -> f64 {
    at.saturating_sub(run_start).as_secs()
}

#[cfg(test)]
mod tests;
