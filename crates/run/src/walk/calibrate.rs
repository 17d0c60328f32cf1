//! Ceilings, measured once the target is ready and before anything is written to it: when, and what is asked for.

use super::{SILENCE_LIMIT, Walk};
use crate::step::{Action, Step};
use stend_base::Nanos;
use stend_base::random::draw;
use stend_record::observed::Phase;
use stend_record::{Aftermath, Entry, Event, EventKind, FaultMoment};
use stend_spec::calibration::Calibrate;
use stend_wire::Request;

impl Walk {
    /// Whether ceilings are measured now, before the fill; at the first call this begins.
    pub(super) fn is_calibrating(&mut self, now: Nanos) -> bool {
        let Some(plan) = &self.plan else { return false };
        if plan.calibrate == Calibrate::None || self.calibrated || self.ending.is_some() {
            return false;
        }
        self.calibrated = true;
        let (engine, seed) = (plan.engine_trials(), draw(self.asked.seed, u64::MAX - 1));
        self.phase(Phase::Calibrate, now);
        self.actions.push(Action::Send(Request::Calibrate { engine, seed }));
        self.step = Step::Calibrating;
        self.deadline = now + SILENCE_LIMIT;
        true
    }

    /// Something happened on the host; a ceiling that was measured is progress.
    pub(super) fn noticed(&mut self, event: Event, now: Nanos) {
        if self.step == Step::Calibrating && matches!(event.kind, EventKind::Calibrated(_)) {
            self.deadline = now + SILENCE_LIMIT;
        }
        // The trials of several hosts have no events that a worker does, and one host must not hold the others.
        if matches!(self.step, Step::Trial { .. }) && self.asked.hosts.len() == 1 {
            self.deadline = self.deadline.max(now + work_after(&event.kind));
        }
        if self.step == Step::Standing || (self.step == Step::Releasing && self.asked.stand.is_some()) {
            self.deadline = now + super::stand::LIMIT;
        }
        if let EventKind::Crash(Aftermath::Judged(crash)) = &event.kind {
            self.replayed(crash);
        }
        self.append(Entry::Event(self.numbered_by_case(event)));
    }
}

/// Longest time until a worker in a trial reports again after this. An event and its undo are commands, each of which is reported when
/// it has ended. Once its load is over, a trial waits until arrays are whole again, and reports how far they are.
fn work_after(kind: &EventKind) -> Nanos {
    match kind {
        EventKind::Fault { moment: FaultMoment::Begins | FaultMoment::Ends, .. } | EventKind::Command { .. } => {
            super::stand::LIMIT
        }
        EventKind::Fault { .. } | EventKind::Step { .. } => SILENCE_LIMIT,
        _ => Nanos(0),
    }
}
