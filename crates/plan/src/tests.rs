//! Plans of real suites on imagined targets, and the decisions that follow from histories.

use super::*;
use crate::fixture;
use expect_test::{Expect, expect};
use stend_base::{Kind, Lang, format};
use stend_spec::suite::Fill;
use stend_spec::topology::Affinity;

const GIB: u64 = 1 << 30;

fn inputs(target: PlanTarget) -> PlanInputs {
    let suite = stend_spec::parse::suite(include_str!("../../../suites/quick/suite.yaml"), "quick").unwrap();
    PlanInputs { target, ..fixture::inputs(suite) }
}

fn directory(total: u64, free: u64) -> PlanTarget {
    PlanTarget { room: Some(Room { total: Bytes(total), free: Bytes(free) }), ..fixture::device(Bytes(0)) }
}

fn device(size: u64, writes: bool) -> PlanTarget {
    let refused = || Err(say!("needs --confirm=serial:X", "нужен --confirm=serial:X"));
    PlanTarget { writes: if writes { Ok(()) } else { refused() }, ..fixture::device(Bytes(size)) }
}

fn describe(plan: &Plan) -> String {
    let mut out = format!(
        "fill {:?} files {:?} trials {} time {}\n",
        plan.fill.map(|b| format::bytes(b, Lang::En)),
        plan.files.iter().map(|b| format::bytes(*b, Lang::En)).collect::<Vec<_>>(),
        plan.order.len(),
        format::duration(plan.trial_time(), Lang::En)
    );
    for case in &plan.cases {
        let state = case.not_run.as_ref().map_or("runs", |reason| &reason.en);
        out += &format!("{}: {state}\n", case.label());
    }
    for block in plan.order.chunk_by(|a, b| a.0 == b.0) {
        let cases: Vec<_> = block.iter().map(|(_, case)| case.to_string()).collect();
        out += &format!("block {}: {}\n", block[0].0, cases.join(" "));
    }
    out
}

fn check_plan(inputs: &PlanInputs, expected: Expect) {
    expected.assert_eq(&describe(&Plan::new(inputs).unwrap()));
}

#[test]
fn a_directory_runs_everything_in_mirrored_blocks() {
    check_plan(
        &inputs(directory(200 * GIB, 100 * GIB)),
        expect![[r#"
            fill Some("8 GiB") files ["8 GiB"] trials 48 time 2 min 24 s
            seq-read: runs
            seq-write: runs
            rand-read, queue_depth 1: runs
            rand-read, queue_depth 32: runs
            rand-write, queue_depth 1: runs
            rand-write, queue_depth 32: runs
            rand-mix: runs
            durable-write: runs
            block 0: 5 3 7 0 4 6 2 1
            block 1: 1 2 6 4 0 7 3 5
            block 2: 6 1 4 7 5 3 2 0
            block 3: 0 2 3 5 7 4 1 6
            block 4: 7 3 0 2 6 1 5 4
            block 5: 4 5 1 6 2 0 3 7
        "#]],
    );
}

#[test]
fn an_unconfirmed_device_runs_only_the_reads() {
    check_plan(
        &inputs(device(40 * GIB, false)),
        expect![[r#"
            fill None files [] trials 18 time 54 s
            seq-read: runs
            seq-write: needs --confirm=serial:X
            rand-read, queue_depth 1: runs
            rand-read, queue_depth 32: runs
            rand-write, queue_depth 1: needs --confirm=serial:X
            rand-write, queue_depth 32: needs --confirm=serial:X
            rand-mix: needs --confirm=serial:X
            durable-write: needs --confirm=serial:X
            block 0: 2 3 0
            block 1: 0 3 2
            block 2: 2 3 0
            block 3: 0 3 2
            block 4: 0 3 2
            block 5: 2 3 0
        "#]],
    );
}

#[test]
fn a_time_budget_scales_windows_and_the_fill() {
    let mut half = inputs(directory(200 * GIB, 100 * GIB));
    half.time_budget = Some(Nanos::secs(90));
    let plan = Plan::new(&half).unwrap();
    assert!(plan.trial_time() <= Nanos::secs(72), "{:?}", plan.trial_time());
    assert_eq!(plan.fill, Some(Bytes::gib(4)));
    half.time_budget = Some(Nanos::secs(5));
    let error = Plan::new(&half).unwrap_err().render(Lang::En);
    expect![[r#"
        error: --time-budget is too small: 8 cases need at least 30 s
        hint: raise it, or lower `--repeats`"#]]
    .assert_eq(&error);
}

#[test]
fn a_directory_without_room_is_refused() {
    let error = Plan::new(&inputs(directory(GIB, 50 << 20))).unwrap_err();
    assert_eq!(error.kind, Kind::Preflight);
    expect![[r#"
        error: no room for a test file of 64 MiB: 50 MiB are free and the file system may be filled to 80 % at most
        hint: name a directory with more free space"#]]
    .assert_eq(&error.render(Lang::En));
}

#[test]
fn a_file_of_no_named_size_takes_what_a_fuller_disk_may_give() {
    let fill = |free: u64| Plan::new(&inputs(directory(100 * GIB, free))).unwrap().fill;
    assert_eq!(fill(40 * GIB), Some(Bytes::gib(4)), "a tenth of what is free");
    assert_eq!(fill(21 * GIB), Some(Bytes::gib(1)), "up to 80 %");
    assert_eq!(Plan::new(&inputs(directory(100 * GIB, 20 * GIB))).unwrap_err().kind, Kind::Preflight);
}

#[test]
fn a_suite_that_no_disk_could_run_is_told_before_the_lack_of_room() {
    let mut inputs = inputs(directory(GIB, 50 << 20));
    let case = inputs.suite.cases[0].clone();
    inputs.suite.cases = vec![case; 20_000];
    assert_eq!(Plan::new(&inputs).unwrap_err().kind, Kind::Spec);
}

#[test]
fn a_device_smaller_than_one_block_per_job_has_no_case() {
    let error = Plan::new(&inputs(device(2048, true))).unwrap_err();
    assert_eq!(error.kind, Kind::Preflight);
}

#[test]
fn a_suite_that_only_writes_is_unsafe_without_confirmation() {
    let mut inputs = inputs(device(40 * GIB, false));
    inputs.suite.cases.retain(|case| case.streams.iter().all(|s| s.mix.writes()));
    assert_eq!(Plan::new(&inputs).unwrap_err().kind, Kind::Unsafe);
}

#[test]
fn the_same_history_gives_the_same_decision_until_done() {
    let plan = Plan::new(&inputs(directory(200 * GIB, 100 * GIB))).unwrap();
    let mut history = Vec::new();
    assert_eq!(plan.next(&history), Decision::Fill { len: Bytes::gib(8) });
    let mut trials = 0;
    loop {
        assert_eq!(plan.next(&history), plan.next(&history));
        match plan.next(&history) {
            Decision::Stop(reason) => break assert_eq!(reason, StopReason::Done),
            Decision::Trial { .. } => trials += 1,
            Decision::Fill { .. } | Decision::Round { .. } => {}
        }
        history.push(Outcome::Ok);
    }
    assert_eq!(trials, 48);
}

#[test]
fn a_case_is_given_up_after_two_failures_and_a_stall_ends_the_run() {
    let plan = Plan::new(&inputs(device(40 * GIB, false))).unwrap();
    let mut history = Vec::new();
    let mut trials = 0;
    while let Decision::Trial { .. } = plan.next(&history) {
        history.push(Outcome::Failed);
        trials += 1;
    }
    assert_eq!((trials, plan.next(&history)), (6, Decision::Stop(StopReason::AllCasesFailed)));
    assert_eq!(plan.next(&[Outcome::Ok, Outcome::Stalled]), Decision::Stop(StopReason::TargetFailed));
}

#[test]
fn a_failed_fill_ends_the_run() {
    let plan = Plan::new(&inputs(directory(200 * GIB, 100 * GIB))).unwrap();
    assert_eq!(plan.next(&[Outcome::Failed]), Decision::Stop(StopReason::TargetFailed));
}

#[test]
fn mirrored_blocks_give_every_case_the_same_mean_position() {
    let plan = Plan::new(&inputs(directory(200 * GIB, 100 * GIB))).unwrap();
    let n = plan.cases.len();
    let mut position = vec![0; n];
    for (index, (_, case)) in plan.order.iter().enumerate() {
        position[*case as usize] += index;
    }
    assert!(position.iter().all(|p| *p == position[0]), "{position:?}");
}

proptest::proptest! {
    #[test]
    fn no_target_makes_it_panic(total: u64, free: u64, size: u64, budget: Option<u64>, explicit: Option<u64>) {
        let mut a = inputs(directory(total, free.min(total)));
        a.time_budget = budget.map(Nanos);
        a.suite.fill = explicit.map(|b| Fill::Size(Bytes(b))).or(a.suite.fill);
        let mut b = a.clone();
        b.target = device(size, true);
        // Inputs are also read back from files that anybody may have changed.
        let mut c = a.clone();
        c.target.logical_block = Bytes(0);
        c.target.room = Some(Room { total: Bytes(free), free: Bytes(total) });
        c.suite.cases[0].ramp = Nanos(u64::MAX);
        for plan in [Plan::new(&a), Plan::new(&b), Plan::new(&c)].into_iter().flatten() {
            plan.trial_time();
        }
    }
}

#[test]
fn a_pattern_that_does_not_fit_the_region_is_listed_with_its_reason() {
    let not_run = |pattern: &str, size: u64| {
        let stream = format!("{{op: read, block_size: 4KiB, jobs: 2, pattern: {pattern}}}");
        let other = "{op: read, block_size: 4KiB, pattern: random}";
        let text =
            format!("suite: x\ncases:\n  - {{name: a, streams: [{stream}]}}\n  - {{name: b, streams: [{other}]}}\n");
        let suite = stend_spec::parse::suite(&text, "x").unwrap();
        let plan = Plan::new(&PlanInputs { suite, ..inputs(device(size, false)) }).unwrap();
        plan.cases[0].not_run.as_ref().map(|reason| reason.en.clone())
    };
    let (strided, zones) =
        ("{strided: {stride: 1MiB}}", "{zones: [{space: 1%, accesses: 9%}, {space: 99%, accesses: 91%}]}");
    assert_eq!(not_run(strided, 2 << 20), None);
    assert_eq!(not_run(strided, 1 << 20).unwrap(), "a job's region is smaller than one stride");
    assert_eq!(not_run(zones, 2 << 20), None);
    assert_eq!(not_run(zones, 1 << 20).unwrap(), "a zone is smaller than two blocks");
}

fn in_arms(arms: &str) -> PlanInputs {
    let text = format!(
        "suite: t\nrepeats: {{blocks: 4}}\n{arms}\ncases:\n\
         - {{name: a, streams: [{{op: read, pattern: random, block_size: 4KiB, queue_depth: [1, 2]}}]}}\n"
    );
    PlanInputs { suite: stend_spec::parse::suite(&text, "t").unwrap(), ..inputs(directory(200 * GIB, 100 * GIB)) }
}

#[test]
fn arms_alternate_in_mirrored_blocks() {
    check_plan(
        &in_arms("arms: [{name: x}, {name: y}, {name: z}]"),
        expect![[r#"
            fill None files ["8 GiB"] trials 24 time 1 min 36 s
            x: a, queue_depth 1: runs
            x: a, queue_depth 2: runs
            y: a, queue_depth 1: runs
            y: a, queue_depth 2: runs
            z: a, queue_depth 1: runs
            z: a, queue_depth 2: runs
            block 0: 3 2 1 0 5 4
            block 1: 4 5 0 1 2 3
            block 2: 3 2 1 0 5 4
            block 3: 4 5 0 1 2 3
        "#]],
    );
}

#[test]
fn arms_that_a_person_switches_follow_one_another() {
    let plan = Plan::new(&in_arms("arms: [{name: x}, {name: y, switch: {person: swap}}]")).unwrap();
    let arms: Vec<_> = plan.order.iter().map(|&(_, case)| plan.arm_of(case).unwrap()).collect();
    assert_eq!(arms, [vec![0; 8], vec![1; 8]].concat());
}

#[test]
fn a_case_has_the_same_seed_in_every_arm_and_another_in_every_block() {
    let plan = Plan::new(&in_arms("arms: [{name: x}, {name: y}]")).unwrap();
    let mut seeds = std::collections::BTreeMap::new();
    let mut history = Vec::new();
    while let Decision::Trial { case, block, seed } = plan.next(&history) {
        seeds.entry((block, case % 2)).or_insert_with(Vec::new).push(seed);
        history.push(Outcome::Ok);
    }
    assert!(seeds.values().all(|pair| pair.len() == 2 && pair[0] == pair[1]), "{seeds:?}");
    let distinct: std::collections::BTreeSet<_> = seeds.values().map(|pair| pair[0]).collect();
    assert_eq!(distinct.len(), 8);
}

#[test]
fn a_region_is_a_part_of_the_range_and_one_that_does_not_fit_says_so() {
    let with = |region: &str, jobs: u32| {
        let stream = format!("{{op: read, pattern: random, block_size: 1MiB, jobs: {jobs}, region: {region}}}");
        let text = format!(
            "suite: x\ncases:\n  - {{name: a, streams: [{stream}]}}\n  - name: b\n    streams: [{{op: read, pattern: random, block_size: 4KiB}}]\n"
        );
        let inputs = PlanInputs {
            suite: stend_spec::parse::suite(&text, "x").unwrap(),
            seed: 1,
            target: device(100 << 20, false),
            time_budget: None,
            traces: Vec::new(),
        };
        let case = Plan::new(&inputs).unwrap().cases.remove(0);
        (case.trial.streams[0].region.unwrap(), case.not_run.map(|why| why.en))
    };
    let mib = |start, len| Region { start: Bytes::mib(start), len: Bytes::mib(len) };
    assert_eq!(with("{start: 25%, size: 50%}", 50), (mib(25, 50), None));
    assert_eq!(with("{start: 90MiB}", 10), (mib(90, 10), None));
    let small = "the range has 10 MiB, and each of 11 jobs needs a block of 1 MiB";
    assert_eq!(with("{start: 90MiB}", 11).1.as_deref(), Some(small));
    assert_eq!(
        with("{start: 512B, size: 1MiB}", 1).1.as_deref(),
        Some("no whole block of 1 MiB for each job lies in the range")
    );
    assert_eq!(
        with("{start: 90MiB, size: 11MiB}", 1).1.as_deref(),
        Some("the region of a stream ends at 101 MiB, beyond the range of 100 MiB")
    );
}

#[test]
fn a_place_that_is_not_there_is_an_error_and_a_machine_that_is_too_simple_does_not_run_the_case() {
    let planned = |place: &str| {
        let stream = format!("{{op: read, pattern: random, block_size: 4KiB, {place}}}");
        let plain = "{op: read, pattern: random, block_size: 4KiB}";
        let text =
            format!("suite: x\ncases:\n  - {{name: a, streams: [{stream}]}}\n  - {{name: b, streams: [{plain}]}}\n");
        let suite = stend_spec::parse::suite(&text, "x").unwrap();
        Plan::new(&PlanInputs { suite, seed: 1, target: device(1 << 30, false), time_budget: None, traces: Vec::new() })
    };
    let case = |place| planned(place).unwrap().cases.remove(0);
    assert_eq!(case("cpus: [1]").trial.streams[0].place, Affinity { cpus: vec![1], memory: None });
    assert_eq!(case("numa: local").trial.streams[0].place, Affinity { cpus: vec![0, 1], memory: Some(0) });
    assert_eq!(case("numa: remote").not_run.unwrap().en, "this machine has one NUMA node");
    let error = planned("numa: {cpu: 1}").unwrap_err();
    assert_eq!(
        (error.kind, error.message.en.as_str()),
        (Kind::Preflight, "case `a`: there is no NUMA node 1 here, only 0")
    );
}

#[test]
fn a_region_that_is_verified_has_one_writer() {
    let not_run = |other: &str| {
        let verified = "{op: write, pattern: random, block_size: 4KiB, region: {size: 50%}, verify: {after: true}}";
        let text = format!(
            "suite: x\ncases:\n  - {{name: a, streams: [{verified}, {{op: {other}, pattern: random, block_size: 4KiB, region: {{start: 49%}}}}]}}\n  - {{name: b, streams: [{{op: read, pattern: random, block_size: 4KiB}}]}}\n"
        );
        let suite = stend_spec::parse::suite(&text, "x").unwrap();
        let inputs =
            PlanInputs { suite, seed: 1, target: device(1 << 30, true), time_budget: None, traces: Vec::new() };
        Plan::new(&inputs).unwrap().cases.remove(0).not_run.map(|why| why.en)
    };
    let why = Some("another stream writes into the region of a verified one".to_string());
    assert_eq!((not_run("write"), not_run("discard"), not_run("read")), (why.clone(), why, None));
}

/// A suite with an ordinary case and a search over two depths.
fn searching() -> PlanInputs {
    let text = "suite: x\nrepeats: {blocks: 2}\ncases:\n  - name: a\n    streams:\n      - {op: read, pattern: random, \
                block_size: 4KiB, queue_depth: [16, 64], rate: {search: {from: 100/s, to: 1000/s, quantile: 99%, \
                limit: 5ms, precision: 100%}}}\n  - name: b\n    streams: [{op: read, pattern: random, block_size: 4KiB}]\n";
    PlanInputs { suite: stend_spec::parse::suite(text, "x").unwrap(), ..inputs(directory(100 * GIB, 50 * GIB)) }
}

#[test]
fn a_search_is_a_ladder_for_each_combination_of_the_other_axes_and_comes_last() {
    let plan = Plan::new(&searching()).unwrap();
    let labels: Vec<_> = plan.ladders.iter().map(|ladder| (ladder.label.as_str(), ladder.cells.as_slice())).collect();
    assert_eq!(labels, [("a, queue_depth 16", &[0, 1, 2, 3, 4][..]), ("a, queue_depth 64", &[5, 6, 7, 8, 9][..])]);
    assert_eq!(plan.order, [(0, 10), (1, 10)]);
    assert_eq!(plan.cases[1].label(), "a, queue_depth 16, rate poisson 200/s");
    assert_eq!(plan.rung(6).map(|(ladder, rung)| (ladder.label.as_str(), rung)), Some(("a, queue_depth 64", 1)));
    assert!(plan.rung(10).is_none());
    let mut history = vec![Outcome::Ok; 2];
    let mut tried = Vec::new();
    while let Decision::Trial { case, block, .. } = plan.next(&history) {
        tried.push((case, block));
        // The first serves 200/s, the second nothing.
        history.push(if case <= 1 { Outcome::Ok } else { Outcome::Missed });
    }
    assert_eq!(tried, [(0, 0), (1, 0), (2, 0), (1, 1), (1, 2), (2, 1), (2, 2), (5, 0), (5, 1), (5, 2)]);
    assert_eq!(plan.next(&history), Decision::Stop(StopReason::Done));
    let failed = [vec![Outcome::Ok; 2], vec![Outcome::Failed; 4]].concat();
    assert_eq!(plan.next(&failed), Decision::Stop(StopReason::Done), "the ordinary case has its trials");
}

#[test]
fn a_time_budget_counts_the_usual_trials_of_a_search() {
    let budget = Some(Nanos::secs(120));
    let plan = Plan::new(&PlanInputs { time_budget: budget, ..searching() }).unwrap();
    let time = plan.trial_time();
    assert!(time <= Nanos::secs(97) && time >= Nanos::secs(90), "{time:?}");
}

#[test]
fn a_search_that_cannot_run_is_listed_once_for_each_combination_of_the_other_axes() {
    let mut inputs = searching();
    inputs.suite.cases[0].streams[0].mix = stend_spec::workload::Mix::of_reads(50);
    inputs.target = device(GIB, false);
    let plan = Plan::new(&inputs).unwrap();
    let idle = |i: &u32| plan.cases[*i as usize].not_run.is_some();
    let listed: Vec<_> = (0..plan.cases.len() as u32).filter(idle).filter_map(|i| plan.listed_as(i)).collect();
    assert_eq!(listed, ["a, queue_depth 16", "a, queue_depth 64"]);
    assert!(plan.ladders.is_empty() && plan.order.len() == 2);
}

#[test]
fn a_null_device_is_not_filled() {
    let target = PlanTarget { null: Some(NullDevice::Zero), ..device(GIB, true) };
    let mut inputs = inputs(target);
    inputs.suite.cases.iter_mut().for_each(|case| case.direct = false);
    assert_eq!(Plan::new(&inputs).unwrap().fill, None);
}

#[test]
fn a_plan_that_leads_nowhere_does_not_hold_together() {
    let text = "suite: x\ncases:\n  - {name: a, streams: [{op: read, pattern: random, block_size: 4KiB}]}\n  - name: b\n    streams: \
        [{op: read, pattern: random, block_size: 4KiB, rate: {search: {from: 100/s, to: 200/s, quantile: 99%, limit: 5ms, curve: [50%]}}}]\n";
    let plan = Plan::new(&fixture::inputs(stend_spec::parse::suite(text, "x.yaml").unwrap())).unwrap();
    assert!(plan.holds_together());
    let broken: [fn(&mut Plan); 8] = [
        |plan| plan.order.push((0, 999)),
        |plan| plan.order = vec![(0, 0); TRIALS_MAX + 1],
        |plan| plan.ladders[0].cells.clear(),
        |plan| plan.ladders[0].cells[0] = 999,
        |plan| plan.ladders[0].blocks = u32::MAX,
        |plan| plan.cases.last_mut().unwrap().trial.streams.clear(),
        |plan| plan.targets = 0,
        |plan| plan.confirming.push((999, Confirming { of: 0, test: stend_spec::confirm::Test::Depth })),
    ];
    for (which, change) in broken.into_iter().enumerate() {
        let mut plan = plan.clone();
        change(&mut plan);
        assert!(!plan.holds_together(), "{which}");
    }
}
