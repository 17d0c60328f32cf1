//! A run that the user stops when everything is measured.

use super::*;

/// All trials have ended, and the undo goes on.
fn in_the_undo() -> Walk {
    let mut walk = in_first_trial();
    (0..2).for_each(|ordinal| drop(say_to(&mut walk, done(ordinal, TrialStatus::Complete))));
    assert_eq!(walk.step, Step::Releasing);
    walk
}

fn stop(walk: &mut Walk) {
    walk.apply(Input::User(UserRequest::Stop(Kind::Terminated)), Nanos(2));
}

#[test]
fn a_stop_when_everything_is_measured_leaves_the_run_complete() {
    let mut walk = in_the_undo();
    stop(&mut walk);
    assert_eq!(requests(&mut walk), [""; 0], "there is nothing to stop");
    say_to(&mut walk, Reply::Released);
    assert_eq!((walk.ending, walk.state), (None, RunState::Complete));
    assert_eq!(walk.stopped, Some(Kind::Terminated), "nothing shall follow it");
}

#[test]
fn an_undo_that_fails_after_a_stop_is_told_as_ever() {
    let mut walk = in_the_undo();
    stop(&mut walk);
    say_to(&mut walk, Reply::Failed(Error::preflight(say!("cannot remove x", "не удалить x"))));
    say_to(&mut walk, Reply::Released);
    let ending = walk.ending.expect("an error");
    assert_eq!((ending.kind, ending.message.en.as_str()), (Kind::Preflight, "cannot remove x"));
}

#[test]
fn an_undo_that_the_user_aborts_does_not_say_that_measuring_was_interrupted() {
    let mut walk = in_the_undo();
    stop(&mut walk);
    walk.apply(Input::User(UserRequest::Abort), Nanos(2));
    let ending = walk.ending.expect("an error");
    assert_eq!((walk.step, walk.aborted, ending.kind), (Step::Over, true, Kind::Interrupted));
    assert!(ending.message.en.starts_with("everything was measured"), "{ending}");
}

#[test]
fn a_stop_while_a_block_waits_for_the_next_build_of_its_stand_ends_the_run() {
    let mut walk = in_the_undo();
    walk.waits = true;
    stop(&mut walk);
    say_to(&mut walk, Reply::Released);
    assert_eq!(walk.ending.map(|error| error.kind), Some(Kind::Terminated));
}
