//! The directory of run files, listed anew when it has changed: with 10,000 runs that takes longer than all the rest of an answer.

use crate::clock::now_unix;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use stend_base::Result;
use stend_record::store::{self, KnownRun};

/// How old a change must be before a list counts as that of its time, seconds: some file systems tell times in steps of two, and another
/// change in the same step would not show.
const SETTLED: i64 = 2;

/// What changes when a file comes or goes, or another directory stands in its place: device, inode, time of change.
type Stamp = (u64, u64, i64, i64);

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
        // A link has the times of the directory that it leads to.
        let found = self.path.metadata().ok();
        let now = found.map(|found| (found.dev(), found.ino(), found.mtime(), found.mtime_nsec()));
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, runs)) = known().as_ref().filter(|(listed, _)| Some(*listed) == now) {
            return Ok(runs.clone());
        }
        // Others read it meanwhile, too: while it changes, none of them waits for the rest.
        let runs = Arc::new(store::known_runs(&self.path)?);
        let settled = now.filter(|(_, _, changed, _)| changed + SETTLED < now_unix());
        *known() = settled.map(|now| (now, runs.clone()));
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
    fn behind_a_link_the_directory_that_it_leads_to_counts() {
        let dir = tempfile::tempdir().unwrap();
        let settle = |path: &Path, seconds: u64| {
            let times = FileTimes::new().set_modified(SystemTime::now() - Duration::from_secs(seconds));
            File::open(path).unwrap().set_times(times).unwrap();
        };
        let [real, other, link] = ["real", "other", "runs"].map(|name| dir.path().join(name));
        for place in [&real, &other] {
            std::fs::create_dir(place).unwrap();
            std::fs::write(place.join("a.stend"), "x").unwrap();
            settle(place, 100);
        }
        std::os::unix::fs::symlink(&real, &link).unwrap();
        // A link that is new is not settled either.
        let touched = std::process::Command::new("touch").args(["-h", "-d", "@1700000000"]).arg(&link).status();
        assert!(touched.unwrap().success());
        let directory = Directory::new(link.clone());
        assert_eq!(directory.runs().unwrap().len(), 1);
        std::fs::write(real.join("b.stend"), "x").unwrap();
        settle(&real, 90);
        assert_eq!(directory.runs().unwrap().len(), 2);
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        assert_eq!(directory.runs().unwrap().len(), 1);
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
