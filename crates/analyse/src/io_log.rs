//! What became of the logs of every I/O: counted, not judged. Must not look at the records themselves.

use crate::findings::IoLogFinding;
use crate::trials::{CaseTrials, Counting};
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Lang, Say, format, say_in};
use stend_record::TrialStatus;

/// The logs of the trials of a case, in the order in which they ran; empty if it keeps none.
pub(crate) fn of_case(case: &CaseTrials<'_>) -> Vec<IoLogFinding> {
    let logged = case.all.iter().filter(|trial| trial.asked.io_log.is_some());
    let finding = |trial: &&stend_record::TrialRecord| {
        let totals = trial.outcome.as_ref().and_then(|outcome| outcome.io_log).unwrap_or_default();
        // What was handed over and is not in the file was left out on its way there.
        let lost = totals.recorded.saturating_sub(trial.logged);
        let dropped = totals.dropped.saturating_add(lost);
        IoLogFinding { trial: trial.trial, recorded: trial.logged, dropped, beyond: totals.beyond }
    };
    logged.map(finding).collect()
}

/// (I/Os that a log accounts for, I/Os counted) inside the window of a trial that keeps one, if they differ. A thread that
/// hangs takes what it counted last along.
pub(crate) fn contradiction(trial: &Counting<'_>) -> Option<(u64, u64)> {
    let log = trial.outcome.io_log?;
    let counted = trial.sum(None, |job| job.done.iter().fold(0, |sum, done| done.0.saturating_add(sum)));
    let counted = counted.saturating_add(log.failed);
    let accounted = log.recorded.saturating_add(log.dropped).saturating_add(log.beyond);
    (accounted != counted && trial.outcome.status != TrialStatus::Stalled).then_some((accounted, counted))
}

/// Logs together in one sentence; `None` if there is none.
pub fn in_words(logs: &[IoLogFinding]) -> Option<Say> {
    let sum = |of: fn(&IoLogFinding) -> u64| logs.iter().map(of).fold(0, u64::saturating_add);
    let [recorded, dropped, beyond] = [sum(|log| log.recorded), sum(|log| log.dropped), sum(|log| log.beyond)];
    let ios = |count, l| match l {
        Lang::En => plural_en(count, "I/O", "I/Os"),
        Lang::Ru => plural_ru(count, "операция", "операции", "операций"),
    };
    let sentence = |l| {
        let mut text = format!("{} {}", format::count(recorded), ios(recorded, l));
        let (trials, noun) = (format::count(logs.len() as u64), plural_en(logs.len() as u64, "trial", "trials"));
        text += &say_in!(l, " of {trials} {noun} kept", ", испытаний: {trials}");
        if dropped > 0 {
            text += &say_in!(l, ", {n} dropped", ", пропущено: {n}", n = format::count(dropped));
        }
        if beyond > 0 {
            text += &say_in!(l, ", {n} beyond the size", ", сверх объёма: {n}", n = format::count(beyond));
        }
        text + l.pick("; `stend export RUN --ios` writes them.", "; выгружает `stend export ПРОГОН --ios`.")
    };
    (!logs.is_empty()).then(|| Say::both(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::run;
    use crate::trials::by_case;
    use stend_base::Bytes;
    use stend_record::{IoLogTotals, RunRecord};

    /// A trial that keeps a log of which the file has so many I/Os.
    fn logged(totals: IoLogTotals, kept: u64) -> RunRecord {
        let mut record = run().trial(0).change(move |o, _| o.io_log = Some(totals)).done().record();
        record.trials[0].asked.io_log = Some(Bytes::mib(1));
        record.trials[0].logged = kept;
        record
    }

    #[test]
    fn what_the_file_lacks_of_what_was_handed_over_counts_as_dropped() {
        let totals = IoLogTotals { recorded: 1_000, dropped: 5, beyond: 7, ..IoLogTotals::default() };
        let found = of_case(&by_case(&logged(totals, 996))[0]);
        assert_eq!(found, [IoLogFinding { trial: 0, recorded: 996, dropped: 9, beyond: 7 }]);
        let said = in_words(&found).unwrap();
        assert_eq!(
            said.en,
            "996 I/Os of 1 trial kept, 9 dropped, 7 beyond the size; `stend export RUN --ios` writes them."
        );
        assert!(said.ru.contains("996 операций") && said.ru.contains("пропущено: 9"), "{}", said.ru);
    }

    #[test]
    fn a_case_without_a_log_has_none_to_speak_of() {
        let record = run().trial(0).done().record();
        assert_eq!(of_case(&by_case(&record)[0]), []);
        assert_eq!(in_words(&[]), None);
    }

    #[test]
    fn a_log_that_does_not_account_for_every_io_contradicts_the_counters() {
        let of = |off: u64, status| {
            let plain = run().trial(0).done().record();
            let done: u64 = plain.trials[0].outcome.as_ref().unwrap().jobs[0].done.iter().map(|done| done.0).sum();
            let totals =
                IoLogTotals { recorded: done - 10, dropped: 4, beyond: 9 - off, failed: 3, ..IoLogTotals::default() };
            let mut record = logged(totals, done - 10);
            record.trials[0].outcome.as_mut().unwrap().status = status;
            contradiction(&by_case(&record)[0].counting[0]).map(|(log, all)| all - log)
        };
        assert_eq!(of(0, TrialStatus::Complete), None);
        assert_eq!(of(1, TrialStatus::Complete), Some(1));
        assert_eq!(of(1, TrialStatus::Stalled), None, "a thread hangs with a part of its log");
    }
}
