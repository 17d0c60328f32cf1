//! Every ratio of a comparison as a picture of letters, for a comment or a chat where no drawing can go.

use super::layout::{clean, left, right, width};
use crate::comparison::axis::{Axis, at, ratio_of};
use crate::comparison::{self, Line, lines};
use stend_analyse::Comparison;
use stend_analyse::compare::Ratio;
use stend_base::{Lang, say};

/// Columns of the axis: with names, ratios and verdicts it stays below the width of a comment.
const TRACK: usize = 41;
/// Columns of a name at most.
const NAME: usize = 28;
/// Columns that the head of the names takes.
const OF: usize = 4;
/// Lines at most; the table below the picture has all.
const LINES_MOST: usize = 48;

/// A block of code with a line for each ratio; empty if there is none.
pub fn picture(comparison: &Comparison, lang: Lang) -> String {
    let (axis, of_lines) = (Axis::of(comparison), comparison::scale(comparison));
    let drawn = comparison.cases.iter().flat_map(|case| {
        let of_case = lines(case, of_lines).into_iter();
        of_case.filter_map(move |line| Some((ratio_of(case, &line)?, line)))
    });
    let drawn: Vec<(&Ratio, Line)> = drawn.filter(|(ratio, _)| at(ratio).is_some()).take(LINES_MOST).collect();
    if drawn.is_empty() {
        return String::new();
    }
    let several = comparison.runs.len() > 2;
    let name = |line: &Line| {
        let run = if several { format!("{} ", line.run) } else { String::new() };
        let indent = if line.first { "" } else { "  " };
        // A backtick would end the block, and not everybody shows a block as text.
        let label = clean(line.label.get(lang)).replace('`', "'").replace('<', "‹");
        format!("{indent}{run}{label}")
    };
    let names: Vec<String> = drawn.iter().map(|(_, line)| shortened(name(line))).collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or(0).max(OF);
    let ratios = drawn.iter().map(|(_, line)| width(line.ratio.get(lang))).max().unwrap_or(0);
    let of = say!("of A", "от A");
    let mut out = vec!["```text".to_string(), format!("{}  {}", left(of.get(lang), widest), scale(&axis))];
    for ((ratio, line), name) in drawn.iter().zip(&names) {
        let (value, verdict) = (right(line.ratio.get(lang), ratios), line.verdict.get(lang));
        out.push(format!("{}  {}  {value}  {verdict}", left(name, widest), track(&axis, ratio)).trim_end().to_string());
    }
    out.push("```".to_string());
    out.join("\n")
}

fn shortened(name: String) -> String {
    match name.chars().count() {
        0..=NAME => name,
        _ => name.chars().take(NAME - 1).chain(['…']).collect(),
    }
}

fn column(axis: &Axis, ratio: f64) -> usize {
    (axis.place(ratio) * (TRACK - 1) as f64).round() as usize
}

/// The numbers above the axis, each over its place.
fn scale(axis: &Axis) -> String {
    let mut ticks: Vec<(usize, String)> =
        axis.ticks().into_iter().map(|tick| (column(axis, tick), format!("{} %", (tick * 100.0).round()))).collect();
    ticks.sort();
    let mut out = String::new();
    for (at, label) in ticks {
        let (free, start) = (width(&out), at.saturating_sub(width(&label) / 2));
        if out.is_empty() || start > free {
            out = format!("{}{label}", left(&out, start));
        }
    }
    out
}

/// The interval as a line, the ratio as a dot, and what equals the baseline as a bar across.
fn track(axis: &Axis, ratio: &Ratio) -> String {
    let mut cells = vec![' '; TRACK];
    let mut put = |at: usize, letter: char| {
        if let Some(cell) = cells.get_mut(at) {
            *cell = letter;
        }
    };
    let one = column(axis, 1.0);
    put(one, '│');
    if let Some((low, high)) = ratio.interval {
        let (from, to) = (column(axis, low), column(axis, high));
        (from..=to).for_each(|at| put(at, if at == one { '┼' } else { '─' }));
        put(from, '├');
        put(to, '┤');
    }
    if let Some(value) = at(ratio) {
        put(column(axis, value), '●');
    }
    cells.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::tests::over_trials;

    #[test]
    fn an_interval_is_a_line_its_ratio_a_dot_and_the_baseline_a_bar() {
        let axis = Axis { low: 0.5, high: 2.0 };
        let drawn = |value, low, high| track(&axis, &over_trials(value, low, high)).trim_end().to_string();
        assert_eq!(drawn(0.7, 0.5, 1.0).chars().filter(|c| *c == '●').count(), 1);
        assert!(drawn(0.7, 0.5, 1.0).starts_with('├') && drawn(0.7, 0.5, 1.0).ends_with('┤'));
        assert!(drawn(1.2, 0.8, 1.5).contains('┼') && drawn(0.6, 0.55, 0.7).ends_with('│'));
        assert_eq!(drawn(1.0, 1.0, 1.0).trim_start(), "●");
        assert_eq!(scale(&axis).split_whitespace().filter(|word| *word == "100").count(), 1);
    }
}
