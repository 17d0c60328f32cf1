//! A comparison in some twenty lines: the answer, what changed, what speaks against it, and the table last. Must not explain: the long
//! form does.

use super::comparison::{code, prices, runs};
use super::grid::{Column, Row, grid};
use super::layout::{clean, paragraph, width as width_of};
use super::{Screen, WIDTH_MAX, WIDTH_MIN};
use crate::comparison::{self, Line, gate, matrix, verdict};
use crate::{figures::NONE, shell};
use stend_analyse::Comparison;
use stend_analyse::compare::Condition;
use stend_base::text::counted;
use stend_base::{Lang, Say, say};

/// What `stend compare` prints, at most `width` columns wide (40 at least); `names` is what the user calls the runs. Escape codes only
/// with `colour`; no meaning is in colour alone.
pub fn comparison_brief(comparison: &Comparison, names: &[String], lang: Lang, width: usize, colour: bool) -> String {
    let screen = Screen { lang, width: width.clamp(WIDTH_MIN, WIDTH_MAX), colour };
    let many = comparison.runs.len() > matrix::FEW;
    let mut out = runs(comparison, &screen);
    if let Some(found) = &comparison.gate {
        out.push_str(&screen.bold(&paragraph(
            &format!("{} ", gate::glyph(found.outcome)),
            gate::summary(found).get(lang),
            screen.width,
        )));
        for (glyph, line) in gate::failures(comparison, found) {
            out.push_str(&paragraph(&format!("{glyph} "), line.get(lang), screen.width));
        }
    }
    if !many && !comparison.cases.is_empty() {
        let told = verdict::summary(comparison);
        out.extend(told.iter().map(|line| screen.bold(&paragraph("", line.get(lang), screen.width))));
    }
    for line in comparison::failed(comparison) {
        out.push_str(&screen.alarm(&paragraph("✖ ", line.get(lang), screen.width)));
    }
    out.push_str(&paragraph("", changed(comparison, screen.width).get(lang), screen.width));
    out.push_str(&more(comparison, names, &screen));
    out.push_str(&prices(comparison, &screen));
    out.push('\n');
    out.push_str(&match (comparison.cases.is_empty(), many) {
        (false, false) => table(comparison, &screen),
        _ => super::comparison::cases(comparison, &screen),
    });
    out
}

/// What a campaign ends with: the stands in per cent of the first, or a few targets as `stend compare` has them.
pub fn campaign_text(comparison: &Comparison, names: &[String], lang: Lang, width: usize, colour: bool) -> String {
    match matrix::of(comparison) {
        Some(matrix) => matrix.text(lang),
        None => comparison_brief(comparison, names, lang, width, colour),
    }
}

/// The arms of one run against each other, to stand below the run itself, which the user calls `name`.
pub fn arms_brief(arms: &Comparison, name: &str, lang: Lang, width: usize, colour: bool) -> String {
    format!("\n{}", comparison_brief(arms, &[name.to_string()], lang, width, colour))
}

/// Conditions that changed: with their values where these take no more than two lines, else by name.
fn changed(comparison: &Comparison, columns: usize) -> Say {
    let same = comparison.same.len();
    if comparison.changed.is_empty() {
        return say!("No known condition changed, {same} are the same.", "Известные условия ({same}) не изменились.");
    }
    let said = |values: bool, lang: Lang| {
        let one = |condition: &Condition| match values {
            true => format!("{} {}", condition.name.get(lang), comparison::arrows(&condition.values).get(lang)),
            false => condition.name.get(lang).to_string(),
        };
        comparison.changed.iter().map(one).collect::<Vec<_>>().join(if values { "; " } else { ", " })
    };
    let values = width_of(&said(true, Lang::En)).max(width_of(&said(true, Lang::Ru))) + 30 <= 2 * columns;
    let (en, ru) = (said(values, Lang::En), said(values, Lang::Ru));
    let (same_en, same_ru) = match same {
        0 => (String::new(), String::new()),
        1 => (" 1 other condition is the same.".to_string(), " Остальные условия (1) совпадают.".to_string()),
        _ => (format!(" {same} other conditions are the same."), format!(" Остальные условия ({same}) совпадают.")),
    };
    say!("Changed: {en}.{same_en}", "Изменились: {ru}.{same_ru}")
}

/// How much there is to read, and where.
fn more(comparison: &Comparison, names: &[String], screen: &Screen) -> String {
    let remarks = verdict::checks(comparison).len()
        + verdict::labels(comparison).len()
        + comparison::redefined(comparison).len()
        + comparison::unmatched(comparison).len();
    let words = ["stend", "compare", "-v"].into_iter().chain(names.iter().map(String::as_str));
    let command = shell::join(&words.collect::<Vec<_>>());
    let told = match remarks {
        0 => say!("Details", "Подробно"),
        _ => counted(remarks as u64, ["remark", "remarks"], ["замечание", "замечания", "замечаний"]),
    };
    let line = format!("{}: {command}", told.get(screen.lang));
    // A command that is broken between lines cannot be copied.
    match width_of(&line) <= screen.width {
        true => format!("{line}\n"),
        false => format!("{}:\n{command}\n", told.get(screen.lang)),
    }
}

fn table(comparison: &Comparison, screen: &Screen) -> String {
    let scale = comparison::scale(comparison);
    let lines = comparison.cases.iter().flat_map(|case| comparison::lines(case, scale));
    // What has no verdict of its own follows what has.
    let lines = lines.filter(|line| line.cell.is_some());
    // And what nobody knows needs no row.
    let known = |line: &Line| line.baseline.en != NONE || line.other.en != NONE;
    let lines: Vec<Line> = lines.filter(known).collect();
    let several = comparison.runs.len() > 2;
    let intervals: &[bool] = if lines.iter().any(|line| line.interval.en != NONE) { &[true, false] } else { &[false] };
    let drawn = intervals.iter().find_map(|interval| columns(&lines, (several, *interval), screen));
    let Some(mut out) = drawn else { return super::comparison::stacked(&lines, screen) };
    let short = |line: &Line| line.lacking.is_some();
    if lines.iter().any(short) {
        let legend =
            say!("? N/M: N trials or blocks of the M that it takes", "? N/M: испытаний или блоков N из нужных M");
        out.push_str(&screen.faint(&paragraph("", legend.get(screen.lang), screen.width)));
    }
    out
}

fn columns(lines: &[Line], (several, interval): (bool, bool), screen: &Screen) -> Option<String> {
    let lang = screen.lang;
    let column = |head: Say, right| Column { head: head.get(lang).to_string(), right };
    let mut columns = vec![column(say!("case", "случай"), false)];
    columns.extend(several.then(|| column(Say::same(""), false)));
    columns.push(column(Say::same("A"), true));
    columns.push(column(if several { Say::same("") } else { Say::same("B") }, true));
    columns.push(column(say!("of A", "от A"), true));
    columns.extend(interval.then(|| column(Say::same("95 %"), true)));
    columns.push(column(say!("verdict", "вердикт"), false));
    let row = |line: &Line| {
        let mut cells = if several { vec![line.run.clone()] } else { Vec::new() };
        let text = |say: &Say| say.get(lang).to_string();
        cells.extend([&line.baseline, &line.other, &line.ratio].map(text));
        cells.extend(interval.then(|| narrow(&line.interval, lang)));
        cells.push(match line.lacking {
            Some((have, need)) => format!("? {have}/{need}"),
            None => text(&line.verdict),
        });
        let indent = if line.first { 0 } else { 2 };
        Row { name: clean(line.label.get(lang)), indent, cells, tint: line.tint.map(code) }
    };
    grid(&columns, &lines.iter().map(row).collect::<Vec<_>>(), screen)
}

/// An interval without what the head of its column says.
fn narrow(interval: &Say, lang: Lang) -> String {
    let text = interval.get(lang);
    match text == NONE {
        true => text.to_string(),
        false => text.trim_end_matches(" %").replace(" … ", "–"),
    }
}
