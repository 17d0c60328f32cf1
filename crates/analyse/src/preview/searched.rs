//! What a search of a run may find.

use serde::Serialize;
use stend_base::{MilliIops, Say, format, say};
use stend_plan::ladder::{Ladder, SearchTarget};
use stend_spec::app::Density;

/// What is searched, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum SearchedRange {
    /// The rate of a stream.
    Rate(MilliIops, MilliIops),
    /// The number of instances of an application.
    Instances(Density),
    /// The number of load hosts.
    LoadHosts(Density),
}

impl SearchedRange {
    pub(super) fn of(ladder: &Ladder) -> SearchedRange {
        match &ladder.sought {
            SearchTarget::Rate { search, .. } => SearchedRange::Rate(search.from, search.to),
            SearchTarget::Instances(density) => SearchedRange::Instances(*density),
            SearchTarget::Hosts(search) => SearchedRange::LoadHosts(search.among),
        }
    }

    /// In words.
    pub fn say(&self) -> Say {
        match *self {
            SearchedRange::Instances(Density { from, to }) => {
                say!("instances searched from {from} to {to}", "число экземпляров ищется от {from} до {to}")
            }
            SearchedRange::LoadHosts(Density { from, to }) => say!(
                "number of load hosts searched from {from} to {to}",
                "число нагружающих машин ищется от {from} до {to}"
            ),
            SearchedRange::Rate(from, to) => say!(
                |l| "rate searched from {from} to {to}",
                "частота ищется от {from} до {to}",
                from = format::rate(from, l),
                to = format::rate(to, l)
            ),
        }
    }
}
