//! Files that get their name when they are whole.

use super::*;
use crate::store::recorder::Recorder;
use crate::store::samples::record_of;
use stend_base::Kind;

fn begin(place: &Place) -> stend_base::Result<Recorder> {
    Recorder::create_whole(&place.file(), &samples::header(), None)
}

#[test]
fn a_file_has_its_name_when_it_is_whole_and_not_before() {
    let place = Place::new();
    let mut recorder = begin(&place).unwrap();
    let entries = samples::one_of_each();
    for entry in &entries {
        recorder.record(entry.clone());
        recorder.commit();
        assert_eq!(place.names(), ["R-1.stend.part"]);
    }
    assert_eq!(recorder.close(Some(RunState::Complete)).unwrap(), place.file());
    assert_eq!(place.names(), ["R-1.stend"]);
    let found = crate::store::read(&place.file()).unwrap();
    assert_eq!(found, RunRecord { state: RunState::Complete, ..record_of(entries) });
}

#[test]
fn one_that_is_given_up_leaves_nothing() {
    let place = Place::new();
    let mut recorder = begin(&place).unwrap();
    samples::one_of_each().into_iter().for_each(|entry| recorder.record(entry));
    recorder.close(None).unwrap();
    assert!(place.names().is_empty());
}

#[test]
fn what_a_killed_one_left_is_made_anew_and_what_is_being_written_is_not_touched() {
    let place = Place::new();
    std::fs::write(place.runs.path().join("R-1.stend.part"), "half").unwrap();
    let recorder = begin(&place).unwrap();
    let refused = begin(&place).unwrap_err();
    assert!(refused.kind == Kind::RunFile && place.names() == ["R-1.stend.part"], "{refused:?}");
    recorder.close(Some(RunState::Complete)).unwrap();
    assert_eq!(crate::store::read(&place.file()).unwrap().state, RunState::Complete);
}

#[test]
fn a_file_that_is_there_is_never_replaced_also_if_it_came_meanwhile() {
    let place = Place::new();
    let recorder = begin(&place).unwrap();
    std::fs::write(place.file(), "mine").unwrap();
    let refused = recorder.close(Some(RunState::Complete)).unwrap_err();
    assert!(refused.message.en.contains("it exists"), "{refused:?}");
    assert!(begin(&place).unwrap_err().message.en.contains("it exists"));
    assert_eq!(
        (place.names(), std::fs::read(place.file()).unwrap()),
        (vec!["R-1.stend".to_string()], b"mine".to_vec())
    );
}

#[test]
fn a_copy_holds_everything_that_the_file_does() {
    let place = Place::new();
    let mut recorder = begin(&place).unwrap();
    samples::one_of_each().into_iter().for_each(|entry| recorder.record(entry));
    recorder.close(Some(RunState::Complete)).unwrap();
    let (from, to) = (place.file(), place.runs.path().join("copy.stend"));
    let record = crate::store::read(&from).unwrap();
    crate::store::copy(&record, &mut crate::store::io_logs(&from).unwrap(), &to).unwrap();
    assert_eq!(crate::store::read(&to).unwrap(), record);
    let logged: Vec<u64> = record.trials.iter().map(|trial| trial.logged).collect();
    assert!(logged.iter().sum::<u64>() > 0 && !record.events.is_empty(), "the fixture has logs and events");
    let open = RunRecord { state: RunState::Open, ..record };
    let refused = crate::store::copy(&open, &mut crate::store::io_logs(&from).unwrap(), &to.with_extension("x"));
    assert!(refused.unwrap_err().message.en.contains("without an end"));
}
