//! Which runs a page of the list has, and in which order. Must not look at run files.

use stend_record::RunState;

/// Which runs a page of the list has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Most runs of the page.
    pub limit: usize,
    /// Name of the run that the page before ended with.
    pub cursor: Option<String>,
    /// A part of the label.
    pub label: Option<String>,
    /// A part of the name of a target.
    pub target: Option<String>,
    /// A part of the name of the suite.
    pub suite: Option<String>,
    /// How far it got.
    pub state: Option<StateFilter>,
    /// A part of any of its names: of itself, label, suite, targets, leading case.
    pub text: Option<String>,
    /// A condition on any facts, as `stend list --where` takes it.
    pub condition: Option<String>,
    /// Which come first.
    pub sort: Sort,
    /// What is listed.
    pub listed: Listed,
}

/// What a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Listed {
    /// Runs, and files that cannot be read.
    #[default]
    Runs,
    /// Recordings of hosts.
    Recordings,
    /// All of these, as `stend list` does.
    Both,
}

/// The order of a list of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// By their start, newest first.
    #[default]
    Newest,
    /// By their start, oldest first.
    Oldest,
    /// By the name of the suite.
    Suite,
    /// By the names of the targets.
    Target,
    /// By the leading rate, the highest first; rates of I/Os before those of bytes.
    Rate,
    /// By the size of the file, the largest first.
    Size,
}

impl Sort {
    /// The words of requests.
    pub(crate) const WORDS: [&'static str; 6] = ["newest", "oldest", "suite", "target", "rate", "size"];

    pub(crate) fn of(word: &str) -> Option<Sort> {
        let all = [Sort::Newest, Sort::Oldest, Sort::Suite, Sort::Target, Sort::Rate, Sort::Size];
        all.into_iter().zip(Sort::WORDS).find(|(_, known)| *known == word).map(|(sort, _)| sort)
    }
}

/// How far runs of a list got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateFilter {
    /// A process is at work on it.
    Running,
    /// The plan was walked to its end.
    Complete,
    /// It waits for a person.
    Suspended,
    /// It ended early, or its coordinator is gone.
    Ended,
}

impl StateFilter {
    /// The words of requests.
    pub(crate) const WORDS: [&'static str; 4] = ["running", "complete", "suspended", "ended"];

    pub(crate) fn of(word: &str) -> Option<StateFilter> {
        let all = [StateFilter::Running, StateFilter::Complete, StateFilter::Suspended, StateFilter::Ended];
        all.into_iter().zip(StateFilter::WORDS).find(|(_, known)| *known == word).map(|(state, _)| state)
    }

    /// Whether a run is meant.
    pub fn fits(self, state: &RunState, going_on: bool) -> bool {
        match (self, state) {
            (StateFilter::Running, _) => going_on,
            (StateFilter::Complete, RunState::Complete) | (StateFilter::Suspended, RunState::Suspended { .. }) => true,
            (StateFilter::Ended, RunState::Ended { .. }) => true,
            (StateFilter::Ended, RunState::Open) => !going_on,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_whose_coordinator_is_gone_has_ended_and_is_not_running() {
        let fits = |filter: StateFilter, going_on| filter.fits(&RunState::Open, going_on);
        assert!(fits(StateFilter::Running, true) && !fits(StateFilter::Ended, true));
        assert!(fits(StateFilter::Ended, false) && !fits(StateFilter::Running, false));
        assert!(StateFilter::Complete.fits(&RunState::Complete, false));
    }
}
