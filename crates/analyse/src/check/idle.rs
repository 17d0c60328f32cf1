//! H78: did the target rest before it was measured? A drive that rests cleans up, and is faster afterwards than under load.

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::limits::IDLE;
use crate::series;
use crate::trials::CaseTrials;
use stend_base::{Nanos, Say, format, say};
use stend_record::observed::Phase;
use stend_record::{EventKind, RunRecord};

/// H78: no trial began more than a minute after the fill, or the trial or round before it, ended.
pub fn idle(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check { id: CheckId::H78, limit: Say::both(|l| format!("≤ {t}", t = format::duration(IDLE, l))) };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let ends = ends(run);
    let gap = |start: Nanos| {
        let last = ends[..ends.partition_point(|end| *end <= start)].last()?;
        Some((start.saturating_sub(*last), *last))
    };
    let rests = case.counting.iter().filter_map(|trial| {
        let start = series::load_start(trial.record);
        gap(start).filter(|(_, from)| !is_switched(run, *from, start)).map(|(length, _)| length)
    });
    let Some(longest) = rests.max() else {
        return check.not_applicable(say!(
            "nothing of this run loaded the target before it, or an arm was switched to",
            "до него этот прогон объект не нагружал, или переключался вариант"
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

/// When the fills, trials and rounds of a run ended, in order.
fn ends(run: &RunRecord) -> Vec<Nanos> {
    let loads = run.trials.iter().chain(&run.rounds).filter_map(|trial| trial.outcome.as_ref());
    // A fill says how long it took; that it began is an event. Only the last one of a run is kept.
    let began = run.events.iter().rfind(|event| matches!(event.kind, EventKind::Phase(Phase::Fill)));
    let filled = began.zip(run.load().fill).map(|(event, fill)| event.at + fill.elapsed);
    let mut ends: Vec<Nanos> = loads.map(|outcome| outcome.window_end).chain(filled).collect();
    ends.sort_unstable();
    ends
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
    use stend_record::Event;
    use stend_record::observed::FillOutcome;

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
