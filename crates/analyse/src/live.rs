//! Figures of a trial that is going on: of its last seconds, for a progress line, and second by second, for a chart that grows.

use crate::series::{INTERVAL, INTERVALS_MAX};
use std::collections::BTreeMap;
use stend_base::{Histogram, Nanos, Share};
use stend_record::Slice;
use stend_spec::workload::Op;

/// What happened in the last seconds, all I/Os but syncs of all streams together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LiveFigures {
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Median latency; `None` before the first histogram (one per second).
    pub p50: Option<Nanos>,
    /// 99th percentile of the same I/Os.
    pub p99: Option<Nanos>,
    /// 99.9th percentile of the same I/Os.
    pub p999: Option<Nanos>,
    /// Largest latency of the same I/Os, because one that lies below a percentile would be wrong to the reader; before the
    /// first histogram that of the counters. `None` if nothing completed.
    pub max: Option<Nanos>,
    /// Failed I/Os.
    pub errors: u64,
}

/// Figures of the last `span` before the newest slice of a trial.
///
/// A trial that has run for less is taken as it is. All zero and `None` without slices: the caller
/// knows when the last one came and says "no data" itself.
pub fn live(slices: &[Slice], span: Nanos) -> LiveFigures {
    let end_of = |s: &Slice| u64::from(s.interval) + u64::from(s.span.max(1));
    let end = slices.iter().map(end_of).max().unwrap_or(0);
    let first = end.saturating_sub((span.0 / INTERVAL.0).max(1));
    let seconds = (end - first) as f64 * INTERVAL.as_secs();
    let (mut ops, mut bytes, mut figures) = (0.0, 0.0, LiveFigures::default());
    let mut latency = Histogram::new();
    for slice in slices.iter().filter(|s| end_of(s) > first) {
        figures.errors = figures.errors.saturating_add(slice.errors);
        if slice.op == Op::Sync {
            continue;
        }
        // Only the part of a merged slice that is inside.
        let inside = (end_of(slice) - u64::from(slice.interval).max(first)) as f64 / f64::from(slice.span.max(1));
        ops += slice.ops as f64 * inside;
        bytes += slice.bytes as f64 * inside;
        if slice.ops > 0 {
            figures.max = figures.max.max(Some(Nanos(slice.latency_max_ns)));
        }
        if let Some(histogram) = &slice.latency {
            latency.merge_sparse(histogram);
        }
    }
    if seconds > 0.0 {
        (figures.iops, figures.bytes_per_s) = (ops / seconds, bytes / seconds);
    }
    // A histogram reaches back for a second, also over the begin of the span, which the counters do not.
    let max = latency.max().or(figures.max);
    let (p50, p99, p999) = percentiles(&latency);
    LiveFigures { p50, p99, p999, max, ..figures }
}

fn percentiles(latency: &Histogram) -> (Option<Nanos>, Option<Nanos>, Option<Nanos>) {
    (latency.quantile(Share(0.5)), latency.quantile(Share(0.99)), latency.quantile(Share(0.999)))
}

/// Intervals of a second.
const SECOND: u64 = Nanos::secs(1).0 / INTERVAL.0;

/// The seconds of one trial, each handed out once: slices may come late, so that a second waits until the one behind it has passed.
#[derive(Debug, Default)]
pub struct Seconds {
    /// Slices that were taken.
    taken: usize,
    /// The first second that was not handed out.
    next: u64,
    /// End of the newest slice, in intervals.
    end: u64,
    open: BTreeMap<u64, Part>,
}

/// A second in the making.
#[derive(Debug, Default)]
struct Part {
    figures: LiveFigures,
    latency: Histogram,
}

impl Seconds {
    /// What can be told of the trial's slices that was not told before, by ordinal since the start of load; with the last of them, which may
    /// be shorter, when the trial is `over`. A slice that comes after its second was handed out is left out.
    pub fn look(&mut self, slices: &[Slice], over: bool) -> Vec<(u32, LiveFigures)> {
        for slice in slices.get(self.taken..).unwrap_or_default() {
            self.take(slice);
        }
        self.taken = slices.len();
        let until = if over { self.end.div_ceil(SECOND) } else { (self.end / SECOND).saturating_sub(1) };
        let mut told = Vec::new();
        while self.next < until {
            // A second without slices is a stall, and told as zero; a gap longer than any run is a hostile file.
            let second = self.next;
            let part = self.open.remove(&second).unwrap_or_default();
            let covered = (self.end - second * SECOND).min(SECOND) as f64 * INTERVAL.as_secs();
            let figures = part.figures;
            let (p50, p99, p999) = percentiles(&part.latency);
            told.push((
                second as u32,
                LiveFigures {
                    iops: figures.iops / covered,
                    bytes_per_s: figures.bytes_per_s / covered,
                    p50,
                    p99,
                    p999,
                    max: part.latency.max().max(figures.max),
                    ..figures
                },
            ));
            self.next += 1;
        }
        told
    }

    fn take(&mut self, slice: &Slice) {
        let (first, span) = (u64::from(slice.interval), u64::from(slice.span.max(1)));
        let end = first + span;
        if end as usize > INTERVALS_MAX {
            return;
        }
        self.end = self.end.max(end);
        let last = (end - 1) / SECOND;
        for second in (first / SECOND).max(self.next)..=last {
            let part = self.open.entry(second).or_default();
            if slice.op != Op::Sync {
                let inside = end.min((second + 1) * SECOND) - first.max(second * SECOND);
                part.figures.iops += slice.ops as f64 * inside as f64 / span as f64;
                part.figures.bytes_per_s += slice.bytes as f64 * inside as f64 / span as f64;
            }
        }
        if last < self.next {
            return;
        }
        let part = self.open.entry(last).or_default();
        part.figures.errors = part.figures.errors.saturating_add(slice.errors);
        if slice.op != Op::Sync && slice.ops > 0 {
            part.figures.max = part.figures.max.max(Some(Nanos(slice.latency_max_ns)));
        }
        if let Some(histogram) = slice.latency.as_ref().filter(|_| slice.op != Op::Sync) {
            part.latency.merge_sparse(histogram);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{run, slice};

    #[test]
    fn the_last_seconds_are_told_and_what_was_before_is_not() {
        let mut slices: Vec<Slice> = (0..50).map(|i| slice(i, Op::Read, 100)).collect();
        slices[3].errors = 9;
        slices[45].errors = 2;
        slices[45].latency_max_ns = 77;
        slices.push(slice(49, Op::Sync, 1_000));
        let found = live(&slices, Nanos::secs(2));
        assert_eq!((found.iops, found.bytes_per_s, found.errors), (1000.0, 4_096_000.0, 2));
        assert_eq!((found.max, found.p50), (Some(Nanos(77)), None));
    }

    #[test]
    fn a_trial_that_has_just_begun_is_taken_as_it_is() {
        assert_eq!(live(&[slice(0, Op::Write, 100)], Nanos::secs(5)).iops, 1000.0);
        assert_eq!(live(&[], Nanos::secs(5)), LiveFigures::default());
        let merged = Slice { span: 10, ..slice(0, Op::Read, 100) };
        assert_eq!(live(&[merged], Nanos::millis(500)).iops, 100.0);
    }

    #[test]
    fn a_percentile_never_lies_above_the_largest_latency() {
        let mut slow = Histogram::new();
        slow.record_many(Nanos(2_310_000), 100);
        let mut slices: Vec<Slice> = (0..25).map(|i| slice(i, Op::Read, 100)).collect();
        slices.iter_mut().for_each(|slice| slice.latency_max_ns = 2_110_000);
        // The slowest I/O ended in the first interval, of which nothing but this histogram lies within the span.
        (slices[0].latency_max_ns, slices[9].latency) = (2_310_000, Some(slow.sparse()));
        let found = live(&slices, Nanos::secs(2));
        assert_eq!((found.p99, found.max), (Some(Nanos(2_310_000)), Some(Nanos(2_310_000))));
    }

    #[test]
    fn every_second_is_told_once_when_the_next_has_passed_and_the_last_at_the_end() {
        let slices: Vec<Slice> = (0..35).map(|i| slice(i, Op::Read, 100)).collect();
        let mut seconds = Seconds::default();
        let mut looks = |until: usize, over| {
            let told = seconds.look(&slices[..until], over);
            told.into_iter().map(|(second, figures)| (second, figures.iops)).collect::<Vec<_>>()
        };
        assert_eq!(looks(19, false), []);
        assert_eq!(looks(20, false), [(0, 1000.0)]);
        assert_eq!(looks(20, false), []);
        assert_eq!(looks(35, false), [(1, 1000.0)]);
        assert_eq!(looks(35, true), [(2, 1000.0), (3, 1000.0)]);
        assert_eq!(looks(35, true), []);
    }

    #[test]
    fn a_second_without_slices_is_a_stall_and_a_merged_slice_is_shared_out() {
        let merged = Slice { span: 20, ops: 200, ..slice(25, Op::Read, 0) };
        let told = Seconds::default().look(&[slice(0, Op::Read, 10), slice(1, Op::Sync, 1_000), merged], true);
        let iops: Vec<f64> = told.iter().map(|(_, figures)| figures.iops).collect();
        // 25 to 44: five intervals in the third second, ten in the fourth, five in the half second that is left.
        assert_eq!(iops, [10.0, 0.0, 50.0, 100.0, 100.0]);
    }

    #[test]
    fn a_slice_far_away_in_a_hostile_file_makes_no_seconds() {
        assert!(Seconds::default().look(&[slice(u32::MAX, Op::Read, 1)], true).is_empty());
    }

    #[test]
    fn percentiles_come_from_merged_histograms() {
        let record = run().trial(0).iops(10_000.0).done().record();
        let found = live(&record.trials[0].slices, Nanos::secs(2));
        assert!(found.p50 < found.p99 && found.p99 <= found.max);
        assert!(found.p50.unwrap().0.abs_diff(3_200_000) < 3_200_000 / 50, "{found:?}");
    }
}
