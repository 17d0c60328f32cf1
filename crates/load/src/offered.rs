//! What an open loop was asked for, computed beside the threads that make it: how much was due, also while all of
//! them hang, and what never began.

use crate::arrivals::Arrivals;
use crate::layout::Job;
use crate::sequence::Sequence;
use crate::threads::LoadThreads;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use stend_base::Nanos;
use stend_base::histogram::Histogram;
use stend_record::observed::OpenTotals;
use stend_spec::workload::{OPS, Op};

/// Follows the arrivals of all open-loop jobs in time.
#[derive(Debug)]
pub(crate) struct Offered {
    jobs: Vec<Follower>,
    /// ns since the start of the load.
    window_start: u64,
}

#[derive(Debug)]
struct Follower {
    stream: u16,
    arrivals: Arrivals,
    next: u64,
    in_window: u64,
}

impl Offered {
    /// At the start of the load; the window begins so many ns later.
    pub fn new(jobs: &[Job], window_start: u64) -> Offered {
        let follower = |job: &Job| {
            let arrivals = Arrivals::new(job)?;
            Some(Follower { stream: job.stream, next: arrivals.first(), arrivals, in_window: 0 })
        };
        Offered { jobs: jobs.iter().filter_map(follower).collect(), window_start }
    }

    /// (stream, I/Os) that became due since the last call and before `end`, ns since the start of the load.
    pub fn until(&mut self, end: u64) -> BTreeMap<u16, u64> {
        let mut due = BTreeMap::new();
        for job in &mut self.jobs {
            let (in_ramp, next) = job.arrivals.before(job.next, end.min(self.window_start));
            let (in_window, next) = job.arrivals.before(next, end);
            job.next = next;
            job.in_window += in_window;
            *due.entry(job.stream).or_default() += in_ramp + in_window;
        }
        due
    }

    /// I/Os of a stream that became due inside the window so far.
    fn in_window(&self, stream: u16) -> u64 {
        self.jobs.iter().filter(|job| job.stream == stream).map(|job| job.in_window).sum()
    }
}

/// Histograms of a stream in the making.
struct Sums {
    late: Histogram,
    own_late: Histogram,
    ages: [Histogram; OPS],
}

impl Sums {
    fn new() -> Sums {
        Sums { late: Histogram::new(), own_late: Histogram::new(), ages: std::array::from_fn(|_| Histogram::new()) }
    }
}

/// What is known of each open-loop stream at the end: of what was due before `window_end` and never began, the ages
/// at `now` go by the time when it was due.
pub(crate) fn totals(
    jobs: &[Job],
    (crew, offered): (&LoadThreads, &Offered),
    load_start: u64,
    (window_end, now): (u64, u64),
) -> Vec<OpenTotals> {
    let mut streams: BTreeMap<u16, Sums> = BTreeMap::new();
    for (job, progress) in jobs.iter().zip(&crew.progress) {
        let Some(arrivals) = Arrivals::new(job) else { continue };
        let ages = &mut streams.entry(job.stream).or_insert_with(Sums::new).ages;
        let (first, mut sequence) = (progress.next.load(Ordering::Relaxed), Sequence::new(job));
        let first = arrivals.ordinal(progress.arrival()).unwrap_or(first);
        for (ordinal, due, count) in arrivals.left(progress.arrival(), window_end.saturating_sub(load_start)) {
            let op = sequence.at(first + ordinal).op;
            ages[op.index()].record_many(Nanos(now.saturating_sub(load_start + due)), count);
        }
    }
    for member in &crew.members {
        let late = member.finished.as_ref().and_then(|finished| finished.late.as_ref());
        if let (Some(late), Some(sums)) = (late, streams.get_mut(&member.stream)) {
            sums.late.merge(&late.all);
            sums.own_late.merge(&late.own);
        }
    }
    let totals = |(stream, sums): (u16, Sums)| OpenTotals {
        stream,
        due: offered.in_window(stream),
        late: sums.late.sparse(),
        own_late: sums.own_late.sparse(),
        never_begun: Op::ALL.map(|op| sums.ages[op.index()].sparse()),
    };
    streams.into_iter().map(totals).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::{stream, trial};
    use stend_base::{Bytes, MilliIops};
    use stend_spec::rate::{Gaps, Rate};
    use stend_spec::workload::Stream;

    #[test]
    fn what_is_due_adds_up_over_jobs_and_intervals() {
        for gaps in [Gaps::Even, Gaps::Poisson] {
            let rate = Some(Rate::constant(MilliIops::per_second(10_000), gaps));
            let open = Stream { rate, jobs: 3, ..stream() };
            let jobs = crate::layout::jobs(&trial(Bytes::mib(1), vec![stream(), open]), u64::MAX).unwrap();
            let (mut steps, mut whole) = (Offered::new(&jobs, 250_000_000), Offered::new(&jobs, 0));
            let due: Vec<u64> = (1..=20).map(|i| steps.until(i * 100_000_000)[&1]).collect();
            let sum: u64 = due.iter().sum();
            assert_eq!(BTreeMap::from([(1, sum)]), whole.until(2_000_000_000));
            assert!(sum == 20_000 || gaps == Gaps::Poisson && sum.abs_diff(20_000) < 600, "{sum}");
            assert_eq!(whole.in_window(1), sum);
            let ramp = Offered::new(&jobs, 0).until(250_000_000)[&1];
            assert_eq!(steps.in_window(1), sum - ramp, "the window begins inside an interval");
        }
    }
}
