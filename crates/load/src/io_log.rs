//! The log of every I/O on its way from the load threads to the recorder: a few chunks of memory per thread, which
//! travel full to the collector and empty back. Must not wait, allocate or lock on a load thread.

pub(crate) mod chunk;

use crate::message::Message;
use crate::shared::Shared;
use chunk::CHUNK_RECORDS;
pub(crate) use chunk::{Chunk, Missed};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use stend_base::{Bytes, Nanos};
use stend_record::io_log::{END_MAX, IoChunk, IoLogTotals, Logged, PLACES_MAX, RECORD_BYTES, Records};
use stend_spec::workload::{Op, Stream};

/// Chunks of all threads together, as far as each has [`CHUNKS_MIN`] and at most [`CHUNKS_MAX`]: 64 MiB.
const CHUNKS: usize = 1024;
/// One fills while others are under way.
const CHUNKS_MIN: usize = 4;
/// 16 MiB, a million I/Os: 30 ms of the fastest thread that there is, a second of a fast drive.
const CHUNKS_MAX: usize = 256;
/// A thread without a chunk looks for one once in so many I/Os.
const LOOK_EVERY: u64 = 64;

/// Chunks of each of so many threads.
pub(crate) fn chunks_per_thread(threads: usize) -> usize {
    (CHUNKS / threads.max(1)).clamp(CHUNKS_MIN, CHUNKS_MAX)
}

/// Memory of the chunks of so many threads, bytes.
pub(crate) fn memory(threads: u64) -> u64 {
    threads * (chunks_per_thread(threads as usize) * CHUNK_RECORDS * RECORD_BYTES) as u64
}

/// An I/O that came back, or a sync.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    /// What it was.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Bytes; none of a sync.
    pub len: u32,
    /// When it came back.
    pub now: Nanos,
}

/// What a load thread holds of its log.
#[derive(Debug)]
pub(crate) struct Log {
    thread: usize,
    shared: Arc<Shared>,
    /// Sizes of the I/Os of its stream.
    sizes: Box<[u32]>,
    current: Option<Box<Chunk>>,
    spare: Receiver<Box<Chunk>>,
    out: SyncSender<Message>,
    missed: Missed,
}

impl Log {
    /// The log of one of `threads` threads, which has the I/Os of `stream`, and the way by which emptied chunks come back.
    pub fn new(
        (thread, threads): (usize, usize),
        stream: &Stream,
        shared: Arc<Shared>,
        out: SyncSender<Message>,
    ) -> (Log, SyncSender<Box<Chunk>>) {
        let count = chunks_per_thread(threads);
        let (give_back, spare) = sync_channel(count);
        for _ in 1..count {
            // Cannot fail: the channel is empty and has room for all.
            let _ = give_back.try_send(Box::new(Chunk::new()));
        }
        let sizes = stream.sizes().map(|share| share.size.0 as u32).collect();
        let current = Some(Box::new(Chunk::new()));
        (Log { thread, shared, sizes, current, spare, out, missed: Missed::default() }, give_back)
    }

    /// Records an I/O. A call, so that a thread without a log pays for a comparison and nothing else.
    #[inline(never)]
    pub fn add(&mut self, io: Ended, latency: Nanos, failed: bool) {
        if self.current.is_none() && !self.find_chunk() {
            return;
        }
        if self.current.as_ref().is_some_and(|chunk| chunk.len > 0 && io.now.0 - chunk.base > END_MAX) {
            self.hand_over();
        }
        let Some(chunk) = &mut self.current else { return self.miss() };
        if chunk.len == 0 {
            chunk.base = io.now.0;
        }
        // With one size, as nearly always, the search is a comparison.
        let size = self.sizes.iter().position(|len| *len == io.len).unwrap_or(0) as u8;
        let end = io.now.0.saturating_sub(chunk.base);
        let logged = Logged { end, latency, op: io.op, failed, offset: io.offset, size };
        chunk.records[chunk.len] = logged.pack();
        chunk.len += 1;
        if chunk.len == CHUNK_RECORDS {
            self.hand_over();
        }
    }

    /// Looks now and then for an empty chunk; if there is none, the I/O is counted as not recorded.
    #[cold]
    fn find_chunk(&mut self) -> bool {
        if self.missed.dropped.is_multiple_of(LOOK_EVERY) {
            self.next_chunk();
        }
        if self.current.is_none() {
            self.miss();
        }
        self.current.is_some()
    }

    fn miss(&mut self) {
        match self.shared.log_is_full() {
            true => self.missed.beyond += 1,
            false => self.missed.dropped += 1,
        }
    }

    fn next_chunk(&mut self) {
        self.current = if self.shared.log_is_full() { None } else { self.spare.try_recv().ok() };
    }

    /// Hands over what there is, and goes on in an empty chunk.
    pub fn hand_over(&mut self) {
        if self.current.as_ref().is_some_and(|chunk| chunk.len == 0) {
            return;
        }
        if let Some(full) = self.current.take() {
            // Never waits: the channel has room for every chunk there is.
            let _ = self.out.try_send(Message::Log(self.thread, full));
        }
        self.next_chunk();
    }

    /// Hands over what is left; what was not recorded.
    pub fn finish(mut self) -> Missed {
        self.hand_over();
        self.missed
    }
}

/// The collector's side: what is passed on, as long as there is room for it.
#[derive(Debug)]
pub(crate) struct LogBudget {
    /// Records that still fit.
    room: u64,
    recorded: u64,
    beyond: u64,
    /// First bytes of the first of them, at most [`PLACES_MAX`].
    places: Vec<u64>,
}

impl LogBudget {
    /// A log of so many bytes.
    pub fn new(size: Bytes) -> LogBudget {
        LogBudget { room: size.0 / RECORD_BYTES as u64, recorded: 0, beyond: 0, places: Vec::new() }
    }

    /// What is kept of a chunk, if anything; and whether the log is full now.
    pub fn take(&mut self, chunk: &Chunk, stream: u16, job: u32) -> (Option<IoChunk>, bool) {
        let kept = (chunk.len as u64).min(self.room);
        self.room -= kept;
        self.recorded += kept;
        self.beyond += chunk.len as u64 - kept;
        let ios = chunk.records[..kept as usize].iter().filter_map(|words| Logged::unpack(*words));
        let placed = ios.filter(|io| !io.failed && io.op != Op::Sync).map(|io| io.offset);
        self.places.extend(placed.take(PLACES_MAX - self.places.len()));
        let records = || Records::of(&chunk.records[..kept as usize]);
        let kept = (kept > 0).then(|| IoChunk { stream, job, base: Nanos(chunk.base), records: records() });
        (kept, self.room == 0)
    }

    /// What became of all I/Os, with what the threads missed and what failed.
    pub fn totals(&self, missed: impl Iterator<Item = Missed>, failed: u64) -> IoLogTotals {
        let mut places = self.places.clone();
        places.sort_unstable();
        places.dedup();
        let totals = IoLogTotals {
            recorded: self.recorded,
            dropped: 0,
            beyond: self.beyond,
            failed,
            placed: self.places.len() as u64,
            places: places.len() as u64,
        };
        missed.fold(totals, |sum, missed| IoLogTotals {
            dropped: sum.dropped + missed.dropped,
            beyond: sum.beyond + missed.beyond,
            ..sum
        })
    }
}

#[cfg(test)]
mod tests;
