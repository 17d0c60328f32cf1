//! A run in short, from what is found in it. Must not draw charts: a page asks this of many runs.

use stend_analyse::findings::{CheckStatus, Findings, GradeLevel};
use stend_api::Summary;

/// The findings without their numbers.
pub fn of(findings: &Findings) -> Summary {
    let checks = || findings.cases.iter().flat_map(|case| &case.checks);
    let kinds = |status| findings.checks_with(status).0;
    Summary {
        schema: "stend-summary",
        schema_version: 1,
        run: findings.run.clone(),
        headline: findings.headline.clone(),
        verdict: findings.verdict.clone(),
        publishable: findings.grade.level == GradeLevel::Publishable,
        cases: findings.cases.len(),
        telling: findings.telling.clone(),
        checks_passed: checks().filter(|check| check.status == CheckStatus::Pass).count(),
        checks_warned: kinds(CheckStatus::Warn),
        checks_failed: kinds(CheckStatus::Fail),
        caveats: findings.caveats.len(),
    }
}
