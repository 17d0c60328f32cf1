//! One load of vdbench as a trial: its means, and its intervals. Pure.

use super::flatfile::{Bad, Row, Run};
use crate::build::sum;
use crate::printed::{Latency, Printed, Side, mix_of, number};
use std::collections::BTreeMap;
use stend_base::{Bytes, Millionths, Nanos, Say, say};
use stend_record::observed::Slice;
use stend_spec::pattern::Pattern;
use stend_spec::workload::{Op, Pages, Stream};

/// Rates from this on mean "as much as goes" (9999988) or "a curve of it" (9999977).
const UNLIMITED: f64 = 9_999_000.0;
/// Slices of a run file are 100 ms.
const SLICES_PER_SECOND: u64 = 10;
/// Seconds of a day: times of day begin anew.
const DAY_S: f64 = 86_400.0;
/// Intervals longer than this are no intervals: a week.
const INTERVAL_MAX_S: f64 = 604_800.0;
/// Four decimals are printed, and sums of them may be a little off.
const ROUNDED: f64 = 1e-3;
/// Columns that say what was asked for.
const ASKED: [&str; 9] =
    ["reqrate", "xfersize", "threads", "rdpct", "rhpct", "whpct", "seekpct", "compratio", "dedupratio"];

/// A load with what follows from its rows.
pub struct Load<'t> {
    mean: Row<'t>,
    /// Seconds of an interval.
    interval_s: u64,
    /// First and last of the intervals that the means are of, from 1.
    first: u64,
    last: u64,
    intervals: Vec<Row<'t>>,
}

impl<'t> Load<'t> {
    /// `Ok(Err(_))`: why it is left out.
    pub fn of(run: &Run<'t>) -> Result<Result<Load<'t>, Say>, Bad> {
        let label = run.mean.text("Interval");
        let range = label.strip_prefix("avg_").and_then(|range| range.split_once('-'));
        let bounds = range.and_then(|(from, to)| Some((from.parse::<u64>().ok()?, to.parse::<u64>().ok()?)));
        let Some((first, last)) = bounds.filter(|(first, last)| (1..=*last).contains(first)) else {
            let why = say!("`{label}` does not show which intervals", "из `{label}` не понять, какие это интервалы");
            return Err((run.mean.line, why));
        };
        let Some(interval_s) = interval(&run.intervals) else {
            return Ok(Err(say!(
                "fewer than two intervals: their length is unknown",
                "меньше двух интервалов: их длина неизвестна"
            )));
        };
        let load = Load { mean: run.mean.clone(), interval_s, first, last, intervals: run.intervals.clone() };
        load.checked().map(Load::over_its_intervals)
    }

    /// With the intervals that the means are really of: those that are named, or one more before them, as 5.04.06 has it.
    fn over_its_intervals(mut self) -> Result<Load<'t>, Say> {
        let before = self.first.saturating_sub(1).max(1);
        let fits = |first: u64| Some((first, self.distance(first)?));
        // At a steady rate both may agree: then the nearer one does, and of two that are as near the one that is named.
        let near = [fits(self.first), fits(before)]
            .into_iter()
            .flatten()
            .reduce(|named, earlier| if earlier.1 < named.1 { earlier } else { named });
        match near {
            Some((first, _)) => {
                self.first = first;
                Ok(self)
            }
            None => Err(say!(
                "its row of means is not the mean of its intervals",
                "его строка средних — не средние его интервалов"
            )),
        }
    }

    /// How far the means are from those of the intervals from this one on, summed over rate, throughput and response; `None` if the rate, which
    /// is a plain mean, is further off than digits were cut.
    fn distance(&self, first: u64) -> Option<f64> {
        let own: Vec<&Row<'_>> = self
            .intervals
            .iter()
            .filter(|row| row.number("Interval").is_some_and(|n| (first as f64..=self.last as f64).contains(&n)))
            .collect();
        let rates: Vec<f64> = own.iter().filter_map(|row| row.number("rate")).collect();
        let told = |name: &str| self.mean.number(name).unwrap_or(0.0);
        let all: f64 = rates.iter().sum();
        let off = (all / rates.len().max(1) as f64 - told("rate")).abs();
        if rates.len() as u64 != self.last - first + 1 || off > ROUNDED + told("rate") * ROUNDED {
            return None;
        }
        let share = |off: f64, of: f64| if of > 0.0 { off.abs() / of } else { 0.0 };
        let throughput = own.iter().filter_map(|row| row.number("MB/sec")).sum::<f64>() / own.len().max(1) as f64;
        // A response is the mean over I/Os, so intervals count by their rate.
        let weighted = own.iter().filter_map(|row| Some(row.number("rate")? * row.number("resp")?)).sum::<f64>();
        let response = if all > 0.0 { weighted / all } else { 0.0 };
        let of = |mean: f64, name: &str| share(mean - told(name), told(name));
        Some(share(off, told("rate")) + of(throughput, "MB/sec") + of(response, "resp"))
    }

    /// Refuses words where numbers are needed.
    fn checked(self) -> Result<Load<'t>, Bad> {
        for name in ["rate", "bytes/io", "read%", "resp"] {
            self.mean.needed(name)?;
        }
        for row in &self.intervals {
            row.needed("Interval")?;
            row.needed("rate")?;
            row.needed("read%")?;
        }
        Ok(self)
    }

    /// As a trial of the file with this index.
    pub fn printed(self, file: u32) -> Printed {
        let mean = &self.mean;
        let of = |name: &str| mean.number(name).unwrap_or(0.0);
        let window_s = (self.last - self.first + 1).saturating_mul(self.interval_s);
        let block = of("bytes/io").round() as u64;
        let sides: Vec<Side> =
            [Op::Read, Op::Write].into_iter().filter_map(|op| self.side(op, window_s, block)).collect();
        let ios = |op: Op| sum(sides.iter().filter(|side| side.op == op).map(|side| side.ios));
        // Percent of I/Os that jump; the others go on where the one before ended.
        let pattern = match (of("seekpct") * 10_000.0).round() as u32 {
            0 => Pattern::Sequential,
            jumps @ 1..1_000_000 => Pattern::Mixed { sequential: Millionths(1_000_000 - jumps) },
            _ => Pattern::Uniform,
        };
        // How many storage definitions have as many threads each, the file does not say: the depth is not known.
        let stream =
            Stream { queue_depth: 0, ..Stream::new(mix_of(ios(Op::Read), ios(Op::Write)), pattern, Bytes(block)) };
        let told = ASKED.iter().map(|name| (name.to_string(), trimmed(mean.text(name))));
        let options: BTreeMap<String, String> = told.filter(|(_, value)| !value.is_empty() && value != "n/a").collect();
        Printed {
            file,
            line: mean.line,
            version: "vdbench".to_string(),
            command: String::new(),
            name: mean.text("Run").to_string(),
            options,
            started: None,
            ramp: Nanos::secs((self.first - 1).saturating_mul(self.interval_s)),
            window: Nanos::secs(window_s),
            stream,
            // Not told; vdbench itself asks for direct I/O by an option of its own.
            direct: true,
            pages: Pages::Ordinary,
            paced: of("reqrate") < UNLIMITED,
            sizes_known: mean.number("xfersize") == mean.number("bytes/io"),
            failed: false,
            errors: 0,
            slices: self.slices(block),
            sides,
        }
    }

    /// One kind of I/O; `None` if there was none.
    fn side(&self, op: Op, window_s: u64, block: u64) -> Option<Side> {
        let ios = count(&self.mean, op, window_s)?;
        let own = |kind: &str| if op == Op::Read { format!("read_{kind}") } else { format!("write_{kind}") };
        // With one kind alone older versions may lack the columns of kinds.
        let first = |names: [&str; 2]| names.iter().find_map(|name| self.mean.number(name));
        let mean_ms = first([&own("resp"), "resp"])?;
        let max_ms = first([&own("max"), "resp_max"]).unwrap_or(0.0);
        let latency = Latency {
            mean_ns: mean_ms * 1e6,
            // Four decimals of a millisecond.
            step_ns: 100.0,
            min_ns: 0,
            max_ns: (max_ms * 1e6).round() as u64,
            percentiles: Vec::new(),
        };
        let other = if op == Op::Read { "write_" } else { "read_" };
        let aside = ["tod", "timestamp", "Run"];
        let pairs = self
            .mean
            .pairs()
            .filter(|(name, word)| !name.starts_with(other) && !aside.contains(name) && !["n/a", ""].contains(word));
        let numbers = pairs.map(|(name, word)| number(name, unit(name), word)).collect();
        Some(Side { op, ios, bytes: ios.saturating_mul(block), latency: Some(latency), numbers })
    }

    /// Intervals that the means are of.
    fn slices(&self, block: u64) -> Vec<Slice> {
        let span = self.interval_s.saturating_mul(SLICES_PER_SECOND);
        let mut slices = Vec::new();
        for row in &self.intervals {
            let Some(number) = row.number("Interval").map(|number| number as u64) else { continue };
            if !(self.first..=self.last).contains(&number) {
                continue;
            }
            let Ok(interval) = u32::try_from((number - self.first).saturating_mul(span)) else { continue };
            for op in [Op::Read, Op::Write] {
                let Some(ops) = count(row, op, self.interval_s) else { continue };
                slices.push(Slice {
                    interval,
                    span: span as u32,
                    stream: 0,
                    op,
                    ops,
                    bytes: ops.saturating_mul(row.number("bytes/io").map_or(block, |size| size.round() as u64)),
                    errors: 0,
                    latency_max_ns: row.number("resp_max").map_or(0, |ms| (ms * 1e6).round() as u64),
                    latency: None,
                    open: None,
                });
            }
        }
        slices
    }
}

/// I/Os of a kind in so many seconds; `None` if there were none.
fn count(row: &Row<'_>, op: Op, seconds: u64) -> Option<u64> {
    let reads = row.number("read%")?.min(100.0) / 100.0;
    let share = if op == Op::Read { reads } else { 1.0 - reads };
    let ios = (row.number("rate")? * seconds as f64 * share).round() as u64;
    (ios > 0).then_some(ios)
}

/// Seconds of an interval: whole ones, because vdbench has no others; rows are written some tens of milliseconds late.
fn interval(rows: &[Row<'_>]) -> Option<u64> {
    let (first, last) = (rows.first()?, rows.last()?);
    let intervals = last.number("Interval")? - first.number("Interval")?;
    let mut passed = 0.0;
    for pair in rows.windows(2) {
        let (before, after) = (time_of_day(pair[0].text("tod"))?, time_of_day(pair[1].text("tod"))?);
        passed += (after - before).rem_euclid(DAY_S);
    }
    let seconds = (passed / intervals).round();
    (intervals >= 1.0 && (1.0..=INTERVAL_MAX_S).contains(&seconds)).then_some(seconds as u64)
}

/// `00:51:56.808` in seconds.
fn time_of_day(text: &str) -> Option<f64> {
    let mut parts = text.splitn(3, ':').map(|part| part.replace(',', ".").parse::<f64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let known = (0.0..24.0).contains(&hours) && (0.0..60.0).contains(&minutes) && (0.0..61.0).contains(&seconds);
    known.then_some(hours * 3600.0 + minutes * 60.0 + seconds)
}

/// `2.0000` as `2`.
fn trimmed(text: &str) -> String {
    match text.split_once(['.', ',']) {
        Some((whole, decimals)) if decimals.bytes().all(|byte| byte == b'0') => whole.to_string(),
        _ => text.to_string(),
    }
}

/// Unit of a column, as the head of the file defines it.
fn unit(name: &str) -> &'static str {
    match name {
        "reqrate" | "rate" => "1/s",
        // Megabytes per second (MB=1024*1024).
        "MB/sec" => "MiB/s",
        "bytes/io" | "xfersize" => "B",
        "lunsize" => "GiB",
        "read%" | "rdpct" | "rhpct" | "whpct" | "seekpct" => "%",
        _ if name.starts_with("cpu_") => "%",
        _ if ["resp", "_max", "_std"].iter().any(|part| name.contains(part)) => "ms",
        _ => "",
    }
}
