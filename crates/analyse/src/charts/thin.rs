//! Fewer points for a line: neighbours become one, the smallest and largest value stay visible.

use super::POINTS_MAX;
use crate::chart::Point;

/// How the values of several points become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// Their mean: for rates.
    Mean,
    /// The largest: for latencies, whose quantiles must not be averaged.
    Largest,
}

/// At most 600 points from stretches of points; between two stretches is a gap.
///
/// With so many stretches that gaps alone would take half of the points, there are no gaps.
pub fn line(mut stretches: Vec<Vec<Point>>, join: Join) -> Vec<Point> {
    stretches.retain(|s| !s.is_empty());
    let total: usize = stretches.iter().map(Vec::len).sum();
    // Each stretch may need one incomplete group and one gap.
    let reserved = 2 * stretches.len();
    if total + reserved > POINTS_MAX && reserved > POINTS_MAX / 2 {
        stretches = vec![stretches.concat()];
    }
    let room = POINTS_MAX - 2 * stretches.len().min(POINTS_MAX / 4);
    let group = if total + stretches.len() > POINTS_MAX { total.div_ceil(room.max(1)) } else { 1 };
    let mut out: Vec<Point> = Vec::new();
    for stretch in &stretches {
        if let (Some(last), Some(first)) = (out.last(), stretch.first()) {
            out.push(Point { x: last.x + (first.x - last.x) / 2.0, y: None, envelope: None });
        }
        out.extend(stretch.chunks(group.max(1)).map(|points| merge(points, join)));
    }
    // Trials of a damaged record may overlap; of any other they are in order already.
    out.sort_by(|a, b| a.x.total_cmp(&b.x));
    out
}

fn merge(points: &[Point], join: Join) -> Point {
    if let [single] = points {
        return *single;
    }
    let n = points.len().max(1) as f64;
    let values = || points.iter().filter_map(|p| p.y);
    let low = points.iter().filter_map(|p| p.envelope.map_or(p.y, |e| Some(e.0))).fold(f64::INFINITY, f64::min);
    let high = points.iter().filter_map(|p| p.envelope.map_or(p.y, |e| Some(e.1))).fold(f64::NEG_INFINITY, f64::max);
    let y = match join {
        Join::Mean => values().sum::<f64>() / values().count().max(1) as f64,
        Join::Largest => values().fold(f64::NEG_INFINITY, f64::max),
    };
    let known = values().next().is_some();
    Point { x: points.iter().map(|p| p.x / n).sum(), y: known.then_some(y), envelope: known.then_some((low, high)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(n: usize, from: f64) -> Vec<Point> {
        (0..n).map(|i| Point { x: from + i as f64, y: Some((i % 7) as f64), envelope: None }).collect()
    }

    #[test]
    fn a_short_line_is_left_as_it_is() {
        assert_eq!(line(vec![stretch(50, 0.0)], Join::Mean), stretch(50, 0.0));
    }

    #[test]
    fn a_long_line_keeps_its_envelope() {
        let mut points = stretch(10_000, 0.0);
        points[5_000].y = Some(99.0);
        let thin = line(vec![points], Join::Mean);
        assert!(thin.len() <= POINTS_MAX, "{}", thin.len());
        assert!(thin.iter().any(|p| p.envelope.is_some_and(|(_, high)| high == 99.0)));
        assert!(thin.iter().all(|p| p.y.unwrap() < 20.0), "means stay means");
    }

    #[test]
    fn stretches_are_parted_by_gaps_unless_there_are_too_many() {
        let thin = line(vec![stretch(3, 0.0), Vec::new(), stretch(3, 10.0)], Join::Mean);
        assert_eq!(thin.iter().map(|p| p.y.is_some()).collect::<Vec<_>>(), [true, true, true, false, true, true, true]);
        let many = line((0..5_000).map(|i| stretch(3, i as f64 * 9.0)).collect(), Join::Largest);
        assert!(many.len() <= POINTS_MAX && many.iter().all(|p| p.y.is_some()));
    }

    proptest::proptest! {
        #[test]
        fn no_line_has_too_many_points_and_x_ascends(lengths in proptest::collection::vec(0usize..2000, 0..200)) {
            let mut x = 0.0;
            let stretches = lengths.into_iter().map(|n| { let s = stretch(n, x); x += n as f64; s }).collect();
            let thin = line(stretches, Join::Mean);
            proptest::prop_assert!(thin.len() <= POINTS_MAX);
            proptest::prop_assert!(thin.windows(2).all(|w| w[0].x <= w[1].x));
        }
    }
}
