//! Latency of one kind of I/O as fio tells it: from when an I/O began, of those whose end was seen.

use super::SideAsFio;
use crate::findings::{OpFinding, Quantile, QuantileValue};
use crate::operations::{OpLatency, op_finding};
use crate::printed;
use crate::trials::CaseTrials;
use stend_base::{Histogram, Nanos, Share};
use stend_record::fio_bins::{self, Bins, bin};
use stend_spec::workload::Op;

/// Shares of the percentiles that fio prints by default.
//= fio, HOWTO.rst#cmdoption-arg-percentile-list
const PERCENTILES: [f64; 17] =
    [0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999];
/// Ends of fio's coarse classes; the same for ns, µs and ms. In ms there are two more.
const ENDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
/// The last class that has an end, ms.
const LAST_MS: u64 = 2000;

/// Latency of one kind of I/O.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyAsFio {
    /// `lat`: submission included; `clat`: without it, where the tool that measured told only that.
    pub kind: &'static str,
    /// I/Os.
    pub count: u64,
    /// Smallest, ns.
    pub least_ns: u64,
    /// Largest, ns.
    pub most_ns: u64,
    /// Mean, ns.
    pub mean_ns: f64,
    /// Standard deviation, ns, to half of a bucket; `None` without a histogram.
    pub deviation_ns: Option<f64>,
    /// Share of the I/Os at or below, and the latency. Without those that have too few I/Os, or that reach I/Os whose end was
    /// not seen.
    pub percentiles: Vec<(Share, Nanos)>,
    /// I/Os by fio's bucket; empty without a histogram.
    pub bins: Bins,
}

/// Shares of I/Os, 0 to 1, in fio's coarse classes: name of the class and share, every class of a unit listed.
#[derive(Debug, Clone, PartialEq)]
pub struct Marks {
    /// Below 1 µs, by their end in ns.
    pub ns: Vec<(String, f64)>,
    /// Below 1 ms, by their end in µs.
    pub us: Vec<(String, f64)>,
    /// From 1 ms on, by their end in ms; the last is open.
    pub ms: Vec<(String, f64)>,
}

/// Latency of an operation over the trials of a case; `None` if nothing of it is known.
pub(super) fn latency(case: &CaseTrials<'_>, of: &OpLatency) -> Option<LatencyAsFio> {
    let (stream, op) = (of.stream, of.op);
    let finding = op_finding(case, of);
    let printed = |value: &QuantileValue| matches!(value, QuantileValue::Printed(_));
    if finding.quantiles.iter().any(|quantile| printed(&quantile.value)) {
        return printed_latency(case, &finding);
    }
    let done = completed(case, stream, op);
    let (mean_ns, least, most) = (done.mean_ns()?, done.min()?, done.max()?);
    let mut bins = Bins::new();
    for (lower, _, count) in done.buckets() {
        let sum = bins.entry(bin(lower.0)).or_default();
        *sum = sum.saturating_add(count);
    }
    Some(LatencyAsFio {
        kind: kind(case, stream, op),
        count: done.count(),
        least_ns: least.0,
        most_ns: most.0,
        mean_ns,
        deviation_ns: Some(deviation(&done, mean_ns)),
        percentiles: percentiles(of),
        bins,
    })
}

/// Completed I/Os, from their begin: what fio would have seen. An imported open loop has but one latency.
fn completed(case: &CaseTrials<'_>, stream: u16, op: Op) -> Histogram {
    let mut all = Histogram::new();
    for outcome in case.counting.iter().map(|trial| trial.outcome) {
        for job in outcome.jobs.iter().filter(|job| job.stream == stream) {
            all.merge_sparse(&job.service.as_ref().unwrap_or(&job.latency)[op.index()]);
        }
        for drained in outcome.drained.iter().filter(|d| (d.stream, d.op) == (stream, op)) {
            all.merge_sparse(drained.service.as_ref().unwrap_or(&drained.latency));
        }
    }
    all
}

fn percentiles(of: &OpLatency) -> Vec<(Share, Nanos)> {
    let distribution = of.service.as_ref().unwrap_or(&of.distribution);
    let at = |share: Share| match distribution.quantile(share, None).value {
        QuantileValue::At(value) => Some((share, value)),
        _ => None,
    };
    PERCENTILES.into_iter().map(Share).filter_map(at).collect()
}

/// What another tool printed where it gave no histogram.
fn printed_latency(case: &CaseTrials<'_>, finding: &OpFinding) -> Option<LatencyAsFio> {
    let single = |quantile: &Quantile| quantile.value.single().map(|value| (quantile.q, value));
    (finding.count > 0).then(|| LatencyAsFio {
        kind: kind(case, finding.stream, finding.op),
        count: finding.count,
        least_ns: printed::least(case, (finding.stream, finding.op)),
        most_ns: finding.latency_max.0,
        mean_ns: finding.latency_mean_ns,
        deviation_ns: None,
        percentiles: finding.quantiles.iter().filter_map(single).collect(),
        bins: Bins::new(),
    })
}

fn kind(case: &CaseTrials<'_>, stream: u16, op: Op) -> &'static str {
    if printed::is_without_submission(case, (stream, op)) { "clat" } else { "lat" }
}

/// Standard deviation, ns; a value is taken to lie in the middle of its bucket.
fn deviation(done: &Histogram, mean_ns: f64) -> f64 {
    let squares = done.buckets().map(|(lower, upper, count)| {
        let off = lower.0.midpoint(upper.0) as f64 - mean_ns;
        off * off * count as f64
    });
    let freedom = done.count().saturating_sub(1);
    if freedom == 0 { 0.0 } else { (squares.sum::<f64>() / freedom as f64).sqrt() }
}

/// The coarse classes of all I/Os of some sides. A bucket of fio's that two classes share counts where it begins.
pub(super) fn marks<'a>(sides: impl Iterator<Item = &'a SideAsFio>) -> Option<Marks> {
    let mut of_all = Bins::new();
    for latency in sides.filter_map(|side| side.latency.as_ref()) {
        if latency.bins.is_empty() {
            return None;
        }
        fio_bins::add(&mut of_all, &latency.bins);
    }
    let all = fio_bins::count(&of_all);
    if all == 0 {
        return None;
    }
    let empty = |ends: &[u64]| ends.iter().map(|end| (end.to_string(), 0.0)).collect::<Vec<_>>();
    let mut marks = Marks { ns: empty(&ENDS), us: empty(&ENDS), ms: empty(&ENDS) };
    marks.ms.extend([(LAST_MS.to_string(), 0.0), (format!(">={LAST_MS}"), 0.0)]);
    for (bin, count) in of_all {
        let at = fio_bins::edges(bin).0;
        let (classes, value) = match at {
            0..1_000 => (&mut marks.ns, at),
            1_000..1_000_000 => (&mut marks.us, at / 1_000),
            _ => (&mut marks.ms, at / 1_000_000),
        };
        let last = classes.len() - 1;
        let class = ENDS.iter().chain([&LAST_MS]).position(|end| value < *end).unwrap_or(last).min(last);
        classes[class].1 += count as f64 / all as f64;
    }
    Some(marks)
}
