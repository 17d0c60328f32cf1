//! Axes, grid and shaded ranges of a chart.

use super::scale::DrawnAxis;
use super::{FOOT, Frame, PLOT_WIDTH, percent};
use crate::markup::{Markup, coordinate};
use stend_analyse::chart::{Axis, Band, Mark};
use stend_base::{Lang, Say, say};

/// Height of a line of detail under a label, pixels.
const DETAIL_LINE: f64 = 14.0;
/// Up to this many names stay on narrow screens.
const NAMES_KEPT: usize = 6;
/// Most lines of detail.
const DETAIL_LINES_MAX: usize = 3;
/// How much narrower than a page a phone is: a letter takes that much more of the width. In a chart in a column that is too much.
const NARROWER: f64 = 2.8;
/// Room between the drawing and a label beside it, pixels.
const ASIDE: &str = "-8";

/// Shaded ranges behind all panes, from `top` to `bottom`; names above, where there is room for
/// them. `letter` is the width of a letter as a part of the plot.
pub fn bands(m: &mut Markup, bands: &[Band], x: &DrawnAxis, (top, bottom): (f64, f64), letter: f64) {
    let (top_y, name_y, height) = (coordinate(top), coordinate(top - 5.0), coordinate(bottom - top));
    for band in bands {
        let (Some(from), Some(to)) = (x.place(band.from), x.place(band.to)) else { continue };
        let (from, to) = (from.clamp(0.0, 1.0), to.clamp(0.0, 1.0));
        if to <= from {
            continue;
        }
        let (at, width) = (percent(from), percent(to - from));
        m.with("rect", &[("class", "band"), ("x", &at), ("y", &top_y), ("width", &width), ("height", &height)], |_| {});
        let room = |name: &str| {
            if name.chars().count() as f64 * letter < to - from { name.to_string() } else { String::new() }
        };
        let middle = percent((from + to) / 2.0);
        let attributes = [("class", "band-name"), ("x", middle.as_str()), ("y", &name_y), ("text-anchor", "middle")];
        text(m, &attributes, &Say { en: room(&band.label.en), ru: room(&band.label.ru) });
    }
}

/// Upright lines where something happened, named at their feet where there is room.
pub fn events(m: &mut Markup, events: &[Mark], x: &DrawnAxis, (top, bottom): (f64, f64), letter: f64) {
    let (mut free, mut free_narrow) = (0.0, 0.0);
    for event in events {
        let Some(place) = x.place(event.at).filter(|p| (0.0..=1.0).contains(p)) else { continue };
        let at = percent(place);
        line(m, "event", (&at, &at), (top, bottom));
        let letters = |lang| event.name.get(lang).chars().count() as f64;
        let fits = |lang, free: f64, letter: f64| place >= free && place + (letters(lang) + 1.0) * letter <= 1.0;
        let until = |letter: f64| place + (letters(Lang::En).max(letters(Lang::Ru)) + 2.0) * letter;
        let (narrow, y) = (letter * NARROWER, coordinate(bottom - 6.0));
        let (before, before_narrow) = (free, free_narrow);
        for lang in [Lang::En, Lang::Ru].into_iter().filter(|lang| fits(*lang, before, letter)) {
            free = until(letter);
            let on_phones = fits(lang, before_narrow, narrow);
            free_narrow = if on_phones { until(narrow) } else { free_narrow };
            let class = if on_phones { "event-name" } else { "event-name wide" };
            let attributes = [("class", class), ("x", &at), ("dx", "4"), ("y", &y), ("lang", lang.tag())];
            m.with("text", &attributes, |m| m.text(event.name.get(lang)));
        }
    }
}

/// Grid lines, tick labels and the name of a pane's axis.
pub fn vertical(m: &mut Markup, axis: &Axis, ruler: &DrawnAxis, frame: Frame) {
    let name_y = coordinate(frame.name_y);
    text(m, &[("class", "axis-name"), ("x", "0"), ("y", &name_y)], &axis.label);
    line(m, "base", ("0", "100%"), (frame.y(0.0), frame.y(0.0)));
    for tick in ruler.ticks() {
        let Some(place) = ruler.place(tick) else { continue };
        let y = frame.y(place);
        // A name belongs to a row of cells; a line would strike through their numbers.
        if axis.names.is_empty() {
            line(m, "grid", ("0", "100%"), (y, y));
        }
        let at = coordinate(y);
        let attributes = [("class", "tick"), ("x", ASIDE), ("y", &at), ("dy", ".32em"), ("text-anchor", "end")];
        text(m, &attributes, &Say::both(|lang| ruler.label(tick, lang)));
    }
}

/// Ticks and name of the shared horizontal axis. Every second label is left out on narrow screens.
pub fn horizontal(m: &mut Markup, axis: &Axis, ruler: &DrawnAxis, bottom: f64, letter: f64) {
    let details = detail_height(axis, ruler, letter);
    let (label_y, name_y) = (coordinate(bottom + 17.0), coordinate(bottom + 34.0 + details));
    let mut last_end = f64::NEG_INFINITY;
    for (i, tick) in ruler.ticks().into_iter().enumerate() {
        let Some(place) = ruler.place(tick) else { continue };
        let at = percent(place);
        line(m, "grid-tick", (&at, &at), (bottom, bottom + 4.0));
        let label = Say::both(|lang| ruler.label(tick, lang));
        let half = label.get(Lang::Ru).chars().count() as f64 * letter / 2.0;
        if place - half <= last_end {
            continue;
        }
        last_end = place + half;
        // A few names are the point of their axis; numbers in between can be guessed.
        let keep = i % 2 == 0 || (1..=NAMES_KEPT).contains(&axis.names.len());
        let class = if keep { "tick" } else { "tick odd" };
        text(m, &[("class", class), ("x", &at), ("y", &label_y), ("text-anchor", "middle")], &label);
        for (line, below) in detail(ruler, tick).iter().zip(1..).filter(|_| details > 0.0) {
            let y = coordinate(bottom + 17.0 + f64::from(below) * DETAIL_LINE);
            text(m, &[("class", "tick detail"), ("x", &at), ("y", &y), ("text-anchor", "middle")], line);
        }
    }
    text(m, &[("class", "axis-name"), ("x", "100%"), ("y", &name_y), ("text-anchor", "end")], &axis.label);
    cuts(m, ruler, bottom, &say!("// other cases ran in between", "// между ними шли другие случаи"));
}

/// Lines of the detail of a named place: it is broken where its author put a comma.
fn detail(ruler: &DrawnAxis, tick: f64) -> Vec<Say> {
    let line = |lang, n: usize| {
        let detail = ruler.name(tick).map_or("", |mark| mark.detail.get(lang));
        detail.split(", ").nth(n).unwrap_or_default().to_string()
    };
    (0..DETAIL_LINES_MAX).map(|n| Say::both(|lang| line(lang, n))).take_while(|say| *say != Say::same("")).collect()
}

/// Height that details under the labels take: none unless all of them fit between their neighbours.
pub fn detail_height(axis: &Axis, ruler: &DrawnAxis, letter: f64) -> f64 {
    if axis.names.is_empty() {
        return 0.0;
    }
    let ticks = ruler.ticks();
    let lines: Vec<Vec<Say>> = ticks.iter().map(|tick| detail(ruler, *tick)).collect();
    let texts = || lines.iter().flatten().flat_map(|line| [&line.en, &line.ru]);
    let widest = texts().map(|line| line.chars().count() + 1).max().unwrap_or(0);
    let fits = widest as f64 * letter * ticks.len() as f64 <= 1.0;
    let most = lines.iter().map(Vec::len).max().unwrap_or(0);
    if fits { most as f64 * DETAIL_LINE } else { 0.0 }
}

/// Marks every cut of the axis, and below it says what the mark means.
pub fn cuts(m: &mut Markup, ruler: &DrawnAxis, bottom: f64, meaning: &Say) {
    let y = coordinate(bottom);
    for place in ruler.cuts() {
        let at = percent(place);
        m.with("svg", &[("x", &at), ("y", &y), ("overflow", "visible")], |m| {
            m.with("path", &[("class", "cut"), ("d", "M-3.5 5L.5-5M-.5 5L3.5-5")], |_| {});
        });
    }
    if ruler.cuts().next().is_some() {
        let y = coordinate(bottom + FOOT + 8.0);
        text(m, &[("class", "tick"), ("x", "100%"), ("y", &y), ("text-anchor", "end")], meaning);
    }
}

/// A `<text>` element per language, or one if both agree; none for an empty text.
pub fn text(m: &mut Markup, attributes: &[(&'static str, &str)], say: &Say) {
    if say.en == say.ru && !say.en.is_empty() {
        return m.with("text", attributes, |m| m.text(&say.en));
    }
    for lang in [Lang::En, Lang::Ru].into_iter().filter(|lang| !say.get(*lang).is_empty()) {
        let attributes: Vec<_> = attributes.iter().copied().chain([("lang", lang.tag())]).collect();
        m.with("text", &attributes, |m| m.text(say.get(lang)));
    }
}

/// A straight line.
pub fn line(m: &mut Markup, class: &'static str, x: (&str, &str), y: (f64, f64)) {
    let (y1, y2) = (coordinate(y.0), coordinate(y.1));
    m.with("line", &[("class", class), ("x1", x.0), ("x2", x.1), ("y1", &y1), ("y2", &y2)], |_| {});
}

/// Horizontal place of a value in the view box of the plotted lines.
pub fn across(place: f64) -> f64 {
    place * PLOT_WIDTH
}
