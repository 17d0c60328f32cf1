//! What sources beside the load answered. Data only.

use serde::{Deserialize, Serialize};
use stend_base::{Nanos, Say};
use stend_record::SourceWay;

/// A source that was asked while the run went on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceFinding {
    /// As the user calls it.
    pub name: String,
    /// How it was asked.
    pub way: SourceWay,
    /// Where.
    pub place: String,
    /// Time from one question to the next.
    pub every: Nanos,
    /// How often it was asked.
    pub asked: u32,
    /// Answers that were not there within the limit.
    pub late: u32,
    /// Questions that failed.
    pub failed: u32,
    /// Why the first of them did.
    pub why: Option<Say>,
    /// How long an answer took: the median, and the longest.
    pub took: Option<(Nanos, Nanos)>,
    /// What was taken from the answers.
    pub values: Vec<SourceValueFinding>,
}

/// A value of a source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceValueFinding {
    /// As the user calls it.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// What it means.
    pub meaning: String,
    /// It is the rate of a counter.
    pub counter: bool,
    /// Answers that had no number for it.
    pub missing: u32,
    /// Over the measuring windows of all trials that count; `None`: no answer fell into one.
    pub measured: Option<Spread>,
    /// The same by case, of cases with an answer.
    pub cases: Vec<(u32, Spread)>,
}

/// Mean, least and most of so many values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Mean of the answers.
    pub mean: f64,
    /// Least of them.
    pub least: f64,
    /// Most of them.
    pub most: f64,
    /// How many there are.
    pub count: u32,
}
