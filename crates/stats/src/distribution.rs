//! The latency distribution of one operation over all trials of a case: merged, never averaged.

use super::quantile::{Quantile, QuantileValue};
use super::{effective, order_statistic};
use std::collections::BTreeMap;
use stend_base::histogram::{Sparse, bucket, lower_edge};
use stend_base::{Histogram, Nanos, Share};

/// Latencies of completed I/Os, and the ages of those whose end was not seen.
#[derive(Debug, Clone, Default)]
pub struct Distribution {
    /// Completed I/Os, and censored ones at their age: the least they can have been.
    all: Histogram,
    /// Smallest age and number of censored I/Os.
    censored: Option<(Nanos, u64)>,
    /// The same I/Os by trial, where several were joined.
    trials: Vec<Sparse>,
}

impl Distribution {
    /// Adds completed I/Os.
    pub fn add(&mut self, latency: &Sparse) {
        self.all.merge_sparse(latency);
    }

    /// Adds an I/O that was still in flight after `age`.
    pub fn add_censored(&mut self, age: Nanos) {
        self.all.merge_sparse(&Sparse {
            buckets: vec![(bucket(age.0) as u32, 1)].into(),
            sum_ns: u128::from(age.0),
            min_ns: age.0,
            max_ns: age.0,
        });
        let (least, count) = self.censored.unwrap_or((age, 0));
        self.censored = Some((least.min(age), count.saturating_add(1)));
    }

    /// Adds I/Os that were due this long and never began.
    pub fn add_never_begun(&mut self, ages: &Sparse) {
        let count = ages.count();
        if count > 0 {
            self.all.merge_sparse(ages);
            let (least, before) = self.censored.unwrap_or((Nanos(ages.min_ns), 0));
            self.censored = Some((least.min(Nanos(ages.min_ns)), before.saturating_add(count)));
        }
    }

    /// Adds everything of one trial, and remembers that it is one: only trials are independent of each other.
    pub fn join(&mut self, trial: &Distribution) {
        let own = trial.all.sparse();
        // Adds without overflow: counts may come from a damaged file.
        self.all.merge_sparse(&own);
        if let Some((age, count)) = trial.censored {
            let (least, before) = self.censored.unwrap_or((age, 0));
            self.censored = Some((least.min(age), before.saturating_add(count)));
        }
        self.trials.push(own);
    }

    /// I/Os in it, censored ones included.
    pub fn count(&self) -> u64 {
        self.all.count()
    }

    /// Censored I/Os in it.
    pub fn censored(&self) -> u64 {
        self.censored.map_or(0, |(_, count)| count)
    }

    /// Mean, ns; a lower bound if I/O was censored. 0 if empty.
    pub fn mean_ns(&self) -> f64 {
        self.all.mean_ns().unwrap_or(0.0)
    }

    /// Largest latency; a lower bound if I/O was censored. 0 if empty.
    pub fn max(&self) -> Nanos {
        self.all.max().unwrap_or_default()
    }

    /// Latency at or below which the share `q` of the I/Os completed, for drawing: `None` where fewer
    /// than `beyond` I/Os lie above it, or where it reaches censored ones.
    pub fn point(&self, q: Share, beyond: f64) -> Option<Nanos> {
        if self.count() as f64 * (1.0 - q.0) < beyond {
            return None;
        }
        self.all.quantile(q).filter(|&value| self.certain(value))
    }

    /// The quantile of all I/Os but those of some of the trials that were joined, by their places in the order of joining; `None` where
    /// nothing is left, or where it reaches censored I/Os.
    // Counts are taken away from all of them: adding up the rest for every trial takes the square of their number.
    pub fn quantile_without(&self, left_out: &[usize], q: Share) -> Option<Nanos> {
        let mut gone: BTreeMap<usize, u64> = BTreeMap::new();
        for trial in left_out.iter().filter_map(|place| self.trials.get(*place)) {
            for (bucket, n) in counts(trial) {
                let sum = gone.entry(bucket).or_default();
                *sum = sum.saturating_add(n);
            }
        }
        let left = self.count().saturating_sub(gone.values().fold(0, |sum, n| sum.saturating_add(*n)));
        let rank = ((q.0.clamp(0.0, 1.0) * left as f64).ceil() as u64).max(1);
        let (mut seen, mut seen_of_all) = (0u64, 0u64);
        let of_all = self.all.sparse();
        let reached = counts(&of_all).find(|(bucket, n)| {
            seen_of_all = seen_of_all.saturating_add(*n);
            seen = seen.saturating_add(n.saturating_sub(gone.get(bucket).copied().unwrap_or(0)));
            seen >= rank
        });
        reached?;
        self.all.at_rank(seen_of_all).filter(|&value| left > 0 && self.certain(value))
    }

    /// A quantile with its 95 % interval: between order statistics of as many I/Os as count as independent.
    ///
    /// That follows from how much the trials that were joined differ. For a single one it follows from `within`: the factor by
    /// which correlation shrinks the number of its I/Os, at least 1; `None` if it is not known, which leaves the
    /// interval out.
    pub fn quantile(&self, q: Share, within: Option<f64>) -> Quantile {
        let (have, need) = (self.count(), order_statistic::least_count(q));
        let (true, Some(value)) = (have >= need, self.all.quantile(q)) else {
            return Quantile { q, value: QuantileValue::NotEnough { have, need }, interval: None };
        };
        let design_effect = match self.trials.len() {
            0 | 1 => within,
            _ => effective::of_share(&self.at_or_below(bucket(value.0))),
        };
        let shown = if self.certain(value) {
            QuantileValue::At(value)
        } else {
            let least = self.censored.map_or(Nanos(0), |(age, _)| age);
            QuantileValue::Above(least.max(Nanos(lower_edge(bucket(value.0)))))
        };
        Quantile { q, value: shown, interval: self.interval(q, design_effect) }
    }

    /// (I/Os, those of them at or below a bucket) by trial.
    fn at_or_below(&self, bucket: usize) -> Vec<(f64, f64)> {
        let one = |trial: &Sparse| {
            let (mut all, mut below) = (0.0, 0.0);
            for (index, n) in counts(trial) {
                all += n as f64;
                below += if index <= bucket { n as f64 } else { 0.0 };
            }
            (all, below)
        };
        self.trials.iter().map(one).collect()
    }

    /// Order-statistic interval: ranks of the effective number of I/Os, stretched to the real one.
    /// It is as wide as the histogram's buckets at least.
    fn interval(&self, q: Share, design_effect: Option<f64>) -> Option<(Nanos, Nanos)> {
        let n = self.count();
        let effective = (n as f64 / design_effect?.max(1.0)).floor() as u64;
        let (low, high) = order_statistic::ranks(effective.min(n), q)?;
        let stretch = n as f64 / effective as f64;
        let rank = |r: f64| (r as u64).clamp(1, n);
        let low = self.all.at_rank(rank((low as f64 * stretch).floor()))?;
        let high = self.all.at_rank(rank((high as f64 * stretch).ceil()))?;
        self.certain(high).then(|| (Nanos(lower_edge(bucket(low.0))), high))
    }

    /// Whether no I/O at or below `value` may really have been slower.
    fn certain(&self, value: Nanos) -> bool {
        self.censored.is_none_or(|(least, _)| bucket(value.0) < bucket(least.0))
    }
}

/// Buckets by their index, with their counts.
fn counts(of: &Sparse) -> impl Iterator<Item = (usize, u64)> {
    let mut index = 0usize;
    (&of.buckets).into_iter().map(move |(gap, n)| {
        index = index.saturating_add(gap as usize);
        (index, n)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(values: impl IntoIterator<Item = u64>) -> Distribution {
        let mut histogram = Histogram::new();
        values.into_iter().for_each(|v| histogram.record(Nanos(v)));
        let mut distribution = Distribution::default();
        distribution.add(&histogram.sparse());
        distribution
    }

    fn quantile(of: &Distribution, q: f64, within: Option<f64>) -> Quantile {
        of.quantile(Share(q), within)
    }

    #[test]
    fn a_percentile_below_its_count_says_how_many_are_needed() {
        let few = distribution(1..=367);
        assert_eq!(quantile(&few, 0.99, Some(1.0)).value, QuantileValue::NotEnough { have: 367, need: 368 });
        let enough = distribution(1..=368);
        assert!(matches!(quantile(&enough, 0.99, Some(1.0)).value, QuantileValue::At(_)));
    }

    #[test]
    fn merging_trials_is_not_averaging_their_percentiles() {
        // 990 fast I/Os in one trial, 10 slow and 990 fast in the other: the mean of the two p99.5 would be 50 µs.
        let mut both = distribution(std::iter::repeat_n(100, 1000));
        both.add(&distribution((0..1000).map(|i| if i < 8 { 100_000 } else { 100 })).all.sparse());
        assert_eq!(quantile(&both, 0.995, Some(1.0)).value, QuantileValue::At(Nanos(100)));
    }

    #[test]
    fn the_interval_covers_the_ranks_of_the_method() {
        // Values below 256 have buckets of their own, so ranks can be read back exactly.
        let found = quantile(&distribution(1..=30), 0.5, Some(1.0));
        assert_eq!((found.value, found.interval), (QuantileValue::At(Nanos(15)), Some((Nanos(10), Nanos(21)))));
    }

    #[test]
    fn correlated_values_widen_the_interval_and_an_unknown_correlation_removes_it() {
        // Neighbours are 1 % apart: more than a bucket.
        let all = distribution((0..2_000).map(|i| (1_000.0 * 1.01f64.powi(i)) as u64));
        let width = |effect| quantile(&all, 0.99, effect).interval.map(|(low, high)| high.0 - low.0);
        assert!(width(Some(4.0)) > width(Some(1.0)));
        assert_eq!((width(None), width(Some(1e9))), (None, None));
    }

    /// Trials of 1,000 I/Os each, all of one value.
    fn joined(values: &[u64]) -> Distribution {
        let mut all = Distribution::default();
        values.iter().for_each(|value| all.join(&distribution(std::iter::repeat_n(*value, 1_000))));
        all
    }

    #[test]
    fn what_trials_differ_by_makes_the_interval_however_many_ios_they_have() {
        // A quarter of the I/Os of each trial is below 100, at 100, at 110 or above, but in the last two trials.
        let trial = |slow: usize| distribution((0..10_000).map(move |i| [90, 100, 110, 120][(i % 4 + slow).min(3)]));
        let mut alike = Distribution::default();
        (0..6).for_each(|_| alike.join(&trial(0)));
        let mut unlike = Distribution::default();
        [0, 0, 0, 0, 1, 1].iter().for_each(|slow| unlike.join(&trial(*slow)));
        let (alike, unlike) = (quantile(&alike, 0.5, None), quantile(&unlike, 0.5, None));
        assert_eq!((alike.value, alike.interval), (QuantileValue::At(Nanos(100)), Some((Nanos(100), Nanos(110)))));
        assert_eq!((unlike.value, unlike.interval), (QuantileValue::At(Nanos(110)), Some((Nanos(100), Nanos(120)))));
    }

    #[test]
    fn of_two_trials_that_differ_hardly_anything_is_known() {
        let two = quantile(&joined(&[100, 150]), 0.5, Some(1.0));
        assert_eq!((two.value, two.interval), (QuantileValue::At(Nanos(100)), None));
        assert_eq!(quantile(&joined(&[100, 100]), 0.5, None).interval, Some((Nanos(100), Nanos(100))));
    }

    #[test]
    fn an_interval_over_trials_that_reaches_censored_io_is_left_out() {
        let mut stalled = joined(&[100; 6]);
        let mut last = distribution(std::iter::repeat_n(100, 1_000));
        (0..500).for_each(|_| last.add_censored(Nanos::secs(30)));
        stalled.join(&last);
        assert!(quantile(&stalled, 0.5, None).interval.is_some());
        let tail = quantile(&stalled, 0.99, None);
        assert_eq!((tail.value, tail.interval), (QuantileValue::Above(Nanos::secs(30)), None));
        assert_eq!((stalled.count(), stalled.censored()), (7_500, 500));
    }

    #[test]
    fn a_quantile_that_reaches_censored_io_is_a_lower_bound() {
        let mut stalled = distribution(std::iter::repeat_n(1_000, 1_000));
        (0..50).for_each(|_| stalled.add_censored(Nanos::secs(30)));
        let p50 = quantile(&stalled, 0.5, Some(1.0));
        assert!(matches!(p50.value, QuantileValue::At(_)) && p50.interval.is_some());
        let p99 = quantile(&stalled, 0.99, Some(1.0));
        assert_eq!((p99.value, p99.interval), (QuantileValue::Above(Nanos::secs(30)), None));
        assert_eq!((stalled.count(), stalled.censored(), stalled.max()), (1_050, 50, Nanos::secs(30)));
    }

    #[test]
    fn io_that_never_began_counts_like_io_that_never_ended() {
        let mut behind = distribution(std::iter::repeat_n(1_000, 1_000));
        behind.add_never_begun(&Sparse::default());
        assert_eq!(behind.censored(), 0);
        behind.add_never_begun(&distribution([3_000_000_000, 9_000_000_000].repeat(20)).all.sparse());
        assert_eq!(quantile(&behind, 0.97, Some(1.0)).value, QuantileValue::Above(Nanos::secs(3)));
        assert_eq!((behind.count(), behind.censored(), behind.max()), (1_040, 40, Nanos::secs(9)));
    }

    #[test]
    fn what_is_left_without_a_trial_is_what_the_others_have() {
        let all = joined(&[10, 20, 30, 4_000]);
        let without = |left_out: &[usize], q: f64| all.quantile_without(left_out, Share(q)).map(|value| value.0);
        assert_eq!((without(&[], 0.5), without(&[0], 0.5), without(&[2, 3], 0.99)), (Some(20), Some(30), Some(20)));
        let whole = all.point(Share(0.99), 0.0).map(|value| value.0);
        assert_eq!(without(&[], 0.99), whole);
        // Above 255 ns a bucket holds several values; the largest of all stands for the last.
        assert_eq!((without(&[0, 1], 0.99), without(&[0, 1, 2, 3], 0.5)), (Some(4_000), None));
        let mut rest = Distribution::default();
        rest.add(&joined(&[20, 30, 4_000]).all.sparse());
        for q in [0.01, 0.3, 0.5, 0.67, 0.9, 1.0] {
            assert_eq!(without(&[0], q), rest.point(Share(q), 0.0).map(|value| value.0), "{q}");
        }
    }
}
