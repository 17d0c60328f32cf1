//! A search for the highest rate that a target serves within a limit of latency: the ladder of rates that are cells of
//! the matrix, and which rung to try next. The same climb searches the largest number of instances (`crate::app`). Pure.
//!
//! Rates double until one misses the limit, the gap is halved until two neighbours are left, and both are tried three times
//! (method §5.5). A rung holds if every look at it held; the answer is the highest one that holds below the lowest one that missed.

use crate::rate::{Gaps, Rate};
use serde::{Deserialize, Serialize};
use stend_base::{MilliIops, Millionths, Nanos};

/// Looks at the rungs on both sides of the answer.
pub const LOOKS: u32 = 3;
/// Looks after which a search is over, whatever it knows: three times what the longest ladder needs.
const LOOKS_MAX: usize = 150;
/// A ladder is given up after this many trials with failed I/O, or without hosts that were lost.
const FAILURES_MAX: usize = 2;
/// Rates of rungs have so many digits: neighbours are 1 % apart or more.
const DIGITS: u32 = 4;

/// What is searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    /// First and lowest rate.
    pub from: MilliIops,
    /// Highest rate, above `from`.
    pub to: MilliIops,
    /// How arrivals are spread.
    pub gaps: Gaps,
    /// Share of the I/Os that must stay within the limit.
    pub quantile: Millionths,
    /// Longest response that this share may have.
    pub limit: Nanos,
    /// Distance of neighbouring rates.
    pub precision: Millionths,
    /// Parts of the rate that was found at which latency is measured afterwards; empty: none.
    pub curve: Vec<Millionths>,
}

impl Search {
    /// The rates of the ladder, ascending, at least two.
    pub fn rates(&self) -> Vec<MilliIops> {
        let mut rates = vec![self.from];
        let mut rate = self.from.0;
        while rate < self.to.0 {
            let step = u128::from(rate) * u128::from(self.precision.0) / u128::from(Millionths::ALL.0);
            rate = rounded(rate.saturating_add(step.max(1) as u64)).max(rate + 1).min(self.to.0);
            rates.push(MilliIops(rate));
        }
        rates
    }

    /// The same as arrivals.
    pub fn arrivals(&self) -> Vec<Rate> {
        self.rates().into_iter().map(|rate| Rate::constant(rate, self.gaps)).collect()
    }
}

/// Looks that a search usually takes, without the curve: the doubling, the halving, the last two. `rungs` ascend.
pub fn usual_looks(rungs: &[u64]) -> u32 {
    let (Some(from), Some(to)) = (rungs.first(), rungs.last()) else { return 0 };
    let doublings = (to / from.max(&1)).max(1).ilog2() + 1;
    let halvings = (rungs.len() as u64 / u64::from(doublings)).max(1).ilog2() + 1;
    doublings + halvings + 2 * (LOOKS - 1)
}

/// To [`DIGITS`] digits, up.
fn rounded(rate: u64) -> u64 {
    let digits = rate.max(1).ilog10() + 1;
    let unit = 10u64.pow(digits.saturating_sub(DIGITS));
    rate.div_ceil(unit).saturating_mul(unit)
}

/// What a look at a rung found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// The rate was served within the limit.
    Held,
    /// It was not.
    Missed,
    /// I/O failed.
    Failed,
    /// It was no look at this rung: load hosts were lost.
    Incomplete,
}

/// Where a search stands.
#[derive(Debug, Clone)]
pub struct Climb {
    /// What is tried, ascending: rates in thousandths, or numbers of instances.
    values: Vec<u64>,
    /// Parts of the answer that are measured afterwards.
    points: Vec<Millionths>,
    /// (looks, of these missed or failed) by rung.
    seen: Vec<(u32, u32)>,
    looks: usize,
    failures: usize,
    /// What is left of the curve, once the search itself is over; last first.
    curve: Option<Vec<usize>>,
    /// How often each point of the curve is measured.
    blocks: u32,
}

/// What a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Highest rung that held every time, below every one that missed.
    pub held: Option<usize>,
    /// Lowest rung that missed.
    pub missed: Option<usize>,
    /// Both were looked at as often as they should.
    pub confirmed: bool,
}

impl Climb {
    /// A search for a rate at its beginning. `blocks` measurements are made of each point of the curve.
    pub fn new(search: &Search, blocks: u32) -> Climb {
        Climb::over(search.rates().into_iter().map(|rate| rate.0).collect(), search.curve.clone(), blocks)
    }

    /// A search over ascending values at its beginning.
    pub fn over(values: Vec<u64>, points: Vec<Millionths>, blocks: u32) -> Climb {
        let seen = vec![(0, 0); values.len()];
        Climb { values, points, seen, looks: 0, failures: 0, curve: None, blocks }
    }

    /// The rung to try next; `None` when the search is over.
    pub fn next(&self) -> Option<usize> {
        match &self.curve {
            Some(rungs) => rungs.last().copied(),
            None => self.next_look(),
        }
    }

    /// Takes notice of what the rung that [`next`](Self::next) named gave.
    pub fn learn(&mut self, rung: usize, look: Look) {
        if matches!(look, Look::Failed | Look::Incomplete) {
            self.failures += 1;
        }
        match &mut self.curve {
            Some(rungs) => drop(rungs.pop()),
            None if look == Look::Incomplete => {}
            None => {
                let seen = &mut self.seen[rung];
                *seen = (seen.0 + 1, seen.1 + u32::from(look != Look::Held));
                self.looks += 1;
            }
        }
        if self.failures >= FAILURES_MAX {
            self.curve = Some(Vec::new());
        } else if self.curve.is_none() && self.next_look().is_none() {
            self.curve = Some(self.curve_rungs());
        }
    }

    /// Whether the search itself is over, and points of its curve are tried.
    pub fn measures_curve(&self) -> bool {
        self.curve.is_some()
    }

    /// What is known now.
    pub fn answer(&self) -> Answer {
        let missed = self.seen.iter().position(|&(_, misses)| misses > 0);
        let below = missed.unwrap_or(self.seen.len());
        let held = self.seen[..below].iter().rposition(|&(looks, _)| looks > 0);
        let often = |rung: Option<usize>| rung.is_none_or(|rung| self.seen[rung].0 >= LOOKS);
        let adjacent = match (held, missed) {
            (Some(held), Some(missed)) => missed == held + 1,
            (Some(held), None) => held + 1 == self.seen.len(),
            (None, missed) => missed == Some(0),
        };
        Answer { held, missed, confirmed: adjacent && often(held) && often(missed) }
    }

    /// Looks at a rung so far: all, and those that did not hold.
    pub fn seen(&self, rung: usize) -> (u32, u32) {
        self.seen[rung]
    }

    /// Rate of a rung, where rates are searched.
    pub fn rate(&self, rung: usize) -> MilliIops {
        MilliIops(self.values[rung])
    }

    /// What a rung tries.
    pub fn value(&self, rung: usize) -> u64 {
        self.values[rung]
    }

    fn next_look(&self) -> Option<usize> {
        let Answer { held, missed, confirmed } = self.answer();
        if confirmed || self.looks >= LOOKS_MAX {
            return None;
        }
        let again = |rung: &usize| self.seen[*rung].0 < LOOKS;
        match (held, missed) {
            (None, None) => Some(0),
            (Some(held), None) if held + 1 == self.values.len() => Some(held),
            (Some(held), None) => Some(self.doubled(held)),
            (None, Some(0)) => Some(0).filter(again),
            // The rung that held before missed when it was looked at again, and nothing below it is known.
            (None, Some(missed)) => Some(missed / 2),
            (Some(held), Some(missed)) if missed - held > 1 => Some(held + (missed - held) / 2),
            (Some(held), Some(missed)) => Some(held).filter(again).or(Some(missed).filter(again)),
        }
    }

    /// The first rung with twice the value.
    fn doubled(&self, rung: usize) -> usize {
        let goal = self.values[rung].saturating_mul(2);
        let last = self.values.len() - 1;
        self.values.iter().position(|value| *value >= goal).unwrap_or(last).max(rung + 1).min(last)
    }

    /// Every point as often as there are blocks, each block from the lowest to the highest; last first.
    fn curve_rungs(&self) -> Vec<usize> {
        let Some(held) = self.answer().held else { return Vec::new() };
        let nearest = |part: &Millionths| {
            let goal = (u128::from(self.values[held]) * u128::from(part.0) / u128::from(Millionths::ALL.0)) as u64;
            (0..=held).min_by_key(|&rung| self.values[rung].abs_diff(goal)).unwrap_or(0)
        };
        let mut points: Vec<usize> = self.points.iter().map(nearest).collect();
        points.sort_unstable();
        points.dedup();
        points.reverse();
        points.repeat(self.blocks as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn search(from: u64, to: u64, percent: u32) -> Search {
        Search {
            from: MilliIops::per_second(from),
            to: MilliIops::per_second(to),
            gaps: Gaps::Poisson,
            quantile: Millionths::percent(99),
            limit: Nanos::millis(5),
            precision: Millionths::percent(percent),
            curve: Vec::new(),
        }
    }

    /// Walks a search on a target that serves up to `capacity`; the rates that were tried and the answer.
    fn walk(search: &Search, mut look: impl FnMut(u64) -> Look) -> (Vec<u64>, Answer) {
        let (mut climb, mut tried) = (Climb::new(search, 2), Vec::new());
        while let Some(rung) = climb.next() {
            let rate = climb.rate(rung).0 / 1000;
            tried.push(rate);
            climb.learn(rung, look(rate));
            assert!(tried.len() < 1000, "no end: {tried:?}");
        }
        let answer = climb.answer();
        (tried, answer)
    }

    fn up_to(capacity: u64) -> impl FnMut(u64) -> Look {
        move |rate| if rate <= capacity { Look::Held } else { Look::Missed }
    }

    #[test]
    fn rungs_ascend_by_the_precision_and_end_at_the_highest_rate() {
        let rates = search(100, 200, 10).rates();
        let shown: Vec<f64> = rates.iter().map(|rate| rate.as_iops()).collect();
        assert_eq!(shown, [100.0, 110.0, 121.0, 133.1, 146.5, 161.2, 177.4, 195.2, 200.0]);
        let wide = search(1, 10_000_000, 1).rates();
        assert!(wide.len() < 1700 && wide.windows(2).all(|pair| pair[0] < pair[1]), "{}", wide.len());
        assert_eq!(wide.last(), Some(&MilliIops::per_second(10_000_000)));
    }

    proptest! {
        #[test]
        fn the_highest_rate_that_is_served_is_found_and_confirmed(capacity in 100u64..150_000, percent in 1u32..20) {
            let search = search(100, 100_000, percent);
            let (tried, answer) = walk(&search, up_to(capacity));
            let rates = search.rates();
            let truth = rates.iter().rposition(|rate| rate.0 / 1000 <= capacity);
            prop_assert_eq!(answer.held, truth);
            prop_assert!(answer.confirmed);
            let usual = usual_looks(&rates.iter().map(|rate| rate.0).collect::<Vec<_>>()) as usize;
            prop_assert!(tried.len() <= usual + 4, "{} of {}", tried.len(), rates.len());
        }

        #[test]
        fn a_search_ends_whatever_is_seen(looks in proptest::collection::vec(0u8..3, 1..400)) {
            let search = Search { curve: vec![Millionths::percent(50)], ..search(100, 100_000, 3) };
            let mut looks = looks.into_iter().cycle();
            let (tried, answer) = walk(&search, |_| [Look::Held, Look::Missed, Look::Failed][looks.next().unwrap() as usize]);
            prop_assert!(tried.len() <= LOOKS_MAX + 2);
            if let (Some(held), Some(missed)) = (answer.held, answer.missed) {
                prop_assert!(held < missed);
            }
        }
    }

    #[test]
    fn the_way_up_doubles_and_halves_and_looks_three_times_at_both_ends() {
        let (tried, answer) = walk(&search(100, 100_000, 50), up_to(1000));
        assert_eq!(tried, [100, 225, 506, 1140, 759, 759, 759, 1140, 1140]);
        assert_eq!((answer.held, answer.missed), (Some(5), Some(6)));
    }

    #[test]
    fn numbers_of_instances_are_searched_alike() {
        let (mut climb, mut tried) = (Climb::over((1..=64).collect(), Vec::new(), 1), Vec::new());
        while let Some(rung) = climb.next() {
            tried.push(climb.value(rung));
            climb.learn(rung, if climb.value(rung) <= 11 { Look::Held } else { Look::Missed });
        }
        assert_eq!(tried, [1, 2, 4, 8, 16, 12, 10, 11, 11, 11, 12, 12]);
        assert_eq!(climb.answer(), Answer { held: Some(10), missed: Some(11), confirmed: true });
        assert_eq!(usual_looks(&(1..=64).collect::<Vec<_>>()), 15);
    }

    #[test]
    fn a_rung_that_missed_once_is_no_answer() {
        let mut looks = 0;
        let flaky = |rate: u64| {
            looks += u32::from(rate == 759);
            if rate < 759 || rate == 759 && looks != 2 { Look::Held } else { Look::Missed }
        };
        let (_, answer) = walk(&search(100, 100_000, 50), flaky);
        assert_eq!((answer.held, answer.missed, answer.confirmed), (Some(4), Some(5), true));
    }

    #[test]
    fn nothing_held_and_everything_held_are_answers_too() {
        let (tried, answer) = walk(&search(100, 100_000, 10), up_to(1));
        assert_eq!((tried, answer.held, answer.confirmed), (vec![100; 3], None, true));
        let (tried, answer) = walk(&search(100, 1000, 10), up_to(5000));
        assert_eq!((answer.missed, answer.confirmed, tried.iter().filter(|r| **r == 1000).count()), (None, true, 3));
    }

    #[test]
    fn the_curve_follows_from_the_rate_that_was_found_in_blocks() {
        let curve = [10, 50, 100].map(Millionths::percent).to_vec();
        let (tried, _) = walk(&Search { curve, ..search(100, 100_000, 1) }, up_to(1000));
        let curve = &tried[tried.len() - 6..];
        assert_eq!(curve[..3], curve[3..]);
        let near = |found: u64, goal: u64| found.abs_diff(goal) * 100 <= goal;
        assert!(curve[0] == 100 && near(curve[1], 498) && near(curve[2], 996), "{curve:?}");
    }

    #[test]
    fn two_trials_with_failed_io_end_it() {
        let (tried, answer) = walk(&search(100, 100_000, 10), |_| Look::Failed);
        assert_eq!((tried.len(), answer.confirmed), (2, false));
    }
}
