//! What the numbers of a run may be used for.
//!
//! Publishable needs checks that do not exist yet (preconditioning H20, steady state H21), so every
//! run is screening, whatever else holds. Warm-up (H22), length (H23) and precision (H24) are told here, once for all cases.

use crate::findings::{CaseFinding, CheckStatus, Grade, GradeLevel};
use crate::limits::{TRIALS_PUBLISHABLE, WINDOW_PUBLISHABLE};
use crate::phrase::{both, pick};
use crate::trials::CaseTrials;
use stend_base::{Lang, Nanos, format};
use stend_spec::plan::Plan;

/// The grade, with what is missing for more.
///
/// Rates that a search tried are looked at as often as its own rule says, so they are not counted.
pub fn grade(plan: &Plan, trials: &[CaseTrials<'_>], cases: &[CaseFinding]) -> Grade {
    let shortest = trials.iter().map(|case| case.asked.window).min();
    let fewest = cases.iter().filter(|case| plan.rung(case.case).is_none()).map(|case| case.trials).min();
    let unmet = |id: &str| {
        let lacks = |case: &&CaseFinding| {
            case.checks.iter().any(|check| check.id == id && check.status == CheckStatus::NotApplicable)
        };
        (cases.iter().filter(lacks).count(), cases.len())
    };
    let unmet = ["H22", "H23", "H24"].map(unmet);
    Grade { level: GradeLevel::Screening, banner: both(|l| banner(shortest, fewest, unmet, l)) }
}

/// `unmet` is (cases that lack it, all cases) for warm-up, length and precision.
fn banner(shortest: Option<Nanos>, fewest: Option<u32>, unmet: [(usize, usize); 3], lang: Lang) -> String {
    let [warm_up, length, precision] = unmet;
    let mut missing = vec![
        pick(lang, "preconditioning", "подготовки накопителя до установившегося состояния").to_string(),
        pick(lang, "a test for steady state", "проверки установившегося режима").to_string(),
    ];
    if let Some(window) = shortest.filter(|&w| w < WINDOW_PUBLISHABLE) {
        let (is, need) = (format::duration(window, lang), WINDOW_PUBLISHABLE.as_secs());
        missing.push(match lang {
            Lang::En => format!("trials of {need} s or more (here {is})"),
            Lang::Ru => format!("испытаний не короче {need} с (здесь {is})"),
        });
    } else if let (lack @ 1.., all) = length {
        missing.push(match lang {
            Lang::En => format!("trials that outlast their own fluctuations ({lack} of {all} cases)"),
            Lang::Ru => format!("испытаний длиннее собственных колебаний (случаев: {lack} из {all})"),
        });
    }
    if let (lack @ 1.., all) = warm_up {
        missing.push(match lang {
            Lang::En => format!("a ramp that covers the warm-up ({lack} of {all} cases)"),
            Lang::Ru => format!("разгона, в который укладывается прогрев (случаев: {lack} из {all})"),
        });
    }
    if let Some(n) = fewest.filter(|&n| n < TRIALS_PUBLISHABLE) {
        missing.push(match lang {
            Lang::En => format!("{TRIALS_PUBLISHABLE} trials per case (here {n})"),
            Lang::Ru => format!("{TRIALS_PUBLISHABLE} испытаний на случай (здесь {n})"),
        });
    } else if let (lack @ 1.., all) = precision {
        missing.push(match lang {
            Lang::En => format!("intervals as narrow as asked ({lack} of {all} cases)"),
            Lang::Ru => format!("интервалов нужной ширины (случаев: {lack} из {all})"),
        });
    }
    let list = missing.join("; ");
    match lang {
        Lang::En => format!("Screening: good for deciding what to measure next, not for publishing. Missing: {list}."),
        Lang::Ru => {
            format!(
                "Предварительная оценка: помогает решить, что мерить дальше, но не для публикации. Не хватает: {list}."
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::analyse;
    use crate::findings::{CheckStatus, GradeLevel};
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
            "Screening: good for deciding what to measure next, not for publishing. Missing: preconditioning; \
             a test for steady state; trials of 60 s or more (here 2 s)."
        );
        assert!(grade.banner.ru.contains("(здесь 2 с)"));
    }

    #[test]
    fn a_short_ramp_is_told_once_and_no_case_is_marked_for_it() {
        let settling = |i| if i < 10 { 1.5 } else { 1.0 };
        let found = analyse(&run().trial(0).window(Nanos::secs(4)).shape(settling).done().record()).unwrap();
        assert!(found.grade.banner.en.contains("a ramp that covers the warm-up (1 of 1 cases)"), "{:?}", found.grade);
        let h22 = found.cases[0].checks.iter().find(|check| check.id == "H22").unwrap();
        assert_eq!(h22.status, CheckStatus::NotApplicable);
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
    fn trials_that_differ_too_much_are_told() {
        let wide = [9_000.0, 11_000.0, 9_500.0, 10_500.0, 9_000.0, 11_000.0];
        let record = wide.iter().fold(run(), |run, rate| run.trial(0).iops(*rate).done()).record();
        let banner = analyse(&record).unwrap().grade.banner;
        assert!(banner.en.contains("intervals as narrow as asked (1 of 1 cases)"), "{}", banner.en);
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
