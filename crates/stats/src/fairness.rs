//! How alike several participants are served.

/// Jain's fairness index of quantities that are not negative: 1 if all are equal, 1/n if one of n has everything.
/// `None` without any, or if all are zero.
//= Jain, Chiu, Hawe: A Quantitative Measure of Fairness and Discrimination, DEC-TR-301, 1984: (Σx)² / (n · Σx²)
pub fn jain(values: &[f64]) -> Option<f64> {
    let (sum, squares) = values.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    (squares > 0.0).then(|| (sum * sum / (values.len() as f64 * squares)).min(1.0))
}

/// The value in the middle; of an even number the mean of both in the middle. `None` without any.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let above = *sorted.get(middle)?;
    Some(if sorted.len() % 2 == 1 { above } else { (sorted[middle - 1] + above) / 2.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_are_fair_and_one_that_has_everything_is_not() {
        assert_eq!(jain(&[7.0; 5]), Some(1.0));
        assert_eq!(jain(&[9.0, 0.0, 0.0, 0.0]), Some(0.25));
        // (1 + 2 + 3)² / (3 · 14) = 36 / 42
        assert!((jain(&[1.0, 2.0, 3.0]).unwrap() - 36.0 / 42.0).abs() < 1e-12);
        assert_eq!((jain(&[]), jain(&[0.0, 0.0])), (None, None));
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_both_in_the_middle() {
        assert_eq!(
            (median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 8.0]), median(&[])),
            (Some(2.0), Some(3.0), None)
        );
    }
}
