//! How much less correlated values say than independent ones would.

use super::{batch_means, mean, variance};

/// Factor by which correlation inflates the variance of the mean of a series, at least 1 (method S2:
/// n / ESS = m · s_B² / var(y)). The clusters are the series of the trials.
///
/// With several trials, the trials are the batches; with one, its accepted batch means. `None` if a
/// single trial is too short for its autocorrelation, or if there are no values.
pub fn design_effect(clusters: &[Vec<f64>]) -> Option<f64> {
    let clusters: Vec<&Vec<f64>> = clusters.iter().filter(|c| !c.is_empty()).collect();
    let (means, length, all) = match clusters.as_slice() {
        [] => return None,
        [single] => {
            let found = batch_means::batches(single)?;
            (found.means, found.length as f64, (*single).clone())
        }
        several => {
            let all = several.iter().flat_map(|c| c.iter().copied()).collect::<Vec<f64>>();
            let means = several.iter().filter_map(|c| mean(c)).collect::<Vec<f64>>();
            (means, all.len() as f64 / several.len() as f64, all)
        }
    };
    let (between, total) = (variance(&means)?, variance(&all)?);
    Some(if total > 0.0 { (length * between / total).max(1.0) } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_that_differ_only_from_each_other_count_once_each() {
        // Variance of the two means: 2. Of all twenty values, each 1 from their mean: 20 / 19.
        let effect = design_effect(&[vec![1.0; 10], vec![3.0; 10]]).unwrap();
        assert!((effect - 10.0 * 2.0 / (20.0 / 19.0)).abs() < 1e-9, "{effect}");
    }

    #[test]
    fn independent_values_lose_nothing() {
        let alternating: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        assert_eq!(design_effect(&[alternating.clone(), alternating.clone()]), Some(1.0));
        assert_eq!(design_effect(&[alternating]), Some(1.0));
        assert_eq!(design_effect(&[vec![5.0; 40]]), Some(1.0));
    }

    #[test]
    fn one_trial_with_a_trend_cannot_tell() {
        assert_eq!(design_effect(&[(0..50).map(f64::from).collect()]), None);
        assert_eq!(design_effect(&[]), None);
    }
}
