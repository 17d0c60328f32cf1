//! A file that is uploaded: taken piece by piece into a directory of its own, which goes when a command has read it. Must not look into it.

use crate::printed::printed_in;
use crate::run_file;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use serde::Deserialize;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use stend_api::Failure;
use stend_base::{Error, Result, say};
use tokio::time::timeout;

/// As much as `stend import` reads of a file of results.
const FILE_MAX: u64 = 64 << 20;
/// How long a sender may be silent.
const SILENCE: Duration = Duration::from_secs(10);
/// How long all of it may take: 64 MiB at 1 Mbit/s.
const TIME: Duration = Duration::from_secs(540);
/// Begin of the names of directories for uploads.
const PREFIX: &str = ".upload-";
/// Longest name of a file.
const NAME_MAX: usize = 200;

/// A file that is being uploaded, or was.
pub struct Upload {
    directory: PathBuf,
    name: String,
}

impl Upload {
    /// Makes room for a file of this name below a directory.
    ///
    /// Errors: `Usage` for what is no name of a file; `Preflight` if nothing can be written.
    pub fn begin(below: &Path, name: &str) -> Result<Upload> {
        let is_hidden = name.is_empty() || name.starts_with(['.', '-']);
        if is_hidden || name.len() > NAME_MAX || name.chars().any(|c| c == '/' || c.is_control()) {
            let message = say!("`name` is not the name of a file", "`name` — не имя файла");
            return Err(
                Error::usage(message).hint(say!("for example `name=result.json`", "например `name=result.json`"))
            );
        }
        let number = crate::token::secret().map_err(|error| failed(&error))?;
        let directory = below.join(format!("{PREFIX}{}", &number[..16.min(number.len())]));
        DirBuilder::new().mode(0o700).create(&directory).map_err(|error| failed(&error))?;
        Ok(Upload { directory, name: name.to_string() })
    }

    /// Takes the file.
    ///
    /// Errors: 408 for a sender that is silent or slow, 413 for a file that is too large; `Preflight` if it cannot be kept.
    pub async fn take(&self, body: Incoming) -> std::result::Result<(), Failure> {
        // What is promised to be too large need not arrive.
        if body.size_hint().lower() > FILE_MAX {
            return Err(too_large());
        }
        let path = self.directory.join(&self.name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let file = file.map_err(|error| Failure::from(failed(&error)))?;
        let slow = |_| Failure::with(408, Error::usage(say!("the request took too long", "запрос шёл слишком долго")));
        timeout(TIME, pieces(body, file)).await.map_err(slow)?
    }

    /// The run that `stend import` makes of it: its document, and its id.
    ///
    /// Errors: those of the command.
    pub fn imported(&self, program: &Path) -> Result<(Vec<u8>, String)> {
        #[derive(Deserialize)]
        struct Found {
            run: String,
        }
        let body = printed_in(program, &["import", "--json", "--", &self.name], "", &self.directory)?;
        let found = serde_json::from_slice::<Found>(&body);
        let found = found.map_err(|error| Error::bug(say!("no run: {error}", "прогона нет: {error}")))?;
        Ok((body, found.run))
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // What cannot be removed is readable for the server alone.
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

/// Removes uploads, and copies of run files, of a server that was killed. Only after its tasks are taken over, which one server alone can.
pub fn remove_remains(directory: &Path) {
    let named = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(PREFIX) || name.starts_with(run_file::PREFIX)
    };
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten().filter(named) {
        // What cannot be removed costs its space, and is readable for the server alone.
        drop(match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => std::fs::remove_dir_all(entry.path()),
            false => std::fs::remove_file(entry.path()),
        });
    }
}

async fn pieces(mut body: Incoming, mut file: File) -> std::result::Result<(), Failure> {
    let refused = |status, message| Failure::with(status, Error::usage(message));
    let mut bytes = 0;
    loop {
        let frame = timeout(SILENCE, body.frame()).await;
        let frame = frame.map_err(|_| refused(408, say!("the request took too long", "запрос шёл слишком долго")))?;
        let Some(frame) = frame else { return Ok(()) };
        let broken = |_| refused(400, say!("the request broke off", "запрос оборвался"));
        let Ok(piece) = frame.map_err(broken)?.into_data() else { continue };
        bytes += piece.len() as u64;
        if bytes > FILE_MAX {
            return Err(too_large());
        }
        let written = move || file.write_all(&piece).map(|()| file);
        let written = tokio::task::spawn_blocking(written).await.map_err(io::Error::other);
        file = written.and_then(|file| file).map_err(|error| Failure::from(failed(&error)))?;
    }
}

fn too_large() -> Failure {
    Failure::with(413, Error::usage(say!("the file is larger than 64 MiB", "файл больше 64 МиБ")))
}

fn failed(error: &io::Error) -> Box<Error> {
    Error::preflight(say!("the server cannot keep the file: {error}", "серверу не удаётся сохранить файл: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_server_was_sent_or_copied_is_removed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        for name in [".upload-1/result.json", ".upload-2/.", "tasks/a/log"] {
            std::fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
        }
        for name in [".upload-1/result.json", ".moment-1", "tasks/a/log", "token"] {
            std::fs::write(dir.path().join(name), "x").unwrap();
        }
        remove_remains(dir.path());
        let mut left: Vec<_> = std::fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["tasks", "token"]);
    }

    #[test]
    fn a_name_is_that_of_a_file_here_and_nothing_is_left_of_it() {
        let dir = tempfile::tempdir().unwrap();
        for wrong in ["", ".", "..", "../a", "a/b", "/etc/passwd", "-o", ".hidden", "a\nb", &"x".repeat(201)] {
            assert!(Upload::begin(dir.path(), wrong).is_err(), "{wrong}");
        }
        let upload = Upload::begin(dir.path(), "результаты fio.json").unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        drop(upload);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
