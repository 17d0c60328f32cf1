//! A run in short, as a page of many runs shows it. Must not compute it.

use serde::Serialize;
use stend_base::Say;

/// What was found in a run, without its numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// `stend-summary`.
    pub schema: &'static str,
    /// Raised when a field changes its meaning or goes away; new fields do not raise it.
    pub schema_version: u32,
    /// Id of the run.
    pub run: String,
    /// What was found, or why nothing was, in one sentence.
    pub headline: Say,
    /// The run in a few sentences: the headline, and what it means for the numbers.
    pub verdict: Say,
    /// Whether every check that applies holds, so that the numbers may be published.
    pub publishable: bool,
    /// Cases that ran at least one trial.
    pub cases: usize,
    /// Cases whose numbers stand out, four at most: `case` of the result.
    pub telling: Vec<u32>,
    /// Checks that hold, of all cases together.
    pub checks_passed: usize,
    /// Checks that warn, each once, in however many cases.
    pub checks_warned: usize,
    /// Checks that failed, each once.
    pub checks_failed: usize,
    /// Reasons to doubt the whole run.
    pub caveats: usize,
}
