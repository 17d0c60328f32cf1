//! The quotient of one figure over several trials and another, with its 95 % interval. A figure may be a mean or a percentile of all
//! I/Os: its uncertainty comes from leaving out one trial after the other (the jackknife: Tukey 1958; Miller, "The jackknife: a
//! review", 1974), and by how far the trials' own figures lie apart. The larger of the two counts: the first misses what rare
//! stalls do to a percentile, the second is of a typical trial and not of all I/Os (simulated by `make coverage`).

use super::sign_flip::{self, Probability};
use super::{mean, t_interval, variance, welch};
use std::collections::BTreeMap;

/// A figure of one side, its parts by trial or by block. All values are natural logarithms.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Over everything.
    pub all: f64,
    /// By block, or by trial where blocks do not matter.
    pub parts: BTreeMap<u32, Part>,
}

/// What one part is to a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// The figure of this part alone.
    pub alone: f64,
    /// The figure of all other parts.
    pub without: f64,
}

/// One figure relative to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quotient {
    /// The quotient of the two.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    /// Two-sided p that it is 1; `None` if a value is not finite.
    pub p: Option<Probability>,
}

impl Figure {
    /// A figure that is `all` over all trials: what each trial has alone, and what is left `without` some of them. `units` are the places of
    /// trials that stand or fall together, by block. `None` where a value is not above 0, and has no logarithm.
    pub fn new(
        all: f64,
        units: &BTreeMap<u32, Vec<usize>>,
        alone: &[f64],
        without: impl Fn(&[usize]) -> Option<f64>,
    ) -> Option<Figure> {
        let log = |value: f64| (value > 0.0 && value.is_finite()).then(|| value.ln());
        let part = |(unit, places): (&u32, &Vec<usize>)| {
            let own: Option<Vec<f64>> = places.iter().map(|place| log(*alone.get(*place)?)).collect();
            // Without its only part nothing is left; such a figure has no interval anyway.
            let without = if units.len() > 1 { log(without(places)?)? } else { log(all)? };
            Some((*unit, Part { alone: mean(&own?)?, without }))
        };
        Some(Figure { all: log(all)?, parts: units.iter().map(part).collect::<Option<_>>()? })
    }

    /// The arithmetic mean of a value of each trial that is in a unit.
    pub fn of_mean(units: &BTreeMap<u32, Vec<usize>>, values: &[f64]) -> Option<Figure> {
        let without = |left_out: &[usize]| {
            let rest = units.values().flatten().filter(|place| !left_out.contains(place));
            mean(&rest.filter_map(|place| values.get(*place).copied()).collect::<Vec<_>>())
        };
        Figure::new(without(&[])?, units, values, without)
    }

    /// The figure of each part alone.
    pub fn alone(&self) -> BTreeMap<u32, f64> {
        self.parts.iter().map(|(part, of)| (*part, of.alone)).collect()
    }

    /// Squared standard error.
    fn error(&self) -> Option<f64> {
        let (without, alone): (Vec<f64>, Vec<f64>) = self.parts.values().map(|part| (part.without, part.alone)).unzip();
        error(&without, &alone)
    }
}

/// Squared standard error from the figures without each part and of each part alone.
fn error(without: &[f64], alone: &[f64]) -> Option<f64> {
    let n = without.len() as f64;
    // (n − 1)/n times the sum of squares.
    let left_out = variance(without)? * (n - 1.0) * (n - 1.0) / n;
    Some(left_out.max(variance(alone)? / alone.len() as f64))
}

/// `other` / `baseline` of sides whose trials have nothing in common: Student's t with the degrees of freedom of Welch and Satterthwaite.
/// `None` with fewer than two trials of a side.
pub fn of_independent(baseline: &Figure, other: &Figure) -> Option<Quotient> {
    let (in_a, in_b) = (baseline.error()?, other.error()?);
    let difference = other.all - baseline.all;
    let error = (in_a + in_b).sqrt();
    let (half, p) = match error > 0.0 {
        true => {
            let freedom = welch::freedom(in_a, baseline.parts.len(), in_b, other.parts.len());
            (t_interval::quantile_975_at(freedom) * error, welch::two_sided(difference / error, freedom))
        }
        false => (0.0, if difference == 0.0 { 1.0 } else { 0.0 }),
    };
    let p = difference.is_finite().then_some(Probability { p, exact: true });
    Some(Quotient { ratio: difference.exp(), interval: around(difference, half), p })
}

/// The same of sides that alternated in the same blocks, so that what a block did to both of them cancels: Student's t over the blocks, and
/// the sign-flip test. `None` with fewer than two blocks that both have; what only one has belongs in neither figure.
pub fn of_pairs(baseline: &Figure, other: &Figure) -> Option<Quotient> {
    let of = |(block, part): (&u32, &Part)| Some(part.without - baseline.parts.get(block)?.without);
    let left_out: Vec<f64> = other.parts.iter().filter_map(of).collect();
    let effects = effects(baseline, other);
    let error = error(&left_out, &effects)?.sqrt();
    let difference = other.all - baseline.all;
    let half = t_interval::quantile_975(effects.len() - 1) * error;
    Some(Quotient { ratio: difference.exp(), interval: around(difference, half), p: sign_flip::two_sided(&effects) })
}

/// How the sides differ in each block that both have.
pub fn effects(baseline: &Figure, other: &Figure) -> Vec<f64> {
    let of = |(block, part): (&u32, &Part)| Some(part.alone - baseline.parts.get(block)?.alone);
    other.parts.iter().filter_map(of).collect()
}

fn around(difference: f64, half: f64) -> (f64, f64) {
    ((difference - half).exp(), (difference + half).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of values, each of a block of its own.
    fn figure(values: &[f64]) -> Figure {
        let units = (0..values.len()).map(|place| (place as u32, vec![place])).collect();
        Figure::of_mean(&units, values).unwrap()
    }

    const A: [f64; 6] = [100.2, 99.1, 101.3, 98.7, 100.9, 99.5];
    const B: [f64; 6] = [103.9, 102.2, 105.1, 102.0, 104.8, 101.7];

    #[test]
    fn the_ratio_is_the_quotient_and_pairs_are_known_better_than_two_sets() {
        let (a, b) = (figure(&A), figure(&B));
        let (paired, sets) = (of_pairs(&a, &b).unwrap(), of_independent(&a, &b).unwrap());
        let quotient = mean(&B).unwrap() / mean(&A).unwrap();
        assert!((paired.ratio - quotient).abs() < 1e-12 && (sets.ratio - quotient).abs() < 1e-12);
        // The arithmetic and the geometric mean of values this close have the same interval: method.md S5.
        let close = |(low, high): (f64, f64), want: (f64, f64)| {
            assert!((low - want.0).abs() < 2e-4 && (high - want.1).abs() < 2e-4, "{low} {high}");
        };
        close(paired.interval, (1.02686, 1.03979));
        close(sets.interval, (1.016_448, 1.050_440));
        assert!((paired.p.unwrap().p - 2.0 / 64.0).abs() < 1e-12 && sets.p.unwrap().p < 0.01);
    }

    #[test]
    fn what_has_no_logarithm_has_no_figure_and_trials_of_a_block_are_one_part() {
        let alone = |values: &[f64]| Figure::of_mean(&BTreeMap::from([(0, vec![0]), (1, vec![1])]), values);
        assert_eq!((alone(&[0.0, 1.0]), alone(&[1.0, f64::INFINITY]), alone(&[])), (None, None, None));
        let found = Figure::of_mean(&BTreeMap::from([(0, vec![0, 1]), (7, vec![2])]), &[1.0, 4.0, 10.0]).unwrap();
        assert!((found.all - 5f64.ln()).abs() < 1e-12);
        let near = |part: Part, alone: f64, without: f64| {
            (part.alone - alone.ln()).abs() < 1e-12 && (part.without - without.ln()).abs() < 1e-12
        };
        assert!(near(found.parts[&0], 2.0, 10.0) && near(found.parts[&7], 10.0, 2.5), "{found:?}");
    }

    #[test]
    fn values_that_do_not_vary_have_no_width_and_one_has_no_interval() {
        let equal = |a: f64, b: f64| of_independent(&figure(&[a, a]), &figure(&[b, b])).unwrap();
        assert_eq!(equal(5.0, 5.0).interval, (1.0, 1.0));
        assert_eq!((equal(5.0, 5.0).p.unwrap().p, equal(5.0, 6.0).p.unwrap().p), (1.0, 0.0));
        let one = Figure { all: 1.0, parts: BTreeMap::from([(0, Part { alone: 1.0, without: f64::NAN })]) };
        assert_eq!((of_independent(&one, &figure(&A)), of_pairs(&one, &figure(&A))), (None, None));
    }

    #[test]
    fn a_figure_that_hangs_on_one_trial_is_as_uncertain_as_that_makes_it() {
        // Each trial alone says the same; leaving out the first changes everything, as the one stall does to a percentile of all I/Os.
        let mut hanging = figure(&[100.0; 4]);
        let plain = of_independent(&figure(&A), &hanging).unwrap();
        hanging.parts.get_mut(&0).unwrap().without = 50f64.ln();
        let found = of_independent(&figure(&A), &hanging).unwrap();
        assert!(found.interval.1 / found.interval.0 > 3.0 * plain.interval.1 / plain.interval.0, "{found:?}");
    }
}
