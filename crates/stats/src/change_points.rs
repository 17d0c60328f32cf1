//! Where a series of runs changes its level: E-divisive (Matteson, James 2014), decided by Student's t (method S8).
//!
//! The energy distance finds the place without asking for a distribution. Whether a change is real is decided by a test of both sides,
//! with the variance of a sample, at a p that is divided by the number of places that were searched: the larger p of Welch's test, since
//! levels may differ in their spread, and of Student's with one variance, since a cut around two values that are alike by luck has next
//! to none (alone, Welch's found changes in 7 % of series of 50 runs that did not change; `make coverage`).

use super::{mean, variance, welch};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Fewest values on a side: less has no variance.
pub const SIDE_MIN: usize = 2;

/// A lasting change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Values before it.
    pub at: usize,
    /// Mean from the change before it, or from the beginning.
    pub before: f64,
    /// Mean up to the next change, or to the end.
    pub after: f64,
}

/// A place at which a series may be cut.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cut {
    /// Values before.
    at: usize,
    /// End of what they differ from.
    until: usize,
    /// Energy distance, in the unit of the values.
    distance: f64,
}

/// Changes of level with a two-sided p of at most `p_most` over all places at which they could be, and of at least `least` of the mean before, in order.
/// Values must be finite.
pub fn change_points(values: &[f64], p_most: f64, least: f64) -> Vec<ChangePoint> {
    let sums = Distances::of(values);
    let (mut found, mut open) = (Vec::new(), vec![(0, values.len())]);
    while let Some((from, to)) = open.pop() {
        let Some(cut) = sums.best(from, to) else { continue };
        let places = (to - from) as f64;
        if differ(&values[from..cut.at], &values[cut.at..cut.until]).is_some_and(|p| p * places <= p_most) {
            found.push(cut.at);
            open.extend([(from, cut.at), (cut.at, to)]);
        }
    }
    found.sort_unstable();
    loop {
        let changes = levels(values, &found);
        let size = |change: &ChangePoint| ((change.after - change.before) / change.before).abs();
        let small = changes.iter().enumerate().filter(|(_, c)| size(c).is_nan() || size(c) < least);
        match small.min_by(|(_, a), (_, b)| size(a).total_cmp(&size(b))).map(|(index, _)| index) {
            Some(index) => drop(found.remove(index)),
            None => return changes,
        }
    }
}

/// Means on both sides of each cut.
fn levels(values: &[f64], cuts: &[usize]) -> Vec<ChangePoint> {
    let edges: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).chain([values.len()]).collect();
    let level = |from, to| mean(&values[from..to]).unwrap_or(f64::NAN);
    let change = |e: &[usize]| ChangePoint { at: e[1], before: level(e[0], e[1]), after: level(e[1], e[2]) };
    edges.windows(3).map(change).collect()
}

/// The larger two-sided p of Welch's test and of Student's; `None` below two values on a side.
fn differ(left: &[f64], right: &[f64]) -> Option<f64> {
    let (n, m) = (left.len() as f64, right.len() as f64);
    let (of_left, of_right) = (variance(left)?, variance(right)?);
    let (in_left, in_right) = (of_left / n, of_right / m);
    let (difference, error) = ((mean(left)? - mean(right)?).abs(), (in_left + in_right).sqrt());
    if error == 0.0 {
        return Some(if difference > 0.0 { 0.0 } else { 1.0 });
    }
    let p = |error: f64, freedom: f64| StudentsT::new(0.0, 1.0, freedom).ok().map(|t| 2.0 * t.sf(difference / error));
    let pooled = ((n - 1.0) * of_left + (m - 1.0) * of_right) / (n + m - 2.0);
    let welch = p(error, welch::freedom(in_left, left.len(), in_right, right.len()))?;
    Some(welch.max(p((pooled * (1.0 / n + 1.0 / m)).sqrt(), n + m - 2.0)?))
}

/// Sums of |x − y| over the values before each pair of places, so that any rectangle of pairs is four look-ups.
struct Distances {
    side: usize,
    sums: Vec<f64>,
}

impl Distances {
    fn of(values: &[f64]) -> Distances {
        let side = values.len() + 1;
        let mut sums = vec![0.0; side * side];
        for (i, x) in values.iter().enumerate() {
            let mut row = 0.0;
            for (j, y) in values.iter().enumerate() {
                row += (x - y).abs();
                sums[(i + 1) * side + j + 1] = sums[i * side + j + 1] + row;
            }
        }
        Distances { side, sums }
    }

    /// Over all pairs of one value each.
    fn between(&self, (a, b): (usize, usize), (c, d): (usize, usize)) -> f64 {
        let at = |i: usize, j: usize| self.sums[i * self.side + j];
        at(b, d) - at(a, d) - at(b, c) + at(a, c)
    }

    /// n m / (n + m) · (2 mean |x − y| − mean |x − x'| − mean |y − y'|).
    fn energy(&self, left: (usize, usize), right: (usize, usize)) -> f64 {
        let (n, m) = ((left.1 - left.0) as f64, (right.1 - right.0) as f64);
        let inside = |side, n: f64| self.between(side, side) / (n * (n - 1.0));
        n * m / (n + m) * (2.0 * self.between(left, right) / (n * m) - inside(left, n) - inside(right, m))
    }

    /// The cut of a part of the series whose sides are farthest apart; `None` if it is too short.
    fn best(&self, from: usize, to: usize) -> Option<Cut> {
        let cuts = (from + SIDE_MIN..to.saturating_sub(SIDE_MIN - 1))
            .flat_map(|at| (at + SIDE_MIN..=to).map(move |until| (at, until)));
        let all = cuts.map(|(at, until)| Cut { at, until, distance: self.energy((from, at), (at, until)) });
        all.reduce(|best, cut| if cut.distance > best.distance { cut } else { best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::random::Random;

    /// The series of method.md S8.
    const SERIES: [f64; 14] = [0.3, 2.4, 1.5, -0.9, -0.5, 99.7, 98.3, 99.1, 149.0, 149.7, 149.5, 149.1, 148.8, 150.0];

    fn places(values: &[f64]) -> Vec<usize> {
        change_points(values, 0.001, 0.05).iter().map(|change| change.at).collect()
    }

    #[test]
    fn the_fixture_of_the_method_changes_at_five_and_eight() {
        let first = Distances::of(&SERIES).best(0, SERIES.len()).unwrap();
        assert_eq!((first.at, first.until), (5, 14));
        assert!((first.distance - 761.2821).abs() < 1e-4, "{first:?}");
        assert_eq!(places(&SERIES), [5, 8]);
        let second = change_points(&SERIES, 0.001, 0.05)[1];
        assert!((second.before - 99.0333).abs() < 1e-3 && (second.after - 149.35).abs() < 1e-3, "{second:?}");
    }

    /// Values around `level`, one part in a hundred off.
    fn around(level: f64, n: usize, random: &mut Random) -> Vec<f64> {
        (0..n).map(|_| level * (1.0 + 0.01 * ((0..12).map(|_| random.unit()).sum::<f64>() - 6.0))).collect()
    }

    #[test]
    fn a_level_that_lasts_is_found_where_it_begins_and_a_single_run_that_is_off_is_not() {
        let mut random = Random::new(5);
        let mut series = around(1000.0, 20, &mut random);
        series.extend(around(900.0, 15, &mut random));
        assert_eq!(places(&series), [20]);
        let mut once = around(1000.0, 30, &mut random);
        once[12] = 700.0;
        assert!(places(&once).is_empty());
    }

    #[test]
    fn what_is_too_small_or_too_short_is_no_change() {
        let mut random = Random::new(6);
        let mut series = around(1000.0, 20, &mut random);
        series.extend(around(970.0, 20, &mut random));
        assert!(places(&series).is_empty(), "3 % are less than 5");
        assert_eq!((places(&[]), places(&[1.0, 9.0, 1.0]), places(&[5.0; 40])), (vec![], vec![], vec![]));
    }

    #[test]
    fn a_series_without_noise_is_cut_exactly() {
        let series: Vec<f64> = [[10.0; 4], [20.0; 4], [15.0; 4]].concat();
        assert_eq!(places(&series), [4, 8]);
    }

    /// Had p not been divided by the places that are searched, one series of seven would change.
    #[test]
    fn alike_runs_rarely_change() {
        let mut random = Random::new(7);
        // Five parts in a hundred off, so that the least change protects hardly.
        let mut wild =
            |_| around(1000.0, 30, &mut random).iter().map(|v| 1000.0 + 5.0 * (v - 1000.0)).collect::<Vec<_>>();
        let changed = (0..200).map(&mut wild).filter(|series| !places(series).is_empty()).count();
        assert!(changed <= 4, "{changed} of 200");
    }
}
