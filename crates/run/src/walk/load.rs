//! Trials, and the rounds before them: how one begins, and what its end means.

use super::{SILENCE_LIMIT, Walk};
use crate::learned::Which;
use crate::step::{Action, Step};
use crate::upload::is_of_worker;
use stend_base::{Nanos, say};
use stend_plan::{Outcome, Plan};
use stend_record::observed::Phase;
use stend_record::{Entry, HostId, TrialOutcome, together};
use stend_spec::fault::Fault;
use stend_spec::workload::Trial;
use stend_wire::Request;

/// Time on top of ramp, window, drain limit and reading back after which a trial is given up.
const TRIAL_GRACE: Nanos = Nanos::secs(15);
/// Longest time after the deadline of a load in which its messages may still arrive. What waits in a worker is a log of 32 MiB at most,
/// which takes 22 minutes at 25 kB/s.
const HEARD_LIMIT: Nanos = Nanos::secs(3600);

/// Rounds that were not needed, because a case was steady before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SkippedRounds {
    /// How many.
    pub rounds: u32,
    /// Their planned time.
    pub time: Nanos,
}

impl SkippedRounds {
    /// Adds those that would have come after a round.
    pub fn add(&mut self, plan: &Plan, case: u32, round: u32) {
        let Some(steady) = plan.cases[case as usize].steady else { return };
        let left = steady.rounds.saturating_sub(round + 1);
        self.rounds = self.rounds.saturating_add(left);
        self.time = Nanos(self.time.0.saturating_add(steady.round.0.saturating_mul(u64::from(left))));
    }
}

/// What a step takes by the plan.
fn planned(plan: &Plan, step: Step) -> Nanos {
    match step {
        Step::Trial { case, .. } => {
            let trial = &plan.cases[case as usize].trial;
            trial.ramp + trial.window
        }
        Step::Round { case, .. } => plan.cases[case as usize].steady.map_or(Nanos(0), |steady| steady.round),
        _ => Nanos(0),
    }
}

/// The trial or round that is going on.
fn which(step: Step) -> Option<Which> {
    match step {
        Step::Trial { case, block } => Some(Which { case, number: block, round: false }),
        Step::Round { case, round } => Some(Which { case, number: round, round: true }),
        _ => None,
    }
}

impl Walk {
    /// Has the worker run a trial, or a round, which is one that does not count.
    pub(super) fn begin(&mut self, step: Step, trial: Trial, now: Nanos) {
        let (case, block, round) = match step {
            Step::Trial { case, block } => (case, block, false),
            Step::Round { case, round } => (case, round, true),
            _ => return,
        };
        if !self.step.is_loaded() && self.step != Step::Restoring {
            self.phase(Phase::Measure, now);
        }
        let ordinal = self.trials;
        self.trials += 1;
        self.deadline = now
            + trial.ramp
            + trial.window
            + trial.drain_limit
            + trial.read_back_limit()
            + trial.set_up_limit()
            + TRIAL_GRACE;
        // Rounds bring a load into its state, and are none of the measured ones.
        let cases = self.plan.iter().flat_map(|plan| plan.cases.get(case as usize));
        let all = cases.filter(|_| !round).flat_map(|case| case.faults.clone());
        let faults: Vec<Fault> = all.filter(|fault| is_of_worker(fault, self.asked.keeps.is_some())).collect();
        if !faults.is_empty() {
            self.deadline = self.deadline + SILENCE_LIMIT;
        }
        self.heard_until = self.deadline + HEARD_LIMIT;
        let asked = Box::new(trial.clone());
        self.append(Entry::TrialStart { trial: ordinal, case, block, round, asked, at: now });
        self.actions.push(Action::Window(true));
        self.actions.push(Action::Send(Request::Trial {
            ordinal,
            trial: Box::new(trial),
            faults,
            block,
            begin: Nanos(0),
        }));
        self.step = step;
        self.begun = now;
    }

    /// The load was heard of: over a slow line its messages arrive long after it has ended, and not without end.
    pub(super) fn is_heard(&mut self, now: Nanos) {
        if self.step.is_loaded() {
            self.deadline = self.deadline.max((now + SILENCE_LIMIT).min(self.heard_until));
        }
    }

    /// Planned time of what has ended in this session, and of what is in progress as much as has gone by.
    pub fn planned_so_far(&self, now: Nanos) -> Nanos {
        let current = self.plan.as_ref().map_or(Nanos(0), |plan| planned(plan, self.step));
        self.measured.saturating_sub(self.earlier) + now.saturating_sub(self.begun).min(current)
    }

    /// Planned time of all that this session measures.
    pub fn planned_in_all(&self) -> Nanos {
        let all = self.plan.as_ref().map_or(Nanos(0), Plan::trial_time);
        let left = all.saturating_sub(self.spared.time).saturating_sub(self.earlier);
        match self.asked.one_block {
            true => left.min(Nanos(all.0 / u64::from(self.asked.suite.blocks).max(1))),
            false => left,
        }
    }

    /// A trial has ended on each of its hosts, of which none was lost meanwhile if it is `whole`.
    pub(super) fn trial_done(&mut self, ordinal: u32, (parts, whole): (Vec<(HostId, TrialOutcome)>, bool), now: Nanos) {
        let of_hosts: Vec<&TrialOutcome> = parts.iter().map(|(_, outcome)| outcome).collect();
        let Some(outcome) = together(&of_hosts) else { return self.trial_lost(now) };
        self.count_faults(&outcome);
        if let (Some(plan), Some(which)) = (&self.plan, which(self.step)) {
            self.measured = self.measured + planned(plan, self.step);
            let parts: Vec<(HostId, &TrialOutcome)> = parts.iter().map(|(host, outcome)| (*host, outcome)).collect();
            let found = self.learned.ended(plan, which, (&outcome, &parts), (!whole, self.asked.hosts.len() as u32));
            self.history.push(found);
            if let (Step::Round { case, round }, Outcome::Steady) = (self.step, found) {
                self.spared.add(plan, case, round);
            }
        }
        for (host, outcome) in parts {
            self.append(Entry::TrialEnd { host, trial: ordinal, outcome: Box::new(outcome) });
        }
        self.load_is_over(now);
    }

    /// Counts what was wrong in a trial, on all its hosts or on one of them, and warns of the first.
    pub(super) fn count_faults(&mut self, outcome: &TrialOutcome) {
        // What hosts report may be any number.
        let errors = outcome.errors.iter().fold(0, |sum: u64, e| sum.saturating_add(e.count));
        if errors > 0 && self.trial_errors == 0 {
            self.actions.push(Action::Warn(say!(
                "the target returned I/O errors; see check H76",
                "объект вернул ошибки ввода-вывода; см. проверку H76"
            )));
        }
        self.trial_errors = self.trial_errors.saturating_add(errors);
        let mismatches = outcome.verification.as_ref().map_or(0, |found| found.all().wrong());
        if mismatches > 0 && self.mismatches == 0 {
            self.actions.push(Action::Warn(say!(
                "the target returned data that differ from what was written; see check H79",
                "объект вернул не те данные, что были записаны; см. проверку H79"
            )));
        }
        self.mismatches = self.mismatches.saturating_add(mismatches);
    }

    /// All hosts of a trial were lost while others rested: nothing of it counts.
    fn trial_lost(&mut self, now: Nanos) {
        self.measured = self.measured + self.plan.as_ref().map_or(Nanos(0), |plan| planned(plan, self.step));
        let lost = self.learned.lost();
        self.history.push(lost);
        self.load_is_over(now);
    }

    fn load_is_over(&mut self, now: Nanos) {
        // The load ended before.
        self.cut_at = None;
        self.actions.push(Action::Window(false));
        self.actions.push(Action::Edge);
        self.restore_machines(now);
    }
}
