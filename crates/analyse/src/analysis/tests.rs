//! The whole way: a small run against a golden file, and records that no run should leave.

use super::*;
use crate::fixture::{case, run, run_of};
use expect_test::expect_file;
use proptest::prelude::*;
use stend_base::histogram::Sparse;
use stend_base::{Bytes, Lang, MilliIops, Nanos, Share};
use stend_record::observed::{Drained, OpenSlice, OpenTotals, Phase};
use stend_record::probes::{Probes, Silence};
use stend_record::verification::{Checked, Defect, Found, Mismatch, ReadBack, Verification};
use stend_record::{
    Censored, Entry, Event, EventKind, IoErrors, IoLogTotals, JobTotals, Slice, TrialOutcome, TrialRecord, TrialStatus,
    ZeroSample,
};
use stend_spec::prober::{NoProber, Prober, Probing};
use stend_spec::rate::{Gaps, Rate};
use stend_spec::workload::{Op, Sync, Verify};

/// Two cases in six blocks, and one that was not allowed to run.
fn small_run() -> RunRecord {
    let cases = vec![case("rand-read", 100, 32, Sync::None), case("durable-write", 0, 1, Sync::Fdatasync(1))];
    let mut record = run_of(cases).six_blocks(&[84_200.0, 1_234.0]).record();
    for (at, phase) in [(100, Phase::Preflight), (101, Phase::Measure), (140, Phase::CleanUp)] {
        record.events.push(Event::new(Nanos::secs(at), EventKind::Phase(phase)));
    }
    record
}

#[test]
fn another_order_of_laying_out_names_no_trial_of_an_old_run_anew() {
    let mut record = small_run();
    let plan = record.plan().unwrap().into_owned();
    record.apply(Entry::Plan(Box::new(plan)));
    let labels = |record: &RunRecord| -> Vec<String> {
        analyse(record).unwrap().cases.into_iter().map(|case| case.label).collect()
    };
    let before = labels(&record);
    record.header.inputs.suite.cases.reverse();
    assert_ne!(Plan::new(&record.header.inputs).unwrap().cases[0].name, before[0], "the order has changed");
    assert_eq!(labels(&record), before);
}

#[test]
fn the_findings_of_a_small_run_are_those_of_the_golden_file() {
    let mut findings = analyse(&small_run()).unwrap();
    // Charts have their own golden file; here they would hide the rest.
    findings.charts.clear();
    findings.cases.iter_mut().for_each(|case| case.charts.clear());
    let json = serde_json::to_string_pretty(&findings).unwrap();
    expect_file!["../../tests/golden/small_run.json"].assert_eq(&(json + "\n"));
}

#[test]
fn findings_survive_a_way_through_json() {
    let findings = analyse(&small_run()).unwrap();
    let json = serde_json::to_string(&findings).unwrap();
    assert!(!json.contains("null,null"));
    assert_eq!(serde_json::from_str::<Findings>(&json).unwrap().verdict, findings.verdict);
}

#[test]
fn a_run_that_has_only_begun_has_findings() {
    let mut record = RunRecord::new(run().record().header);
    let findings = analyse(&record).unwrap();
    assert_eq!((findings.cases.len(), findings.elapsed, findings.targets.join(" ")), (0, Nanos(0), "/srv".to_string()));
    assert_eq!(findings.not_run[0].reason.en, "its turn has not come yet");
    record.decisions.push(Decision::Stop(StopReason::TargetFailed));
    assert_eq!(analyse(&record).unwrap().not_run[0].reason.en, "the target had failed before its turn");
}

#[test]
fn a_case_that_was_not_allowed_says_why() {
    let mut record =
        run_of(vec![case("read", 100, 1, Sync::None), case("write", 0, 1, Sync::None)]).trial(0).done().record();
    record.header.inputs.target.writes = Err(say!("needs --confirm", "нужен --confirm"));
    let findings = analyse(&record).unwrap();
    assert_eq!(
        (findings.not_run[0].label.as_str(), findings.not_run[0].reason.en.as_str()),
        ("write", "needs --confirm")
    );
}

#[test]
fn a_run_killed_in_any_trial_keeps_the_trials_before() {
    let whole = small_run();
    for keep in 0..whole.trials.len() {
        let mut cut = whole.clone();
        cut.state = RunState::Open;
        cut.trials.truncate(keep + 1);
        let last = &mut cut.trials[keep];
        last.outcome = None;
        last.slices.truncate(keep);
        let findings = analyse(&cut).unwrap();
        let counted: u32 = findings.cases.iter().map(|case| case.trials).sum();
        assert_eq!(counted as usize, keep);
    }
}

/// Numbers that a damaged file may hold: small, typical, and the edges.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 1u64..200, any::<u32>().prop_map(u64::from), any::<u64>(), Just(u64::MAX)]
}

/// Moments and lengths of a few seconds, seldom anything at all.
fn moment() -> impl Strategy<Value = u64> {
    prop_oneof![9 => 0u64..10_000_000_000, 1 => number()]
}

fn sparse() -> impl Strategy<Value = Sparse> {
    (prop::collection::vec((any::<u32>().prop_map(|g| g % 3000), number()), 0..4), any::<u128>(), number(), number())
        .prop_map(|(buckets, sum_ns, min_ns, max_ns)| Sparse { buckets: buckets.into(), sum_ns, min_ns, max_ns })
}

fn op() -> impl Strategy<Value = Op> {
    prop::sample::select(Op::ALL.to_vec())
}

prop_compose! {
    fn slice()(
        interval in prop_oneof![0u32..40, any::<u32>()], span in 0u32..4, stream in 0u16..3, op in op(),
        numbers in [number(), number(), number(), number()], latency in prop::option::of(sparse()),
    ) -> Slice {
        let [ops, bytes, errors, latency_max_ns] = numbers;
        let open = (span > 1).then(|| Box::new(OpenSlice {
            due: bytes,
            begun: ops,
            late_sum_ns: errors,
            late_max_ns: latency_max_ns,
            service: latency.clone(),
        }));
        Slice { interval: interval.min(100_000), span, stream, op, ops, bytes, errors, latency_max_ns, latency, open }
    }
}

prop_compose! {
    fn job()(
        stream in 0u16..3, done in Op::ALL.map(|_| (number(), number())),
        latency in Op::ALL.map(|_| sparse()), times in [prop::option::of(number()), prop::option::of(number()), prop::option::of(number())],
    ) -> JobTotals {
        JobTotals { stream, job: 0, done, service: times[0].map(|_| latency.clone()), latency, cpu_ns: times[0], run_delay_ns: times[1], cpu_max_ns: times[2], batch_span_ns: times[0], submissions: None }
    }
}

/// Any counts, and one example.
fn verification((ok, wrong, address): (u64, u64, u64)) -> Verification {
    let running = Checked { ok, defects: [wrong; 7], ..Checked::default() };
    let found = Found::Sector { run: ok, epoch: 1, address: wrong, sequence: address };
    let (defect, oldest, newest) = (Defect::Torn, wrong as u32, ok as u32);
    let example = Mismatch { stream: 0, after: true, defect, address, run: wrong, epoch: 2, oldest, newest, found };
    let after = ReadBack::Made { checked: running, unread: address };
    Verification { memory: Bytes(0), running, after, examples: vec![example] }
}

prop_compose! {
    fn probes()(parts in [sparse(), sparse(), sparse()], times in [moment(), moment()], numbers in [number(), number(), number()]) -> Probes {
        let [response, service, unanswered] = parts;
        let [bytes, begun, lasted] = numbers;
        let longest = Some(Silence { since: Nanos(times[0]), until: Nanos(times[1]), ended: begun % 2 == 0 });
        let (errors, cpu_ns) = (vec![(5, begun), (5, bytes)], Some(lasted));
        Probes { response, service, unanswered, errors, longest, bytes, begun, lasted: Nanos(lasted), cpu_ns, cpus: vec![1] }
    }
}

prop_compose! {
    fn outcome()(
        status in prop::sample::select(vec![TrialStatus::Complete, TrialStatus::Stalled, TrialStatus::Failed]),
        times in [moment(), moment(), moment()], jobs in prop::collection::vec(job(), 0..3),
        drained in prop::collection::vec((0u16..3, op(), sparse()), 0..2),
        open in prop::collection::vec((0u16..3, number(), sparse(), Op::ALL.map(|_| sparse())), 0..2),
        censored in prop::collection::vec((0u16..3, op(), number()), 0..2),
        errors in prop::collection::vec((op(), any::<i32>(), number()), 0..2),
        clocks in [(number(), number(), number()), (number(), number(), number())],
        probes in prop::option::of(probes().boxed()),
    ) -> TrialOutcome {
        let [(recorded, dropped, beyond), (failed, ..)] = clocks;
        let log = IoLogTotals { recorded, dropped, beyond, failed, ..IoLogTotals::default() };
        TrialOutcome {
            status,
            load_start: Nanos(times[0]),
            window_start: Nanos(times[1]),
            window_end: Nanos(times[2]),
            engine: Default::default(),
            jobs,
            drained: drained.into_iter().map(|(stream, op, latency)| Drained { stream, op, latency, service: None }).collect(),
            censored: censored.into_iter().map(|(stream, op, age)| Censored { stream, op, age: Nanos(age), in_flight: Nanos(age) }).collect(),
            open: open
                .into_iter()
                .map(|(stream, due, own_late, never_begun)| OpenTotals { stream, due, late: own_late.clone(), own_late, never_begun })
                .collect(),
            errors: errors
                .into_iter()
                .map(|(op, errno, count)| IoErrors { stream: 0, op, errno, count, first_offset: Some(0) })
                .collect(),
            probes,
            verification: Some(verification(clocks[0])),
            io_log: (clocks[0].1 % 2 == 1).then_some(log),
            tool_output: None,
            app: None,
            clocks,
        }
    }
}

prop_compose! {
    fn trial()(
        case in prop_oneof![0u32..3, any::<u32>()], block in any::<u32>(), started in moment(), window in moment(),
        slices in prop::collection::vec(slice(), 0..6), outcome in prop::option::of(outcome().boxed()),
    ) -> TrialRecord {
        let mut asked = small_asked();
        asked.window = Nanos(window);
        let rate = Rate::constant(MilliIops(1 + window % 10_000_000), Gaps::Poisson);
        asked.streams[0].rate = (block % 2 == 1).then_some(rate);
        let prober = Prober { rate: MilliIops(window % 3), op: Op::Write, block: Bytes(block.into()), region: asked.region };
        asked.probing = if block % 5 > 1 { Probing::By(prober) } else { Probing::None(NoProber::TooShort) };
        asked.streams[0].verify = (block % 3 == 1).then_some(Verify { after: true, crash: false });
        asked.io_log = (block % 2 == 1).then_some(Bytes(window));
        let begun = TrialRecord::new(0, (case, block), asked, Nanos(started));
        TrialRecord { slices, logged: window, outcome, ..begun }
    }
}

fn small_asked() -> stend_spec::workload::Trial {
    run().trial(0).done().record().trials[0].asked.clone()
}

/// As many as matter once a night; in every build some, of which each takes a tenth of a second.
fn damaged() -> ProptestConfig {
    let cases = if std::env::var_os("STEND_NIGHTLY").is_some() { 1000 } else { 64 };
    ProptestConfig { cases, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(damaged())]

    #[test]
    fn no_record_however_damaged_makes_it_panic_or_leave_the_numbers(
        trials in prop::collection::vec(trial().boxed(), 0..5),
        samples in prop::collection::vec((moment(), number(), number()), 0..8),
        zeros in prop::option::of((any::<u32>(), any::<u32>())),
        merged in number(),
    ) {
        let mut record = small_run();
        let checks = analyse(&record).unwrap().cases[0].checks.len();
        let mut kept = record.load().samples[0].clone();
        record.trials = trials;
        record.load_mut().samples = samples.into_iter().map(|(at, bytes, cpu)| {
            kept.at = Nanos(at);
            kept.disks.iter_mut().for_each(|d| (d.read_bytes, d.write_bytes) = (bytes, cpu));
            kept.cpus.iter_mut().flatten().for_each(|c| (c.user_ns, c.idle_ns) = (cpu, bytes));
            kept.worker.iter_mut().for_each(|w| w.cpu_ns = cpu);
            kept.cost_ns = bytes;
            kept.clone()
        }).collect();
        record.load_mut().zeros = zeros.map(|(sampled, zero)| ZeroSample { sampled, zero, contents: None });
        record.events.push(Event::new(Nanos(merged), EventKind::IntervalsMerged { count: merged }));
        let findings = analyse(&record).unwrap();
        for case in &findings.cases {
            let estimates = case.ops.iter().map(|op| &op.rates).chain([&case.total]).flat_map(|r| [&r.iops, &r.throughput]);
            for estimate in estimates {
                prop_assert!(estimate.value.is_finite());
                prop_assert!(estimate.interval.is_none_or(|(low, high)| 0.0 <= low && low <= high && high.is_finite()));
            }
            // No check is lost by what is damaged, and each is there once.
            prop_assert!(case.checks.windows(2).all(|pair| pair[0].id < pair[1].id));
            prop_assert_eq!(case.checks.len(), checks);
        }
        for chart in findings.charts.iter().chain(findings.cases.iter().flat_map(|c| &c.charts)) {
            check_chart(chart)?;
        }
        let probed = findings.cases.iter().flat_map(|case| case.prober.as_ref().map(|p| p.say()).or(case.no_prober.clone()));
        for say in findings.caveats.iter().map(|c| c.say()).chain([findings.verdict.clone()]).chain(probed) {
            prop_assert!(!say.get(Lang::En).is_empty() && !say.get(Lang::Ru).is_empty());
        }
    }
}

proptest! {
    #[test]
    fn a_quantile_lies_inside_its_interval(parts in prop::collection::vec(sparse(), 1..9), q in 0.01f64..0.9999, effect in 1.0f64..9.0) {
        let mut distribution = stend_stats::distribution::Distribution::default();
        for part in &parts {
            let mut trial = stend_stats::distribution::Distribution::default();
            trial.add(part);
            distribution.join(&trial);
        }
        let found = distribution.quantile(Share(q), Some(effect));
        if let (crate::findings::QuantileValue::At(value), Some((low, high))) = (found.value, found.interval) {
            prop_assert!(low <= value && value <= high, "{:?}", found);
        }
    }
}

/// What every chart keeps: finite numbers, ascending x, ranges with an inside, few lines and points.
fn check_chart(chart: &crate::Chart) -> std::result::Result<(), TestCaseError> {
    let axes = chart.panes.iter().map(|pane| &pane.y).chain([&chart.x]);
    for axis in axes {
        prop_assert!(axis.from.is_finite() && axis.to.is_finite() && axis.from < axis.to, "{:?}", axis);
    }
    for pane in &chart.panes {
        prop_assert!(!pane.series.is_empty() && pane.series.len() <= 6);
        for series in &pane.series {
            prop_assert!(series.points.len() <= 600 && series.variant < 6);
            prop_assert!(series.points.windows(2).all(|w| w[0].x <= w[1].x));
            let finite = |p: &crate::chart::Point| p.x.is_finite() && p.y.is_none_or(f64::is_finite);
            prop_assert!(series.points.iter().all(finite));
        }
    }
    Ok(())
}

#[test]
fn what_is_judged_without_charts_is_the_same_but_for_them() {
    let record = run().trial(0).done().trial(0).block(1).done().record();
    let mut drawn = analyse(&record).unwrap();
    assert!(!drawn.charts.is_empty() && drawn.cases.iter().all(|case| !case.charts.is_empty()));
    drawn.charts.clear();
    drawn.cases.iter_mut().for_each(|case| case.charts.clear());
    assert_eq!(judge(&record).unwrap(), drawn);
}
