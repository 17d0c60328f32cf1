//! What the engine is asked to do, and where it tells what it sees.

use crate::backend::Lane;
use crate::layout::Job;
use crate::target::Target;
use stend_record::observed::Slice;
use stend_record::{EventKind, IoChunk};
use stend_spec::workload::Trial;

/// What to run, and on what.
pub(crate) struct Task<'a> {
    /// Streams, times and limits.
    pub trial: &'a Trial,
    /// Its jobs.
    pub jobs: &'a [Job],
    /// How to submit.
    pub lane: Lane,
    /// The target.
    pub target: &'a Target,
    /// Failed I/Os that end the load.
    pub fault_limit: u64,
}

/// Where a trial hands over what it knows while it goes on. All are called from the thread that called it, should return
/// soon, and never make the load wait.
pub struct Sinks<'a> {
    /// Takes counters about every 100 ms.
    pub slices: &'a mut dyn FnMut(Vec<Slice>),
    /// Takes the log of every I/O of the window, if the trial keeps one, in pieces of 4096 at most.
    pub log: &'a mut dyn FnMut(IoChunk),
    /// Takes in words what no counter shows.
    pub note: &'a mut dyn FnMut(EventKind),
}
