//! Runs with rounds before their trials, and searches, for tests.

use crate::fixture::{case, run_of};
use stend_base::{MilliIops, Millionths, Nanos};
use stend_record::RunRecord;
use stend_spec::rate::Gaps;
use stend_spec::search::Search;
use stend_spec::steady::Steady;
use stend_spec::suite::SuiteCase;
use stend_spec::workload::Sync;

/// A case whose rate is searched from 1000 to 16 000 per second.
pub fn searched_case(name: &str) -> SuiteCase {
    let mut searched = case(name, 100, 32, Sync::None);
    searched.streams[0].search = Some(Search {
        from: MilliIops::per_second(1000),
        to: MilliIops::per_second(16_000),
        gaps: Gaps::Even,
        quantile: Millionths::percent(99),
        limit: Nanos::millis(50),
        precision: Millionths::percent(10),
        curve: Vec::new(),
    });
    searched
}

/// A case of random writes with at most so many rounds, as long as its trials.
pub fn settled_case(rounds: u32) -> SuiteCase {
    let plain = case("settled", 0, 8, Sync::None);
    SuiteCase { steady: Some(Steady { rounds, round: plain.window }), ..plain }
}

/// A run of that case: rounds with these rates, and then trials with those.
pub fn settled(most: u32, rounds: &[f64], trials: &[f64]) -> RunRecord {
    let all = rounds.iter().chain(trials);
    let mut record = all.fold(run_of(vec![settled_case(most)]), |run, rate| run.trial(0).iops(*rate).done()).record();
    record.rounds = record.trials.drain(..rounds.len()).collect();
    record.rounds.iter_mut().zip(0..).for_each(|(round, index)| round.block = index);
    record.trials.iter_mut().zip(0..).for_each(|(trial, block)| trial.block = block);
    record
}
