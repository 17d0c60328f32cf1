//! When the I/Os of an open loop are due. The n-th one's time follows from the rate, the seed and n alone, in
//! integers: nothing drifts, and the jobs of a stream together have exactly its rate.
//!
//! Arrivals are points of a process of one per unit of *count* (equal distances, or Poisson), which the
//! [`Course`] of the rate maps to time: the k-th arrival is due when the rate has added up to its count.

use crate::course::{Course, FRACTION};
use crate::layout::Job;
use crate::replaying::Replaying;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stend_base::Nanos;
use stend_base::random::{draw, exponential};
use stend_spec::rate::Gaps;

/// One arrival.
const ONE: u64 = 1 << FRACTION;
/// Most arrivals of a stream that are looked at one by one when those that never began are counted.
const LEFT_MAX: u64 = 1 << 20;

/// The arrivals of one job: every n-th of an evenly spaced stream of n jobs or of a trace, or a Poisson process of its
/// own with an n-th of the rate, n of which together are one of the whole rate.
#[derive(Debug, Clone)]
pub(crate) struct Arrivals {
    source: Source,
    jobs: u64,
    job: u64,
}

#[derive(Debug, Clone)]
enum Source {
    Rate {
        course: Arc<Course>,
        gaps: Gaps,
        seed: u64,
    },
    /// Counts are numbers of I/Os in the trace.
    Trace(Replaying),
}

impl Arrivals {
    /// Those of a job; `None` in a closed loop.
    pub fn new(job: &Job) -> Option<Arrivals> {
        let source = match (&job.spec.rate, &job.replay) {
            (Some(rate), _) => Source::Rate {
                course: job.course.clone()?,
                gaps: rate.gaps,
                // Apart from the draws of offsets and operations.
                seed: draw(job.seed, 0x0a77_17a1),
            },
            (None, Some(replay)) if job.spec.is_open() => Source::Trace(replay.clone()),
            (None, _) => return None,
        };
        Some(Arrivals { source, jobs: u64::from(job.spec.jobs), job: u64::from(job.job) })
    }

    /// Count of the first arrival.
    pub fn first(&self) -> u64 {
        match &self.source {
            Source::Rate { gaps: Gaps::Even, .. } => self.job << FRACTION,
            Source::Rate { gaps: Gaps::Poisson, .. } => self.after(0),
            Source::Trace(_) => self.job,
        }
    }

    /// Count of the arrival that follows the one at `count`.
    #[inline]
    pub fn after(&self, count: u64) -> u64 {
        let gap = match &self.source {
            Source::Rate { gaps: Gaps::Even, .. } => ONE,
            // One in a million is rounded to nothing. The next gap follows from the count alone, so that a
            // count that stays would stay for ever.
            Source::Rate { gaps: Gaps::Poisson, seed, .. } => exponential(draw(*seed, count), FRACTION).max(1),
            Source::Trace(_) => 1,
        };
        count.saturating_add(gap * self.jobs)
    }

    /// When the arrival at `count` is due, ns since the start of the load; `None`: never.
    #[inline]
    pub fn due(&self, count: u64) -> Option<u64> {
        match &self.source {
            Source::Rate { course, .. } => course.due(count),
            Source::Trace(replay) => replay.due(count),
        }
    }

    /// Which of the job's I/Os the arrival at `count` is, where that follows from it: an I/O of a trace belongs to its time.
    #[inline]
    pub fn ordinal(&self, count: u64) -> Option<u64> {
        match self.source {
            Source::Rate { .. } => None,
            Source::Trace(_) => Some(count / self.jobs),
        }
    }

    /// The least count that is not due before `time`.
    fn limit(&self, time: u64) -> u64 {
        match &self.source {
            Source::Rate { course, .. } => course.count(time),
            Source::Trace(replay) => replay.before(time),
        }
    }

    /// Distance of two counts, where it is always the same or on average.
    fn gap(&self) -> u64 {
        match self.source {
            Source::Rate { .. } => self.jobs << FRACTION,
            Source::Trace(_) => self.jobs,
        }
    }

    /// How many arrivals from the one at `count` on are due before `end`, and the count of the one after these.
    pub fn before(&self, mut count: u64, end: u64) -> (u64, u64) {
        let limit = self.limit(end);
        match self.source {
            Source::Rate { gaps: Gaps::Poisson, .. } => {
                let mut found = 0;
                while count < limit {
                    (found, count) = (found + 1, self.after(count));
                }
                (found, count)
            }
            Source::Rate { gaps: Gaps::Even, .. } | Source::Trace(_) => {
                let found = limit.saturating_sub(count).div_ceil(self.gap());
                (found, count + found * self.gap())
            }
        }
    }

    /// (ordinal, due, how many it stands for) of arrivals from the one at `count` on that are due before `end`: of
    /// up to [`LEFT_MAX`] of all jobs each one, of more every n-th for its neighbours, at the rate's own pace.
    pub fn left(&self, count: u64, end: u64) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let expected = self.limit(end).saturating_sub(count) / self.gap();
        let group = expected.saturating_mul(self.jobs).div_ceil(LEFT_MAX).max(1);
        let next = move |count: u64| match group {
            1 => self.after(count),
            _ => count.saturating_add(group * self.gap()),
        };
        let all = std::iter::successors(Some(count), move |&count| Some(next(count)));
        let due = all.map_while(move |count| self.due(count).filter(|&due| due < end));
        due.enumerate().map(move |(i, due)| (i as u64 * group, due, group))
    }
}

/// How far the threads of a job have come together.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Ordinal of the next I/O.
    pub next: AtomicU64,
    /// Writes so far, for syncs every so many of them.
    pub writes: AtomicU64,
    /// Count of the next arrival that nobody has taken.
    arrival: AtomicU64,
}

impl Progress {
    /// At the beginning.
    pub fn new(arrivals: Option<&Arrivals>) -> Progress {
        Progress { arrival: AtomicU64::new(arrivals.map_or(0, Arrivals::first)), ..Progress::default() }
    }

    /// Count of the next arrival that nobody has taken.
    #[inline]
    pub fn arrival(&self) -> u64 {
        self.arrival.load(Ordering::Relaxed)
    }

    /// Notes that the arrival before `next` has been taken, by the only thread of the job.
    #[inline]
    pub fn advance(&self, next: u64) {
        self.arrival.store(next, Ordering::Relaxed);
    }

    /// Takes the next arrival if `wanted` accepts its due time; other threads do the same. When it is due,
    /// and which of the job's I/Os it is.
    #[inline]
    pub fn take(&self, arrivals: &Arrivals, wanted: impl Fn(u64) -> bool) -> Option<(Nanos, u64)> {
        let mut count = self.arrival();
        loop {
            let due = arrivals.due(count).filter(|&due| wanted(due))?;
            let next = arrivals.after(count);
            match self.arrival.compare_exchange_weak(count, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    let next = self.next.fetch_add(1, Ordering::Relaxed);
                    return Some((Nanos(due), arrivals.ordinal(count).unwrap_or(next)));
                }
                Err(other) => count = other,
            }
        }
    }
}

#[cfg(test)]
mod tests;
