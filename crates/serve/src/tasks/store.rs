//! Tasks on disk: one small database beside the directories of their processes. Must not know what a process does.

use crate::database;
use rusqlite::{Connection, params};
use std::fs::File;
use std::path::Path;
use stend_api::Task;
use stend_base::{Code, Error, Result, say};

const FILE: &str = "server.db";
const TABLES: &str = "CREATE TABLE task (id TEXT PRIMARY KEY, task TEXT NOT NULL, order_text TEXT NOT NULL) STRICT";

/// The database, held by one server.
pub struct Store {
    db: Connection,
    /// Locked as long as the server lives.
    _held: File,
}

impl Store {
    /// Opens or makes it.
    ///
    /// Errors: `Preflight` if another server has it, if it is none of ours, or if it cannot be read.
    pub fn open(directory: &Path) -> Result<Store> {
        let path = directory.join(FILE);
        let lock = |error: std::io::Error| database::unusable(&path, &stend_sys::regular::why(&error));
        let held = database::private(&directory.join("server.lock")).map_err(lock)?;
        held.try_lock().map_err(|_| taken(directory))?;
        let db = database::open(&path, TABLES)?;
        Ok(Store { db, _held: held })
    }

    /// Every task, in the order in which they came.
    ///
    /// Errors: `Preflight`.
    pub fn all(&self) -> Result<Vec<Task>> {
        let read = || -> rusqlite::Result<Vec<String>> {
            self.db.prepare("SELECT task FROM task ORDER BY rowid")?.query_map([], |row| row.get(0))?.collect()
        };
        let texts = read().map_err(unsaved)?;
        let parsed = texts.iter().map(|text| serde_json::from_str(text));
        parsed.collect::<serde_json::Result<_>>().map_err(|error| {
            Error::preflight(say!("a task in `{FILE}` is damaged: {error}", "задача в `{FILE}` повреждена: {error}"))
        })
    }

    /// Keeps a new task.
    ///
    /// Errors: `Preflight`, such as on a full disk; then nothing is kept.
    pub fn add(&self, task: &Task, order: &str) -> Result<()> {
        let done = self.db.execute("INSERT INTO task VALUES (?1, ?2, ?3)", params![task.id, text(task), order]);
        done.map(drop).map_err(unsaved)
    }

    /// Keeps what has changed.
    ///
    /// Errors: as [`add`](Self::add).
    pub fn change(&self, task: &Task) -> Result<()> {
        let done = self.db.execute("UPDATE task SET task = ?2 WHERE id = ?1", params![task.id, text(task)]);
        done.map(drop).map_err(unsaved)
    }

    /// The text of an order.
    ///
    /// Errors: as [`all`](Self::all).
    pub fn order(&self, id: &str) -> Result<String> {
        self.db.query_row("SELECT order_text FROM task WHERE id = ?1", [id], |row| row.get(0)).map_err(unsaved)
    }

    /// Forgets a task.
    ///
    /// Errors: as [`add`](Self::add).
    pub fn remove(&self, id: &str) -> Result<()> {
        self.db.execute("DELETE FROM task WHERE id = ?1", [id]).map(drop).map_err(unsaved)
    }
}

fn text(task: &Task) -> String {
    // Numbers, strings and words: there is no case in which they cannot be written.
    serde_json::to_string(task).unwrap_or_default()
}

fn unsaved(error: rusqlite::Error) -> Box<Error> {
    Error::preflight(say!("the server cannot keep its tasks: {error}", "серверу не удаётся хранить задачи: {error}"))
}

fn taken(directory: &Path) -> Box<Error> {
    let shown = directory.display();
    let message = say!("another server is at work with `{shown}`", "с `{shown}` уже работает другой сервер");
    Error::new(Code::Preflight, message).hint(say!(
        "end it, or give this one its own data: `XDG_DATA_HOME=DIR stend serve`",
        "завершите его или задайте этому свой каталог: `XDG_DATA_HOME=КАТАЛОГ stend serve`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::tests::task;
    use stend_api::TaskState;
    use stend_base::Kind;

    #[test]
    fn tasks_are_kept_with_their_orders_and_a_file_of_others_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let mut kept = task("a");
        store.add(&kept, "text").unwrap();
        assert!(store.add(&kept, "text").is_err(), "an id is there once");
        kept.state = TaskState::Lost;
        store.change(&kept).unwrap();
        drop(store);
        let store = Store::open(dir.path()).unwrap();
        assert_eq!((store.all().unwrap(), store.order("a").unwrap()), (vec![kept], "text".to_string()));
        store.remove("a").unwrap();
        assert!(store.all().unwrap().is_empty());
        drop(store);
        std::fs::write(dir.path().join("server.db"), vec![7; 9000]).unwrap();
        assert_eq!(Store::open(dir.path()).err().unwrap().kind, Kind::Preflight);
    }
}
