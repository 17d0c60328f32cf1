//! `stend compare` on a terminal: what changed, then the cases relative to the baseline.

use super::grid::{Column, Row, grid};
use super::layout::{clean, left, paragraph, width};
use super::{Screen, WIDTH_MAX, WIDTH_MIN};
use crate::comparison::{self, Line};
use stend_analyse::Comparison;
use stend_base::{Lang, Say, say};

/// A comparison for a person, at most `width` columns wide (40 at least).
pub fn comparison_text(comparison: &Comparison, lang: Lang, width: usize, colour: bool) -> String {
    let screen = Screen { lang, width: width.clamp(WIDTH_MIN, WIDTH_MAX), colour };
    let mut out = runs(comparison, &screen);
    out.push_str(&conditions(comparison, &screen));
    out.push('\n');
    out.push_str(&cases(comparison, &screen));
    let lists = [
        (say!("Do not compare these", "Сравнивать нельзя"), "✖", comparison::failed(comparison)),
        (say!("Same name, other workload", "Одно имя, разная нагрузка"), "!", comparison::redefined(comparison)),
        (say!("Not in all runs", "Есть не во всех прогонах"), "–", comparison::unmatched(comparison)),
    ];
    for (heading, glyph, items) in &lists {
        let items = items.iter().map(|item| (glyph.to_string(), item.get(lang).to_string()));
        out.push_str(&super::list(heading, &screen, items));
    }
    out
}

/// The arms of one run against each other, to stand below the run itself.
pub fn arms_text(comparison: &Comparison, lang: Lang, width: usize, colour: bool) -> String {
    let heading = say!("Arms", "Варианты");
    let screen = Screen { lang, width: width.clamp(WIDTH_MIN, WIDTH_MAX), colour };
    let body = comparison_text(comparison, lang, width, colour);
    format!("\n{}{body}", screen.bold(&paragraph("", heading.get(lang), screen.width)))
}

fn runs(comparison: &Comparison, screen: &Screen) -> String {
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
    out
}

fn cases(comparison: &Comparison, screen: &Screen) -> String {
    if comparison.cases.is_empty() {
        let nothing = say!("No case of A is in another run.", "Ни одного случая из A в других прогонах нет.");
        return paragraph("", nothing.get(screen.lang), screen.width);
    }
    let several = comparison.runs.len() > 2;
    let unit = comparison::unit(comparison);
    let lines: Vec<Line> = comparison.cases.iter().flat_map(|case| comparison::lines(case, unit)).collect();
    let mut out = paragraph("", comparison::summary(comparison).get(screen.lang), screen.width);
    out.push('\n');
    out.push_str(&wide(&lines, several, screen).unwrap_or_else(|| stacked(&lines, screen)));
    for note in comparison::notes(comparison) {
        out.push_str(&screen.faint(&paragraph("", note.get(screen.lang), screen.width)));
    }
    out
}

fn includes() -> Say {
    say!("incl. 100 %", "вкл. 100 %")
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
        column(includes(), true),
    ]);
    let row = |line: &Line| {
        let mut cells = if several { vec![line.run.clone()] } else { Vec::new() };
        let texts = [&line.baseline, &line.other, &line.ratio, &line.interval, &line.includes];
        cells.extend(texts.map(|say| say.get(screen.lang).to_string()));
        Row { name: clean(line.label.get(screen.lang)), indent: if line.first { 0 } else { 2 }, cells }
    };
    grid(&columns, &lines.iter().map(row).collect::<Vec<_>>(), screen)
}

fn stacked(lines: &[Line], screen: &Screen) -> String {
    let mut out = String::new();
    for line in lines {
        let text = |say: &Say| say.get(screen.lang).to_string();
        if !line.label.en.is_empty() {
            let name = paragraph(if line.first { "" } else { "  " }, &clean(&text(&line.label)), screen.width);
            out.push_str(&if line.first { screen.bold(&name) } else { name });
        }
        let run = &line.run;
        let values = format!("A {}, {run} {}", text(&line.baseline), text(&line.other));
        let mut ratio = text(&line.ratio);
        if line.interval.en != crate::figures::NONE {
            ratio = format!("{ratio} ({}), {}: {}", text(&line.interval), text(&includes()), text(&line.includes));
        }
        let indent = if line.first { "  " } else { "    " };
        out.push_str(&paragraph(indent, &values, screen.width));
        out.push_str(&paragraph(indent, &ratio, screen.width));
    }
    out
}
