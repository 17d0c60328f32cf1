//! The first picture of a comparison: every ratio with its interval on one axis, and the rates side by side. Draws, and judges nothing.

use crate::comparison::{self, Line, verdict::Tint};
use crate::markup::{Markup, coordinate};
use stend_analyse::Comparison;
use stend_analyse::compare::{CaseComparison, Ratio, RatioValue, Side};
use stend_base::{Say, format, say};

/// Most lines of the picture; more would not fit a screen or two.
const LINES_MOST: usize = 48;
/// Ratios beyond these are drawn at the edge.
const EDGES: (f64, f64) = (0.01, 100.0);
/// Least part on either side of 1 that the axis shows.
const ROOM: f64 = 1.1;

/// Ratios on a logarithmic axis, on which half and twice are equally far from 1.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    fn of<'a>(ratios: impl Iterator<Item = &'a Ratio> + Clone) -> Axis {
        let ends = |ratio: &Ratio| {
            let value = at(ratio);
            [ratio.interval.map(|(low, _)| low), ratio.interval.map(|(_, high)| high), value]
        };
        let all = || ratios.clone().flat_map(ends).flatten().filter(|end| end.is_finite() && *end > 0.0);
        let low = all().fold(1.0 / ROOM, f64::min).max(EDGES.0);
        let high = all().fold(ROOM, f64::max).min(EDGES.1);
        // Half an end's width of room for what is drawn there.
        let room = (high / low).ln() * 0.03;
        Axis { low: low * (-room).exp(), high: high * room.exp() }
    }

    /// Part of the axis left of a ratio, 0 to 1.
    fn place(&self, ratio: f64) -> f64 {
        let place = (ratio / self.low).ln() / (self.high / self.low).ln();
        place.clamp(0.0, 1.0)
    }

    fn percent(&self, ratio: f64) -> String {
        coordinate(self.place(ratio) * 100.0)
    }

    /// Ratios that are written at the axis: 1, and round ones on either side, so that they do not touch.
    fn ticks(&self) -> Vec<f64> {
        const APART: f64 = 0.11;
        let round = [100.0_f64, 50.0, 20.0, 10.0, 5.0, 2.0, 1.5, 1.2, 1.1, 1.05, 1.02];
        let mut ticks = vec![1.0];
        for ratio in round.into_iter().flat_map(|round| [round, 1.0 / round]) {
            // A half is 50 %, two thirds are no round number.
            let ratio = if ratio < 1.0 { ((ratio * 100.0).round() / 100.0).max(0.01) } else { ratio };
            let far = |other: &f64| (self.place(ratio) - self.place(*other)).abs() >= APART;
            // A number at the very edge would be cut off.
            let inside = (0.04..=0.94).contains(&self.place(ratio)) && (self.low..=self.high).contains(&ratio);
            if inside && ticks.iter().all(far) {
                ticks.push(ratio);
            }
        }
        ticks
    }
}

fn at(ratio: &Ratio) -> Option<f64> {
    match ratio.value {
        RatioValue::At(value) | RatioValue::Above(value) | RatioValue::Below(value) => Some(value),
        RatioValue::Unknown => None,
    }
}

/// Every ratio with its interval, the margin shaded, 100 % marked.
pub fn forest(m: &mut Markup, comparison: &Comparison) {
    let axis = Axis::of(comparison.cells().map(|cell| cell.ratio).collect::<Vec<_>>().iter().copied());
    let unit = comparison::unit(comparison);
    let drawn = comparison.cases.iter().flat_map(|case| {
        let lines = comparison::lines(case, unit).into_iter();
        lines.filter_map(move |line| Some((ratio_of(case, &line)?, line)))
    });
    let drawn: Vec<(&Ratio, Line)> = drawn.collect();
    if drawn.is_empty() {
        return;
    }
    let several = comparison.runs.len() > 2;
    let margin = comparison.rule.margin;
    let places = format!(
        "--from:{}%;--to:{}%;--one:{}%",
        axis.percent(1.0 / (1.0 + margin)),
        axis.percent(1.0 + margin),
        axis.percent(1.0)
    );
    m.with("div", &[("class", "forest"), ("style", &places)], |m| {
        head(m, comparison, &axis);
        drawn.iter().take(LINES_MOST).for_each(|(ratio, line)| row(m, ratio, line, &axis, several));
    });
    let left = drawn.len().saturating_sub(LINES_MOST);
    if left > 0 {
        m.line("p", "note", &say!("{left} more are in the table below.", "Остальные (ещё {left}) — в таблице ниже."));
    }
}

/// The ratio that a line of the table shows.
fn ratio_of<'a>(case: &'a CaseComparison, line: &Line) -> Option<&'a Ratio> {
    let (run, metric, stream) = line.cell?;
    case.cells().find(|cell| (cell.run, cell.metric, cell.stream) == (run, metric, stream)).map(|cell| cell.ratio)
}

fn head(m: &mut Markup, comparison: &Comparison, axis: &Axis) {
    let margin = Say::both(|lang| format::percent(comparison.rule.margin, lang));
    let (en, ru) = (margin.en, margin.ru);
    m.el("div", "ratio-row head", |m| {
        m.line("span", "what", &say!("of A, shaded: ± {en}", "от A, полоса: ± {ru}"));
        m.el("span", "track", |m| {
            for tick in axis.ticks() {
                let place = format!("--at:{}%", axis.percent(tick));
                m.with("span", &[("class", "tick"), ("style", &place)], |m| {
                    m.text(&format!("{} %", (tick * 100.0).round()))
                });
            }
        });
    });
}

fn row(m: &mut Markup, ratio: &Ratio, line: &Line, axis: &Axis, several: bool) {
    m.el("div", if line.first { "ratio-row first" } else { "ratio-row" }, |m| {
        m.el("span", if line.first { "name" } else { "name of" }, |m| {
            m.say(&line.label);
            if several {
                m.el("span", "what", |m| m.text(&format!(" {}", line.run)));
            }
        });
        let (low, high) = ratio.interval.unwrap_or((0.0, 0.0));
        let value = at(ratio).unwrap_or(1.0);
        let places =
            format!("--low:{}%;--at:{}%;--high:{}%", axis.percent(low), axis.percent(value), axis.percent(high));
        m.with("span", &[("class", "track"), ("style", &places)], |m| {
            if ratio.interval.is_some() {
                m.el("i", mark("span", line.tint), |_| {});
            }
            if at(ratio).is_some() {
                m.el("i", mark("dot", line.tint), |_| {});
            }
        });
        m.line("b", "", &line.ratio);
        m.line("span", "what between", &line.interval);
        m.line("span", word(line.tint), &line.verdict);
    });
}

fn mark(kind: &str, tint: Option<Tint>) -> &'static str {
    match (kind, tint) {
        ("span", None) => "span",
        ("span", Some(Tint::Better)) => "span better",
        ("span", Some(Tint::Worse)) => "span worse",
        (_, None) => "point",
        (_, Some(Tint::Better)) => "point better",
        (_, Some(Tint::Worse)) => "point worse",
    }
}

fn word(tint: Option<Tint>) -> &'static str {
    match tint {
        None => "what",
        Some(Tint::Better) => "word better",
        Some(Tint::Worse) => "word worse",
    }
}

/// The rate of each case in every run, with its interval.
pub fn sides(m: &mut Markup, comparison: &Comparison) {
    let cases: Vec<&CaseComparison> = comparison.cases.iter().take(LINES_MOST / comparison.runs.len().max(1)).collect();
    let longest = |of: &CaseComparison| {
        let alike = cases.iter().filter(|case| case.headline == of.headline);
        alike.flat_map(|case| case.sides.iter().flatten()).filter_map(value).fold(0.0, f64::max)
    };
    m.el("div", "all-cases", |m| {
        for case in &cases {
            let longest = longest(case);
            m.el("div", "sides", |m| {
                m.el("span", "name", |m| m.text(&case.label));
                let sides = case.sides.iter().enumerate().filter_map(|(i, side)| Some((i, side.as_ref()?)));
                for (i, side) in sides.filter(|(_, side)| value(side).is_some()) {
                    let class = if i == 0 { "length base" } else { "length iops" };
                    super::bars::bar(m, class, (&side.rate, case.headline), longest, |m| {
                        m.el("span", "what", |m| m.text(&format!("{} ", comparison::letter(i))));
                    });
                }
            });
        }
    });
}

/// The rate of a side, if it can be drawn.
fn value(side: &Side) -> Option<f64> {
    super::bars::drawable(&side.rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_and_twice_are_equally_far_from_one_and_ticks_stand_apart() {
        let axis = Axis { low: 0.25, high: 4.0 };
        let left = axis.place(1.0) - axis.place(0.5);
        assert!((left - (axis.place(2.0) - axis.place(1.0))).abs() < 1e-12);
        for axis in [axis, Axis { low: 0.9, high: 1.1 }, Axis { low: 0.01, high: 60.0 }] {
            let mut places: Vec<f64> = axis.ticks().iter().map(|tick| axis.place(*tick)).collect();
            places.sort_by(f64::total_cmp);
            assert!(places.len() >= 3 && places.windows(2).all(|two| two[1] - two[0] >= 0.11), "{places:?}");
        }
    }

    #[test]
    fn the_axis_holds_every_interval_but_ends_at_a_hundredfold() {
        let ratio =
            |low, high| Ratio { interval: Some((low, high)), ..crate::comparison::tests::over_trials(1.0, low, high) };
        let (near, far) = (ratio(0.8, 1.3), ratio(1e-9, 1e9));
        let axis = Axis::of([&near].into_iter());
        assert!(axis.low < 0.8 && axis.high > 1.3, "{} {}", axis.low, axis.high);
        let axis = Axis::of([&near, &far].into_iter());
        assert!(axis.low > 0.005 && axis.high < 200.0 && axis.place(1e9) == 1.0, "{} {}", axis.low, axis.high);
    }
}
