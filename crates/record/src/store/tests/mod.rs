//! Tests of the run file as a whole: written, read, damaged, full.

mod disk_full;
mod format;
mod hostile;
mod io_log;
mod killed;
mod recording;
mod resume_refused;
mod resumed;
mod slice_rows;
mod spooled;
mod whole;
mod written;

use super::recorder::Options;
use super::samples;
use super::writer::{Writer, create_with, resume_with};
use crate::run::{Entry, RunRecord, RunState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than any healthy disk needs; a test that waits this long has failed.
const LIMIT: Duration = Duration::from_secs(90);

/// A directory for run files and one that stands in for `/dev/shm`.
struct Place {
    runs: TempDir,
    memory: TempDir,
}

impl Place {
    fn new() -> Place {
        Place { runs: tempfile::tempdir().unwrap(), memory: tempfile::tempdir().unwrap() }
    }

    fn file(&self) -> PathBuf {
        self.runs.path().join("R-1.stend")
    }

    fn create(&self, options: Options) -> Writer {
        create_with(&self.file(), &samples::header(), options, None, self.memory.path()).unwrap()
    }

    fn resume(&self, options: Options) -> stend_base::Result<Writer> {
        resume_with(&self.file(), options, self.memory.path())
    }

    /// The only spool that there is, or a path that is not there.
    fn spool(&self) -> PathBuf {
        spool_in(self.memory.path())
    }

    fn names(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.runs.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// The run file as a kill would leave it: the database and its log, copied while both are at rest.
    fn copy_as_killed(&self) -> Place {
        let copy = Place::new();
        for name in self.names() {
            std::fs::copy(self.runs.path().join(&name), copy.runs.path().join(&name)).unwrap();
        }
        copy
    }
}

fn spool_in(memory: &Path) -> PathBuf {
    let paths = std::fs::read_dir(memory).unwrap().map(|entry| entry.unwrap().path());
    let spools: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|e| e == "spool")).collect();
    assert!(spools.len() < 2, "{spools:?}");
    spools.into_iter().next().unwrap_or_else(|| memory.join("absent.spool"))
}

const SPOOLED: Options = Options { spool: true, reserve: stend_base::Bytes(0) };
const PLAIN: Options = Options { spool: false, reserve: stend_base::Bytes(0) };

fn append_all(writer: &Writer, entries: &[Entry]) {
    entries.iter().cloned().for_each(|entry| writer.append(entry));
}

/// Everything so far is in the database, or in the spool.
fn settle(writer: &Writer) {
    assert!(writer.settle(LIMIT), "the writer thread did not settle");
}

/// Reads until the record is as expected: commits happen on a timer.
fn read_until(path: &Path, expected: &RunRecord) {
    let start = Instant::now();
    loop {
        let record = super::read(path).unwrap();
        if record == *expected {
            return;
        }
        assert!(start.elapsed() < LIMIT, "not committed in time: {record:#?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn ended(mut record: RunRecord) -> RunRecord {
    record.state = RunState::Complete;
    record
}

/// Whether this process may mount and change owners. Without root the test is skipped by name, except
/// in CI, where it must run.
fn root_or_skip(test: &str) -> bool {
    if rustix::process::geteuid().is_root() {
        return true;
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{test} must run in CI, and needs root");
    eprintln!("skipped: {test} needs root");
    false
}
