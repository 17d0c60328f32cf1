//! The runs that the directory of run files knows: files in it, and links to files elsewhere. A link is data that others may have written:
//! it leads to one file, which counts only if it is a regular file and holds the run of that id.

use super::EXTENSION;
use super::glance;
use super::id::id_time;
use std::cmp::Reverse;
use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, say};

/// A run that the directory knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownRun {
    /// What a RUN argument takes: the name of its file, or of its link, without extension.
    pub name: String,
    /// The run file: in the directory, or where the link leads.
    pub path: PathBuf,
    /// The link, if there is one.
    pub link: Option<PathBuf>,
}

impl KnownRun {
    /// Whether its file is there. The file of a link may have been removed, or hold another run by now.
    pub fn is_there(&self) -> bool {
        let is_file = || self.path.symlink_metadata().is_ok_and(|found| found.is_file());
        // An unreadable file is not reported as gone: the next command that opens it says why.
        self.link.is_none() || is_file() && glance::id_of(&self.path).map_or(true, |id| id == self.name)
    }

    /// What the user has called it, if its file is there and can be read.
    pub(super) fn label(&self) -> Option<String> {
        self.is_there().then(|| glance::label_of(&self.path).ok().flatten()).flatten()
    }

    /// Whether the user has called it so.
    pub(super) fn is_labelled(&self, label: &str) -> bool {
        self.label().as_deref() == Some(label)
    }

    /// Whether it is called as runs are: other files are listed, and found by their paths only.
    pub fn has_id(&self) -> bool {
        self.name.starts_with("R-")
    }
}

/// All of them, the newest first; none if there is no such directory.
///
/// Errors: kind `RunFile` if it cannot be read.
pub fn known_runs(directory: &Path) -> Result<Vec<KnownRun>> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| {
            let shown = directory.display();
            Error::run_file(say!(
                "cannot read the directory `{shown}`: {error}",
                "не удаётся прочитать каталог `{shown}`: {error}"
            ))
        })?,
    };
    let mut runs: Vec<KnownRun> = entries.flatten().filter_map(|entry| known(&entry.path())).collect();
    // A link to a file beside it: that file has another name than its id.
    let is_beside = |run: &&KnownRun| run.link.is_some() && run.path.parent() == Some(directory) && run.is_there();
    let led_to: Vec<PathBuf> = runs.iter().filter(is_beside).map(|run| run.path.clone()).collect();
    runs.retain(|run| run.link.is_some() || !led_to.contains(&run.path));
    runs.sort_by_cached_key(|run| (Reverse(began(run)), Reverse(run.name.clone())));
    Ok(runs)
}

fn known(path: &Path) -> Option<KnownRun> {
    let name = path.file_stem().filter(|_| path.extension() == Some(OsStr::new(EXTENSION)))?;
    let name = name.to_string_lossy().into_owned();
    Some(match std::fs::read_link(path) {
        Ok(target) => {
            let path_there = path.parent().unwrap_or(path).join(target);
            KnownRun { name, path: path_there, link: Some(path.to_path_buf()) }
        }
        Err(_) => KnownRun { name, path: path.to_path_buf(), link: None },
    })
}

/// By what runs are ordered: the second when it began, which its id tells, else of its last change; of one second the later change.
fn began(run: &KnownRun) -> (String, i64, i64) {
    let changed = run.path.symlink_metadata().map_or((0, 0), |found| (found.mtime(), found.mtime_nsec()));
    let told = id_time(&run.name).map(str::to_string);
    (told.unwrap_or_else(|| super::id::time_text(changed.0.max(0) as u64)), changed.0, changed.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunState;
    use crate::store::Options;
    use crate::store::samples;
    use crate::store::writer::create_with;
    use std::os::unix::fs::symlink;

    /// A directory of runs, and one elsewhere that holds `x.stend` with the run `R-1`.
    fn place() -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("runs")).unwrap();
        let file = place.path().join("x.stend");
        let writer = create_with(&file, &samples::header(), Options::default(), None, place.path()).unwrap();
        writer.close(RunState::Complete).unwrap();
        (place, file)
    }

    fn only(directory: &Path) -> KnownRun {
        let runs = known_runs(directory).unwrap();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0].clone()
    }

    #[test]
    fn a_link_is_its_run_as_long_as_the_file_holds_it() {
        let (place, file) = place();
        let runs = place.path().join("runs");
        let id = glance::id_of(&file).unwrap();
        symlink(&file, runs.join(format!("{id}.stend"))).unwrap();
        let run = only(&runs);
        assert!(run.is_there() && run.path == file && run.name == id, "{run:?}");
        std::fs::rename(runs.join(format!("{id}.stend")), runs.join("R-20990101T000000Z-abcd.stend")).unwrap();
        assert!(!only(&runs).is_there(), "the file holds another run");
        std::fs::remove_file(&file).unwrap();
        assert!(!only(&runs).is_there());
    }

    #[test]
    fn a_link_to_a_device_a_directory_or_another_link_is_no_file_of_ours() {
        let (place, file) = place();
        let runs = place.path().join("runs");
        let chain = place.path().join("chain.stend");
        symlink(&file, &chain).unwrap();
        for target in [Path::new("/dev/zero"), place.path(), &chain] {
            let link = runs.join("R-1.stend");
            symlink(target, &link).unwrap();
            assert!(!only(&runs).is_there(), "{}", target.display());
            std::fs::remove_file(link).unwrap();
        }
    }

    #[test]
    fn a_file_in_the_directory_that_a_link_leads_to_is_listed_once() {
        let (place, file) = place();
        let runs = place.path().join("runs");
        let moved = runs.join("mine.stend");
        std::fs::rename(&file, &moved).unwrap();
        let id = glance::id_of(&moved).unwrap();
        symlink(&moved, runs.join(format!("{id}.stend"))).unwrap();
        assert_eq!(only(&runs).name, id);
    }

    #[test]
    fn the_newest_comes_first_whoever_wrote_last() {
        let dir = tempfile::tempdir().unwrap();
        let names = ["R-20260102T000000Z-bbbb", "R-20260101T000000Z-aaaa", "notes", "R-20990101T000000Z-zzzz"];
        names.iter().for_each(|name| std::fs::write(dir.path().join(format!("{name}.stend")), "").unwrap());
        std::fs::write(dir.path().join("R-3.stend-wal"), "").unwrap();
        let found: Vec<String> = known_runs(dir.path()).unwrap().into_iter().map(|run| run.name).collect();
        assert_eq!(found, ["R-20990101T000000Z-zzzz", "notes", "R-20260102T000000Z-bbbb", "R-20260101T000000Z-aaaa"]);
        assert_eq!(known_runs(&dir.path().join("absent")).unwrap(), []);
    }
}
