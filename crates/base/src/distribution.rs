//! Skewed choices among `0..n`, each computed from (seed, index) alone: no table, no memory, no state.
//! Rank 0 is the most likely; where a rank lies is for others to say.

use crate::random::{draw, mix};

/// Two draws of one index are this far apart in seed.
const SECOND: u64 = 0x5851_F42D_4C95_7F2D;

/// Uniform in (0, 1], 53 bits: never 0, whose logarithm has no value.
#[inline(always)]
fn unit(bits: u64) -> f64 {
    ((bits >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// Rank `k` of `0..n` with a probability proportional to `1 / (k + 1)^theta`.
///
/// Exact for every `theta` above 0, 1 included, and every `n`; fewer than 1.1 tries on average at any of
/// them. One draw costs 24 to 72 ns: logarithms and exponentials (2-vCPU KVM guest
/// shared with other load, best of 5).
/// Source: Hörmann and Derflinger, "Rejection-Inversion to Generate Variates from Monotone Discrete
/// Distributions" (ACM TOMACS, 1996): the density is inverted between half integers, and what the
/// continuous curve has too much is rejected.
#[derive(Debug, Clone, Copy)]
pub struct Zipf {
    n: f64,
    theta: f64,
    /// Integral at the upper end of the last rank.
    high: f64,
    /// Integral at the lower end of the first rank, less what belongs to no rank.
    low: f64,
    /// A point this close below its rank is taken without a further look.
    sure: f64,
}

impl Zipf {
    /// The distribution over `0..n`; `n` must be at least 1 and `theta` above 0.
    pub fn new(n: u64, theta: f64) -> Zipf {
        assert!(n >= 1 && theta > 0.0, "a Zipf distribution of {n} elements with exponent {theta}");
        let mut zipf = Zipf { n: n as f64, theta, high: 0.0, low: 0.0, sure: 0.0 };
        zipf.high = zipf.integral(zipf.n + 0.5);
        zipf.low = zipf.integral(1.5) - 1.0;
        zipf.sure = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// The rank that belongs to `index`.
    #[inline]
    pub fn at(&self, seed: u64, index: u64) -> u64 {
        let mut bits = draw(seed, index);
        loop {
            let area = self.high + unit(bits) * (self.low - self.high);
            let x = self.inverse(area);
            let rank = x.round().clamp(1.0, self.n);
            if rank - x <= self.sure || area >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u64 - 1;
            }
            bits = mix(bits);
        }
    }

    /// Height of the curve at `x`.
    fn density(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// Area below the curve from 1 to `x`: `(x^(1 - theta) - 1) / (1 - theta)`, written so that it goes
    /// over into `ln x` at 1 without a loss of digits.
    fn integral(&self, x: f64) -> f64 {
        let (log, one_less) = (x.ln(), 1.0 - self.theta);
        let exponent = one_less * log;
        if exponent.abs() > NEAR { exponent.exp_m1() / one_less } else { log * (1.0 + exponent / 2.0) }
    }

    /// The `x` up to which the area is `area`.
    fn inverse(&self, area: f64) -> f64 {
        let one_less = 1.0 - self.theta;
        // Rounding must not reach below the pole.
        let product = (one_less * area).max(-1.0);
        if product.abs() > NEAR { (product.ln_1p() / one_less).exp() } else { (area * (1.0 - product / 2.0)).exp() }
    }
}

/// Below this the second term of a series is all that a double can hold: 1e-8 squared is 1e-16.
const NEAR: f64 = 1e-8;

/// Ranks so skewed that the share `hot` of them gets the share 1 − `hot` of the choices, and the same
/// holds again inside that hot share ("80/20" is 0.2; fio: `pareto`).
///
/// Source: Gray and others, "Quickly Generating Billion-Record Synthetic Databases" (SIGMOD 1994), self-similar.
#[derive(Debug, Clone, Copy)]
pub struct SelfSimilar {
    n: u64,
    exponent: f64,
}

impl SelfSimilar {
    /// The distribution over `0..n`; `n` must be at least 1 and `hot` between 0 and 0.5.
    pub fn new(n: u64, hot: f64) -> SelfSimilar {
        assert!(n >= 1 && hot > 0.0 && hot <= 0.5, "a self-similar distribution of {n} elements, {hot} of them hot");
        // P(rank < p n) = p^(1 / exponent), which at p = hot is to be 1 - hot.
        SelfSimilar { n, exponent: hot.ln() / (1.0 - hot).ln() }
    }

    /// The rank that belongs to `index`.
    #[inline]
    pub fn at(&self, seed: u64, index: u64) -> u64 {
        let x = self.n as f64 * unit(draw(seed, index)).powf(self.exponent);
        (x as u64).min(self.n - 1)
    }
}

/// Positions around the middle of `0..n` by the bell curve; what would fall outside is drawn again.
///
/// Source: Box and Muller, "A Note on the Generation of Random Normal Deviates" (1958).
#[derive(Debug, Clone, Copy)]
pub struct Normal {
    n: f64,
    deviation: f64,
}

impl Normal {
    /// The distribution over `0..n` with a standard deviation of the share `deviation` of `n`; `n` must be at
    /// least 1, `deviation` above 0 and at most 1 (there 38 % of the draws fall inside).
    pub fn new(n: u64, deviation: f64) -> Normal {
        assert!(n >= 1 && deviation > 0.0 && deviation <= 1.0, "a bell of {n} elements, deviation {deviation}");
        Normal { n: n as f64, deviation: deviation * n as f64 }
    }

    /// The position that belongs to `index`.
    #[inline]
    pub fn at(&self, seed: u64, index: u64) -> u64 {
        let (mut a, mut b) = (draw(seed, index), draw(seed ^ SECOND, index));
        loop {
            let radius = (-2.0 * unit(a).ln()).sqrt();
            let x = self.n / 2.0 + self.deviation * radius * (std::f64::consts::TAU * unit(b)).cos();
            if x >= 0.0 && x < self.n {
                return x as u64;
            }
            (a, b) = (mix(a), mix(b));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 200_000;

    /// Chi-square of drawn cells against expected probabilities, as a standard normal deviate
    /// (Wilson-Hilferty). Cells are joined from the end until each expects at least 20 draws.
    fn deviate(draws: impl Iterator<Item = u64>, probabilities: &[f64]) -> f64 {
        let mut counts = vec![0.0; probabilities.len()];
        draws.for_each(|rank| counts[rank as usize] += 1.0);
        let total: f64 = counts.iter().sum();
        let (mut chi, mut cells, mut open) = (0.0, 0.0, (0.0, 0.0));
        for (count, probability) in counts.iter().zip(probabilities) {
            open = (open.0 + count, open.1 + probability * total);
            if open.1 >= 20.0 {
                chi += (open.0 - open.1).powi(2) / open.1;
                (cells, open) = (cells + 1.0, (0.0, 0.0));
            }
        }
        let freedom: f64 = cells - 1.0;
        let k = 2.0 / (9.0 * freedom);
        ((chi / freedom).cbrt() - (1.0 - k)) / k.sqrt()
    }

    fn zipf_masses(n: u64, theta: f64) -> Vec<f64> {
        let weights: Vec<f64> = (1..=n).map(|k| (k as f64).powf(-theta)).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|w| w / sum).collect()
    }

    #[test]
    fn zipf_has_the_masses_of_its_formula_below_at_and_above_one() {
        for theta in [0.01, 0.5, 0.99, 1.0, 1.000_000_001, 1.2, 2.5, 10.0] {
            for n in [1u64, 2, 3, 1000, 65_537] {
                let zipf = Zipf::new(n, theta);
                let masses = zipf_masses(n, theta);
                let ranks = || (0..DRAWS).map(|i| zipf.at(11, i));
                let first = ranks().filter(|&rank| rank == 0).count() as f64;
                let (expected, spread) = (masses[0] * DRAWS as f64, masses[0] * (1.0 - masses[0]) * DRAWS as f64);
                assert!((first - expected).abs() <= 4.5 * spread.sqrt() + 0.5, "{theta} {n}: {first} of {expected}");
                if n > 100 && theta < 3.0 {
                    let deviate = deviate(ranks(), &masses);
                    assert!(deviate.abs() < 4.0, "theta {theta}, n {n}: {deviate}");
                }
            }
        }
    }

    #[test]
    fn another_exponent_is_told_apart() {
        let zipf = Zipf::new(1000, 1.2);
        assert!(deviate((0..DRAWS).map(|i| zipf.at(11, i)), &zipf_masses(1000, 1.22)) > 4.0);
    }

    #[test]
    fn the_largest_region_stays_inside_and_keeps_its_head() {
        // The tail of 1 / k^2 beyond 10^12 weighs 10^-12: the first rank has 6 / pi^2.
        let zipf = Zipf::new(1 << 62, 2.0);
        let first = (0..DRAWS).filter(|&i| zipf.at(3, i) == 0).count() as f64 / DRAWS as f64;
        assert!((first - 6.0 / std::f64::consts::PI.powi(2)).abs() < 0.005, "{first}");
        let (skewed, normal) = (SelfSimilar::new(1 << 62, 0.2), Normal::new(1 << 62, 1.0));
        assert!((0..10_000).all(|i| skewed.at(3, i) < 1 << 62 && normal.at(3, i) < 1 << 62 && zipf.at(4, i) < 1 << 62));
    }

    #[test]
    fn few_are_rejected() {
        // A draw that is rejected goes on with `mix`, so the first try is what `inverse` alone would give.
        for (n, theta) in [(10, 0.5), (1000, 1.0), (1_000_000, 1.2), (1_000_000, 4.0)] {
            let zipf = Zipf::new(n, theta);
            let first =
                |i| zipf.inverse(zipf.high + unit(draw(5, i)) * (zipf.low - zipf.high)).round().clamp(1.0, n as f64);
            let differ = (0..DRAWS).filter(|&i| first(i) as u64 - 1 != zipf.at(5, i)).count();
            assert!(differ < DRAWS as usize / 10, "{n} {theta}: {differ}");
        }
    }

    #[test]
    fn the_hot_share_gets_the_rest_at_every_level() {
        for hot in [0.1, 0.2, 0.4] {
            let skewed = SelfSimilar::new(1_000_000, hot);
            for level in 1..4 {
                let limit = (1e6 * hot.powi(level)) as u64;
                let share = (0..DRAWS).filter(|&i| skewed.at(7, i) < limit).count() as f64 / DRAWS as f64;
                let expected = (1.0 - hot).powi(level);
                let spread = (expected * (1.0 - expected) / DRAWS as f64).sqrt();
                assert!((share - expected).abs() < 4.0 * spread, "{hot} {level}: {share}, expected {expected}");
            }
        }
        let even = SelfSimilar::new(64, 0.5);
        assert!(deviate((0..DRAWS).map(|i| even.at(7, i)), &[1.0 / 64.0; 64]).abs() < 4.0);
    }

    #[test]
    fn the_bell_is_a_bell_cut_at_the_edges() {
        for (deviation, within_one) in [(0.05, 0.682_689), (0.1, 0.682_690)] {
            let normal = Normal::new(100_000, deviation);
            let near = |i: &u64| (normal.at(9, *i) as f64 - 50_000.0).abs() <= deviation * 1e5;
            let share = (0..DRAWS).filter(near).count() as f64 / DRAWS as f64;
            assert!((share - within_one).abs() < 0.005, "{deviation}: {share}");
        }
        // A deviation of all: nearly flat, the middle 1 / (0.3829 sqrt(2 pi)) = 1.042 times the mean.
        let normal = Normal::new(10, 1.0);
        let middle = (0..DRAWS).filter(|&i| matches!(normal.at(9, i), 4 | 5)).count() as f64 / DRAWS as f64;
        assert!((middle - 0.2 * 1.041).abs() < 0.005, "{middle}");
    }

    #[test]
    fn a_draw_depends_on_seed_and_index_alone() {
        let (zipf, skewed, normal) = (Zipf::new(1000, 1.2), SelfSimilar::new(1000, 0.2), Normal::new(1000, 0.3));
        let all = |seed, i| [zipf.at(seed, i), skewed.at(seed, i), normal.at(seed, i)];
        assert!((0..1000).rev().all(|i| all(1, i) == all(1, i)));
        assert!((0..1000).any(|i| all(1, i) != all(2, i)));
    }
}
