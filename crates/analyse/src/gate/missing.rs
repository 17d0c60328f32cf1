//! What the baseline of a comparison has and another run lacks: no cell falls under the rules there, and they do not hold.

use super::op_of;
use crate::compare::{Asked, CaseComparison, Comparison, GatedGap, Metric, Outcome, metrics};
use crate::findings::{Findings, Unmeasured};
use stend_base::{Say, say};
use stend_spec::gate::{Gate, GateRule};

/// What a run does not have of a case of the baseline.
struct Missing<'a> {
    label: &'a str,
    run: usize,
    /// What would be compared.
    metrics: Vec<Metric>,
    /// The run has the case, and other values of it.
    there: bool,
}

/// Each with each of the rules that would decide about it.
pub(super) fn gaps(gate: &Gate, comparison: &Comparison, (runs, arms): (&[&Findings], &[String])) -> Vec<GatedGap> {
    let of_run = |missing: Missing<'_>| {
        let reason = reason(runs, comparison, &missing);
        let place = (Some(missing.run), missing.label);
        deciding(gate, arms, place, &missing.metrics, &reason)
    };
    let missing = all(comparison).filter(|missing| !is_tried(runs, missing.label));
    let never_entered = of_other_arms(comparison, runs).into_iter().flat_map(|case| {
        let metrics = metrics(case.ops.iter().copied());
        deciding(gate, arms, (None, &case.label), &metrics, &case.reason)
    });
    missing.flat_map(of_run).chain(never_entered).collect()
}

/// A gap for each rule that would decide about one of these values.
fn deciding(
    gate: &Gate,
    arms: &[String],
    (run, label): (Option<usize>, &str),
    metrics: &[Metric],
    reason: &Say,
) -> Vec<GatedGap> {
    let mut deciding: Vec<&GateRule> = Vec::new();
    for metric in metrics {
        let first = gate.rules.iter().find(|rule| rule.is_about(label, op_of(*metric), arms));
        deciding.extend(first.filter(|rule| deciding.iter().all(|known| known.line != rule.line)));
    }
    let gap = |rule: &GateRule| GatedGap {
        run,
        label: label.to_string(),
        asked: Asked::Rule(rule.clone()),
        reason: reason.clone(),
        outcome: Outcome::Undecided.counted_as(rule.inconclusive),
    };
    deciding.into_iter().map(gap).collect()
}

/// Which rates a search tries depends on what it finds: such a case may be absent.
fn is_tried(runs: &[&Findings], label: &str) -> bool {
    let is = |findings: &Findings, tried: &str| {
        tried == label || findings.arms.iter().any(|arm| of(arm, tried) == Some(label))
    };
    runs.iter().any(|findings| findings.tried.iter().any(|tried| is(findings, tried)))
}

/// The label of a case without its arm, if it is of this one.
fn of<'a>(arm: &str, label: &'a str) -> Option<&'a str> {
    label.strip_prefix(arm)?.strip_prefix(": ")
}

fn all(comparison: &Comparison) -> impl Iterator<Item = Missing<'_>> {
    let others = 1..comparison.runs.len();
    let only = comparison.unmatched.iter().filter(|case| case.runs.contains(&0));
    let unmatched = only.flat_map(move |case| {
        let one = |run| Missing { label: &case.label, run, metrics: case.metrics.clone(), there: false };
        others.clone().map(one)
    });
    comparison.cases.iter().flat_map(of_case).chain(unmatched)
}

/// What runs lack of a case of the table: all of it, or latencies, as where no trial of it counts.
fn of_case(case: &CaseComparison) -> Vec<Missing<'_>> {
    let Some(Some(baseline)) = case.sides.first() else { return Vec::new() };
    let ours = || baseline.latencies.iter().map(|latency| (latency.stream, latency.op));
    let others = case.sides.iter().enumerate().skip(1);
    let lacking = others.filter_map(|(run, side)| {
        let metrics = match side {
            None => metrics(ours().map(|(_, op)| op)),
            Some(side) => {
                let has = |of: &(u16, _)| side.latencies.iter().any(|latency| (latency.stream, latency.op) == *of);
                ours().filter(|of| !has(of)).map(|(_, op)| Metric::P99(op)).collect()
            }
        };
        (!metrics.is_empty()).then_some(Missing { label: &case.label, run, metrics, there: side.is_some() })
    });
    lacking.collect()
}

/// Cases of the arms that a run never came to; it is the one whose arms are compared.
fn of_other_arms<'a>(comparison: &Comparison, runs: &[&'a Findings]) -> Vec<&'a Unmeasured> {
    let [one] = runs else { return Vec::new() };
    let entered = |arm: &str| comparison.runs.iter().any(|run| run.arm.as_deref() == Some(arm));
    let other = |case: &&Unmeasured| one.arms.iter().any(|arm| !entered(arm) && of(arm, &case.label).is_some());
    one.unmeasured.iter().filter(other).collect()
}

/// What kept the run from measuring it, if the run says.
fn reason(runs: &[&Findings], comparison: &Comparison, missing: &Missing<'_>) -> Say {
    let Missing { label, run, there, .. } = *missing;
    let arm = comparison.runs.get(run).and_then(|run| run.arm.as_deref());
    let findings = if let [one] = runs { Some(one) } else { runs.get(run) };
    let is = |case: &&Unmeasured| match arm {
        Some(arm) => of(arm, &case.label) == Some(label),
        None => case.label == label,
    };
    match (findings.and_then(|findings| findings.unmeasured.iter().find(is)), there) {
        (Some(case), _) => case.reason.clone(),
        (None, true) => say!("the run has no p99 of it", "в прогоне нет его p99"),
        (None, false) => say!("the run has no such case", "в прогоне нет такого случая"),
    }
}
