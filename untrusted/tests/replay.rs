//! What the search found, and what it begins with, is read again by every parser: as it is, cut, and with single bytes changed. A
//! target that panics, or does not come back, fails; what it says of the bytes is tested where it is.

#![allow(clippy::print_stdout, reason = "the last line before a panic says which bytes they were")]

use serde_json::Value;
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

/// Paths of all numbers below a value, as JSON pointers.
fn numbers(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(at.to_string()),
        Value::Array(all) => (0..).zip(all).for_each(|(i, value)| numbers(value, &format!("{at}/{i}"), found)),
        Value::Object(all) => all.iter().for_each(|(key, value)| numbers(value, &format!("{at}/{key}"), found)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[test]
fn a_plan_of_which_a_number_is_another_is_read_or_not_believed() {
    let target = TARGETS.iter().find(|target| target.name == "run-entries").expect("there is such a target");
    let made = made::all().into_iter().find(|(of, bytes)| *of == target.name && bytes.first() == Some(&b'['));
    let entries: Vec<Value> = serde_json::from_slice(&made.expect("entries as JSON").1).expect("JSON");
    let plan = entries.iter().position(|entry| entry.get("Plan").is_some()).expect("a plan");
    let mut found = Vec::new();
    numbers(&entries[plan], "", &mut found);
    assert!(found.len() > 20, "{found:?}");
    for (path, number) in found.iter().flat_map(|path| [0, u64::from(u32::MAX), u64::MAX].map(|n| (path, n))) {
        let mut changed = entries.clone();
        *changed[plan].pointer_mut(path).expect("it is there") = number.into();
        println!("{path} is {number}");
        (target.run)(&serde_json::to_vec(&changed).expect("JSON"));
    }
}
