//! What all threads of a trial share: when it begins and ends, and what failed. Must not be written on the
//! hot path: load threads read two numbers that hardly ever change.

use crate::INTERVAL;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use stend_record::observed::IoErrors;
use stend_spec::workload::Op;

/// An early end is set this far ahead, ns: a thread may have read the clock and the old end just before,
/// and its completion must not lie behind the new one. A thread that is preempted for longer than this
/// between the two can still be off by one I/O.
const END_MARGIN: u64 = 1_000_000;

/// Fixed points of a trial, CLOCK_MONOTONIC ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Times {
    /// First I/O.
    pub load_start: u64,
    /// First completion that counts.
    pub window_start: u64,
}

impl Times {
    /// Index of the interval that `at` lies in.
    pub fn interval(&self, at: u64) -> u32 {
        (at.saturating_sub(self.load_start) / INTERVAL.0) as u32
    }

    /// First edge after `at`.
    pub fn edge_after(&self, at: u64) -> u64 {
        self.load_start + (u64::from(self.interval(at)) + 1) * INTERVAL.0
    }
}

/// (count, first offset) by (stream, operation, error number).
type Faults = BTreeMap<(u16, Op, i32), (u64, u64)>;

/// See the module.
#[derive(Debug)]
pub(crate) struct Shared {
    times: OnceLock<Times>,
    end: AtomicU64,
    begin_until: AtomicU64,
    give_up: AtomicU64,
    faults: Mutex<Faults>,
    fault_count: AtomicU64,
    fault_limit: u64,
    log_full: AtomicBool,
}

impl Shared {
    /// Before the start. `fault_limit` failed I/Os end the load.
    pub fn new(fault_limit: u64) -> Shared {
        Shared {
            times: OnceLock::new(),
            end: AtomicU64::new(0),
            begin_until: AtomicU64::new(0),
            give_up: AtomicU64::new(0),
            faults: Mutex::new(BTreeMap::new()),
            fault_count: AtomicU64::new(0),
            fault_limit,
            log_full: AtomicBool::new(false),
        }
    }

    /// Lets the threads go: load from `times.load_start` to `end`, in an open loop what is still due until
    /// `begin_until`, then waiting for I/O until `give_up`. With an `end` of 0 they go home without any I/O.
    pub fn publish(&self, times: Times, end: u64, begin_until: u64, give_up: u64) {
        self.end.store(end, Ordering::Relaxed);
        self.begin_until.store(begin_until, Ordering::Relaxed);
        self.give_up.store(give_up, Ordering::Relaxed);
        // Release: a thread that sees the times sees the stores above.
        let _ = self.times.set(times);
    }

    /// Once published.
    pub fn times(&self) -> Option<Times> {
        self.times.get().copied()
    }

    /// End of the window.
    #[inline(always)]
    pub fn end(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    /// Until when an open loop begins what was due before the end.
    #[inline]
    pub fn begin_until(&self) -> u64 {
        self.begin_until.load(Ordering::Relaxed)
    }

    /// When waiting for I/O in flight ends.
    #[inline]
    pub fn give_up(&self) -> u64 {
        self.give_up.load(Ordering::Relaxed)
    }

    /// Ends the window now, if it has not ended, and the waiting `patience` ns later at the latest.
    pub fn end_early(&self, now: u64, patience: u64) {
        let now = now.max(self.times().map_or(0, |times| times.load_start));
        let end = self.end.fetch_min(now + END_MARGIN, Ordering::Relaxed).min(now + END_MARGIN);
        self.begin_until.fetch_min(now, Ordering::Relaxed);
        self.give_up.fetch_min(end.max(now).saturating_add(patience), Ordering::Relaxed);
    }

    /// Ends everything at once, waiting included; threads that never started go home.
    pub fn abort(&self) {
        self.end.store(0, Ordering::Relaxed);
        self.begin_until.store(0, Ordering::Relaxed);
        self.give_up.store(0, Ordering::Relaxed);
        let _ = self.times.set(Times { load_start: 0, window_start: 0 });
    }

    /// Counts a failed I/O; `true` if there are so many now that the load must end.
    #[cold]
    pub fn fault(&self, stream: u16, op: Op, errno: i32, offset: u64) -> bool {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.entry((stream, op, errno)).or_insert((0, offset)).0 += 1;
        self.fault_count.fetch_add(1, Ordering::Relaxed) + 1 >= self.fault_limit
    }

    /// Failed I/Os so far.
    pub fn fault_count(&self) -> u64 {
        self.fault_count.load(Ordering::Relaxed)
    }

    /// Whether failed I/Os reached the limit.
    pub fn too_many_faults(&self) -> bool {
        self.fault_count() >= self.fault_limit
    }

    /// Says that the size of the log of every I/O is used up.
    pub fn fill_log(&self) {
        self.log_full.store(true, Ordering::Relaxed);
    }

    /// Whether it is.
    #[inline]
    pub fn log_is_full(&self) -> bool {
        self.log_full.load(Ordering::Relaxed)
    }

    /// Failed I/Os by class.
    pub fn faults(&self) -> Vec<IoErrors> {
        let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        let class = |(&(stream, op, errno), &(count, first_offset)): (&(u16, Op, i32), &(u64, u64))| IoErrors {
            stream,
            op,
            errno,
            count,
            first_offset: Some(first_offset),
        };
        faults.iter().map(class).collect()
    }
}

/// I/Os that a thread has in flight, one cell per slot, readable when the thread itself is stuck.
#[derive(Debug)]
pub(crate) struct InFlight {
    started: Box<[Line]>,
    /// When each was due; empty in a closed loop.
    due: Box<[Line]>,
}

/// One I/O in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InFlightIo {
    /// What it is.
    pub op: Op,
    /// When it began, ns.
    pub started: u64,
    /// When it was due, ns; the same in a closed loop.
    pub due: u64,
}

/// Bits of a cell that hold the operation, with 0 for none.
const OP_BITS: u32 = 3;

/// Two cache lines (the prefetcher fetches pairs), so that threads do not share one.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line([AtomicU64; 16]);

impl InFlight {
    /// At least `slots` free cells, for an open loop with the times when their I/O was due.
    pub fn new(slots: usize, open: bool) -> InFlight {
        let lines = |slots: usize| (0..slots.div_ceil(16)).map(|_| Line::default()).collect();
        InFlight { started: lines(slots), due: lines(if open { slots } else { 0 }) }
    }

    #[inline(always)]
    fn cell(lines: &[Line], slot: usize) -> Option<&AtomicU64> {
        Some(&lines.get(slot / 16)?.0[slot % 16])
    }

    /// Notes an I/O that starts at `start` ns. Start times stay below 2^61 ns (73 years after boot).
    #[inline(always)]
    pub fn set(&self, slot: usize, op: Op, start: u64) {
        if let Some(cell) = Self::cell(&self.started, slot) {
            // With it goes when it was due, also on processors that reorder stores.
            cell.store((start << OP_BITS) | (op.index() as u64 + 1), Ordering::Release);
        }
    }

    /// Notes when the I/O of a slot was due; to be called before [`set`](Self::set).
    #[inline(always)]
    pub fn set_due(&self, slot: usize, due: u64) {
        if let Some(cell) = Self::cell(&self.due, slot) {
            cell.store(due, Ordering::Relaxed);
        }
    }

    /// Start of the slot's I/O.
    #[inline(always)]
    pub fn start(&self, slot: usize) -> u64 {
        Self::cell(&self.started, slot).map_or(0, |cell| cell.load(Ordering::Relaxed) >> OP_BITS)
    }

    /// When the slot's I/O was due; its start in a closed loop.
    #[inline(always)]
    pub fn due(&self, slot: usize) -> u64 {
        Self::cell(&self.due, slot).map_or_else(|| self.start(slot), |cell| cell.load(Ordering::Relaxed))
    }

    /// When the slot's I/O was due, and when it began.
    #[inline(always)]
    pub fn since(&self, slot: usize) -> (u64, u64) {
        let start = self.start(slot);
        (if self.due.is_empty() { start } else { self.due(slot) }, start)
    }

    /// Notes that the slot is free.
    #[inline(always)]
    pub fn clear(&self, slot: usize) {
        if let Some(cell) = Self::cell(&self.started, slot) {
            cell.store(0, Ordering::Relaxed);
        }
    }

    /// Everything in flight.
    pub fn list(&self) -> Vec<InFlightIo> {
        let cells = self.started.iter().flat_map(|line| &line.0).map(|cell| cell.load(Ordering::Acquire)).enumerate();
        let flying = |(slot, cell): (usize, u64)| InFlightIo {
            op: Op::ALL[(cell & ((1 << OP_BITS) - 1)) as usize - 1],
            started: cell >> OP_BITS,
            due: Self::cell(&self.due, slot).map_or(cell >> OP_BITS, |due| due.load(Ordering::Relaxed)),
        };
        cells.filter(|&(_, cell)| cell != 0).map(flying).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_counted_from_the_start_of_load() {
        let times = Times { load_start: 1000, window_start: 2000 };
        assert_eq!((times.interval(0), times.interval(1000), times.interval(1000 + INTERVAL.0)), (0, 0, 1));
        assert_eq!(times.edge_after(1000 + INTERVAL.0), 1000 + 2 * INTERVAL.0);
    }

    #[test]
    fn an_early_end_never_moves_the_end_back() {
        let shared = Shared::new(1);
        shared.publish(Times { load_start: 0, window_start: 0 }, 100_000_000, 500_000_000, 900_000_000);
        shared.end_early(50_000_000, 10);
        assert_eq!((shared.end(), shared.give_up()), (51_000_000, 51_000_010));
        shared.end_early(60_000_000, 10);
        assert_eq!((shared.end(), shared.give_up()), (51_000_000, 51_000_010));
    }

    #[test]
    fn a_stop_while_draining_shortens_only_the_waiting() {
        let shared = Shared::new(1);
        shared.publish(Times { load_start: 0, window_start: 0 }, 100_000_000, 500_000_000, 900_000_000);
        shared.end_early(200_000_000, 10);
        assert_eq!((shared.end(), shared.give_up()), (100_000_000, 200_000_010));
        assert_eq!(shared.begin_until(), 200_000_000, "and an open loop begins nothing any more");
    }

    #[test]
    fn faults_are_counted_by_class_with_the_first_offset() {
        let shared = Shared::new(3);
        assert!(!shared.fault(0, Op::Read, 5, 4096));
        assert!(!shared.fault(0, Op::Read, 5, 8192));
        assert!(shared.fault(1, Op::Write, 0, 0));
        let faults = shared.faults();
        assert_eq!(faults.len(), 2);
        assert_eq!((faults[0].errno, faults[0].count, faults[0].first_offset), (5, 2, Some(4096)));
    }

    #[test]
    fn a_cell_keeps_operation_start_and_when_it_was_due() {
        for ((open, due), op) in [(false, 1 << 60), (true, 7)].into_iter().flat_map(|kind| Op::ALL.map(|op| (kind, op)))
        {
            let cells = InFlight::new(2, open);
            cells.set_due(1, 7);
            cells.set(1, op, 1 << 60);
            assert_eq!(cells.list(), [InFlightIo { op, started: 1 << 60, due }]);
            assert_eq!((cells.start(1), cells.due(1)), (1 << 60, due));
            cells.clear(1);
            assert!(cells.list().is_empty());
        }
    }
}
