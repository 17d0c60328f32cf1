//! The hypervisor changes machines while they load, as their suite asks, and undoes it before anything else goes on.

use super::*;
use crate::pause::Pause;
use crate::step::{Changed, Hypervised};
use stend_record::Slice;

/// A snapshot that is undone in the window, and a limit that is not.
const SUITE: &str = "suite: t
defaults: {ramp: 1s, trial: 20s}
repeats: {blocks: 2}
cases:
  - name: r
    events: [{at: 5s, for: 4s, do: vm.snapshot, machine: each}, {at: 8s, do: vm.limit, iops: 100}]
    streams: [{op: {read: 90, write: 10}, pattern: random, block_size: 4KiB}]
";

/// A walk in its first trial, whose load began at 10 s.
fn in_trial() -> Walk {
    // A worker does not change its own machine.
    in_trial_of(SUITE, 0)
}

/// The same of a suite with so many events for the worker.
fn in_trial_of(suite: &str, of_worker: usize) -> Walk {
    let suite = stend_spec::parse::suite(suite, "t.yaml").unwrap();
    let mut walk = Walk::new(Asked { suite, ..asked() }, Nanos(0));
    for reply in [facts(), Reply::Prepared, Reply::Taken, Reply::Zeros(ZeroSample::default())] {
        walk.apply(Input::Host(FromHost::Reply(reply)), Nanos::secs(1));
        for action in walk.take_actions() {
            if let Action::Send(Request::Trial { faults, .. }) = action {
                assert_eq!(faults.len(), of_worker);
            }
        }
    }
    assert_eq!(walk.step, Step::Trial { case: 0, block: 0 });
    walk.apply(Input::Tick, Nanos::secs(9));
    assert_eq!(wanted(&mut walk), [""; 0], "no load has begun that it could come upon");
    let slices: Vec<Slice> = Vec::new();
    walk.apply(Input::Host(FromHost::Reply(Reply::Slices { ordinal: 0, slices })), Nanos::millis(10_100));
    walk
}

/// Requests, changes by the hypervisor and moments that are kept, in their order.
fn wanted(walk: &mut Walk) -> Vec<String> {
    let word = |action| match action {
        Action::Hypervise(Hypervised { fault, undo, block, .. }) => {
            Some(format!("{} {fault} of block {block}", if undo { "undo" } else { "do" }))
        }
        Action::Send(Request::Stop) => Some("stop".into()),
        Action::Send(Request::Trial { .. }) => Some("trial".into()),
        Action::Send(Request::Release) => Some("release".into()),
        Action::Append(Entry::Event(Event { kind: EventKind::Fault { fault, moment, .. }, .. })) => {
            Some(format!("{moment:?} {fault}"))
        }
        Action::Append(Entry::Event(Event { kind: EventKind::Step { action }, .. })) => Some(action),
        Action::Append(Entry::Event(Event { kind: EventKind::Note { text }, .. })) => Some(text),
        _ => None,
    };
    walk.take_actions().into_iter().filter_map(word).collect()
}

fn tick(walk: &mut Walk, at: Nanos) -> Vec<String> {
    walk.apply(Input::Tick, at);
    wanted(walk)
}

fn changed(walk: &mut Walk, at: Nanos, done: stend_base::Result<()>) -> Vec<String> {
    walk.apply(Input::MachinesChanged(Changed { steps: vec!["virsh".into()], done, pause: Pause::default() }), at);
    wanted(walk)
}

fn end_trial(walk: &mut Walk, at: Nanos) -> Vec<String> {
    walk.apply(Input::Host(FromHost::Reply(done(0, TrialStatus::Complete))), at);
    wanted(walk)
}

#[test]
fn changes_come_at_their_times_one_after_the_other_and_are_undone_before_the_next_trial() {
    let mut walk = in_trial();
    assert_eq!(tick(&mut walk, Nanos::millis(15_999)), [""; 0]);
    assert_eq!(tick(&mut walk, Nanos::secs(16)), ["Begins 0", "do 0 of block 0"]);
    // The other one waits until the snapshot is made, and its undo until the other one is done.
    assert_eq!(tick(&mut walk, Nanos::secs(20)), [""; 0]);
    assert_eq!(changed(&mut walk, Nanos::secs(21), Ok(())), ["virsh", "Done 0"]);
    assert_eq!(tick(&mut walk, Nanos::secs(21)), ["Begins 1", "do 1 of block 0"]);
    assert_eq!(changed(&mut walk, Nanos::secs(22), Ok(())), ["virsh", "Done 1"]);
    assert_eq!(tick(&mut walk, Nanos::secs(22)), ["Ends 0", "undo 0 of block 0"]);
    // The trial ends before the merge does.
    assert_eq!(end_trial(&mut walk, Nanos::secs(32)), [""; 0]);
    assert_eq!(walk.step, Step::Restoring);
    assert_eq!(changed(&mut walk, Nanos::secs(40), Ok(())), ["virsh", "Undone 0", "Ends 1", "undo 1 of block 0"]);
    assert_eq!(changed(&mut walk, Nanos::secs(41), Ok(())), ["virsh", "Undone 1", "trial"]);
    assert!(walk.ending.is_none() && walk.left_of_machines().is_empty());
}

#[test]
fn an_event_of_the_worker_beside_those_of_the_hypervisor_has_its_number_in_the_case() {
    let mut walk = in_trial_of(&SUITE.replace("{at: 8s, do: vm.limit, iops: 100}", "{at: 8s, do: scrub}"), 1);
    let what = Say::same("scrub");
    let kind = EventKind::Fault { trial: 0, fault: 0, moment: stend_record::FaultMoment::Begins, what };
    walk.apply(Input::Host(FromHost::Reply(Reply::Event(Event::new(Nanos::secs(18), kind)))), Nanos::secs(18));
    assert_eq!(wanted(&mut walk), ["Begins 1"]);
}

#[test]
fn what_the_trial_is_too_short_for_is_left_out_and_a_stop_undoes_first() {
    let mut walk = in_trial();
    assert_eq!(end_trial(&mut walk, Nanos::secs(12)), ["trial"], "nothing was done");

    let mut walk = in_trial();
    tick(&mut walk, Nanos::secs(16));
    changed(&mut walk, Nanos::secs(17), Ok(()));
    walk.apply(Input::User(UserRequest::Stop(Kind::Interrupted)), Nanos::secs(18));
    assert_eq!(wanted(&mut walk), ["stop"]);
    assert_eq!(tick(&mut walk, Nanos::secs(30)), [""; 0], "nothing new is begun");
    assert_eq!(end_trial(&mut walk, Nanos::secs(31)), ["Ends 0", "undo 0 of block 0"]);
    assert_eq!(changed(&mut walk, Nanos::secs(32), Ok(())), ["virsh", "Undone 0", "release"]);
}

#[test]
fn a_change_that_fails_ends_the_run_and_is_undone() {
    let failed = || Err(Error::preflight(Say::same("no libvirt")));
    let mut walk = in_trial();
    tick(&mut walk, Nanos::secs(16));
    assert_eq!(changed(&mut walk, Nanos::secs(17), failed()), ["virsh", "no libvirt", "stop"]);
    assert_eq!(end_trial(&mut walk, Nanos::secs(18)), ["Ends 0", "undo 0 of block 0"]);
    // An undo that fails is not tried for ever.
    assert_eq!(changed(&mut walk, Nanos::secs(19), failed()), ["virsh", "no libvirt", "release"]);
    assert_eq!(walk.ending.as_ref().map(|error| error.kind), Some(Kind::Preflight));
}

#[test]
fn what_a_lost_host_leaves_is_known_also_where_it_is_under_way() {
    let left = |walk: &mut Walk| walk.left_of_machines().iter().map(|left| (left.fault, left.undo)).collect::<Vec<_>>();
    let mut walk = in_trial();
    tick(&mut walk, Nanos::secs(16));
    changed(&mut walk, Nanos::secs(17), Ok(()));
    tick(&mut walk, Nanos::secs(19));
    walk.apply(Input::Host(FromHost::Lost("gone".into())), Nanos::secs(19));
    assert_eq!(walk.step, Step::Over);
    assert_eq!(left(&mut walk), [(1, true), (0, true)]);
    assert_eq!(left(&mut walk), []);

    // An undo that is under way may not come to its end.
    let mut walk = in_trial();
    tick(&mut walk, Nanos::secs(16));
    changed(&mut walk, Nanos::secs(17), Ok(()));
    walk.apply(Input::Host(FromHost::Reply(done(0, TrialStatus::Complete))), Nanos::secs(18));
    walk.apply(Input::Host(FromHost::Lost("gone".into())), Nanos::secs(19));
    assert_eq!(left(&mut walk), [(0, true)]);
}

#[test]
fn an_undo_that_fails_is_told_with_what_ended_the_run_and_one_that_takes_long_loses_no_host() {
    let mut walk = in_trial();
    tick(&mut walk, Nanos::secs(16));
    changed(&mut walk, Nanos::secs(17), Ok(()));
    walk.apply(Input::User(UserRequest::Stop(Kind::Interrupted)), Nanos::secs(18));
    end_trial(&mut walk, Nanos::secs(19));
    assert_eq!(tick(&mut walk, Nanos::secs(3 * 24 * 3600)), [""; 0], "terabytes are merged");
    let failed = Err(Error::preflight(Say::same("no libvirt")));
    assert_eq!(changed(&mut walk, Nanos::secs(4 * 24 * 3600), failed), ["virsh", "no libvirt", "release"]);
    let ending = walk.ending.unwrap();
    let hint = ending.hint.unwrap().en;
    assert!(ending.kind == Kind::Interrupted && hint.contains("no libvirt") && hint.contains("vm down"), "{hint}");
}
