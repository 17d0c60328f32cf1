//! What is written is read back, while it is written and afterwards.

use super::*;
use crate::event::{Event, EventKind};
use crate::hosts::HostId;
use crate::store::recorder::Recorder;
use crate::store::samples::record_of;
use crate::store::schema::BODY_MAX;
use stend_base::{Bytes, Kind, Nanos};

#[test]
fn a_run_reads_back_as_it_was_written_and_is_one_file() {
    for options in [PLAIN, SPOOLED] {
        let place = Place::new();
        let writer = place.create(Options { reserve: Bytes::mib(8), ..options });
        append_all(&writer, &samples::one_of_each());
        let path = writer.close(RunState::Complete).unwrap();
        assert_eq!(crate::store::read(&path).unwrap(), ended(record_of(samples::one_of_each())));
        assert_eq!(place.names(), ["R-1.stend"]);
        assert_eq!(std::fs::read_dir(place.memory.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_run_can_be_read_while_it_is_written() {
    let place = Place::new();
    let writer = place.create(PLAIN);
    let entries = samples::one_of_each();
    for (n, entry) in entries.iter().enumerate() {
        writer.append(entry.clone());
        read_until(&place.file(), &record_of(entries[..=n].iter().cloned()));
    }
    writer.edge();
    settle(&writer);
    assert_eq!(crate::store::read(&place.file()).unwrap(), record_of(entries));
    assert_eq!(writer.failure(), None);
}

#[test]
fn a_new_run_has_its_header_before_anything_else() {
    let place = Place::new();
    let _writer = place.create(PLAIN);
    assert_eq!(crate::store::read(&place.copy_as_killed().file()).unwrap(), record_of([]));
}

#[test]
fn a_writer_that_is_dropped_leaves_one_file_without_an_end() {
    let place = Place::new();
    let writer = place.create(PLAIN);
    append_all(&writer, &samples::one_of_each());
    drop(writer);
    assert_eq!(place.names(), ["R-1.stend"]);
    assert_eq!(crate::store::read(&place.file()).unwrap(), record_of(samples::one_of_each()));
}

#[test]
fn a_glance_finds_what_a_whole_reading_finds() {
    let place = Place::new();
    let writer = place.create(PLAIN);
    append_all(&writer, &samples::one_of_each());
    let path = writer.close(RunState::Complete).unwrap();
    let (seen, read) = (crate::store::glance(&path).unwrap(), crate::store::read(&path).unwrap());
    let cases: std::collections::BTreeSet<u32> = read.trials.iter().map(|t| t.case).collect();
    assert_eq!(
        (&seen.targets, seen.header, seen.state),
        (&read.load().targets, read.header.clone(), read.state.clone())
    );
    assert_eq!((seen.cases as usize, seen.trials as usize), (cases.len(), read.trials.len()));
}

#[test]
fn the_outcomes_of_trials_can_be_read_without_all_that_was_measured_between() {
    let place = Place::new();
    let writer = place.create(PLAIN);
    append_all(&writer, &samples::one_of_each());
    let path = writer.close(RunState::Complete).unwrap();
    let (short, whole) = (crate::store::read_outcomes(&path).unwrap(), crate::store::read(&path).unwrap());
    let ends = |run: &crate::run::RunRecord| -> Vec<_> {
        run.executed()
            .iter()
            .map(|trial| (trial.trial, trial.case, trial.asked.clone(), trial.outcome.clone()))
            .collect()
    };
    assert!(ends(&short) == ends(&whole) && !ends(&whole).is_empty());
    assert!(short.events.is_empty() && short.executed().iter().all(|trial| trial.slices.is_empty()));
}

#[test]
fn the_outcomes_of_a_run_that_went_on_have_the_hosts_of_each_session() {
    let place = Place::new();
    let writer = place.create(PLAIN);
    for host in 0..2 {
        let info = Box::new(crate::hosts::HostInfo { name: format!("h{host}"), ..Default::default() });
        writer.append(Entry::Host { host: HostId(host), info });
    }
    let event = |at, host, kind| Entry::Event(Event { at: Nanos(at), host: HostId(host), kind });
    let start = |trial, at| match samples::one_of_each().into_iter().find(|e| matches!(e, Entry::TrialStart { .. })) {
        Some(Entry::TrialStart { case, block, round, asked, .. }) => {
            Entry::TrialStart { trial, case, block, round, asked, at: Nanos(at) }
        }
        _ => panic!("no trial"),
    };
    let outcome = Box::new(crate::observed::TrialOutcome::empty(Nanos(30), (Nanos(30), Nanos(40))));
    append_all(
        &writer,
        &[
            start(0, 10),
            event(20, 1, EventKind::HostLost { detail: "gone".into() }),
            event(25, 0, EventKind::Resumed { host: Box::default(), shift_ns: 0, boot_id: String::new() }),
            start(1, 30),
            Entry::TrialEnd { host: HostId(0), trial: 1, outcome },
        ],
    );
    let path = writer.close(RunState::Complete).unwrap();
    for run in [crate::store::read_outcomes(&path).unwrap(), crate::store::read(&path).unwrap()] {
        let second = run.executed().into_iter().find(|trial| trial.trial == 1).unwrap();
        assert_eq!((second.parts.len(), &second.outcome), (2, &None), "the host that was lost before is there again");
    }
}

#[test]
fn a_glance_at_what_is_no_run_file_is_an_error() {
    let place = Place::new();
    std::fs::write(place.file(), "text").unwrap();
    assert_eq!(crate::store::glance(&place.file()).unwrap_err().kind, Kind::RunFile);
}

#[test]
fn an_existing_file_is_never_replaced() {
    let place = Place::new();
    std::fs::write(place.file(), "precious").unwrap();
    let error = create_with(&place.file(), &samples::header(), PLAIN, None, place.memory.path()).unwrap_err();
    assert_eq!(error.kind, Kind::RunFile);
    assert!(error.message.en.contains("exists"), "{error}");
    assert_eq!(std::fs::read(place.file()).unwrap(), b"precious");
}

#[test]
fn a_place_that_does_not_exist_is_an_error() {
    let place = Place::new();
    let path = place.runs.path().join("absent/R-1.stend");
    let error = create_with(&path, &samples::header(), PLAIN, None, place.memory.path()).unwrap_err();
    assert_eq!((error.kind, error.hint.is_some()), (Kind::RunFile, true));
}

/// The first 32 bytes of the log; they change when it begins anew, and only then a commit syncs.
fn log_header(place: &Place) -> Vec<u8> {
    std::fs::read(place.runs.path().join("R-1.stend-wal")).unwrap()[..32].to_vec()
}

#[test]
fn inside_a_window_entries_are_committed_without_a_sync() {
    let place = Place::new();
    let writer = place.create(PLAIN);
    let entries = samples::one_of_each();
    for (n, entry) in entries.iter().enumerate() {
        let before = log_header(&place);
        // A reader that holds its snapshot across the edge keeps the log from beginning anew there.
        let reader = rusqlite::Connection::open(place.file()).unwrap();
        if n % 2 == 1 {
            reader.execute_batch("BEGIN; SELECT count(*) FROM meta").unwrap();
        }
        writer.edge();
        settle(&writer);
        drop(reader);
        let at_edge = log_header(&place);
        assert_eq!(at_edge != before, n % 2 == 0, "the log begins anew at an edge that nobody disturbs");
        writer.window(true);
        writer.append(entry.clone());
        read_until(&place.file(), &record_of(entries[..=n].iter().cloned()));
        assert_eq!(log_header(&place), at_edge);
        writer.window(false);
    }
}

#[test]
fn entries_of_more_than_a_megabyte_do_not_wait_for_their_time() {
    let place = Place::new();
    let mut recorder = Recorder::create(&place.file(), &samples::header(), PLAIN, None, place.memory.path()).unwrap();
    let slices = |count| Entry::slices(0, vec![samples::slice(0, None); count]);
    recorder.record(slices(10));
    assert!(recorder.deadline().is_some(), "they wait");
    recorder.record(slices(20_000));
    assert_eq!(recorder.deadline(), None, "nothing waits any more");
    drop(recorder.close(None).unwrap());
}

#[test]
fn a_reader_that_stays_does_not_keep_the_run_from_closing() {
    let place = Place::new();
    let writer = place.create(PLAIN);
    append_all(&writer, &samples::one_of_each());
    writer.edge();
    settle(&writer);
    let reader = rusqlite::Connection::open(place.file()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM meta").unwrap();
    let path = writer.close(RunState::Complete).unwrap();
    assert_eq!(crate::store::read(&path).unwrap(), ended(record_of(samples::one_of_each())));
}

#[test]
fn a_run_file_belongs_to_the_user_behind_sudo() {
    use crate::store::owner::Owner;
    use std::os::unix::fs::MetadataExt;
    if !root_or_skip("a_run_file_belongs_to_the_user_behind_sudo") {
        return;
    }
    let place = Place::new();
    let owner = Some(Owner { uid: 12_345, gid: 54_321 });
    let writer = create_with(&place.file(), &samples::header(), SPOOLED, owner, place.memory.path()).unwrap();
    append_all(&writer, &samples::one_of_each());
    settle(&writer);
    let files = place.names().into_iter().map(|name| place.runs.path().join(name));
    let paths: Vec<PathBuf> = files.chain([place.spool()]).collect();
    assert_eq!(paths.len(), 4, "{paths:?}");
    for path in paths {
        let found = std::fs::metadata(&path).unwrap();
        assert_eq!((found.uid(), found.gid()), (12_345, 54_321), "{}", path.display());
    }
}

/// A note of more than any reader takes.
fn too_large() -> Entry {
    Entry::Event(Event::new(Nanos(1), EventKind::Note { text: "x".repeat(BODY_MAX) }))
}

#[test]
fn an_entry_that_no_reader_would_accept_is_left_out_with_a_note_and_holds_up_no_other() {
    let place = Place::new();
    let writer = place.create(PLAIN);
    append_all(&writer, &[too_large()]);
    append_all(&writer, &samples::one_of_each());
    writer.edge();
    settle(&writer);
    assert_eq!((writer.failure(), writer.is_stuck()), (None, false));
    let mut run = crate::store::read(&writer.close(RunState::Complete).unwrap()).unwrap();
    let EventKind::Note { text } = run.events.remove(0).kind else { panic!("no note") };
    assert!(text.contains("is above the limit") && text.ends_with("it was left out"), "{text}");
    assert_eq!(run, ended(record_of(samples::one_of_each())));
}

#[test]
fn a_file_that_is_to_be_whole_is_refused_if_an_entry_is_too_large() {
    let place = Place::new();
    let mut recorder = Recorder::create_whole(&place.file(), &samples::header(), None).unwrap();
    recorder.record(too_large());
    assert!(recorder.close(Some(RunState::Complete)).unwrap_err().message.en.contains("is above the limit"));
    assert!(place.names().is_empty());
}
