//! What `stend list` knows of each run file, and its form for machines.

use crate::json::State;
use serde::Serialize;
use stend_base::{Bytes, Error};
use stend_record::RunState;

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

/// One run file.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Name of the file without its extension: what a RUN argument takes.
    pub name: String,
    /// Path of the file.
    pub path: String,
    /// Bytes on disk, those of its log included.
    pub size: Bytes,
    /// What is in it, or why it cannot be read.
    pub run: Result<ListedRun, Box<Error>>,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedRun {
    /// Id.
    pub run: String,
    /// Wall clock at the start, seconds since 1970 UTC.
    pub started_unix: i64,
    /// Name of the suite.
    pub suite: String,
    /// The targets as the user named them; none if the run ended before they were looked at.
    pub targets: Vec<String>,
    /// How far it got.
    pub state: RunState,
    /// A process is at work on it.
    pub going_on: bool,
    /// Cases that ran at least one trial.
    pub cases: u32,
    /// Trials that began.
    pub trials: u32,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    schema_version: u32,
    runs: Vec<ListedOut<'a>>,
}

/// Either what is in a run file, or `error`: why it cannot be read.
#[derive(Serialize)]
struct ListedOut<'a> {
    /// What a RUN argument takes.
    name: &'a str,
    path: &'a str,
    /// On disk, those of its log included.
    size_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_unix_s: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suite: Option<&'a str>,
    /// The targets as the user named them; none if the run ended before they were looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    targets: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<State<'a>>,
    /// A process is at work on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    going_on: Option<bool>,
    /// Cases that ran at least one trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    cases: Option<u32>,
    /// Trials that began.
    #[serde(skip_serializing_if = "Option::is_none")]
    trials: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Error>,
}

/// The list as JSON, indented, with a line feed at the end.
pub fn list_json(runs: &[Listed]) -> String {
    let runs = runs.iter().map(entry).collect();
    crate::json::pretty(&Document { schema: "stend-list", schema_version: SCHEMA_VERSION, runs })
}

fn entry(listed: &Listed) -> ListedOut<'_> {
    let run = listed.run.as_ref().ok();
    ListedOut {
        name: &listed.name,
        path: &listed.path,
        size_bytes: listed.size.0,
        run: run.map(|run| run.run.as_str()),
        started_unix_s: run.map(|run| run.started_unix),
        suite: run.map(|run| run.suite.as_str()),
        targets: run.map(|run| run.targets.as_slice()),
        state: run.map(|run| crate::json::state(&run.state)),
        going_on: run.map(|run| run.going_on),
        cases: run.map(|run| run.cases),
        trials: run.map(|run| run.trials),
        error: listed.run.as_ref().err().map(|error| &**error),
    }
}
