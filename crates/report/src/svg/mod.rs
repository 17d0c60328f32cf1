//! A chart document as inline SVG. Deterministic; places ink, derives nothing.
//!
//! Horizontal places are percentages and vertical ones are pixels, so that a chart fills any width with
//! letters of one size; only the plotted lines live in a stretched view box of their own. Colours come
//! from classes of the page's style sheet: light, dark and print differ there.

mod axis;
mod cuts;
mod field;
mod scale;
mod series;
mod timeline;

pub use axis::text;
pub use field::{has_margin, range, scale as tints};
pub use scale::DrawnAxis;
pub use series::{labelled, swatch, swatch_over};
pub use timeline::{draw as timeline, swatch as stretch};

use crate::markup::{Markup, coordinate};
use stend_analyse::Chart;
use stend_analyse::chart::Pane;
use stend_base::Lang;

/// Height of the only pane, pixels; by eye: twice as wide as high in a column of the report.
const HEIGHT_ALONE: f64 = 210.0;
/// Height of a row of a matrix: a number with room around it.
const HEIGHT_ROW: f64 = 34.0;
/// Height of one of several panes.
const HEIGHT_STACKED: f64 = 140.0;
/// Width of a letter of a label, pixels.
const LETTER: f64 = 6.0;
/// Room above the first pane for the name of its axis.
const HEAD: f64 = 24.0;
/// Room above it for the names of shaded ranges, below the name of the axis.
const BAND_NAMES: f64 = 15.0;
/// Room between panes: the lowest label of one, the name of the axis of the next.
const BETWEEN: f64 = 36.0;
/// Room below the last pane for the horizontal axis.
const FOOT: f64 = 40.0;
/// Room below that for what a cut of the axis means.
const CUT_NOTE: f64 = 14.0;
/// Width of a plot in one of two columns of the report.
pub const WIDTH_COLUMN: f64 = 340.0;
/// Width of a plot that has the page for itself.
pub const WIDTH_PAGE: f64 = 900.0;
/// Width of the view box of the plotted lines; the page stretches it.
const PLOT_WIDTH: f64 = 1000.0;

/// Place of a pane in the drawing.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// Baseline of the name of the pane's axis.
    name_y: f64,
    top: f64,
    height: f64,
}

impl Frame {
    /// Vertical pixel of a place on the axis (0 is the bottom).
    fn y(&self, place: f64) -> f64 {
        self.top + self.height * (1.0 - place)
    }
}

/// The chart as an `<svg>` element. `lang` is the language of its title and description; the other
/// texts are there in both, for the page's language switch.
pub fn svg(chart: &Chart, lang: Lang) -> String {
    let mut m = Markup::new();
    draw(&mut m, chart, lang, WIDTH_COLUMN);
    m.finish()
}

/// Id of the caption that names a chart. What an id may not hold becomes a dash.
pub fn caption_id(chart: &Chart) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    format!("chart-{}", chart.id.chars().map(allowed).collect::<String>())
}

/// Writes the `<svg>` element of a chart that will be about `width` pixels wide: labels are left out
/// where they would not fit then.
pub fn draw(m: &mut Markup, chart: &Chart, lang: Lang, width: f64) {
    let frames = frames(chart);
    let (top, bottom) = (frames.first().map_or(HEAD, |f| f.top), frames.last().map_or(HEAD, |f| f.top + f.height));
    let x = cuts::horizontal(chart);
    let cut = if x.cuts().next().is_some() { CUT_NOTE } else { 0.0 };
    let foot = FOOT + cut + axis::detail_height(&chart.x, &x, LETTER / width);
    let (total, caption) = (coordinate(bottom + foot), caption_id(chart));
    let attributes =
        [("class", "plot"), ("width", "100%"), ("height", &total), ("role", "img"), ("aria-labelledby", &caption)];
    m.with("svg", &attributes, |m| {
        m.with("title", &[], |m| m.text(chart.title.get(lang)));
        m.with("desc", &[], |m| m.text(chart.summary.get(lang)));
        axis::bands(m, &chart.bands, &x, (top, bottom), LETTER / width);
        for (pane, frame) in chart.panes.iter().zip(&frames) {
            draw_pane(m, pane, &x, *frame);
        }
        axis::events(m, &chart.events, &x, (top, bottom), LETTER / width);
        axis::horizontal(m, &chart.x, &x, bottom, LETTER / width);
    });
}

/// Places of all panes, from top to bottom.
fn frames(chart: &Chart) -> Vec<Frame> {
    let mut top = HEAD + if chart.bands.is_empty() { 0.0 } else { BAND_NAMES };
    let mut frames = Vec::new();
    for (i, pane) in chart.panes.iter().enumerate() {
        let height = match &pane.field {
            Some(field) if field.numbers => field.rows.len() as f64 * HEIGHT_ROW,
            _ if chart.panes.len() == 1 => HEIGHT_ALONE,
            _ => HEIGHT_STACKED,
        };
        frames.push(Frame { name_y: if i == 0 { HEAD } else { top } - 9.0, top, height });
        top += height + BETWEEN;
    }
    frames
}

fn draw_pane(m: &mut Markup, pane: &Pane, x: &DrawnAxis, frame: Frame) {
    let y = DrawnAxis::new(&pane.y);
    axis::vertical(m, &pane.y, &y, frame);
    let (top, height) = (coordinate(frame.top), coordinate(frame.height));
    let view = format!("0 0 {PLOT_WIDTH} {height}");
    let attributes = [
        ("x", "0"),
        ("y", &top),
        ("width", "100%"),
        ("height", &height),
        ("viewBox", &view),
        ("preserveAspectRatio", "none"),
    ];
    m.with("svg", &attributes, |m| {
        if let Some(field) = &pane.field {
            field::cells(m, field, x, &y, frame.height);
            return pane.series.iter().for_each(|line| field::steps(m, field, line, x, &y, frame.height));
        }
        for line in &pane.series {
            series::lines(m, line, x, &y, frame.height);
        }
    });
    if let Some(field) = &pane.field {
        field::numbers(m, field, x, &y, frame);
        return field::margin(m, field, &y, frame);
    }
    for line in &pane.series {
        series::dots(m, line, x, &y, frame);
    }
    for line in &pane.series {
        series::point_labels(m, line, x, &y, frame);
    }
    if series::labelled(&pane.series) {
        series::labels(m, &pane.series, x, &y, frame);
    }
}

/// A place on the horizontal axis as a percentage of the width.
fn percent(place: f64) -> String {
    format!("{}%", coordinate(place * 100.0))
}

#[cfg(test)]
mod tests;
