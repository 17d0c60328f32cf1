//! Merges the parts of all threads into slices and totals. Pure: no clock, no threads.

use crate::part::{Counter, Part, Phase};
use std::collections::BTreeMap;
use stend_base::histogram::{Histogram, Sparse};
use stend_record::observed::{Drained, JobTotals, OpenSlice, Slice};
use stend_spec::workload::{OPS, Op, Stream};

/// Slices carry latencies once in this many intervals: every second.
const LATENCY_EVERY: u32 = 10;

/// Latencies by operation; of an open loop from when an I/O was due, and from its begin.
#[derive(Debug)]
struct Latencies {
    latency: [Histogram; OPS],
    service: Option<[Histogram; OPS]>,
}

impl Latencies {
    fn new(open: bool) -> Latencies {
        Latencies { latency: histograms(), service: open.then(histograms) }
    }

    fn add(&mut self, part: &Part, op: Op) {
        let merge = |into: &mut Histogram, from: &Histogram| {
            if from.count() > 0 {
                into.merge(from);
            }
        };
        merge(&mut self.latency[op.index()], &part.latencies[op.index()]);
        if let (Some(into), Some(from)) = (&mut self.service, &part.services) {
            merge(&mut into[op.index()], &from[op.index()]);
        }
    }

    fn count(&self, op: Op) -> u64 {
        self.latency[op.index()].count()
    }

    /// Latency and service of an operation as they are stored.
    fn sparse(&self, op: Op) -> (Sparse, Option<Sparse>) {
        (self.latency[op.index()].sparse(), self.service.as_ref().map(|service| service[op.index()].sparse()))
    }

    fn clear(&mut self, op: Op) {
        self.latency[op.index()].clear();
        if let Some(service) = &mut self.service {
            service[op.index()].clear();
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Collector<'a> {
    streams: &'a [Stream],
    /// By (first interval, span, stream, operation), since the last slices.
    pending: BTreeMap<(u32, u32, u16, Op), Counter>,
    /// By stream, since the last slice with latencies.
    recent: Vec<Latencies>,
    /// By stream.
    drained: Vec<Latencies>,
    completed: u64,
}

/// What a job did inside the window.
#[derive(Debug)]
pub(crate) struct JobSum {
    done: [(u64, u64); OPS],
    failed: u64,
    latencies: Latencies,
}

impl JobSum {
    /// Nothing yet, `open` for a job of an open loop.
    pub fn new(open: bool) -> JobSum {
        JobSum { done: [(0, 0); OPS], failed: 0, latencies: Latencies::new(open) }
    }

    /// I/Os that failed.
    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// As recorded, without the costs.
    pub fn totals(&self, stream: u16, job: u32) -> JobTotals {
        JobTotals {
            done: self.done,
            latency: Op::ALL.map(|op| self.latencies.latency[op.index()].sparse()),
            service: self.latencies.service.as_ref().map(|s| Op::ALL.map(|op| s[op.index()].sparse())),
            ..JobTotals::empty(stream, job)
        }
    }
}

fn histograms() -> [Histogram; OPS] {
    std::array::from_fn(|_| Histogram::new())
}

impl<'a> Collector<'a> {
    /// Nothing yet.
    pub fn new(streams: &'a [Stream]) -> Collector<'a> {
        Collector {
            streams,
            pending: BTreeMap::new(),
            recent: streams.iter().map(|s| Latencies::new(s.is_open())).collect(),
            drained: streams.iter().map(|s| Latencies::new(s.is_open())).collect(),
            completed: 0,
        }
    }

    /// Adds a part of a thread of `stream` whose job is `job`.
    pub fn absorb(&mut self, part: &Part, stream: u16, job: &mut JobSum) {
        for op in Op::ALL {
            let counter = part.counter(op);
            if counter.is_empty() {
                continue;
            }
            self.completed += counter.ops;
            if part.phase == Phase::Drain {
                self.drained[stream as usize].add(part, op);
                continue;
            }
            self.pending.entry((part.interval, part.span, stream, op)).or_default().add(&counter);
            self.recent[stream as usize].add(part, op);
            if part.phase == Phase::Window {
                let done = &mut job.done[op.index()];
                *done = (done.0 + counter.ops, done.1 + counter.bytes);
                job.failed += counter.errors;
                job.latencies.add(part, op);
            }
        }
    }

    /// Notes that `count` I/Os of an open-loop stream were due in an interval.
    pub fn due(&mut self, interval: u32, stream: u16, count: u64) {
        let spec = &self.streams[stream as usize];
        if let Some(first) = Op::ALL.into_iter().find(|&op| uses(spec, op)) {
            self.pending.entry((interval, 1, stream, first)).or_default().due += count;
        }
    }

    /// I/Os completed so far, in every phase.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Slices of all that was absorbed since the last call, when interval number `interval` has just
    /// ended. Every operation in use has a slice in it, if only to say that nothing completed.
    pub fn interval_over(&mut self, interval: u32) -> Vec<Slice> {
        for (stream, spec) in self.streams.iter().enumerate() {
            for op in Op::ALL.into_iter().filter(|&op| uses(spec, op)) {
                self.pending.entry((interval, 1, stream as u16, op)).or_default();
            }
        }
        self.slices(interval, (interval + 1).is_multiple_of(LATENCY_EVERY))
    }

    /// Slices of all that is left, after the end of the load in interval number `interval`.
    pub fn rest(&mut self, interval: u32) -> Vec<Slice> {
        self.slices(interval, true)
    }

    fn slices(&mut self, interval: u32, with_latency: bool) -> Vec<Slice> {
        let mut latency = BTreeMap::new();
        if with_latency {
            for (stream, recent) in self.recent.iter_mut().enumerate() {
                for op in Op::ALL.into_iter().filter(|&op| recent.count(op) > 0).collect::<Vec<_>>() {
                    latency.insert((stream as u16, op), recent.sparse(op));
                    recent.clear(op);
                    if !self.pending.keys().any(|&(.., s, o)| (s, o) == (stream as u16, op)) {
                        self.pending.insert((interval, 1, stream as u16, op), Counter::default());
                    }
                }
            }
        }
        let mut slices = Vec::with_capacity(self.pending.len());
        // From the end, so that the latest slice of each stream and operation takes the latencies.
        for ((interval, span, stream, op), counter) in std::mem::take(&mut self.pending).into_iter().rev() {
            let (latency, service) = latency.remove(&(stream, op)).map_or((None, None), |(l, s)| (Some(l), s));
            let open = self.streams[stream as usize].is_open().then(|| {
                Box::new(OpenSlice {
                    due: counter.due,
                    begun: counter.begun,
                    late_sum_ns: counter.late_sum_ns,
                    late_max_ns: counter.late_max_ns,
                    service,
                })
            });
            slices.push(Slice {
                interval,
                span,
                stream,
                op,
                ops: counter.ops,
                bytes: counter.bytes,
                errors: counter.errors,
                latency_max_ns: counter.latency_max_ns,
                latency,
                open,
            });
        }
        slices.reverse();
        slices
    }

    /// Latencies of I/Os that completed after the window, where there are any.
    pub fn drained(&self) -> Vec<Drained> {
        let by_stream = self.drained.iter().zip(0..);
        let all = by_stream.flat_map(|(drained, stream)| Op::ALL.map(|op| (drained, stream, op)));
        let drained = |(drained, stream, op): (&Latencies, u16, Op)| {
            let (latency, service) = drained.sparse(op);
            Drained { stream, op, latency, service }
        };
        all.filter(|(drained, _, op)| drained.count(*op) > 0).map(drained).collect()
    }
}

fn uses(stream: &Stream, op: Op) -> bool {
    match op {
        Op::Sync => stream.mix.write > 0 && stream.sync.every() > 0 || stream.replay.is_some_and(|replay| replay.syncs),
        _ => stream.mix.share(op) > 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::stream;
    use stend_base::Nanos;
    use stend_spec::workload::{Mix, Sync};

    fn part(phase: Phase, interval: u32, op: Op, latencies: &[u64]) -> Part {
        let mut part = Part::new(false);
        (part.phase, part.interval) = (phase, interval);
        latencies.iter().for_each(|&ns| part.record(op, 4096, Nanos(ns), Nanos(ns)));
        part
    }

    #[test]
    fn parts_of_all_threads_add_up_and_only_the_window_counts_for_the_job() {
        let streams = [stream()];
        let (mut collector, mut job) = (Collector::new(&streams), JobSum::new(false));
        collector.absorb(&part(Phase::Ramp, 0, Op::Read, &[5]), 0, &mut job);
        collector.absorb(&part(Phase::Window, 0, Op::Read, &[7, 9]), 0, &mut job);
        collector.absorb(&part(Phase::Drain, 1, Op::Read, &[11]), 0, &mut job);
        let slices = collector.interval_over(0);
        assert_eq!(slices.len(), 1);
        assert_eq!((slices[0].ops, slices[0].bytes, slices[0].latency_max_ns), (3, 12_288, 9));
        let totals = job.totals(0, 0);
        assert_eq!((totals.done[0], totals.latency[0].count()), ((2, 8192), 2));
        assert_eq!(collector.drained()[0].latency.count(), 1);
    }

    #[test]
    fn latencies_come_once_per_second_and_cover_every_interval_since() {
        let streams = [stream()];
        let (mut collector, mut job) = (Collector::new(&streams), JobSum::new(false));
        for interval in 0..20 {
            collector.absorb(&part(Phase::Window, interval, Op::Read, &[1, 2, 3]), 0, &mut job);
            let slices = collector.interval_over(interval);
            let counts: Vec<_> = slices.iter().filter_map(|s| s.latency.as_ref()).map(|l| l.count()).collect();
            assert_eq!(counts, if interval % 10 == 9 { vec![30] } else { vec![] }, "interval {interval}");
        }
    }

    #[test]
    fn a_late_part_is_a_slice_of_its_own_interval_and_its_latencies_are_not_lost() {
        let streams = [stream()];
        let (mut collector, mut job) = (Collector::new(&streams), JobSum::new(false));
        assert_eq!(collector.interval_over(9)[0].ops, 0);
        collector.absorb(&part(Phase::Window, 9, Op::Read, &[1]), 0, &mut job);
        let late = collector.interval_over(10);
        assert_eq!(late.iter().map(|s| (s.interval, s.ops)).collect::<Vec<_>>(), [(9, 1), (10, 0)]);
        let rest = collector.rest(11);
        assert_eq!((rest.len(), rest[0].ops, rest[0].latency.as_ref().unwrap().count()), (1, 0, 1));
    }

    #[test]
    fn silence_is_a_slice_for_every_operation_in_use() {
        let streams = [stream_of(70, Sync::Fdatasync(4)), stream_of(0, Sync::None)];
        let slices = Collector::new(&streams).interval_over(3);
        let kinds = |slices: &[Slice]| slices.iter().map(|s| (s.stream, s.op)).collect::<Vec<_>>();
        assert_eq!(kinds(&slices), [(0, Op::Read), (0, Op::Write), (0, Op::Sync), (1, Op::Write)]);
        let erasing = [Stream { mix: Mix { read: 95, write: 0, discard: 5, write_zeroes: 0 }, ..stream() }];
        assert_eq!(kinds(&Collector::new(&erasing).interval_over(3)), [(0, Op::Read), (0, Op::Discard)]);
    }

    fn stream_of(read_percent: u8, sync: Sync) -> Stream {
        Stream { mix: Mix::of_reads(read_percent), sync, ..stream() }
    }

    #[test]
    fn intervals_that_a_thread_merged_keep_their_span() {
        let streams = [stream()];
        let (mut collector, mut job) = (Collector::new(&streams), JobSum::new(false));
        let mut merged = part(Phase::Window, 2, Op::Read, &[1]);
        merged.span = 3;
        collector.absorb(&merged, 0, &mut job);
        let slices = collector.interval_over(4);
        assert_eq!(slices.iter().map(|s| (s.interval, s.span)).collect::<Vec<_>>(), [(2, 3), (4, 1)]);
    }
}
