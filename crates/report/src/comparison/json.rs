//! A comparison for machines, in a form of its own like that of findings.

use crate::json::State;
use serde::Serialize;
use stend_analyse::Comparison;
use stend_analyse::compare::{CaseComparison, ComparedRun, LatencySide, Ratio, RatioBasis, RatioValue, Side};
use stend_analyse::findings::{Estimate, Headline, QuantileValue};
use stend_base::Say;
use stend_spec::workload::Op;

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

/// Ratios are parts of the baseline's value (1 is equal). Lists of values are in the order of `runs`, the
/// baseline first.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    schema_version: u32,
    runs: Vec<Run<'a>>,
    /// Conditions that are not the same in all runs.
    conditions_changed: Vec<Condition<'a>>,
    conditions_same: Vec<Condition<'a>>,
    /// Cases of the baseline that another run has too.
    cases: Vec<Case<'a>>,
    /// Cases that could not be compared.
    unmatched: Vec<Unmatched<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    run: &'a str,
    suite: &'a str,
    /// As the user named them.
    targets: &'a [String],
    started_unix_s: i64,
    state: State<'a>,
    /// Name of the arm, if arms of one run are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    arm: Option<&'a str>,
}

#[derive(Serialize)]
struct Condition<'a> {
    condition: &'a str,
    name: &'a Say,
    /// By run; empty texts where it is not known.
    values: &'a [Say],
}

#[derive(Serialize)]
struct Case<'a> {
    label: &'a str,
    /// The rate that is compared.
    headline: Headline,
    /// By run, if it is not the same in all of them; otherwise empty.
    workloads: &'a [Say],
    /// By run; `null` where the run does not have the case.
    sides: Vec<Option<SideOut<'a>>>,
}

#[derive(Serialize)]
struct SideOut<'a> {
    /// Trials that count.
    trials: u32,
    /// Numbers of the checks that failed: this side should not be compared.
    failed_checks: &'a [String],
    /// I/Os or bytes per second, as `headline` says.
    rate: Rate,
    /// `null` for the baseline itself.
    rate_ratio: Option<RatioOut>,
    latencies: Vec<Latency>,
}

#[derive(Serialize)]
struct Rate {
    value: f64,
    interval_95: Option<(f64, f64)>,
}

#[derive(Serialize)]
struct Latency {
    stream: u16,
    operation: Op,
    p99: Percentile,
    /// `null` for the baseline itself, and where it lacks the operation.
    p99_ratio: Option<RatioOut>,
}

#[derive(Serialize)]
struct Percentile {
    /// `at`, `above` (a lower bound) or `not_enough`.
    state: &'static str,
    value_ns: Option<u64>,
}

#[derive(Serialize)]
struct RatioOut {
    /// `at`, `above`, `below` or `unknown`.
    state: &'static str,
    value: Option<f64>,
    interval_95: Option<(f64, f64)>,
    includes_1: Option<bool>,
    /// Where it comes from, or why a part of it is missing: `blocks`, `trials`, `too_few_trials`, `trials_too_short`,
    /// `not_a_number` or `not_enough`.
    basis: &'static str,
}

#[derive(Serialize)]
struct Unmatched<'a> {
    label: &'a str,
    /// Indices of the runs that have it.
    runs: &'a [usize],
}

/// A comparison as JSON, indented, with a line feed at the end. A number that is not finite is `null`.
pub fn comparison_json(comparison: &Comparison) -> String {
    crate::json::pretty(&Document {
        schema: "stend-comparison",
        schema_version: SCHEMA_VERSION,
        runs: comparison.runs.iter().map(run).collect(),
        conditions_changed: comparison.changed.iter().map(condition).collect(),
        conditions_same: comparison.same.iter().map(condition).collect(),
        cases: comparison.cases.iter().map(case).collect(),
        unmatched: comparison.unmatched.iter().map(|c| Unmatched { label: &c.label, runs: &c.runs }).collect(),
    })
}

fn run(run: &ComparedRun) -> Run<'_> {
    Run {
        run: &run.run,
        suite: &run.suite,
        targets: &run.targets,
        started_unix_s: run.started_unix,
        state: crate::json::state(&run.state),
        arm: run.arm.as_deref(),
    }
}

fn condition(condition: &stend_analyse::compare::Condition) -> Condition<'_> {
    Condition { condition: &condition.key, name: &condition.name, values: &condition.values }
}

fn case(case: &CaseComparison) -> Case<'_> {
    Case {
        label: &case.label,
        headline: case.headline,
        workloads: &case.workloads,
        sides: case.sides.iter().map(|s| s.as_ref().map(side)).collect(),
    }
}

fn side(side: &Side) -> SideOut<'_> {
    SideOut {
        trials: side.trials,
        failed_checks: &side.failed,
        rate: rate(&side.rate),
        rate_ratio: side.rate_ratio.as_ref().map(ratio),
        latencies: side.latencies.iter().map(latency).collect(),
    }
}

fn rate(estimate: &Estimate) -> Rate {
    Rate { value: estimate.value, interval_95: estimate.interval }
}

fn latency(latency: &LatencySide) -> Latency {
    let (state, value_ns) = match latency.p99.value {
        QuantileValue::At(v) => ("at", Some(v.0)),
        QuantileValue::Above(v) => ("above", Some(v.0)),
        QuantileValue::NotEnough { .. } => ("not_enough", None),
    };
    Latency {
        stream: latency.stream,
        operation: latency.op,
        p99: Percentile { state, value_ns },
        p99_ratio: latency.ratio.as_ref().map(ratio),
    }
}

fn ratio(ratio: &Ratio) -> RatioOut {
    let (state, value) = match ratio.value {
        RatioValue::At(v) => ("at", Some(v)),
        RatioValue::Above(v) => ("above", Some(v)),
        RatioValue::Below(v) => ("below", Some(v)),
        RatioValue::Unknown => ("unknown", None),
    };
    let basis = match ratio.basis {
        RatioBasis::Blocks { .. } => "blocks",
        RatioBasis::Trials { .. } => "trials",
        RatioBasis::TooFewTrials => "too_few_trials",
        RatioBasis::TrialsTooShort { .. } => "trials_too_short",
        RatioBasis::NotANumber => "not_a_number",
        RatioBasis::NotEnough => "not_enough",
    };
    RatioOut { state, value, interval_95: ratio.interval, includes_1: ratio.includes_one(), basis }
}
