//! From lines of histogram logs to slices and totals. Pure.
//!
//! A line holds what completed since the one before it of the same job and kind; a job's last line is not written, it is
//! what its total has left. So the sum of all slices is the total, exactly.

use super::logs::Row;
use crate::INTERVAL;
use std::collections::BTreeMap;
use stend_base::{Bytes, Nanos};
use stend_record::fio_bins::{self as bins, Bins};
use stend_record::observed::Slice;
use stend_spec::workload::Op;

/// Slices carry latencies once in this many intervals: every second.
const LATENCY_EVERY: u32 = 10;

/// What one job did of one kind.
#[derive(Debug)]
pub(super) struct Done<'a> {
    /// Index of its stream.
    pub stream: u16,
    /// Kind of I/O.
    pub op: Op,
    /// All of it.
    pub total: Bins,
    /// Bytes of all of it.
    pub bytes: Bytes,
    /// (time since the start of the window, what completed since the one before it), ascending.
    pub rows: Vec<(Nanos, &'a Bins)>,
}

/// The lines of one kind, with times since `start`.
pub(super) fn since<'a>(rows: &'a [Row], op: Op, start: Nanos) -> Vec<(Nanos, &'a Bins)> {
    let relative = |row: &'a Row| (Nanos::millis(row.at_ms).saturating_sub(start), &row.bins);
    rows.iter().filter(|row| row.op == op).map(relative).collect()
}

/// What is counted in one place of the grid.
#[derive(Debug, Default)]
struct Cell {
    ops: u64,
    bytes: u64,
    latency_max_ns: u64,
}

/// By (first interval, how many), and by second.
#[derive(Debug, Default)]
struct Series {
    cells: BTreeMap<(u32, u32), Cell>,
    seconds: BTreeMap<u32, Bins>,
}

/// All slices of a window of this length, ascending by interval. The error names what contradicts what.
pub(super) fn slices(jobs: &[Done], length: Nanos) -> Result<Vec<Slice>, String> {
    let mut series: BTreeMap<(u16, Op), Series> = BTreeMap::new();
    for job in jobs {
        place(series.entry((job.stream, job.op)).or_default(), job, length)?;
    }
    let end = end(length);
    let mut slices = Vec::new();
    for ((stream, op), mut series) in series {
        // Silence is a slice, too.
        let mut silent = vec![true; end as usize];
        let covered = series.cells.keys().flat_map(|(from, span)| *from..from + span);
        covered.for_each(|at| silent[at as usize] = false);
        let gaps = (0..end).zip(silent).filter(|(_, silent)| *silent);
        series.cells.extend(gaps.map(|(interval, _)| ((interval, 1), Cell::default())));
        slices.extend(series.slices(stream, op));
    }
    slices.sort_by_key(|slice| (slice.interval, slice.stream, slice.op));
    Ok(slices)
}

/// The interval behind the last one of a window, which has at least one.
fn end(length: Nanos) -> u32 {
    length.0.div_ceil(INTERVAL.0).clamp(1, u64::from(u32::MAX)) as u32
}

/// The edge of intervals next to a time since the start of the window.
fn edge(at: Nanos, length: Nanos) -> u32 {
    let near = at.0.saturating_add(INTERVAL.0 / 2) / INTERVAL.0;
    near.min(u64::from(end(length))) as u32
}

/// Adds the lines of a job, and what its total has left.
fn place(series: &mut Series, job: &Done, length: Nanos) -> Result<(), String> {
    let mut told = Bins::new();
    job.rows.iter().for_each(|(_, bins)| bins::add(&mut told, bins));
    let rest = bins::rest(&job.total, &told).ok_or("its histogram log counts more than its summary")?;
    let (all, mut counted, mut bytes) = (bins::count(&job.total), 0u64, 0u64);
    let (end, mut from) = (end(length), 0);
    for (at, bins) in job.rows.iter().map(|(at, bins)| (*at, *bins)).chain([(length, &rest)]) {
        let ops = bins::count(bins);
        // Lines that come at once share a place; nothing lies behind the window.
        let to = edge(at, length);
        let key = (from.min(end.saturating_sub(1)), to.saturating_sub(from).max(1));
        from = from.max(to);
        if ops == 0 {
            continue;
        }
        counted = counted.saturating_add(ops);
        // For a mixture of sizes only all bytes are known; each line gets up to its share, so that they add up.
        let so_far = (u128::from(job.bytes.0) * u128::from(counted) / u128::from(all.max(1))) as u64;
        let cell = series.cells.entry(key).or_default();
        cell.ops = cell.ops.saturating_add(ops);
        cell.bytes = cell.bytes.saturating_add(so_far - bytes);
        let longest = bins.keys().next_back().map_or(0, |bin| bins::edges(*bin).1);
        cell.latency_max_ns = cell.latency_max_ns.max(longest);
        bytes = so_far;
        bins::add(series.seconds.entry((key.0 + key.1 - 1) / LATENCY_EVERY).or_default(), bins);
    }
    Ok(())
}

impl Series {
    fn slices(mut self, stream: u16, op: Op) -> Vec<Slice> {
        let mut slices: Vec<Slice> = Vec::with_capacity(self.cells.len());
        let last = |key: &(u32, u32)| (key.0 + key.1 - 1) / LATENCY_EVERY;
        // The latest cell of a second takes its latencies.
        let mut keys: Vec<(u32, u32)> = self.cells.keys().copied().collect();
        keys.sort_by_key(|key| std::cmp::Reverse((key.0 + key.1, key.0)));
        for key in keys {
            let cell = self.cells.remove(&key).unwrap_or_default();
            let latency = self.seconds.remove(&last(&key)).map(|bins| bins::sparse(&bins, None));
            slices.push(Slice {
                interval: key.0,
                span: key.1,
                stream,
                op,
                ops: cell.ops,
                bytes: cell.bytes,
                errors: 0,
                latency_max_ns: cell.latency_max_ns,
                latency,
                open: None,
            });
        }
        slices
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: Nanos = Nanos::SECOND;

    fn done<'a>(total: &Bins, bytes: u64, rows: Vec<(Nanos, &'a Bins)>) -> Done<'a> {
        Done { stream: 0, op: Op::Read, total: total.clone(), bytes: Bytes(bytes), rows }
    }

    /// (interval, span, I/Os, bytes, latencies) of each.
    fn shown(slices: &[Slice]) -> Vec<(u32, u32, u64, u64, Option<u64>)> {
        let one = |s: &Slice| (s.interval, s.span, s.ops, s.bytes, s.latency.as_ref().map(|l| l.count()));
        slices.iter().map(one).collect()
    }

    #[test]
    fn lines_become_intervals_of_the_window_and_the_last_is_what_the_total_has_left() {
        let (five, total) = (Bins::from([(9, 5)]), Bins::from([(9, 55)]));
        let rows: Vec<_> = (1..=9).map(|n| (Nanos::millis(n * 100 + n % 3), &five)).collect();
        let slices = slices(&[done(&total, 55 * 4096, rows)], SECOND).unwrap();
        assert_eq!(slices.iter().map(|s| s.interval).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
        assert!(slices.iter().all(|s| s.span == 1 && s.bytes == s.ops * 4096));
        assert_eq!((slices[0].ops, slices[9].ops), (5, 10));
        let latencies: Vec<_> = shown(&slices).iter().filter_map(|s| Some((s.0, s.4?))).collect();
        assert_eq!(latencies, [(9, 55)], "once per second");
    }

    #[test]
    fn a_stall_is_one_slice_as_long_as_it_was_and_silence_is_told() {
        let (one, total) = (Bins::from([(1800, 1)]), Bins::from([(1800, 3)]));
        let at = |ms| (Nanos::millis(ms), &one);
        let slices = slices(&[done(&total, 3, vec![at(100), at(600), at(600)])], SECOND).unwrap();
        let expected = [(0, 1, 1, 1), (1, 5, 1, 1), (6, 1, 1, 1), (7, 1, 0, 0), (8, 1, 0, 0), (9, 1, 0, 0)];
        let found: Vec<_> = shown(&slices).into_iter().map(|s| (s.0, s.1, s.2, s.3)).collect();
        assert_eq!(found, expected);
        assert_eq!(slices.iter().filter_map(|s| s.latency.as_ref()).map(|l| l.count()).sum::<u64>(), 3);
    }

    #[test]
    fn a_kind_without_any_io_is_silent_in_every_interval() {
        let found = slices(&[done(&Bins::new(), 0, Vec::new())], SECOND).unwrap();
        assert_eq!((found.len(), found.iter().map(|s| s.ops).sum::<u64>()), (10, 0));
    }

    #[test]
    fn a_log_that_counts_more_than_the_summary_is_refused() {
        let (one, two) = (Bins::from([(3, 1)]), Bins::from([(3, 2)]));
        let error = slices(&[done(&one, 0, vec![(Nanos::millis(100), &two)])], SECOND).unwrap_err();
        assert_eq!(error, "its histogram log counts more than its summary");
    }

    proptest! {
        #[test]
        fn no_io_and_no_byte_is_lost_and_every_latency_is_told_once(
            counts in prop::collection::vec((0u64..3000, 0u32..1856, 0u64..50), 0..40),
            left in 0u64..9, length in 1u64..4000, bytes in 0u64..1 << 40,
        ) {
            let mut rows: Vec<(Nanos, Bins)> =
                counts.into_iter().map(|(at, bin, n)| (Nanos::millis(at), Bins::from([(bin, n)]))).collect();
            rows.sort_by_key(|row| row.0);
            let mut total = Bins::from([(7, left)]);
            rows.iter().for_each(|(_, bins)| bins::add(&mut total, bins));
            let all = bins::count(&total);
            let length = Nanos::millis(length);
            let job = done(&total, bytes, rows.iter().map(|(at, bins)| (*at, bins)).collect());
            let slices = slices(&[job], length).unwrap();
            prop_assert_eq!(slices.iter().map(|s| s.ops).sum::<u64>(), all);
            prop_assert_eq!(slices.iter().map(|s| s.bytes).sum::<u64>(), if all > 0 { bytes } else { 0 });
            prop_assert_eq!(slices.iter().filter_map(|s| s.latency.as_ref()).map(|l| l.count()).sum::<u64>(), all);
            prop_assert!(slices.iter().all(|s| s.interval < end(length)));
        }
    }
}
