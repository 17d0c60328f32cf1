//! What the numbers of a run may be used for.
//!
//! Publishable takes every check that applies to hold, preconditioning (H20), steady state (H21), warm-up (H22) and length (H23)
//! among them, at least six trials, and intervals that are as narrow as they should be (H24). What
//! is missing is listed here, once for all cases.

use crate::check::is_unmet;
use crate::findings::{CaseFinding, CheckId, CheckStatus, Grade, GradeLevel};
use crate::limits::{TRIALS_PUBLISHABLE, WINDOW_PUBLISHABLE};
use crate::trials::CaseTrials;
use stend_base::{Lang, Nanos, Say, format, say, say_in};
use stend_plan::Plan;

/// (cases that lack something, all cases).
type Lack = (usize, usize);

/// What the cases of a run lack.
struct Missing {
    shortest: Option<Nanos>,
    fewest: Option<u32>,
    preconditioned: Lack,
    steady: Lack,
    warm_up: Lack,
    length: Lack,
    precise: Lack,
    failed: Lack,
}

/// The grade, with what is missing for more.
///
/// Rates that a search tried are looked at as often as its own rule says, so their trials are not counted.
pub fn grade(plan: &Plan, trials: &[CaseTrials<'_>], cases: &[CaseFinding]) -> Grade {
    let alone = || cases.iter().filter(|case| plan.rung(case.case).is_none());
    let lacks = |case: &CaseFinding, id: CheckId| case.checks.iter().any(|check| check.id == id && is_unmet(check));
    let unmet = |id: CheckId| (cases.iter().filter(|case| lacks(case, id)).count(), cases.len());
    let fails = |case: &&CaseFinding| case.checks.iter().any(|check| check.status == CheckStatus::Fail);
    let missing = Missing {
        shortest: trials.iter().map(|case| case.asked.window).min(),
        fewest: alone().map(|case| case.trials).min(),
        preconditioned: unmet(CheckId::H20),
        steady: unmet(CheckId::H21),
        warm_up: unmet(CheckId::H22),
        length: unmet(CheckId::H23),
        precise: (alone().filter(|case| lacks(case, CheckId::H24)).count(), cases.len()),
        failed: (cases.iter().filter(fails).count(), cases.len()),
    };
    let level = match missing.list(Lang::En).is_empty() && !cases.is_empty() {
        true => GradeLevel::Publishable,
        false => GradeLevel::Screening,
    };
    Grade { level, banner: Say::both(|l| banner(level, &missing.list(l).join("; "), l)) }
}

/// For numbers that other programs print: Stend saw none of their I/O.
pub fn of_clients() -> Grade {
    let banner = say!(
        "Screening: the numbers are those that the clients print, window by window, and no check of single I/Os applies to them.",
        "Предварительная оценка: это числа, напечатанные клиентами по окнам, и проверки отдельных операций к ним не относятся."
    );
    Grade { level: GradeLevel::Screening, banner }
}

/// For power cuts: findings about the data need no rate.
pub fn of_cuts() -> Grade {
    let banner = say!(
        "Screening: no rate was measured, because every trial ended with a power cut; the statements about the data do not depend on a rate.",
        "Предварительная оценка: скорость не измерялась, так как каждое испытание кончилось отключением питания; сказанное о данных от неё не зависит."
    );
    Grade { level: GradeLevel::Screening, banner }
}

fn banner(level: GradeLevel, missing: &str, l: Lang) -> String {
    match level {
        GradeLevel::Publishable => say_in!(
            l,
            "Publishable: every applicable check holds, and the intervals are narrow enough.",
            "Годится для публикации: все относящиеся проверки пройдены, и интервалы достаточно узки."
        ),
        GradeLevel::Screening if missing.is_empty() => say_in!(
            l,
            "Screening: there is no result that could be published.",
            "Предварительная оценка: результатов для публикации нет."
        ),
        GradeLevel::Screening => say_in!(
            l,
            "Screening: good for deciding what to measure next, not for publishing. Missing: {missing}.",
            "Предварительная оценка: помогает решить, что мерить дальше, но не для публикации. Не хватает: {missing}."
        ),
    }
}

impl Missing {
    /// What is missing, in words.
    fn list(&self, l: Lang) -> Vec<String> {
        let lack = |(lack, all): Lack, en: &'static str, ru: &'static str| {
            let counted = say_in!(l, "{en} ({lack} of {all} cases)", "{ru} (случаев: {lack} из {all})");
            (lack > 0).then_some(counted)
        };
        // Few trials make wide intervals; that reason is shown already.
        let few = self.fewest.filter(|&n| n < TRIALS_PUBLISHABLE);
        let wide = if few.is_some() { (0, 0) } else { self.precise };
        [
            lack(self.failed, "checks that hold", "пройденных проверок"),
            lack(self.preconditioned, "preconditioning", "подготовки накопителя"),
            lack(self.steady, "a steady state", "установившегося режима"),
            self.length(l, lack),
            lack(self.warm_up, "a ramp that covers the warm-up", "разгона, в который укладывается прогрев"),
            few.map(|n| {
                say_in!(
                    l,
                    "{TRIALS_PUBLISHABLE} trials per case (here {n})",
                    "{TRIALS_PUBLISHABLE} испытаний на случай (здесь {n})"
                )
            }),
            lack(wide, "intervals as narrow as required", "интервалов нужной ширины"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn length(&self, l: Lang, lack: impl Fn(Lack, &'static str, &'static str) -> Option<String>) -> Option<String> {
        let Some(window) = self.shortest.filter(|&w| w < WINDOW_PUBLISHABLE) else {
            return lack(
                self.length,
                "trials that outlast their own fluctuations",
                "испытаний длиннее собственных колебаний",
            );
        };
        let (is, need) = (format::duration(window, l), WINDOW_PUBLISHABLE.as_secs());
        Some(say_in!(l, "trials of {need} s or more (here {is})", "испытаний не короче {need} с (здесь {is})"))
    }
}

#[cfg(test)]
mod tests {
    use crate::analyse;
    use crate::findings::{CheckId, CheckStatus, GradeLevel};
    use crate::fixture::{case, run, run_of};
    use stend_base::{MilliIops, Millionths, Nanos};
    use stend_spec::rate::Gaps;
    use stend_spec::search::Search;
    use stend_spec::suite::SuiteCase;
    use stend_spec::workload::Sync;

    #[test]
    fn the_best_short_run_is_screening_and_says_what_is_missing() {
        let grade = analyse(&run().six_blocks(&[10_000.0]).record()).unwrap().grade;
        assert_eq!(grade.level, GradeLevel::Screening);
        assert_eq!(
            grade.banner.en,
            "Screening: good for deciding what to measure next, not for publishing. Missing: trials of 60 s or more (here 2 s)."
        );
        assert!(grade.banner.ru.contains("(здесь 2 с)"));
    }

    #[test]
    fn long_steady_precise_trials_are_publishable_and_one_that_fails_a_check_is_not() {
        let ripple = |i: u32| 1.0 + 0.01 * f64::from(i * 7 % 11) / 11.0;
        let long = |at_drives: f64| {
            let trial = |run: crate::fixture::RunBuilder, block: u32| {
                let rate = 10_000.0 + 17.0 * f64::from(block);
                run.trial(0).block(block).iops(rate).window(Nanos::secs(60)).shape(ripple).at_drives(at_drives).done()
            };
            analyse(&(0..6).fold(run(), trial).record()).unwrap().grade
        };
        let grade = long(1.0);
        assert_eq!(grade.level, GradeLevel::Publishable, "{}", grade.banner.en);
        assert!(grade.banner.ru.starts_with("Годится для публикации"));
        let cached = long(0.2);
        assert!(cached.level == GradeLevel::Screening && cached.banner.en.contains("checks that hold (1 of 1 cases)"));
    }

    #[test]
    fn a_rate_that_sinks_over_the_run_and_wide_intervals_are_told() {
        let sinking = (0..6).fold(run(), |run, block| run.trial(0).iops(10_000.0 - 900.0 * f64::from(block)).done());
        let banner = analyse(&sinking.record()).unwrap().grade.banner;
        assert!(banner.en.contains("a steady state (1 of 1 cases)"), "{}", banner.en);
        assert!(banner.en.contains("intervals as narrow as required (1 of 1 cases)"), "{}", banner.en);
        assert!(banner.ru.contains("установившегося режима (случаев: 1 из 1)"), "{}", banner.ru);
    }

    #[test]
    fn a_run_without_a_case_is_not_publishable() {
        assert_eq!(analyse(&run().record()).unwrap().grade.level, GradeLevel::Screening);
    }

    #[test]
    fn a_short_ramp_is_told_once_and_no_case_is_marked_for_it() {
        let settling = |i| if i < 10 { 1.5 } else { 1.0 };
        let found = analyse(&run().trial(0).window(Nanos::secs(4)).shape(settling).done().record()).unwrap();
        assert!(found.grade.banner.en.contains("a ramp that covers the warm-up (1 of 1 cases)"), "{:?}", found.grade);
        let h22 = found.cases[0].checks.iter().find(|check| check.id == CheckId::H22).unwrap();
        assert_eq!(h22.status, CheckStatus::ScreeningOnly);
        assert!(!found.verdict.en.contains("warm-up"));
    }

    #[test]
    fn long_trials_that_drift_are_told() {
        let drift = |i| 0.5 + 0.001 * f64::from(i);
        let record = run().trial(0).window(Nanos::secs(60)).shape(drift).done().record();
        let banner = analyse(&record).unwrap().grade.banner;
        assert!(banner.en.contains("outlast their own fluctuations (1 of 1 cases)"), "{}", banner.en);
    }

    #[test]
    fn one_trial_is_named_as_missing_too() {
        let grade = analyse(&run().trial(0).done().record()).unwrap().grade;
        assert!(grade.banner.en.contains("6 trials per case (here 1)"));
    }

    #[test]
    fn rates_that_a_search_tried_once_are_not_missing_trials() {
        let mut searched = case("oltp", 100, 32, Sync::None);
        searched.streams[0].search = Some(Search {
            from: MilliIops::per_second(100),
            to: MilliIops::per_second(400),
            gaps: Gaps::Even,
            quantile: Millionths::percent(99),
            limit: Nanos::millis(50),
            precision: Millionths::percent(10),
            curve: Vec::new(),
        });
        let banner = |cases: Vec<SuiteCase>, trials: &[u32]| {
            let run = trials.iter().fold(run_of(cases), |run, case| run.trial(*case).done());
            analyse(&run.record()).unwrap().grade.banner.en
        };
        let alone = banner(vec![searched.clone()], &[0]);
        assert!(!alone.contains("trials per case"), "{alone}");
        let plain = case("rand-read", 100, 32, Sync::None);
        let beside = banner(vec![plain, searched], &[0, 0, 1]);
        assert!(beside.contains("6 trials per case (here 2)"), "{beside}");
    }
}
