//! `make coverage`: do nominal 95 % intervals hold the truth in 95 % of cases? Simulated storage whose truth is known, through the
//! functions that make what is published. Needs no storage, and gives the same page everywhere.

mod experiment;
mod generate;
mod report;

use crate::{Outcome, Settings, say};
use experiment::{BLOCKS, Course, Tally, arms, arms_until, history, rate, until};
use generate::{Latencies, Rates};
use stend_base::Share;

/// Simulations of each row.
const SIMULATIONS: u32 = 10_000;
/// Shortest trial that may be published, seconds.
const PLANNED: usize = 60;
/// A trial of a quick look, seconds.
const QUICK: usize = 3;
/// Trials of a case whose percentiles matter, seconds: as short as they may be in what is simulated here.
const LONG: usize = 20;
/// The same where a stall comes every two seconds and p99 lies in the longest of them.
const MINUTES: usize = 120;
/// The difference that must be found.
const EFFECT: f64 = 1.05;

/// What a row is about.
pub struct Row {
    /// The storage.
    pub storage: String,
    /// What is published of it.
    pub published: String,
    /// As long as a plan should be: refusals are held against their limit.
    pub planned: bool,
    /// What came out.
    pub tally: Tally,
}

/// Rows by what is published.
pub struct Found {
    /// Rates of single cases.
    pub rates: Vec<Row>,
    /// Quantiles of single cases.
    pub quantiles: Vec<Row>,
    /// Two arms that are the same.
    pub alike: Vec<Row>,
    /// Two arms that differ by 5 %.
    pub unlike: Vec<Row>,
    /// Two runs that were made one after the other.
    pub runs: Vec<Row>,
    /// Runs in which nothing changes.
    pub histories: Vec<Row>,
}

/// Simulates everything and writes the page.
pub fn simulate(settings: &Settings) -> Outcome<()> {
    report::write(settings, &all(settings.simulations.unwrap_or(SIMULATIONS)))
}

/// Every row with so many simulations.
fn all(simulations: u32) -> Found {
    Found {
        rates: rates(simulations),
        quantiles: quantiles(simulations),
        alike: compared(1.0, simulations),
        unlike: compared(EFFECT, simulations),
        runs: two_runs(simulations),
        histories: histories(simulations / 10),
    }
}

fn storages() -> Vec<Rates> {
    let mut all = [0.5, 0.8, 0.9, 0.95].map(Rates::Autoregressive).to_vec();
    all.extend([Rates::Step, Rates::Stall, Rates::Drift]);
    all
}

fn rates(simulations: u32) -> Vec<Row> {
    let mut rows = Vec::new();
    for (trials, seconds, planned) in
        [(BLOCKS, PLANNED, true), (BLOCKS, QUICK, true), (1, PLANNED, false), (1, QUICK, false)]
    {
        for storage in storages() {
            say(&format!("rate, {trials} × {seconds} s: {}", storage.name()));
            let seed = rows.len() as u64;
            rows.push(Row {
                storage: storage.name(),
                published: format!("{trials} × {seconds} s"),
                planned,
                tally: rate(storage, trials, seconds, simulations, seed),
            });
        }
    }
    rows.extend(looked_at(simulations));
    rows
}

/// Cases that are repeated until their rate is known to ± 2 %.
fn looked_at(simulations: u32) -> Vec<Row> {
    let row = |(noise, seed): (f64, u64)| Row {
        storage: format!("trials differ by {:.0} %", noise * 100.0),
        published: "6 to 20 × until ± 2 %".to_string(),
        planned: true,
        tally: until(noise, simulations, seed),
    };
    [(0.01, 500), (0.02, 501), (0.03, 502), (0.05, 503)].map(row).into()
}

fn histories(simulations: u32) -> Vec<Row> {
    let row = |(noise, runs, seed): (f64, usize, u64)| Row {
        storage: format!("runs differ by {:.0} %", noise * 100.0),
        published: format!("{runs} runs"),
        planned: true,
        tally: history(noise, runs, simulations, seed),
    };
    [(0.02, 12, 3000), (0.02, 50, 3001), (0.05, 12, 3002), (0.05, 50, 3003)].map(row).into()
}

fn quantiles(simulations: u32) -> Vec<Row> {
    let mut rows = Vec::new();
    let all =
        [Latencies::Queue(0.8), Latencies::Autoregressive(0.5), Latencies::Autoregressive(0.95), Latencies::Stall];
    let shares = [Share(0.5), Share(0.99)];
    let lengths = [(BLOCKS, LONG), (BLOCKS, QUICK), (20, QUICK), (3, QUICK)];
    let of_all = lengths.into_iter().flat_map(|length| all.map(|latencies| (length, latencies)));
    // The tail of what stalls now and then is known only from many stalls: such a plan needs minutes.
    for ((trials, seconds), latencies) in of_all.chain([((BLOCKS, MINUTES), Latencies::Stall)]) {
        say(&format!("quantiles, {trials} × {seconds} s: {}", latencies.name()));
        let seed = 1000 + rows.len() as u64;
        let tallies = experiment::quantiles(latencies, &shares, (trials, seconds), simulations, seed);
        rows.extend(shares.iter().zip(tallies).map(|(q, tally)| Row {
            storage: latencies.name(),
            published: format!("p{:.0}, {trials} × {seconds} s", q.0 * 100.0),
            planned: seconds >= if latencies == Latencies::Stall { MINUTES } else { LONG },
            tally,
        }));
    }
    rows
}

fn compared(ratio: f64, simulations: u32) -> Vec<Row> {
    let mut rows = Vec::new();
    let disturbed = [Course::Drift, Course::Step, Course::Stall];
    let all = [(Course::Level, BLOCKS)].into_iter().chain(disturbed.map(|course| (course, BLOCKS)));
    for (course, blocks) in all.chain(disturbed.map(|course| (course, 2 * BLOCKS))) {
        say(&format!("ratio of {ratio}, {blocks} blocks: {}", course.name()));
        rows.push(Row {
            storage: course.name().to_string(),
            published: format!("{blocks} blocks"),
            planned: course == Course::Level || blocks > BLOCKS,
            tally: arms(course, ratio, blocks, simulations, 2000 + rows.len() as u64),
        });
    }
    let looked_at = [(Course::Level, 2100), (Course::Drift, 2101), (Course::Step, 2102), (Course::Stall, 2103)];
    rows.extend(looked_at.map(|(course, seed)| Row {
        storage: course.name().to_string(),
        published: "6 to 20 blocks until ± 2 %".to_string(),
        planned: true,
        tally: arms_until(course, ratio, simulations, seed),
    }));
    rows
}

/// Ratios of two runs: of their rates, and of their p99.
fn two_runs(simulations: u32) -> Vec<Row> {
    let mut rows = Vec::new();
    let rates = [Rates::Autoregressive(0.5), Rates::Autoregressive(0.95), Rates::Step, Rates::Stall];
    for (trials, seconds) in [(BLOCKS, PLANNED), (BLOCKS, QUICK)] {
        for pair in pairs(&rates) {
            let [a, b] = pair.map(Rates::name);
            rows.push(Row {
                storage: format!("{a} / {b}"),
                published: format!("rate, {trials} × {seconds} s"),
                planned: seconds == PLANNED,
                tally: experiment::two_runs(pair, trials, seconds, simulations, 4000 + rows.len() as u64),
            });
        }
    }
    let latencies =
        [Latencies::Queue(0.8), Latencies::Autoregressive(0.5), Latencies::Autoregressive(0.95), Latencies::Stall];
    for (trials, seconds) in [(BLOCKS, LONG), (BLOCKS, QUICK), (10, QUICK)] {
        for pair in pairs(&latencies) {
            let [a, b] = pair.map(Latencies::name);
            say(&format!("p99 of two runs, {trials} × {seconds} s: {a} / {b}"));
            rows.push(Row {
                storage: format!("{a} / {b}"),
                published: format!("p99, {trials} × {seconds} s"),
                planned: seconds == LONG && !pair.contains(&Latencies::Stall),
                // A tenth: each has twelve to twenty trials with a histogram each.
                tally: experiment::two_p99s(pair, (trials, seconds), simulations / 10, 4000 + rows.len() as u64),
            });
        }
    }
    rows
}

/// Each with itself, and with each that follows.
fn pairs<T: Copy>(all: &[T]) -> Vec<[T; 2]> {
    all.iter().enumerate().flat_map(|(i, first)| all[i..].iter().map(|second| [*first, *second])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares of so few simulations differ from their true ones by chance: two standard deviations of 400 are 2 %.
    const FEW: u32 = 400;

    #[test]
    fn intervals_of_rates_hold_the_truth_as_often_as_they_say() {
        // Trials that hold one or two stalls are too skewed, and a drift makes them wide: the page has both.
        for storage in storages().into_iter().filter(|storage| ![Rates::Drift, Rates::Stall].contains(storage)) {
            let found = rate(storage, BLOCKS, QUICK, FEW, 1);
            assert!((0.905..=0.98).contains(&found.coverage()) && found.refused == 0, "{storage:?}: {found:?}");
        }
        for storage in [0.5, 0.8, 0.9].map(Rates::Autoregressive) {
            let found = rate(storage, 1, PLANNED, FEW, 2);
            assert!(found.coverage() >= 0.9 && found.refusals() <= 0.12, "{storage:?}: {found:?}");
        }
        assert_eq!(rate(Rates::Autoregressive(0.9), 1, QUICK, 20, 3).refused, 20);
        let found = until(0.02, FEW, 4);
        assert!((0.91..=0.98).contains(&found.coverage()), "{found:?}");
    }

    #[test]
    fn intervals_of_percentiles_hold_the_truth_or_are_not_there() {
        for latencies in [Latencies::Queue(0.8), Latencies::Autoregressive(0.5), Latencies::Autoregressive(0.95)] {
            let shares = [Share(0.5), Share(0.99)];
            let found = experiment::quantiles(latencies, &shares, (BLOCKS, QUICK), FEW / 2, 5);
            assert!(found.iter().all(|tally| tally.misled() <= 0.08), "{latencies:?}: {found:?}");
            assert!(found[0].refused == 0 && found[0].coverage() >= 0.92, "{latencies:?}: {found:?}");
        }
    }

    #[test]
    fn the_quotient_of_two_runs_lies_in_its_interval_whatever_they_have_in_common() {
        let unlike = [Rates::Autoregressive(0.5), Rates::Autoregressive(0.95)];
        let found = experiment::two_runs(unlike, BLOCKS, QUICK, FEW, 11);
        assert!(found.coverage() >= 0.92 && found.refused == 0, "{found:?}");
        // The p99 of a typical trial of the second is far below that of all its I/Os: an interval around that held the truth in a third.
        let stalls = [Latencies::Autoregressive(0.5), Latencies::Stall];
        let found = experiment::two_p99s(stalls, (10, QUICK), FEW / 4, 12);
        assert!(found.coverage() >= 0.9 && found.refused == 0, "{found:?}");
    }

    #[test]
    fn what_is_the_same_rarely_differs_and_what_differs_is_found() {
        let alike = arms(Course::Level, 1.0, BLOCKS, FEW, 6);
        assert!(alike.claims() <= 0.075 && alike.coverage() >= 0.925, "{alike:?}");
        assert!(arms(Course::Level, EFFECT, BLOCKS, FEW, 7).claims() >= 0.85);
        assert!(arms(Course::Drift, EFFECT, 2 * BLOCKS, FEW, 8).claims() >= 0.9);
        for course in [Course::Level, Course::Drift] {
            let alike = arms_until(course, 1.0, FEW, 9);
            assert!(alike.claims() <= 0.085 && alike.coverage() >= 0.91, "{course:?}: {alike:?}");
            assert!(arms_until(course, EFFECT, FEW, 10).claims() >= 0.95);
        }
    }
}
