//! What the numbers of a run may be used for.
//!
//! Publishable needs checks that do not exist yet (preconditioning H20, steady state H21, length H23,
//! noise H24), so every run is screening, whatever else holds.

use crate::findings::{CaseFinding, Grade, GradeLevel};
use crate::limits::{TRIALS_PUBLISHABLE, WINDOW_PUBLISHABLE};
use crate::phrase::{both, pick};
use crate::trials::CaseTrials;
use stend_base::{Lang, Nanos, format};

/// The grade, with what is missing for more.
pub fn grade(trials: &[CaseTrials<'_>], cases: &[CaseFinding]) -> Grade {
    let shortest = trials.iter().map(|case| case.asked.window).min();
    let fewest = cases.iter().map(|case| case.trials).min();
    Grade { level: GradeLevel::Screening, banner: both(|l| banner(shortest, fewest, l)) }
}

fn banner(shortest: Option<Nanos>, fewest: Option<u32>, lang: Lang) -> String {
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
    }
    if let Some(n) = fewest.filter(|&n| n < TRIALS_PUBLISHABLE) {
        missing.push(match lang {
            Lang::En => format!("{TRIALS_PUBLISHABLE} trials per case (here {n})"),
            Lang::Ru => format!("{TRIALS_PUBLISHABLE} испытаний на случай (здесь {n})"),
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
    use crate::findings::GradeLevel;
    use crate::fixture::run;

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
    fn one_trial_is_named_as_missing_too() {
        let grade = analyse(&run().trial(0).done().record()).unwrap().grade;
        assert!(grade.banner.en.contains("6 trials per case (here 1)"));
    }
}
