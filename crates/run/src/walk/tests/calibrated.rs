//! Ceilings are measured once, after the target is ready and before anything is written.

use super::*;
use stend_record::Calibration;
use stend_record::calibration::Subject;
use stend_spec::calibration::Calibrate;

fn calibrating() -> Asked {
    let mut asked = asked();
    asked.suite.calibrate = Calibrate::Members;
    asked
}

/// A reading that could not be made.
fn reading() -> Reply {
    let asked = stend_spec::calibration::Reading::Random.trial(1, Bytes::mib(1)).unwrap();
    let found = Err(Say::same("no"));
    let calibration = Calibration { subject: Subject::Engine, asked, found, zeros: None };
    Reply::Event(Event::new(Nanos(1), EventKind::Calibrated(Box::new(calibration))))
}

/// A walk that waits for ceilings.
fn waiting() -> Walk {
    let mut walk = start(calibrating());
    assert_eq!(say_to(&mut walk, Reply::Prepared), ["foresee"]);
    assert_eq!(say_to(&mut walk, Reply::Taken), ["calibrate"]);
    walk
}

#[test]
fn ceilings_come_before_the_fill_and_only_once() {
    let mut walk = waiting();
    assert_eq!(walk.step, Step::Calibrating);
    walk.apply(Input::Host(FromHost::Reply(reading())), Nanos(1));
    assert!(walk.take_actions().iter().any(|action| matches!(action, Action::Append(Entry::Event(_)))));
    assert_eq!(say_to(&mut walk, Reply::Calibrated), ["fill"]);
    assert_eq!(say_to(&mut walk, filled(Bytes::mib(64))), ["zeros"]);
}

#[test]
fn each_reading_is_progress_and_silence_is_not() {
    let mut walk = waiting();
    for minute in 1..5 {
        walk.apply(Input::Host(FromHost::Reply(reading())), Nanos::secs(50 * minute));
        walk.apply(Input::Tick, Nanos::secs(50 * minute + 1));
    }
    assert_eq!(walk.step, Step::Calibrating);
    walk.apply(Input::Tick, Nanos::secs(300));
    assert!(walk.ending.is_some_and(|error| error.kind == Kind::HostLost));
}

#[test]
fn a_stop_while_ceilings_are_measured_undoes_what_was_made() {
    let mut walk = waiting();
    walk.apply(Input::User(UserRequest::Stop(Kind::Interrupted)), Nanos(1));
    assert_eq!(requests(&mut walk), ["stop"]);
    assert_eq!(say_to(&mut walk, Reply::Calibrated), ["release"]);
}

#[test]
fn a_run_that_goes_on_after_its_ceilings_does_not_measure_them_again() {
    let prepared = |calibrated: bool| {
        let mut asked = resumed::going_on(0);
        let earlier = asked.resume.as_mut().unwrap();
        earlier.inputs.suite.calibrate = Calibrate::Members;
        earlier.plan = Plan::new(&earlier.inputs).unwrap();
        earlier.calibrated = calibrated;
        say_to(&mut start(asked), Reply::Prepared)
    };
    assert_eq!((prepared(true), prepared(false)), (vec!["switch".to_string()], vec!["calibrate".to_string()]));
}

#[test]
fn a_run_that_goes_on_has_ceilings_if_every_load_host_has_some() {
    let mut run = interrupted_run();
    run.header.inputs.target.hosts = 2;
    let info = HostInfo { name: "b".into(), ..run.load().info.clone() };
    run.apply(Entry::Host { host: HostId(1), info: Box::new(info) });
    for (host, is_whole) in [(HostId(0), false), (HostId(1), true)] {
        let Reply::Event(event) = reading() else { panic!() };
        run.apply(Entry::Event(Event { host, ..event }));
        assert_eq!(resume::progressed(&run).unwrap().calibrated, is_whole, "{host:?}");
    }
}
