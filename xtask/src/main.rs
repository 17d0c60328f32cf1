//! Automation for those who work on Stend: `cargo run -p xtask -- tidy` prints where the rules of the house
//! are broken, and changes nothing; the same rules are tests of this package. `-- gen` writes the generated files.
#![forbid(unsafe_code)]

mod circles;
mod document;
mod finding;
mod generated;
mod layers;
mod libraries;
mod links;
mod manifests;
mod powers;
mod programs;
mod promises;
mod prose;
mod scan;
mod tidy;
mod tree;

use finding::Finding;
use manifests::Package;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tree::Source;

/// Everything that rules look at.
struct Repository {
    root: PathBuf,
    sources: Vec<Source>,
    packages: Vec<Package>,
    architecture: Source,
}

impl Repository {
    /// The repository that this program was built in. `Err` is what to tell the user.
    fn read() -> Result<Repository, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let sources = tree::read(&root).map_err(|error| format!("cannot read the repository: {error}"))?;
        let architecture = sources.iter().find(|source| source.path == document::ARCHITECTURE);
        let architecture = architecture.cloned().unwrap_or_else(|| Source::new(document::ARCHITECTURE, ""));
        Ok(Repository { packages: manifests::read(&root)?, root, sources, architecture })
    }

    fn layers(&self) -> Vec<Finding> {
        layers::check(&self.architecture, &self.packages)
    }

    fn powers(&self) -> Vec<Finding> {
        powers::check(&self.architecture, &self.sources)
    }

    fn libraries(&self) -> Vec<Finding> {
        libraries::check(&self.architecture, &self.packages, &self.sources)
    }

    fn links(&self) -> Vec<Finding> {
        links::check(&self.root, &self.sources)
    }

    fn generated(&self) -> Vec<Finding> {
        generated::check(&self.root, &self.sources)
    }

    fn promises(&self) -> Vec<Finding> {
        promises::check(&self.sources)
    }

    fn programs(&self) -> Vec<Finding> {
        programs::check(&self.sources)
    }

    fn circles(&self) -> Vec<Finding> {
        circles::check(&self.sources)
    }

    fn tidy(&self) -> Vec<Finding> {
        tidy::check(&self.architecture, &self.sources)
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => Repository::read().map(|repository| report(&repository)),
        ["gen"] => Repository::read().and_then(|repository| generate(&repository)),
        _ => Err("usage: cargo run -p xtask -- tidy|gen".to_string()),
    };
    outcome.unwrap_or_else(|message| {
        // Nobody is left to tell if even the standard error is closed.
        drop(writeln!(std::io::stderr(), "xtask: {message}"));
        ExitCode::from(2)
    })
}

/// Writes the generated files and names those that changed.
fn generate(repository: &Repository) -> Result<ExitCode, String> {
    let written = generated::write(&repository.root, &repository.sources)?;
    let text: String = written.iter().map(|path| format!("wrote {path}\n")).collect();
    drop(std::io::stdout().write_all(text.as_bytes()));
    Ok(ExitCode::SUCCESS)
}

/// Prints what is found, one line each, and a word about files that grow long.
fn report(repository: &Repository) -> ExitCode {
    let rules = [
        Repository::layers,
        Repository::powers,
        Repository::libraries,
        Repository::links,
        Repository::generated,
        Repository::promises,
        Repository::programs,
        Repository::circles,
        Repository::tidy,
    ];
    let mut findings: Vec<Finding> = rules.iter().flat_map(|rule| rule(repository)).collect();
    findings.sort();
    let is_long =
        |s: &&Source| s.is_rust() && (tidy::LINES_AIM + 1..=tidy::LINES_MAX).contains(&s.text.lines().count());
    let long: Vec<&str> = repository.sources.iter().filter(is_long).map(|source| source.path.as_str()).collect();
    let mut text: String = findings.iter().map(|finding| format!("{finding}\n")).collect();
    if !long.is_empty() {
        text += &format!("note: longer than {} lines: {}\n", tidy::LINES_AIM, long.join(", "));
    }
    text += &format!("tidy: {} findings in {} files\n", findings.len(), repository.sources.len());
    // A reader that closed the pipe has seen enough.
    drop(std::io::stdout().write_all(text.as_bytes()));
    if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    /// Read once for all tests: it takes two seconds.
    static REPOSITORY: LazyLock<Repository> = LazyLock::new(|| Repository::read().unwrap());

    fn check(rule: fn(&Repository) -> Vec<Finding>) {
        let findings: String = rule(&REPOSITORY).iter().map(|finding| format!("\n{finding}")).collect();
        assert!(findings.is_empty(), "{findings}\n");
    }

    #[test]
    fn crates_import_only_what_lies_below_them() {
        check(Repository::layers);
    }

    #[test]
    fn powers_are_used_only_where_they_are_given() {
        check(Repository::powers);
    }

    #[test]
    fn files_import_each_other_in_one_direction() {
        check(Repository::circles);
    }

    #[test]
    fn every_library_is_used_and_has_a_reason() {
        check(Repository::libraries);
    }

    #[test]
    fn documents_point_to_files_that_exist() {
        check(Repository::links);
    }

    #[test]
    fn generated_files_are_fresh() {
        check(Repository::generated);
    }

    #[test]
    fn every_promise_is_held_by_tests_that_exist() {
        check(Repository::promises);
    }

    #[test]
    fn every_program_that_tests_start_is_installed_by_setup() {
        check(Repository::programs);
    }

    #[test]
    fn the_sources_are_tidy() {
        check(Repository::tidy);
    }
}
