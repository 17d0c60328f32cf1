//! Axes, grid and shaded ranges of a chart.

use super::scale::Ruler;
use super::{Frame, HEAD, PLOT_WIDTH, percent};
use crate::figures::both;
use crate::markup::{Markup, coordinate};
use stend_analyse::chart::{Axis, Band};
use stend_base::{Lang, Say};

/// Width of a letter of a label in the view box: 6 px at the narrowest common width of a chart, 560 px.
const LETTER: f64 = 6.0 / 560.0;
/// Room between the drawing and a label beside it, pixels.
const ASIDE: &str = "-8";

/// Shaded ranges behind all panes, each with its name where there is room for it.
pub fn bands(m: &mut Markup, bands: &[Band], x: &Ruler, bottom: f64) {
    let height = coordinate(bottom - HEAD);
    for band in bands {
        let (Some(from), Some(to)) = (x.place(band.from), x.place(band.to)) else { continue };
        let (from, to) = (from.clamp(0.0, 1.0), to.clamp(0.0, 1.0));
        if to <= from {
            continue;
        }
        let (at, width, top) = (percent(from), percent(to - from), coordinate(HEAD));
        m.with("rect", &[("class", "band"), ("x", &at), ("y", &top), ("width", &width), ("height", &height)], |_| {});
        let letters = band.label.en.chars().count().max(band.label.ru.chars().count());
        if letters as f64 * LETTER < to - from {
            let middle = percent((from + to) / 2.0);
            let attributes = [("class", "band-name"), ("x", &middle), ("y", "36"), ("text-anchor", "middle")];
            text(m, &attributes, &band.label);
        }
    }
}

/// Grid lines, tick labels and the name of a pane's axis.
pub fn vertical(m: &mut Markup, axis: &Axis, ruler: &Ruler, frame: Frame) {
    let name_y = coordinate(frame.top - 9.0);
    text(m, &[("class", "axis-name"), ("x", "0"), ("y", &name_y)], &axis.label);
    line(m, "base", ("0", "100%"), (frame.y(0.0), frame.y(0.0)));
    for tick in ruler.ticks() {
        let Some(place) = ruler.place(tick) else { continue };
        let y = frame.y(place);
        line(m, "grid", ("0", "100%"), (y, y));
        let at = coordinate(y);
        let attributes = [("class", "tick"), ("x", ASIDE), ("y", &at), ("dy", ".32em"), ("text-anchor", "end")];
        text(m, &attributes, &both(|lang| ruler.label(tick, lang)));
    }
}

/// Ticks and name of the shared horizontal axis. Every second label is left out on narrow screens.
pub fn horizontal(m: &mut Markup, axis: &Axis, ruler: &Ruler, bottom: f64) {
    let (label_y, name_y) = (coordinate(bottom + 17.0), coordinate(bottom + 34.0));
    let mut last_end = f64::NEG_INFINITY;
    for (i, tick) in ruler.ticks().into_iter().enumerate() {
        let Some(place) = ruler.place(tick) else { continue };
        let at = percent(place);
        line(m, "grid-tick", (&at, &at), (bottom, bottom + 4.0));
        let label = both(|lang| ruler.label(tick, lang));
        let half = label.get(Lang::Ru).chars().count() as f64 * LETTER / 2.0;
        if place - half <= last_end {
            continue;
        }
        last_end = place + half;
        let class = if i % 2 == 0 { "tick" } else { "tick odd" };
        text(m, &[("class", class), ("x", &at), ("y", &label_y), ("text-anchor", "middle")], &label);
    }
    text(m, &[("class", "axis-name"), ("x", "100%"), ("y", &name_y), ("text-anchor", "end")], &axis.label);
}

/// A `<text>` element per language, or one if both agree.
pub fn text(m: &mut Markup, attributes: &[(&'static str, &str)], say: &Say) {
    if say.en == say.ru {
        return m.with("text", attributes, |m| m.text(&say.en));
    }
    for lang in [Lang::En, Lang::Ru] {
        let attributes: Vec<_> = attributes.iter().copied().chain([("lang", lang.tag())]).collect();
        m.with("text", &attributes, |m| m.text(say.get(lang)));
    }
}

fn line(m: &mut Markup, class: &'static str, x: (&str, &str), y: (f64, f64)) {
    let (y1, y2) = (coordinate(y.0), coordinate(y.1));
    m.with("line", &[("class", class), ("x1", x.0), ("x2", x.1), ("y1", &y1), ("y2", &y2)], |_| {});
}

/// Horizontal place of a value in the view box of the plotted lines.
pub fn across(place: f64) -> f64 {
    place * PLOT_WIDTH
}
