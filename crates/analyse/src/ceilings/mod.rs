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

use crate::check::stretch::{length, stretches};
use crate::cpu::busy;
use crate::findings::{Bound, CaseFinding, CeilingFinding, CeilingUse, Headline, Resource, UnknownCeiling};
use crate::trials::CaseTrials;
use measured::{is_calibrated, of_engine};
use model::Decision;
use related::{Rate, alone, doubled, relieved};
use stend_base::{Share, say};
use stend_plan::Plan;
use stend_record::RunRecord;
use stend_stats::mean;
use storage::of_storage;

/// Puts into each case how near it is to its ceilings. Without calibration only a clear bound is reported.
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
        host: None,
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

/// Busy part of all CPUs while the load ran, by any process.
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
