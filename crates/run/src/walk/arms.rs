//! The arm that a trial belongs to: switched to before it, or waited for.

use super::Walk;
use crate::arms::Need;
use crate::step::{Action, Step};
use stend_base::Nanos;
use stend_plan::Decision;
use stend_record::observed::Phase;
use stend_record::{ArmFacts, Entry, Event, EventKind};
use stend_wire::Request;

impl Walk {
    /// Whether an arm must be entered first; then that is under way, or the run is suspended for it.
    pub(super) fn is_in_other_arm(&mut self, decision: Decision, now: Nanos) -> bool {
        let Some(plan) = &self.plan else { return false };
        let arm = match decision {
            Decision::Trial { case, .. } | Decision::Round { case, .. } => plan.arm_of(case),
            Decision::Fill { .. } => plan.arm_after_fill(&self.history),
            Decision::Stop(_) => None,
        };
        match self.arms.need(arm) {
            Need::Nothing => false,
            Need::Switch(arm) => {
                let (to, limit) = self.arms.switch_to(arm, &self.asked.run, &self.asked.run_file);
                self.phase(Phase::Arm, now);
                self.actions.push(Action::Send(Request::Switch(Box::new(to))));
                self.step = Step::Switching { arm, decision };
                self.deadline = now + limit;
                true
            }
            Need::Person(arm) => {
                self.suspended = Some(arm);
                self.release(now);
                true
            }
        }
    }

    pub(super) fn switched(&mut self, facts: ArmFacts, now: Nanos) {
        let Step::Switching { arm, decision } = self.step else { return };
        let entered = self.arms.entered(arm, facts.clone());
        match entered {
            Ok(doubts) => self.actions.extend(doubts.into_iter().map(Action::Warn)),
            Err(error) => {
                self.suspended = self.arms.instruction(arm).map(|_| arm);
                self.end_with(error);
                return self.release(now);
            }
        }
        self.append(Entry::Event(Event::new(now, EventKind::Arm { arm, facts: Box::new(facts) })));
        self.actions.push(Action::Edge);
        match self.ending {
            None => self.get_ready(decision, now),
            Some(_) => self.release(now),
        }
    }
}
