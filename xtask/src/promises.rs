//! What Stend promises: each promise has a number, and names the tests or benches that hold it to it. Looks
//! only whether they exist; running them is the business of `make test`.

use crate::document;
use crate::finding::Finding;
use crate::scan;
use crate::tree::Source;

const RULE: &str = "promises";
const DOCUMENT: &str = "docs/PROMISES.md";
const HEADER: [&str; 3] = ["number", "promise", "held by"];
/// A proof that people start, instead of a test.
const MAKE: &str = "make ";

/// Compares the document with the sources.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    let empty = Source::new(DOCUMENT, "");
    let document = sources.iter().find(|source| source.path == DOCUMENT).unwrap_or(&empty);
    let rows = match document::table(document, &HEADER) {
        Ok(rows) => rows,
        Err(finding) => return vec![finding],
    };
    let mut findings = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let at = |message: String| Finding::new(DOCUMENT, row.line, RULE, message);
        if row.text(0) != format!("P{}", i + 1) {
            findings.push(at(format!("this is promise P{}, not `{}`: numbers have no gaps", i + 1, row.text(0))));
        }
        if row.quoted(2).is_empty() {
            findings.push(at("nothing holds this promise".to_string()));
        }
        let missing = row.quoted(2).into_iter().filter(|name| !exists(name, sources));
        findings.extend(missing.map(|name| at(format!("there is no test `{name}`"))));
    }
    findings
}

fn exists(name: &str, sources: &[Source]) -> bool {
    if let Some(target) = name.strip_prefix(MAKE) {
        return sources
            .iter()
            .any(|s| s.path == "Makefile" && s.text.lines().any(|l| l.starts_with(&format!("{target}:"))));
    }
    let function = format!("fn {name}");
    let in_tests = |s: &&Source| s.is_rust() && !scan::find_all(&s.parts.code, &function).is_empty();
    sources.iter().filter(in_tests).any(|s| scan::find_all(&s.production, &function).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(rows: &str) -> Vec<String> {
        let table = format!("| number | promise | held by |\n|---|---|---|\n{rows}");
        let sources = [
            Source::new(DOCUMENT, &table),
            Source::new("crates/a/src/b.rs", "fn real() {}\n#[cfg(test)]\nmod tests { #[test]\nfn it_holds() {} }"),
            Source::new("Makefile", "agree: ## x\n"),
        ];
        check(&sources).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn promises_that_name_tests_and_benches_are_fine() {
        assert_eq!(findings("| P1 | x | `it_holds` |\n| P2 | y | `make agree`, `it_holds` |\n"), [""; 0]);
    }

    #[test]
    fn a_test_that_does_not_exist_and_code_that_is_no_test_hold_nothing() {
        let rows = "| P1 | x | `it_held` |\n| P2 | y | `real`, `make nothing` |\n";
        assert_eq!(
            findings(rows),
            ["there is no test `it_held`", "there is no test `real`", "there is no test `make nothing`"]
        );
    }

    #[test]
    fn a_promise_without_a_proof_or_with_a_wrong_number_is_found() {
        assert_eq!(
            findings("| P1 | x | |\n| P3 | y | `it_holds` |\n"),
            ["nothing holds this promise", "this is promise P2, not `P3`: numbers have no gaps"]
        );
        assert!(check(&[])[0].message.contains("is missing"));
    }
}
