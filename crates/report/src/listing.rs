//! What `stend list` knows of each run file, and its form for machines.

use serde_json::json;
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
    /// The target as the user named it; empty if the run ended before it was looked at.
    pub target: String,
    /// How far it got.
    pub state: RunState,
    /// A process is at work on it.
    pub going_on: bool,
    /// Cases that ran at least one trial.
    pub cases: u32,
    /// Trials that began.
    pub trials: u32,
}

/// The list as JSON, indented, with a line feed at the end.
pub fn list_json(runs: &[Listed]) -> String {
    let entry = |listed: &Listed| match &listed.run {
        Ok(run) => json!({"name": listed.name, "path": listed.path, "size_bytes": listed.size, "run": run.run,
            "started_unix_s": run.started_unix, "suite": run.suite, "target": run.target,
            "state": crate::json::state(&run.state), "going_on": run.going_on, "cases": run.cases, "trials": run.trials}),
        Err(error) => json!({"name": listed.name, "path": listed.path, "size_bytes": listed.size, "error": error}),
    };
    let runs: Vec<_> = runs.iter().map(entry).collect();
    let document = json!({"schema": "stend-list", "schema_version": SCHEMA_VERSION, "runs": runs});
    format!("{document:#}\n")
}
