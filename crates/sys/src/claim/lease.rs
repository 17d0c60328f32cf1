//! A lease: a file that says who uses something, locked for as long as its holder lives. The lock, not the
//! file, is the truth, so a killed process leaves nothing that must be cleaned up by hand.

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, fstat, openat, statat, unlinkat};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// Longest note that is read back, bytes.
const NOTE_MAX: usize = 1 << 16;
/// Times that a lease is tried again, because its holder removes it at this moment or somebody looks at it.
const TRIES: usize = 10;
/// Pause between the tries; looking takes microseconds.
const PAUSE: Duration = Duration::from_millis(2);

/// A lease held by this process. Dropping it removes the file and lets go of the lock.
#[derive(Debug)]
pub struct Lease {
    file: OwnedFd,
    directory: OwnedFd,
    name: String,
    /// The file is not removed.
    stays: bool,
}

/// What was found under the name of a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// A living process holds it.
    pub held: bool,
    /// What its holder wrote; may be empty or cut if the holder died while writing.
    pub note: String,
}

/// Why a lease was not given.
#[derive(Debug)]
pub enum NotLeased {
    /// A living process holds it; its note.
    Held(String),
    /// The file could not be used.
    Io(io::Error),
}

impl From<rustix::io::Errno> for NotLeased {
    fn from(error: rustix::io::Errno) -> NotLeased {
        NotLeased::Io(error.into())
    }
}

impl Lease {
    /// Takes the lease `name` in an open directory, leaving `note` for others. A file that nobody locks is
    /// what a dead process left, and is taken over.
    pub fn take(directory: impl AsFd, name: &str, note: &str) -> std::result::Result<Lease, NotLeased> {
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let mut holder = None;
        for _ in 0..TRIES {
            let file = openat(&directory, name, flags, Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    holder = Some(read_note(&file));
                    std::thread::sleep(PAUSE);
                    continue;
                }
                other => other?,
            }
            if !is_still_named(&file, &directory, name) {
                continue;
            }
            rustix::fs::ftruncate(&file, 0)?;
            write_note(&file, note.as_bytes()).map_err(NotLeased::Io)?;
            let directory = rustix::io::fcntl_dupfd_cloexec(directory.as_fd(), 3)?;
            return Ok(Lease { file, directory, name: name.to_string(), stays: false });
        }
        let restless = || io::Error::new(io::ErrorKind::TimedOut, "others keep taking and removing the lease");
        Err(holder.map_or_else(|| NotLeased::Io(restless()), NotLeased::Held))
    }

    /// Looks at a lease without taking it; `None` if there is none.
    pub fn look(directory: impl AsFd, name: &str) -> io::Result<Option<Seen>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match openat(&directory, name, flags, Mode::empty()) {
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            other => other?,
        };
        // The lock is let go when `file` is closed below.
        let held = match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => true,
            other => {
                other?;
                false
            }
        };
        Ok(Some(Seen { held, note: read_note(&file) }))
    }

    /// Lets go of the lock and leaves the file, so that others can see whose it was.
    pub fn leave(mut self) {
        self.stays = true;
    }

    /// Lets every user read the note, whatever the umask is.
    pub fn show_to_all(&self) -> io::Result<()> {
        Ok(rustix::fs::fchmod(&self.file, Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH)?)
    }

    /// Makes the note survive a loss of power.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.file)?)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Removed while the lock is held, and only if the name still means our file. A failure leaves a file
        // that nobody locks, which the next holder takes over.
        if !self.stays && is_still_named(&self.file, &self.directory, &self.name) {
            let _ = unlinkat(&self.directory, &self.name, AtFlags::empty());
        }
    }
}

/// Whether the name still leads to this file: its holder may have removed it between our open and our lock.
fn is_still_named(file: &OwnedFd, directory: impl AsFd, name: &str) -> bool {
    match (fstat(file), statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)) {
        (Ok(ours), Ok(named)) => (ours.st_dev, ours.st_ino) == (named.st_dev, named.st_ino),
        _ => false,
    }
}

fn read_note(file: &OwnedFd) -> String {
    let mut bytes = vec![0; NOTE_MAX];
    let n = rustix::io::pread(file, &mut bytes, 0).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..n]).into_owned()
}

fn write_note(file: &OwnedFd, note: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < note.len() {
        done += rustix::io::pwrite(file, &note[done..], done as u64)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::OwnDirectory;

    fn scratch() -> (tempfile::TempDir, OwnDirectory) {
        let dir = tempfile::tempdir().unwrap();
        let open = OwnDirectory::open(dir.path()).unwrap();
        (dir, open)
    }

    #[test]
    fn a_second_holder_is_told_the_note_of_the_first() {
        let (_keep, dir) = scratch();
        let first = Lease::take(&dir, "x.lease", "pid 1").unwrap();
        assert!(matches!(Lease::take(&dir, "x.lease", "pid 2"), Err(NotLeased::Held(note)) if note == "pid 1"));
        assert_eq!(Lease::look(&dir, "x.lease").unwrap(), Some(Seen { held: true, note: "pid 1".into() }));
        drop(first);
        assert_eq!(Lease::look(&dir, "x.lease").unwrap(), None);
        Lease::take(&dir, "x.lease", "pid 2").unwrap();
    }

    #[test]
    fn a_file_that_nobody_locks_is_taken_over() {
        let (keep, dir) = scratch();
        std::fs::write(keep.path().join("x.lease"), "a longer note of a dead process").unwrap();
        let seen = Lease::look(&dir, "x.lease").unwrap().unwrap();
        assert!(!seen.held && seen.note.contains("dead"));
        let lease = Lease::take(&dir, "x.lease", "me").unwrap();
        lease.sync().unwrap();
        assert_eq!(std::fs::read_to_string(keep.path().join("x.lease")).unwrap(), "me");
    }

    #[test]
    fn a_lease_is_never_written_through_a_link() {
        let (keep, dir) = scratch();
        std::fs::write(keep.path().join("precious"), "data").unwrap();
        std::os::unix::fs::symlink("precious", keep.path().join("x.lease")).unwrap();
        assert!(matches!(Lease::take(&dir, "x.lease", "me"), Err(NotLeased::Io(_))));
        assert_eq!(std::fs::read_to_string(keep.path().join("precious")).unwrap(), "data");
    }

    #[test]
    fn dropping_a_lease_does_not_remove_a_file_that_took_its_name() {
        let (keep, dir) = scratch();
        let lease = Lease::take(&dir, "x.lease", "me").unwrap();
        std::fs::remove_file(keep.path().join("x.lease")).unwrap();
        std::fs::write(keep.path().join("x.lease"), "other").unwrap();
        drop(lease);
        assert!(keep.path().join("x.lease").exists());
    }
}
