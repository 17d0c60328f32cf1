//! Cases that differ from one in a single thing, and what that thing does to the rate: the tests of cause of method §5.3. Must
//! not say what bounds a case.

use crate::findings::{CaseFinding, Doubled, LimitTest};
use crate::limits::{DOUBLED_GROWS, DOUBLED_SATURATED};
use crate::trials::CaseTrials;
use stend_plan::{Case, Plan};
use stend_spec::confirm::{Test, TestedBy};
use stend_spec::workload::{Stream, Trial};

/// Rate of a case.
pub(super) struct Rate {
    case: u32,
    iops: f64,
    /// Half of its interval, relative to it.
    half_width: Option<f64>,
}

impl Rate {
    pub(super) fn of(case: &CaseFinding) -> Rate {
        Rate { case: case.case, iops: case.total.iops.value, half_width: case.total.iops.half_width() }
    }
}

/// How much another rate is higher, and how much of that may be chance; without intervals nobody knows.
fn gain(mine: &Rate, other: &Rate) -> Option<(f64, Option<f64>)> {
    let noise = mine.half_width.zip(other.half_width).map(|(a, b)| a.hypot(b));
    (mine.iops > 0.0).then(|| (other.iops / mine.iops - 1.0, noise))
}

/// What the tests did that the suite asked for, but for twice the depth.
pub(super) fn relieved(plan: &Plan, mine: &Rate, rates: &[Rate]) -> Vec<LimitTest> {
    let one = |TestedBy { cell, test, .. }: TestedBy| {
        let (gain, noise) = gain(mine, rates.iter().find(|rate| rate.case == cell)?)?;
        // More jobs may also get in each other's way; another node is no better or worse by itself.
        let change = if test == Test::Node { gain.abs() } else { gain };
        let matters = noise.and_then(|noise| match change {
            change if change >= DOUBLED_GROWS && change > noise => Some(true),
            change if change < DOUBLED_SATURATED && change + noise < DOUBLED_GROWS => Some(false),
            _ => None,
        });
        Some(LimitTest { test, case: own_label(plan, cell), gain, matters })
    };
    plan.tests_of(mine.case).filter(|tested| tested.test != Test::Depth).filter_map(one).collect()
}

/// Label of a cell that is a case of the suite.
fn own_label(plan: &Plan, cell: u32) -> Option<String> {
    plan.cases.get(cell as usize).filter(|_| plan.confirming(cell).is_none()).map(Case::label_in_arm)
}

/// Latency of one I/O alone, s: from the case that differs in queue depth and jobs only, of which it has one each.
pub(super) fn alone(plan: &Plan, case: &CaseTrials<'_>, rates: &[Rate]) -> Option<f64> {
    let (_, other) = related(plan, case, rates).find(|(trial, _)| trial.in_flight() == 1)?;
    Some(1.0 / other.iops)
}

/// What twice the queue depth does with as many jobs, where the run has that case.
pub(super) fn doubled(plan: &Plan, case: &CaseTrials<'_>, mine: &Rate, rates: &[Rate]) -> Option<Doubled> {
    let of = |trial: &Trial| trial.streams.first().map(|s| (s.queue_depth, s.jobs));
    let (queue_depth, jobs) = of(case.asked)?;
    let wanted = (queue_depth.checked_mul(2)?, jobs);
    let (_, other) = related(plan, case, rates).find(|(trial, _)| of(trial) == Some(wanted))?;
    let (gain, noise) = gain(mine, other)?;
    let saturated = noise.and_then(|noise| match gain {
        gain if gain < DOUBLED_SATURATED && gain + noise < DOUBLED_GROWS => Some(true),
        gain if gain >= DOUBLED_GROWS && gain > noise => Some(false),
        _ => None,
    });
    Some(Doubled { queue_depth: wanted.0, case: own_label(plan, other.case), gain, saturated })
}

/// Cases of the same closed loop that differ in queue depth and jobs only, with their rates.
fn related<'a>(
    plan: &'a Plan,
    case: &'a CaseTrials<'_>,
    rates: &'a [Rate],
) -> impl Iterator<Item = (&'a Trial, &'a Rate)> {
    rates.iter().filter_map(move |rate| {
        let other = &plan.cases.get(rate.case as usize)?.trial;
        let [mine, theirs] = [case.asked, other].map(|trial| match trial.streams.as_slice() {
            [one] if !one.is_open() && one.think.is_none() => Some(one),
            _ => None,
        });
        let (mine, theirs) = mine.zip(theirs)?;
        let like = Stream { queue_depth: mine.queue_depth, jobs: mine.jobs, ..theirs.clone() };
        let around = |t: &Trial| (t.direct, t.pages, t.backend, t.engine, t.region);
        let same_arm = plan.arm_of(rate.case) == plan.arm_of(case.case);
        (rate.iops > 0.0 && same_arm && like == *mine && around(other) == around(case.asked)).then_some((other, rate))
    })
}
