//! What the tests of the engine share: trials to vary, targets that vanish with the test, and sums.

use crate::{Control, fill, run_trial};
use std::path::{Path, PathBuf};
use std::process::Command;
use stend_base::{Bytes, Nanos, Result};
use stend_record::observed::{Slice, TrialOutcome};
use stend_spec::workload::{Mix, Op, Pattern, Region, Stream, Trial};
use stend_sys::IoFile;
use stend_sys::buffer::Pool;

/// A place on a real file system that takes direct I/O.
pub const DISK: &str = "/var/tmp";

/// Random 4 KiB I/O at depth 1, `read_percent` of it reads.
pub fn stream(read_percent: u8) -> Stream {
    Stream::new(Mix::of_reads(read_percent), Pattern::Random, Bytes::kib(4))
}

/// 300 ms over the first `len` bytes, without a ramp.
pub fn trial(len: Bytes, streams: Vec<Stream>) -> Trial {
    let region = Region { start: Bytes(0), len };
    Trial { seed: 11, ..Trial::new(streams, Nanos::millis(300), region) }
}

/// Runs a trial and keeps every slice.
pub fn run(trial: &Trial, file: &IoFile) -> Result<(TrialOutcome, Vec<Slice>)> {
    let mut slices = Vec::new();
    let outcome = run_trial(trial, file, &Control::new(), &mut |more| slices.extend(more))?;
    Ok((outcome, slices))
}

/// A nameless file on the disk, all of it written.
pub fn filled(len: Bytes) -> IoFile {
    let file = IoFile::create_scratch(Path::new(DISK), len.0, true).unwrap();
    fill(&file, Region { start: Bytes(0), len }, 3, &Control::new(), &mut |_| {}).unwrap();
    file
}

/// (I/Os, bytes) of an operation over all jobs, inside the window.
pub fn done(outcome: &TrialOutcome, op: Op) -> (u64, u64) {
    outcome.jobs.iter().map(|j| j.done[op.index()]).fold((0, 0), |sum, d| (sum.0 + d.0, sum.1 + d.1))
}

/// Contents of a file, direct or not.
pub fn contents(file: &IoFile, len: usize) -> Vec<u8> {
    let mut pool = Pool::new(1, 1 << 20).unwrap();
    let mut all = Vec::new();
    while all.len() < len {
        let part = pool.slot_mut(0);
        let got = file.read_at(part, all.len() as u64).unwrap();
        assert!(got > 0, "the file ends at {}", all.len());
        all.extend_from_slice(&part[..got]);
    }
    all.truncate(len);
    all
}

/// Whether the test may use root's powers; a note and `false` if not, which CI does not accept.
pub fn root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let root = status.lines().any(|l| l.starts_with("Uid:") && l.split_whitespace().nth(2) == Some("0"));
    assert!(root || std::env::var_os("CI").is_none(), "this test needs root");
    if !root {
        eprintln!("skipped: needs root");
    }
    root
}

/// Runs a command that must succeed; returns its output without the last line end.
pub fn sh(words: &[&str]) -> String {
    let output = Command::new(words[0]).args(&words[1..]).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_string()
}

/// A loop device over a file of its own; both go with the value.
pub struct Loop {
    pub device: PathBuf,
    pub backing: tempfile::NamedTempFile,
}

impl Loop {
    pub fn new(len: Bytes) -> Loop {
        let backing = tempfile::NamedTempFile::new_in(DISK).unwrap();
        backing.as_file().set_len(len.0).unwrap();
        let device = sh(&["losetup", "--find", "--show", backing.path().to_str().unwrap()]);
        Loop { device: device.into(), backing }
    }

    pub fn name(&self) -> &str {
        self.device.to_str().unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", self.name()]).status();
    }
}

/// An ext4 file system of its own, mounted; thawed and unmounted with the value.
pub struct Mount {
    pub at: tempfile::TempDir,
    pub disk: Loop,
}

impl Mount {
    pub fn new(len: Bytes) -> Mount {
        let disk = Loop::new(len);
        sh(&["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", disk.name()]);
        let at = tempfile::tempdir_in(DISK).unwrap();
        sh(&["mount", disk.name(), at.path().to_str().unwrap()]);
        Mount { at, disk }
    }

    fn path(&self) -> &str {
        self.at.path().to_str().unwrap()
    }

    pub fn freeze(&self) {
        sh(&["fsfreeze", "--freeze", self.path()]);
    }

    pub fn thaw(&self) {
        let _ = Command::new("fsfreeze").args(["--unfreeze", self.path()]).stderr(std::process::Stdio::null()).status();
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        self.thaw();
        // Lazily: a stalled trial leaks its handle on purpose.
        let _ = Command::new("umount").args(["--lazy", self.path()]).status();
    }
}
