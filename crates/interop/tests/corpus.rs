//! Every file of the corpus, and of the fixtures, is read as one that a user hands in: none makes the importers panic, and what becomes of
//! each is the line about it in `corpus/outcomes.txt`. The same entry is what `make fuzz` calls, so that a finding of it
//! becomes a file of the corpus (docs/formats/import.md, "Corpus and fuzzing").

use expect_test::expect_file;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use stend_base::{Histogram, Lang, Share};
use stend_interop::fio::log;
use stend_interop::{File, ImportedRun, results};
use stend_record::Entry;
use stend_spec::workload::Op;

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

/// The main numbers of each trial, by kind of I/O, so that a wrong unit shows.
fn numbers(entries: &[Entry], labels: &[String]) -> Vec<String> {
    let (mut lines, mut running) = (Vec::new(), String::new());
    for entry in entries {
        let outcome = match entry {
            Entry::TrialStart { case, .. } => {
                running = labels[*case as usize].clone();
                continue;
            }
            Entry::TrialEnd { outcome, .. } => outcome,
            _ => continue,
        };
        let seconds = (outcome.window_end.0 - outcome.window_start.0) as f64 / 1e9;
        for op in Op::ALL {
            let done = outcome.jobs.iter().map(|job| job.done[op.index()]);
            let (ios, bytes) =
                done.fold((0, 0), |sum: (u64, u64), own| (sum.0.saturating_add(own.0), sum.1.saturating_add(own.1)));
            if ios == 0 {
                continue;
            }
            let ops = || outcome.tool_output.iter().flat_map(|told| &told.ops).filter(|told| told.op == op);
            let (count, sum) = ops().fold((0, 0), |sum: (u64, u128), own| {
                (sum.0.saturating_add(own.count), sum.1.saturating_add(own.sum_ns))
            });
            let printed: Vec<u64> =
                ops().flat_map(|op| &op.percentiles).filter(|p| p.0 == 990_000).map(|p| p.1).collect();
            let mut all = Histogram::new();
            outcome.jobs.iter().for_each(|job| all.merge_sparse(&job.latency[op.index()]));
            let p99 = match (printed.as_slice(), all.quantile(Share(0.99))) {
                ([], None) => "?".to_string(),
                ([], Some(at)) => format!("{} µs", at.0 / 1000),
                (several, _) => {
                    several.iter().map(|at| format!("{} µs printed", at / 1000)).collect::<Vec<_>>().join(", ")
                }
            };
            let mean =
                if count > 0 { format!("{:.1} µs", sum as f64 / count as f64 / 1000.0) } else { "?".to_string() };
            let (iops, mb) = (ios as f64 / seconds, bytes as f64 / seconds / 1e6);
            lines.push(format!("{running}: {op:?} {iops:.1} IOPS, {mb:.3} MB/s, mean {mean}, p99 {p99}"));
        }
    }
    lines
}

/// What became of a file: a line, and one for each trial and kind of I/O.
fn outcome(name: &str, bytes: &[u8]) -> String {
    match imported(name, bytes) {
        Err(error) => error.message.get(Lang::En).to_string(),
        Ok(run) => {
            let labels: Vec<String> = run.inputs.suite.imported.iter().map(|case| case.label()).collect();
            let (tool, blocks, dropped) = (run.imported.tool, run.inputs.suite.blocks, run.imported.dropped.len());
            let mut told = format!("{tool}: {blocks} × {}; left out {dropped}", labels.join(" | "));
            numbers(&run.entries, &labels).iter().for_each(|line| told += &format!("\n    {line}"));
            told
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
