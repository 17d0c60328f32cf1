//! Reads the logs of every I/O back, piece by piece: they may be larger than memory. Must not change the file, and believes
//! nothing that it says about its own size.

use super::identity::Budget;
use super::reader::{self, damaged, unreadable};
use super::schema::{self, BODY_MAX, key};
use super::spool;
use crate::hosts::HostId;
use crate::io_log::{IoChunk, Records};
use crate::run::Entry;
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::path::{Path, PathBuf};
use stend_base::{Nanos, Result};

/// The logs of a run file, as they were when it was opened.
pub struct IoLogs {
    db: Connection,
    path: PathBuf,
    budget: Budget,
    /// What a coordinator that lives or was killed has in its spool: (trial, host, chunk).
    spooled: Vec<(u32, HostId, IoChunk)>,
}

/// Opens a run file to read its logs. Errors are those of [`read`](super::read).
pub fn io_logs(path: &Path) -> Result<IoLogs> {
    let (db, header, spooled, budget) = reader::open_run(path)?;
    let unreadable = unreadable(path);
    let spooled = spooled.map(|spool| spool::read(&spool, &header.id)).unwrap_or_default();
    db.execute_batch("BEGIN").map_err(unreadable)?;
    let written = schema::get_meta::<u64>(&db, key::WRITTEN).map_err(unreadable)?.unwrap_or_default();
    let chunk_of = |(ordinal, entry): (u64, Entry)| match entry {
        Entry::IoLog { host, trial, chunk } if ordinal > written => Some((trial, host, chunk)),
        _ => None,
    };
    let spooled = spooled.into_iter().filter_map(chunk_of).collect();
    Ok(IoLogs { db, path: path.to_path_buf(), budget, spooled })
}

impl IoLogs {
    /// Hands every piece of the log of a trial to `take`, with its host, in the order of their arrival, until it fails.
    ///
    /// The pieces of one thread come in the order of time; those of several alternate.
    pub fn each<E: From<Box<stend_base::Error>>>(
        &mut self,
        trial: u32,
        mut take: impl FnMut(HostId, &IoChunk) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut last = i64::MIN;
        while let Some((id, host, chunk)) = self.after(trial, last)? {
            take(host, &chunk)?;
            last = id;
        }
        let mut spooled = self.spooled.iter().filter(|(of, ..)| *of == trial);
        spooled.try_for_each(|(_, host, chunk)| take(*host, chunk))
    }

    /// The next piece of a log in the database, with its number.
    fn after(&mut self, trial: u32, last: i64) -> Result<Option<(i64, HostId, IoChunk)>> {
        let sql = "SELECT id, host, stream, job, base_ns, records, octet_length(records) FROM io_log \
                   WHERE id > ?1 AND trial = ?2 AND octet_length(records) <= ?3 ORDER BY id LIMIT 1";
        let budget = &mut self.budget;
        let one = |row: &Row| {
            let base: i64 = row.get(4)?;
            let whole = budget.spend(row.get_ref(6)?);
            let records = Records::from_bytes(row.get(5)?);
            let chunk = IoChunk { stream: row.get(2)?, job: row.get(3)?, base: Nanos(base.max(0) as u64), records };
            Ok(whole.then_some((row.get(0)?, HostId(row.get(1)?), chunk)))
        };
        let found = self.db.query_row(sql, params![last, trial, BODY_MAX as i64], one).optional();
        match found.map_err(|error| damaged(&self.path, &error.to_string()))? {
            Some(None) => Err(damaged(&self.path, "it has more rows than fit into it")),
            found => Ok(found.flatten()),
        }
    }
}
