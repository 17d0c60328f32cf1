//! How many of the load hosts of a run make the load of a case: all of them, some numbers of them, or the largest number at which each
//! of them still holds an objective. Pure; must not know which hosts there are.

use crate::app::Density;
use serde::{Deserialize, Serialize};
use stend_base::{Millionths, Nanos};

/// How many load hosts a case has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadHosts {
    /// Each that the run has.
    #[default]
    All,
    /// The first so many; a cell for each number.
    Counts(Vec<u32>),
    /// The first one, two, four and so on, and all.
    Doubling,
    /// The largest number is searched.
    Search(HostSearch),
}

/// A search for the largest number of load hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSearch {
    /// Fewest, tried first, and most. In a suite that is parsed the most may be above what a run has.
    pub among: Density,
    /// Share of the I/Os of each host that must stay within the limit.
    pub quantile: Millionths,
    /// Longest response that this share may have.
    pub limit: Nanos,
}

impl LoadHosts {
    /// The numbers that are tried where a run has so many, ascending or as written; empty: the case has all of them, and no axis.
    pub fn counts(&self, hosts: u32) -> Vec<u32> {
        match self {
            LoadHosts::All => Vec::new(),
            LoadHosts::Counts(counts) => counts.clone(),
            LoadHosts::Doubling => {
                let powers = (0..u32::BITS).map(|power| 1u32 << power).take_while(|count| *count < hosts);
                powers.chain([hosts.max(1)]).collect()
            }
            LoadHosts::Search(search) => search.of_hosts(hosts).among.counts(),
        }
    }

    /// The search, if it is one.
    pub fn search(&self) -> Option<&HostSearch> {
        if let LoadHosts::Search(search) = self { Some(search) } else { None }
    }
}

impl HostSearch {
    /// The same where a run has so many hosts.
    pub fn of_hosts(self, hosts: u32) -> HostSearch {
        let Density { from, to } = self.among;
        HostSearch { among: Density { from, to: to.min(hosts).max(from) }, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_ends_with_all_hosts_and_a_search_at_the_hosts_that_there_are() {
        let doubling = |hosts| LoadHosts::Doubling.counts(hosts);
        assert_eq!([doubling(1), doubling(4), doubling(6)], [vec![1], vec![1, 2, 4], vec![1, 2, 4, 6]]);
        let among = Density { from: 2, to: 64 };
        let search = HostSearch { among, quantile: Millionths::percent(99), limit: Nanos::millis(5) };
        assert_eq!(LoadHosts::Search(search).counts(5), [2, 3, 4, 5]);
        assert_eq!(LoadHosts::Search(search).counts(1), [2], "which then cannot run");
        assert!(LoadHosts::All.counts(5).is_empty());
    }
}
