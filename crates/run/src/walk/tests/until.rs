//! A run that goes on until its cases are precise, in one session or in several.

use super::*;
use stend_record::{JobTotals, RunHeader, RunRecord, TrialRecord};

mod steady;

/// A suite that goes on until its rate is known to ± 2 %, at most 20 times.
fn until_precise() -> Asked {
    let text = "suite: t\nfill: {size: 64MiB}\nrepeats: {blocks: 20, until: {width: 2%, p99: none}}\ncases:\n  \
                - {name: r, streams: [{op: read, pattern: random, block_size: 4KiB}]}\n";
    Asked { suite: stend_spec::parse::suite(text, "t.yaml").unwrap(), ..asked() }
}

/// A trial of a second with so many reads.
fn with_reads(ordinal: u32, reads: u64) -> Reply {
    let Reply::TrialDone { mut outcome, .. } = done(ordinal, TrialStatus::Complete) else { unreachable!() };
    outcome.window_end = Nanos::secs(1);
    outcome.jobs = vec![JobTotals {
        done: Op::ALL.map(|op| if op == Op::Read { (reads, reads * 4096) } else { (0, 0) }),
        ..JobTotals::empty(0, 0)
    }];
    Reply::TrialDone { ordinal, outcome }
}

/// A walk in its first trial.
fn measuring(asked: Asked) -> Walk {
    let mut walk = Walk::new(asked, Nanos(0));
    for reply in [facts(), Reply::Prepared, Reply::Taken, filled(Bytes::mib(64)), Reply::Zeros(ZeroSample::default())] {
        say_to(&mut walk, reply);
    }
    assert!(matches!(walk.step, Step::Trial { .. }), "{:?}", walk.step);
    walk
}

/// Trials that a walk makes if they have these rates, over and over.
fn trials(rates: &[u64]) -> u32 {
    let mut walk = measuring(until_precise());
    for (ordinal, reads) in (0..).zip(rates.iter().cycle()) {
        if say_to(&mut walk, with_reads(ordinal, *reads)) == ["release"] {
            return walk.trials;
        }
        assert!(ordinal < 100, "no end");
    }
    0
}

#[test]
fn a_run_ends_at_the_first_look_at_which_it_is_precise_and_at_the_latest_after_all_blocks() {
    assert_eq!(trials(&[1000, 1003]), 6);
    // Deviation 2.1 %: ± 1.7 % after eight trials, of which 1.2 % are asked for, ± 1.3 % after twelve.
    assert_eq!(trials(&[980, 1020]), 12);
    assert_eq!(trials(&[900, 1100]), 20);
}

#[test]
fn trials_of_fewer_hosts_begin_a_new_count_also_where_the_lost_one_had_measured_its_part() {
    // How many trials there are if the second host is lost after so many whole ones.
    let trials = |whole_ones: u32| {
        let mut walk = measuring(until_precise());
        for ordinal in 0..100 {
            let Reply::TrialDone { outcome, .. } = with_reads(ordinal, 1000 + u64::from(ordinal % 2)) else {
                unreachable!()
            };
            let hosts = if ordinal < whole_ones { 0..2 } else { 0..1 };
            let parts = hosts.map(|host| (HostId(host), (*outcome).clone())).collect();
            walk.apply(Input::TrialDone { ordinal, parts, whole: true }, Nanos(1));
            if requests(&mut walk) == ["release"] {
                return walk.trials;
            }
        }
        0
    };
    assert_eq!((trials(20), trials(5), trials(3)), (6, 11, 9));
}

/// A run of this plan that has been filled.
fn begun(inputs: PlanInputs, seen: &Facts) -> RunRecord {
    let mut record = RunRecord::new(RunHeader::new("R-1", inputs));
    record.load_mut().facts = Some(seen.host.clone());
    record.load_mut().targets = seen.targets.clone();
    record.load_mut().fill = Some(FillOutcome {
        written: Bytes::mib(64),
        elapsed: Nanos(1),
        passes: 1,
        block_size: Bytes::mib(1),
        ..FillOutcome::default()
    });
    record
}

#[test]
fn a_run_that_was_interrupted_stops_where_it_would_have_stopped() {
    let asked = until_precise();
    let Reply::Facts(seen) = facts() else { unreachable!() };
    let inputs = PlanInputs {
        suite: asked.suite.clone(),
        seed: 5,
        target: ahead::plan_target(&seen),
        time_budget: None,
        traces: Vec::new(),
    };
    let plan = Plan::new(&inputs).unwrap();
    let mut record = begun(inputs, &seen);
    record.trials = (0..5)
        .map(|trial| {
            let Reply::TrialDone { outcome, .. } = with_reads(trial, 1000 + u64::from(trial % 2)) else {
                unreachable!()
            };
            let asked = plan.trial(0, plan.trial_seed(trial, 0));
            TrialRecord { outcome: Some(*outcome), ..TrialRecord::new(trial, (0, trial), asked, Nanos(0)) }
        })
        .collect();
    let earlier = resume::progressed(&record).unwrap();
    assert_eq!(earlier.history.len(), 6);
    let mut walk = measuring(Asked { resume: Some(earlier), ..asked });
    assert_eq!(say_to(&mut walk, with_reads(5, 1000)), ["release"]);
}
