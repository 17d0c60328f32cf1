//! H22 and H23: was the ramp long enough for the load to settle, and the window for a number to publish?
//!
//! Only publishing needs them. A screening run shows that once, in its banner ([`crate::grade`]), so what
//! is missing here is never an alarm of a case.

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::limits::{BATCHES_PUBLISHABLE, WINDOW_PUBLISHABLE};
use crate::rates;
use crate::series::{self, Cell};
use crate::trials::{CaseTrials, Counting};
use stend_base::{Nanos, Say, format, say, say_in};
use stend_spec::workload::Op;
use stend_stats::batch_means;
use stend_stats::mser::{self, WarmUp};

/// Intervals of one value of the method: 1 s.
const SECOND: usize = 10;
/// From so many seconds of load on, a value is a second as the method asks; below, an interval, because a
/// series of fewer than 20 batches of 5 says little about a cut.
const SECONDS_ENOUGH: usize = 100;

/// H22: what MSER-5 calls warm-up lies inside the ramp.
pub fn warm_up(case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H22,
        limit: Say::both(|l| {
            let ramp = format::duration(case.asked.ramp, l);
            say_in!(l, "≤ the ramp of {ramp}", "≤ разгона {ramp}")
        }),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let Some(found) = case.counting.iter().map(settling).collect::<Option<Vec<(WarmUp, Nanos)>>>() else {
        return check
            .not_measurable(say!("the trials are too short to decide", "испытания слишком коротки, чтобы судить"));
    };
    if found.iter().any(|(cut, _)| *cut == WarmUp::NoTail) {
        return check.measured(say!("did not settle", "не установилось")).only_screening(say!(
            "The rate was still changing at the end. For screening this is good enough; a published number needs a longer ramp and window.",
            "Скорость менялась до самого конца. Предварительная оценка показывает её как есть; для публикации нужны разгон и окно длиннее."
        ));
    }
    let longest = found.iter().map(|(_, length)| *length).max().unwrap_or_default();
    let measured = Say::both(|l| format::near_limit::duration(longest, case.asked.ramp, l));
    if longest <= case.asked.ramp {
        return check.pass(measured);
    }
    check.measured(measured).only_screening(say!(
        "The load settled after the window had begun. Screening treats it as noise; a published number needs a longer ramp.",
        "Нагрузка установилась, когда окно уже шло. Предварительная оценка считает это шумом; для публикации нужен разгон длиннее."
    ))
}

/// Warm-up of a trial since the start of its load, ramp included.
fn settling(trial: &Counting<'_>) -> Option<(WarmUp, Nanos)> {
    let mut cells: Vec<Cell> = series::cells(&trial.record.slices, |s| Op::IO.contains(&s.op));
    let end = trial.outcome.window_end.saturating_sub(trial.outcome.load_start).0 / series::INTERVAL.0;
    cells.resize((end as usize).min(series::INTERVALS_MAX), Cell::default());
    let length = if cells.len() >= SECONDS_ENOUGH * SECOND { SECOND } else { 1 };
    let cut = mser::warm_up(&series::blocks(&cells, length, |cell| cell.ops))?;
    let values = if let WarmUp::Values(values) = cut { values } else { 0 };
    // The ramp of another engine has no cells: they begin with the window.
    let unseen = trial.outcome.engine.external.as_ref().map_or(Nanos(0), |_| trial.record.asked.ramp);
    Some((cut, unseen + Nanos((values * length) as u64 * series::INTERVAL.0)))
}

/// H23: windows of a minute and more, with twenty batches that pass for independent.
pub fn long_enough(case: &CaseTrials<'_>) -> CheckResult {
    let (window, need) = (WINDOW_PUBLISHABLE, BATCHES_PUBLISHABLE);
    let check = Check {
        id: CheckId::H23,
        limit: say!(
            |l| "≥ {w}, {need} independent batches",
            "≥ {w}, независимых отрезков: {need}",
            w = format::duration(window, l)
        ),
    };
    if case.counting.iter().any(|trial| trial.outcome.jobs.iter().all(|job| job.done.iter().all(|done| done.0 == 0))) {
        return check.measured(say!("no I/O was completed", "не завершён ни один запрос")).fail(say!(
            "No I/O completed in the whole window of a trial: its rate is 0, and its latencies are unknown. This is a hang: look at the events of the run and at the kernel log, or use a longer trial.",
            "За всё окно испытания ничего не завершилось: скорость равна 0, о задержках ничего не известно. Измерено зависание: посмотрите события прогона и журнал ядра или возьмите испытание длиннее."
        ));
    }
    let Some(shortest) = case.counting.iter().map(|trial| trial.window).min() else { return check.no_trials() };
    let batches = |trial: &Counting<'_>| {
        let series = rates::window_series(trial, None, &Op::IO, |cell| cell.ops);
        batch_means::batches(&series, 1).map_or(0, |found| found.means.len())
    };
    let fewest = case.counting.iter().map(batches).min().unwrap_or(0);
    let measured = say!(
        |l| "{w}, {fewest} independent batches",
        "{w}, независимых отрезков: {fewest}",
        w = format::near_limit::duration(shortest, window, l)
    );
    if shortest >= window && fewest >= need {
        return check.pass(measured);
    }
    check.measured(measured).only_screening(say!(
        "Enough for screening. A published number needs a longer window: slow changes of the storage do not show in this one.",
        "Для предварительной оценки достаточно. Для публикации нужно окно длиннее: медленных изменений хранилища в таком не видно."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{by_fio, run};
    use crate::trials::by_case;

    fn shaped(window: u64, shape: fn(u32) -> f64) -> [CheckResult; 2] {
        let record = run().trial(0).window(Nanos::secs(window)).shape(shape).done().record();
        let case = &by_case(&record)[0];
        [warm_up(case), long_enough(case)]
    }

    /// Ripple of 1 % that no batch length hides.
    fn ripple(interval: u32) -> f64 {
        1.0 + 0.01 * f64::from(interval * 7 % 11) / 11.0
    }

    #[test]
    fn h22_a_level_load_has_settled_inside_the_ramp() {
        let [found, _] = shaped(10, ripple);
        assert_eq!(found.status, CheckStatus::Pass, "{found:?}");
    }

    #[test]
    fn h22_a_load_that_settles_in_the_window_does_not_hold_and_does_not_alarm() {
        let [found, _] = shaped(10, |i| ripple(i) + if i < 20 { 0.5 } else { 0.0 });
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::ScreeningOnly, "2.5 s"));
    }

    #[test]
    fn h22_a_load_that_never_settles_is_told() {
        let [found, _] = shaped(10, |i| 0.5 + 0.005 * f64::from(i));
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::ScreeningOnly, "did not settle"));
    }

    #[test]
    fn h22_takes_seconds_for_long_trials_and_nothing_for_very_short_ones() {
        let [found, _] = shaped(120, |i| if i < 100 { 1.5 } else { 1.0 });
        assert_eq!(found.measured.en, "15 s", "batches of five seconds");
        assert_eq!(shaped(1, ripple)[0].status, CheckStatus::NotMeasurable);
    }

    #[test]
    fn h22_counts_the_ramp_that_another_engine_does_not_tell_of() {
        let of = |shape: fn(u32) -> f64| {
            let trial = run().trial(0).window(Nanos::secs(10)).shape(shape).change(by_fio(Nanos(0)));
            warm_up(&by_case(&trial.done().record())[0])
        };
        assert_eq!(of(ripple).status, CheckStatus::Pass);
        assert_eq!(of(|i| ripple(i) + if i < 20 { 0.5 } else { 0.0 }).measured.en, "2.5 s");
    }

    #[test]
    fn h23_a_minute_of_independent_batches_passes() {
        let [_, found] = shaped(60, ripple);
        assert_eq!(found.status, CheckStatus::Pass, "{found:?}");
    }

    #[test]
    fn h23_a_window_in_which_nothing_was_completed_is_no_measurement() {
        let idle = |outcome: &mut stend_record::TrialOutcome, slices: &mut Vec<stend_record::Slice>| {
            outcome.jobs.iter_mut().for_each(|job| job.done = Default::default());
            slices.clear();
        };
        let record = run().trial(0).window(Nanos::secs(60)).change(idle).done().trial(0).block(1).done().record();
        let found = long_enough(&by_case(&record)[0]);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Fail, "no I/O was completed"));
    }

    #[test]
    fn h23_a_short_window_and_a_drifting_one_do_not_hold_and_do_not_alarm() {
        assert_eq!(shaped(59, ripple)[1].status, CheckStatus::ScreeningOnly);
        assert_eq!(shaped(60, |i| 0.5 + 0.001 * f64::from(i))[1].status, CheckStatus::ScreeningOnly);
    }
}
