//! A made-up comparison as people and programs see it.

mod agreement;

use crate::fixture::{HOSTILE, assert_well_formed};
use crate::{comparison_html, comparison_json, comparison_markdown, comparison_text, junit};
use expect_test::expect_file;
use stend_analyse::Comparison;
use stend_analyse::compare::*;
use stend_analyse::findings::{
    Basis, CheckId, CheckResult, CheckStatus, Estimate, GradeLevel, Headline, OpFinding, Quantile, QuantileValue,
    Rates, Unmeasured,
};
use stend_analyse::gate::{Open, Outcome};
use stend_base::{Lang, Nanos, Say, say};
use stend_record::RunState;
use stend_spec::workload::Op;

fn run(id: &str, state: RunState) -> ComparedRun {
    ComparedRun {
        run: id.into(),
        suite: "quick".into(),
        targets: vec!["/var/tmp".into()],
        stand: None,
        builds: None,
        started_unix: 1_795_296_600,
        state,
        label: None,
        arm: None,
        grade: GradeLevel::Screening,
    }
}

fn condition(key: &'static str, name: Say, values: &[&str]) -> Condition {
    Condition { key: key.to_string(), name, values: values.iter().map(|v| Say::same(*v)).collect() }
}

fn estimate(value: f64) -> Estimate {
    Estimate { value, interval: None, basis: Basis::Trials { n: 6 } }
}

fn side(rate: f64, p99: QuantileValue, ratios: Option<(Ratio, Ratio)>) -> Side {
    let (rate_ratio, ratio) = ratios.unzip();
    let quantile = Quantile { q: QUANTILE, value: p99, interval: None };
    Side {
        trials: 6,
        failed: Vec::new(),
        rate: estimate(rate),
        rate_ratio,
        parts: Vec::new(),
        latencies: vec![LatencySide { stream: 0, op: Op::Read, p99: quantile, ratio }],
    }
}

fn check(id: CheckId, status: CheckStatus) -> CheckResult {
    CheckResult {
        id,
        name: say!("a check", "проверка"),
        status,
        measured: say!("3 of 4", "3 из 4"),
        limit: say!("all", "все"),
        meaning: say!("Measure again.", "Измерьте заново."),
    }
}

fn judged(verdict: Verdict, doubt: Option<Doubt>) -> Judged {
    Judged { verdict, doubt, p_adjusted: Some(0.0078), coloured: false }
}

pub fn over_trials(value: f64, low: f64, high: f64) -> Ratio {
    let basis = RatioBasis::Trials { baseline: 6, other: 6 };
    let judged = match () {
        () if low > 1.2 => judged(Verdict::Worse, None),
        () if low > 1.02 => judged(Verdict::Better, None),
        () if low > 0.95 => judged(Verdict::Inconclusive, Some(Doubt::TooFew { have: 6, need: 7 })),
        () => judged(Verdict::Inconclusive, Some(Doubt::Wide)),
    };
    let p = Some(P { p: 0.0012, test: Test::Welch });
    Ratio { value: RatioValue::At(value), interval: Some((low, high)), basis, p, robust: None, judged, by_block: None }
}

fn bare(value: RatioValue, basis: RatioBasis) -> Ratio {
    let judged = Judged { p_adjusted: None, ..judged(Verdict::Inconclusive, Some(Doubt::NoInterval)) };
    Ratio { value, interval: None, basis, p: None, robust: None, judged, by_block: None }
}

fn at(micros: u64) -> QuantileValue {
    QuantileValue::At(Nanos(micros * 1000))
}

/// Two runs: an interval without 100 %, one with it, a bound, a side that failed a check, a case of one run only.
pub fn two() -> Comparison {
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
    for (i, part) in [315.25 / 450.0, 134.75 / 450.0].into_iter().enumerate() {
        let of = |side: &Side, ratio: Option<f64>| PartSide {
            stream: 0,
            op: Op::TRANSFERS[i],
            rates: Rates {
                iops: estimate(side.rate.value * part),
                throughput: estimate(side.rate.value * part * 8192.0),
            },
            ratios: ratio
                .map(|at| [bare(RatioValue::At(at), RatioBasis::TooFewTrials), over_trials(at, at - 0.01, at + 0.01)]),
        };
        for (side, ratio) in cases[2].sides.iter_mut().flatten().zip([None, Some(0.05)]) {
            side.parts.push(of(side, ratio));
        }
    }
    if let Some(side) = &mut cases[2].sides[1] {
        side.failed = vec![CheckId::H18, CheckId::H76];
        let ratios = side.rate_ratio.iter_mut().chain(side.latencies.iter_mut().filter_map(|l| l.ratio.as_mut()));
        ratios.for_each(|ratio| ratio.judged.doubt = Some(Doubt::Failed(side.failed.clone())));
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
        follow: vec![condition("arrays", say!("arrays", "массивы"), &["", "raid5 × 6"])],
        same: vec![condition("cpus", say!("CPUs online", "процессоров в работе"), &["2", "2"])],
        cases,
        unmatched: vec![Unmatched { label: "seq-write".into(), runs: vec![0], metrics: vec![Metric::Rate] }],
        interleaved: false,
        rule: Rule {
            margin: 0.02,
            rate: 0.02,
            latency: 0.02,
            cells: 4,
            together: 4,
            needed: 8,
            suggested: Some(11),
            block: Some(stend_base::Nanos::secs(90)),
        },
        floor: None,
        gate: None,
        charts: Vec::new(),
        means: vec![Mean {
            run: 1,
            metric: Metric::Rate,
            cells: 3,
            left_out: 1,
            value: 1.04,
            interval: Some((1.01, 1.07)),
        }],
        layers: vec![LayerPrice {
            below: 0,
            above: 1,
            layers: "md → ext4".into(),
            rates: vec![
                LayerRate {
                    label: "rand-read, queue_depth 32".into(),
                    headline: Headline::Iops,
                    value: RatioValue::At(1.095),
                    interval: Some((1.081, 1.109)),
                },
                LayerRate {
                    label: "oltp".into(),
                    headline: Headline::Iops,
                    value: RatioValue::Below(0.05),
                    interval: None,
                },
            ],
            mean: Some((1.04, Some((1.01, 1.07)))),
        }],
        checks: vec![check(CheckId::H74, CheckStatus::Warn), check(CheckId::H72, CheckStatus::Pass)],
    }
}

/// Two arms that alternated: every verdict there is, with its colour.
fn alternating() -> Comparison {
    let mut comparison = two();
    comparison.interleaved = true;
    comparison.rule.rate = 0.031;
    let noise = |share| Some(Noise { share, distances: 48 });
    comparison.floor =
        Some(Floor { rate: noise(0.031), latency: noise(0.012), from: vec!["plain".into(), "again".into()] });
    comparison.runs.iter_mut().zip(["plain", "tuned"]).for_each(|(run, arm)| run.arm = Some(arm.into()));
    let ratio = |value: f64, verdict, doubt| Ratio {
        value: RatioValue::At(value),
        interval: Some((value - 0.01, value + 0.01)),
        basis: RatioBasis::Blocks { n: 24 },
        p: Some(P { p: 0.00002, test: Test::SignFlipDrawn }),
        robust: Some(Robust { value: value + 0.001, interval: Some((value - 0.012, value + 0.012)) }),
        judged: Judged { coloured: matches!(verdict, Verdict::Better | Verdict::Worse), ..judged(verdict, doubt) },
        by_block: None,
    };
    let verdicts = [
        [(1.1, Verdict::Better, None), (1.4, Verdict::Worse, None)],
        [(1.025, Verdict::Differs, None), (1.001, Verdict::Equivalent, None)],
        [(0.95, Verdict::Inconclusive, Some(Doubt::Chance)), (0.97, Verdict::Inconclusive, Some(Doubt::InsideFloor))],
        [
            (1.005, Verdict::Inconclusive, Some(Doubt::Wide)),
            (1.3, Verdict::Inconclusive, Some(Doubt::TooFew { have: 6, need: 8 })),
        ],
    ];
    for (case, [rate, latency]) in comparison.cases.iter_mut().zip(verdicts) {
        let [Some(baseline), Some(side)] = case.sides.as_mut_slice() else { panic!("two sides") };
        // Values of which these are the quotients.
        side.rate.value = baseline.rate.value * rate.0;
        baseline.latencies[0].p99.value = at(1_000);
        side.latencies[0].p99.value = at((1_000.0 * latency.0) as u64);
        [&mut baseline.parts, &mut side.parts].into_iter().for_each(Vec::clear);
        side.rate_ratio = Some(ratio(rate.0, rate.1, rate.2));
        side.latencies[0].ratio = Some(ratio(latency.0, latency.1, latency.2));
        side.failed.clear();
    }
    comparison
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
    for (comparison, lang, columns) in [
        (two(), Lang::En, 110),
        (two(), Lang::Ru, 100),
        (two(), Lang::Ru, 40),
        (three(), Lang::En, 110),
        (alternating(), Lang::En, 100),
        (alternating(), Lang::Ru, 100),
    ] {
        let screen = comparison_text(&comparison, lang, columns, false);
        assert_fits(&screen, columns);
        all.push_str(&format!("════ {} {columns}\n{screen}", lang.tag()));
    }
    expect_file!["../../tests/golden/compare.txt"].assert_eq(&all);
}

/// Marks of colour: in a terminal, and on a page.
fn colours(comparison: &Comparison) -> (usize, usize) {
    let (text, page) = (comparison_text(comparison, Lang::En, 110, true), comparison_html(comparison, Lang::En));
    let codes = ["\u{1b}[36m", "\u{1b}[33m"].map(|code| text.matches(code).count());
    let classes = ["judged better", "judged worse"].map(|class| page.matches(&format!("\"{class}\"")).count());
    assert_eq!(codes, classes);
    (codes[0], codes[1])
}

#[test]
fn a_colour_follows_a_verdict_and_never_stands_alone() {
    assert_eq!(colours(&alternating()), (1, 1));
    for lang in [Lang::En, Lang::Ru] {
        let text = comparison_text(&alternating(), lang, 100, true);
        let words = match lang {
            Lang::En => ["\u{1b}[36m▲ better\u{1b}[0m", "\u{1b}[33m▼ worse\u{1b}[0m", "≈ equivalent"],
            Lang::Ru => ["\u{1b}[36m▲ лучше\u{1b}[0m", "\u{1b}[33m▼ хуже\u{1b}[0m", "≈ равноценно"],
        };
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    }
    // For runs that followed one another the words are there and the colours are not.
    assert_eq!(colours(&two()), (0, 0));
    assert!(comparison_text(&two(), Lang::En, 110, true).contains("▼ worse"));
}

#[test]
fn the_machine_form_is_stable() {
    let mut comparison = held();
    comparison.cases.truncate(2);
    expect_file!["../../tests/golden/comparison.json"].assert_eq(&comparison_json(&comparison));
}

#[test]
fn the_page_is_one_well_formed_file_whatever_the_names() {
    for mut comparison in [two(), three(), alternating()] {
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

/// What a gate says of the first two cases: one failed, one not decided, one rule without a cell.
fn held() -> Comparison {
    let mut comparison = alternating();
    let rules = "gate: nightly\nrules:\n  - {cases: 'rand*', loss: 5%}\n  - {cases: 'seq*', verdicts: [better]}\n  - {cases: gone}\n";
    let gate = stend_spec::parse::gate(rules, "g.yaml").unwrap();
    comparison.gate = Some(stend_analyse::gate::of_comparison(&gate, &comparison, &[]));
    comparison
}

#[test]
fn a_gate_stands_first_with_its_numbers_and_the_line_that_asked() {
    let comparison = held();
    let text = comparison_text(&comparison, Lang::En, 110, false);
    let told =
        "✖ B, rand-read, queue_depth 32, p99, read: 140.0 % (139.0 … 141.0 %), ▼ worse; line 3 allows a loss of 5 %";
    assert!(text.replace("\n  ", " ").replace('\u{a0}', " ").contains(told), "{text}");
    assert!(text.contains("? the rule in line 5 matches no cell"), "{text}");
    assert!(text.find("Gate `nightly` failed") < text.find("B against A"), "{text}");
    let page = comparison_html(&comparison, Lang::Ru);
    assert_well_formed(&page);
    assert!(page.contains("не пройден"), "{page}");
}

#[test]
fn junit_counts_what_it_holds_whatever_the_names() {
    let mut comparison = held();
    for hostile in HOSTILE {
        comparison.cases[0].label = hostile.into();
        if let Some(gate) = &mut comparison.gate {
            gate.cells.iter_mut().take(2).for_each(|cell| cell.label = hostile.into());
        }
        let xml = junit(Some(&comparison), comparison.gate.as_ref().unwrap(), Lang::En);
        assert!(xml.contains("tests=\"6\" failures=\"3\" errors=\"2\" skipped=\"0\""), "{xml}");
        assert_eq!((xml.matches("<testcase ").count(), xml.matches("<failure ").count()), (6, 3), "{xml}");
        assert!(!xml.contains("<script") && !xml.contains('\u{1b}'), "{xml}");
    }
}

#[test]
fn junit_tells_the_operations_of_one_limit_apart() {
    let mut findings = crate::fixture::findings();
    // A mix of two streams: four latencies under one limit.
    let case = &mut findings.cases[0];
    let op = case.ops[0].clone();
    let of = |stream, kind| OpFinding { stream, op: kind, ..op.clone() };
    case.ops = vec![of(0, Op::Read), of(0, Op::Write), of(1, Op::Read), of(1, Op::Write)];
    let limits = ["p99 < 5ms", "p99 read < 5ms"].map(|text| stend_spec::parse::expect(text).unwrap()).to_vec();
    let gate = stend_spec::gate::Gate { name: None, margin: None, rules: Vec::new(), limits };
    let xml = junit(None, &stend_analyse::gate::of_run(&gate, &findings), Lang::En);
    let names: Vec<&str> = xml.split("<testcase ").skip(1).filter_map(|test| test.split('>').next()).collect();
    let unique: std::collections::BTreeSet<&&str> = names.iter().collect();
    assert_eq!(unique.len(), names.len(), "{names:#?}");
    assert!(xml.contains("name=\"p99 &lt; 5ms, stream 2, write\""), "{names:#?}");
    assert!(xml.contains("name=\"p99 read &lt; 5ms, stream 2\""), "{names:#?}");
}

#[test]
fn junit_has_an_error_for_a_case_that_was_not_measured() {
    let mut findings = crate::fixture::findings();
    let reason = say!("needs --confirm", "нужен ключ --confirm");
    findings.unmeasured = vec![Unmeasured { label: "trim".into(), reason, ops: vec![Op::Discard] }];
    let limits = vec![stend_spec::parse::expect("iops >= 1").unwrap()];
    let gate = stend_spec::gate::Gate { name: None, margin: None, rules: Vec::new(), limits };
    let found = stend_analyse::gate::of_run(&gate, &findings);
    let xml = junit(None, &found, Lang::En);
    let told =
        "trim: not measured, needs --confirm; asked for `iops &gt;= 1`; to leave it out, name the cases that are meant";
    assert!(xml.contains(&format!("<error message=\"{told}\"")) && xml.contains("errors=\"1\""), "{xml}");
    let text = crate::gate_text(&found, Lang::Ru, 200, false);
    assert!(text.contains("? trim: не измерялся, нужен ключ --confirm; требуется `iops >= 1`"), "{text}");
}

#[test]
fn junit_skips_what_a_gate_lets_pass_undecided() {
    let mut findings = crate::fixture::findings();
    let reason = say!("needs --confirm", "нужен ключ --confirm");
    findings.unmeasured = vec![Unmeasured { label: "trim".into(), reason, ops: vec![Op::Discard] }];
    let limits = vec![stend_spec::parse::expect("iops >= 1").unwrap()];
    let gate = stend_spec::gate::Gate { name: None, margin: None, rules: Vec::new(), limits };
    let mut found = stend_analyse::gate::of_run(&gate, &findings);
    found.gaps.iter_mut().for_each(|gap| gap.outcome = Outcome::Passed);
    found.limits.truncate(1);
    (found.limits[0].outcome, found.limits[0].open) = (Outcome::Passed, Some(Open::Printed));
    let xml = junit(None, &found, Lang::En);
    assert!(xml.contains("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"2\""), "{xml}");
}

#[test]
fn names_mean_nothing_to_markdown() {
    let mut comparison = held();
    for hostile in HOSTILE {
        comparison.cases[0].label = hostile.into();
        comparison.changed[0].values[1] = Say::same(hostile);
        let page = comparison_markdown(&comparison, Lang::En);
        assert!(!page.contains("<script") && !page.contains('\u{1b}'), "{page}");
    }
    comparison.cases[0].label = "a|b\n# c [x](y)".into();
    let page = comparison_markdown(&comparison, Lang::Ru);
    assert!(page.contains("| a\\|b \\# c \\[x\\](y) | B |"), "{page}");
    // Every line of the table has the same number of cells.
    let cells =
        page.lines().filter(|line| line.starts_with('|')).map(|line| line.replace("\\|", "").matches('|').count());
    assert!(cells.clone().count() > 8 && cells.clone().all(|n| n == 8), "{page}");
}

#[test]
fn runs_without_a_case_in_common_say_so() {
    let mut comparison = two();
    comparison.cases.clear();
    comparison.changed.clear();
    assert!(comparison_text(&comparison, Lang::En, 80, false).contains("No case of A is in another run"));
    let page = comparison_html(&comparison, Lang::En);
    assert_well_formed(&page);
    assert!(page.contains("No case of A is in another run") && page.contains("No recorded condition changed"));
}

#[test]
fn letters_go_on_as_numbers() {
    let letters: Vec<_> = [0, 25, 26].map(super::letter).to_vec();
    assert_eq!(letters, ["A", "Z", "27"]);
}

#[test]
fn runs_on_different_stands_are_headed_by_these_and_never_by_their_ids() {
    let title = |stands: [Option<&str>; 2]| {
        let mut comparison = two();
        for (run, stand) in comparison.runs.iter_mut().zip(stands) {
            run.stand = stand.map(String::from);
        }
        let page = comparison_html(&comparison, Lang::En);
        let (_, rest) = page.split_once("<title>").unwrap();
        rest.split_once("</title>").unwrap().0.to_string()
    };
    assert_eq!(title([Some("raid0"), Some("raid5")]), "quick: raid5 against raid0");
    assert_eq!(title([Some("raid0"), Some("raid0")]), "quick: B against A");
    assert_eq!(title([None, Some("raid5")]), "quick: B against A");
}
