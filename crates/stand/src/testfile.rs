//! Directories `.stend-<id>` with test files in them: the only files that Stend writes. Each says in its
//! marker whose it is; what carries no valid marker belongs to somebody else and is never touched.

use crate::claims::{cannot_read, explain, preflight};
use crate::owner::{self, Note, Owner};
use crate::permission;
use crate::roots::{Roots, names};
use std::path::{Path, PathBuf};
use stend_base::{Bytes, Error, Result, say};
use stend_record::{Refusal, are_of_one_run};
use stend_sys::claim::{DirectoryOwner, Lease, NotLeased, OwnDirectory};
use stend_sys::{Claim, IoFile};

const PREFIX: &str = ".stend-";
const MARKER: &str = "marker";
const DATA: &str = "data";
/// Directory with the data of instances of applications.
const APP: &str = "app";
/// What fills the file system while an event of a case wants it to be full.
const FILL: &str = "fill";
/// Open files of a worker besides its test files, generously: rings, telemetry, streams.
const OPEN_BESIDES: u64 = 512;

/// Test files that this process made and holds.
#[derive(Debug)]
pub(crate) struct TestFiles {
    directory: OwnDirectory,
    /// `None` once it is removed.
    marker: Option<Lease>,
    /// Files with their lengths, in the order of the space that they form.
    claims: Vec<(Claim, u64)>,
    /// Names of what was made and is not removed yet.
    made: Vec<String>,
    /// It stays.
    left: bool,
}

/// What a run that is gone left of its target.
#[derive(Debug)]
pub enum Left {
    /// All of it.
    File(IoFile),
    /// The directory of its test file, and not the file.
    Emptied,
    /// Nothing.
    Gone,
    /// Something that is not as Stend left it.
    Foreign,
}

/// What a `.stend-*` directory turned out to be.
#[derive(Debug)]
enum State {
    /// A run uses it.
    Live(Refusal),
    /// Its run is gone, and what the crash did to it has still to be judged.
    Kept(Box<Note>),
    /// Its run is gone.
    Dead(OwnDirectory),
    /// It looks like one of these, and is not ours to judge.
    Others(Others),
    /// Not ours, or not ours to judge.
    Foreign,
}

/// Whose a directory is that looks like that of a run, and is neither waited for nor removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    /// This user has it, who is neither we nor root.
    User(u32),
    /// A run on another machine made it, whose locks may not be seen here: it may be at work.
    Machine,
}

/// Where the directory of a run goes.
pub(crate) fn directory_for(parent: &Path, run_id: &str) -> PathBuf {
    parent.join(format!("{PREFIX}{run_id}"))
}

/// Where the test file is in the directory of a run that has one, or the first of `count`.
pub(crate) fn data_in(directory: &Path, count: usize) -> PathBuf {
    directory.join(name_of(0, count))
}

/// Where what fills its file system is in the directory of a run.
pub(crate) fn fill_in(parent: &Path, run_id: &str) -> PathBuf {
    directory_for(parent, run_id).join(FILL)
}

/// Name of the file number `index` of `count`.
fn name_of(index: usize, count: usize) -> String {
    if count == 1 { DATA.to_string() } else { format!("{DATA}-{index:05}") }
}

/// Whether so many test files can be used where a process may have `allowed` files open: each is claimed, open for reading,
/// for writing, and for durable writes, and other things are open, too.
pub(crate) fn must_be_openable(count: usize, allowed: u64) -> Result<()> {
    let need = 4 * count as u64 + OPEN_BESIDES;
    if need <= allowed {
        return Ok(());
    }
    let message = say!(
        "{count} test files need {need} open files, and this process may have {allowed}",
        "для {count} тестовых файлов нужно {need} открытых файлов, а этому процессу разрешено {allowed}"
    );
    Err(Error::preflight(message).hint(say!(
        "raise the hard limit of open files (`ulimit -Hn`), or take fewer `files`",
        "поднимите жёсткий предел открытых файлов (`ulimit -Hn`) или уменьшите число `files`"
    )))
}

/// Whether a file with this name may be ours.
fn is_data(name: &str) -> bool {
    let number = |rest: &str| rest.len() == 5 && rest.bytes().all(|byte| byte.is_ascii_digit());
    name == DATA || name.strip_prefix(DATA).and_then(|rest| rest.strip_prefix('-')).is_some_and(number)
}

/// Removes the test files that a dead run left in its directory, the marker, and the directory.
fn remove_all(directory: &OwnDirectory) -> std::io::Result<()> {
    directory.must_hold_no_mount()?;
    for name in directory.names()? {
        let name = name.to_string_lossy();
        if is_data(&name) {
            directory.remove_file(&name)?;
        }
    }
    directory.remove_file(FILL)?;
    directory.remove_tree(APP)?;
    directory.remove_file(MARKER)?;
    directory.remove()
}

/// A run of ours or of root that uses a test file in `parent` now.
pub(crate) fn live(roots: &Roots, parent: &Path) -> Option<Refusal> {
    survey(roots, parent).into_iter().find_map(|(_, state)| match state {
        State::Live(run) => Some(run),
        State::Kept(_) | State::Dead(_) | State::Others(_) | State::Foreign => None,
    })
}

/// Why no test file can be made in `parent`: a run that uses one there, or a mount in what a dead one left.
pub(crate) fn blocked(roots: &Roots, parent: &Path) -> Vec<Refusal> {
    let reason = |(path, state): (PathBuf, State)| match state {
        State::Live(run) => Some(run),
        State::Dead(_) => mount_in(&path).map(|at| Refusal::MountInLeftover { at: at.display().to_string() }),
        State::Kept(_) | State::Others(_) | State::Foreign => None,
    };
    survey(roots, parent).into_iter().filter_map(reason).collect()
}

/// What seem to be test files of other users and other machines in `parent`. Anyone who may write there can make such a directory: it is
/// neither waited for nor removed.
pub(crate) fn of_others(roots: &Roots, parent: &Path) -> Vec<(PathBuf, Others)> {
    let others = survey(roots, parent).into_iter().filter_map(|(path, state)| match state {
        State::Others(whose) => Some((path, whose)),
        State::Live(_) | State::Kept(_) | State::Dead(_) | State::Foreign => None,
    });
    others.collect()
}

/// What dead runs left in `parent` to be judged, with their notes.
pub(crate) fn kept(roots: &Roots, parent: &Path) -> Vec<(PathBuf, Note)> {
    let kept = survey(roots, parent).into_iter().filter_map(|(path, state)| match state {
        State::Kept(note) => Some((path, *note)),
        State::Live(_) | State::Dead(_) | State::Others(_) | State::Foreign => None,
    });
    kept.collect()
}

/// What a dead run with this id left in `parent`, opened for reading.
pub(crate) fn open_left(roots: &Roots, parent: &Path, run_id: &str, sizes: &[Bytes], direct: bool) -> Result<Left> {
    let path = directory_for(parent, run_id);
    match judge(roots, &path) {
        State::Live(run) => return Err(permission::refused(&parent.display().to_string(), &[run])),
        State::Others(_) | State::Foreign if path.exists() => return Ok(Left::Foreign),
        State::Others(_) | State::Foreign => return Ok(Left::Gone),
        State::Kept(_) | State::Dead(_) => {}
    }
    Ok(open_made(parent, run_id, sizes, direct)?.map_or(Left::Emptied, Left::File))
}

/// The test files that a run has made in `parent`, opened for reading as one space; `None` if one is not there.
pub(crate) fn open_made(parent: &Path, run_id: &str, sizes: &[Bytes], direct: bool) -> Result<Option<IoFile>> {
    let path = directory_for(parent, run_id);
    let mut files = Vec::with_capacity(sizes.len());
    for index in 0..sizes.len() {
        let path = path.join(name_of(index, sizes.len()));
        match IoFile::open_read(&path, direct) {
            Ok(file) => files.push(file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(cannot_read(&path.display().to_string(), direct, &error)),
        }
    }
    let lengths: Vec<u64> = sizes.iter().map(|size| size.0).collect();
    let what = say!("use the test files as one space", "использовать тестовые файлы как одно пространство");
    let joined = IoFile::joined(files, &lengths);
    joined.map(Some).map_err(|error| preflight(&path.display().to_string(), &what, &error))
}

/// What dead runs left in `parent`.
pub(crate) fn dead(roots: &Roots, parent: &Path) -> Vec<PathBuf> {
    let dead = survey(roots, parent).into_iter().filter(|(_, state)| matches!(state, State::Dead(_)));
    dead.map(|(path, _)| path).collect()
}

/// The same for this host of a run, which removes what a killed session of it left. What other hosts of the run have there is in use,
/// whether their locks are seen here or not.
pub(crate) fn dead_for(roots: &Roots, parent: &Path, run_id: &str) -> Vec<PathBuf> {
    let own = directory_for(parent, run_id);
    dead(roots, parent).into_iter().filter(|path| *path == own || !is_of_run(path, run_id)).collect()
}

/// Whether a directory has the name of that of the run with this id, on whichever of its hosts.
fn is_of_run(path: &Path, run_id: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix(PREFIX).is_some_and(|id| are_of_one_run(id, run_id))
}

/// Where something is mounted in what a dead run left, if anything is.
pub(crate) fn mount_in(path: &Path) -> Option<PathBuf> {
    let error = OwnDirectory::open(path).and_then(|directory| directory.must_hold_no_mount()).err()?;
    stend_sys::tree::mount_found(&error).map(|found| found.at.clone())
}

/// Removes what a dead run left; fails if it is not dead.
pub(crate) fn remove_dead(roots: &Roots, path: &Path) -> Result<()> {
    let State::Dead(directory) = judge(roots, path) else {
        // Another host of the run that shares the directory was faster.
        if !path.exists() {
            return Ok(());
        }
        let path = path.display();
        return Err(Error::preflight(say!(
            "`{path}` is no longer what a dead run left",
            "`{path}` больше не похож на остаток завершённого прогона"
        )));
    };
    let what = say!("remove what an earlier run left", "удалить остаток прежнего прогона");
    match remove_all(&directory) {
        Err(error) if path.exists() => Err(preflight(&path.display().to_string(), &what, &error)),
        _ => Ok(()),
    }
}

fn survey(roots: &Roots, parent: &Path) -> Vec<(PathBuf, State)> {
    let ours = names(parent).into_iter().filter(|name| name.starts_with(PREFIX)).map(|name| parent.join(name));
    ours.map(|path| (path.clone(), judge(roots, &path))).collect()
}

fn judge(roots: &Roots, path: &Path) -> State {
    let Ok(directory) = OwnDirectory::open(path) else { return State::Foreign };
    let Ok(names) = directory.names() else { return State::Foreign };
    let ours = |name: &str| match name {
        APP => directory.has_directory(name),
        _ => (name == MARKER || name == FILL || is_data(name)) && directory.has_file(name),
    };
    if !names.iter().all(|name| ours(&name.to_string_lossy())) {
        return State::Foreign;
    }
    let Ok(Some(seen)) = Lease::look(&directory, MARKER) else { return State::Foreign };
    let Ok(owner) = directory.owner() else { return State::Foreign };
    let note = Note::parse(&seen.note);
    // Anybody can make such a directory, lock its marker, and name a process in it. Root need not go to such lengths.
    if let DirectoryOwner::Other(user) = owner {
        return if seen.held || note.is_some() { State::Others(Others::User(user)) } else { State::Foreign };
    }
    match note {
        // Anybody can make such a directory, lock its marker, and name a process in it. Root need not go to such lengths.
        _ if seen.held => State::Live(owner::refusal(&seen.note)),
        // Locks may not work on a network file system; the process table is the second witness.
        Some(note) if note.is_alive(roots) => State::Live(owner::refusal(&seen.note)),
        // Some network file systems keep locks to each machine, and its processes are not seen here.
        Some(note) if note.may_live_elsewhere(roots, directory.is_shared()) => State::Others(Others::Machine),
        Some(note) if note.is_pending() => State::Kept(Box::new(note)),
        // Root's, which we could not remove.
        Some(_) if owner == DirectoryOwner::Root => State::Others(Others::User(0)),
        Some(_) => State::Dead(directory),
        None => State::Foreign,
    }
}

impl TestFiles {
    /// Makes the directory of a run with its marker. Two runs that start together may both be refused, but
    /// never both go on: each shows its marker before it looks for others.
    pub(crate) fn make_directory(roots: &Roots, path: &Path, owner: &Owner) -> Result<TestFiles> {
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
        let synced = marker.sync();
        let made = TestFiles { directory, marker: Some(marker), claims: Vec::new(), made: Vec::new(), left: false };
        // After a loss of power a marker that never reached the disk would make the directory foreign.
        let synced = synced.and_then(|()| made.directory.sync());
        synced
            .map_err(|error| preflight(&name, &what, &error))
            .and_then(|()| made.alone(roots, path, &owner.run_id))
            .map(|()| made)
    }

    /// Nobody but hosts of the same run uses a test file in the same parent.
    fn alone(&self, roots: &Roots, path: &Path, run_id: &str) -> Result<()> {
        let parent = path.parent().unwrap_or(path);
        let others = survey(roots, parent).into_iter().filter(|(other, _)| other != path && !is_of_run(other, run_id));
        match others.into_iter().find_map(|(_, state)| if let State::Live(run) = state { Some(run) } else { None }) {
            Some(run) => Err(permission::refused(&parent.display().to_string(), &[run])),
            None => Ok(()),
        }
    }

    /// Creates files of these lengths and reserves their space. `false`: the file system cannot reserve.
    pub(crate) fn allocate(&mut self, sizes: &[Bytes]) -> Result<bool> {
        let mut reserved = true;
        for (index, size) in sizes.iter().enumerate() {
            let name = name_of(index, sizes.len());
            let path = || self.directory.path().join(&name).display().to_string();
            let claim = Claim::new_file(&self.directory, &name, size.0).map_err(|error| explain(&path(), error))?;
            reserved &= claim.is_reserved();
            self.claims.push((claim, size.0));
            self.made.push(name);
        }
        Ok(reserved)
    }

    /// Opens the files as one space; `direct` bypasses the page cache.
    pub(crate) fn open(&self, writable: bool, direct: bool) -> Result<IoFile> {
        let mut files = Vec::with_capacity(self.claims.len());
        for ((claim, _), made) in self.claims.iter().zip(&self.made) {
            let path = self.directory.path().join(made);
            let name = path.display().to_string();
            files.push(match writable {
                true => claim.open_write(direct).map_err(|error| explain(&name, error))?,
                false => IoFile::open_read(&path, direct).map_err(|error| cannot_read(&name, direct, &error))?,
            });
        }
        let len: Vec<u64> = self.claims.iter().map(|(_, len)| *len).collect();
        let name = self.directory.path().display().to_string();
        let what = say!("use the test files as one space", "использовать тестовые файлы как одно пространство");
        IoFile::joined(files, &len).map_err(|error| preflight(&name, &what, &error))
    }

    /// Makes the directory in which instances of applications keep their data; `passable` if they run as somebody else.
    pub(crate) fn make_app(&mut self, passable: bool) -> Result<PathBuf> {
        let name = self.directory.path().join(APP).display().to_string();
        let what = say!("make the directory of instances", "создать каталог экземпляров");
        self.directory.make_directory(APP, passable).map_err(|error| preflight(&name, &what, &error))
    }

    /// Path of the test file, or the directory of several.
    pub(crate) fn data(&self) -> PathBuf {
        let directory = self.directory.path();
        if self.claims.len() > 1 { directory.to_path_buf() } else { data_in(directory, 1) }
    }

    /// Leaves everything as it is, for the session that judges it.
    pub(crate) fn leave(self) {
        // Dropping would remove it. What it holds open is let go by the end of this process, which is near.
        std::mem::forget(self);
    }

    /// Lets go of everything now, and leaves it where it is.
    pub(crate) fn let_go(mut self) {
        self.left = true;
    }

    /// Removes everything that was made. May be called again.
    pub(crate) fn remove(&mut self) -> std::io::Result<()> {
        self.directory.must_hold_no_mount()?;
        self.claims.clear();
        while let Some(name) = self.made.last() {
            self.directory.remove_file(name)?;
            self.made.pop();
        }
        self.directory.remove_file(FILL)?;
        self.directory.remove_tree(APP)?;
        self.directory.remove_file(MARKER)?;
        // NFS keeps a file that is open under another name, and the directory would not be empty.
        self.marker = None;
        self.directory.remove()
    }
}

impl Drop for TestFiles {
    fn drop(&mut self) {
        // Best effort where nobody removed it in order: a failure leaves a directory whose marker is not
        // locked any more, which the next run removes.
        if !self.left
            && self.remove().is_err()
            && let Some(marker) = self.marker.take()
        {
            marker.leave();
        }
    }
}

#[cfg(test)]
mod tests;
