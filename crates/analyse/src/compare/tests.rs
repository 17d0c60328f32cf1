//! Two runs made by the fixture, with what a comparison must say of them.

use super::*;
use crate::analyse;
use crate::findings::{CheckId, QuantileValue};
use crate::fixture::{RunBuilder, case, run, run_of};
use crate::fixture_rounds::searched_case;
use stend_base::Nanos;
use stend_base::histogram::Sparse;
use stend_record::{Censored, EventKind};
use stend_spec::arm::Switch;
use stend_spec::workload::{OPS, Op, Sync};

fn compared(records: &[RunRecord]) -> Comparison {
    let findings: Vec<Findings> = records.iter().map(|r| analyse(r).unwrap()).collect();
    compare(&records.iter().zip(&findings).collect::<Vec<_>>(), &Options::default())
}

fn six(iops: f64) -> RunRecord {
    run().six_blocks(&[iops]).record()
}

fn other(comparison: &Comparison) -> &Side {
    comparison.cases[0].sides[1].as_ref().unwrap()
}

#[test]
fn a_rate_is_told_relative_to_the_baseline_with_an_interval_over_independent_trials() {
    let found = compared(&[six(10_000.0), six(11_000.0)]);
    let ratio = other(&found).rate_ratio.clone().unwrap();
    assert_eq!(ratio.basis, RatioBasis::Trials { baseline: 6, other: 6 });
    let (low, high) = ratio.interval.unwrap();
    assert!(matches!(ratio.value, RatioValue::At(v) if (v - 1.1).abs() < 1e-3), "{ratio:?}");
    assert!(1.08 < low && low < 1.1 && 1.1 < high && high < 1.12, "{low} {high}");
    assert_eq!(ratio.includes_one(), Some(false));
    assert!(found.cases[0].sides[0].as_ref().unwrap().rate_ratio.is_none(), "the baseline is not compared with itself");
}

#[test]
fn the_rates_of_a_mix_are_told_for_each_operation_and_only_the_total_is_judged() {
    let mix = |iops: f64| run_of(vec![case("mix", 70, 32, Sync::None)]).six_blocks(&[iops]).record();
    let found = compared(&[mix(10_000.0), mix(11_000.0)]);
    let sides: Vec<&Side> = found.cases[0].sides.iter().flatten().collect();
    for side in &sides {
        let sum: f64 = side.parts.iter().map(|part| part.rates.iops.value).sum();
        assert!((sum - side.rate.value).abs() < 1e-6 * sum, "{sum} {:?}", side.rate);
    }
    let of: Vec<_> = sides[1].parts.iter().map(|part| (part.stream, part.op)).collect();
    assert_eq!(of, [(0, Op::Read), (0, Op::Write)]);
    for ratio in sides[1].parts.iter().flat_map(|part| part.ratios.as_ref().unwrap()) {
        let (low, high) = ratio.interval.unwrap();
        assert!(
            low < 1.1 && 1.1 < high && matches!(ratio.value, RatioValue::At(v) if (v - 1.1).abs() < 2e-3),
            "{ratio:?}"
        );
    }
    assert!(sides[0].parts.iter().all(|part| part.ratios.is_none()));
    assert_eq!(found.cells().filter(|cell| cell.metric == Metric::Rate).count(), 1);
    let alone = compared(&[six(10_000.0), six(11_000.0)]);
    assert!(other(&alone).parts.is_empty(), "a single kind of I/O is the total");
}

#[test]
fn an_operation_that_a_side_lacks_has_no_ratio() {
    let of = |reads| run_of(vec![case("mix", reads, 32, Sync::None)]).six_blocks(&[10_000.0]).record();
    let found = compared(&[of(100), of(70)]);
    assert!(found.cases[0].sides[0].as_ref().unwrap().parts.is_empty());
    let write = &other(&found).parts[1];
    assert_eq!((write.op, write.ratios.is_none()), (Op::Write, true));
}

#[test]
fn a_run_compared_with_its_like_includes_one() {
    let found = compared(&[six(10_000.0), six(10_010.0)]);
    assert_eq!(other(&found).rate_ratio.clone().unwrap().includes_one(), Some(true));
}

#[test]
fn one_trial_on_a_side_leaves_a_ratio_without_an_interval() {
    let found = compared(&[six(10_000.0), run().trial(0).iops(5_000.0).done().record()]);
    let ratio = other(&found).rate_ratio.clone().unwrap();
    assert_eq!((ratio.interval, ratio.basis), (None, RatioBasis::TooFewTrials));
    assert!(matches!(ratio.value, RatioValue::At(v) if (v - 0.5).abs() < 1e-2), "{ratio:?}");
    assert_eq!(ratio.includes_one(), None);
}

#[test]
fn a_p99_of_trials_long_enough_has_an_interval() {
    let found = compared(&[six(10_000.0), six(5_000.0)]);
    let ratio = other(&found).latencies[0].ratio.clone().unwrap();
    assert_eq!(ratio.basis, RatioBasis::Trials { baseline: 6, other: 6 });
    // In a closed loop half the rate is twice the latency.
    assert!(matches!(ratio.value, RatioValue::At(v) if (v - 2.0).abs() < 0.05), "{ratio:?}");
}

/// Trials of 100 I/Os each: too few for a p99 of their own, together enough.
fn short_trials(mut builder: RunBuilder, trials: usize) -> RunRecord {
    for _ in 0..trials {
        builder = builder.trial(0).iops(50.0).done();
    }
    builder.record()
}

#[test]
fn a_p99_of_short_trials_has_a_ratio_without_an_interval_and_one_of_too_few_io_has_neither() {
    let (long, short, tiny) = (six(50.0), short_trials(run(), 6), short_trials(run(), 2));
    let ratio = other(&compared(&[long.clone(), short])).latencies[0].ratio.clone().unwrap();
    assert!(matches!(ratio.value, RatioValue::At(_)) && ratio.interval.is_none(), "{ratio:?}");
    assert!(matches!(ratio.basis, RatioBasis::TrialsTooShort { have: 1..368, need: 368 }), "{ratio:?}");
    let ratio = other(&compared(&[long, tiny])).latencies[0].ratio.clone().unwrap();
    assert_eq!((ratio.value, ratio.basis), (RatioValue::Unknown, RatioBasis::NotEnough));
}

#[test]
fn a_latency_that_is_only_a_bound_gives_a_bound() {
    let hung = |o: &mut stend_record::TrialOutcome, _: &mut Vec<stend_record::Slice>| {
        let age = Nanos::secs(30);
        o.censored = vec![Censored { stream: 0, op: Op::Read, age, in_flight: age }; 1000];
    };
    let stalled = run().trial(0).change(hung).done().record();
    let fine = run().trial(0).done().record();
    let ratio = |runs: &[RunRecord]| other(&compared(runs)).latencies[0].ratio.clone().unwrap();
    assert!(matches!(ratio(&[fine.clone(), stalled.clone()]).value, RatioValue::Above(v) if v > 1000.0));
    assert!(matches!(ratio(&[stalled.clone(), fine]).value, RatioValue::Below(v) if v < 0.001));
    assert_eq!(ratio(&[stalled.clone(), stalled]).value, RatioValue::Unknown);
}

#[test]
fn a_case_without_a_counting_trial_has_no_ratio() {
    let found = compared(&[run().trial(0).unfinished().record(), six(10_000.0)]);
    let ratio = other(&found).rate_ratio.clone().unwrap();
    assert_eq!((ratio.value, ratio.interval), (RatioValue::Unknown, None));
    assert!(other(&found).latencies[0].ratio.is_none(), "the baseline has no such operation");
}

#[test]
fn cases_are_matched_by_label_and_the_rest_is_listed() {
    let named = |names: &[&str]| {
        let cases = names.iter().map(|name| case(name, 100, 4, Sync::None)).collect();
        run_of(cases).six_blocks(&vec![1000.0; names.len()]).record()
    };
    let found = compared(&[named(&["a", "b", "c"]), named(&["c", "d"]), named(&["b", "c", "d"])]);
    let cases: Vec<_> = found.cases.iter().map(|c| (c.label.as_str(), c.sides.iter().flatten().count())).collect();
    assert_eq!(cases, [("b", 2), ("c", 3)]);
    let left: Vec<_> = found.unmatched.iter().map(|u| (u.label.as_str(), u.runs.clone())).collect();
    assert_eq!(left, [("a", vec![0]), ("d", vec![1, 2])]);
    assert_eq!(found.cases[0].sides[1], None);
}

#[test]
fn a_label_that_means_another_workload_is_said() {
    let deep = run_of(vec![case("rand-read", 100, 64, Sync::None)]).six_blocks(&[1000.0]).record();
    let found = compared(&[six(1000.0), deep]);
    assert_eq!(found.cases[0].workloads.iter().map(|w| w.en.as_str()).collect::<Vec<_>>().len(), 2);
    assert!(compared(&[six(1000.0), six(1000.0)]).cases[0].workloads.is_empty());
}

#[test]
fn a_side_with_a_failed_check_names_it() {
    let mut zeros = six(10_000.0);
    zeros.load_mut().zeros = Some(stend_record::ZeroSample { sampled: 1000, zero: 900, contents: None });
    let found = compared(&[six(10_000.0), zeros]);
    assert_eq!(found.cases[0].sides[0].as_ref().unwrap().failed, Vec::<CheckId>::new());
    assert_eq!(other(&found).failed, [CheckId::H18]);
}

#[test]
fn nothing_and_hostile_histograms_are_compared_without_a_panic() {
    assert!(compare(&[], &Options::default()).cases.is_empty());
    let hostile = |o: &mut stend_record::TrialOutcome, _: &mut Vec<stend_record::Slice>| {
        o.jobs[0].latency[0] = Sparse { buckets: vec![(u32::MAX, u64::MAX)].into(), sum_ns: 1, min_ns: 0, max_ns: 0 };
        o.jobs[0].done = [(u64::MAX, u64::MAX); OPS];
    };
    let record = run().trial(0).change(hostile).done().trial(0).done().record();
    assert_eq!(compared(&[record.clone(), record]).cases.len(), 1);
}

/// Two arms whose rates rise threefold over the run, the second always 10 % above the first.
fn drifting(second: Switch) -> RunRecord {
    let mut run = run().arms(&[("before", Switch::None, "6.1"), ("after", second, "6.2")]);
    for block in 0..6 {
        let rate = 10_000.0 * (1.0 + 0.4 * f64::from(block));
        let noise = 1.0 + 0.001 * f64::from(block % 2);
        run = run.trial(0).block(block).iops(rate).done().trial(1).block(block).iops(rate * 1.1 * noise).done();
    }
    run.record()
}

fn arms(record: &RunRecord) -> Option<Comparison> {
    compare_arms(record, &analyse(record).unwrap(), &Options::default()).unwrap()
}

fn command() -> Switch {
    Switch::Command { enter: vec!["x".into()], leave: vec!["y".into()] }
}

#[test]
fn arms_that_alternated_are_compared_within_blocks_so_that_a_drift_cancels() {
    let found = arms(&drifting(command())).unwrap();
    let names: Vec<_> = found.runs.iter().map(|run| run.arm.as_deref().unwrap()).collect();
    assert_eq!((names, found.cases[0].label.as_str()), (vec!["before", "after"], "rand-read"));
    let ratio = other(&found).rate_ratio.clone().unwrap();
    assert_eq!(ratio.basis, RatioBasis::Blocks { n: 6 });
    let (low, high) = ratio.interval.unwrap();
    assert!(1.099 < low && high < 1.102, "{low} {high}");
    assert_eq!(found.changed.iter().map(|c| c.key.as_str()).collect::<Vec<_>>(), ["kernel"]);
}

#[test]
fn arms_one_after_the_other_are_two_independent_sets() {
    let found = arms(&drifting(Switch::Reboot { instruction: "boot 6.2".into() })).unwrap();
    let ratio = other(&found).rate_ratio.clone().unwrap();
    assert_eq!(ratio.basis, RatioBasis::Trials { baseline: 6, other: 6 });
    assert_eq!(ratio.includes_one(), Some(true), "the drift hides what the blocks would show: {ratio:?}");
}

#[test]
fn a_run_without_a_second_arm_has_nothing_to_compare() {
    assert_eq!(arms(&six(1000.0)), None);
    let mut record = drifting(command());
    record.events.retain(|event| !matches!(event.kind, EventKind::Arm { arm: 1, .. }));
    assert_eq!(arms(&record), None);
}

/// Six blocks with these rates.
fn blocks(rates: [f64; 6]) -> RunRecord {
    let add = |run: RunBuilder, (block, rate): (u32, f64)| run.trial(0).block(block).iops(rate).done();
    (0..).zip(rates).fold(run(), add).record()
}

fn status_of(comparison: &Comparison, id: CheckId) -> (crate::findings::CheckStatus, String) {
    let found = comparison.checks.iter().find(|check| check.id == id).unwrap();
    (found.status, found.measured.en.clone())
}

#[test]
fn a_run_that_drifted_is_told_and_one_that_varies_is_not() {
    use crate::findings::CheckStatus::{NotMeasurable, Pass, Warn};
    let still = blocks([10_000.0, 10_200.0, 9_900.0, 10_100.0, 9_950.0, 10_050.0]);
    let drifting = blocks([10_000.0, 10_300.0, 10_500.0, 10_900.0, 11_000.0, 11_350.0]);
    let h71 = |other: &RunRecord| status_of(&compared(&[still.clone(), other.clone()]), CheckId::H71);
    assert_eq!(h71(&still).0, Pass);
    let found = h71(&drifting);
    assert!(found.0 == Warn && found.1.starts_with("+13."), "{found:?}");
    let short = run().trial(0).block(0).done().trial(0).block(1).done().record();
    assert_eq!(status_of(&compared(&[short.clone(), short]), CheckId::H71).0, NotMeasurable);
    // A slope that is certain and smaller than what does not matter.
    let little = blocks([10_000.0, 10_010.0, 10_020.0, 10_030.0, 10_040.0, 10_050.0]);
    assert_eq!(status_of(&compared(&[little.clone(), little]), CheckId::H71).0, Pass);
}

#[test]
fn rates_that_only_one_search_tried_are_not_missing() {
    let searched = searched_case("oltp");
    let tried = |rung: u32| run_of(vec![searched.clone()]).trial(0).done().trial(rung).done().record();
    let found = compared(&[tried(1), tried(2)]);
    assert!(found.cases.len() == 1, "{:?}", found.cases.iter().map(|case| &case.label).collect::<Vec<_>>());
    let told = found.checks.iter().find(|check| check.id == CheckId::H73).unwrap();
    assert!(!told.measured.en.contains("missing"), "{told:?}");
}

#[test]
fn a_test_of_cause_that_was_not_run_is_not_missing() {
    let suite = || run_of(vec![case("a", 100, 32, Sync::None)]);
    let mut record = suite().trial(0).done().record();
    record.header.inputs.suite.confirm = vec![stend_spec::confirm::Test::Depth];
    assert_eq!(analyse(&record).unwrap().not_run.len(), 1);
    let found = compared(&[record.clone(), record]);
    assert_eq!(status_of(&found, CheckId::H73), (crate::findings::CheckStatus::Pass, "1 of 1 cases".into()));
}

#[test]
fn a_case_that_one_run_lacks_is_told_with_its_reason() {
    use crate::findings::CheckStatus::{Pass, Warn};
    let cases = || run_of(vec![case("a", 100, 32, Sync::None), case("b", 100, 8, Sync::None)]);
    let whole = cases().six_blocks(&[9_000.0, 20_000.0]).record();
    let half = cases().trial(0).done().record();
    let (all, some) = (compared(&[whole.clone(), whole.clone()]), compared(&[whole, half]));
    assert_eq!(status_of(&all, CheckId::H73), (Pass, "2 of 2 cases".into()));
    let told = "1 of 2 cases; missing: b (the run ended before its turn)";
    assert_eq!(status_of(&some, CheckId::H73), (Warn, told.into()));
}

/// Rates of a case in each block, by run or arm; everything lies far apart, so that geometric and arithmetic means differ.
const WILD: [f64; 6] = [10_000.0, 2_000.0, 30_000.0, 9_000.0, 500.0, 15_000.0];

fn of_rates(rates: &[f64]) -> RunRecord {
    let trials = (0..).zip(rates).fold(run(), |run, (block, iops)| run.trial(0).block(block).iops(*iops).done());
    trials.record()
}

/// Every ratio of a comparison against the quotient of the two values beside it.
fn agrees(found: &Comparison) {
    let side = |run: usize| found.cases[0].sides[run].as_ref().unwrap();
    let quotient = side(1).rate.value / side(0).rate.value;
    let p99 = |run: usize| match side(run).latencies[0].p99.value {
        QuantileValue::At(value) => value.0 as f64,
        other => panic!("{other:?}"),
    };
    for (ratio, quotient) in [
        (side(1).rate_ratio.as_ref().unwrap(), quotient),
        (side(1).latencies[0].ratio.as_ref().unwrap(), p99(1) / p99(0)),
    ] {
        let RatioValue::At(value) = ratio.value else { panic!("{ratio:?}") };
        let (low, high) = ratio.interval.unwrap();
        assert!((value / quotient - 1.0).abs() < 1e-9 && low <= value && value <= high, "{quotient}: {ratio:?}");
    }
}

#[test]
fn a_ratio_is_the_quotient_of_the_values_beside_it_and_lies_in_its_interval() {
    let other: Vec<f64> = WILD.iter().rev().map(|rate| rate * 3.0).collect();
    agrees(&compared(&[of_rates(&WILD), of_rates(&other)]));
    let arms = (0..).zip(WILD.iter().zip(&other)).fold(two_arms(), |run, (block, (a, b))| {
        run.trial(0).block(block).iops(*a).done().trial(1).block(block).iops(*b).done()
    });
    let record = arms.record();
    agrees(&compare_arms(&record, &analyse(&record).unwrap(), &Options::default()).unwrap().unwrap());
}

fn two_arms() -> RunBuilder {
    let command = Switch::Command { enter: vec!["x".into()], leave: vec!["y".into()] };
    run().arms(&[("a", Switch::None, "6.1"), ("b", command, "6.2")])
}

#[test]
fn a_block_that_one_arm_lacks_does_not_move_the_ratio() {
    // The machine gets ten times as fast; the second arm is 5 % faster all the time, and has no trial in the last block.
    let mut run = two_arms();
    for (block, iops) in (0..).zip([1_000.0, 2_000.0, 3_000.0, 5_000.0, 7_000.0, 10_000.0, 10_000.0]) {
        run = run.trial(0).block(block).iops(iops).done();
        if block < 6 {
            run = run.trial(1).block(block).iops(iops * 1.05).done();
        }
    }
    let record = run.record();
    let found = compare_arms(&record, &analyse(&record).unwrap(), &Options::default()).unwrap().unwrap();
    let ratio = found.cases[0].sides[1].as_ref().unwrap().rate_ratio.as_ref().unwrap();
    let (low, high) = ratio.interval.unwrap();
    assert_eq!(ratio.basis, RatioBasis::Blocks { n: 6 });
    assert!(
        matches!(ratio.value, RatioValue::At(v) if (v - 1.05).abs() < 1e-3) && low > 1.03 && high < 1.07,
        "{ratio:?}"
    );
}
