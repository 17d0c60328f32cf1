//! Goes on with a run file that a clean end, a kill or a loss of power left. Must not change a file that
//! it refuses, nor lose or double an entry when it is itself cut short.

use super::{NotHeld, Options, Recorder, failure, key, lock, open, open_file, reserve, schema, set_journal_mode};
use crate::run::{Entry, RunState};
use crate::store::identity;
use crate::store::owner::Owner;
use crate::store::reader::{self, Standing};
use crate::store::spool::{self, LeftOver, Spool};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use stend_base::Result;

/// Ordinals above this were not counted by us, and counting on from them must not overflow. By eye.
const ORDINAL_MAX: u64 = i64::MAX as u64;

impl Recorder {
    /// Opens an existing file, moves into it what its last writer left in a spool, and takes back its end,
    /// durably. What is refused is as it was.
    pub fn resume(path: &Path, options: Options, memory: &Path) -> Result<Recorder> {
        // What is no run file is not even opened for writing.
        identity::check_file(path)?;
        let path = &without_link(path);
        let file = take(path)?;
        let standing = reader::read_for_writing(path)?;
        if standing.record.state == RunState::Complete {
            return Err(failure::complete(path));
        }
        let owner = Owner::of(&file).map_err(|error| failure::cannot_open(path, &error))?;
        let left = take_spool(path, &standing)?;
        let (spool, left) = left.map_or((None, Vec::new()), |left| (Some(left.spool), left.entries));
        let next = left.last().map_or(standing.written, |(ordinal, _)| *ordinal) + 1;
        // Before anything is changed: a run that has no room is as it was.
        let reserve = reserve(path, options.reserve)?;
        spool::remove_dead(memory, owner);
        let db = open(path, |_| Ok(())).map_err(|error| failure::cannot_go_on(path, &error))?;
        // As the last writer was when it died.
        let mut recorder = Recorder {
            next,
            syncs: standing.syncs,
            backlog: left.into_iter().map(|(_, entry)| entry).collect(),
            spool,
            reserve,
            ..Recorder::over(db, file, path, options)
        };
        match recorder.go_on(options, memory, &standing.record.header.id, owner) {
            Ok(()) => Ok(recorder),
            Err(error) => {
                recorder.reserve = None;
                // One file again, if there is room for that.
                drop(set_journal_mode(&recorder.db, "DELETE"));
                Err(error)
            }
        }
    }

    fn go_on(&mut self, options: Options, memory: &Path, run: &str, owner: Option<Owner>) -> Result<()> {
        let done = self.fold().and_then(|()| self.reopen(options, memory, run, owner));
        done.map_err(|error| failure::cannot_go_on(&self.path, &error))?;
        self.sync().map_err(|error| failure::cannot_open(&self.path, &error))
    }

    /// Moves what the last writer still had into the database. Interrupted anywhere, it can be done again:
    /// the ordinals tell what has arrived.
    fn fold(&mut self) -> rusqlite::Result<()> {
        self.try_commit()?;
        // Also without new entries: the last writer may have died between its commit and this.
        self.empty_spool();
        self.checkpoint()
    }

    /// The end goes last, once nothing that needs much room is left to do.
    fn reopen(&mut self, options: Options, memory: &Path, run: &str, owner: Option<Owner>) -> rusqlite::Result<()> {
        if !options.spool {
            self.spool = None;
            schema::remove_meta(&self.db, key::SPOOL)?;
        } else if self.spool.is_none() {
            self.open_spool(memory, run, owner)?;
        }
        schema::remove_meta(&self.db, key::END)
    }
}

/// The file that a link names: SQLite keeps its log beside that one.
fn without_link(path: &Path) -> PathBuf {
    match path.is_symlink() {
        true => path.canonicalize().unwrap_or_else(|_| path.to_path_buf()),
        false => path.to_path_buf(),
    }
}

/// Opens and locks a file that is meant to be written.
fn take(path: &Path) -> Result<File> {
    let cannot = |error: io::Error| failure::cannot_open(path, &error);
    let file = open_file(path, false).map_err(cannot)?;
    // Root may write what its owner has put away.
    if file.metadata().map_err(cannot)?.mode() & 0o200 == 0 {
        return Err(failure::read_only(path));
    }
    match lock::hold(&file) {
        Ok(()) => Ok(file),
        Err(NotHeld::Taken) => Err(failure::in_use(path)),
        Err(NotHeld::Impossible) => Err(failure::no_locks(path)),
    }
}

/// The spool that the last writer left, with those of its entries that are not in the database.
fn take_spool(path: &Path, standing: &Standing) -> Result<Option<LeftOver>> {
    let Some(spool) = &standing.spool else { return Ok(None) };
    let left = Spool::adopt(spool, &standing.record.header.id).map_err(|error| match error.kind() {
        // It belongs to a copy of this file that is being written.
        io::ErrorKind::WouldBlock => failure::in_use(path),
        _ => failure::cannot_take_spool(path, spool, &error),
    })?;
    let missing = |(ordinal, _): &(u64, Entry)| *ordinal > standing.written && *ordinal <= ORDINAL_MAX;
    Ok(left.map(|mut left| {
        left.entries.retain(missing);
        left
    }))
}
