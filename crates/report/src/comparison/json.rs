//! A comparison for machines, in a form of its own like that of findings.

use serde::Serialize;
use serde_json::{Value, json};
use stend_analyse::Comparison;
use stend_analyse::compare::{CaseComparison, Condition, LatencySide, Ratio, RatioBasis, RatioValue, Side};
use stend_analyse::findings::{Estimate, QuantileValue};

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

/// A comparison as JSON, indented, with a line feed at the end. Ratios are parts of the baseline's value (1 is
/// equal). Lists of values are in the order of `runs`, the baseline first. A number that is not finite is `null`.
pub fn comparison_json(comparison: &Comparison) -> String {
    let runs = comparison.runs.iter().map(|run| {
        json!({"run": run.run, "suite": run.suite, "target": run.target, "started_unix_s": run.started_unix,
            "state": crate::json::state(&run.state)})
    });
    let unmatched = comparison.unmatched.iter().map(|case| json!({"label": case.label, "runs": case.runs}));
    let document = json!({
        "schema": "stend-comparison",
        "schema_version": SCHEMA_VERSION,
        "runs": runs.collect::<Vec<_>>(),
        "conditions_changed": comparison.changed.iter().map(condition).collect::<Vec<_>>(),
        "conditions_same": comparison.same.iter().map(condition).collect::<Vec<_>>(),
        "cases": comparison.cases.iter().map(case).collect::<Vec<_>>(),
        "unmatched": unmatched.collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

fn condition(condition: &Condition) -> Value {
    json!({"condition": condition.key, "name": condition.name, "values": condition.values})
}

fn case(case: &CaseComparison) -> Value {
    json!({
        "label": case.label,
        "headline": case.headline,
        "workloads": case.workloads,
        "sides": case.sides.iter().map(|s| s.as_ref().map(side)).collect::<Vec<_>>(),
    })
}

fn side(side: &Side) -> Value {
    json!({
        "trials": side.trials,
        "failed_checks": side.failed,
        "rate": estimate(&side.rate),
        "rate_ratio": side.rate_ratio.as_ref().map(ratio),
        "latencies": side.latencies.iter().map(latency).collect::<Vec<_>>(),
    })
}

fn estimate(estimate: &Estimate) -> Value {
    json!({"value": estimate.value, "interval_95": estimate.interval})
}

fn latency(latency: &LatencySide) -> Value {
    let (state, value) = match latency.p99.value {
        QuantileValue::At(v) => ("at", Some(v.0)),
        QuantileValue::Above(v) => ("above", Some(v.0)),
        QuantileValue::NotEnough { .. } => ("not_enough", None),
    };
    json!({
        "stream": latency.stream,
        "operation": latency.op,
        "p99": {"state": state, "value_ns": value},
        "p99_ratio": latency.ratio.as_ref().map(ratio),
    })
}

/// A ratio; `basis` tells where it comes from, or why a part of it is missing.
fn ratio(ratio: &Ratio) -> Value {
    #[derive(Serialize)]
    struct Out {
        /// `at`, `above`, `below` or `unknown`.
        state: &'static str,
        value: Option<f64>,
        interval_95: Option<(f64, f64)>,
        includes_1: Option<bool>,
        basis: &'static str,
    }
    let (state, value) = match ratio.value {
        RatioValue::At(v) => ("at", Some(v)),
        RatioValue::Above(v) => ("above", Some(v)),
        RatioValue::Below(v) => ("below", Some(v)),
        RatioValue::Unknown => ("unknown", None),
    };
    let basis = match ratio.basis {
        RatioBasis::Trials { .. } => "trials",
        RatioBasis::TooFewTrials => "too_few_trials",
        RatioBasis::TrialsTooShort { .. } => "trials_too_short",
        RatioBasis::NotANumber => "not_a_number",
        RatioBasis::NotEnough => "not_enough",
    };
    json!(Out { state, value, interval_95: ratio.interval, includes_1: ratio.includes_one(), basis })
}
