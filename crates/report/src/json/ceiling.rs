//! How near a case is to what bounds it, for machines.

use serde::Serialize;
use stend_analyse::findings::{
    Bound, CeilingDoubt, CeilingFinding, CeilingUse, DemandFinding, Doubled, Headline, LimitTest, Resource,
    UnknownCeiling,
};
use stend_base::Say;

/// What bounds a case.
#[derive(Serialize)]
pub(super) struct CeilingOut<'a> {
    /// The load host that it is of, where there are several: the one that is nearest to a ceiling of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    load_host: Option<&'a str>,
    bound: Bound,
    /// Known ceilings, the one that is used most first.
    uses: Vec<CeilingUseOut<'a>>,
    unknown: &'a [UnknownCeiling],
    in_flight: u64,
    /// 1 where each I/O takes as long as alone; `null` without a case at depth 1.
    rate_of_latency_alone: Option<f64>,
    /// The same case at twice the queue depth; `null` where the run does not have it.
    doubled: Option<&'a Doubled>,
    /// What other tests of cause did that the suite asked for (`confirm`).
    relieved: &'a [LimitTest],
    /// I/Os in flight that the nearest ceiling would take.
    in_flight_needed: Option<u64>,
    /// What an I/O of the case takes of the drives; `null` where that is not known.
    demand: Option<&'a DemandFinding>,
    text: Say,
}

#[derive(Serialize)]
struct CeilingUseOut<'a> {
    resource: &'a Resource,
    /// Part of the ceiling that was used.
    used: f64,
    ceiling_per_s: f64,
    /// Whether the ceiling counts I/Os or bytes.
    unit: Headline,
    doubt: Option<CeilingDoubt>,
}

/// In the form for machines.
pub(super) fn out(ceiling: &CeilingFinding) -> CeilingOut<'_> {
    CeilingOut {
        load_host: ceiling.host.as_deref(),
        bound: ceiling.bound,
        uses: ceiling.uses.iter().map(one).collect(),
        unknown: &ceiling.unknown,
        in_flight: ceiling.in_flight,
        rate_of_latency_alone: ceiling.alone,
        doubled: ceiling.doubled.as_ref(),
        relieved: &ceiling.relieved,
        in_flight_needed: ceiling.needed,
        demand: ceiling.demand.as_ref(),
        text: ceiling.say(),
    }
}

fn one(found: &CeilingUse) -> CeilingUseOut<'_> {
    CeilingUseOut {
        resource: &found.resource,
        used: found.used.0,
        ceiling_per_s: found.ceiling,
        unit: found.unit,
        doubt: found.doubt,
    }
}
