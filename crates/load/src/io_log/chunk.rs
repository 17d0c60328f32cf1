//! Memory for records of a thread, and how many it had no memory for.

/// Records of a chunk: 64 KiB, far more than the cost of handing it over, and a part of a second-level cache.
pub(super) const CHUNK_RECORDS: usize = 4096;

/// Records of one thread, in the order in which it saw the I/Os end.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(super) base: u64,
    pub(super) len: usize,
    pub(super) records: Box<[[u64; 2]]>,
}

impl Chunk {
    /// An empty one.
    pub(super) fn new() -> Chunk {
        // Ones, not zeros: memory of zeros is mapped when it is first written to, which would be inside the window.
        Chunk { base: 0, len: 0, records: vec![[1; 2]; CHUNK_RECORDS].into_boxed_slice() }
    }

    /// Makes it empty.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}

/// I/Os of a thread that were not recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Missed {
    /// No chunk was empty.
    pub dropped: u64,
    /// The size of the log was used up.
    pub beyond: u64,
}
