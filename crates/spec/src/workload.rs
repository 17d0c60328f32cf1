//! What load to make, without a word about how: the concrete form that the load engine executes.
//!
//! Everything here is already checked and expanded (no axes left); `suite` holds what users write.

pub use crate::pattern::{Pattern, Zone};
use crate::rate::Rate;
use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Nanos};

/// One execution of one case: the unit of replication.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// Streams that run at the same time.
    pub streams: Vec<Stream>,
    /// Load time before the window whose completions are not counted.
    pub ramp: Nanos,
    /// Length of the measuring window.
    pub window: Nanos,
    /// How long I/O still in flight at the end may take before it is recorded as censored.
    pub drain_limit: Nanos,
    /// Seed of offsets, operation order and start positions; recorded with the trial.
    pub seed: u64,
    /// Bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// How I/O is submitted.
    pub backend: Backend,
    /// Range of the target that the trial may touch, from `start`; aligned to 4 KiB.
    pub region: Region,
}

/// A range of bytes on the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// First byte.
    pub start: Bytes,
    /// Length.
    pub len: Bytes,
}

/// A homogeneous part of a workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// Reads, writes or a mix.
    pub mix: Mix,
    /// Order of offsets.
    pub pattern: Pattern,
    /// Bytes per I/O; of a mixture the largest.
    pub block_size: Bytes,
    /// Shares of the I/Os by size, ascending by size, each a multiple of the first; they add up to 100. Empty:
    /// every I/O has `block_size`.
    pub block_mix: Vec<BlockShare>,
    /// I/Os in flight per job (fio: `iodepth`); in an open loop the most there may be.
    pub queue_depth: u32,
    /// Independent load threads, each with a region of its own (fio: `numjobs`).
    pub jobs: u32,
    /// When written data must be durable.
    pub sync: Sync,
    /// What is written.
    pub data: Data,
    /// Open loop: when I/Os are due, whether those before them are done or not. `None`: closed loop, the next
    /// one begins when one ends.
    pub rate: Option<Rate>,
    /// Whether and when what was written is compared with what is read. `None`: never.
    pub verify: Option<Verify>,
}

/// When data are compared with what was written. Reads of the stream always are; a stream that verifies writes, has one
/// block size and data of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    /// After the window, every block that was written is read once more.
    pub after: bool,
}

/// One size of a mixture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockShare {
    /// Bytes per I/O.
    pub size: Bytes,
    /// Share of the I/Os in percent, at least 1.
    pub percent: u8,
}

impl Stream {
    /// Sizes with their shares in percent: one with all, unless there is a mixture.
    pub fn sizes(&self) -> impl Iterator<Item = BlockShare> + '_ {
        let all = BlockShare { size: self.block_size, percent: 100 };
        self.block_mix.iter().copied().chain(self.block_mix.is_empty().then_some(all))
    }

    /// Bytes of the smallest I/O.
    pub fn block_size_min(&self) -> Bytes {
        self.sizes().map(|share| share.size).min().unwrap_or(self.block_size)
    }
}

/// What is written: how far it can be reduced. By default not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data {
    /// Bytes over bytes after compression, in thousandths, 1000 to 100,000; in every 4 KiB.
    pub compress_thousandths: u32,
    /// Blocks of 4 KiB over distinct ones, in thousandths, 1000 to 100,000.
    pub dedup_thousandths: u32,
}

impl Default for Data {
    fn default() -> Data {
        Data { compress_thousandths: 1000, dedup_thousandths: 1000 }
    }
}

/// Share of reads by operations, in percent; the rest are writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mix {
    /// 100 = only reads, 0 = only writes.
    pub read_percent: u8,
}

impl Mix {
    /// Whether any operation writes.
    pub fn writes(self) -> bool {
        self.read_percent < 100
    }

    /// Whether any operation reads.
    pub fn reads(self) -> bool {
        self.read_percent > 0
    }
}

/// When written data must have reached stable storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sync {
    /// The target may keep writes in volatile caches.
    None,
    /// `fdatasync` after every `n` writes of a job. With `n` = 1 a write counts as complete, and its
    /// latency ends, when its sync does.
    Fdatasync(u32),
    /// `fsync` after every `n` writes of a job; as above.
    Fsync(u32),
}

/// How I/O is submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// The best that probing finds; the choice and its reason are recorded.
    Auto,
    /// `io_uring`, or an error.
    IoUring,
    /// Linux AIO (`io_submit`), or an error; only with direct I/O, because the kernel makes any other
    /// inside the call.
    Libaio,
    /// `pread`/`pwrite`, one thread per I/O in flight.
    Psync,
}

/// Operation kinds that are counted and timed apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// A read.
    Read,
    /// A write; with a sync after every write, including that sync.
    Write,
    /// An `fsync` or `fdatasync` alone.
    Sync,
}

impl Op {
    /// All kinds, in the order of their index.
    pub const ALL: [Op; 3] = [Op::Read, Op::Write, Op::Sync];

    /// Position in [`Op::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

impl Trial {
    /// Whether any stream writes.
    pub fn writes(&self) -> bool {
        self.streams.iter().any(|s| s.mix.writes())
    }

    /// Longest time that reading back after the window may take: nothing, unless a stream asks for it; else a minute
    /// and a second for every 8 MiB of the region, which a slow drive in good health needs for whole tracks.
    pub fn read_back_limit(&self) -> Nanos {
        let asked = self.streams.iter().any(|stream| stream.verify.is_some_and(|verify| verify.after));
        if asked { Nanos::secs(60 + self.region.len.0 / Bytes::mib(8).0) } else { Nanos(0) }
    }

    /// I/Os in flight that the trial asks for, over all streams and jobs.
    pub fn in_flight(&self) -> u64 {
        self.streams.iter().map(|s| u64::from(s.queue_depth) * u64::from(s.jobs)).sum()
    }
}
