//! What queue depth or jobs buy, for machines.

use serde::Serialize;
use stend_analyse::findings::{Headline, Scaling, ScalingModel, SweepFinding, SweepOf, SweepPoint};
use stend_base::Say;

/// A closed loop at four or more queue depths or numbers of jobs.
#[derive(Serialize)]
pub(super) struct SweepOut<'a> {
    /// Name of the case, with the axes that were not varied here.
    label: &'a str,
    /// What was varied.
    of: SweepOf,
    /// Whether rates are I/Os or bytes per second.
    headline: Headline,
    /// Ascending.
    points: Vec<SweepPointOut>,
    /// Value at which the rate bends; `null`: not up to the last one.
    bend: Option<u64>,
    /// `fits`, `deviates` or `too_few` (values for a fit).
    law: &'static str,
    /// Relative, root of the mean square.
    law_deviation: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scaling: Option<ScalingOut>,
    text: Say,
}

#[derive(Serialize)]
struct SweepPointOut {
    value: u64,
    rate_per_s: f64,
    latency_ns_p99: Option<u64>,
}

/// Coefficients of the Universal Scalability Law.
#[derive(Serialize)]
struct ScalingOut {
    gamma_per_s: f64,
    alpha: f64,
    beta: f64,
    /// Value at which the rate is largest; `null`: it does not fall.
    peak: Option<f64>,
    /// Largest rate of the law; `null`: it knows no bound.
    peak_rate_per_s: Option<f64>,
    /// The largest rate lies beyond what was measured.
    extrapolated: bool,
}

/// In the form for machines.
pub(super) fn out(sweep: &SweepFinding) -> SweepOut<'_> {
    let (law, law_deviation, scaling) = match &sweep.model {
        ScalingModel::Fits(found) => ("fits", Some(found.deviation.0), Some(scaling(found))),
        ScalingModel::Deviates { deviation } => ("deviates", Some(deviation.0), None),
        ScalingModel::TooFew { .. } => ("too_few", None, None),
    };
    SweepOut {
        label: &sweep.label,
        of: sweep.of,
        headline: sweep.headline,
        points: sweep.points.iter().map(point).collect(),
        bend: sweep.knee,
        law,
        law_deviation,
        scaling,
        text: sweep.say(),
    }
}

fn point(point: &SweepPoint) -> SweepPointOut {
    SweepPointOut { value: point.value, rate_per_s: point.rate, latency_ns_p99: point.p99.map(|p99| p99.0) }
}

fn scaling(found: &Scaling) -> ScalingOut {
    ScalingOut {
        gamma_per_s: found.gamma,
        alpha: found.alpha,
        beta: found.beta,
        peak: found.peak,
        peak_rate_per_s: found.peak_rate,
        extrapolated: found.extrapolated,
    }
}
