//! A run file that is sent as it is. One that something may still write to is sent as of one moment.

use crate::database;
use crate::remembered::stamp;
use crate::token;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use stend_base::{Error, Result, Say, say};

/// Copies that are made at the same time have names of their own for a moment; more than answers are computed at a time.
const NAMES: usize = 16;
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// What is sent.
pub struct RunFile {
    /// The file, at its beginning.
    pub file: File,
    /// Its size when it was opened; more is not sent.
    pub size: u64,
    /// Changes with the file.
    pub tag: String,
}

/// Opens a run file; a copy of one that is being written is made in this directory.
///
/// Errors: `RunFile` if it cannot be read.
pub fn open(path: &Path, directory: &Path) -> Result<RunFile> {
    // Before the file is looked at: what changes meanwhile has another tag.
    let stamp = stamp(path);
    let [_, log] = &stamp;
    let is_written = stend_run::is_going_on(path) || log.is_some_and(|(size, ..)| size > 0);
    let file = match is_written {
        true => {
            let number = NEXT.fetch_add(1, Ordering::Relaxed) % NAMES;
            database::moment(path, &directory.join(format!(".moment-{number}")))?
        }
        false => stend_sys::regular::open(path).map_err(|why| unreadable(path, &why))?,
    };
    let size = file.metadata().map_err(|error| unreadable(path, &stend_sys::regular::why(&error)))?.len();
    Ok(RunFile { file, size, tag: token::tag(format!("{} {stamp:?}", path.display()).as_bytes()) })
}

fn unreadable(path: &Path, Say { en, ru }: &Say) -> Box<Error> {
    let shown = path.display();
    Error::run_file(say!("cannot read `{shown}`: {en}", "не удаётся прочитать `{shown}`: {ru}"))
}
