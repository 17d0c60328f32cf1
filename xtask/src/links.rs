//! What documents point to: a file that they link to or name must be there.

use crate::finding::Finding;
use crate::tree::Source;
use std::path::{Path, PathBuf};

const RULE: &str = "links";
/// A text between back-quotes that begins so is the path of a file or folder of the repository.
const FOLDERS: [&str; 8] = ["bench/", "crates/", "docs/", "published/", "scripts/", "suites/", "xtask/", ".ci/"];

/// Looks for whatever the documents below `root` point to.
pub fn check(root: &Path, sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|s| s.path.ends_with(".md")) {
        let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (i, line) in source.text.lines().enumerate() {
            let linked = linked(line).into_iter().map(|path| (path, root.join(folder).join(path)));
            let named = named(line).into_iter().map(|path| (path, root.join(path)));
            let missing = linked.chain(named).filter(|(_, place): &(&str, PathBuf)| !place.exists());
            findings.extend(
                missing.map(|(path, _)| Finding::new(&source.path, i + 1, RULE, format!("`{path}` is not there"))),
            );
        }
    }
    findings
}

/// Relative targets of the links in a line.
fn linked(line: &str) -> Vec<&str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let paths = targets.map(|(target, _)| target.split('#').next().unwrap_or_default());
    paths.filter(|path| !path.is_empty() && !path.contains("://") && !path.starts_with("mailto:")).collect()
}

/// Paths of the repository between back-quotes, without a line number; a pattern names no single file.
fn named(line: &str) -> Vec<&str> {
    let quoted =
        line.split('`').skip(1).step_by(2).filter(|text| FOLDERS.iter().any(|folder| text.starts_with(folder)));
    let paths = quoted.map(|text| text.split(':').next().unwrap_or_default());
    paths.filter(|path| !path.contains(['*', '<', '{', '…', ' '])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        check(root, &[Source::new("src/a.md", text)]).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn files_that_are_there_may_be_pointed_to() {
        let text =
            "[a](main.rs#x) [b](../Cargo.toml) [c](https://example.org/x) [d](#here) `src/none.rs` `crates/*/x` a](";
        assert_eq!(findings(text), [""; 0]);
    }

    #[test]
    fn a_link_to_nothing_and_the_path_of_nothing_are_found() {
        assert_eq!(
            findings("[a](none.md)\n`docs/none.md:3`"),
            ["`none.md` is not there", "`docs/none.md` is not there"]
        );
    }
}
