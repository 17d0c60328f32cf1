//! A parameter against everything: how IOPS, throughput and latency follow block size, queue depth or
//! jobs, in three aligned panes.

use super::family::{Family, Member, Parameter};
use super::{SERIES_MAX, from_zero, latency_axis};
use crate::chart::{Axis, Chart, Mark, Pane, Point, Quantity, Scale, Series, Unit};
use crate::findings::{CaseFinding, Estimate, Headline, OpFinding, QuantileValue};
use crate::findings::{ScalingModel, SweepFinding};
use crate::phrase::op as op_name;
use crate::sweeps;
use stend_base::{Say, format, say};

/// Most sweeps of a run; the last one says how many are not drawn.
const SWEEPS_MAX: usize = 24;
/// With fewer values the table shows as much as a chart.
const POINTS_MIN: usize = 3;
/// Pieces that a fitted law is drawn in.
const LAW_STEPS: usize = 48;
/// Room beside the first and last value, as a factor.
const ROOM: f64 = 1.3;

/// One line of cases: its name and its members.
type Line<'a, 'b> = (Say, Vec<&'b Member<'a>>);

/// A chart for every parameter of every family; more lines than a pane may hold become further charts.
pub fn charts(families: &[Family<'_>]) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (number, family) in families.iter().enumerate() {
        for (index, parameter) in family.parameters.iter().enumerate() {
            let lines: Vec<Line> = family.lines(&[index]).into_iter().filter(|(_, m)| m.len() >= POINTS_MIN).collect();
            let ops = lines.iter().flat_map(|(_, m)| m).map(|m| m.case.ops.len()).max().unwrap_or(1);
            for (part, lines) in lines.chunks((SERIES_MAX / ops.max(1)).max(1)).enumerate() {
                let id = format!("sweep-{number}-{}-{part}", parameter.key());
                charts.push(chart(id, family, (index, parameter), lines));
            }
        }
    }
    let more = charts.len().saturating_sub(SWEEPS_MAX);
    charts.truncate(SWEEPS_MAX);
    if let (Some(last), 1..) = (charts.last_mut(), more) {
        let (en, ru) = (&last.summary.en, &last.summary.ru);
        last.summary = say!("{en} {more} more sweeps are not drawn.", "{ru} Ещё {more} не показаны.");
    }
    charts
}

fn chart(id: String, family: &Family<'_>, (index, parameter): (usize, &Parameter), lines: &[Line]) -> Chart {
    let rate = |of: fn(&CaseFinding) -> &Estimate, quantity: Quantity| -> Vec<Series> {
        let line = |(variant, (name, members)): (usize, &Line)| {
            let points = members.iter().map(|m| estimate(m.values[index], of(m.case))).collect();
            let name = if name.en.is_empty() { total(quantity) } else { name.clone() };
            series(name, quantity, variant, points)
        };
        lines.iter().enumerate().map(line).collect()
    };
    let mut iops = rate(|case| &case.total.iops, Quantity::Iops);
    let mut throughput = rate(|case| &case.total.throughput, Quantity::Throughput);
    // With several lines it would not be seen which law is whose.
    let scaling = match lines {
        [(name, members)] => sweeps::of_line(family, (index, parameter), name, members),
        _ => None,
    };
    if let Some(found) = &scaling {
        let pane = if found.headline == Headline::Iops { &mut iops } else { &mut throughput };
        pane.extend(law(found));
    }
    let mut panes = vec![
        Pane::lines(from_zero(Say::same("IOPS"), Unit::Plain, &iops), iops),
        Pane::lines(
            from_zero(say!("throughput, MB/s", "пропускная способность, МБ/с"), Unit::BytesPerSecond, &throughput),
            throughput,
        ),
    ];
    let latencies = latencies(lines, index);
    if !latencies.is_empty() {
        let several = lines.len() > 1;
        let label =
            if several { say!("p99 latency", "задержка p99") } else { say!("latency", "задержка") };
        panes.push(Pane::lines(latency_axis(label, &latencies), latencies));
    }
    let (name, by) = (&family.name, parameter.name());
    let (by_en, by_ru) = (&by.en, &by.ru);
    Chart {
        id,
        title: say!("{name}: the effect of {by_en}", "{name}: как влияет {by_ru}"),
        summary: summary(family, (index, parameter), lines),
        x: axis(parameter, lines.iter().flat_map(|(_, m)| m).map(|m| m.values[index])),
        panes,
        bands: Vec::new(),
        events: scaling.iter().filter_map(bend).collect(),
    }
}

/// The fitted law between the first and the last value that were measured.
fn law(sweep: &SweepFinding) -> Option<Series> {
    let (ScalingModel::Fits(found), [first, .., last]) = (&sweep.model, sweep.points.as_slice()) else { return None };
    let (from, ratio) = (first.value as f64, last.value as f64 / first.value as f64);
    let at = |step: usize| match step {
        LAW_STEPS => last.value as f64,
        _ => from * ratio.powf(step as f64 / LAW_STEPS as f64),
    };
    let points = (0..=LAW_STEPS).map(at).map(|x| Point { x, y: Some(found.rate(x)), envelope: None }).collect();
    let quantity = if sweep.headline == Headline::Iops { Quantity::Iops } else { Quantity::Throughput };
    let name = say!("Universal Scalability Law", "универсальный закон масштабируемости");
    Some(Series { variant: 1, ..Series::line(name, quantity, points) })
}

/// Where the rate bends.
fn bend(sweep: &SweepFinding) -> Option<Mark> {
    Some(Mark { at: sweep.knee? as f64, name: say!("bend", "перегиб"), detail: sweep.say() })
}

/// p50 and p99 of each operation; only p99 where several lines share the pane.
fn latencies(lines: &[Line], index: usize) -> Vec<Series> {
    let mut out = Vec::new();
    for (line, members) in lines {
        let ops = members.first().map_or(&[][..], |m| &m.case.ops);
        // The name of the axis says p99 where nothing else is drawn.
        let quantiles: &[(usize, &str)] = if lines.len() == 1 { &[(0, "p50"), (1, "p99")] } else { &[(1, "")] };
        for op in ops {
            for &(q, quantile_name) in quantiles {
                let points: Vec<Point> = members
                    .iter()
                    .filter_map(|m| {
                        let same = |o: &&OpFinding| (o.stream, o.op) == (op.stream, op.op);
                        at(m.values[index], m.case.ops.iter().find(same)?, q)
                    })
                    .collect();
                let name = Say::both(|l| {
                    // Two streams may do the same.
                    let stream = match ops.iter().any(|other| other.stream != op.stream) {
                        true => format!("{} {}", l.pick("stream", "поток"), op.stream + 1),
                        false => String::new(),
                    };
                    let op = if ops.len() > 1 { op_name(op.op).get(l).to_string() } else { String::new() };
                    let parts = [line.get(l).to_string(), stream, op, quantile_name.to_string()];
                    parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(", ")
                });
                out.push((name, points));
            }
        }
    }
    out.retain(|(_, points)| !points.is_empty());
    let drawn = out.into_iter().take(SERIES_MAX).enumerate();
    drawn.map(|(variant, (name, points))| series(name, Quantity::Latency, variant, points)).collect()
}

fn total(quantity: Quantity) -> Say {
    match quantity {
        Quantity::Iops => Say::same("IOPS"),
        _ => say!("throughput", "пропускная способность"),
    }
}

fn series(name: Say, quantity: Quantity, variant: usize, points: Vec<Point>) -> Series {
    // Between two values of a parameter nothing was measured: dots, however many there are; joined, to be followed by the eye.
    Series { name, quantity, variant: variant as u8, points, dots: true, joined: true, labels: Vec::new() }
}

fn estimate(x: u64, estimate: &Estimate) -> Point {
    Point { x: x as f64, y: Some(estimate.value), envelope: estimate.interval }
}

/// A quantile and its interval; nothing where it is not known.
fn at(x: u64, op: &OpFinding, quantile: usize) -> Option<Point> {
    let quantile = op.quantiles.get(quantile)?;
    let QuantileValue::At(value) = quantile.value else { return None };
    let envelope = quantile.interval.map(|(low, high)| (low.0.max(1) as f64, high.0.max(1) as f64));
    Some(Point { x: x as f64, y: Some(value.0.max(1) as f64), envelope })
}

/// A logarithmic axis named at the values that were measured.
fn axis(parameter: &Parameter, values: impl Iterator<Item = u64>) -> Axis {
    let mut values: Vec<u64> = values.map(|v| v.max(1)).collect();
    values.sort_unstable();
    values.dedup();
    let (first, last) = (values.first().copied().unwrap_or(1), values.last().copied().unwrap_or(10));
    let name = |v: &u64| Mark { at: *v as f64, name: parameter.value(*v), detail: Say::same("") };
    let names = values.iter().map(name).collect();
    Axis { names, ..Axis::new(parameter.name(), Scale::Log, Unit::Plain, first as f64 / ROOM, last as f64 * ROOM) }
}

/// The two ends of the first line.
fn summary(family: &Family<'_>, (index, parameter): (usize, &Parameter), lines: &[Line]) -> Say {
    let missing = family.missing();
    Say::both(|l| {
        let end = |m: Option<&&Member>| {
            m.map_or(String::new(), |m| {
                let (value, iops) = (parameter.value(m.values[index]), format::iops(m.case.total.iops.value, l));
                let throughput = format::throughput(m.case.total.throughput.value, l);
                format!("{}: {iops} IOPS, {throughput}", value.get(l))
            })
        };
        let line = |(name, members): &Line| {
            let name = if name.en.is_empty() { String::new() } else { format!("{} — ", name.get(l)) };
            format!("{name}{} … {}", end(members.first()), end(members.last()))
        };
        let lines = lines.first().map_or(String::new(), line);
        let bars = l.pick("Bars are 95 % intervals.", "Отрезки — 95-процентные интервалы.");
        format!("{lines}. {bars}{}", missing.get(l))
    })
}
