//! Every file of the corpus, and of the fixtures, is read as one that a user hands in: none makes the importers panic, and what becomes of
//! each is the line about it in `corpus/outcomes.txt`. The same entry is what the targets of `fuzz/` call, so that a finding of theirs
//! becomes a file of the corpus (docs/formats/import.md, "Corpus and fuzzing").

use expect_test::expect_file;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use stend_base::Lang;
use stend_import::fio::log;
use stend_import::{File, ImportedRun, results};

/// Damage at this many places of each file.
const CUTS: usize = 12;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Files below these directories, by their paths from here.
fn files() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![root().join("corpus"), root().join("fixtures")];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display())) {
            let path = entry.expect("a directory of the repository can be read").path();
            match path.is_dir() {
                true => open.push(path),
                false if path.ends_with("corpus/outcomes.txt") => {}
                false => {
                    found.insert(path);
                }
            }
        }
    }
    found
}

fn imported(name: &str, bytes: &[u8]) -> stend_base::Result<ImportedRun> {
    if log::is_log(name, bytes) {
        let open = |_: &str| Ok(Box::new(std::io::Cursor::new(bytes.to_vec())) as Box<dyn Read>);
        return log::read(&[name.to_string()], &open, &mut |_| ());
    }
    results(&[File { name, bytes }])
}

/// What became of a file, in a line.
fn outcome(name: &str, bytes: &[u8]) -> String {
    match imported(name, bytes) {
        Err(error) => error.message.get(Lang::En).to_string(),
        Ok(run) => {
            let labels: Vec<String> = run.inputs.suite.told.iter().map(|case| case.label()).collect();
            let (tool, blocks, dropped) = (run.imported.tool, run.inputs.suite.blocks, run.imported.dropped.len());
            format!("{tool}: {blocks} × {}; left out {dropped}", labels.join(" | "))
        }
    }
}

#[test]
fn every_file_of_the_corpus_becomes_what_is_written_of_it() {
    let mut lines = String::new();
    for path in files() {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        lines += &format!("{name}: {}\n", outcome(&name, &std::fs::read(&path).unwrap()));
    }
    assert!(lines.lines().count() > 10, "the corpus was not found");
    expect_file![root().join("corpus/outcomes.txt")].assert_eq(&lines);
}

#[test]
fn no_damage_makes_an_importer_panic() {
    for path in files() {
        let (name, whole) = (path.display().to_string(), std::fs::read(&path).unwrap());
        for step in 0..CUTS.min(whole.len()) {
            let at = whole.len() * step / CUTS;
            let mut cut = whole.clone();
            cut.truncate(at);
            outcome(&name, &cut);
            for with in [0, b'9', b',', b'"', b'<', 0xff] {
                let mut changed = whole.clone();
                changed[at] = with;
                outcome(&name, &changed);
            }
        }
    }
}
