//! The prober of a case, for machines.

use super::{QuantileOut, quantile};
use serde::Serialize;
use stend_analyse::findings::{ProberFinding, SilenceKind};
use stend_spec::workload::Op;

/// What single I/Os beside the load saw.
#[derive(Serialize)]
pub(super) struct ProberOut {
    rate_per_s: f64,
    operation: Op,
    count: u64,
    unanswered: u64,
    failed: u64,
    /// From when a probe was due.
    latency_quantiles: Vec<QuantileOut>,
    latency_max_ns: u64,
    longest_silence: Option<SilenceOut>,
    /// Probes over I/Os of the load.
    share_of_load: Option<f64>,
    cpus: Option<f64>,
}

/// The longest time in which no probe was answered.
#[derive(Serialize)]
pub(super) struct SilenceOut {
    kind: SilenceKind,
    length_ns: u64,
    /// From the begin of the window.
    at_ns: u64,
    trial: u32,
    ended: bool,
    /// I/Os of the load in whole intervals of it.
    load_completed: Option<u64>,
}

/// In the form for machines.
pub(super) fn out(prober: &ProberFinding) -> ProberOut {
    ProberOut {
        rate_per_s: prober.rate.0 as f64 / 1e3,
        operation: prober.op,
        count: prober.probes,
        unanswered: prober.unanswered,
        failed: prober.failed,
        latency_quantiles: prober.response.iter().map(quantile).collect(),
        latency_max_ns: prober.response_max.0,
        longest_silence: prober.longest.map(|longest| SilenceOut {
            kind: longest.kind,
            length_ns: longest.length.0,
            at_ns: longest.at.0,
            trial: longest.trial,
            ended: longest.ended,
            load_completed: longest.load_completed,
        }),
        share_of_load: prober.share.map(|share| share.0),
        cpus: prober.cpus,
    }
}
