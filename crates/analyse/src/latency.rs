//! The latency distribution of one operation over all trials of a case: merged, never averaged.

use crate::findings::{Quantile, QuantileValue};
use crate::stats::order_statistic;
use stend_base::histogram::{Sparse, bucket, lower_edge};
use stend_base::{Histogram, Nanos, Share};

/// Latencies of completed I/Os, and the ages of those whose end was not seen.
#[derive(Debug, Clone, Default)]
pub struct Distribution {
    /// Completed I/Os, and censored ones at their age: the least they can have been.
    all: Histogram,
    /// Smallest age and number of censored I/Os.
    censored: Option<(Nanos, u64)>,
}

impl Distribution {
    /// Adds completed I/Os.
    pub fn add(&mut self, latency: &Sparse) {
        self.all.merge_sparse(latency);
    }

    /// Adds an I/O that was still in flight after `age`.
    pub fn add_censored(&mut self, age: Nanos) {
        self.all.merge_sparse(&Sparse {
            buckets: vec![(bucket(age.0) as u32, 1)],
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

    /// A quantile with its 95 % interval.
    ///
    /// `design_effect` is the factor by which correlation shrinks the number of I/Os to an effective
    /// one (at least 1); `None` if it could not be told, which leaves the interval out.
    pub fn quantile(&self, q: Share, design_effect: Option<f64>) -> Quantile {
        let (have, need) = (self.count(), order_statistic::least_count(q));
        if have < need {
            return Quantile { q, value: QuantileValue::NotEnough { have, need }, interval: None };
        }
        let value = match self.all.quantile(q) {
            None => QuantileValue::NotEnough { have, need },
            Some(value) if self.certain(value) => QuantileValue::At(value),
            Some(value) => {
                let least = self.censored.map_or(Nanos(0), |(age, _)| age);
                QuantileValue::Above(least.max(Nanos(lower_edge(bucket(value.0)))))
            }
        };
        Quantile { q, value, interval: self.interval(q, design_effect) }
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

    #[test]
    fn a_percentile_below_its_count_says_how_many_are_needed() {
        let few = distribution(1..=367);
        assert_eq!(few.quantile(Share(0.99), Some(1.0)).value, QuantileValue::NotEnough { have: 367, need: 368 });
        let enough = distribution(1..=368);
        assert!(matches!(enough.quantile(Share(0.99), Some(1.0)).value, QuantileValue::At(_)));
    }

    #[test]
    fn merging_trials_is_not_averaging_their_percentiles() {
        // 990 fast I/Os in one trial, 10 slow and 990 fast in the other: the mean of the two p99.5 would be 50 µs.
        let mut both = distribution(std::iter::repeat_n(100, 1000));
        both.add(&distribution((0..1000).map(|i| if i < 8 { 100_000 } else { 100 })).all.sparse());
        assert_eq!(both.quantile(Share(0.995), Some(1.0)).value, QuantileValue::At(Nanos(100)));
    }

    #[test]
    fn the_interval_covers_the_ranks_of_the_method() {
        // Values below 256 have buckets of their own, so ranks can be read back exactly.
        let found = distribution(1..=30).quantile(Share(0.5), Some(1.0));
        assert_eq!((found.value, found.interval), (QuantileValue::At(Nanos(15)), Some((Nanos(10), Nanos(21)))));
    }

    #[test]
    fn correlated_values_widen_the_interval_and_an_unknown_correlation_removes_it() {
        // Neighbours are 1 % apart: more than a bucket.
        let all = distribution((0..2_000).map(|i| (1_000.0 * 1.01f64.powi(i)) as u64));
        let width = |effect| all.quantile(Share(0.99), effect).interval.map(|(low, high)| high.0 - low.0);
        assert!(width(Some(4.0)) > width(Some(1.0)));
        assert_eq!((width(None), width(Some(1e9))), (None, None));
    }

    #[test]
    fn a_quantile_that_reaches_censored_io_is_a_lower_bound() {
        let mut stalled = distribution(std::iter::repeat_n(1_000, 1_000));
        (0..50).for_each(|_| stalled.add_censored(Nanos::secs(30)));
        let p50 = stalled.quantile(Share(0.5), Some(1.0));
        assert!(matches!(p50.value, QuantileValue::At(_)) && p50.interval.is_some());
        let p99 = stalled.quantile(Share(0.99), Some(1.0));
        assert_eq!((p99.value, p99.interval), (QuantileValue::Above(Nanos::secs(30)), None));
        assert_eq!((stalled.count(), stalled.censored(), stalled.max()), (1_050, 50, Nanos::secs(30)));
    }

    #[test]
    fn io_that_never_began_counts_like_io_that_never_ended() {
        let mut behind = distribution(std::iter::repeat_n(1_000, 1_000));
        behind.add_never_begun(&Sparse::default());
        assert_eq!(behind.censored(), 0);
        behind.add_never_begun(&distribution([3_000_000_000, 9_000_000_000].repeat(20)).all.sparse());
        assert_eq!(behind.quantile(Share(0.97), Some(1.0)).value, QuantileValue::Above(Nanos::secs(3)));
        assert_eq!((behind.count(), behind.censored(), behind.max()), (1_040, 40, Nanos::secs(9)));
    }
}
