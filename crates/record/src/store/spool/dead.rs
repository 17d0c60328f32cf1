//! Spools of runs that are dead: which of them nobody needs any more. Must not touch one whose entries are nowhere else.

use super::{PREFIX, SUFFIX, content, frame, start};
use crate::store::owner::Owner;
use crate::store::{EXTENSION, reader};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Longest path that a reader believes: the kernel's own limit.
const PATH_MAX: usize = 4096;

/// Where the run file of a spool is: u64 device and inode of it, u16 length and text of its whole path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Home {
    device: u64,
    inode: u64,
    path: PathBuf,
}

impl Home {
    /// That of a run file that exists.
    pub fn of(run_file: &Path) -> io::Result<Home> {
        let path = std::path::absolute(run_file)?;
        let found = std::fs::metadata(&path)?;
        Ok(Home { device: found.dev(), inode: found.ino(), path })
    }

    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let path = self.path.as_os_str().as_bytes();
        let len = u16::try_from(path.len()).ok().filter(|&len| usize::from(len) <= PATH_MAX);
        let len = len.ok_or(io::ErrorKind::InvalidFilename)?;
        Ok([&self.device.to_le_bytes()[..], &self.inode.to_le_bytes(), &len.to_le_bytes(), path].concat())
    }

    pub fn parse(bytes: &[u8]) -> Option<(Home, &[u8])> {
        let (device, rest) = bytes.split_first_chunk::<8>()?;
        let (inode, rest) = rest.split_first_chunk::<8>()?;
        let (len, rest) = rest.split_first_chunk::<2>()?;
        let (path, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*len)))?;
        let path = PathBuf::from(std::ffi::OsString::from_vec(path.to_vec()));
        let home = Home { device: u64::from_le_bytes(*device), inode: u64::from_le_bytes(*inode), path };
        Some((home, rest))
    }

    /// Where the run file is now; `None`: it is gone. An error says that nobody can tell: the file system of its directory may
    /// not be mounted at this moment.
    fn look(&self) -> io::Result<Option<PathBuf>> {
        let is_it =
            |found: &std::fs::Metadata| found.is_file() && (found.dev(), found.ino()) == (self.device, self.inode);
        if std::fs::metadata(&self.path).is_ok_and(|found| is_it(&found)) {
            return Ok(Some(self.path.clone()));
        }
        let directory = self.path.parent().ok_or(io::ErrorKind::InvalidFilename)?;
        if std::fs::metadata(directory)?.dev() != self.device {
            return Err(io::ErrorKind::NotFound.into());
        }
        // It may have got another name there.
        for entry in std::fs::read_dir(directory)? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == EXTENSION) && std::fs::metadata(&path).is_ok_and(|it| is_it(&it)) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }
}

/// Removes the spools in `memory` of this user, and of the one behind sudo, that no living process has and nobody needs: all of
/// their entries are in the run file, or that is gone. What cannot be decided stays.
pub fn remove_dead(memory: &Path, owner: Option<Owner>) {
    let own = rustix::process::geteuid().as_raw();
    let ours = |uid: u32| uid == own || owner.is_some_and(|owner| owner.uid == uid);
    // A place that cannot be read has none of ours.
    for entry in std::fs::read_dir(memory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let path = entry.path();
        let plain = |found: std::fs::Metadata| found.is_file() && ours(found.uid());
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) && std::fs::symlink_metadata(&path).is_ok_and(plain) {
            remove_if_dead(&path);
        }
    }
}

/// The same for one. What was removed meanwhile, or is used, is not our concern.
fn remove_if_dead(path: &Path) {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let Ok(file) = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path) else { return };
    // Held until it is removed, so that nobody takes it over in between.
    if file.try_lock().is_ok() && is_needless(&file) {
        remove_at(&file, path);
    }
}

/// Removes this file from its path, and no other that stands there by now.
fn remove_at(file: &File, path: &Path) {
    let id = |found: std::fs::Metadata| (found.dev(), found.ino());
    let (ours, there) = (file.metadata().map(id), std::fs::symlink_metadata(path).map(id));
    if ours.is_ok_and(|ours| there.is_ok_and(|there| ours == there)) {
        super::remove(path);
    }
}

fn is_needless(file: &File) -> bool {
    let bytes = content(file);
    let Some((id, Some(home), mut rest)) = start(&bytes) else { return false };
    let mut last = 0;
    while let Some(((ordinal, _), next)) = frame(rest) {
        (last, rest) = (ordinal.max(last), next);
    }
    match home.look() {
        Ok(None) => true,
        Ok(Some(run_file)) => reader::written(&run_file, id).is_some_and(|written| last <= written),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunState;
    use crate::store::spool::Spool;
    use crate::store::{Options, samples, writer};

    /// A run that was killed in a trial: the place of its file, what its spool is called, and the file as it was then.
    struct Killed {
        memory: tempfile::TempDir,
        runs: tempfile::TempDir,
    }

    impl Killed {
        fn new(entries: u64) -> Killed {
            let (memory, runs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let killed = Killed { memory, runs };
            let options = Options::default();
            let of =
                writer::create_with(&killed.file(), &samples::header(), options, None, killed.memory.path()).unwrap();
            drop(of);
            let mut spool = Spool::create(killed.memory.path(), "R-1", &killed.file(), None).unwrap();
            for (ordinal, entry) in (1..=entries).zip(samples::one_of_each()) {
                spool.append(ordinal, &entry).unwrap();
            }
            // As a kill does it.
            if entries == 0 {
                std::mem::forget(spool);
            }
            killed
        }

        fn file(&self) -> PathBuf {
            self.runs.path().join("R-1.stend")
        }

        fn left(&self) -> usize {
            remove_dead(self.memory.path(), None);
            std::fs::read_dir(self.memory.path()).unwrap().count()
        }
    }

    #[test]
    fn what_is_nowhere_else_stays_also_when_its_file_has_another_name_and_goes_with_it() {
        let killed = Killed::new(3);
        assert_eq!(killed.left(), 1);
        let renamed = killed.runs.path().join("kept.stend");
        std::fs::rename(killed.file(), &renamed).unwrap();
        assert_eq!(killed.left(), 1);
        std::fs::remove_file(&renamed).unwrap();
        assert_eq!(killed.left(), 0);
    }

    #[test]
    fn what_is_in_the_run_file_by_now_goes() {
        let killed = Killed::new(3);
        let spool = std::fs::read_dir(killed.memory.path()).unwrap().next().unwrap().unwrap().path();
        let bytes = std::fs::read(&spool).unwrap();
        let options = Options { spool: true, ..Options::default() };
        let run = writer::create_with(
            &killed.runs.path().join("other.stend"),
            &samples::header(),
            options,
            None,
            killed.memory.path(),
        );
        samples::one_of_each().into_iter().for_each(|entry| run.as_ref().unwrap().append(entry));
        let other = run.unwrap().close(RunState::Complete).unwrap();
        assert!(spool.exists(), "another run of the same id does not hold what is in it");
        // The same entries, of which that file knows.
        let (_, home, _) = start(&bytes).unwrap();
        let home = home.unwrap();
        let [old, new] = [home, Home::of(&other).unwrap()].map(|home| home.to_bytes().unwrap());
        let at = bytes.windows(old.len()).position(|window| window == old).unwrap();
        std::fs::write(&spool, [&bytes[..at], &new, &bytes[at + old.len()..]].concat()).unwrap();
        assert_eq!(killed.left(), 0);
    }

    #[test]
    fn what_stands_in_the_place_of_a_needless_spool_by_now_stays() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("stend-0-R-1.spool");
        std::fs::write(&place, "needless").unwrap();
        let looked_at = File::open(&place).unwrap();
        std::fs::rename(&place, directory.path().join("elsewhere")).unwrap();
        std::fs::write(&place, "entries").unwrap();
        remove_at(&looked_at, &place);
        assert_eq!(std::fs::read(&place).unwrap(), b"entries");
        remove_at(&File::open(&place).unwrap(), &place);
        assert!(!place.exists());
    }

    #[test]
    fn what_lives_what_is_not_ours_and_what_cannot_be_decided_stays() {
        let killed = Killed::new(3);
        let memory = killed.memory.path();
        let live = Spool::create(memory, "R-1", &killed.file(), None).unwrap();
        let link = memory.join("stend-0-link.spool");
        std::os::unix::fs::symlink(live.path(), &link).unwrap();
        std::fs::write(memory.join("stend-0-no.spool"), "no spool").unwrap();
        std::fs::write(memory.join("precious"), "x").unwrap();
        assert_eq!(killed.left(), 5);
        // The file system that has the run file is not mounted: another one is where it was.
        let dead = std::fs::read_dir(memory).unwrap().flatten().map(|entry| entry.path());
        let dead = dead
            .into_iter()
            .find(|path| !path.is_symlink() && path != live.path() && path.metadata().unwrap().len() > 100);
        let (dead, mut bytes) = (dead.clone().unwrap(), std::fs::read(dead.unwrap()).unwrap());
        bytes[8 + 1 + 3] ^= 1;
        std::fs::write(&dead, bytes).unwrap();
        std::fs::remove_file(killed.file()).unwrap();
        assert_eq!(killed.left(), 5);
    }

    #[test]
    fn arbitrary_bytes_have_no_home_or_one() {
        let home = Home { device: 1, inode: 2, path: "/x".into() };
        let bytes = home.to_bytes().unwrap();
        assert_eq!(Home::parse(&bytes), Some((home.clone(), &b""[..])));
        assert!((0..bytes.len()).all(|cut| Home::parse(&bytes[..cut]).is_none()));
        let long = Home { path: "x".repeat(PATH_MAX + 1).into(), ..home };
        assert_eq!(long.to_bytes().unwrap_err().kind(), io::ErrorKind::InvalidFilename);
    }
}
