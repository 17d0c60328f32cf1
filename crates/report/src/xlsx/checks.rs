//! The page of checks: every one of every case, with what was measured and its limit.

use super::Book;
use super::page::Page;
use crate::words;
use rust_xlsxwriter::XlsxError;
use stend_base::{Say, say};

/// Column of the result.
const RESULT: u16 = 4;

pub(super) fn fill(page: &mut Page<'_>, book: &Book<'_>) -> Result<(), XlsxError> {
    page.widths(&[28.0, 34.0, 7.0, 34.0, 18.0, 36.0, 30.0, 70.0])?;
    page.heads(&heads())?;
    page.sheet.set_freeze_panes(1, 0)?;
    let cases = book.runs.iter().flat_map(|(_, findings)| findings.cases.iter().map(move |case| (&findings.run, case)));
    let all = cases.flat_map(|(run, case)| case.checks.iter().map(move |check| (run, case, check)));
    page.list(all, |page, (run, case, check)| {
        let (glyph, word) = (words::check_glyph(check.status), words::check(check.status));
        page.text(0, run)?;
        page.text(1, &case.label)?;
        page.text(2, check.id.code())?;
        page.text(3, check.name.get(page.lang))?;
        page.text(RESULT, &format!("{glyph} {}", word.get(page.lang)))?;
        page.text(5, check.measured.get(page.lang))?;
        page.text(6, check.limit.get(page.lang))?;
        page.text(7, check.meaning.get(page.lang))
    })?;
    page.signs(RESULT, 1)?;
    let last = page.row.saturating_sub(1);
    page.sheet.autofilter(0, 0, last, 7)?;
    Ok(())
}

fn heads() -> [Say; 8] {
    [
        say!("run", "прогон"),
        say!("case", "случай"),
        say!("number", "номер"),
        say!("check", "проверка"),
        say!("result", "результат"),
        say!("measured", "измерено"),
        say!("limit", "предел"),
        say!("what it means", "что это значит"),
    ]
}
