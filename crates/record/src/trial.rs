//! A trial as it is read back: what all load hosts did together, and what each of several did.

use crate::hosts::HostId;
use crate::observed::{Slice, TrialOutcome};
use crate::together::together;
use serde::Serialize;
use stend_base::Nanos;
use stend_spec::workload::Trial;

/// One trial as read back.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrialRecord {
    /// Ordinal in the run.
    pub trial: u32,
    /// Index of the case in the plan.
    pub case: u32,
    /// Index of the block; of a round which one it is since the last pause.
    pub block: u32,
    /// What was asked, of every load host.
    pub asked: Trial,
    /// Start, CLOCK_MONOTONIC ns of the coordinator.
    pub started: Nanos,
    /// All slices of all load hosts, ramp included, in order of arrival.
    pub slices: Vec<Slice>,
    /// I/Os of its logs that the file holds; they are read apart, because they may be more than fit into memory.
    pub logged: u64,
    /// How it ended on all load hosts together; `None` if the run ended before the trial did on one of them.
    pub outcome: Option<TrialOutcome>,
    /// What each of several load hosts did that were there when it began; empty where there is one.
    pub parts: Vec<TrialPart>,
    /// Those that rest, in the order in which they take the place of a host that was lost before it began: a file tells of losses behind
    /// trials.
    #[serde(skip)]
    pub resting: Vec<TrialPart>,
    /// Those of which nothing is expected, because they were lost before it began: a file tells behind losses that the run went on with all.
    #[serde(skip)]
    pub gone: Vec<TrialPart>,
}

/// What one of several load hosts did in a trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TrialPart {
    /// Which.
    pub host: HostId,
    /// Its slices.
    pub slices: Vec<Slice>,
    /// How it ended there.
    pub outcome: Option<TrialOutcome>,
}

impl TrialRecord {
    /// One that has begun as (case, block), on one host, and of which nothing more is known.
    pub fn new(trial: u32, (case, block): (u32, u32), asked: Trial, started: Nanos) -> TrialRecord {
        let (slices, logged, outcome) = (Vec::new(), 0, None);
        let (parts, resting, gone) = (Vec::new(), Vec::new(), Vec::new());
        TrialRecord { trial, case, block, asked, started, slices, logged, outcome, parts, resting, gone }
    }

    /// It has begun on these of several hosts, or on as many of them as it was asked for.
    pub(crate) fn expect(&mut self, hosts: impl Iterator<Item = HostId>) {
        let most = self.asked.load_hosts.map_or(usize::MAX, |count| count as usize);
        let mut all = hosts.map(|host| TrialPart { host, ..TrialPart::default() });
        self.parts = all.by_ref().take(most).collect();
        self.resting = all.collect();
    }

    /// How many of so many load hosts it is asked of.
    pub fn hosts_asked(&self, all: usize) -> usize {
        self.asked.load_hosts.map_or(all, |count| all.min(count as usize))
    }

    /// A host was lost at this time: of a trial that began later nothing is expected of it.
    pub(crate) fn lost(&mut self, host: HostId, at: Nanos) {
        let before = self.parts.len();
        let is_missing = |part: &TrialPart| part.host == host && part.slices.is_empty() && part.outcome.is_none();
        if self.started >= at {
            self.gone.extend(self.parts.extract_if(.., |part| is_missing(part)));
            self.gone.extend(self.resting.extract_if(.., |part| is_missing(part)));
        }
        if self.parts.len() < before {
            let instead = (before - self.parts.len()).min(self.resting.len());
            self.parts.extend(self.resting.drain(..instead));
            self.join();
        }
    }

    /// The run went on at this time, with all hosts: each is expected of a trial that began later, as if none had been lost before.
    pub(crate) fn returned(&mut self, at: Nanos) {
        if self.started < at || self.parts.is_empty() {
            return;
        }
        let mut all: Vec<TrialPart> =
            self.parts.drain(..).chain(self.resting.drain(..)).chain(self.gone.drain(..)).collect();
        all.sort_by_key(|part| part.host);
        let most = self.asked.load_hosts.map_or(usize::MAX, |count| count as usize).min(all.len());
        self.resting = all.split_off(most);
        self.parts = all;
        self.join();
    }

    /// Counters of a host; those of one that does not load are dropped.
    pub(crate) fn add_slices(&mut self, host: HostId, slices: Vec<Slice>) {
        match self.part_mut(host) {
            Some(part) => part.slices.extend_from_slice(&slices),
            None if host == HostId::LOAD => {}
            None => return,
        }
        self.slices.extend(slices);
    }

    /// Whether counters of this host are among its slices.
    pub fn has_slices_of(&self, host: HostId) -> bool {
        host == HostId::LOAD || self.parts.iter().chain(&self.resting).any(|part| part.host == host)
    }

    /// It has ended on a host; on all together once it has on each.
    pub(crate) fn end(&mut self, host: HostId, outcome: TrialOutcome) {
        match self.part_mut(host) {
            Some(part) => {
                part.outcome = Some(outcome);
                self.join();
            }
            None if host == HostId::LOAD => self.outcome = Some(outcome),
            None => {}
        }
    }

    fn part_mut(&mut self, host: HostId) -> Option<&mut TrialPart> {
        self.parts.iter_mut().chain(&mut self.resting).find(|part| part.host == host)
    }

    fn join(&mut self) {
        let ended: Option<Vec<&TrialOutcome>> = self.parts.iter().map(|part| part.outcome.as_ref()).collect();
        self.outcome = ended.and_then(|ended| together(&ended));
    }

    /// How it ended: on all load hosts together, and on each of several.
    pub(crate) fn outcomes_mut(&mut self) -> impl Iterator<Item = &mut TrialOutcome> {
        self.outcome.iter_mut().chain(self.parts.iter_mut().flat_map(|part| &mut part.outcome))
    }

    /// How it ended as far as is known: on all load hosts together, or else on each where it did while another one was lost.
    pub fn known_outcomes(&self) -> Vec<&TrialOutcome> {
        match &self.outcome {
            Some(whole) => vec![whole],
            None => self.parts.iter().filter_map(|part| part.outcome.as_ref()).collect(),
        }
    }

    /// What each load host did: one part with everything where there is one.
    pub fn by_host(&self) -> Vec<(HostId, &[Slice], Option<&TrialOutcome>)> {
        match self.parts.as_slice() {
            [] => vec![(HostId::LOAD, &self.slices, self.outcome.as_ref())],
            parts => parts.iter().map(|part| (part.host, part.slices.as_slice(), part.outcome.as_ref())).collect(),
        }
    }
}
