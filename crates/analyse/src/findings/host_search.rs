//! How many load hosts hold an objective. Data only.

use super::{Checked, UsedUp};
use serde::{Deserialize, Serialize};
use stend_base::{Nanos, Share};

/// What a search for a number of load hosts found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostSearchFinding {
    /// Name of the case, with the axes that were not searched.
    pub label: String,
    /// Share of the I/Os of each host that had to stay within the limit.
    pub quantile: Share,
    /// That limit.
    pub limit: Nanos,
    /// A stream has a rate, which had to be served.
    pub has_rate: bool,
    /// Load hosts of the run.
    pub of: u32,
    /// Largest number that held every time, below every one that missed.
    pub held: Option<SearchedHosts>,
    /// Smallest number that missed.
    pub missed: Option<SearchedHosts>,
    /// Both are neighbours and were looked at as often as they should.
    pub confirmed: bool,
    /// What was used up at the number that missed.
    pub used_up: Vec<HostUsedUp>,
    /// What samples of every host tell of at that number.
    pub checked: Checked,
}

/// A number of hosts that a search tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchedHosts {
    /// How many.
    pub hosts: u32,
    /// Trials on them.
    pub looks: u32,
    /// Those in which a host missed the objective.
    pub missed: u32,
}

/// Something of which nothing was left on a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostUsedUp {
    /// The host.
    pub host: String,
    /// What.
    pub what: UsedUp,
}
