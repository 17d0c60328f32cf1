//! elbencho's table (`--csvfile`): a row for each phase. Columns are found by their names, because versions differ. Pure.

use super::Found;
use super::phase::{self, Phase};
use crate::printed::{Latency, Side, number};
use std::collections::BTreeMap;
use stend_base::{Nanos, Say, say};
use stend_record::ToolNumber;
use stend_spec::workload::Op;

/// Columns that say what was asked for.
const ASKED: [&str; 13] = [
    "path type",
    "paths",
    "hosts",
    "threads",
    "dirs",
    "files",
    "file size",
    "block size",
    "direct IO",
    "random",
    "random aligned",
    "IO depth",
    "shared paths",
];
/// Bytes are cut to whole MiB: from 1000 of them on, that is less than a thousandth.
const SURE_MIB: f64 = 1000.0;
/// Bytes of one.
const MIB: f64 = 1_048_576.0;
/// Rows of a file.
const ROWS_MAX: usize = 10_000;

/// The phases of a table, and what is left out of it; or why it cannot be read, and at which line.
pub fn phases(text: &str) -> Result<Found, (u32, Say)> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let head = reader.headers().map_err(broken)?.clone();
    let (mut found, mut dropped) = (Vec::new(), Vec::new());
    let mut rows = reader.records().peekable();
    while let Some(record) = rows.next() {
        let record = record.map_err(broken)?;
        let line = record.position().map_or(0, |at| at.line() as u32);
        if record.len() < head.len() || (record.len() > head.len() && head.iter().next_back() != Some("command")) {
            let why = uneven(record.len(), head.len());
            // A last row that is too short was cut off while it was written.
            if record.len() < head.len() && !text.ends_with('\n') && !found.is_empty() && rows.peek().is_none() {
                dropped.push((line, why));
                break;
            }
            return Err((line, why));
        }
        let row = Row { head: &head, record: &record, line };
        // elbencho writes its head again where tables are put together.
        if row.text("operation") == "operation" {
            continue;
        }
        if found.len() >= ROWS_MAX {
            return Err((line, say!("more than {ROWS_MAX} rows", "больше {ROWS_MAX} строк")));
        }
        match row.phase()? {
            Some(phase) if phase.lasted == Nanos(0) => dropped.push((line, phase::too_short(&phase.operation))),
            Some(phase) => found.push(phase),
            None => dropped.push((line, phase::no_io(row.text("operation")))),
        }
    }
    Ok((found, dropped))
}

fn broken(error: csv::Error) -> (u32, Say) {
    let line = error.position().map_or(1, |at| at.line() as u32);
    (line, say!("no table of values between commas: {error}", "не таблица значений через запятую: {error}"))
}

fn uneven(columns: usize, expected: usize) -> Say {
    say!("{columns} columns, but the header has {expected}", "столбцов {columns}, а в заголовке {expected}")
}

/// One row with its head.
struct Row<'a> {
    head: &'a csv::StringRecord,
    record: &'a csv::StringRecord,
    line: u32,
}

impl Row<'_> {
    /// The value of a column; empty if there is none.
    fn text(&self, name: &str) -> &str {
        let at = self.head.iter().position(|own| own.trim() == name);
        at.and_then(|at| self.record.get(at)).unwrap_or_default().trim()
    }

    /// A number; `None` where the column is empty or not there.
    fn number(&self, name: &str) -> Result<Option<f64>, (u32, Say)> {
        let text = self.text(name);
        if text.is_empty() {
            return Ok(None);
        }
        let parsed = text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        parsed.map(Some).ok_or_else(|| {
            let why = say!("`{text}` in column `{name}` is not a number", "`{text}` в столбце `{name}` — не число");
            (self.line, why)
        })
    }

    /// The command line, the last column. elbencho quotes its words one by one, so that commas in them look like columns.
    fn command(&self) -> String {
        let from = self.head.iter().position(|own| own.trim() == "command").unwrap_or(self.record.len());
        self.record.iter().skip(from).collect::<Vec<_>>().join(",").trim().to_string()
    }

    fn phase(&self) -> Result<Option<Phase>, (u32, Say)> {
        let operation = self.text("operation");
        let ms = self.number("time ms [last]")?.unwrap_or(0.0);
        let own = if operation.starts_with("READ") { Op::Read } else { Op::Write };
        let block = self.text("block size").parse::<u64>().unwrap_or(0);
        let main = self.side("", own, (block, ms))?;
        let mixed = self.side("rwmix read ", Op::Read, (block, ms))?;
        // What follows from one size of I/Os is no check of it: only bytes that are printed by themselves are.
        let sizes_known = block > 0 && mixed.iter().chain(&main).all(|(_, sure)| *sure);
        let sides: Vec<Side> = mixed.into_iter().chain(main).map(|(side, _)| side).collect();
        if sides.is_empty() {
            return Ok(None);
        }
        let told = ASKED.iter().filter(|name| self.head.iter().any(|own| own.trim() == **name));
        let options: BTreeMap<String, String> =
            told.map(|name| (name.to_string(), self.text(name).to_string())).collect();
        Ok(Some(Phase {
            line: self.line,
            version: format!("elbencho {}", self.text("version")).trim_end().to_string(),
            command: self.command(),
            label: self.text("label").to_string(),
            operation: operation.to_string(),
            started: phase::started(self.text("ISO date")),
            options,
            lasted: Nanos((ms * 1e6) as u64),
            sizes_known,
            sides,
        }))
    }

    /// One kind of I/O, and whether its printed bytes are precise enough to check its I/Os; `None` if there was none.
    fn side(&self, prefix: &str, op: Op, (block, ms): (u64, f64)) -> Result<Option<(Side, bool)>, (u32, Say)> {
        let named = |name: &str| self.number(&format!("{prefix}{name}"));
        let Some(iops) = named("IOPS [last]")? else { return Ok(None) };
        let told = Reported { iops, ms, mib: named("MiB [last]")?.unwrap_or(0.0), mib_per_s: named("MiB/s [last]")? };
        let by_bytes = told.ios_of(block);
        let ios = by_bytes.unwrap_or((iops * ms / 1000.0).round() as u64);
        let bytes = told.bytes(ios, block);
        let agree = told.mib >= SURE_MIB || told.mib * MIB == ios as f64 * block as f64;
        let sure = agree && by_bytes.is_none();
        let us = |value: f64| (value * 1000.0).round() as u64;
        let latency = match named("IO lat us [avg]")? {
            Some(mean) => Some(Latency {
                mean_ns: mean * 1000.0,
                // Cut to whole microseconds.
                step_ns: 1000.0,
                min_ns: us(named("IO lat us [min]")?.unwrap_or(0.0)),
                max_ns: us(named("IO lat us [max]")?.unwrap_or(0.0)),
                percentiles: Vec::new(),
            }),
            None => None,
        };
        Ok(Some((Side { op, ios, bytes, latency, numbers: self.numbers(prefix) }, sure)))
    }

    /// Every number of one kind of I/O, and with the main one those of the phase.
    fn numbers(&self, prefix: &str) -> Vec<ToolNumber> {
        let of_kind = |name: &str| match prefix {
            "" => !name.starts_with("rwmix read "),
            prefix => name.starts_with(prefix),
        };
        let is_result = |name: &str| name.contains('[');
        let pairs = self.head.iter().zip(self.record.iter());
        let own = pairs.filter(|(name, value)| is_result(name) && of_kind(name) && !value.trim().is_empty());
        own.map(|(name, value)| number(name.trim(), unit(name), value.trim())).collect()
    }
}

/// How much was done, as printed. All digits behind the point are cut.
struct Reported {
    iops: f64,
    ms: f64,
    mib: f64,
    mib_per_s: Option<f64>,
}

impl Reported {
    /// Bytes: the whole MiB if these are many. With few of them, down to 0, I/Os of one size show better what was done if the other
    /// numbers agree with them; else the rate does where it has more digits than the sum.
    fn bytes(&self, ios: u64, block: u64) -> u64 {
        let rate = self.mib_per_s.unwrap_or(0.0);
        if self.mib < SURE_MIB && self.is_of(block as f64) {
            return ios.saturating_mul(block);
        }
        let by_rate = rate * MIB * self.ms / 1000.0;
        if self.mib < SURE_MIB && rate > self.mib { by_rate as u64 } else { (self.mib * MIB) as u64 }
    }

    /// I/Os of one size, where many whole MiB have more digits than the rate, of which a part was cut, and agree with it.
    fn ios_of(&self, block: u64) -> Option<u64> {
        let finer = self.mib >= SURE_MIB && self.iops < self.mib && self.is_of(block as f64);
        finer.then(|| (self.mib * MIB / block as f64).round() as u64)
    }

    /// Whether I/Os of this size come to the printed MiB and MiB/s, as far as digits were cut.
    fn is_of(&self, block: f64) -> bool {
        let agree = |low: f64, high: f64, told: f64| low * block < (told + 1.0) * MIB && high * block >= told * MIB;
        let ios = (self.iops * self.ms / 1000.0, (self.iops + 1.0) * (self.ms + 1.0) / 1000.0);
        let rate = self.mib_per_s.is_none_or(|rate| agree(self.iops, self.iops + 1.0, rate));
        block > 0.0 && rate && agree(ios.0, ios.1, self.mib)
    }
}

/// Unit of a column, by its name.
fn unit(name: &str) -> &'static str {
    match () {
        () if name.contains("time ms") => "ms",
        () if name.contains("lat us") => "us",
        () if name.contains("MiB/s") => "MiB/s",
        () if name.contains("MiB") => "MiB",
        () if name.contains("CPU%") => "%",
        () if name.contains("IOPS") || name.contains("/s") => "1/s",
        () => "",
    }
}
