//! Kinds of operations.

use serde::{Deserialize, Serialize};

/// Operation kinds that are counted and timed apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// A read.
    Read,
    /// A write; with a sync after every write, including that sync.
    Write,
    /// Telling the target that a range is not needed any more. Moves no data; its bytes are those of the range.
    Discard,
    /// Making a range read as zeroes without sending them. Moves no data; its bytes are those of the range.
    WriteZeroes,
    /// An `fsync` or `fdatasync` alone.
    Sync,
}

/// Number of kinds of operations.
pub const OPS: usize = 5;

impl Op {
    /// All kinds, in the order of their index.
    pub const ALL: [Op; OPS] = [Op::Read, Op::Write, Op::Discard, Op::WriteZeroes, Op::Sync];

    /// What a mix is made of: all kinds but the syncs that follow writes.
    pub const IO: [Op; 4] = [Op::Read, Op::Write, Op::Discard, Op::WriteZeroes];

    /// Those that move data.
    pub const TRANSFERS: [Op; 2] = [Op::Read, Op::Write];

    /// Position in [`Op::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}
