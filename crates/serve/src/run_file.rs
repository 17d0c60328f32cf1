//! A run file that is sent as it is. One that something may still write to is sent as of one moment.

use crate::database;
use crate::remembered::stamp;
use crate::token;
use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use stend_base::{Bytes, Code, Error, Result, Say, format, say};

/// Begin of the names of copies, which they have for a moment.
pub const PREFIX: &str = ".moment-";
/// Copies that take space at the same time: each is as large as its run file, and stays until its reader has it.
const COPIES_MAX: usize = 2;
/// Space that a copy leaves for runs and recordings that are being written.
const LEFT: u64 = 1 << 30;
/// Which of them are taken.
static COPIES: Mutex<[bool; COPIES_MAX]> = Mutex::new([false; COPIES_MAX]);

/// The place of a copy, free again when this goes.
pub struct Copy(usize);

impl Copy {
    /// Errors: `ServerBusy`.
    fn take() -> Result<Copy> {
        let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
        let free = copies.iter().position(|taken| !taken).ok_or_else(|| {
            let message = say!(
                "others are reading run files that are being written",
                "файлы прогонов, в которые идёт запись, сейчас читают другие"
            );
            busy(message, say!("try again in a moment", "повторите чуть позже"))
        })?;
        copies[free] = true;
        Ok(Copy(free))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        COPIES.lock().unwrap_or_else(PoisonError::into_inner)[self.0] = false;
    }
}

/// What is sent.
pub struct RunFile {
    /// The file, at its beginning.
    pub file: File,
    /// Its size when it was opened; more is not sent.
    pub size: u64,
    /// Changes with the file.
    pub tag: String,
    /// Held as long as it is sent.
    pub copy: Option<Copy>,
}

/// Opens a run file; a copy of one that is being written is made in this directory. A recording, if it is one, does not end by itself.
///
/// Errors: `RunFile` if it cannot be read; `ServerBusy` if it cannot be copied now.
pub fn open(path: &Path, directory: &Path, is_recording: &dyn Fn() -> bool) -> Result<RunFile> {
    // Before the file is looked at: what changes meanwhile has another tag.
    let stamp = stamp(path);
    let [_, log] = &stamp;
    let is_written = stend_run::is_going_on(path) || log.is_some_and(|(size, ..)| size > 0);
    let (file, copy) = match is_written {
        true => {
            let copy = Copy::take()?;
            has_room(directory, stamp.iter().flatten().map(|(size, ..)| size).sum(), is_recording)?;
            let file = database::moment(path, &directory.join(format!("{PREFIX}{}", copy.0)))?;
            (file, Some(copy))
        }
        false => (stend_sys::regular::open(path).map_err(|why| unreadable(path, &why))?, None),
    };
    let size = file.metadata().map_err(|error| unreadable(path, &stend_sys::regular::why(&error)))?.len();
    Ok(RunFile { file, size, tag: token::tag(format!("{} {stamp:?}", path.display()).as_bytes()), copy })
}

/// Errors: `ServerBusy` if a copy of this size would leave too little space for what is being written.
fn has_room(directory: &Path, size: u64, is_recording: &dyn Fn() -> bool) -> Result<()> {
    // Where the space cannot be told, writing the copy tells.
    match stend_sys::block::space(directory) {
        Ok((_, free)) if free < size.saturating_add(LEFT) => {
            let (size, free) = (Bytes(size), Bytes(free));
            let message = say!(
                |l| "a copy takes {size}, and {free} are free",
                "копия займёт {size}, а свободно {free}",
                size = format::bytes(size, l),
                free = format::bytes(free, l)
            );
            Err(busy(
                message,
                match is_recording() {
                    true => say!(
                        "make room where the server keeps its files, or end the recording with `stend stop`",
                        "освободите место на диске сервера или завершите запись командой `stend stop`"
                    ),
                    false => say!("try again when the run has ended", "повторите, когда прогон закончится"),
                },
            ))
        }
        _ => Ok(()),
    }
}

fn busy(message: Say, hint: Say) -> Box<Error> {
    Error::new(Code::ServerBusy, message).hint(hint)
}

fn unreadable(path: &Path, Say { en, ru }: &Say) -> Box<Error> {
    let shown = path.display();
    Error::run_file(say!("cannot read `{shown}`: {en}", "не удаётся прочитать `{shown}`: {ru}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn two_copies_of_what_is_being_written_exist_at_a_time_and_none_takes_the_last_space() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("R-1.stend");
        let db = Connection::open(&path).unwrap();
        db.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1);").unwrap();
        let open = || open(&path, dir.path(), &|| false);
        let (one, two) = (open().unwrap(), open().unwrap());
        assert!(one.copy.is_some() && one.size > 0);
        assert_eq!(open().err().unwrap().code, Code::ServerBusy);
        drop(two);
        drop(open().unwrap());
        let refused = |is_recording: bool| {
            let error = has_room(dir.path(), u64::MAX / 2, &|| is_recording).unwrap_err();
            (error.code, error.hint.unwrap().en)
        };
        assert_eq!(refused(false), (Code::ServerBusy, "try again when the run has ended".into()));
        // It goes on until somebody ends it.
        assert!(refused(true).1.contains("end the recording with `stend stop`"));
        // Nothing is left that has a name.
        let left = std::fs::read_dir(dir.path()).unwrap().flatten();
        assert_eq!(left.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)).count(), 0);
    }
}
