//! What `stend list` knows of each run file, and its form for machines.

use crate::json::State;
use serde::Serialize;
use stend_analyse::Leading;
use stend_analyse::findings::Headline;
use stend_analyse::listed::{Content, Listed};
use stend_base::Error;

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

/// Runs, the newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// Those that are shown.
    pub runs: Vec<Listed>,
    /// How many older ones are not.
    pub left_out: usize,
    /// How many the directory knows, whatever was asked for.
    pub known: usize,
    /// Where the next page begins, for a list that is read in pages.
    pub next: Option<String>,
    /// The directory that knows them.
    pub directory: String,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    schema_version: u32,
    runs: Vec<ListedOut<'a>>,
    /// How many older runs are not here: `--all` shows them, too.
    left_out: usize,
    /// The `cursor` of the next page, in answers of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'a str>,
}

/// The rate of the case that tells most, the mean of its trials.
#[derive(Serialize)]
struct ResultOut<'a> {
    case: &'a str,
    /// Which of both people are shown: `iops` or `throughput`.
    headline: &'static str,
    iops: f64,
    throughput_bytes_per_s: f64,
}

/// What is in a run file; or `error`: why it cannot be read; or `gone`: it was removed or moved.
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
    /// What the user calls the run (`--name`).
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
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
    result: Option<ResultOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Error>,
    /// There is no file at `path` any more, or another run is in it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    gone: bool,
}

/// The list as JSON, indented, with a line feed at the end.
pub fn list_json(listing: &Listing) -> String {
    let runs = listing.runs.iter().map(entry).collect();
    let (left_out, next) = (listing.left_out, listing.next.as_deref());
    crate::json::pretty(&Document { schema: "stend-list", schema_version: SCHEMA_VERSION, runs, left_out, next })
}

fn entry(listed: &Listed) -> ListedOut<'_> {
    let run = listed.run();
    ListedOut {
        name: &listed.name,
        path: &listed.path,
        size_bytes: listed.size.0,
        run: run.map(|run| run.run.as_str()),
        started_unix_s: run.map(|run| run.started_unix),
        label: run.and_then(|run| run.label.as_deref()),
        suite: run.map(|run| run.suite.as_str()),
        targets: run.map(|run| run.targets.as_slice()),
        state: run.map(|run| crate::json::state(&run.state)),
        going_on: run.map(|run| run.going_on),
        cases: run.map(|run| run.cases),
        trials: run.map(|run| run.trials),
        result: run.and_then(|run| run.result.as_ref()).map(result),
        error: if let Content::Unreadable(error) = &listed.content { Some(error) } else { None },
        gone: listed.content == Content::Gone,
    }
}

fn result(found: &Leading) -> ResultOut<'_> {
    ResultOut {
        case: &found.label,
        headline: match found.headline {
            Headline::Iops => "iops",
            Headline::Throughput => "throughput",
        },
        iops: found.total.iops.value,
        throughput_bytes_per_s: found.total.throughput.value,
    }
}
