//! The recorded I/Os that a job makes again: which one is its n-th, when that is due, and where on the target it goes. Must
//! not keep state: all of it follows from n.

use crate::step::Step;
use std::sync::Arc;
use stend_spec::trace::{Beyond, Pace, TracedIo};
use stend_spec::workload::{Op, Stream, Trial};

/// The share of a job in a trace: of `jobs` jobs the one with number `job` makes every `jobs`-th I/O.
#[derive(Debug, Clone)]
pub(crate) struct Replaying {
    ios: Arc<Vec<TracedIo>>,
    jobs: u64,
    job: u64,
    pace: Pace,
    place: Place,
}

/// From offsets of the trace to those on the target.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: u64,
    len: u64,
    alignment: u64,
    fit: Fit,
}

#[derive(Debug, Clone, Copy)]
enum Fit {
    /// Everything fits as it is.
    AsItIs,
    /// Offsets begin again behind the range.
    Wrapped,
    /// Offsets are multiplied by this over 2^64.
    Scaled(u64),
}

impl Replaying {
    /// The share of a job of this stream.
    pub fn new(ios: Arc<Vec<TracedIo>>, trial: &Trial, stream: &Stream, job: u32) -> Option<Replaying> {
        let replay = stream.replay?;
        let range = stream.region.unwrap_or(trial.region);
        let (len, end) = (range.len.0, replay.end.0);
        let fit = match replay.beyond {
            _ if end <= len => Fit::AsItIs,
            Beyond::Scale => Fit::Scaled((u128::from(len) * (1 << 64) / u128::from(end)) as u64),
            Beyond::Wrap | Beyond::Refuse => Fit::Wrapped,
        };
        let place = Place { start: range.start.0, len, alignment: replay.alignment.0, fit };
        Some(Replaying { ios, jobs: u64::from(stream.jobs), job: u64::from(job), pace: replay.pace, place })
    }

    /// I/Os of the whole trace.
    pub fn len(&self) -> u64 {
        self.ios.len() as u64
    }

    /// Number in the trace of the I/O that the job makes as its `index`-th; behind the last it goes on from the first.
    #[inline]
    pub fn number(&self, index: u64) -> u64 {
        let number = self.job + index * self.jobs;
        // At a pace there is no second round, and a division costs as much as all the rest.
        if number < self.len() { number } else { number % self.len() }
    }

    /// What the job does as its `index`-th I/O.
    #[inline]
    pub fn at(&self, index: u64) -> Step {
        let io = self.ios[self.number(index) as usize];
        let offset = if io.op == Op::Sync { self.place.start } else { self.place.of(&io) };
        Step { op: io.op, offset, len: io.len, durable: io.durable }
    }

    /// When the I/O with this number of the trace is due, ns since the start of the load; `None` behind the last.
    #[inline]
    pub fn due(&self, number: u64) -> Option<u64> {
        self.pace.due(self.ios.get(number as usize)?.at)
    }

    /// How many I/Os of the trace, of all jobs, are due before `end`.
    pub fn before(&self, end: u64) -> u64 {
        self.ios.partition_point(|io| self.pace.due(io.at).is_some_and(|due| due < end)) as u64
    }
}

impl Place {
    #[inline]
    fn of(&self, io: &TracedIo) -> u64 {
        let last = self.len - u64::from(io.len);
        let moved = match self.fit {
            Fit::AsItIs => return self.start + io.offset,
            Fit::Wrapped => io.offset % self.len,
            Fit::Scaled(ratio) => ((u128::from(io.offset) * u128::from(ratio)) >> 64) as u64,
        };
        // What would reach over the end is moved before it; everything stays as aligned as the trace is.
        self.start + moved.min(last) / self.alignment * self.alignment
    }
}
