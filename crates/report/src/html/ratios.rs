//! The first picture of a comparison: every ratio with its interval on one axis, and the rates side by side. Draws, and judges nothing.

use crate::comparison::axis::{Axis, at, ratio_of};
use crate::comparison::{self, Line, verdict::Tint};
use crate::markup::{Markup, coordinate};
use stend_analyse::Comparison;
use stend_analyse::compare::{CaseComparison, Ratio, Side};
use stend_base::{Say, format, say};

/// Most lines of the picture; more would not fit a screen or two.
const LINES_MOST: usize = 48;
/// Every ratio with its interval, the margin shaded, 100 % marked.
pub fn forest(m: &mut Markup, comparison: &Comparison) {
    let axis = Axis::of(comparison);
    let scale = comparison::scale(comparison);
    let drawn = comparison.cases.iter().flat_map(|case| {
        let lines = comparison::lines(case, scale).into_iter();
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
        percent(&axis, 1.0 / (1.0 + margin)),
        percent(&axis, 1.0 + margin),
        percent(&axis, 1.0)
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

fn percent(axis: &Axis, ratio: f64) -> String {
    coordinate(axis.place(ratio) * 100.0)
}

fn head(m: &mut Markup, comparison: &Comparison, axis: &Axis) {
    let margin = Say::both(|lang| format::percent(comparison.rule.margin, lang));
    let (en, ru) = (margin.en, margin.ru);
    m.el("div", "ratio-row head", |m| {
        m.line("span", "what", &say!("of A, shaded: ± {en}", "от A, полоса: ± {ru}"));
        m.el("span", "track", |m| {
            for tick in axis.ticks() {
                let place = format!("--at:{}%", percent(axis, tick));
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
            format!("--low:{}%;--at:{}%;--high:{}%", percent(axis, low), percent(axis, value), percent(axis, high));
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
        super::bars::longest(alike.flat_map(|case| case.sides.iter().flatten()).map(|side| &side.rate))
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
