//! The process of a task, known by the files of its directory, so that a server that was started anew finds it again. Must not decide when one
//! begins.
//!
//! The process has the locked file `lock` as its standard input: whether it lives is whether the file is locked. It writes `runs` itself
//! when it begins, and `ended` last.

use crate::printed::SERVER;
use serde::Deserialize;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use stend_base::Error;
use stend_record::store::{self, Owner};

/// What is sent of a log.
const LOG_MAX: u64 = 256 << 10;
/// That it was asked to end.
const STOP: &str = "stop";
/// Longest `runs` or `ended` that is read: a campaign of a thousand runs.
const NOTE_MAX: u64 = 256 << 10;

/// The directory of a task.
pub struct Home(PathBuf);

/// What its files say.
#[derive(Debug, PartialEq, Eq)]
pub enum Seen {
    /// Its process has not begun.
    Nothing,
    /// It is at work.
    Lives,
    /// It has ended by itself.
    Ended(End),
    /// It is gone without a word.
    Gone,
}

/// How a process ended, in its own words.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct End {
    /// Its exit code.
    pub exit_code: u8,
    /// Why, if that is not 0.
    pub error: Option<Error>,
}

impl Home {
    /// That of the task with this id, which is no path.
    pub fn new(tasks: &Path, id: &str) -> Home {
        Home(tasks.join(id))
    }

    /// Where its process is.
    pub fn look(&self) -> Seen {
        // First the lock: a process that ends after that is seen as alive, and the next look is right.
        let lives = File::open(self.0.join("lock")).is_ok_and(|lock| lock.try_lock_shared().is_err());
        match stend_sys::regular::text(self.0.join("ended"), NOTE_MAX) {
            _ if lives => Seen::Lives,
            Ok(text) => serde_json::from_str(&text).map_or(Seen::Gone, Seen::Ended),
            Err(_) if self.0.join("runs").exists() => Seen::Gone,
            Err(_) => Seen::Nothing,
        }
    }

    /// The run of each of its sessions. Targets in turn take turns here, too: the last is the one that goes on.
    pub fn sessions(&self) -> Vec<String> {
        let text = stend_sys::regular::text(self.0.join("runs"), NOTE_MAX).unwrap_or_default();
        text.lines().map(String::from).collect()
    }

    /// Keeps that its runs shall end, at once if `now`: a server that is started anew asks again.
    ///
    /// Errors: those of the file, such as on a full disk.
    pub fn keep_stop(&self, now: bool) -> io::Result<()> {
        self.make()?;
        let mut file = self.file(STOP)?;
        file.write_all(if now { b"now" } else { b"soon" })
    }

    /// Makes it, with the directory of all tasks. Both belong to the owner of the server's directory, so that a server of that user finds them.
    fn make(&self) -> io::Result<()> {
        let owner = Owner::of_nearest(&self.0)?;
        for place in self.0.parent().into_iter().chain([self.0.as_path()]) {
            match DirBuilder::new().mode(0o700).create(place) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => made.and_then(|()| owner.map_or(Ok(()), |owner| owner.take_entry(place)))?,
            }
        }
        Ok(())
    }

    /// An empty file in it.
    fn file(&self, name: &str) -> io::Result<File> {
        store::private_file(&self.0.join(name), OpenOptions::new().read(true).write(true).truncate(true))
    }

    /// Whether its runs shall end, and at once.
    pub fn stop(&self) -> Option<bool> {
        // An empty file is one that a crash cut off.
        stend_sys::regular::text(self.0.join(STOP), NOTE_MAX).ok().map(|text| text == "now")
    }

    /// The end of what it printed.
    pub fn log(&self) -> Vec<u8> {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(self.0.join("log"))?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(LOG_MAX)))?;
            let mut end = Vec::new();
            file.take(LOG_MAX).read_to_end(&mut end)?;
            Ok(end)
        };
        // One that has not begun printed nothing.
        read().unwrap_or_default()
    }

    /// Starts its process, unless another server has.
    ///
    /// Errors: those of the files, such as on a full disk, and of the start.
    pub fn start(&self, program: &Path, order: &str) -> io::Result<Child> {
        self.make()?;
        let lock = self.file("lock")?;
        lock.try_lock()?;
        let mut text = self.file("order")?;
        text.write_all(order.as_bytes())?;
        text.sync_all()?;
        let log = self.file("log")?;
        let mut command = Command::new(program);
        command.args(["run", "--progress", "plain", "--lang", "en", "--order"]).arg(self.0.join("order"));
        command.arg("--task").arg(&self.0).current_dir("/");
        // What it does, it does here, even if this server was started where another one is asked.
        command.env_remove(SERVER);
        // The session outlives this server, whatever ends it: its own group here, its own session as soon as it begins.
        command.stdin(lock).stdout(Stdio::null()).stderr(log).spawn()
    }

    /// Removes all that is kept of a task that is over.
    pub fn remove(&self) {
        // What cannot be removed is left, and costs its space.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// The runs of these sessions, each once.
pub fn runs(sessions: &[String]) -> Vec<String> {
    let mut runs: Vec<String> = Vec::new();
    sessions.iter().for_each(|run| {
        if !runs.contains(run) {
            runs.push(run.clone())
        }
    });
    runs
}

/// One document as it was printed, several one after the other as an array: what is sent is JSON.
pub fn as_one(printed: Vec<u8>) -> Vec<u8> {
    let mut documents = serde_json::Deserializer::from_slice(&printed).into_iter::<serde::de::IgnoredAny>();
    let mut ends = vec![0];
    while let Some(Ok(_)) = documents.next() {
        ends.push(documents.byte_offset());
    }
    let several: Vec<&[u8]> = ends.windows(2).map(|ends| &printed[ends[0]..ends[1]]).collect();
    if several.len() < 2 { printed } else { [b"[", several.join(&b',').as_slice(), b"]\n"].concat() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_process_is_known_by_its_files_alone() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path(), "a");
        assert_eq!(home.look(), Seen::Nothing);
        std::fs::create_dir(dir.path().join("a")).unwrap();
        let file = |name: &str| dir.path().join("a").join(name);
        let lock = File::create(file("lock")).unwrap();
        lock.lock().unwrap();
        assert_eq!(home.look(), Seen::Lives);
        std::fs::write(file("runs"), "R-1\nR-2\nR-1\n").unwrap();
        drop(lock);
        assert_eq!(home.look(), Seen::Gone);
        std::fs::write(file("ended"), r#"{"exit_code": 0, "error": null}"#).unwrap();
        assert_eq!(home.look(), Seen::Ended(End { exit_code: 0, error: None }));
        std::fs::write(file("ended"), "{").unwrap();
        assert_eq!(home.look(), Seen::Gone);
        std::fs::write(file("log"), vec![b'x'; LOG_MAX as usize + 9]).unwrap();
        assert_eq!(home.log().len(), LOG_MAX as usize);
    }

    #[test]
    fn what_a_server_behind_sudo_makes_belongs_to_the_owner_of_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        if std::os::unix::fs::chown(dir.path(), Some(12_345), Some(12_345)).is_err() {
            // Only root gives anything away.
            return;
        }
        let tasks = dir.path().join("tasks");
        let home = Home::new(&tasks, "a");
        home.keep_stop(false).unwrap();
        home.start(Path::new("true"), "order").unwrap().wait().unwrap();
        for place in ["", "a", "a/stop", "a/lock", "a/order", "a/log"] {
            let found = tasks.join(place).metadata().unwrap();
            assert_eq!((found.uid(), found.gid(), found.mode() & 0o077), (12_345, 12_345, 0), "{place}");
        }
    }

    #[test]
    fn targets_in_turn_have_two_runs_of_which_the_first_goes_on_again() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path(), "a");
        assert!(home.sessions().is_empty());
        std::fs::create_dir(dir.path().join("a")).unwrap();
        std::fs::write(dir.path().join("a/runs"), "R-1\nR-2\nR-1\n").unwrap();
        let sessions = home.sessions();
        assert_eq!((sessions.last().map(String::as_str), sessions.len()), (Some("R-1"), 3));
        assert_eq!(runs(&sessions), ["R-1", "R-2"]);
    }

    #[test]
    fn that_it_was_asked_to_end_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path(), "a");
        assert_eq!(home.stop(), None);
        home.keep_stop(false).unwrap();
        assert_eq!(home.stop(), Some(false));
        home.keep_stop(true).unwrap();
        assert_eq!((home.stop(), Home::new(dir.path(), "b").stop()), (Some(true), None));
    }

    #[test]
    fn one_document_is_sent_as_it_is_and_several_are_an_array() {
        let sent = |printed: &str| String::from_utf8(as_one(printed.into())).unwrap();
        assert_eq!(sent("{\n  \"a\": 1\n}\n"), "{\n  \"a\": 1\n}\n");
        assert_eq!(sent("{\"a\": 1}\n{\"a\": [2]}\n"), "[{\"a\": 1},\n{\"a\": [2]}]\n");
    }
}
