//! A run file that is made of what exists elsewhere, such as an import: it gets its name when it is whole and durable. Until then it is
//! `NAME.part`, which nobody takes for a run, so that it needs neither a log nor a sync while it is written: who kills it makes it anew.

use super::{NotHeld, Options, Recorder, beside, directory_of, failure, lock, open_file, schema, set_journal_mode};
use crate::run::RunHeader;
use crate::store::owner::Owner;
use rusqlite::{Connection, OpenFlags};
use rustix::fs::RenameFlags;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use stend_base::Result;

/// What the file is called before it is whole.
const PART: &str = ".part";

impl Recorder {
    /// Creates `NAME.part` with its header. Leaves nothing behind on failure.
    pub fn create_whole(path: &Path, header: &RunHeader, owner: Option<Owner>) -> Result<Recorder> {
        if path.symlink_metadata().is_ok() {
            return Err(failure::cannot_create(path, &io::ErrorKind::AlreadyExists.into()));
        }
        let part = beside(path, PART);
        let file = open_part(&part).map_err(|error| failure::cannot_create(path, &error))?;
        let begun = || {
            owner
                .map_or(Ok(()), |owner| owner.take_file(&file))
                .map_err(|error| failure::cannot_create(path, &error))?;
            laid_out(&part, header).map_err(|error| failure::not_whole(path, &error))
        };
        let db = begun().inspect_err(|_| drop(std::fs::remove_file(&part)))?;
        Ok(Recorder { becomes: Some(path.to_path_buf()), ..Recorder::over(db, file, &part, Options::default()) })
    }
}

/// The file, locked. One that a killed process left behind is made anew; one that is being written is not touched.
fn open_part(part: &Path) -> io::Result<File> {
    if let Ok(left) = open_file(part, false) {
        if let Err(NotHeld::Taken) = lock::hold(&left) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        std::fs::remove_file(part)?;
    }
    let file = open_file(part, true)?;
    match lock::hold(&file) {
        Err(NotHeld::Taken) => Err(io::ErrorKind::ResourceBusy.into()),
        Ok(()) | Err(NotHeld::Impossible) => Ok(file),
    }
}

fn laid_out(part: &Path, header: &RunHeader) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(part, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    schema::lay_out(&db, header)?;
    // What is rolled back when the disk is full is in memory.
    set_journal_mode(&db, "MEMORY")?;
    db.pragma_update(None, "synchronous", "OFF")?;
    Ok(db)
}

/// Makes the file durable, and gives it its name, which it takes from nobody.
pub(super) fn named(part: &Path, file: &File, path: PathBuf) -> io::Result<PathBuf> {
    file.sync_all()?;
    let here = rustix::fs::CWD;
    match rustix::fs::renameat_with(here, part, here, &path, RenameFlags::NOREPLACE) {
        // This file system cannot do both at once.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => match path.symlink_metadata() {
            Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => std::fs::rename(part, &path)?,
        },
        result => result?,
    }
    File::open(directory_of(&path))?.sync_all()?;
    Ok(path)
}
