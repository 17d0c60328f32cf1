//! A picture of a run from its file alone: what `stend watch` shows beside a run of another terminal.

use crate::progress::{Update, ahead, eta_of_states, share_of_trials, steps};
use crate::walk::{Replay, SkippedRounds};
use stend_base::{Bytes, Nanos};
use stend_plan::Plan;
use stend_record::observed::Phase;
use stend_record::{EventKind, RunRecord, RunState, Slice, TrialRecord};

/// Live figures cover this much of the past.
const LIVE_SPAN: Nanos = Nanos::secs(2);

/// The state of a run as its file tells it at `now` (CLOCK_MONOTONIC, valid on the host of the run).
pub fn picture(run: &RunRecord, plan: &Plan, now: Nanos) -> Update {
    let started = run.events.first().map_or(now, |event| event.at);
    let phase = phase(run);
    let all = run.executed();
    let current = all.last().filter(|t| t.outcome.is_none() && phase == Phase::Measure);
    let heard = last_heard(run);
    let ended: Vec<&TrialRecord> = all.iter().copied().filter(|t| t.outcome.is_some()).collect();
    let planned = |t: &TrialRecord| t.asked.ramp + t.asked.window;
    let under_way = current.map_or(Nanos(0), |t| now.saturating_sub(t.started).min(planned(t)));
    let measured = ended.iter().fold(under_way, |sum, t| sum + planned(t));
    let since = all.first().map_or(Nanos(0), |t| now.saturating_sub(t.started));
    let begun = all.len() as u32;
    let spared = spared(run, plan);
    let steps = steps(ahead(plan, spared.rounds), begun);
    let slices: &[Slice] = current.map_or(&[], |t| &t.slices);
    let replay = replay(run).filter(|_| phase == Phase::Replay);
    let eta = stend_analyse::eta(measured, plan.trial_time().saturating_sub(spared.time), since);
    let done = share_of_trials(ended.len() as u32, steps);
    Update {
        phase,
        step: begun,
        steps,
        label: current.and_then(|t| plan.cases.get(t.case as usize)).map(|c| c.label()).unwrap_or_default(),
        elapsed: now.saturating_sub(started),
        done: replay.map_or(done, |replay| share_of_trials(replay.state.saturating_sub(1), replay.states)),
        eta: replay.map_or(eta, |replay| eta_of_states(replay, now)),
        live: (!slices.is_empty()).then(|| stend_analyse::live(slices, LIVE_SPAN)),
        // The file keeps a fill only when it has ended.
        fill: (phase == Phase::Fill).then_some((Bytes(0), plan.fill_bytes())),
        replay: replay.map(|replay| (replay.state, replay.states)),
        silent: now.saturating_sub(heard),
        warnings: Vec::new(),
    }
}

/// Rounds that were not needed: those of cases whose trials have begun.
fn spared(run: &RunRecord, plan: &Plan) -> SkippedRounds {
    let mut spared = SkippedRounds::default();
    for (case, index) in plan.cases.iter().zip(0u32..) {
        let last = run.rounds.iter().rfind(|round| round.case == index);
        let measured = |after: u32| run.trials.iter().any(|trial| trial.case == index && trial.trial > after);
        if let (Some(_), Some(last)) = (case.steady, last.filter(|last| measured(last.trial))) {
            spared.add(plan, index, last.block);
        }
    }
    spared
}

/// How far the last replay of a log of writes is.
fn replay(run: &RunRecord) -> Option<Replay> {
    let phase = run.events.iter().rfind(|event| event.kind == EventKind::Phase(Phase::Replay))?;
    run.events.iter().rev().find_map(|event| match event.kind {
        EventKind::Replaying { state, states } => Some(Replay { state, states, since: phase.at }),
        _ => None,
    })
}

fn phase(run: &RunRecord) -> Phase {
    if run.state != RunState::Open {
        return Phase::CleanUp;
    }
    let phases = run.events.iter().rev().filter_map(|event| match event.kind {
        EventKind::Phase(phase) => Some(phase),
        _ => None,
    });
    phases.into_iter().next().unwrap_or(Phase::Preflight)
}

fn last_heard(run: &RunRecord) -> Nanos {
    let sample = run.load().samples.last().map(|s| s.at);
    let event = run.events.last().map(|e| e.at);
    let trial = run.executed().last().map(|t| t.started);
    sample.max(event).max(trial).unwrap_or_default()
}
