//! What results must hold, as a gate file describes it: rules for the cells of a comparison, limits for the values of one run. Data, and
//! which rule or limit a cell falls under.

use crate::workload::Op;
use stend_base::{Bytes, MilliIops, Millionths, Nanos};

/// A gate: rules that every cell of a comparison is held against, and limits for the values of each run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// Name, shown to people and in JUnit; `None`: it is only limits of a command line.
    pub name: Option<String>,
    /// Difference that does not matter; `None`: that of the command line, or its default.
    pub margin: Option<Millionths>,
    /// The rules, at most 1,000; the first that a cell falls under decides, and a cell without one is not held.
    pub rules: Vec<GateRule>,
    /// The limits, at most 1,000; each holds every value that it fits. There is at least one rule or limit.
    pub limits: Vec<GateLimit>,
}

/// A limit for a value of one run, whatever other runs have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateLimit {
    /// Line of the file, from 1; `None`: given on the command line.
    pub line: Option<u32>,
    /// As it was written: `rand-read p99 < 5ms`.
    pub text: String,
    /// Labels of the cases, as in [`GateRule::cases`].
    pub cases: String,
    /// Operation; `None`: a rate of all operations together, or the latency of each.
    pub op: Option<Op>,
    /// On which side of the bound the value must be.
    pub side: Side,
    /// The bound, and of what.
    pub bound: Bound,
    /// What it counts as if it cannot be told.
    pub inconclusive: Undecided,
}

/// On which side of a bound a value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

/// What a limit is about, and its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// I/Os per second.
    Iops(MilliIops),
    /// Bytes per second.
    Throughput(Bytes),
    /// The latency within which so large a part of the I/Os completed.
    Latency(Millionths, Nanos),
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateRule {
    /// Line of the file, from 1.
    pub line: u32,
    /// What it is about.
    pub metric: GateMetric,
    /// Labels of the cases: a text in which `*` stands for anything.
    pub cases: String,
    /// Operation of a latency; `None`: any.
    pub op: Option<Op>,
    /// Largest loss that is allowed; `None`: any that is not called worse.
    pub loss: Option<Millionths>,
    /// Verdicts that are good enough; empty: all but worse.
    pub verdicts: Vec<GateVerdict>,
    /// What it counts as if it cannot be told.
    pub inconclusive: Undecided,
}

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateMetric {
    /// The rate and the latencies.
    Any,
    /// The rate.
    Rate,
    /// p99 of the latency.
    P99,
}

/// A verdict that a rule asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateVerdict {
    /// Better by more than the margin.
    Better,
    /// Worse by more than the margin.
    Worse,
    /// Differs, perhaps by less than the margin.
    DiffersSlightly,
    /// Within the margin.
    Equivalent,
}

/// What a cell counts as of which nothing can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecided {
    /// Not decided: the gate neither passes nor fails.
    Undecided,
    /// Passed.
    Pass,
    /// Failed.
    Fail,
}

impl GateRule {
    /// Whether a cell falls under the rule. `op` is the operation of a latency, `None` for a rate; `arms` are the names of arms that labels
    /// may begin with.
    pub fn is_about(&self, label: &str, op: Option<Op>, arms: &[String]) -> bool {
        let metric = match self.metric {
            GateMetric::Any => true,
            GateMetric::Rate => op.is_none(),
            GateMetric::P99 => op.is_some(),
        };
        metric && (self.op.is_none() || self.op == op) && fits_in_arm(&self.cases, label, arms)
    }
}

impl GateLimit {
    /// Whether the limit is about the case of this label, which may begin with the name of one of these arms.
    pub fn is_about(&self, label: &str, arms: &[String]) -> bool {
        fits_in_arm(&self.cases, label, arms)
    }

    /// Whether a case of this name can have a label that the limit is about, whatever values its parameters have.
    pub fn may_be_about(&self, name: &str) -> bool {
        let head = self.cases.split('*').next().unwrap_or_default();
        let with_parameters = format!("{name}, ");
        fits(&self.cases, name)
            || head.starts_with(&with_parameters)
            || self.cases != head && with_parameters.starts_with(head)
    }
}

/// Whether a pattern fits a label, or what is left of it without the name of its arm: a case named without an arm means all of them.
fn fits_in_arm(pattern: &str, label: &str, arms: &[String]) -> bool {
    let without = |arm: &String| label.strip_prefix(arm.as_str())?.strip_prefix(": ");
    fits(pattern, label) || arms.iter().filter_map(without).any(|label| fits(pattern, label))
}

/// Whether a pattern fits a label, or its beginning up to a comma: a case named without its parameters means all of them.
fn fits(pattern: &str, label: &str) -> bool {
    let beginnings = label.match_indices(", ").map(|(at, _)| &label[..at]);
    matches(pattern, label) || beginnings.into_iter().any(|beginning| matches(pattern, beginning))
}

/// Whether a text is what a pattern says, in which `*` stands for anything. Takes time proportional to pattern × text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut rest) = text.strip_prefix(head) else { return false };
    let mut pieces: Vec<&str> = tail.split('*').collect();
    // What is behind the last star must be the end; every piece before it may be taken as early as it comes.
    let end = pieces.pop().unwrap_or_default();
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything_and_everything_else_for_itself() {
        for (pattern, text, holds) in [
            ("*", "", true),
            ("*", "rand-read, queue_depth 32", true),
            ("rand-*", "rand-read", true),
            ("rand-*", "seq-read", false),
            ("*read*", "rand-read, queue_depth 32", true),
            ("*queue_depth 3", "rand-read, queue_depth 32", false),
            ("*a*b*a", "a-b-a", true),
            ("*a*b*a", "a-b", false),
            ("aa*aa", "aaa", false),
            ("read", "read", true),
            ("read", "reads", false),
            ("", "read", false),
            ("п*д", "поход", true),
        ] {
            assert_eq!(matches(pattern, text), holds, "{pattern} {text}");
        }
        let hostile = "*a".repeat(100);
        assert!(!matches(&hostile, &"a".repeat(99)) && matches(&hostile, &"a".repeat(100)));
    }

    #[test]
    fn a_name_without_parameters_means_every_value_of_them() {
        for (pattern, label, holds) in [
            ("rand-read", "rand-read, queue_depth 32", true),
            ("rand-read, queue_depth 3", "rand-read, queue_depth 32", false),
            ("rand-read, queue_depth 32", "rand-read, queue_depth 32, jobs 4", true),
            ("rand", "rand-read, queue_depth 32", false),
            ("queue_depth 32", "rand-read, queue_depth 32", false),
        ] {
            assert_eq!(fits(pattern, label), holds, "{pattern} {label}");
        }
    }

    #[test]
    fn a_name_without_an_arm_means_every_arm() {
        let arms = ["old".to_string(), "new".to_string()];
        for (pattern, label, holds) in [
            ("rand-read", "old: rand-read, queue_depth 32", true),
            ("rand-*", "new: rand-read", true),
            ("new: rand-read", "new: rand-read", true),
            ("new: rand-read", "old: rand-read", false),
            ("rand-read", "older: rand-read", false),
        ] {
            assert_eq!(fits_in_arm(pattern, label, &arms), holds, "{pattern} {label}");
        }
    }

    #[test]
    fn before_a_run_only_a_name_that_no_case_can_have_is_wrong() {
        let limit = |cases: &str| GateLimit {
            line: None,
            text: String::new(),
            cases: cases.into(),
            op: None,
            side: Side::Below,
            bound: Bound::Iops(MilliIops(1)),
            inconclusive: Undecided::Undecided,
        };
        for (cases, may) in [
            ("*", true),
            ("rand-read", true),
            ("rand-*", true),
            ("*depth 32", true),
            ("rand-read, queue_depth 32", true),
            ("rand-read, queue*", true),
            ("rnd-read", false),
            ("rand-write*", false),
            ("rand-reads", false),
        ] {
            assert_eq!(limit(cases).may_be_about("rand-read"), may, "{cases}");
        }
    }

    #[test]
    fn a_rule_is_about_its_metric_its_operation_and_its_cases() {
        let rule = |metric, op| GateRule {
            line: 1,
            metric,
            cases: "rand-*".into(),
            op,
            loss: None,
            verdicts: Vec::new(),
            inconclusive: Undecided::Undecided,
        };
        assert!(rule(GateMetric::Any, None).is_about("rand-read", None, &[]));
        assert!(rule(GateMetric::Any, None).is_about("rand-read", Some(Op::Read), &[]));
        assert!(!rule(GateMetric::Any, None).is_about("seq-read", None, &[]));
        assert!(!rule(GateMetric::Rate, None).is_about("rand-read", Some(Op::Read), &[]));
        assert!(!rule(GateMetric::P99, None).is_about("rand-read", None, &[]));
        assert!(rule(GateMetric::P99, Some(Op::Read)).is_about("rand-read", Some(Op::Read), &[]));
        assert!(!rule(GateMetric::P99, Some(Op::Read)).is_about("rand-read", Some(Op::Write), &[]));
    }
}
