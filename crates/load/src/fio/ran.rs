//! A trial that fio ran.

use crate::child::Ended;
use crate::layout::Job;
use stend_spec::workload::{Op, Trial};

/// A trial that fio ran.
#[derive(Debug)]
pub(super) struct Ran<'a> {
    /// What was asked for.
    pub trial: &'a Trial,
    /// The jobs, in the order of the sections.
    pub jobs: &'a [Job],
    /// How fio ended.
    pub ended: &'a Ended,
    /// Time between two lines of a log, ms.
    pub hist_ms: u64,
    /// Logs have the times of CLOCK_MONOTONIC.
    pub monotonic: bool,
}

/// Kinds of I/O that a job makes, syncs last.
pub(super) fn kinds(job: &Job) -> impl Iterator<Item = Op> {
    let syncs = job.spec.mix.write > 0 && job.spec.sync.every() > 0;
    job.spec.mix.shares().map(|(op, _)| op).chain(syncs.then_some(Op::Sync))
}
