//! Results as a workbook for spreadsheets: what a page shows, with numbers that are numbers and charts that are charts. Every number is
//! of the findings; a colour only repeats what a sign and a word say.

mod chart;
mod checks;
mod compared;
mod conditions;
mod figures;
mod hosts;
mod page;
mod summary;

use page::{Look, Page};
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Workbook, XlsxError};
use stend_analyse::{Comparison, Findings};
use stend_base::{Error, Lang, Say, say};
use stend_record::RunRecord;

/// What goes into a workbook.
pub struct Book<'a> {
    /// One run, or several; the first is the baseline.
    pub runs: Vec<(&'a RunRecord, &'a Findings)>,
    /// How they differ, or the arms of the only one; `None`: there is nothing to compare.
    pub comparison: Option<&'a Comparison>,
    /// Language of every text.
    pub lang: Lang,
}

/// The bytes of the workbook. The same results give the same bytes.
///
/// Errors: only those of the format itself, of which none is known: a defect of ours.
pub fn xlsx(book: &Book<'_>) -> stend_base::Result<Vec<u8>> {
    filled(book).map_err(|why| Error::bug(say!("cannot make the workbook: {why}", "не удаётся составить книгу: {why}")))
}

fn filled(book: &Book<'_>) -> Result<Vec<u8>, XlsxError> {
    let (mut workbook, look) = (Workbook::new(), Look::new());
    workbook.set_properties(&properties(book)?);
    if let Some(comparison) = book.comparison {
        let name = say!("Comparison", "Сравнение");
        compared::fill(&mut Page::new(workbook.add_worksheet(), &name, &look, book.lang)?, comparison)?;
    }
    for (index, (run, findings)) in book.runs.iter().enumerate() {
        let name = lettered(book, index, &say!("Results", "Результаты"));
        summary::fill(&mut Page::new(workbook.add_worksheet(), &name, &look, book.lang)?, run, findings)?;
    }
    chart::fill(&mut workbook, book, &look)?;
    let name = say!("Numbers", "Числа");
    figures::fill(&mut Page::new(workbook.add_worksheet(), &name, &look, book.lang)?, book)?;
    if hosts::is_needed(book) {
        let name = say!("Load hosts", "Нагружающие машины");
        hosts::fill(&mut Page::new(workbook.add_worksheet(), &name, &look, book.lang)?, book)?;
    }
    let name = say!("Checks", "Проверки");
    checks::fill(&mut Page::new(workbook.add_worksheet(), &name, &look, book.lang)?, book)?;
    for (index, (run, findings)) in book.runs.iter().enumerate() {
        let name = lettered(book, index, &say!("Conditions", "Условия"));
        conditions::fill(&mut Page::new(workbook.add_worksheet(), &name, &look, book.lang)?, run, findings)?;
    }
    workbook.save_to_buffer()
}

/// Name of a page of one run; of several with the letter of the run.
fn lettered(book: &Book<'_>, index: usize, name: &Say) -> Say {
    let Say { en, ru } = name;
    match book.runs.len() {
        1 => name.clone(),
        _ => {
            let letter = crate::comparison::letter(index);
            say!("{en} {letter}", "{ru} {letter}")
        }
    }
}

/// The date is that of the first run, not of the export: nothing here knows what time it is.
fn properties(book: &Book<'_>) -> Result<DocProperties, XlsxError> {
    /// 9999-12-31: the format knows no later day, nor one before 1900.
    const LAST: i64 = 253_402_214_400;
    let began = book.runs.first().map_or(0, |(_, findings)| findings.started_unix).clamp(0, LAST);
    Ok(DocProperties::new()
        .set_title(crate::ours::WORKBOOK_TITLE)
        .set_creation_datetime(&ExcelDateTime::from_timestamp(began)?))
}

#[cfg(test)]
mod tests;
