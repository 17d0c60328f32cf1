//! The latency distribution of a case as a curve over nines: p50 to p99.99, as far as the I/Os reach.

use super::{SERIES_MAX, caps, few, latency_axis};
use crate::chart::{Axis, Chart, Pane, Point, Quantity, Scale, Series, Unit};
use crate::operations::OpLatency;
use crate::phrase::op as op_name;
use stend_base::{Lang, Say, Share, format, say};

/// A curve ends where fewer I/Os than this lie beyond: a few outliers would draw it.
const BEYOND: f64 = 10.0;
/// Points per nine.
const PER_NINE: u32 = 20;
/// Where curves begin and end at most.
const FROM: f64 = 0.5;
const TO: f64 = 0.9999;

/// One curve per operation of a stream. `None` if no operation has enough I/Os.
pub fn chart(case: u32, latencies: &[OpLatency]) -> Option<Chart> {
    let several = latencies.iter().any(|latency| latency.stream > 0);
    let curves = latencies.iter().map(|latency| curve(latency, name(latency, several)));
    let title = say!("Latency distribution", "Распределение задержки");
    drawn(format!("case-{case}-latency"), title, curves.collect())
}

/// The same operation in several runs, each with the letter of its run; one chart per operation. `None` for those that fewer than two runs
/// have.
pub fn side_by_side(case: u32, label: &str, runs: &[(String, Vec<OpLatency>)]) -> Vec<Chart> {
    let first = runs.first().map_or(&[][..], |(_, latencies)| latencies);
    let several = first.iter().any(|latency| latency.stream > 0);
    let of = |latency: &OpLatency| {
        let same = |other: &&OpLatency| (other.stream, other.op) == (latency.stream, latency.op);
        let curves = runs.iter().filter_map(|(letter, all)| Some(curve(all.iter().find(same)?, Say::same(letter))));
        let curves: Vec<Series> = curves.filter(|series| !series.points.is_empty()).collect();
        let Say { en, ru } = name(latency, several);
        let title = say!("{label}: {en}", "{label}: {ru}");
        let id = format!("compared-{case}-{}-{}", latency.stream, latency.op.index());
        (curves.len() > 1).then(|| drawn(id, title, curves)).flatten()
    };
    first.iter().filter_map(of).collect()
}

fn drawn(id: String, title: Say, curves: Vec<Series>) -> Option<Chart> {
    let mut series: Vec<Series> = curves.into_iter().filter(|series| !series.points.is_empty()).collect();
    let more = caps::cut(&mut series, SERIES_MAX);
    (0u8..).zip(&mut series).for_each(|(variant, series)| series.variant = variant);
    let last = series.iter().filter_map(|s| s.points.last()).map(|p| p.x).fold(FROM, f64::max);
    if last <= FROM {
        return None;
    }
    let summary = caps::left_out(summary(&series), &say!("Curves", "Кривые"), more);
    let label = say!("share of I/Os at or below", "доля операций не дольше");
    let x = Axis::new(label, Scale::Nines, Unit::Share, FROM, last);
    Some(Chart {
        id,
        title,
        summary,
        x,
        panes: vec![Pane::lines(latency_axis(say!("latency", "задержка"), &series), series)],
        bands: Vec::new(),
        events: Vec::new(),
    })
}

fn curve(latency: &OpLatency, name: Say) -> Series {
    let last = -(1.0 - TO).log10();
    let first = -(1.0 - FROM).log10();
    let steps = ((last - first) * f64::from(PER_NINE)).ceil() as u32;
    let point = |step: u32| {
        let nines = first + (last - first) * f64::from(step) / f64::from(steps);
        let x = 1.0 - 10f64.powf(-nines);
        let value = latency.distribution.point(Share(x), BEYOND)?;
        Some(Point { x, y: Some(value.0.max(1) as f64), envelope: None })
    };
    let points: Vec<Point> = (0..=steps).map_while(point).collect();
    Series { dots: few(&points), ..Series::line(name, Quantity::Latency, points) }
}

/// An operation; with its stream where there are several.
fn name(latency: &OpLatency, several: bool) -> Say {
    let name = op_name(latency.op);
    if !several {
        return name;
    }
    let (Say { en, ru }, number) = (name, u32::from(latency.stream) + 1);
    say!("{en}, stream {number}", "{ru}, поток {number}")
}

/// The two ends of every curve.
fn summary(series: &[Series]) -> Say {
    Say::both(|l| {
        let end = |p: &Point| {
            let latency = format::latency(stend_base::Nanos(p.y.unwrap_or(0.0) as u64), l);
            format!("p{} {latency}", trimmed(p.x * 100.0, l))
        };
        let line = |s: &Series| {
            let ends: Vec<String> = s.points.first().into_iter().chain(s.points.last()).map(end).collect();
            format!("{}: {}", s.name.get(l), ends.join(" … "))
        };
        series.iter().map(line).collect::<Vec<_>>().join("; ") + "."
    })
}

/// A percentile without needless zeros.
fn trimmed(value: f64, lang: Lang) -> String {
    let text = format::fixed(value, 2, lang);
    text.trim_end_matches('0').trim_end_matches(['.', ',']).to_string()
}
