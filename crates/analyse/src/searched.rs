//! What the searches of a run found, for its verdict. Must not search.

use crate::findings::{HostSearchFinding, SearchFinding};
use crate::search;
use std::collections::BTreeSet;
use stend_base::Say;
use stend_plan::Plan;
use stend_record::RunRecord;

/// Searches for a rate or a number of hosts: their answers come before single numbers.
pub struct Searched<'a> {
    /// Cases that did not hold: that they fail is what was looked for.
    pub missed: BTreeSet<u32>,
    /// Which cases belong to a search.
    pub plan: &'a Plan,
    /// What they found.
    pub answers: Vec<Say>,
    /// The same for a headline, which then has nothing else; `None`: the single numbers have room in it.
    pub in_short: Option<Say>,
}

impl<'a> Searched<'a> {
    /// What was found in a run.
    pub(crate) fn of(
        run: &RunRecord,
        plan: &'a Plan,
        searches: &[SearchFinding],
        of_hosts: &[HostSearchFinding],
    ) -> Searched<'a> {
        let answers = |say: fn(&HostSearchFinding) -> Say| -> Vec<Say> {
            searches.iter().map(SearchFinding::say).chain(of_hosts.iter().map(say)).collect()
        };
        let short = answers(HostSearchFinding::in_short);
        let join = |l| short.iter().map(|answer| answer.get(l).to_string()).collect::<Vec<_>>().join(" ");
        Searched {
            missed: search::missed(run, plan),
            plan,
            answers: answers(HostSearchFinding::say),
            in_short: (!of_hosts.is_empty()).then(|| Say::both(join)),
        }
    }
}
