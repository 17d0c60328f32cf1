//! fio's logs as a run: each I/O (`lat`, `clat`), histograms (`clat_hist`), rates (`iops`, `bw`) and averages, in intervals. Read once, block by block, in
//! the memory of a second; averages in that of their lines.
//!
//! What becomes what is `docs/formats/import.md`.

mod averages;
mod choice;
mod histogram;
mod scan;
mod totals;
mod trial;

use crate::build::ImportedRun;
use averages::{Averages, Logs};
use choice::{Choice, Jobs, Of, named};
use scan::{Bad, LatencyLines, Scanned};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Read;
use stend_base::buckets::Buckets;
use stend_base::{Bytes, Error, Result, Say, say};
use stend_record::fio_bins as bins;
use stend_record::{Entry, Slice, SourceFile};
use stend_spec::workload::Op;
use totals::{Latencies, Sums, Totals};
use trial::{Gathered, JobLog};

/// Slices that go to the run file at a time.
const CHUNK: usize = 128;
/// Most files.
const FILES_MAX: usize = 10_000;
/// Columns of a log: time, value, kind of I/O, size.
const COLUMNS_MIN: usize = 4;
/// Slices of latencies are 100 ms.
const INTERVAL_MS: u64 = 100;
/// Distances of lines are alike if they differ by a part in so many at most (5 %): fio is some ms late with a line. Chosen by eye.
const ALIKE: u64 = 20;

/// Whether a file is a log of fio, by its beginning: a line of four numbers or more. One with the name of such a log is, whatever is in it:
/// fio leaves those empty whose kind of I/O did not occur.
pub fn is_log(name: &str, head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let columns = line.split(|byte| *byte == b',').map(|column| column.trim_ascii());
    let numbers = columns.take_while(|column| !column.is_empty() && column.iter().all(u8::is_ascii_digit));
    numbers.count() >= COLUMNS_MIN || (name.ends_with(".log") && named(name).is_ok())
}

/// Reads logs, and hands slices of their trials to `emit` while it goes on; the trials themselves are in the result.
///
/// Errors are of kind `Spec` or `Usage`: names that say nothing, lines that are wrong, logs of averages alone.
pub fn read(
    names: &[String],
    open: &dyn Fn(&str) -> Result<Box<dyn Read>>,
    emit: &mut dyn FnMut(Entry),
) -> Result<ImportedRun> {
    if names.len() > FILES_MAX {
        let message = say!("more than {FILES_MAX} logs", "больше {FILES_MAX} журналов");
        return Err(Error::usage(message));
    }
    let (groups, mut dropped) = choice::jobs(names)?;
    let mut run = Gathered::default();
    for (trial, Jobs { case, logs, .. }) in (0u32..).zip(groups) {
        let mut jobs = Vec::new();
        for (number, logs) in logs {
            // A name without a number may be one of all jobs (`per_job_logs=0`).
            let all_jobs = number == 0;
            let choice = choice::of_job(&logs, open, &mut dropped)?;
            let mut pending = Vec::new();
            let mut slice = |slice: Slice| {
                pending.push(slice);
                if pending.len() == CHUNK {
                    emit(Entry::slices(trial, std::mem::take(&mut pending)));
                }
            };
            let mut sources = Sources { open, files: &mut run.files, dropped: &mut dropped };
            match choice {
                Choice::Each(of, name) => jobs.push(sources.each(of, name, all_jobs, &mut slice)?),
                Choice::Averages { iops, bw, latency } => {
                    jobs.extend(sources.averages((iops, bw, latency), all_jobs, &mut slice)?)
                }
            }
            if !pending.is_empty() {
                emit(Entry::slices(trial, pending));
            }
        }
        run.add(trial, case, &jobs);
    }
    Ok(run.finish(dropped))
}

/// Where logs come from, and what was read of them.
struct Sources<'s> {
    open: &'s dyn Fn(&str) -> Result<Box<dyn Read>>,
    files: &'s mut Vec<SourceFile>,
    dropped: &'s mut Vec<Say>,
}

impl Sources<'_> {
    /// A log of single I/Os, or of histograms. One of rates has no latencies.
    fn each(&mut self, of: Of, name: &str, all_jobs: bool, emit: &mut dyn FnMut(Slice)) -> Result<JobLog> {
        let mut source = (self.open)(name)?;
        let mut counts_alone = |slice: Slice| {
            if slice.ops > 0 {
                emit(Slice { latency: None, latency_max_ns: 0, ..slice });
            }
        };
        let rates = matches!(of, Of::Iops | Of::Bw);
        let emit: &mut dyn FnMut(Slice) = if rates { &mut counts_alone } else { emit };
        let read = match of {
            Of::Histogram => histogram_origin((self.open)(name)?.as_mut(), all_jobs)
                .and_then(|origin_ms| histograms(source.as_mut(), origin_ms, all_jobs, emit)),
            _ => of_each(source.as_mut(), emit),
        };
        let (scanned, mut sums) = read.map_err(|bad| refused(name, bad))?;
        if rates {
            sums.kinds.iter_mut().for_each(|kind| kind.latency = Latencies::Mean(None));
        }
        self.dropped.extend(doubts(name, &scanned, &sums));
        let file = self.file(name, &scanned);
        Ok(JobLog { file, of, lines: scanned.lines, sums, averaged: false, means: BTreeMap::new() })
    }

    /// Averages of one job, or of all where they are in one file.
    fn averages(
        &mut self,
        (iops, bw, latency): (&str, &str, Option<(Of, &str)>),
        all_jobs: bool,
        emit: &mut dyn FnMut(Slice),
    ) -> Result<Vec<JobLog>> {
        let (mut first_date, mut lines) = (None, 0);
        let file = self.files.len() as u32;
        let mut logs = Vec::new();
        for name in [Some(iops), Some(bw), latency.map(|(_, name)| name)].into_iter().flatten() {
            let mut source = (self.open)(name)?;
            let found = Averages::read(source.as_mut(), &mut first_date).map_err(|bad| refused(name, bad))?;
            lines += found.scanned.lines;
            self.file(name, &found.scanned);
            logs.push((name, found));
        }
        let (period, first_date) = (logs.iter().find_map(|(_, log)| log.period(all_jobs)), first_date.unwrap_or(0));
        if first_date > 0 && period.is_none() {
            return Err(refused(iops, Bad { line: 1, why: totals::no_period() }));
        }
        // The first date ends the first interval.
        let origin_ms = first_date.saturating_sub(period.unwrap_or(0));
        let mut by_log = Vec::new();
        for (name, log) in logs {
            let own = log.period(all_jobs).or(period);
            let mut jobs = if all_jobs { log.jobs(origin_ms, own) } else { vec![log] };
            for log in &mut jobs {
                log.place(origin_ms, own).map_err(|bad| refused(name, bad))?;
            }
            self.dropped.extend(odd(name, &jobs));
            by_log.push((name, jobs));
        }
        let count = by_log[0].1.len();
        if let Some((name, _)) = by_log.iter().find(|(_, jobs)| jobs.len() != count) {
            return Err(unequal(iops, name));
        }
        let of = latency.map_or(Of::Iops, |(of, _)| of);
        let mut by_log = by_log.into_iter().map(|(_, jobs)| jobs.into_iter());
        let (iops, mut bw, mut latencies) =
            (by_log.next().unwrap_or_default(), by_log.next().unwrap_or_default(), by_log.next());
        let mut found = Vec::new();
        for iops in iops {
            let latency = latencies.as_mut().and_then(Iterator::next);
            let logs = Logs { iops, bw: bw.next().unwrap_or_default(), latency };
            let sums = logs.totals(emit);
            let name = if of == Of::Lat { "lat" } else { "clat" };
            let means = sums.kinds.iter().map(|kind| (kind.op.index(), logs.means(kind.op, name))).collect();
            found.push(JobLog { file, of, lines, sums, averaged: true, means });
        }
        Ok(found)
    }

    /// Notes a file that was read.
    fn file(&mut self, name: &str, scanned: &Scanned) -> u32 {
        let (name, version) = (name.to_string(), "fio".to_string());
        self.files.push(SourceFile { name, size: Bytes(scanned.bytes), version });
        self.files.len() as u32 - 1
    }
}

/// A log with a line for each I/O.
fn of_each(source: &mut dyn Read, emit: &mut dyn FnMut(Slice)) -> std::result::Result<(Scanned, Sums), Bad> {
    let (mut lines, mut totals) = (LatencyLines::default(), Totals::new(0));
    let scanned = scan::lines(source, |bytes| {
        let (line, len) = lines.next(bytes)?;
        totals.add(&line, emit)?;
        Ok(len)
    })?;
    Ok((scanned, totals.finish(emit)))
}

/// What the times of a log of histograms count from, ms since 1970; 0: from the start of fio. The first line holds what completed before its
/// time. Where that is a date, it begins as long before as lines of a kind usually are apart: there is no line for a rest, and behind it fio
/// makes up for it with lines a few ms apart.
fn histogram_origin(source: &mut dyn Read, all_jobs: bool) -> std::result::Result<u64, Bad> {
    let (mut row, mut first, mut by_kind) = (histogram::Row::default(), None, <[Distances; 3]>::default());
    let read = scan::lines(source, |bytes| {
        let len = row.read(bytes)?;
        if *first.get_or_insert(row.ms) < totals::DATES_FROM {
            // What is known needs no further line.
            return Err(Say::same(""));
        }
        // A kind that is none is refused when the log is read.
        if let Some(own) = by_kind.get_mut(row.kind as usize) {
            own.add(row.ms);
        }
        Ok(len)
    });
    let Some(first) = first.filter(|first| *first >= totals::DATES_FROM) else {
        // Nothing at all, or no dates.
        return if first.is_some() { Ok(0) } else { read.map(|_| 0) };
    };
    read?;
    let usual = by_kind.iter().filter_map(|kind| {
        let (distance, times) = kind.usual()?;
        Some((totals::period(Some(distance), kind.lines, all_jobs)?, times))
    });
    let most = usual.max_by_key(|(distance, times)| (*times, Reverse(*distance)));
    let (period, _) = most.ok_or_else(|| Bad { line: 1, why: totals::no_period() })?;
    Ok(first.saturating_sub(period))
}

/// Most distances that are counted each by itself. A log of one run has as many as its lines are late by different ms; by eye a thousand times less.
const DISTANCES_MAX: usize = 10_000;

/// How far lines of one kind are apart.
#[derive(Default)]
struct Distances {
    lines: usize,
    before: u64,
    /// How often each occurs that is more than 0, ms.
    times: BTreeMap<u64, u64>,
}

impl Distances {
    fn add(&mut self, ms: u64) {
        let own = ms.checked_sub(self.before).filter(|own| *own > 0 && self.lines > 0);
        let is_counted = |own: &u64| self.times.len() < DISTANCES_MAX || self.times.contains_key(own);
        if let Some(own) = own.filter(is_counted) {
            *self.times.entry(own).or_default() += 1;
        }
        (self.lines, self.before) = (self.lines + 1, ms);
    }

    /// The median of the alike ones that are most, ms, and how many these are. Between groups of one size the shorter ones count: a rest is longer.
    fn usual(&self) -> Option<(u64, u64)> {
        let alike = |least: u64| self.times.range(least..=least.saturating_add(least / ALIKE));
        let counted = self.times.keys().map(|least| (*least, alike(*least).map(|(_, times)| *times).sum::<u64>()));
        let (least, all) = counted.max_by_key(|(least, all)| (*all, Reverse(*least)))?;
        let mut passed = 0;
        let (median, _) = alike(least).find(|(_, times)| {
            passed += **times;
            2 * passed >= all
        })?;
        Some((*median, all))
    }
}

/// A log of histograms. A line holds what completed since the one before of its kind and job: in a log of all jobs the next one begins where
/// the time goes back.
fn histograms(
    source: &mut dyn Read,
    origin_ms: u64,
    all_jobs: bool,
    emit: &mut dyn FnMut(Slice),
) -> std::result::Result<(Scanned, Sums), Bad> {
    let mut sums = Sums { kinds: Vec::new(), last_ms: 0, backwards: 0 };
    let (mut totals, mut scratch) = (histogram::Totals::default(), Buckets::default());
    // Times count from the origin.
    let (mut before, mut row) = ([0u64; 3], histogram::Row::default());
    let scanned = scan::lines(source, |bytes| {
        let len = row.read(bytes)?;
        let Some(op) = [Op::Read, Op::Write, Op::Discard].get(row.kind as usize).copied() else {
            return Err(totals::no_kind(row.kind));
        };
        let (before, ms) = (&mut before[row.kind as usize], row.ms.saturating_sub(origin_ms));
        if all_jobs && ms < *before {
            *before = 0;
        }
        let (from, to) = (*before, ms.max(*before));
        sums.backwards += u64::from(ms < from);
        totals::within(to)?;
        *before = to;
        sums.last_ms = sums.last_ms.max(to);
        let (ops, bytes) = totals.add(op, &row);
        if ops > 0 {
            let sparse = bins::sparse_of_log(row.bins(), &mut scratch);
            emit(Slice {
                interval: (from / INTERVAL_MS) as u32,
                span: (to.div_ceil(INTERVAL_MS) - from / INTERVAL_MS).clamp(1, 1 << 21) as u32,
                stream: 0,
                op,
                ops,
                bytes,
                errors: 0,
                latency_max_ns: sparse.max_ns,
                latency: Some(sparse),
                open: None,
            });
        }
        Ok(len)
    })?;
    sums.kinds = totals.finish();
    Ok((scanned, sums))
}

/// What is odd in a log that was read all the same.
fn doubts(name: &str, scanned: &Scanned, sums: &Sums) -> Vec<Say> {
    let backwards = sums.backwards;
    let jumps = (backwards > 0).then(|| {
        say!(
            "{name}: {backwards} lines are out of order in time; their I/Os count at their own times",
            "{name}: строк со временем раньше предыдущего: {backwards}; их операции учтены по их времени"
        )
    });
    cut(name, scanned).into_iter().chain(jumps).collect()
}

/// What is odd in a log of averages that was read all the same.
fn odd(name: &str, jobs: &[Averages]) -> Vec<Say> {
    let sum = |of: fn(&Averages) -> u64| jobs.iter().map(of).sum::<u64>();
    let (left_out, gaps) = (sum(|log| log.left_out), sum(|log| log.gaps));
    let backwards = (left_out > 0).then(|| {
        say!(
            "{name}: {left_out} averages are not later than the one before and were left out",
            "{name}: пропущены средние, время которых не позже предыдущего: {left_out}"
        )
    });
    let without = (gaps > 0).then(|| {
        say!(
            "{name}: {gaps} gaps between averages, in which there was no I/O",
            "{name}: пропусков между средними, где операций не было: {gaps}"
        )
    });
    let cut = jobs.first().and_then(|log| cut(name, &log.scanned));
    cut.into_iter().chain(backwards).chain(without).collect()
}

/// Logs of all jobs that are not of the same ones.
fn unequal(one: &str, other: &str) -> Box<Error> {
    Error::spec(say!(
        "`{one}` and `{other}` hold different numbers of jobs (`per_job_logs=0`)",
        "в `{one}` и `{other}` разное число заданий (`per_job_logs=0`)"
    ))
    .hint(say!(
        "write a log for each job: `per_job_logs=1`, as fio does by default",
        "записывайте журнал каждого задания: `per_job_logs=1`, как fio и делает по умолчанию"
    ))
}

/// A last line that was left out.
fn cut(name: &str, scanned: &Scanned) -> Option<Say> {
    let after = scanned.lines;
    scanned.cut.then(|| {
        say!(
            "{name}: the last line, after {after}, has no end",
            "{name}: у последней строки, после {after}-й, нет конца"
        )
    })
}

fn refused(name: &str, bad: Bad) -> Box<Error> {
    let (line, Say { en, ru }) = (bad.line, bad.why);
    Error::spec(say!("{name}:{line}: {en}", "{name}:{line}: {ru}")).hint(say!(
        "see docs/formats/import.md for the logs that can be imported",
        "какие журналы импортируются, сказано в docs/formats/import.md"
    ))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod rates_tests;
