//! H16: do jobs work on the same bytes? Several sequential readers of one range are served once from the
//! medium and many times from a cache.

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::limits::AREAS_UNIQUE;
use crate::trials::{CaseTrials, Counting};
use stend_base::{format, say};

/// H16: hardly any byte belongs to more than one job.
pub fn overlap(case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H16,
        limit: say!(|l| "unique ≥ {s}", "уникальных ≥ {s}", s = format::percent(AREAS_UNIQUE, l)),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let Some(shares) = case.counting.iter().map(unique).collect::<Option<Vec<f64>>>() else {
        return check.not_measurable(say!(
            "the engine did not record where its jobs worked",
            "генератор нагрузки не записал, где работали его задания"
        ));
    };
    let share = shares.into_iter().fold(1.0, f64::min);
    let measured = say!(
        |l| "{s} of the bytes are of one job",
        "{s} байт принадлежат одному заданию",
        s = format::near_limit::percent(share, AREAS_UNIQUE, l)
    );
    if share >= AREAS_UNIQUE {
        return check.pass(measured);
    }
    check.measured(measured).fail(say!(
        "Jobs read or write the same bytes: caches answer all but the first job, and the sum exceeds what the storage can do. Give each job its own range.",
        "Задания читают или пишут одни и те же байты: всем, кроме первого, отвечает кэш, и сумма больше возможностей хранилища. Дайте каждому заданию свою область."
    ))
}

/// Length of the union of all areas over the sum of their lengths; `None` if they were not recorded. Jobs that
/// take turns in one area, each block once in a pass, count as one.
fn unique(trial: &Counting<'_>) -> Option<f64> {
    let takes_turns =
        |stream: u16| trial.record.asked.streams.get(stream as usize).is_some_and(|s| s.pattern.is_shared());
    let jobs = trial.outcome.engine.jobs.iter().filter(|job| job.job == 0 || !takes_turns(job.stream));
    let areas = jobs.map(|job| job.area);
    let mut areas: Vec<(u64, u64)> =
        areas.map(|area| (area.start.0, area.start.0.saturating_add(area.len.0))).collect();
    areas.sort_unstable();
    let (mut union, mut total, mut end) = (0.0, 0.0, 0u64);
    for (from, to) in areas {
        total += to.saturating_sub(from) as f64;
        union += to.saturating_sub(from.max(end)) as f64;
        end = end.max(to);
    }
    (total > 0.0).then(|| union / total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::run;
    use crate::trials::by_case;
    use stend_record::observed::JobFacts;
    use stend_spec::workload::Pattern;

    /// Check of a trial with jobs on these areas, in MiB.
    fn check(areas: &'static [(u64, u64)]) -> CheckResult {
        let change = move |o: &mut stend_record::TrialOutcome, _: &mut Vec<_>| {
            let job = o.engine.jobs[0];
            o.engine.jobs.clear();
            for &(start, len) in areas {
                let mut job = job;
                job.area.start.0 = start << 20;
                job.area.len.0 = len << 20;
                o.engine.jobs.push(job);
            }
        };
        let record = run().trial(0).done().trial(0).change(change).done().record();
        overlap(&by_case(&record)[0])
    }

    #[test]
    fn areas_side_by_side_pass() {
        assert_eq!(check(&[(0, 10), (10, 10), (30, 5)]).status, CheckStatus::Pass);
        assert_eq!(check(&[(0, 10)]).measured.en, "100.0 % of the bytes are of one job");
    }

    #[test]
    fn four_jobs_on_one_range_fail() {
        let found = check(&[(0, 10), (0, 10), (0, 10), (0, 10)]);
        assert_eq!(
            (found.status, found.measured.en.as_str()),
            (CheckStatus::Fail, "25.0 % of the bytes are of one job")
        );
    }

    #[test]
    fn an_area_inside_another_counts_once() {
        assert_eq!(check(&[(0, 100), (10, 5), (90, 20)]).status, CheckStatus::Fail);
        assert_eq!(check(&[(0, 100), (95, 10)]).status, CheckStatus::Pass);
    }

    #[test]
    fn jobs_that_take_turns_in_one_area_do_not_overlap_and_another_stream_there_does() {
        let check = |pattern: Pattern, others: usize| {
            let record = run().trial(0).change(move |o, _| {
                let job = o.engine.jobs[0];
                o.engine.jobs = (0..3).map(|number| JobFacts { job: number, ..job }).collect();
                o.engine.jobs.extend((0..others).map(|_| JobFacts { stream: 1, ..job }));
            });
            let mut record = record.done().record();
            record.trials[0].asked.streams[0].pattern = pattern;
            overlap(&by_case(&record)[0]).status
        };
        assert_eq!(check(Pattern::SharedSequential, 0), CheckStatus::Pass);
        assert_eq!(check(Pattern::SharedSequential, 1), CheckStatus::Fail);
        assert_eq!(check(Pattern::Sequential, 0), CheckStatus::Fail);
    }

    #[test]
    fn without_areas_it_is_not_measurable() {
        assert_eq!(check(&[]).status, CheckStatus::NotMeasurable);
    }
}
