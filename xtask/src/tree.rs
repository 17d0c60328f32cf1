//! The files of the repository as the rules see them. Reads; must not judge.

use crate::scan::{self, Parts};
use std::io;
use std::path::Path;

/// Endings of the files that rules look at. Golden files are left out: they are what the tool printed.
const TEXT: [&str; 8] = ["rs", "toml", "md", "yaml", "yml", "sh", "css", "html"];
/// Texts without an ending.
const NAMED: [&str; 2] = ["Makefile", ".ci/run"];
/// Directories that hold no sources of ours.
const SKIPPED: [&str; 4] = ["node_modules", "golden", "fixtures", "proptest-regressions"];
/// Folders deeper than this are not ours.
const DEPTH_MAX: usize = 12;

/// One text file.
#[derive(Debug, Clone)]
pub struct Source {
    /// Path relative to the repository, with `/`.
    pub path: String,
    /// The text.
    pub text: String,
    /// Its parts; both empty unless it is Rust.
    pub parts: Parts,
    /// Code without tests; empty in a file of tests.
    pub production: String,
}

impl Source {
    /// A file with this text.
    pub fn new(path: &str, text: &str) -> Source {
        let parts = if path.ends_with(".rs") { scan::split(text) } else { scan::split("") };
        let production = if is_test(path) { String::new() } else { without_tests(&parts.code) };
        Source { path: path.to_string(), text: text.to_string(), parts, production }
    }

    /// Whether it is Rust.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Line number of an offset.
    pub fn line(&self, at: usize) -> usize {
        scan::line_of(&self.text, at)
    }
}

/// Every text file below `root`, sorted by path.
pub fn read(root: &Path) -> io::Result<Vec<Source>> {
    let mut paths = Vec::new();
    walk(root, "", 0, &mut paths)?;
    paths.sort();
    let mut sources = Vec::new();
    for path in paths {
        match std::fs::read_to_string(root.join(&path)) {
            Ok(text) => sources.push(Source::new(&path, &text)),
            // Removed since the directory was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(io::Error::new(error.kind(), format!("{path}: {error}"))),
        }
    }
    blank_test_modules(&mut sources);
    Ok(sources)
}

fn walk(root: &Path, below: &str, depth: usize, paths: &mut Vec<String>) -> io::Result<()> {
    if depth > DEPTH_MAX {
        return Ok(());
    }
    for entry in std::fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        let kind = entry.file_type()?;
        let hidden = name.starts_with('.') && name != ".ci";
        // The fuzz targets have a workspace of their own.
        let built = name == "target" || (depth == 0 && name.starts_with("target"));
        if kind.is_dir() && !hidden && !built && !SKIPPED.contains(&name.as_str()) {
            walk(root, &path, depth + 1, paths)?;
        }
        let text = name.rsplit_once('.').is_some_and(|(_, ending)| TEXT.contains(&ending));
        if kind.is_file() && (text || NAMED.contains(&path.as_str())) {
            paths.push(path);
        }
    }
    Ok(())
}

/// Whether a path alone says that a file holds tests.
pub fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("_tests.rs")
}

/// Offsets of the items that are compiled for tests only, each with its end.
fn test_items(code: &str) -> Vec<(usize, usize)> {
    let attributes = ["#[cfg(test)]", "#[cfg(all(test"];
    let mut items: Vec<(usize, usize)> = Vec::new();
    for at in attributes.iter().flat_map(|attribute| code.match_indices(attribute)).map(|(at, _)| at) {
        let mut end = scan::closing(code, at + 1);
        while let Some(next) = code[end..].trim_start().strip_prefix("#[") {
            end = scan::closing(code, code.len() - next.len() - 1);
        }
        items.push((at, scan::item_end(code, end)));
    }
    items
}

fn without_tests(code: &str) -> String {
    let mut bytes = code.as_bytes().to_vec();
    for (at, end) in test_items(code) {
        bytes[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A module that another file declares under `cfg(test)` is a file of tests, whatever its name.
fn blank_test_modules(sources: &mut [Source]) {
    let mut modules = Vec::new();
    for source in sources.iter().filter(|s| s.is_rust()) {
        let code = &source.parts.code;
        for (at, end) in test_items(code) {
            if let Some((_, name)) = code[at..end].trim_end_matches(';').rsplit_once("mod ") {
                modules.push(module_path(&source.path, name.trim()));
            }
        }
    }
    let holds_tests = |path: &str| {
        let stem = path.trim_end_matches(".rs");
        modules
            .iter()
            .any(|module| stem == module || stem.strip_prefix(module.as_str()).is_some_and(|s| s.starts_with('/')))
    };
    sources.iter_mut().filter(|s| holds_tests(&s.path)).for_each(|s| s.production.clear());
}

/// Where the module `name`, declared in the file `parent`, is; without its ending.
fn module_path(parent: &str, name: &str) -> String {
    let (directory, file) = parent.rsplit_once('/').unwrap_or(("", parent));
    match file {
        "lib.rs" | "main.rs" | "mod.rs" => format!("{directory}/{name}"),
        _ => format!("{}/{name}", parent.trim_end_matches(".rs")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_for_tests_are_not_production_code() {
        let text = "use a;\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod x;\nfn f() {}\n#[cfg(test)]\nmod tests { fn g() {} }\nfn h() {}\n";
        let production = Source::new("crates/a/src/b.rs", text).production;
        assert_eq!(production.split_whitespace().collect::<String>(), "usea;fnf(){}fnh(){}");
        assert_eq!(production.lines().count(), text.lines().count());
    }

    #[test]
    fn a_file_declared_for_tests_holds_tests_and_so_does_what_is_below_it() {
        let mut sources: Vec<Source> = [
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod fixture;\nmod real;"),
            ("crates/a/src/fixture.rs", "fn f() {}"),
            ("crates/a/src/fixture/deep.rs", "fn f() {}"),
            ("crates/a/src/fixtures.rs", "fn f() {}"),
            ("crates/a/src/real.rs", "#[cfg(test)]\nmod samples;\nfn f() {}"),
            ("crates/a/src/real/samples.rs", "fn f() {}"),
        ]
        .map(|(path, text)| Source::new(path, text))
        .to_vec();
        blank_test_modules(&mut sources);
        let production: Vec<&str> =
            sources.iter().filter(|s| !s.production.trim().is_empty()).map(|s| &*s.path).collect();
        assert_eq!(production, ["crates/a/src/lib.rs", "crates/a/src/fixtures.rs", "crates/a/src/real.rs"]);
    }

    #[test]
    fn tests_are_known_by_their_path() {
        let paths =
            ["crates/a/tests/x.rs", "crates/a/src/b/tests.rs", "crates/a/src/b_tests.rs", "crates/a/src/contests.rs"];
        assert_eq!(paths.map(is_test), [true, true, true, false]);
        assert!(Source::new("crates/a/tests/x.rs", "fn f() {}").production.is_empty());
    }
}
