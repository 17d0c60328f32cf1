//! Findings of events over a made-up run.

use super::*;
use crate::fixture::{open_case, run_of};
use stend_record::{Event, IoErrors};
use stend_spec::fault::{Act, Fault, Which};
use stend_spec::suite::SuiteCase;

/// Half a second of ramp, 20 s of window; the drive fails after 5 s and is there again after 12 s.
fn failing() -> SuiteCase {
    let fault = Fault { at: Nanos::secs(5), lasts: Some(Nanos::secs(7)), act: Act::DriveFail(Which::Each) };
    SuiteCase { window: Nanos::secs(20), faults: vec![fault], ..open_case("mix", 1_000) }
}

/// One trial in which nothing moves for 2 s after the event; arrays are whole 3 s after the window.
fn record() -> RunRecord {
    let mut record = run_of(vec![failing()]).trial(0).done().record();
    let outcome = record.trials[0].outcome.clone().unwrap();
    let at = outcome.window_start + Nanos::secs(5);
    let event = |at: Nanos, moment, what: &str| {
        Event::new(at, EventKind::Fault { trial: record.trials[0].trial, fault: 0, moment, what: Say::same(what) })
    };
    let events = [
        event(at, FaultMoment::Begins, "out"),
        event(at + Nanos::millis(300), FaultMoment::Done, "out"),
        event(at + Nanos::secs(7), FaultMoment::Ends, "in"),
        event(at + Nanos::secs(7), FaultMoment::Undone, "in"),
        event(at + Nanos::secs(18), FaultMoment::Whole, "whole"),
    ];
    record.events.extend(events);
    let first = (outcome.window_start.saturating_sub(outcome.load_start).0 / INTERVAL.0) as u32 + 50;
    record.trials[0].slices.iter_mut().filter(|s| (first..first + 20).contains(&s.interval)).for_each(|s| s.ops = 0);
    record
}

fn found(record: &RunRecord) -> FaultFinding {
    let plan = Plan::new(&record.header.inputs).unwrap();
    findings(record, &plan).remove(0)
}

#[test]
fn what_came_of_an_event_is_told_where_it_is_more_than_what_it_is() {
    let mut record = record();
    let done = record.events.iter_mut().find_map(|event| match &mut event.kind {
        EventKind::Fault { moment: FaultMoment::Done, what, .. } => Some(what),
        _ => None,
    });
    *done.unwrap() = Say::same("out: 7 MiB in 0.3 s");
    let found = found(&record);
    let moments: Vec<&str> = found.trials[0].moments.iter().map(|(_, what)| what.en.as_str()).collect();
    assert_eq!(moments, ["out", "out: 7 MiB in 0.3 s", "in", "whole"]);
    assert!(found.say().en.starts_with("In the first trial out: 7 MiB in 0.3 s. "), "{}", found.say().en);
    assert!(found.say().ru.starts_with("В первом испытании out: 7 MiB in 0.3 s. "), "{}", found.say().ru);
}

#[test]
fn what_an_event_did_is_counted_from_its_moment() {
    let found = found(&record());
    assert_eq!(found.events[0].en, "at 5 s: a drive, in each block the next fails and is taken out, for 7 s");
    let trial = &found.trials[0];
    let moments: Vec<(f64, &str)> = trial.moments.iter().map(|(at, what)| (*at, what.en.as_str())).collect();
    assert_eq!(moments, [(0.0, "out"), (7.0, "in"), (18.0, "whole")]);
    let recovery = trial.recovery.unwrap();
    assert_eq!((recovery.before_for, recovery.seen), (Nanos::secs(5), Nanos::secs(15)));
    assert_eq!((recovery.stall, recovery.back), (Some(Nanos::secs(2)), Some(Nanos::secs(2))));
    assert_eq!((trial.whole, trial.rebuilt), (Some(Nanos::secs(18)), Some(Nanos::secs(11))));
    assert_eq!((trial.errors, trial.mismatches), (0, None));
    assert!(
        found.say().en.contains("Full redundancy after 18.0 s, 11.0 s of that after it was undone."),
        "{}",
        found.say().en
    );
    assert!(found.say().ru.contains("Полная избыточность через 18,0 с"), "{}", found.say().ru);
}

#[test]
fn a_trial_in_which_nothing_came_says_nothing_and_errors_are_told() {
    let mut quiet = record();
    quiet.events.clear();
    assert!(findings(&quiet, &Plan::new(&quiet.header.inputs).unwrap()).is_empty());
    let mut failed = record();
    let outcome = failed.trials[0].outcome.as_mut().unwrap();
    outcome.errors = vec![IoErrors { stream: 0, op: Op::Read, errno: 5, count: 3, first_offset: None }];
    assert!(found(&failed).say().en.contains("3 I/Os failed; data were not compared."), "{}", found(&failed).say().en);
}

#[test]
fn where_the_load_went_on_as_before_one_sentence_says_so_and_a_percentile_that_fell_did_not_rise() {
    let mut found = found(&record());
    let trial = &mut found.trials[0];
    let recovery = trial.recovery.as_mut().unwrap();
    (recovery.stall, recovery.back, recovery.depth) = (Some(Nanos(0)), Some(Nanos(0)), Some(stend_base::Share(0.04)));
    (trial.silence, trial.tail) = (Some(Nanos::millis(20)), Some((Nanos::millis(70), Nanos::millis(40))));
    let told = found.say().en.replace('\u{a0}', " ");
    let expected = "The rate stayed at 90 % or more, without a standstill. p99 was 70.0 ms before and 40.0 ms after.";
    assert!(told.contains(expected) && !told.contains("fell"), "{told}");
    assert!(found.say().ru.contains("остановок не было"), "{}", found.say().ru);
    // It fell when a minute was over.
    let mut later = found.clone();
    later.trials[0].recovery.as_mut().unwrap().depth = Some(stend_base::Share(0.7));
    let told = later.say().en.replace('\u{a0}', " ");
    assert!(
        told.contains("The rate fell by 70.0 %") && told.contains("at first") && !told.contains("stayed"),
        "{told}"
    );
    for silent in [Nanos::millis(80), Nanos::secs(2)] {
        found.trials[0].silence = Some(silent);
        assert!(found.say().en.contains("of a single client"), "{}", found.say().en);
    }
}

#[test]
fn what_events_are_meant_to_do_is_no_finding_of_the_checks_and_their_course_is_drawn() {
    use crate::findings::{CheckId, CheckStatus};
    let disturbed = record();
    let status = |record: &RunRecord, id: CheckId| {
        let findings = crate::analyse(record).unwrap();
        findings.cases[0].checks.iter().find(|check| check.id == id).unwrap().status
    };
    assert_eq!(status(&disturbed, CheckId::H43), CheckStatus::NotApplicable);
    let mut undisturbed = disturbed.clone();
    undisturbed.events.clear();
    assert_eq!(status(&undisturbed, CheckId::H43), CheckStatus::Fail, "the same load without an event that excuses it");
    let findings = crate::analyse(&disturbed).unwrap();
    assert!(
        findings.verdict.en.starts_with("mix: Longest time without any I/O of the load: 2.0 s"),
        "{}",
        findings.verdict.en
    );
    let chart = findings.faults[0].chart.as_ref().unwrap();
    assert_eq!(
        (chart.id.as_str(), chart.events.len()),
        ("case-0-events", 2),
        "what came after the window is not drawn"
    );
    let drawn = &chart.panes[0].series[0].points;
    let near: Vec<f64> = drawn.iter().filter(|p| (-2.0..3.0).contains(&p.x)).filter_map(|p| p.y).collect();
    assert_eq!(near, [10_000.0, 10_000.0, 0.0, 0.0, 10_000.0]);
}
