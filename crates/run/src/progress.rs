//! What a run shows while it goes on: facts and figures, no text layout.

use crate::step::Step;
use crate::walk::{Replay, Walk};
use std::collections::VecDeque;
use stend_analyse::{Eta, LiveFigures};
use stend_base::{Bytes, Nanos, Say, say};
use stend_plan::Plan;
use stend_record::observed::Phase;
use stend_record::{Slice, TrialOutcome};
use stend_wire::{FromHost, Reply};

/// What a state of a log of writes takes by eye, until a few have shown it: under emulation one to six seconds.
const STATE: Nanos = Nanos::secs(2);
/// Live figures cover this much of the past.
const LIVE_SPAN: Nanos = Nanos::secs(2);

/// A picture of the run at one moment.
#[derive(Debug, Clone)]
pub struct Update {
    /// What is going on.
    pub phase: Phase,
    /// Trial or round in progress, from 1; 0 before the first.
    pub step: u32,
    /// Trials planned, and rounds that there may be; 0 until the plan is known.
    pub steps: u32,
    /// Label of the case in progress; empty outside trials.
    pub label: String,
    /// Since the start of the run.
    pub elapsed: Nanos,
    /// Share of the planned work that is done, 0 to 1.
    pub done: f64,
    /// Time left, with its quality.
    pub eta: Eta,
    /// Figures of the last seconds of the trial in progress; `None` outside trials.
    pub live: Option<LiveFigures>,
    /// Bytes filled and to fill, during the fill.
    pub fill: Option<(Bytes, Bytes)>,
    /// State of a log of writes that is being rebuilt, and how many there are, while it is replayed.
    pub replay: Option<(u32, u32)>,
    /// Time since the worker last sent anything.
    pub silent: Nanos,
    /// Warnings so far, oldest first.
    pub warnings: Vec<Say>,
}

/// What is remembered between updates.
pub(crate) struct Progress {
    pub(crate) started: Nanos,
    heard: Nanos,
    measuring_since: Option<Nanos>,
    recent: VecDeque<(Nanos, Vec<Slice>)>,
    warnings: Vec<Say>,
}

impl Progress {
    pub(crate) fn new(now: Nanos) -> Progress {
        Progress { started: now, heard: now, measuring_since: None, recent: VecDeque::new(), warnings: Vec::new() }
    }

    /// Adds a warning unless it has been given already.
    pub(crate) fn warn(&mut self, warning: Say) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Looks at what arrives before the walk takes it.
    pub(crate) fn notice(&mut self, message: &FromHost, now: Nanos) {
        let FromHost::Reply(reply) = message else { return };
        self.heard = now;
        match reply {
            Reply::Slices { slices, .. } => {
                self.recent.push_back((now, slices.clone()));
                while self.recent.front().is_some_and(|(at, _)| now.saturating_sub(*at) > LIVE_SPAN) {
                    self.recent.pop_front();
                }
            }
            Reply::TrialDone { outcome, .. } => {
                self.recent.clear();
                self.notice_engine(outcome);
            }
            _ => {}
        }
    }

    fn notice_engine(&mut self, outcome: &TrialOutcome) {
        let engine = &outcome.engine;
        if !engine.fallback_reason.is_empty() {
            let (backend, reason) = (&engine.backend, &engine.fallback_reason);
            self.warn(say!("using {backend}: {reason}", "используется {backend}: {reason}"));
        }
        if engine.kernel_workers > Some(0) {
            self.warn(say!(
                "on this target io_uring passes I/O to kernel worker threads, which costs CPU time and latency",
                "на этом объекте io_uring передаёт операции рабочим потокам ядра: это увеличивает расход процессора и задержку"
            ));
        }
    }

    /// Shows the present state.
    pub(crate) fn show(&mut self, walk: &Walk, now: Nanos, watch: &mut dyn FnMut(&Update)) {
        let in_trial = walk.step.is_loaded() || matches!(walk.step, Step::Sampling(_));
        if in_trial {
            self.measuring_since.get_or_insert(now);
        }
        let steps = walk.plan.as_ref().map_or(0, |plan| steps(ahead(plan, walk.spared.rounds), walk.trials));
        let done = done_share(walk, steps);
        let label = match (walk.step, &walk.plan) {
            (Step::Trial { case, .. } | Step::Round { case, .. }, Some(plan)) => plan.cases[case as usize].label(),
            _ => String::new(),
        };
        let slices: Vec<Slice> = self.recent.iter().flat_map(|(_, s)| s.iter().cloned()).collect();
        watch(&Update {
            phase: phase(walk.step, walk.replay),
            step: walk.trials,
            steps,
            label,
            elapsed: now.saturating_sub(self.started),
            done,
            eta: self.eta(walk, now),
            live: (walk.step.is_loaded() && !slices.is_empty()).then(|| stend_analyse::live(&slices, LIVE_SPAN)),
            fill: match (walk.step, &walk.plan) {
                (Step::Filling, Some(plan)) => Some((walk.filled, plan.fill_bytes())),
                _ => None,
            },
            replay: walk.replay.map(|replay| (replay.state, replay.states)),
            silent: now.saturating_sub(self.heard),
            warnings: self.warnings.clone(),
        });
    }

    /// Time left: the pace of the trials done so far, applied to those that are left.
    /// While a log of writes is replayed: that of the states.
    fn eta(&self, walk: &Walk, now: Nanos) -> Eta {
        if let Some(replay) = walk.replay {
            return eta_of_states(replay, now);
        }
        let measuring = self.measuring_since.map_or(Nanos(0), |since| now.saturating_sub(since));
        stend_analyse::eta(walk.planned_so_far(now), walk.planned_in_all(), measuring)
    }
}

/// Time until all states of a log are rebuilt.
pub(crate) fn eta_of_states(Replay { state, states, since }: Replay, now: Nanos) -> Eta {
    let states_of = |count: u32| Nanos(STATE.0.saturating_mul(u64::from(count)));
    stend_analyse::eta(states_of(state.saturating_sub(1)), states_of(states), now.saturating_sub(since))
}

fn phase(step: Step, replay: Option<Replay>) -> Phase {
    match step {
        Step::Releasing if replay.is_some() => Phase::Replay,
        Step::Inspecting | Step::Judging => Phase::Preflight,
        Step::Standing | Step::Preparing => Phase::Provision,
        Step::Calibrating => Phase::Calibrate,
        Step::Filling => Phase::Fill,
        Step::Switching { .. } => Phase::Arm,
        Step::Sampling(_) | Step::Trial { .. } | Step::Round { .. } | Step::Restoring => Phase::Measure,
        Step::Releasing | Step::Over => Phase::CleanUp,
    }
}

/// Trials and rounds of a plan, but for those rounds that turned out not to be needed.
pub(crate) fn ahead(plan: &Plan, spared: u32) -> u32 {
    plan.usual_trials().saturating_add(plan.rounds_most()).saturating_sub(spared)
}

/// Trials of a run as far as is known: a search may take more than it usually does.
pub(crate) fn steps(usual: u32, begun: u32) -> u32 {
    usual.max(begun)
}

/// From 0 to 1.
pub(crate) fn share_of_trials(ended: u32, steps: u32) -> f64 {
    (f64::from(ended) / f64::from(steps.max(1))).min(1.0)
}

/// The fill counts as a tenth of the work, the trials as the rest.
fn done_share(walk: &Walk, steps: u32) -> f64 {
    let fill = walk.plan.as_ref().filter(|p| p.fill.is_some()).map(Plan::fill_bytes);
    let filled = fill.map_or(1.0, |len| (walk.filled.0 as f64 / len.0.max(1) as f64).min(1.0));
    let trials = share_of_trials(walk.trials.saturating_sub(1), steps);
    if let Some(Replay { state, states, .. }) = walk.replay {
        return share_of_trials(state.saturating_sub(1), states);
    }
    match (walk.step, fill) {
        (Step::Standing | Step::Inspecting | Step::Judging | Step::Preparing, _) => 0.0,
        (Step::Releasing | Step::Over, _) => 1.0,
        (_, Some(_)) => 0.1 * filled + 0.9 * trials,
        (_, None) => trials,
    }
}

#[cfg(test)]
mod tests {
    use super::{share_of_trials, steps};

    #[test]
    fn a_search_that_takes_more_than_its_usual_trials_is_never_more_than_done() {
        let shown = |ended, usual| {
            let steps = steps(usual, ended + 1);
            (steps, share_of_trials(ended, steps))
        };
        assert_eq!((shown(0, 4), shown(3, 4)), ((4, 0.0), (4, 0.75)));
        assert_eq!((shown(4, 4), shown(9, 4)), ((5, 0.8), (10, 0.9)));
        assert_eq!((share_of_trials(5, 4), share_of_trials(0, 0)), (1.0, 0.0));
    }
}
