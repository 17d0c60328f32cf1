//! What the timeline of a run holds.

use super::*;
use crate::analyse;
use crate::fixture::{case, run_of};
use stend_record::observed::Phase;
use stend_record::{Event, Sample};
use stend_spec::workload::Sync;

fn of(record: &RunRecord) -> Timeline {
    timeline(record, &analyse(record).unwrap()).unwrap()
}

fn two_cases() -> RunRecord {
    run_of(vec![case("mix", 70, 32, Sync::None), case("durable-write", 0, 1, Sync::Fdatasync(1))])
        .six_blocks(&[84_200.0, 1_234.0])
        .record()
}

#[test]
fn each_case_has_a_row_with_a_window_for_each_of_its_trials() {
    let found = of(&two_cases());
    let rows: Vec<_> = found
        .rows
        .iter()
        .map(|r| (r.number.en.as_str(), r.label.en.as_str(), r.measured.len(), r.broken.len()))
        .collect();
    assert_eq!(rows, [("1", "mix", 6, 0), ("2", "durable-write", 6, 0)]);
    assert_eq!(found.rows[0].unmeasured.len(), 6, "a ramp before each window");
    assert_eq!(found.blocks.iter().map(|b| b.label.en.as_str()).collect::<Vec<_>>(), ["1", "2", "3", "4", "5", "6"]);
    let windows = found.rows.iter().flat_map(|row| &row.measured);
    assert!(windows.into_iter().all(|(from, to)| (0.0..=found.to).contains(from) && from < to && *to <= found.to));
}

#[test]
fn phases_are_named_and_their_lengths_told() {
    let mut record = two_cases();
    for (at, phase) in [(99, Phase::Fill), (100, Phase::Measure)] {
        record.events.push(Event::new(Nanos::secs(at), EventKind::Phase(phase)));
    }
    let found = of(&record);
    assert_eq!(found.phases.iter().map(|p| p.label.en.as_str()).collect::<Vec<_>>(), ["fill", "measure"]);
    assert!(found.summary.en.starts_with("fill 1 s, measure "), "{}", found.summary.en);
    assert!(found.summary.ru.starts_with("заполнение 1 с, измерение "), "{}", found.summary.ru);
}

#[test]
fn a_trial_that_was_interrupted_is_broken_and_measured_nothing() {
    let mut record = two_cases();
    record.trials[0].outcome.as_mut().unwrap().status = TrialStatus::Interrupted;
    let row = of(&record).rows.remove(0);
    assert_eq!((row.measured.len(), row.broken.len()), (5, 1));
}

#[test]
fn time_without_a_sample_a_trial_or_an_event_is_a_gap() {
    let mut record = two_cases();
    assert_eq!(of(&record).gaps, Vec::new());
    let end = series::span(&record).1;
    let late = Sample { at: end + Nanos::secs(3600), ..record.load().samples[0].clone() };
    record.load_mut().samples.push(late.clone());
    let gap = of(&record).gaps.remove(0);
    assert_eq!((gap.label.en.as_str(), (gap.to - gap.from).round()), ("nothing recorded", 3600.0));
    let host = Box::new(record.load().facts.clone().unwrap());
    record.events.push(Event::new(late.at, EventKind::Resumed { host, shift_ns: 0, boot_id: String::new() }));
    assert_eq!(of(&record).gaps.remove(0).label.en, "not running");
}

#[test]
fn neighbours_of_many_cases_share_a_row_and_say_so() {
    let cases = (0..60).map(|i| case(&format!("case-{i}"), 100, 1, Sync::None)).collect();
    let found = of(&run_of(cases).six_blocks(&[1000.0; 60]).record());
    assert!(found.rows.len() <= ROWS_MAX);
    assert_eq!((found.rows[0].number.en.as_str(), found.rows[0].label.ru.as_str()), ("1–3", "случаи 1–3"));
}

#[test]
fn stretches_that_nearly_touch_are_one() {
    assert_eq!(merged(vec![(3.0, 4.0), (0.0, 1.0), (1.05, 2.0)], 0.1), [(0.0, 2.0), (3.0, 4.0)]);
}
