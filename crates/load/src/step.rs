//! One I/O of a job.

use stend_spec::workload::Op;

/// One I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// What it does.
    pub op: Op,
    /// First byte on the target.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// A write that by itself is complete only when it is durable.
    pub durable: bool,
}
