//! How the I/Os of a case were given to the kernel: one by one, or several by one call. Pure.

use crate::trials::{CaseTrials, Counting};
use stend_base::histogram::Sparse;
use stend_base::{Lang, Nanos, Say, format, say, say_in};
use stend_record::observed::Submissions;

/// Over the trials that count; `None` where each I/O is a call that returns when it is complete, or another program made them.
pub(crate) fn of_case(case: &CaseTrials<'_>) -> Option<Submissions> {
    let jobs = case.counting.iter().flat_map(|trial| &trial.outcome.jobs);
    jobs.filter_map(|job| job.submissions).reduce(|mut all, more| {
        all.add(more);
        all
    })
}

/// Mean number of a trial's I/Os that waited for those before them to be submitted.
pub(crate) fn waiting(trial: &Counting<'_>) -> f64 {
    let loaded = trial.outcome.window_end.saturating_sub(trial.outcome.load_start).0;
    let waited = trial.outcome.jobs.iter().filter_map(|job| job.submissions).map(|done| done.waited_ns);
    waited.sum::<u64>() as f64 / loaded.max(1) as f64
}

/// Upper bound of how late a trial stamped its completions, as a share of the mean latency; `None` without an account of them.
pub(crate) fn late(trial: &Counting<'_>) -> Option<f64> {
    let jobs = || trial.outcome.jobs.iter().filter(|job| job.submissions.is_some());
    let done = jobs().filter_map(|job| job.submissions).reduce(|mut all, more| {
        all.add(more);
        all
    })?;
    let latencies = || jobs().flat_map(|job| &job.latency);
    let (sum, count) = (latencies().map(|of| of.sum_ns).sum::<u128>(), latencies().map(Sparse::count).sum::<u64>());
    // I/Os of the ramp are among those that were submitted.
    let late = done.late_ns as f64 / done.ios.max(1) as f64;
    (sum > 0).then(|| late * count as f64 / sum as f64)
}

/// Whether enough waited to report it.
pub(crate) fn is_told(waiting: f64) -> bool {
    waiting >= 0.05
}

/// What follows a number in flight where so many waited; empty where hardly any did.
pub(crate) fn beside(waiting: f64, l: Lang) -> String {
    if !is_told(waiting) {
        return String::new();
    }
    let n = format::number(waiting, l);
    say_in!(l, ", {n} waited to be submitted", ", {n} ждали подачи")
}

/// In a sentence or two; `None` where each I/O went by itself and waited for none, as at depth 1.
pub fn say(done: Submissions) -> Option<Say> {
    if done.together == 0 && done.waited_ns == 0 {
        return None;
    }
    let (calls, ios) = (done.calls.max(1) as f64, done.ios.max(1) as f64);
    let waited = Nanos((done.waited_ns as f64 / ios) as u64);
    let told = [Lang::En, Lang::Ru].map(|l| {
        [format::fixed(ios / calls, 2, l), format::percent(done.together as f64 / ios, l), format::latency(waited, l)]
    });
    let [[n, share, time], [n_ru, share_ru, time_ru]] = &told;
    let Say { mut en, mut ru } = say!(
        "Submitted: {n} I/Os per call, {share} of them together with others.",
        "Подача: {n_ru} операции за вызов, {share_ru} из них вместе с другими."
    );
    if waited > Nanos(0) {
        en += &format!(" Each waited {time} for its turn before its latency began.");
        ru += &format!(" До начала отсчёта задержки каждая ждала подачи {time_ru}.");
    }
    Some(Say { en, ru })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_is_told_per_call_and_by_its_share() {
        let told = say(Submissions { calls: 80, ios: 100, together: 25, waited_ns: 500_000, late_ns: 0 }).unwrap();
        assert_eq!(
            told.en,
            "Submitted: 1.25 I/Os per call, 25.0 % of them together with others. Each waited 5.00 µs for its turn before its latency began."
        );
        assert_eq!(
            told.ru,
            "Подача: 1,25 операции за вызов, 25,0 % из них вместе с другими. До начала отсчёта задержки каждая ждала подачи 5,00 мкс."
        );
        let batches = say(Submissions { calls: 25, ios: 100, together: 100, waited_ns: 0, late_ns: 0 }).unwrap();
        assert_eq!(batches.en, "Submitted: 4.00 I/Os per call, 100.0 % of them together with others.");
        assert_eq!(say(Submissions { calls: 100, ios: 100, together: 0, waited_ns: 0, late_ns: 0 }), None, "depth 1");
    }
}
