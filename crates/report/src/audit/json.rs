//! An audit for machines.

use serde::Serialize;
use stend_audit::{Audit, Severity};
use stend_base::Say;

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    schema_version: u32,
    file: &'a str,
    /// Numbers that were read.
    numbers: usize,
    checks: Vec<CheckOut<'a>>,
    findings: Vec<FindingOut<'a>>,
    unread: Vec<UnreadOut<'a>>,
    /// Version of the limits, and each of them.
    limits_version: &'static str,
    limits: Vec<crate::json::LimitOut>,
}

#[derive(Serialize)]
struct CheckOut<'a> {
    check: &'a str,
    name: &'a Say,
    /// Places that hold what the check needs.
    places: usize,
    doubts: usize,
}

#[derive(Serialize)]
struct FindingOut<'a> {
    check: &'a str,
    /// `wrong`: cannot be true as printed. `warn`: needs an explanation.
    gravity: &'static str,
    /// Line of the table's file.
    row: u32,
    /// Line of the publication.
    line: Option<u32>,
    what: &'a str,
    printed: &'a str,
    right: Option<&'a str>,
    /// Rows of the numbers that speak against it.
    against: &'a [u32],
    why: &'a Say,
}

#[derive(Serialize)]
struct UnreadOut<'a> {
    row: u32,
    column: &'a str,
    why: &'a Say,
}

/// An audit as JSON, indented, with a line feed at the end.
pub fn audit_json(audit: &Audit) -> String {
    let checks =
        audit.checks.iter().map(|c| CheckOut { check: c.id.code(), name: &c.name, places: c.places, doubts: c.doubts });
    let findings = audit.doubts.iter().map(|d| FindingOut {
        check: d.check.code(),
        gravity: match d.severity {
            Severity::Wrong => "wrong",
            Severity::Warn => "warn",
        },
        row: d.row,
        line: d.line,
        what: &d.what,
        printed: &d.printed,
        right: d.right.as_deref(),
        against: &d.against,
        why: &d.why,
    });
    let unread = audit.unread.iter().map(|u| UnreadOut { row: u.row, column: &u.column, why: &u.why });
    crate::json::pretty(&Document {
        schema: "stend-audit",
        schema_version: SCHEMA_VERSION,
        file: &audit.file,
        numbers: audit.numbers,
        checks: checks.collect(),
        findings: findings.collect(),
        unread: unread.collect(),
        limits_version: stend_analyse::limits::LIMITS_VERSION,
        limits: crate::json::limits(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    #[test]
    fn the_document_is_stable() {
        expect_file!["../../tests/golden/audit.json"].assert_eq(&audit_json(&crate::fixture::audit::audited().0));
    }
}
