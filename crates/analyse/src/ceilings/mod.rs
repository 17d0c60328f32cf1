//! How near a case is to what bounds it: which ceilings are known, how much of each it used, and which one it is.
//! `docs/method/ceilings.md` has the rules.

mod demand;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod layout;
pub(crate) mod measured;
mod model;
mod related;
pub(crate) mod storage;
mod words;
pub(crate) mod work;

pub use demand::Demand;
pub use layout::LayoutFrom;
pub use measured::CeilingDoubt;
pub use related::{Doubled, Relieved};
pub use storage::RateFrom;
pub use work::DemandFinding;

use crate::charts::busy;
use crate::check::stretch::{length, stretches};
use crate::findings::{CaseFinding, Headline};
use crate::stats::mean;
use crate::trials::CaseTrials;
use measured::{is_calibrated, of_engine};
use model::Decision;
use related::{Rate, alone, doubled, relieved};
use serde::{Deserialize, Serialize};
use stend_base::{Say, Share, say};
use stend_record::RunRecord;
use stend_spec::calibration::Reading;
use stend_spec::plan::Plan;
use storage::of_storage;

/// How near a case is to its ceilings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CeilingFinding {
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
    pub relieved: Vec<Relieved>,
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
    /// Of what.
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
    /// The engine: the same load with nothing behind it.
    Engine,
}

/// A ceiling that is not known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnknownCeiling {
    /// Of what.
    pub what: Say,
    /// Why.
    pub why: Say,
}

/// Puts into each case how near it is to its ceilings. Without calibration only what is clearly the bound is told.
pub(crate) fn insert(run: &RunRecord, plan: &Plan, trials: &[CaseTrials<'_>], cases: &mut [CaseFinding]) {
    let known = is_known(run) || !run.header.inputs.suite.confirm.is_empty();
    let rates: Vec<Rate> = cases.iter().map(Rate::of).collect();
    for (case, found) in trials.iter().zip(cases) {
        // That a search misses a rate is what it looks for.
        if case.counting.is_empty() || plan.rung(case.case).is_some() {
            continue;
        }
        let mine = Rate::of(found);
        let (doubled, relieved) = (doubled(plan, case, &mine, &rates), relieved(plan, &mine, &rates));
        let ceiling = CeilingFinding { doubled, relieved, ..finding(run, case, found, alone(plan, case, &rates)) };
        found.ceiling = Some(ceiling).filter(|c| known || matches!(c.bound, Bound::Limited | Bound::Together));
    }
}

/// Whether any ceiling of storage was measured or stated.
pub(crate) fn is_known(run: &RunRecord) -> bool {
    is_calibrated(run) || run.header.inputs.suite.ceilings.is_some()
}

fn finding(run: &RunRecord, case: &CaseTrials<'_>, found: &CaseFinding, alone_seconds: Option<f64>) -> CeilingFinding {
    let (mut uses, mut unknown) = (Vec::new(), Vec::new());
    let mut demand = None;
    if is_known(run) {
        let work = of_storage(run, case, found, (&mut uses, &mut unknown));
        demand = work.map(|work| work.finding);
    }
    if is_calibrated(run) {
        match of_engine(run, case) {
            Ok(ceiling) => uses.extend(of_rate(Resource::Engine, ceiling, found)),
            Err(why) => unknown.push(UnknownCeiling {
                what: say!("the engine alone", "генератор без объекта"), why
            }),
        }
    }
    let polls = case
        .counting
        .iter()
        .any(|t| ["io_uring_iopoll", "io_uring_sqpoll"].contains(&t.outcome.engine.backend.as_str()));
    if !polls {
        uses.extend(share(Resource::Cpus, cpus(run, case), found));
        uses.extend(share(Resource::Thread, thread(case), found));
    }
    uses.sort_by(|a, b| b.used.0.total_cmp(&a.used.0));
    let rate = found.total.iops.value;
    let in_flight = case.asked.in_flight();
    let reached = alone_seconds.map(|seconds| rate * seconds / in_flight.max(1) as f64);
    let nearest = uses.first().filter(|first| first.used.0 > 0.0);
    CeilingFinding {
        bound: bound(case, &uses, reached),
        needed: nearest.zip(alone_seconds).map(|(first, alone)| model::needed_in_flight(rate / first.used.0, alone)),
        alone: reached,
        doubled: None,
        relieved: Vec::new(),
        demand,
        in_flight,
        uses,
        unknown,
    }
}

/// The verdict: the generator's thread and the engine alone are the same thing by two measures, and so are drives and their link.
fn bound(case: &CaseTrials<'_>, uses: &[CeilingUse], alone: Option<f64>) -> Bound {
    let mut shares: Vec<(u8, f64)> = Vec::new();
    for one in uses {
        let class = one.resource.class();
        if !shares.iter().any(|(known, _)| *known == class) {
            shares.push((class, one.used.0));
        }
    }
    let shares: Vec<f64> = shares.into_iter().map(|(_, share)| share).collect();
    let open = case.asked.streams.iter().any(|s| s.is_open() || s.think.is_some());
    match model::decide(&shares, alone) {
        Decision::Limited => Bound::Limited,
        Decision::Together => Bound::Together,
        _ if open => Bound::Asked,
        Decision::Latency => Bound::Latency,
        Decision::Unexplained => Bound::Unexplained,
    }
}

impl Resource {
    /// Measures of the same thing have the same number.
    fn class(&self) -> u8 {
        match self {
            Resource::Drives { .. } => 0,
            Resource::Link { .. } => 1,
            Resource::Cpus => 2,
            Resource::Thread | Resource::Engine => 3,
            Resource::Network { .. } => 4,
        }
    }
}

impl CeilingFinding {
    /// The first ceiling after the nearest that is of something else.
    pub fn second(&self) -> Option<&CeilingUse> {
        let first = self.uses.first()?.resource.class();
        self.uses.iter().find(|other| other.resource.class() != first)
    }
}

/// A ceiling of a rate, by what the case is known by.
fn of_rate(resource: Resource, (iops, bytes): (f64, f64), found: &CaseFinding) -> Option<CeilingUse> {
    let (rate, ceiling) = match found.headline {
        Headline::Iops => (found.total.iops.value, iops),
        Headline::Throughput => (found.total.throughput.value, bytes),
    };
    (ceiling > 0.0).then(|| CeilingUse {
        resource,
        used: Share(rate / ceiling),
        ceiling,
        unit: found.headline,
        doubt: None,
    })
}

/// A ceiling by the part of it that was used: the rate that the whole would give.
fn share(resource: Resource, used: Option<f64>, found: &CaseFinding) -> Option<CeilingUse> {
    let used = used.filter(|used| *used > 0.0)?;
    let rate = match found.headline {
        Headline::Iops => found.total.iops.value,
        Headline::Throughput => found.total.throughput.value,
    };
    Some(CeilingUse { resource, used: Share(used), ceiling: rate / used, unit: found.headline, doubt: None })
}

/// Busy part of all CPUs while the load ran, whoever used them.
fn cpus(run: &RunRecord, case: &CaseTrials<'_>) -> Option<f64> {
    let stretches = stretches(run, case);
    let whole = length(&stretches).as_secs();
    let parts = stretches.iter().map(|stretch| match stretch.samples {
        [first, .., last] => Some(busy(first.cpus.as_ref()?, last.cpus.as_ref()?)? * stretch.length().as_secs()),
        _ => None,
    });
    let sum: f64 = parts.collect::<Option<Vec<f64>>>()?.into_iter().sum();
    (whole > 0.0).then(|| sum / whole)
}

/// Part of a CPU that the busiest load thread used, in the mean over trials.
fn thread(case: &CaseTrials<'_>) -> Option<f64> {
    let of = |trial: &crate::trials::Counting<'_>| {
        let most = trial.outcome.jobs.iter().filter_map(|job| job.cpu_max_ns).max()?;
        Some(most as f64 / trial.window.0 as f64)
    };
    mean(&case.counting.iter().map(of).collect::<Option<Vec<f64>>>()?)
}

#[cfg(test)]
mod storage_tests;
#[cfg(test)]
mod tests;
