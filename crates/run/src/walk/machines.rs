//! What the hypervisor does to the machines that load: which event of a trial is due, one after the other, and that all of them are undone
//! before anything else is measured. Must not know how they are done.

use super::Walk;
use crate::ending::undone_later;
use crate::step::{Action, Changed, Hypervised, Step};
use crate::upload::is_of_worker;
use std::collections::VecDeque;
use stend_base::{Nanos, Say};
use stend_record::{Entry, Event, EventKind, FaultMoment};
use stend_wire::Request;

/// Longest undo of all events of a trial. Terabytes may be copied back; each command has a limit of its own, by the size of its disk.
const RESTORE_LIMIT: Nanos = Nanos::secs(30 * 24 * 3600);

/// The events of the trial that began last.
#[derive(Debug, Default)]
pub(super) struct Machines {
    /// They were laid out for this trial.
    trial: Option<u32>,
    /// What is to come, in the order of time.
    due: VecDeque<(Nanos, Hypervised)>,
    /// What goes on, and since when.
    current: Option<(Hypervised, Nanos)>,
    /// What was done and is not undone, in that order.
    open: Vec<Hypervised>,
}

impl Machines {
    /// What has to be undone, the last first. What is under way counts, also an undo, of which nothing is known: it does no harm twice.
    pub fn left(&mut self) -> Vec<Hypervised> {
        let under_way = self.current.take().map(|(change, _)| change);
        let mut left: Vec<Hypervised> = self.open.drain(..).chain(under_way).map(Hypervised::undone).collect();
        left.reverse();
        left
    }
}

impl Walk {
    /// The load is going on: from now on it is certain when its events come.
    pub(super) fn plan_machines(&mut self, load_began: Nanos) {
        let (Step::Trial { case, block }, Some(plan)) = (self.step, &self.plan) else { return };
        let ordinal = self.trials.saturating_sub(1);
        if self.machines.trial == Some(ordinal) {
            return;
        }
        let case = &plan.cases[case as usize];
        let begin = load_began + case.trial.ramp;
        let faults = (0..).zip(&case.faults).filter(|(_, fault)| fault.act.machine().is_some());
        let mut due: Vec<(Nanos, Hypervised)> = faults
            .flat_map(|(index, fault)| {
                let change = Hypervised { trial: ordinal, block, fault: index, act: fault.act.clone(), undo: false };
                let ends = fault.lasts.map(|lasts| (begin + fault.at + lasts, change.clone().undone()));
                [(begin + fault.at, change)].into_iter().chain(ends)
            })
            .collect();
        due.sort_by_key(|(at, change)| (*at, change.fault));
        self.machines.trial = Some(ordinal);
        self.machines.due = due.into();
    }

    /// Begins what is due, if nothing else goes on.
    pub(super) fn change_machines(&mut self, now: Nanos) {
        let is_due = self.machines.due.front().is_some_and(|(at, _)| now >= *at);
        if is_due && self.machines.current.is_none() && self.ending.is_none() && self.step.is_loaded() {
            let next = self.machines.due.pop_front();
            next.into_iter().for_each(|(_, change)| self.hypervise(change, now));
        }
    }

    fn hypervise(&mut self, change: Hypervised, now: Nanos) {
        let (moment, what) = match change.undo {
            false => (FaultMoment::Begins, change.act.say()),
            true => (FaultMoment::Ends, change.act.say_undone()),
        };
        self.tell_fault((change.trial, change.fault), moment, what, now);
        if change.undo {
            self.machines.open.retain(|open| open.fault != change.fault);
        }
        self.machines.current = Some((change.clone(), now));
        self.actions.push(Action::Hypervise(change));
    }

    /// A change has come to its end.
    pub(super) fn machines_changed(&mut self, Changed { steps, done, pause }: Changed, now: Nanos) {
        let Some((change, since)) = self.machines.current.take() else { return };
        for action in steps {
            self.append(Entry::Event(Event::new(now, EventKind::Step { action })));
        }
        match done {
            Ok(()) => {
                let moment = if change.undo { FaultMoment::Undone } else { FaultMoment::Done };
                let what = change.act.say_hypervised(change.undo, now.saturating_sub(since));
                let (Say { en, ru }, stood) = (what, pause.say());
                let what = Say { en: en + &stood.en, ru: ru + &stood.ru };
                self.tell_fault((change.trial, change.fault), moment, what, now);
            }
            Err(error) => {
                let error = if change.undo { undone_later(error) } else { error };
                let text = error.message.en.clone();
                self.append(Entry::Event(Event::new(now, EventKind::Note { text })));
                self.end_also_with(error);
                if self.step.is_loaded() {
                    self.actions.push(Action::Send(Request::Stop));
                }
            }
        }
        // What is half done is undone, too.
        if !change.undo {
            self.machines.open.push(change);
        }
        if self.step == Step::Restoring {
            self.restore_machines(now);
        }
    }

    /// After a trial: undoes what is not undone, the last first, and goes on then.
    pub(super) fn restore_machines(&mut self, now: Nanos) {
        self.machines.due.clear();
        if self.machines.current.is_none() {
            match self.machines.open.pop() {
                Some(change) => self.hypervise(change.undone(), now),
                None => return self.decide(now),
            }
        }
        if self.step != Step::Restoring {
            self.step = Step::Restoring;
            self.deadline = now + RESTORE_LIMIT;
        }
    }

    pub(super) fn tell_fault(&mut self, (trial, fault): (u32, u32), moment: FaultMoment, what: Say, at: Nanos) {
        self.append(Entry::Event(Event::new(at, EventKind::Fault { trial, fault, moment, what })));
    }

    /// A worker numbers the events that are for it to do; the run file has their numbers in the case.
    pub(super) fn numbered_by_case(&self, mut event: Event) -> Event {
        if let (Step::Trial { case, .. }, Some(plan), EventKind::Fault { fault, .. }) =
            (self.step, &self.plan, &mut event.kind)
        {
            let power = self.asked.keeps.is_some();
            let of_worker = (0..).zip(&plan.cases[case as usize].faults).filter(|(_, one)| is_of_worker(one, power));
            if let Some((number, _)) = of_worker.into_iter().nth(*fault as usize) {
                *fault = number;
            }
        }
        event
    }

    /// What has to be undone where the walk has ended without it.
    pub fn left_of_machines(&mut self) -> Vec<Hypervised> {
        self.machines.left()
    }
}
