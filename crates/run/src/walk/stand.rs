//! The stand of a run: it is put up before anything is looked at, and goes with the run.

use super::{INSPECT_LIMIT, Walk};
use crate::step::{Action, Asked, Step};
use stend_base::Nanos;
use stend_plan::Decision;
use stend_wire::{Request, StandAnswer, StandOrder};

/// Longest silence while a stand is put up or taken down: one command may take ten minutes.
pub(super) const LIMIT: Nanos = Nanos::secs(11 * 60);

/// What a run asks for first, and how long that may take.
pub(super) fn first(asked: &Asked) -> (Step, Request, Nanos) {
    match &asked.stand {
        None => (Step::Inspecting, Request::Inspect(asked.inspect.clone()), INSPECT_LIMIT),
        Some(stand) => {
            let (stand, owner) = (stand.clone(), asked.run_file.clone());
            let order = StandOrder::Up { stand, until_release: true, owner };
            (Step::Standing, Request::Stand(Box::new(order)), LIMIT)
        }
    }
}

impl Walk {
    /// The stand is up: what it made is looked at as any target.
    pub(super) fn stands(&mut self, answer: StandAnswer, now: Nanos) {
        let (Step::Standing, StandAnswer::Up(raised)) = (self.step, answer) else { return };
        if self.ending.is_some() {
            return self.release(now);
        }
        self.stood = Some(now);
        self.asked.inspect.targets = raised.targets;
        self.actions.push(Action::Send(Request::Inspect(self.asked.inspect.clone())));
        self.step = Step::Inspecting;
        self.deadline = now + INSPECT_LIMIT;
    }

    /// Whether this session leaves it to one on a stand that is built anew.
    pub(super) fn is_of_another_block(&mut self, decision: Decision) -> bool {
        match decision {
            Decision::Trial { block, .. } if self.asked.one_block => *self.block.get_or_insert(block) != block,
            _ => false,
        }
    }
}
