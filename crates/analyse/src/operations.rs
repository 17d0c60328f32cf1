//! The operations of one case: their latencies over all its trials, and what is found about each.

use crate::findings::{OpFinding, Service};
use crate::limits::BATCH_INTERVALS;
use crate::trials::CaseTrials;
use crate::{printed, rates};
use std::collections::BTreeSet;
use stend_base::Share;
use stend_record::TrialOutcome;
use stend_spec::keys::STREAMS;
use stend_spec::workload::{OPS, Op};
use stend_stats::distribution::Distribution;
use stend_stats::effective;

/// Quantiles of every operation.
const QUANTILES: [Share; 3] = [Share(0.5), Share(0.99), Share(0.999)];
/// Most (stream, operation) pairs of a case; only a damaged file has more.
const OPS_MAX: usize = STREAMS.most * OPS;

/// One operation of a stream with its latencies.
pub struct OpLatency {
    /// Index of the stream.
    pub stream: u16,
    /// Operation.
    pub op: Op,
    /// Latencies of all counting trials; in an open loop from the time when an I/O was due.
    pub distribution: Distribution,
    /// In an open loop: latencies from the begin of an I/O.
    pub service: Option<Distribution>,
}

/// Latency distributions by stream and operation that occurred.
pub fn latencies(case: &CaseTrials<'_>) -> Vec<OpLatency> {
    let occurred: BTreeSet<(u16, Op)> = case.counting.iter().flat_map(|trial| keys(trial.outcome)).collect();
    let distribution = |(stream, op): (u16, Op)| {
        let mut distribution = Distribution::default();
        for trial in &case.counting {
            let mut own = Distribution::default();
            for job in trial.outcome.jobs.iter().filter(|job| job.stream == stream) {
                own.add(&job.latency[op.index()]);
            }
            for drained in trial.outcome.drained.iter().filter(|d| (d.stream, d.op) == (stream, op)) {
                own.add(&drained.latency);
            }
            for censored in trial.outcome.censored.iter().filter(|c| (c.stream, c.op) == (stream, op)) {
                own.add_censored(censored.age);
            }
            for open in trial.outcome.open.iter().filter(|open| open.stream == stream) {
                own.add_never_begun(&open.never_begun[op.index()]);
            }
            distribution.join(&own);
        }
        // Another engine has but one latency, which says nothing of waiting.
        let told = case.counting.iter().all(|trial| trial.outcome.engine.external.is_none());
        OpLatency {
            stream,
            op,
            distribution,
            service: (is_open(case, stream) && told).then(|| service(case, stream, op)),
        }
    };
    occurred.into_iter().take(OPS_MAX).map(distribution).collect()
}

/// Latencies of an open-loop stream without the wait for a place in flight.
fn service(case: &CaseTrials<'_>, stream: u16, op: Op) -> Distribution {
    let mut distribution = Distribution::default();
    for outcome in case.counting.iter().map(|trial| trial.outcome) {
        let jobs = outcome.jobs.iter().filter(|job| job.stream == stream).filter_map(|job| job.service.as_ref());
        let drained = outcome.drained.iter().filter(|d| (d.stream, d.op) == (stream, op));
        let completed = jobs.map(|service| &service[op.index()]).chain(drained.filter_map(|d| d.service.as_ref()));
        let mut own = Distribution::default();
        completed.for_each(|latency| own.add(latency));
        for censored in outcome.censored.iter().filter(|c| (c.stream, c.op) == (stream, op)) {
            own.add_censored(censored.in_flight);
        }
        distribution.join(&own);
    }
    distribution
}

fn is_open(case: &CaseTrials<'_>, stream: u16) -> bool {
    case.asked.streams.get(usize::from(stream)).is_some_and(|s| s.is_open())
}

/// How far I/Os of a single trial hang together: told by its rate, which in a closed loop is the inverse of latency. In an
/// open loop the rate is what was asked for, and tells nothing.
fn within(case: &CaseTrials<'_>, stream: u16, op: Op) -> Option<f64> {
    match case.counting.as_slice() {
        [single] if !is_open(case, stream) => {
            let series = rates::window_series(single, Some(stream), &[op], |cell| cell.ops);
            effective::of_series(&series, BATCH_INTERVALS)
        }
        _ => None,
    }
}

/// The (stream, operation) pairs that occurred in a trial.
fn keys(outcome: &TrialOutcome) -> Vec<(u16, Op)> {
    let done = outcome
        .jobs
        .iter()
        .flat_map(|job| Op::ALL.into_iter().filter(|op| job.done[op.index()].0 > 0).map(|op| (job.stream, op)));
    let drained = outcome.drained.iter().filter(|d| d.latency.count() > 0).map(|d| (d.stream, d.op));
    let censored = outcome.censored.iter().map(|c| (c.stream, c.op));
    let never = outcome.open.iter().flat_map(|open| {
        Op::ALL.into_iter().filter(|op| open.never_begun[op.index()].count() > 0).map(|op| (open.stream, op))
    });
    done.chain(drained).chain(censored).chain(never).collect()
}

/// What is found about one operation.
pub fn op_finding(case: &CaseTrials<'_>, latency: &OpLatency) -> OpFinding {
    let OpLatency { stream, op, distribution, service } = latency;
    let within = within(case, *stream, *op);
    let quantiles = |of: &Distribution| QUANTILES.map(|q| of.quantile(q, within)).to_vec();
    let finding = OpFinding {
        stream: *stream,
        op: *op,
        rates: rates::rates(case, Some(*stream), &[*op]),
        count: distribution.count(),
        latency_mean_ns: distribution.mean_ns(),
        quantiles: quantiles(distribution),
        latency_max: distribution.max(),
        censored: distribution.censored(),
        service: service.as_ref().map(|service| Service {
            mean_ns: service.mean_ns(),
            quantiles: quantiles(service),
            max: service.max(),
            censored: service.censored(),
        }),
    };
    printed::completed(case, finding)
}
