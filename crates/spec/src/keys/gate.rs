//! The keys of a gate file: what results must hold. Data only; must not parse.

use super::{Choice, Limits, Mapping, Shape, optional, required, words};
use crate::gate::{GateMetric, GateVerdict, Undecided};
use crate::workload::Op;
use stend_base::Millionths;

/// What a rule is about.
pub const METRICS: &[Choice<GateMetric>] = &[
    ("any", "the rate and the latencies", GateMetric::Any),
    ("rate", "I/Os or bytes per second", GateMetric::Rate),
    ("p99", "the latency within which 99 % of the I/Os completed", GateMetric::P99),
];
/// Operations of a latency.
pub const OPERATIONS: &[Choice<Option<Op>>] = &[
    ("any", "all of them", None),
    ("read", "reads", Some(Op::Read)),
    ("write", "writes", Some(Op::Write)),
    ("discard", "discards", Some(Op::Discard)),
    ("write_zeroes", "writes of zeroes", Some(Op::WriteZeroes)),
    ("sync", "syncs", Some(Op::Sync)),
];
/// Verdicts that a rule may ask for.
pub const VERDICTS: &[Choice<GateVerdict>] = &[
    ("better", "better by more than the margin", GateVerdict::Better),
    ("worse", "worse by more than the margin", GateVerdict::Worse),
    ("differs_slightly", "differs, perhaps by less than the margin", GateVerdict::DiffersSlightly),
    ("equivalent", "within the margin", GateVerdict::Equivalent),
];
/// What a cell counts as of which nothing can be told.
pub const UNDECIDED: &[Choice<Undecided>] = &[
    ("undecided", "neither passed nor failed: exit code 11 if nothing failed", Undecided::Undecided),
    ("pass", "passed", Undecided::Pass),
    ("fail", "failed: exit code 10", Undecided::Fail),
];
/// Margin: less is below what any trial repeats to, more calls half of a rate no difference.
pub const MARGIN: Limits<Millionths> = Limits { least: Millionths(1_000), most: Millionths::percent(50) };
/// Loss that is allowed; none at all could never be shown.
pub const LOSS: Limits<Millionths> = Limits { least: Millionths(1_000), most: Millionths::percent(99) };
/// Metrics of a limit.
pub const LIMITED: &[Choice<Limited>] = &[
    ("iops", "I/Os per second", Limited::Iops),
    ("throughput", "bytes per second", Limited::Throughput),
    ("p50", "the latency within which half of the I/Os completed", Limited::Quantile(Millionths::percent(50))),
    ("p99", "that of 99 %", Limited::Quantile(Millionths::percent(99))),
    ("p99.9", "that of 99.9 %", Limited::Quantile(Millionths(999_000))),
];
/// Other words for these.
pub const LIMITED_AS: &[(&str, &str)] = &[
    ("bw", "throughput"),
    ("bandwidth", "throughput"),
    ("rate", "iops"),
    ("latency", "p99"),
    ("lat", "p99"),
    ("median", "p50"),
    ("p999", "p99.9"),
    ("p99,9", "p99.9"),
];
/// Longest limit: as long as a label may be, and a value behind it.
pub const LIMIT_MAX: usize = 300;
/// A limit in one line.
const LIMIT: Shape =
    Shape::Spelled("1 to 300 characters without control characters", "^[^\\u0000-\\u001f\\u007f-\\u009f]{1,300}$");
/// Rules of a gate, and limits.
pub const RULES: Limits<usize> = Limits { least: 1, most: 1_000 };
/// Verdicts of a rule.
pub const ACCEPTED: Limits<usize> = Limits { least: 1, most: 4 };

/// What a limit is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Throughput,
    /// A percentile of the latency.
    Quantile(Millionths),
}

/// The whole file.
pub const GATE: Mapping = Mapping {
    en: "gate",
    ru: "порог",
    doc: "What results must hold. There is at least one rule or limit.",
    keys: &[
        required("gate", Shape::Name, "Name of the gate."),
        optional(
            "margin",
            "absent",
            Shape::Share(MARGIN),
            "Difference that does not matter, as `--margin`; only one of the two may be given.",
        ),
        optional(
            "limits",
            "absent",
            Shape::Several(&LIMIT, RULES),
            "Limits for the values of a run, such as `rand-read p99 < 5ms`: see above. A limit that matches no case is undecided.",
        ),
        optional(
            "inconclusive",
            "undecided",
            Shape::Word(|| words(UNDECIDED)),
            "How undecided limits and rules count; a rule may set its own.",
        ),
        optional(
            "rules",
            "absent",
            Shape::List(&RULE, RULES),
            "Rules for the cells of a comparison. The first matching rule decides; a cell without one is not checked. A rule that matches no cell is undecided.",
        ),
    ],
};

/// An item of `rules`.
pub const RULE: Mapping = Mapping {
    en: "a rule",
    ru: "правило",
    doc: "A rule for some cells of the comparison.",
    keys: &[
        optional("metric", "any", Shape::Word(|| words(METRICS)), "Which metric."),
        optional("cases", "*", Shape::Name, "Labels of the cases; `*` stands for anything."),
        optional("op", "any", Shape::Word(|| words(OPERATIONS)), "Operation of a latency; not with `metric: rate`."),
        optional(
            "loss",
            "absent",
            Shape::Share(LOSS),
            "Largest loss: of a rate `5%` is down to 95 %, of a latency up to 1 / 0.95. Passed if the whole 95 % interval is above that, failed if it is below and the verdict is worse, otherwise not decided. Absent: failed if the verdict is worse.",
        ),
        optional(
            "verdicts",
            "absent",
            Shape::Several(&Shape::Word(|| words(VERDICTS)), ACCEPTED),
            "Verdicts that pass, e.g. `[better]` for a change that must improve; not with `loss`.",
        ),
        optional(
            "inconclusive",
            "undecided",
            Shape::Word(|| words(UNDECIDED)),
            "How an undecided cell counts; absent: as `inconclusive` of the file.",
        ),
    ],
};

/// Every mapping of a gate file, the whole first.
pub const ALL: &[&Mapping] = &[&GATE, &RULE];
