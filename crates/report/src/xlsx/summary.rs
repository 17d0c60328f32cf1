//! The first page of a run: verdict, grade, what to keep in mind, and the table of cases.

use super::page::{Digits, Page};
use crate::figures::{NONE, known, largest, on, op_name, utc};
use crate::numbers::checks;
use crate::words;
use rust_xlsxwriter::XlsxError;
use stend_analyse::Findings;
use stend_analyse::findings::{
    CaseFinding, CheckStatus, Estimate, Headline, LevelsFinding, OpFinding, QuantileValue, Rates, Service,
};
use stend_base::{Nanos, Say, say};
use stend_record::RunRecord;

/// ns in a µs, the one unit of latency of the page.
const MICRO: f64 = 1e3;
/// Bytes in a MB.
const MEGA: f64 = 1e6;
/// Column of the result of checks.
const CHECKS: u16 = 12;

pub(super) fn fill(page: &mut Page<'_>, run: &RunRecord, findings: &Findings) -> Result<(), XlsxError> {
    page.widths(&[34.0, 34.0, 8.0, 12.0, 12.0, 12.0, 11.0, 11.0, 11.0, 11.0, 11.0, 11.0, 28.0])?;
    let (id, suite, targets) = (&findings.run, &findings.suite, on(&findings.targets, findings.stand.as_deref()));
    page.title(&say!("{id}: {suite} on {targets}", "{id}: {suite} на {targets}"))?;
    let (began, version) = (utc(findings.started_unix), &run.header.stend_version);
    page.line(&say!("{began}, Stend {version}", "{began}, Стенд {version}"))?;
    page.line(&findings.verdict)?;
    page.line(&findings.grade.banner)?;
    page.next();
    page.heads(&heads())?;
    let from = page.row;
    page.sheet.set_freeze_panes(from, 1)?;
    for case in &findings.cases {
        rows(page, case)?;
    }
    page.signs(CHECKS, from)?;
    page.next();
    for case in &findings.not_run {
        let (label, Say { en, ru }) = (&case.label, &case.reason);
        page.line(&say!("Not run: {label}: {en}", "Не запускалось: {label}: {ru}"))?;
    }
    for caveat in &findings.caveats {
        let (Say { en, ru }, advice) = (caveat.say(), caveat.advice());
        let (advice_en, advice_ru) = (advice.en, advice.ru);
        page.line(&say!("! {en} {advice_en}", "! {ru} {advice_ru}"))?;
    }
    Ok(())
}

fn heads() -> [Say; 13] {
    let micros = |name: &str| say!("{name}, µs", "{name}, мкс");
    [
        say!("case", "случай"),
        say!("load", "нагрузка"),
        say!("trials", "испытаний"),
        Say::same("IOPS"),
        say!("95 % from", "95 % от"),
        say!("95 % to", "95 % до"),
        say!("MB/s", "МБ/с"),
        say!("mean, µs", "среднее, мкс"),
        micros("p50"),
        micros("p99"),
        say!("p99.9, µs", "p99,9, мкс"),
        say!("max, µs", "макс., мкс"),
        say!("checks", "проверки"),
    ]
}

/// A case with one kind of I/O is a row; with several, a row for all and one for each.
fn rows(page: &mut Page<'_>, case: &CaseFinding) -> Result<(), XlsxError> {
    page.text(0, &case.label)?;
    page.text(1, case.workload.get(page.lang))?;
    page.number(2, Some(case.trials.into()), Digits::Whole)?;
    match &case.levels {
        Some(levels) => both_levels(page, levels)?,
        None => rates(page, &case.total)?,
    }
    if let [only] = case.ops.as_slice() {
        latencies(page, only)?;
    }
    page.text(CHECKS, verdict(case).get(page.lang))?;
    page.next();
    let several = case.ops.len() > 1;
    for op in &case.ops {
        let name = op_name(case, op);
        if several {
            page.faint(0, &format!("    {}", name.get(page.lang)))?;
            if case.levels.is_none() {
                rates(page, &op.rates)?;
            }
            latencies(page, op)?;
            page.next();
        }
        if let Some(service) = &op.service {
            page.faint(0, &format!("    {}", words::service().get(page.lang)))?;
            of_service(page, op, service)?;
            page.next();
        }
    }
    Ok(())
}

/// Both levels of a rate in its column, as words: their mean is neither, and a formula shall not take it.
fn both_levels(page: &mut Page<'_>, levels: &LevelsFinding) -> Result<(), XlsxError> {
    let column = match levels.of {
        Headline::Iops => 3,
        Headline::Throughput => 6,
    };
    page.text(column, &levels.pair(page.lang))
}

fn rates(page: &mut Page<'_>, rates: &Rates) -> Result<(), XlsxError> {
    let Estimate { value, interval, basis } = &rates.iops;
    if matches!(basis, stend_analyse::findings::Basis::TooFew { n: 0 }) {
        return page.text(3, NONE);
    }
    page.number(3, Some(*value), Digits::Whole)?;
    page.number(4, interval.map(|ends| ends.0), Digits::Whole)?;
    page.number(5, interval.map(|ends| ends.1), Digits::Whole)?;
    page.number(6, Some(rates.throughput.value / MEGA), Digits::One)
}

fn latencies(page: &mut Page<'_>, op: &OpFinding) -> Result<(), XlsxError> {
    let quantiles = op.quantiles.iter().map(|quantile| quantile.value).collect::<Vec<_>>();
    latency(page, &quantiles, (known(op, op.latency_mean_ns), largest(op)), op.censored)
}

fn of_service(page: &mut Page<'_>, op: &OpFinding, service: &Service) -> Result<(), XlsxError> {
    let quantiles = service.quantiles.iter().map(|quantile| quantile.value).collect::<Vec<_>>();
    latency(page, &quantiles, (known(op, service.mean_ns), known(op, service.max)), service.censored)
}

fn latency(
    page: &mut Page<'_>,
    quantiles: &[QuantileValue],
    (mean, max): (Option<f64>, Option<Nanos>),
    censored: u64,
) -> Result<(), XlsxError> {
    let at = |page: &mut Page<'_>, column, ns: Option<f64>| match ns {
        Some(ns) => bounded(page, column, ns / MICRO, censored > 0),
        None => page.text(column, NONE),
    };
    at(page, 7, mean)?;
    for (column, quantile) in (8u16..11).zip(quantiles) {
        match (quantile, quantile.single()) {
            (QuantileValue::Above(value), _) => bounded(page, column, value.0 as f64 / MICRO, true)?,
            (_, Some(value)) => bounded(page, column, value.0 as f64 / MICRO, false)?,
            (value, None) => match value.range() {
                Some((least, most)) => {
                    let number = |at: Nanos| stend_base::format::number(at.0 as f64 / MICRO, page.lang);
                    page.text(column, &format!("{}–{}", number(least), number(most)))?;
                }
                None => page.text(column, NONE)?,
            },
        }
    }
    at(page, 11, max.map(|max| max.0 as f64))
}

/// A number; one that is only a lower bound is a text, so that nobody computes with it.
fn bounded(page: &mut Page<'_>, column: u16, value: f64, at_least: bool) -> Result<(), XlsxError> {
    match at_least {
        true => page.text(column, &format!("> {}", stend_base::format::number(value, page.lang))),
        false => page.number(column, Some(value), Digits::One),
    }
}

/// The worst result of the checks, with sign, word and numbers.
pub(super) fn verdict(case: &CaseFinding) -> Say {
    let of = |status| {
        let ids = checks(case, status);
        let (glyph, Say { en, ru }) = (words::check_glyph(status), words::check(status));
        (!ids.is_empty()).then(|| say!("{glyph} {en}: {ids}", "{glyph} {ru}: {ids}"))
    };
    let passed = || {
        let (glyph, Say { en, ru }) = (words::check_glyph(CheckStatus::Pass), words::check(CheckStatus::Pass));
        say!("{glyph} {en}", "{glyph} {ru}")
    };
    of(CheckStatus::Fail)
        .or_else(|| of(CheckStatus::Warn))
        .or_else(|| of(CheckStatus::NotMeasurable))
        .unwrap_or_else(passed)
}
