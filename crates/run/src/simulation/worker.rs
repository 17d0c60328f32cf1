//! A simulated worker: takes requests one at a time as the real one does and says when it would answer what. Waits for nothing and has no
//! target; must not know what a run is for.

use super::drives::{Drives, Measured};
use crate::fixture;
use std::collections::VecDeque;
use stend_base::random::Random;
use stend_base::{Bytes, Error, Nanos, say};
use stend_record::observed::FillOutcome;
use stend_record::{ArmFacts, Event, EventKind, HostFacts, Sample, TrialStatus, ZeroSample};
use stend_spec::workload::Trial;
use stend_wire::{Facts, Reply, Request};

/// How often a fill tells how far it is. The real one does so more often.
const FILL_REPORT: Nanos = Nanos::secs(1);

/// How the machine of a worker is.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Its storage.
    pub drives: Drives,
    /// The run file lies on a drive of the target.
    pub shares_drive: bool,
    /// A step takes at most so long beyond what it must.
    pub slowness: Nanos,
    /// The load tells of intervals of this length.
    pub interval: Nanos,
    /// So many of 1000 steps are refused.
    pub refuses: u64,
}

/// What a step says, and when, and of a load when it began and what it finds.
type Course = (Vec<(Nanos, Reply)>, Option<(Nanos, Measured)>);

/// A step that is going on.
struct Doing {
    request: Request,
    /// What it will say, and when; the last ends it.
    says: VecDeque<(Nanos, Reply)>,
    /// In a trial: when its load began, and what it finds.
    load: Option<(Nanos, Measured)>,
}

/// One worker process.
pub struct Worker {
    machine: Machine,
    random: Random,
    steps: VecDeque<Request>,
    doing: Option<Doing>,
    stopped: bool,
    /// Something was made on the target, and is there.
    pub made: bool,
    /// Which boot of its machine it is, as the kernel names it.
    boot_id: String,
    /// It has left the state that its machine was found in for an arm.
    pub switched: bool,
    /// When the next telemetry is due.
    telemetry: Option<Nanos>,
    told: u64,
    /// Trials whose window was measured to its end, by ordinal.
    pub whole: Vec<u32>,
    /// Steps that came while another was going on, or before what they need.
    pub out_of_turn: Vec<String>,
}

impl Worker {
    /// One that has just been started; `left` says that a dead one left something on the target.
    pub fn new(machine: &Machine, boot_id: String, seed: u64, left: bool) -> Worker {
        Worker {
            machine: machine.clone(),
            random: Random::new(seed),
            steps: VecDeque::new(),
            doing: None,
            stopped: false,
            made: left,
            boot_id,
            switched: false,
            telemetry: None,
            told: 0,
            whole: Vec::new(),
            out_of_turn: Vec::new(),
        }
    }

    /// When it next does something by itself.
    pub fn due(&self) -> Option<Nanos> {
        let step = self.doing.as_ref().and_then(|doing| doing.says.front()).map(|(at, _)| *at);
        step.into_iter().chain(self.telemetry).min()
    }

    /// What it says at a time that is due.
    pub fn act(&mut self, now: Nanos) -> Vec<Reply> {
        let mut said = Vec::new();
        if let Some(at) = self.telemetry.filter(|at| *at <= now) {
            self.told += 1;
            said.push(Reply::Sample(Box::new(Sample { at, cost_ns: self.told, ..Sample::default() })));
            self.telemetry = Some(at + crate::ahead::SAMPLE_EVERY);
        }
        while let Some(doing) = &mut self.doing
            && let Some((_, reply)) = doing.says.pop_front_if(|(at, _)| *at <= now)
        {
            said.push(reply);
            if doing.says.is_empty() {
                let ended = self.doing.take();
                ended.into_iter().for_each(|doing| self.ended(&doing, said.last()));
                self.begin_next(now);
            }
        }
        said
    }

    /// A request has arrived.
    pub fn ask(&mut self, request: Request, now: Nanos) {
        match request {
            Request::Stop => self.stop(now),
            Request::Clock | Request::Mark => {}
            step => {
                // A release may be asked for while a step is being stopped; nothing else comes before an answer.
                if self.doing.is_some() && !matches!(step, Request::Release) {
                    self.out_of_turn.push(name(&step).to_string());
                }
                self.steps.push_back(step);
                self.begin_next(now);
            }
        }
    }

    /// The stream to it has ended: it undoes what it did and is gone.
    pub fn let_go(&mut self) {
        (self.made, self.switched, self.telemetry, self.doing) = (false, false, None, None);
        self.steps.clear();
    }

    fn begin_next(&mut self, now: Nanos) {
        if self.doing.is_some() {
            return;
        }
        let Some(request) = self.steps.pop_front() else { return };
        let at = now + Nanos(self.random.below(self.machine.slowness.0 + 1));
        let refused = self.random.below(1000) < self.machine.refuses;
        let (says, load) = match &request {
            // What could not be undone is reported, and then the end.
            Request::Release if refused => (vec![(at, Reply::Failed(refusal(&request))), (at, Reply::Released)], None),
            _ if refused => (vec![(at, Reply::Failed(refusal(&request)))], None),
            Request::Trial { ordinal, trial, begin, .. } => self.load(*ordinal, trial, at.max(*begin)),
            Request::Fill { region, .. } => (self.fill(region.len, at), None),
            step => (self.plain(step, at), None),
        };
        self.doing = Some(Doing { request, says: says.into(), load });
        if self.stopped {
            self.stop(now);
        }
    }

    /// What a step says that makes no load.
    fn plain(&mut self, step: &Request, at: Nanos) -> Vec<(Nanos, Reply)> {
        let told = |action: &str| {
            let kind = EventKind::Step { action: action.to_string() };
            (at, Reply::Event(Event::new(at, kind)))
        };
        let answer = match step {
            Request::Inspect(_) => Reply::Facts(Box::new(self.facts())),
            Request::Prepare(_) => {
                // From the first moment on there may be something to undo.
                self.made = true;
                self.telemetry = Some(at);
                return vec![told("create"), (at, Reply::Prepared)];
            }
            Request::Judge(_) => Reply::Judged(None),
            Request::Calibrate { .. } => Reply::Calibrated,
            Request::SampleZeros { .. } => Reply::Zeros(ZeroSample { sampled: 10, ..ZeroSample::default() }),
            Request::Switch(_) => {
                self.switched = true;
                let Facts { host, targets, .. } = self.facts();
                return vec![
                    told("switch"),
                    (at, Reply::Switched(Box::new(ArmFacts { host, targets, observed: Vec::new() }))),
                ];
            }
            Request::Release => return vec![told("remove"), (at, Reply::Released)],
            _ => Reply::Taken,
        };
        vec![(at, answer)]
    }

    fn facts(&self) -> Facts {
        let facts = fixture::facts();
        let host = HostFacts { boot_id: self.boot_id.clone(), ..facts.host };
        Facts { host, shares_drive: self.machine.shares_drive, ..facts }
    }

    fn fill(&mut self, len: Bytes, begin: Nanos) -> Vec<(Nanos, Reply)> {
        let lasts = Nanos::millis(100) + Nanos(self.random.below(Nanos::secs(5).0));
        let done = |at: Nanos| Bytes((u128::from(len.0) * u128::from(at.0) / u128::from(lasts.0)) as u64);
        let reports = (1..).map(|n| Nanos(FILL_REPORT.0 * n)).take_while(|at| *at < lasts);
        let mut says: Vec<_> = reports.map(|at| (begin + at, Reply::Filling { done: done(at) })).collect();
        says.push((begin + lasts, Reply::Filled(filled(len, lasts))));
        says
    }

    fn load(&mut self, ordinal: u32, trial: &Trial, begin: Nanos) -> Course {
        if !self.made {
            self.out_of_turn.push("trial before anything was made".to_string());
        }
        let found = self.machine.drives.measure(trial);
        let (lasts, drain) = match found.status {
            TrialStatus::Failed => (trial.ramp + Nanos(trial.window.0 / 2), Nanos(0)),
            TrialStatus::Stalled => (trial.ramp + trial.window, trial.drain_limit),
            _ => (trial.ramp + trial.window, Nanos::millis(3)),
        };
        let every = self.machine.interval;
        let slices = |n: u64| {
            let slices = found.slices(trial, n as u32, every);
            (begin + Nanos(every.0 * (n + 1)), Reply::Slices { ordinal, slices })
        };
        let mut says: Vec<_> = (0..lasts.0 / every.0).map(slices).collect();
        let window = lasts.saturating_sub(trial.ramp);
        let outcome = Box::new(found.outcome(trial, found.status, begin, window));
        says.push((begin + lasts + drain, Reply::TrialDone { ordinal, outcome }));
        (says, Some((begin, found)))
    }

    /// Ends the step that is going on, if it makes load; the switch stays thrown.
    fn stop(&mut self, now: Nanos) {
        self.stopped = true;
        let Some(doing) = &mut self.doing else { return };
        let soon = now + Nanos(self.random.below(Nanos::millis(200).0));
        if doing.says.back().is_none_or(|(at, _)| *at <= soon) {
            return;
        }
        match (&doing.request, &doing.load) {
            (Request::Trial { ordinal, trial, .. }, Some((begin, found)))
                if soon < *begin + trial.ramp + trial.window =>
            {
                let window = soon.saturating_sub(*begin + trial.ramp);
                let outcome = Box::new(found.outcome(trial, TrialStatus::Interrupted, *begin, window));
                doing.says.retain(|(at, _)| *at < soon);
                doing.says.push_back((soon, Reply::TrialDone { ordinal: *ordinal, outcome }));
            }
            (Request::Fill { region, .. }, _) => {
                doing.says.retain(|(at, _)| *at < soon);
                doing.says.push_back((soon, Reply::Filled(filled(Bytes(region.len.0 / 2), Nanos(1)))));
            }
            _ => {}
        }
    }

    fn ended(&mut self, doing: &Doing, last: Option<&Reply>) {
        match (&doing.request, last) {
            (Request::Release, _) => (self.made, self.switched, self.telemetry) = (false, false, None),
            (Request::Trial { .. }, Some(Reply::TrialDone { ordinal, outcome }))
                if matches!(outcome.status, TrialStatus::Complete | TrialStatus::Mismatch) =>
            {
                self.whole.push(*ordinal);
            }
            _ => {}
        }
    }
}

fn filled(written: Bytes, elapsed: Nanos) -> FillOutcome {
    FillOutcome { written, elapsed, passes: 1, block_size: Bytes::mib(1), ..FillOutcome::default() }
}

fn refusal(request: &Request) -> Box<Error> {
    let name = name(request);
    Error::preflight(say!("{name} was refused", "отказано: {name}"))
}

/// What a request asks for.
pub fn name(request: &Request) -> &'static str {
    match request {
        Request::Inspect(_) => "inspect",
        Request::Rehearse(_) => "rehearse",
        Request::Prepare(_) => "prepare",
        Request::Judge(_) => "judge",
        Request::Fill { .. } => "fill",
        Request::Calibrate { .. } => "calibrate",
        Request::SampleZeros { .. } => "zeros",
        Request::Switch(_) => "switch",
        Request::Trace { .. } => "trace",
        Request::Foresee(_) => "foresee",
        Request::Trial { .. } => "trial",
        Request::Stand(_) => "stand",
        Request::Look(_) => "look",
        Request::Watch(_) => "watch",
        Request::Mark => "mark",
        Request::Clock => "clock",
        Request::Stop => "stop",
        Request::Release => "release",
    }
}
