//! A run as a whole: what is appended while it goes on, and what a reader gets back.

use crate::calibration::Calibration;
use crate::crash::{Aftermath, Crash};
use crate::event::{ArmFacts, Event, EventKind};
use crate::facts::HostFacts;
use crate::hosts::{HostId, HostInfo, HostRecord, Role};
use crate::imported::Imported;
use crate::io_log::IoChunk;
use crate::observed::{FillOutcome, Phase, Slice, TrialOutcome, ZeroSample};
use crate::recording::Recording;
use crate::sample::Sample;
use crate::source::SourceRecord;
use crate::sources;
use crate::trial::TrialRecord;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use stend_base::{Nanos, Result};
use stend_plan::{Decision, Plan, PlanInputs};
use stend_spec::workload::Trial;

/// The first entry of every run file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// `R-<UTC time>-<4 letters>`.
    pub id: String,
    /// Wall clock at the start, seconds since 1970 UTC.
    pub started_unix: i64,
    /// Version of the binary that wrote the file.
    pub stend_version: String,
    /// The command line, as given.
    pub command_line: Vec<String>,
    /// Targets as the user named them; empty where a stand gives them, or another tool had them.
    pub named: Vec<String>,
    /// Everything the plan follows from.
    pub inputs: PlanInputs,
    /// The suite file, verbatim.
    pub suite_text: String,
    /// Wall clock minus CLOCK_MONOTONIC at the start, ns: turns times on the run's axis into dates.
    pub realtime_offset_ns: i64,
    /// What another tool measured; `None`: Stend did.
    pub imported: Option<Imported>,
    /// The stand that was put up for the run, and taken down after it; `None`: the targets were there.
    // Written also where it is none: postcard knows no names of fields.
    #[serde(default)]
    pub stand: Option<StandText>,
    /// What the user calls the run.
    #[serde(default)]
    pub label: Option<String>,
    /// What its results are held against.
    #[serde(default)]
    pub gate: Option<GateText>,
    /// It is a recording: a host is watched, nothing is measured, and there is no plan.
    #[serde(default)]
    pub recording: Option<Recording>,
    /// The kernel's random id of the coordinator's boot, whose CLOCK_MONOTONIC is the run's axis; empty: unknown.
    #[serde(default)]
    pub boot_id: String,
}

impl RunHeader {
    /// A header with everything else empty.
    pub fn new(id: &str, inputs: PlanInputs) -> RunHeader {
        RunHeader {
            id: id.to_string(),
            started_unix: 0,
            stend_version: String::new(),
            command_line: Vec::new(),
            named: Vec::new(),
            inputs,
            suite_text: String::new(),
            realtime_offset_ns: 0,
            imported: None,
            stand: None,
            label: None,
            gate: None,
            recording: None,
            boot_id: String::new(),
        }
    }
}

/// The limits of a run, as they were when it began: those of a gate file, and others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateText {
    /// Name of the gate file; empty without one.
    pub file: String,
    /// Its text, verbatim.
    pub text: String,
    /// Limits besides, each as it was typed.
    pub expect: Vec<String>,
}

/// A stand file, as it was when the run began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandText {
    /// Name of the stand.
    pub name: String,
    /// Name of the file.
    pub file: String,
    /// Its text, verbatim.
    pub text: String,
    /// Names and identities of what the stand made follow from it.
    pub nonce: u64,
}

/// How far a run got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// No end is recorded: it is going on, or its coordinator was killed.
    Open,
    /// The plan was walked to its end.
    Complete,
    /// Waits for a person to switch to an arm; `stend run --resume` goes on.
    Suspended {
        /// Index of the arm in the suite.
        arm: u32,
        /// What the person is to do, as the suite says it.
        instruction: String,
    },
    /// Ended early; the reason is for people.
    Ended {
        /// Exit code class.
        kind: stend_base::Kind,
        /// Why.
        reason: stend_base::Say,
    },
}

/// One thing appended to a run file, in the order in which it became known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// Always first, once.
    Header(Box<RunHeader>),
    /// What is measured and in which order, before anything is.
    Plan(Box<Plan>),
    /// What is known of a host, before anything that was read there.
    Host {
        /// Which.
        host: HostId,
        /// What.
        info: Box<HostInfo>,
    },
    /// The plan decided.
    Decision {
        /// Ordinal of the decision.
        seq: u32,
        /// What.
        decision: Decision,
    },
    /// A trial began.
    TrialStart {
        /// Ordinal of the trial in the run.
        trial: u32,
        /// Index of the case in the plan.
        case: u32,
        /// Index of the block; of a round which one it is.
        block: u32,
        /// It is a round before the trials of its case, and does not count.
        round: bool,
        /// What was asked of the engine.
        asked: Box<Trial>,
        /// Start, CLOCK_MONOTONIC ns of the coordinator.
        at: Nanos,
    },
    /// Counters of intervals of the trial in progress.
    Slices {
        /// Where they were counted.
        host: HostId,
        /// Ordinal of the trial.
        trial: u32,
        /// The slices.
        slices: Vec<Slice>,
    },
    /// I/Os of the log of the trial in progress.
    IoLog {
        /// Where they were made.
        host: HostId,
        /// Ordinal of the trial.
        trial: u32,
        /// The I/Os.
        chunk: IoChunk,
    },
    /// The trial ended on a host.
    TrialEnd {
        /// Which.
        host: HostId,
        /// Ordinal of the trial.
        trial: u32,
        /// What is known at its end.
        outcome: Box<TrialOutcome>,
    },
    /// The range of a host was filled.
    Fill {
        /// Which.
        host: HostId,
        /// How.
        outcome: FillOutcome,
    },
    /// Blocks of a host were sampled for zeros.
    Zeros {
        /// Which.
        host: HostId,
        /// What was found.
        zeros: ZeroSample,
    },
    /// Telemetry.
    Sample {
        /// Where it was read.
        host: HostId,
        /// What.
        sample: Box<Sample>,
    },
    /// Something happened.
    Event(Event),
    /// The run is over; last entry.
    End(RunState),
}

impl Entry {
    /// Counters of the first load host.
    pub fn slices(trial: u32, slices: Vec<Slice>) -> Entry {
        Entry::Slices { host: HostId::LOAD, trial, slices }
    }

    /// I/Os of the first load host.
    pub fn io_log(trial: u32, chunk: IoChunk) -> Entry {
        Entry::IoLog { host: HostId::LOAD, trial, chunk }
    }

    /// The end of a trial on the first load host.
    pub fn trial_end(trial: u32, outcome: TrialOutcome) -> Entry {
        Entry::TrialEnd { host: HostId::LOAD, trial, outcome: Box::new(outcome) }
    }

    /// Whether the run has begun to do what was asked: it decided, measured, wrote, or executed a command. Before that it looks around, and
    /// makes a test file that it takes away again.
    pub fn tells_of_work(&self) -> bool {
        match self {
            Entry::Header(_) | Entry::Plan(_) | Entry::Host { .. } | Entry::Sample { .. } | Entry::End(_) => false,
            Entry::Event(event) => !matches!(
                event.kind,
                EventKind::Phase(_)
                    | EventKind::Note { .. }
                    | EventKind::Step { .. }
                    | EventKind::StopRequested
                    | EventKind::HostClock { .. }
                    | EventKind::HostLost { .. }
                    | EventKind::IntervalsMerged { .. }
                    | EventKind::NoSpool { .. }
                    | EventKind::Unwatched { .. }
                    | EventKind::Source(_)
                    | EventKind::SourceRead { .. }
                    | EventKind::Beside { .. }
            ),
            Entry::Decision { .. }
            | Entry::TrialStart { .. }
            | Entry::Slices { .. }
            | Entry::IoLog { .. }
            | Entry::TrialEnd { .. }
            | Entry::Fill { .. }
            | Entry::Zeros { .. } => true,
        }
    }

    /// The same entry with its times moved by `by_ns` on the run's axis.
    pub fn shifted(mut self, by_ns: i64) -> Entry {
        let shift = |at: &mut Nanos| *at = at.shifted(by_ns);
        match &mut self {
            Entry::TrialStart { at, .. } => shift(at),
            Entry::TrialEnd { outcome, .. } => outcome.shift(by_ns),
            Entry::IoLog { chunk, .. } => shift(&mut chunk.base),
            Entry::Sample { sample, .. } => shift(&mut sample.at),
            Entry::Event(event) => event.shift(by_ns),
            Entry::Header(_)
            | Entry::Plan(_)
            | Entry::Host { .. }
            | Entry::Decision { .. }
            | Entry::Slices { .. }
            | Entry::Fill { .. }
            | Entry::Zeros { .. }
            | Entry::End(_) => {}
        }
        self
    }
}

/// A whole run in memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunRecord {
    /// Header.
    pub header: RunHeader,
    /// The plan that it followed; `None` in a record that was not made by a run.
    pub(crate) plan: Option<Box<Plan>>,
    /// How far it got.
    pub state: RunState,
    /// By their ids; the first is measured.
    pub(crate) hosts: Vec<HostRecord>,
    /// Decisions in order.
    pub decisions: Vec<Decision>,
    /// Trials in order.
    pub trials: Vec<TrialRecord>,
    /// Rounds before the trials of their cases, in order; their ordinals are counted together with those of trials.
    pub rounds: Vec<TrialRecord>,
    /// Events in order, without those of sources.
    pub events: Vec<Event>,
    /// What was read beside the load where no worker ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceRecord>,
}

impl RunRecord {
    /// An empty record of a run that has only begun.
    pub fn new(header: RunHeader) -> RunRecord {
        RunRecord {
            header,
            plan: None,
            state: RunState::Open,
            hosts: vec![HostRecord::default()],
            decisions: Vec::new(),
            trials: Vec::new(),
            rounds: Vec::new(),
            events: Vec::new(),
            sources: Vec::new(),
        }
    }

    /// The plan that the run followed; what its inputs make where none is stored.
    ///
    /// Errors: those of [`Plan::new`], if the inputs make none.
    pub fn plan(&self) -> Result<Cow<'_, Plan>> {
        match &self.plan {
            Some(plan) => Ok(Cow::Borrowed(plan)),
            None => Plan::new(&self.header.inputs).map(Cow::Owned),
        }
    }

    /// Every host, by its id.
    pub fn hosts(&self) -> &[HostRecord] {
        &self.hosts
    }

    /// The same, to be changed.
    pub fn hosts_mut(&mut self) -> &mut [HostRecord] {
        &mut self.hosts
    }

    /// Hosts that make the load, with their ids.
    pub fn loads(&self) -> impl Iterator<Item = (HostId, &HostRecord)> {
        let all = (0..).map(HostId).zip(&self.hosts);
        all.filter(|(_, host)| host.role == Role::Load)
    }

    /// The host that is measured, or the first of those; without facts if the run ended before they were known.
    pub fn load(&self) -> &HostRecord {
        &self.hosts[0]
    }

    /// The same, to be changed.
    pub fn load_mut(&mut self) -> &mut HostRecord {
        &mut self.hosts[0]
    }

    /// The hosts of a stand beside the one that is measured, with their ids, as far as they were watched.
    pub fn storages(&self) -> impl Iterator<Item = (HostId, &HostRecord)> {
        let all = (0..).map(HostId).zip(&self.hosts);
        all.filter(|(_, host)| host.role == Role::Storage && host.facts.is_some())
    }

    /// The first of them, to be changed.
    pub fn storage_mut(&mut self) -> Option<&mut HostRecord> {
        self.hosts.iter_mut().find(|host| host.role == Role::Storage && host.facts.is_some())
    }

    /// Hosts that the user had watched beside the run, with their ids, as far as they were.
    pub fn observed(&self) -> impl Iterator<Item = (HostId, &HostRecord)> {
        let all = (0..).map(HostId).zip(&self.hosts);
        all.filter(|(_, host)| host.role == Role::Observe && host.facts.is_some())
    }

    /// How the user calls a host; empty if that is not known.
    pub fn name_of(&self, host: HostId) -> &str {
        self.hosts.get(host.index()).map_or("", |host| &host.name)
    }

    /// Adds what one entry says. What belongs to a trial or a host that is not known is dropped: its beginning is lost.
    pub fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Header(header) => self.header = *header,
            // Wherever it comes from, a file or a spool: what leads nowhere would be followed.
            Entry::Plan(plan) => self.plan = plan.holds_together().then_some(plan),
            Entry::Host { host, info } => self.add_host(host, *info),
            Entry::Decision { decision, .. } => self.decisions.push(decision),
            Entry::TrialStart { trial, case, block, round, asked, at } => {
                let mut begun = TrialRecord::new(trial, (case, block), *asked, at);
                if self.loads().nth(1).is_some() {
                    begun.expect(self.loads().map(|(host, _)| host));
                    self.lost_now().into_iter().for_each(|(host, at)| begun.lost(host, at));
                }
                let list = if round { &mut self.rounds } else { &mut self.trials };
                list.push(begun);
            }
            Entry::Slices { host, trial, slices } => self.at_trial(trial, |record| record.add_slices(host, slices)),
            Entry::IoLog { trial, chunk, .. } => self.add_logged(trial, chunk.len()),
            Entry::TrialEnd { host, trial, outcome } => self.at_trial(trial, |record| record.end(host, *outcome)),
            Entry::Fill { host, outcome } => self.at_host(host, |record| record.fill = Some(outcome)),
            Entry::Zeros { host, zeros } => self.at_host(host, |record| record.zeros = Some(zeros)),
            Entry::Sample { host, sample } => self.at_host(host, |record| record.samples.push(*sample)),
            Entry::Event(Event { at, host, kind }) => {
                let Some(kind) = sources::take(&mut self.sources, at, kind) else { return };
                let event = Event { at, host, kind };
                self.learn_who_is_there(&event);
                self.events.push(event);
            }
            Entry::End(state) => self.state = state,
        }
    }

    /// A host that is new, or known better than before.
    fn add_host(&mut self, host: HostId, info: HostInfo) {
        if host.index() == self.hosts.len() {
            self.hosts.push(HostRecord::default());
        }
        self.at_host(host, |record| record.info = info);
    }

    fn at_host(&mut self, host: HostId, change: impl FnOnce(&mut HostRecord)) {
        if let Some(record) = self.hosts.get_mut(host.index()) {
            change(record);
        }
    }

    /// Trials and rounds in the order in which they ran.
    pub fn executed(&self) -> Vec<&TrialRecord> {
        let mut all: Vec<&TrialRecord> = self.trials.iter().chain(&self.rounds).collect();
        all.sort_by_key(|trial| trial.trial);
        all
    }

    /// The host as it was in the last session, if there was more than one.
    pub fn last_host(&self) -> Option<&HostFacts> {
        self.events.iter().rev().find_map(|event| match &event.kind {
            EventKind::Resumed { host, .. } => Some(host.as_ref()),
            _ => None,
        })
    }

    /// When each phase began.
    pub fn phases(&self) -> impl Iterator<Item = (Nanos, Phase)> {
        let of = |event: &Event| if let EventKind::Phase(phase) = event.kind { Some((event.at, phase)) } else { None };
        self.events.iter().filter_map(of)
    }

    /// Every time that an arm was switched to: when, which, and what the host and the target were then.
    pub fn arms_entered(&self) -> impl Iterator<Item = (Nanos, u32, &ArmFacts)> {
        self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Arm { arm, facts } => Some((event.at, *arm, facts.as_ref())),
            _ => None,
        })
    }

    /// Every ceiling that was measured, in order. A session that goes on may have measured one again: the last one counts.
    pub fn calibrations(&self) -> impl Iterator<Item = &Calibration> {
        self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Calibrated(calibration) => Some(calibration.as_ref()),
            _ => None,
        })
    }

    /// Counts I/Os of the log of a trial, unless its start is lost.
    pub(crate) fn add_logged(&mut self, trial: u32, count: u64) {
        self.at_trial(trial, |record| record.logged = record.logged.saturating_add(count));
    }

    /// Every crash that was judged, each once: a session that was stopped before it could close the ledger has it judged again.
    pub fn crashes(&self) -> impl Iterator<Item = &Crash> {
        let mut seen = Vec::new();
        self.events.iter().filter_map(move |event| match &event.kind {
            EventKind::Crash(Aftermath::Judged(crash)) => {
                let which = (crash.run, crash.trial, crash.replayed.as_ref().map(|replayed| replayed.entry));
                let first = !seen.contains(&which);
                seen.extend(first.then_some(which));
                first.then_some(crash.as_ref())
            }
            _ => None,
        })
    }

    /// Changes a trial, unless its start is lost.
    fn at_trial(&mut self, trial: u32, change: impl FnOnce(&mut TrialRecord)) {
        let mut all = self.trials.iter_mut().rev().chain(self.rounds.iter_mut().rev());
        if let Some(record) = all.find(|t| t.trial == trial) {
            change(record);
        }
    }
}
