//! A run whose case has rounds until it is steady, in one session or in several.

use super::*;

/// At most eight rounds of a second, and then two trials.
fn settling() -> Asked {
    let text = "suite: t\nfill: {size: 64MiB}\nrepeats: {blocks: 2}\ncases:\n  \
                - {name: r, steady: {rounds: 8, round: 1s}, streams: [{op: read, pattern: random, block_size: 4KiB}]}\n";
    Asked { suite: stend_spec::parse::suite(text, "t.yaml").unwrap(), ..asked() }
}

/// A walk in its first round.
fn in_rounds(asked: Asked) -> Walk {
    let mut walk = Walk::new(asked, Nanos(0));
    for reply in [facts(), Reply::Prepared, Reply::Taken, filled(Bytes::mib(64)), Reply::Zeros(ZeroSample::default())] {
        say_to(&mut walk, reply);
    }
    assert_eq!(walk.step, Step::Round { case: 0, round: 0 });
    walk
}

/// What a walk does with rounds and trials of these rates, in order: `r` for a round, `t` for a trial.
fn steps(walk: &mut Walk, rates: &[u64]) -> String {
    let letter = |step: Step| match step {
        Step::Round { round, .. } => format!("r{round}"),
        Step::Trial { block, .. } => format!("t{block}"),
        other => format!("{other:?}"),
    };
    let mut seen = vec![letter(walk.step)];
    for rate in rates {
        say_to(walk, with_reads(walk.trials - 1, *rate));
        seen.push(letter(walk.step));
    }
    seen.join(" ")
}

/// The run file of a walk that was in its first round, which is so many trials from the beginning of the run: what it appended.
fn record_of(walk: &mut Walk, asked: &Asked, first: u32) -> RunRecord {
    let Reply::Facts(seen) = facts() else { unreachable!() };
    let inputs = PlanInputs {
        suite: asked.suite.clone(),
        seed: asked.seed,
        target: ahead::plan_target(&seen),
        time_budget: None,
        traces: Vec::new(),
    };
    let plan = Plan::new(&inputs).unwrap();
    let mut record = begun(inputs, &seen);
    let asked = Box::new(plan.round(0, plan.round_seed(0, 0)));
    record.apply(Entry::TrialStart { trial: first, case: 0, block: 0, round: true, asked, at: Nanos(0) });
    for action in walk.take_actions() {
        if let Action::Append(entry) = action {
            record.apply(entry);
        }
    }
    record
}

/// As [`say_to`], but what is to be done stays with the walk.
fn tell(walk: &mut Walk, reads: u64) {
    let reply = with_reads(walk.trials - 1, reads);
    walk.apply(Input::Host(FromHost::Reply(reply)), Nanos(0));
}

#[test]
fn rounds_end_when_the_load_is_steady_and_the_trials_follow() {
    let mut walk = in_rounds(settling());
    let sinking = [2000, 1500, 1000, 1000, 1000, 1000, 1000];
    assert_eq!(steps(&mut walk, &sinking), "r0 r1 r2 r3 r4 r5 r6 t0");
    assert_eq!((walk.spared.rounds, walk.spared.time), (1, Nanos::secs(1)));
    assert_eq!(steps(&mut walk, &[1000, 1000]), "t0 t1 Releasing");
    assert_eq!(walk.measured, Nanos::secs(7 + 2 * 4));
}

#[test]
fn a_load_that_never_settles_is_measured_after_all_rounds() {
    let swinging = [1000, 2000, 1000, 2000, 1000, 2000, 1000, 2000];
    let mut walk = in_rounds(settling());
    assert_eq!(steps(&mut walk, &swinging), "r0 r1 r2 r3 r4 r5 r6 r7 t0");
    assert_eq!(walk.spared.rounds, 0);
}

#[test]
fn a_run_that_was_interrupted_within_its_rounds_begins_them_anew() {
    let mut walk = in_rounds(settling());
    walk.take_actions();
    (0..3).for_each(|_| tell(&mut walk, 1000));
    let record = record_of(&mut walk, &settling(), 0);
    let earlier = resume::progressed(&record).unwrap();
    let [Outcome::Ok, rounds @ .., Outcome::Paused] = &earlier.history[..] else { panic!("{:?}", earlier.history) };
    assert_eq!(rounds, [Outcome::Ok; 3], "the fourth did not end");
    let mut walk = in_rounds(Asked { resume: Some(earlier), ..settling() });
    assert_eq!(steps(&mut walk, &[1000; 5]), "r0 r1 r2 r3 r4 t0");
}

#[test]
fn a_run_that_was_interrupted_among_its_trials_settles_again_before_the_others_and_again_after_the_next_pause() {
    let mut walk = in_rounds(settling());
    walk.take_actions();
    (0..6).for_each(|_| tell(&mut walk, 1000));
    assert_eq!(walk.step, Step::Trial { case: 0, block: 1 });
    let mut record = record_of(&mut walk, &settling(), 0);
    let earlier = resume::progressed(&record).unwrap();
    assert_eq!(earlier.history.len(), 1 + 5 + 1 + 1);
    let mut walk = in_rounds(Asked { resume: Some(earlier), ..settling() });
    let first = record.executed().len() as u32;
    walk.take_actions();
    (0..2).for_each(|_| tell(&mut walk, 1000));
    record.rounds.extend(record_of(&mut walk, &settling(), first).rounds);
    let again = resume::progressed(&record).unwrap();
    let pauses = again.history.iter().filter(|outcome| **outcome == Outcome::Paused).count();
    assert_eq!(pauses, 2, "{:?}", again.history);
    let mut walk = in_rounds(Asked { resume: Some(again), ..settling() });
    assert_eq!(steps(&mut walk, &[1000; 6]), "r0 r1 r2 r3 r4 t1 Releasing");
}

#[test]
fn failed_io_in_rounds_gives_the_case_up_and_ends_the_run_as_failed() {
    let mut walk = in_rounds(settling());
    say_to(&mut walk, done(0, TrialStatus::Failed));
    assert_eq!(say_to(&mut walk, done(1, TrialStatus::Failed)), ["release"]);
    say_to(&mut walk, Reply::Released);
    assert!(matches!(walk.state, RunState::Ended { kind: Kind::TargetIo, .. }), "{:?}", walk.state);
}
