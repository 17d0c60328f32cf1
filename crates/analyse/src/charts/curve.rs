//! Latency against rate: what each rate that a search tried cost, up to the one that it found and beyond.

use super::{SERIES_MAX, latency_axis};
use crate::chart::{Axis, Chart, Mark, Pane, Point, Quantity, Scale, Series, Unit};
use crate::findings::{CaseFinding, OpFinding, QuantileValue, SearchFinding};
use crate::phrase::op as op_name;
use stend_base::{Say, format, say, say_in};
use stend_plan::Plan;
use stend_plan::ladder::Ladder;
use stend_spec::workload::Op;

/// Room to the right of the highest rate: the name of the mark stands there.
const ROOM: f64 = 1.2;
/// Most charts of a run; further searches are read from their tables.
const CHARTS_MAX: usize = 8;
/// Names of the quantiles of an operation.
const QUANTILES: [&str; 3] = ["p50", "p99", "p99.9"];

/// One chart for each search of which at least two rates were measured.
pub fn charts(plan: &Plan, cases: &[CaseFinding], searches: &[SearchFinding]) -> Vec<Chart> {
    let chart = |(number, ladder): (usize, &Ladder)| {
        let answer = searches.iter().find(|answer| answer.label == ladder.label)?;
        chart(number, ladder, cases, answer)
    };
    plan.ladders.iter().enumerate().filter_map(chart).take(CHARTS_MAX).collect()
}

/// A rate that was tried.
struct Rung<'a> {
    /// I/Os per second that the searched stream completed.
    rate: f64,
    case: &'a CaseFinding,
}

fn chart(number: usize, ladder: &Ladder, cases: &[CaseFinding], answer: &SearchFinding) -> Option<Chart> {
    let (stream, _) = ladder.rate()?;
    let tried = cases.iter().filter(|case| case.trials > 0 && ladder.cells.contains(&case.case));
    let mut rungs: Vec<Rung<'_>> = tried.map(|case| Rung { rate: rate(case, stream), case }).collect();
    rungs.retain(|rung| rung.rate > 0.0);
    rungs.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let (first, last) = (rungs.first()?, rungs.last()?);
    // The axis has what all hosts achieve together, the answer the rate on each.
    let found = answer.held.map(|held| held.rate.as_iops() * f64::from(answer.hosts.max(1)));
    let to = last.rate.max(found.unwrap_or(0.0)) * ROOM;
    let mut lines = lines(&rungs, stream, answer);
    if rungs.len() < 2 || lines.is_empty() {
        return None;
    }
    let limit = answer.limit.0.max(1) as f64;
    let name = say!(|l| "limit {t}", "предел {t}", t = format::latency(answer.limit, l));
    let ends = [0.0, to].map(|x| Point { x, y: Some(limit), envelope: None }).to_vec();
    lines.push(line(name, lines.len(), ends, false));
    let label = &ladder.label;
    let y = latency_axis(say!("response", "время ответа"), &lines);
    Some(Chart {
        id: format!("curve-{number}"),
        title: say!("{label}: latency against rate", "{label}: задержка и частота"),
        summary: summary((first, last), stream, answer),
        x: Axis::new(say!("achieved IOPS", "достигнутые IOPS"), Scale::Linear, Unit::Plain, 0.0, to),
        panes: vec![Pane::lines(y, lines)],
        bands: Vec::new(),
        events: found.map(|at| mark(at, answer)).into_iter().collect(),
    })
}

/// Syncs are not in the rate.
fn of_stream(case: &CaseFinding, stream: u16) -> impl Iterator<Item = &OpFinding> {
    case.ops.iter().filter(move |op| op.stream == stream && op.op != Op::Sync)
}

fn rate(case: &CaseFinding, stream: u16) -> f64 {
    of_stream(case, stream).map(|op| op.rates.iops.value).sum()
}

/// p50 and p99 of each operation of the stream, or p99.9 where the search asked for more than p99. There is room for those of two
/// operations beside the limit.
fn lines(rungs: &[Rung<'_>], stream: u16, answer: &SearchFinding) -> Vec<Series> {
    let upper = if answer.quantile.0 > 0.99 { 2 } else { 1 };
    let mut kinds: Vec<Op> = rungs.iter().flat_map(|r| of_stream(r.case, stream)).map(|op| op.op).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut out: Vec<Series> = Vec::new();
    for (op, quantile) in kinds.iter().flat_map(|op| [(*op, 0), (*op, upper)]).take(SERIES_MAX - 1) {
        let points: Vec<Point> = rungs.iter().filter_map(|rung| point(rung, (stream, op), quantile)).collect();
        let several = kinds.len() > 1;
        let name = Say::both(|l| {
            let op = if several { format!("{}, ", op_name(op).get(l)) } else { String::new() };
            op + QUANTILES[quantile]
        });
        if !points.is_empty() {
            out.push(line(name, out.len(), points, true));
        }
    }
    out
}

fn line(name: Say, variant: usize, points: Vec<Point>, dots: bool) -> Series {
    Series { variant: variant as u8, dots, ..Series::line(name, Quantity::Latency, points) }
}

/// A quantile and its interval; nothing where it is not known, or reaches I/Os that never ended.
fn point(rung: &Rung<'_>, (stream, op): (u16, Op), quantile: usize) -> Option<Point> {
    let found = of_stream(rung.case, stream).find(|found| found.op == op)?.quantiles.get(quantile)?;
    let QuantileValue::At(value) = found.value else { return None };
    let envelope = found.interval.map(|(low, high)| (low.0.max(1) as f64, high.0.max(1) as f64));
    Some(Point { x: rung.rate, y: Some(value.0.max(1) as f64), envelope })
}

fn mark(at: f64, answer: &SearchFinding) -> Mark {
    let name = if answer.confirmed {
        say!("found", "найдено")
    } else {
        say!("highest that held", "высшая из выдержавших")
    };
    let detail = Say::both(|l| {
        answer.held.map_or(String::new(), |held| {
            let rate = format::rate(held.rate, l);
            match answer.hosts {
                ..=1 => rate,
                hosts => {
                    say_in!(l, "{rate} on each of {hosts} load hosts", "{rate} на каждой из {hosts} нагружающих машин")
                }
            }
        })
    });
    Mark { at, name, detail }
}

/// The p99 at both ends, and what the marks are.
fn summary((first, last): (&Rung<'_>, &Rung<'_>), stream: u16, answer: &SearchFinding) -> Say {
    Say::both(|l| {
        let end = |rung: &Rung<'_>| {
            let worst = of_stream(rung.case, stream).filter_map(|op| match op.quantiles.get(1)?.value {
                QuantileValue::At(value) => Some((value, "")),
                QuantileValue::Above(value) => Some((value, "> ")),
                QuantileValue::NotEnough { .. } | QuantileValue::Printed(_) => None,
            });
            let p99 = worst.max().map(|(value, least)| format!(": p99 {least}{}", format::latency(value, l)));
            format!("{} IOPS{}", format::iops(rung.rate, l), p99.unwrap_or_default())
        };
        say_in!(
            l,
            "{a} … {b}. From when an I/O was due; the level line is the limit{f}. Rates at which a quantile is not known have no dot.",
            "{a} … {b}. От срока операции; ровная линия — предел{f}. Где квантиль неизвестен, точки нет.",
            a = end(first),
            b = end(last),
            f = match answer.held {
                Some(_) =>
                    l.pick(", the upright one the highest rate that held", ", отвесная — высшая выдержавшая частота"),
                None => "",
            }
        )
    })
}
