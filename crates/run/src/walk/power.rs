//! Cuts of the power of the worker's machine: when one is due, and that the session ends with it as was asked for.

use super::Walk;
use crate::step::{Action, Step};
use stend_base::{Nanos, Result};
use stend_record::FaultMoment;
use stend_spec::fault::Fault;
use stend_wire::Request;

/// The first slice of a load comes when the load is as old.
const SLICE: Nanos = Nanos::millis(100);

impl Walk {
    /// The cut of the trial in progress: its index in the events of the case, and the event.
    fn cut_of_trial(&self) -> Option<(u32, &Fault)> {
        let (Step::Trial { case, .. }, Some(plan)) = (self.step, &self.plan) else { return None };
        let faults = &plan.cases.get(case as usize)?.faults;
        (0..).zip(faults).find(|(_, fault)| fault.is_cut())
    }

    /// The load is going on: from now on it is certain when its events come.
    pub(super) fn load_goes_on(&mut self, now: Nanos) {
        self.is_heard(now);
        let began = now.saturating_sub(SLICE);
        self.plan_cut(began);
        self.plan_machines(began);
    }

    fn plan_cut(&mut self, load_began: Nanos) {
        let (Some((_, fault)), None, None) = (self.cut_of_trial(), self.cut_at, &self.ending) else { return };
        let Some(plan) = &self.plan else { return };
        let Step::Trial { case, .. } = self.step else { return };
        self.cut_at = Some(load_began + plan.cases[case as usize].trial.ramp + fault.at);
    }

    /// It is time.
    pub(super) fn cut_power(&mut self, now: Nanos) {
        self.cut_at = None;
        // A user who stopped the run wants its host alive.
        if self.ending.is_none() && self.cut_of_trial().is_some() {
            self.tell_cut(FaultMoment::Begins, now);
            self.actions.push(Action::Cut);
        }
    }

    /// The power is gone, and with it the worker; or it could not be cut, and the load is ended.
    pub(super) fn was_cut(&mut self, done: Result<()>, now: Nanos) {
        match done {
            Ok(()) => {
                self.tell_cut(FaultMoment::Done, now);
                self.actions.extend([Action::Window(false), Action::Edge]);
                self.cut = Some(now);
                self.over();
            }
            Err(error) => {
                self.end_with(error);
                self.actions.push(Action::Send(Request::Stop));
            }
        }
    }

    fn tell_cut(&mut self, moment: FaultMoment, at: Nanos) {
        let Some((fault, what)) = self.cut_of_trial().map(|(index, fault)| (index, fault.act.say())) else { return };
        let trial = self.trials.saturating_sub(1);
        self.tell_fault((trial, fault), moment, what, at);
    }
}
