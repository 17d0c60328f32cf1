//! H76: did every I/O succeed, in full, and end?

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::trials::CaseTrials;
use stend_base::{Lang, Say, format, say};

/// Failed I/Os of a case over all its trials, those left out included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Failures {
    errors: u64,
    short: u64,
    unfinished: u64,
    /// The kernel's number of the most frequent error.
    errno: Option<i32>,
}

/// H76: no I/O failed, was short, or was still in flight when waiting ended.
pub fn errors(case: &CaseTrials<'_>) -> CheckResult {
    let check = Check { id: CheckId::H76, limit: stend_base::Say::same("0") };
    let found = count(case);
    let measured = Say::both(|l| text(found, l));
    if found == Failures::default() {
        return match case.counting.is_empty() {
            true => check.no_trials(),
            false => check.pass(measured),
        };
    }
    let meaning = if found.errors + found.short == 0 {
        say!(
            "I/O did not end within the time allowed: the target hung. Latencies are lower bounds; look at the kernel log.",
            "Операции не завершились за отведённое время: объект завис. Задержки — оценки снизу; посмотрите журнал ядра."
        )
    } else {
        say!(
            "I/O failed. A rate with errors is meaningless; look at the kernel log and at the drive's own log.",
            "Операции завершались ошибкой. Скорость с ошибками ничего не значит; посмотрите журнал ядра и журнал самого накопителя."
        )
    };
    check.measured(measured).fail(meaning)
}

fn count(case: &CaseTrials<'_>) -> Failures {
    let mut found = Failures::default();
    let mut most = 0;
    for trial in &case.all {
        let in_slices = trial.slices.iter().fold(0u64, |sum, s| sum.saturating_add(s.errors));
        let mut in_classes = 0u64;
        for class in trial.known_outcomes().into_iter().flat_map(|o| &o.errors) {
            in_classes = in_classes.saturating_add(class.count);
            if class.errno == 0 {
                found.short = found.short.saturating_add(class.count);
                continue;
            }
            found.errors = found.errors.saturating_add(class.count);
            if class.count > most {
                (most, found.errno) = (class.count, Some(class.errno));
            }
        }
        // A trial that was cut off, or a host of it, has its errors in slices only.
        found.errors = found.errors.saturating_add(in_slices.saturating_sub(in_classes));
        let unfinished: u64 = trial.known_outcomes().iter().map(|o| o.censored.len() as u64).sum();
        found.unfinished = found.unfinished.saturating_add(unfinished);
    }
    found
}

fn text(found: Failures, lang: Lang) -> String {
    let Failures { errors, short, unfinished, errno } = found;
    let number = errno.map_or(String::new(), |e| format!(" (errno {e})"));
    let parts = match lang {
        Lang::En => {
            [(errors, format!(" failed{number}")), (short, " short".into()), (unfinished, " unfinished".into())]
        }
        Lang::Ru => [
            (errors, format!(" с ошибкой{number}")),
            (short, " неполных".into()),
            (unfinished, " незавершённых".into()),
        ],
    };
    let shown: Vec<String> =
        parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format::count(n) + &what).collect();
    if shown.is_empty() { "0".into() } else { shown.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::run;
    use crate::trials::by_case;
    use stend_base::Nanos;
    use stend_record::{Censored, IoErrors, TrialStatus};
    use stend_spec::workload::Op;

    fn class(errno: i32, count: u64) -> IoErrors {
        IoErrors { stream: 0, op: Op::Read, errno, count, first_offset: Some(0) }
    }

    #[test]
    fn no_error_passes() {
        let record = run().trial(0).done().record();
        assert_eq!(errors(&by_case(&record)[0]).status, CheckStatus::Pass);
    }

    #[test]
    fn one_error_fails_even_in_a_trial_that_is_left_out() {
        let record = run()
            .trial(0)
            .done()
            .trial(0)
            .status(TrialStatus::Failed)
            .change(|o, slices| {
                o.errors = vec![class(5, 100), class(0, 2)];
                slices[0].errors = 102;
            })
            .done()
            .record();
        let found = errors(&by_case(&record)[0]);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Fail, "100 failed (errno 5), 2 short"));
    }

    #[test]
    fn errors_of_a_trial_that_was_cut_off_are_not_lost() {
        let record = run().trial(0).change(|_, slices| slices[3].errors = 7).unfinished().record();
        let found = errors(&by_case(&record)[0]);
        assert_eq!((found.status, found.measured.ru.as_str()), (CheckStatus::Fail, "7 с ошибкой"));
    }

    #[test]
    fn errors_on_a_host_are_not_lost_with_another_host_of_the_trial() {
        let change = |o: &mut stend_record::TrialOutcome, _: &mut Vec<_>| o.errors = vec![class(5, 100), class(0, 2)];
        let failed = run().trial(0).change(change).done().record();
        let lost = run().trial(0).unfinished().record();
        let record = crate::fixture::several(vec![("a".into(), failed), ("b".into(), lost)]);
        assert!(record.trials[0].outcome.is_none(), "it did not end on all");
        let found = errors(&by_case(&record)[0]);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Fail, "100 failed (errno 5), 2 short"));
    }

    #[test]
    fn io_that_never_ended_fails() {
        let censored = Censored { stream: 0, op: Op::Read, age: Nanos::secs(30), in_flight: Nanos::secs(30) };
        let record =
            run().trial(0).status(TrialStatus::Stalled).change(move |o, _| o.censored.push(censored)).done().record();
        let found = errors(&by_case(&record)[0]);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Fail, "1 unfinished"));
        assert!(found.meaning.en.contains("hung"));
    }

    #[test]
    fn a_case_that_never_ran_through_says_nothing_about_errors() {
        let record = run().trial(0).unfinished().record();
        assert_eq!(errors(&by_case(&record)[0]).status, CheckStatus::NotMeasurable);
    }
}
