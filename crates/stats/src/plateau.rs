//! Levels of a series: is it flat, does it step down, and is a number round? The marks of a rate limiter.

use super::mean;

/// Mantissas that people choose for limits: whole digits and the common halves, quarters and sixths of them.
const ROUND: [f64; 15] = [1.0, 1.2, 1.25, 1.5, 1.6, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 7.5, 8.0, 9.0];

/// Ratio of the 95 % to the 50 % quantile: near 1 where something cuts the peaks off. `None` for no values, or
/// a median of 0.
pub fn flatness(series: &[f64]) -> Option<f64> {
    let mut sorted = series.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted.get(((sorted.len() as f64 * share).ceil() as usize).max(1) - 1).copied();
    let (middle, high) = (at(0.5)?, at(0.95)?);
    (middle > 0.0).then(|| high / middle)
}

/// The round number within `distance` (relative) of a value.
pub fn round(value: f64, distance: f64) -> Option<f64> {
    if !(value.is_finite() && value > 0.0) {
        return None;
    }
    let scale = 10f64.powf(value.log10().floor());
    // 9.99 is close to the 1 of the next scale.
    let candidates = ROUND.iter().map(|m| m * scale).chain([10.0 * scale]);
    candidates.filter(|round| (value / round - 1.0).abs() <= distance).min_by(|a, b| {
        let off = |round: &f64| (value / round - 1.0).abs();
        off(a).total_cmp(&off(b))
    })
}

/// A lasting change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Values before it.
    pub at: usize,
    /// Mean before.
    pub before: f64,
    /// Mean after.
    pub after: f64,
}

/// The cut into two levels that leaves the least squared deviation, with at least `least` values on either
/// side. `None` if the series is shorter, or one level explains it as well (less than nine tenths of the
/// deviation goes away).
pub fn step(series: &[f64], least: usize) -> Option<Step> {
    let least = least.max(1);
    if series.len() < 2 * least {
        return None;
    }
    let all = mean(series)?;
    let total: f64 = series.iter().map(|v| (v - all).powi(2)).sum();
    let whole: f64 = series.iter().sum();
    let mut sum: f64 = series[..least - 1].iter().sum();
    let mut best: Option<(f64, Step)> = None;
    for at in least..=series.len() - least {
        sum += series[at - 1];
        let (n, m) = (at as f64, (series.len() - at) as f64);
        let (before, after) = (sum / n, (whole - sum) / m);
        // Deviation between the levels; what is left is the total less this.
        let between = n * m / (n + m) * (before - after).powi(2);
        if best.is_none_or(|(most, _)| between > most) {
            best = Some((between, Step { at, before, after }));
        }
    }
    best.filter(|(between, _)| total > 0.0 && *between >= 0.9 * total).map(|(_, step)| step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_top_is_flat_and_noise_is_not() {
        let limited: Vec<f64> = (0..20).map(|i| if i % 7 == 0 { 950.0 } else { 1000.0 }).collect();
        assert_eq!(flatness(&limited), Some(1.0));
        let noise: Vec<f64> = (0..20).map(|i| 1000.0 + f64::from(i * 37 % 20) * 5.0).collect();
        assert!(flatness(&noise).unwrap() > 1.03);
        assert_eq!((flatness(&[]), flatness(&[0.0])), (None, None));
    }

    #[test]
    fn limits_are_round_and_most_numbers_are_not() {
        assert_eq!(round(2996.0, 0.005), Some(3000.0));
        assert_eq!(round(99.8e6, 0.005), Some(1e8));
        assert_eq!((round(2900.0, 0.005), round(0.0, 0.005), round(f64::NAN, 0.005)), (None, None, None));
        let many = (0..10_000).map(|i| 10f64.powf(3.0 + f64::from(i) / 10_000.0));
        let share = many.filter(|&v| round(v, 0.005).is_some()).count();
        assert!(share < 700, "{share} of 10,000 numbers pass for round");
    }

    #[test]
    fn credits_that_run_out_are_a_step_and_a_slope_is_not() {
        let burst: Vec<f64> = (0..30).map(|i| if i < 12 { 3000.0 } else { 300.0 + f64::from(i % 2) }).collect();
        let found = step(&burst, 5).unwrap();
        assert_eq!((found.at, found.before), (12, 3000.0));
        let slope: Vec<f64> = (0..30).map(|i| 3000.0 - 50.0 * f64::from(i)).collect();
        assert_eq!(step(&slope, 5), None);
        assert_eq!((step(&[1.0; 30], 5), step(&burst[..9], 5)), (None, None));
    }
}
