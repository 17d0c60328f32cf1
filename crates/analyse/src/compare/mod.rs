//! Several runs side by side, relative to the first: what was not the same, by how much the cases differ, and
//! whether that is more than noise and more than what does not matter.

mod alternation;
mod arms;
mod conditions;
mod curves;
mod drift;
mod durable;
mod factor;
mod fill;
mod floor;
mod layers;
mod mean;
mod missing;
mod ratio;
mod stand_differences;
mod types;
mod verdict;

pub use arms::{compare_arms, floor};
pub use conditions::of_arm as arm_conditions;
pub use curves::draw;
pub(crate) use ratio::{Seen, Sides};
pub use types::{
    ArmCondition, Asked, Blocks, ByBlock, CaseComparison, Cell, ComparedRun, Comparison, Condition, Doubt, Floor,
    GateFinding, GatedCell, GatedGap, Judged, LatencySide, LayerPrice, LayerRate, Limited, LimitedValue, Mean, Metric,
    Noise, Open, Options, Outcome, P, PartSide, Ratio, RatioBasis, RatioValue, Robust, Rule, Side, Test, UnfitLimit,
    Unmatched, Verdict, letter,
};

use crate::findings::{CaseFinding, Findings, Headline, OpFinding};
use crate::trials::{CaseTrials, by_case};
use stend_base::{Nanos, Say, Share};
use stend_record::{EventKind, RunRecord};
use stend_spec::workload::Op;

/// The latency that is compared.
pub const QUANTILE: Share = Share(0.99);

/// Compares runs with the first of them. Takes any records, however unlike.
pub fn compare(runs: &[(&RunRecord, &Findings)], options: &Options) -> Comparison {
    let records: Vec<&RunRecord> = runs.iter().map(|(record, _)| *record).collect();
    let pairing = if alternation::alternate(&records) { Pairing::Blocks } else { Pairing::None };
    compare_as(runs, pairing, options)
}

/// Whether trials of the same block belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// Runs that were made one after the other.
    None,
    /// Arms that alternated within one run, or runs whose blocks alternated.
    Blocks,
}

fn compare_as(runs: &[(&RunRecord, &Findings)], pairing: Pairing, options: &Options) -> Comparison {
    let mut comparison = base(runs, pairing);
    comparison.floor = options.floor.clone();
    let rule = verdict::judge(&mut comparison, options.margin);
    comparison.rule = Rule { block: runs.iter().filter_map(|(record, _)| block_time(record)).max(), ..rule };
    comparison.means = mean::means(&comparison, pairing);
    comparison.layers = layers::prices(runs, pairing);
    comparison.checks = vec![
        fill::check(runs),
        durable::check(runs, &comparison.cases),
        factor::check(&comparison.changed, &options.factors),
        drift::check(&comparison),
        floor::check(&comparison),
        missing::check(&comparison, runs),
        mean::check(&comparison.means),
    ];
    comparison
}

/// The ratios of all cells and their means, before anything is judged about the whole table.
fn base(runs: &[(&RunRecord, &Findings)], pairing: Pairing) -> Comparison {
    let trials: Vec<Vec<CaseTrials<'_>>> = runs.iter().map(|(record, _)| by_case(record)).collect();
    let (changed, same) = conditions::split(runs);
    let (follow, changed) = stand_differences::follow(runs, changed);
    let baseline: &[CaseFinding] = runs.first().map_or(&[], |(_, findings)| &findings.cases);
    let matched = baseline.iter().filter(|case| having(runs, &case.label).len() > 1);
    let cases: Vec<CaseComparison> = matched.map(|case| one_case(case, runs, &trials, pairing)).collect();
    let mut comparison = Comparison {
        runs: runs.iter().map(|(record, findings)| compared_run(record, findings)).collect(),
        changed,
        follow,
        same,
        unmatched: unmatched(runs, &cases),
        cases,
        interleaved: pairing == Pairing::Blocks,
        rule: Rule {
            margin: 0.0,
            rate: 0.0,
            latency: 0.0,
            cells: 0,
            together: 0,
            needed: 0,
            suggested: None,
            block: None,
        },
        floor: None,
        means: Vec::new(),
        layers: Vec::new(),
        checks: Vec::new(),
        gate: None,
        charts: Vec::new(),
    };
    // A mean leaves out what failed a check, which judging tells.
    comparison.rule = verdict::judge(&mut comparison, None);
    comparison.means = mean::means(&comparison, pairing);
    comparison
}

fn compared_run(record: &RunRecord, findings: &Findings) -> ComparedRun {
    ComparedRun {
        run: findings.run.clone(),
        suite: findings.suite.clone(),
        targets: findings.targets.clone(),
        stand: findings.stand.clone(),
        builds: record.header.stand.as_ref().map(|_| builds(record)),
        started_unix: findings.started_unix,
        state: findings.state.clone(),
        label: findings.label.clone(),
        arm: None,
        grade: findings.grade.level,
    }
}

/// Time from one block of a run to the next, on the mean; `None` without a trial that ended.
pub(crate) fn block_time(record: &RunRecord) -> Option<Nanos> {
    let ended = || record.trials.iter().filter_map(|trial| trial.outcome.as_ref());
    let (from, to) = (ended().map(|o| o.load_start).min()?, ended().map(|o| o.window_end).max()?);
    let blocks = u64::from(record.trials.iter().map(|trial| trial.block).max()?) + 1;
    Some(Nanos(to.saturating_sub(from).0 / blocks))
}

/// In how many sessions the stand of a run was built: what a session finds up it does not build.
fn builds(record: &RunRecord) -> u32 {
    let (mut builds, mut building) = (0, true);
    for event in &record.events {
        match event.kind {
            EventKind::Resumed { .. } => building = true,
            EventKind::Command { .. } if building => (builds, building) = (builds + 1, false),
            // The stand comes before everything else.
            EventKind::Phase(_) => building = false,
            _ => {}
        }
    }
    builds
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
            let metrics =
                metrics(case.ops.iter().filter(|op| op.quantiles.iter().any(|q| q.q == QUANTILE)).map(|op| op.op));
            left.push(Unmatched { label: case.label.clone(), runs: having(runs, &case.label), metrics });
        }
    }
    left
}

/// What is compared of a case with latencies of these operations.
pub(crate) fn metrics(ops: impl Iterator<Item = Op>) -> Vec<Metric> {
    std::iter::once(Metric::Rate).chain(ops.map(Metric::P99)).collect()
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
        let against = first.filter(|_| i > 0).map(|(b, t)| Sides::new(seen(b, t), seen(finding, trials), pairing));
        Some(side(finding, baseline.headline, against.as_ref()))
    });
    CaseComparison {
        label: baseline.label.clone(),
        headline: baseline.headline,
        sides: sides.collect(),
        workloads: if differ { workloads } else { Vec::new() },
    }
}

fn seen<'a>(found: &'a CaseFinding, trials: &'a CaseTrials<'a>) -> Seen<'a> {
    Seen { total: &found.total, ops: &found.ops, trials }
}

fn side(finding: &CaseFinding, headline: Headline, against: Option<&Sides<'_>>) -> Side {
    use crate::findings::CheckStatus::Fail;
    let parts = finding.ops.iter().filter(|op| finding.is_mix() && op.op != Op::Sync);
    let latencies = finding.ops.iter().filter_map(|op| latency(op, against));
    Side {
        trials: finding.trials,
        failed: finding.checks.iter().filter(|c| c.status == Fail).map(|c| c.id).collect(),
        rate: finding.total.of(headline).clone(),
        rate_ratio: against.map(|sides| sides.rate(headline)),
        parts: parts.map(|op| part(op, against)).collect(),
        latencies: latencies.collect(),
    }
}

fn part(op: &OpFinding, against: Option<&Sides<'_>>) -> PartSide {
    let ratios = against.and_then(|sides| {
        let of = |headline| sides.part(op.stream, op.op, headline);
        Some([of(Headline::Iops)?, of(Headline::Throughput)?])
    });
    PartSide { stream: op.stream, op: op.op, rates: op.rates.clone(), ratios }
}

fn latency(op: &OpFinding, against: Option<&Sides<'_>>) -> Option<LatencySide> {
    let p99 = op.quantiles.iter().find(|q| q.q == QUANTILE)?.clone();
    let ratio = against.and_then(|sides| sides.p99(op.stream, op.op));
    Some(LatencySide { stream: op.stream, op: op.op, p99, ratio })
}

#[cfg(test)]
mod tests;
