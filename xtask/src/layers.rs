//! Compares the layer table of `docs/ARCHITECTURE.md` with what the crates really import.

use crate::problem::Problem;
use crate::source::{Tree, root};
use crate::table;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// The document with the tables.
pub const ARCHITECTURE: &str = "docs/ARCHITECTURE.md";

/// Crates that may switch on the feature `store` of `record`.
const STORE_USERS: [&str; 4] = ["stend-run", "stend-import", "stend-serve", "stend"];

/// A crate as the table has it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Layer {
    line: usize,
    /// `None` for a crate outside the layers.
    number: Option<u32>,
    /// Names of crates, or `all`.
    imports: Vec<String>,
}

/// A dependency of one crate of the workspace on another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrow {
    from: String,
    to: String,
    store: bool,
}

/// Everything in which the table and the manifests differ.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let Some(text) = tree.text(ARCHITECTURE) else {
        return vec![Problem::new(ARCHITECTURE, 0, "is missing, and with it the table of layers")];
    };
    match workspace() {
        Ok((crates, arrows)) => compare(text, &crates, &arrows),
        Err(why) => vec![Problem::new("Cargo.toml", 0, why)],
    }
}

fn compare(text: &str, crates: &[String], arrows: &[Arrow]) -> Vec<Problem> {
    let Some(layers) = layers(text) else {
        return vec![Problem::new(ARCHITECTURE, 0, "has no table that begins with `layer`")];
    };
    let mut problems = Vec::new();
    for name in crates.iter().filter(|name| !layers.contains_key(*name)) {
        problems.push(Problem::new(ARCHITECTURE, 0, format!("the crate `{name}` has no row in the table of layers")));
    }
    for (name, layer) in layers.iter().filter(|(name, _)| !crates.contains(name)) {
        problems.push(Problem::new(ARCHITECTURE, layer.line, format!("there is no crate `{name}`")));
    }
    for arrow in arrows {
        if let (Some(from), Some(to)) = (layers.get(&arrow.from), layers.get(&arrow.to)) {
            problems.extend(forbidden(arrow, from, to).map(|why| Problem::new(&manifest(&arrow.from), 0, why)));
        }
        if arrow.store && !STORE_USERS.contains(&arrow.from.as_str()) {
            let why = format!("`{}` must not switch on the feature `store`", arrow.from);
            problems.push(Problem::new(&manifest(&arrow.from), 0, why));
        }
    }
    problems
}

fn forbidden(arrow: &Arrow, from: &Layer, to: &Layer) -> Option<String> {
    let Arrow { from: name, to: imported, .. } = arrow;
    let all = from.imports.iter().any(|import| import == "all");
    if !all && !from.imports.contains(imported) {
        return Some(format!("`{name}` imports `{imported}`, which the table of layers does not allow"));
    }
    if from.number.is_some() && (to.number.is_none() || from.number <= to.number) {
        return Some(format!("`{name}` imports `{imported}`, which is not in a lower layer"));
    }
    None
}

fn manifest(name: &str) -> String {
    match name.strip_prefix("stend-") {
        Some(short) => format!("crates/{short}/Cargo.toml"),
        None if name == "stend" => "crates/stend/Cargo.toml".to_string(),
        None => format!("{name}/Cargo.toml"),
    }
}

/// Rows are: layer, crate in back quotes, its face, short names of what it may import.
fn layers(text: &str) -> Option<BTreeMap<String, Layer>> {
    let rows = table::rows(text, "layer")?;
    let layer = |row: &table::Row| {
        let name = table::quoted(row.cells.get(1)?).first()?.to_string();
        let imports = row.cells.get(3)?.split_whitespace().map(|word| match word {
            "all" => word.to_string(),
            short => format!("stend-{short}"),
        });
        Some((name, Layer { line: row.line, number: row.cells[0].parse().ok(), imports: imports.collect() }))
    };
    Some(rows.iter().filter_map(layer).collect())
}

/// The crates of the workspace and the arrows between them, tests not counted.
fn workspace() -> Result<(Vec<String>, Vec<Arrow>), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .map_err(|error| format!("cannot run `cargo metadata`: {error}"))?;
    let json: Value = serde_json::from_slice(&output.stdout).map_err(|error| format!("`cargo metadata`: {error}"))?;
    Ok(arrows(&json))
}

fn arrows(metadata: &Value) -> (Vec<String>, Vec<Arrow>) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let packages = list(&metadata["packages"]);
    let crates: Vec<String> = packages.iter().map(|package| text(&package["name"])).collect();
    let mut arrows = Vec::new();
    for package in &packages {
        for dependency in list(&package["dependencies"]).iter().filter(|dependency| dependency["kind"].is_null()) {
            let to = text(&dependency["name"]);
            if crates.contains(&to) {
                let store = list(&dependency["features"]).iter().any(|feature| feature == "store");
                arrows.push(Arrow { from: text(&package["name"]), to, store });
            }
        }
    }
    (crates, arrows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "| layer | crate | face | may import |\n|---|---|---|---|\n\
        | 0 | `stend-base` | units | – |\n\
        | 1 | `stend-sys` | calls | base |\n\
        | 1 | `stend-spec` | asked | base sys |\n\
        | 2 | `stend-record` | seen | base spec |\n\
        | 7 | `stend` | binary | all |\n\
        | – | `xtask` | outside | |\n";

    fn problems_with(arrow: Option<(&str, &str, bool)>) -> Vec<String> {
        let crates = ["stend-base", "stend-sys", "stend-spec", "stend-record", "stend", "xtask"].map(str::to_string);
        let arrow = arrow.map(|(from, to, store)| Arrow { from: from.to_string(), to: to.to_string(), store });
        compare(TABLE, &crates, arrow.as_slice()).into_iter().map(|problem| problem.to_string()).collect()
    }

    #[test]
    fn arrows_of_the_table_are_allowed() {
        assert!(problems_with(None).is_empty());
        assert!(problems_with(Some(("stend-record", "stend-spec", false))).is_empty());
        assert!(problems_with(Some(("stend", "stend-record", true))).is_empty());
    }

    #[test]
    fn an_arrow_that_is_not_in_the_table_is_refused() {
        let problems = problems_with(Some(("stend-record", "stend-sys", false)));
        assert_eq!(
            problems,
            ["crates/record/Cargo.toml: `stend-record` imports `stend-sys`, which the table of layers does not allow"]
        );
        assert_eq!(problems_with(Some(("xtask", "stend-base", false))).len(), 1);
    }

    #[test]
    fn a_sideways_arrow_is_refused_even_if_the_table_has_it() {
        let problems = problems_with(Some(("stend-spec", "stend-sys", false)));
        assert!(problems[0].ends_with("not in a lower layer"), "{problems:?}");
    }

    #[test]
    fn only_those_who_may_write_a_run_file_switch_on_the_store() {
        let problems = problems_with(Some(("stend-spec", "stend-base", true)));
        assert!(problems[0].contains("feature `store`"), "{problems:?}");
    }

    #[test]
    fn crates_and_rows_belong_together() {
        let crates = ["stend-base", "stend-lab"].map(str::to_string);
        let problems: Vec<String> = compare(TABLE, &crates, &[]).into_iter().map(|problem| problem.text).collect();
        assert!(
            problems.contains(&"the crate `stend-lab` has no row in the table of layers".to_string()),
            "{problems:?}"
        );
        assert!(problems.contains(&"there is no crate `stend-record`".to_string()), "{problems:?}");
        assert_eq!(compare("nothing", &crates, &[]).len(), 1);
    }

    #[test]
    fn dependencies_of_tests_are_no_arrows() {
        let metadata = serde_json::json!({"packages": [
            {"name": "a", "dependencies": [
                {"name": "b", "kind": null, "features": ["store"]},
                {"name": "b", "kind": "dev", "features": []},
                {"name": "serde", "kind": null, "features": []}]},
            {"name": "b", "dependencies": []}]});
        let (crates, arrows) = arrows(&metadata);
        assert_eq!(crates, ["a", "b"]);
        assert_eq!(arrows, [Arrow { from: "a".to_string(), to: "b".to_string(), store: true }]);
    }
}
