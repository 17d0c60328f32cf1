//! Statistics as pure functions over numbers; nothing here knows about storage, runs or texts.

pub mod batch_means;
pub mod change_points;
pub mod coincidence;
pub mod effective;
pub mod holm;
pub mod knee;
pub mod levels;
pub mod line;
pub mod mser;
pub mod order_statistic;
pub mod paired;
pub mod plateau;
pub mod pts;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variance_is_that_of_a_sample() {
        assert_eq!(mean(&[2.0, 4.0, 6.0]), Some(4.0));
        assert_eq!(variance(&[2.0, 4.0, 6.0]), Some(4.0));
        assert_eq!((mean(&[]), variance(&[1.0])), (None, None));
    }
}
