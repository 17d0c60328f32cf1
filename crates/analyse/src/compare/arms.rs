//! The arms of one run, compared as if each were a run of its own.

use super::{Comparison, Pairing, compare_as};
use crate::findings::{CaseFinding, Findings};
use stend_base::Result;
use stend_record::{EventKind, RunRecord};
use stend_spec::plan::Plan;

/// Compares the arms of a run with the first of them; `None` if fewer than two were entered.
///
/// Arms that alternated are compared within blocks; arms that followed one another, because a person or a
/// reboot switched between them, as two runs would be. Errors: those of [`Plan::new`].
pub fn compare_arms(run: &RunRecord, findings: &Findings) -> Result<Option<Comparison>> {
    let plan = Plan::new(&run.header.inputs)?;
    let arms: Vec<(usize, RunRecord, Findings)> = (0..plan.arms.len())
        .filter_map(|arm| {
            let record = record_of(run, &plan, arm as u32)?;
            Some((arm, record, findings_of(findings, &plan, arm as u32)))
        })
        .collect();
    // Without the first arm there is nothing to compare with.
    if arms.len() < 2 || arms[0].0 != 0 {
        return Ok(None);
    }
    let pairing = if run.header.inputs.suite.is_sequential() { Pairing::None } else { Pairing::Blocks };
    let sides: Vec<(&RunRecord, &Findings)> = arms.iter().map(|(_, record, findings)| (record, findings)).collect();
    let mut comparison = compare_as(&sides, pairing);
    for (side, (arm, ..)) in comparison.runs.iter_mut().zip(&arms) {
        side.arm = Some(plan.arms[*arm].name.clone());
    }
    Ok(Some(comparison))
}

/// What was recorded in one arm: its trials, and the host and the target as they were when it was first
/// entered. `None` if it never was.
fn record_of(run: &RunRecord, plan: &Plan, arm: u32) -> Option<RunRecord> {
    let entered = run.events.iter().find(|event| matches!(&event.kind, EventKind::Arm { arm: a, .. } if *a == arm))?;
    let EventKind::Arm { facts, .. } = &entered.kind else { return None };
    let mut record = RunRecord::new(run.header.clone());
    record.state = run.state.clone();
    record.host = Some(facts.host.clone());
    record.targets = facts.targets.clone();
    record.fill = run.fill;
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
