//! The targets of a case apart: so that one slow drive among six is seen. Only where every job works on one target alone.

use crate::findings::TargetFinding;
use crate::operations::{latencies, op_finding};
use crate::rates;
use crate::trials::CaseTrials;
use stend_record::{RunRecord, TrialOutcome, TrialRecord};
use stend_spec::workload::Op;

/// What each target did in a case, in the order of the targets; empty if there is one, or if jobs worked on several.
///
/// I/O that ended after the window is known for all targets together only, and is not in these latencies.
pub fn findings(run: &RunRecord, case: &CaseTrials<'_>) -> Vec<TargetFinding> {
    let targets = run.load().targets.len() as u64;
    if targets < 2 || u64::from(case.asked.parts) != targets || case.counting.is_empty() {
        return Vec::new();
    }
    let share = case.asked.region.len.0 / targets;
    let found = (0u64..).zip(&run.load().targets).map(|(index, target)| {
        let own = index * share..(index + 1) * share;
        let records: Option<Vec<TrialRecord>> =
            case.counting.iter().map(|trial| of_one(trial.record, &own, share)).collect();
        Some((target, records?))
    });
    let Some(found) = found.collect::<Option<Vec<_>>>() else { return Vec::new() };
    let finding = |(target, records): &(&stend_record::TargetFacts, Vec<TrialRecord>)| {
        let alone = CaseTrials::of(case.case, case.asked, records);
        TargetFinding {
            target: target.named.clone(),
            total: rates::rates(&alone, None, &Op::IO),
            ops: latencies(&alone).iter().map(|latency| op_finding(&alone, latency)).collect(),
        }
    };
    found.iter().map(finding).collect()
}

/// The trial as far as the jobs in a range of bytes had it; `None` if one works there and elsewhere, too, or if it is not
/// known where a job worked.
fn of_one(trial: &TrialRecord, own: &std::ops::Range<u64>, share: u64) -> Option<TrialRecord> {
    let outcome = trial.outcome.as_ref()?;
    let mut jobs = Vec::new();
    for totals in &outcome.jobs {
        let facts =
            outcome.engine.jobs.iter().find(|facts| (facts.stream, facts.job) == (totals.stream, totals.job))?;
        let (start, end) = (facts.area.start.0, facts.area.end());
        if start.checked_div(share)? != end.saturating_sub(1).checked_div(share)? {
            return None;
        }
        if own.contains(&start) {
            jobs.push(totals.clone());
        }
    }
    let (drained, censored, open) = (Vec::new(), Vec::new(), Vec::new());
    let outcome = TrialOutcome { jobs, drained, censored, open, ..outcome.clone() };
    Some(TrialRecord { slices: Vec::new(), outcome: Some(outcome), ..trial.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, run_of};
    use crate::trials::by_case;
    use stend_base::{Bytes, Nanos};
    use stend_record::observed::JobFacts;
    use stend_spec::suite::JobsOf;
    use stend_spec::workload::{Region, Sync};

    /// Two trials on two targets, a job each; the second job did `share` of the I/Os of the first.
    fn record(share: u64, area_of_second: u64) -> RunRecord {
        let mut each = case("each", 100, 4, Sync::None);
        each.streams[0].jobs_of = JobsOf::Target;
        let mut run = run_of(vec![each]);
        for _ in 0..2 {
            let change = move |outcome: &mut TrialOutcome, _: &mut Vec<_>| {
                let first = outcome.jobs[0].clone();
                let mut second = stend_record::JobTotals { job: 1, ..first };
                second.done[0].0 = second.done[0].0 * share / 100;
                outcome.jobs.push(second);
                let facts = |job: u32, start: u64| JobFacts {
                    stream: 0,
                    job,
                    in_flight: 4,
                    block_size: Bytes::kib(4),
                    area: Region { start: Bytes(start), len: Bytes::mib(8) },
                    dsync: false,
                    memory_node: None,
                };
                outcome.engine.jobs = vec![facts(0, 0), facts(1, area_of_second)];
            };
            run = run.trial(0).iops(1000.0).window(Nanos::secs(60)).change(change).done();
        }
        let mut record = run.record();
        let mut second = record.load().targets[0].clone();
        second.named = "/dev/slow".into();
        record.load_mut().targets.push(second);
        for trial in &mut record.trials {
            trial.asked.parts = 2;
            trial.asked.region.len = Bytes::mib(64);
        }
        record
    }

    fn found(record: &RunRecord) -> Vec<(String, f64)> {
        let all = findings(record, &by_case(record)[0]);
        all.into_iter().map(|one| (one.target, one.total.iops.value)).collect()
    }

    #[test]
    fn one_slow_target_shows() {
        let slow = record(25, Bytes::mib(32).0);
        let first = slow.load().targets[0].named.clone();
        assert_eq!(found(&slow), [(first, 1000.0), ("/dev/slow".to_string(), 250.0)]);
        let all = findings(&slow, &by_case(&slow)[0]);
        assert!(all.iter().all(|one| one.ops.len() == 1 && one.ops[0].count > 0 && one.total.iops.interval.is_some()));
    }

    #[test]
    fn a_single_trial_does_not_say_how_far_a_target_is_off() {
        let mut single = record(25, Bytes::mib(32).0);
        single.trials.truncate(1);
        for found in findings(&single, &by_case(&single)[0]) {
            assert_eq!((found.total.iops.interval, found.total.throughput.interval), (None, None));
            assert_eq!(found.ops[0].rates.iops.interval, None);
            assert!(found.ops[0].quantiles.iter().all(|quantile| quantile.interval.is_none()), "{:?}", found.ops);
        }
    }

    #[test]
    fn targets_are_not_told_apart_where_a_job_works_on_both_or_there_is_one() {
        assert_eq!(found(&record(25, Bytes::mib(28).0)), []);
        let mut unknown = record(25, Bytes::mib(32).0);
        unknown.trials[0].outcome.as_mut().unwrap().engine.jobs.clear();
        assert_eq!(found(&unknown), []);
        let mut one = record(25, Bytes::mib(32).0);
        one.load_mut().targets.pop();
        assert_eq!(found(&one), []);
    }
}
