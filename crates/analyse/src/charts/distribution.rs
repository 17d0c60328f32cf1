//! The latency distribution of a case as a curve over nines: p50 to p99.99, as far as the I/Os reach.

use super::{SERIES_MAX, caps, few, latency_axis};
use crate::case::OpLatency;
use crate::chart::{Axis, Chart, Pane, Point, Quantity, Scale, Series, Unit};
use crate::phrase::{both, op as op_name};
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
    let curves = latencies.iter().map(|latency| curve(latency, several));
    let mut series: Vec<Series> = curves.filter(|series| !series.points.is_empty()).collect();
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
        id: format!("case-{case}-latency"),
        title: say!("Latency distribution", "Распределение задержки"),
        summary,
        x,
        panes: vec![Pane::lines(latency_axis(say!("latency", "задержка"), &series), series)],
        bands: Vec::new(),
        events: Vec::new(),
    })
}

fn curve(latency: &OpLatency, several: bool) -> Series {
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
    let name = match several {
        false => op_name(latency.op),
        true => {
            let (name, number) = (op_name(latency.op), u32::from(latency.stream) + 1);
            let (en, ru) = (name.en, name.ru);
            say!("{en}, stream {number}", "{ru}, поток {number}")
        }
    };
    Series { name, quantity: Quantity::Latency, variant: 0, dots: few(&points), points, labels: Vec::new() }
}

/// The two ends of every curve.
fn summary(series: &[Series]) -> Say {
    both(|l| {
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
