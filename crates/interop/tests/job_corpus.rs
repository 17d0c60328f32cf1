//! Every file of jobs of the corpus is read as one that a user hands in: none makes the importers panic, and what becomes of each
//! stands in `corpus/outcomes.txt`, to be read by a person whenever it changes. The target `jobs` of `make fuzz` calls the same entry, so
//! that a finding of it becomes a file of the corpus (docs/formats/import.md, "Corpus and fuzzing").

use expect_test::expect_file;
use std::path::{Path, PathBuf};
use stend_base::{Error, Kind, Lang, Result, say};
use stend_interop::jobs::{ImportContext, Imported, command, files};

/// Damage at this many places of each file.
const CUTS: usize = 24;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/job_corpus")
}

/// Names and contents, in the order of the names.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(root()).expect("a directory of the repository can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| !path.ends_with("outcomes.txt"));
    paths.sort();
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), std::fs::read(path).expect("a file"))).collect()
}

/// A file of jobs, or a command line where the name shows it.
fn import(name: &str, bytes: &[u8], lenient: bool) -> Result<Imported> {
    let included = |path: &str| match path {
        "other.fio" => Ok(b"[global]\nbs=16k\nruntime=10\ntime_based\n".to_vec()),
        _ => Err(Error::usage(say!("no `{path}`", "нет `{path}`"))),
    };
    let variable = |name: &str| match name {
        "DEVICE" => Some("/dev/sdz".to_string()),
        "RW" => Some("rand".to_string()),
        _ => None,
    };
    let world = ImportContext { read: &included, variable: &variable, lenient };
    match name.ends_with(".cmd") {
        true => command(&[String::from_utf8_lossy(bytes).trim().to_string()], &world),
        false => files(&[(name.to_string(), bytes.to_vec())], &world),
    }
}

#[test]
fn every_file_of_jobs_becomes_what_is_written_of_it() {
    let mut told = String::new();
    for (name, bytes) in corpus() {
        for lenient in [false, true] {
            let outcome = import(&name, &bytes, lenient).map_or_else(|e| e.render(Lang::En), |i| i.text(Lang::En));
            let way = if lenient { ", lenient" } else { "" };
            told += &format!("==== {name}{way}\n{outcome}\n");
        }
    }
    assert!(told.matches("====").count() > 10, "the corpus was not found");
    expect_file![root().join("outcomes.txt")].assert_eq(&told);
}

#[test]
fn no_damage_makes_an_importer_panic() {
    for (name, whole) in corpus() {
        for step in 0..CUTS.min(whole.len()) {
            let at = whole.len() * step / CUTS;
            let mut cut = whole.clone();
            cut.truncate(at);
            let mut doubled = whole.clone();
            doubled.extend_from_slice(&whole[at..]);
            let changed = [0, b'9', b',', b'=', b'%', b'<', 0xff].map(|with| {
                let mut changed = whole.clone();
                changed[at] = with;
                changed
            });
            for bytes in [cut, doubled].into_iter().chain(changed) {
                if let Err(error) = import(&name, &bytes, true) {
                    assert_eq!(error.kind, Kind::Spec, "{name}: {error}");
                }
            }
        }
    }
}
