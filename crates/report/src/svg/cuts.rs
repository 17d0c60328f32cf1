//! Stretches of a time axis that hold data. Trials of one case lie far apart because the other cases
//! run between them; an axis that is cut there shows the trials, not the waiting.

use super::scale::DrawnAxis;
use stend_analyse::Chart;
use stend_analyse::chart::{Axis, Scale, Unit};

/// A gap shorter than this part of the axis is a gap in the data, not waiting; by eye.
const GAP_MIN: f64 = 0.04;
/// The axis is cut when at least this part of it is waiting; below, a plain axis reads easier.
const WAITING_MIN: f64 = 0.4;
/// Room around the data of a stretch with a single point, as a part of the axis.
const PAD: f64 = 0.005;
/// More stretches than this would be slivers.
const STRETCHES_MAX: usize = 24;

/// The shared horizontal axis of a chart, cut where nothing was measured for long.
pub fn horizontal(chart: &Chart) -> DrawnAxis {
    // Only time passes without anything being measured; a gap between two rates or depths is a finding.
    let time = chart.x.scale == Scale::Linear && chart.x.unit == Unit::Seconds;
    let stretches = if time { stretches(chart) } else { Vec::new() };
    DrawnAxis::cut(&chart.x, &stretches)
}

/// Ranges of x with data, ascending and apart; none if the axis is better left whole.
fn stretches(chart: &Chart) -> Vec<(f64, f64)> {
    let Axis { from, to, .. } = chart.x;
    let span = to - from;
    let points = chart.panes.iter().flat_map(|p| &p.series).flat_map(|s| &s.points);
    let columns = chart.panes.iter().filter_map(|p| p.field.as_ref()).flat_map(|f| &f.columns);
    let xs = points.filter(|p| p.y.is_some()).map(|p| p.x).chain(columns.flat_map(|c| [c.0, c.1]));
    let mut xs: Vec<f64> = xs.filter(|x| (from..=to).contains(x)).collect();
    if xs.is_empty() || !span.is_finite() || span <= 0.0 {
        return Vec::new();
    }
    xs.sort_by(f64::total_cmp);
    let mut groups: Vec<Vec<f64>> = vec![Vec::new()];
    for x in xs {
        let far = groups.last().and_then(|g| g.last()).is_some_and(|last| x - last > GAP_MIN * span);
        if far {
            groups.push(Vec::new());
        }
        if let Some(group) = groups.last_mut() {
            group.push(x);
        }
    }
    let stretches: Vec<(f64, f64)> =
        groups.iter().filter_map(|g| padded(g, span)).map(|(a, b)| (a.max(from), b.min(to))).collect();
    let measured: f64 = stretches.iter().map(|(a, b)| b - a).sum();
    let worth = (2..=STRETCHES_MAX).contains(&stretches.len()) && span - measured >= WAITING_MIN * span;
    if worth { stretches } else { Vec::new() }
}

/// First and last x of a group with half the usual distance of its points around them.
fn padded(group: &[f64], span: f64) -> Option<(f64, f64)> {
    let (first, last) = (group.first()?, group.last()?);
    let half = if last > first { (last - first) / (group.len() - 1).max(1) as f64 / 2.0 } else { PAD * span };
    let pad = half.min(GAP_MIN * span / 4.0);
    Some((first - pad, last + pad))
}
