//! Reads a run file back: finished, being written, or left by a coordinator that was killed. Never
//! changes the file or its log, and believes nothing it says about its own size.

use super::id::is_run_id;
use super::identity::{Budget, check_file};
use super::recorder::beside;
use super::schema::{self, BODY_MAX, key};
use super::spool;
use crate::event::{Event, EventKind};
use crate::hosts::HostId;
use crate::io_log::RECORD_BYTES;
use crate::run::{Entry, RunHeader, RunRecord, RunState};
use rusqlite::types::Type;
use rusqlite::{Connection, OpenFlags, Row};
use serde::de::DeserializeOwned;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stend_base::{Error, Kind, Nanos, Result, say};

/// How long reading waits for a writer that is just folding its log into the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads a whole run.
///
/// A run whose coordinator is at work, or was killed, reads as [`RunState::Open`], including what still
/// waits in a spool. A damaged part costs only itself; a note among the events then says what is missing.
/// Errors are of kind `RunFile`: no such file, not a run file, a version this binary does not know, or
/// damage that leaves no header.
pub fn read(path: &Path) -> Result<RunRecord> {
    Ok(begin(path)?.1.finish())
}

/// A run that somebody means to go on with.
pub struct Standing {
    /// Everything recorded, what waits in a spool included.
    pub record: RunRecord,
    /// Ordinal of the last entry in the database; less than 2^63.
    pub written: u64,
    /// How often the file has been synced; less than 2^63.
    pub syncs: u64,
    /// Path of the spool file, if the run has one.
    pub spool: Option<PathBuf>,
}

/// As [`read`], but damage anywhere in the file is an error: nothing may be added to it.
pub fn read_for_writing(path: &Path) -> Result<Standing> {
    let (db, reading) = begin(path)?;
    let unreadable = unreadable(path);
    let verdict: String = db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(unreadable)?;
    if verdict != "ok" {
        return Err(damaged(path, &verdict));
    }
    if let Some(what) = reading.damage.first() {
        return Err(damaged(path, what));
    }
    let count = |key| {
        let count = schema::get_meta::<u64>(&db, key).map_err(unreadable)?;
        count.filter(|&count| count < 1 << 63).ok_or_else(|| damaged(path, &format!("`{key}` is not a count")))
    };
    let (written, syncs) = (count(key::WRITTEN)?, count(key::SYNCS)?);
    let spool = schema::get_meta(&db, key::SPOOL).map_err(unreadable)?;
    Ok(Standing { record: reading.record, written, syncs, spool })
}

/// Reads everything, in one snapshot that the connection still holds.
fn begin(path: &Path) -> Result<(Connection, Reading)> {
    let (db, header, spooled, budget) = open_run(path)?;
    let unreadable = unreadable(path);
    // Before the tables: what moves from the spool into the database meanwhile is then found there.
    let spooled = spooled.map(|spool| spool::read(&spool, &header.id)).unwrap_or_default();
    let mut reading = Reading { record: RunRecord::new(header), damage: Vec::new(), budget };
    // One snapshot of all tables, however long reading them takes.
    db.execute_batch("BEGIN").map_err(unreadable)?;
    reading.tables(&db);
    let written = schema::get_meta::<u64>(&db, key::WRITTEN).unwrap_or_default().unwrap_or_default();
    for (_, entry) in spooled.into_iter().filter(|(ordinal, _)| *ordinal > written) {
        reading.record.apply(entry);
    }
    Ok((db, reading))
}

/// Reads the trials of a run and how they ended, and nothing else of it: what a list of many runs can afford. What waits in a spool is not
/// there.
///
/// Errors as those of [`read`].
pub fn read_outcomes(path: &Path) -> Result<RunRecord> {
    let (db, header, _, budget) = open_run(path)?;
    let mut reading = Reading { record: RunRecord::new(header), damage: Vec::new(), budget };
    reading.trials(&db);
    reading.outcomes(&db);
    Ok(reading.finish())
}

/// Ordinal of the last entry in the database of the run with this id; `None`: that file is of another run, or cannot be read.
pub(super) fn written(path: &Path, id: &[u8]) -> Option<u64> {
    let (db, header, ..) = open_run(path).ok()?;
    let written = schema::get_meta::<u64>(&db, key::WRITTEN).ok()?;
    written.filter(|_| header.id.as_bytes() == id)
}

/// Opens a run file whose header can be read: with the path of its spool, if it has one, and what it can hold at most.
pub(super) fn open_run(path: &Path) -> Result<(Connection, RunHeader, Option<PathBuf>, Budget)> {
    let budget = check_file(path)?;
    let unreadable = unreadable(path);
    let db = open(path).map_err(unreadable)?;
    check_tables(&db).map_err(|why| damaged(path, &why))?;
    let header = header_of(&db, path)?;
    let spooled = schema::get_meta(&db, key::SPOOL).map_err(unreadable)?;
    Ok((db, header, spooled, budget))
}

/// The header of a run file. One with an id that could not be ours is of no run: things are named after it.
pub(super) fn header_of(db: &Connection, path: &Path) -> Result<RunHeader> {
    let header = schema::get_header(db).map_err(unreadable(path))?;
    let header = header.ok_or_else(|| damaged(path, "it has no header"))?;
    match is_run_id(&header.id) {
        true => Ok(header),
        false => Err(damaged(path, "its id is not that of a run")),
    }
}

/// A record in the making.
struct Reading {
    record: RunRecord,
    damage: Vec<String>,
    budget: Budget,
}

impl Reading {
    fn tables(&mut self, db: &Connection) {
        let sql = "SELECT host, body, octet_length(body) FROM host ORDER BY host";
        self.rows(db, sql, |row| Ok(Entry::Host { host: HostId(row.get(0)?), info: json(row, 1)? }));
        self.record.fill = self.meta(db, key::FILL);
        self.record.zeros = self.meta(db, key::ZEROS);
        self.record.state = self.meta(db, key::END).unwrap_or(RunState::Open);
        let sql = "SELECT seq, body, octet_length(body) FROM decision ORDER BY seq";
        self.rows(db, sql, |row| Ok(Entry::Decision { seq: row.get(0)?, decision: json(row, 1)? }));
        self.trials(db);
        let sql = "SELECT trial, body, octet_length(body) FROM slice ORDER BY id";
        self.rows(db, sql, |row| Ok(Entry::Slices { trial: row.get(0)?, slices: binary(row, 1)? }));
        self.io_logs(db);
        self.outcomes(db);
        let sql = "SELECT host, body, octet_length(body) FROM sample ORDER BY id";
        self.rows(db, sql, |row| Ok(Entry::Sample { host: HostId(row.get(0)?), sample: binary(row, 1)? }));
        let sql = "SELECT body, octet_length(body) FROM event ORDER BY id";
        self.rows(db, sql, |row| Ok(Entry::Event(json(row, 0)?)));
    }

    fn trials(&mut self, db: &Connection) {
        let sql =
            "SELECT trial, case_index, block, round, started_ns, asked, octet_length(asked) FROM trial ORDER BY trial";
        self.rows(db, sql, |row| {
            let started: i64 = row.get(4)?;
            Ok(Entry::TrialStart {
                trial: row.get(0)?,
                case: row.get(1)?,
                block: row.get(2)?,
                round: row.get(3)?,
                at: Nanos(started.max(0) as u64),
                asked: json(row, 5)?,
            })
        });
    }

    fn outcomes(&mut self, db: &Connection) {
        let sql = "SELECT trial, outcome, octet_length(outcome) FROM trial WHERE outcome IS NOT NULL ORDER BY trial";
        self.rows(db, sql, |row| Ok(Entry::TrialEnd { trial: row.get(0)?, outcome: binary(row, 1)? }));
    }

    /// Counts the I/Os of each log, without reading them.
    fn io_logs(&mut self, db: &Connection) {
        let sql = "SELECT trial, octet_length(records) FROM io_log ORDER BY id";
        let outcome = db.prepare(sql).and_then(|mut statement| {
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if !self.budget.spend(row.get_ref(1)?) {
                    self.damage.push(format!("more rows than fit into the file: {sql}"));
                    return Ok(());
                }
                let (Ok(trial), Ok(bytes)) = (row.get::<_, u32>(0), row.get::<_, i64>(1)) else { continue };
                self.record.add_logged(trial, bytes.max(0) as u64 / RECORD_BYTES as u64);
            }
            Ok(())
        });
        if let Err(error) = outcome {
            self.damage.push(format!("{error}: {sql}"));
        }
    }

    fn meta<T: DeserializeOwned>(&mut self, db: &Connection, key: &str) -> Option<T> {
        let value = schema::get_meta(db, key);
        value.unwrap_or_else(|error| {
            self.damage.push(format!("{key}: {error}"));
            None
        })
    }

    /// Applies every row of a query whose last column is the length of the stored value.
    fn rows(&mut self, db: &Connection, sql: &str, decode: fn(&Row) -> rusqlite::Result<Entry>) {
        let mut unreadable = 0u64;
        let outcome = db.prepare(sql).and_then(|mut statement| {
            let length_at = statement.column_count() - 1;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if !self.budget.spend(row.get_ref(length_at)?) {
                    self.damage.push(format!("more rows than fit into the file: {sql}"));
                    return Ok(());
                }
                match decode(row) {
                    Ok(entry) => self.record.apply(entry),
                    Err(_) => unreadable += 1,
                }
            }
            Ok(())
        });
        if let Err(error) = outcome {
            self.damage.push(format!("{error}: {sql}"));
        }
        if unreadable > 0 {
            self.damage.push(format!("{unreadable} rows cannot be understood: {sql}"));
        }
    }

    fn finish(mut self) -> RunRecord {
        let at = self.record.events.last().map_or(Nanos(0), |event| event.at);
        for what in self.damage {
            let text = format!("the run file is damaged, a part is missing: {what}");
            self.record.events.push(Event::new(at, EventKind::Note { text }));
        }
        self.record
    }
}

fn json<T: DeserializeOwned>(row: &Row, column: usize) -> rusqlite::Result<T> {
    check_length(row, Type::Text)?;
    let body = row.get_ref(column)?.as_bytes()?;
    serde_json::from_slice(body).map_err(|error| conversion(column, Type::Text, error))
}

fn binary<T: DeserializeOwned>(row: &Row, column: usize) -> rusqlite::Result<T> {
    check_length(row, Type::Blob)?;
    let body = row.get_ref(column)?.as_blob()?;
    postcard::from_bytes(body).map_err(|error| conversion(column, Type::Blob, error))
}

/// Looks at the length in the last column, before SQLite loads the value itself.
fn check_length(row: &Row, kind: Type) -> rusqlite::Result<()> {
    let column = row.as_ref().column_count() - 1;
    let length: i64 = row.get(column)?;
    if length > BODY_MAX as i64 {
        return Err(conversion(column, kind, std::io::Error::other("the value is too large")));
    }
    Ok(())
}

fn conversion(column: usize, kind: Type, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, kind, Box::new(error))
}

/// Without a log beside it the file is finished: then nothing is created beside it, and a read-only
/// place will do. With a log SQLite needs its index, which it may have to build anew.
pub(super) fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = match beside(path, "-wal").exists() {
        true => Connection::open_with_flags(path, flags)?,
        false => Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)?,
    };
    db.busy_timeout(PATIENCE)?;
    db.pragma_update(None, "trusted_schema", false)?;
    db.pragma_update(None, "cell_size_check", true)?;
    Ok(db)
}

/// The path as a URI that tells SQLite that nobody changes the file.
fn immutable(path: &Path) -> String {
    let mut uri = String::from(if path.is_absolute() { "file://" } else { "file:" });
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => uri.push(char::from(byte)),
            // Writing to a string cannot fail.
            _ => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri + "?immutable=1"
}

/// The tables must be ours, word for word: a view or trigger could make reading run for ever.
pub(super) fn check_tables(db: &Connection) -> std::result::Result<(), String> {
    let text = |error: rusqlite::Error| error.to_string();
    let mut statement = db.prepare("SELECT sql FROM sqlite_schema ORDER BY rowid LIMIT 100").map_err(text)?;
    let rows = statement.query_map([], |row| row.get::<_, Option<String>>(0)).map_err(text)?;
    let found: Vec<Option<String>> = rows.collect::<rusqlite::Result<_>>().map_err(text)?;
    let known = |tables: &[&str]| found.iter().map(Option::as_deref).eq(tables.iter().map(|&table| Some(table)));
    if known(&schema::TABLES) { Ok(()) } else { Err("its tables are not those of a run file".to_string()) }
}

/// What a value that cannot be read says of its file: well-formed JSON that lacks what is asked of it is no damage.
pub(super) fn unreadable(path: &Path) -> impl Fn(rusqlite::Error) -> Box<Error> + Copy + '_ {
    move |error| match &error {
        rusqlite::Error::ToSqlConversionFailure(inner) if is_of_another_form(inner.as_ref()) => {
            another_form(path, inner)
        }
        _ => damaged(path, &error.to_string()),
    }
}

fn is_of_another_form(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<serde_json::Error>().is_some_and(serde_json::Error::is_data)
}

fn another_form(path: &Path, why: &dyn std::fmt::Display) -> Box<Error> {
    let shown = path.display();
    Error::new(
        Kind::RunFile,
        say!(
            "the run file `{shown}` was written by a build of Stend whose form of it is another one: {why}",
            "файл прогона `{shown}` записан сборкой Stend с другой его формой: {why}"
        ),
    )
    .hint(say!(
        "nothing is lost: read it with the build that wrote it; forms change until the first release",
        "ничего не потеряно: прочитайте его той сборкой, которая его записала; до первого выпуска форма меняется"
    ))
}

pub(super) fn damaged(path: &Path, why: &str) -> Box<Error> {
    let shown = path.display();
    Error::new(
        Kind::RunFile,
        say!("the run file `{shown}` is damaged: {why}", "файл прогона `{shown}` повреждён: {why}"),
    )
    .hint(say!(
        "take a copy of it from before the damage, together with the `-wal` file beside it if there is one",
        "возьмите копию, сделанную до повреждения, вместе с файлом `-wal` рядом с ней, если он есть"
    ))
}
