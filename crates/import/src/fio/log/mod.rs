//! fio's logs as a run: each I/O (`lat`, `clat`), or histograms (`clat_hist`), in intervals. Read once, block by block, in the memory of a
//! second.
//!
//! What becomes what is `docs/formats/import.md`.

mod histogram;
mod scan;
mod totals;
mod trial;

use crate::build::ImportedRun;
use scan::{Bad, LatencyLines, Scanned};
use std::collections::BTreeMap;
use std::io::Read;
use stend_base::{Bytes, Error, Kind, Result, Say, say};
use stend_record::fio_bins as bins;
use stend_record::{Entry, Slice, SourceFile};
use stend_spec::workload::Op;
use totals::{Sums, Totals};
use trial::{Gathered, JobLog};

/// Slices that go to the run file at a time.
const CHUNK: usize = 64;
/// Most files.
const FILES_MAX: usize = 10_000;
/// Columns of a log: time, value, kind of I/O, size.
const COLUMNS_MIN: usize = 4;
/// Slices of latencies are 100 ms.
const INTERVAL_MS: u64 = 100;

/// What a log is of, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    /// From before the submission.
    Lat,
    /// From after it.
    Clat,
    /// Histograms of clat.
    Histogram,
    /// Rates, or the time of the submission alone.
    Other,
}

/// A log by its name: `PREFIX_lat.N.log`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    /// Directory and prefix: jobs of one run of fio.
    group: String,
    /// Prefix.
    case: String,
    of: Of,
    /// Number of the job; 0 if it has none.
    job: u32,
}

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
        return Err(Error::new(Kind::Usage, message));
    }
    let (groups, mut dropped) = chosen(names)?;
    let mut run = Gathered::default();
    for (trial, Jobs { case, logs, .. }) in (0u32..).zip(groups) {
        let mut jobs = Vec::new();
        for (of, name) in logs.into_values() {
            let file = run.files.len() as u32;
            let mut source = open(name)?;
            let mut pending = Vec::new();
            let mut slice = |slice: Slice| {
                pending.push(slice);
                if pending.len() == CHUNK {
                    emit(Entry::Slices { trial, slices: std::mem::take(&mut pending) });
                }
            };
            let (scanned, sums) = of_file(source.as_mut(), of, &mut slice).map_err(|bad| refused(name, bad))?;
            if !pending.is_empty() {
                emit(Entry::Slices { trial, slices: pending });
            }
            dropped.extend(doubts(name, &scanned, &sums));
            run.files.push(SourceFile {
                name: name.to_string(),
                size: Bytes(scanned.bytes),
                version: "fio".to_string(),
            });
            jobs.push(JobLog { file, of, lines: scanned.lines, sums });
        }
        run.add(trial, case, &jobs);
    }
    Ok(run.finish(dropped))
}

/// Logs of the jobs of one run of fio: by number of the job the one that says most.
struct Jobs<'n> {
    group: String,
    case: String,
    logs: BTreeMap<u32, (Of, &'n str)>,
}

/// By group the logs that say most, one for each job, and what is left out.
fn chosen(names: &[String]) -> Result<(Vec<Jobs<'_>>, Vec<Say>)> {
    let mut groups: Vec<Jobs<'_>> = Vec::new();
    let mut dropped = Vec::new();
    for name in names {
        let named = named(name)?;
        let at = groups.iter().position(|jobs| jobs.group == named.group).unwrap_or_else(|| {
            groups.push(Jobs { group: named.group.clone(), case: named.case.clone(), logs: BTreeMap::new() });
            groups.len() - 1
        });
        let jobs = &mut groups[at].logs;
        let worse = match jobs.get(&named.job) {
            Some((of, _)) if *of <= named.of => Some(name.as_str()),
            _ => jobs.insert(named.job, (named.of, name)).map(|(_, before)| before),
        };
        dropped.extend(worse.map(|name| {
            say!(
                "{name}: another log of the job says more, so this one was not read",
                "{name}: другой журнал этого задания говорит больше, этот не читался"
            )
        }));
    }
    for jobs in &groups {
        if let Some((_, name)) = jobs.logs.values().find(|(of, _)| *of == Of::Other) {
            return Err(Error::new(
                Kind::Spec,
                say!("`{name}` holds no latencies of I/Os", "в `{name}` нет задержек операций"),
            )
            .hint(say!(
                "import the logs of `write_lat_log` (without log_avg_msec) or of `write_hist_log`; rates follow from them",
                "импортируйте журналы `write_lat_log` (без log_avg_msec) или `write_hist_log`; скорости следуют из них"
            )));
        }
    }
    Ok((groups, dropped))
}

/// What a name says.
fn named(name: &str) -> Result<Named> {
    let of = || {
        let stem = name.strip_suffix(".log")?;
        let (stem, job) = match stem.rsplit_once('.') {
            Some((stem, number)) if number.parse::<u32>().is_ok() => (stem, number.parse().ok()?),
            _ => (stem, 0),
        };
        let (group, kind) = match stem.strip_suffix("_clat_hist") {
            Some(group) => (group, "clat_hist"),
            None => stem.rsplit_once('_')?,
        };
        let of = match kind {
            "lat" => Of::Lat,
            "clat" => Of::Clat,
            "clat_hist" => Of::Histogram,
            "slat" | "bw" | "iops" => Of::Other,
            _ => return None,
        };
        let case = group.rsplit('/').next().unwrap_or(group).to_string();
        Some(Named { group: group.to_string(), case, of, job })
    };
    of().ok_or_else(|| {
        Error::new(
            Kind::Usage,
            say!("the name `{name}` does not say what the log is of", "по имени `{name}` не понять, о чём этот журнал"),
        )
        .hint(say!(
            "fio calls its logs `PREFIX_lat.N.log`, `PREFIX_clat.N.log`, `PREFIX_clat_hist.N.log`",
            "fio называет журналы `PREFIX_lat.N.log`, `PREFIX_clat.N.log`, `PREFIX_clat_hist.N.log`"
        ))
    })
}

/// One log, whatever it is of.
fn of_file(source: &mut dyn Read, of: Of, emit: &mut dyn FnMut(Slice)) -> std::result::Result<(Scanned, Sums), Bad> {
    if of == Of::Histogram {
        return histograms(source, emit);
    }
    let (mut lines, mut totals) = (LatencyLines::default(), Totals::new(0));
    let scanned = scan::lines(source, |bytes| {
        let (line, len) = lines.next(bytes)?;
        totals.add(&line, emit)?;
        Ok(len)
    })?;
    Ok((scanned, totals.finish(emit)))
}

/// A log of histograms. A line holds what completed since the one before of its kind.
fn histograms(source: &mut dyn Read, emit: &mut dyn FnMut(Slice)) -> std::result::Result<(Scanned, Sums), Bad> {
    let mut sums = Sums { kinds: Vec::new(), origin_ms: 0, last_ms: 0, backwards: 0 };
    let mut before: [u64; 3] = [0; 3];
    let scanned = scan::lines(source, |bytes| {
        let (row, len) = histogram::row(bytes)?;
        let Some(op) = [Op::Read, Op::Write, Op::Discard].get(row.kind as usize).copied() else {
            let kind = row.kind;
            return Err(say!(
                "{kind} is no kind of I/O: 0 read, 1 write, 2 trim",
                "{kind} — не вид операции: 0 чтение, 1 запись, 2 trim"
            ));
        };
        if sums.kinds.is_empty() && row.ms >= totals::DATES_FROM {
            (sums.origin_ms, before) = (row.ms, [row.ms; 3]);
        }
        let (from, to) = (before[op.index()], row.ms.max(before[op.index()]));
        sums.backwards += u64::from(row.ms < before[op.index()]);
        totals::within(to - sums.origin_ms)?;
        before[op.index()] = to;
        sums.last_ms = sums.last_ms.max(to - sums.origin_ms);
        let ops = bins::count(&row.bins);
        if ops > 0 {
            let sparse = bins::sparse(&row.bins, None);
            sums.add(op, (ops, ops.saturating_mul(row.size)), row.size, &sparse);
            emit(Slice {
                interval: ((from - sums.origin_ms) / INTERVAL_MS) as u32,
                span: (to.div_ceil(INTERVAL_MS) - from / INTERVAL_MS).clamp(1, 1 << 21) as u32,
                stream: 0,
                op,
                ops,
                bytes: ops.saturating_mul(row.size),
                errors: 0,
                latency_max_ns: sparse.max_ns,
                latency: Some(sparse),
                open: None,
            });
        }
        Ok(len)
    })?;
    Ok((scanned, sums))
}

/// What is odd in a log that was read all the same.
fn doubts(name: &str, scanned: &Scanned, sums: &Sums) -> Vec<Say> {
    let (after, backwards) = (scanned.lines, sums.backwards);
    let cut = scanned.cut.then(|| {
        say!(
            "{name}: the last line, after {after}, has no end",
            "{name}: у последней строки, после {after}-й, нет конца"
        )
    });
    let jumps = (backwards > 0).then(|| {
        say!(
            "{name}: {backwards} lines whose time is before that of an earlier line; their I/Os count where their time says",
            "{name}: строк со временем раньше предыдущего: {backwards}; их операции учтены по их времени"
        )
    });
    cut.into_iter().chain(jumps).collect()
}

fn refused(name: &str, bad: Bad) -> Box<Error> {
    let (line, Say { en, ru }) = (bad.line, bad.why);
    Error::new(Kind::Spec, say!("{name}:{line}: {en}", "{name}:{line}: {ru}")).hint(say!(
        "see docs/formats/import.md for the logs that can be imported",
        "какие журналы импортируются, сказано в docs/formats/import.md"
    ))
}

#[cfg(test)]
mod tests;
