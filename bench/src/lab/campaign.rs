//! The six tests on every stand, one after the other.

use super::{MACHINE, Place};
use crate::Outcome;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What the others are relative to.
pub const BASELINE: &str = "single";
/// Stands that are no layout of soft RAID: the memory of a server answers reads.
const BESIDE: [&str; 1] = ["stands/nfs.yaml"];

/// Stands whose ratios follow from arithmetic.
const RATIOS: [&str; 3] = [BASELINE, "md-raid0", "md-raid10"];
/// What is measured for these ratios: the same cases, several trials of each.
const REPEATED: &str = "lab/suites/raid-ratios.yaml";

/// A case of one stand.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// I/Os per second.
    pub iops: f64,
    /// Checks that failed.
    pub failed: Vec<String>,
}

/// By stand and case.
pub type Rates = BTreeMap<(String, String), Found>;

/// What came out.
pub struct Campaign {
    /// By stand and case.
    pub found: Rates,
    /// The same of the stands whose ratios are claimed, each the mean of several trials.
    pub repeated: Rates,
    /// How many stands there are.
    pub stands: usize,
    /// All of it, building and taking down included.
    pub took: Duration,
    /// The table, as Markdown.
    pub table: String,
}

/// Measures all of them with one command, and those with a claim to a ratio once more.
pub fn measure(place: &Place) -> Outcome<Campaign> {
    let stands = stands(place)?;
    let began = Instant::now();
    let runs = visit(place, "lab/suites/soft-raid.yaml", &stands)?;
    let took = began.elapsed();
    let mut words = vec!["compare"];
    words.extend(runs.iter().map(String::as_str));
    words.extend(["--markdown", "-"]);
    let markdown = place.output(&words)?;
    let table: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
    let ratios = RATIOS.map(|name| format!("stands/soft-raid/{name}.yaml"));
    let repeated = rates(place, &visit(place, REPEATED, &ratios)?)?;
    Ok(Campaign { found: rates(place, &runs)?, repeated, stands: stands.len(), took, table: table.join("\n") })
}

/// Runs a suite on stands, and returns the run files, one for each.
fn visit(place: &Place, suite: &str, stands: &[String]) -> Outcome<Vec<String>> {
    let before = runs(place).unwrap_or_default();
    let mut words = vec!["run".to_string(), suite.into(), "--lab".into(), MACHINE.into()];
    words.extend(stands.iter().flat_map(|stand| ["--stand".into(), stand.clone()]));
    words.extend(["--progress".into(), "none".into(), "--json".into()]);
    place.output(&words.iter().map(String::as_str).collect::<Vec<_>>())?;
    let made: Vec<String> = runs(place)?.into_iter().filter(|run| !before.contains(run)).collect();
    match made.len() == stands.len() {
        true => Ok(made),
        false => Err(format!("{} stands, but {} runs", stands.len(), made.len())),
    }
}

fn rates(place: &Place, runs: &[String]) -> Outcome<Rates> {
    let mut found = Rates::new();
    for run in runs {
        let document = place.output(&["show", run, "--json"])?;
        let document: Value = serde_json::from_str(&document).map_err(|e| format!("`show {run} --json`: {e}"))?;
        read(&document, &mut found).ok_or_else(|| format!("`show {run} --json` lacks a stand, or rates of cases"))?;
    }
    Ok(found)
}

/// The stand files, the baseline first.
fn stands(place: &Place) -> Outcome<Vec<String>> {
    let folder = place.root.join("stands/soft-raid");
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("cannot read `{}`: {e}", folder.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut files: Vec<String> = names.map(|name| format!("stands/soft-raid/{name}")).collect();
    files.sort_by_key(|file| (!file.ends_with(&format!("/{BASELINE}.yaml")), file.clone()));
    files.extend(BESIDE.map(String::from));
    Ok(files)
}

/// The run files, in the order in which they were begun.
fn runs(place: &Place) -> Outcome<Vec<String>> {
    let folder = place.directory.join("stend/runs");
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("cannot read `{}`: {e}", folder.display()))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut runs: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|ext| ext == "stend")).collect();
    runs.sort();
    Ok(runs.into_iter().map(|path| path.to_string_lossy().into_owned()).collect())
}

fn read(document: &Value, found: &mut Rates) -> Option<()> {
    let stand = document["stand"].as_str()?;
    for case in document["cases"].as_array()? {
        let failed = case["checks"].as_array()?.iter().filter(|check| check["status"] == "fail");
        let failed = failed.filter_map(|check| check["id"].as_str().map(String::from)).collect();
        let found_here = Found { iops: case["iops"]["value"].as_f64()?, failed };
        found.insert((stand.to_string(), case["label"].as_str()?.to_string()), found_here);
    }
    Some(())
}
