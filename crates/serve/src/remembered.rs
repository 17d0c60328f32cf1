//! What was found in run files, remembered as long as the files do not change. Must not read them.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What changes when a file does: size and time of change, of the file and of its log.
pub type Stamp = [Option<(u64, i64, i64)>; 2];

/// By file.
pub struct Remembered<T>(Mutex<HashMap<PathBuf, (Stamp, T)>>);

impl<T> Default for Remembered<T> {
    fn default() -> Remembered<T> {
        Remembered(Mutex::default())
    }
}

impl<T: Clone> Remembered<T> {
    /// What was found in a file that still has this stamp.
    pub fn get(&self, path: &Path, stamp: &Stamp) -> Option<T> {
        self.all().get(path).filter(|(known, _)| known == stamp).map(|(_, found)| found.clone())
    }

    /// Remembers what was found in a file that had this stamp before it was read.
    pub fn keep(&self, path: &Path, stamp: Stamp, found: T) {
        self.all().insert(path.to_path_buf(), (stamp, found));
    }

    /// Drops what is remembered of files that are not there any more.
    pub fn forget<'a>(&self, known: impl ExactSizeIterator<Item = &'a Path>) {
        let mut all = self.all();
        if all.len() > known.len() {
            let known: HashSet<&Path> = known.collect();
            all.retain(|path, _| known.contains(path.as_path()));
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<PathBuf, (Stamp, T)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The stamp of a file as it is now.
pub fn stamp(path: &Path) -> Stamp {
    let mut log = path.as_os_str().to_os_string();
    log.push("-wal");
    [path, Path::new(&log)].map(|file| {
        let found = file.symlink_metadata().ok()?;
        Some((found.size(), found.mtime(), found.mtime_nsec()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_holds_until_the_file_or_its_log_changes() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.stend");
        std::fs::write(&file, "1").unwrap();
        let (found, before) = (Remembered::default(), stamp(&file));
        found.keep(&file, before, 7);
        assert_eq!(found.get(&file, &stamp(&file)), Some(7));
        std::fs::write(dir.path().join("a.stend-wal"), "log").unwrap();
        assert_eq!(found.get(&file, &stamp(&file)), None);
        found.keep(&file, stamp(&file), 8);
        std::fs::write(&file, "22").unwrap();
        assert_eq!(found.get(&file, &stamp(&file)), None);
        found.forget([].into_iter());
        assert_eq!(found.get(&file, &before), None);
    }
}
