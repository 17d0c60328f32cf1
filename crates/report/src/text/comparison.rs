//! `stend compare` on a terminal: the verdict, what changed, then the cases relative to the baseline.

use super::grid::{Column, Row, grid};
use super::layout::{clean, left, paragraph, width};
use super::{Screen, WIDTH_MAX, WIDTH_MIN};
use crate::comparison::verdict::{self, Significance, Tint};
use crate::comparison::{self, Line, gate, layers, matrix};
use stend_analyse::Comparison;
use stend_base::{Lang, Say, say};

/// A comparison for a person, at most `width` columns wide (40 at least).
pub fn comparison_text(comparison: &Comparison, lang: Lang, width: usize, colour: bool) -> String {
    let screen = Screen { lang, width: width.clamp(WIDTH_MIN, WIDTH_MAX), colour };
    // With many runs the table is worth more than their names.
    let many = comparison.runs.len() > matrix::FEW;
    let mut out = if many { String::new() } else { runs(comparison, &screen) };
    if let Some(found) = &comparison.gate {
        let line = paragraph(&format!("{} ", gate::glyph(found.outcome)), gate::summary(found).get(lang), screen.width);
        out.push_str(&format!("\n{}", screen.bold(&line)));
        for (glyph, line) in gate::failures(comparison, found) {
            out.push_str(&paragraph(&format!("{glyph} "), line.get(lang), screen.width));
        }
    }
    if !comparison.cases.is_empty() && comparison.runs.len() <= matrix::FEW {
        let summary = verdict::summary(comparison);
        let lines: String = summary.iter().map(|line| paragraph("", line.get(lang), screen.width)).collect();
        out.push_str(&format!("\n{}", screen.bold(&lines)));
    }
    if many {
        out.push_str(&cases(comparison, &screen));
        out.push_str(&format!("\n{}", runs(comparison, &screen)));
    }
    out.push_str(&conditions(comparison, &screen));
    if !many {
        out.push('\n');
        out.push_str(&cases(comparison, &screen));
    }
    out.push_str(&prices(comparison, &screen));
    let lists = [
        (say!("Caveats", "Оговорки"), "!", verdict::labels(comparison)),
        (say!("Do not compare these", "Сравнивать нельзя"), "✖", comparison::failed(comparison)),
        (say!("Same name, other workload", "Одно имя, разная нагрузка"), "!", comparison::redefined(comparison)),
        (say!("Not in all runs", "Есть не во всех прогонах"), "–", comparison::unmatched(comparison)),
    ];
    let checks = verdict::checks(comparison).into_iter();
    let checks = checks.map(|(glyph, check)| (glyph.to_string(), check.get(lang).to_string()));
    out.push_str(&super::list(&say!("Checks", "Проверки"), &screen, checks));
    for (heading, glyph, items) in &lists {
        let items = items.iter().map(|item| (glyph.to_string(), item.get(lang).to_string()));
        out.push_str(&super::list(heading, &screen, items));
    }
    out
}

/// What layers leave of the rates below them.
pub(super) fn prices(comparison: &Comparison, screen: &Screen) -> String {
    let Some(note) = layers::note(comparison) else { return String::new() };
    let lang = screen.lang;
    let mut out = format!("\n{}", screen.bold(&paragraph("", layers::heading().get(lang), screen.width)));
    for price in &comparison.layers {
        out.push_str(&paragraph("  ", &clean(layers::title(price).get(lang)), screen.width));
        for (name, ratio, interval) in layers::lines(price) {
            let text = format!("{}: {} ({})", clean(name.get(lang)), ratio.get(lang), interval.get(lang));
            out.push_str(&paragraph("    ", &text, screen.width));
        }
    }
    out.push_str(&screen.faint(&paragraph("", note.get(lang), screen.width)));
    out
}

/// The arms of one run against each other, to stand below the run itself.
pub fn arms_text(comparison: &Comparison, lang: Lang, width: usize, colour: bool) -> String {
    let heading = say!("Arms", "Варианты");
    let screen = Screen { lang, width: width.clamp(WIDTH_MIN, WIDTH_MAX), colour };
    let body = comparison_text(comparison, lang, width, colour);
    format!("\n{}{body}", screen.bold(&paragraph("", heading.get(lang), screen.width)))
}

pub(super) fn runs(comparison: &Comparison, screen: &Screen) -> String {
    let baseline = say!("baseline, 100 %", "база, 100 %");
    let mut out = String::new();
    for (i, run) in comparison.runs.iter().enumerate() {
        let mut text = clean(comparison::describe(run).get(screen.lang));
        if i == 0 {
            text = format!("{text} ({})", baseline.get(screen.lang));
        }
        out.push_str(&paragraph(&format!("{}  ", comparison::letter(i)), &text, screen.width));
    }
    screen.bold(&out)
}

fn conditions(comparison: &Comparison, screen: &Screen) -> String {
    let same = comparison.same.len();
    let heading = match comparison.changed.is_empty() {
        true => say!(
            "No known condition changed (the same everywhere: {same})",
            "Известные условия не изменились (совпадают везде: {same})"
        ),
        false => {
            say!("Changed conditions (the same everywhere: {same})", "Изменившиеся условия (совпадают везде: {same})")
        }
    };
    let names = comparison.changed.iter().map(|c| width(c.name.get(screen.lang))).max().unwrap_or(0);
    let mut out = format!("\n{}", screen.bold(&paragraph("", heading.get(screen.lang), screen.width)));
    for condition in &comparison.changed {
        let name = left(condition.name.get(screen.lang), names);
        let values = comparison::arrows(&condition.values);
        // On a narrow screen a column of names would leave the values no room.
        out.push_str(&match names * 2 <= screen.width {
            true => paragraph(&format!("  {name}  "), values.get(screen.lang), screen.width),
            false => paragraph("  ", &format!("{}: {}", name.trim_end(), values.get(screen.lang)), screen.width),
        });
    }
    if !comparison.follow.is_empty() {
        out.push_str(&paragraph("  ", comparison::follow(comparison).get(screen.lang), screen.width));
    }
    out
}

pub(super) fn cases(comparison: &Comparison, screen: &Screen) -> String {
    if comparison.cases.is_empty() {
        let nothing = say!("No case of A is in another run.", "Ни одного случая из A в других прогонах нет.");
        return paragraph("", nothing.get(screen.lang), screen.width);
    }
    if let Some(matrix) = matrix::of(comparison).filter(|_| comparison.runs.len() > matrix::FEW) {
        return matrix.text(screen.lang);
    }
    let several = comparison.runs.len() > 2;
    let scale = comparison::scale(comparison);
    let mut lines: Vec<Line> = comparison.cases.iter().flat_map(|case| comparison::lines(case, scale)).collect();
    lines.extend(comparison::means(comparison));
    let mut out = wide(&lines, several, screen).unwrap_or_else(|| stacked(&lines, screen));
    out.push_str(&how_sure(&lines, several, screen));
    out.push('\n');
    for note in comparison::notes(comparison) {
        out.push_str(&screen.faint(&paragraph("", note.get(screen.lang), screen.width)));
    }
    out
}

fn wide(lines: &[Line], several: bool, screen: &Screen) -> Option<String> {
    let column = |head: Say, right| Column { head: head.get(screen.lang).to_string(), right };
    let mut columns = vec![column(say!("case", "случай"), false)];
    if several {
        columns.push(column(say!("run", "прогон"), false));
    }
    let other = if several { say!("value", "значение") } else { Say::same("B") };
    columns.extend([
        column(Say::same("A"), true),
        column(other, true),
        column(say!("of A", "от A"), true),
        column(say!("95 % interval", "95 %-й интервал"), true),
        column(say!("verdict", "вердикт"), false),
    ]);
    let row = |line: &Line| {
        let mut cells = if several { vec![line.run.clone()] } else { Vec::new() };
        let texts = [&line.baseline, &line.other, &line.ratio, &line.interval, &line.verdict];
        cells.extend(texts.map(|say| say.get(screen.lang).to_string()));
        let indent = if line.first { 0 } else { 2 };
        Row { name: clean(line.label.get(screen.lang)), indent, cells, tint: line.tint.map(code) }
    };
    grid(&columns, &lines.iter().map(row).collect::<Vec<_>>(), screen)
}

/// Cyan and yellow: told apart by people who confuse red with green, and never without glyph and word.
pub(super) fn code(tint: Tint) -> &'static str {
    match tint {
        Tint::Better => "36",
        Tint::Worse => "33",
    }
}

/// Probabilities and robust estimates, where anything has one.
fn how_sure(lines: &[Line], several: bool, screen: &Screen) -> String {
    // A label stands in the first line of its runs only.
    let mut label = (String::new(), true);
    let mut sure: Vec<(String, bool, &Line, &Significance)> = Vec::new();
    for line in lines {
        if !line.label.en.is_empty() {
            label = (clean(line.label.get(screen.lang)), line.first);
        }
        sure.extend(line.sure.as_ref().map(|sure| (label.0.clone(), label.1, line, sure)));
    }
    if sure.is_empty() {
        return String::new();
    }
    // Only blocks have a robust estimate.
    let robust = sure.iter().any(|(.., sure)| sure.robust.en != crate::figures::NONE);
    let heads = [
        say!("how sure", "надёжность"),
        Say::same("p"),
        say!("p, Holm", "p, Холм"),
        say!("Hodges–Lehmann", "Ходжес–Леман"),
        say!("95 % interval", "95 %-й интервал"),
    ];
    let heads = heads.iter().enumerate().take(if robust { 5 } else { 3 });
    let mut columns: Vec<Column> =
        heads.map(|(i, head)| Column { head: head.get(screen.lang).to_string(), right: i > 0 }).collect();
    if several {
        columns.insert(1, Column { head: say!("run", "прогон").get(screen.lang).to_string(), right: false });
    }
    let cells = |line: &Line, sure: &Significance| {
        let texts = [&sure.p, &sure.adjusted, &sure.robust, &sure.robust_interval];
        let run = several.then(|| line.run.clone());
        let texts = texts.into_iter().take(if robust { 4 } else { 2 }).map(|say| say.get(screen.lang).to_string());
        run.into_iter().chain(texts).collect::<Vec<String>>()
    };
    let row = |(name, first, line, sure): &(String, bool, &Line, &Significance)| Row {
        name: name.clone(),
        indent: if *first { 0 } else { 2 },
        cells: cells(line, sure),
        tint: None,
    };
    let rows: Vec<Row> = sure.iter().map(row).collect();
    let narrow = || {
        let line = |row: &Row| {
            let names = columns.iter().skip(1).map(|column| column.head.as_str());
            let parts: Vec<String> = names.zip(&row.cells).map(|(name, cell)| format!("{name} {cell}")).collect();
            paragraph("  ", &format!("{}: {}", row.name, parts.join("; ")), screen.width)
        };
        rows.iter().map(line).collect::<String>()
    };
    format!("\n{}", grid(&columns, &rows, screen).unwrap_or_else(narrow))
}

pub(super) fn stacked(lines: &[Line], screen: &Screen) -> String {
    let mut out = String::new();
    for line in lines {
        let text = |say: &Say| say.get(screen.lang).to_string();
        if !line.label.en.is_empty() {
            let name = paragraph(if line.first { "" } else { "  " }, &clean(&text(&line.label)), screen.width);
            out.push_str(&if line.first { screen.bold(&name) } else { name });
        }
        let run = &line.run;
        let values = match line.baseline.en.is_empty() {
            true => run.clone(),
            false => format!("A {}, {run} {}", text(&line.baseline), text(&line.other)),
        };
        let mut ratio = text(&line.ratio);
        if line.interval.en != crate::figures::NONE {
            ratio = format!("{ratio} ({})", text(&line.interval));
        }
        let indent = if line.first { "  " } else { "    " };
        out.push_str(&paragraph(indent, &values, screen.width));
        out.push_str(&paragraph(indent, &ratio, screen.width));
        if !line.verdict.en.is_empty() && line.verdict.en != crate::figures::NONE {
            let verdict = paragraph(indent, &text(&line.verdict), screen.width);
            out.push_str(&line.tint.map_or(verdict.clone(), |tint| screen.escape(code(tint), &verdict)));
        }
    }
    out
}
