//! Automation of the project: `cargo run -p xtask -- tidy`. Must not be needed to build or run Stend.
//!
//! The same checks are tests of this package, so `cargo test` holds the tree to them.
#![forbid(unsafe_code)]

mod layers;
mod lexer;
mod powers;
mod problem;
mod source;
mod table;
mod tidy;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments != ["tidy"] {
        say("usage: cargo run -p xtask -- tidy");
        return ExitCode::from(2);
    }
    let problems = check(source::root());
    problems.iter().for_each(|problem| say(&problem.to_string()));
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A closed standard output is no reason to fail.
fn say(line: &str) {
    drop(writeln!(std::io::stdout(), "{line}"));
}

/// Every problem of the tree under `root`, in the order of its files.
fn check(root: &Path) -> Vec<problem::Problem> {
    let tree = source::Tree::read(root);
    let mut problems = tidy::check(&tree);
    problems.extend(layers::check(&tree));
    problems.extend(powers::check(&tree));
    problems.sort();
    problems
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_tree_is_tidy_and_keeps_to_its_layers_and_powers() {
        let problems = super::check(super::source::root());
        let list: String = problems.iter().map(|problem| format!("\n{problem}")).collect();
        assert!(problems.is_empty(), "{list}");
    }
}
