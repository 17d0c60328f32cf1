//! What the baseline of a comparison has and another run lacks: no cell falls under the rules there, and they do not hold.

use super::op_of;
use crate::compare::{Asked, CaseComparison, Comparison, GatedGap, Metric, Outcome, metrics};
use crate::findings::Findings;
use stend_base::{Say, say};
use stend_spec::gate::{Gate, GateRule};

/// A case of the baseline that a run does not have.
struct Missing<'a> {
    label: &'a str,
    run: usize,
    /// What would be compared.
    metrics: Vec<Metric>,
}

/// Each with each of the rules that would decide about it.
pub(super) fn gaps(gate: &Gate, comparison: &Comparison, (runs, arms): (&[&Findings], &[String])) -> Vec<GatedGap> {
    let mut gaps = Vec::new();
    for Missing { label, run, metrics } in all(comparison) {
        let mut deciding: Vec<&GateRule> = Vec::new();
        for metric in metrics {
            let first = gate.rules.iter().find(|rule| rule.is_about(label, op_of(metric), arms));
            deciding.extend(first.filter(|rule| deciding.iter().all(|known| known.line != rule.line)));
        }
        gaps.extend(deciding.into_iter().map(|rule| GatedGap {
            run: Some(run),
            label: label.to_string(),
            asked: Asked::Rule(rule.clone()),
            reason: reason(runs, run, label),
            outcome: Outcome::Undecided.counted_as(rule.inconclusive),
        }));
    }
    gaps
}

fn all(comparison: &Comparison) -> impl Iterator<Item = Missing<'_>> {
    let others = 1..comparison.runs.len();
    let only = comparison.unmatched.iter().filter(|case| case.runs.contains(&0));
    let unmatched = only.flat_map(move |case| {
        let one = |run| Missing { label: &case.label, run, metrics: case.metrics.clone() };
        others.clone().map(one)
    });
    comparison.cases.iter().flat_map(of_case).chain(unmatched)
}

/// The runs that lack a case of the table.
fn of_case(case: &CaseComparison) -> Vec<Missing<'_>> {
    let Some(Some(baseline)) = case.sides.first() else { return Vec::new() };
    let lacking = case.sides.iter().enumerate().filter(|(_, side)| side.is_none());
    let metrics = || metrics(baseline.latencies.iter().map(|latency| latency.op));
    lacking.map(|(run, _)| Missing { label: &case.label, run, metrics: metrics() }).collect()
}

/// What kept the run from measuring it, if the run says.
fn reason(runs: &[&Findings], run: usize, label: &str) -> Say {
    let planned = runs.get(run).and_then(|findings| findings.unmeasured.iter().find(|case| case.label == label));
    planned.map_or_else(|| say!("the run has no such case", "в прогоне нет такого случая"), |case| case.reason.clone())
}
