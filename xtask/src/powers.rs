//! The powers tables: what only some files may do, how it is recognised, and which files those are. Tests
//! may do everything but unsafe code; for the rest they are not looked at.

use crate::document::{self, Row};
use crate::finding::Finding;
use crate::scan;
use crate::tree::Source;
use std::collections::{BTreeMap, BTreeSet};

const RULE: &str = "powers";
const MARKS: [&str; 2] = ["power", "recognised in code by"];
const HOLDERS: [&str; 3] = ["power", "held by", "because"];
/// Code that powers are about.
const CODE: &str = "crates/";
/// The power that tests need too, and whose holders need not forbid it to themselves.
const UNSAFE: &str = "unsafe code";

/// Searches all code for what has a power and is not listed, and the list for what is not used.
pub fn check(document: &Source, sources: &[Source]) -> Vec<Finding> {
    let tables = document::table(document, &MARKS).and_then(|m| Ok((m, document::table(document, &HOLDERS)?)));
    let (marks, holders) = match tables {
        Ok(tables) => tables,
        Err(finding) => return vec![finding],
    };
    let code: Vec<&Source> = sources.iter().filter(|s| s.is_rust() && s.path.starts_with(CODE)).collect();
    let mut findings = Vec::new();
    for power in &marks {
        findings.extend(check_power(power, &holders, &code));
    }
    let known: BTreeSet<String> = marks.iter().map(|row| row.text(0)).collect();
    for row in holders.iter().filter(|row| !known.contains(&row.text(0))) {
        findings.push(row.finding(RULE, format!("there is no power `{}`", row.text(0))));
    }
    findings.extend(forbids(&holders, &code));
    findings
}

fn check_power(power: &Row, holders: &[Row], code: &[&Source]) -> Vec<Finding> {
    let name = power.text(0);
    let marks = power.quoted(1);
    if marks.is_empty() {
        return vec![power.finding(RULE, format!("nothing tells how `{name}` is recognised"))];
    }
    let holders: Vec<&Row> = holders.iter().filter(|row| row.text(0) == name).collect();
    let mut used: BTreeSet<(usize, &str)> = BTreeSet::new();
    let mut findings = Vec::new();
    for source in code {
        let places = holders.iter().flat_map(|row| row.quoted(1).into_iter().map(|place| (row.line, place)));
        let held_by: Vec<(usize, &str)> = places.filter(|(_, place)| covers(place, &source.path)).collect();
        let text = if name == UNSAFE { &source.parts.code } else { &source.production };
        for (line, mark) in hits(text, &marks) {
            if held_by.is_empty() {
                let message = format!(
                    "`{mark}` has the power \"{name}\", which {} does not give to this file",
                    document::ARCHITECTURE
                );
                findings.push(Finding::new(&source.path, line, RULE, message));
            }
            used.extend(&held_by);
        }
    }
    for row in holders {
        for place in row.quoted(1).into_iter().filter(|place| !used.contains(&(row.line, *place))) {
            findings.push(row.finding(RULE, format!("`{place}` does not use the power \"{name}\"; take it away")));
        }
    }
    findings
}

/// Whether a place of the table means a file: the file itself, or a folder that it is in.
fn covers(place: &str, path: &str) -> bool {
    place == path || (place.ends_with('/') && path.starts_with(place))
}

/// Lines in which marks appear, spelled out or imported.
fn hits<'a>(code: &str, marks: &[&'a str]) -> BTreeMap<usize, &'a str> {
    let mut hits = BTreeMap::new();
    for mark in marks {
        for at in scan::find_all(code, mark) {
            hits.insert(scan::line_of(code, at), *mark);
        }
    }
    for (at, path) in scan::imports(code) {
        if let Some(mark) = marks.iter().find(|mark| !scan::find_all(&path, mark).is_empty()) {
            hits.insert(scan::line_of(code, at), *mark);
        }
    }
    hits
}

/// Every crate forbids itself `unsafe`, except those that hold the power.
fn forbids(holders: &[Row], code: &[&Source]) -> Vec<Finding> {
    let holders: Vec<&str> = holders.iter().filter(|row| row.text(0) == UNSAFE).flat_map(|row| row.quoted(1)).collect();
    let is_root = |path: &str| path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs");
    let mut findings = Vec::new();
    for source in code.iter().filter(|s| is_root(&s.path)) {
        let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let held = holders.iter().any(|place| place.starts_with(&format!("{folder}/")));
        if !held && !source.production.contains("#![forbid(unsafe_code)]") {
            findings.push(Finding::new(&source.path, 1, RULE, "the crate must say `#![forbid(unsafe_code)]`"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: &str = "| power | recognised in code by |\n|---|---|\n| unsafe code | `unsafe` |\n| write files | `fs::write`, `set_len` |\n\n\
        | power | held by | because |\n|---|---|---|\n| unsafe code | `crates/sys/src/` | |\n| write files | `crates/a/src/out.rs` | |\n";

    /// The holders' own files, so that only what a test adds is found.
    fn findings(tables: &str, more: &[(&str, &str)]) -> Vec<String> {
        let own = [
            ("crates/sys/src/lib.rs", "unsafe fn f() {}"),
            ("crates/a/src/out.rs", "fn f() { std::fs::write(a, b); }"),
        ];
        let sources: Vec<Source> = own.iter().chain(more).map(|(path, text)| Source::new(path, text)).collect();
        check(&Source::new(document::ARCHITECTURE, tables), &sources).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn code_that_only_does_what_it_may_is_fine() {
        let pure =
            ("crates/a/src/lib.rs", "#![forbid(unsafe_code)]\n/// fs::write, unsafe\nfn f() -> &str { \"fs::write\" }");
        let test = ("crates/a/tests/x.rs", "fn f() { std::fs::write(a, b); }");
        let outside = ("xtask/src/main.rs", "fn f() { std::fs::write(a, b); }");
        assert_eq!(findings(TABLES, &[pure, test, outside]), [""; 0]);
    }

    #[test]
    fn a_power_used_elsewhere_is_found_however_it_is_spelled() {
        for (text, mark) in [
            ("fn f() {\n    std::fs::write(a, b);\n}", "fs::write"),
            ("fn f() {\n    file.set_len(0);\n}", "set_len"),
            ("mod a;\nuse std::{env, fs::{read, write as save}};", "fs::write"),
            ("mod a;\nfn f() { unsafe { g() } }", "unsafe"),
        ] {
            let found = findings(TABLES, &[("crates/a/src/b.rs", text)]);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].starts_with(&format!("crates/a/src/b.rs:2: `{mark}` has the power")), "{found:?}");
        }
    }

    #[test]
    fn unsafe_code_is_found_in_tests_too() {
        let found = findings(TABLES, &[("crates/a/tests/b.rs", "fn f() { unsafe { g() } }")]);
        assert!(found[0].starts_with("crates/a/tests/b.rs:1: `unsafe`"), "{found:?}");
    }

    #[test]
    fn a_power_that_its_holder_does_not_use_is_taken_away() {
        let tables = TABLES.replace("out.rs`", "out.rs`, `crates/b/src/`");
        let found = findings(&tables, &[]);
        assert!(found[0].contains("`crates/b/src/` does not use the power \"write files\""), "{found:?}");
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_crate_that_does_not_forbid_itself_unsafe_code_is_found() {
        let found = findings(TABLES, &[("crates/b/src/main.rs", "fn main() {}")]);
        assert_eq!(found, ["crates/b/src/main.rs:1: the crate must say `#![forbid(unsafe_code)]` [powers]"]);
    }

    #[test]
    fn a_power_that_nobody_knows_cannot_be_given() {
        let found = findings(&TABLES.replace("| write files | `crates", "| write file | `crates"), &[]);
        assert!(found.iter().any(|f| f.contains("there is no power `write file`")), "{found:?}");
    }

    #[test]
    fn without_tables_nothing_is_allowed() {
        assert!(findings("", &[])[0].contains("is missing"));
    }
}
