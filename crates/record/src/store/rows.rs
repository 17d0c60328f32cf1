//! The samples of a file one at a time: a recording of months does not fit into memory. Never changes the file.

use super::reader::{begin_snapshot, open_run, unreadable};
use super::reading::{Reading, binary};
use super::retention::time_of;
use crate::run::RunRecord;
use crate::sample::Sample;
use rusqlite::{Connection, OptionalExtension};
use std::path::Path;
use stend_base::{Nanos, Result};

/// Most samples that are found: ten times what the usual retention keeps, and 64 MB of numbers.
const ROWS_MAX: u32 = 4_000_000;

/// A recording with its samples left where they are.
pub struct SampleRows {
    db: Connection,
    /// Everything else: header, host, state, events.
    pub record: RunRecord,
    /// Number and time of each, in the order of time.
    rows: Vec<(i64, Nanos)>,
}

impl SampleRows {
    /// Opens a file and looks at the times of its samples, all as of one moment.
    ///
    /// Errors as those of [`read`](super::read).
    pub fn open(path: &Path) -> Result<SampleRows> {
        let (db, header, _, budget) = open_run(path)?;
        let mut reading = Reading::new(header, budget);
        begin_snapshot(&db).map_err(unreadable(path))?;
        reading.all_but_samples(&db);
        let rows = times(&db).map_err(unreadable(path))?;
        // A writer can fold in its log again; what it removes from now on is missing.
        db.execute_batch("COMMIT").map_err(unreadable(path))?;
        Ok(SampleRows { db, record: reading.finish(), rows })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Time of one of them.
    pub fn at(&self, index: usize) -> Option<Nanos> {
        self.rows.get(index).map(|(_, at)| *at)
    }

    /// One of them. `None` beyond the last, and of one that is damaged.
    pub fn get(&self, index: usize) -> Option<Sample> {
        let (id, _) = self.rows.get(index)?;
        let sql = "SELECT body, octet_length(body) FROM sample WHERE id = ?1";
        let mut statement = self.db.prepare(sql).ok()?;
        statement.query_row([id], |row| binary(row, 0)).optional().ok().flatten()
    }
}

fn times(db: &Connection) -> rusqlite::Result<Vec<(i64, Nanos)>> {
    let sql = "SELECT id, substr(body, 1, 10) FROM sample WHERE host = 0 ORDER BY id LIMIT ?1";
    let mut statement = db.prepare(sql)?;
    let mut rows = statement.query([ROWS_MAX])?;
    let mut times: Vec<(i64, Nanos)> = Vec::new();
    while let Some(row) = rows.next()? {
        // A damaged one costs itself alone; so does one that claims to be earlier than the one before.
        let at = time_of(row.get_ref(1)?.as_blob().unwrap_or_default())
            .filter(|at| times.last().is_none_or(|(_, last)| at > last));
        if let Some(at) = at {
            times.push((row.get(0)?, at));
        }
    }
    Ok(times)
}
