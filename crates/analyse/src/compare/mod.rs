//! Several runs side by side, relative to the first: what was not the same, and by how much the cases
//! differ. States ratios and intervals only; whether a difference matters is not decided here.

mod arms;
mod conditions;
mod ratio;

pub use arms::compare_arms;
pub use conditions::of_arm as arm_conditions;

use crate::findings::{CaseFinding, Estimate, Findings, Headline, OpFinding, Quantile};
use crate::trials::{CaseTrials, by_case};
use ratio::Sides;
use stend_base::{Say, Share};
use stend_record::{RunRecord, RunState};
use stend_spec::workload::Op;

/// The latency that is compared.
pub const QUANTILE: Share = Share(0.99);

/// Runs compared with the first of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The runs, the baseline first. Every list of values below is in this order.
    pub runs: Vec<ComparedRun>,
    /// Conditions that are not the same in all runs.
    pub changed: Vec<Condition>,
    /// Conditions that are the same in all runs.
    pub same: Vec<Condition>,
    /// Cases of the baseline that another run has too, in the order of the baseline.
    pub cases: Vec<CaseComparison>,
    /// Cases that could not be compared.
    pub unmatched: Vec<Unmatched>,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRun {
    /// Id.
    pub run: String,
    /// Name of the suite.
    pub suite: String,
    /// The targets as the user named them.
    pub targets: Vec<String>,
    /// Wall clock at the start, seconds since 1970 UTC.
    pub started_unix: i64,
    /// How far it got.
    pub state: RunState,
    /// Name of the arm, if arms of one run are compared.
    pub arm: Option<String>,
}

/// One circumstance of the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// Name for machines.
    pub key: String,
    /// Name for people.
    pub name: Say,
    /// Value by run; empty where it is not known.
    pub values: Vec<Say>,
}

/// One circumstance of one arm.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmCondition {
    /// Name for machines.
    pub key: String,
    /// Name for people.
    pub name: Say,
    /// Value; empty where it is not known.
    pub value: Say,
}

/// One case in several runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseComparison {
    /// Label, by which the cases of the runs were matched.
    pub label: String,
    /// The rate that is compared.
    pub headline: Headline,
    /// The workload by run, if it is not the same in all of them; otherwise empty.
    pub workloads: Vec<Say>,
    /// By run; `None` where the run does not have the case.
    pub sides: Vec<Option<Side>>,
}

/// One case in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Trials that count.
    pub trials: u32,
    /// Numbers of the checks that failed: this side should not be compared.
    pub failed: Vec<String>,
    /// The rate, all I/Os but syncs together.
    pub rate: Estimate,
    /// Relative to the baseline; `None` for the baseline itself.
    pub rate_ratio: Option<Ratio>,
    /// Latency by stream and operation.
    pub latencies: Vec<LatencySide>,
}

/// Latency of one operation of a case in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencySide {
    /// Index of the stream.
    pub stream: u16,
    /// Operation.
    pub op: Op,
    /// p99 over all trials.
    pub p99: Quantile,
    /// Relative to the baseline; `None` for the baseline itself, and where it lacks the operation.
    pub ratio: Option<Ratio>,
}

/// How a value relates to that of the baseline; 1 is equal.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratio {
    /// The ratio.
    pub value: RatioValue,
    /// 95 % interval; `None` with the reason in `basis`.
    pub interval: Option<(f64, f64)>,
    /// Where ratio and interval come from.
    pub basis: RatioBasis,
}

/// A ratio as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RatioValue {
    /// The ratio.
    At(f64),
    /// More than this: the other value is only known to be larger.
    Above(f64),
    /// Less than this: the baseline is only known to be larger.
    Below(f64),
    /// It cannot be told.
    Unknown,
}

/// Where a ratio and its interval come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatioBasis {
    /// Arms of one run: the ratio within each block, and Student's t over the blocks.
    Blocks {
        /// Blocks in which both arms have the case.
        n: u32,
    },
    /// Geometric means of the trials of either run, with Welch's interval on logarithms.
    Trials {
        /// Trials of the baseline.
        baseline: u32,
        /// Trials of the other run.
        other: u32,
    },
    /// The two values shown; fewer than two trials in one of the runs leave no interval.
    TooFewTrials,
    /// The two percentiles shown; a single trial has too few I/Os for one of its own.
    TrialsTooShort {
        /// I/Os of the trial that has fewest.
        have: u64,
        /// I/Os needed.
        need: u64,
    },
    /// The two values shown; one is zero or only a bound, and has no logarithm to compute with.
    NotANumber,
    /// A percentile that would be needed has too few I/Os in one of the runs.
    NotEnough,
}

/// A case that only one side has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmatched {
    /// Label.
    pub label: String,
    /// Indices of the runs that have it.
    pub runs: Vec<usize>,
}

impl Ratio {
    /// Whether the interval includes 1, which means neither equal nor different; `None` without one.
    pub fn includes_one(&self) -> Option<bool> {
        self.interval.map(|(low, high)| (low..=high).contains(&1.0))
    }
}

/// Compares runs with the first of them. Takes any records, however unlike.
pub fn compare(runs: &[(&RunRecord, &Findings)]) -> Comparison {
    compare_as(runs, Pairing::None)
}

/// Whether trials of the same block belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pairing {
    /// Runs that were made one after the other.
    None,
    /// Arms that alternated within one run.
    Blocks,
}

fn compare_as(runs: &[(&RunRecord, &Findings)], pairing: Pairing) -> Comparison {
    let trials: Vec<Vec<CaseTrials<'_>>> = runs.iter().map(|(record, _)| by_case(record)).collect();
    let (changed, same) = conditions::split(runs);
    let baseline: &[CaseFinding] = runs.first().map_or(&[], |(_, findings)| &findings.cases);
    let matched = baseline.iter().filter(|case| having(runs, &case.label).len() > 1);
    let cases: Vec<CaseComparison> = matched.map(|case| one_case(case, runs, &trials, pairing)).collect();
    Comparison {
        runs: runs.iter().map(|(_, findings)| compared_run(findings)).collect(),
        changed,
        same,
        unmatched: unmatched(runs, &cases),
        cases,
    }
}

fn compared_run(findings: &Findings) -> ComparedRun {
    ComparedRun {
        run: findings.run.clone(),
        suite: findings.suite.clone(),
        targets: findings.targets.clone(),
        started_unix: findings.started_unix,
        state: findings.state.clone(),
        arm: None,
    }
}

fn find<'a>(findings: &'a Findings, label: &str) -> Option<&'a CaseFinding> {
    findings.cases.iter().find(|case| case.label == label)
}

/// Indices of the runs that have a case with this label.
fn having(runs: &[(&RunRecord, &Findings)], label: &str) -> Vec<usize> {
    (0..runs.len()).filter(|&i| find(runs[i].1, label).is_some()).collect()
}

fn unmatched(runs: &[(&RunRecord, &Findings)], cases: &[CaseComparison]) -> Vec<Unmatched> {
    let mut left: Vec<Unmatched> = Vec::new();
    for case in runs.iter().flat_map(|(_, findings)| &findings.cases) {
        let known = cases.iter().any(|c| c.label == case.label) || left.iter().any(|u| u.label == case.label);
        if !known {
            left.push(Unmatched { label: case.label.clone(), runs: having(runs, &case.label) });
        }
    }
    left
}

fn one_case(
    baseline: &CaseFinding,
    runs: &[(&RunRecord, &Findings)],
    trials: &[Vec<CaseTrials<'_>>],
    pairing: Pairing,
) -> CaseComparison {
    let found: Vec<Option<(&CaseFinding, &CaseTrials<'_>)>> = (0..runs.len())
        .map(|i| {
            let finding = find(runs[i].1, &baseline.label)?;
            Some((finding, trials[i].iter().find(|t| t.case == finding.case)?))
        })
        .collect();
    let workloads: Vec<Say> =
        found.iter().map(|f| f.map_or_else(|| Say::same(""), |(finding, _)| finding.workload.clone())).collect();
    let differ = found.iter().flatten().any(|(finding, _)| finding.workload != baseline.workload);
    let first = found.first().copied().flatten();
    let sides = found.iter().enumerate().map(|(i, found)| {
        let (finding, trials) = (*found)?;
        let against = first.filter(|_| i > 0).map(|(b, t)| Sides::new((b, t), (finding, trials), pairing));
        Some(side(finding, baseline.headline, against.as_ref()))
    });
    CaseComparison {
        label: baseline.label.clone(),
        headline: baseline.headline,
        sides: sides.collect(),
        workloads: if differ { workloads } else { Vec::new() },
    }
}

fn side(finding: &CaseFinding, headline: Headline, against: Option<&Sides<'_>>) -> Side {
    use crate::findings::CheckStatus::Fail;
    let rate = match headline {
        Headline::Iops => &finding.total.iops,
        Headline::Throughput => &finding.total.throughput,
    };
    let latencies = finding.ops.iter().filter_map(|op| latency(op, against));
    Side {
        trials: finding.trials,
        failed: finding.checks.iter().filter(|c| c.status == Fail).map(|c| c.id.clone()).collect(),
        rate: rate.clone(),
        rate_ratio: against.map(|sides| sides.rate(headline)),
        latencies: latencies.collect(),
    }
}

fn latency(op: &OpFinding, against: Option<&Sides<'_>>) -> Option<LatencySide> {
    let p99 = op.quantiles.iter().find(|q| q.q == QUANTILE)?.clone();
    let ratio = against.and_then(|sides| sides.p99(op.stream, op.op));
    Some(LatencySide { stream: op.stream, op: op.op, p99, ratio })
}

#[cfg(test)]
mod tests;
