//! Removes a run file, with what belongs to it alone: what SQLite keeps beside it, and the link that makes it known. Must not touch a
//! file that somebody writes, or that is no run file.

use super::directory::directory;
use super::identity;
use super::lock::{self, NotHeld};
use super::recorder::beside;
use super::runs::{KnownRun, known_runs};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use stend_base::{Code, Error, Result, say};

/// What SQLite keeps beside a database, after its name.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Whether [`remove`] would remove this file.
///
/// Errors: kind `RunFile` if it is no run file (of any version), `Preflight` if somebody writes it.
pub fn may_remove(path: &Path) -> Result<()> {
    held(path).map(drop)
}

/// Removes a run file, and returns what is gone, the file first.
///
/// Errors: those of [`may_remove`]; kind `RunFile` if it cannot be removed.
pub fn remove(path: &Path) -> Result<Vec<PathBuf>> {
    // Until it is gone nobody begins to write it.
    let _held = held(path)?;
    let links = links_to(path);
    let mut gone = files(path).map_err(|error| not_removed(path, &error))?;
    for link in links {
        std::fs::remove_file(&link).map_err(|error| not_removed(&link, &error))?;
        gone.push(link);
    }
    Ok(gone)
}

/// Removes a link whose run file is gone.
///
/// Errors: kind `RunFile`.
pub fn forget(link: &Path) -> Result<()> {
    let found = link.symlink_metadata().map_err(|error| not_removed(link, &error))?;
    match found.is_symlink() {
        true => std::fs::remove_file(link).map_err(|error| not_removed(link, &error)),
        false => Err(not_removed(link, &io::ErrorKind::InvalidInput.into())),
    }
}

/// Removes a file and what SQLite keeps beside it, whatever is in it; returns what was there.
pub(super) fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::remove_file(path)?;
    let mut gone = vec![path.to_path_buf()];
    for suffix in BESIDE {
        let other = beside(path, suffix);
        match std::fs::remove_file(&other) {
            Ok(()) => gone.push(other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(gone)
}

/// The file, locked as its writer would.
fn held(path: &Path) -> Result<File> {
    let file = identity::own(path)?;
    match lock::hold(&file) {
        Err(NotHeld::Taken) => {
            let shown = path.display();
            Err(Error::new(
                Code::RunGoesOn,
                say!("the run in `{shown}` is still in progress", "прогон из `{shown}` ещё выполняется"),
            )
            .hint(say!("`stend stop {shown}` ends it", "завершить его: `stend stop {shown}`")))
        }
        // Where files cannot be locked, the caller has asked whether the run answers.
        Ok(()) | Err(NotHeld::Impossible) => Ok(file),
    }
}

/// The links in the directory of runs that lead to this file.
fn links_to(path: &Path) -> Vec<PathBuf> {
    let place = |path: &Path| path.canonicalize().ok();
    let here = place(path);
    // Without a directory that can be read there are none.
    let known = directory().and_then(|directory| known_runs(&directory)).unwrap_or_default();
    let leads_here = |run: &KnownRun| run.link.is_some() && here.is_some() && place(&run.path) == here;
    known.into_iter().filter(leads_here).filter_map(|run| run.link).collect()
}

fn not_removed(path: &Path, error: &io::Error) -> Box<Error> {
    let shown = path.display();
    Error::run_file(say!("cannot remove `{shown}`: {error}", "не удаётся удалить `{shown}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunState;
    use crate::store::writer::create_with;
    use crate::store::{Options, samples};
    use std::os::unix::fs::symlink;
    use stend_base::Kind;

    #[test]
    fn a_run_file_goes_with_what_sqlite_keeps_beside_it_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.stend");
        let writer = create_with(&path, &samples::header(), Options::default(), None, dir.path()).unwrap();
        assert_eq!(remove(&path).unwrap_err().kind, Kind::Preflight, "it is being written");
        writer.close(RunState::Complete).unwrap();
        for name in ["x.stend-wal", "x.html", "x.stend.old"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        assert_eq!(remove(&path).unwrap(), [path.clone(), dir.path().join("x.stend-wal")]);
        let mut left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["x.html", "x.stend.old"]);
    }

    #[test]
    fn a_file_of_another_version_and_an_empty_one_are_run_files_and_nothing_else_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.stend");
        let writer = create_with(&path, &samples::header(), Options::default(), None, dir.path()).unwrap();
        writer.close(RunState::Complete).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[63] = 99;
        let (other, empty) = (dir.path().join("old.stend"), dir.path().join("empty.stend"));
        std::fs::write(&other, bytes).unwrap();
        std::fs::write(&empty, "").unwrap();
        may_remove(&other).unwrap();
        may_remove(&empty).unwrap();
        let (text, link) = (dir.path().join("text.stend"), dir.path().join("link.stend"));
        std::fs::write(&text, "SQLite format 3\0 but not ours").unwrap();
        std::fs::write(dir.path().join("empty.txt"), "").unwrap();
        symlink(&path, &link).unwrap();
        for wrong in [&text, &link, dir.path(), Path::new("/dev/zero"), &dir.path().join("empty.txt")] {
            assert_eq!(remove(wrong).unwrap_err().kind, Kind::RunFile, "{}", wrong.display());
            assert!(wrong.symlink_metadata().is_ok());
        }
    }

    #[test]
    fn only_a_link_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::fs::write(&file, "precious").unwrap();
        symlink("/nowhere", &link).unwrap();
        assert!(forget(&file).is_err() && file.exists());
        forget(&link).unwrap();
        assert!(link.symlink_metadata().is_err());
    }
}
