//! What the search found, and what it begins with, is read again by every parser: as it is, cut, and with single bytes changed. A
//! target that panics, or does not come back, fails; what it says of the bytes is tested where it is.

#![allow(clippy::print_stdout, reason = "the last line before a panic says which bytes they were")]

use std::path::{Path, PathBuf};
use stend_untrusted::{TARGETS, Target, made};

/// Bytes of a seed of which every byte is changed and every beginning is read; of a longer one so many places.
const PLACES: usize = 192;
/// The same of a target that takes milliseconds, because it shows a whole run.
const PLACES_OF_RUNS: usize = 12;
/// Kinds of damage to a byte: its lowest bit, its highest, all of it.
const FLIPS: [u8; 3] = [1, 0x80, 0xff];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Files below a directory, sorted.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display())) {
        let path = entry.expect("a directory of the repository can be read").path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// (name, bytes): what is made, then the target's own corpus, then files of the repository that are of its kind.
fn seeds(target: &Target) -> Vec<(String, Vec<u8>)> {
    let of_target = made::all().into_iter().filter(|(of, _)| *of == target.name);
    let mut seeds: Vec<_> = of_target.map(|(of, bytes)| (format!("made {of}"), bytes)).collect();
    let own = Path::new("untrusted/corpus").join(target.name);
    let own = root().join(&own).is_dir().then_some(own);
    for directory in own.into_iter().chain(target.beside.iter().map(PathBuf::from)) {
        let whole = files(&root().join(directory)).into_iter().map(|path| (path.display().to_string(), path));
        seeds.extend(whole.map(|(name, path)| (name, std::fs::read(path).expect("a file"))));
    }
    seeds.retain(|(_, bytes)| bytes.len() <= target.largest);
    seeds
}

fn replay(target: &Target, places: usize) {
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "{} has no seed", target.name);
    for (name, bytes) in seeds {
        // The last thing that is printed before a panic says which bytes they were.
        let read = |what: &str, bytes: &[u8]| {
            println!("{} {name} {what}", target.name);
            (target.run)(bytes);
        };
        read("whole", &bytes);
        let step = bytes.len().div_ceil(places).max(1);
        for place in (0..bytes.len()).step_by(step) {
            read(&format!("cut at {place}"), &bytes[..place]);
            let flip = FLIPS[place / step % FLIPS.len()];
            let mut changed = bytes.clone();
            changed[place] ^= flip;
            read(&format!("byte {place} ^ {flip}"), &changed);
        }
    }
}

#[test]
fn every_parser_takes_its_seeds_whole_and_damaged() {
    TARGETS.iter().filter(|target| !target.shows_runs).for_each(|target| replay(target, PLACES));
}

#[test]
fn every_parser_of_runs_takes_its_seeds_whole_and_damaged() {
    TARGETS.iter().filter(|target| target.shows_runs).for_each(|target| replay(target, PLACES_OF_RUNS));
}

#[test]
fn what_is_made_is_what_it_is_made_for() {
    let of =
        |name: &str| made::all().into_iter().filter(|(of, _)| *of == name).map(|(_, bytes)| bytes).collect::<Vec<_>>();
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("small.stend");
    std::fs::write(&path, &of("run-file")[0]).expect("a file");
    let run = stend_record::store::read(&path).expect("a run file");
    let findings = stend_analyse::analyse(&run).expect("findings");
    assert!(run.trials.len() == 4 && !run.load().samples.is_empty() && !run.events.is_empty());
    assert!(findings.cases.iter().any(|case| case.trials > 0), "its trials count");
    let spooled = stend_record::store::spooled(&of("spool")[0], &run.header.id);
    assert!(spooled.len() > 15, "{} entries", spooled.len());
    assert!(postcard::from_bytes::<stend_record::IoChunk>(&of("io-log")[0]).is_ok());
    assert!(serde_json::from_slice::<Vec<stend_record::Entry>>(&of("run-entries")[1]).is_ok());
}
