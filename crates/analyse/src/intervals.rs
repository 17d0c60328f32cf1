//! A stretch of a trial in at most so many buckets: means with the smallest and largest interval, and percentiles of merged histograms. Must
//! not read files: slices come one by one, in any order.

pub use crate::series::{INTERVAL, INTERVALS_MAX};

use crate::series::{self, Cell};
use std::collections::BTreeMap;
use std::ops::Range;
use stend_base::histogram::Sparse;
use stend_base::{Histogram, Nanos, Share};
use stend_record::{Slice, TrialRecord};
use stend_spec::workload::Op;

/// Intervals of a second, over which a histogram reaches.
const SECOND: usize = (Nanos::SECOND.0 / INTERVAL.0) as usize;

/// Intervals of a trial since its start of load that lie in a stretch of the run, which is given in time since the run's start; none if it
/// ran at another time. `observed` is where its last slice ends.
pub fn within(trial: &TrialRecord, observed: u64, run_start: Nanos, stretch: &Range<Nanos>) -> Range<usize> {
    let length = series::load_length(trial, Nanos(observed.saturating_mul(INTERVAL.0)));
    let whole = (length.0 / INTERVAL.0).min(INTERVALS_MAX as u64);
    let begin = load_start(trial, run_start);
    let first = stretch.start.saturating_sub(begin).0 / INTERVAL.0;
    let end = stretch.end.saturating_sub(begin).0.div_ceil(INTERVAL.0).min(whole);
    first.min(end) as usize..end as usize
}

/// Start of load of a trial, since the run's start.
pub fn load_start(trial: &TrialRecord, run_start: Nanos) -> Nanos {
    series::load_start(trial).saturating_sub(run_start)
}

/// How many neighbours become one bucket so that stretches of these lengths have at most `points` buckets in all. Each has one at least,
/// so that more stretches than points have more.
pub fn bucket_size(lengths: &[usize], points: usize) -> usize {
    let buckets = |size: usize| lengths.iter().map(|length| length.div_ceil(size)).sum::<usize>();
    let (mut least, mut most) = (1, lengths.iter().copied().max().unwrap_or(1).max(1));
    while least < most {
        let middle = least + (most - least) / 2;
        if buckets(middle) <= points { most = middle } else { least = middle + 1 }
    }
    least
}

/// The seconds since the start of load that intervals touch.
pub fn seconds(intervals: &Range<usize>) -> Range<usize> {
    intervals.start / SECOND..intervals.end.div_ceil(SECOND)
}

/// Mean of a bucket per second, with its smallest and its largest interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Mean.
    pub mean: f64,
    /// The smallest interval.
    pub min: f64,
    /// The largest interval.
    pub max: f64,
}

/// Latencies of a bucket, from its merged histograms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latency {
    /// Median.
    pub p50: Nanos,
    /// 99th percentile.
    pub p99: Nanos,
    /// The largest.
    pub max: Nanos,
}

/// Buckets of one operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Reduced {
    /// The operation.
    pub op: Op,
    /// I/Os per second.
    pub iops: Vec<Rate>,
    /// Bytes per second.
    pub bytes: Vec<Rate>,
    /// Largest latency by the counters of the intervals, which have no histograms of their own; 0 if nothing completed.
    pub largest: Vec<Nanos>,
    /// By bucket of seconds; `None` if nothing completed.
    pub latencies: Vec<Option<Latency>>,
}

/// Reduces a stretch of a trial.
#[derive(Debug)]
pub struct Reducer {
    intervals: Range<usize>,
    size: usize,
    seconds: Range<usize>,
    seconds_size: usize,
    ops: BTreeMap<Op, Sums>,
}

/// What came of one operation.
#[derive(Debug)]
struct Sums {
    cells: Vec<Cell>,
    largest: Vec<u64>,
    latencies: Latencies,
}

/// Histograms by bucket, of which one is spread out: slices come nearly in the order of time.
#[derive(Debug)]
struct Latencies {
    folded: Vec<Option<Sparse>>,
    at: Option<usize>,
    spread: Histogram,
}

impl Reducer {
    /// Nothing yet, of these intervals of a trial, so many to a bucket, and so many seconds to a bucket of latencies. Operations that
    /// completed anything in its window are there with zeros.
    pub fn new(trial: &TrialRecord, intervals: Range<usize>, size: usize, seconds_size: usize) -> Reducer {
        let seconds = seconds(&intervals);
        let (size, seconds_size) = (size.max(1), seconds_size.max(1));
        let mut reducer = Reducer { intervals, size, seconds, seconds_size, ops: BTreeMap::new() };
        let jobs = || trial.known_outcomes().into_iter().flat_map(|outcome| &outcome.jobs);
        for op in Op::ALL.into_iter().filter(|op| jobs().any(|job| job.done[op.index()].0 > 0)) {
            reducer.sums(op);
        }
        reducer
    }

    fn sums(&mut self, op: Op) -> &mut Sums {
        let count = self.intervals.len();
        let (buckets, of_seconds) = (count.div_ceil(self.size), self.seconds.len().div_ceil(self.seconds_size));
        self.ops.entry(op).or_insert_with(|| Sums {
            cells: vec![Cell::default(); count],
            largest: vec![0; buckets],
            latencies: Latencies { folded: vec![None; of_seconds], at: None, spread: Histogram::new() },
        })
    }

    /// Adds a slice; what lies outside is left out.
    pub fn take(&mut self, slice: &Slice) {
        let (intervals, size) = (self.intervals.clone(), self.size);
        let (seconds, seconds_size) = (self.seconds.clone(), self.seconds_size);
        let sums = self.sums(slice.op);
        let span = slice.span.max(1) as usize;
        let first = slice.interval as usize;
        let inside = first.max(intervals.start)..first.saturating_add(span).min(intervals.end);
        for place in inside.map(|interval| interval - intervals.start) {
            let cell = &mut sums.cells[place];
            cell.ops += slice.ops as f64 / span as f64;
            cell.bytes += slice.bytes as f64 / span as f64;
            let largest = &mut sums.largest[place / size];
            *largest = slice.latency_max_ns.max(*largest);
        }
        let second = series::second_of(slice) as usize;
        if let Some(latency) = slice.latency.as_ref().filter(|_| seconds.contains(&second)) {
            sums.latencies.merge((second - seconds.start) / seconds_size, latency);
        }
    }

    /// What came, by operation in the order of [`Op::ALL`].
    pub fn finish(self) -> Vec<Reduced> {
        let size = self.size;
        let reduced = |(op, sums): (Op, Sums)| Reduced {
            op,
            iops: rates(&sums.cells, size, |cell| cell.ops),
            bytes: rates(&sums.cells, size, |cell| cell.bytes),
            largest: sums.largest.into_iter().map(Nanos).collect(),
            latencies: sums.latencies.finish(),
        };
        self.ops.into_iter().map(reduced).collect()
    }
}

impl Latencies {
    fn merge(&mut self, bucket: usize, latency: &Sparse) {
        if self.at != Some(bucket) {
            self.fold();
            if let Some(known) = self.folded[bucket].take() {
                self.spread.merge_sparse(&known);
            }
            self.at = Some(bucket);
        }
        self.spread.merge_sparse(latency);
    }

    /// Puts the bucket that is spread out back to the others.
    fn fold(&mut self) {
        if let Some(bucket) = self.at.take() {
            self.folded[bucket] = Some(self.spread.sparse());
            self.spread.clear();
        }
    }

    fn finish(mut self) -> Vec<Option<Latency>> {
        self.fold();
        let Latencies { folded, mut spread, .. } = self;
        let of = |latency: Option<Sparse>| {
            spread.clear();
            spread.merge_sparse(&latency?);
            let (p50, p99) = (spread.quantile(Share(0.5))?, spread.quantile(Share(0.99))?);
            Some(Latency { p50, p99, max: spread.max()? })
        };
        folded.into_iter().map(of).collect()
    }
}

fn rates(cells: &[Cell], size: usize, of: fn(&Cell) -> f64) -> Vec<Rate> {
    let rate = |bucket: &[Cell]| {
        let values = || bucket.iter().map(|cell| of(cell) / INTERVAL.as_secs());
        Rate {
            mean: values().sum::<f64>() / bucket.len() as f64,
            min: values().fold(f64::INFINITY, f64::min),
            max: values().fold(0.0, f64::max),
        }
    };
    cells.chunks(size).map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{run, slice};
    use stend_record::RunRecord;

    fn reduced(record: &RunRecord, intervals: Range<usize>, size: usize, seconds: usize) -> Vec<Reduced> {
        let trial = &record.trials[0];
        let mut reducer = Reducer::new(trial, intervals, size, seconds);
        trial.slices.iter().for_each(|slice| reducer.take(slice));
        reducer.finish()
    }

    /// A trial with these slices and no end.
    fn with(slices: Vec<Slice>) -> RunRecord {
        let mut record = run().trial(0).unfinished().record();
        record.trials[0].slices = slices;
        record
    }

    #[test]
    fn a_spike_and_a_stall_of_one_interval_are_never_lost_however_few_buckets_there_are() {
        let ops = |interval| match interval {
            377 => 9_000,
            612 => 0,
            _ => 100,
        };
        let slices: Vec<Slice> = (0..1000).map(|interval| slice(interval, Op::Read, ops(interval))).collect();
        for size in [1, 7, 100, 1000] {
            let found = reduced(&with(slices.clone()), 0..1000, size, 1);
            let iops = &found[0].iops;
            assert_eq!(iops.len(), 1000_usize.div_ceil(size));
            assert_eq!((iops[377 / size].max, iops[612 / size].min), (90_000.0, 0.0), "{size}");
            assert!(iops.iter().all(|rate| rate.min <= rate.mean && rate.mean <= rate.max));
        }
    }

    #[test]
    fn the_means_of_all_buckets_add_up_to_what_completed() {
        let mut slices: Vec<Slice> = (0..95).map(|interval| slice(interval, Op::Write, u64::from(interval))).collect();
        slices.push(Slice { span: 4, ..slice(90, Op::Write, 400) });
        slices.push(slice(3, Op::Write, 7));
        let all: u64 = slices.iter().map(|slice| slice.ops).sum();
        for size in [1, 10, 40] {
            let found = reduced(&with(slices.clone()), 0..95, size, 1);
            let lengths = (0..95_usize).step_by(size).map(|first| size.min(95 - first) as f64 * INTERVAL.as_secs());
            let sum: f64 = found[0].iops.iter().zip(lengths).map(|(rate, seconds)| rate.mean * seconds).sum();
            assert!((sum - all as f64).abs() < 1e-6, "{size}: {sum}");
        }
    }

    #[test]
    fn percentiles_of_one_bucket_are_those_of_all_histograms_merged() {
        let record = run().trial(0).window(Nanos::secs(5)).iops(10_000.0).done().record();
        let trial = &record.trials[0];
        let mut whole = Histogram::new();
        trial.slices.iter().filter_map(|slice| slice.latency.as_ref()).for_each(|part| whole.merge_sparse(part));
        let intervals = within(trial, 10_000, Nanos(0), &(Nanos(0)..Nanos(u64::MAX)));
        let count = seconds(&intervals).len();
        let found = reduced(&record, intervals, 1, count);
        let expected = Latency {
            p50: whole.quantile(Share(0.5)).unwrap(),
            p99: whole.quantile(Share(0.99)).unwrap(),
            max: whole.max().unwrap(),
        };
        assert_eq!(found[0].latencies, [Some(expected)]);
    }

    #[test]
    fn histograms_that_come_out_of_order_are_merged_into_their_buckets() {
        let of = |interval, ns| {
            let mut latency = Histogram::new();
            latency.record(Nanos(ns));
            Slice { latency: Some(latency.sparse()), ..slice(interval, Op::Read, 1) }
        };
        let found = reduced(&with(vec![of(9, 10), of(29, 50), of(10, 30), of(19, 20)]), 0..30, 30, 1);
        let largest: Vec<u64> = found[0].latencies.iter().map(|latency| latency.unwrap().max.0).collect();
        // A part of the first second came late.
        assert_eq!(largest, [30, 20, 50]);
    }

    #[test]
    fn a_stretch_begins_and_ends_within_a_trial_and_one_elsewhere_has_nothing() {
        let record = run().trial(0).window(Nanos::secs(5)).done().record();
        let (trial, start) = (&record.trials[0], series::start(&record));
        let begin = load_start(trial, start);
        let at = |ms: u64| begin + Nanos::millis(ms);
        let observed = series::observed(&trial.slices).0 / INTERVAL.0;
        assert_eq!(within(trial, observed, start, &(at(1_250)..at(1_310))), 12..14);
        assert_eq!(within(trial, observed, start, &(Nanos(0)..begin)).len(), 0);
        assert_eq!(within(trial, observed, start, &(at(3_600_000)..at(7_200_000))).len(), 0);
        let whole = within(trial, observed, start, &(Nanos(0)..Nanos(u64::MAX)));
        assert_eq!((whole.start, whole.end as u64), (0, observed));
        assert_eq!(seconds(&(12..14)), 1..2);
    }

    #[test]
    fn an_operation_that_stands_still_is_zero_and_not_absent() {
        let record = run().trial(0).window(Nanos::secs(5)).done().record();
        let mut reducer = Reducer::new(&record.trials[0], 0..10, 5, 1);
        reducer.take(&slice(u32::MAX, Op::Read, 1));
        let found = reducer.finish();
        assert_eq!(found[0].iops, [Rate { mean: 0.0, min: 0.0, max: 0.0 }; 2]);
        assert_eq!(found[0].latencies, [None]);
    }

    #[test]
    fn buckets_are_as_small_as_the_number_of_points_allows() {
        assert_eq!(bucket_size(&[600], 600), 1);
        assert_eq!(bucket_size(&[601], 600), 2);
        assert_eq!(bucket_size(&[100, 100, 5], 21), 10);
        assert_eq!(bucket_size(&[], 10), 1);
        // One for each trial, although there are more trials than points.
        assert_eq!(bucket_size(&[50; 20], 10), 50);
    }
}
