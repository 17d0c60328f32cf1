//! The vocabulary of a run: what can happen to it, what it can want done, and where it is.

use crate::pause::Pause;
use crate::resume::Progressed;
use std::sync::Arc;
use stend_base::{Error, Kind, Nanos, Result, Say, say};
use stend_plan::{Decision, PlanInputs};
use stend_record::observed::FillOutcome;
use stend_record::{Entry, HostFacts, HostId, TrialOutcome, ZeroSample};
use stend_spec::fault::Act;
use stend_spec::suite::Suite;
use stend_spec::trace::Trace;
use stend_wire::{Facts, FromHost, Inspect, Reply, Request, StandFile};

/// What the user asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The suite.
    pub suite: Suite,
    /// Seed of all random choices.
    pub seed: u64,
    /// Wall time the run should take.
    pub time_budget: Option<Nanos>,
    /// What to look at.
    pub inspect: Inspect,
    /// Id of the run.
    pub run: String,
    /// Path of the run file.
    pub run_file: String,
    /// The traces that the suite replays.
    pub traces: Vec<Arc<Trace>>,
    /// Our process id.
    pub coordinator: u32,
    /// The power of the worker's machine is in our hands: a directory there whose contents stay when it is cut.
    pub keeps: Option<String>,
    /// Where an earlier session of the run got to.
    pub resume: Option<Progressed>,
    /// The power of the worker's machine was cut by the session before, and it is there again.
    pub returned: Option<Returned>,
    /// The stand to put up first; then nothing is known of targets before.
    pub stand: Option<StandFile>,
    /// This session ends with the block that it begins with; the next one goes on, on a stand that is built anew.
    pub one_block: bool,
    /// What the load hosts are called, in the order of their ids; at least one, and the only one without a name.
    pub hosts: Vec<String>,
}

/// When the power of the worker's machine was cut, and when its guest answered again: CLOCK_MONOTONIC of the coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Returned {
    /// The cut.
    pub cut: Nanos,
    /// The answer.
    pub answered: Nanos,
}

/// An event that the hypervisor makes, or its undo.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypervised {
    /// The trial.
    pub trial: u32,
    /// Its block.
    pub block: u32,
    /// Which event of the case.
    pub fault: u32,
    /// What it is.
    pub act: Act,
    /// It is undone.
    pub undo: bool,
}

impl Hypervised {
    /// Its undo.
    pub fn undone(self) -> Hypervised {
        Hypervised { undo: true, ..self }
    }
}

/// What became of a change by the hypervisor.
#[derive(Debug)]
pub struct Changed {
    /// The commands that were executed.
    pub steps: Vec<String>,
    /// Whether all was done.
    pub done: Result<()>,
    /// How long guests were paused, if that was looked at.
    pub pause: Pause,
}

/// Something the user or a signal wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserRequest {
    /// End softly: keep what was measured, undo what was made. The kind decides the exit code.
    Stop(Kind),
    /// End now.
    Abort,
}

/// Anything that can happen to a run.
#[derive(Debug)]
pub enum Input {
    /// From one of the load hosts, as it came.
    From(HostId, FromHost),
    /// From the load host, or what several said as one.
    Host(FromHost),
    /// A trial has ended on all of several load hosts.
    TrialDone {
        /// Its ordinal.
        ordinal: u32,
        /// How, on each.
        parts: Vec<(HostId, TrialOutcome)>,
        /// No host was lost meanwhile.
        whole: bool,
    },
    /// All of several load hosts have looked at their targets.
    Facts {
        /// What holds on each of them.
        together: Box<Facts>,
        /// What each has found.
        each: Vec<(HostId, Facts)>,
    },
    /// All of several load hosts have filled their ranges.
    Filled(Vec<(HostId, FillOutcome)>),
    /// All of several load hosts have sampled blocks for zeros.
    Zeros(Vec<(HostId, ZeroSample)>),
    /// The last of several load hosts was lost, for this reason.
    AllLost(Box<Error>),
    /// From the user.
    User(UserRequest),
    /// The run file cannot be written any more.
    RunFile(Box<Error>),
    /// What became of [`Action::Cut`].
    Cut(Result<()>),
    /// What became of [`Action::Hypervise`].
    MachinesChanged(Changed),
    /// Time has passed.
    Tick,
}

/// Anything a run can want done.
#[derive(Debug, PartialEq)]
pub enum Action {
    /// Say this to the worker.
    Send(Request),
    /// Begin the run file.
    Create {
        /// Everything the plan follows from.
        inputs: Box<PlanInputs>,
        /// Keep entries off the drive while trials run.
        spool: bool,
    },
    /// Keep this.
    Append(Entry),
    /// A measuring window begins or ends.
    Window(bool),
    /// Make everything so far durable.
    Edge,
    /// The plan's warnings, for people.
    Warn(Say),
    /// Cut the power of the worker's machine.
    Cut,
    /// Have the hypervisor change machines that load.
    Hypervise(Hypervised),
    /// Open the run file of an earlier session.
    Resume {
        /// The host as it is now.
        host: Box<HostFacts>,
        /// The host has been rebooted since.
        rebooted: bool,
        /// Keep entries off the drive while trials run.
        spool: bool,
    },
}

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Waiting for the stand.
    Standing,
    /// Waiting for facts.
    Inspecting,
    /// Waiting for what a crash did to be judged.
    Judging,
    /// Waiting for the target to be ready.
    Preparing,
    /// Waiting for ceilings.
    Calibrating,
    /// Waiting for the fill.
    Filling,
    /// Waiting for the switch to an arm; the decision to carry out then.
    Switching {
        /// The arm.
        arm: u32,
        /// What it is needed for.
        decision: Decision,
    },
    /// Waiting for the zero sample; the decision to carry out then.
    Sampling(Decision),
    /// A trial is going on.
    Trial {
        /// Its case.
        case: u32,
        /// Its block.
        block: u32,
    },
    /// A round before the trials of a case is going on.
    Round {
        /// The case.
        case: u32,
        /// Which round, from 0.
        round: u32,
    },
    /// Waiting for the hypervisor to undo the events of the trial before.
    Restoring,
    /// Waiting for undo.
    Releasing,
    /// Over.
    Over,
}

impl Step {
    /// Whether a worker that does what it is asked may say this now; so many trials have begun.
    pub fn awaits(self, reply: &Reply, trials: u32) -> bool {
        match reply {
            Reply::Stand(_) => self == Step::Standing,
            Reply::Facts(_) => self == Step::Inspecting,
            Reply::Judging { .. } | Reply::Judged(_) => self == Step::Judging,
            Reply::Prepared | Reply::Taken => self == Step::Preparing,
            Reply::Calibrated => self == Step::Calibrating,
            Reply::Filling { .. } | Reply::Filled(_) => self == Step::Filling,
            Reply::Switched(_) => matches!(self, Step::Switching { .. }),
            Reply::Zeros(_) => matches!(self, Step::Sampling(_)),
            Reply::Slices { ordinal, .. } | Reply::Log { ordinal, .. } | Reply::TrialDone { ordinal, .. } => {
                self.is_loaded() && ordinal.checked_add(1) == Some(trials)
            }
            Reply::Replaying { .. } | Reply::Released => self == Step::Releasing,
            // Outside of steps, or the end of any.
            Reply::Rehearsed(_) | Reply::Clock(_) | Reply::Watched { .. } | Reply::Seen(_) => true,
            Reply::Sample(_) | Reply::Event(_) | Reply::Failed(_) => true,
        }
    }

    /// Why a host that is silent counts as lost.
    pub fn no_answer(self) -> Say {
        let (step, Say { en, ru }) = (self, no_answer());
        say!("{en} while {step:?}", "{ru} на шаге {step:?}")
    }

    /// Whether the others can go on without a host that is lost now: until all are ready to be filled or measured, it would be another run.
    pub fn may_lose_a_host(self) -> bool {
        match self {
            Step::Standing | Step::Inspecting | Step::Judging | Step::Preparing | Step::Switching { .. } => false,
            Step::Calibrating | Step::Filling | Step::Sampling(_) => true,
            Step::Trial { .. } | Step::Round { .. } | Step::Restoring | Step::Releasing | Step::Over => true,
        }
    }

    /// Whether the load of a case is going on, counted or not.
    pub fn is_loaded(self) -> bool {
        matches!(self, Step::Trial { .. } | Step::Round { .. })
    }
}

/// Why a worker that is silent counts as lost.
pub(crate) fn no_answer() -> Say {
    say!("no answer in time", "нет ответа в срок")
}
