//! Which values share a tint. The legend is drawn from the same numbers.

/// Tints of a scale; more are not told apart.
const TINTS: u32 = 8;

/// Smallest count of each tint when tints grow with the square root of the count: rare I/Os, which a
/// proportional scale hides, get a tint of their own (Gregg, ACM Queue 2010).
pub fn by_root(most: f64) -> Vec<f64> {
    let least = |k: u32| (most * (f64::from(k) / f64::from(TINTS)).powi(2)).ceil().max(1.0);
    let mut steps: Vec<f64> = (0..TINTS).map(least).filter(|step| *step <= most).collect();
    steps.dedup();
    steps
}

/// Smallest value of each tint when tints are equally wide; one tint if all values are equal.
pub fn equal(least: f64, most: f64) -> Vec<f64> {
    let mut steps: Vec<f64> = (0..TINTS)
        .map(|k| least + (most - least) * f64::from(k) / f64::from(TINTS))
        .filter(|s| s.is_finite())
        .collect();
    steps.dedup();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_io_has_a_tint_beside_millions() {
        assert_eq!(by_root(64_000_000.0)[..3], [1.0, 1_000_000.0, 4_000_000.0]);
        assert_eq!(by_root(1.0), [1.0]);
        assert_eq!(by_root(3.0), [1.0, 2.0, 3.0]);
        assert_eq!(by_root(0.0), [0.0; 0]);
    }

    #[test]
    fn equal_values_need_one_tint() {
        assert_eq!(equal(5.0, 5.0), [5.0]);
        assert_eq!(equal(0.0, 80.0).len(), 8);
        assert_eq!(equal(f64::NAN, 1.0), [0.0; 0]);
    }
}
