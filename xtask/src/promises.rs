//! What Stend promises: each promise has a number, and names the tests or benches that hold it to it. Looks
//! only whether they exist; running them is the business of `make test`.

use crate::document;
use crate::finding::Finding;
use crate::tree::Source;
use std::collections::BTreeSet;

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
    let tests: BTreeSet<&str> = sources.iter().filter(|source| source.is_rust()).flat_map(of_tests).collect();
    let mut findings = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let at = |message: String| Finding::new(DOCUMENT, row.line, RULE, message);
        if row.text(0) != format!("P{}", i + 1) {
            findings.push(at(format!("this is promise P{}, not `{}`: numbers have no gaps", i + 1, row.text(0))));
        }
        if row.quoted(2).is_empty() {
            findings.push(at("nothing holds this promise".to_string()));
        }
        let missing = row.quoted(2).into_iter().filter(|name| match name.strip_prefix(MAKE) {
            Some(target) => !is_target(target, sources),
            None => !tests.contains(name),
        });
        findings.extend(missing.map(|name| at(format!("there is no test `{name}`"))));
    }
    findings
}

fn is_target(name: &str, sources: &[Source]) -> bool {
    let begin = format!("{name}:");
    sources.iter().any(|source| source.path == "Makefile" && source.text.lines().any(|line| line.starts_with(&begin)))
}

/// Names of the functions of a file that are there for its tests alone.
fn of_tests(source: &Source) -> BTreeSet<&str> {
    let production = functions(&source.production);
    functions(&source.parts.code).into_iter().filter(|name| !production.contains(name)).collect()
}

/// Names of the functions that a text has.
fn functions(code: &str) -> BTreeSet<&str> {
    let starts = code.match_indices("fn ").map(|(at, word)| (at, at + word.len()));
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let whole = |&(at, _): &(usize, usize)| !code[..at].ends_with(is_name);
    starts
        .filter(whole)
        .map(|(_, from)| code[from..].split(|letter| !is_name(letter)).next().unwrap_or_default())
        .collect()
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
