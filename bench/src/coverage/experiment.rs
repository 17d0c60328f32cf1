//! Simulated runs through the functions that make the published intervals, and how often these hold the truth.

use super::generate::{LEVEL, Latencies, Rates, normal};
use std::collections::BTreeMap;
use stend_analyse::at_look;
use stend_analyse::findings::{Quantile, QuantileValue};
use stend_analyse::limits::{CHANGE_LEAST, CHANGE_P};
use stend_analyse::rates::estimate;
use stend_base::random::Random;
use stend_base::{Millionths, Share};
use stend_spec::until::{Until, is_look};
use stend_stats::change_points::change_points;
use stend_stats::distribution::Distribution;
use stend_stats::mean;
use stend_stats::quotient::{self, Figure};

/// Interleaved blocks of a planned run.
pub const BLOCKS: usize = 6;
/// Most blocks of a run that goes on until it is precise, and how precise that is.
const BLOCKS_MOST: usize = 20;
const GOAL: Until = Until { width: Millionths::percent(2), p99: None };
/// Relative standard deviation of the trials that are compared.
const TRIAL_NOISE: f64 = 0.02;

/// How many intervals held what they should.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Experiments.
    pub made: u32,
    /// Those that published no interval.
    pub refused: u32,
    /// Intervals with the truth inside.
    pub covered: u32,
    /// Intervals, of a comparison, without 1 inside, on the side of the truth or, where the truth is 1, on any; of a history those that tell a change.
    pub found: u32,
}

impl Tally {
    fn count(&mut self, interval: Option<(f64, f64)>, truth: f64) {
        self.made += 1;
        match interval {
            None => self.refused += 1,
            Some((low, high)) => {
                self.covered += u32::from(low <= truth && truth <= high);
                let differs = if truth > 1.0 { low > 1.0 } else { low > 1.0 || high < 1.0 };
                self.found += u32::from(differs);
            }
        }
    }

    /// The published intervals with the truth inside.
    pub fn coverage(&self) -> f64 {
        f64::from(self.covered) / f64::from((self.made - self.refused).max(1))
    }

    /// Experiments that published an interval without the truth inside.
    pub fn misled(&self) -> f64 {
        f64::from(self.made - self.refused - self.covered) / f64::from(self.made.max(1))
    }

    /// Experiments without an interval.
    pub fn refusals(&self) -> f64 {
        f64::from(self.refused) / f64::from(self.made.max(1))
    }

    /// Experiments in which a difference was claimed.
    pub fn claims(&self) -> f64 {
        f64::from(self.found) / f64::from(self.made.max(1))
    }
}

/// The mean rate of a case over `trials` trials of so many seconds.
pub fn rate(rates: Rates, trials: usize, seconds: usize, simulations: u32, seed: u64) -> Tally {
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    for _ in 0..simulations {
        let place = |trial: usize| (trial as f64 + 0.5) / trials as f64;
        let series: Vec<Vec<f64>> =
            (0..trials).map(|trial| rates.series(&mut random, seconds, place(trial), trials > 1)).collect();
        let means: Vec<f64> = series.iter().filter_map(|series| mean(series)).collect();
        let single = if trials == 1 { &series[0][..] } else { &[] };
        tally.count(estimate(&means, single).interval, rates.truth());
    }
    tally
}

/// The mean rate of a case that is repeated until it is known to ± 2 %, at most 20 times. Trials differ by this much.
pub fn until(noise: f64, simulations: u32, seed: u64) -> Tally {
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    for _ in 0..simulations {
        let mut means: Vec<f64> = Vec::new();
        let found = loop {
            means.push(LEVEL * (1.0 + noise * normal(&mut random)));
            let found = estimate(&means, &[]);
            if is_enough(means.len(), found.half_width()) {
                break found;
            }
        };
        tally.count(found.interval, LEVEL);
    }
    tally
}

/// Whether a run that knows something to this half-width after so many blocks ends.
fn is_enough(blocks: usize, half_width: Option<f64>) -> bool {
    let goal = at_look(GOAL, blocks as u32).width.as_share();
    blocks == BLOCKS_MOST || is_look(blocks as u32) && half_width.is_some_and(|half| half <= goal)
}

/// Runs in which a value did not change, and was called changed ("found").
pub fn history(noise: f64, runs: usize, simulations: u32, seed: u64) -> Tally {
    let mut random = Random::new(seed);
    let mut tally = Tally { made: simulations, ..Tally::default() };
    for _ in 0..simulations {
        let values: Vec<f64> = (0..runs).map(|_| LEVEL * (1.0 + noise * normal(&mut random))).collect();
        tally.found += u32::from(!change_points(&values, CHANGE_P, CHANGE_LEAST).is_empty());
    }
    tally
}

/// Quantiles of the latencies of a case over `trials` trials of so many seconds, one tally each.
pub fn quantiles(
    latencies: Latencies,
    shares: &[Share],
    (trials, seconds): (usize, usize),
    simulations: u32,
    seed: u64,
) -> Vec<Tally> {
    let mut random = Random::new(seed);
    let mut tallies = vec![Tally::default(); shares.len()];
    for _ in 0..simulations {
        let mut all = Distribution::default();
        for _ in 0..trials {
            let mut trial = Distribution::default();
            trial.add(&latencies.trial(&mut random, seconds).sparse());
            all.join(&trial);
        }
        for (tally, q) in tallies.iter_mut().zip(shares) {
            tally.count(published(&all.quantile(*q, None)), latencies.truth(q.0));
        }
    }
    tallies
}

/// Both ends of an interval, which are edges of buckets, ns.
fn published(found: &Quantile) -> Option<(f64, f64)> {
    let QuantileValue::At(_) = found.value else { return None };
    found.interval.map(|(low, high)| (low.0 as f64, high.0 as f64))
}

/// The ratio of the mean rates of two runs that were made one after the other, so many trials each.
pub fn two_runs(storages: [Rates; 2], trials: usize, seconds: usize, simulations: u32, seed: u64) -> Tally {
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    let truth = storages[1].truth() / storages[0].truth();
    for _ in 0..simulations {
        let [baseline, other] = storages.map(|storage| {
            let trial = |_| mean(&storage.series(&mut random, seconds, 0.5, true)).unwrap_or(0.0);
            figure(&(0..trials).map(trial).collect::<Vec<_>>())
        });
        let found = baseline.zip(other).and_then(|(baseline, other)| quotient::of_independent(&baseline, &other));
        tally.count(found.map(|found| found.interval), truth);
    }
    tally
}

/// The ratio of the p99 of two such runs.
pub fn two_p99s(storages: [Latencies; 2], (trials, seconds): (usize, usize), simulations: u32, seed: u64) -> Tally {
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    let q = Share(0.99);
    let truth = storages[1].truth(q.0) / storages[0].truth(q.0);
    for _ in 0..simulations {
        let [baseline, other] = storages.map(|storage| p99_figure(storage, (trials, seconds), q, &mut random));
        let found = baseline.zip(other).and_then(|(baseline, other)| quotient::of_independent(&baseline, &other));
        tally.count(found.map(|found| found.interval), truth);
    }
    tally
}

fn p99_figure(storage: Latencies, (trials, seconds): (usize, usize), q: Share, random: &mut Random) -> Option<Figure> {
    let (mut all, mut alone) = (Distribution::default(), Vec::new());
    for _ in 0..trials {
        let mut trial = Distribution::default();
        trial.add(&storage.trial(random, seconds).sparse());
        alone.push(trial.point(q, 0.0)?.0 as f64);
        all.join(&trial);
    }
    let without = |left_out: &[usize]| Some(all.quantile_without(left_out, q)?.0 as f64);
    Figure::new(all.point(q, 0.0)?.0 as f64, &units(trials), &alone, without)
}

/// What happens to the machine while two arms alternate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Course {
    /// Nothing.
    Level,
    /// It gets 10 % slower in a straight line.
    Drift,
    /// It gets 10 % slower at once, at a random moment.
    Step,
    /// One trial of twenty is 10 % slower.
    Stall,
}

impl Course {
    /// For the table.
    pub fn name(self) -> &'static str {
        match self {
            Course::Level => "noise of 2 % per trial",
            Course::Drift => "the same, drift by 10 % over the run",
            Course::Step => "the same, one step by 10 %",
            Course::Stall => "the same, every 20th trial 10 % slower",
        }
    }
}

/// A machine on which two arms alternate, the second `ratio` times as fast.
struct Machine {
    course: Course,
    ratio: f64,
    /// Trials over which it drifts, and the one before which it steps.
    trials: usize,
    step: usize,
    /// Trials so far.
    at: usize,
    /// The other arm comes first in even blocks.
    first_is_other: bool,
}

impl Machine {
    fn new(course: Course, ratio: f64, blocks: usize, random: &mut Random) -> Machine {
        let trials = 2 * blocks;
        let step = random.below(trials as u64) as usize;
        Machine { course, ratio, trials, step, at: 0, first_is_other: random.below(2) == 1 }
    }

    fn trial(&mut self, other: bool, random: &mut Random) -> f64 {
        let slow = |slow: bool| if slow { 0.9 } else { 1.0 };
        let level = match self.course {
            Course::Level => 1.0,
            Course::Drift => 1.0 - 0.1 * self.at as f64 / (self.trials - 1) as f64,
            Course::Step => slow(self.at >= self.step),
            Course::Stall => slow(random.below(20) == 0),
        };
        self.at += 1;
        (if other { self.ratio } else { 1.0 }) * level * (TRIAL_NOISE * normal(random)).exp()
    }

    /// Baseline and other of the next block: an order, then its mirror.
    fn block(&mut self, block: usize, random: &mut Random) -> [f64; 2] {
        let other_first = self.first_is_other != (block % 2 == 1);
        let (one, two) = (self.trial(other_first, random), self.trial(!other_first, random));
        if other_first { [two, one] } else { [one, two] }
    }
}

/// The interval of the ratio of two arms by their blocks.
fn of_blocks(blocks: &[[f64; 2]]) -> Option<(f64, f64)> {
    let figure = |side: usize| figure(&blocks.iter().map(|block| block[side]).collect::<Vec<_>>());
    Some(quotient::of_pairs(&figure(0)?, &figure(1)?)?.interval)
}

/// Places of so many trials, each a block of its own.
fn units(trials: usize) -> BTreeMap<u32, Vec<usize>> {
    (0..trials).map(|place| (place as u32, vec![place])).collect()
}

fn figure(rates: &[f64]) -> Option<Figure> {
    Figure::of_mean(&units(rates.len()), rates)
}

/// Two arms, the second `ratio` times as fast, over interleaved blocks as the plan lays them out.
pub fn arms(course: Course, ratio: f64, blocks: usize, simulations: u32, seed: u64) -> Tally {
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    for _ in 0..simulations {
        let mut machine = Machine::new(course, ratio, blocks, &mut random);
        let measured: Vec<[f64; 2]> = (0..blocks).map(|block| machine.block(block, &mut random)).collect();
        tally.count(of_blocks(&measured), ratio);
    }
    tally
}

/// The same until their ratio is known to ± 2 %, at most 20 blocks.
pub fn arms_until(course: Course, ratio: f64, simulations: u32, seed: u64) -> Tally {
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    for _ in 0..simulations {
        let mut machine = Machine::new(course, ratio, BLOCKS_MOST, &mut random);
        let mut measured: Vec<[f64; 2]> = Vec::new();
        let found = loop {
            measured.push(machine.block(measured.len(), &mut random));
            let interval = of_blocks(&measured);
            if is_enough(measured.len(), interval.map(|(low, high)| (high / low).sqrt() - 1.0)) {
                break interval;
            }
        };
        tally.count(found, ratio);
    }
    tally
}
