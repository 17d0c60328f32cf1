//! Values that were read beside the load where no worker of ours ran: which sources were asked, and what they answered. Data only.

use serde::{Deserialize, Serialize};
use stend_base::{Nanos, Say};

/// A source that is asked while a run goes on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SourceInfo {
    /// As the user calls it.
    pub name: String,
    /// How it is asked.
    pub way: SourceWay,
    /// Where: a program, a host, an address without its query. Nothing that could be secret.
    pub place: String,
    /// Time from one question to the next.
    pub every: Nanos,
    /// How long an answer may take.
    pub limit: Nanos,
    /// What is taken from each answer.
    pub values: Vec<SourceValueInfo>,
}

/// How a source is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceWay {
    /// By a program of the coordinator's machine.
    #[default]
    Command,
    /// By a command over `ssh`.
    Ssh,
    /// By `curl`.
    Http,
    /// By `snmpget`.
    Snmp,
}

/// A value of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SourceValueInfo {
    /// As the user calls it.
    pub name: String,
    /// Its unit, of a counter that of its rate.
    pub unit: String,
    /// What it means, in the words of the user.
    pub meaning: String,
    /// It counts up for ever, and its rate per second is asked for.
    pub counter: bool,
    /// Numbers are multiplied by this.
    pub multiply: u32,
    /// And divided by this.
    pub divide: u32,
}

/// An answer, or that there was none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceReading {
    /// When it was asked for, on the axis of the run.
    pub asked: Nanos,
    /// How long it took, ns; of one that came too late how long was waited.
    pub took_ns: u64,
    /// What came.
    pub answer: SourceAnswer,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceAnswer {
    /// Numbers as they were printed, in the order of the values of the source; `None`: the answer has no number for it.
    Values(Vec<Option<String>>),
    /// None within the limit.
    Late,
    /// The question failed.
    Failed {
        /// Why.
        why: Say,
    },
}

/// A source with its answers, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SourceRecord {
    /// What is known of it.
    pub info: SourceInfo,
    /// Its answers.
    pub readings: Vec<SourceReading>,
}
