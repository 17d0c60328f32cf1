//! Recordings: bounded however long they go on, readable however they end, and no runs.

use super::*;
use crate::event::{Event, EventKind, KeptProblem};
use crate::parts::{ArcCounters, Parts};
use crate::recording::{Recording, Retention, Tier};
use crate::run::RunHeader;
use crate::sample::{DiskCounters, Sample};
use crate::store::recorder::Recorder;
use crate::store::{SampleRows, newest};
use stend_base::{Bytes, Kind, Nanos, say};

fn header(retention: Retention) -> RunHeader {
    let recording = Some(Recording { every: Nanos::SECOND, retention });
    RunHeader { recording, imported: None, ..samples::header() }
}

/// A second each for a minute, ten for ten minutes, a minute for an hour.
fn short() -> Retention {
    let tier = |step, age| Tier { step: Nanos::secs(step), age: Nanos::secs(age) };
    Retention { tiers: vec![tier(1, 60), tier(10, 600), tier(60, 3600)], size_max: Bytes::gib(1) }
}

fn sample(second: u64, drives: usize) -> Entry {
    let disk = |n: usize| DiskCounters { name: format!("sd{n}"), reads: second * 100, ..DiskCounters::default() };
    let sample = Sample { at: Nanos::secs(1000 + second), disks: (0..drives).map(disk).collect(), ..Sample::default() };
    Entry::Sample { host: crate::HostId::LOAD, sample: Box::new(sample) }
}

/// A recording of so many seconds, with an edge every fifty of them.
fn recorded(place: &Place, retention: Retention, seconds: u64, drives: usize) -> Recorder {
    let mut recorder = Recorder::create(&place.file(), &header(retention), PLAIN, None, place.memory.path()).unwrap();
    for second in 0..seconds {
        recorder.record(sample(second, drives));
        if second % 50 == 49 {
            recorder.edge();
        }
    }
    recorder
}

fn times(rows: &SampleRows) -> Vec<u64> {
    (0..rows.len()).map(|index| rows.at(index).unwrap().0 / 1_000_000_000 - 1000).collect()
}

#[test]
fn samples_grow_coarser_with_age_and_what_is_too_old_goes() {
    let place = Place::new();
    let path = recorded(&place, short(), 10_000, 2).close(Some(RunState::Complete)).unwrap();
    let rows = SampleRows::open(&path).unwrap();
    let times = times(&rows);
    let steps = |from: u64, to: u64| -> Vec<u64> {
        let inside: Vec<u64> = times.iter().copied().filter(|t| (from..to).contains(t)).collect();
        inside.windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    assert!(steps(9_950, 10_000).iter().all(|step| *step == 1));
    assert!(steps(9_410, 9_880).iter().all(|step| *step == 10), "{:?}", steps(9_410, 9_880));
    assert!(steps(6_500, 9_340).iter().all(|step| *step == 60), "{:?}", steps(6_500, 9_340));
    assert!(times[0] >= 10_000 - 3_600 - 120, "{}", times[0]);
    assert!((times.len() as u64) < short().samples_max() + 120, "{}", times.len());
    let last = rows.get(rows.len() - 1).unwrap();
    assert_eq!((last.at, last.disks[1].reads), (Nanos::secs(10_999), 999_900));
    assert_eq!((rows.get(rows.len()), rows.record.state.clone()), (None, RunState::Complete));
}

#[test]
fn samples_that_stay_as_they_were_read_for_no_time_grow_coarser_at_once() {
    let place = Place::new();
    let tier = |step, age| Tier { step: Nanos::secs(step), age: Nanos::secs(age) };
    let kept = Retention { tiers: vec![tier(1, 0), tier(10, 3600)], size_max: Bytes::gib(1) };
    let path = recorded(&place, kept.clone(), 3_000, 1).close(Some(RunState::Complete)).unwrap();
    let times = times(&SampleRows::open(&path).unwrap());
    let old: Vec<u64> = times.iter().copied().filter(|time| *time < 2_900).collect();
    assert!(old.windows(2).all(|pair| pair[1] - pair[0] == 10), "{old:?}");
    assert!((times.len() as u64) < kept.samples_max() + 120 && times.len() < 420, "{}", times.len());
}

#[test]
fn parts_that_are_read_twice_a_minute_stay_where_samples_grow_coarser() {
    let place = Place::new();
    let mut recorder = Recorder::create(&place.file(), &header(short()), PLAIN, None, place.memory.path()).unwrap();
    for second in 0..3_000 {
        let mut entry = sample(second, 1);
        if let (Entry::Sample { sample, .. }, 7) = (&mut entry, second % 30) {
            sample.parts = Some(Box::default());
        }
        recorder.record(entry);
        if second % 50 == 49 {
            recorder.edge();
        }
    }
    let path = recorder.close(Some(RunState::Complete)).unwrap();
    let rows = SampleRows::open(&path).unwrap();
    let times = times(&rows);
    let count = |from: u64, to: u64| {
        let inside = || (0..rows.len()).filter(|index| (from..to).contains(&times[*index]));
        let with_parts = inside().filter(|index| rows.get(*index).unwrap().parts.is_some());
        (inside().count(), with_parts.count())
    };
    // Ten seconds are a step: one of three has a reading, and no step has more samples than one.
    assert_eq!(count(2_460, 2_880), (42, 14));
    // A minute is a step: each has one of its two readings.
    assert_eq!(count(600, 2_280), (28, 28));
}

#[test]
fn the_newest_sample_of_a_recording_has_the_parts_of_the_last_that_has_any() {
    let place = Place::new();
    let mut recorder = Recorder::create(&place.file(), &header(short()), PLAIN, None, place.memory.path()).unwrap();
    recorder.commit();
    let none = newest(&place.file()).unwrap();
    assert!(none.sample.is_none() && none.parts.is_none());
    for second in 0..40 {
        let mut entry = sample(second, 2);
        if let (Entry::Sample { sample, .. }, 7 | 22) = (&mut entry, second) {
            let arc = Some(ArcCounters { size_bytes: second, ..ArcCounters::default() });
            sample.parts = Some(Box::new(Parts { arc, ..Parts::default() }));
        }
        recorder.record(entry);
    }
    recorder.commit();
    let found = newest(&place.file()).unwrap();
    assert_eq!(found.sample.map(|sample| sample.at), Some(Nanos::secs(1_039)));
    assert_eq!(found.parts.and_then(|parts| parts.arc).map(|arc| arc.size_bytes), Some(22));
    assert_eq!(found.record.state, RunState::Open);
    recorder.close(Some(RunState::Complete)).unwrap();
}

#[test]
fn a_file_stays_below_its_size_and_the_oldest_go_first() {
    let place = Place::new();
    let tier = Tier { step: Nanos::SECOND, age: Nanos::secs(1 << 30) };
    let size_max = Bytes::mib(2);
    let path = recorded(&place, Retention { tiers: vec![tier], size_max }, 8_000, 32).close(None).unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    assert!(size < size_max.0 * 2, "{size}");
    let rows = SampleRows::open(&path).unwrap();
    let times = times(&rows);
    assert!(times.windows(2).all(|pair| pair[1] == pair[0] + 1), "nothing is missing in the middle");
    assert!(times[0] > 0 && *times.last().unwrap() == 7_999 && times.len() > 500, "{} {}", times[0], times.len());
}

#[test]
fn a_recording_that_is_killed_has_all_but_its_last_second_and_reads_as_open() {
    let place = Place::new();
    let writer = create_with(&place.file(), &header(short()), PLAIN, None, place.memory.path()).unwrap();
    (0..5).for_each(|second| writer.append(sample(second, 1)));
    settle(&writer);
    writer.edge();
    settle(&writer);
    let killed = place.copy_as_killed();
    let rows = SampleRows::open(&killed.file()).unwrap();
    assert_eq!((times(&rows), rows.record.state.clone()), (vec![0, 1, 2, 3, 4], RunState::Open));
}

#[test]
fn events_of_a_recording_are_bounded_and_the_newest_stay() {
    let place = Place::new();
    let mut recorder = Recorder::create(&place.file(), &header(short()), PLAIN, None, place.memory.path()).unwrap();
    for n in 0..10_050u64 {
        let kind = EventKind::Devices { came: vec![format!("sd{n}")], went: Vec::new(), detachable: Vec::new() };
        recorder.record(Entry::Event(Event::new(Nanos::secs(n), kind)));
    }
    recorder.edge();
    let path = recorder.close(Some(RunState::Complete)).unwrap();
    let events = SampleRows::open(&path).unwrap().record.events;
    assert_eq!((events.len(), events[0].at), (10_000, Nanos::secs(50)));
}

#[test]
fn errors_of_one_drive_take_the_place_of_no_other_event_and_grow_fewer_with_age() {
    let place = Place::new();
    let mut recorder = Recorder::create(&place.file(), &header(short()), PLAIN, None, place.memory.path()).unwrap();
    let devices = EventKind::Devices { came: vec!["sdx".into()], went: Vec::new(), detachable: Vec::new() };
    recorder.record(Entry::Event(Event::new(Nanos::secs(1000), devices.clone())));
    for n in 0..10_001u64 {
        let kind = EventKind::KernelErrors { device: "sdb".into(), count: 1, text: "I/O error, dev sdb".into() };
        recorder.record(Entry::Event(Event::new(Nanos::secs(1000 + 10 * n), kind)));
        recorder.record(sample(10 * n, 1));
        if n % 50 == 49 {
            recorder.edge();
        }
    }
    recorder.edge();
    let path = recorder.close(Some(RunState::Complete)).unwrap();
    let events = SampleRows::open(&path).unwrap().record.events;
    assert_eq!(events[0].kind, devices);
    let errors: Vec<u64> = events[1..].iter().map(|event| event.at.0 / 1_000_000_000 - 1000).collect();
    assert_eq!((errors[0], *errors.last().unwrap()), (0, 100_000));
    assert!(errors.windows(2).all(|pair| pair[1] - pair[0] <= 1200), "the problem goes on");
    let (old, new) = errors.split_at(errors.iter().position(|at| *at > 100_000 - 3600).unwrap());
    assert!(old.len() < 90 && new.len() == 360, "{} {}", old.len(), new.len());
}

#[test]
fn of_each_problem_the_last_state_stays_and_neither_it_nor_the_clock_goes_for_other_events() {
    let place = Place::new();
    let mut recorder = Recorder::create(&place.file(), &header(short()), PLAIN, None, place.memory.path()).unwrap();
    let mut keep = |n: u64, kind: EventKind| recorder.record(Entry::Event(Event::new(Nanos::secs(n), kind)));
    let problem = |n: u64, closed: Option<u64>| {
        EventKind::Problem(Box::new(KeptProblem {
            rule: "pool_unhealthy".into(),
            object: "tank".into(),
            severity: "critical".into(),
            evidence: say!("DEGRADED", "DEGRADED"),
            opened: Nanos::secs(n),
            closed: closed.map(Nanos::secs),
            times: 1,
        }))
    };
    keep(1, problem(1, None));
    keep(2, EventKind::WallClock { ahead_ns: 7 });
    keep(3, problem(1, Some(3)));
    keep(4, problem(4, None));
    for n in 0..11_000u64 {
        let kind = EventKind::Devices { came: vec![format!("sd{n}")], went: Vec::new(), detachable: Vec::new() };
        keep(10 + n, kind);
    }
    recorder.edge();
    let path = recorder.close(Some(RunState::Complete)).unwrap();
    let events = SampleRows::open(&path).unwrap().record.events;
    let kinds: Vec<&EventKind> = events.iter().map(|event| &event.kind).take(3).collect();
    assert_eq!(kinds, [&EventKind::WallClock { ahead_ns: 7 }, &problem(1, Some(3)), &problem(4, None)]);
    assert_eq!(events.len(), 10_003);
}

#[test]
fn problems_and_changes_of_the_clock_are_bounded_apart() {
    let place = Place::new();
    let mut recorder = Recorder::create(&place.file(), &header(short()), PLAIN, None, place.memory.path()).unwrap();
    for n in 0..6_000u64 {
        let problem = KeptProblem {
            rule: "drive_hot".into(),
            object: "sda".into(),
            severity: "warning".into(),
            evidence: say!("70 °C", "70 °C"),
            opened: Nanos::secs(n),
            closed: None,
            times: 1,
        };
        for kind in [EventKind::Problem(Box::new(problem)), EventKind::WallClock { ahead_ns: n as i64 }] {
            recorder.record(Entry::Event(Event::new(Nanos::secs(n), kind)));
        }
    }
    recorder.edge();
    let path = recorder.close(Some(RunState::Complete)).unwrap();
    let events = SampleRows::open(&path).unwrap().record.events;
    let (clocks, problems): (Vec<_>, Vec<_>) =
        events.iter().partition(|event| matches!(event.kind, EventKind::WallClock { .. }));
    assert_eq!((clocks.len(), clocks[0].at), (2_000, Nanos::secs(4_000)));
    assert_eq!((problems.len(), problems[0].at), (5_000, Nanos::secs(1_000)));
}

#[test]
fn a_recording_is_no_run_to_read_or_to_go_on_with() {
    let place = Place::new();
    let path = recorded(&place, short(), 20, 1).close(None).unwrap();
    let error = crate::store::read(&path).unwrap_err();
    assert_eq!(error.kind, Kind::Usage);
    assert!(error.message.en.contains("is a recording"), "{}", error.message.en);
    assert_eq!(place.resume(PLAIN).unwrap_err().kind, Kind::Usage);
}

#[test]
fn a_damaged_sample_and_one_from_the_past_cost_only_themselves() {
    let place = Place::new();
    let path = recorded(&place, short(), 20, 1).close(Some(RunState::Complete)).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute("UPDATE sample SET body = x'ff' WHERE id = 3", []).unwrap();
    db.execute("UPDATE sample SET body = (SELECT body FROM sample WHERE id = 1) WHERE id = 7", []).unwrap();
    db.execute("UPDATE sample SET body = substr(body, 1, 8) WHERE id = 9", []).unwrap();
    drop(db);
    let rows = SampleRows::open(&path).unwrap();
    assert_eq!(rows.len(), 18);
    assert_eq!((0..rows.len()).filter(|index| rows.get(*index).is_none()).count(), 1);
}
