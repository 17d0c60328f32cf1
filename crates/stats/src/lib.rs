//! Statistics as pure functions over numbers; nothing here knows about storage, runs or texts.
#![forbid(unsafe_code)]

pub mod batch_means;
pub mod change_points;
pub mod coincidence;
pub mod distribution;
pub mod effective;
pub mod estimate;
pub mod fairness;
pub mod holm;
pub mod knee;
pub mod levels;
pub mod line;
pub mod mser;
pub mod order_statistic;
pub mod paired;
pub mod plateau;
pub mod quantile;
pub mod quotient;
pub mod sign_flip;
pub mod signed_rank;
pub mod t_interval;
pub mod usl;
pub mod welch;

/// Arithmetic mean; `None` for no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Sample variance (divided by n − 1), in the square of the values' unit; `None` for fewer than two values.
pub fn variance(values: &[f64]) -> Option<f64> {
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    (values.len() >= 2).then(|| squares / (values.len() - 1) as f64)
}

/// Median and largest of values of which some are only known to be larger than what a trial could show (`None`). The median is
/// `None` where too few are known, and so is the largest where one is not.
pub fn middle_and_most(values: &[Option<f64>]) -> (Option<f64>, Option<f64>) {
    let mut all: Vec<f64> = values.iter().map(|value| value.unwrap_or(f64::INFINITY)).collect();
    all.sort_by(f64::total_cmp);
    let at = |index: usize| all.get(index).copied().filter(|value| value.is_finite());
    let half = all.len() / 2;
    let middle = match all.len() % 2 {
        1 => at(half),
        _ => half.checked_sub(1).and_then(at).zip(at(half)).map(|(low, high)| (low + high) / 2.0),
    };
    (middle, all.len().checked_sub(1).and_then(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variance_is_that_of_a_sample() {
        assert_eq!(mean(&[2.0, 4.0, 6.0]), Some(4.0));
        assert_eq!(variance(&[2.0, 4.0, 6.0]), Some(4.0));
        assert_eq!((mean(&[]), variance(&[1.0])), (None, None));
    }

    #[test]
    fn what_is_only_known_to_be_larger_is_never_left_out() {
        assert_eq!(middle_and_most(&[Some(3.0), Some(1.0), Some(2.0)]), (Some(2.0), Some(3.0)));
        assert_eq!(middle_and_most(&[Some(3.0), None, Some(2.0)]), (Some(3.0), None));
        assert_eq!(middle_and_most(&[None, None, Some(2.0)]), (None, None));
        assert_eq!(middle_and_most(&[Some(1.0), Some(2.0)]), (Some(1.5), Some(2.0)));
        assert_eq!(middle_and_most(&[]), (None, None));
    }
}
