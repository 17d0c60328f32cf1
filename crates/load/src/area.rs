//! The part of a target that a job works on.

/// The blocks a job works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    /// Byte offset of the first block on the target.
    pub start: u64,
    /// Number of blocks of the job's (largest) block size, at least 1.
    pub blocks: u64,
}
