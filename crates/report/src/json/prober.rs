//! The prober of a case, for machines.

use super::{QuantileOut, quantile};
use serde::Serialize;
use stend_analyse::findings::{OtherOp, ProberFinding, SilenceKind};
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
    /// What the load says of kinds of I/O that the probes do not make.
    other_operations: Vec<OtherOut>,
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

/// A kind of I/O of the load that the probes do not make.
#[derive(Serialize)]
pub(super) struct OtherOut {
    operation: Op,
    /// The longest time in which none was completed, at least; `null` if it was too short to be no chance.
    stood_still_ns: Option<u64>,
    /// When it began at the latest, from the begin of the window.
    at_ns: Option<u64>,
    trial: Option<u32>,
    /// The load makes too few of them to tell.
    too_few: bool,
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
        other_operations: prober.others.iter().map(other).collect(),
        share_of_load: prober.share.map(|share| share.0),
        cpus: prober.cpus,
    }
}

fn other(other: &OtherOp) -> OtherOut {
    OtherOut {
        operation: other.op,
        stood_still_ns: other.stood.map(|stood| stood.length.0),
        at_ns: other.stood.map(|stood| stood.at.0),
        trial: other.stood.map(|stood| stood.trial),
        too_few: other.too_few,
    }
}
