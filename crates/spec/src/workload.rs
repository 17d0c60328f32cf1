//! What load to make, without a word about how: the concrete form that the load engine executes.
//!
//! Everything here is already checked and expanded (no axes left); `suite` holds what users write.

use crate::app::App;
pub use crate::op::{OPS, Op};
pub use crate::pattern::{Pattern, Zone};
use crate::prober::{NoProber, Prober, Probing};
use crate::rate::Rate;
pub use crate::region::Region;
use crate::topology::Affinity;
use crate::trace::{Pace, Replay};
use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Nanos};

/// One execution of one case: the unit of replication.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// An application is the load; then there are no streams.
    pub app: Option<App>,
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
    /// What the buffers of its I/Os lie in.
    pub pages: Pages,
    /// How I/O is submitted.
    pub backend: Backend,
    /// What makes the I/O.
    pub engine: Engine,
    /// Bytes of records that a log of every I/O of the window may take; `None`: there is no log.
    pub io_log: Option<Bytes>,
    /// Range of the target that the trial may touch, from `start`; aligned to 4 KiB.
    pub region: Region,
    /// Single I/Os beside the streams.
    pub probing: Probing,
    /// Equal parts of the region, in each of which every stream has as many of its jobs: the shares of several targets. 1: the
    /// jobs are laid out over all of it.
    pub parts: u32,
    /// How many of several load hosts make it, the first ones; `None`: all.
    #[serde(default)]
    pub load_hosts: Option<u32>,
}

/// A homogeneous part of a workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// What its I/Os do.
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
    /// What its jobs share of the range, or where that has several parts ([`Trial::parts`]) those of each part share of it: told for the
    /// first, see [`Trial::in_part`]. `None`: the jobs of all streams that have none share all of it equally.
    pub region: Option<Region>,
    /// Rests of a closed loop.
    pub think: Option<Think>,
    /// What is done for several I/Os of a closed loop together.
    pub batch: Batch,
    /// How its I/Os are given to the kernel.
    pub submit: Submit,
    /// CPUs of its threads and node of its buffers.
    pub place: Affinity,
    /// The trace that says what its I/Os do, where and when; then `mix` is what the trace holds, in whole percent, and
    /// `block_size` that of the largest transfer, in whole sectors.
    pub replay: Option<Replay>,
}

/// What is done for several I/Os together: nothing, by default. More costs less CPU time, and latencies then include waiting
/// for the others of the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Completions that are waited for before the next I/Os begin, 1 to the queue depth.
    pub size: u32,
    /// The clock is read once for all I/Os that begin together, not for each.
    pub one_stamp: bool,
}

impl Batch {
    /// Whether anything is done together.
    pub fn is_any(self) -> bool {
        self != Batch::default()
    }
}

impl Default for Batch {
    fn default() -> Batch {
        Batch { size: 1, one_stamp: false }
    }
}

/// How I/Os that begin are given to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Submit {
    /// Each by itself, unless the thread is what limits the load: then those that begin together.
    #[default]
    Auto,
    /// Each by itself, as soon as it is due.
    Each,
    /// Those that begin together by one call, after the last of them.
    Batch,
}

/// When the places in flight of a closed loop rest. Each is a user of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Think {
    /// How long, from the end of its last I/O; 1 µs to 1 h.
    pub time: Nanos,
    /// After this many I/Os, 1 to 1,000,000.
    pub every: u32,
}

/// When data are compared with what was written. Reads of the stream always are; a stream that verifies writes, has one
/// block size and data of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    /// After the window, every block that was written is read once more.
    pub after: bool,
    /// What was sent and acknowledged is kept in a ledger, so that it can be judged after a crash; then each write is durable
    /// when it is acknowledged.
    pub crash: bool,
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
    /// Such I/Os with every other setting as a suite has it by default: a closed loop of one job at depth 1.
    pub fn new(mix: Mix, pattern: Pattern, block_size: Bytes) -> Stream {
        Stream {
            mix,
            pattern,
            block_size,
            block_mix: Vec::new(),
            queue_depth: 1,
            jobs: 1,
            sync: Sync::None,
            data: Data::default(),
            rate: None,
            verify: None,
            region: None,
            think: None,
            batch: Batch::default(),
            submit: Submit::default(),
            place: Affinity::default(),
            replay: None,
        }
    }

    /// Whether its I/Os begin when they are due, and not when others end.
    pub fn is_open(&self) -> bool {
        self.rate.is_some() || self.replay.is_some_and(|replay| replay.pace != Pace::Asap)
    }

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

/// Shares of what I/Os do, by their number, in percent; they add up to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mix {
    /// Reads.
    pub read: u8,
    /// Writes of data.
    pub write: u8,
    /// Discards.
    pub discard: u8,
    /// Writes of zeroes without data.
    pub write_zeroes: u8,
}

impl Mix {
    /// This share of reads (at most 100), the rest writes.
    pub const fn of_reads(percent: u8) -> Mix {
        Mix { read: percent, write: 100u8.saturating_sub(percent), discard: 0, write_zeroes: 0 }
    }

    /// Nothing but one kind of I/O.
    pub const fn only(op: Op) -> Mix {
        let none = Mix { read: 0, write: 0, discard: 0, write_zeroes: 0 };
        match op {
            Op::Read => Mix { read: 100, ..none },
            Op::Discard => Mix { discard: 100, ..none },
            Op::WriteZeroes => Mix { write_zeroes: 100, ..none },
            Op::Write | Op::Sync => Mix { write: 100, ..none },
        }
    }

    /// Share of one kind; a sync follows writes and has none of its own.
    pub const fn share(self, op: Op) -> u8 {
        match op {
            Op::Read => self.read,
            Op::Write => self.write,
            Op::Discard => self.discard,
            Op::WriteZeroes => self.write_zeroes,
            Op::Sync => 0,
        }
    }

    /// Kinds of I/O with their shares, without those that do not occur.
    pub fn shares(self) -> impl Iterator<Item = (Op, u8)> {
        Op::IO.into_iter().map(move |op| (op, self.share(op))).filter(|(_, share)| *share > 0)
    }

    /// Whether any I/O changes what is on the target: for everything that protects data a discard is a write.
    pub fn writes(self) -> bool {
        self.write > 0 || self.erases()
    }

    /// Whether any I/O reads.
    pub fn reads(self) -> bool {
        self.read > 0
    }

    /// Whether any I/O takes data away without bringing others: discards and writes of zeroes.
    pub fn erases(self) -> bool {
        self.discard > 0 || self.write_zeroes > 0
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
    /// Each write says for itself that it is complete only when it is durable (`RWF_DSYNC`).
    Dsync,
    /// The target is open so that this holds for every write (`O_DSYNC`).
    ODsync,
    /// `sync_file_range` over the job's area after every `n` writes: what is in the page cache has been written, but
    /// neither has the target's cache been emptied nor is what finds the data durable. With `n` = 1 as above.
    SyncFileRange(u32),
}

impl Sync {
    /// A call of its own follows this many writes; 0 if none does.
    pub fn every(self) -> u32 {
        match self {
            Sync::None | Sync::Dsync | Sync::ODsync => 0,
            Sync::Fdatasync(n) | Sync::Fsync(n) | Sync::SyncFileRange(n) => n,
        }
    }

    /// Whether each write is durable when it is complete.
    pub fn is_durable_each(self) -> bool {
        matches!(self, Sync::Dsync | Sync::ODsync | Sync::Fdatasync(1) | Sync::Fsync(1))
    }

    /// Whether it makes writes durable, at once or after some more.
    pub fn is_durable(self) -> bool {
        !matches!(self, Sync::None | Sync::SyncFileRange(_))
    }
}

/// How I/O is submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// The best that probing finds; the choice and its reason are recorded.
    Auto,
    /// `io_uring`, or an error.
    IoUring,
    /// `io_uring` for which a kernel thread per job takes what is submitted, or an error.
    IoUringSqpoll,
    /// `io_uring` that asks the device whether I/Os are complete, or an error; only with direct I/O that needs no syncs.
    IoUringIopoll,
    /// NVMe commands through `io_uring`, past the block layer, or an error; only direct reads and writes of a whole
    /// namespace.
    NvmePassthrough,
    /// Linux AIO (`io_submit`), or an error; only with direct I/O, because the kernel makes any other
    /// inside the call.
    Libaio,
    /// `pread`/`pwrite`, one thread per I/O in flight.
    Psync,
    /// No I/O at all: what is left is the cost of the engine. Never chosen by `Auto`.
    Null,
}

/// What makes the I/O of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Our own engine.
    #[default]
    Native,
    /// The fio that is installed on the host; what it means by a workload is in [`crate::external`].
    Fio,
    /// Another program, of which only the results were imported. No suite can ask for it.
    Other,
}

/// The memory that data are written from and read into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pages {
    /// Pages of 4 KiB, as most applications have: each is a segment of its own in a request, and devices take a limited number.
    #[default]
    Ordinary,
    /// Transparent huge pages of 2 MiB where the kernel has them: an I/O is one segment.
    Huge,
}

impl Trial {
    /// Direct I/O by the best backend for so long, from the start of a region, without a ramp.
    pub fn new(streams: Vec<Stream>, window: Nanos, region: Region) -> Trial {
        Trial {
            app: None,
            streams,
            ramp: Nanos(0),
            window,
            drain_limit: Nanos::secs(30),
            seed: 1,
            direct: true,
            pages: Pages::Ordinary,
            backend: Backend::Auto,
            engine: Engine::Native,
            io_log: None,
            region,
            probing: Probing::None(NoProber::Off),
            parts: 1,
            load_hosts: None,
        }
    }

    /// Whether any stream changes what is on the target.
    pub fn writes(&self) -> bool {
        self.app.is_some() || self.streams.iter().any(|s| s.mix.writes())
    }

    /// Longest time that reading back after the window may take: nothing, unless a stream asks for it; else a minute
    /// and a second for every 8 MiB of the region, which a slow drive in good health needs for whole tracks, or twice the time
    /// of the load if that is longer: small blocks with few in flight take as long to read as to write, and writes may have been
    /// cached.
    pub fn read_back_limit(&self) -> Nanos {
        if !self.streams.iter().any(|stream| stream.verify.is_some_and(|verify| verify.after)) {
            return Nanos(0);
        }
        let load = self.ramp + self.window;
        Nanos::secs(60 + self.region.len.0 / Bytes::mib(8).0).max(load + load)
    }

    /// Whether any stream discards or writes zeroes.
    pub fn erases(&self) -> bool {
        self.streams.iter().any(|s| s.mix.erases())
    }

    /// I/Os in flight that the trial asks for, over all streams and jobs.
    pub fn in_flight(&self) -> u64 {
        self.streams.iter().map(|s| u64::from(s.queue_depth) * u64::from(s.jobs)).sum()
    }

    /// A stream's region in one of the parts of the trial's range, counted from 0: at the same place as in the first.
    pub fn in_part(&self, region: Region, index: u64) -> Region {
        let part = self.region.part(self.parts, index);
        Region { start: Bytes(region.start.0.saturating_add(part.start.0 - self.region.start.0)), ..region }
    }

    /// The part of the trial's region that its streams share: all but what is reserved for durable probes.
    pub fn free_region(&self) -> Region {
        match self.probing {
            Probing::By(Prober { op: Op::Write, region, .. }) => {
                Region { len: Bytes(self.region.len.0.saturating_sub(region.len.0)), ..self.region }
            }
            _ => self.region,
        }
    }

    /// The prober, if it has one.
    pub fn prober(&self) -> Option<&Prober> {
        match &self.probing {
            Probing::By(prober) => Some(prober),
            Probing::None(_) => None,
        }
    }

    /// Longest time that a trial of an application takes besides its load: making data, starting and stopping.
    pub fn set_up_limit(&self) -> Nanos {
        self.app.map_or(Nanos(0), |app| app.set_up_limit(self.ramp + self.window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_back_has_time_for_as_many_blocks_as_the_load_could_write() {
        let limit = |after, minutes: u64| {
            let verify = Some(Verify { after, crash: false });
            let stream = Stream { verify, ..Stream::new(Mix::of_reads(50), Pattern::Random, Bytes::kib(4)) };
            let region = Region { start: Bytes(0), len: Bytes::gib(1) };
            Trial { ramp: Nanos::secs(10), ..Trial::new(vec![stream], Nanos::secs(60 * minutes), region) }
                .read_back_limit()
        };
        assert_eq!(limit(true, 1), Nanos::secs(188), "by the size of the region");
        assert_eq!(limit(true, 60), Nanos::secs(2 * 3610), "by the time of the load");
        assert_eq!(limit(false, 60), Nanos(0));
    }
}
