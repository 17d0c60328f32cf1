//! How much of the start of a series is warm-up: the MSER-5 rule (White 1997, Spratt 1998; method S1).

use super::mean;

/// Values per batch.
const BATCH: usize = 5;

/// Where the stationary part of a series begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUp {
    /// So many values at the start are warm-up; a multiple of 5.
    Values(usize),
    /// The best cut lies in the second half: there is no stationary tail.
    NoTail,
}

/// Warm-up of a series, in its values. `None` for fewer than 4 batches of 5: nothing could be cut.
pub fn warm_up(series: &[f64]) -> Option<WarmUp> {
    let batches: Vec<f64> = series.chunks_exact(BATCH).filter_map(mean).collect();
    let criterion = criterion(&batches);
    if batches.len() < 4 {
        return None;
    }
    // The last batch alone has no spread, and a cut that leaves a few values finds them alike by chance.
    let allowed = batches.len().div_ceil(2);
    let best = (0..allowed).min_by(|&a, &b| criterion[a].total_cmp(&criterion[b]))?;
    let late = criterion[allowed..].iter().any(|&value| value < criterion[best]);
    // A series that is still changing has its minimum at the last cut that is allowed, or behind it.
    if late && best + 1 == allowed { Some(WarmUp::NoTail) } else { Some(WarmUp::Values(best * BATCH)) }
}

/// MSER(d) = Σ_{j>d} (Z_j − Z̄_d)² / (k − d)² for each cut that leaves at least two batches.
pub fn criterion(batches: &[f64]) -> Vec<f64> {
    let k = batches.len();
    // From the end, so that sums over the tail grow by one value at a time (Welford).
    let (mut count, mut centre, mut squares) = (0.0, 0.0, 0.0);
    let mut values: Vec<f64> = Vec::with_capacity(k);
    for &value in batches.iter().rev() {
        count += 1.0;
        let before = value - centre;
        centre += before / count;
        squares += before * (value - centre);
        values.push(squares / (count * count));
    }
    values.reverse();
    values.truncate(k.saturating_sub(1));
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The series of the method, with its values computed independently.
    const SERIES: [f64; 20] = [
        200.0, 150.0, 120.0, 105.0, 100.0, 101.0, 99.0, 100.0, 102.0, 98.0, 100.0, 101.0, 99.0, 100.0, 100.0, 99.0,
        101.0, 100.0, 100.0, 100.0,
    ];

    fn values(batches: &[f64]) -> Vec<f64> {
        batches.iter().flat_map(|&batch| [batch; BATCH]).collect()
    }

    #[test]
    fn the_fixture_of_the_method_is_cut_after_four_batches() {
        let found = criterion(&SERIES);
        for (at, expected) in [28.519, 7.321, 1.248, 0.130, 0.055].into_iter().enumerate() {
            assert!((found[at] - expected).abs() < 5e-4, "MSER({at}) = {}", found[at]);
        }
        assert!((found[10] - 0.040).abs() < 5e-4, "a later cut is better still, which is why it is not allowed");
        assert_eq!(warm_up(&values(&SERIES)), Some(WarmUp::Values(20)));
    }

    #[test]
    fn a_level_series_has_no_warm_up_and_one_that_never_settles_no_tail() {
        assert_eq!(warm_up(&[5.0; 100]), Some(WarmUp::Values(0)));
        let rising: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(warm_up(&rising), Some(WarmUp::NoTail));
    }

    #[test]
    fn a_short_series_says_nothing() {
        assert_eq!(warm_up(&[1.0; 19]), None);
        assert_eq!(warm_up(&[]), None);
    }
}
