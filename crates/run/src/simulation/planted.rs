//! Evidence that was spoiled on purpose: each check sees what it is there for, and nothing in what was not spoiled.

use super::checks;
use super::drives::Drives;
use super::scenario::{Moment, Scenario, Trouble};
use super::session::{Session, messages};
use super::story::Story;
use super::worker::Machine;
use stend_base::{Kind, Nanos};
use stend_record::{RunRecord, RunState, TrialStatus};

const SUITE: &str = "\
suite: planted
defaults: {ramp: 0ms, trial: 1s, prober: off}
fill: {size: 64MiB}
repeats: {blocks: 3}
cases:
  - {name: r, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: [1, 8]}]}
";

/// A run that the user stops in the middle and resumes.
fn stopped() -> Scenario {
    let drives = Drives { seed: 1, latency: Nanos(100_000), iops: 50_000, noise: 2, faults: [0; 3] };
    let machine =
        Machine { drives, shares_drive: false, slowness: Nanos::millis(10), interval: Nanos::millis(200), refuses: 0 };
    let at = Moment { share: 600, later: Nanos::millis(50) };
    let (suite, troubles) = (SUITE.to_string(), vec![Trouble::Stop(at)]);
    Scenario {
        seed: 1,
        suite,
        machine,
        delay: Nanos::millis(1),
        powered: false,
        watched: Some(Nanos::millis(700)),
        troubles,
    }
}

/// Plays it, has it spoiled, and returns what the checks say.
fn found(name: &str, spoil: impl FnOnce(&mut Story)) -> Vec<String> {
    let scenario = stopped();
    let id = format!("R-{name}-{}", std::process::id());
    let plain = Story::play(&scenario.untroubled(), 0, &id).expect("a story");
    let mut story = Story::play(&scenario, messages(&plain.sessions), &id).expect("a story");
    assert_eq!(story.sessions.len(), 2, "{}", story.summary());
    spoil(&mut story);
    checks::all(&story, &plain.counted())
}

fn session(story: &mut Story) -> &mut Session {
    &mut story.sessions[0]
}

fn record(story: &mut Story) -> &mut RunRecord {
    story.sessions[1].record.as_mut().expect("a run file")
}

#[test]
fn a_run_that_was_stopped_and_resumed_is_as_it_should_be() {
    assert_eq!(found("plain", |_| {}), [""; 0]);
}

/// One spoiling and what a check says of it.
type Planted = (&'static str, fn(&mut Story), &'static str);

const PLANTED: [Planted; 19] = [
    ("silence", |story| session(story).ended = Nanos::secs(1_000_000), "no end"),
    ("circle", |story| session(story).endless = true, "no end"),
    ("kind", |story| session(story).end = Some(Some(Kind::Bug)), "ended as Some(Bug)"),
    ("unfounded", |story| session(story).fired = false, "ended as Some(Interrupted)"),
    ("state", |story| record(story).state = RunState::Open, "its file says Some(Open)"),
    ("killed", |story| story.sessions[1].end = None, "killed, and its file says Some(Complete)"),
    ("order", |story| session(story).taken.swap(5, 6), "something else than the worker said"),
    ("stop", |story| session(story).asked.push(("fill", true)), "asked for fill after the user had stopped"),
    ("turn", |story| session(story).out_of_turn.push("trial".into()), "out of turn"),
    ("left", |story| session(story).left = true, "still there"),
    ("hasty", |story| session(story).released = false, "did not wait until all was undone"),
    ("hole", |story| drop(record(story).trials[2].slices.remove(1)), "no beginning of what was measured"),
    ("doubled", |story| record(story).trials[1].slices.extend_from_within(..1), "no beginning of what was measured"),
    ("lost", |story| *record(story) = story.sessions[0].record.clone().expect("a run file"), "lacks what came after"),
    ("beside", |story| drop(session(story).beside.remove(2)), "what the other host said"),
    ("short", |story| story.sessions[1].whole.clear(), "was not measured to its end"),
    ("unfinished", |story| story.finished = false, "not finished"),
    ("twice", |story| record(story).trials.extend_from_within(..1), "7 trials count instead of 6"),
    ("seed", |story| record(story).trials[0].asked.seed = 7, "the first that differs is 0"),
];

#[test]
fn every_check_sees_what_it_is_there_for() {
    for (name, spoil, what) in PLANTED {
        let told = found(name, spoil);
        assert!(told.iter().any(|told| told.contains(what)), "{name}: {told:?}");
    }
}

#[test]
fn a_trial_that_was_cut_short_and_counts_is_seen() {
    let told = found("cut", |story| {
        let record = record(story);
        let cut = record.trials.iter_mut().filter_map(|trial| trial.outcome.as_mut());
        let cut = cut.filter(|outcome| outcome.status == TrialStatus::Interrupted);
        cut.for_each(|outcome| outcome.status = TrialStatus::Complete);
    });
    assert!(told.iter().any(|told| told.contains("was not measured to its end")), "{told:?}");
    assert!(told.iter().any(|told| told.contains("7 trials count instead of 6")), "{told:?}");
}

#[test]
fn a_run_that_does_not_replay_is_seen() {
    let play = |drives: u64| {
        let mut scenario = stopped();
        scenario.machine.drives.seed = drives;
        Story::play(&scenario, 40, &format!("R-replay-{}", std::process::id())).expect("a story")
    };
    assert_eq!(checks::replays(&play(1), &play(1)), None);
    assert!(checks::replays(&play(1), &play(2)).is_some());
}
