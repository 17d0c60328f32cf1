//! The packages of the workspace as `cargo metadata` tells them. Reads; must not judge.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// One package of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Name in the manifest, e.g. `stend-base`.
    pub name: String,
    /// Folder relative to the repository.
    pub folder: String,
    /// What its code needs, by package name.
    pub needs: BTreeMap<String, Need>,
    /// What only its tests need.
    pub tests_need: BTreeMap<String, Need>,
}

/// One dependency.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Need {
    /// Features that are switched on here.
    pub features: Vec<String>,
    /// It lies in this repository.
    pub ours: bool,
}

impl Package {
    /// The name that the documents use: `base` for `stend-base`.
    pub fn short(&self) -> &str {
        short(&self.name)
    }
}

/// Name of a package without the prefix that all of ours have.
pub fn short(package: &str) -> &str {
    package.strip_prefix("stend-").unwrap_or(package)
}

/// Asks cargo, offline. `Err` is what to tell the user.
pub fn read(root: &Path) -> Result<Vec<Package>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--offline", "--no-deps", "--format-version", "1"];
    let output = Command::new(cargo).args(arguments).current_dir(root).output();
    let output = output.map_err(|error| format!("cannot run `cargo metadata`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    parse(&output.stdout).ok_or_else(|| "`cargo metadata` said something that we do not understand".to_string())
}

fn parse(json: &[u8]) -> Option<Vec<Package>> {
    let metadata: Value = serde_json::from_slice(json).ok()?;
    let root = metadata["workspace_root"].as_str()?;
    metadata["packages"].as_array()?.iter().map(|package| parse_package(package, root)).collect()
}

fn parse_package(package: &Value, root: &str) -> Option<Package> {
    let manifest = package["manifest_path"].as_str()?.strip_prefix(root)?;
    let mut parsed = Package {
        name: package["name"].as_str()?.to_string(),
        folder: manifest.trim_start_matches('/').trim_end_matches("/Cargo.toml").to_string(),
        needs: BTreeMap::new(),
        tests_need: BTreeMap::new(),
    };
    for dependency in package["dependencies"].as_array()? {
        let features = dependency["features"].as_array()?.iter().filter_map(Value::as_str).map(String::from).collect();
        let need = Need { features, ours: dependency["path"].is_string() };
        let needs = if dependency["kind"] == "dev" { &mut parsed.tests_need } else { &mut parsed.needs };
        needs.insert(dependency["name"].as_str()?.to_string(), need);
    }
    Some(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_says_is_understood() {
        let json =
            br#"{"workspace_root": "/r", "packages": [{"name": "stend-a", "manifest_path": "/r/crates/a/Cargo.toml",
            "dependencies": [{"name": "stend-b", "kind": null, "features": ["x"], "path": "/r/crates/b"},
                             {"name": "c", "kind": "dev", "features": []}]}]}"#;
        let [package] = &parse(json).unwrap()[..] else { panic!("one package") };
        assert_eq!((package.short(), &*package.folder), ("a", "crates/a"));
        assert_eq!(package.needs["stend-b"], Need { features: vec!["x".to_string()], ours: true });
        assert_eq!(package.tests_need["c"], Need::default());
    }
}
