//! The directory in which fio finds its job file and leaves its logs: in memory, ours alone, gone with the trial.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use stend_sys::{clock, tree};

/// Where it is made: the first of these that is there. Logs are written after the load, but on a disk they would meet the
/// next trial.
const PLACES: [&str; 2] = ["/dev/shm", "/tmp"];
/// Its name is this, the id of our process, and a number.
const PREFIX: &str = "stend-fio-";

/// A directory that goes with the value.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
    /// Its lock tells workers in other containers, where ids of processes are others, that it is used.
    _lock: File,
}

/// Removes the directories that killed workers of the same user left.
pub fn remove_dead_scratches() {
    if let Some(place) = place() {
        remove_dead(place);
    }
}

fn place() -> Option<&'static Path> {
    PLACES.iter().map(Path::new).find(|place| place.is_dir())
}

fn remove_dead(place: &Path) {
    // A process is shown as its user's.
    let user = fs::metadata("/proc/self").ok().map(|process| process.uid());
    // What cannot be read, is somebody else's, or was removed meanwhile by another worker is not our concern.
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let gone = |pid: u32| !Path::new(&format!("/proc/{pid}")).exists();
        let ours = |meta: fs::Metadata| meta.is_dir() && user.is_some_and(|user| user == meta.uid());
        let dead = owner(&name.to_string_lossy()).is_some_and(gone);
        if dead && fs::symlink_metadata(entry.path()).is_ok_and(ours) && free(&entry.path()) {
            // What is left, also because something is mounted in it, stays: it is in memory and disturbs no run.
            let _ = tree::remove(&entry.path());
        }
    }
}

/// Whether nobody has a directory locked.
fn free(path: &Path) -> bool {
    File::open(path).is_ok_and(|directory| directory.try_lock().is_ok())
}

impl Scratch {
    /// Makes it.
    pub fn new() -> io::Result<Scratch> {
        Scratch::new_in(place().ok_or(io::ErrorKind::NotFound)?)
    }

    fn new_in(place: &Path) -> io::Result<Scratch> {
        let path = place.join(format!("{PREFIX}{}-{}", std::process::id(), clock::now().0));
        // Whatever stands there already is not ours: then this fails.
        DirBuilder::new().mode(0o700).create(&path)?;
        let lock = File::open(&path)?;
        lock.try_lock()?;
        Ok(Scratch { path, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file into it and says where that is.
    pub fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        fs::write(&path, text)?;
        Ok(path)
    }

    /// The file whose name begins with `prefix`; fio adds a number to the names of its logs.
    pub fn find(&self, prefix: &str) -> io::Result<Option<PathBuf>> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                return Ok(Some(entry.path()));
            }
        }
        Ok(None)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays is removed by the next worker of this user.
        let _ = tree::remove(&self.path);
    }
}

/// The process that made a directory of this name, if it is one of ours.
fn owner(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn it_goes_with_its_value_and_only_those_that_nobody_uses_are_removed() {
        let place = tempfile::tempdir().unwrap();
        // No process has an id above the kernel's limit of 2^22.
        let dead = place.path().join(format!("{PREFIX}4194305-1"));
        let [ours, foreign] = [format!("{PREFIX}{}-1", std::process::id()), "stend-other-4194305-1".to_string()];
        fs::create_dir_all(dead.join("sub")).unwrap();
        [&ours, &foreign].iter().for_each(|name| fs::create_dir(place.path().join(name)).unwrap());
        fs::write(place.path().join(format!("{PREFIX}4194305-2")), "a file is none").unwrap();
        // One of a worker in another container: no process here has its id, but it is locked.
        let elsewhere = place.path().join(format!("{PREFIX}4194306-1"));
        fs::create_dir(&elsewhere).unwrap();
        let lock = File::open(&elsewhere).unwrap();
        lock.lock().unwrap();
        let scratch = Scratch::new_in(place.path()).unwrap();
        remove_dead(place.path());
        assert!(!dead.exists() && scratch.path().is_dir() && elsewhere.exists());
        assert!(!free(scratch.path()));
        drop(lock);
        remove_dead(place.path());
        assert!(!elsewhere.exists());
        assert_eq!(fs::metadata(scratch.path()).unwrap().mode() & 0o777, 0o700);
        let path = scratch.write("x_1.log", "text").unwrap();
        assert_eq!((scratch.find("x_").unwrap(), scratch.find("y").unwrap()), (Some(path), None));
        drop(scratch);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 3);
    }

    #[test]
    fn what_is_mounted_in_the_directory_of_a_dead_worker_is_not_emptied() {
        let place = tempfile::tempdir().unwrap();
        let at = place.path().join(format!("{PREFIX}4194305-1/inside"));
        fs::create_dir_all(&at).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "none"]).arg(&at).status().unwrap().success();
        if !mounted {
            assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "mounting needs root in CI");
            return;
        }
        fs::write(at.join("precious"), "x").unwrap();
        remove_dead(place.path());
        let kept = at.join("precious").exists();
        assert!(Command::new("umount").arg(&at).status().unwrap().success());
        assert!(kept);
        remove_dead(place.path());
        assert!(!at.exists());
    }

    #[test]
    fn only_names_of_our_form_have_an_owner() {
        assert_eq!(owner("stend-fio-12-99"), Some(12));
        assert_eq!([owner("stend-fio-x-1"), owner("stend-fio-12"), owner("stend-1-2")], [None; 3]);
    }
}
