//! Where the spread of a result comes from, level by level, and how repeats are best spent on it (Kalibera, Jones 2013; method S3).
//!
//! Levels are nested, the lowest first: batches inside a trial, trials of a run, runs after a new preparation.

use super::{mean, t_interval, variance};

/// Spread of one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// S²: variance of the means of this level inside what contains them, on average.
    pub total: f64,
    /// T²: the part that this level adds itself; 0 or less if it adds nothing that could be told.
    pub own: f64,
}

/// Splits the spread of nested values, given in order, `repeats[0]` of the lowest level in each of the next, and so on.
/// `None` if that is not how many they are, or a level has fewer than two.
pub fn components(values: &[f64], repeats: &[usize]) -> Option<Vec<Level>> {
    if repeats.is_empty() || repeats.iter().any(|n| *n < 2) || repeats.iter().product::<usize>() != values.len() {
        return None;
    }
    let (mut means, mut levels) = (values.to_vec(), Vec::<Level>::new());
    let mut below = 0.0;
    for &n in repeats {
        let inside: Vec<f64> = means.chunks_exact(n).filter_map(variance).collect();
        let total = mean(&inside)?;
        levels.push(Level { total, own: total - below });
        below = total / n as f64;
        means = means.chunks_exact(n).filter_map(mean).collect();
    }
    Some(levels)
}

/// How often each level but the highest should be repeated inside the next one, if one repetition costs `costs[i]`: the most
/// precision for the time. Infinite where the next level adds nothing, below 1 where this one adds next to nothing.
pub fn best_repeats(levels: &[Level], costs: &[f64]) -> Vec<f64> {
    let pairs = levels.windows(2).zip(costs.windows(2));
    let best = |(levels, costs): (&[Level], &[f64])| {
        let (own, next) = (levels[0].own.max(0.0), levels[1].own.max(0.0));
        if next > 0.0 { (costs[1] / costs[0] * own / next).sqrt() } else { f64::INFINITY }
    };
    pairs.map(best).collect()
}

/// Fewest values, at least two and at most `most`, whose mean has a 95 % interval of at most ± `goal`, if they spread by
/// this variance. `None` if `most` are not enough.
pub fn needed(variance: f64, goal: f64, most: usize) -> Option<usize> {
    // Student's t makes the width fall with every value, so the first that is enough is found by halving.
    let enough = |n: usize| t_interval::quantile_975(n - 1) * (variance / n as f64).sqrt() <= goal;
    if most < 2 || !enough(most) {
        return None;
    }
    let (mut low, mut high) = (2, most);
    while low < high {
        let middle = (low + high) / 2;
        if enough(middle) { high = middle } else { low = middle + 1 }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: &[f64], expected: &[f64]) {
        let same = |(a, b): (&f64, &f64)| (a - b).abs() < 5e-4;
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(same), "{found:?}");
    }

    fn parts(levels: &[Level], of: fn(&Level) -> f64) -> Vec<f64> {
        levels.iter().map(of).collect()
    }

    #[test]
    fn the_first_fixture_of_the_method_has_its_components() {
        let values = [9.0, 5.0, 8.0, 3.0, 10.0, 6.0, 7.0, 11.0, 1.0, 12.0, 2.0, 4.0];
        let levels = components(&values, &[2, 2, 3]).unwrap();
        close(&parts(&levels, |l| l.total), &[16.5, 2.5833, 3.5625]);
        close(&parts(&levels, |l| l.own), &[16.5, -5.6667, 2.2708]);
        // A level that adds nothing makes more of the one below worthless, and needs none of itself.
        assert_eq!(best_repeats(&levels, &[1.0, 1.0, 1.0]), [f64::INFINITY, 0.0]);
    }

    #[test]
    fn the_second_fixture_of_the_method_has_its_repeats() {
        let values = [3.0, 4.0, 3.0, 1.2, 3.1, 3.0, 0.2, 1.0, 1.5, 1.0, 2.0, 3.0];
        let levels = components(&values, &[3, 2, 2]).unwrap();
        close(&parts(&levels, |l| l.own), &[0.72667, 0.26278, 0.7747]);
        let best = best_repeats(&levels, &[3.0, 20.0, 100.0]);
        close(&best, &[4.2937, 1.3023]);
        assert_eq!(best.iter().map(|r| r.ceil() as u32).collect::<Vec<_>>(), [5, 2]);
    }

    #[test]
    fn what_is_not_nested_as_said_has_no_components() {
        assert_eq!(components(&[1.0, 2.0, 3.0], &[2, 2]), None);
        assert_eq!(components(&[1.0, 2.0], &[2, 1]), None);
        assert_eq!(components(&[], &[]), None);
    }

    #[test]
    fn the_values_that_are_needed_are_the_first_that_are_enough() {
        // ± 2 with a deviation of 2: t(5) · 2 / √6 = 2.10 and t(6) · 2 / √7 = 1.85.
        assert_eq!(needed(4.0, 2.0, 1000), Some(7));
        assert_eq!((needed(0.0, 2.0, 1000), needed(4.0, 0.001, 1000)), (Some(2), None));
        assert_eq!(needed(f64::NAN, 2.0, 1000), None);
    }
}
