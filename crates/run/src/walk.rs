//! What to do next, given what just happened. No clock, no I/O: tests feed any order of events.

mod aftermath;
mod arms;
mod calibrate;
mod end;
mod load;
mod machines;
mod power;
mod stand;

use crate::ahead;
use crate::arms::Arms;
use crate::channel::{lost, out_of_order};
use crate::learned::Learned;
#[cfg(test)]
use crate::resume;
use crate::step::{Action, Asked, Input, Step, UserRequest};
use crate::upload::Upload;
pub(crate) use aftermath::Replay;
pub(crate) use load::SkippedRounds;
use stend_analyse::findings::Caveat;
use stend_base::random::draw;
use stend_base::{Error, Kind, Nanos, Say, say};
use stend_plan::{Decision, Outcome, Plan, PlanInputs, StopReason};
use stend_record::observed::{FillOutcome, Phase};
use stend_record::{Entry, Event, EventKind, HostId, HostInfo, RunState, ZeroSample};
use stend_spec::workload::Region;
use stend_wire::{Facts, FromHost, Reply, Request};

/// Longest look at a target: a slow device answers its inquiry within it, after a sample of its blocks that may take a minute.
const INSPECT_LIMIT: Nanos = Nanos::secs(150);
/// Longest time without progress of a fill or a sampling of zeros.
const SILENCE_LIMIT: Nanos = Nanos::secs(60);
/// Longest undo, with a sample of what is left on a device.
const RELEASE_LIMIT: Nanos = Nanos::secs(150);

/// The state of a run.
pub struct Walk {
    asked: Asked,
    /// Laid out once the target is known.
    pub plan: Option<Plan>,
    /// Where we are.
    pub step: Step,
    /// Trials begun.
    pub trials: u32,
    /// Planned time of the trials and rounds that have ended.
    pub measured: Nanos,
    /// That of earlier sessions.
    earlier: Nanos,
    /// When the trial or round in progress began.
    begun: Nanos,
    /// Latest time up to which messages of its load put off its deadline.
    heard_until: Nanos,
    /// Rounds that the plan allows and that were not needed.
    pub spared: SkippedRounds,
    /// Bytes filled so far.
    pub filled: stend_base::Bytes,
    history: Vec<Outcome>,
    /// What trials have shown so far.
    learned: Learned,
    decisions: u32,
    zeros_sampled: bool,
    arms: Arms,
    upload: Upload,
    /// The arm before which a person is waited for.
    suspended: Option<u32>,
    /// The block that this session measures, once it has begun; the others are left to others.
    block: Option<u32>,
    /// It was measured, and there are others.
    pub waits: bool,
    /// It waits for a person, and nothing but what its trials found went wrong.
    pub asks: bool,
    /// When the power of the host is to be cut, once the load that it comes upon has begun.
    cut_at: Option<Nanos>,
    /// When it was: the next session goes on.
    pub cut: Option<Nanos>,
    /// What the hypervisor does in the trial.
    machines: machines::Machines,
    /// When the stand was up, and when the first block was read and compared, after a cut by the session before.
    stood: Option<Nanos>,
    read: Option<Nanos>,
    /// How far the replay of a log of writes is.
    pub replay: Option<Replay>,
    /// What is to be said of the run before it writes, as soon as nothing refuses it any more.
    doubts: Vec<Say>,
    /// What is known of each of several load hosts, in their order.
    loads: Vec<(HostId, HostInfo)>,
    refill: bool,
    /// Ceilings were measured, or are being.
    calibrated: bool,
    created: bool,
    /// The host was restarted since the last session.
    rebooted: bool,
    deadline: Nanos,
    /// Why the run ends early.
    pub ending: Option<Box<Error>>,
    /// The user asked for an end when everything had been measured: the run is complete, and nothing shall follow it.
    pub stopped: Option<Kind>,
    /// The user asked twice.
    pub aborted: bool,
    /// How the run ended; `Open` until it is over.
    pub state: RunState,
    /// (failed I/Os, blocks that were not as written) of earlier sessions.
    earlier_faults: (u64, u64),
    /// Failed I/Os of this one.
    trial_errors: u64,
    /// Blocks of this one that were not as written.
    mismatches: u64,
    actions: Vec<Action>,
    /// What happened before there was a run file to keep it in.
    early: Vec<Entry>,
}

impl Walk {
    /// A run at its beginning; its first action asks for facts.
    pub fn new(asked: Asked, now: Nanos) -> Walk {
        let (step, first, limit) = stand::first(&asked);
        let earlier = asked.resume.as_ref();
        let (history, learned) = earlier.map(|e| (e.history.clone(), e.learned.clone())).unwrap_or_default();
        let (trials, decisions) = earlier.map_or((0, 0), |e| (e.trials, e.decisions));
        let (refill, zeros_sampled) = earlier.map_or((false, false), |e| (e.filled, e.zeros_sampled));
        let measured = earlier.map_or(Nanos(0), |e| e.measured);
        let calibrated = earlier.is_some_and(|e| e.calibrated);
        // What is wrong with a target does not become right by a pause.
        let earlier_faults = earlier.map_or((0, 0), |e| (e.errors, e.mismatches));
        let suite = earlier.map_or(&asked.suite, |e| &e.inputs.suite);
        Walk {
            arms: Arms::new(suite, earlier),
            suspended: None,
            block: None,
            waits: false,
            asks: false,
            cut_at: None,
            machines: machines::Machines::default(),
            cut: None,
            stood: None,
            read: None,
            replay: None,
            doubts: Vec::new(),
            loads: Vec::new(),
            upload: Upload::new(&asked.traces),
            asked,
            plan: None,
            step,
            trials,
            measured,
            earlier: measured,
            begun: now,
            heard_until: now,
            spared: SkippedRounds::default(),
            filled: stend_base::Bytes(0),
            history,
            learned,
            decisions,
            zeros_sampled,
            refill,
            calibrated,
            created: false,
            rebooted: false,
            deadline: now + limit,
            early: Vec::new(),
            ending: None,
            stopped: None,
            aborted: false,
            state: RunState::Open,
            earlier_faults,
            trial_errors: 0,
            mismatches: 0,
            actions: vec![Action::Send(first)],
        }
    }

    /// What is to be done now.
    pub fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// Takes notice of one thing that happened at `now`.
    pub fn apply(&mut self, input: Input, now: Nanos) {
        if self.step == Step::Over {
            return;
        }
        match input {
            Input::Host(FromHost::Reply(reply)) => self.reply(reply, now),
            Input::Host(FromHost::Lost(detail)) => self.lost(&Say::same(detail), now),
            // What several hosts say is joined before it comes here.
            Input::From(_, message) => self.apply(Input::Host(message), now),
            Input::TrialDone { ordinal, parts, whole } => self.trial_done(ordinal, (parts, whole), now),
            Input::Facts { together, each } => self.facts(*together, &each, now),
            Input::Filled(parts) => self.filled(parts, now),
            Input::Zeros(parts) => self.zeros(parts, now),
            Input::AllLost(error) => self.gone(error),
            Input::User(UserRequest::Stop(kind)) => self.stop(kind, now),
            Input::User(UserRequest::Abort) => self.abort(),
            Input::RunFile(error) => {
                self.end_with(error);
                self.actions.push(Action::Send(Request::Stop));
            }
            Input::Cut(done) => self.was_cut(done, now),
            Input::MachinesChanged(changed) => self.machines_changed(changed, now),
            Input::Tick if self.cut_at.is_some_and(|at| now >= at) => self.cut_power(now),
            Input::Tick if self.is_late(now) => self.lost(&self.step.no_answer(), now),
            Input::Tick => self.change_machines(now),
        }
    }

    /// Keeps what one of several load hosts has told, which changes nothing else.
    pub(crate) fn keep(&mut self, entry: Entry, now: Nanos) {
        match &entry {
            Entry::Slices { .. } => self.load_goes_on(now),
            Entry::IoLog { .. } => self.is_heard(now),
            // Another host of the trial was lost; what was wrong here was wrong.
            Entry::TrialEnd { outcome, .. } => self.count_faults(outcome),
            _ => {}
        }
        self.append(entry);
    }

    /// Whether what was asked for should have been answered.
    pub(crate) fn is_late(&self, now: Nanos) -> bool {
        self.step != Step::Over && now > self.deadline
    }

    /// This process stood still for so long, and heard nothing: no worker is late for that.
    pub(crate) fn was_away(&mut self, gap: Nanos) {
        (self.deadline, self.heard_until) = (self.deadline + gap, self.heard_until + gap);
    }

    fn reply(&mut self, reply: Reply, now: Nanos) {
        match reply {
            // What was under way when the run was stopped is not needed any more.
            late if !self.step.awaits(&late, self.trials) && self.step == Step::Releasing => {}
            other if !self.step.awaits(&other, self.trials) => self.failed(out_of_order(), now),
            Reply::Facts(facts) => {
                let alone = [(HostId::LOAD, (*facts).clone())];
                self.facts(*facts, &alone, now);
            }
            // Answers to a dry run, a look or a greeting, which walk no plan, and those of another host.
            Reply::Rehearsed(_) | Reply::Clock(_) | Reply::Watched { .. } | Reply::Seen(_) => {}
            Reply::Stand(answer) => self.stands(*answer, now),
            Reply::Judging { .. } => self.judging(now),
            Reply::Replaying { state, states } => self.replaying((state, states), now),
            Reply::Judged(found) => self.judged(found.map(|found| *found), now),
            Reply::Prepared | Reply::Taken | Reply::Calibrated => self.prepared(now),
            Reply::Filling { done } => {
                self.filled = done;
                self.deadline = now + SILENCE_LIMIT;
            }
            Reply::Filled(outcome) => self.filled(vec![(HostId::LOAD, outcome)], now),
            Reply::Zeros(zeros) => self.zeros(vec![(HostId::LOAD, zeros)], now),
            Reply::Switched(facts) => self.switched(*facts, now),
            Reply::Slices { ordinal, slices } => {
                self.append(Entry::slices(ordinal, slices));
                self.load_goes_on(now);
            }
            Reply::Log { ordinal, chunk } => {
                self.append(Entry::io_log(ordinal, chunk));
                self.is_heard(now);
            }
            Reply::TrialDone { ordinal, outcome } => {
                self.trial_done(ordinal, (vec![(HostId::LOAD, *outcome)], true), now);
            }
            Reply::Sample(sample) => self.append(Entry::Sample { host: HostId::LOAD, sample }),
            Reply::Event(event) => self.noticed(event, now),
            Reply::Failed(error) => self.failed(error, now),
            Reply::Released => self.over(),
        }
    }

    /// What holds on each host, and what each of them is.
    fn facts(&mut self, facts: Facts, each: &[(HostId, Facts)], now: Nanos) {
        let (inputs, plan): (PlanInputs, Plan) = match ahead::planned(&self.asked, &facts, each) {
            Ok(planned) => planned,
            Err(error) => {
                self.end_with(error);
                return if self.asked.stand.is_none() { self.over() } else { self.release(now) };
            }
        };
        self.zeros_sampled |= !ahead::reads(&plan, &inputs.target);
        let doubts = stend_analyse::forewarn(&facts.host, &facts.targets, &plan);
        self.doubts = ahead::not_run(&plan).into_iter().chain(doubts.iter().map(Caveat::say)).collect();
        self.created = true;
        match &self.asked.resume {
            Some(earlier) => {
                let rebooted = earlier.first_host().boot_id != facts.host.boot_id;
                self.rebooted = rebooted;
                self.actions.push(Action::Resume { host: Box::new(facts.host), rebooted, spool: facts.shares_drive });
            }
            None => {
                self.actions.push(Action::Create { inputs: Box::new(inputs), spool: facts.shares_drive });
                let Facts { host, ports, targets, .. } = facts;
                let info = HostInfo { facts: Some(host), ports, targets, ..HostInfo::default() };
                self.append(Entry::Host { host: HostId::LOAD, info: Box::new(info) });
            }
        }
        let early = std::mem::take(&mut self.early);
        self.actions.extend(early.into_iter().map(Action::Append));
        self.upload.show(&plan, self.asked.keeps.is_some());
        self.plan = Some(plan);
        self.look_back(now);
    }

    /// The target is ready: what the worker must know before the fill is sent, then the plan begins.
    fn prepared(&mut self, now: Nanos) {
        if let (Some(request), None) = (self.upload.next(), &self.ending) {
            self.actions.push(Action::Send(request));
            self.deadline = now + SILENCE_LIMIT;
            return;
        }
        if self.ending.is_none() {
            let doubts = std::mem::take(&mut self.doubts);
            let loads: Vec<(HostId, &HostInfo)> = self.loads.iter().map(|(id, info)| (*id, info)).collect();
            let others = self.plan.as_ref().map_or(Vec::new(), |plan| stend_analyse::forewarn_others(&loads, plan));
            let others = others.iter().map(Caveat::say);
            self.actions.extend(doubts.into_iter().chain(others).map(Action::Warn));
            self.loads.clear();
        }
        if self.is_calibrating(now) {
            return;
        }
        match self.plan.as_ref().and_then(|p| p.fill) {
            // The file of the earlier session is gone, and nobody knows what happened to a device.
            Some(len) if self.refill && self.ending.is_none() && self.goes_on() => {
                self.get_ready(Decision::Fill { len }, now)
            }
            _ => self.decide(now),
        }
    }

    /// Whether there is anything left to do for which the range would be filled.
    fn goes_on(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| !matches!(plan.next(&self.history), Decision::Stop(_)))
    }

    fn decide(&mut self, now: Nanos) {
        let decision = match (&self.plan, &self.ending) {
            (Some(plan), None) => plan.next(&self.history),
            _ => return self.release(now),
        };
        if self.is_of_another_block(decision) {
            self.waits = true;
            return self.release(now);
        }
        self.append(Entry::Decision { seq: self.decisions, decision });
        self.decisions += 1;
        self.get_ready(decision, now);
    }

    /// Does what must come before a decision can be carried out: the right arm, a look for zeros.
    fn get_ready(&mut self, decision: Decision, now: Nanos) {
        if self.is_in_other_arm(decision, now) {
            return;
        }
        if let (Decision::Trial { .. } | Decision::Round { .. }, false, Some(plan)) =
            (decision, self.zeros_sampled, &self.plan)
        {
            self.zeros_sampled = true;
            let region = plan.cases[0].trial.region;
            self.actions.push(Action::Send(Request::SampleZeros { region, seed: draw(self.asked.seed, u64::MAX) }));
            self.step = Step::Sampling(decision);
            self.deadline = now + SILENCE_LIMIT;
            return;
        }
        self.carry_out(decision, now);
    }

    fn carry_out(&mut self, decision: Decision, now: Nanos) {
        let Some(plan) = &self.plan else { return };
        match decision {
            Decision::Fill { len } => {
                let region = Region { start: stend_base::Bytes(0), len };
                let (parts, how, seed) = (plan.targets, plan.precondition, self.asked.seed);
                self.actions.push(Action::Send(Request::Fill { region, parts, how, seed }));
                self.phase(Phase::Fill, now);
                self.step = Step::Filling;
                self.deadline = now + SILENCE_LIMIT;
            }
            Decision::Trial { case, block, seed } => {
                let trial = plan.trial(case, seed);
                self.begin(Step::Trial { case, block }, trial, now);
            }
            Decision::Round { case, round, seed } => {
                let trial = plan.round(case, seed);
                self.begin(Step::Round { case, round }, trial, now);
            }
            Decision::Stop(reason) => {
                match reason {
                    StopReason::Done => {}
                    StopReason::TargetFailed => self.end_with(Error::target_io(say!(
                        "the target failed or stalled; the run was ended",
                        "объект отказал или завис; прогон завершён"
                    ))),
                    StopReason::AllCasesFailed => self.end_with(Error::target_io(say!(
                        "every case failed with I/O errors",
                        "каждый случай завершился ошибками ввода-вывода"
                    ))),
                }
                self.release(now);
            }
        }
    }

    fn zeros(&mut self, parts: Vec<(HostId, ZeroSample)>, now: Nanos) {
        parts.into_iter().for_each(|(host, zeros)| self.append(Entry::Zeros { host, zeros }));
        match self.step {
            Step::Sampling(decision) if self.ending.is_none() => self.carry_out(decision, now),
            _ => self.decide(now),
        }
    }

    fn filled(&mut self, parts: Vec<(HostId, FillOutcome)>, now: Nanos) {
        let wanted = self.plan.as_ref().map(Plan::fill_bytes).unwrap_or_default();
        let is_filled = parts.iter().all(|(_, outcome)| outcome.written >= wanted);
        parts.into_iter().for_each(|(host, outcome)| self.append(Entry::Fill { host, outcome }));
        let result = if is_filled { Outcome::Ok } else { Outcome::Failed };
        match std::mem::take(&mut self.refill) {
            // The history already has the fill of the first session.
            true => self.history[0] = result,
            false => self.history.push(result),
        }
        self.actions.push(Action::Edge);
        self.decide(now);
    }

    fn lost(&mut self, detail: &Say, now: Nanos) {
        self.append(Entry::Event(Event::new(now, EventKind::HostLost { detail: detail.en.clone() })));
        self.gone(lost(detail));
    }

    /// No host is left to ask.
    fn gone(&mut self, error: Box<Error>) {
        self.end_with(error);
        self.over();
    }

    fn release(&mut self, now: Nanos) {
        if self.step == Step::Releasing {
            return;
        }
        self.phase(Phase::CleanUp, now);
        self.actions.push(Action::Send(Request::Release));
        self.step = Step::Releasing;
        let removing = self.plan.as_ref().map_or(Nanos(0), Plan::removal_limit);
        let stand = if self.asked.stand.is_none() { Nanos(0) } else { stand::LIMIT };
        self.deadline = now + RELEASE_LIMIT + removing + stand;
    }

    fn phase(&mut self, phase: Phase, at: Nanos) {
        self.append(Entry::Event(Event::new(at, EventKind::Phase(phase))));
    }

    /// Keeps an entry; before the run file exists there is nothing to keep it in.
    pub(crate) fn append(&mut self, entry: Entry) {
        if let Entry::Host { host, info } = &entry {
            self.loads.retain(|(known, _)| known != host);
            self.loads.push((*host, info.as_ref().clone()));
        }
        match self.created {
            true => self.actions.push(Action::Append(entry)),
            false if self.asked.stand.is_some() && matches!(entry, Entry::Event(_)) => self.early.push(entry),
            false => {}
        }
    }
}

#[cfg(test)]
mod tests;
