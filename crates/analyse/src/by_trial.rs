//! The figures of single trials, for export and comparison. What a run says over its trials is in
//! `case`; nothing here may be averaged into that.

use crate::findings::OpFinding;
use crate::operations::{latencies, op_finding};
use crate::trials::{CaseTrials, Counting, by_case};
use stend_base::{Nanos, Result};
use stend_record::{RunRecord, TrialStatus};
use stend_spec::workload::Op;

/// One operation of one stream in one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialFigures {
    /// The one of several load hosts that it is of; `None`: of all, or of the only one.
    pub host: Option<String>,
    /// Ordinal of the trial in the run.
    pub trial: u32,
    /// Index of the block.
    pub block: u32,
    /// Index of the case in the plan.
    pub case: u32,
    /// Label of the case.
    pub label: String,
    /// How the trial ended.
    pub status: TrialStatus,
    /// Whether its whole window was measured, so that it counts for the case.
    pub counts: bool,
    /// Real length of its window.
    pub window: Nanos,
    /// I/Os completed in the window.
    pub ops: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// I/Os that failed, over the whole trial.
    pub errors: u64,
    /// Rates and latencies, over this trial alone.
    pub figures: OpFinding,
}

/// Every trial that has an end and a window, by stream and operation, in the order of the run; behind these rows those of each of several
/// load hosts in it, which count as the trial does.
///
/// Errors: as [`analyse`](crate::analyse).
pub fn by_trial(run: &RunRecord) -> Result<Vec<TrialFigures>> {
    let mut rows = of_all(run)?;
    for (host, name) in run.several_loads() {
        let Some(view) = run.of_host(host) else { continue };
        for row in of_all(&view)? {
            let counts = rows.iter().any(|all| all.host.is_none() && all.trial == row.trial && all.counts);
            rows.push(TrialFigures { host: Some(name.to_string()), counts, ..row });
        }
    }
    rows.sort_by_key(|row| row.trial);
    Ok(rows)
}

/// The rows of all hosts together.
fn of_all(run: &RunRecord) -> Result<Vec<TrialFigures>> {
    let plan = run.plan()?;
    let mut rows: Vec<TrialFigures> = Vec::new();
    for case in by_case(run) {
        let label = plan.cases.get(case.case as usize).map_or_else(|| format!("case {}", case.case), |c| c.label());
        for record in &case.all {
            let Some(outcome) = &record.outcome else { continue };
            let window = outcome.window_end.saturating_sub(outcome.window_start);
            if window.0 == 0 {
                continue;
            }
            let single = Counting { record, outcome, window };
            let counts = case.counting.iter().any(|c| std::ptr::eq(c.record, *record));
            rows.extend(figures_of(&case, single).into_iter().map(|figures| {
                let (ops, bytes) = single.done(Some(figures.stream), &[figures.op]);
                TrialFigures {
                    host: None,
                    trial: record.trial,
                    block: record.block,
                    case: record.case,
                    label: label.clone(),
                    status: outcome.status,
                    counts,
                    window,
                    ops,
                    bytes,
                    errors: errors(single, figures.stream, figures.op),
                    figures,
                }
            }));
        }
    }
    rows.sort_by_key(|row| row.trial);
    Ok(rows)
}

/// What is found about each operation of a case if this were its only trial.
pub(crate) fn figures_of(case: &CaseTrials<'_>, trial: Counting<'_>) -> Vec<OpFinding> {
    let (all, counting) = (vec![trial.record], vec![trial]);
    let alone = CaseTrials { case: case.case, asked: case.asked, all, counting, of_other_hosts: 0 };
    latencies(&alone).iter().map(|latency| op_finding(&alone, latency)).collect()
}

fn errors(trial: Counting<'_>, stream: u16, op: Op) -> u64 {
    let of_op = trial.outcome.errors.iter().filter(|e| (e.stream, e.op) == (stream, op));
    of_op.fold(0, |sum, e| sum.saturating_add(e.count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, run, run_of};
    use stend_record::IoErrors;
    use stend_spec::workload::Sync;

    #[test]
    fn each_trial_has_its_own_figures_in_the_order_of_the_run() {
        let cases = vec![case("a", 100, 1, Sync::None), case("b", 70, 1, Sync::None)];
        let record = run_of(cases).trial(1).iops(500.0).done().trial(0).iops(1000.0).done().record();
        let rows = by_trial(&record).unwrap();
        let seen: Vec<_> = rows.iter().map(|r| (r.trial, r.label.as_str(), r.figures.op, r.ops)).collect();
        assert_eq!(seen, [(0, "b", Op::Read, 700), (0, "b", Op::Write, 300), (1, "a", Op::Read, 2000)]);
        assert_eq!((rows[2].figures.rates.iops.value, rows[2].bytes), (1000.0, 2000 * 4096));
    }

    #[test]
    fn each_of_several_load_hosts_has_rows_which_add_up_to_those_of_all() {
        let one = |rate: f64| run().trial(0).iops(rate).done().trial(0).iops(rate).done().record();
        let record = crate::fixture::several(vec![("a".into(), one(700.0)), ("b".into(), one(300.0))]);
        let rows = by_trial(&record).unwrap();
        let seen: Vec<_> = rows.iter().map(|r| (r.trial, r.host.as_deref(), r.ops)).collect();
        let of = |trial| [(trial, None, 2000), (trial, Some("a"), 1400), (trial, Some("b"), 600)];
        assert_eq!(seen, [of(0), of(1)].concat());
        assert!(by_trial(&one(7.0)).unwrap().iter().all(|row| row.host.is_none()));
    }

    #[test]
    fn a_cut_trial_is_shown_and_does_not_count_and_one_without_an_end_is_not_there() {
        let error = IoErrors { stream: 0, op: Op::Read, errno: 5, count: 3, first_offset: Some(0) };
        let record = run()
            .trial(0)
            .status(TrialStatus::Failed)
            .change(move |o, _| o.errors.push(error))
            .done()
            .trial(0)
            .unfinished()
            .record();
        let rows = by_trial(&record).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].status, rows[0].counts, rows[0].errors), (TrialStatus::Failed, false, 3));
    }
}
