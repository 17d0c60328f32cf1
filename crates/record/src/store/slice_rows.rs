//! The slices of a file trial by trial: of a long run only those around a stretch of time are read. Never changes the file.

use super::identity::{Budget, check_file};
use super::reader::{begin_snapshot, is_recording, open_run, unreadable};
use super::reading::{Reading, SliceRow};
use crate::hosts::HostId;
use crate::observed::Slice;
use crate::run::RunRecord;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use stend_base::Result;

/// A run whose slices are left where they are. What waits in a spool is not there.
pub struct SliceRows {
    db: Connection,
    reading: Reading,
    /// What may still be read by [`SliceRows::observed`].
    for_ends: Budget,
    /// By trial, in the order of the file; the number is its place among all rows.
    rows: BTreeMap<u32, Vec<(usize, SliceRow)>>,
}

impl SliceRows {
    /// Opens a file and finds out where the slices of each trial are, all as of one moment; with the record of the run without slices, and
    /// of its samples the first alone.
    ///
    /// Errors as those of [`read`](super::read).
    pub fn open(path: &Path) -> Result<(RunRecord, SliceRows)> {
        let (db, header, _, budget) = open_run(path)?;
        if header.recording.is_some() {
            return Err(is_recording(path, &header.id));
        }
        let mut reading = Reading::new(header.clone(), budget);
        begin_snapshot(&db).map_err(unreadable(path))?;
        reading.hosts(&db);
        reading.trials(&db);
        reading.outcomes(&db);
        reading.events(&db);
        reading.first_sample(&db);
        // Each kind of reading may take as much as the file can hold.
        reading.budget = check_file(path)?;
        let rows = by_trial(reading.slice_rows(&db));
        let Reading { record, damage, .. } = reading;
        let mut reading = Reading::new(header, check_file(path)?);
        reading.damage = damage;
        Ok((record, SliceRows { db, reading, for_ends: check_file(path)?, rows }))
    }

    /// Whether something could not be read so far, and is missing.
    pub fn is_damaged(&self) -> bool {
        !self.reading.damage.is_empty()
    }

    /// End of the last slice of a trial, in intervals since the start of load; 0 without slices. Ask once for each.
    pub fn observed(&mut self, trial: u32) -> u64 {
        let Some(rows) = self.rows.get(&trial) else { return 0 };
        let mut end = rows.iter().map(|(_, row)| u64::from(row.first) + 1).max().unwrap_or(0);
        std::mem::swap(&mut self.reading.budget, &mut self.for_ends);
        for (_, row) in rows.iter().filter(|(_, row)| row.end == u32::MAX) {
            self.reading.slices(&self.db, trial, (row.id, row.id), |_, slices| {
                let ends = slices.iter().map(|slice| u64::from(slice.interval) + u64::from(slice.span.max(1)));
                end = end.max(ends.max().unwrap_or(0));
            });
        }
        std::mem::swap(&mut self.reading.budget, &mut self.for_ends);
        end
    }

    /// Hands on the slices of a trial that may lie in these intervals since the start of load, and others around them, in the order of the
    /// file, whatever host they are of. Ask once for each: no more is read than the file can hold.
    pub fn each(&mut self, trial: u32, intervals: &Range<u32>, mut take: impl FnMut(HostId, &Slice)) {
        let rows = self.rows.get(&trial).map(Vec::as_slice).unwrap_or_default();
        let meant: Vec<&(usize, SliceRow)> = rows.iter().filter(|(_, row)| row.may_hold(intervals)).collect();
        // Neighbours in the file are read at once.
        for block in meant.chunk_by(|(before, _), (after, _)| before + 1 == *after) {
            let (Some((_, first)), Some((_, last))) = (block.first(), block.last()) else { continue };
            self.reading.slices(&self.db, trial, (first.id, last.id), |host, slices| {
                slices.iter().for_each(|slice| take(host, slice));
            });
        }
    }
}

/// Rows by trial, each with its end. A late slice in front of a row does not make the one before it end early.
fn by_trial(rows: Vec<SliceRow>) -> BTreeMap<u32, Vec<(usize, SliceRow)>> {
    let mut latest: BTreeMap<(u32, HostId), u32> = BTreeMap::new();
    let begins: Vec<u32> = rows
        .iter()
        .map(|row| {
            let begin = latest.entry((row.trial, row.host)).or_default();
            *begin = row.first.max(*begin);
            *begin
        })
        .collect();
    let mut next: BTreeMap<(u32, HostId), u32> = BTreeMap::new();
    let mut found: BTreeMap<u32, Vec<(usize, SliceRow)>> = BTreeMap::new();
    for (place, (mut row, begin)) in rows.into_iter().zip(begins).enumerate().rev() {
        // No row of `u32::MAX` intervals exists but in a hostile file, which is then read a little further.
        row.end = next.insert((row.trial, row.host), begin).unwrap_or(u32::MAX);
        found.entry(row.trial).or_default().push((place, row));
    }
    found.values_mut().for_each(|rows| rows.reverse());
    found
}
