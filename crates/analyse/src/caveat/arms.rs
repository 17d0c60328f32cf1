//! Reasons to doubt a comparison of arms.

use crate::compare::{ArmCondition, arm_conditions};
use crate::findings::Caveat;
use stend_base::Say;
use stend_plan::Plan;
use stend_record::{ArmFacts, RunRecord};
use stend_spec::arm::Switch;

/// Name of an arm; its number if the plan does not have it.
pub fn name(plan: &Plan, arm: u32) -> String {
    plan.arms.get(arm as usize).map_or_else(|| (arm + 1).to_string(), |arm| arm.name.clone())
}

/// Everything that the arms of a run give reason to doubt.
pub fn doubts(run: &RunRecord, plan: &Plan) -> Vec<Caveat> {
    let entered = |arm: u32| run.arms_entered().filter(move |(_, a, _)| *a == arm).map(|(.., facts)| facts);
    let first = entered(0).next();
    let mut found = Vec::new();
    let mut seen = 0;
    for (index, arm) in plan.arms.iter().enumerate() {
        let mut times = entered(index as u32);
        let Some(facts) = times.next() else { continue };
        seen += 1;
        let conditions = drifted(facts, times);
        if !conditions.is_empty() {
            found.push(Caveat::ArmDrifted { arm: arm.name.clone(), conditions });
        }
        let differs = first.is_none_or(|first| index == 0 || !differing(first, facts).is_empty());
        if !differs && arm.switch != Switch::None {
            found.push(Caveat::ArmWithoutChange { arm: arm.name.clone() });
        }
    }
    if run.header.inputs.suite.is_sequential() && seen > 1 {
        found.push(Caveat::ArmsInSequence);
    }
    found
}

fn drifted<'a>(first: &ArmFacts, later: impl Iterator<Item = &'a ArmFacts>) -> Vec<Say> {
    let mut names: Vec<Say> = Vec::new();
    for facts in later {
        for condition in differing(first, facts) {
            if !names.contains(&condition.name) {
                names.push(condition.name);
            }
        }
    }
    names
}

/// Conditions in which two looks differ. That the host was started anew is no difference by itself.
fn differing(a: &ArmFacts, b: &ArmFacts) -> Vec<ArmCondition> {
    let pairs = arm_conditions(a).into_iter().zip(arm_conditions(b));
    pairs.filter(|(a, b)| a.value != b.value && a.key != "boot_id").map(|(a, _)| a).collect()
}
