//! The honesty checks: each asks one question of a case and answers with what it measured.
//!
//! A check never changes a number. Limits live in [`crate::limits`] only.

mod arithmetic;
mod drives;
mod errors;
mod generator;
mod little;
mod written;

use crate::findings::{CheckResult, CheckStatus};
use crate::trials::{CaseTrials, Counting};
use stend_base::{Say, say};
use stend_record::RunRecord;

/// Every check of a case, in the order of their numbers.
pub fn all(run: &RunRecord, case: &CaseTrials<'_>) -> Vec<CheckResult> {
    vec![
        arithmetic::bandwidth(case),
        little::in_flight(case),
        arithmetic::sums(case),
        drives::bytes(run, case),
        written::zeros(run, case),
        generator::busy(case),
        errors::errors(case),
    ]
}

/// Number and name of a check.
struct Check {
    id: &'static str,
    name: Say,
    limit: Say,
}

impl Check {
    fn result(self, status: CheckStatus, measured: Say, meaning: Say) -> CheckResult {
        let Check { id, name, limit } = self;
        CheckResult { id: id.to_string(), name, status, measured, limit, meaning }
    }

    fn pass(self, measured: Say) -> CheckResult {
        self.result(CheckStatus::Pass, measured, Say::same(""))
    }

    fn not_measurable(self, why: Say) -> CheckResult {
        self.result(CheckStatus::NotMeasurable, say!("not measurable", "неизмеримо"), why)
    }

    fn not_applicable(self, why: Say) -> CheckResult {
        self.result(CheckStatus::NotApplicable, say!("does not apply", "не относится"), why)
    }

    /// The answer when no trial of the case was measured over its whole window.
    fn no_trials(self) -> CheckResult {
        self.not_measurable(say!(
            "no trial of this case was measured over its whole window",
            "ни одно испытание этого случая не измерено целиком"
        ))
    }
}

/// The trial for which `key` is largest, with its key; ties keep the earlier one.
fn worst<'a, 'c>(case: &'c CaseTrials<'a>, key: impl Fn(&Counting<'a>) -> f64) -> Option<(f64, &'c Counting<'a>)> {
    case.counting.iter().map(|trial| (key(trial), trial)).fold(None, |best: Option<(f64, _)>, next| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    })
}
