//! Schedules on disk: one small database beside that of the tasks. Must not know the time.

use crate::database;
use rusqlite::{Connection, params};
use std::path::Path;
use stend_api::Schedule;
use stend_base::{Error, Result, say};

const FILE: &str = "schedules.db";
const TABLES: &str =
    "CREATE TABLE schedule (id TEXT PRIMARY KEY, schedule TEXT NOT NULL, order_text TEXT NOT NULL) STRICT";

/// The database, and what it holds.
pub struct Store {
    db: Connection,
    /// By id.
    all: Vec<Schedule>,
}

impl Store {
    /// Opens or makes it.
    ///
    /// Errors: `Preflight` if it is none of ours, or cannot be read.
    pub fn open(directory: &Path) -> Result<Store> {
        let db = database::open(&directory.join(FILE), TABLES)?;
        let read = || -> rusqlite::Result<Vec<String>> {
            db.prepare("SELECT schedule FROM schedule ORDER BY id")?.query_map([], |row| row.get(0))?.collect()
        };
        let parsed = read().map_err(unsaved)?.iter().map(|text| serde_json::from_str(text)).collect();
        let all: serde_json::Result<Vec<Schedule>> = parsed;
        let all = all.map_err(|error| {
            Error::preflight(say!(
                "a schedule in `{FILE}` is damaged: {error}",
                "расписание в `{FILE}` повреждено: {error}"
            ))
        })?;
        Ok(Store { db, all })
    }

    /// Every schedule, by id.
    pub fn all(&self) -> &[Schedule] {
        &self.all
    }

    /// Keeps one, with its order if that is new.
    ///
    /// Errors: `Preflight`, such as on a full disk; then it is what it was.
    pub fn put(&mut self, schedule: &Schedule, order: Option<&str>) -> Result<()> {
        self.write(schedule, order).map_err(unsaved)?;
        self.remember(schedule);
        Ok(())
    }

    /// Keeps what became of its times, at least until the server ends.
    pub fn keep(&mut self, schedule: &Schedule) {
        // What a full disk does not take is in memory, and is written with the next change.
        drop(self.write(schedule, None));
        self.remember(schedule);
    }

    /// The text of an order.
    ///
    /// Errors: as [`put`](Self::put).
    pub fn order(&self, id: &str) -> Result<String> {
        self.db.query_row("SELECT order_text FROM schedule WHERE id = ?1", [id], |row| row.get(0)).map_err(unsaved)
    }

    /// Forgets one.
    ///
    /// Errors: as [`put`](Self::put).
    pub fn remove(&mut self, id: &str) -> Result<()> {
        self.db.execute("DELETE FROM schedule WHERE id = ?1", [id]).map_err(unsaved)?;
        self.all.retain(|known| known.id != id);
        Ok(())
    }

    fn write(&self, schedule: &Schedule, order: Option<&str>) -> rusqlite::Result<()> {
        // Numbers, strings and words: there is no case in which they cannot be written.
        let text = serde_json::to_string(schedule).unwrap_or_default();
        let new =
            "INSERT INTO schedule VALUES (?1, ?2, ?3) ON CONFLICT (id) DO UPDATE SET schedule = ?2, order_text = ?3";
        let changed = "UPDATE schedule SET schedule = ?2 WHERE id = ?1";
        match order {
            Some(order) => self.db.execute(new, params![schedule.id, text, order]),
            None => self.db.execute(changed, params![schedule.id, text]),
        }
        .map(drop)
    }

    fn remember(&mut self, schedule: &Schedule) {
        match self.all.binary_search_by(|known| known.id.cmp(&schedule.id)) {
            Ok(at) => self.all[at] = schedule.clone(),
            Err(at) => self.all.insert(at, schedule.clone()),
        }
    }
}

fn unsaved(error: rusqlite::Error) -> Box<Error> {
    Error::preflight(say!(
        "the server cannot keep its schedules: {error}",
        "серверу не удаётся хранить расписания: {error}"
    ))
}
