//! Lines, envelopes, dots and direct labels of a pane. Lines of one quantity share a colour and differ
//! by dash and marker, so that they stay apart in print and for any eyes.

use super::axis::{across, text};
use super::scale::DrawnAxis;
use super::{Frame, percent};
use crate::markup::{Markup, coordinate};
use stend_analyse::chart::{Quantity, Series};
use stend_base::Say;

/// Vertical distance of two direct labels, pixels.
const LABEL_STEP: f64 = 13.0;
/// Letters of a direct label that fit beside the plot.
const LABEL_LETTERS: usize = 9;
/// Letters of the name of a point.
const POINT_LETTERS: usize = 12;
/// Markers by variant, drawn around (0, 0).
const MARKERS: [&str; 6] = [
    "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "M-2.7-2.7h5.4v5.4h-5.4z",
    "M0-3.6L3.4 2.6h-6.8z",
    "M0-3.8L3.8 0L0 3.8L-3.8 0z",
    "M0 3.6L3.4-2.6h-6.8z",
    "M-3-1h2v-2h2v2h2v2h-2v2h-2v-2h-2z",
];

/// Envelopes and lines, in the stretched view box of the plot.
pub fn lines(m: &mut Markup, series: &Series, x: &DrawnAxis, y: &DrawnAxis, height: f64) {
    let class = |kind: &str| format!("{kind} {} v{}", quantity(series.quantity), variant(series));
    let down = |place: f64| height * (1.0 - place);
    if series.dots && !series.joined {
        return;
    }
    for run in runs(series, |p| {
        if series.dots {
            return None;
        }
        let (low, high) = p.envelope?;
        Some((across(x.place(p.x)?), down(y.place(low)?), down(y.place(high)?)))
    }) {
        let there = run.iter().map(|(x, _, high)| (*x, *high));
        let back = run.iter().rev().map(|(x, low, _)| (*x, *low));
        let path = path(there.chain(back)) + "z";
        m.with("path", &[("class", &class("envelope")), ("d", &path)], |_| {});
    }
    for run in runs(series, |p| Some((across(x.place(p.x)?), down(y.place(p.y?)?)))) {
        if run.len() > 1 {
            m.with(
                "path",
                &[("class", &class(if series.dots { "line thin" } else { "line" })), ("d", &path(run.into_iter()))],
                |_| {},
            );
        }
    }
}

/// Markers: of every point of a dotted series, of points without a neighbour, of the end of a line.
pub fn dots(m: &mut Markup, series: &Series, x: &DrawnAxis, y: &DrawnAxis, frame: Frame) {
    whiskers(m, series, x, y, frame);
    let place = |p: &stend_analyse::chart::Point| Some((x.place(p.x)?, y.place(p.y?)?));
    let runs = runs(series, place);
    for (i, run) in runs.iter().enumerate() {
        let first = match run.len() {
            1 => 0,
            _ if series.dots => 0,
            len if i + 1 == runs.len() => len - 1,
            len => len,
        };
        for &(px, py) in &run[first..] {
            if (0.0..=1.0).contains(&px) && (0.0..=1.0).contains(&py) {
                marker(m, series.quantity, variant(series), &percent(px), &coordinate(frame.y(py)));
            }
        }
    }
}

/// Envelopes of dots: an upright bar each, for nothing is known between them.
fn whiskers(m: &mut Markup, series: &Series, x: &DrawnAxis, y: &DrawnAxis, frame: Frame) {
    let class = format!("whisker {}", quantity(series.quantity));
    for point in series.points.iter().filter(|_| series.dots) {
        let Some((low, high)) = point.envelope else { continue };
        let (Some(at), Some(low), Some(high)) = (x.place(point.x), y.place(low), y.place(high)) else { continue };
        if (0.0..=1.0).contains(&at) {
            let (at, y1, y2) =
                (percent(at), coordinate(frame.y(low.clamp(0.0, 1.0))), coordinate(frame.y(high.clamp(0.0, 1.0))));
            m.with("line", &[("class", &class), ("x1", &at), ("x2", &at), ("y1", &y1), ("y2", &y2)], |_| {});
        }
    }
}

/// Names of the points, beside them: to the left in the right half of the plot.
pub fn point_labels(m: &mut Markup, series: &Series, x: &DrawnAxis, y: &DrawnAxis, frame: Frame) {
    let class = format!("point-name {}", quantity(series.quantity));
    for (point, label) in series.points.iter().zip(&series.labels) {
        let (Some(px), Some(py)) = (x.place(point.x), point.y.and_then(|v| y.place(v))) else { continue };
        if !(0.0..=1.0).contains(&px) || !(0.0..=1.0).contains(&py) {
            continue;
        }
        let (at, up) = (percent(px), coordinate(frame.y(py)));
        let (dx, anchor) = if px > 0.8 { ("-8", "end") } else { ("8", "start") };
        let attributes =
            [("class", class.as_str()), ("x", &at), ("y", &up), ("dx", dx), ("dy", "-.3em"), ("text-anchor", anchor)];
        text(m, &attributes, &Say::both(|lang| shortened(label.get(lang))));
    }
}

/// A name that leaves room for others.
fn shortened(name: &str) -> String {
    match name.chars().count() {
        0..=POINT_LETTERS => name.to_string(),
        _ => name.chars().take(POINT_LETTERS - 1).chain(['…']).collect(),
    }
}

/// Whether the lines of a pane are named at their ends: several, with names that fit in any language.
pub fn labelled(series: &[Series]) -> bool {
    let fits = |s: &Series| [&s.name.en, &s.name.ru].iter().all(|n| n.chars().count() <= LABEL_LETTERS);
    series.len() > 1 && series.iter().all(|s| fits(s) && !s.dots)
}

/// Names of the lines at their ends, moved apart where they would touch.
pub fn labels(m: &mut Markup, series: &[Series], x: &DrawnAxis, y: &DrawnAxis, frame: Frame) {
    let mut labels: Vec<(f64, &Series)> = Vec::new();
    // Later lines are the higher quantiles: of equal ends they are named above.
    for line in series.iter().rev() {
        let ends = line.points.iter().rev().find_map(|p| x.place(p.x).and(y.place(p.y?)));
        labels.extend(ends.map(|place| (frame.y(place.clamp(0.0, 1.0)), line)));
    }
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    spread(&mut labels, frame);
    for (at, line) in labels {
        let (at, class) = (coordinate(at), format!("direct {}", quantity(line.quantity)));
        let attributes = [("class", class.as_str()), ("x", "100%"), ("dx", "8"), ("y", &at), ("dy", ".32em")];
        text(m, &attributes, &line.name);
    }
}

/// Moves labels down until none touch, then back up where they left the pane.
fn spread(labels: &mut [(f64, &Series)], frame: Frame) {
    for i in 1..labels.len() {
        labels[i].0 = labels[i].0.max(labels[i - 1].0 + LABEL_STEP);
    }
    let mut limit = frame.top + frame.height;
    for label in labels.iter_mut().rev() {
        label.0 = label.0.min(limit);
        limit = label.0 - LABEL_STEP;
    }
}

/// A sample of a line for the legend.
pub fn swatch(m: &mut Markup, series: &Series) {
    let class = format!("line {} v{}", quantity(series.quantity), variant(series));
    m.with("svg", &[("class", "swatch"), ("width", "26"), ("height", "12"), ("aria-hidden", "true")], |m| {
        if !series.dots {
            m.with("path", &[("class", &class), ("d", "M0 6L26 6")], |_| {});
        }
        marker(m, series.quantity, variant(series), if series.dots { "13" } else { "22" }, "6");
    });
}

/// A sample of a line over a heat map.
pub fn swatch_over(m: &mut Markup) {
    m.with("svg", &[("class", "swatch"), ("width", "26"), ("height", "12"), ("aria-hidden", "true")], |m| {
        m.with("path", &[("class", "line over"), ("d", "M0 8h9v-4h9v4h8")], |_| {});
    });
}

/// A marker of a quantity's colour around a point.
fn marker(m: &mut Markup, of: Quantity, variant: usize, x: &str, y: &str) {
    let class = format!("dot {}", quantity(of));
    m.with("svg", &[("x", x), ("y", y), ("overflow", "visible")], |m| {
        m.with("path", &[("class", &class), ("d", MARKERS[variant])], |_| {});
    });
}

/// Unbroken runs of points that have a place.
fn runs<P>(series: &Series, place: impl Fn(&stend_analyse::chart::Point) -> Option<P>) -> Vec<Vec<P>> {
    let mut runs = vec![Vec::new()];
    for point in &series.points {
        match (place(point), runs.last_mut()) {
            (Some(p), Some(run)) => run.push(p),
            (_, Some(run)) if run.is_empty() => {}
            _ => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// Path through points, one decimal: a tenth of a pixel.
pub fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut out = String::new();
    for (i, (x, y)) in points.enumerate() {
        out.push(if i == 0 { 'M' } else { 'L' });
        out.push_str(&coordinate((x * 10.0).round() / 10.0));
        out.push(' ');
        out.push_str(&coordinate((y * 10.0).round() / 10.0));
    }
    out
}

fn variant(series: &Series) -> usize {
    usize::from(series.variant) % MARKERS.len()
}

/// Class of a quantity's colour, the same on every page.
pub fn quantity(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Iops => "q-iops",
        Quantity::Throughput => "q-throughput",
        Quantity::Latency => "q-latency",
        Quantity::Cpu => "q-cpu",
        Quantity::Memory => "q-memory",
        Quantity::Temperature => "q-temperature",
    }
}
