//! Rounds judged while a run goes on and afterwards.

use super::*;
use crate::analyse;
use crate::findings::Caveat;
use crate::fixture_rounds::{settled, settled_case};
use crate::precision::Looks;
use crate::search::Ended;
use stend_base::Lang;
use stend_plan::Outcome;

/// A drive that sinks into its steady state.
const SINKING: [f64; 8] = [30_000.0, 20_000.0, 14_000.0, 10_400.0, 10_200.0, 10_100.0, 9_900.0, 10_000.0];
const LEVEL: [f64; 6] = [10_000.0; 6];

/// What each round of a record meant when it ended.
fn replayed(record: &RunRecord) -> Vec<Outcome> {
    let plan = Plan::new(&record.header.inputs).unwrap();
    let mut looks = Looks::default();
    let step = |round: &TrialRecord| looks.round(&plan, (round.case, round.block), &Ended::of(round, 1).unwrap());
    record.rounds.iter().map(step).collect()
}

fn finding(record: &RunRecord) -> SteadyFinding {
    analyse(record).unwrap().cases.remove(0).steady.unwrap()
}

fn not_steady(record: &RunRecord) -> Option<Caveat> {
    analyse(record).unwrap().caveats.into_iter().find(|caveat| matches!(caveat, Caveat::NotSteady { .. }))
}

#[test]
fn the_round_that_ends_them_is_the_one_by_which_the_file_is_judged() {
    let record = settled(25, &SINKING, &LEVEL);
    let mut expected = vec![Outcome::Ok; 7];
    expected.push(Outcome::Steady);
    assert_eq!(replayed(&record), expected, "10.4 to 9.9 thousand: a range of 5 %");
    let found = finding(&record);
    assert_eq!((found.reached, found.rounds, found.values.len()), (true, 8, 8));
    assert_eq!(
        found.say().en,
        "Steady after 8 rounds of 2 s: over the last 5 the rate spans 4.9 % and moves by 4.3 %."
    );
    assert_eq!(not_steady(&record), None);
}

#[test]
fn a_case_that_is_not_steady_after_all_its_rounds_is_measured_and_says_so_with_the_curve() {
    let record = settled(5, &SINKING[..5], &LEVEL);
    assert_eq!(replayed(&record), [Outcome::Ok; 5]);
    let found = finding(&record);
    assert!(
        !found.reached && found.say().en.starts_with("Steady state not reached after 5 rounds of 2 s"),
        "{found:?}"
    );
    assert!(
        found.say().get(Lang::Ru).starts_with("Установившийся режим не достигнут за 5 раундов по 2 с"),
        "{found:?}"
    );
    assert!(matches!(not_steady(&record), Some(Caveat::NotSteady { cases: 1, .. })));
    let charts = analyse(&record).unwrap().cases[0].charts.clone();
    assert!(charts.iter().any(|chart| chart.id == "case-0-rounds"));
}

#[test]
fn rounds_do_not_count_as_trials() {
    let found = analyse(&settled(25, &SINKING, &LEVEL)).unwrap();
    assert_eq!((found.cases[0].trials, found.cases[0].total.iops.value), (6, 10_000.0));
}

#[test]
fn after_a_pause_only_the_rounds_before_the_trials_count_and_every_time_must_be_steady() {
    let mut record = settled(25, &[&SINKING[..], &SINKING[..]].concat(), &LEVEL);
    record.rounds[8..].iter_mut().zip(0..).for_each(|(round, index)| round.block = index);
    assert_eq!(replayed(&record)[15], Outcome::Steady);
    let found = finding(&record);
    assert_eq!((found.reached, found.rounds), (true, 8), "the first eight were cut short by the pause");
    // Trials after the first five rounds, which were not steady, and after the next eight, which were.
    let mut twice = settled(5, &[&SINKING[..5], &SINKING[..]].concat(), &LEVEL);
    twice.rounds[5..].iter_mut().zip(0..).for_each(|(round, index)| round.block = index);
    twice.rounds[5..].iter_mut().for_each(|round| round.trial += 1);
    twice.trials.iter_mut().for_each(|trial| trial.trial += 1);
    twice.trials[0].trial = 5;
    assert!(!finding(&twice).reached && not_steady(&twice).is_some());
}

#[test]
fn a_round_with_failed_io_begins_the_window_anew() {
    let mut record = settled(25, &[10_000.0; 7], &LEVEL);
    let failed = record.rounds[3].outcome.as_mut().unwrap();
    failed.status = TrialStatus::Failed;
    let found = replayed(&record);
    assert_eq!((found[3], found[4], found[6]), (Outcome::Failed, Outcome::Ok, Outcome::Ok));
    assert!(!finding(&record).reached && finding(&record).range.is_none());
    assert!(finding(&record).say().en.ends_with("fewer than 5 rounds in a row were whole."));
}

#[test]
fn large_blocks_are_followed_by_their_bytes() {
    let mut case = settled_case(25);
    case.streams[0].block_size = vec![stend_base::Bytes::kib(128)];
    let mut record = settled(25, &[1_000.0; 5], &LEVEL);
    record.header.inputs.suite.cases = vec![case];
    assert_eq!(finding(&record).values[0], 1_000.0 * 4096.0);
}

#[test]
fn a_case_whose_rounds_were_cut_short_says_so_instead_of_its_turn() {
    let mut record = settled(25, &SINKING, &[]);
    let reason = |record: &RunRecord| analyse(record).unwrap().not_run[0].reason.en.clone();
    record.state = stend_record::RunState::Open;
    assert_eq!(reason(&record), "its rounds are in progress");
    record.state = stend_record::RunState::Complete;
    assert_eq!(reason(&record), "its rounds did not finish");
    record.rounds.clear();
    assert_eq!(reason(&record), "the run ended before its turn");
}
