//! A disk that fills up while the run file is written: what is known is kept, and the failure is said.

use super::*;
use crate::event::EventKind;
use crate::run::Entry;
use crate::store::recorder::Recorder;
use std::process::Command;
use stend_base::{Bytes, Kind};

/// A small file system of its own, unmounted again whatever happens.
struct SmallDisk {
    mount: TempDir,
}

impl SmallDisk {
    fn new(size: Bytes) -> SmallDisk {
        let mount = tempfile::tempdir().unwrap();
        let options = format!("size={}", size.0);
        let status =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "stend-test"]).arg(mount.path()).status();
        assert!(status.unwrap().success(), "mount failed");
        SmallDisk { mount }
    }

    /// Writes until nothing more fits.
    fn fill(&self) {
        use std::io::Write;
        let mut file = std::fs::File::create(self.filler()).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
    }

    /// Takes back what [`fill`](Self::fill) did.
    fn make_room(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.mount.path().join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(self.mount.path()).status());
    }
}

fn slices(interval: u32) -> Entry {
    Entry::slices(0, vec![samples::slice(interval, Some(samples::latency(u64::from(interval))))])
}

/// Fills the disk in the middle of a run and returns what a reader gets afterwards.
fn run_into_a_full_disk(options: Options) -> (RunRecord, u32) {
    let disk = SmallDisk::new(Bytes::mib(16));
    let memory = tempfile::tempdir().unwrap();
    let path = disk.mount.path().join("R-1.stend");
    let writer = create_with(&path, &samples::header(), options, None, memory.path()).unwrap();
    writer.append(samples::trial_start(0));
    writer.edge();
    settle(&writer);
    disk.fill();
    let mut interval = 0;
    // Until the space that the log already has is used up; about 1.5 KiB each.
    while writer.failure().is_none() {
        assert!(interval < 20_000, "the disk never got full");
        for _ in 0..100 {
            writer.append(slices(interval));
            interval += 1;
        }
        writer.edge();
        settle(&writer);
    }
    assert_eq!(writer.failure().unwrap().kind, Kind::RunFile);
    assert!(writer.failure().unwrap().message.en.contains("no space"), "{:?}", writer.failure());
    let failure = writer.failure().unwrap();
    let end = RunState::Ended { kind: failure.kind, reason: failure.message.clone() };
    let closed = writer.close(end).unwrap();
    let names: Vec<_> = std::fs::read_dir(disk.mount.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    (crate::store::read(&closed).unwrap(), interval)
}

#[test]
fn a_full_disk_releases_the_reserve_and_loses_nothing() {
    if !root_or_skip("a_full_disk_releases_the_reserve_and_loses_nothing") {
        return;
    }
    for spool in [false, true] {
        let (record, appended) = run_into_a_full_disk(Options { spool, reserve: Bytes::mib(6) });
        assert_eq!(record.trials[0].slices.len(), appended as usize);
        let full = |kind: &EventKind| matches!(kind, EventKind::RunFileFull { .. });
        assert_eq!(record.events.iter().filter(|event| full(&event.kind)).count(), 1);
        assert!(matches!(record.state, RunState::Ended { kind: Kind::RunFile, .. }), "{:?}", record.state);
    }
}

#[test]
fn without_any_space_the_file_still_opens_and_closing_says_what_happened() {
    if !root_or_skip("without_any_space_the_file_still_opens_and_closing_says_what_happened") {
        return;
    }
    let disk = SmallDisk::new(Bytes::mib(4));
    let memory = tempfile::tempdir().unwrap();
    let path = disk.mount.path().join("R-1.stend");
    let writer = create_with(&path, &samples::header(), PLAIN, None, memory.path()).unwrap();
    writer.append(samples::trial_start(0));
    writer.edge();
    settle(&writer);
    disk.fill();
    (0..2000).for_each(|interval| writer.append(slices(interval)));
    let error = writer.close(RunState::Complete).unwrap_err();
    assert_eq!(error.kind, Kind::RunFile);
    let record = crate::store::read(&path).unwrap();
    assert_eq!((record.state, record.trials.len()), (RunState::Open, 1));
}

#[test]
fn a_file_that_is_to_be_whole_leaves_nothing_on_a_full_disk_and_says_so_by_its_own_name() {
    if !root_or_skip("a_file_that_is_to_be_whole_leaves_nothing_on_a_full_disk_and_says_so_by_its_own_name") {
        return;
    }
    let disk = SmallDisk::new(Bytes::mib(4));
    let path = disk.mount.path().join("R-1.stend");
    let told = |error: Box<stend_base::Error>| {
        assert!(error.message.en.contains("R-1.stend`: no space is left"), "{error}");
        assert!(error.hint.as_ref().is_some_and(|hint| hint.en.contains("nothing of it was kept")), "{error}");
        assert!(!path.exists() && !disk.mount.path().join("R-1.stend.part").exists());
    };
    let mut recorder = Recorder::create_whole(&path, &samples::header(), None).unwrap();
    (0..4000).for_each(|interval| recorder.record(slices(interval)));
    recorder.commit();
    told(recorder.close(Some(RunState::Complete)).unwrap_err());
    disk.fill();
    told(Recorder::create_whole(&path, &samples::header(), None).unwrap_err());
}

#[test]
fn a_reserve_that_does_not_fit_is_an_error_that_leaves_nothing_behind() {
    if !root_or_skip("a_reserve_that_does_not_fit_is_an_error_that_leaves_nothing_behind") {
        return;
    }
    let disk = SmallDisk::new(Bytes::mib(4));
    let options = Options { spool: false, reserve: Bytes::mib(64) };
    let path = disk.mount.path().join("R-1.stend");
    let error = create_with(&path, &samples::header(), options, None, Path::new("/dev/shm")).unwrap_err();
    assert_eq!(error.kind, Kind::RunFile);
    assert!(error.message.en.contains("64 MiB"), "{error}");
    assert_eq!(std::fs::read_dir(disk.mount.path()).unwrap().count(), 0);
}

#[test]
fn a_run_that_cannot_be_resumed_for_want_of_room_is_resumed_once_there_is_some() {
    if !root_or_skip("a_run_that_cannot_be_resumed_for_want_of_room_is_resumed_once_there_is_some") {
        return;
    }
    let disk = SmallDisk::new(Bytes::mib(10));
    let memory = tempfile::tempdir().unwrap();
    let path = disk.mount.path().join("R-1.stend");
    let writer = create_with(&path, &samples::header(), SPOOLED, None, memory.path()).unwrap();
    writer.append(samples::trial_start(0));
    let end = RunState::Ended { kind: Kind::Interrupted, reason: stend_base::say!("stop", "стоп") };
    writer.close(end.clone()).unwrap();
    let whole = std::fs::read(&path).unwrap();
    // The reserve does not fit: nothing is touched.
    let options = Options { reserve: Bytes::mib(64), ..SPOOLED };
    let error = resume_with(&path, options, memory.path()).unwrap_err();
    assert!(error.kind == Kind::RunFile && error.message.en.contains("64 MiB") && error.hint.is_some(), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), whole);
    // A spool that does not fit: killed with half of what the disk holds.
    let writer = resume_with(&path, SPOOLED, memory.path()).unwrap();
    (0..2000).for_each(|interval| writer.append(slices(interval)));
    settle(&writer);
    let spool = spool_in(memory.path());
    let killed = disk.mount.path().join("killed.stend");
    for suffix in ["", "-wal", "-shm"] {
        let name = |path: &Path| crate::store::recorder::beside(path, suffix);
        std::fs::copy(name(&path), name(&killed)).unwrap();
    }
    let left = std::fs::read(&spool).unwrap();
    drop(writer);
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&spool, &left).unwrap();
    disk.fill();
    let before = crate::store::read(&killed).unwrap();
    assert_eq!(before.trials[0].slices.len(), 2000);
    for options in [SPOOLED, PLAIN] {
        let error = resume_with(&killed, options, memory.path()).unwrap_err();
        assert!(error.kind == Kind::RunFile && error.hint.is_some(), "{error}");
        assert!(error.message.en.contains("no space"), "{error}");
        assert_eq!(crate::store::read(&killed).unwrap(), before);
    }
    disk.make_room();
    let writer = resume_with(&killed, PLAIN, memory.path()).unwrap();
    writer.append(slices(2000));
    let record = crate::store::read(&writer.close(RunState::Complete).unwrap()).unwrap();
    assert!(record.trials[0].slices.iter().map(|slice| slice.interval).eq(0..=2000));
    assert!(!spool.exists());
}
