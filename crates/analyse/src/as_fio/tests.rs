//! What Stend prints as fio, held against what it finds about the same run.

use super::*;
use crate::analyse;
use crate::findings::QuantileValue;
use crate::fixture::{case, imported, open_case, run, run_of};
use stend_base::Share;
use stend_record::fio_bins;
use stend_spec::workload::Sync;

fn of(record: &RunRecord, trials: Trials) -> Vec<GroupAsFio> {
    as_fio(record, trials).unwrap()
}

#[test]
fn rates_counts_and_percentiles_are_those_of_the_findings() {
    let cases = vec![case("mix", 70, 32, Sync::None), case("durable", 0, 1, Sync::Fdatasync(1))];
    let record = run_of(cases).six_blocks(&[9_000.0, 700.0]).record();
    let findings = analyse(&record).unwrap();
    let groups = of(&record, Trials::Together);
    assert_eq!(groups.len(), findings.cases.len());
    for group in &groups {
        let found = findings.cases.iter().find(|found| found.label == group.label).unwrap();
        let sides = &group.jobs[0].sides;
        assert_eq!(sides.len(), found.ops.len());
        for (side, op) in sides.iter().zip(&found.ops) {
            let latency = side.latency.as_ref().unwrap();
            assert_eq!((side.op, side.iops, side.throughput), (op.op, op.rates.iops.value, op.rates.throughput.value));
            assert_eq!((latency.kind, latency.count, latency.mean_ns), ("lat", op.count, op.latency_mean_ns));
            assert_eq!((latency.most_ns, fio_bins::count(&latency.bins)), (op.latency_max.0, op.count));
            for quantile in &op.quantiles {
                let told = latency.percentiles.iter().find(|(share, _)| *share == quantile.q).map(|(_, at)| *at);
                assert_eq!(told, quantile.value.single(), "{:?}", quantile.q);
            }
        }
    }
}

#[test]
fn each_trial_is_a_group_and_together_they_last_as_long_as_all() {
    let record = run().trial(0).iops(900.0).done().trial(0).iops(1100.0).done().record();
    let (each, all) = (of(&record, Trials::Each), of(&record, Trials::Together));
    assert_eq!(each.iter().map(|group| group.jobs[0].sides[0].iops).collect::<Vec<_>>(), [900.0, 1100.0]);
    assert!(each[0].began_unix_ms < each[1].began_unix_ms);
    let side = &all[0].jobs[0].sides[0];
    assert_eq!((all.len(), all[0].trials, side.iops), (1, 2, 1000.0));
    assert_eq!(all[0].runtime, each[0].runtime + each[1].runtime);
    assert_eq!(side.ios, each.iter().map(|group| group.jobs[0].sides[0].ios).sum::<u64>());
    assert!((side.ios as f64 / all[0].runtime.as_secs() - side.iops).abs() < 1e-6 * side.iops);
}

#[test]
fn a_trial_that_does_not_count_is_left_out() {
    let record = run().trial(0).done().trial(0).unfinished().record();
    assert_eq!(of(&record, Trials::Each).len(), 1);
    assert_eq!(of(&run().trial(0).unfinished().record(), Trials::Together), []);
}

#[test]
fn a_test_of_cause_is_no_result_of_the_suite() {
    let builder = run_of(vec![case("a", 100, 8, Sync::None)])
        .inputs(|inputs| inputs.suite.confirm = vec![stend_spec::confirm::Test::Depth]);
    let record = builder.trial(0).done().trial(1).done().record();
    assert_eq!(record.trials.len(), 2, "the case and its test");
    let told: Vec<u32> = of(&record, Trials::Each).iter().map(|group| group.case).collect();
    assert_eq!(told, [0]);
}

#[test]
fn an_open_loop_is_told_from_the_begin_of_an_io_as_fio_counts() {
    let record = run_of(vec![open_case("open", 10_000)]).trial(0).done().record();
    let found = &analyse(&record).unwrap().cases[0].ops[0];
    let told = of(&record, Trials::Together)[0].jobs[0].sides[0].latency.clone().unwrap();
    assert_eq!(told.mean_ns, found.service.as_ref().unwrap().mean_ns);
    assert!(told.mean_ns < found.latency_mean_ns);
}

#[test]
fn a_percentile_that_reaches_what_did_not_end_is_left_out() {
    let stuck = |o: &mut stend_record::TrialOutcome, _: &mut Vec<_>| {
        let age = Nanos::secs(30);
        let one = stend_record::observed::Censored { stream: 0, op: Op::Read, age, in_flight: age };
        o.censored.extend(std::iter::repeat_n(one, 5_000));
    };
    let record = run().trial(0).change(stuck).done().record();
    let found = analyse(&record).unwrap().cases[0].ops[0].clone();
    assert!(matches!(found.quantiles[1].value, QuantileValue::Above(_)));
    let told = of(&record, Trials::Together)[0].jobs[0].sides[0].latency.clone().unwrap();
    let shares: Vec<f64> = told.percentiles.iter().map(|(share, _)| share.0).collect();
    assert!(shares.contains(&0.5) && !shares.contains(&0.99), "{shares:?}");
    assert_eq!(told.count, found.count - 5_000);
}

#[test]
fn what_was_printed_without_a_histogram_is_told_as_it_was() {
    let mut record = imported(run().six_blocks(&[9_870.0]).record(), false);
    record.trials.truncate(1);
    let told = &mut record.trials[0].outcome.as_mut().unwrap().tool_output.as_mut().unwrap().ops[0];
    (told.percentiles, told.latency) = (vec![(990_000, 700)], "clat".into());
    let side = of(&record, Trials::Each)[0].jobs[0].sides[0].clone();
    let latency = side.latency.unwrap();
    assert_eq!((latency.kind, latency.percentiles), ("clat", vec![(Share(0.99), Nanos(700))]));
    assert!(latency.bins.is_empty() && latency.deviation_ns.is_none());
}

#[test]
fn every_io_is_in_one_coarse_class() {
    let record = run().trial(0).done().record();
    let marks = of(&record, Trials::Each)[0].jobs[0].marks.clone().unwrap();
    let sum: f64 = [&marks.ns, &marks.us, &marks.ms].into_iter().flatten().map(|(_, share)| share).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    assert_eq!((marks.ns.len(), marks.us.len(), marks.ms.len()), (10, 10, 12));
    assert_eq!(marks.ms.last().map(|(name, _)| name.as_str()), Some(">=2000"));
}

#[test]
fn rates_are_looked_at_every_half_second() {
    let record = run().trial(0).iops(1000.0).done().record();
    let side = of(&record, Trials::Each)[0].jobs[0].sides[0].clone();
    let (samples, window) = (side.iops_samples.unwrap(), record.trials[0].asked.window);
    assert_eq!(samples.count, window.0 / 500_000_000);
    assert!((samples.mean - 1000.0).abs() < 1.0 && samples.least <= samples.mean && samples.mean <= samples.most);
}
