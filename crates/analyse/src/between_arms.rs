//! How precise the difference between the arms of a case is: the interval of the ratio over blocks that `compare` prints (method S5,
//! S7). Must not look at which side is better.

use crate::compare::{Pairing, Ratio, Seen, Sides};
use crate::findings::{CaseFinding, OpFinding, Rates};
use crate::operations::{latencies, op_finding};
use crate::trials::CaseTrials;
use crate::widths::{Widths, at_look};
use crate::{phrase, rates};
use std::collections::BTreeSet;
use stend_plan::Plan;
use stend_spec::until::{Until, is_look};
use stend_spec::workload::Op;

/// A case in every arm, the baseline first; `None` where one of them has no trial that counts.
type InArms<T> = Option<Vec<T>>;

/// Cells of the case that `cell` is, in all arms.
pub(crate) fn in_arms(plan: &Plan, cell: u32) -> impl Iterator<Item = u32> {
    let (cells, arms) = (plan.cells().max(1), plan.arms.len() as u32);
    (0..arms).map(move |arm| arm * cells + cell % cells)
}

/// Whether the blocks that a case has in every arm are enough, looked at when a trial completes one.
pub(crate) fn is_narrow(arms: &[CaseTrials<'_>], block: u32, until: Until) -> bool {
    let blocks = common_blocks(arms);
    let count = blocks.len() as u32;
    if !blocks.contains(&block) || !is_look(count) {
        return false;
    }
    let found: Vec<(Rates, Vec<OpFinding>)> = arms.iter().map(figures).collect();
    let seen: Vec<Seen<'_>> =
        arms.iter().zip(&found).map(|(trials, (total, ops))| Seen { total, ops, trials }).collect();
    widths(&seen).is_some_and(|widths| widths.hold(&at_look(until, count)))
}

/// The widths of what is found of a case in all arms; `None` without every arm.
pub(crate) fn widths_of(cell: u32, plan: &Plan, trials: &[CaseTrials<'_>], cases: &[CaseFinding]) -> Option<Widths> {
    let one = |cell: u32| {
        let trials = trials.iter().find(|case| case.case == cell).filter(|case| !case.counting.is_empty())?;
        let found = cases.iter().find(|case| case.case == cell)?;
        Some(Seen { total: &found.total, ops: &found.ops, trials })
    };
    let seen: InArms<Seen<'_>> = in_arms(plan, cell).map(one).collect();
    widths(&seen?)
}

/// Blocks in which every arm has a trial that counts.
fn common_blocks(arms: &[CaseTrials<'_>]) -> BTreeSet<u32> {
    let of = |case: &CaseTrials<'_>| case.counting.iter().map(|trial| trial.record.block).collect::<BTreeSet<u32>>();
    arms.iter().map(of).reduce(|a, b| a.intersection(&b).copied().collect()).unwrap_or_default()
}

fn figures(case: &CaseTrials<'_>) -> (Rates, Vec<OpFinding>) {
    let ops = latencies(case).iter().map(|latency| op_finding(case, latency)).collect();
    (rates::rates(case, None, &Op::IO), ops)
}

/// The widest of all arms against the first.
fn widths(arms: &[Seen<'_>]) -> Option<Widths> {
    let (baseline, others) = arms.split_first()?;
    let headline = phrase::headline(baseline.trials.asked);
    let widest = |all: Option<Vec<f64>>| all.and_then(|all| all.into_iter().reduce(f64::max));
    let sides: Vec<Sides<'_>> = others.iter().map(|other| Sides::new(*baseline, *other, Pairing::Blocks)).collect();
    let p99s = |sides: &Sides<'_>| -> Option<Vec<f64>> {
        baseline.ops.iter().map(|op| half_width(&sides.p99(op.stream, op.op)?)).collect()
    };
    let p99: Option<Vec<Vec<f64>>> = sides.iter().map(p99s).collect();
    Some(Widths {
        rate: widest(sides.iter().map(|sides| half_width(&sides.rate(headline))).collect()),
        p99: widest(p99.map(|all| all.concat())),
    })
}

/// e^h − 1 of the half-width h on logarithms.
fn half_width(ratio: &Ratio) -> Option<f64> {
    ratio.interval.filter(|(low, _)| *low > 0.0).map(|(low, high)| (high / low).sqrt() - 1.0)
}
