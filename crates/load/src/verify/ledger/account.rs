//! What the load threads write into a ledger: what they send to each block, and what is acknowledged. Must not allocate or lock between
//! two I/Os, but where a block comes to the end of what is reserved for it.

use super::head::{self, CELL_WORDS};
use crate::Control;
use crate::verify::expected::{Writes, change};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use stend_base::{Say, say};
use stend_sys::mapped::Mapped;

/// Numbers of writes to one block that are reserved at once. A million acknowledged writes to one block take seconds, so that
/// a load thread waits for a sync of the ledger that rarely.
pub(super) const RESERVE: u64 = 1 << 20;

/// The ledger of a trial that is going on.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(super) map: Mapped,
    /// Highest sequence that may be sent; durable before it is.
    pub(super) reserved: AtomicU64,
    /// Acknowledgements so far.
    pub(super) acknowledged: Acknowledged,
    pub(super) extending: Mutex<()>,
    pub(super) failure: Mutex<Option<Say>>,
    /// Stops the load once the ledger fails.
    pub(super) control: Control,
    pub(super) over: AtomicBool,
}

/// On cache lines of its own (the prefetcher fetches pairs): every thread counts here.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Acknowledged(pub(super) AtomicU64);

/// The part of a ledger that is about the area of one job, or of jobs that share it. What it costs: see
/// docs/formats/verification.md.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(super) ledger: Arc<Ledger>,
    pub(super) first: usize,
    pub(super) start: u64,
    pub(super) block: u64,
    /// A write is durable when its transfer is complete.
    pub at_once: bool,
}

impl Ledger {
    /// One to which nothing has been written yet.
    pub(super) fn over(map: Mapped, control: &Control) -> Ledger {
        Ledger {
            map,
            reserved: AtomicU64::new(RESERVE),
            acknowledged: Acknowledged::default(),
            extending: Mutex::new(()),
            failure: Mutex::new(None),
            control: control.clone(),
            over: AtomicBool::new(false),
        }
    }

    /// Makes durable what was acknowledged.
    pub(super) fn sync(&self) {
        if let Err(e) = self.map.must_be_whole() {
            self.failed(say!("the ledger is damaged: {e}", "журнал повреждён: {e}"));
        }
        if let Err(e) = self.map.sync() {
            self.failed(not_synced(&e));
        }
    }

    /// The load ends: what it writes from now on could not be judged.
    #[cold]
    pub(super) fn failed(&self, what: Say) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(what);
        self.control.stop();
    }

    /// Makes this sequence one that may be sent, durably.
    #[cold]
    fn reserve(&self, sequence: u64) {
        let _one = self.extending.lock().unwrap_or_else(PoisonError::into_inner);
        if sequence <= self.reserved.load(Ordering::Acquire) {
            return;
        }
        let bound = sequence + RESERVE;
        self.map.words()[head::RESERVED / 8].store(bound, Ordering::Release);
        if let Err(e) = self.map.sync_first(head::FIXED) {
            self.failed(not_synced(&e));
        }
        self.reserved.store(bound, Ordering::Release);
    }
}

impl Account {
    #[inline]
    fn cell(&self, offset: u64) -> &[AtomicU64] {
        let at = self.first + ((offset - self.start) / self.block) as usize * CELL_WORDS;
        &self.ledger.map.words()[at..at + CELL_WORDS]
    }

    /// A write to `offset` is about to be sent. Returns how many acknowledgements there were before it.
    #[inline]
    pub fn begin(&self, offset: u64) -> u64 {
        let before = self.ledger.acknowledged.0.load(Ordering::Acquire);
        let sent = u64::from(change(&self.cell(offset)[0], Writes::begun).sent());
        if sent > self.ledger.reserved.load(Ordering::Acquire) {
            self.ledger.reserve(sent);
        }
        before
    }

    /// A write to `offset` is durable (`well`), or nobody knows; `before` is what its beginning returned.
    #[inline]
    pub fn end(&self, offset: u64, before: u64, well: bool) {
        let cell = self.cell(offset);
        let writes = change(&cell[0], |writes| writes.ended(well));
        let Some(oldest) = writes.settled() else { return };
        let number = self.ledger.acknowledged.0.fetch_add(1, Ordering::AcqRel) + 1;
        // Where writes overlapped, the oldest of them was sent before this one: nothing is known to have been acknowledged before it.
        let before = if writes.sent() == oldest { before } else { 0 };
        cell[2].store(before, Ordering::Relaxed);
        cell[3].store(number, Ordering::Relaxed);
        cell[1].fetch_max(u64::from(oldest), Ordering::Release);
    }

    /// A sync failed: acknowledged writes may be gone, and the writer got an error.
    pub fn shake(&self) {
        self.ledger.map.words()[head::SHAKEN / 8].store(1, Ordering::Release);
    }
}

fn not_synced(e: &io::Error) -> Say {
    say!("the ledger could not be synced: {e}", "журнал не удалось сохранить: {e}")
}
