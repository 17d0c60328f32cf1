//! The trials of one case, and which of them count.

use std::collections::BTreeMap;
use stend_base::Nanos;
use stend_record::{HostId, JobTotals, RunRecord, TrialOutcome, TrialRecord, TrialStatus};
use stend_spec::workload::{OPS, Op, Trial};

use crate::limits::WINDOW_DEVIATION;

/// All trials of one case, in the order in which they ran.
#[derive(Debug, Clone)]
pub struct CaseTrials<'a> {
    /// Index in the plan.
    pub case: u32,
    /// What its first trial was asked; the others differ in the seed only.
    pub asked: &'a Trial,
    /// Every trial that began.
    pub all: Vec<&'a TrialRecord>,
    /// Those whose whole window was measured, all by the same hosts.
    pub counting: Vec<Counting<'a>>,
    /// Trials that would count if they were of the same hosts as the others: one was lost between.
    pub of_other_hosts: u32,
}

/// A trial whose whole window was measured.
#[derive(Debug, Clone, Copy)]
pub struct Counting<'a> {
    /// The trial.
    pub record: &'a TrialRecord,
    /// Its outcome.
    pub outcome: &'a TrialOutcome,
    /// Real length of its window, above 0.
    pub window: Nanos,
}

impl<'a> Counting<'a> {
    /// The trial, if it counts: it is complete, or it stalled after its whole window was measured.
    /// Leaving out a trial because its last I/Os hung would flatter the target.
    fn of(record: &'a TrialRecord) -> Option<Counting<'a>> {
        let outcome = record.outcome.as_ref()?;
        let window = outcome.window_end.saturating_sub(outcome.window_start);
        let least = record.asked.window.0 as f64 * (1.0 - WINDOW_DEVIATION);
        let whole = match outcome.status {
            TrialStatus::Complete | TrialStatus::Mismatch => true,
            TrialStatus::Stalled => window.0 as f64 >= least,
            TrialStatus::Interrupted | TrialStatus::Failed => false,
        };
        (whole && window.0 > 0).then_some(Counting { record, outcome, window })
    }

    /// Sum of a quantity over the jobs that are of `stream` (of all streams if `None`).
    pub fn sum(&self, stream: Option<u16>, of: impl Fn(&JobTotals) -> u64) -> u64 {
        let jobs = self.outcome.jobs.iter().filter(|job| stream.is_none_or(|s| s == job.stream));
        jobs.fold(0, |sum, job| sum.saturating_add(of(job)))
    }

    /// (I/Os, bytes) completed in the window by the operations `ops`.
    pub fn done(&self, stream: Option<u16>, ops: &[Op]) -> (u64, u64) {
        let total = |part: fn(&(u64, u64)) -> u64| {
            self.sum(stream, |job| ops.iter().fold(0, |sum: u64, op| sum.saturating_add(part(&job.done[op.index()]))))
        };
        (total(|d| d.0), total(|d| d.1))
    }

    /// I/Os of a stream, by operation, that began from the start of the load to the end of the window, and how many of all ended after it.
    /// Unlike the I/Os of the window they are drawn one after the other, and say nothing of what was in flight at its edges. `None` of
    /// trials that other programs made, which do not tell.
    pub fn begun(&self, stream: u16) -> Option<([u64; OPS], u64)> {
        if self.outcome.engine.external.is_some() || self.outcome.tool_output.is_some() || self.record.slices.is_empty()
        {
            return None;
        }
        let mut after = [0u64; OPS];
        let drained = self.outcome.drained.iter().filter(|d| d.stream == stream).map(|d| (d.op, d.latency.count()));
        let censored = self.outcome.censored.iter().filter(|c| c.stream == stream).map(|c| (c.op, 1));
        for (op, count) in drained.chain(censored) {
            after[op.index()] = after[op.index()].saturating_add(count);
        }
        let mut begun = after;
        for slice in self.record.slices.iter().filter(|slice| slice.stream == stream) {
            let of = &mut begun[slice.op.index()];
            *of = of.saturating_add(slice.ops).saturating_add(slice.errors);
        }
        Some((begun, Op::IO.iter().map(|op| after[op.index()]).fold(0, u64::saturating_add)))
    }
}

impl<'a> CaseTrials<'a> {
    /// These trials as those of a case of their own.
    pub fn of(case: u32, asked: &'a Trial, records: &'a [TrialRecord]) -> CaseTrials<'a> {
        CaseTrials {
            case,
            asked,
            all: records.iter().collect(),
            counting: records.iter().filter_map(Counting::of).collect(),
            of_other_hosts: 0,
        }
    }

    /// Whether the trials that count are of this host, too; where none counts, whether those that began are.
    pub fn is_of(&self, host: HostId) -> bool {
        self.first().is_none_or(|record| record.parts.iter().any(|part| part.host == host))
    }

    /// Whether the trials that count are of fewer hosts than they were asked of: of so many some were lost.
    pub fn lacks_hosts(&self, all: usize) -> bool {
        self.first().is_some_and(|record| record.parts.len() < record.hosts_asked(all))
    }

    fn first(&self) -> Option<&TrialRecord> {
        let counts = self.counting.first().map(|trial| trial.record);
        counts.or(self.all.first().copied()).filter(|record| !record.parts.is_empty())
    }

    /// Lets the trials of the hosts count that made most of them, of as many those of more hosts: a mean over loads of different hosts
    /// would be that of no load.
    fn keep_same_hosts(&mut self) {
        let hosts = |trial: &Counting<'_>| trial.record.parts.iter().map(|part| part.host).collect::<Vec<HostId>>();
        let mut groups: BTreeMap<Vec<HostId>, u32> = BTreeMap::new();
        self.counting.iter().for_each(|trial| *groups.entry(hosts(trial)).or_default() += 1);
        let most = groups.into_iter().max_by_key(|(hosts, trials)| (*trials, hosts.len()));
        let Some((kept, _)) = most else { return };
        let before = self.counting.len();
        self.counting.retain(|trial| hosts(trial) == kept);
        self.of_other_hosts = (before - self.counting.len()) as u32;
    }
}

/// The trials of a run by case, in the order of the plan.
pub fn by_case(run: &RunRecord) -> Vec<CaseTrials<'_>> {
    let mut cases: BTreeMap<u32, CaseTrials<'_>> = BTreeMap::new();
    // An application has no I/O of ours that could be counted: its searches are reported separately.
    for record in run.trials.iter().filter(|record| record.asked.app.is_none()) {
        let case = cases.entry(record.case).or_insert_with(|| CaseTrials {
            case: record.case,
            asked: &record.asked,
            all: Vec::new(),
            counting: Vec::new(),
            of_other_hosts: 0,
        });
        case.all.push(record);
        case.counting.extend(Counting::of(record));
    }
    cases.values_mut().for_each(CaseTrials::keep_same_hosts);
    cases.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::run;

    #[test]
    fn a_stalled_trial_with_its_whole_window_counts_and_a_cut_one_does_not() {
        let record = run()
            .trial(0)
            .done()
            .trial(0)
            .status(TrialStatus::Stalled)
            .done()
            .trial(0)
            .status(TrialStatus::Stalled)
            .change(|t, _| t.window_end = t.window_start + Nanos::millis(100))
            .done()
            .trial(0)
            .status(TrialStatus::Interrupted)
            .done()
            .trial(0)
            .unfinished()
            .record();
        let cases = by_case(&record);
        let counting: Vec<u32> = cases[0].counting.iter().map(|c| c.record.trial).collect();
        assert_eq!((counting, cases[0].all.len()), (vec![0, 1], 5));
    }
}
