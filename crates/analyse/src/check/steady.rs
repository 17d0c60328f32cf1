//! H21: was the load in steady state while it was measured?
//!
//! As H22 and H23 only publishing needs it: what is missing appears once, in the banner of a screening run.

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::limits::{STEADY_PART, STEADY_RANGE, STEADY_ROUNDS, STEADY_SLOPE};
use crate::phrase::headline;
use crate::pts::Window;
use crate::series;
use crate::steady::judged;
use crate::trials::CaseTrials;
use stend_base::{Say, format, say};
use stend_record::RunRecord;
use stend_spec::workload::Op;

/// H21: the steady-state rule holds over the last five rounds before the trials, or without rounds over what was measured, in
/// five equal parts.
pub fn steady(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H21,
        limit: say!(
            |l| "range ≤ {r}, slope ≤ {s}",
            "размах ≤ {r}, наклон ≤ {s}",
            r = format::percent(STEADY_RANGE, l),
            s = format::percent(STEADY_SLOPE, l)
        ),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    if let Some(window) = judged(run, case.case, headline(case.asked)) {
        return of_rounds(check, window);
    }
    let Some(window) = parts(case).and_then(|parts| Window::last(&parts)) else {
        return check.not_measurable(say!(
            "the trials together are too short to be cut into five parts",
            "испытания вместе слишком коротки, чтобы делить их на пять частей"
        ));
    };
    if window.is_steady() {
        return check.pass(measured(&window));
    }
    check.measured(measured(&window)).only_screening(say!(
        "The rate was still changing during the measurement. For screening this is good enough; a published number needs a settled load.",
        "За время измерения скорость ещё менялась. Предварительная оценка показывает её как есть; для публикации нагрузка должна установиться."
    ))
}

/// Rounds were asked for: a case that was measured all the same has to carry that as its label.
fn of_rounds(check: Check, window: Option<Window>) -> CheckResult {
    match window {
        Some(window) if window.is_steady() => check.pass(measured(&window)),
        found => check.measured(found.map_or_else(|| say!(
                "fewer than 5 whole rounds",
                "меньше 5 целых раундов"
            ), |window| measured(&window))).warn(say!(
            "The rounds before the trials ended without a steady state: the trials measured a transient. Publish it only with this label and the curve.",
            "Раунды перед испытаниями кончились, а режим не установился: измерен переходный процесс, и публиковать это можно лишь с такой пометкой и кривой."
        )),
    }
}

/// Mean rates of five equal parts of all windows, one behind the other in the order of time. `None` if a part is too short.
fn parts(case: &CaseTrials<'_>) -> Option<Vec<f64>> {
    let windows: Vec<_> = case.counting.iter().map(|trial| series::window(trial.record)).collect();
    let length = windows.iter().map(|window| window.len()).sum::<usize>() / STEADY_ROUNDS;
    if length < STEADY_PART {
        return None;
    }
    // Added up where something completed: a window may be far longer than what was seen of it.
    let (mut sums, mut before) = ([0.0; STEADY_ROUNDS], 0);
    for (trial, window) in case.counting.iter().zip(windows) {
        let cells = series::cells(&trial.record.slices, |slice| Op::IO.contains(&slice.op));
        for (at, cell) in cells.iter().enumerate().take(window.end).skip(window.start) {
            if let Some(sum) = sums.get_mut((before + at - window.start) / length) {
                *sum += cell.ops;
            }
        }
        before += window.len();
    }
    Some(sums.map(|sum| sum / (length as f64 * series::INTERVAL.as_secs())).to_vec())
}

/// Range and slope in words.
fn measured(window: &Window) -> Say {
    say!(
        |l| "range {r}, slope {s}",
        "размах {r}, наклон {s}",
        r = format::near_limit::percent(window.range, STEADY_RANGE, l),
        s = format::near_limit::percent(window.excursion(), STEADY_SLOPE, l)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{RunBuilder, run};
    use crate::fixture_rounds::settled;
    use crate::trials::by_case;
    use stend_base::Nanos;

    fn check(run: RunBuilder) -> CheckResult {
        let record = run.record();
        steady(&record, &by_case(&record)[0])
    }

    fn of(rates: &[f64]) -> CheckResult {
        check(rates.iter().fold(run(), |run, rate| run.trial(0).iops(*rate).done()))
    }

    #[test]
    fn h21_trials_around_one_rate_are_steady() {
        let found = of(&[10_000.0, 10_400.0, 9_800.0, 10_200.0, 10_100.0]);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "range 5.9 %, slope 0.0 %"));
    }

    #[test]
    fn h21_a_rate_that_sinks_from_trial_to_trial_does_not_hold_and_does_not_alarm() {
        let found = of(&[9_500.0, 9_800.0, 10_000.0, 10_300.0, 10_600.0]);
        let told = "range 11.0 %, slope 10.8 %";
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::ScreeningOnly, told));
    }

    #[test]
    fn h21_takes_the_parts_of_a_single_long_trial_too() {
        let one = |shape| check(run().trial(0).window(Nanos::secs(20)).shape(shape).done());
        assert_eq!(one(|_| 1.0).status, CheckStatus::Pass);
        assert_eq!(one(|i| 2.0 - 0.005 * f64::from(i)).status, CheckStatus::ScreeningOnly);
    }

    #[test]
    fn h21_goes_by_the_rounds_where_there_are_any_and_warns_where_they_were_not_enough() {
        let of = |rounds: &[f64], trials: &[f64]| {
            let record = settled(25, rounds, trials);
            steady(&record, &by_case(&record)[0])
        };
        let drifting = [9_500.0, 9_800.0, 10_000.0, 10_300.0, 10_600.0];
        assert_eq!(of(&[10_000.0; 5], &drifting).status, CheckStatus::Pass);
        let unsteady = of(&drifting, &[10_000.0; 6]);
        assert_eq!((unsteady.status, unsteady.measured.en.as_str()), (CheckStatus::Warn, "range 11.0 %, slope 10.8 %"));
        assert_eq!(of(&[10_000.0; 4], &[10_000.0; 6]).measured.en, "fewer than 5 whole rounds");
    }

    #[test]
    fn h21_says_nothing_of_what_is_too_short() {
        assert_eq!(check(run().trial(0).done()).status, CheckStatus::NotMeasurable);
        assert_eq!(check(run().trial(0).unfinished()).status, CheckStatus::NotMeasurable);
    }
}
