//! Throughput against latency: what each queue depth (or number of jobs) buys and what it costs.

use super::family::{Family, Kind};
use super::{HEADROOM, SERIES_MAX, caps, latency_axis};
use crate::chart::{Axis, Chart, Pane, Point, Quantity, Scale, Series, Unit};
use crate::findings::{OpFinding, QuantileValue};
use crate::phrase::op as op_name;
use stend_base::{Say, say, say_in};
use stend_spec::workload::Op;

/// Most charts of a kind; a suite with more families is read from its sweeps.
const CHARTS_MAX: usize = 4;
/// Index of p99 in the quantiles of an operation.
const P99: usize = 1;

/// One chart for queue depth and one for jobs, further ones where they would hold more than six lines.
pub fn charts(families: &[Family<'_>]) -> Vec<Chart> {
    [Kind::QueueDepth, Kind::Jobs].into_iter().flat_map(|kind| of(families, kind)).collect()
}

fn of(families: &[Family<'_>], kind: Kind) -> Vec<Chart> {
    let mut all: Vec<Series> = Vec::new();
    for family in families {
        for (index, _) in family.parameters.iter().enumerate().filter(|(_, p)| p.kind == kind) {
            all.extend(series(family, index));
        }
    }
    let left_out: usize = families.iter().map(|f| f.left_out).sum();
    let draw = |(part, lines): (usize, &[Series])| chart(kind, part, lines.to_vec(), left_out);
    let mut charts: Vec<Chart> = all.chunks(SERIES_MAX).take(CHARTS_MAX).enumerate().map(draw).collect();
    if let Some(last) = charts.last_mut() {
        let more = all.len().saturating_sub(SERIES_MAX * CHARTS_MAX);
        last.summary = caps::left_out(last.summary.clone(), &say!("Lines", "Линии"), more);
    }
    charts
}

/// A line per operation and per value of the other parameters, if it has at least two points.
fn series(family: &Family<'_>, index: usize) -> Vec<Series> {
    let mut out = Vec::new();
    for (line, members) in family.lines(&[index]) {
        let ops = members.first().map_or(&[][..], |m| &m.case.ops);
        // Syncs are not in the rate on the other axis.
        for op in ops.iter().filter(|op| op.op != Op::Sync) {
            let mut points: Vec<(Point, Say)> = members
                .iter()
                .filter_map(|m| {
                    let same = |o: &&OpFinding| (o.stream, o.op) == (op.stream, op.op);
                    let quantile = m.case.ops.iter().find(same)?.quantiles.get(P99)?;
                    let QuantileValue::At(p99) = quantile.value else { return None };
                    let point = Point { x: m.case.total.iops.value, y: Some(p99.0.max(1) as f64), envelope: None };
                    Some((point, family.parameters[index].value(m.values[index])))
                })
                .collect();
            points.sort_by(|a, b| a.0.x.total_cmp(&b.0.x));
            let name = Say::both(|l| {
                let several = ops.iter().filter(|o| o.op != Op::Sync).count() > 1;
                let op = if several { op_name(op.op).get(l).to_string() } else { String::new() };
                let parts = [family.name.clone(), line.get(l).to_string(), op];
                parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(", ")
            });
            let (points, labels): (Vec<Point>, Vec<Say>) = points.into_iter().unzip();
            if points.len() > 1 {
                out.push(Series { dots: true, labels, ..Series::line(name, Quantity::Latency, points) });
            }
        }
    }
    out
}

fn chart(kind: Kind, part: usize, mut lines: Vec<Series>, left_out: usize) -> Chart {
    lines.iter_mut().enumerate().for_each(|(variant, line)| line.variant = variant as u8);
    let most = lines.iter().flat_map(|s| &s.points).map(|p| p.x).fold(0.0, f64::max);
    let (id, label) = match kind {
        Kind::Jobs => ("jobs", say!("jobs", "число заданий")),
        _ => ("queue_depth", say!("queue depth", "глубина очереди")),
    };
    let x = Axis::new(
        say!("achieved IOPS", "достигнутые IOPS"),
        Scale::Linear,
        Unit::Plain,
        0.0,
        if most > 0.0 { most * HEADROOM } else { 1.0 },
    );
    let y = latency_axis(say!("p99 latency", "задержка p99"), &lines);
    Chart {
        id: format!("scaling-{id}-{part}"),
        title: match kind {
            Kind::Jobs => say!("Throughput against latency, by jobs", "Производительность и задержка, по заданиям"),
            _ => {
                say!("Throughput against latency, by queue depth", "Производительность и задержка, по глубине очереди")
            }
        },
        summary: Say::both(|l| {
            let missing = match left_out {
                0 => String::new(),
                n => say_in!(
                    l,
                    " Cases left out because a check failed: {n}.",
                    " Не показаны из-за непройденной проверки: {n}."
                ),
            };
            say_in!(
                l,
                "The number at a point is its {label}. Right is more I/Os per second, up is a longer wait at p99.",
                "Число у точки — {label}. Правее — больше операций в секунду, выше — дольше ожидание на p99.",
                label = label.get(l)
            ) + &missing
        }),
        x,
        panes: vec![Pane::lines(y, lines)],
        bands: Vec::new(),
        events: Vec::new(),
    }
}
