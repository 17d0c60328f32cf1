//! The least-squares line through values at equal distances: how far it moves over the window.

/// Values of the fitted line at the first and the last place. `None` with fewer than two values or
/// values that are not finite.
pub fn ends(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    if values.len() < 2 || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let middle = (n - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / n;
    let across: f64 = values.iter().enumerate().map(|(i, v)| (i as f64 - middle) * (v - mean)).sum();
    let along: f64 = (0..values.len()).map(|i| (i as f64 - middle).powi(2)).sum();
    let rise = across / along * middle;
    (rise.is_finite() && mean.is_finite()).then_some((mean - rise, mean + rise))
}

/// Slope of the least-squares line through (x, y, weight). `None` unless at least two x differ.
pub fn weighted_slope(points: &[(f64, f64, f64)]) -> Option<f64> {
    let weight: f64 = points.iter().map(|p| p.2).sum();
    let mean = |of: fn(&(f64, f64, f64)) -> f64| points.iter().map(|p| of(p) * p.2).sum::<f64>() / weight;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let across: f64 = points.iter().map(|p| p.2 * (p.0 - x) * (p.1 - y)).sum();
    let along: f64 = points.iter().map(|p| p.2 * (p.0 - x).powi(2)).sum();
    (along > 0.0).then(|| across / along).filter(|slope| slope.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_decide_which_points_the_slope_follows() {
        assert_eq!(weighted_slope(&[(0.0, 1.0, 1.0), (2.0, 5.0, 1.0), (4.0, 9.0, 3.0)]), Some(2.0));
        let outlier = |weight| weighted_slope(&[(0.0, 0.0, 1.0), (1.0, 9.0, weight), (2.0, 2.0, 1.0)]).unwrap();
        assert!((outlier(0.0) - 1.0).abs() < 1e-12 && (outlier(1.0) - 1.0).abs() < 1e-12);
        assert_eq!((weighted_slope(&[]), weighted_slope(&[(1.0, 2.0, 5.0), (1.0, 3.0, 5.0)])), (None, None));
        assert_eq!(weighted_slope(&[(0.0, f64::NAN, 1.0), (1.0, 1.0, 1.0)]), None);
    }

    /// Excursion of the line inside the window: |slope| · (n − 1).
    fn excursion(values: &[f64]) -> f64 {
        let (first, last) = ends(values).unwrap();
        ((last - first).abs() * 100.0).round() / 100.0
    }

    #[test]
    fn the_line_moves_as_in_the_examples_of_the_method() {
        assert_eq!(excursion(&[100.0, 104.0, 98.0, 102.0, 101.0]), 0.0);
        assert_eq!(excursion(&[95.0, 98.0, 100.0, 103.0, 106.0]), 10.8);
    }

    #[test]
    fn there_is_no_line_through_one_value_or_through_what_is_not_a_number() {
        assert_eq!((ends(&[]), ends(&[1.0]), ends(&[1.0, f64::NAN])), (None, None, None));
        assert_eq!(ends(&[3.0, 3.0]), Some((3.0, 3.0)));
    }
}
