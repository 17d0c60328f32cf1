//! What the process of a task leaves for the server that began it: which runs it makes, and how it ended. The names and forms of these files are
//! known to `stend-serve` as well.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, say};
use stend_record::store;

/// The file of the end, until it has its name, and its size from the begin on: an error with its hint in two languages is smaller.
const RESERVED: &str = "ended.new";
const RESERVE: usize = 4096;

/// The directory of a task.
pub(super) struct Task(PathBuf);

impl Task {
    /// The server may end from now on: this process leaves its session.
    ///
    /// Errors: `Preflight` if nothing can be written there.
    pub(super) fn begin(directory: &str) -> Result<Task> {
        let task = Task(PathBuf::from(directory));
        // Fails only for who leads a session or a group already, which does as well.
        let _ = rustix::process::setsid();
        let kept = task.file("runs", false).and_then(|_| task.file(RESERVED, false)?.write_all(&[b' '; RESERVE]));
        kept.map_err(|error| task.failed(&error))?;
        Ok(task)
    }

    /// Does it, and leaves how it ended as the last.
    pub(super) fn end(self, work: impl FnOnce(&Task) -> Result<()>) -> Result<()> {
        let done = work(&self);
        let text = match &done {
            Ok(()) => r#"{"error":null,"exit_code":0}"#.to_string(),
            Err(error) => stend_report::error_json(error),
        };
        let written = (|| {
            // Written over the spaces: a disk that is full by now takes it.
            let mut file = OpenOptions::new().write(true).open(self.0.join(RESERVED))?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(self.0.join(RESERVED), self.0.join("ended"))
        })();
        written.map_err(|error| self.failed(&error)).and(done)
    }

    /// A run begins, or goes on.
    pub(super) fn began(&self, run: &str) {
        // On a full disk the server does not hear of it; the run is in the list all the same.
        drop(self.file("runs", true).and_then(|mut file| writeln!(file, "{run}")));
    }

    fn file(&self, name: &str, append: bool) -> std::io::Result<File> {
        // They belong to the owner of the server's directory, also behind sudo.
        store::private_file(&self.0.join(name), OpenOptions::new().append(append).write(true).truncate(!append))
    }

    fn failed(&self, error: &std::io::Error) -> Box<Error> {
        let shown = Path::display(&self.0);
        Error::preflight(say!("cannot write to `{shown}`: {error}", "не удаётся писать в `{shown}`: {error}"))
    }
}
