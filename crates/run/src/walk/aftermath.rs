//! What comes between the facts of a target and its preparation: where a run goes on that a crash may have ended, the crash
//! is judged before anything else touches the target.

use super::{SILENCE_LIMIT, Walk};
use crate::ahead;
use crate::step::{Action, Step};
use stend_base::{Nanos, say};
use stend_host::{Judge, Request};
use stend_record::observed::Phase;
use stend_record::{Aftermath, Crash, Entry, Event, EventKind};

/// Longest preparation: allocating a large file on a slow file system.
const PREPARE_LIMIT: Nanos = Nanos::secs(300);

impl Walk {
    /// The run file is open and the plan is laid out.
    pub(super) fn look_back(&mut self, now: Nanos) {
        let plan = self.plan.as_ref().filter(|plan| self.asked.resume.is_some() && ahead::keeps_ledger(plan));
        let Some(plan) = plan else { return self.prepare(now) };
        let judge =
            Judge { ledger: ahead::ledger_of(&self.asked), run: self.asked.run.clone(), files: plan.files.clone() };
        self.actions.push(Action::Send(Request::Judge(judge)));
        self.step = Step::Judging;
        self.deadline = now + SILENCE_LIMIT;
    }

    /// A state of the target was made again from a log of its writes, and judged.
    pub(super) fn replayed(&mut self, crash: &Crash) {
        let wrong = crash.wrong();
        if wrong > 0 && self.mismatches == 0 {
            self.actions.push(Action::Warn(say!(
                "a loss of power would have taken data that had been acknowledged as durable, or changed them; see check H81",
                "потеря питания уничтожила или изменила бы данные, подтверждённые как долговечные; см. проверку H81"
            )));
        }
        self.mismatches = self.mismatches.saturating_add(wrong);
    }

    /// A crash was judged, or there was nothing to judge it by.
    pub(super) fn judged(&mut self, found: Option<Aftermath>, now: Nanos) {
        let missing = self.rebooted
            && !ahead::replays(&self.asked)
            && self.asked.resume.as_ref().is_some_and(|earlier| earlier.cut_ledger);
        let gone = || Aftermath::Unknown {
            reason: say!("the ledger is gone: it was lost or removed", "журнала больше нет: он утрачен или удалён"),
        };
        if let Some(found) = found.or_else(|| missing.then(gone)) {
            let wrong = match &found {
                Aftermath::Judged(crash) => crash.wrong(),
                Aftermath::Unknown { .. } => 0,
            };
            if wrong > 0 {
                self.actions.push(Action::Warn(say!(
                    "the crash took data that had been acknowledged as durable, or changed them; see check H81",
                    "сбой уничтожил или изменил данные, подтверждённые как долговечные; см. проверку H81"
                )));
            }
            self.mismatches = self.mismatches.saturating_add(wrong);
            self.append(Entry::Event(Event { at: now, kind: EventKind::Crash(found) }));
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
