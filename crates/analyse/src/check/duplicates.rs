//! H05: are there trials whose numbers are those of another trial? Copied data, or one trial counted twice.

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::limits::COINCIDENCES_EXPECTED;
use crate::trials::{CaseTrials, Counting};
use std::collections::HashMap;
use stend_base::{Say, format, say};
use stend_spec::workload::Op;
use stend_stats::coincidence;

/// Three values of a trial that agree with those of another only if both are the same measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Row {
    /// Reads and writes.
    ops: u64,
    /// Sum of their latencies, ns.
    latency_sum_ns: u128,
    /// Largest of them, ns.
    latency_max_ns: u64,
}

/// What one case shares with others.
#[derive(Debug, Clone, Copy, Default)]
struct Shared {
    /// Trials that equal another in all three values, and its number.
    rows: (u32, Option<u32>),
    /// Trials whose sum of latencies is that of another one.
    sums: (u32, Option<u32>),
}

/// H05 for every case of a run, in the order of `trials`.
pub fn duplicates(trials: &[CaseTrials<'_>]) -> Vec<CheckResult> {
    let rows = || trials.iter().flat_map(|case| case.counting.iter().map(|trial| (trial.record.trial, row(trial))));
    let (mut first_row, mut first_sum) = (HashMap::new(), HashMap::new());
    let count = rows().count();
    for (number, row) in rows() {
        first_row.entry(row).and_modify(|(n, _)| *n += 1u32).or_insert((1, number));
        first_sum.entry(row.latency_sum_ns).and_modify(|(n, _)| *n += 1u32).or_insert((1, number));
    }
    let of = |case: &CaseTrials<'_>| {
        let mut shared = Shared::default();
        for trial in &case.counting {
            let row = row(trial);
            let telling = coincidence::expected(count, coincidence::digits(row.latency_sum_ns)) < COINCIDENCES_EXPECTED;
            if !telling {
                continue;
            }
            note(&mut shared.rows, first_row.get(&row));
            note(&mut shared.sums, first_sum.get(&row.latency_sum_ns));
        }
        result(case, shared)
    };
    trials.iter().map(of).collect()
}

fn note(shared: &mut (u32, Option<u32>), found: Option<&(u32, u32)>) {
    if let Some(&(_, first)) = found.filter(|(n, _)| *n > 1) {
        *shared = (shared.0 + 1, shared.1.or(Some(first)));
    }
}

fn row(trial: &Counting<'_>) -> Row {
    let io = Op::IO;
    let histograms = || trial.outcome.jobs.iter().flat_map(|job| io.map(|op| &job.latency[op.index()]));
    Row {
        ops: trial.done(None, &io).0,
        latency_sum_ns: histograms().fold(0, |sum: u128, h| sum.saturating_add(h.sum_ns)),
        latency_max_ns: histograms().map(|h| h.max_ns).max().unwrap_or(0),
    }
}

fn result(case: &CaseTrials<'_>, shared: Shared) -> CheckResult {
    let check = Check { id: CheckId::H05, limit: stend_base::Say::same("0") };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let text = |(n, first): (u32, Option<u32>)| {
        Say::both(|l| {
            let n = format::count(u64::from(n));
            match (l, first) {
                (_, None) => n,
                (stend_base::Lang::En, Some(first)) => format!("{n} equal to another, first to trial {first}"),
                (stend_base::Lang::Ru, Some(first)) => format!("{n} равны другим, первое — испытанию {first}"),
            }
        })
    };
    if shared.rows.0 > 0 {
        return check.measured(text(shared.rows)).fail(say!(
            "Number of I/Os, sum and maximum of latencies are those of another trial to the nanosecond: the data were copied or counted twice.",
            "Число операций, сумма и максимум задержек совпали с другим испытанием до наносекунды: данные скопированы или учтены дважды."
        ));
    }
    if shared.sums.0 > 0 {
        return check.measured(text(shared.sums)).warn(say!(
            "The sum of latencies is that of another trial to the nanosecond, which chance does not explain. Check where the data came from.",
            "Сумма задержек совпала с другим испытанием до наносекунды, случайностью это не объяснить. Проверьте происхождение данных."
        ));
    }
    check.pass(text(shared.rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::findings::CheckStatus;
    use crate::fixture::{case, run_of};
    use crate::trials::by_case;
    use stend_record::RunRecord;
    use stend_spec::workload::Sync;

    fn two_cases() -> RunRecord {
        let cases = vec![case("a", 100, 32, Sync::None), case("b", 100, 8, Sync::None)];
        run_of(cases).six_blocks(&[9_000.0, 20_000.0]).record()
    }

    fn statuses(record: &RunRecord) -> Vec<CheckStatus> {
        duplicates(&by_case(record)).into_iter().map(|check| check.status).collect()
    }

    #[test]
    fn trials_of_their_own_pass_even_at_one_rate() {
        assert_eq!(statuses(&two_cases()), [CheckStatus::Pass; 2]);
        let mut limited = two_cases();
        limited.trials.iter_mut().for_each(|trial| {
            let job = &mut trial.outcome.as_mut().unwrap().jobs[0];
            job.done[0] = (2000, 2000 * 4096);
        });
        assert_eq!(statuses(&limited), [CheckStatus::Pass; 2]);
    }

    #[test]
    fn a_trial_that_was_copied_fails_in_both_cases() {
        let mut record = two_cases();
        record.trials[5].outcome = record.trials[2].outcome.clone();
        assert_eq!(statuses(&record), [CheckStatus::Fail; 2]);
        assert!(duplicates(&by_case(&record))[1].measured.en.ends_with("first to trial 2"));
    }

    #[test]
    fn a_sum_alone_is_a_warning() {
        let mut record = two_cases();
        let sum = |record: &mut RunRecord, at: usize| {
            let outcome: &mut stend_record::TrialOutcome = record.trials[at].outcome.as_mut().unwrap();
            outcome.jobs[0].latency[0].sum_ns = 123_456_789_012;
        };
        sum(&mut record, 0);
        sum(&mut record, 4);
        assert_eq!(statuses(&record), [CheckStatus::Warn, CheckStatus::Pass]);
    }

    #[test]
    fn it_stands_among_the_checks_of_its_case_by_number() {
        let found = analyse(&two_cases()).unwrap();
        let ids: Vec<CheckId> = found.cases[0].checks.iter().map(|check| check.id).collect();
        assert!(ids.contains(&CheckId::H05) && ids.is_sorted(), "{ids:?}");
    }
}
