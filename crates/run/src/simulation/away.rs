//! A coordinator that was suspended (Ctrl-Z, `kill -STOP`) goes on: what its worker said meanwhile still waits to be read.

use super::cable::Cable;
use super::run_directory::RunDirectory;
use super::scenario::Scenario;
use super::session::{settle, setup};
use super::time::Time;
use crate::LoadHost;
use crate::execute::Loop;
use crate::fixture;
use crate::step::{Input, Step};
use std::sync::mpsc::channel;
use stend_base::{Bytes, Kind, Nanos};
use stend_record::observed::FillOutcome;
use stend_record::{EventKind, HostId, TrialStatus, ZeroSample, store};
use stend_wire::{FromHost, Reply};

const SUITE: &str = "\
suite: away
defaults: {ramp: 0ms, trial: 1s, prober: off}
fill: {size: 64MiB}
repeats: {blocks: 2}
cases:
  - {name: r, streams: [{op: read, pattern: random, block_size: 4KiB}]}
";

fn done(ordinal: u32) -> Reply {
    Reply::TrialDone { ordinal, outcome: Box::new(fixture::outcome(TrialStatus::Complete)) }
}

fn say(run: &mut Loop, reply: Reply) {
    assert!(run.goes_on());
    run.take(Input::From(HostId::LOAD, FromHost::Reply(reply)), &mut |_| {});
}

#[test]
fn a_coordinator_that_was_suspended_does_not_give_up_a_worker_that_it_has_not_heard() {
    let directory = RunDirectory::new(&format!("R-away-{}", std::process::id()), false).expect("memory");
    let drawn = Scenario::draw(1).untroubled();
    let scenario = Scenario { suite: SUITE.to_string(), powered: false, watched: None, ..drawn };
    let (time, (_cable, host)) = (Time::new(), Cable::new());
    let (sender, _inputs) = channel();
    let setup = setup(&scenario, &directory, vec![LoadHost::only(host)], None);
    let mut run = Loop::begin(setup, sender, None, time.clocks()).expect("a thread");
    let filled = FillOutcome { written: Bytes::mib(64), elapsed: Nanos(1), passes: 1, ..FillOutcome::default() };
    let facts = Reply::Facts(Box::new(fixture::facts()));
    for reply in [facts, Reply::Prepared, Reply::Taken, Reply::Filled(filled), Reply::Zeros(ZeroSample::default())] {
        say(&mut run, reply);
    }
    assert!(run.goes_on());
    assert_eq!(run.walk.step, Step::Trial { case: 0, block: 0 });
    time.pass_to(time.now() + Nanos::secs(600));
    // The wait has run out meanwhile, and the thread that reads was suspended, too.
    run.take(Input::Tick, &mut |_| {});
    assert_eq!(run.walk.step, Step::Trial { case: 0, block: 0 });
    say(&mut run, done(0));
    assert_eq!((run.walk.step, run.walk.measured), (Step::Trial { case: 0, block: 1 }, Nanos::secs(1)));
    for _ in 0..200 {
        time.pass_to(time.now() + Nanos::secs(1));
        assert!(run.goes_on() || run.walk.step == Step::Over);
        run.take(Input::Tick, &mut |_| {});
    }
    let ended = run.walk.ending.as_ref().map(|error| error.kind);
    assert_eq!((run.walk.step, ended), (Step::Over, Some(Kind::HostLost)), "one that is silent beside us is lost");
}

#[test]
fn a_wall_clock_that_was_set_back_over_a_reboot_does_not_take_the_axis_of_a_run_back() {
    let directory = RunDirectory::new(&format!("R-back-{}", std::process::id()), false).expect("memory");
    let drawn = Scenario::draw(1).untroubled();
    let scenario = Scenario { suite: SUITE.to_string(), powered: false, watched: None, ..drawn };
    let time = Time::new();
    let (_cable, host) = Cable::new();
    let (sender, _inputs) = channel();
    let first = setup(&scenario, &directory, vec![LoadHost::only(host)], None);
    let mut run = Loop::begin(first, sender, None, time.clocks()).expect("a thread");
    let filled = FillOutcome { written: Bytes::mib(64), elapsed: Nanos(1), passes: 1, ..FillOutcome::default() };
    let facts = || Reply::Facts(Box::new(fixture::facts()));
    for reply in [facts(), Reply::Prepared, Reply::Taken, Reply::Filled(filled), Reply::Zeros(ZeroSample::default())] {
        say(&mut run, reply);
    }
    time.pass_to(time.now() + Nanos::secs(600));
    say(&mut run, done(0));
    assert!(run.goes_on());
    settle(&run);
    drop(run);
    let record = store::read(&directory.run_file()).expect("a run file");
    let progressed = crate::progressed(&record).expect("a run that goes on");
    let last = progressed.last;
    assert!(last > Nanos::secs(600), "{last:?}");
    time.reboot();
    let (_cable, host) = Cable::new();
    let (sender, _inputs) = channel();
    let mut second = setup(&scenario, &directory, vec![LoadHost::only(host)], Some((record, progressed)));
    // As if the wall clock had been three hours ahead when the run began.
    second.resume.iter_mut().for_each(|resume| resume.realtime_offset_ns += Nanos::secs(3 * 3600).0 as i64);
    let mut run = Loop::begin(second, sender, None, time.clocks()).expect("a thread");
    say(&mut run, facts());
    assert!(run.goes_on());
    settle(&run);
    let record = store::read(&directory.run_file()).expect("a run file");
    let resumed = record.events.iter().find(|event| matches!(event.kind, EventKind::Resumed { .. })).expect("resumed");
    assert!(resumed.at > last, "{:?} is not after {last:?}", resumed.at);
    drop(run);
}
