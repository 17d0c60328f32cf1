//! Hodges–Lehmann: the median of the means of all pairs of values. A few disturbed values hardly move it, and where the
//! values are spread evenly it is nearly as sharp as the mean.

use super::t_interval::NORMAL_975;

/// Probability left out on each side of the interval.
const TAIL: f64 = 0.025;
/// Up to this many values the distribution of the signed ranks is counted out; above, it is normal to three digits.
const COUNTED_MAX: usize = 100;
/// Most values: their pairs are sorted, two million at this number.
const VALUES_MAX: usize = 2_000;

/// The centre of a symmetric distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Centre {
    /// Median of the Walsh averages: the means of all pairs, each value with itself included.
    pub value: f64,
    /// Its 95 % interval by Wilcoxon's signed ranks: two of the Walsh averages. `None` below six values.
    pub interval: Option<(f64, f64)>,
}

/// The centre of these values; `None` without any, with more than 2,000, or with one that is not finite.
pub fn centre(values: &[f64]) -> Option<Centre> {
    let n = values.len();
    if n == 0 || n > VALUES_MAX || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut walsh: Vec<f64> = (0..n).flat_map(|i| (i..n).map(move |j| (values[i] + values[j]) / 2.0)).collect();
    walsh.sort_by(f64::total_cmp);
    let last = walsh.len() - 1;
    let interval = critical(n).map(|k| (walsh[k], walsh[last - k]));
    Some(Centre { value: (walsh[last / 2] + walsh[walsh.len() / 2]) / 2.0, interval })
}

/// Largest k with P(sum of positive ranks ≤ k) ≤ 2.5 %; `None` if even P(0) is more.
fn critical(n: usize) -> Option<usize> {
    if n > COUNTED_MAX {
        let n = n as f64;
        let (mean, variance) = (n * (n + 1.0) / 4.0, n * (n + 1.0) * (2.0 * n + 1.0) / 24.0);
        // With continuity: P(sum ≤ k) is that of the normal distribution at k + ½.
        return Some((mean - NORMAL_975 * variance.sqrt() - 0.5).floor() as usize);
    }
    let mut below = 0.0;
    let taken = probabilities(n).into_iter().take_while(|p| {
        below += p;
        below <= TAIL
    });
    taken.count().checked_sub(1)
}

/// Probability of each sum of positive ranks: every rank from 1 to n is positive half of the time.
fn probabilities(n: usize) -> Vec<f64> {
    let mut p = vec![1.0];
    for rank in 1..=n {
        let mut next = vec![0.0; p.len() + rank];
        for (sum, probability) in p.iter().enumerate() {
            next[sum] += probability / 2.0;
            next[sum + rank] += probability / 2.0;
        }
        p = next;
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_are_those_of_the_printed_tables() {
        // Any table of Wilcoxon's signed ranks, two-sided 5 %.
        for (n, table) in [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (15, 25), (20, 52), (25, 89), (50, 434)] {
            assert_eq!(critical(n), Some(table), "{n} values");
        }
        assert_eq!(critical(5), None);
        // No jump where the normal distribution takes over: counted out, 101 values have 1997, so it is a rank wider.
        assert_eq!((critical(100), critical(101)), (Some(1955), Some(1996)));
    }

    #[test]
    fn the_centre_of_a_few_values_is_the_median_of_their_pairs() {
        // Pairs of 1, 2, 6: 1, 1.5, 2, 3.5, 4, 6.
        assert_eq!(centre(&[1.0, 2.0, 6.0]), Some(Centre { value: 2.75, interval: None }));
        assert_eq!(centre(&[1.0, 3.0]).unwrap().value, 2.0);
    }

    #[test]
    fn six_values_lie_between_their_extremes_and_ten_between_the_ninth_pairs() {
        let found = centre(&[3.0, 1.0, 2.0, 6.0, 5.0, 4.0]).unwrap();
        assert_eq!((found.value, found.interval), (3.5, Some((1.0, 6.0))));
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        // The ninth smallest of the pairs of 1 to 10 is 3: 1 1.5 2 2 2.5 2.5 3 3 3.
        assert_eq!(centre(&ten).unwrap().interval, Some((3.0, 8.0)));
    }

    #[test]
    fn one_wild_value_does_not_move_it_far() {
        let (calm, wild) = (centre(&[1.0, 1.1, 0.9, 1.0, 1.05, 0.95]), centre(&[1.0, 1.1, 0.9, 1.0, 1.05, 95.0]));
        assert!((calm.unwrap().value - wild.unwrap().value).abs() < 0.1, "{calm:?} {wild:?}");
    }

    #[test]
    fn nothing_too_much_and_what_is_no_number_have_no_centre() {
        assert_eq!((centre(&[]), centre(&[f64::NAN]), centre(&vec![1.0; 2_001])), (None, None, None));
        let many = centre(&vec![1.0; 1_000]).unwrap();
        assert_eq!((many.value, many.interval), (1.0, Some((1.0, 1.0))));
    }
}
