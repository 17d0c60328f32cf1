//! Tables of the run file and how an entry becomes rows. Must not decide when anything is written.
//!
//! What people may want to query, or what changes its shape with the tool, is JSON; numeric bulk is
//! postcard, ten times smaller.

use crate::hosts::{HostId, HostInfo};
use crate::io_log::IoChunk;
use crate::run::{Entry, RunHeader};
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use stend_plan::Plan;

/// "Stnd": tells our databases from everybody else's (SQLite's `application_id`, file offset 68).
pub const APPLICATION_ID: u32 = 0x5374_6e64;

/// No single stored value may be larger: the same limit as a frame from a worker.
pub const BODY_MAX: usize = 16 << 20;

/// Tables, verbatim as SQLite keeps them; a reader refuses a file with anything else.
pub const TABLES: [&str; 12] = [
    "CREATE TABLE meta (key TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE cell (cell INTEGER PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE host (host INTEGER PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE fill (host INTEGER PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE zeros (host INTEGER PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE decision (seq INTEGER PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE trial (trial INTEGER PRIMARY KEY, case_index INTEGER NOT NULL, block INTEGER NOT NULL, \
     round INTEGER NOT NULL, started_ns INTEGER NOT NULL, asked TEXT NOT NULL)",
    "CREATE TABLE outcome (id INTEGER PRIMARY KEY, host INTEGER NOT NULL, trial INTEGER NOT NULL, body BLOB NOT NULL)",
    "CREATE TABLE slice (id INTEGER PRIMARY KEY, host INTEGER NOT NULL, trial INTEGER NOT NULL, body BLOB NOT NULL)",
    "CREATE TABLE io_log (id INTEGER PRIMARY KEY, host INTEGER NOT NULL, trial INTEGER NOT NULL, stream INTEGER NOT NULL, \
     job INTEGER NOT NULL, base_ns INTEGER NOT NULL, records BLOB NOT NULL)",
    "CREATE TABLE sample (id INTEGER PRIMARY KEY, host INTEGER NOT NULL, body BLOB NOT NULL)",
    "CREATE TABLE event (id INTEGER PRIMARY KEY, body TEXT NOT NULL)",
];

/// Keys of the table `meta`.
pub mod key {
    /// The [`RunHeader`](crate::run::RunHeader).
    pub const HEADER: &str = "header";
    /// The [`Plan`] without its cells, which have a table of their own.
    pub const PLAN: &str = "plan";
    /// The final state; absent while the run is open.
    pub const END: &str = "end";
    /// Ordinal of the last entry in the database: a left-over spool is merged from the next one on.
    pub const WRITTEN: &str = "written";
    /// How often the file has been synced.
    pub const SYNCS: &str = "syncs";
    /// Path of the spool file, if the run has one.
    pub const SPOOL: &str = "spool";
}

/// Lays out an empty database with the header of its run, all at once: a reader finds either nothing or a run file. Identity and version
/// go into the file itself before the log exists, so that they can be read without SQLite.
pub fn lay_out(db: &Connection, header: &RunHeader) -> rusqlite::Result<()> {
    let whole = db.unchecked_transaction()?;
    db.pragma_update(None, "application_id", APPLICATION_ID)?;
    db.pragma_update(None, "user_version", super::FORMAT_VERSION)?;
    TABLES.iter().try_for_each(|table| db.execute(table, []).map(drop))?;
    put_meta(db, key::HEADER, header)?;
    put_meta(db, key::WRITTEN, &0u64)?;
    whole.commit()
}

/// Stores one entry. What can be known only once replaces an earlier value, as in `RunRecord::apply`.
pub fn insert(db: &Connection, entry: &Entry) -> rusqlite::Result<()> {
    match entry {
        Entry::Header(header) => put_meta(db, key::HEADER, header.as_ref()),
        Entry::Plan(plan) => insert_plan(db, plan),
        Entry::Host { host, info } => put_of_host(db, "host", *host, info),
        Entry::Fill { host, outcome } => put_of_host(db, "fill", *host, outcome),
        Entry::Zeros { host, zeros } => put_of_host(db, "zeros", *host, zeros),
        Entry::End(state) => put_meta(db, key::END, state),
        Entry::Decision { seq, decision } => {
            let sql = "INSERT OR REPLACE INTO decision (seq, body) VALUES (?1, ?2)";
            db.execute(sql, params![seq, json(decision)?]).map(drop)
        }
        Entry::TrialStart { trial, case, block, round, asked, at } => {
            let sql = "INSERT OR REPLACE INTO trial (trial, case_index, block, round, started_ns, asked) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            // SQLite's integers are signed; 2^63 ns are 292 years after boot.
            let started = i64::try_from(at.0).unwrap_or(i64::MAX);
            db.execute(sql, params![trial, case, block, round, started, json(asked)?]).map(drop)
        }
        Entry::TrialEnd { host, trial, outcome } => {
            let sql = "INSERT INTO outcome (host, trial, body) VALUES (?1, ?2, ?3)";
            db.execute(sql, params![host.0, trial, binary(outcome)?]).map(drop)
        }
        Entry::Slices { host, trial, slices } => {
            let sql = "INSERT INTO slice (host, trial, body) VALUES (?1, ?2, ?3)";
            db.execute(sql, params![host.0, trial, binary(slices)?]).map(drop)
        }
        Entry::IoLog { host, trial, chunk } => {
            let IoChunk { stream, job, base, records } = chunk;
            let sql = "INSERT INTO io_log (host, trial, stream, job, base_ns, records) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            bounded(records.as_bytes().len())?;
            let base = i64::try_from(base.0).unwrap_or(i64::MAX);
            db.execute(sql, params![host.0, trial, stream, job, base, records.as_bytes()]).map(drop)
        }
        Entry::Sample { host, sample } => {
            db.execute("INSERT INTO sample (host, body) VALUES (?1, ?2)", params![host.0, binary(sample)?]).map(drop)
        }
        Entry::Event(event) => db.execute("INSERT INTO event (body) VALUES (?1)", [json(event)?]).map(drop),
    }
}

/// Stores one value of a host in a table that has one for each.
fn put_of_host<T: Serialize>(db: &Connection, table: &str, host: HostId, value: &T) -> rusqlite::Result<()> {
    let sql = format!("INSERT OR REPLACE INTO {table} (host, body) VALUES (?1, ?2)");
    db.execute(&sql, params![host.0, json(value)?]).map(drop)
}

fn insert_plan(db: &Connection, plan: &Plan) -> rusqlite::Result<()> {
    let mut rest = plan.clone();
    let cells = std::mem::take(&mut rest.cases);
    db.execute("DELETE FROM cell", [])?;
    let mut insert = db.prepare("INSERT INTO cell (cell, body) VALUES (?1, ?2)")?;
    for (cell, case) in (0u32..).zip(&cells) {
        insert.execute(params![cell, json(case)?])?;
    }
    put_meta(db, key::PLAN, &rest)
}

/// Stores one value under a key of `meta`.
pub fn put_meta<T: Serialize>(db: &Connection, key: &str, value: &T) -> rusqlite::Result<()> {
    db.execute("INSERT OR REPLACE INTO meta (key, body) VALUES (?1, ?2)", params![key, json(value)?]).map(drop)
}

/// Forgets the value under a key of `meta`.
pub fn remove_meta(db: &Connection, key: &str) -> rusqlite::Result<()> {
    db.execute("DELETE FROM meta WHERE key = ?1", [key]).map(drop)
}

/// The value under a key of `meta`; `None` if it was never stored.
pub fn get_meta<T: DeserializeOwned>(db: &Connection, key: &str) -> rusqlite::Result<Option<T>> {
    let sql = "SELECT body FROM meta WHERE key = ?1 AND octet_length(body) <= ?2";
    let body: Option<String> = db.query_row(sql, params![key, BODY_MAX as i64], |row| row.get(0)).optional()?;
    body.map(|text| serde_json::from_str(&text).map_err(conversion)).transpose()
}

/// What is known of a host; `None` if nothing was stored.
pub fn get_host(db: &Connection, host: HostId) -> rusqlite::Result<Option<HostInfo>> {
    let sql = "SELECT body FROM host WHERE host = ?1 AND octet_length(body) <= ?2";
    let body: Option<String> = db.query_row(sql, params![host.0, BODY_MAX as i64], |row| row.get(0)).optional()?;
    body.map(|text| serde_json::from_str(&text).map_err(conversion)).transpose()
}

/// The header, without which nothing else in the file means anything.
pub fn get_header(db: &Connection) -> rusqlite::Result<Option<RunHeader>> {
    get_meta(db, key::HEADER)
}

fn json<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    let text = serde_json::to_string(value).map_err(conversion)?;
    bounded(text.len()).map(|()| text)
}

fn binary<T: Serialize>(value: &T) -> rusqlite::Result<Vec<u8>> {
    let bytes = postcard::to_stdvec(value).map_err(conversion)?;
    bounded(bytes.len()).map(|()| bytes)
}

/// A value that no reader would accept; its length in bytes.
#[derive(Debug)]
struct TooLarge(usize);

impl std::fmt::Display for TooLarge {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "an entry of {} bytes is above the limit of {BODY_MAX}", self.0)
    }
}

impl std::error::Error for TooLarge {}

/// Whether an entry could not be stored because no reader would accept it.
pub fn is_too_large(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::ToSqlConversionFailure(why) if why.is::<TooLarge>())
}

/// Refuses to store what no reader would accept.
fn bounded(len: usize) -> rusqlite::Result<()> {
    if len > BODY_MAX { Err(conversion(TooLarge(len))) } else { Ok(()) }
}

fn conversion(error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}
