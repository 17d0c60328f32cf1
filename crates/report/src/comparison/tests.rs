//! A made-up comparison as people and programs see it.

use crate::fixture::{HOSTILE, assert_well_formed};
use crate::{comparison_html, comparison_json, comparison_text};
use expect_test::expect_file;
use stend_analyse::Comparison;
use stend_analyse::compare::*;
use stend_analyse::findings::{Basis, Estimate, Headline, Quantile, QuantileValue};
use stend_base::{Lang, Nanos, Say, say};
use stend_record::RunState;
use stend_spec::workload::Op;

fn run(id: &str, state: RunState) -> ComparedRun {
    ComparedRun {
        run: id.into(),
        suite: "quick".into(),
        targets: vec!["/var/tmp".into()],
        started_unix: 1_795_296_600,
        state,
        arm: None,
    }
}

fn condition(key: &'static str, name: Say, values: &[&str]) -> Condition {
    Condition { key: key.to_string(), name, values: values.iter().map(|v| Say::same(*v)).collect() }
}

fn side(rate: f64, p99: QuantileValue, ratios: Option<(Ratio, Ratio)>) -> Side {
    let (rate_ratio, ratio) = ratios.unzip();
    let quantile = Quantile { q: QUANTILE, value: p99, interval: None };
    Side {
        trials: 6,
        failed: Vec::new(),
        rate: Estimate { value: rate, interval: None, basis: Basis::Trials { n: 6 } },
        rate_ratio,
        latencies: vec![LatencySide { stream: 0, op: Op::Read, p99: quantile, ratio }],
    }
}

fn over_trials(value: f64, low: f64, high: f64) -> Ratio {
    let basis = RatioBasis::Trials { baseline: 6, other: 6 };
    Ratio { value: RatioValue::At(value), interval: Some((low, high)), basis }
}

fn bare(value: RatioValue, basis: RatioBasis) -> Ratio {
    Ratio { value, interval: None, basis }
}

fn at(micros: u64) -> QuantileValue {
    QuantileValue::At(Nanos(micros * 1000))
}

/// Two runs: an interval without 100 %, one with it, a bound, a side that failed a check, a case of one run only.
fn two() -> Comparison {
    let case = |label: &str, headline, sides: [Side; 2]| CaseComparison {
        label: label.into(),
        headline,
        workloads: Vec::new(),
        sides: sides.map(Some).into(),
    };
    let short = RatioBasis::TrialsTooShort { have: 200, need: 368 };
    let none = QuantileValue::NotEnough { have: 90, need: 368 };
    let mut cases = vec![
        case(
            "rand-read, queue_depth 32",
            Headline::Iops,
            [
                side(412_000.0, at(1_200), None),
                side(451_000.0, at(1_620), Some((over_trials(1.0947, 1.081, 1.109), over_trials(1.35, 1.29, 1.41)))),
            ],
        ),
        case(
            "seq-read",
            Headline::Throughput,
            [
                side(3.10e9, at(8_400), None),
                side(3.12e9, at(8_300), Some((over_trials(1.0064, 0.99, 1.022), bare(RatioValue::At(0.988), short)))),
            ],
        ),
        case(
            "oltp",
            Headline::Iops,
            [
                side(9_000.0, at(2_000), None),
                side(
                    450.0,
                    QuantileValue::Above(Nanos::secs(20)),
                    Some((
                        bare(RatioValue::At(0.05), RatioBasis::TooFewTrials),
                        bare(RatioValue::Above(10_000.0), RatioBasis::NotANumber),
                    )),
                ),
            ],
        ),
        case(
            "rare",
            Headline::Iops,
            [
                side(12.0, none, None),
                side(
                    12.1,
                    none,
                    Some((over_trials(1.01, 0.9, 1.13), bare(RatioValue::Unknown, RatioBasis::NotEnough))),
                ),
            ],
        ),
    ];
    if let Some(side) = &mut cases[2].sides[1] {
        side.failed = vec!["H18".into(), "H76".into()];
    }
    cases[3].workloads = vec![
        say!("random read, 4 KiB, 1 in flight", "случайное чтение, 4 КиБ, 1 в очереди"),
        say!("random read, 8 KiB, 1 in flight", "случайное чтение, 8 КиБ, 1 в очереди"),
    ];
    let early =
        RunState::Ended { kind: stend_base::Kind::Interrupted, reason: say!("stopped", "остановлен") };
    Comparison {
        runs: vec![run("R-20261121T213000Z-aaaa", RunState::Complete), run("R-20261122T213000Z-bbbb", early)],
        changed: vec![
            condition("kernel", say!("kernel", "ядро"), &["6.8.12", "6.12.57"]),
            condition("device_firmware", say!("firmware", "прошивки"), &["1.4", "1.6"]),
            condition("governor", say!("frequency governor", "регулятор частоты"), &["", "performance"]),
        ],
        same: vec![condition("cpus", say!("CPUs online", "процессоров в работе"), &["2", "2"])],
        cases,
        unmatched: vec![Unmatched { label: "seq-write".into(), runs: vec![0] }],
    }
}

/// The same with a third run that has one of the cases.
fn three() -> Comparison {
    let mut comparison = two();
    comparison.runs.push(run("R-20261123T213000Z-cccc", RunState::Open));
    comparison.changed.iter_mut().for_each(|c| c.values.push(Say::same("x")));
    for (i, case) in comparison.cases.iter_mut().enumerate() {
        let third = case.sides[1].clone().filter(|_| i == 0);
        case.sides.push(third);
    }
    comparison
}

fn assert_fits(screen: &str, columns: usize) {
    for line in screen.lines() {
        let width = crate::text::width(line);
        assert!(width <= columns, "{width} > {columns}: {line}");
    }
}

#[test]
fn a_comparison_reads_the_same_wide_and_narrow_in_both_languages() {
    let mut all = String::new();
    for (comparison, lang, columns) in
        [(two(), Lang::En, 110), (two(), Lang::Ru, 100), (two(), Lang::Ru, 40), (three(), Lang::En, 110)]
    {
        let screen = comparison_text(&comparison, lang, columns, false);
        assert_fits(&screen, columns);
        all.push_str(&format!("════ {} {columns}\n{screen}", lang.tag()));
    }
    expect_file!["../../tests/golden/compare.txt"].assert_eq(&all);
}

#[test]
fn no_word_of_a_comparison_is_a_verdict() {
    for lang in [Lang::En, Lang::Ru] {
        let texts = [comparison_text(&two(), lang, 100, true), comparison_html(&two(), lang)];
        for text in texts.map(|t| t.split_once("</style>").map_or(t.clone(), |(_, body)| body.to_string())) {
            for word in
                ["better", "worse", "faster", "slower", "лучше", "хуже", "быстрее", "медленнее", "▲", "▼", "\u{1b}[3"]
            {
                assert!(!text.contains(word), "{word}");
            }
        }
    }
}

#[test]
fn the_machine_form_is_stable() {
    let mut comparison = two();
    comparison.cases.truncate(2);
    expect_file!["../../tests/golden/comparison.json"].assert_eq(&comparison_json(&comparison));
}

#[test]
fn the_page_is_one_well_formed_file_whatever_the_names() {
    for mut comparison in [two(), three()] {
        assert_well_formed(&comparison_html(&comparison, Lang::En));
        for hostile in HOSTILE {
            comparison.runs[0].targets = vec![hostile.into()];
            comparison.cases[0].label = hostile.into();
            comparison.changed[0].values[1] = Say::same(hostile);
            comparison.unmatched[0].label = hostile.into();
            let page = comparison_html(&comparison, Lang::Ru);
            assert_well_formed(&page);
            assert!(!page.contains("<script") && !page.contains('\u{1b}') && !page.contains('\u{202e}'), "{hostile}");
            for columns in [40, 80, 110] {
                let screen = comparison_text(&comparison, Lang::En, columns, false);
                assert_fits(&screen, columns);
                assert!(!screen.contains('\u{1b}') && !screen.contains('\u{202e}'), "{hostile}");
            }
        }
    }
}

#[test]
fn runs_without_a_case_in_common_say_so() {
    let mut comparison = two();
    comparison.cases.clear();
    comparison.changed.clear();
    assert!(comparison_text(&comparison, Lang::En, 80, false).contains("No case of A is in another run"));
    let page = comparison_html(&comparison, Lang::En);
    assert_well_formed(&page);
    assert!(page.contains("No case of A is in another run") && page.contains("None of those that are known"));
}

#[test]
fn letters_go_on_as_numbers() {
    let letters: Vec<_> = [0, 25, 26].map(super::letter).to_vec();
    assert_eq!(letters, ["A", "Z", "27"]);
}
