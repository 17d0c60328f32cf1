//! Student's t interval of a mean. Its values must be independent: trial means, accepted batch means.

use super::{mean, variance};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Above this many degrees of freedom the quantile of the normal distribution is used: it differs by
/// less than 0.03 %, and the series of the exact one converges slowly there.
const NORMAL_FROM: usize = 10_000;
/// 97.5 % quantile of the normal distribution.
pub const NORMAL_975: f64 = 1.959_963_984_540_054;

/// 97.5 % quantile of Student's t with `freedom` degrees of freedom (at least 1).
pub fn quantile_975(freedom: usize) -> f64 {
    quantile_975_at(freedom as f64)
}

/// [`quantile_975`] for degrees of freedom that are no whole number, as Welch's.
pub fn quantile_975_at(freedom: f64) -> f64 {
    if freedom >= NORMAL_FROM as f64 {
        return NORMAL_975;
    }
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).map_or(NORMAL_975, |t| t.inverse_cdf(0.975))
}

/// Quantile `level` (above 0.5 and below 1) of Student's t with `freedom` degrees of freedom (at least 1).
pub fn quantile(freedom: usize, level: f64) -> f64 {
    let freedom = freedom.clamp(1, NORMAL_FROM) as f64;
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(level))
}

/// Half the width of the 95 % interval of the mean, in the unit of the values; `None` below two values.
pub fn half_width(values: &[f64]) -> Option<f64> {
    let spread = variance(values)?.sqrt();
    Some(quantile_975(values.len() - 1) * spread / (values.len() as f64).sqrt())
}

/// The 95 % interval of the mean of quantities that cannot be negative; `None` below two values.
pub fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let (centre, half) = (mean(values)?, half_width(values)?);
    Some(((centre - half).max(0.0), centre + half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_matches_the_printed_tables() {
        // Any table of Student's t, two-sided 95 %.
        for (freedom, table) in
            [(1, 12.706), (2, 4.303), (5, 2.571), (9, 2.262), (19, 2.093), (29, 2.045), (120, 1.980)]
        {
            let ours = quantile_975(freedom);
            assert!((ours - table).abs() < 1e-3, "{freedom} degrees of freedom: {ours}, table {table}");
        }
        assert!((quantile_975(NORMAL_FROM - 1) - NORMAL_975).abs() < 5e-4, "no jump where the normal takes over");
    }

    #[test]
    fn six_paired_log_ratios_give_the_interval_of_the_method() {
        // method.md S5: ratio 1.03330, interval [1.02686, 1.03979].
        let a = [100.2, 99.1, 101.3, 98.7, 100.9, 99.5f64];
        let b = [103.9, 102.2, 105.1, 102.0, 104.8, 101.7f64];
        // Shifted by 1 so that no bound is cut at zero.
        let logs: Vec<f64> = a.iter().zip(b).map(|(a, b)| (b / a).ln() + 1.0).collect();
        let (low, high) = interval(&logs).unwrap();
        assert!(((low - 1.0).exp() - 1.02686).abs() < 1e-5, "{low}");
        assert!(((high - 1.0).exp() - 1.03979).abs() < 1e-5, "{high}");
    }

    #[test]
    fn one_trial_has_no_interval_and_a_rate_is_never_negative() {
        assert_eq!(interval(&[5.0]), None);
        let (low, high) = interval(&[1.0, 9.0]).unwrap();
        assert_eq!(low, 0.0);
        assert!((high - (5.0 + 12.706 * 32f64.sqrt() / 2f64.sqrt())).abs() < 0.01);
    }
}
