//! Cells under the lines of a pane: a heat map, or a matrix with numbers. One path per tint, however
//! many cells there are.

use super::axis::{across, text};
use super::scale::DrawnAxis;
use super::series::{path, quantity};
use super::{Frame, percent};
use crate::markup::{Markup, coordinate};
use stend_analyse::chart::{Field, Series, Unit};
use stend_base::{Lang, Say, format};

/// Length of the longest bar beside a pane, pixels.
const MARGIN_WIDTH: f64 = 46.0;
/// Distance of the bars from the pane.
const MARGIN_GAP: f64 = 8.0;
/// Classes of the tints.
const TINTS: [&str; 8] = ["t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"];

/// Class of one of `of` tints: few tints are spread over the whole scale.
fn tint(index: usize, of: usize) -> &'static str {
    let last = TINTS.len() - 1;
    match of {
        0 | 1 => TINTS[last / 2],
        _ => TINTS[(index.min(of - 1) * last).div_ceil(of - 1)],
    }
}

/// The cells, in the stretched view box of the plot. Neighbours of one tint become one rectangle.
pub fn cells(m: &mut Markup, field: &Field, x: &DrawnAxis, y: &DrawnAxis, height: f64) {
    let down = |place: f64| height * (1.0 - place.clamp(0.0, 1.0));
    let mut paths = vec![String::new(); field.steps.len()];
    for (column, from, to, tint) in stretches(field) {
        let (Some(column), Some(bottom), Some(top)) =
            (field.columns.get(column), field.rows.get(from), field.rows.get(to))
        else {
            continue;
        };
        let places = (x.place(column.0), x.place(column.1), y.place(bottom.0), y.place(top.1));
        let (Some(left), Some(right), Some(low), Some(high)) = places else { continue };
        let (left, right) = (across(left.clamp(0.0, 1.0)), across(right.clamp(0.0, 1.0)));
        let rounded = |v: f64| coordinate((v * 10.0).round() / 10.0);
        let (at, up, wide) = (rounded(left), rounded(down(high)), rounded(right - left));
        let tall = rounded(down(low) - down(high));
        if let Some(path) = paths.get_mut(tint) {
            path.push_str(&format!("M{at} {up}h{wide}v{tall}h-{wide}z"));
        }
    }
    let tints = paths.len();
    for (index, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        // Numbers must stay readable on the darkest tint.
        let kind = if field.numbers { "cell pale" } else { "cell" };
        let class = format!("{kind} {} {}", quantity(field.quantity), tint(index, tints));
        m.with("path", &[("class", &class), ("d", path)], |_| {});
    }
}

/// Columns with the first and last row of unbroken stretches of one tint.
fn stretches(field: &Field) -> Vec<(usize, usize, usize, usize)> {
    let mut cells: Vec<(usize, usize, usize)> = field
        .cells
        .iter()
        .filter_map(|c| Some((usize::from(c.column), usize::from(c.row), field.tint(c.value)?)))
        .collect();
    cells.sort_unstable();
    let mut out: Vec<(usize, usize, usize, usize)> = Vec::new();
    for (column, row, tint) in cells {
        match out.last_mut() {
            // Numbers need cells that are seen apart.
            Some(last) if !field.numbers && (last.0, last.2 + 1, last.3) == (column, row, tint) => last.2 = row,
            _ => out.push((column, row, row, tint)),
        }
    }
    out
}

/// The value of each cell, in its middle.
pub fn numbers(m: &mut Markup, field: &Field, x: &DrawnAxis, y: &DrawnAxis, frame: Frame) {
    for cell in field.cells.iter().filter(|_| field.numbers) {
        let (Some(column), Some(row)) =
            (field.columns.get(usize::from(cell.column)), field.rows.get(usize::from(cell.row)))
        else {
            continue;
        };
        let (Some(px), Some(py)) = (x.place((column.0 + column.1) / 2.0), y.place((row.0 + row.1) / 2.0)) else {
            continue;
        };
        if !(0.0..=1.0).contains(&px) || !(0.0..=1.0).contains(&py) {
            continue;
        }
        let (at, up) = (percent(px), coordinate(frame.y(py)));
        let attributes =
            [("class", "number-in"), ("x", at.as_str()), ("y", &up), ("dy", ".35em"), ("text-anchor", "middle")];
        text(m, &attributes, &short(cell.value, field.unit));
    }
}

/// A value as it fits in a cell: without the unit that the axis names.
fn short(value: f64, unit: Unit) -> Say {
    Say::both(|lang| match unit {
        Unit::BytesPerSecond => format::number(value / 1e6, lang),
        _ => crate::figures::value(value, unit).get(lang).to_string(),
    })
}

/// Lines over a heat map: a step as wide as the column that the value belongs to.
pub fn steps(m: &mut Markup, field: &Field, series: &Series, x: &DrawnAxis, y: &DrawnAxis, height: f64) {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    let mut last_end = f64::NAN;
    let draw = |m: &mut Markup, steps: &mut Vec<(f64, f64)>| {
        if !steps.is_empty() {
            let d = path(steps.drain(..));
            m.with("path", &[("class", "halo"), ("d", &d)], |_| {});
            m.with("path", &[("class", "line over"), ("d", &d)], |_| {});
        }
    };
    for point in &series.points {
        let column = field.columns.get(field.columns.partition_point(|c| c.1 <= point.x));
        let Some((from, to)) = column.filter(|c| c.0 <= point.x) else { continue };
        let (Some(left), Some(right), Some(up)) = (x.place(*from), x.place(*to), point.y.and_then(|v| y.place(v)))
        else {
            continue;
        };
        if *from != last_end {
            draw(m, &mut steps);
        }
        last_end = *to;
        let up = height * (1.0 - up);
        steps.extend([(across(left.clamp(0.0, 1.0)), up), (across(right.clamp(0.0, 1.0)), up)]);
    }
    draw(m, &mut steps);
}

/// Sums of the rows as bars to the right of the pane.
pub fn margin(m: &mut Markup, field: &Field, y: &DrawnAxis, frame: Frame) {
    let most = field.margin.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
    if most <= 0.0 {
        return;
    }
    let mut d = String::new();
    for (sum, row) in field.margin.iter().zip(&field.rows).filter(|(sum, _)| **sum > 0.0 && sum.is_finite()) {
        let (Some(low), Some(high)) = (y.place(row.0), y.place(row.1)) else { continue };
        let (top, bottom) = (frame.y(high.clamp(0.0, 1.0)), frame.y(low.clamp(0.0, 1.0)));
        // A row with a single I/O among millions is still seen.
        let long = coordinate((sum / most * MARGIN_WIDTH).max(1.0));
        let (from, up, tall) = (coordinate(MARGIN_GAP), coordinate(top), coordinate(bottom - top));
        d.push_str(&format!("M{from} {up}h{long}v{tall}h-{long}z"));
    }
    let class = format!("margin {}", quantity(field.quantity));
    m.with("svg", &[("x", "100%"), ("y", "0"), ("overflow", "visible")], |m| {
        m.with("path", &[("class", &class), ("d", &d)], |_| {});
    });
}

/// The scale of tints: a box each, with the values at its ends.
pub fn scale(m: &mut Markup, field: &Field) {
    let tints = field.steps.len();
    let (Some(first), true) = (field.steps.first(), field.largest.is_finite()) else { return };
    m.say(&field.name);
    m.raw(" ");
    m.say(&end(*first, field.unit));
    let width = coordinate(tints as f64 * 14.0);
    m.with("svg", &[("class", "swatch"), ("width", &width), ("height", "12"), ("aria-hidden", "true")], |m| {
        for index in 0..tints {
            let (class, at) =
                (format!("cell {} {}", quantity(field.quantity), tint(index, tints)), coordinate(index as f64 * 14.0));
            m.with("rect", &[("class", &class), ("x", &at), ("width", "14"), ("height", "12")], |_| {});
        }
    });
    m.say(&end(field.largest, field.unit));
}

/// An end of the scale; counts are whole.
fn end(value: f64, unit: Unit) -> Say {
    match unit {
        Unit::Plain if value.fract() == 0.0 && (0.0..1e15).contains(&value) => Say::same(format::count(value as u64)),
        _ => crate::figures::value(value, unit),
    }
}

/// Whether a pane has bars beside it.
pub fn has_margin(field: &Field) -> bool {
    field.margin.iter().any(|sum| *sum > 0.0)
}

/// Name of the language-independent parts of a range, for tables: `80 µs … 90 µs`.
pub fn range(edges: (f64, f64), unit: Unit) -> Say {
    let (low, high) = (crate::figures::value(edges.0, unit), crate::figures::value(edges.1, unit));
    Say::both(|lang: Lang| format!("{} … {}", low.get(lang), high.get(lang)))
}
