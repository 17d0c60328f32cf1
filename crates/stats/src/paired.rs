//! Two configurations compared inside interleaved blocks: the effect of a block is a log ratio, and only
//! effects are compared across blocks, so a drift of the machine cancels (method S4, S5).

use super::sign_flip::{self, Probability};
use super::{mean, order_statistic, t_interval};
use stend_base::Share;

/// One configuration relative to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// Geometric mean of the ratios of the blocks.
    pub ratio: f64,
    /// Its 95 % interval: Student's t on the log ratios.
    pub interval: (f64, f64),
    /// Two-sided p of the sign-flip test; `None` if an effect is not finite.
    pub p: Option<Probability>,
    /// Blocks.
    pub blocks: usize,
}

/// Effect of one block: mean log of the trials of one configuration minus that of the other.
/// `None` if one of them has no trial, or a value that is not above 0.
pub fn effect(above: &[f64], below: &[f64]) -> Option<f64> {
    let positive = above.iter().chain(below).all(|value| *value > 0.0);
    let log = |values: &[f64]| mean(&values.iter().map(|value| value.ln()).collect::<Vec<_>>());
    positive.then_some(())?;
    Some(log(above)? - log(below)?)
}

/// The ratio that the effects of independent blocks give; `None` below two blocks.
pub fn ratio(effects: &[f64]) -> Option<Ratio> {
    let (centre, half) = (mean(effects)?, t_interval::half_width(effects)?);
    Some(Ratio {
        ratio: centre.exp(),
        interval: ((centre - half).exp(), (centre + half).exp()),
        p: sign_flip::two_sided(effects),
        blocks: effects.len(),
    })
}

/// The ratio of the middle block, which a few disturbed blocks do not move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Middle {
    /// Median of the ratios of the blocks; of an even number the geometric mean of the two in the middle.
    pub ratio: f64,
    /// Its 95 % interval by order statistics: two of the blocks' own ratios.
    pub interval: (f64, f64),
    /// Blocks.
    pub blocks: usize,
}

/// The median of the ratios of independent blocks; `None` below six, which have no 95 % interval.
pub fn middle(effects: &[f64]) -> Option<Middle> {
    let mut sorted = effects.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let (low, high) = order_statistic::ranks(n as u64, Share(0.5))?;
    let at = |rank: u64| sorted.get((rank as usize).checked_sub(1)?).map(|effect| effect.exp());
    let centre = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    Some(Middle { ratio: centre.exp(), interval: (at(low)?, at(high)?), blocks: n })
}

/// The A/A floor: 95th percentile (nearest rank) of how far one configuration is from itself, as a share.
/// With fewer than 20 blocks that is the largest one. `None` without blocks.
pub fn floor(effects: &[f64]) -> Option<f64> {
    let mut distances: Vec<f64> = effects.iter().map(|effect| effect.abs().exp_m1()).collect();
    distances.sort_by(f64::total_cmp);
    let rank = (distances.len() as f64 * 0.95).ceil() as usize;
    distances.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 6] = [100.2, 99.1, 101.3, 98.7, 100.9, 99.5];

    fn against(b: [f64; 6]) -> Ratio {
        let effects: Vec<f64> = A.iter().zip(b).filter_map(|(a, b)| effect(&[b], &[*a])).collect();
        ratio(&effects).unwrap()
    }

    /// method.md S5: (ratio, low, high, p).
    fn check(found: Ratio, expected: (f64, f64, f64, f64)) {
        let (ratio, low, high, p) = expected;
        let close = |a: f64, b: f64| (a - b).abs() < 1e-5;
        assert!(
            close(found.ratio, ratio) && close(found.interval.0, low) && close(found.interval.1, high),
            "{found:?}"
        );
        assert!((found.p.unwrap().p - p).abs() < 1e-3, "{found:?}");
    }

    /// Binomial(15, 1/2): P(X <= 3) = 1.8 %, P(X <= 4) = 5.9 %, so that the interval goes from the 4th to the 12th.
    #[test]
    fn the_median_of_fifteen_blocks_lies_between_the_fourth_and_the_twelfth() {
        let effects: Vec<f64> = (1..=15).rev().map(|i| f64::from(i).ln()).collect();
        let middle = middle(&effects).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(
            close(middle.ratio, 8.0) && close(middle.interval.0, 4.0) && close(middle.interval.1, 12.0),
            "{middle:?}"
        );
        let even = super::middle(&effects[..14]).unwrap();
        assert!(close(even.ratio, (8.0f64 * 9.0).sqrt()), "{even:?}");
        assert_eq!(super::middle(&effects[..5]), None);
    }

    #[test]
    fn a_difference_of_three_percent_is_that_of_the_method() {
        check(against([103.9, 102.2, 105.1, 102.0, 104.8, 101.7]), (1.03330, 1.02686, 1.03979, 2.0 / 64.0));
    }

    #[test]
    fn no_difference_is_that_of_the_method() {
        check(against([101.1, 98.4, 101.0, 99.9, 100.1, 100.2]), (1.00167, 0.99254, 1.01089, 0.656));
    }

    #[test]
    fn a_linear_drift_cancels_in_a_mirrored_block() {
        // A B B A while everything gets 1 % slower from trial to trial.
        let (a, b) = ([100.0, 100.0 * 0.99f64.powi(3)], [50.0 * 0.99, 50.0 * 0.99f64.powi(2)]);
        assert!((effect(&a, &b).unwrap() - 2f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn what_has_no_logarithm_or_no_partner_has_no_effect() {
        assert_eq!((effect(&[0.0], &[1.0]), effect(&[], &[1.0]), effect(&[1.0], &[f64::NAN])), (None, None, None));
        assert_eq!(ratio(&[0.1]), None);
    }

    #[test]
    fn the_floor_is_the_largest_distance_of_a_few_blocks_and_forgives_one_of_many() {
        assert!((floor(&[0.0, -0.1, 0.05]).unwrap() - 0.1f64.exp_m1()).abs() < 1e-12);
        let mut many = vec![0.01; 39];
        many.push(5.0);
        assert!((floor(&many).unwrap() - 0.01f64.exp_m1()).abs() < 1e-12);
        assert_eq!(floor(&[]), None);
    }
}
