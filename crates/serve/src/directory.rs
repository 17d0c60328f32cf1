//! The directory of run files, listed anew when it has changed: with 10,000 runs that takes longer than all the rest of an answer.

use crate::clock::now_unix;
use crate::remembered::{Stamp, stamp};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use stend_base::Result;
use stend_record::store::{self, KnownRun};

/// How old a change must be before a list counts as that of its time, seconds: some file systems tell times in steps of two, and another
/// change in the same step would not show.
const SETTLED: i64 = 2;

/// The directory.
pub struct Directory {
    path: PathBuf,
    known: Mutex<Option<(Stamp, Arc<Vec<KnownRun>>)>>,
}

impl Directory {
    /// One that need not exist.
    pub fn new(path: PathBuf) -> Directory {
        Directory { path, known: Mutex::default() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its runs, the newest first. A file that only grows or shrinks does not change the list.
    ///
    /// Errors: those of reading it.
    pub fn runs(&self) -> Result<Arc<Vec<KnownRun>>> {
        let now = stamp(&self.path);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, runs)) = known.as_ref().filter(|(listed, _)| *listed == now) {
            return Ok(runs.clone());
        }
        let runs = Arc::new(store::known_runs(&self.path)?);
        let is_settled = now[0].is_some_and(|(_, changed, _)| changed + SETTLED < now_unix());
        *known = is_settled.then(|| (now, runs.clone()));
        Ok(runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, FileTimes};
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_list_is_kept_until_a_file_comes_or_goes_and_not_while_the_directory_changes() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| dir.path().join(format!("{name}.stend"));
        let settle = |seconds: u64| {
            let times = FileTimes::new().set_modified(SystemTime::now() - Duration::from_secs(seconds));
            File::open(dir.path()).unwrap().set_times(times).unwrap();
        };
        std::fs::write(file("a"), "x").unwrap();
        let directory = Directory::new(dir.path().to_path_buf());
        let names = || directory.runs().unwrap().iter().map(|run| run.name.clone()).collect::<Vec<_>>();
        // In the same step of the clock another file may come.
        assert!(!Arc::ptr_eq(&directory.runs().unwrap(), &directory.runs().unwrap()));
        settle(100);
        assert!(Arc::ptr_eq(&directory.runs().unwrap(), &directory.runs().unwrap()));
        assert_eq!(names(), ["a"]);
        std::fs::write(file("b"), "x").unwrap();
        settle(90);
        assert_eq!(names().len(), 2);
        std::fs::remove_file(file("a")).unwrap();
        assert_eq!(names(), ["b"]);
    }

    #[test]
    fn a_directory_that_is_made_later_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::new(dir.path().join("runs"));
        assert!(directory.runs().unwrap().is_empty());
        std::fs::create_dir(directory.path()).unwrap();
        std::fs::write(directory.path().join("a.stend"), "x").unwrap();
        assert_eq!(directory.runs().unwrap().len(), 1);
    }
}
