//! The verdicts of the method's own numbers (S5), and of tables made by the fixture.

use super::*;
use crate::compare::{Options, P, RatioValue, Robust, Test, compare, compare_arms};
use crate::findings::Findings;
use crate::fixture::{case, run, run_of};
use crate::{analyse, compare::Comparison};
use stend_record::RunRecord;
use stend_spec::arm::Switch;
use stend_spec::workload::Sync;

/// method.md S5.
const A: [f64; 6] = [100.2, 99.1, 101.3, 98.7, 100.9, 99.5];
const FASTER: [f64; 6] = [103.9, 102.2, 105.1, 102.0, 104.8, 101.7];
const SAME: [f64; 6] = [101.1, 98.4, 101.0, 99.9, 100.1, 100.2];

fn switched() -> Switch {
    Switch::Command { enter: vec!["x".into()], leave: vec!["y".into()] }
}

/// A run of `cases` cases of which every one has these rates (100,000 a second) in two arms, block by block. No two trials
/// are exactly alike, which would be copies (H05).
fn alternating(cases: u32, rates: &[(f64, f64)]) -> RunRecord {
    let named = (0..cases).map(|i| case(&format!("case-{i}"), 100, 32, Sync::None)).collect();
    let mut run = run_of(named).arms(&[("old", Switch::None, "6.1"), ("new", switched(), "6.2")]);
    let mut made = 0;
    for (block, (a, b)) in rates.iter().enumerate() {
        for (i, rate) in (0..cases).flat_map(|i| [(i, a), (cases + i, b)]) {
            run = run.trial(i).block(block as u32).iops(rate * 1e5 * (1.0 + 1e-6 * f64::from(made))).done();
            made += 1;
        }
    }
    run.record()
}

fn judged(record: &RunRecord, margin: Option<f64>) -> Comparison {
    compare_arms(record, &analyse(record).unwrap(), &Options { margin, ..Options::default() }).unwrap().unwrap()
}

fn pairs(a: [f64; 6], b: [f64; 6]) -> Vec<(f64, f64)> {
    a.into_iter().zip(b).collect()
}

fn rate(comparison: &Comparison, case: usize) -> &Ratio {
    comparison.cases[case].sides[1].as_ref().unwrap().rate_ratio.as_ref().unwrap()
}

fn p99(comparison: &Comparison) -> &Ratio {
    comparison.cases[0].sides[1].as_ref().unwrap().latencies[0].ratio.as_ref().unwrap()
}

#[test]
fn the_numbers_of_the_method_come_out_through_a_whole_run() {
    let found = judged(&alternating(1, &pairs(A, FASTER)), None);
    let ratio = rate(&found, 0);
    let (RatioValue::At(value), Some((low, high))) = (ratio.value, ratio.interval) else { panic!("{ratio:?}") };
    let close = |a: f64, b: f64| (a - b).abs() < 1e-5;
    assert!(close(value, 1.03335) && close(low, 1.02690) && close(high, 1.03984), "{ratio:?}");
    assert_eq!(ratio.p, Some(P { p: 2.0 / 64.0, test: Test::SignFlip }));
    // By hand from the 21 means of pairs: the 11th, the first and the last.
    let Some(Robust { value, interval: Some((low, high)) }) = ratio.robust else { panic!("{ratio:?}") };
    assert!(close(value, 1.03439) && close(low, 1.02211) && close(high, 1.03865), "{ratio:?}");
}

#[test]
fn the_margin_decides_what_three_percent_are() {
    // Rate and p99 of one case are two cells, which need seven blocks; six with p = 2/64 are not enough for both.
    let seven = [pairs(A, FASTER), vec![(100.0, 103.3)]].concat();
    let verdict = |margin| rate(&judged(&alternating(1, &seven), Some(margin)), 0).judged.verdict;
    assert_eq!([0.02, 0.03, 0.05].map(verdict), [Verdict::Better, Verdict::Differs, Verdict::Equivalent]);
}

#[test]
fn no_difference_is_equivalent_within_the_margin_and_inconclusive_where_it_is_narrower() {
    let record = alternating(1, &pairs(A, SAME));
    let found = judged(&record, None);
    assert_eq!(rate(&found, 0).judged.verdict, Verdict::Equivalent);
    assert!((rate(&found, 0).p.unwrap().p - 0.656).abs() < 1e-3);
    let Rule { margin, rate: of_rate, latency, cells, together, needed, .. } = found.rule;
    assert_eq!((margin, of_rate, latency, cells, together, needed), (0.02, 0.02, 0.02, 2, 2, 7));
    let strict = judged(&record, Some(0.005));
    assert_eq!(rate(&strict, 0).judged.doubt, Some(Doubt::Wide));
}

#[test]
fn more_of_a_rate_is_better_and_more_of_a_latency_is_worse() {
    let seven: Vec<(f64, f64)> = (0..7).map(|i| (100.0, 50.0 + f64::from(i) * 0.1)).collect();
    let found = judged(&alternating(1, &seven), None);
    // In a closed loop half the rate is twice the latency.
    assert_eq!([rate(&found, 0), p99(&found)].map(|r| r.judged.verdict), [Verdict::Worse; 2]);
    assert!(matches!(p99(&found).value, RatioValue::At(v) if v > 1.9));
    let mirrored: Vec<(f64, f64)> = seven.iter().map(|(a, b)| (*b, *a)).collect();
    let found = judged(&alternating(1, &mirrored), None);
    assert_eq!([rate(&found, 0), p99(&found)].map(|r| r.judged.verdict), [Verdict::Better; 2]);
    assert!(rate(&found, 0).judged.coloured && p99(&found).judged.coloured);
}

#[test]
fn too_few_blocks_are_said_and_never_coloured() {
    let apart = |n: usize| vec![(100.0, 200.0); n];
    let doubt = |cases, n| rate(&judged(&alternating(cases, &apart(n)), None), 0).judged.clone();
    // Rate and p99 are two cells, also while neither has a p: six blocks would not be enough.
    assert_eq!(doubt(1, 5).doubt, Some(Doubt::TooFew { have: 5, need: 7 }));
    // Three cases with rate and p99 are six cells, for which the method asks for eight blocks.
    assert_eq!(doubt(3, 7).doubt, Some(Doubt::TooFew { have: 7, need: 8 }));
    assert!(!doubt(3, 7).coloured);
    assert_eq!((doubt(3, 8).verdict, doubt(3, 8).p_adjusted), (Verdict::Better, Some(6.0 * 2.0 / 256.0)));
}

#[test]
fn what_one_cell_may_say_alone_it_may_not_say_among_many() {
    // Alone: p = 4 / 256 and the interval is beyond 1. Among twelve cells that is chance.
    let rates = |d: [f64; 8]| d.map(|d| (100.0, 100.0 * (1.0 + d / 100.0))).to_vec();
    let differing = rates([2.5, 3.0, 2.7, 3.3, 2.5, 3.0, 2.7, -0.1]);
    let alone = rate(&judged(&alternating(1, &differing), None), 0).judged.clone();
    assert_eq!((alone.verdict, alone.doubt), (Verdict::Differs, None));
    let nine: Vec<(f64, f64)> = [differing, vec![(100.0, 102.5)]].concat();
    let among = rate(&judged(&alternating(6, &nine), None), 0).judged.clone();
    assert_eq!((among.verdict, among.doubt), (Verdict::Inconclusive, Some(Doubt::Chance)));
}

#[test]
fn runs_one_after_the_other_have_a_verdict_in_words_without_a_colour() {
    let (slow, fast) = (run().six_blocks(&[10_000.0]).record(), run().six_blocks(&[20_000.0]).record());
    let findings: Vec<Findings> = [&slow, &fast].map(|r| analyse(r).unwrap()).to_vec();
    let found = compare(&[(&slow, &findings[0]), (&fast, &findings[1])], &Options::default());
    let ratio = rate(&found, 0);
    assert_eq!((ratio.judged.verdict, ratio.judged.coloured), (Verdict::Better, false));
    assert!(!found.interleaved && ratio.robust.is_none());
    assert!(matches!(ratio.p, Some(P { p, test: Test::Welch }) if p < 1e-6), "{ratio:?}");
}

#[test]
fn a_failed_check_and_another_workload_leave_nothing_to_say() {
    let good = run().six_blocks(&[10_000.0]).record();
    let mut zeros = good.clone();
    zeros.load_mut().zeros = Some(stend_record::ZeroSample { sampled: 1000, zero: 900, contents: None });
    let deep = run_of(vec![case("rand-read", 100, 64, Sync::None)]).six_blocks(&[20_000.0]).record();
    let doubt = |a: &RunRecord, b: &RunRecord| {
        let findings = [analyse(a).unwrap(), analyse(b).unwrap()];
        let found = compare(&[(a, &findings[0]), (b, &findings[1])], &Options::default());
        assert_eq!(found.rule.cells, 0, "what is left out does not make the others harder");
        rate(&found, 0).judged.doubt.clone()
    };
    let failed = Some(Doubt::Failed(vec![crate::findings::CheckId::H18]));
    assert_eq!((doubt(&good, &zeros), doubt(&zeros, &good)), (failed.clone(), failed));
    assert_eq!(doubt(&good, &deep), Some(Doubt::OtherWorkload));
}

#[test]
fn the_verdict_of_b_against_a_mirrors_that_of_a_against_b() {
    let of = |low: f64, high: f64| of_interval((low, high), Good::More, (0.1, 0.1));
    for (low, high) in [(1.11, 1.2), (1.05, 1.2), (0.95, 1.05), (0.9, 1.2), (1.0 / 1.1, 1.1), (1.01, 1.02)] {
        let expected = match of(low, high) {
            Verdict::Better => Verdict::Worse,
            other => other,
        };
        assert_eq!(of(1.0 / high, 1.0 / low), expected, "{low} {high}");
        assert_eq!(of_interval((low, high), Good::Less, (0.1, 0.1)), expected, "{low} {high}");
    }
    // Noise asks for more of a difference and never makes two things equal.
    let noisy = |low, high| of_interval((low, high), Good::More, (0.02, 0.5));
    assert_eq!(
        [noisy(0.9, 1.2), noisy(1.1, 1.3), noisy(0.99, 1.01)],
        [Verdict::Inconclusive, Verdict::Differs, Verdict::Equivalent]
    );
    assert_eq!(noisy(1.6, 1.7), Verdict::Better);
    assert_eq!(of(0.0, f64::INFINITY), Verdict::Inconclusive);
}

#[test]
fn blocks_that_are_too_few_for_every_cell_are_told_how_many_all_cells_need() {
    // Four cases with rate and p99 are eight cells: 2 / 2^n must be at most 0.05 / 8, so nine blocks. With five none had a p, and the table
    // asked for the six that a single cell needs.
    let five: Vec<(f64, f64)> = pairs(A, FASTER).into_iter().take(5).collect();
    let found = judged(&alternating(4, &five), None);
    assert_eq!((found.rule.cells, found.rule.together, found.rule.needed), (0, 8, 9));
    assert!(found.rule.suggested.is_some_and(|blocks| blocks >= 9), "{:?}", found.rule);
    assert_eq!(rate(&found, 0).judged.doubt, Some(Doubt::TooFew { have: 5, need: 9 }));
    let block = found.rule.block.unwrap();
    // Eight trials of 2 s with a second between each.
    assert!((20..=30).contains(&(block.0 / 1_000_000_000)), "{block:?}");
    let nine: Vec<(f64, f64)> = (0..9).map(|i| pairs(A, FASTER)[i % 6]).collect();
    assert_eq!(rate(&judged(&alternating(4, &nine), None), 0).judged.verdict, Verdict::Better);
}

#[test]
fn the_blocks_that_are_suggested_decide_in_most_simulated_runs() {
    let mut random = stend_base::random::Random::new(20_270_101);
    let mut normal = move || {
        let (u, v) = (1.0 - random.unit(), random.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    };
    let (mut asked, mut decided, mut with_fewest) = (0, 0, 0);
    for _ in 0..60 {
        // A difference of 6 % that blocks tell by 4 %.
        let mut draw = |blocks: u32| -> Vec<(f64, f64)> {
            (0..blocks).map(|_| (100.0, 106.0 * (1.0 + 0.04 * normal()))).collect()
        };
        let rule = judged(&alternating(1, &draw(5)), None).rule;
        let Some(blocks) = rule.suggested.filter(|blocks| *blocks <= 60) else { continue };
        asked += 1;
        let verdict = |rates: &[(f64, f64)]| rate(&judged(&alternating(1, rates), None), 0).judged.verdict;
        decided += u32::from(verdict(&draw(blocks)) == Verdict::Better);
        with_fewest += u32::from(verdict(&draw(rule.needed)) == Verdict::Better);
    }
    assert!(asked >= 25 && decided * 10 >= asked * 5, "{decided} of {asked}, with the fewest {with_fewest}");
    assert!(decided > with_fewest, "{decided} and {with_fewest} of {asked}");
}
