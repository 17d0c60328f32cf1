//! The course of a rate before and after an event, in figures (method §6.3).

use crate::limits::{FAULT_BACK, FAULT_HELD, FAULT_HORIZON, FAULT_MEAN, FAULT_STALL_LEAST};
use serde::{Deserialize, Serialize};
use stend_base::{Nanos, Share};
use stend_stats::mean;

/// Intervals of a second.
const SECOND: usize = 10;

/// What became of a rate after an event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Recovery {
    /// Mean before the event, I/Os per second: what is called full service.
    pub before: f64,
    /// The time that has this mean.
    pub before_for: Nanos,
    /// Part of these seconds that were as slow as a brownout is.
    pub slow_before: Share,
    /// How long was seen after the event.
    pub seen: Nanos,
    /// Longest time without any I/O after it, in intervals of 100 ms; `None`: there are so few I/Os that such intervals are usual.
    pub stall: Option<Nanos>,
    /// How far the mean of 5 s fell at most, of what was before; 1: to nothing. `None`: less than 5 s were seen.
    pub depth: Option<Share>,
    /// From the event until the rate was at 90 % again and stayed there for a minute, or for as long as was seen (TTR90). `None`:
    /// later than what was seen.
    pub back: Option<Nanos>,
    /// How long it was seen to stay.
    pub held: Nanos,
    /// Seconds below 90 %, all together.
    pub brownout: Nanos,
    /// I/Os that were not done until then, or until the end; what came more than usual does not make up for them.
    pub lost: f64,
    /// The same over 300 s; `None`: fewer were seen.
    pub lost_in_horizon: Option<f64>,
}

impl Recovery {
    /// Seconds until the rate was back, or that it was not within what was seen; `None`: too little was seen to say either.
    pub fn back_seconds(&self) -> Option<Option<f64>> {
        self.depth.map(|_| self.back.map(Nanos::as_secs))
    }

    /// Lost I/Os as seconds of full service.
    pub fn lost_seconds(&self, lost: f64) -> f64 {
        lost / self.before
    }
}

/// `intervals` are I/Os of each 100 ms, `at` the one in which the event began. `None` if less than a second was seen on either
/// side, or nothing was done before.
pub(super) fn of(intervals: &[f64], at: usize) -> Option<Recovery> {
    let (before, after) = (intervals.get(..at)?, intervals.get(at..)?);
    let seconds = |of: &[f64]| of.chunks_exact(SECOND).map(|second| second.iter().sum()).collect::<Vec<f64>>();
    // Whole seconds back from the event, so that none of them holds a part of it.
    let earlier = seconds(before.get(before.len() % SECOND..)?);
    let later = seconds(after);
    let full = mean(&earlier).filter(|full| *full > 0.0)?;
    if later.is_empty() {
        return None;
    }
    let low = |rate: &f64| *rate < FAULT_BACK * full;
    let span = |seconds: usize| Nanos::secs(seconds as u64);
    let lost = |until: usize| later[..until].iter().fold(0.0, |sum, rate| sum + (full - rate).max(0.0));
    let back = back(&later, FAULT_BACK * full);
    let horizon = (FAULT_HORIZON.0 / Nanos::SECOND.0) as usize;
    Some(Recovery {
        before: full,
        before_for: span(earlier.len()),
        slow_before: Share(earlier.iter().filter(|rate| low(rate)).count() as f64 / earlier.len() as f64),
        seen: span(later.len()),
        stall: (full / SECOND as f64 >= FAULT_STALL_LEAST).then(|| stall(after)),
        depth: means(&later).reduce(f64::min).map(|least| Share((1.0 - least / full).max(0.0))),
        back: back.map(span),
        held: back.map_or(Nanos(0), |back| span((later.len() - back).min(held()))),
        brownout: span(later.iter().filter(|rate| low(rate)).count()),
        lost: lost(back.unwrap_or(later.len())),
        lost_in_horizon: (later.len() >= horizon).then(|| lost(horizon)),
    })
}

/// Means of each 5 s, one for every second in which such a stretch begins.
fn means(seconds: &[f64]) -> impl Iterator<Item = f64> {
    seconds.windows(mean_of()).map(|window| window.iter().sum::<f64>() / window.len() as f64)
}

fn mean_of() -> usize {
    (FAULT_MEAN.0 / Nanos::SECOND.0) as usize
}

fn held() -> usize {
    (FAULT_HELD.0 / Nanos::SECOND.0) as usize
}

/// The first second from which on every stretch of 5 s, of those that begin within a minute, is good.
fn back(seconds: &[f64], good: f64) -> Option<usize> {
    let good: Vec<bool> = means(seconds).map(|mean| mean >= good).collect();
    (0..good.len()).find(|from| good[*from..good.len().min(from + held())].iter().all(|good| *good))
}

/// The longest run of intervals without an I/O.
fn stall(intervals: &[f64]) -> Nanos {
    let runs = intervals.split(|ops| *ops > 0.0).map(<[f64]>::len);
    Nanos::millis(100 * runs.max().unwrap_or(0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Seconds as ten intervals each.
    fn intervals(seconds: &[(usize, f64)]) -> Vec<f64> {
        let of = |&(seconds, rate): &(usize, f64)| std::iter::repeat_n(rate / 10.0, seconds * SECOND);
        seconds.iter().flat_map(of).collect()
    }

    /// Method §6.3 [C]: 1000 per second; 8 s of nothing, 10 s of 400, 10 s of 800, then 950 up to 300 s.
    fn published() -> Vec<f64> {
        intervals(&[(300, 1000.0), (8, 0.0), (10, 400.0), (10, 800.0), (272, 950.0)])
    }

    #[test]
    fn the_published_course_gives_the_published_figures() {
        let found = of(&published(), 3000).unwrap();
        assert_eq!((found.before, found.before_for, found.seen), (1000.0, Nanos::secs(300), Nanos::secs(300)));
        assert_eq!(found.stall, Some(Nanos::secs(8)));
        assert_eq!(found.depth, Some(Share(1.0)));
        assert_eq!(found.brownout, Nanos::secs(28));
        assert_eq!((found.back, found.held), (Some(Nanos::secs(27)), Nanos::secs(60)));
        let rounded = |lost: f64| (lost.round(), (found.lost_seconds(lost) * 10.0).round() / 10.0);
        assert_eq!(rounded(found.lost), (15_800.0, 15.8));
        assert_eq!(rounded(found.lost_in_horizon.unwrap()), (29_600.0, 29.6));
    }

    #[test]
    fn what_never_comes_back_is_later_than_what_was_seen_and_nothing_is_left_out() {
        let found = of(&intervals(&[(10, 1000.0), (20, 500.0)]), 100).unwrap();
        assert_eq!((found.back, found.held, found.seen), (None, Nanos(0), Nanos::secs(20)));
        assert_eq!((found.lost.round(), found.lost_in_horizon), (10_000.0, None));
        assert_eq!((found.depth, found.brownout), (Some(Share(0.5)), Nanos::secs(20)));
    }

    #[test]
    fn a_course_that_falls_again_within_a_minute_was_not_back() {
        let found = of(&intervals(&[(10, 1000.0), (5, 0.0), (40, 1000.0), (5, 0.0), (90, 1000.0)]), 100).unwrap();
        // The stretch of 5 s that begins a tenth of it early has 90 % already.
        assert_eq!(found.back, Some(Nanos::secs(50)));
        assert_eq!(found.lost.round(), 10_000.0);
    }

    #[test]
    fn too_little_on_either_side_says_nothing() {
        let course = intervals(&[(2, 1000.0), (2, 1000.0)]);
        assert!(of(&course, 9).is_none() && of(&course, 31).is_none() && of(&course, 41).is_none());
        assert!(of(&intervals(&[(2, 0.0), (2, 1000.0)]), 20).is_none(), "nothing was done before");
        let few = of(&course, 20).unwrap();
        assert_eq!((few.depth, few.back), (None, None));
        // Intervals without an I/O are usual at 20 I/Os per second.
        assert_eq!(of(&intervals(&[(20, 20.0)]), 100).unwrap().stall, None);
    }

    proptest! {
        #[test]
        fn figures_stay_within_what_was_seen(rates in proptest::collection::vec(0.0f64..2000.0, 40..400), at in 0usize..400) {
            if let Some(found) = of(&rates, at) {
                prop_assert!(found.brownout <= found.seen && found.back.is_none_or(|back| back + found.held <= found.seen));
                prop_assert!(found.lost >= 0.0 && found.lost_seconds(found.lost) <= found.seen.as_secs() + 1e-6);
                prop_assert!(found.depth.is_none_or(|depth| (0.0..=1.0).contains(&depth.0)));
            }
        }

        #[test]
        fn a_course_without_an_event_loses_nothing(seconds in 10usize..60) {
            let found = of(&intervals(&[(10 + seconds, 500.0)]), 100).unwrap();
            prop_assert_eq!((found.lost.round(), found.brownout, found.stall), (0.0, Nanos(0), Some(Nanos(0))));
            prop_assert_eq!(found.back, Some(Nanos(0)));
        }
    }
}
