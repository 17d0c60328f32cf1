//! The page of load hosts: what each of several did in each case, by operation.

use super::Book;
use super::page::{Digits, Page};
use crate::figures::{known, largest, op_name};
use rust_xlsxwriter::XlsxError;
use stend_analyse::findings::{CaseFinding, HostFinding, OpFinding};
use stend_base::{Say, say};

/// Whether there is anything to show.
pub(super) fn is_needed(book: &Book<'_>) -> bool {
    book.runs.iter().any(|(_, findings)| !findings.hosts.is_empty())
}

pub(super) fn fill(page: &mut Page<'_>, book: &Book<'_>) -> Result<(), XlsxError> {
    page.widths(&[28.0, 34.0, 18.0, 16.0, 14.0, 18.0, 12.0, 14.0, 14.0, 14.0, 14.0, 14.0])?;
    page.heads(&heads())?;
    page.sheet.set_freeze_panes(1, 0)?;
    let cases = book.runs.iter().flat_map(|(_, findings)| findings.cases.iter().map(move |case| (&findings.run, case)));
    let hosts = cases
        .flat_map(|(run, case)| case.hosts.iter().flat_map(|found| &found.hosts).map(move |host| (run, case, host)));
    let all = hosts.flat_map(|(run, case, host)| host.ops.iter().map(move |op| (run, case, host, op)));
    page.list(all, |page, (run, case, host, op)| row(page, run, (case, host), op))?;
    let last = page.row.saturating_sub(1);
    page.sheet.autofilter(0, 0, last, 11)?;
    Ok(())
}

fn row(
    page: &mut Page<'_>,
    run: &str,
    (case, host): (&CaseFinding, &HostFinding),
    op: &OpFinding,
) -> Result<(), XlsxError> {
    page.text(0, run)?;
    page.text(1, &case.label)?;
    page.text(2, &host.name)?;
    page.text(3, op_name(case, op).get(page.lang))?;
    page.number(4, Some(op.rates.iops.value), Digits::All)?;
    page.number(5, Some(op.rates.throughput.value), Digits::All)?;
    page.number(6, Some(op.count as f64), Digits::Whole)?;
    page.number(7, known(op, op.latency_mean_ns), Digits::All)?;
    for (column, quantile) in (8u16..11).zip(&op.quantiles) {
        page.number(column, quantile.value.single().map(|value| value.0 as f64), Digits::All)?;
    }
    page.number(11, largest(op).map(|max| max.0 as f64), Digits::All)
}

fn heads() -> [Say; 12] {
    let nanos = |name: &str| say!("{name}, ns", "{name}, нс");
    [
        say!("run", "прогон"),
        say!("case", "случай"),
        say!("load host", "нагружающая машина"),
        say!("I/Os", "операции"),
        Say::same("IOPS"),
        say!("throughput, B/s", "пропускная способность, Б/с"),
        say!("how many", "сколько"),
        say!("mean, ns", "среднее, нс"),
        nanos("p50"),
        nanos("p99"),
        say!("p99.9, ns", "p99,9, нс"),
        say!("max, ns", "макс., нс"),
    ]
}
