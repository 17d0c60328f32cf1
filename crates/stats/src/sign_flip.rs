//! The sign-flip test: if two configurations are the same, each paired difference could as well have had the other
//! sign. It assumes nothing about the distribution of the differences but that.

use stend_base::random::Random;

/// Up to this many differences every way to flip their signs is tried: 2^20 take about a millisecond.
const EXACT_MAX: usize = 20;
/// Ways that are drawn where there are too many to try: the smallest p is then 1 / 100,000, far below what a table of a
/// thousand cells needs.
const SAMPLES: usize = 99_999;
/// Flips that are drawn at most, all samples together, so that a thousand differences take no longer than two hundred.
const FLIPS_MAX: usize = 20_000_000;
/// The same data give the same p: the draws begin from a number that was chosen once, by eye.
const SEED: u64 = 0x5eed_f11b;
/// Sums of flipped differences differ by rounding; what is closer than this is equal.
const EQUAL: f64 = 1e-12;

/// A probability, and whether every way was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probability {
    /// Two-sided p: how often chance alone is at least as far from zero. More than 0, at most 1.
    pub p: f64,
    /// Every way to flip signs was tried; otherwise 99,999 were drawn (fewer above 200 differences).
    pub exact: bool,
}

/// Two-sided p that the mean of these differences is zero; `None` without any, or with one that is not finite.
pub fn two_sided(differences: &[f64]) -> Option<Probability> {
    if differences.is_empty() || differences.iter().any(|d| !d.is_finite()) {
        return None;
    }
    let observed = differences.iter().sum::<f64>().abs() - EQUAL;
    Some(match differences.len() <= EXACT_MAX {
        true => Probability { p: tried(differences, observed), exact: true },
        false => Probability { p: drawn(differences, observed), exact: false },
    })
}

/// Fewest differences with which p can be at most `level`: the smallest p is 2 / 2^n.
pub fn fewest(level: f64) -> u32 {
    (1..64).find(|n| 0.5f64.powi(n - 1) <= level).map_or(64, i32::unsigned_abs)
}

fn tried(differences: &[f64], observed: f64) -> f64 {
    // All sums of each half, then all pairs of them: one addition for each way.
    let (low, high) = differences.split_at(differences.len() / 2);
    let (low, high) = (sums(low), sums(high));
    let extreme = high.iter().map(|h| low.iter().filter(|l| (h + **l).abs() >= observed).count()).sum::<usize>();
    extreme as f64 / (low.len() * high.len()) as f64
}

fn sums(values: &[f64]) -> Vec<f64> {
    values.iter().fold(vec![0.0], |sums, value| sums.iter().flat_map(|sum| [sum + value, sum - value]).collect())
}

/// The observed way counts as one of the drawn, so that p is never zero.
/// Source: Phipson and Smyth, "Permutation P-values should never be zero", 2010.
fn drawn(differences: &[f64], observed: f64) -> f64 {
    let samples = SAMPLES.min(FLIPS_MAX / differences.len()).max(1);
    let mut random = Random::new(SEED);
    let mut sample = || -> f64 {
        let flipped = |(signs, part): (u64, &[f64])| -> f64 {
            part.iter().enumerate().map(|(i, d)| if signs >> i & 1 == 1 { -d } else { *d }).sum()
        };
        differences.chunks(64).map(|part| flipped((random.next_u64(), part))).sum()
    };
    let extreme = (0..samples).filter(|_| sample().abs() >= observed).count();
    (extreme + 1) as f64 / (samples + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_p_is_that_of_the_method() {
        for (n, p) in [(5, 0.0625), (6, 0.03125), (8, 0.0078125), (10, 0.001953125)] {
            assert_eq!(two_sided(&vec![0.1; n]), Some(Probability { p, exact: true }));
        }
    }

    #[test]
    fn one_cell_needs_six_blocks_and_six_cells_need_eight() {
        let needed: Vec<u32> = [1, 2, 6, 7, 12, 13].map(|cells| fewest(0.05 / f64::from(cells))).to_vec();
        assert_eq!(needed, [6, 7, 8, 9, 9, 10]);
        assert_eq!(fewest(0.0), 64);
    }

    #[test]
    fn signs_that_balance_say_nothing() {
        assert_eq!(two_sided(&[0.1, -0.1]).unwrap().p, 1.0);
        assert_eq!(two_sided(&[0.0; 6]).unwrap().p, 1.0);
    }

    #[test]
    fn drawn_and_tried_agree() {
        // Twenty differences of either sign: tried gives the truth, drawn comes within three standard errors of it.
        let differences: Vec<f64> = (0..20).map(|i| f64::from(i % 7) * 0.01 - 0.02).collect();
        let observed = differences.iter().sum::<f64>().abs() - EQUAL;
        let (exact, sampled) = (tried(&differences, observed), drawn(&differences, observed));
        assert!((exact - sampled).abs() < 3.0 * (exact * (1.0 - exact) / SAMPLES as f64).sqrt(), "{exact} {sampled}");
    }

    #[test]
    fn many_differences_are_drawn_and_the_same_each_time() {
        let found = two_sided(&[0.1; 21]).unwrap();
        assert_eq!((found, found.exact), (two_sided(&[0.1; 21]).unwrap(), false));
        // Two of 2^21 ways are as extreme: hardly ever drawn, and never zero.
        assert!((1e-5..4e-5).contains(&found.p), "{found:?}");
        assert!(two_sided(&vec![0.1; 1000]).unwrap().p < 1e-4);
    }

    #[test]
    fn nothing_and_what_is_no_number_have_no_p() {
        assert_eq!((two_sided(&[]), two_sided(&[1.0, f64::NAN])), (None, None));
        assert_eq!(two_sided(&[f64::INFINITY]), None);
    }
}
