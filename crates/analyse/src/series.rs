//! The slices of a trial as a regular series: one value per interval, late parts added up.

use std::collections::BTreeMap;
use stend_base::histogram::Sparse;
use stend_base::{Histogram, Nanos};
use stend_record::{RunRecord, Slice, TrialRecord};
use stend_spec::workload::Op;

/// Length of a counter interval.
pub const INTERVAL: Nanos = Nanos::millis(100);
/// Intervals per second.
const PER_SECOND: u64 = 10;
/// Longest series: 58 h of intervals, 32 MiB; slices beyond (a hostile file) are ignored.
pub const INTERVALS_MAX: usize = 1 << 21;

/// What completed in one interval; fractions come from slices that span several.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cell {
    /// I/Os.
    pub ops: f64,
    /// Bytes.
    pub bytes: f64,
}

/// Intervals of a trial since the start of load, of the slices that `select` picks. Intervals in
/// which nothing was counted are zero: a stall is a fact, not a gap.
pub fn cells(slices: &[Slice], select: impl Fn(&Slice) -> bool) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for slice in slices.iter().filter(|s| select(s)) {
        let first = slice.interval as usize;
        let span = slice.span.max(1) as usize;
        let last = first.saturating_add(span).min(INTERVALS_MAX);
        if cells.len() < last {
            cells.resize(last, Cell::default());
        }
        for cell in cells.iter_mut().take(last).skip(first) {
            cell.ops += slice.ops as f64 / span as f64;
            cell.bytes += slice.bytes as f64 / span as f64;
        }
    }
    cells
}

/// End of the last interval that any slice of the trial covers, since the start of load.
pub fn observed(slices: &[Slice]) -> Nanos {
    let end = slices.iter().map(|s| u64::from(s.interval) + u64::from(s.span.max(1))).max().unwrap_or(0);
    Nanos(end.saturating_mul(INTERVAL.0))
}

/// Length of a trial that counts: ramp and window; I/O that drains afterwards is not load. `observed` is where its last slice ends.
pub fn load_length(trial: &TrialRecord, observed: Nanos) -> Nanos {
    trial.outcome.as_ref().map_or(observed, |o| observed.min(o.window_end.saturating_sub(o.load_start)))
}

/// Start of load on the run's axis; before the end of the trial is known, its start by the coordinator.
pub fn load_start(trial: &TrialRecord) -> Nanos {
    trial.outcome.as_ref().map_or(trial.started, |outcome| outcome.load_start)
}

/// First and last moment that anything was recorded at.
pub fn span(run: &RunRecord) -> (Nanos, Nanos) {
    let trials = run.trials.iter().chain(&run.rounds).flat_map(|trial| {
        let start = load_start(trial);
        [trial.started, start, start + observed(&trial.slices)]
    });
    let ends = run.trials.iter().chain(&run.rounds).filter_map(|t| t.outcome.as_ref()).map(|o| o.window_end);
    let moments = || {
        trials
            .clone()
            .chain(ends.clone())
            .chain(run.load().samples.iter().map(|s| s.at))
            .chain(run.events.iter().map(|e| e.at))
    };
    (moments().min().unwrap_or_default(), moments().max().unwrap_or_default())
}

/// When the run began, on its axis: what charts and tables of times count from.
pub fn start(run: &RunRecord) -> Nanos {
    span(run).0
}

/// The cells that lie inside the measuring window as a whole, padded with zeros to its end. Empty
/// before the outcome is known.
pub fn inside_window(trial: &TrialRecord, mut cells: Vec<Cell>) -> Vec<Cell> {
    let window = window(trial);
    cells.resize(window.end, Cell::default());
    cells.drain(..window.start);
    cells
}

/// The intervals since the start of load that lie inside the measuring window as a whole; none before the outcome is known.
pub fn window(trial: &TrialRecord) -> std::ops::Range<usize> {
    let Some(outcome) = &trial.outcome else { return 0..0 };
    let from = outcome.window_start.saturating_sub(outcome.load_start).0.div_ceil(INTERVAL.0);
    let to = outcome.window_end.saturating_sub(outcome.load_start).0 / INTERVAL.0;
    let to = to.min(INTERVALS_MAX as u64) as usize;
    (from.min(to as u64) as usize)..to
}

/// What completed between two moments since the start of load; parts of intervals in proportion.
pub fn between(cells: &[Cell], from: Nanos, to: Nanos) -> Cell {
    let first = (from.0 / INTERVAL.0).min(cells.len() as u64) as usize;
    let last = to.0.div_ceil(INTERVAL.0).min(cells.len() as u64) as usize;
    let part = |index: usize| {
        let start = index as u64 * INTERVAL.0;
        let covered = to.0.min(start + INTERVAL.0).saturating_sub(from.0.max(start));
        covered as f64 / INTERVAL.0 as f64
    };
    (first..last).fold(Cell::default(), |sum, index| Cell {
        ops: sum.ops + cells[index].ops * part(index),
        bytes: sum.bytes + cells[index].bytes * part(index),
    })
}

/// How far the count at a moment within an interval, taken in proportion, may be from the real one, if at no time within the interval
/// more was completed per time than in the fastest of it and its neighbours: an interval that lacks `d` stood still for the time that
/// `d` takes, at its begin or at its end.
pub fn uncertainty(cells: &[Cell], at: Nanos, of: fn(&Cell) -> f64) -> f64 {
    let index = (at.0 / INTERVAL.0) as usize;
    let part = (at.0 % INTERVAL.0) as f64 / INTERVAL.0 as f64;
    let value = |index: Option<usize>| index.and_then(|index| cells.get(index)).map_or(0.0, of);
    let own = value(Some(index));
    let lacking = value(index.checked_sub(1)).max(value(index.checked_add(1))).max(own) - own;
    if part == 0.0 { 0.0 } else { lacking * part.max(1.0 - part) }
}

/// Means over blocks of `length` intervals, per second; what does not fill a block is dropped at the end.
pub fn blocks(cells: &[Cell], length: usize, of: fn(&Cell) -> f64) -> Vec<f64> {
    let seconds = length.max(1) as f64 * INTERVAL.as_secs();
    cells.chunks_exact(length.max(1)).map(|block| block.iter().map(of).sum::<f64>() / seconds).collect()
}

/// The second since the start of load (0 = the first) that the histogram of a slice is of.
///
/// A slice that carries a histogram comes once per second, so its end is rounded to a full second;
/// late parts of the same second fall into the same one.
pub fn second_of(slice: &Slice) -> u64 {
    let end = u64::from(slice.interval) + u64::from(slice.span.max(1));
    ((end + PER_SECOND / 2) / PER_SECOND).max(1) - 1
}

/// The latencies of every second since the start of load that has some, by job.
pub fn by_second(slices: &[Slice], op: Op) -> BTreeMap<u64, Vec<&Sparse>> {
    let mut seconds: BTreeMap<u64, Vec<&Sparse>> = BTreeMap::new();
    for slice in slices.iter().filter(|s| s.op == op) {
        let Some(latency) = &slice.latency else { continue };
        seconds.entry(second_of(slice)).or_default().push(latency);
    }
    seconds
}

/// Calls `each` with every second of [`by_second`] in order, all jobs merged. Only one histogram is in memory at a time: a long run has
/// many seconds.
pub fn each_second(slices: &[Slice], op: Op, mut each: impl FnMut(u64, &Histogram)) {
    let mut merged = Histogram::new();
    for (second, parts) in by_second(slices, op) {
        merged.clear();
        parts.into_iter().for_each(|part| merged.merge_sparse(part));
        each(second, &merged);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::slice;

    fn ops(cells: &[Cell]) -> Vec<f64> {
        cells.iter().map(|c| c.ops).collect()
    }

    #[test]
    fn late_parts_add_up_and_missing_intervals_are_zero() {
        let slices = [slice(0, Op::Read, 5), slice(3, Op::Read, 2), slice(0, Op::Read, 1), slice(1, Op::Write, 9)];
        assert_eq!(ops(&cells(&slices, |s| s.op == Op::Read)), [6.0, 0.0, 0.0, 2.0]);
    }

    #[test]
    fn a_merged_slice_is_spread_over_its_span() {
        let merged = Slice { span: 4, ..slice(1, Op::Read, 8) };
        assert_eq!(ops(&cells(&[merged], |_| true)), [0.0, 2.0, 2.0, 2.0, 2.0]);
    }

    #[test]
    fn a_count_within_an_interval_is_known_to_within_what_the_interval_lacks() {
        let ops = |at: u64, done: [u64; 3]| {
            let slices: Vec<_> = done.iter().enumerate().map(|(at, &ops)| slice(at as u32, Op::Read, ops)).collect();
            uncertainty(&cells(&slices, |_| true), Nanos::millis(at), |cell| cell.ops)
        };
        assert_eq!(ops(150, [100, 100, 100]), 0.0);
        assert_eq!(ops(100, [100, 50, 100]), 0.0, "between two intervals nothing is guessed");
        // Half of the interval without completions, before or after its middle: 0 or 50, not 25.
        assert_eq!(ops(150, [100, 50, 100]), 25.0);
        assert_eq!(ops(150, [100, 100, 40]), 0.0);
        assert_eq!(ops(950, [100, 100, 100]), 0.0, "no interval there");
    }

    #[test]
    fn a_stall_until_the_end_of_the_window_is_zeros() {
        let run = crate::fixture::run().trial(0).window(Nanos::secs(1)).done().record();
        let trial = &run.trials[0];
        let early = cells(&trial.slices, |s| s.interval < 8);
        let window = inside_window(trial, early);
        assert_eq!((window.len(), window.iter().filter(|c| c.ops == 0.0).count()), (10, 7));
    }

    #[test]
    fn a_hostile_interval_does_not_take_all_memory() {
        let hostile = Slice { span: u32::MAX, ..slice(u32::MAX, Op::Read, 8) };
        assert!(cells(std::slice::from_ref(&hostile), |_| true).len() <= INTERVALS_MAX);
    }

    #[test]
    fn parts_of_intervals_count_in_proportion() {
        let cells = [Cell { ops: 1.0, bytes: 100.0 }, Cell { ops: 1.0, bytes: 200.0 }];
        assert_eq!(between(&cells, Nanos::millis(50), Nanos::millis(150)), Cell { ops: 1.0, bytes: 150.0 });
        assert_eq!(between(&cells, Nanos(0), Nanos::secs(9)), Cell { ops: 2.0, bytes: 300.0 });
        assert_eq!(between(&cells, Nanos::secs(5), Nanos::secs(1)), Cell::default());
    }

    #[test]
    fn blocks_are_means_per_second_and_a_rest_is_dropped() {
        let cells: Vec<Cell> = (0..5).map(|i| Cell { ops: f64::from(i), bytes: 0.0 }).collect();
        assert_eq!(blocks(&cells, 2, |cell| cell.ops), [5.0, 25.0]);
    }

    #[test]
    fn a_histogram_belongs_to_the_second_at_whose_end_it_came() {
        let with = |interval| Slice {
            latency: Some(Sparse { buckets: vec![(9, 1)].into(), sum_ns: 9, min_ns: 9, max_ns: 9 }),
            ..slice(interval, Op::Read, 1)
        };
        // Second 0 ends with interval 9; a part that came late (interval 10) still belongs to it.
        let mut counts = Vec::new();
        each_second(&[with(9), with(10), with(19), with(24)], Op::Read, |second, h| counts.push((second, h.count())));
        assert_eq!(counts, [(0, 2), (1, 1), (2, 1)]);
    }
}
