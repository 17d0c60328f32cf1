//! Averages of fio (`log_avg_msec`): how many I/Os there were follows from the log of rates, and from no other. Pure; as much memory as the lines
//! of three logs, of which there is one for each interval.

use super::scan::{self, Bad, LatencyLines, Line, Scanned};
use super::totals::{self, DATES_FROM, Latencies, SumOf, Sums};
use std::collections::BTreeMap;
use std::io::Read;
use stend_base::{Say, say};
use stend_record::{Slice, ToolNumber};
use stend_spec::workload::Op;

/// Lines of a log: eleven days of seconds.
const LINES_MAX: usize = 1_000_000;
/// Means that are kept as printed, of each kind of I/O.
const MEANS_MAX: usize = 2048;
/// Mean sizes are printed in whole sectors, bytes.
const SECTOR: u64 = 512;
/// A slice is so long.
const INTERVAL_MS: u64 = 100;
/// Kinds of I/O by their numbers in a log.
const KINDS: [Op; 3] = [Op::Read, Op::Write, Op::Discard];

/// One log: values by kind, each of the time up to its line.
#[derive(Default)]
pub struct Averages {
    pub scanned: Scanned,
    /// Times and values by kind, as they are read.
    lines: [Vec<(u64, u64)>; 3],
    kinds: [Vec<Window>; 3],
    /// Lines whose time is not behind that of the line before of their kind.
    pub left_out: u64,
    /// Places where intervals without I/O have no line.
    pub gaps: u64,
}

/// A value of the time between two moments, in ms.
#[derive(Clone, Copy)]
struct Window {
    from: u64,
    to: u64,
    value: u64,
}

impl Averages {
    /// Reads a log. `first_date` is set by the first line of the first log that is read: its time if that is a date, else 0.
    pub fn read(source: &mut dyn Read, first_date: &mut Option<u64>) -> Result<Averages, Bad> {
        let (mut lines, mut count) = (LatencyLines::default(), 0usize);
        let mut found = Averages::default();
        found.scanned = scan::lines(source, |bytes| {
            let (line, len) = lines.next(bytes)?;
            count += 1;
            if count > LINES_MAX {
                return Err(say!("more than {LINES_MAX} averages", "больше {LINES_MAX} средних"));
            }
            found.add(&line, first_date)?;
            Ok(len)
        })?;
        Ok(found)
    }

    fn add(&mut self, line: &Line, first_date: &mut Option<u64>) -> Result<(), Say> {
        if line.columns.size > 0 {
            return Err(say!("a single I/O among averages", "одиночная операция среди средних"));
        }
        let kind = line.columns.kind;
        let Some(lines) = self.lines.get_mut(kind as usize) else { return Err(totals::no_kind(kind)) };
        totals::possible(line.value)?;
        let first = *first_date.get_or_insert(if line.ms >= DATES_FROM { line.ms } else { 0 });
        totals::within(line.ms.saturating_sub(first))?;
        lines.push((line.ms, line.value));
        Ok(())
    }

    /// Ms that a line is of: the median distance of two lines of a kind; `None` without two such lines.
    ///
    /// If two are in the middle it is the smaller one, because distances grow with gaps and nothing makes them short. A log of all jobs
    /// with dates: see [`totals::period`].
    pub fn period(&self, all_jobs: bool) -> Option<u64> {
        let pairs = self.lines.iter().flat_map(|lines| lines.windows(2));
        let mut distances: Vec<u64> =
            pairs.filter_map(|pair| pair[1].0.checked_sub(pair[0].0)).filter(|distance| *distance > 0).collect();
        if distances.is_empty() {
            return None;
        }
        // The first lines of a job are as far from its start, unless they are dates.
        let firsts = self.lines.iter().filter_map(|lines| lines.first()).map(|line| line.0);
        distances.extend(firsts.filter(|ms| *ms < DATES_FROM));
        distances.sort_unstable();
        let median = distances.get((distances.len() - 1) / 2).copied();
        let has_dates = self.lines.iter().flatten().any(|line| line.0 >= DATES_FROM);
        let lines = self.lines.iter().map(Vec::len).max().unwrap_or(0);
        totals::period(median, lines, all_jobs && has_dates)
    }

    /// The logs of the jobs that are in one: with `per_job_logs=0` fio writes them one behind the other, each from its own start. A job begins
    /// where the time goes back to the first period.
    pub fn jobs(mut self, origin_ms: u64, period: Option<u64>) -> Vec<Averages> {
        let first = period.map_or(0, |period| period + period / 2);
        let mut found = vec![Averages { scanned: self.scanned, ..Averages::default() }];
        for (kind, lines) in std::mem::take(&mut self.lines).into_iter().enumerate() {
            let (mut job, mut before) = (0, 0);
            for (ms, value) in lines {
                let since = ms.saturating_sub(origin_ms);
                job += usize::from(since < before && since <= first);
                if job == found.len() {
                    found.push(Averages::default());
                }
                found[job].lines[kind].push((ms, value));
                before = since;
            }
        }
        found
    }

    /// Says of which time the lines are, counted from `origin_ms`. fio writes no line for an interval without I/O, and the rate in the line behind a
    /// gap is that of one period, not of the gap. Without a period a line is of all the time since the one before.
    pub fn place(&mut self, origin_ms: u64, period: Option<u64>) -> Result<(), Bad> {
        for (lines, windows) in self.lines.iter_mut().zip(&mut self.kinds) {
            for (ms, value) in std::mem::take(lines) {
                let to = ms.saturating_sub(origin_ms);
                totals::within(to).map_err(|why| Bad { line: self.scanned.lines, why })?;
                let before = windows.last().map_or(0, |window: &Window| window.to);
                if to <= before {
                    self.left_out += 1;
                    continue;
                }
                // More than one and a half periods.
                let gap = period.filter(|period| (to - before).saturating_mul(2) > period.saturating_mul(3));
                self.gaps += u64::from(gap.is_some());
                windows.push(Window { from: gap.map_or(before, |period| to - period), to, value });
            }
        }
        Ok(())
    }

    /// What comes together at these rates per second between two moments.
    fn sum(windows: &[Window], from: u64, to: u64) -> f64 {
        let first = windows.partition_point(|window| window.to <= from);
        let inside = windows[first..].iter().take_while(|window| window.from < to);
        inside.map(|w| w.value as f64 * (w.to.min(to) - w.from.max(from)) as f64 / 1000.0).sum()
    }
}

/// The logs of a job.
pub struct Logs {
    /// I/Os per second.
    pub iops: Averages,
    /// KiB per second.
    pub bw: Averages,
    /// Mean latencies, ns.
    pub latency: Option<Averages>,
}

impl Logs {
    /// Slices of the job go to `emit`, the sums are in the result.
    pub fn totals(&self, emit: &mut dyn FnMut(Slice)) -> Sums {
        let mut sums = Sums { kinds: Vec::new(), last_ms: 0, backwards: 0 };
        for (kind, op) in KINDS.into_iter().enumerate() {
            let windows = &self.iops.kinds[kind];
            let (mut slices, mut own) = (BTreeMap::<u32, Slice>::new(), (0u64, 0u64));
            for window in windows {
                let ops = (window.value as f64 * (window.to - window.from) as f64 / 1000.0).round() as u64;
                let bytes = (Averages::sum(&self.bw.kinds[kind], window.from, window.to) * 1024.0).round() as u64;
                own = (own.0.saturating_add(ops), own.1.saturating_add(bytes));
                let interval = (window.from / INTERVAL_MS) as u32;
                let span = (window.to / INTERVAL_MS).saturating_sub(u64::from(interval)).max(1) as u32;
                let slice = slices.entry(interval).or_insert_with(|| empty(interval, span, op));
                slice.span = slice.span.max(span);
                (slice.ops, slice.bytes) = (slice.ops.saturating_add(ops), slice.bytes.saturating_add(bytes));
            }
            sums.last_ms = sums.last_ms.max(windows.last().map_or(0, |window| window.to));
            // Averages tell no sizes: what it comes to is the mean, and rates are cut.
            if let Some(mean) = own.1.checked_div(own.0) {
                slices.into_values().filter(|slice| slice.ops > 0).for_each(&mut *emit);
                let latency = Latencies::Mean(self.sum_ns(kind));
                let largest = (mean.saturating_add(SECTOR / 2)) / SECTOR * SECTOR;
                sums.kinds.push(SumOf { op, ops: own.0, bytes: own.1, largest, latency });
            }
        }
        sums
    }

    /// Sum of the latencies of a kind: each mean times the I/Os of its interval, brought to all I/Os; `None` without a mean.
    fn sum_ns(&self, kind: usize) -> Option<u128> {
        let means = &self.latency.as_ref()?.kinds[kind];
        let rates = &self.iops.kinds[kind];
        let (mut ops, mut sum) = (0.0, 0.0);
        for mean in means {
            let own = Averages::sum(rates, mean.from, mean.to);
            (ops, sum) = (ops + own, sum + own * mean.value as f64);
        }
        let all: u64 = rates
            .iter()
            .fold(0, |all, rate| all + (rate.value as f64 * (rate.to - rate.from) as f64 / 1000.0).round() as u64);
        (ops > 0.0).then(|| (sum / ops * all as f64).round() as u128)
    }

    /// Means of a kind, as printed.
    pub fn means(&self, op: Op, name: &str) -> Vec<ToolNumber> {
        let kind = KINDS.iter().position(|own| *own == op).unwrap_or_default();
        let windows = self.latency.iter().flat_map(|latency| &latency.kinds[kind]).take(MEANS_MAX);
        let number = |window: &Window| ToolNumber {
            name: format!("{name}.{}ms", window.to),
            unit: "ns".to_string(),
            printed: window.value.to_string(),
        };
        windows.map(number).collect()
    }
}

fn empty(interval: u32, span: u32, op: Op) -> Slice {
    Slice { interval, span, stream: 0, op, ops: 0, bytes: 0, errors: 0, latency_max_ns: 0, latency: None, open: None }
}
