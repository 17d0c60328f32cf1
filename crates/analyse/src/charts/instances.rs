//! The objective and the sum of all over the number of instances: how far it holds, and what more of them still bring.

use super::{HEADROOM, from_zero, latency_axis};
use crate::chart::{Axis, Chart, Mark, Pane, Point, Quantity, Scale, Series, Unit};
use crate::findings::{DensityFinding, DensityPoint};
use stend_base::{Say, format, say, say_in};

/// Most charts of a run; further searches are read from their tables.
const CHARTS_MAX: usize = 4;

/// One chart for each search that tried at least two numbers.
pub fn charts(found: &[DensityFinding]) -> Vec<Chart> {
    found.iter().enumerate().filter_map(|(number, found)| chart(number, found)).take(CHARTS_MAX).collect()
}

fn chart(number: usize, found: &DensityFinding) -> Option<Chart> {
    let (first, last) = (found.points.first()?, found.points.last()?);
    if found.points.len() < 2 {
        return None;
    }
    let to = f64::from(last.instances) * HEADROOM;
    let percent = found.slo.quantile.0 / 10_000;
    let limit = say!(|l| "limit {t}", "предел {t}", t = format::latency(found.slo.limit, l));
    let level = [0.0, to].map(|x| Point { x, y: Some(found.slo.limit.0.max(1) as f64), envelope: None });
    let latency = vec![
        line(say!("p{percent} that decides", "решающий p{percent}"), Quantity::Latency, 0, decisive(found)),
        Series { dots: false, ..line(limit, Quantity::Latency, 1, level.to_vec()) },
    ];
    let total = rates(found);
    let held = found.held.map(|held| Mark {
        at: f64::from(held),
        name: say!("hold", "выдерживают"),
        detail: Say::same(held.to_string()),
    });
    let label = &found.label;
    Some(Chart {
        id: format!("instances-{number}"),
        title: say!(
            "{label}: objective and sum over the number of instances",
            "{label}: цель и сумма по числу экземпляров"
        ),
        summary: summary((first, last), found),
        x: Axis::new(say!("instances", "экземпляры"), Scale::Linear, Unit::Plain, 0.0, to),
        panes: vec![
            Pane::lines(latency_axis(say!("p{percent} of a window", "p{percent} окна"), &latency), latency),
            Pane::lines(from_zero(say!("all instances, /s", "все экземпляры, /с"), Unit::Plain, &total), total),
        ],
        bands: Vec::new(),
        events: held.into_iter().collect(),
    })
}

/// Numbers of which a client told too few windows have no dot.
fn decisive(found: &DensityFinding) -> Vec<Point> {
    let dot = |point: &DensityPoint| {
        let decisive = point.decisive?;
        let [middle, least, most] = [decisive.middle, decisive.least, decisive.most].map(|ns| ns.0.max(1) as f64);
        Some(Point { x: f64::from(point.instances), y: Some(middle), envelope: between(point, (least, most)) })
    };
    found.points.iter().filter_map(dot).collect()
}

/// What all did, and where clients offer a rate what they would have done.
fn rates(found: &DensityFinding) -> Vec<Series> {
    let dot = |point: &DensityPoint| Point {
        x: f64::from(point.instances),
        y: Some(point.rate),
        envelope: between(point, point.rates),
    };
    let mut lines = vec![line(say!("done", "выполнено"), Quantity::Iops, 0, found.points.iter().map(dot).collect())];
    if let (Some(offered), Some(last)) = (found.offered, found.points.last()) {
        let most = f64::from(last.instances);
        let ends = [0.0, most].map(|x| Point { x, y: Some(x * offered.as_iops()), envelope: None });
        lines.push(Series {
            dots: false, ..line(say!("offered", "предложено"), Quantity::Iops, 1, ends.to_vec())
        });
    }
    lines
}

/// One trial has no spread.
fn between(point: &DensityPoint, ends: (f64, f64)) -> Option<(f64, f64)> {
    (point.trials > 1).then_some(ends)
}

fn line(name: Say, quantity: Quantity, variant: u8, points: Vec<Point>) -> Series {
    Series { name, quantity, variant, points, dots: true, joined: true, labels: Vec::new() }
}

fn summary((first, last): (&DensityPoint, &DensityPoint), found: &DensityFinding) -> Say {
    Say::both(|l| {
        let end = |point: &DensityPoint| {
            let latency = point.decisive.map(|found| format!(" {},", format::latency(found.middle, l)));
            format!("N = {}:{} {}/s", point.instances, latency.unwrap_or_default(), format::number(point.rate, l))
        };
        say_in!(
            l,
            "{a} … {b}. Above: the latency within which the slowest instance has {w} of its windows, against the limit; below: the sum of all. Bars span the trials of a number{h}.",
            "{a} … {b}. Вверху — задержка, в которую у самого медленного экземпляра укладываются {w} окон, и предел; внизу — сумма по всем. Столбики — разброс испытаний{h}.",
            a = end(first),
            b = end(last),
            w = format::percent(found.slo.windows.as_share(), l),
            h = match found.held {
                Some(_) => l.pick(
                    "; the upright line is the largest number that holds",
                    "; отвесная линия — наибольшее выдержавшее число"
                ),
                None => "",
            }
        )
    })
}
