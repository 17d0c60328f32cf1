//! Precision of a mean inside one trial: batch means, accepted only if they pass a test of independence.
//!
//! Neighbouring intervals of a trial are correlated: an AR(1) series with φ = 0.9 has a mean whose
//! variance is 19 times what its values suggest. Means over batches long enough are not (method S2).

use super::{mean, t_interval};

/// Batches tried first.
const BATCHES: usize = 20;
/// Fewest batches; below, the interval would hang on too few values.
const BATCHES_MIN: usize = 10;
/// 95 % quantile of the normal distribution: the independence test is one-sided.
const NORMAL_95: f64 = 1.645;

/// Batches of a series that were accepted as independent.
#[derive(Debug, Clone, PartialEq)]
pub struct Batches {
    /// Mean of each batch, in the unit of the series.
    pub means: Vec<f64>,
    /// Values per batch.
    pub length: usize,
}

impl Batches {
    /// Means of batches of twice the length, from which an interval is made.
    ///
    /// The test accepts what it cannot tell from independence: a correlation of 0.2 between neighbours, with which an
    /// interval from the batches themselves holds the truth in 90 % of cases. With batches twice as long it is less than
    /// half.
    pub fn pairs(&self) -> Vec<f64> {
        self.means[self.means.len() % 2..].chunks_exact(2).filter_map(mean).collect()
    }

    /// Half the width of the 95 % interval of the mean, in the unit of the series.
    pub fn half_width(&self) -> f64 {
        t_interval::half_width(&self.pairs()).unwrap_or(0.0)
    }
}

/// Cuts a series into 20 batches, or 10 of twice the length if those are not independent.
///
/// `None` if the series is shorter than 10 batches of `least` values or no cut is accepted: it is too short for its own
/// autocorrelation. Values that do not fill a batch are dropped at the start, next to the ramp.
/// In short batches the test finds what is slower than they are by chance only, so a publisher of what follows
/// from them gives a least length.
pub fn batches(series: &[f64], least: usize) -> Option<Batches> {
    let mut length = (series.len() / BATCHES).max(least.max(1));
    while series.len() / length >= BATCHES_MIN {
        let count = (series.len() / length).min(BATCHES);
        let means: Vec<f64> = series[series.len() - count * length..].chunks_exact(length).filter_map(mean).collect();
        if independent(&means) {
            return Some(Batches { means, length });
        }
        length *= 2;
    }
    None
}

/// Von Neumann's ratio: squared differences of neighbours over squared deviations. About 2 for
/// independent values, less for positive correlation. `None` if the values are all equal.
pub fn von_neumann(values: &[f64]) -> Option<f64> {
    let centre = mean(values)?;
    let spread: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    let steps: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    (spread > 0.0).then(|| steps / spread)
}

/// Smallest ratio at which `count` values are still taken as independent, at the 5 % level.
///
/// 2 (1 − 1.645 √((k − 2) / (k² − 1))): 1.301 for 20 values.
pub fn von_neumann_limit(count: usize) -> f64 {
    let k = count as f64;
    2.0 * (1.0 - NORMAL_95 * ((k - 2.0) / (k * k - 1.0)).sqrt())
}

fn independent(means: &[f64]) -> bool {
    von_neumann(means).is_none_or(|ratio| ratio >= von_neumann_limit(means.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::random::Random;

    /// An AR(1) series around 1000; its noise is the sum of twelve uniforms, close to normal.
    fn autoregressive(n: usize, phi: f64, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut deviation = 0.0;
        (0..n)
            .map(|_| {
                deviation = phi * deviation + (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
                1000.0 + deviation
            })
            .collect()
    }

    #[test]
    fn the_limit_for_twenty_batches_is_that_of_the_method() {
        assert!((von_neumann_limit(20) - 1.301).abs() < 5e-4);
    }

    #[test]
    fn a_trend_is_not_independent_and_an_alternation_is() {
        let trend: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(batches(&trend, 1), None);
        let alternation: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        assert_eq!(batches(&alternation, 1).unwrap().length, 5);
    }

    #[test]
    fn a_constant_series_is_accepted_with_no_width_and_a_short_one_is_refused() {
        assert_eq!(batches(&[7.0; 40], 1).unwrap().half_width(), 0.0);
        assert_eq!(batches(&[7.0; 9], 1), None);
        assert_eq!(batches(&[], 1), None);
    }

    #[test]
    fn what_does_not_fill_a_batch_is_dropped_at_the_start() {
        let mut series = vec![1e9];
        series.extend((0..40).map(|i| f64::from(i % 2)));
        assert!(batches(&series, 1).unwrap().means.iter().all(|&m| m < 2.0));
    }

    /// The test that catches wrong statistics: how often a nominal 95 % interval covers the known mean.
    #[test]
    fn the_interval_covers_the_true_mean_of_a_correlated_series() {
        let (mut accepted, mut covered, mut naive) = (0, 0, 0);
        for seed in 0..600 {
            let series = autoregressive(2000, 0.8, seed);
            naive += u32::from((mean(&series).unwrap() - 1000.0).abs() <= t_interval::half_width(&series).unwrap());
            let Some(found) = batches(&series, 1) else { continue };
            accepted += 1;
            let centre = mean(&found.means).unwrap();
            covered += u32::from((centre - 1000.0).abs() <= found.half_width());
        }
        let coverage = f64::from(covered) / f64::from(accepted);
        assert!(accepted > 500 && (0.92..=0.98).contains(&coverage), "{accepted} accepted, coverage {coverage}");
        assert!(naive < 510, "the naive interval must show why batches are needed: {naive} of 600");
    }
}
