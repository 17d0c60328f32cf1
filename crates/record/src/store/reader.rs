//! Reads a run file back: finished, being written, or left by a coordinator that was killed. Never
//! changes the file or its log, and believes nothing it says about its own size.

use super::id::is_run_id;
use super::identity::{Budget, check_file};
use super::reading::Reading;
use super::recorder::beside;
use super::schema::{self, key};
use super::spool;
use crate::run::{RunHeader, RunRecord};
use rusqlite::{Connection, OpenFlags};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stend_base::{Code, Error, Result, say};

/// How long reading waits for a writer that is just folding its log into the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads a whole run.
///
/// A run whose coordinator is at work, or was killed, reads as [`RunState::Open`](crate::RunState::Open), including what still
/// waits in a spool. A damaged part costs only itself; a note among the events then says what is missing.
/// Errors are of kind `RunFile`: no such file, not a run file, a version this binary does not know, or
/// damage that leaves no header.
pub fn read(path: &Path) -> Result<RunRecord> {
    Reader::open(path).map(Reader::finish)
}

/// A run file that is read again and again while it is written: each look reads only what has come since the look before.
pub struct Reader {
    db: Connection,
    path: PathBuf,
    /// Nobody wrote the file when it was opened.
    is_finished: bool,
    reading: Reading,
}

impl Reader {
    /// Reads everything that is there.
    ///
    /// Errors as those of [`read`].
    pub fn open(path: &Path) -> Result<Reader> {
        let reader = Reader::begin(path)?;
        reader.let_go()?;
        Ok(reader)
    }

    /// As [`Reader::open`], but what is asked of the database is from the same moment.
    fn begin(path: &Path) -> Result<Reader> {
        let is_finished = !beside(path, "-wal").exists();
        let (db, header, _, budget) = open_run(path)?;
        if header.recording.is_some() {
            return Err(is_recording(path, &header.id));
        }
        let mut reader = Reader { db, path: path.to_path_buf(), is_finished, reading: Reading::new(header, budget) };
        reader.snapshot()?;
        Ok(reader)
    }

    /// Reads what has come.
    ///
    /// Errors as those of [`read`].
    pub fn look(&mut self) -> Result<()> {
        self.reading.budget = check_file(&self.path)?;
        if self.is_finished && beside(&self.path, "-wal").exists() {
            // Somebody goes on with the run.
            self.db = open(&self.path).map_err(unreadable(&self.path))?;
            self.is_finished = false;
        }
        self.snapshot()?;
        self.let_go()
    }

    /// Everything read so far.
    pub fn record(&self) -> &RunRecord {
        &self.reading.record
    }

    /// The same, with a note among the events where the file is damaged.
    pub fn finish(self) -> RunRecord {
        self.reading.finish()
    }

    /// Ends the snapshot: the writer cannot fold in its log while somebody needs an older state.
    fn let_go(&self) -> Result<()> {
        self.db.execute_batch("COMMIT").map_err(unreadable(&self.path))
    }

    /// Reads in one snapshot, which the connection goes on to hold.
    fn snapshot(&mut self) -> Result<()> {
        let unreadable = unreadable(&self.path);
        let spooled: Option<PathBuf> = schema::get_meta(&self.db, key::SPOOL).map_err(unreadable)?;
        // Before the tables: what moves from the spool into the database meanwhile is then found there.
        let spooled = spooled.map(|spool| spool::read(&spool, &self.reading.record.header.id)).unwrap_or_default();
        begin_snapshot(&self.db).map_err(unreadable)?;
        self.reading.look(&self.db, spooled);
        Ok(())
    }
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
    let Reader { db, reading, .. } = Reader::begin(path)?;
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

/// Reads the trials of a run and how they ended, with the hosts that were lost, and nothing else of it: what a list of many runs can afford. What waits in a spool is not
/// there.
///
/// Errors as those of [`read`].
pub fn read_outcomes(path: &Path) -> Result<RunRecord> {
    let (db, header, _, budget) = open_run(path)?;
    let mut reading = Reading::new(header, budget);
    reading.hosts(&db);
    reading.lost(&db);
    reading.trials(&db);
    reading.outcomes(&db);
    Ok(reading.finish())
}

/// Reads the hosts of a run and what happened in it, and nothing that was measured. What waits in a spool is not there.
///
/// Errors as those of [`read`].
pub fn read_events(path: &Path) -> Result<RunRecord> {
    let (db, header, _, budget) = open_run(path)?;
    let mut reading = Reading::new(header, budget);
    reading.hosts(&db);
    reading.events(&db);
    Ok(reading.finish())
}

/// Ordinal of the last entry in the database of the run with this id; `None`: that file is of another run, or cannot be read.
pub(super) fn written(path: &Path, id: &[u8]) -> Option<u64> {
    let (db, header, ..) = open_run(path).ok()?;
    let written = schema::get_meta::<u64>(&db, key::WRITTEN).ok()?;
    written.filter(|_| header.id.as_bytes() == id)
}

/// Why a recording is not read as a run: it may be longer than memory, and has nothing that was measured.
pub(super) fn is_recording(path: &Path, id: &str) -> Box<Error> {
    let shown = path.display();
    Error::usage(say!(
        "`{shown}` is a recording: it has telemetry of a host, and no trials",
        "`{shown}` — запись хоста: в ней телеметрия, а испытаний нет"
    ))
    .hint(say!(
        "`stend show {id}`, `stend report {id}` and `stend top {id}` show recordings",
        "записи показывают `stend show {id}`, `stend report {id}` и `stend top {id}`"
    ))
}

/// One snapshot of all tables, however long reading them takes.
pub(super) fn begin_snapshot(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch("BEGIN")
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
        Code::RunFileVersion,
        say!(
            "the run file `{shown}` was written by a build of Stend with another file format: {why}",
            "файл прогона `{shown}` записан сборкой Stend с другим форматом файла: {why}"
        ),
    )
    .hint(say!(
        "nothing is lost: read it with the build that wrote it; the format changes until the first release",
        "ничего не потеряно: прочитайте его той сборкой, которая его записала; до первого выпуска формат меняется"
    ))
}

pub(super) fn damaged(path: &Path, why: &str) -> Box<Error> {
    let shown = path.display();
    Error::new(
        Code::RunFileDamaged,
        say!("the run file `{shown}` is damaged: {why}", "файл прогона `{shown}` повреждён: {why}"),
    )
    .hint(say!(
        "take a copy of it from before the damage, together with the `-wal` file beside it if there is one",
        "возьмите копию, сделанную до повреждения, вместе с файлом `-wal` рядом с ней, если он есть"
    ))
}
