//! Files that are written by a program from what the code says: JSON Schemas, the tables of suite keys, the page of error codes, the
//! OpenAPI document, the dashboards of Grafana and the template of Zabbix.
//! `cargo run -p xtask -- gen` writes them; a rule holds that they are fresh.

mod dashboards;
mod errors;
mod openapi;
mod outputs;
mod suite;
mod types;
mod zabbix;

use crate::finding::Finding;
use crate::tree::Source;
use std::path::Path;
use types::Types;

const RULE: &str = "generated";

/// One file.
pub struct File {
    /// Path relative to the repository.
    pub path: String,
    /// What it must hold.
    pub text: String,
}

impl File {
    /// A document of JSON, indented, with a line feed at the end.
    fn of_json(path: String, document: &serde_json::Value) -> File {
        File { path, text: format!("{document:#}\n") }
    }
}

/// Every file. `Err` is what to tell the user: the code says something that has no translation yet.
pub fn files(root: &Path, sources: &[Source]) -> Result<Vec<File>, String> {
    // Every source is read, which takes most of the time.
    let types = Types::of(sources)?;
    let mut files = outputs::files(&types)?;
    files.push(errors::page(&types)?);
    files.push(openapi::document(&types)?);
    files.push(openapi::table());
    files.extend(dashboards::files());
    files.extend(zabbix::files());
    for kind in suite::KINDS {
        files.push(suite::schema(kind));
        files.push(suite::reference(kind, root)?);
    }
    Ok(files)
}

/// Writes what is not as it must be, and says what that was.
pub fn write(root: &Path, sources: &[Source]) -> Result<Vec<String>, String> {
    put(root, &files(root, sources)?)
}

fn put(root: &Path, files: &[File]) -> Result<Vec<String>, String> {
    let mut written = Vec::new();
    for file in files {
        let place = root.join(&file.path);
        if std::fs::read_to_string(&place).is_ok_and(|text| text == file.text) {
            continue;
        }
        let folder = place.parent().unwrap_or(root);
        let done = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&place, &file.text));
        done.map_err(|error| format!("cannot write `{}`: {error}", file.path))?;
        written.push(file.path.clone());
    }
    Ok(written)
}

/// Files that do not hold what they must.
pub fn check(root: &Path, sources: &[Source]) -> Vec<Finding> {
    match files(root, sources) {
        Ok(files) => stale(root, &files),
        Err(message) => vec![Finding::new("xtask/src/generated.rs", 1, RULE, message)],
    }
}

fn stale(root: &Path, files: &[File]) -> Vec<Finding> {
    let stale = |file: &File| !std::fs::read_to_string(root.join(&file.path)).is_ok_and(|text| text == file.text);
    let message = "is not what the code says; run `cargo run -p xtask -- gen` and read the difference";
    files.iter().filter(|file| stale(file)).map(|file| Finding::new(&file.path, 1, RULE, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_file_is_found_and_a_written_one_is_not() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let sources = crate::tree::read(&root).unwrap();
        let empty = std::env::temp_dir().join(format!("stend-xtask-{}", std::process::id()));
        for kind in suite::KINDS {
            let guide = empty.join(kind.reference);
            std::fs::create_dir_all(guide.parent().unwrap()).unwrap();
            std::fs::copy(root.join(kind.reference), guide).unwrap();
        }
        let files = files(&empty, &sources).unwrap();
        let before = stale(&empty, &files);
        put(&empty, &files).unwrap();
        let after = stale(&empty, &files);
        std::fs::remove_dir_all(&empty).unwrap();
        assert!(before.iter().any(|f| f.message.contains("cargo run -p xtask -- gen")), "{before:?}");
        assert_eq!(after, []);
    }
}
