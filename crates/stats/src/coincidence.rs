//! How likely it is that two measured values agree in all their digits by chance (method H05).

/// Expected number of equal pairs among `values` numbers of `digits` significant digits whose digits are
/// random: pairs × 10^−(digits − 1).
pub fn expected(values: usize, digits: u32) -> f64 {
    let pairs = values as f64 * (values as f64 - 1.0) / 2.0;
    pairs.max(0.0) * 10f64.powi(1 - digits.max(1) as i32)
}

/// Significant digits of a whole number; trailing zeros count, because a counter has no rounding.
pub fn digits(value: u128) -> u32 {
    value.checked_ilog10().map_or(1, |log| log + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_values_of_five_digits_coincide_once_in_six_tables() {
        assert!((expected(60, 5) - 0.177).abs() < 1e-3);
        assert_eq!((expected(0, 5), expected(1, 5)), (0.0, 0.0));
    }

    #[test]
    fn digits_are_counted_whole() {
        assert_eq!([0, 9, 10, 12_345].map(digits), [1, 1, 2, 5]);
    }
}
