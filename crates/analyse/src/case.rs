//! One case: its trials in, everything that is found about it out.

use crate::findings::{CaseFinding, OpFinding};
use crate::latency::Distribution;
use crate::stats::effective;
use crate::trials::CaseTrials;
use crate::{charts, check, phrase, rates};
use std::collections::BTreeSet;
use stend_base::{Nanos, Share};
use stend_record::RunRecord;
use stend_spec::workload::Op;

/// Quantiles of every operation.
const QUANTILES: [Share; 3] = [Share(0.5), Share(0.99), Share(0.999)];
/// Most (stream, operation) pairs of a case; only a damaged file has more.
const OPS_MAX: usize = 192;

/// One operation of a stream with its latencies.
pub struct OpLatency {
    /// Index of the stream.
    pub stream: u16,
    /// Operation.
    pub op: Op,
    /// Latencies of all counting trials.
    pub distribution: Distribution,
}

/// Everything about one case. `run_start` is where the run's axis begins.
pub fn finding(run: &RunRecord, case: &CaseTrials<'_>, label: String, run_start: Nanos) -> CaseFinding {
    let latencies = latencies(case);
    let headline = phrase::headline(case.asked);
    CaseFinding {
        case: case.case,
        label,
        workload: phrase::workload(case.asked),
        headline,
        trials: case.counting.len() as u32,
        trials_left_out: (case.all.len() - case.counting.len()) as u32,
        total: rates::rates(case, None, &[Op::Read, Op::Write]),
        ops: latencies.iter().map(|latency| op_finding(case, latency)).collect(),
        checks: check::all(run, case),
        charts: charts::of_case(run, case, headline, &latencies, run_start),
    }
}

/// Latency distributions by stream and operation that occurred.
pub fn latencies(case: &CaseTrials<'_>) -> Vec<OpLatency> {
    let occurred: BTreeSet<(u16, Op)> = case.counting.iter().flat_map(|trial| keys(trial.outcome)).collect();
    let distribution = |(stream, op): (u16, Op)| {
        let mut distribution = Distribution::default();
        for trial in &case.counting {
            for job in trial.outcome.jobs.iter().filter(|job| job.stream == stream) {
                distribution.add(&job.latency[op.index()]);
            }
            for drained in trial.outcome.drained.iter().filter(|d| (d.stream, d.op) == (stream, op)) {
                distribution.add(&drained.latency);
            }
            for censored in trial.outcome.censored.iter().filter(|c| (c.stream, c.op) == (stream, op)) {
                distribution.add_censored(censored.age);
            }
        }
        OpLatency { stream, op, distribution }
    };
    occurred.into_iter().take(OPS_MAX).map(distribution).collect()
}

/// The (stream, operation) pairs that occurred in a trial.
fn keys(outcome: &stend_record::TrialOutcome) -> Vec<(u16, Op)> {
    let done = outcome
        .jobs
        .iter()
        .flat_map(|job| Op::ALL.into_iter().filter(|op| job.done[op.index()].0 > 0).map(|op| (job.stream, op)));
    let drained = outcome.drained.iter().filter(|d| d.latency.count() > 0).map(|d| (d.stream, d.op));
    let censored = outcome.censored.iter().map(|c| (c.stream, c.op));
    done.chain(drained).chain(censored).collect()
}

/// What is found about one operation.
pub fn op_finding(case: &CaseTrials<'_>, latency: &OpLatency) -> OpFinding {
    let OpLatency { stream, op, distribution } = latency;
    let clusters: Vec<Vec<f64>> =
        case.counting.iter().map(|trial| rates::window_series(trial, Some(*stream), &[*op], |cell| cell.ops)).collect();
    let design_effect = effective::design_effect(&clusters);
    OpFinding {
        stream: *stream,
        op: *op,
        rates: rates::rates(case, Some(*stream), &[*op]),
        count: distribution.count(),
        latency_mean_ns: distribution.mean_ns(),
        quantiles: QUANTILES.into_iter().map(|q| distribution.quantile(q, design_effect)).collect(),
        latency_max: distribution.max(),
        censored: distribution.censored(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::QuantileValue;
    use crate::fixture::{case, run, run_of};
    use crate::trials::by_case;
    use stend_base::histogram::Sparse;
    use stend_record::observed::Drained;
    use stend_spec::workload::Sync;

    fn first(record: &RunRecord) -> CaseFinding {
        finding(record, &by_case(record)[0], "x".into(), Nanos(0))
    }

    #[test]
    fn io_that_ended_after_the_window_counts_for_latency_and_not_for_the_rate() {
        let slow = Sparse { buckets: vec![(4000, 400)], sum_ns: 1, min_ns: 1, max_ns: 20_000_000_000 };
        let with = run()
            .trial(0)
            .change(move |o, _| o.drained.push(Drained { stream: 0, op: Op::Read, latency: slow }))
            .done()
            .record();
        let (with, without) = (first(&with), first(&run().trial(0).done().record()));
        assert_eq!(with.total.iops.value, without.total.iops.value);
        assert_eq!(with.ops[0].count, without.ops[0].count + 400);
        assert_eq!(with.ops[0].latency_max, Nanos::secs(20));
        assert!(matches!(with.ops[0].quantiles[1].value, QuantileValue::At(v) if v > Nanos::millis(500)));
    }

    #[test]
    fn the_total_is_reads_and_writes_without_syncs() {
        let record = run_of(vec![case("durable", 0, 1, Sync::Fdatasync(1))]).trial(0).iops(500.0).done().record();
        let found = first(&record);
        let ops: Vec<_> = found.ops.iter().map(|o| (o.op, o.rates.iops.value)).collect();
        assert_eq!((found.total.iops.value, ops), (500.0, vec![(Op::Write, 500.0), (Op::Sync, 500.0)]));
    }

    #[test]
    fn a_mix_shows_each_operation() {
        let record = run_of(vec![case("mix", 70, 32, Sync::None)]).trial(0).done().record();
        let ops: Vec<_> = first(&record).ops.iter().map(|o| (o.op, o.rates.iops.value)).collect();
        assert_eq!(ops, [(Op::Read, 7_000.0), (Op::Write, 3_000.0)]);
    }
}
