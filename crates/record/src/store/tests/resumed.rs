//! A run that is gone on with: after an early end, a kill, a kill of what went on, a loss of power.

use super::*;
use crate::store::samples::record_of;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, Stdio};
use stend_base::{Bytes, Kind, say};

/// Names the directories of the child; their presence makes the child.
const CHILD_RUNS: &str = "STEND_TEST_RESUMED_RUNS";
const CHILD_MEMORY: &str = "STEND_TEST_RESUMED_MEMORY";
/// Whether the child spools, and which events it appends first.
const CHILD_SPOOLS: &str = "STEND_TEST_RESUMED_SPOOLS";
const CHILD_FIRST: &str = "STEND_TEST_RESUMED_FIRST";

/// Events before an edge, and those after it, of one child.
const AT_EDGE: u64 = 5;
const IN_ALL: u64 = 9;

fn early_end() -> RunState {
    RunState::Ended { kind: Kind::Interrupted, reason: say!("stopped", "остановлено") }
}

/// What a second session appends: another decision and another trial.
fn second_session() -> Vec<Entry> {
    let renumbered = samples::one_of_each().into_iter().map(|entry| match entry {
        Entry::Decision { decision, .. } => Entry::Decision { seq: 1, decision },
        Entry::TrialStart { case, block, asked, at, .. } => {
            Entry::TrialStart { trial: 1, case, block, round: true, asked, at }
        }
        Entry::Slices { host, slices, .. } => Entry::Slices { host, trial: 1, slices },
        Entry::TrialEnd { host, outcome, .. } => Entry::TrialEnd { host, trial: 1, outcome },
        other => other,
    });
    renumbered.collect()
}

fn both_sessions() -> Vec<Entry> {
    [samples::one_of_each(), second_session()].concat()
}

/// Appends the second session to a resumed run and checks the file that comes out.
fn finish(place: &Place, writer: Writer) {
    append_all(&writer, &second_session());
    let path = writer.close(RunState::Complete).unwrap();
    assert_eq!(crate::store::read(&path).unwrap(), ended(record_of(both_sessions())));
    assert_eq!(place.names(), ["R-1.stend"]);
    assert_eq!(std::fs::read_dir(place.memory.path()).unwrap().count(), 0);
}

#[test]
fn a_run_that_ended_early_goes_on_and_reads_back_as_one() {
    for (first, second) in [(PLAIN, PLAIN), (SPOOLED, SPOOLED), (PLAIN, SPOOLED), (SPOOLED, PLAIN)] {
        for end in [Some(early_end()), None] {
            let place = Place::new();
            let writer = place.create(first);
            append_all(&writer, &samples::one_of_each());
            match end {
                Some(end) => drop(writer.close(end).unwrap()),
                None => drop(writer),
            }
            let writer = place.resume(Options { reserve: Bytes::mib(8), ..second }).unwrap();
            // Not open in memory only: this is what a kill would leave now.
            let killed = crate::store::read(&place.copy_as_killed().file()).unwrap();
            assert_eq!(killed, record_of(samples::one_of_each()));
            finish(&place, writer);
        }
    }
}

#[test]
fn a_resumed_run_can_end_early_again_without_anything_new() {
    let place = Place::new();
    drop(place.create(SPOOLED).close(early_end()).unwrap());
    for _ in 0..3 {
        drop(place.resume(SPOOLED).unwrap().close(early_end()).unwrap());
        assert_eq!(crate::store::read(&place.file()).unwrap().state, early_end());
        assert_eq!(place.names(), ["R-1.stend"]);
    }
    drop(place.resume(SPOOLED).unwrap());
    assert_eq!(crate::store::read(&place.file()).unwrap(), record_of([]));
}

#[test]
fn what_a_resumed_run_spools_counts_on_from_what_is_in_the_file() {
    let place = Place::new();
    let writer = place.create(SPOOLED);
    append_all(&writer, &samples::one_of_each());
    writer.close(early_end()).unwrap();
    let writer = place.resume(SPOOLED).unwrap();
    append_all(&writer, &second_session());
    settle(&writer);
    assert!(crate::store::spool::read(&place.spool(), "R-1").len() == second_session().len());
    assert_eq!(crate::store::read(&place.file()).unwrap(), record_of(both_sessions()));
}

#[test]
fn a_spool_whose_entries_had_arrived_adds_nothing() {
    for options in [PLAIN, SPOOLED] {
        let place = Place::new();
        let writer = place.create(SPOOLED);
        append_all(&writer, &samples::one_of_each());
        settle(&writer);
        let spool = place.spool();
        let spooled = std::fs::read(&spool).unwrap();
        writer.edge();
        settle(&writer);
        let killed = place.copy_as_killed();
        drop(writer);
        // Killed between the commit and the emptying of the spool, which is where the file says.
        std::fs::write(&spool, &spooled).unwrap();
        let writer = killed.resume(options).unwrap();
        finish(&killed, writer);
        assert!(!spool.exists());
    }
}

/// Not a test of its own: does nothing unless the parent started it.
#[test]
fn the_child_of_a_resumed_run_appends_and_waits_to_be_killed() {
    let Some(runs) = std::env::var_os(CHILD_RUNS).map(PathBuf::from) else { return };
    let memory = PathBuf::from(std::env::var_os(CHILD_MEMORY).unwrap());
    let options = if std::env::var_os(CHILD_SPOOLS).is_some() { SPOOLED } else { PLAIN };
    let first: u64 = std::env::var(CHILD_FIRST).unwrap().parse().unwrap();
    let file = runs.join("R-1.stend");
    let writer = match file.exists() {
        true => resume_with(&file, options, &memory).unwrap(),
        false => create_with(&file, &samples::header(), options, None, &memory).unwrap(),
    };
    for n in 0..IN_ALL {
        if n == AT_EDGE {
            writer.edge();
        }
        writer.append(samples::event(first + n));
    }
    settle(&writer);
    std::fs::write(memory.join("ready"), "").unwrap();
    // The child must not outlive a parent that panics.
    std::thread::sleep(LIMIT);
}

/// Kills the child on every path out of the test.
struct Victim(Child);

impl Drop for Victim {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A child that has appended its events and still holds the file.
fn at_work(place: &Place, spools: bool, first: u64) -> Victim {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "store::tests::resumed::the_child_of_a_resumed_run_appends_and_waits_to_be_killed"])
        .env(CHILD_RUNS, place.runs.path())
        .env(CHILD_MEMORY, place.memory.path())
        .env(CHILD_FIRST, first.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if spools {
        command.env(CHILD_SPOOLS, "1");
    }
    let victim = Victim(command.spawn().unwrap());
    let (ready, begun) = (place.memory.path().join("ready"), Instant::now());
    while !ready.exists() {
        assert!(begun.elapsed() < LIMIT, "the child did not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::remove_file(ready).unwrap();
    if !spools {
        read_until(&place.file(), &record_of((0..first + IN_ALL).map(samples::event)));
    }
    victim
}

#[test]
fn while_a_writer_lives_nobody_else_resumes_and_after_its_kill_everything_is_there() {
    // The mode may change between sessions: whether a drive is shared is found anew.
    for (first, second, third) in [(PLAIN, PLAIN, PLAIN), (SPOOLED, SPOOLED, SPOOLED), (SPOOLED, PLAIN, SPOOLED)] {
        let place = Place::new();
        for (options, appended) in [(first, 0), (second, IN_ALL)] {
            let victim = at_work(&place, options.spool, appended);
            let error = place.resume(PLAIN).unwrap_err();
            assert!(error.message.en.contains("another process"), "{error}");
            drop(victim);
        }
        let expected = || (0..2 * IN_ALL).map(samples::event);
        assert_eq!(crate::store::read(&place.file()).unwrap(), record_of(expected()));
        let writer = place.resume(third).unwrap();
        assert_eq!(crate::store::read(&place.copy_as_killed().file()).unwrap(), record_of(expected()));
        writer.append(samples::event(99));
        writer.close(RunState::Complete).unwrap();
        let record = crate::store::read(&place.file()).unwrap();
        assert_eq!(record, ended(record_of(expected().chain([samples::event(99)]))));
        assert_eq!(place.names(), ["R-1.stend"]);
        assert_eq!(std::fs::read_dir(place.memory.path()).unwrap().count(), 0);
    }
}

#[test]
fn after_a_reboot_the_run_goes_on_from_its_last_edge() {
    let mut place = Place::new();
    drop(at_work(&place, true, 0));
    place.memory = tempfile::tempdir().unwrap();
    std::fs::remove_file(place.runs.path().join("R-1.stend-shm")).unwrap();
    let writer = place.resume(SPOOLED).unwrap();
    writer.append(samples::event(99));
    settle(&writer);
    let expected = record_of((0..AT_EDGE).chain([99]).map(samples::event));
    assert_eq!(crate::store::read(&place.file()).unwrap(), expected);
    assert_eq!(crate::store::read(&writer.close(RunState::Complete).unwrap()).unwrap(), ended(expected));
}

#[test]
fn a_link_to_a_run_file_means_the_file_and_its_log() {
    let place = Place::new();
    drop(at_work(&place, false, 0));
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link.stend");
    std::os::unix::fs::symlink(place.file(), &link).unwrap();
    let writer = resume_with(&link, PLAIN, place.memory.path()).unwrap();
    assert_eq!(crate::store::read(&place.file()).unwrap(), record_of((0..IN_ALL).map(samples::event)));
    assert!(place.resume(PLAIN).is_err());
    drop(writer);
    assert_eq!(place.names(), ["R-1.stend"]);
}

#[test]
fn what_goes_with_the_file_of_another_user_is_theirs() {
    if !root_or_skip("what_goes_with_the_file_of_another_user_is_theirs") {
        return;
    }
    let place = Place::new();
    place.create(PLAIN).close(early_end()).unwrap();
    std::os::unix::fs::chown(place.file(), Some(12_345), Some(54_321)).unwrap();
    let writer = place.resume(SPOOLED).unwrap();
    let spool = place.spool();
    let files = place.names().into_iter().map(|name| place.runs.path().join(name));
    let paths: Vec<PathBuf> = files.chain([spool]).collect();
    assert_eq!(paths.len(), 4, "{paths:?}");
    for path in paths {
        let found = std::fs::metadata(&path).unwrap();
        assert_eq!((found.uid(), found.gid()), (12_345, 54_321), "{}", path.display());
    }
    writer.close(RunState::Complete).unwrap();
}
