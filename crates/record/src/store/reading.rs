//! Turns the rows of a run file into a record, those that came since the last look only. Must not open files.

use super::identity::Budget;
use super::schema::{self, BODY_MAX, key};
use crate::event::{Event, EventKind};
use crate::hosts::HostId;
use crate::io_log::RECORD_BYTES;
use crate::observed::Slice;
use crate::run::{Entry, RunHeader, RunRecord, RunState};
use rusqlite::types::Type;
use rusqlite::{Connection, Row, params_from_iter};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::ops::Range;
use stend_base::Nanos;
use stend_plan::Plan;
use stend_spec::case::Case;

/// How much later than its time a slice may stand in the file, in intervals: one minute. By eye; jobs report every second.
const LATE: u32 = 600;

/// A row of slices.
pub(super) struct SliceRow {
    pub id: i64,
    pub host: HostId,
    pub trial: u32,
    /// Interval of its first slice.
    pub first: u32,
    /// About where its slices end: where the next row of the host begins.
    pub end: u32,
}

impl SliceRow {
    /// Whether it may hold slices of these intervals.
    pub fn may_hold(&self, intervals: &Range<u32>) -> bool {
        self.first < intervals.end.saturating_add(LATE) && intervals.start <= self.end.saturating_add(LATE)
    }
}

/// A record in the making.
pub(super) struct Reading {
    pub record: RunRecord,
    pub damage: Vec<String>,
    pub budget: Budget,
    seen: Seen,
}

/// What was read already.
#[derive(Default)]
struct Seen {
    outcomes: Tail,
    slices: Tail,
    io_logs: Tail,
    samples: Tail,
    events: Tail,
    /// From here on decisions and trials are new.
    decision: u32,
    trial: u32,
    /// Ordinal of the last entry that a spool gave.
    spooled: u64,
}

/// A table whose rows have no name: they come in the order of the entries.
#[derive(Default)]
struct Tail {
    /// Number of the last row.
    row: i64,
    /// How many of the rows behind it were read already, in a spool.
    ahead: u64,
}

impl Reading {
    pub fn new(header: RunHeader, budget: Budget) -> Reading {
        Reading { record: RunRecord::new(header), damage: Vec::new(), budget, seen: Seen::default() }
    }

    /// Reads what is new in the tables, and behind them what waits in a spool.
    pub fn look(&mut self, db: &Connection, spooled: Vec<(u64, Entry)>) {
        self.tables(db);
        let written = schema::get_meta::<u64>(db, key::WRITTEN).unwrap_or_default().unwrap_or_default();
        let known = written.max(self.seen.spooled);
        for (ordinal, entry) in spooled.into_iter().filter(|(ordinal, _)| *ordinal > known) {
            self.seen.spooled = ordinal;
            self.seen.note(&entry);
            self.record.apply(entry);
        }
    }

    fn tables(&mut self, db: &Connection) {
        self.all_but_samples(db);
        self.tail(
            db,
            "host, body",
            "sample",
            |seen| &mut seen.samples,
            |row| Ok(Entry::Sample { host: host(row, 1)?, sample: binary(row, 2)? }),
        );
    }

    /// What is in the tables, telemetry left out.
    pub fn all_but_samples(&mut self, db: &Connection) {
        self.hosts(db);
        // A recording has none.
        if self.record.plan.is_none() && self.record.header.recording.is_none() {
            self.plan(db);
        }
        let of_hosts = |table| format!("SELECT host, body, octet_length(body) FROM {table} ORDER BY host");
        self.rows(db, &of_hosts("fill"), |row| Ok(Entry::Fill { host: host(row, 0)?, outcome: json(row, 1)? }));
        self.rows(db, &of_hosts("zeros"), |row| Ok(Entry::Zeros { host: host(row, 0)?, zeros: json(row, 1)? }));
        self.record.state = self.meta(db, key::END).unwrap_or(RunState::Open);
        let sql = format!(
            "SELECT seq, body, octet_length(body) FROM decision WHERE seq >= {} ORDER BY seq",
            self.seen.decision
        );
        self.rows(db, &sql, |row| Ok(Entry::Decision { seq: row.get(0)?, decision: json(row, 1)? }));
        self.trials(db);
        self.tail(
            db,
            "host, trial, body",
            "slice",
            |seen| &mut seen.slices,
            |row| Ok(Entry::Slices { host: host(row, 1)?, trial: row.get(2)?, slices: binary(row, 3)? }),
        );
        self.io_logs(db);
        self.outcomes(db);
        self.events(db);
    }

    pub fn events(&mut self, db: &Connection) {
        self.tail(db, "body", "event", |seen| &mut seen.events, |row| Ok(Entry::Event(json(row, 1)?)));
    }

    /// The plan, if all of it can be read: with a cell less it would name the others wrongly.
    fn plan(&mut self, db: &Connection) {
        let Some(mut plan) = self.meta::<Plan>(db, key::PLAN) else { return };
        let sql = "SELECT cell, body, octet_length(body) FROM cell ORDER BY cell";
        let (mut cells, damage) = (BTreeMap::new(), self.damage.len());
        let decode = |row: &Row| Ok((row.get::<_, u32>(0)?, json::<Case>(row, 1)?));
        self.each(db, sql, decode, |_, (cell, case)| drop(cells.insert(cell, case)));
        let whole = (0u32..).zip(cells.keys()).all(|(expected, cell)| expected == *cell);
        plan.cases = cells.into_values().collect();
        if whole && self.damage.len() == damage {
            self.record.apply(Entry::Plan(Box::new(plan)));
        }
        if self.record.plan.is_none() {
            self.is_damaged("the plan".to_string());
        }
    }

    pub fn hosts(&mut self, db: &Connection) {
        let sql = "SELECT host, body, octet_length(body) FROM host ORDER BY host";
        self.rows(db, sql, |row| Ok(Entry::Host { host: host(row, 0)?, info: json(row, 1)? }));
    }

    /// The events that say that a host was lost or that the run went on, alone.
    pub fn lost(&mut self, db: &Connection) {
        let sql = "SELECT body, octet_length(body) FROM event WHERE body LIKE '%\"host_lost\"%' \
                   OR body LIKE '%\"resumed\"%' ORDER BY id";
        self.rows(db, sql, |row| Ok(Entry::Event(json(row, 0)?)));
    }

    pub fn trials(&mut self, db: &Connection) {
        let sql = format!(
            "SELECT trial, case_index, block, round, started_ns, asked, octet_length(asked) FROM trial \
             WHERE trial >= {} ORDER BY trial",
            self.seen.trial
        );
        self.rows(db, &sql, |row| {
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

    pub fn outcomes(&mut self, db: &Connection) {
        self.tail(
            db,
            "host, trial, body",
            "outcome",
            |seen| &mut seen.outcomes,
            |row| Ok(Entry::TrialEnd { host: host(row, 1)?, trial: row.get(2)?, outcome: binary(row, 3)? }),
        );
    }

    /// The first sample of the measured host: with events and trials it tells when the run began.
    pub fn first_sample(&mut self, db: &Connection) {
        let sql = "SELECT host, body, octet_length(body) FROM sample WHERE host = 0 ORDER BY id LIMIT 1";
        self.rows(db, sql, |row| Ok(Entry::Sample { host: host(row, 0)?, sample: binary(row, 1)? }));
    }

    /// Where the slices of which trial are, in the order of the file, without reading them.
    pub fn slice_rows(&mut self, db: &Connection) -> Vec<SliceRow> {
        let sql = "SELECT id, host, trial, substr(body, 1, 20), min(octet_length(body), 20) FROM slice ORDER BY id";
        let decode = |row: &Row| {
            // How many slices follow, then the interval of the first.
            let head = row.get_ref(3)?.as_blob()?;
            let ((_, first), _) =
                postcard::take_from_bytes::<(u64, u32)>(head).map_err(|error| conversion(3, Type::Blob, error))?;
            Ok(SliceRow { id: row.get(0)?, host: host(row, 1)?, trial: row.get(2)?, first, end: u32::MAX })
        };
        let mut rows = Vec::new();
        self.each(db, sql, decode, |_, row| rows.push(row));
        rows
    }

    /// Hands on the slices of a trial that are in the rows from `first` to `last`.
    pub fn slices(
        &mut self,
        db: &Connection,
        trial: u32,
        (first, last): (i64, i64),
        mut take: impl FnMut(HostId, Vec<Slice>),
    ) {
        let sql = "SELECT host, trial, body, octet_length(body) FROM slice WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
        let decode = |row: &Row| Ok((host(row, 0)?, row.get::<_, u32>(1)?, binary::<Vec<Slice>>(row, 2)?));
        self.each_of(db, sql, &[first, last], decode, |_, (host, of, slices)| {
            if of == trial {
                take(host, slices);
            }
        });
    }

    /// Counts the I/Os of each log, without reading them.
    fn io_logs(&mut self, db: &Connection) {
        let from = self.seen.io_logs.row;
        let sql = format!("SELECT id, trial, octet_length(records) FROM io_log WHERE id > {from} ORDER BY id");
        let decode = |row: &Row| Ok((row.get::<_, i64>(0)?, row.get::<_, u32>(1)?, row.get::<_, i64>(2)?));
        self.each(db, &sql, decode, |reading, (id, trial, bytes)| {
            if reading.seen.io_logs.is_new(id) {
                reading.record.add_logged(trial, bytes.max(0) as u64 / RECORD_BYTES as u64);
            }
        });
    }

    fn meta<T: DeserializeOwned>(&mut self, db: &Connection, key: &str) -> Option<T> {
        let value = schema::get_meta(db, key);
        value.unwrap_or_else(|error| {
            self.is_damaged(format!("{key}: {error}"));
            None
        })
    }

    /// Applies the new rows of a table without names, in these columns behind its number.
    fn tail(
        &mut self,
        db: &Connection,
        columns: &str,
        table: &str,
        of: fn(&mut Seen) -> &mut Tail,
        decode: fn(&Row) -> rusqlite::Result<Entry>,
    ) {
        let from = of(&mut self.seen).row;
        let sql = format!("SELECT id, {columns}, octet_length(body) FROM {table} WHERE id > {from} ORDER BY id");
        // One that cannot be understood has a number all the same.
        let decode = move |row: &Row| Ok((row.get::<_, i64>(0)?, decode(row)));
        let mut unreadable = 0u64;
        self.each(db, &sql, decode, |reading, (id, entry)| match (of(&mut reading.seen).is_new(id), entry) {
            (true, Ok(entry)) => reading.record.apply(entry),
            (true, Err(_)) => unreadable += 1,
            (false, _) => {}
        });
        self.rows_are_damaged(unreadable, &sql);
    }

    /// Applies every row of a query whose last column is the length of the stored value.
    fn rows(&mut self, db: &Connection, sql: &str, decode: fn(&Row) -> rusqlite::Result<Entry>) {
        self.each(db, sql, decode, |reading, entry| {
            reading.seen.note_named(&entry);
            reading.record.apply(entry);
        });
    }

    /// Hands on every row of a query whose last column is the length of the stored value.
    fn each<T>(
        &mut self,
        db: &Connection,
        sql: &str,
        decode: impl Fn(&Row) -> rusqlite::Result<T>,
        take: impl FnMut(&mut Reading, T),
    ) {
        self.each_of(db, sql, &[], decode, take);
    }

    /// The same of a query with values.
    fn each_of<T>(
        &mut self,
        db: &Connection,
        sql: &str,
        values: &[i64],
        decode: impl Fn(&Row) -> rusqlite::Result<T>,
        mut take: impl FnMut(&mut Reading, T),
    ) {
        let mut unreadable = 0u64;
        let outcome = db.prepare(sql).and_then(|mut statement| {
            let length_at = statement.column_count() - 1;
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                if !self.budget.spend(row.get_ref(length_at)?) {
                    self.is_damaged(format!("more rows than fit into the file: {sql}"));
                    return Ok(());
                }
                match decode(row) {
                    Ok(value) => take(self, value),
                    Err(_) => unreadable += 1,
                }
            }
            Ok(())
        });
        if let Err(error) = outcome {
            self.is_damaged(format!("{error}: {sql}"));
        }
        self.rows_are_damaged(unreadable, sql);
    }

    fn rows_are_damaged(&mut self, unreadable: u64, sql: &str) {
        if unreadable > 0 {
            self.is_damaged(format!("{unreadable} rows cannot be understood: {sql}"));
        }
    }

    /// Told once, however often it is found.
    fn is_damaged(&mut self, what: String) {
        if !self.damage.contains(&what) {
            self.damage.push(what);
        }
    }

    pub fn finish(mut self) -> RunRecord {
        let at = self.record.events.last().map_or(Nanos(0), |event| event.at);
        for what in self.damage {
            let text = format!("the run file is damaged, a part is missing: {what}");
            self.record.events.push(Event::new(at, EventKind::Note { text }));
        }
        self.record
    }
}

impl Seen {
    /// Notes an entry of a spool: its row is known when it comes.
    fn note(&mut self, entry: &Entry) {
        self.note_named(entry);
        let tail = match entry {
            Entry::TrialEnd { .. } => &mut self.outcomes,
            Entry::Slices { .. } => &mut self.slices,
            Entry::IoLog { .. } => &mut self.io_logs,
            Entry::Sample { .. } => &mut self.samples,
            Entry::Event(_) => &mut self.events,
            _ => return,
        };
        tail.ahead += 1;
    }

    /// Notes an entry whose row has a number that the entry gives.
    fn note_named(&mut self, entry: &Entry) {
        let (next, number) = match entry {
            Entry::Decision { seq, .. } => (&mut self.decision, seq),
            Entry::TrialStart { trial, .. } => (&mut self.trial, trial),
            _ => return,
        };
        *next = (*next).max(number.saturating_add(1));
    }
}

impl Tail {
    /// Whether the row with this number, which comes next, is not known from a spool.
    fn is_new(&mut self, row: i64) -> bool {
        self.row = row;
        let known = self.ahead > 0;
        self.ahead -= u64::from(known);
        !known
    }
}

fn host(row: &Row, column: usize) -> rusqlite::Result<HostId> {
    row.get(column).map(HostId)
}

fn json<T: DeserializeOwned>(row: &Row, column: usize) -> rusqlite::Result<T> {
    check_length(row, Type::Text)?;
    let body = row.get_ref(column)?.as_bytes()?;
    serde_json::from_slice(body).map_err(|error| conversion(column, Type::Text, error))
}

pub(super) fn binary<T: DeserializeOwned>(row: &Row, column: usize) -> rusqlite::Result<T> {
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
