//! What is kept of a run that another tool made: where it came from, and its own numbers as they were printed. No judgement.

use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Say};
use stend_spec::workload::Op;

/// Where an imported run came from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Imported {
    /// The tool that measured: `fio`.
    pub tool: String,
    /// The files, in the order in which they were named.
    pub files: Vec<SourceFile>,
    /// What the tool was pointed at, as its options name it; empty if they do not.
    pub targets: Vec<String>,
    /// Documents of which a later one holds everything (fio: `--status-interval`).
    pub snapshots: u32,
    /// What of the files is not in the run, with file and line; empty: nothing is missing.
    pub dropped: Vec<Say>,
}

/// One file of another tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its name, as it was given.
    pub name: String,
    /// Its length.
    pub size: Bytes,
    /// What the tool calls itself in it, e.g. `fio-3.33`; several are joined.
    pub version: String,
}

/// What another tool printed of one trial.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolOutput {
    /// Index of the file in [`Imported::files`].
    pub file: u32,
    /// Line of the file at which the document begins, from 1.
    pub line: u32,
    /// The tool held the load back (a rate, or rests), so that a queue that is not full says nothing.
    pub paced: bool,
    /// The queue depth is printed, or follows from a default of the tool.
    pub depth_known: bool,
    /// Sizes of the I/Os are printed, or follow from a default of the tool.
    pub sizes_known: bool,
    /// By job and kind of I/O.
    pub ops: Vec<ToolOp>,
}

/// One kind of I/O of one job, as another tool printed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOp {
    /// Index of the stream in the trial.
    pub stream: u16,
    /// Index of the job in the stream.
    pub job: u32,
    /// Kind of I/O.
    pub op: Op,
    /// Which latency is in the histogram and the percentiles: Kind of latency in the histogram and the percentiles:
    pub latency: String,
    /// I/Os that this latency is of.
    pub count: u64,
    /// Sum of that latency, ns, as mean and count give it.
    pub sum_ns: u128,
    /// Smallest, ns.
    pub min_ns: u64,
    /// Largest, ns.
    pub max_ns: u64,
    /// Sum of the times from before the submission to the end, ns; `None` if that is not told.
    pub occupied_ns: Option<u128>,
    /// There is a histogram of it (in the totals of the job), so that trials can be merged.
    pub mergeable: bool,
    /// Percentiles as printed: share in millionths, and ns. They cannot be merged or averaged.
    pub percentiles: Vec<(u32, u64)>,
    /// Every number of it, as it was printed.
    pub numbers: Vec<ToolNumber>,
}

/// A number as another tool printed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolNumber {
    /// Its name in the source, levels joined by dots, e.g. `clat_ns.percentile.99.000000`.
    pub name: String,
    /// Unit as the tool defines it; empty for counts and for what is not known.
    pub unit: String,
    /// The number, digit by digit.
    pub printed: String,
}
