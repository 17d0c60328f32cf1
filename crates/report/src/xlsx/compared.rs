//! The page of a comparison: every ratio to the baseline with its interval, and its verdict with an arrow and a word.

use super::page::{Digits, Page};
use crate::comparison::{describe, latency_name, letter, part_name, verdict};
use crate::figures::NONE;
use crate::rates;
use rust_xlsxwriter::XlsxError;
use stend_analyse::Comparison;
use stend_analyse::compare::{CaseComparison, LatencySide, Ratio, RatioValue, Side};
use stend_analyse::findings::{Headline, QuantileValue};
use stend_base::{Say, say};

/// ns in a µs.
const MICRO: f64 = 1e3;
/// Bytes in a MB.
const MEGA: f64 = 1e6;
/// A ratio is given in percent of the baseline.
const PERCENT: f64 = 100.0;
/// Column of the verdict.
const VERDICT: u16 = 9;

pub(super) fn fill(page: &mut Page<'_>, comparison: &Comparison) -> Result<(), XlsxError> {
    page.widths(&[34.0, 18.0, 8.0, 8.0, 14.0, 14.0, 12.0, 12.0, 12.0, 30.0])?;
    page.title(&say!("Relative to the baseline, which is 100 %", "Относительно базы, которая принята за 100 %"))?;
    for (index, run) in comparison.runs.iter().enumerate() {
        let (letter, Say { en, ru }) = (letter(index), describe(run));
        page.line(&say!("{letter}  {en}", "{letter}  {ru}"))?;
    }
    for text in verdict::summary(comparison).iter().chain(&verdict::labels(comparison)) {
        page.line(text)?;
    }
    page.next();
    page.heads(&heads())?;
    page.sheet.set_freeze_panes(page.row, 1)?;
    for case in &comparison.cases {
        rows(page, case)?;
    }
    page.next();
    for condition in &comparison.changed {
        let values = crate::comparison::arrows(&condition.values);
        let (name, values_en, values_ru) = (&condition.name, values.en, values.ru);
        let (name_en, name_ru) = (&name.en, &name.ru);
        page.line(&say!("Not the same: {name_en}: {values_en}", "Не одно и то же: {name_ru}: {values_ru}"))?;
    }
    for (glyph, Say { en, ru }) in verdict::checks(comparison) {
        page.line(&say!("{glyph} {en}", "{glyph} {ru}"))?;
    }
    for text in crate::comparison::unmatched(comparison) {
        page.line(&text)?;
    }
    Ok(())
}

fn heads() -> [Say; 10] {
    [
        say!("case", "случай"),
        say!("number", "показатель"),
        say!("unit", "единица"),
        say!("run", "прогон"),
        say!("baseline A", "база A"),
        say!("value", "значение"),
        say!("of A, %", "от A, %"),
        say!("95 % from", "95 % от"),
        say!("95 % to", "95 % до"),
        say!("verdict", "вердикт"),
    ]
}

fn rows(page: &mut Page<'_>, case: &CaseComparison) -> Result<(), XlsxError> {
    let Some(Some(baseline)) = case.sides.first() else { return Ok(()) };
    let name = match case.headline {
        Headline::Iops => Say::same("IOPS"),
        Headline::Throughput => say!("throughput", "пропускная способность"),
    };
    for (index, side) in others(case) {
        start(page, case, &name, &rates::unit(case.headline), index)?;
        page.number(4, Some(baseline.rate.value / scale(case.headline)), Digits::One)?;
        page.number(5, Some(side.rate.value / scale(case.headline)), Digits::One)?;
        ratio(page, side.rate_ratio.as_ref())?;
    }
    for (of, headline) in baseline.parts.iter().flat_map(|part| rates::BOTH.map(|headline| (part, headline))) {
        let name = part_name(baseline, of, headline);
        for (index, side) in others(case) {
            let found = side.parts.iter().find(|part| (part.stream, part.op) == (of.stream, of.op));
            start(page, case, &name, &rates::unit(headline), index)?;
            page.number(4, Some(of.of(headline).0.value / scale(headline)), Digits::One)?;
            page.number(5, found.map(|found| found.of(headline).0.value / scale(headline)), Digits::One)?;
            percent(page, found.and_then(|found| found.of(headline).1))?;
            page.next();
        }
    }
    for of in &baseline.latencies {
        let name = latency_name(baseline, of);
        for (index, side) in others(case) {
            let found = side.latencies.iter().find(|latency| (latency.stream, latency.op) == (of.stream, of.op));
            start(page, case, &name, &say!("µs", "мкс"), index)?;
            p99(page, 4, Some(of))?;
            p99(page, 5, found)?;
            ratio(page, found.and_then(|latency| latency.ratio.as_ref()))?;
        }
    }
    Ok(())
}

/// What a rate is divided by to be in its unit.
fn scale(headline: Headline) -> f64 {
    match headline {
        Headline::Iops => 1.0,
        Headline::Throughput => MEGA,
    }
}

fn others(case: &CaseComparison) -> impl Iterator<Item = (usize, &Side)> {
    case.sides.iter().enumerate().skip(1).filter_map(|(index, side)| Some((index, side.as_ref()?)))
}

fn start(page: &mut Page<'_>, case: &CaseComparison, name: &Say, unit: &Say, index: usize) -> Result<(), XlsxError> {
    page.text(0, &case.label)?;
    page.text(1, name.get(page.lang))?;
    page.text(2, unit.get(page.lang))?;
    page.text(3, &letter(index))
}

fn p99(page: &mut Page<'_>, column: u16, latency: Option<&LatencySide>) -> Result<(), XlsxError> {
    match latency.map(|latency| latency.p99.value) {
        Some(QuantileValue::Above(value)) => {
            let value = stend_base::format::number(value.0 as f64 / MICRO, page.lang);
            page.text(column, &format!("> {value}"))
        }
        other => match other.and_then(QuantileValue::single) {
            Some(value) => page.number(column, Some(value.0 as f64 / MICRO), Digits::One),
            None => page.text(column, NONE),
        },
    }
}

/// A ratio with its verdict; ends the row.
fn ratio(page: &mut Page<'_>, ratio: Option<&Ratio>) -> Result<(), XlsxError> {
    percent(page, ratio)?;
    if let Some(ratio) = ratio {
        page.text(VERDICT, verdict::cell(ratio).get(page.lang))?;
    }
    page.next();
    // What did not alternate has a verdict in words alone.
    match ratio.and_then(|ratio| verdict::tint(&ratio.judged)) {
        Some(_) => page.signs(VERDICT, page.row - 1),
        None => Ok(()),
    }
}

fn percent(page: &mut Page<'_>, ratio: Option<&Ratio>) -> Result<(), XlsxError> {
    if let Some(ratio) = ratio {
        let bound =
            |sign: &str, value: f64| format!("{sign} {}", stend_base::format::number(value * PERCENT, page.lang));
        match ratio.value {
            RatioValue::At(value) => page.number(6, Some(value * PERCENT), Digits::One)?,
            RatioValue::Above(value) => page.text(6, &bound(">", value))?,
            RatioValue::Below(value) => page.text(6, &bound("<", value))?,
            RatioValue::Unknown => page.text(6, NONE)?,
        }
        page.number(7, ratio.interval.map(|ends| ends.0 * PERCENT), Digits::One)?;
        page.number(8, ratio.interval.map(|ends| ends.1 * PERCENT), Digits::One)?;
    }
    Ok(())
}
