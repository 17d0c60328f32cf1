//! 95 % interval of a quantile by order statistics: two ranks between which the true one lies.
//!
//! The number of values below the true q-quantile is binomial(n, q), whatever the distribution of
//! the values (method S6). Ranks count from 1.

use super::t_interval::NORMAL_975;
use statrs::function::gamma::ln_gamma;
use stend_base::Share;

/// Probability left out on each side.
const TAIL: f64 = 0.025;
/// Up to this variance of the binomial, n q (1 − q), tails are summed exactly; above, ranks come
/// from the normal distribution with a correction for skew, which is then within one rank.
const EXACT_VARIANCE: f64 = 1e4;

/// Fewest independent values with a finite two-sided interval: 36 for p90, 368 for p99, 3688 for
/// p99.9, 36 887 for p99.99. `u64::MAX` for a share of 0 or 1.
pub fn least_count(q: Share) -> u64 {
    let side = |p: f64| if p > 0.0 && p < 1.0 { (TAIL.ln() / p.ln()).ceil() } else { f64::INFINITY };
    // A cast from infinity saturates.
    side(q.0).max(side(1.0 - q.0)) as u64
}

/// Smallest interval of ranks (low, high) that leaves at most 2.5 % on each side.
/// `None` below [`least_count`].
pub fn ranks(n: u64, q: Share) -> Option<(u64, u64)> {
    if n < least_count(q) {
        return None;
    }
    // low: largest l with P(X ≤ l − 1) ≤ 2.5 %. high: smallest u with P(X ≥ u) ≤ 2.5 %, the same by
    // symmetry for the n − X values above the quantile.
    let low = largest_with_small_tail(n, q.0)? + 1;
    let high = n - largest_with_small_tail(n, 1.0 - q.0)?;
    Some((low, high))
}

/// Largest k with P(X ≤ k) ≤ 2.5 % for X ~ binomial(n, p); `None` if even P(X = 0) is more.
fn largest_with_small_tail(n: u64, p: f64) -> Option<u64> {
    let (mean, variance) = (n as f64 * p, n as f64 * p * (1.0 - p));
    let skew_shift = (1.0 - 2.0 * p) * (NORMAL_975 * NORMAL_975 - 1.0) / 6.0;
    // Cornish–Fisher with continuity: P(X ≤ k) ≈ Φ((k + ½ − mean) / σ), corrected for skew.
    let guess = mean - NORMAL_975 * variance.sqrt() + skew_shift - 0.5;
    if variance > EXACT_VARIANCE {
        return Some(guess.floor() as u64);
    }
    let mut k = guess.max(0.0) as u64;
    let mut tail = lower_tail(n, p, k);
    while tail > TAIL {
        tail -= probability(n, p, k);
        k = k.checked_sub(1)?;
    }
    while k < n {
        let next = tail + probability(n, p, k + 1);
        if next > TAIL {
            break;
        }
        (k, tail) = (k + 1, next);
    }
    Some(k)
}

/// P(X ≤ k), summed downwards from k until terms no longer matter.
fn lower_tail(n: u64, p: f64, k: u64) -> f64 {
    let mut term = probability(n, p, k);
    let mut sum = term;
    for i in (1..=k).rev() {
        // P(i − 1) / P(i) = i (1 − p) / ((n − i + 1) p)
        term *= i as f64 * (1.0 - p) / ((n - i + 1) as f64 * p);
        sum += term;
        if term < sum * 1e-15 {
            break;
        }
    }
    sum
}

/// P(X = k).
fn probability(n: u64, p: f64, k: u64) -> f64 {
    let (n, k) = (n as f64, k as f64);
    let ways = ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
    (ways + k * p.ln() + (n - k) * (1.0 - p).ln()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_match_the_fixtures_of_the_method() {
        let fixtures = [
            (6, 0.5, (1, 6)),
            (10, 0.5, (2, 9)),
            (30, 0.5, (10, 21)),
            (1000, 0.99, (983, 997)),
            (10_000, 0.99, (9880, 9920)),
            (10_000, 0.999, (9983, 9997)),
        ];
        for (n, q, expected) in fixtures {
            assert_eq!(ranks(n, Share(q)), Some(expected), "n {n}, q {q}");
        }
    }

    #[test]
    fn the_least_counts_are_those_of_the_method_and_the_interval_begins_there() {
        for (q, least) in [(0.5, 6), (0.9, 36), (0.99, 368), (0.999, 3688), (0.9999, 36_887)] {
            assert_eq!(least_count(Share(q)), least);
            assert_eq!(ranks(least - 1, Share(q)), None);
            let (low, high) = ranks(least, Share(q)).unwrap();
            assert!(low >= 1 && high == least, "q {q}: {low}, {high}");
        }
    }

    #[test]
    fn shares_without_an_inside_have_no_interval() {
        for q in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
            assert_eq!(ranks(1_000_000, Share(q)), None, "{q}");
        }
    }

    #[test]
    fn the_normal_form_continues_the_exact_one() {
        for q in [0.5, 0.9, 0.99, 0.999] {
            let n = (EXACT_VARIANCE / (q * (1.0 - q))) as u64;
            let (below, above) = (ranks(n - 2, Share(q)).unwrap(), ranks(n + 2, Share(q)).unwrap());
            assert!(above.0 - below.0 <= 5 && above.1 - below.1 <= 5, "q {q}: {below:?} then {above:?}");
            let exact = lower_tail(n + 2, q, above.0 - 1);
            assert!((exact - TAIL).abs() < 1e-3, "q {q}: the tail of the normal form is {exact}");
        }
    }

    #[test]
    fn the_largest_count_does_not_overflow() {
        let (low, high) = ranks(u64::MAX, Share(0.99)).unwrap();
        assert!(low < high);
    }
}
