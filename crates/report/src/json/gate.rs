//! What a gate says, for machines.

use serde::Serialize;
use stend_analyse::compare::Metric;
use stend_analyse::findings::{CheckId, QuantileValue};
use stend_analyse::gate::{Asked, GateFinding, GatedCell, GatedGap, Limited, LimitedValue, Open, Outcome, UnfitLimit};
use stend_base::Say;
use stend_spec::gate::Bound;
use stend_spec::workload::Op;

/// What a gate says of a comparison or of one run.
#[derive(Serialize)]
pub struct GateOut<'a> {
    /// Name of the gate; `expect` where a command line gave nothing but limits.
    name: &'a str,
    /// `passed`, `undecided` or `failed`.
    outcome: &'static str,
    /// Cells under a rule, in the order of the table; none of one run.
    cells: Vec<GatedOut<'a>>,
    /// Lines of the rules that no cell falls under.
    idle_rules: &'a [u32],
    /// Cells that fall under no rule.
    cells_without_rule: u32,
    /// Rules that were not applied, because one run is no comparison.
    rules_not_applied: u32,
    /// Values under a limit, in the order of the limits.
    limits: Vec<LimitedOut<'a>>,
    /// Limits that nothing measured fits.
    idle_limits: Vec<IdleOut<'a>>,
    /// Cases that limits and rules are about and that were not measured.
    not_measured: Vec<GapOut<'a>>,
}

#[derive(Serialize)]
struct GatedOut<'a> {
    label: &'a str,
    /// Index of the run.
    run: usize,
    /// `rate` or `p99`.
    metric: &'static str,
    /// The operation, for a latency.
    operation: Option<Op>,
    /// The stream, for a latency.
    stream: Option<u16>,
    /// Line of the rule.
    line: u32,
    /// `passed`, `undecided` or `failed`.
    outcome: &'static str,
}

#[derive(Serialize)]
struct LimitedOut<'a> {
    label: &'a str,
    /// Index of the run; `null` of one run.
    run: Option<usize>,
    /// The limit as it was written.
    limit: &'a str,
    /// Line of the limit; `null` if it was given on the command line.
    line: Option<u32>,
    /// `iops`, `throughput` or a percentile such as `p99`.
    metric: String,
    /// `null`: all of them together.
    operation: Option<Op>,
    /// `null`: all of them together.
    stream: Option<u16>,
    /// I/Os per second, bytes per second or ns; `null` where it is not known.
    value: Option<f64>,
    interval_95: Option<(f64, f64)>,
    /// `passed`, `undecided` or `failed`.
    outcome: &'static str,
    /// Why it cannot be told: `failed_checks`, `both_sides`, `no_interval` or `printed`; `null` where it can.
    open: Option<&'static str>,
    /// Numbers of the checks that failed.
    failed_checks: Vec<&'a str>,
    /// Trials that count, where more would tell.
    blocks: Option<u32>,
    /// Blocks that would tell; `null`: more than 1000, or unknown.
    blocks_needed: Option<u32>,
}

#[derive(Serialize)]
struct IdleOut<'a> {
    /// The limit as it was written.
    limit: &'a str,
    /// Line of the limit; `null` if it was given on the command line.
    line: Option<u32>,
    /// A case with a similar name.
    did_you_mean: Option<&'a str>,
}

#[derive(Serialize)]
struct GapOut<'a> {
    label: &'a str,
    /// Index of the run; `null` of one run.
    run: Option<usize>,
    /// The limit as it was written; `null` of a rule.
    limit: Option<&'a str>,
    /// Line of the limit or the rule; `null` if it was given on the command line.
    line: Option<u32>,
    /// Why there is no value.
    reason: &'a Say,
    /// `passed`, `undecided` or `failed`.
    outcome: &'static str,
}

pub fn gate(gate: &GateFinding) -> GateOut<'_> {
    GateOut {
        name: gate.known_as(),
        outcome: outcome(gate.outcome),
        cells: gate.cells.iter().map(gated).collect(),
        idle_rules: &gate.idle,
        cells_without_rule: gate.free,
        rules_not_applied: gate.unapplied,
        limits: gate.limits.iter().map(limited).collect(),
        idle_limits: gate.unfit.iter().map(idle).collect(),
        not_measured: gate.gaps.iter().map(gap).collect(),
    }
}

fn gated(cell: &GatedCell) -> GatedOut<'_> {
    let (metric, operation) = match cell.metric {
        Metric::Rate => ("rate", None),
        Metric::P99(op) => ("p99", Some(op)),
    };
    GatedOut {
        label: &cell.label,
        run: cell.run,
        metric,
        operation,
        stream: operation.map(|_| cell.stream),
        line: cell.rule.line,
        outcome: outcome(cell.outcome),
    }
}

fn limited(held: &LimitedValue) -> LimitedOut<'_> {
    let (value, interval_95) = match &held.value {
        Limited::Rate(rate) => (Some(rate.value), rate.interval),
        Limited::Latency(quantile) => {
            let value = match quantile.value {
                QuantileValue::Above(least) => Some(least),
                value => value.single(),
            };
            let interval = quantile.interval.map(|(low, high)| (low.0 as f64, high.0 as f64));
            (value.map(|value| value.0 as f64), interval)
        }
    };
    let (open, failed_checks, blocks): (_, &[CheckId], _) = match &held.open {
        None => (None, &[], None),
        Some(Open::Failed(checks)) => (Some("failed_checks"), checks, None),
        Some(Open::BothSides(blocks)) => (Some("both_sides"), &[], Some(blocks)),
        Some(Open::NoInterval(blocks)) => (Some("no_interval"), &[], Some(blocks)),
        Some(Open::Printed) => (Some("printed"), &[], None),
    };
    LimitedOut {
        label: &held.label,
        run: held.run,
        limit: &held.limit.text,
        line: held.limit.line,
        metric: match held.limit.bound {
            Bound::Iops(_) => "iops".into(),
            Bound::Throughput(_) => "throughput".into(),
            Bound::Latency(q, _) => crate::figures::quantile_name(stend_base::Share(q.as_share())).en,
        },
        operation: held.part.map(|(_, op)| op),
        stream: held.part.map(|(stream, _)| stream),
        value,
        interval_95,
        outcome: outcome(held.outcome),
        open,
        failed_checks: CheckId::codes(failed_checks),
        blocks: blocks.map(|blocks| blocks.have),
        blocks_needed: blocks.and_then(|blocks| blocks.need),
    }
}

fn idle(unfit: &UnfitLimit) -> IdleOut<'_> {
    IdleOut { limit: &unfit.limit.text, line: unfit.limit.line, did_you_mean: unfit.near.as_deref() }
}

fn gap(gap: &GatedGap) -> GapOut<'_> {
    let (limit, line) = match &gap.asked {
        Asked::Limit(limit) => (Some(limit.text.as_str()), limit.line),
        Asked::Rule(rule) => (None, Some(rule.line)),
    };
    GapOut { label: &gap.label, run: gap.run, limit, line, reason: &gap.reason, outcome: outcome(gap.outcome) }
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Undecided => "undecided",
        Outcome::Failed => "failed",
    }
}
