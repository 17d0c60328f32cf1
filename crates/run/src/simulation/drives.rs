//! What simulated storage does to a trial: rates, latencies and faults that follow from a seed and the trial alone, so that a trial that is
//! run again finds the same. Knows neither time nor protocol.

use crate::fixture;
use stend_base::Nanos;
use stend_base::histogram::{Histogram, Sparse};
use stend_base::random::{Random, draw};
use stend_record::observed::OpenTotals;
use stend_record::verification::{Checked, ReadBack, Verification};
use stend_record::{Censored, IoErrors, JobTotals, Slice, TrialOutcome, TrialStatus};
use stend_spec::workload::{Op, Stream, Trial};

/// Storage as a seed makes it.
#[derive(Debug, Clone)]
pub struct Drives {
    /// Seed of all that follows.
    pub seed: u64,
    /// Latency of an I/O that waits for no other.
    pub latency: Nanos,
    /// I/Os per second that it can do at most.
    pub iops: u64,
    /// How far the rate of one trial may be from that of another, percent.
    pub noise: u64,
    /// So many of 1000 trials fail, stall, or read what was not written.
    pub faults: [u64; 3],
}

/// One trial on it.
#[derive(Debug, Clone)]
pub struct Measured {
    /// How it ends if nobody stops it.
    pub status: TrialStatus,
    /// I/Os per second, by stream.
    rates: Vec<u64>,
    latency: Nanos,
}

impl Drives {
    /// What becomes of a trial.
    pub fn measure(&self, trial: &Trial) -> Measured {
        let mut random = Random::new(draw(self.seed, trial.seed));
        let chance = random.below(1000);
        let [failed, stalled, mismatch] = self.faults;
        let verifies = trial.streams.iter().any(|stream| stream.verify.is_some());
        let status = match chance {
            n if n < failed => TrialStatus::Failed,
            n if n < failed + stalled => TrialStatus::Stalled,
            n if n < failed + stalled + mismatch && verifies => TrialStatus::Mismatch,
            _ => TrialStatus::Complete,
        };
        let factor = 100 - self.noise / 2 + random.below(self.noise + 1);
        let most = (self.iops * factor / 100 / trial.streams.len().max(1) as u64).max(10);
        let rates = trial.streams.iter().map(|stream| self.rate(stream, trial, most)).collect();
        let latency = Nanos(self.latency.0 * (50 + random.below(100)) / 100);
        Measured { status, rates, latency }
    }

    fn rate(&self, stream: &Stream, trial: &Trial, most: u64) -> u64 {
        match &stream.rate {
            Some(rate) => (rate.mean(trial.ramp + trial.window).0 / 1000).min(most),
            None => {
                let in_flight = u64::from(stream.queue_depth) * u64::from(stream.jobs);
                (in_flight * 1_000_000_000 / self.latency.0.max(1)).clamp(10, most)
            }
        }
    }
}

impl Measured {
    /// Counters of one interval of so long a time.
    pub fn slices(&self, trial: &Trial, interval: u32, span: Nanos) -> Vec<Slice> {
        let slice = |(index, stream): (usize, &Stream)| {
            let ops = self.done(index, span);
            Slice {
                interval,
                span: 1,
                stream: index as u16,
                op: op(stream),
                ops,
                bytes: ops * stream.block_size.0,
                errors: 0,
                latency_max_ns: self.latency.0 * 2,
                latency: Some(latencies(ops, self.latency)),
                open: None,
            }
        };
        trial.streams.iter().enumerate().map(slice).collect()
    }

    fn done(&self, stream: usize, span: Nanos) -> u64 {
        (u128::from(self.rates[stream]) * u128::from(span.0) / 1_000_000_000) as u64
    }

    /// What is known at the end of a load that began then and whose window had this length.
    pub fn outcome(&self, trial: &Trial, status: TrialStatus, began: Nanos, window: Nanos) -> TrialOutcome {
        let stalled = status == TrialStatus::Stalled;
        let streams = || trial.streams.iter().enumerate();
        let job = |(index, stream): (usize, &Stream)| {
            let ops = self.done(index, window);
            let of = |wanted: Op, ops: u64| if wanted == op(stream) { ops } else { 0 };
            JobTotals {
                stream: index as u16,
                done: Op::ALL.map(|each| (of(each, ops), of(each, ops * stream.block_size.0))),
                latency: Op::ALL.map(|each| latencies(of(each, ops), self.latency)),
                service: stream.rate.as_ref().map(|_| Op::ALL.map(|each| latencies(of(each, ops), self.latency))),
                ..JobTotals::default()
            }
        };
        let open = |(index, stream): (usize, &Stream)| {
            let due = stream.rate.as_ref()?.mean(window).0 * window.0 / 1000 / 1_000_000_000;
            let late = Sparse::default;
            let missed = due.saturating_sub(self.done(index, window));
            let mut never_begun = Op::ALL.map(|_| Sparse::default());
            never_begun[op(stream).index()] = latencies(missed, window);
            Some(OpenTotals { stream: index as u16, due, late: late(), own_late: late(), never_begun })
        };
        let failed = IoErrors { stream: 0, op: Op::Read, errno: 5, count: 3, first_offset: Some(4096) };
        let hanging = |(index, stream): (usize, &Stream)| Censored {
            stream: index as u16,
            op: op(stream),
            age: trial.drain_limit,
            in_flight: trial.drain_limit,
        };
        let window_start = began + trial.ramp;
        TrialOutcome {
            load_start: began,
            window_start,
            window_end: window_start + window,
            jobs: streams().map(job).collect(),
            censored: streams().filter(|_| stalled).map(hanging).collect(),
            open: streams().filter_map(open).collect(),
            errors: if status == TrialStatus::Failed { vec![failed] } else { Vec::new() },
            verification: verified(trial, status),
            ..fixture::outcome(status)
        }
    }
}

fn verified(trial: &Trial, status: TrialStatus) -> Option<Verification> {
    trial.streams.iter().find(|stream| stream.verify.is_some())?;
    let wrong = u64::from(status == TrialStatus::Mismatch);
    let running = Checked { ok: 7, defects: [0, wrong, 0, 0, 0, 0, 0], ..Checked::default() };
    let after = match status {
        TrialStatus::Complete | TrialStatus::Mismatch => ReadBack::NotAsked,
        TrialStatus::Stalled => ReadBack::Stalled,
        TrialStatus::Interrupted | TrialStatus::Failed => ReadBack::Stopped,
    };
    Some(Verification { memory: Default::default(), running, after, examples: Vec::new() })
}

/// Nine tenths at half of the mean and more, the others at twice of it.
fn latencies(count: u64, mean: Nanos) -> Sparse {
    if count == 0 {
        return Sparse::default();
    }
    let mut histogram = Histogram::new();
    histogram.record_many(mean, count - count / 10);
    histogram.record_many(Nanos(mean.0 * 2), count / 10);
    histogram.sparse()
}

/// The operation that a stream is counted by.
fn op(stream: &Stream) -> Op {
    if stream.mix.reads() { Op::Read } else { Op::Write }
}
