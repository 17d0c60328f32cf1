//! A comparison, or one run, held against a gate.

use super::mean::Metric;
use crate::findings::{CheckId, Estimate, Quantile};
use stend_base::Say;
use stend_spec::gate::{GateLimit, GateRule, Undecided};
use stend_spec::workload::Op;

/// What a gate says of a comparison, or of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct GateFinding {
    /// Name of the gate; `None`: it is only limits of a command line.
    pub name: Option<String>,
    /// Failed if any cell, value or gap failed, otherwise undecided if any of them, a rule or a limit is, otherwise passed.
    pub outcome: Outcome,
    /// Values under a limit, in the order of the limits.
    pub limits: Vec<LimitedValue>,
    /// Limits that no value of any run fits.
    pub unfit: Vec<UnfitLimit>,
    /// Cases that limits and rules are about and that were not measured, those of limits first.
    pub gaps: Vec<GatedGap>,
    /// Rules that were not applied, because one run is no comparison.
    pub unapplied: u32,
    /// The cells that fall under a rule, in the order of the table.
    pub cells: Vec<GatedCell>,
    /// Lines of the rules that no cell falls under.
    pub idle: Vec<u32>,
    /// Cells that fall under no rule.
    pub free: u32,
}

impl GateFinding {
    /// Its name for machines.
    pub fn known_as(&self) -> &str {
        self.name.as_deref().unwrap_or("expect")
    }
}

/// What becomes of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Good enough.
    Passed,
    /// It cannot be told.
    Undecided,
    /// Not good enough.
    Failed,
}

impl Outcome {
    /// What it counts as if it cannot be told.
    pub(crate) fn counted_as(self, undecided: Undecided) -> Outcome {
        match (self, undecided) {
            (Outcome::Undecided, Undecided::Pass) => Outcome::Passed,
            (Outcome::Undecided, Undecided::Fail) => Outcome::Failed,
            (known, _) => known,
        }
    }
}

/// One cell under its rule.
#[derive(Debug, Clone, PartialEq)]
pub struct GatedCell {
    /// Label of the case.
    pub label: String,
    /// Index of the run.
    pub run: usize,
    /// What is compared.
    pub metric: Metric,
    /// Index of the stream of a latency.
    pub stream: u16,
    /// The rule.
    pub rule: GateRule,
    /// What becomes of it.
    pub outcome: Outcome,
    /// It cannot be told, whatever that counts as.
    pub undecided: bool,
}

/// A value of a run under a limit.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitedValue {
    /// Index of the run among those compared; `None`: there is only one.
    pub run: Option<usize>,
    /// Label of the case.
    pub label: String,
    /// Stream and operation; `None`: all of them together.
    pub part: Option<(u16, Op)>,
    /// The case has several streams.
    pub streams: bool,
    /// The value.
    pub value: Limited,
    /// The limit.
    pub limit: GateLimit,
    /// What becomes of it.
    pub outcome: Outcome,
    /// Why it cannot be told, whatever that counts as; `None` where it can.
    pub open: Option<Open>,
}

/// A value that a limit is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Limited {
    /// I/Os or bytes per second.
    Rate(Estimate),
    /// A percentile of the latency.
    Latency(Quantile),
}

/// Why it cannot be told whether a value keeps its limit.
#[derive(Debug, Clone, PartialEq)]
pub enum Open {
    /// Numbers of checks that failed: the value is not of what it is called.
    Failed(Vec<CheckId>),
    /// The 95 % interval holds values on both sides of the limit.
    BothSides(Blocks),
    /// There is no interval: too little was measured.
    NoInterval(Blocks),
    /// Another tool printed it, once or for each job: without an interval.
    Printed,
}

/// Blocks that were measured, and those that it would take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// Trials that count.
    pub have: u32,
    /// Needed with this spread; `None`: more than 1000, or unknown.
    pub need: Option<u32>,
}

/// A limit without a value.
#[derive(Debug, Clone, PartialEq)]
pub struct UnfitLimit {
    /// The limit.
    pub limit: GateLimit,
    /// What it may have meant: a case with a similar name.
    pub near: Option<String>,
}

/// A case that a limit or a rule is about, and that was not measured.
#[derive(Debug, Clone, PartialEq)]
pub struct GatedGap {
    /// Index of the run that lacks it; `None`: there is only one.
    pub run: Option<usize>,
    /// Label of the case; of a run that has no case like it what the limit names.
    pub label: String,
    /// What is about it.
    pub asked: Asked,
    /// Why there is no value.
    pub reason: Say,
    /// What it counts as.
    pub outcome: Outcome,
}

/// What is about a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// A limit.
    Limit(GateLimit),
    /// A rule.
    Rule(GateRule),
}
