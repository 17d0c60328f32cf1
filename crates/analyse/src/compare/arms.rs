//! The arms of one run, compared as if each were a run of its own.

use super::floor::of_itself;
use super::{Comparison, Floor, Options, Pairing, compare, compare_as};
use crate::findings::{CaseFinding, Findings};
use stend_base::{Error, Result, say};
use stend_plan::Plan;
use stend_record::{EventKind, RunRecord};

/// One arm as a run of its own.
struct OneArm {
    /// Index in the plan.
    arm: usize,
    record: RunRecord,
    findings: Findings,
}

/// Compares the arms of a run with the first of them, or the one that is asked for; `None` if fewer than two were
/// entered, or the first was not.
///
/// Arms that alternated are compared within blocks; arms that followed one another, because a person or a
/// reboot switched between them, as two runs would be. Arms of the same configuration make an A/A floor. Errors: those of
/// [`Plan::new`], and a baseline that is no arm of the run.
pub fn compare_arms(run: &RunRecord, findings: &Findings, options: &Options) -> Result<Option<Comparison>> {
    let plan = run.plan()?;
    let mut arms = entered(run, findings, &plan);
    let first = match &options.baseline_arm {
        Some(name) => Some(named(name, &arms, &plan)?),
        // Without the first arm there is nothing to compare with.
        None => arms.first().filter(|arm| arm.arm == 0).map(|_| 0),
    };
    let Some(first) = first.filter(|_| arms.len() > 1) else { return Ok(None) };
    arms[..=first].rotate_right(1);
    let mut options = options.clone();
    options.factors.extend(plan.arms.iter().flat_map(|arm| arm.expect.iter().cloned()));
    options.floor = options.floor.or_else(|| floor_of(run, &plan, &arms));
    let mut comparison = side_by_side(run, &arms, &options);
    for (side, arm) in comparison.runs.iter_mut().zip(&arms) {
        side.arm = Some(plan.arms[arm.arm].name.clone());
    }
    Ok(Some(comparison))
}

/// The floor that a run shows: of its arms of the same configuration if it has any, otherwise against `baseline`, of which
/// it is then a repetition. `None` if neither gives six distances. Errors: those of the plan of `run`.
pub fn floor(run: (&RunRecord, &Findings), baseline: (&RunRecord, &Findings)) -> Result<Option<Floor>> {
    if let Some(found) = own_floor(run.0, run.1)? {
        return Ok(Some(found));
    }
    let repeated = compare(&[baseline, run], &Options::default());
    Ok(of_itself(&[repeated], vec![run.1.run.clone()]))
}

/// The A/A floor of a run: from every pair of its arms that are the same configuration. Errors: those of [`Plan::new`].
fn own_floor(run: &RunRecord, findings: &Findings) -> Result<Option<Floor>> {
    let plan = run.plan()?;
    Ok(floor_of(run, &plan, &entered(run, findings, &plan)))
}

fn floor_of(run: &RunRecord, plan: &Plan, arms: &[OneArm]) -> Option<Floor> {
    let switch = |arm: &OneArm| &plan.arms[arm.arm].switch;
    let twins = |i: usize| (0..arms.len()).filter(move |j| *j != i && switch(&arms[*j]) == switch(&arms[i]));
    let pairs = (0..arms.len()).flat_map(|i| twins(i).filter(move |j| *j > i).map(move |j| [&arms[i], &arms[j]]));
    let compared: Vec<Comparison> = pairs.map(|pair| side_by_side(run, &pair, &Options::default())).collect();
    let names = (0..arms.len()).filter(|i| twins(*i).next().is_some()).map(|i| plan.arms[arms[i].arm].name.clone());
    of_itself(&compared, names.collect())
}

/// The first of `arms` is the baseline.
fn side_by_side(run: &RunRecord, arms: &[impl std::borrow::Borrow<OneArm>], options: &Options) -> Comparison {
    let pairing = if run.header.inputs.suite.is_sequential() { Pairing::None } else { Pairing::Blocks };
    let sides: Vec<(&RunRecord, &Findings)> =
        arms.iter().map(|arm| (&arm.borrow().record, &arm.borrow().findings)).collect();
    compare_as(&sides, pairing, options)
}

fn entered(run: &RunRecord, findings: &Findings, plan: &Plan) -> Vec<OneArm> {
    let one = |arm: usize| {
        let record = record_of(run, plan, arm as u32)?;
        Some(OneArm { arm, record, findings: findings_of(findings, plan, arm as u32) })
    };
    (0..plan.arms.len()).filter_map(one).collect()
}

/// Place of the arm of this name among those that were entered.
fn named(name: &str, arms: &[OneArm], plan: &Plan) -> Result<usize> {
    let names: Vec<&str> = arms.iter().map(|arm| plan.arms[arm.arm].name.as_str()).collect();
    names.iter().position(|known| *known == name).ok_or_else(|| {
        let list = names.join(", ");
        Error::usage(say!("no arm `{name}` was measured", "вариант `{name}` не измерялся")).hint(
            match names.is_empty() {
                true => say!("the run has no arms", "в прогоне нет вариантов"),
                false => say!("the arms are: {list}", "варианты: {list}"),
            },
        )
    })
}

/// What was recorded in one arm: its trials, and the host and the target as they were when it was first
/// entered. `None` if it never was.
fn record_of(run: &RunRecord, plan: &Plan, arm: u32) -> Option<RunRecord> {
    let entered = run.events.iter().find(|event| matches!(&event.kind, EventKind::Arm { arm: a, .. } if *a == arm))?;
    let EventKind::Arm { facts, .. } = &entered.kind else { return None };
    let mut record = RunRecord::new(run.header.clone());
    record.state = run.state.clone();
    record.load_mut().facts = Some(facts.host.clone());
    record.load_mut().targets = facts.targets.clone();
    record.load_mut().fill = run.load().fill;
    record.trials = run.trials.iter().filter(|trial| plan.arm_of(trial.case) == Some(arm)).cloned().collect();
    record.events = vec![entered.clone()];
    Some(record)
}

/// The cases of one arm under the labels that they have in every arm.
fn findings_of(findings: &Findings, plan: &Plan, arm: u32) -> Findings {
    let mut own = findings.clone();
    own.cases.retain(|case| plan.arm_of(case.case) == Some(arm));
    let rename = |case: &mut CaseFinding| {
        if let Some(planned) = plan.cases.get(case.case as usize) {
            case.label = planned.label_in_arm();
        }
    };
    own.cases.iter_mut().for_each(rename);
    own
}
