//! The workbook: it is one, it is the same each time, and its numbers are those of the report.

use super::*;
use crate::fixture;
use crate::numbers::numbers;
use std::io::{Cursor, Read};
use stend_record::{Entry, HostFacts, HostId, HostInfo, Role};

fn book<'a>(run: &'a RunRecord, findings: &'a Findings, lang: Lang) -> Book<'a> {
    Book { runs: vec![(run, findings)], comparison: None, lang }
}

#[test]
fn any_result_makes_a_workbook_in_both_languages_and_the_same_each_time() {
    let run = fixture::run();
    for findings in [fixture::findings(), fixture::hostile_findings(), fixture::open_findings()] {
        for lang in [Lang::En, Lang::Ru] {
            let made = xlsx(&book(&run, &findings, lang)).unwrap();
            assert!(made.starts_with(b"PK") && made.len() > 10_000, "{}", made.len());
            assert_eq!(made, xlsx(&book(&run, &findings, lang)).unwrap());
        }
    }
}

#[test]
fn the_storage_host_of_a_stand_is_among_the_conditions() {
    let mut run = fixture::run();
    let findings = fixture::findings();
    let texts = |run: &RunRecord| part(&xlsx(&book(run, &findings, Lang::En)).unwrap(), "xl/sharedStrings.xml");
    let without = texts(&run);
    let host = HostFacts { hostname: "shelf7".into(), ..HostFacts::default() };
    let info = HostInfo {
        name: "array1".into(),
        role: Role::Storage,
        facts: Some(host),
        targets: run.load().targets.clone(),
        clock_uncertainty_ns: Some(137_000),
        ..HostInfo::default()
    };
    run.apply(Entry::Host { host: HostId::STORAGE, info: Box::new(info) });
    let with = texts(&run);
    for text in ["storage host", "shelf7", "handed out"] {
        assert!(with.contains(text) && !without.contains(text), "{text}");
    }
}

/// A part of a workbook.
fn part(book: &[u8], name: &str) -> String {
    let mut archive = zip::ZipArchive::new(Cursor::new(book)).unwrap();
    let mut text = String::new();
    archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// The page of a name: pages are numbered in their order.
fn page(book: &[u8], name: &str) -> String {
    let all = part(book, "xl/workbook.xml");
    let at = all.match_indices("<sheet ").position(|(at, _)| all[at..].starts_with(&format!("<sheet name=\"{name}\"")));
    part(book, &format!("xl/worksheets/sheet{}.xml", at.unwrap() + 1))
}

/// The number in a cell; `None` if it is empty or a text.
fn cell(page: &str, place: &str) -> Option<f64> {
    let from = page.find(&format!("<c r=\"{place}\""))?;
    let cell = &page[from..from + page[from..].find("</c>")?];
    let value = &cell[cell.find("<v>")? + 3..cell.find("</v>")?];
    value.parse().ok().filter(|_| !cell.contains("t=\"s\""))
}

#[test]
fn every_number_of_the_report_is_a_number_of_the_workbook() {
    let run = fixture::run();
    for findings in [fixture::findings(), fixture::hostile_findings(), fixture::open_findings()] {
        let made = xlsx(&book(&run, &findings, Lang::Ru)).unwrap();
        let page = page(&made, "Числа");
        for (number, row) in numbers(&findings).iter().zip(2..) {
            assert_eq!(cell(&page, &format!("F{row}")), Some(number.value), "{number:?}");
            let ends = cell(&page, &format!("G{row}")).zip(cell(&page, &format!("H{row}")));
            assert_eq!(ends, number.interval, "{number:?}");
        }
    }
}

fn compared(comparison: &Comparison) -> Vec<u8> {
    let (run, findings) = (fixture::run(), fixture::findings());
    xlsx(&Book { runs: vec![(&run, &findings)], comparison: Some(comparison), lang: Lang::En }).unwrap()
}

#[test]
fn a_comparison_has_its_ratios_as_numbers() {
    let comparison = crate::comparison::fixture();
    let made = compared(&comparison);
    let page = page(&made, "Comparison");
    let ratio = comparison.cases[0].sides[1].as_ref().unwrap().rate_ratio.as_ref().unwrap();
    let first = (1..40).find(|row| cell(&page, &format!("G{row}")).is_some()).unwrap();
    let ends = ratio.interval.map(|(low, high)| (low * 100.0, high * 100.0));
    assert_eq!(cell(&page, &format!("H{first}")).zip(cell(&page, &format!("I{first}"))), ends);
    let charts = part(&made, "xl/charts/chart1.xml");
    assert!(charts.contains("<c:errBars>") && charts.contains("IOPS by case"), "{charts:.300}");
}

#[test]
fn a_verdict_is_tinted_by_its_sign_and_only_where_it_may_have_a_colour() {
    let mut comparison = crate::comparison::fixture();
    assert!(!page(&compared(&comparison), "Comparison").contains("beginsWith"), "these runs did not alternate");
    let side = comparison.cases[0].sides[1].as_mut().unwrap();
    side.rate_ratio.as_mut().unwrap().judged.coloured = true;
    let page = page(&compared(&comparison), "Comparison");
    assert!(page.contains("text=\"▲\"") && page.matches("<conditionalFormatting").count() == 1, "one cell");
}

#[test]
fn several_runs_and_their_comparison_are_one_workbook() {
    let (run, findings) = (fixture::run(), fixture::findings());
    let comparison = crate::comparison::fixture();
    let runs = vec![(&run, &findings), (&run, &findings)];
    let both = xlsx(&Book { runs, comparison: Some(&comparison), lang: Lang::Ru }).unwrap();
    assert!(both.len() > xlsx(&book(&run, &findings, Lang::Ru)).unwrap().len());
}

#[test]
fn a_name_of_emoji_is_cut_by_the_units_that_the_format_counts() {
    let (run, mut findings) = (fixture::run(), fixture::findings());
    // 17 000 letters, but 34 000 units of UTF-16, of which a cell holds 32 767.
    findings.cases[0].label = "💾".repeat(17_000);
    assert!(xlsx(&book(&run, &findings, Lang::En)).is_ok());
}

#[test]
fn lists_that_are_longer_than_a_page_say_how_much_is_missing() {
    let (mut run, mut findings) = (fixture::run(), fixture::findings());
    let check = findings.cases[0].checks[0].clone();
    findings.cases.truncate(1);
    findings.cases[0].checks = vec![check; page::ROWS_MAX + 7];
    run.header.suite_text = "x\n".repeat(page::ROWS_MAX + 5);
    let made = xlsx(&book(&run, &findings, Lang::En)).unwrap();
    let texts = part(&made, "xl/sharedStrings.xml");
    for missing in ["… and 7 more rows", "… and 5 more rows"] {
        assert!(texts.contains(missing), "{missing}");
    }
}

#[test]
fn a_run_from_the_end_of_time_has_a_date_that_the_format_knows() {
    let (run, mut findings) = (fixture::run(), fixture::findings());
    for began in [i64::MIN, i64::MAX] {
        findings.started_unix = began;
        assert!(xlsx(&book(&run, &findings, Lang::En)).is_ok());
    }
}

#[test]
fn more_charts_than_anybody_looks_at_are_left_out() {
    let (run, mut findings) = (fixture::run(), fixture::findings());
    let one = findings.cases[3].clone();
    findings.cases = vec![one; 300];
    let made = xlsx(&book(&run, &findings, Lang::En)).unwrap();
    assert!(made.len() < 4 << 20, "{}", made.len());
    assert!(numbers(&findings).len() > 2_000);
}

#[test]
fn a_chart_of_two_runs_holds_both_and_names_them_by_their_letters() {
    let (run, findings) = (fixture::run(), fixture::findings());
    let runs = vec![(&run, &findings), (&run, &findings)];
    let comparison = crate::comparison::fixture();
    let made = xlsx(&Book { runs, comparison: Some(&comparison), lang: Lang::En }).unwrap();
    let rates = part(&made, "xl/charts/chart1.xml");
    assert_eq!(rates.matches("<c:ser>").count(), 2, "{rates}");
    assert!(rates.contains(">A</") && rates.contains(">B</"), "{rates}");
    let alone = part(&xlsx(&book(&run, &findings, Lang::En)).unwrap(), "xl/charts/chart1.xml");
    assert_eq!(alone.matches("<c:ser>").count(), 1, "{alone}");
}
