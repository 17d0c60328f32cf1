//! Searches for a rate on several load hosts, and what their files say.

use super::super::*;
use crate::fixture::{RunBuilder, run_of, several};
use crate::fixture_rounds::searched_case;
use crate::{Looks, analyse};
use stend_base::MilliIops;
use stend_base::histogram::{Histogram, Sparse};
use stend_plan::{Decision, StopReason};
use stend_record::{Event, EventKind, HostId, Slice};

/// A trial in which a host was asked for this rate and served so much of it, with these latencies if any are given.
fn served(
    run: RunBuilder,
    (case, block): (u32, u32),
    (asked, iops): (f64, f64),
    latency: Option<Sparse>,
) -> RunBuilder {
    let due = (asked / 10.0) as u64;
    let offered = move |outcome: &mut TrialOutcome, slices: &mut Vec<Slice>| {
        slices.iter_mut().filter_map(|slice| slice.open.as_mut()).for_each(|open| open.due = due);
        let window = outcome.window_end.saturating_sub(outcome.window_start);
        outcome.open.iter_mut().for_each(|open| open.due = due * window.0 / Nanos::millis(100).0);
        if let Some(latency) = latency {
            outcome.jobs[0].latency[0] = latency;
        }
    };
    run.trial(case).block(block).iops(iops).change(offered).done()
}

fn join(runs: &[RunBuilder]) -> RunRecord {
    several((0..).zip(runs).map(|(at, run)| (format!("h{at}"), run.clone().record())).collect())
}

/// Walks a search to its end on hosts that share storage which serves so much in all; `change` is what happens to the record before each look.
fn walked(hosts: usize, capacity: f64, change: impl Fn(&mut RunRecord)) -> RunRecord {
    let mut runs = vec![run_of(vec![searched_case("oltp")]); hosts];
    let plan = Plan::new(&runs[0].clone().record().header.inputs).unwrap();
    let mut history = vec![Outcome::Ok];
    let joined = |runs: &[RunBuilder]| {
        let mut record = join(runs);
        change(&mut record);
        record
    };
    while let Decision::Trial { case, block, .. } = plan.next(&history) {
        let asked = plan.cases[case as usize].trial.streams[0].rate.as_ref().and_then(|rate| rate.level()).unwrap();
        let each = asked.as_iops().min(capacity / hosts as f64) * (1.0 + 2e-4 * history.len() as f64);
        runs = runs.into_iter().map(|run| served(run, (case, block), (asked.as_iops(), each), None)).collect();
        let record = joined(&runs);
        let ended = Ended::of(record.trials.last().unwrap(), hosts);
        history.push(ended.map_or(Outcome::Incomplete, |ended| step(&plan, case, &ended)));
        assert!(history.len() < 100);
    }
    assert_eq!(plan.next(&history), Decision::Stop(StopReason::Done));
    joined(&runs)
}

#[test]
fn the_rate_that_is_found_is_that_of_each_host_and_the_chart_has_what_all_achieve() {
    let found = analyse(&walked(4, 20_000.0, |_| {})).unwrap();
    let answer = &found.searches[0];
    let (held, missed) = (answer.held.unwrap().rate, answer.missed.unwrap().rate);
    assert!(answer.confirmed && answer.hosts == 4, "{answer:?}");
    assert!(held <= MilliIops::per_second(5100) && missed > MilliIops::per_second(5000), "{answer:?}");
    let told = answer.say();
    assert!(told.en.contains("rates on each of 4 load hosts; the limit is held by the I/Os of all"), "{}", told.en);
    assert!(told.ru.contains("на каждой из 4 нагружающих машин; предел проверен по"), "{}", told.ru);
    let [chart] = found.across.as_slice() else { panic!("{:?}", found.across) };
    let [mark] = chart.events.as_slice() else { panic!("{:?}", chart.events) };
    assert_eq!(mark.at, held.as_iops() * 4.0);
    assert!(mark.detail.en.ends_with("on each of 4 load hosts"), "{}", mark.detail.en);
    let rates: Vec<f64> = chart.panes[0].series[0].points.iter().map(|point| point.x).collect();
    assert!(rates.iter().any(|rate| (rate / mark.at - 1.0).abs() < 0.01), "the mark is at a rate that was tried");
}

/// So many latencies of 1 ms, and so many of 60 ms.
fn latencies(fast: u64, slow: u64) -> Option<Sparse> {
    let mut histogram = Histogram::new();
    (0..fast).for_each(|_| histogram.record(Nanos::millis(1)));
    (0..slow).for_each(|_| histogram.record(Nanos::millis(60)));
    Some(histogram.sparse())
}

/// What a trial means in which so many of 2000 I/Os of the second host were slow.
fn looked(slow: u64) -> (Outcome, [Outcome; 2]) {
    let one =
        |slow| served(run_of(vec![searched_case("oltp")]), (0, 0), (1000.0, 1000.0), latencies(2000 - slow, slow));
    let record = join(&[one(0), one(slow)]);
    let (plan, trial) = (record.plan().unwrap(), &record.trials[0]);
    let alone = [0, 1].map(|part| step(&plan, 0, &Ended::alone(trial.parts[part].outcome.as_ref().unwrap())));
    (step(&plan, 0, &Ended::of(trial, 2).unwrap()), alone)
}

#[test]
fn the_limit_is_held_by_the_ios_of_all_hosts_together() {
    assert_eq!(looked(0), (Outcome::Ok, [Outcome::Ok; 2]));
    // 30 of 2000 are too many for one host, and few enough of 4000.
    assert_eq!(looked(30), (Outcome::Ok, [Outcome::Ok, Outcome::Missed]));
    assert_eq!(looked(50), (Outcome::Missed, [Outcome::Ok, Outcome::Missed]));
}

#[test]
fn what_one_host_does_not_serve_is_missed_by_all() {
    let one = |iops| served(run_of(vec![searched_case("oltp")]), (0, 0), (1000.0, iops), None);
    let record = join(&[one(1000.0), one(900.0)]);
    assert_eq!(step(&record.plan().unwrap(), 0, &Ended::of(&record.trials[0], 2).unwrap()), Outcome::Missed);
}

#[test]
fn a_trial_without_all_hosts_says_nothing_of_its_rate_and_after_two_the_search_ends_unfinished() {
    let record = walked(2, 1e9, |_| {});
    let plan = record.plan().unwrap();
    let ended = Ended::of(&record.trials[0], 3).unwrap();
    assert_eq!(step(&plan, record.trials[0].case, &ended), Outcome::Incomplete);
    assert_eq!(Looks::default().step(&plan, (record.trials[0].case, 0), &ended), Outcome::Incomplete);
    // The second host is lost in the third trial, and the other one goes on.
    let without = |record: &mut RunRecord| {
        let Some(lost) = record.trials.get_mut(2) else { return };
        (lost.parts[1].outcome, lost.outcome) = (None, None);
        let at = lost.started + Nanos(1);
        record.trials.iter_mut().skip(3).for_each(|trial| drop(trial.parts.pop()));
        let kind = EventKind::HostLost { detail: "gone".into() };
        record.events.push(Event { at, host: HostId(1), kind });
    };
    let record = walked(2, 1e9, without);
    assert_eq!(record.trials.len(), 4, "no trial is made that could not count");
    let answer = analyse(&record).unwrap().searches.remove(0);
    assert!(!answer.confirmed && answer.held.unwrap().rate == MilliIops::per_second(2148), "{answer:?}");
    assert!(answer.say().en.ends_with("The search did not finish."), "{}", answer.say().en);
}
