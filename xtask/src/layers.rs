//! The layer table: which crate may import which. Compares it with the manifests, both ways, and holds it
//! against its own numbers, so that no arrow can point sideways or up.

use crate::document::{self, Row};
use crate::finding::Finding;
use crate::manifests::{Package, short};
use crate::tree::Source;
use std::collections::{BTreeMap, BTreeSet};

const RULE: &str = "layers";
const HEADER: [&str; 4] = ["layer", "crate", "imports", "its face in one line"];
/// Stands in place of imports where there are none.
const NONE: &str = "–";

/// Compares the table with the manifests.
pub fn check(document: &Source, packages: &[Package]) -> Vec<Finding> {
    let rows = match document::table(document, &HEADER) {
        Ok(rows) => rows,
        Err(finding) => return vec![finding],
    };
    // What stands outside the layers has no number.
    let layers: BTreeMap<String, Option<u32>> =
        rows.iter().map(|row| (crate_of(row), row.text(0).parse().ok())).collect();
    let mut findings: Vec<Finding> = rows.iter().flat_map(|row| check_row(row, &layers, packages)).collect();
    for package in packages.iter().filter(|p| !layers.contains_key(p.short())) {
        let name = package.short();
        findings.push(Finding::new(&document.path, rows[0].line, RULE, format!("the crate `{name}` has no layer")));
    }
    findings
}

fn crate_of(row: &Row) -> String {
    short(&row.text(1)).to_string()
}

fn check_row(row: &Row, layers: &BTreeMap<String, Option<u32>>, packages: &[Package]) -> Vec<Finding> {
    let name = crate_of(row);
    let Some(package) = packages.iter().find(|package| package.short() == name) else {
        return vec![row.finding(RULE, format!("there is no crate `{name}`"))];
    };
    let mut findings = Vec::new();
    let text = row.text(2);
    let allowed: BTreeSet<String> = text.split_whitespace().filter(|word| *word != NONE).map(String::from).collect();
    let layer_of = |name: &str| layers.get(name).copied().flatten();
    for import in &allowed {
        let target = import.split('+').next().unwrap_or_default();
        match (layer_of(&name), layer_of(target)) {
            (Some(above), Some(below)) if below < above => {}
            // What stands outside is no part of the product: it may look at all of it.
            (None, Some(_)) => {}
            _ => findings.push(
                row.finding(RULE, format!("the arrow from `{name}` to `{target}` does not point to a lower layer")),
            ),
        }
    }
    let actual = imports(package);
    for import in actual.difference(&allowed) {
        let manifest = format!("{}/Cargo.toml", package.folder);
        findings.push(Finding::new(
            manifest,
            1,
            RULE,
            format!("`{name}` imports `{import}`, which its layer does not allow"),
        ));
    }
    for import in allowed.difference(&actual) {
        findings.push(row.finding(RULE, format!("`{name}` does not import `{import}`; remove the arrow")));
    }
    findings
}

/// Our own crates that a package imports, with the features it switches on: `record+store`.
fn imports(package: &Package) -> BTreeSet<String> {
    let ours = package.needs.iter().filter(|(_, need)| need.ours);
    ours.map(|(name, need)| {
        let features: String = need.features.iter().map(|feature| format!("+{feature}")).collect();
        format!("{}{features}", short(name))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifests::Need;

    fn package(name: &str, needs: &[(&str, &[&str])]) -> Package {
        let need = |(name, features): &(&str, &[&str])| {
            let features = features.iter().map(|feature| feature.to_string()).collect();
            (format!("stend-{name}"), Need { features, ours: true })
        };
        Package {
            name: format!("stend-{name}"),
            folder: format!("crates/{name}"),
            needs: needs.iter().map(need).collect(),
            tests_need: BTreeMap::new(),
        }
    }

    fn findings(rows: &str, packages: &[Package]) -> Vec<String> {
        let text = format!("| layer | crate | imports | its face in one line |\n|---|---|---|---|\n{rows}");
        check(&Source::new(document::ARCHITECTURE, &text), packages).into_iter().map(|f| f.message).collect()
    }

    const ROWS: &str = "| 0 | `stend-a` | – | |\n| 1 | `stend-b` | a | |\n| 2 | `stend-c` | a b+x | |\n";

    #[test]
    fn manifests_that_say_what_the_table_says_are_fine() {
        let packages = [package("a", &[]), package("b", &[("a", &[])]), package("c", &[("a", &[]), ("b", &["x"])])];
        assert_eq!(findings(ROWS, &packages), [""; 0]);
    }

    #[test]
    fn an_arrow_that_the_table_does_not_have_is_found_and_so_is_a_feature() {
        let packages = [package("a", &[]), package("b", &[("a", &["y"])]), package("c", &[("a", &[]), ("b", &["x"])])];
        let found = findings(ROWS, &packages);
        assert_eq!(
            found,
            ["`b` imports `a+y`, which its layer does not allow", "`b` does not import `a`; remove the arrow"]
        );
    }

    #[test]
    fn a_sideways_arrow_is_found_even_if_the_table_has_it() {
        let packages = [package("a", &[("b", &[])]), package("b", &[])];
        let found = findings("| 1 | `stend-a` | b | |\n| 1 | `stend-b` | – | |\n", &packages);
        assert_eq!(found, ["the arrow from `a` to `b` does not point to a lower layer"]);
    }

    #[test]
    fn what_stands_outside_may_import_anything_and_nothing_imports_it() {
        let packages = [package("a", &[]), package("x", &[("a", &[])])];
        assert_eq!(findings("| 0 | `stend-a` | – | |\n| – | `stend-x` | a | |\n", &packages), [""; 0]);
        let packages = [package("a", &[("x", &[])]), package("x", &[])];
        let found = findings("| 0 | `stend-a` | x | |\n| – | `stend-x` | – | |\n", &packages);
        assert_eq!(found, ["the arrow from `a` to `x` does not point to a lower layer"]);
    }

    #[test]
    fn a_crate_that_only_one_side_knows_is_found() {
        let found = findings("| 0 | `stend-a` | – | |\n", &[package("b", &[])]);
        assert_eq!(found, ["there is no crate `a`", "the crate `b` has no layer"]);
    }

    #[test]
    fn without_a_table_nothing_is_allowed() {
        assert!(check(&Source::new(document::ARCHITECTURE, ""), &[])[0].message.contains("is missing"));
    }
}
