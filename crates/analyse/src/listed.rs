//! What a list of runs knows of each, without the run itself. Must not know who keeps the list or draws it.

use crate::Leading;
use stend_base::{Bytes, Error};
use stend_record::RunState;

/// One run file.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Name of the file without its extension: what a RUN argument takes.
    pub name: String,
    /// Path of the file; of a run that was made elsewhere, where it lies.
    pub path: String,
    /// Bytes on disk, those of its log included.
    pub size: Bytes,
    /// What is in it.
    pub content: Content,
}

/// What a run file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A run.
    Run(Box<ListedRun>),
    /// It cannot be read, and why.
    Unreadable(Box<Error>),
    /// The file lay elsewhere and was removed or moved, or holds another run by now.
    Gone,
}

impl Listed {
    /// The run, if it can be read.
    pub fn run(&self) -> Option<&ListedRun> {
        match &self.content {
            Content::Run(run) => Some(run),
            Content::Unreadable(_) | Content::Gone => None,
        }
    }
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedRun {
    /// Id.
    pub run: String,
    /// Wall clock at the start, seconds since 1970 UTC.
    pub started_unix: i64,
    /// What the user calls it.
    pub label: Option<String>,
    /// Name of the suite.
    pub suite: String,
    /// It is a recording: a host was watched, nothing was measured.
    pub recording: bool,
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
    /// The number that stands for it; none if no trial counts.
    pub result: Option<Leading>,
}
