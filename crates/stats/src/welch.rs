//! Two independent sets of values that may differ in size and spread (Welch 1947).

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Probability that Student's t is at least as far from zero.
pub(super) fn two_sided(t: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).map_or(1.0, |law| 2.0 * law.cdf(-t.abs()))
}

/// Degrees of freedom after Welch and Satterthwaite, from the squared errors of both means.
pub(super) fn freedom(in_a: f64, a: usize, in_b: f64, b: usize) -> f64 {
    let part = |error: f64, n: usize| error * error / (n - 1) as f64;
    (in_a + in_b).powi(2) / (part(in_a, a) + part(in_b, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variance;

    #[test]
    fn few_values_of_unlike_spread_have_few_degrees_of_freedom() {
        // By hand: 100, 110, 90 against 200, 201, on logarithms.
        let error = |values: &[f64]| {
            let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
            variance(&logs).unwrap() / values.len() as f64
        };
        let found = freedom(error(&[100.0, 110.0, 90.0]), 3, error(&[200.0, 201.0]), 2);
        assert!((found - 2.0074).abs() < 1e-3, "{found}");
    }

    #[test]
    fn p_is_five_percent_where_the_interval_ends_at_one() {
        // 97.5 % quantile of t with 10 degrees of freedom is 2.228139 (any table).
        assert!((two_sided(2.228_139, 10.0) - 0.05).abs() < 1e-6);
        assert!((two_sided(0.0, 3.0) - 1.0).abs() < 1e-12);
    }
}
