//! How much less correlated values say than independent ones would.

use super::{batch_means, t_interval, variance};

/// Factor by which correlation inflates the variance of the mean of a series, at least 1 (method S2:
/// n / ESS = m · s_B² / var(y)), from its accepted batch means of at least `least` values. `None` if the series is too short for its autocorrelation.
pub fn of_series(series: &[f64], least: usize) -> Option<f64> {
    let found = batch_means::batches(series, least)?;
    let (between, total) = (variance(&found.pairs())?, variance(series)?);
    Some(if total > 0.0 { (2.0 * found.length as f64 * between / total).max(1.0) } else { 1.0 })
}

/// The same for the share of I/Os at or below a value, from clusters of (I/Os, those at or below): how much more the share
/// differs between clusters than by chance, and how much more than the normal distribution Student's t allows for so few.
/// `None` below two clusters.
//= Woodruff 1952: an interval of the share in a cluster sample, turned into one of the quantile.
pub fn of_share(clusters: &[(f64, f64)]) -> Option<f64> {
    let count = clusters.len() as f64;
    let (all, below) = clusters.iter().fold((0.0, 0.0), |(n, b), cluster| (n + cluster.0, b + cluster.1));
    if clusters.len() < 2 || all <= 0.0 {
        return None;
    }
    let share = below / all;
    let chance = all * share * (1.0 - share);
    let squares: f64 = clusters.iter().map(|(n, below)| (below - share * n).powi(2)).sum();
    let wider = t_interval::quantile_975(clusters.len() - 1) / t_interval::NORMAL_975;
    // All at or below it: the clusters do not differ in this.
    Some(if chance > 0.0 { (count / (count - 1.0) * squares / chance).max(1.0) * wider * wider } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_values_lose_nothing_and_a_trend_cannot_tell() {
        let alternating: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        assert_eq!(of_series(&alternating, 1), Some(1.0));
        assert_eq!(of_series(&[5.0; 40], 1), Some(1.0));
        assert_eq!(of_series(&(0..50).map(f64::from).collect::<Vec<_>>(), 1), None);
        assert_eq!(of_series(&[], 1), None);
    }

    #[test]
    fn clusters_that_differ_count_once_each() {
        // 100 I/Os each, 90 and 70 of them below: share 0.8, deviations ± 10; 2 · 200 / (200 · 0.8 · 0.2) = 12.5,
        // and (12.706 / 1.960)² = 42.03 for Student's t with one degree of freedom.
        let effect = of_share(&[(100.0, 90.0), (100.0, 70.0)]).unwrap();
        assert!((effect - 12.5 * 42.03).abs() < 0.5, "{effect}");
        // Alike clusters still are only three.
        let alike = of_share(&[(100.0, 80.0); 3]).unwrap();
        assert!((alike - (4.3027f64 / 1.96).powi(2)).abs() < 0.01, "{alike}");
    }

    #[test]
    fn one_cluster_and_no_io_cannot_tell() {
        assert_eq!((of_share(&[(100.0, 80.0)]), of_share(&[(0.0, 0.0); 3])), (None, None));
        assert_eq!(of_share(&[(100.0, 100.0); 3]), Some(1.0));
    }
}
