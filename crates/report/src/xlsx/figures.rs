//! The page of every number with its interval, in base units, a number a row: what `stend export --format csv` has.

use super::Book;
use super::page::{Digits, Page};
use crate::figures::op_name;
use crate::numbers::{checks, numbers};
use rust_xlsxwriter::XlsxError;
use stend_analyse::findings::CheckStatus;
use stend_base::{Say, say};

pub(super) fn fill(page: &mut Page<'_>, book: &Book<'_>) -> Result<(), XlsxError> {
    page.widths(&[28.0, 34.0, 16.0, 28.0, 8.0, 18.0, 18.0, 18.0, 12.0, 10.0, 18.0])?;
    page.heads(&heads())?;
    page.sheet.set_freeze_panes(1, 0)?;
    let all = book.runs.iter().flat_map(|(_, findings)| numbers(findings).into_iter().map(move |one| (findings, one)));
    page.list(all, |page, (findings, number)| {
        let case = &findings.cases[number.case];
        let op = number.of.and_then(|of| case.ops.iter().find(|op| (op.stream, op.op) == of));
        let of = op.map_or_else(|| say!("all", "все"), |op| op_name(case, op));
        page.text(0, &findings.run)?;
        page.text(1, &case.label)?;
        page.text(2, of.get(page.lang))?;
        page.text(3, number.metric.say().get(page.lang))?;
        page.text(4, number.metric.unit().get(page.lang))?;
        page.number(5, Some(number.value), Digits::All)?;
        page.number(6, number.interval.map(|ends| ends.0), Digits::All)?;
        page.number(7, number.interval.map(|ends| ends.1), Digits::All)?;
        if number.at_least {
            page.text(8, say!("yes", "да").get(page.lang))?;
        }
        page.number(9, Some(case.trials.into()), Digits::Whole)?;
        page.text(10, &checks(case, CheckStatus::Fail))
    })?;
    let last = page.row.saturating_sub(1);
    page.sheet.autofilter(0, 0, last, 10)?;
    Ok(())
}

fn heads() -> [Say; 11] {
    [
        say!("run", "прогон"),
        say!("case", "случай"),
        say!("I/Os", "операции"),
        say!("number", "показатель"),
        say!("unit", "единица"),
        say!("value", "значение"),
        say!("95 % from", "95 % от"),
        say!("95 % to", "95 % до"),
        say!("at least", "не меньше"),
        say!("trials", "испытаний"),
        say!("checks failed", "проверки не пройдены"),
    ]
}
