//! Where a curve that rises and levels off bends: from there on, more of x buys little of y.
//!
//= Satopää, Albrecht, Irwin, Raghavan, Finding a "Kneedle" in a Haystack (2011), section III

/// Fewest points of a curve that may have a bend.
pub const POINTS_LEAST: usize = 4;
/// How far the curve must fall back towards the diagonal, in mean distances of its points: the paper's S.
const SENSITIVITY: f64 = 1.0;

/// Index of the bend of a rising curve; x ascending. `None` for a straight one, for fewer than [`POINTS_LEAST`] points, and
/// where the last points do not yet tell.
pub fn knee(points: &[(f64, f64)]) -> Option<usize> {
    if points.len() < POINTS_LEAST || !points.iter().all(|(x, y)| x.is_finite() && y.is_finite()) {
        return None;
    }
    let scaled = |of: fn(&(f64, f64)) -> f64| -> Option<Vec<f64>> {
        let values: Vec<f64> = points.iter().map(of).collect();
        let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
        (high > low).then(|| values.iter().map(|v| (v - low) / (high - low)).collect())
    };
    let (x, y) = (scaled(|p| p.0)?, scaled(|p| p.1)?);
    let above: Vec<f64> = x.iter().zip(&y).map(|(x, y)| y - x).collect();
    let step = SENSITIVITY / (points.len() - 1) as f64;
    let mut top: Option<usize> = None;
    for i in 1..above.len() {
        let is_local = above[i] >= above[i - 1] && above.get(i + 1).is_none_or(|next| above[i] > *next);
        if is_local {
            top = Some(i);
        } else if top.is_some_and(|top| above[i] < above[top] - step) {
            return top;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    //= arvkevi/kneed, the example of its README and its test of bumpy steps
    #[test]
    fn the_bends_of_the_reference_are_found() {
        let curve: Vec<(f64, f64)> = (0..10).map(|i| f64::from(i) / 9.0).map(|x| (x, -1.0 / (x + 0.1) + 5.0)).collect();
        let found = knee(&curve).unwrap();
        assert!((curve[found].0 - 0.222).abs() < 1e-3, "{found}");
        let levels = [0.0, 60.0, 80.0, 85.0, 90.0, 95.0, 96.0, 97.0, 98.0, 99.0];
        let curve: Vec<(f64, f64)> = levels.iter().zip(0..).map(|(y, x)| (f64::from(x), *y)).collect();
        assert_eq!(knee(&curve), Some(2));
    }

    #[test]
    fn a_straight_line_and_a_curve_that_still_rises_have_no_bend() {
        let line: Vec<(f64, f64)> = (1..9).map(|i| (f64::from(i), 3.0 * f64::from(i))).collect();
        assert_eq!(knee(&line), None);
        let steeper: Vec<(f64, f64)> = (1..9).map(|i| (f64::from(i), f64::from(i * i))).collect();
        assert_eq!(knee(&steeper), None);
    }

    #[test]
    fn depths_that_double_bend_where_the_rate_stops_doubling() {
        let rates = [1.0, 2.0, 4.0, 8.0, 15.9, 16.0, 16.1, 16.1, 16.0];
        let curve: Vec<(f64, f64)> = rates.iter().zip(0..).map(|(y, x)| (f64::from(1 << x), *y)).collect();
        assert_eq!(knee(&curve).map(|i| curve[i].0), Some(16.0));
    }

    #[test]
    fn too_few_points_or_none_that_differ_have_no_bend() {
        assert_eq!(knee(&[(1.0, 1.0), (2.0, 5.0), (4.0, 5.0)]), None);
        assert_eq!(knee(&[(1.0, 5.0), (2.0, 5.0), (3.0, 5.0), (4.0, 5.0)]), None);
        assert_eq!(knee(&[(1.0, 1.0), (2.0, f64::NAN), (3.0, 5.0), (4.0, 5.0)]), None);
    }
}
