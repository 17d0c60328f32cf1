//! The table of libraries: every library has users and a reason, and whatever a manifest names is used.

use crate::document::{self, Row};
use crate::finding::Finding;
use crate::manifests::Package;
use crate::scan;
use crate::tree::Source;
use std::collections::{BTreeMap, BTreeSet};

const RULE: &str = "libraries";
const HEADER: [&str; 3] = ["library", "used by", "because"];
/// Stands in place of the users of a library that only tests need.
const TESTS: &str = "tests";
/// The manifest that pins all versions.
const ROOT: &str = "Cargo.toml";

/// Compares the table, the manifests and the code.
pub fn check(document: &Source, packages: &[Package], sources: &[Source]) -> Vec<Finding> {
    let rows = match document::table(document, &HEADER) {
        Ok(rows) => rows,
        Err(finding) => return vec![finding],
    };
    let users = users(packages);
    let mut findings: Vec<Finding> = rows.iter().filter_map(|row| compare(row, &users)).collect();
    let known: BTreeSet<String> = rows.iter().map(|row| row.text(0)).collect();
    for name in users.keys().filter(|name| !known.contains(*name)) {
        findings.push(rows[0].finding(RULE, format!("nothing says why `{name}` is in")));
    }
    findings.extend(pinned(sources, &users));
    findings.extend(packages.iter().flat_map(|package| unused(package, sources)));
    findings
}

/// Users by library.
type Users = BTreeMap<String, BTreeSet<String>>;

/// Which code uses which library; what is ours is no library.
fn users(packages: &[Package]) -> Users {
    let mut users = Users::new();
    for package in packages {
        let code = package.needs.iter().filter(|(_, need)| !need.ours);
        for (name, _) in code {
            users.entry(name.clone()).or_default().insert(package.short().to_string());
        }
    }
    for (name, _) in packages.iter().flat_map(|package| &package.tests_need).filter(|(_, need)| !need.ours) {
        users.entry(name.clone()).or_insert_with(|| BTreeSet::from([TESTS.to_string()]));
    }
    users
}

fn compare(row: &Row, users: &Users) -> Option<Finding> {
    let text = row.text(1);
    let said: BTreeSet<String> = text.split_whitespace().map(String::from).collect();
    let name = row.text(0);
    let actual = users.get(&name).cloned().unwrap_or_default();
    let words = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
    let (is, was) = (words(&actual), words(&said));
    (said != actual).then(|| row.finding(RULE, format!("`{name}` is used by `{is}`, the table says `{was}`")))
}

/// Every version that is pinned is used.
fn pinned(sources: &[Source], users: &Users) -> Vec<Finding> {
    let Some(root) = sources.iter().find(|s| s.path == ROOT) else { return Vec::new() };
    let lines = root.text.lines().enumerate().skip_while(|(_, line)| *line != "[workspace.dependencies]").skip(1);
    let entries =
        lines.take_while(|(_, line)| !line.starts_with('[')).filter_map(|(i, line)| Some((i, line.split_once(" = ")?)));
    let unused = entries.filter(|(_, (name, value))| !value.contains("path = ") && !users.contains_key(*name));
    unused
        .map(|(i, (name, _))| Finding::new(ROOT, i + 1, RULE, format!("`{name}` is pinned but nothing uses it")))
        .collect()
}

/// Dependencies of a package that its sources never name.
fn unused(package: &Package, sources: &[Source]) -> Vec<Finding> {
    let folder = format!("{}/", package.folder);
    let own: Vec<&Source> = sources.iter().filter(|s| s.is_rust() && s.path.starts_with(&folder)).collect();
    let names = |code: &str, name: &str| !scan::find_all(code, &name.replace('-', "_")).is_empty();
    let in_code = |name: &String| own.iter().any(|source| names(&source.production, name));
    let in_tests = |name: &String| own.iter().any(|source| names(&source.parts.code, name));
    let code = package.needs.keys().filter(|name| !in_code(name)).map(|name| (name, "dependency"));
    let tests = package.tests_need.keys().filter(|name| !in_tests(name)).map(|name| (name, "dev-dependency"));
    let manifest = format!("{folder}Cargo.toml");
    let finding =
        |(name, kind)| Finding::new(&manifest, 1, RULE, format!("the {kind} `{name}` is not used; remove it"));
    code.chain(tests).map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifests::Need;

    fn package(needs: &[&str], tests_need: &[&str]) -> Package {
        let map = |names: &[&str]| names.iter().map(|name| (name.to_string(), Need::default())).collect();
        Package {
            name: "stend-a".to_string(),
            folder: "crates/a".to_string(),
            needs: map(needs),
            tests_need: map(tests_need),
        }
    }

    fn findings(package: Package, code: &str) -> Vec<String> {
        let table = "| library | used by | because |\n|---|---|---|\n| `serde-x` | a | |\n| `temp` | tests | |\n";
        let root = "[workspace.dependencies]\nstend-a = { path = \"crates/a\" }\nserde-x = \"1\"\ntemp = \"1\"\n\n[profile.dev]\nx = 1\n";
        let sources = [Source::new("crates/a/src/lib.rs", code), Source::new(ROOT, root)];
        let found = check(&Source::new(document::ARCHITECTURE, table), &[package], &sources);
        found.into_iter().map(|finding| finding.message).collect()
    }

    const CODE: &str = "use serde_x::A;\n#[cfg(test)]\nmod tests { use temp::B; }";

    #[test]
    fn libraries_that_are_used_as_the_table_says_are_fine() {
        assert_eq!(findings(package(&["serde-x"], &["temp"]), CODE), [""; 0]);
    }

    #[test]
    fn a_library_without_a_reason_is_found() {
        let found = findings(package(&["serde-x", "other"], &["temp"]), &format!("use other;{CODE}"));
        assert_eq!(found, ["nothing says why `other` is in"]);
    }

    #[test]
    fn a_library_that_the_code_does_not_name_is_found_also_if_only_a_test_does() {
        assert_eq!(
            findings(package(&["serde-x"], &["temp"]), "use serde_x;"),
            ["the dev-dependency `temp` is not used; remove it"]
        );
        let only_in_tests = "#[cfg(test)]\nmod tests { use serde_x::A; use temp::B; }";
        assert_eq!(
            findings(package(&["serde-x"], &["temp"]), only_in_tests),
            ["the dependency `serde-x` is not used; remove it"]
        );
    }

    #[test]
    fn a_table_that_tells_the_wrong_users_is_found_and_so_is_a_version_without_any() {
        let found = findings(package(&[], &["temp"]), CODE);
        assert_eq!(found, ["`serde-x` is used by ``, the table says `a`", "`serde-x` is pinned but nothing uses it"]);
    }
}
