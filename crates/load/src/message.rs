//! What a load thread tells the collector.

use crate::io_log::chunk::{Chunk, Missed};
use crate::part::Part;
use std::io;
use stend_base::histogram::Histogram;
use stend_base::{Error, Nanos};
use stend_record::observed::Submissions;
use stend_sys::affinity::{CpusSeen, ThreadTimes};

/// What a load thread tells the collector.
#[derive(Debug)]
pub(crate) enum Message {
    /// Set up: whether file and buffers are registered, or why it failed.
    Ready(Result<bool, Box<Error>>),
    /// Counters of intervals that are over.
    Part(usize, Box<Part>),
    /// Records of the log of every I/O.
    Log(usize, Box<Chunk>),
    /// It issues nothing any more.
    Finished(usize, Finished),
}

/// How a load thread ended.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    /// CPU time and run delay over the window; `None` if the kernel does not tell or no window was seen.
    pub usage: Option<ThreadTimes>,
    /// CPUs on which it was seen at edges of intervals.
    pub cpus: Box<CpusSeen>,
    /// I/O was still in flight when waiting ended.
    pub stalled: bool,
    /// The way of submitting itself broke.
    pub failure: Option<io::Error>,
    /// How late the I/Os of an open loop began.
    pub late: Option<Box<Lateness>>,
    /// Mean time over which the one stamp of a batch was shared; `None`: every I/O has its own.
    pub batch_span: Option<Nanos>,
    /// How its I/Os were given to the kernel; `None`: by a call each that returns when it is complete.
    pub submissions: Option<Submissions>,
    /// I/Os that its log misses; none without a log.
    pub missed: Missed,
}

/// How late the I/Os of an open loop began.
#[derive(Debug)]
pub(crate) struct Lateness {
    /// Delay after they were due, for any reason.
    pub all: Histogram,
    /// After they were due and there was a place for them: by fault of the thread alone.
    pub own: Histogram,
}
