//! Directories `.stend-<id>` with a test file in them: the only files that Stend writes. Each says in its
//! marker whose it is; what carries no valid marker belongs to somebody else and is never touched.

use crate::claims::{explain, preflight};
use crate::owner::{self, Note, Owner};
use crate::permission;
use crate::roots::{Roots, names};
use std::path::{Path, PathBuf};
use stend_base::{Error, Kind, Result, say};
use stend_record::Refusal;
use stend_sys::Claim;
use stend_sys::claim::{Lease, NotLeased, OwnDirectory};

const PREFIX: &str = ".stend-";
const MARKER: &str = "marker";
const DATA: &str = "data";

/// A test file that this process made and holds.
#[derive(Debug)]
pub(crate) struct TestFile {
    directory: OwnDirectory,
    marker: Lease,
    claim: Option<Claim>,
}

/// What a `.stend-*` directory turned out to be.
#[derive(Debug)]
enum State {
    /// A run uses it.
    Live(Refusal),
    /// Its run is gone.
    Dead(OwnDirectory),
    /// Not ours, or not ours to judge.
    Foreign,
}

/// Where the directory of a run goes.
pub(crate) fn directory_for(parent: &Path, run_id: &str) -> PathBuf {
    parent.join(format!("{PREFIX}{run_id}"))
}

/// Where the test file is in the directory of a run.
pub(crate) fn data_in(directory: &Path) -> PathBuf {
    directory.join(DATA)
}

/// A run that uses a test file in `parent` now.
pub(crate) fn live(roots: &Roots, parent: &Path) -> Option<Refusal> {
    survey(roots, parent).into_iter().find_map(|(_, state)| match state {
        State::Live(run) => Some(run),
        State::Dead(_) | State::Foreign => None,
    })
}

/// What dead runs left in `parent`.
pub(crate) fn dead(roots: &Roots, parent: &Path) -> Vec<PathBuf> {
    let dead = survey(roots, parent).into_iter().filter(|(_, state)| matches!(state, State::Dead(_)));
    dead.map(|(path, _)| path).collect()
}

/// Removes what a dead run left; fails if it is not dead.
pub(crate) fn remove_dead(roots: &Roots, path: &Path) -> Result<()> {
    let State::Dead(directory) = judge(roots, path) else {
        let path = path.display();
        return Err(Error::new(
            Kind::Preflight,
            say!(
                "`{path}` is no longer what a dead run left",
                "`{path}` больше не похож на остаток завершённого прогона"
            ),
        ));
    };
    let remove = || {
        directory.remove_file(DATA)?;
        directory.remove_file(MARKER)?;
        directory.remove()
    };
    let what = say!("remove what an earlier run left", "удалить остаток прежнего прогона");
    remove().map_err(|error| preflight(&path.display().to_string(), &what, &error))
}

fn survey(roots: &Roots, parent: &Path) -> Vec<(PathBuf, State)> {
    let ours = names(parent).into_iter().filter(|name| name.starts_with(PREFIX)).map(|name| parent.join(name));
    ours.map(|path| (path.clone(), judge(roots, &path))).collect()
}

fn judge(roots: &Roots, path: &Path) -> State {
    let Ok(directory) = OwnDirectory::open(path) else { return State::Foreign };
    let Ok(names) = directory.names() else { return State::Foreign };
    let only_ours =
        names.iter().all(|name| (name == MARKER || name == DATA) && directory.has_file(&name.to_string_lossy()));
    if !only_ours {
        return State::Foreign;
    }
    let Ok(Some(seen)) = Lease::look(&directory, MARKER) else { return State::Foreign };
    match Note::parse(&seen.note) {
        _ if seen.held => State::Live(owner::refusal(&seen.note)),
        // Locks may not work on a network file system; the process table is the second witness.
        Some(note) if note.is_alive(roots) => State::Live(owner::refusal(&seen.note)),
        Some(_) => State::Dead(directory),
        None => State::Foreign,
    }
}

impl TestFile {
    /// Makes the directory of a run with its marker. Two runs that start together may both be refused, but
    /// never both go on: each shows its marker before it looks for others.
    pub(crate) fn make_directory(roots: &Roots, path: &Path, owner: &Owner) -> Result<TestFile> {
        let name = path.display().to_string();
        let what = say!("make the directory of the test file", "создать каталог тестового файла");
        let directory = OwnDirectory::create(path).map_err(|error| preflight(&name, &what, &error))?;
        let marker = Lease::take(&directory, MARKER, &Note::own(roots, owner).to_text());
        let marker = marker.map_err(|error| {
            // Still empty, because the marker was refused; a failure leaves an empty directory.
            let _ = directory.remove();
            match error {
                NotLeased::Held(note) => permission::refused(&name, &[owner::refusal(&note)]),
                NotLeased::Io(error) => preflight(&name, &what, &error),
            }
        })?;
        let made = TestFile { directory, marker, claim: None };
        // After a loss of power a marker that never reached the disk would make the directory foreign.
        let synced = made.marker.sync().and_then(|()| made.directory.sync());
        synced.map_err(|error| preflight(&name, &what, &error)).and_then(|()| made.alone(roots, path)).map(|()| made)
    }

    /// Nobody else uses a test file in the same parent.
    fn alone(&self, roots: &Roots, path: &Path) -> Result<()> {
        let parent = path.parent().unwrap_or(path);
        let others = survey(roots, parent).into_iter().filter(|(other, _)| other != path);
        match others.into_iter().find_map(|(_, state)| if let State::Live(run) = state { Some(run) } else { None }) {
            Some(run) => Err(permission::refused(&parent.display().to_string(), &[run])),
            None => Ok(()),
        }
    }

    /// Creates the test file and reserves its space. `false`: the file system cannot reserve.
    pub(crate) fn allocate(&mut self, size: u64) -> Result<bool> {
        let name = self.data().display().to_string();
        let claim = Claim::new_file(&self.directory, DATA, size).map_err(|error| explain(&name, error))?;
        let reserved = claim.is_reserved();
        self.claim = Some(claim);
        Ok(reserved)
    }

    /// Path of the test file.
    pub(crate) fn data(&self) -> PathBuf {
        data_in(self.directory.path())
    }

    pub(crate) fn claim(&self) -> Option<&Claim> {
        self.claim.as_ref()
    }

    /// Removes everything that was made. May be called again.
    pub(crate) fn remove(&mut self) -> std::io::Result<()> {
        self.claim = None;
        self.directory.remove_file(DATA)?;
        self.directory.remove_file(MARKER)?;
        self.directory.remove()
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        // Best effort where nobody removed it in order: a failure leaves a directory whose marker is not
        // locked any more, which the next run removes.
        let _ = self.remove();
    }
}

#[cfg(test)]
mod tests;
