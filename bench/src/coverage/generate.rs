//! Storage whose truth is known: series of rates and latencies with every kind of dependence that makes intervals lie.

use stend_base::random::Random;
use stend_base::{Histogram, Nanos};

/// Intervals per second of a series, as the product counts them.
pub const PER_SECOND: usize = 10;
/// Rate of everything here, per second.
pub const LEVEL: f64 = 1000.0;
/// Standard deviation of an interval of an autoregressive series, relative to the rate.
const NOISE: f64 = 0.10;
/// Relative standard deviation of what a whole trial has in common.
const BETWEEN: f64 = 0.01;

/// A value of the normal distribution with mean 0 and deviation 1 (Box and Muller 1958).
pub fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

/// A value of the exponential distribution.
pub fn exponential(random: &mut Random, mean: f64) -> f64 {
    -mean * (1.0 - random.unit()).ln()
}

/// How the rate of a storage behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rates {
    /// Each interval remembers this share of how far the one before was off: AR(1).
    Autoregressive(f64),
    /// Two levels, 10 % apart, each kept for 10 s on average: a cache that is on or off.
    Step,
    /// Full rate for 2 s on average, then nothing for 0.2 s on average.
    Stall,
    /// Independent intervals, and 10 % less over the whole run in a straight line.
    Drift,
}

impl Rates {
    /// For the table.
    pub fn name(self) -> String {
        match self {
            Rates::Autoregressive(phi) => format!("AR(1), φ = {phi}"),
            Rates::Step => "steps of 10 %, every 10 s on average".to_string(),
            Rates::Stall => "stalls of 0.2 s, every 2 s on average".to_string(),
            Rates::Drift => "drift by 10 % over the run".to_string(),
        }
    }

    /// The true mean rate.
    pub fn truth(self) -> f64 {
        match self {
            Rates::Autoregressive(_) => LEVEL,
            Rates::Step | Rates::Drift => LEVEL * 0.95,
            Rates::Stall => LEVEL * 2.0 / 2.2,
        }
    }

    /// Rate of each interval of one trial of so many seconds. `at` is where in the run it lies, 0 to 1; `shared` whether
    /// a trial as a whole is off by chance.
    pub fn series(self, random: &mut Random, seconds: usize, at: f64, shared: bool) -> Vec<f64> {
        let n = seconds * PER_SECOND;
        let common = if shared { 1.0 + BETWEEN * normal(random) } else { 1.0 };
        match self {
            Rates::Autoregressive(phi) => autoregressive(random, n, phi, LEVEL * common),
            Rates::Step => telegraph(random, n, (10.0, LEVEL * common), (10.0, 0.9 * LEVEL * common)),
            Rates::Stall => telegraph(random, n, (2.0, LEVEL * common), (0.2, 0.0)),
            Rates::Drift => autoregressive(random, n, 0.0, LEVEL * common * (1.0 - 0.1 * at)),
        }
    }
}

fn autoregressive(random: &mut Random, n: usize, phi: f64, level: f64) -> Vec<f64> {
    let mut off = normal(random);
    let fresh = (1.0 - phi * phi).sqrt();
    (0..n)
        .map(|_| {
            off = phi * off + fresh * normal(random);
            level * (1.0 + NOISE * off)
        })
        .collect()
}

/// Alternates between two states of (mean length in seconds, rate); each interval has the mean over its 100 ms.
fn telegraph(random: &mut Random, n: usize, first: (f64, f64), second: (f64, f64)) -> Vec<f64> {
    let step = 1.0 / PER_SECOND as f64;
    let mut in_first = random.unit() < first.0 / (first.0 + second.0);
    let state = |in_first: bool| if in_first { first } else { second };
    // Without memory: what is left of a state is as long as a new one.
    let mut left = exponential(random, state(in_first).0);
    (0..n)
        .map(|_| {
            let (mut need, mut sum) = (step, 0.0);
            while need > 0.0 {
                let part = left.min(need);
                sum += part * state(in_first).1;
                (need, left) = (need - part, left - part);
                if left <= 0.0 {
                    in_first = !in_first;
                    left = exponential(random, state(in_first).0);
                }
            }
            sum / step
        })
        .collect()
}

/// How the latencies of a storage behave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Latencies {
    /// One server with service of 1 ms on average and Poisson arrivals at this share of what it can do: response times
    /// of one trial hang together as long as its queue lasts.
    Queue(f64),
    /// Lognormal, and the level of each 100 ms remembers this share of the one before.
    Autoregressive(f64),
    /// 100 µs, but who arrives in a stall of 0.2 s, every 2 s on average, waits for its end.
    Stall,
}

/// Mean service of the queue, ns.
const QUEUED: f64 = 1_000_000.0;
/// Latency of all others while nothing is wrong, ns.
const SERVICE: f64 = 100_000.0;
/// Spread of the lognormal latencies within 100 ms, and of the level of 100 ms: of the logarithm.
const WITHIN: f64 = 0.5;
const LEVELS: f64 = 0.3;
/// I/Os per interval of 100 ms of all but the queue.
const PER_INTERVAL: usize = 50;
/// Mean length of a stall, and of the time between, in seconds.
const STALLED: f64 = 0.2;
const RUNNING: f64 = 2.0;

impl Latencies {
    /// For the table.
    pub fn name(self) -> String {
        match self {
            Latencies::Queue(load) => format!("M/M/1 at {:.0} %", load * 100.0),
            Latencies::Autoregressive(phi) => format!("lognormal, level AR(1), φ = {phi}"),
            Latencies::Stall => "stalls of 0.2 s, every 2 s on average".to_string(),
        }
    }

    /// The true q-quantile, ns.
    pub fn truth(self, q: f64) -> f64 {
        match self {
            // The response of M/M/1 is exponential with mean 1 / (μ − λ).
            Latencies::Queue(load) => -(1.0 - q).ln() * QUEUED / (1.0 - load),
            Latencies::Autoregressive(_) => {
                SERVICE * ((WITHIN * WITHIN + LEVELS * LEVELS).sqrt() * normal_quantile(q)).exp()
            }
            Latencies::Stall => {
                let stalled = STALLED / (STALLED + RUNNING);
                SERVICE + if 1.0 - q < stalled { STALLED * 1e9 * (stalled / (1.0 - q)).ln() } else { 0.0 }
            }
        }
    }

    /// Latencies of one trial of so many seconds.
    pub fn trial(self, random: &mut Random, seconds: usize) -> Histogram {
        let mut all = Histogram::new();
        match self {
            Latencies::Queue(load) => {
                let mut waiting = if random.unit() < load { exponential(random, QUEUED / (1.0 - load)) } else { 0.0 };
                for _ in 0..(seconds as f64 * 1e9 / QUEUED * load) as usize {
                    let response = waiting + exponential(random, QUEUED);
                    all.record(Nanos(response as u64));
                    // Lindley's recursion.
                    waiting = (response - exponential(random, QUEUED / load)).max(0.0);
                }
            }
            Latencies::Autoregressive(phi) => {
                let mut level = normal(random);
                let fresh = (1.0 - phi * phi).sqrt();
                for _ in 0..seconds * PER_SECOND {
                    level = phi * level + fresh * normal(random);
                    for _ in 0..PER_INTERVAL {
                        let log = LEVELS * level + WITHIN * normal(random);
                        all.record(Nanos((SERVICE * log.exp()) as u64));
                    }
                }
            }
            Latencies::Stall => stalls(random, seconds, &mut all),
        }
        all
    }
}

fn stalls(random: &mut Random, seconds: usize, all: &mut Histogram) {
    let gap = 1.0 / (PER_INTERVAL * PER_SECOND) as f64;
    let mean = |stalled: bool| if stalled { STALLED } else { RUNNING };
    let mut stalled = random.unit() < STALLED / (STALLED + RUNNING);
    let mut ends = exponential(random, mean(stalled));
    for i in 0..seconds * PER_SECOND * PER_INTERVAL {
        let now = i as f64 * gap;
        while ends <= now {
            stalled = !stalled;
            ends += exponential(random, mean(stalled));
        }
        let wait = if stalled { (ends - now) * 1e9 } else { 0.0 };
        all.record(Nanos((SERVICE + wait) as u64));
    }
}

/// Only for the shares that are asked for here.
fn normal_quantile(q: f64) -> f64 {
    match q {
        0.5 => 0.0,
        0.99 => 2.326_347_874_040_841,
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generator_has_the_mean_that_it_says() {
        let mut random = Random::new(1);
        let all = [0.5, 0.95].map(Rates::Autoregressive).into_iter().chain([Rates::Step, Rates::Stall, Rates::Drift]);
        for rates in all {
            let mut sum = 0.0;
            for trial in 0..400 {
                let series = rates.series(&mut random, 20, (f64::from(trial) + 0.5) / 400.0, true);
                sum += series.iter().sum::<f64>() / series.len() as f64 / 400.0;
            }
            assert!((sum / rates.truth() - 1.0).abs() < 0.01, "{rates:?}: {sum}");
        }
    }

    #[test]
    fn every_generator_has_the_quantile_that_it_says() {
        let mut random = Random::new(2);
        for latencies in [Latencies::Queue(0.8), Latencies::Autoregressive(0.8), Latencies::Stall] {
            let mut all = Histogram::new();
            (0..40).for_each(|_| all.merge(&latencies.trial(&mut random, 10)));
            for q in [0.5, 0.99] {
                let (found, truth) = (all.quantile(stend_base::Share(q)).unwrap().0 as f64, latencies.truth(q));
                assert!((found / truth - 1.0).abs() < 0.1, "{latencies:?}, {q}: {found} instead of {truth}");
            }
        }
    }
}
