//! A comparison for machines, in a form of its own like that of findings.

mod ratio;

use crate::json::State;
use ratio::{PartRatio, RatioOut};
use serde::Serialize;
use stend_analyse::Comparison;
use stend_analyse::compare::{
    CaseComparison, ComparedRun, Floor, LatencySide, LayerPrice, LayerRate, Mean, Metric, Noise, PartSide, RatioValue,
    Rule, Side,
};
use stend_analyse::findings::{CheckId, Estimate, GradeLevel, Headline, QuantileValue};
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
    /// What is compared alternated in blocks; otherwise it was measured one after the other, and no verdict is coloured.
    interleaved: bool,
    /// Difference that does not matter, as a part of the baseline's value: 0.02 is from 1 / 1.02 to 1.02.
    margin: f64,
    /// What a rate must differ by to be better or worse: the margin, or the floor if that is more.
    beyond_rate: f64,
    /// The same of a p99.
    beyond_p99: f64,
    /// How far a configuration is from itself; `null` where that is not known.
    floor: Option<FloorOut<'a>>,
    /// Cells that were judged together (Holm).
    cells_judged: u32,
    /// Blocks, or trials of each run, that so many cells need.
    blocks_needed: u32,
    /// Blocks with which cells that have too few or too wide an interval get a verdict, if they are as they look; `null`: more than 1000.
    blocks_suggested: Option<u32>,
    /// Conditions that are not the same in all runs.
    conditions_changed: Vec<Condition<'a>>,
    /// Conditions that differ because each run has a stand of its own.
    conditions_of_stands: Vec<Condition<'a>>,
    conditions_same: Vec<Condition<'a>>,
    /// Cases of the baseline that another run has too.
    cases: Vec<Case<'a>>,
    /// Cases that could not be compared.
    unmatched: Vec<Unmatched<'a>>,
    /// Geometric means of the ratios of the table, where there are two or more.
    geometric_means: Vec<MeanOut>,
    /// What layers cost of which one run has more than another, the lowest first.
    layers: Vec<LayerOut<'a>>,
    /// Checks of the comparison as a whole.
    checks: Vec<crate::json::Check<'a>>,
    /// Every limit that a check, an interval or a caveat is decided by.
    limits: Vec<crate::json::LimitOut>,
    /// What `--gate` says; `null` without one.
    gate: Option<crate::json::gate::GateOut<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    run: &'a str,
    suite: &'a str,
    /// As the user named them.
    targets: &'a [String],
    /// Name of the stand that made them.
    #[serde(skip_serializing_if = "Option::is_none")]
    stand: Option<&'a str>,
    /// How often the stand was built: with `--rebuild` once for each block.
    #[serde(skip_serializing_if = "Option::is_none")]
    builds: Option<u32>,
    started_unix_s: i64,
    state: State<'a>,
    /// What the user called the run, if anything.
    label: Option<&'a str>,
    /// Name of the arm, if arms of one run are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    arm: Option<&'a str>,
    /// What the numbers of the run may be used for.
    grade: GradeLevel,
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
    failed_checks: Vec<&'a str>,
    /// I/Os or bytes per second, as `headline` says.
    rate: Rate,
    /// `null` for the baseline itself.
    rate_ratio: Option<RatioOut>,
    /// Rates by stream and operation, syncs aside; empty where there is but one. They have no verdict: they follow the rate of the case.
    operations: Vec<Part>,
    latencies: Vec<Latency>,
}

/// Rates of one operation of a mix.
#[derive(Serialize)]
struct Part {
    stream: u16,
    operation: Op,
    iops: Rate,
    /// `null` for the baseline itself, and where it lacks the operation.
    iops_ratio: Option<PartRatio>,
    throughput_bytes_per_s: Rate,
    /// `null` for the baseline itself, and where it lacks the operation.
    throughput_ratio: Option<PartRatio>,
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
    /// `at`, `above` (a lower bound), `not_enough`, or `printed` by another tool, which cannot be merged.
    state: &'static str,
    value_ns: Option<u64>,
    /// The smallest and the largest of several that another tool printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    printed_range_ns: Option<(u64, u64)>,
}

#[derive(Serialize)]
struct FloorOut<'a> {
    /// `null` with fewer than six distances.
    rate: Option<NoiseOut>,
    p99: Option<NoiseOut>,
    /// Names of the arms, or the id of the run, that were compared with themselves.
    from: &'a [String],
}

#[derive(Serialize)]
struct NoiseOut {
    /// 95th percentile of the distances, as a part of the value.
    share: f64,
    /// Distances, one for each block of each cell.
    distances: u32,
}

#[derive(Serialize)]
struct MeanOut {
    /// Index of the run.
    run: usize,
    /// `rate` or `p99`.
    metric: &'static str,
    /// The operation, for a latency.
    operation: Option<Op>,
    /// Ratios in it.
    ratios: u32,
    /// Ratios that are not in it: without an interval, with a failed check, or of another workload.
    left_out: u32,
    value: f64,
    interval_95: Option<(f64, f64)>,
}

#[derive(Serialize)]
struct LayerOut<'a> {
    /// Index of the run without them.
    below: usize,
    /// Index of the run with them.
    above: usize,
    /// From below.
    layers: &'a str,
    /// By case: rate with them over rate without.
    rates: Vec<LayerRateOut<'a>>,
    geometric_mean: Option<f64>,
    geometric_mean_interval_95: Option<(f64, f64)>,
}

#[derive(Serialize)]
struct LayerRateOut<'a> {
    label: &'a str,
    /// `null` where it is only known to be above or below something.
    ratio: Option<f64>,
    interval_95: Option<(f64, f64)>,
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
        interleaved: comparison.interleaved,
        margin: comparison.rule.margin,
        beyond_rate: comparison.rule.rate,
        beyond_p99: comparison.rule.latency,
        floor: comparison.floor.as_ref().map(floor),
        cells_judged: comparison.rule.cells,
        blocks_needed: comparison.rule.needed,
        blocks_suggested: comparison.rule.suggested,
        conditions_changed: comparison.changed.iter().map(condition).collect(),
        conditions_of_stands: comparison.follow.iter().map(condition).collect(),
        conditions_same: comparison.same.iter().map(condition).collect(),
        cases: comparison.cases.iter().map(|c| case(c, &comparison.rule)).collect(),
        unmatched: comparison.unmatched.iter().map(|c| Unmatched { label: &c.label, runs: &c.runs }).collect(),
        geometric_means: comparison.means.iter().map(mean).collect(),
        layers: comparison.layers.iter().map(layer).collect(),
        checks: comparison.checks.iter().map(crate::json::check).collect(),
        limits: crate::json::limits(),
        gate: comparison.gate.as_ref().map(crate::json::gate::gate),
    })
}

fn layer(price: &LayerPrice) -> LayerOut<'_> {
    let rate = |rate: &'_ LayerRate| match rate.value {
        RatioValue::At(value) => Some(value),
        _ => None,
    };
    LayerOut {
        below: price.below,
        above: price.above,
        layers: &price.layers,
        rates: price
            .rates
            .iter()
            .map(|r| LayerRateOut { label: &r.label, ratio: rate(r), interval_95: r.interval })
            .collect(),
        geometric_mean: price.mean.map(|mean| mean.0),
        geometric_mean_interval_95: price.mean.and_then(|mean| mean.1),
    }
}

fn run(run: &ComparedRun) -> Run<'_> {
    Run {
        run: &run.run,
        suite: &run.suite,
        targets: &run.targets,
        stand: run.stand.as_deref(),
        builds: run.builds,
        started_unix_s: run.started_unix,
        state: crate::json::state(&run.state),
        label: run.label.as_deref(),
        arm: run.arm.as_deref(),
        grade: run.grade,
    }
}

fn condition(condition: &stend_analyse::compare::Condition) -> Condition<'_> {
    Condition { condition: &condition.key, name: &condition.name, values: &condition.values }
}

fn case<'a>(case: &'a CaseComparison, rule: &Rule) -> Case<'a> {
    Case {
        label: &case.label,
        headline: case.headline,
        workloads: &case.workloads,
        sides: case.sides.iter().map(|s| s.as_ref().map(|s| side(s, rule))).collect(),
    }
}

fn side<'a>(side: &'a Side, rule: &Rule) -> SideOut<'a> {
    SideOut {
        trials: side.trials,
        failed_checks: CheckId::codes(&side.failed),
        rate: rate(&side.rate),
        rate_ratio: side.rate_ratio.as_ref().map(|r| ratio::ratio(r, rule)),
        operations: side.parts.iter().map(part).collect(),
        latencies: side.latencies.iter().map(|l| latency(l, rule)).collect(),
    }
}

fn part(part: &PartSide) -> Part {
    let [(iops, iops_ratio), (throughput, throughput_ratio)] = crate::rates::BOTH.map(|headline| part.of(headline));
    Part {
        stream: part.stream,
        operation: part.op,
        iops: rate(iops),
        iops_ratio: iops_ratio.map(ratio::told),
        throughput_bytes_per_s: rate(throughput),
        throughput_ratio: throughput_ratio.map(ratio::told),
    }
}

fn rate(estimate: &Estimate) -> Rate {
    Rate { value: estimate.value, interval_95: estimate.interval }
}

fn floor(floor: &Floor) -> FloorOut<'_> {
    let noise = |noise: Noise| NoiseOut { share: noise.share, distances: noise.distances };
    FloorOut { rate: floor.rate.map(noise), p99: floor.latency.map(noise), from: &floor.from }
}

fn mean(mean: &Mean) -> MeanOut {
    let (metric, operation) = metric(mean.metric);
    let Mean { run, cells, left_out, value, interval, .. } = *mean;
    MeanOut { run, metric, operation, ratios: cells, left_out, value, interval_95: interval }
}

fn metric(metric: Metric) -> (&'static str, Option<Op>) {
    match metric {
        Metric::Rate => ("rate", None),
        Metric::P99(op) => ("p99", Some(op)),
    }
}

fn latency(latency: &LatencySide, rule: &Rule) -> Latency {
    let (state, value_ns) = match latency.p99.value {
        QuantileValue::At(v) => ("at", Some(v.0)),
        QuantileValue::Above(v) => ("above", Some(v.0)),
        QuantileValue::NotEnough { .. } => ("not_enough", None),
        QuantileValue::Printed(_) => ("printed", latency.p99.value.single().map(|v| v.0)),
    };
    let printed_range_ns = latency.p99.value.range().map(|(least, most)| (least.0, most.0));
    Latency {
        stream: latency.stream,
        operation: latency.op,
        p99: Percentile { state, value_ns, printed_range_ns },
        p99_ratio: latency.ratio.as_ref().map(|r| ratio::ratio(r, rule)),
    }
}
