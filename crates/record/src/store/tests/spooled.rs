//! A run file that shares a drive with its target is not written between trial edges.

use super::*;
use crate::event::EventKind;
use crate::store::Reader;
use crate::store::samples::record_of;
use std::os::unix::fs::MetadataExt;
use stend_base::{Kind, say};

/// Identity, size and time of change of everything in the directory of the run file.
fn state_of_disk(place: &Place) -> Vec<(String, u64, i64, i64)> {
    let state = |name: String| {
        let found = std::fs::metadata(place.runs.path().join(&name)).unwrap();
        (name, found.len(), found.mtime(), found.mtime_nsec())
    };
    place.names().into_iter().map(state).collect()
}

#[test]
fn between_edges_nothing_is_written_to_the_disk_and_readers_see_everything() {
    let place = Place::new();
    let writer = place.create(SPOOLED);
    let before = state_of_disk(&place);
    append_all(&writer, &samples::one_of_each());
    settle(&writer);
    assert_eq!(state_of_disk(&place), before);
    assert_eq!(crate::store::read(&place.file()).unwrap(), record_of(samples::one_of_each()));
    writer.edge();
    settle(&writer);
    assert_ne!(state_of_disk(&place), before);
    assert_eq!(crate::store::read(&place.file()).unwrap(), record_of(samples::one_of_each()));
}

#[test]
fn a_left_over_spool_is_merged_once() {
    let place = Place::new();
    let writer = place.create(SPOOLED);
    let entries = samples::one_of_each();
    append_all(&writer, &entries[..7]);
    settle(&writer);
    let spool = place.spool();
    let early = std::fs::read(&spool).unwrap();
    writer.edge();
    append_all(&writer, &entries[7..]);
    settle(&writer);
    let killed = place.copy_as_killed();
    assert_eq!(crate::store::read(&killed.file()).unwrap(), record_of(entries.clone()));
    // Killed between the commit and the clearing of the spool: its entries are in both.
    let whole = std::fs::read(&spool).unwrap();
    // Before the first frame stands what is there when nothing was appended, too.
    let start = 8 + 1 + "R-1".len() + 8 + 8 + 2 + place.file().as_os_str().len();
    std::fs::write(&spool, [&early, &whole[start..]].concat()).unwrap();
    assert_eq!(crate::store::read(&killed.file()).unwrap(), record_of(entries));
}

#[test]
fn without_memory_backed_files_the_trial_is_kept_in_memory_and_that_is_recorded() {
    let place = Place::new();
    let absent = place.memory.path().join("absent");
    let writer = create_with(&place.file(), &samples::header(), SPOOLED, None, &absent).unwrap();
    assert!(writer.without_spool().is_some_and(|why| why.contains("absent")), "told before anything is measured");
    let before = state_of_disk(&place);
    append_all(&writer, &samples::one_of_each());
    settle(&writer);
    assert_eq!(state_of_disk(&place), before);
    let record = crate::store::read(&writer.close(RunState::Complete).unwrap()).unwrap();
    assert_eq!(record.trials, record_of(samples::one_of_each()).trials);
    assert!(matches!(&record.events[0].kind, EventKind::NoSpool { why } if why.contains("absent")), "{record:?}");
}

/// What every look gives is what reading all of it anew gives.
fn follows(reader: &mut Reader, place: &Place) {
    reader.look().unwrap();
    // Not `assert_eq`: both sides are longer than anybody reads.
    assert!(*reader.record() == crate::store::read(&place.file()).unwrap());
}

/// One of each entry, with the ordinals that they have in the session of this number.
fn of_session(session: u32) -> Vec<Entry> {
    let mut entries = samples::one_of_each();
    for entry in &mut entries {
        match entry {
            Entry::Decision { seq: ordinal, .. }
            | Entry::TrialStart { trial: ordinal, .. }
            | Entry::Slices { trial: ordinal, .. }
            | Entry::IoLog { trial: ordinal, .. }
            | Entry::TrialEnd { trial: ordinal, .. } => *ordinal = session,
            _ => {}
        }
    }
    entries
}

#[test]
fn a_reader_takes_every_entry_once_wherever_it_lies() {
    for options in [PLAIN, SPOOLED] {
        let place = Place::new();
        let writer = place.create(options);
        let mut reader = Reader::open(&place.file()).unwrap();
        for session in 0..3 {
            for entries in of_session(session).chunks(3) {
                append_all(&writer, entries);
                settle(&writer);
                follows(&mut reader, &place);
            }
            // The first one is read from the spool when the second has come, too.
            if session > 0 {
                writer.edge();
                settle(&writer);
            }
            follows(&mut reader, &place);
        }
        writer.close(RunState::Complete).unwrap();
        follows(&mut reader, &place);
        let record = reader.record();
        assert_eq!((record.trials.len(), record.decisions.len(), &record.state), (3, 3, &RunState::Complete));
    }
}

#[test]
fn a_plan_in_a_spool_is_not_believed_either_if_it_leads_nowhere() {
    let mut plan = samples::plan();
    plan.order.push((0, 999));
    assert_eq!(record_of([Entry::Plan(Box::new(plan))]).plan, None);
    assert!(record_of([Entry::Plan(Box::new(samples::plan()))]).plan.is_some());
}

#[test]
fn a_reader_of_a_finished_run_sees_that_it_goes_on() {
    let place = Place::new();
    place.create(PLAIN).close(RunState::Ended { kind: Kind::Interrupted, reason: say!("a", "б") }).unwrap();
    let mut reader = Reader::open(&place.file()).unwrap();
    let writer = place.resume(PLAIN).unwrap();
    append_all(&writer, &samples::one_of_each());
    writer.edge();
    settle(&writer);
    follows(&mut reader, &place);
    assert_eq!(reader.record().trials.len(), 1);
}
