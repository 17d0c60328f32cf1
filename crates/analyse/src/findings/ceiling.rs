//! How near a case is to what bounds it. Data only; `ceilings` finds them, and has their words.

use super::Headline;
use crate::ceilings::Demand;
use serde::{Deserialize, Serialize};
use stend_base::{Say, Share};
use stend_spec::calibration::Reading;
use stend_spec::ceilings::Layout;
use stend_spec::confirm::Test;

/// How near a case is to its ceilings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CeilingFinding {
    /// The load host that it was found on, where there are several: the one that is nearest to a ceiling of its own.
    pub host: Option<String>,
    /// What bounds it.
    pub bound: Bound,
    /// Ceilings that are known, the one that is used most first.
    pub uses: Vec<CeilingUse>,
    /// What is not known, and why.
    pub unknown: Vec<UnknownCeiling>,
    /// I/Os in flight that the case asks for.
    pub in_flight: u64,
    /// Rate over in flight / latency of one alone: 1 where each I/O takes as long as alone. `None` without a case at depth 1.
    pub alone: Option<f64>,
    /// What twice the queue depth does; `None` where the run does not have that case.
    pub doubled: Option<Doubled>,
    /// What other tests of cause do that the suite asked for (`confirm`).
    pub relieved: Vec<LimitTest>,
    /// I/Os in flight at which the nearest ceiling would be reached if each took as long as alone.
    pub needed: Option<u64>,
    /// What an I/O takes of the drives; `None` without drives, and where no ceiling of them was measured or stated.
    pub demand: Option<DemandFinding>,
}

/// What bounds a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The first ceiling.
    Limited,
    /// The first two alike.
    Together,
    /// Too few I/Os in flight.
    Latency,
    /// The rate that was asked for.
    Asked,
    /// Nothing that is known.
    Unexplained,
}

/// One ceiling and how much of it was used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CeilingUse {
    /// What it is of.
    pub resource: Resource,
    /// Part of it that was used.
    pub used: Share,
    /// Rate that the case would have at it.
    pub ceiling: f64,
    /// What that rate counts.
    pub unit: Headline,
    /// Why it may not be what it seems.
    pub doubt: Option<CeilingDoubt>,
}

/// What has a ceiling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Drives under the targets, as they were read, or as it is stated.
    Drives {
        /// Kernel names; none if they cannot be seen.
        devices: Vec<String>,
        /// By which load.
        reading: Reading,
        /// How it is known what they read; `None`: the case makes them read nothing.
        read: Option<RateFrom>,
        /// The same of writes.
        written: Option<RateFrom>,
    },
    /// PCIe links of the drives, by what a link of their speed and width carries.
    Link {
        /// Kernel names.
        devices: Vec<String>,
    },
    /// The network below a remote target.
    Network {
        /// The interface that is nearest to its line rate; `None`: what it carries is stated.
        interface: Option<String>,
        /// Where the suite has that number from.
        source: Option<String>,
    },
    /// All CPUs of the machine.
    Cpus,
    /// The busiest load thread.
    Thread,
    /// The engine: the same load without a target.
    Engine,
}

/// A ceiling that is not known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnknownCeiling {
    /// What it is of.
    pub what: Say,
    /// Why.
    pub why: Say,
}

/// Why a ceiling may not be what it seems.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CeilingDoubt {
    /// A part of the drive was never written, and such reads are often answered without the medium: it may be too high.
    NeverWritten {
        /// That part.
        share: Share,
    },
}

/// The same case at twice the queue depth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Doubled {
    /// That depth.
    pub queue_depth: u32,
    /// Label of the case of the suite that it is; `None`: it was run for this alone.
    pub case: Option<String>,
    /// How much the rate grows, relative.
    pub gain: f64,
    /// It hardly grows, so that only latency does; `false`: it grows; `None`: neither is clear.
    pub saturated: Option<bool>,
}

/// The same case with one thing changed that may be its limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitTest {
    /// What was changed.
    pub test: Test,
    /// Label of the case of the suite that it is; `None`: it was run for this alone.
    pub case: Option<String>,
    /// How much the rate grows, relative.
    pub gain: f64,
    /// It makes a difference: of threads more, of a node any; `false`: it makes none; `None`: neither is clear.
    pub matters: Option<bool>,
}

/// How a rate of drives is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateFrom {
    /// The one drive was read.
    Alone,
    /// Each was read alone; this is the sum.
    Summed,
    /// All were read at the same time.
    Together,
    /// The suite states what one gives.
    Stated {
        /// Where it has that from.
        source: String,
    },
}

/// What an I/O of a case takes of the drives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DemandFinding {
    /// How the drives are put together; `None`: each I/O goes to one drive, or it is not known.
    pub layout: Option<Layout>,
    /// Where that is known from.
    pub from: LayoutFrom,
    /// By the model of the layout; `None` where there is none.
    pub modelled: Option<Demand>,
    /// As the drives counted it while the load ran, with whatever else they did; `None` where they cannot be seen.
    pub counted: Option<Demand>,
    /// Both are known and are further apart than a layout explains.
    pub differs: bool,
}

/// Where a layout is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayoutFrom {
    /// The host shows it.
    Host,
    /// The suite states it.
    Suite,
}
