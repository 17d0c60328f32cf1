//! Two independent sets of positive values, compared by the ratio of their geometric means.

use super::{mean, t_interval, variance};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// One set relative to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    /// Ratio of the geometric means.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    /// Two-sided p that it is 1; 1 or 0 where neither set varies.
    pub p: f64,
}

/// Ratio `other` / `baseline` of the geometric means, with Welch's 95 % interval and test on the logarithms.
///
/// The sets may differ in size and spread. `None` with fewer than two values in a set, or with a value
/// that is not positive and finite. Values of the same block belong to `stats` of paired values instead:
/// here nothing is gained from what both sets have in common.
pub fn log_ratio(baseline: &[f64], other: &[f64]) -> Option<LogRatio> {
    let (a, b) = (logs(baseline)?, logs(other)?);
    let (in_a, in_b) = (variance(&a)? / a.len() as f64, variance(&b)? / b.len() as f64);
    let difference = mean(&b)? - mean(&a)?;
    let error = (in_a + in_b).sqrt();
    let (half, p) = match error > 0.0 {
        true => {
            let freedom = freedom(in_a, a.len(), in_b, b.len());
            (t_interval::quantile_975_at(freedom) * error, two_sided(difference / error, freedom))
        }
        false => (0.0, if difference == 0.0 { 1.0 } else { 0.0 }),
    };
    let interval = ((difference - half).exp(), (difference + half).exp());
    Some(LogRatio { ratio: difference.exp(), interval, p })
}

/// Probability that Student's t is at least as far from zero.
fn two_sided(t: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).map_or(1.0, |law| 2.0 * law.cdf(-t.abs()))
}

fn logs(values: &[f64]) -> Option<Vec<f64>> {
    values.iter().map(|v| (*v > 0.0 && v.is_finite()).then(|| v.ln())).collect()
}

/// Degrees of freedom after Welch and Satterthwaite, from the squared errors of both means.
pub(super) fn freedom(in_a: f64, a: usize, in_b: f64, b: usize) -> f64 {
    let part = |error: f64, n: usize| error * error / (n - 1) as f64;
    (in_a + in_b).powi(2) / (part(in_a, a) + part(in_b, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::random::Random;

    #[test]
    fn the_interval_is_wider_than_that_of_pairs_and_its_centre_the_same() {
        // The values of method.md S5, whose paired interval is [1.02686, 1.03979].
        let a = [100.2, 99.1, 101.3, 98.7, 100.9, 99.5];
        let b = [103.9, 102.2, 105.1, 102.0, 104.8, 101.7];
        let LogRatio { ratio, interval: (low, high), p } = log_ratio(&a, &b).unwrap();
        assert!((ratio - 1.033_304).abs() < 1e-6, "{ratio}");
        assert!(p < 0.01, "{p}");
        assert!((low - 1.016_448).abs() < 1e-6 && (high - 1.050_440).abs() < 1e-6, "{low} {high}");
    }

    #[test]
    fn few_values_of_unlike_spread_have_few_degrees_of_freedom() {
        // By hand: 2.0074 degrees of freedom, t = 4.2875.
        let LogRatio { ratio, interval: (low, high), .. } = log_ratio(&[100.0, 110.0, 90.0], &[200.0, 201.0]).unwrap();
        assert!((ratio - 2.011_722).abs() < 1e-6, "{ratio}");
        assert!((low - 1.568_765).abs() < 1e-5 && (high - 2.579_752).abs() < 1e-5, "{low} {high}");
    }

    #[test]
    fn equal_values_have_no_width_and_what_has_no_logarithm_has_no_ratio() {
        let equal = |a: f64, b: f64| log_ratio(&[a, a], &[b, b]).map(|found| (found.ratio, found.interval, found.p));
        assert_eq!(equal(5.0, 5.0), Some((1.0, (1.0, 1.0), 1.0)));
        assert_eq!(equal(1.0, 1.0f64.exp()).map(|found| found.2), Some(0.0));
        assert_eq!(log_ratio(&[5.0], &[5.0, 6.0]), None);
        assert_eq!(log_ratio(&[5.0, 0.0], &[5.0, 6.0]), None);
        assert_eq!(log_ratio(&[5.0, f64::INFINITY], &[5.0, 6.0]), None);
        assert_eq!(log_ratio(&[], &[]), None);
    }

    #[test]
    fn p_is_five_percent_where_the_interval_ends_at_one() {
        // 97.5 % quantile of t with 10 degrees of freedom is 2.228139 (any table).
        assert!((two_sided(2.228_139, 10.0) - 0.05).abs() < 1e-6);
        assert!((two_sided(0.0, 3.0) - 1.0).abs() < 1e-12);
    }

    /// Nominal 95 %, with sets of unlike size and spread.
    #[test]
    fn the_interval_covers_the_true_ratio() {
        let seed = 3;
        let mut random = Random::new(seed);
        let mut normal = |spread: f64| (spread * ((0..12).map(|_| random.unit()).sum::<f64>() - 6.0)).exp();
        let mut covered = 0;
        for _ in 0..1000 {
            let a: Vec<f64> = (0..6).map(|_| 100.0 * normal(0.01)).collect();
            let b: Vec<f64> = (0..4).map(|_| 110.0 * normal(0.05)).collect();
            let LogRatio { interval: (low, high), .. } = log_ratio(&a, &b).unwrap();
            covered += u32::from((low..=high).contains(&1.1));
        }
        assert!((930..=970).contains(&covered), "seed {seed}: {covered} of 1000");
    }
}
