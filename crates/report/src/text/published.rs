//! `stend compare RUN --published TABLE` on a terminal.

use super::grid::{Column, Row, grid};
use super::layout::{clean, left, paragraph, width};
use super::{Screen, WIDTH_MAX, WIDTH_MIN};
use crate::published::{name, notes, ours, ratio, theirs};
use stend_analyse::comparison_with_published::{PublishedCase, PublishedComparison};
use stend_base::{Lang, Say, say};

/// A run beside a published table for a person, at most `width` columns wide (40 at least).
pub fn published_text(comparison: &PublishedComparison, lang: Lang, width: usize, colour: bool) -> String {
    let screen = Screen { lang, width: width.clamp(WIDTH_MIN, WIDTH_MAX), colour };
    let (run, file) = (&comparison.run, clean(&comparison.file));
    let head = say!("{run} beside {file}", "{run} рядом с {file}");
    let mut out = screen.bold(&paragraph("", head.get(lang), screen.width));
    out.push_str(&paragraph("", comparison.summary().get(lang), screen.width));
    out.push_str(&paragraph("", comparison.label().get(lang), screen.width));
    for case in &comparison.cases {
        out.push_str(&one(case, &screen));
    }
    out.push_str(&conditions(comparison, &screen));
    let unmatched = comparison
        .unmatched
        .iter()
        .map(|(label, why)| ("–".to_string(), format!("{}: {}", clean(label), why.get(lang))));
    out.push_str(&super::list(&say!("Not in the table", "Нет в таблице"), &screen, unmatched));
    out
}

fn one(case: &PublishedCase, screen: &Screen) -> String {
    let lang = screen.lang;
    let head = format!("{}: {}", clean(&case.label), case.workload.get(lang));
    let mut out = format!("\n{}", screen.bold(&paragraph("", &head, screen.width)));
    let column = |head: Say, right| Column { head: head.get(lang).to_string(), right };
    let columns = [
        column(say!("published", "опубликовано"), false),
        column(say!("theirs", "у них"), true),
        column(say!("ours", "у нас"), true),
        column(say!("ours of theirs", "наше от их"), true),
        column(say!("differs", "отличия"), false),
    ];
    let cells = |row| [theirs(row), ours(row), ratio(row), notes(row)].map(|say| say.get(lang).to_string());
    let rows: Vec<Row> = case
        .rows
        .iter()
        .map(|row| Row { name: clean(name(row).get(lang)), indent: 0, cells: cells(row).to_vec(), tint: None })
        .collect();
    match grid(&columns, &rows, screen) {
        Some(table) => out.push_str(&table),
        None => {
            for row in &rows {
                out.push_str(&paragraph("", &row.name, screen.width));
                for (column, cell) in columns[1..].iter().zip(&row.cells).filter(|(_, cell)| !cell.is_empty()) {
                    out.push_str(&paragraph("  ", &format!("{}: {cell}", column.head), screen.width));
                }
            }
        }
    }
    out
}

/// What is known of ours, and what the table says of theirs.
fn conditions(comparison: &PublishedComparison, screen: &Screen) -> String {
    let lang = screen.lang;
    let heading = say!("Conditions", "Условия");
    let mut out = format!("\n{}", screen.bold(&paragraph("", heading.get(lang), screen.width)));
    let names = comparison.ours.iter().map(|condition| width(condition.name.get(lang))).max().unwrap_or(0);
    for condition in &comparison.ours {
        let start = format!("  {}  ", left(condition.name.get(lang), names));
        out.push_str(&paragraph(&start, &clean(condition.value.get(lang)), screen.width));
    }
    let told = say!("theirs: ", "у них: ");
    for stand in &comparison.theirs {
        out.push_str(&paragraph(&format!("  {}", told.get(lang)), &clean(stand), screen.width));
    }
    if comparison.theirs.is_empty() {
        let nothing = say!("theirs: the table tells nothing", "у них: в таблице ничего не сказано");
        out.push_str(&paragraph("  ", nothing.get(lang), screen.width));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    #[test]
    fn a_screen_of_it_in_both_languages() {
        let comparison = crate::fixture::published::published();
        let screens = [(Lang::En, 110), (Lang::Ru, 110), (Lang::Ru, 40)];
        let all = screens.map(|(lang, width)| published_text(&comparison, lang, width, false)).join("\n====\n");
        assert!(all.lines().all(|line| width(line) <= 110));
        expect_file!["../../tests/golden/beside.txt"].assert_eq(&all);
    }
}
