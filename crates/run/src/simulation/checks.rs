//! What must hold of every simulated run, whatever was done to it. Pure: evidence in, what is wrong out.

use super::scenario::Trouble;
use super::session::Session;
use super::story::{Counted, Story};
use std::collections::{BTreeMap, BTreeSet};
use stend_base::{Kind, Nanos};
use stend_plan::Plan;
use stend_record::observed::FillOutcome;
use stend_record::{
    Event, EventKind, HostId, RunRecord, RunState, Sample, Slice, TrialOutcome, TrialStatus, ZeroSample,
};
use stend_wire::Reply;

/// Longest time in which nothing is heard and a session does not end, beside what its trials may take: preparing is the step with the longest
/// limit, 300 s.
const SILENT_MAX: Nanos = Nanos::secs(310);

/// The same of a switch to an arm: two commands of 610 s.
const SWITCH_MAX: Nanos = Nanos::secs(1220);

/// Everything that is wrong.
pub fn all(story: &Story, undisturbed: &[Counted]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, session) in story.given_up.iter().flatten().chain(&story.sessions).enumerate() {
        let found = [ends(session), tells(session), hands_on(session), obeys(session), undoes(session)];
        wrong.extend(found.into_iter().flatten().map(|what| format!("session {number}: {what}")));
    }
    for run in story.given_up.iter().chain([&story.sessions]) {
        wrong.extend(kept(run).into_iter().chain(beside(run)));
    }
    wrong.extend(complete(story));
    wrong.extend(once(story, undisturbed));
    wrong
}

fn wrong(holds: bool, what: impl FnOnce() -> String) -> Option<String> {
    (!holds).then(what)
}

/// A session ends in bounded time.
pub fn ends(session: &Session) -> Option<String> {
    let silent = session.ended.saturating_sub(session.heard);
    let plan = session.record.as_ref().and_then(|record| Plan::new(&record.header.inputs).ok());
    let trials = plan.iter().flat_map(|plan| &plan.cases).map(|case| &case.trial);
    let longest = trials.map(|trial| trial.ramp + trial.window + trial.drain_limit + trial.read_back_limit()).max();
    let switch = plan.as_ref().filter(|plan| !plan.arms.is_empty()).map(|_| SWITCH_MAX);
    let most = SILENT_MAX + longest.unwrap_or_default() + switch.unwrap_or_default();
    wrong(!session.endless && silent <= most, || {
        format!("no end, {} s after it last heard", silent.0 / Nanos::SECOND.0)
    })
}

/// How a session ends is what happened to it, and the run file says the same.
pub fn tells(session: &Session) -> Option<String> {
    let state = session.record.as_ref().map(|record| &record.state);
    let Some(end) = session.end else {
        // Nobody was there to write an end.
        let open = !session.opened || matches!(state, Some(RunState::Open));
        return wrong(open, || format!("killed, and its file says {state:?}"));
    };
    let allowed = match &session.trouble {
        _ if !session.fired => false,
        Some(Trouble::Dies(..) | Trouble::Hangs(_)) => end == Some(Kind::HostLost),
        Some(Trouble::Unasked(..) | Trouble::Garbage(..)) => matches!(end, Some(Kind::HostLost | Kind::Bug)),
        Some(Trouble::Stop(_)) => end == Some(Kind::Interrupted),
        Some(Trouble::Abort(..)) => matches!(end, Some(Kind::Interrupted | Kind::Terminated)),
        Some(Trouble::DiskFull(..)) => end == Some(Kind::RunFile),
        Some(Trouble::Killed(..) | Trouble::Reset(_)) | None => false,
    };
    let refused = session.trouble.is_some() && end == Some(Kind::Preflight);
    let usual = matches!(end, None | Some(Kind::TargetIo | Kind::Verification));
    if !(allowed || refused || usual) {
        return Some(format!("ended as {end:?} ({}) after {:?}", session.told, session.trouble));
    }
    let agrees = match (state, end) {
        // What the session before it wrote still holds.
        _ if !session.opened => end.is_some(),
        // A file that says only that there was no run is removed.
        (None, end) => end.is_some(),
        (Some(RunState::Open), _) => session.unwritten || end == Some(Kind::RunFile),
        (Some(RunState::Complete), end) => matches!(end, None | Some(Kind::TargetIo | Kind::Verification)),
        (Some(RunState::Suspended { .. }), end) => end.is_none_or(|kind| kind != Kind::Bug),
        // Wrong data and failed I/O weigh more than what ended the run.
        (Some(RunState::Ended { kind, .. }), Some(end)) => {
            *kind == end || matches!(end, Kind::TargetIo | Kind::Verification)
        }
        // It goes on when its machine is there again.
        (Some(RunState::Ended { .. }), None) => session.cut.is_some(),
    };
    wrong(agrees, || format!("ended as {end:?} and its file says {state:?}"))
}

/// The link hands on what was said, in order.
pub fn hands_on(session: &Session) -> Option<String> {
    if matches!(session.trouble, Some(Trouble::Garbage(..) | Trouble::Unasked(..))) {
        return None;
    }
    wrong(session.said.starts_with(&session.taken), || "was told something else than the worker said".to_string())
}

/// The worker is asked for one thing at a time, for each when it can do it, and for nothing but an end once the user wants one.
pub fn obeys(session: &Session) -> Option<String> {
    let late = session.asked.iter().find(|(what, wished)| *wished && !matches!(*what, "stop" | "release"));
    let unasked = matches!(session.trouble, Some(Trouble::Unasked(..) | Trouble::Garbage(..))) && session.fired;
    let turn = session.out_of_turn.first().filter(|_| !unasked);
    match (late, turn) {
        (Some((what, _)), _) => Some(format!("asked for {what} after the user had stopped the run")),
        (None, Some(what)) => Some(format!("asked for {what} out of turn")),
        (None, None) => None,
    }
}

/// A worker that lives has undone what it did, and unless something kept the session from waiting for that, it had reported
/// it.
pub fn undoes(session: &Session) -> Option<String> {
    if session.left && !session.dead {
        return Some("what was made is still there".to_string());
    }
    let made = session.asked.iter().any(|(what, _)| *what == "prepare");
    let kept_from = session.dead
        || matches!(session.end, None | Some(Some(Kind::HostLost)))
        || matches!(session.trouble, Some(Trouble::Abort(..) | Trouble::Unasked(..) | Trouble::Garbage(..)))
            && session.fired;
    wrong(!made || kept_from || session.released, || "did not wait until all was undone".to_string())
}

/// What a run file keeps of what workers say.
#[derive(Debug, Default, Clone, PartialEq)]
struct Kept {
    slices: BTreeMap<u32, Vec<Slice>>,
    outcomes: BTreeMap<u32, TrialOutcome>,
    samples: Vec<Sample>,
    events: Vec<Event>,
    fill: Option<FillOutcome>,
    zeros: Option<ZeroSample>,
}

impl Kept {
    fn take(&mut self, reply: &Reply, shift_ns: i64) {
        match reply.clone() {
            Reply::Slices { ordinal, slices } => self.slices.entry(ordinal).or_default().extend(slices),
            Reply::TrialDone { ordinal, mut outcome } => {
                outcome.shift(shift_ns);
                self.outcomes.insert(ordinal, *outcome);
            }
            Reply::Sample(sample) => self.samples.push(shifted(*sample, shift_ns)),
            Reply::Event(mut event) => {
                event.shift(shift_ns);
                self.events.push(event);
            }
            Reply::Filled(outcome) => self.fill = Some(outcome),
            Reply::Zeros(zeros) => self.zeros = Some(zeros),
            _ => {}
        }
    }

    /// How much of each there is, for people.
    fn size(&self) -> String {
        let slices: Vec<(u32, usize)> = self.slices.iter().map(|(trial, slices)| (*trial, slices.len())).collect();
        let (ended, samples, events) = (self.outcomes.len(), self.samples.len(), self.events.len());
        format!(
            "slices {slices:?}, {ended} trials ended, {samples} samples, {events} events, {:?}, {:?}",
            self.fill, self.zeros
        )
    }

    fn of(record: &RunRecord) -> Kept {
        let all = record.executed();
        let slices = all.iter().filter(|trial| !trial.slices.is_empty());
        let by_worker = |event: &&Event| matches!(event.kind, EventKind::Step { .. });
        Kept {
            slices: slices.map(|trial| (trial.trial, trial.slices.clone())).collect(),
            outcomes: all.iter().filter_map(|trial| Some((trial.trial, trial.outcome.clone()?))).collect(),
            samples: record.load().samples.clone(),
            events: record.events.iter().filter(by_worker).cloned().collect(),
            fill: record.load().fill,
            zeros: record.load().zeros,
        }
    }
}

fn shifted(mut sample: Sample, by_ns: i64) -> Sample {
    sample.at = sample.at.shifted(by_ns);
    sample
}

/// What the sessions of a run file left in it is, session for session, a beginning of what was measured, and all of it where nothing kept
/// it from being written.
pub fn kept(sessions: &[Session]) -> Option<String> {
    let mut so_far = Kept::default();
    for (number, session) in sessions.iter().enumerate() {
        if let Some(unasked) = &session.trouble
            && session.fired
            && matches!(unasked, Trouble::Unasked(..) | Trouble::Garbage(..))
        {
            // What nobody measured is not looked for.
            return None;
        }
        let Some(record) = &session.record else { continue };
        let found = Kept::of(record);
        let whole = session.end.is_some() && !session.unwritten;
        let replies = &session.taken[session.unkept.min(session.taken.len())..];
        let (mut reached, mut at) = ((so_far == found).then(|| so_far.clone()), 0);
        for (index, reply) in replies.iter().enumerate() {
            so_far.take(reply, session.shift_ns);
            if so_far == found {
                (reached, at) = (Some(so_far.clone()), index + 1);
            }
        }
        let Some(reached) = reached else {
            let (found, all) = (found.size(), so_far.size());
            return Some(format!(
                "session {number}: the run file is no beginning of what was measured: {found} of {all}"
            ));
        };
        let last = so_far == reached;
        if whole && !last {
            return Some(format!(
                "session {number}: the run file lacks what came after {at} of {} messages",
                replies.len()
            ));
        }
        so_far = reached;
    }
    None
}

/// The same of what a host said that is watched beside the one that is measured.
pub fn beside(sessions: &[Session]) -> Option<String> {
    let mut so_far: &[Sample] = &[];
    for (number, session) in sessions.iter().enumerate() {
        let Some(record) = &session.record else { continue };
        let found = record.hosts().get(HostId::STORAGE.index()).map(|host| host.samples.as_slice()).unwrap_or_default();
        let new = found.strip_prefix(so_far);
        let said: Vec<Sample> = session.beside.iter().map(|sample| shifted(sample.clone(), session.shift_ns)).collect();
        let whole = session.opened && session.end.is_some() && !session.unwritten;
        let holds = new.is_some_and(|new| if whole { new == said } else { said.starts_with(new) });
        if !holds {
            return Some(format!("session {number}: the run file does not hold what the other host said"));
        }
        so_far = found;
    }
    None
}

/// A trial that counts as complete was measured to its end.
pub fn complete(story: &Story) -> Option<String> {
    let whole: BTreeSet<u32> = story.sessions.iter().flat_map(|session| session.whole.iter().copied()).collect();
    let trials = story.record().map(|record| record.executed()).unwrap_or_default();
    let says = |trial: &&&stend_record::TrialRecord| {
        let status = trial.outcome.as_ref().map(|outcome| outcome.status);
        matches!(status, Some(TrialStatus::Complete | TrialStatus::Mismatch))
    };
    let short = trials.iter().filter(says).find(|trial| !whole.contains(&trial.trial));
    short.map(|trial| format!("trial {} counts and was not measured to its end", trial.trial))
}

/// However often a run was interrupted, it is finished, and what counts is what an undisturbed run measures: every cell as often as planned,
/// with its own seed, in the same order.
pub fn once(story: &Story, undisturbed: &[Counted]) -> Option<String> {
    let counted = story.counted();
    if !story.finished {
        return Some(format!("not finished after {} sessions", story.sessions.len()));
    }
    let plan = story.plan.as_ref()?;
    let faulty = story.scenario.machine.drives.faults != [0; 3];
    // Rounds that are repeated after a pause may meet a fault of their own, which gives their case up.
    let alike = !faulty || plan.cases.iter().all(|case| case.steady.is_none());
    if alike && counted != undisturbed {
        let at = counted.iter().zip(undisturbed).take_while(|(is, should)| is == should).count();
        return Some(format!(
            "{} trials count instead of {}; the first that differs is {at}: {:?} instead of {:?}",
            counted.len(),
            undisturbed.len(),
            counted.get(at),
            undisturbed.get(at)
        ));
    }
    let other = counted.iter().find(|(case, block, seed)| *seed != plan.trial_seed(*block, *case));
    if let Some((case, block, _)) = other {
        return Some(format!("case {case} in block {block} has a seed of its own"));
    }
    let planned = plan.until.is_none() && !faulty;
    let twice = plan.order.iter().find(|(block, case)| {
        let times = counted.iter().filter(|(of, in_block, _)| (of, in_block) == (case, block)).count();
        times > 1 || planned && times == 0
    });
    twice.map(|(block, case)| format!("case {case} in block {block} was not measured once"))
}

/// The same seed makes the same run file.
pub fn replays(story: &Story, again: &Story) -> Option<String> {
    let (one, other) = (story.reproduced(), again.reproduced());
    wrong(one == other, || "played again it makes another run file".to_string())
}
