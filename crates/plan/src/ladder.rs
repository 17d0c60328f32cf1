//! The searches of a plan: which cells of the matrix are rungs of one ladder. Pure.

use crate::decision::Outcome;
use serde::{Deserialize, Serialize};
use stend_base::{Millionths, Nanos};
use stend_spec::app::Density;
use stend_spec::case::Case;
use stend_spec::load_hosts::HostSearch;
use stend_spec::search::{Climb, Look, Search, usual_looks};
use stend_spec::suite::SuiteCase;

/// Name of the axis of a number of instances.
pub(crate) const INSTANCES: &str = "instances";
/// Name of the axis of a number of load hosts.
pub(crate) const LOAD_HOSTS: &str = "load_hosts";

/// What is searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchTarget {
    /// The highest rate of a stream.
    Rate {
        /// Index of the stream.
        stream: u16,
        /// What is searched.
        search: Search,
    },
    /// The largest number of instances of an application.
    Instances(Density),
    /// The largest number of load hosts.
    Hosts(HostSearch),
}

/// One search: the cells that differ only in what is searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ladder {
    /// What is searched.
    pub sought: SearchTarget,
    /// Index of each rung in [`Plan::cases`](crate::Plan::cases), ascending by what is searched.
    pub cells: Vec<u32>,
    /// Name of the case, with the axes that are not searched.
    pub label: String,
    /// How often each point of the curve is measured.
    pub blocks: u32,
}

impl Ladder {
    /// The searches of one suite case over these of its cells, each with its number in the plan.
    pub(crate) fn of<'c>(
        case: &SuiteCase,
        (blocks, hosts): (u32, u32),
        cells: impl Iterator<Item = (u32, &'c Case)>,
    ) -> Vec<Ladder> {
        let found = case.streams.iter().zip(0..).find_map(|(spec, i)| Some((i, spec.search.as_ref()?)));
        let (sought, axis) = match (found, &case.app, case.load_hosts.search()) {
            (_, Some(spec), _) => (SearchTarget::Instances(spec.density), INSTANCES.to_string()),
            (_, None, Some(search)) => (SearchTarget::Hosts(search.of_hosts(hosts)), LOAD_HOSTS.to_string()),
            (Some((stream, search)), None, None) => {
                let several = case.streams.len() > 1;
                let axis = if several { format!("stream {} rate", stream + 1) } else { "rate".to_string() };
                (SearchTarget::Rate { stream, search: search.clone() }, axis)
            }
            (None, None, None) => return Vec::new(),
        };
        let mut ladders: Vec<(Vec<&(String, String)>, Ladder)> = Vec::new();
        for (index, cell) in cells {
            let others: Vec<_> = cell.axes.iter().filter(|(name, _)| *name != axis).collect();
            let label =
                others.iter().fold(case.name.clone(), |label, (name, value)| format!("{label}, {name} {value}"));
            match ladders.iter_mut().find(|(key, _)| *key == others) {
                Some((_, ladder)) => ladder.cells.push(index),
                None => {
                    let ladder = Ladder { sought: sought.clone(), cells: vec![index], label, blocks };
                    ladders.push((others, ladder));
                }
            }
        }
        ladders.into_iter().map(|(_, ladder)| ladder).collect()
    }

    /// Whether every value that is searched has its cell, with the stream that it is a rate of.
    pub(crate) fn holds_together(&self, cases: &[Case]) -> bool {
        let has_stream =
            |case: &Case| self.rate().is_none_or(|(stream, _)| usize::from(stream) < case.trial.streams.len());
        let is_known = |cell: &u32| cases.get(*cell as usize).is_some_and(has_stream);
        self.cells.len() == self.values().len() && self.cells.iter().all(is_known)
    }

    /// The search and which of its rungs a case is, if it is one.
    pub(crate) fn rung(&self, case: u32) -> Option<(&Ladder, usize)> {
        Some((self, self.cells.iter().position(|cell| *cell == case)?))
    }

    /// The search at its beginning.
    pub fn climb(&self) -> Climb {
        Climb::over(self.values(), self.points().to_vec(), self.blocks)
    }

    /// The search for a rate, with the index of its stream; `None` if it is another one.
    pub fn rate(&self) -> Option<(u16, &Search)> {
        match &self.sought {
            SearchTarget::Rate { stream, search } => Some((*stream, search)),
            SearchTarget::Instances(_) | SearchTarget::Hosts(_) => None,
        }
    }

    /// The numbers of instances that are searched; `None` if it is another search.
    pub fn instances(&self) -> Option<Density> {
        match self.sought {
            SearchTarget::Instances(density) => Some(density),
            SearchTarget::Rate { .. } | SearchTarget::Hosts(_) => None,
        }
    }

    /// The search for a number of load hosts; `None` if it is another one.
    pub fn hosts(&self) -> Option<HostSearch> {
        match self.sought {
            SearchTarget::Hosts(search) => Some(search),
            SearchTarget::Rate { .. } | SearchTarget::Instances(_) => None,
        }
    }

    fn values(&self) -> Vec<u64> {
        match &self.sought {
            SearchTarget::Rate { search, .. } => search.rates().into_iter().map(|rate| rate.0).collect(),
            SearchTarget::Instances(density) => density.counts().into_iter().map(u64::from).collect(),
            SearchTarget::Hosts(search) => search.among.counts().into_iter().map(u64::from).collect(),
        }
    }

    fn points(&self) -> &[Millionths] {
        self.rate().map_or(&[], |(_, search)| &search.curve)
    }

    /// Trials that it usually takes.
    pub fn usual_trials(&self) -> u32 {
        usual_looks(&self.values()).saturating_add((self.points().len() as u32).saturating_mul(self.blocks))
    }

    /// Goes on with outcomes until they are used up: the (rung, how often it was tried before) to try next, or `None`
    /// when the search is over.
    pub(crate) fn next<'h>(&self, outcomes: &mut impl Iterator<Item = &'h Outcome>) -> Option<(usize, u32)> {
        let (mut climb, mut tried) = (self.climb(), vec![0u32; self.cells.len()]);
        while let Some(rung) = climb.next() {
            let Some(outcome) = outcomes.next() else { return Some((rung, tried[rung])) };
            climb.learn(rung, look(*outcome));
            tried[rung] += 1;
        }
        None
    }

    /// Length of one of its trials.
    pub(crate) fn trial_time(&self, cases: &[Case]) -> Nanos {
        self.cells.first().map_or(Nanos(0), |cell| {
            let trial = &cases[*cell as usize].trial;
            Nanos(trial.ramp.0.saturating_add(trial.window.0))
        })
    }
}

/// What an outcome means to a search.
pub fn look(outcome: Outcome) -> Look {
    match outcome {
        Outcome::Ok | Outcome::Narrow | Outcome::Steady | Outcome::Paused => Look::Held,
        Outcome::Missed => Look::Missed,
        Outcome::Failed | Outcome::Stalled => Look::Failed,
        Outcome::Incomplete => Look::Incomplete,
    }
}
