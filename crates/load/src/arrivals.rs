//! When the I/Os of an open loop are due. The n-th one's time follows from the rate, the seed and n alone, in
//! integers: nothing drifts, and the jobs of a stream together have exactly its rate.
//!
//! Arrivals are points of a process of one per unit of *count* (equal distances, or Poisson), which the
//! [`Course`] of the rate maps to time: the k-th arrival is due when the rate has added up to its count.

use crate::layout::Job;
use crate::replay::Replaying;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stend_base::random::{draw, exponential};
use stend_base::{MilliIops, Nanos};
use stend_spec::rate::{Gaps, Rate, Shape, Step};

/// Counts are fixed-point numbers of so many fractional bits: gaps of a Poisson process are exact to a
/// millionth of the mean gap, and 2^44 arrivals are more than ten million per second make in a week.
const FRACTION: u32 = 20;
/// One arrival.
const ONE: u64 = 1 << FRACTION;
/// Equal steps that a ramp or a swing is made of; each differs by a thousandth of the range from the next.
const PARTS: u64 = 1024;
/// Most arrivals of a stream that are looked at one by one when those that never began are counted.
const LEFT_MAX: u64 = 1 << 20;

/// Time from count: the integral of the rate, inverted piece by piece.
///
/// Amounts are kept in millionths of a millionth of an arrival: a rate of n thousandths per second adds n of them
/// each nanosecond, so that every border is exact.
#[derive(Debug, Clone)]
pub(crate) struct Course {
    sections: Vec<Section>,
}

/// A stretch of the course: pieces that come once and the last of which goes on, or that repeat.
#[derive(Debug, Clone)]
struct Section {
    start: u64,
    amount: u128,
    /// (length, amount) of one repetition.
    repeats: Option<(u64, u128)>,
    pieces: Vec<Piece>,
}

/// Constant rate, from a time and an amount inside the section on.
#[derive(Debug, Clone, Copy)]
struct Piece {
    start: u64,
    amount: u128,
    rate: u64,
}

impl Course {
    /// Memory that it takes, bytes.
    pub fn memory(&self) -> u64 {
        let pieces: usize = self.sections.iter().map(|section| section.pieces.len()).sum();
        (pieces * size_of::<Piece>() + self.sections.len() * size_of::<Section>()) as u64
    }

    /// The course of a checked rate.
    pub fn new(rate: &Rate) -> Course {
        let mut sections: Vec<Section> = Vec::new();
        for (index, step) in rate.steps.iter().enumerate() {
            let pieces = match rate.steps.get(index + 1) {
                Some(next) if next.shape == Shape::Ramp => ramp(step.rate, next.rate, next.at.0 - step.at.0),
                _ => level_or_wave(step),
            };
            let amount = sections.last().map_or(0, |last| last.amount_at(step.at.0));
            sections.push(Section::new(step, amount, pieces));
        }
        Course { sections }
    }

    /// When the rate has added up to `count` (with [`FRACTION`] bits): ns since the start of the load, rounded
    /// down; `None` if it never does.
    #[inline]
    pub fn due(&self, count: u64) -> Option<u64> {
        // 10^12 / 2^20, exactly.
        let amount = (u128::from(count) * 244_140_625) >> 8;
        let section = &self.sections[self.sections.partition_point(|s| s.amount <= amount).saturating_sub(1)];
        section.time_of(amount - section.amount)
    }

    /// The least count that is not due before `time`: what the rate has added up to by then, rounded up.
    fn count(&self, time: u64) -> u64 {
        let section = &self.sections[self.sections.partition_point(|s| s.start <= time).saturating_sub(1)];
        let count = (section.amount_at(time) << 8).div_ceil(244_140_625);
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

impl Section {
    fn new(step: &Step, amount: u128, lengths: Vec<(u64, u64)>) -> Section {
        let (mut pieces, mut start, mut sum) = (Vec::with_capacity(lengths.len()), 0, 0u128);
        for (length, rate) in lengths {
            pieces.push(Piece { start, amount: sum, rate });
            start += length;
            sum += u128::from(length) * u128::from(rate);
        }
        let repeats = match step.shape {
            Shape::Sine { .. } | Shape::Burst { .. } => Some((start, sum)),
            Shape::Jump | Shape::Ramp => None,
        };
        Section { start: step.at.0, amount, repeats, pieces }
    }

    /// Time at which `amount` more than at the start of the section has been added.
    #[inline]
    fn time_of(&self, amount: u128) -> Option<u64> {
        let (begin, rest) = match self.repeats {
            Some((_, 0)) => return None,
            Some((length, sum)) => (u128::from(self.start) + u128::from(length) * (amount / sum), amount % sum),
            None => (u128::from(self.start), amount),
        };
        let piece = self.pieces[self.pieces.partition_point(|p| p.amount <= rest).saturating_sub(1)];
        let inside = (rest - piece.amount).checked_div(u128::from(piece.rate))?;
        u64::try_from(begin + u128::from(piece.start) + inside).ok()
    }

    /// Amount since the start of the load at `time`, which is not before the section.
    fn amount_at(&self, time: u64) -> u128 {
        let inside = time - self.start;
        let (before, rest) = match self.repeats {
            Some((length, sum)) => (u128::from(inside / length) * sum, inside % length),
            None => (0, inside),
        };
        let piece = self.pieces[self.pieces.partition_point(|p| p.start <= rest).saturating_sub(1)];
        self.amount + before + piece.amount + u128::from(rest - piece.start) * u128::from(piece.rate)
    }
}

/// (length, rate) of pieces from one rate to another.
fn ramp(from: MilliIops, to: MilliIops, length: u64) -> Vec<(u64, u64)> {
    let border = |i: u64| (u128::from(length) * u128::from(i) / u128::from(PARTS)) as u64;
    let rate = |i: u64| (from.0 * (2 * PARTS - 2 * i - 1) + to.0 * (2 * i + 1)) / (2 * PARTS);
    (0..PARTS).map(|i| (border(i + 1) - border(i), rate(i))).collect()
}

fn level_or_wave(step: &Step) -> Vec<(u64, u64)> {
    let Step { rate, shape, .. } = step;
    match *shape {
        Shape::Jump | Shape::Ramp => vec![(0, rate.0)],
        Shape::Burst { rate: high, every, lasting } => vec![(lasting.0, high.0), (every.0 - lasting.0, rate.0)],
        Shape::Sine { amplitude, period } => {
            let swing = |i: u64| ((2 * i + 1) as f64 / PARTS as f64 * std::f64::consts::PI).sin() * amplitude.0 as f64;
            let pieces = ramp(*rate, *rate, period.0).into_iter().zip(0..PARTS);
            pieces.map(|((length, rate), i)| (length, rate.saturating_add_signed(swing(i).round() as i64))).collect()
        }
    }
}

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

    /// Takes the next arrival if `wanted` says so of the time when it is due; with others doing the same. When it is due,
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
#[path = "arrivals_tests.rs"]
mod tests;
