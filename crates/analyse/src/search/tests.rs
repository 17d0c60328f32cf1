//! Searches walked on imagined targets, and what their files say.

mod on_hosts;

use super::*;
use crate::analyse;
use crate::findings::CheckStatus;
use crate::fixture::{RunBuilder, case, run_of};
use crate::fixture_rounds::searched_case;
use stend_base::MilliIops;
use stend_base::histogram::{Histogram, Sparse};
use stend_plan::{Decision, StopReason};
use stend_record::{Censored, IoErrors};
use stend_spec::suite::SuiteCase;
use stend_spec::workload::Sync;

/// Random reads at 1000/s to 16,000/s in steps of a tenth, 99 % within 50 ms.
fn searched() -> SuiteCase {
    let mut case = searched_case("oltp");
    case.streams[0].search.iter_mut().for_each(|search| search.curve = vec![Millionths::percent(50)]);
    case
}

fn plan_of(cases: Vec<SuiteCase>) -> Plan {
    Plan::new(&run_of(cases).record().header.inputs).unwrap()
}

/// Walks the plan to its end on a target that serves up to `capacity` per second.
fn walked(cases: Vec<SuiteCase>, capacity: f64) -> RunBuilder {
    let (plan, mut run) = (plan_of(cases.clone()), run_of(cases));
    let mut history = vec![Outcome::Ok];
    while let Decision::Trial { case, block, .. } = plan.next(&history) {
        let asked = plan.cases[case as usize].trial.streams[0].rate.as_ref().and_then(|rate| rate.level());
        let served = asked.map_or(5000.0, |rate| rate.as_iops().min(capacity));
        // No two trials are the same to the nanosecond.
        let wobble = 1.0 + 2e-4 * history.len() as f64;
        let due = asked.map_or(0, |rate| rate.0 / 10_000);
        let offered = move |outcome: &mut TrialOutcome, slices: &mut Vec<stend_record::Slice>| {
            slices.iter_mut().filter_map(|slice| slice.open.as_mut()).for_each(|open| open.due = due);
            let window = outcome.window_end.saturating_sub(outcome.window_start);
            outcome.open.iter_mut().for_each(|open| open.due = due * window.0 / Nanos::millis(100).0);
        };
        run = run.trial(case).block(block).iops(served * wobble).change(offered).done();
        let record = run.clone().record();
        let trial = record.trials.last().unwrap();
        history.push(step(&plan, case, &Ended::of(trial, 1).unwrap()));
        assert!(history.len() < 200);
    }
    assert_eq!(plan.next(&history), Decision::Stop(StopReason::Done));
    run
}

#[test]
fn the_answer_is_found_told_first_and_stands_in_the_file() {
    let found = analyse(&walked(vec![searched()], 5000.0).record()).unwrap();
    let [answer] = &found.searches[..] else { panic!("{:?}", found.searches) };
    let (held, missed) = (answer.held.unwrap(), answer.missed.unwrap());
    // A rate counts as served within the limits of H43: 2 % here.
    assert!(held.rate <= MilliIops::per_second(5100) && missed.rate > MilliIops::per_second(5000), "{answer:?}");
    assert!(missed.rate.0 * 100 <= held.rate.0 * 111 && answer.confirmed);
    assert_eq!((held.looks, held.missed, missed.looks, missed.missed), (3, 0, 3, 3));
    assert!(found.verdict.en.starts_with("oltp: 99\u{a0}% of the I/Os end within 50.0"), "{}", found.verdict.en);
    assert!(found.verdict.ru.contains("вплоть до"), "{}", found.verdict.ru);
    // A rate that was too high fails its check, as it should, and is no reason to doubt the answer.
    let saturated = |c: &crate::findings::CaseFinding| {
        c.checks.iter().any(|check| check.id == crate::findings::CheckId::H43 && check.status == CheckStatus::Fail)
    };
    assert!(found.cases.iter().any(saturated) && !found.verdict.en.contains("Do not rely"));
    assert_eq!(found.not_run, []);
    assert_eq!(found.caveats, [], "a search has its own number of trials");
}

#[test]
fn wrong_data_at_a_rate_that_was_too_high_are_told_all_the_same() {
    let mut record = walked(vec![searched()], 5000.0).record();
    let missed = missed(&record, &plan_of(vec![searched()]));
    let trial = record.trials.iter_mut().find(|trial| missed.contains(&trial.case)).unwrap();
    let outcome = trial.outcome.as_mut().unwrap();
    outcome.errors.push(IoErrors { stream: 0, op: Op::Read, errno: 5, count: 3, first_offset: Some(0) });
    let verdict = analyse(&record).unwrap().verdict.en;
    assert!(verdict.starts_with("Do not rely on these numbers: check H76"), "{verdict}");
}

#[test]
fn ordinary_cases_come_first_and_keep_their_numbers() {
    let record = walked(vec![searched(), case("rand-read", 100, 32, Sync::None)], 5000.0).record();
    let first: Vec<u32> = record.trials.iter().take(6).map(|trial| trial.case).collect();
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 1, "{first:?}");
    let found = analyse(&record).unwrap();
    assert!(
        found.verdict.en.starts_with("oltp: 99\u{a0}%") && found.verdict.en.contains("IOPS ±"),
        "{}",
        found.verdict.en
    );
}

#[test]
fn a_search_that_was_cut_short_says_so_and_one_that_never_began_is_not_run() {
    let mut record = walked(vec![searched()], 5000.0).record();
    record.trials.truncate(5);
    let found = analyse(&record).unwrap();
    assert!(!found.searches[0].confirmed && found.verdict.en.contains("did not finish"));
    record.trials.clear();
    let found = analyse(&record).unwrap();
    assert_eq!((found.searches.len(), found.not_run.len()), (0, 1), "its lowest rate stands for all");
}

#[test]
fn trials_of_the_curve_that_missed_are_told_beside_the_rate_that_held() {
    // The points of the curve are at half the rate that was found; the table has all trials of a rate.
    let mut record = walked(vec![searched()], 5000.0).record();
    assert_eq!(analyse(&record).unwrap().searches[0].curve_missed, []);
    let last = record.trials.last_mut().unwrap();
    last.outcome.as_mut().unwrap().jobs[0].latency[0] = ages(2000, Nanos::millis(60));
    let found = analyse(&record).unwrap();
    let answer = &found.searches[0];
    let [again] = answer.curve_missed[..] else { panic!("{answer:?}") };
    assert!(again.missed == 1 && again.rate < answer.held.unwrap().rate && answer.confirmed, "{answer:?}");
    let (en, ru) = (&found.verdict.en, &found.verdict.ru);
    assert!(en.contains("Measured again for the curve, it was missed at ") && en.contains(" in 1 of "), "{en}");
    assert!(ru.contains("для кривой, предел нарушен: ") && ru.contains("— в 1 из "), "{ru}");
}

#[test]
fn operations_that_a_limit_holds_together_are_named_so() {
    let mut mixed = searched();
    mixed.streams[0].mix = case("x", 70, 1, Sync::None).streams[0].mix;
    let found = analyse(&walked(vec![mixed], 5000.0).record()).unwrap();
    assert!(found.verdict.en.contains("of the I/Os, all operations together, end within"), "{}", found.verdict.en);
}

#[test]
fn everything_held_and_nothing_held_are_told_as_such() {
    let say = |capacity| analyse(&walked(vec![searched()], capacity).record()).unwrap().searches[0].say().en;
    assert!(say(1e6).contains("at every rate that was tried, up to 16\u{a0}000/s (3 of 3 trials)"), "{}", say(1e6));
    assert!(say(10.0).contains("not even at the lowest rate tried, 1000/s (0 of 3 trials)"), "{}", say(10.0));
}

/// Whether one trial at 1000/s holds after a change of what was recorded.
fn holds(change: impl FnOnce(&mut TrialOutcome) + 'static) -> Outcome {
    let plan = plan_of(vec![searched()]);
    let record = run_of(vec![searched()]).trial(0).iops(1000.0).change(|outcome, _| change(outcome)).done().record();
    step(&plan, 0, &Ended::of(&record.trials[0], 1).unwrap())
}

fn ages(count: u64, age: Nanos) -> Sparse {
    let mut histogram = Histogram::new();
    (0..count).for_each(|_| histogram.record(age));
    histogram.sparse()
}

#[test]
fn waiting_that_did_not_end_counts_as_what_it_was_at_least() {
    assert_eq!(holds(|_| {}), Outcome::Ok);
    assert_eq!(holds(|o| o.jobs[0].latency[0] = ages(2000, Nanos::millis(60))), Outcome::Missed);
    // 2000 I/Os: twenty may be slower.
    assert_eq!(holds(|o| o.open[0].never_begun[0] = ages(10, Nanos::secs(1))), Outcome::Ok);
    assert_eq!(holds(|o| o.open[0].never_begun[0] = ages(30, Nanos::secs(1))), Outcome::Missed);
    let stuck = |age| Censored { stream: 0, op: Op::Read, age, in_flight: age };
    assert_eq!(holds(move |o| o.censored = vec![stuck(Nanos::secs(9)); 30]), Outcome::Missed);
    assert_eq!(holds(|o| o.jobs[0].done[0].0 = 1500), Outcome::Missed, "not served");
    // Arrivals of a Poisson process may be fewer than the rate has it; what was due was served.
    assert_eq!(holds(|o| (o.open[0].due, o.jobs[0].done[0].0) = (1500, 1500)), Outcome::Ok);
    assert_eq!(holds(|o| o.status = TrialStatus::Failed), Outcome::Failed);
    assert_eq!(holds(|o| o.status = TrialStatus::Stalled), Outcome::Stalled);
}

#[test]
fn the_rates_that_were_tried_are_a_chart_of_latency_with_the_limit_and_the_answer() {
    let findings = analyse(&walked(vec![searched()], 7000.0).record()).unwrap();
    let [chart] = findings.across.as_slice() else { panic!("{:?}", findings.across) };
    let [pane] = chart.panes.as_slice() else { panic!("{:?}", chart.panes) };
    let names: Vec<&str> = pane.series.iter().map(|line| line.name.en.as_str()).collect();
    assert_eq!((chart.id.as_str(), names), ("curve-0", vec!["p50", "p99", "limit 50.0 ms"]));
    let tried: Vec<f64> = findings.cases.iter().map(|case| case.total.iops.value).collect();
    for line in &pane.series[..2] {
        assert_eq!(line.points.len(), tried.len());
        assert!(line.points.iter().all(|point| tried.contains(&point.x)));
        assert!(line.points.windows(2).all(|pair| pair[0].x <= pair[1].x));
    }
    assert!(pane.series[2].points.iter().all(|point| point.y == Some(50e6)));
    let held = findings.searches[0].held.unwrap().rate;
    let [mark] = chart.events.as_slice() else { panic!("{:?}", chart.events) };
    assert_eq!((mark.at, mark.name.ru.as_str()), (held.as_iops(), "найдено"));
    assert!(chart.x.from <= mark.at && mark.at <= chart.x.to && pane.y.from <= 50e6 && 50e6 <= pane.y.to);
}

#[test]
fn a_search_of_one_rate_is_no_curve() {
    let record = run_of(vec![searched()]).trial(0).done().record();
    assert!(analyse(&record).unwrap().across.is_empty());
}
