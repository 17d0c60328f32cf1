//! How a run ends: by itself, by a wish of the user, or because something failed. What comes first counts, and what else went wrong is
//! reported with it.

use super::Walk;
use crate::ahead;
use crate::ending::{clean_up_was_cut, goes_on_after_a_cut, interrupted, not_as_written, outweighs, target_failed};
use crate::ending::{told_with, waits_for_its_stand};
use crate::step::{Action, Step};
use stend_base::{Error, Kind, Nanos};
use stend_record::{Entry, Event, EventKind, RunState};
use stend_wire::Request;

impl Walk {
    /// The user wants an end. What is left where everything was measured is an undo, which is done to its end whatever anybody wants.
    pub(super) fn stop(&mut self, kind: Kind, now: Nanos) {
        if self.ending.is_some() {
            return;
        }
        self.append(Entry::Event(Event::new(now, EventKind::StopRequested)));
        if self.is_measured() {
            self.stopped = Some(kind);
            return;
        }
        self.end_with(interrupted(kind));
        self.actions.push(Action::Send(Request::Stop));
        if self.step == Step::Inspecting {
            match self.asked.stand {
                None => self.over(),
                Some(_) => self.release(now),
            }
        }
    }

    /// The user wants an end at once.
    pub(super) fn abort(&mut self) {
        self.aborted = true;
        let error = if self.is_measured() { clean_up_was_cut() } else { interrupted(Kind::Interrupted) };
        self.end_with(error);
        self.over();
    }

    /// Whether all that was asked for has been measured, so that only the undo is left.
    fn is_measured(&self) -> bool {
        let others = self.waits || self.suspended.is_some() || self.cut.is_some();
        self.step == Step::Releasing && self.ending.is_none() && !others && !ahead::replays(&self.asked)
    }

    pub(super) fn failed(&mut self, error: Box<Error>, now: Nanos) {
        let text = error.message.en.clone();
        self.append(Entry::Event(Event::new(now, EventKind::Note { text })));
        // An undo that fails is reported beside whatever ended the run: a target that failed I/O may refuse it, and what
        // went wrong first counts.
        match (self.step, self.ending.take(), self.faults()) {
            (Step::Releasing, Some(first), _) => self.ending = Some(told_with(first, Some(error))),
            (Step::Releasing, None, (errors @ 1.., _)) => self.ending = Some(target_failed(errors, Some(error))),
            (_, first, _) => self.ending = first.or(Some(error)),
        }
        match self.step {
            // A stand that could not be put up, or not looked at, is taken down.
            Step::Inspecting if self.asked.stand.is_none() => self.over(),
            // Undo failed: nothing more can be done, and the error says what is left behind.
            Step::Releasing => {}
            _ => self.release(now),
        }
    }

    pub(super) fn over(&mut self) {
        self.step = Step::Over;
        let waits = self.suspended.and_then(|arm| Some((arm, self.arms.instruction(arm)?)));
        self.state = match (waits, &self.ending) {
            (Some((arm, text)), _) => RunState::Suspended { arm, instruction: text.to_string() },
            (None, None) if self.cut.is_some() => {
                RunState::Ended { kind: Kind::Interrupted, reason: goes_on_after_a_cut() }
            }
            (None, None) if self.waits => RunState::Ended { kind: Kind::Interrupted, reason: waits_for_its_stand() },
            (None, None) => RunState::Complete,
            (None, Some(error)) => RunState::Ended { kind: error.kind, reason: error.message.clone() },
        };
        self.asks = self.suspended.is_some() && self.ending.is_none();
        // The session that goes on by itself reports what was wrong so far, and the last one ends with it. A person may never come back.
        if (self.waits && self.ending.is_none()) || self.cut.is_some() {
            return;
        }
        // Wrong data weigh more than I/O that failed with an error; both more than a stop by the user.
        let (errors, mismatches) = self.faults();
        if mismatches > 0 && !self.ending.as_ref().is_some_and(|error| outweighs(error.kind)) {
            self.ending = Some(not_as_written(mismatches, self.ending.take()));
        }
        if errors > 0 {
            self.end_with(target_failed(errors, None));
        }
    }

    /// (failed I/Os, blocks that were not as written) of the run. Those of earlier sessions count as soon as it is certain
    /// that this one goes on with their target.
    pub(super) fn faults(&self) -> (u64, u64) {
        let (errors, mismatches) = if self.created { self.earlier_faults } else { (0, 0) };
        (errors.saturating_add(self.trial_errors), mismatches.saturating_add(self.mismatches))
    }

    /// The same where another reason must be heard of, too: an undo that failed leaves something behind.
    pub(crate) fn end_also_with(&mut self, error: Box<Error>) {
        self.ending = Some(match self.ending.take() {
            Some(first) => told_with(first, Some(error)),
            None => error,
        });
    }

    /// The first reason to end is the one that counts.
    pub(super) fn end_with(&mut self, error: Box<Error>) {
        self.ending.get_or_insert(error);
    }
}
