//! H78: did the target rest before it was measured? A drive that rests cleans up, and is faster afterwards than under load.

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::limits::IDLE;
use crate::series;
use crate::trials::CaseTrials;
use stend_base::{Nanos, Say, format, say};
use stend_record::observed::Phase;
use stend_record::verification::ReadBack;
use stend_record::{RunRecord, TrialOutcome};

/// H78: no trial began more than a minute after the fill, or the trial or round before it, ended.
pub fn idle(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check { id: CheckId::H78, limit: Say::both(|l| format!("≤ {t}", t = format::duration(IDLE, l))) };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let ends = ends(run);
    let gap = |start: Nanos| {
        let last = ends[..ends.partition_point(|end| end.at <= start)].last()?;
        (!last.goes_on).then(|| (start.saturating_sub(last.at), last.at))
    };
    let rests = case.counting.iter().filter_map(|trial| {
        let start = series::load_start(trial.record);
        gap(start).filter(|(_, from)| !is_switched(run, *from, start)).map(|(length, _)| length)
    });
    let Some(longest) = rests.max() else {
        return check.not_applicable(say!(
            "nothing of this run loaded the target before it, or an arm was switched to, or data were read back",
            "до него этот прогон объект не нагружал, переключался вариант или данные читались для проверки"
        ));
    };
    let measured = Say::both(|l| format::near_limit::duration(longest, IDLE, l));
    if longest <= IDLE {
        return check.pass(measured);
    }
    check.measured(measured).warn(say!(
        "The target was idle before a trial: a solid-state drive cleans up then, and a cache empties, so the trial began in another state than under load.",
        "Перед испытанием объект простаивал: твердотельный накопитель за это время собирает мусор, кэш опустошается, и испытание началось не в том состоянии, что под нагрузкой."
    ))
}

/// Where a load ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    at: Nanos,
    /// The target was kept busy from then on, and it is not recorded for how long.
    goes_on: bool,
}

/// When the fills, trials and rounds of a run ended, in order.
fn ends(run: &RunRecord) -> Vec<End> {
    let loads = run.trials.iter().chain(&run.rounds).filter_map(|trial| trial.outcome.as_ref());
    let loads = loads.map(|outcome| End { at: outcome.window_end, goes_on: is_read_back(outcome) });
    let mut ends: Vec<End> = loads.chain(fills(run).into_iter().map(|at| End { at, goes_on: false })).collect();
    ends.sort_unstable();
    ends
}

/// Whether everything was read back after the window, which may take longer than the trial.
fn is_read_back(outcome: &TrialOutcome) -> bool {
    let after = outcome.verification.as_ref().map(|found| &found.after);
    matches!(after, Some(ReadBack::Made { .. } | ReadBack::Stopped | ReadBack::Stalled))
}

/// When the fills ended: each session has one of its own. What comes next is an event; how long it took is kept of the last one alone.
fn fills(run: &RunRecord) -> Vec<Nanos> {
    let phases: Vec<(Nanos, Phase)> = run.phases().collect();
    let last = phases.iter().rposition(|(_, phase)| *phase == Phase::Fill);
    let ended = |(index, (began, _)): (usize, &(Nanos, Phase))| {
        let took = run.load().fill.filter(|_| last == Some(index)).map(|fill| *began + fill.elapsed);
        took.into_iter().chain(phases.get(index + 1).map(|(next, _)| *next)).min()
    };
    phases.iter().enumerate().filter(|(_, (_, phase))| *phase == Phase::Fill).filter_map(ended).collect()
}

/// Whether an arm was switched to in between: that takes the time that it takes.
fn is_switched(run: &RunRecord, from: Nanos, to: Nanos) -> bool {
    run.arms_entered().any(|(at, ..)| (from..=to).contains(&at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{RunBuilder, run};
    use crate::trials::by_case;
    use stend_base::Bytes;
    use stend_record::Verification;
    use stend_record::observed::FillOutcome;
    use stend_record::verification::Checked;
    use stend_record::{Event, EventKind};

    /// Two trials, the second of which begins so many seconds after the first one ended.
    fn rested(seconds: u64) -> RunRecord {
        let mut record = two(run()).record();
        let first = record.trials[0].outcome.as_ref().unwrap().window_end;
        let second = record.trials[1].outcome.as_mut().unwrap();
        let by = (first + Nanos::secs(seconds)).0 as i64 - second.load_start.0 as i64;
        second.shift(by);
        record
    }

    fn two(run: RunBuilder) -> RunBuilder {
        run.trial(0).done().trial(0).done()
    }

    fn check(record: &RunRecord) -> CheckResult {
        idle(record, &by_case(record)[0])
    }

    #[test]
    fn h78_a_rest_of_more_than_a_minute_warns() {
        assert_eq!(check(&rested(60)).status, CheckStatus::Pass);
        let long = check(&rested(61));
        assert_eq!((long.status, long.measured.en.as_str()), (CheckStatus::Warn, "1 min 01 s"));
    }

    #[test]
    fn h78_counts_from_the_end_of_the_fill() {
        let mut record = run().trial(0).done().record();
        let start = record.trials[0].outcome.as_ref().unwrap().load_start;
        record.events.push(Event::new(start.saturating_sub(Nanos::secs(90)), EventKind::Phase(Phase::Fill)));
        let mut of = |elapsed| {
            record.load_mut().fill = Some(FillOutcome {
                written: Bytes::mib(1),
                elapsed: Nanos::secs(elapsed),
                passes: 1,
                block_size: Bytes::mib(1),
                ..FillOutcome::default()
            });
            check(&record).status
        };
        assert_eq!((of(80), of(10)), (CheckStatus::Pass, CheckStatus::Warn));
    }

    #[test]
    fn h78_says_nothing_of_the_time_in_which_a_trial_is_read_back() {
        let mut record = rested(300);
        let after = ReadBack::Made { checked: Checked::default(), unread: 0 };
        let found = Verification { memory: Bytes::mib(1), running: Checked::default(), after, examples: Vec::new() };
        record.trials[0].outcome.as_mut().unwrap().verification = Some(found.clone());
        assert_eq!(check(&record).status, CheckStatus::NotApplicable);
        let not_asked = Verification { after: ReadBack::NotAsked, ..found };
        record.trials[0].outcome.as_mut().unwrap().verification = Some(not_asked);
        assert_eq!(check(&record).status, CheckStatus::Warn);
    }

    #[test]
    fn h78_counts_from_the_end_of_the_fill_of_an_earlier_session() {
        let mut record = rested(600);
        let [first, second] = [0, 1].map(|trial| record.trials[trial].outcome.as_ref().unwrap());
        let (end, start) = (first.window_end, second.load_start);
        let events = [(end + Nanos::secs(10), Phase::Fill), (start.saturating_sub(Nanos::secs(5)), Phase::Measure)];
        // A later session filled again, and what is kept is how long that took.
        let later = [(start + Nanos::secs(100), Phase::Fill)];
        record
            .events
            .extend(events.into_iter().chain(later).map(|(at, phase)| Event::new(at, EventKind::Phase(phase))));
        record.load_mut().fill = Some(FillOutcome { elapsed: Nanos::secs(7), ..FillOutcome::default() });
        let found = check(&record);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "5 s"));
    }

    #[test]
    fn h78_says_nothing_of_the_first_load_and_of_a_switch_between_arms() {
        let first = run().trial(0).done().record();
        assert_eq!(check(&first).status, CheckStatus::NotApplicable);
        let mut switched = rested(600);
        let at = switched.trials[0].outcome.as_ref().unwrap().window_end + Nanos::secs(1);
        let facts = Box::new(stend_record::ArmFacts {
            host: switched.load().facts.clone().unwrap(),
            targets: Vec::new(),
            observed: Vec::new(),
        });
        switched.events.push(Event::new(at, EventKind::Arm { arm: 0, facts }));
        assert_eq!(check(&switched).status, CheckStatus::NotApplicable);
    }
}
