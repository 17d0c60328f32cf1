//! Run files and what they are made of: whole, by their rows, by their entries, by pieces of logs.

use crate::{made, shown};
use rusqlite::types::Value;
use rusqlite::{Connection, params};
use std::io::Write;
use std::path::Path;
use stend_base::Nanos;
use stend_plan::Plan;
use stend_record::{Entry, IoChunk, store};
use stend_report::{IoFormat, LoggedTrial};

/// A whole file, that may be anything.
pub fn file(bytes: &[u8]) {
    in_memory(bytes, |path| read(path, bytes.len()));
}

/// A good file of which rows are changed as the bytes say.
pub fn rows(bytes: &[u8]) {
    in_memory(&made::RUN_FILE, |path| {
        let db = Connection::open(path).expect("a file that was just written");
        let fast = db.execute_batch("PRAGMA journal_mode = off; PRAGMA synchronous = off; BEGIN");
        fast.expect("a database");
        let mut edits = Edits { rest: bytes };
        while edits.one(&db).is_some() {}
        db.execute_batch("COMMIT").expect("a database");
        db.close().expect("a database");
        read(path, bytes.len());
    });
}

fn in_memory(bytes: &[u8], work: impl FnOnce(&Path)) {
    let mut file = tempfile::Builder::new().prefix("stend-untrusted-").tempfile_in(crate::MEMORY).expect("memory");
    file.write_all(bytes).expect("memory");
    work(file.path());
}

/// As the verbs do that read a run.
fn read(path: &Path, which: usize) {
    let Ok(run) = store::read(path) else { return };
    shown::run(&run, which);
    let (Ok(mut logs), Ok(plan)) = (store::io_logs(path), run.plan()) else { return };
    for trial in run.trials.iter().take(4) {
        let label = plan.cases.get(trial.case as usize).map(|case| case.label()).unwrap_or_default();
        // What cannot be read ends the log.
        let _ = logs.each(trial.trial, |_, chunk| {
            lines(
                chunk,
                &LoggedTrial { trial: trial.trial, case: &label, asked: &trial.asked, start: chunk.base, host: None },
            );
            Ok::<(), Box<stend_base::Error>>(())
        });
    }
}

fn lines(chunk: &IoChunk, trial: &LoggedTrial) {
    for format in [IoFormat::Csv, IoFormat::Fio] {
        let left_out = stend_report::ios(format, trial, chunk, &mut std::io::sink()).expect("nowhere takes all");
        assert!(left_out <= chunk.len());
    }
}

/// A piece of a log as it travels.
pub fn io_log(bytes: &[u8]) {
    let Ok(chunk) = postcard::from_bytes::<IoChunk>(bytes) else { return };
    let run = shown::empty();
    let plan = Plan::new(&run.header.inputs).expect("the suite of the corpus has a plan");
    lines(&chunk, &LoggedTrial { trial: 0, case: "x", asked: &plan.trial(0, 7), start: Nanos(7), host: Some("x") });
}

/// Entries one behind the other: as JSON if the first byte is `[`, else as postcard.
pub fn entries(bytes: &[u8]) {
    let mut run = shown::empty();
    match bytes.first() {
        Some(b'[') => {
            let Ok(entries) = serde_json::from_slice::<Vec<Entry>>(bytes) else { return };
            entries.into_iter().for_each(|entry| run.apply(entry));
        }
        _ => {
            let mut rest = bytes;
            while let Ok((entry, next)) = postcard::take_from_bytes::<Entry>(rest) {
                run.apply(entry);
                rest = next;
            }
        }
    }
    shown::run(&run, bytes.len());
}

/// The spool of the run of which the first bytes say that it is.
pub fn spool(bytes: &[u8]) {
    let id = bytes.get(8).and_then(|&len| bytes.get(9..9 + usize::from(len))).unwrap_or_default();
    let Ok(id) = std::str::from_utf8(id) else { return };
    let mut run = shown::empty();
    store::spooled(bytes, id).into_iter().for_each(|(_, entry)| run.apply(entry));
    shown::run(&run, bytes.len());
}

/// Tables of a run file with their columns; the first tells rows apart.
const TABLES: [(&str, &[&str]); 9] = [
    ("meta", &["key", "body"]),
    ("decision", &["seq", "body"]),
    ("trial", &["trial", "case_index", "block", "round", "started_ns", "asked", "outcome"]),
    ("slice", &["id", "trial", "body"]),
    ("io_log", &["id", "trial", "stream", "job", "base_ns", "records"]),
    ("sample", &["id", "host", "body"]),
    ("event", &["id", "body"]),
    ("host", &["host", "body"]),
    ("cell", &["cell", "body"]),
];

/// Changes that bytes say.
struct Edits<'a> {
    rest: &'a [u8],
}

impl Edits<'_> {
    /// Makes the next one; `None`: there is none. One that the tables refuse changes nothing.
    fn one(&mut self, db: &Connection) -> Option<()> {
        let [table, row, column, how] = *self.take(4)?.first_chunk()?;
        let (table, columns) = TABLES[usize::from(table) % TABLES.len()];
        let (column, key) = (columns[usize::from(column) % columns.len()], columns[0]);
        let at = format!("{key} = (SELECT {key} FROM {table} ORDER BY {key} LIMIT 1 OFFSET ?1)");
        if how % 8 == 7 {
            let _ = db.execute(&format!("DELETE FROM {table} WHERE {at}"), [row]);
            return Some(());
        }
        let before = db.query_row(&format!("SELECT {column} FROM {table} WHERE {at}"), [row], |found| found.get(0));
        let after = self.value(how % 8, before.unwrap_or(Value::Null))?;
        let _ = db.execute(&format!("UPDATE OR IGNORE {table} SET {column} = ?2 WHERE {at}"), params![row, after]);
        Some(())
    }

    fn take(&mut self, count: usize) -> Option<&[u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn value(&mut self, how: u8, before: Value) -> Option<Value> {
        Some(match how {
            0 => Value::Integer(i64::from_le_bytes(*self.take(8)?.first_chunk()?)),
            1 => Value::Real(f64::from_le_bytes(*self.take(8)?.first_chunk()?)),
            2 => {
                let len = usize::from(self.take(1)?[0]);
                Value::Blob(self.take(len)?.to_vec())
            }
            // Most of them: a few bytes of what was there are others.
            _ => {
                let [low, high, gone, new] = *self.take(4)?.first_chunk()?;
                let new = self.take(usize::from(new) % 32)?;
                let place = usize::from(u16::from_le_bytes([low, high]));
                match before {
                    Value::Text(text) => match String::from_utf8(spliced(text.into_bytes(), place, gone, new)) {
                        Ok(text) => Value::Text(text),
                        Err(bytes) => Value::Blob(bytes.into_bytes()),
                    },
                    Value::Blob(blob) => Value::Blob(spliced(blob, place, gone, new)),
                    other => other,
                }
            }
        })
    }
}

fn spliced(mut bytes: Vec<u8>, place: usize, gone: u8, new: &[u8]) -> Vec<u8> {
    let place = place % (bytes.len() + 1);
    let end = (place + usize::from(gone % 32)).min(bytes.len());
    bytes.splice(place..end, new.iter().copied());
    bytes
}
