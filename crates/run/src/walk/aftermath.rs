//! What comes between the facts of a target and its preparation: where a run goes on that a crash may have ended, the crash
//! is judged before anything else touches the target.

use super::{SILENCE_LIMIT, Walk};
use crate::ahead;
use crate::step::{Action, Returned, Step};
use stend_base::{Nanos, say};
use stend_record::observed::Phase;
use stend_record::{Aftermath, Back, Crash, Entry, Event, EventKind};
use stend_wire::{Judge, Request};

/// Longest preparation: allocating a large file on a slow file system.
const PREPARE_LIMIT: Nanos = Nanos::secs(300);

/// How far the replay of a log of writes is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replay {
    /// The state that is being made, from 1.
    pub state: u32,
    /// How many there are.
    pub states: u32,
    /// When the first one was begun.
    pub since: Nanos,
}

impl Walk {
    /// The run file is open and the plan is laid out.
    pub(super) fn look_back(&mut self, now: Nanos) {
        let plan = self.plan.as_ref().filter(|plan| self.asked.resume.is_some() && ahead::keeps_ledger(plan));
        let Some(plan) = plan else { return self.prepare(now) };
        let judge = Judge {
            ledger: ahead::ledger_of(&self.asked),
            run: self.asked.run.clone(),
            files: plan.files.clone(),
            kept: self.kept_ledger(),
        };
        self.actions.push(Action::Send(Request::Judge(judge)));
        self.step = Step::Judging;
        self.deadline = now + SILENCE_LIMIT;
    }

    /// Whether there should be a ledger of an earlier session, unless its worker came to its end.
    fn kept_ledger(&self) -> bool {
        !ahead::replays(&self.asked) && self.asked.resume.as_ref().is_some_and(|earlier| earlier.pending_ledger)
    }

    /// A crash is being judged.
    pub(super) fn judging(&mut self, now: Nanos) {
        self.read.get_or_insert(now);
        self.deadline = now + SILENCE_LIMIT;
    }

    /// A state of the target is being rebuilt from a log of its writes; `at` is which of how many. Before the first one the log is read.
    pub(super) fn replaying(&mut self, at: (u32, u32), now: Nanos) {
        self.deadline = now + super::stand::LIMIT;
        if at.0 == 0 || self.replay.is_some_and(|replay| replay.state == at.0) {
            return;
        }
        if self.replay.is_none() {
            self.phase(Phase::Replay, now);
        }
        let since = self.replay.map_or(now, |replay| replay.since);
        let (state, states) = at;
        self.append(Entry::Event(Event::new(now, EventKind::Replaying { state, states })));
        self.replay = Some(Replay { state, states, since });
    }

    /// How long it took, after a cut of power by the session before, until there was something again.
    fn back(&self, now: Nanos) -> Option<Back> {
        let Returned { cut, answered } = self.asked.returned?;
        let since = |at: Nanos| at.saturating_sub(cut);
        let trial = self.trials.saturating_sub(1);
        let read = since(self.read.unwrap_or(now));
        Some(Back { trial, answered: since(answered), stood: self.stood.map(since), read })
    }

    /// A state of the target was rebuilt from a log of its writes, and judged.
    pub(super) fn replayed(&mut self, crash: &Crash) {
        let wrong = crash.wrong();
        if wrong > 0 && self.mismatches == 0 {
            self.actions.push(Action::Warn(say!(
                "a power failure would have lost or changed data that had been acknowledged as durable; see check H81",
                "при потере питания пропали бы или изменились данные, запись которых была подтверждена; см. проверку H81"
            )));
        }
        self.mismatches = self.mismatches.saturating_add(wrong);
    }

    /// A crash was judged, or there was nothing to judge it by.
    pub(super) fn judged(&mut self, found: Option<Aftermath>, now: Nanos) {
        // After a restart no worker can have taken it away; before one the worker that looks knows.
        let missing = self.rebooted && self.kept_ledger();
        let gone = || Aftermath::Unknown {
            reason: say!("the ledger is gone: it was lost or removed", "журнала больше нет: он утрачен или удалён"),
        };
        if let Some(found) = found.or_else(|| missing.then(gone)) {
            if let (Aftermath::Judged(_), Some(back)) = (&found, self.back(now)) {
                self.append(Entry::Event(Event::new(now, EventKind::Back(back))));
            }
            let wrong = match &found {
                Aftermath::Judged(crash) => crash.wrong(),
                Aftermath::Unknown { .. } => 0,
            };
            if wrong > 0 {
                self.actions.push(Action::Warn(say!(
                    "the crash lost or changed data that had been acknowledged as durable; see check H81",
                    "после сбоя пропали или изменились данные, запись которых была подтверждена; см. проверку H81"
                )));
            }
            self.mismatches = self.mismatches.saturating_add(wrong);
            self.append(Entry::Event(Event::new(now, EventKind::Crash(found))));
        }
        match self.ending {
            None => self.prepare(now),
            Some(_) => self.release(now),
        }
    }

    fn prepare(&mut self, now: Nanos) {
        self.phase(Phase::Provision, now);
        self.actions.push(Action::Edge);
        let Some(plan) = &self.plan else { return };
        self.actions.push(Action::Send(Request::Prepare(ahead::prepare(&self.asked, plan))));
        self.step = Step::Preparing;
        self.deadline = now + PREPARE_LIMIT;
    }
}
