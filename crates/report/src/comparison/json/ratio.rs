//! One ratio of a comparison, for machines.

use crate::comparison::verdict::explain;
use serde::Serialize;
use stend_analyse::compare::{Doubt, Ratio, RatioBasis, RatioValue, Rule, Test, Verdict};
use stend_base::Say;

/// A ratio and what it means.
#[derive(Serialize)]
pub struct RatioOut {
    /// `at`, `above`, `below` or `unknown`.
    state: &'static str,
    value: Option<f64>,
    interval_95: Option<(f64, f64)>,
    includes_1: Option<bool>,
    /// Where it comes from, or why a part of it is missing: `blocks`, `trials`, `too_few_trials`, `trials_too_short`,
    /// `not_a_number` or `not_enough`.
    basis: &'static str,
    /// Two-sided probability that chance alone gives at least this difference; `null` without an interval.
    p: Option<f64>,
    /// Where `p` comes from: `sign_flip` (all ways), `sign_flip_drawn` (99,999 or fewer of them) or `welch`.
    test: Option<&'static str>,
    /// `p` after Holm's correction; `null` for what is not judged with the others.
    p_holm: Option<f64>,
    /// Hodges–Lehmann's estimate over blocks.
    robust: Option<f64>,
    robust_interval_95: Option<(f64, f64)>,
    /// `better`, `worse`, `differs_slightly`, `equivalent` or `inconclusive`. For a rate more is better, for a latency
    /// less.
    verdict: &'static str,
    /// Why it is inconclusive: `wide`, `no_interval` (see `basis`), `too_few`, `chance`, `within_floor`,
    /// `failed_check` or `other_workload`; otherwise `null`.
    doubt: Option<&'static str>,
    /// The verdict may be shown in colour: better or worse, and measured in alternating blocks.
    coloured: bool,
    /// What the verdict rests on, what it means, and what to do.
    explanation: Say,
}

/// A ratio without a verdict.
#[derive(Serialize)]
pub struct PartRatio {
    /// `at` or `unknown`.
    state: &'static str,
    value: Option<f64>,
    interval_95: Option<(f64, f64)>,
    /// Where it comes from, or why a part of it is missing: `blocks`, `trials`, `too_few_trials` or `not_a_number`.
    basis: &'static str,
}

/// A ratio without a verdict.
pub fn told(ratio: &Ratio) -> PartRatio {
    let (state, value) = state(ratio.value);
    PartRatio { state, value, interval_95: ratio.interval, basis: basis(ratio.basis) }
}

/// A ratio with its verdict by `rule`.
pub fn ratio(ratio: &Ratio, rule: &Rule) -> RatioOut {
    let (state, value) = state(ratio.value);
    RatioOut {
        state,
        value,
        interval_95: ratio.interval,
        includes_1: ratio.includes_one(),
        basis: basis(ratio.basis),
        p: ratio.p.map(|p| p.p),
        test: ratio.p.map(|p| test(p.test)),
        p_holm: ratio.judged.p_adjusted,
        robust: ratio.robust.map(|r| r.value),
        robust_interval_95: ratio.robust.and_then(|r| r.interval),
        verdict: verdict(ratio.judged.verdict),
        doubt: ratio.judged.doubt.as_ref().map(doubt),
        coloured: ratio.judged.coloured,
        explanation: explain(&ratio.judged, rule),
    }
}

fn state(value: RatioValue) -> (&'static str, Option<f64>) {
    match value {
        RatioValue::At(v) => ("at", Some(v)),
        RatioValue::Above(v) => ("above", Some(v)),
        RatioValue::Below(v) => ("below", Some(v)),
        RatioValue::Unknown => ("unknown", None),
    }
}

fn basis(basis: RatioBasis) -> &'static str {
    match basis {
        RatioBasis::Blocks { .. } => "blocks",
        RatioBasis::Trials { .. } => "trials",
        RatioBasis::TooFewTrials => "too_few_trials",
        RatioBasis::TrialsTooShort { .. } => "trials_too_short",
        RatioBasis::NotANumber => "not_a_number",
        RatioBasis::NotEnough => "not_enough",
        RatioBasis::NotMergeable => "not_mergeable",
    }
}

fn test(test: Test) -> &'static str {
    match test {
        Test::SignFlip => "sign_flip",
        Test::SignFlipDrawn => "sign_flip_drawn",
        Test::Welch => "welch",
    }
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Differs => "differs_slightly",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive => "inconclusive",
    }
}

fn doubt(doubt: &Doubt) -> &'static str {
    match doubt {
        Doubt::Wide => "wide",
        Doubt::NoInterval => "no_interval",
        Doubt::TooFew { .. } => "too_few",
        Doubt::Chance => "chance",
        Doubt::InsideFloor => "within_floor",
        Doubt::Failed(_) => "failed_check",
        Doubt::OtherWorkload => "other_workload",
    }
}
