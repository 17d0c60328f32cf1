//! What every block of an area may hold, kept while its writes come and go, by several threads at once. Must not
//! allocate or lock after it was made, unless something is wrong.

use super::judge::Allowed;
use super::marks::Marks;
use crate::area::Area;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use stend_record::verification::{Checked, Defect, Mismatch};

/// Bytes per block.
pub(crate) const CELL: u64 = size_of::<Cell>() as u64;
/// Most examples that are kept.
pub(crate) const EXAMPLES: usize = 16;

/// The expected state of an area, shared by the threads that work on it.
#[derive(Debug)]
pub(crate) struct Expected {
    /// What the trial writes carries this.
    pub marks: Marks,
    start: u64,
    block: u64,
    cells: Box<[Cell]>,
    /// A sync failed: acknowledged writes may be gone, and the writer got an error.
    shaken: AtomicBool,
    noted: Mutex<Noted>,
}

/// One block.
#[derive(Debug, Default)]
struct Cell {
    writes: AtomicU64,
    oldest: AtomicU32,
    seen: AtomicU32,
}

/// What threads found, by whether it was after the load.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    /// While the load ran.
    pub running: Checked,
    /// Afterwards.
    pub after: Checked,
    /// The first blocks that were not as written.
    pub examples: Vec<Mismatch>,
}

/// The writes to a block in one word: [last sent: 32 | older ones that overlap it: 14 | open end: 1 | in flight: 17].
///
/// Writes that overlap each other, one after the other, make a group: when the last of them ends, the block may hold any
/// of them. If one failed it may hold anything that it might have held before, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Writes(pub u64);

/// Beyond this many in a group its beginning is not known any more.
const GROUP_MAX: u64 = (1 << 14) - 1;
const IN_FLIGHT: u64 = (1 << 17) - 1;
const OPEN_END: u64 = 1 << 17;

impl Writes {
    pub fn sent(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn group(self) -> u64 {
        self.0 >> 18 & GROUP_MAX
    }

    fn in_flight(self) -> u64 {
        self.0 & IN_FLIGHT
    }

    fn new(sent: u32, group: u64, open_end: bool, in_flight: u64) -> Writes {
        Writes(u64::from(sent) << 32 | group << 18 | if open_end { OPEN_END } else { 0 } | in_flight)
    }

    fn has_open_end(self) -> bool {
        self.0 & OPEN_END > 0
    }

    /// One more is sent. A block has at most 2^32 of them; those beyond share the last number.
    pub fn begun(self) -> Writes {
        let sent = self.sent().saturating_add(1);
        if self.in_flight() == 0 {
            return Writes::new(sent, 0, false, 1);
        }
        let group = (self.group() + 1).min(GROUP_MAX);
        Writes::new(sent, group, self.has_open_end() || group == GROUP_MAX, self.in_flight() + 1)
    }

    /// One has ended, well or not.
    pub fn ended(self, well: bool) -> Writes {
        Writes::new(self.sent(), self.group(), self.has_open_end() || !well, self.in_flight().saturating_sub(1))
    }

    /// The oldest write that the block may hold, if that is known now.
    pub fn settled(self) -> Option<u32> {
        let settled = self.in_flight() == 0 && !self.has_open_end();
        settled.then(|| self.sent().saturating_sub(self.group() as u32))
    }
}

impl Expected {
    /// An area of which nothing has been written.
    pub fn new(area: Area, block: u64, marks: Marks) -> Expected {
        Expected {
            marks,
            start: area.start,
            block,
            cells: (0..area.blocks).map(|_| Cell::default()).collect(),
            shaken: AtomicBool::new(false),
            noted: Mutex::new(Noted { examples: Vec::with_capacity(EXAMPLES), ..Noted::default() }),
        }
    }

    /// Bytes of the state of an area.
    pub fn memory(blocks: u64) -> u64 {
        blocks.saturating_mul(CELL)
    }

    /// The same of this one.
    pub fn memory_used(&self) -> u64 {
        Expected::memory(self.cells.len() as u64)
    }

    #[inline]
    fn cell(&self, offset: u64) -> &Cell {
        &self.cells[((offset - self.start) / self.block) as usize]
    }

    /// A write to `offset` is about to be sent: its number.
    #[inline]
    pub fn begin_write(&self, offset: u64) -> u32 {
        change(&self.cell(offset).writes, Writes::begun).sent()
    }

    /// A write to `offset` was acknowledged (`well`) or failed.
    #[inline]
    pub fn end_write(&self, offset: u64, well: bool) {
        let cell = self.cell(offset);
        if let Some(oldest) = change(&cell.writes, |writes| writes.ended(well)).settled() {
            cell.oldest.fetch_max(oldest, Ordering::Release);
        }
    }

    /// Acknowledged writes are not sure to be there any more.
    pub fn shake(&self) {
        self.shaken.store(true, Ordering::Release);
    }

    /// The oldest write that a read which begins now may see.
    #[inline]
    pub fn oldest(&self, offset: u64) -> u32 {
        if self.shaken.load(Ordering::Acquire) { 0 } else { self.cell(offset).oldest.load(Ordering::Acquire) }
    }

    /// What a read that has ended may have seen, `oldest` being from when it began.
    #[inline]
    pub fn allowed(&self, offset: u64, oldest: u32, after: bool) -> Allowed {
        let cell = self.cell(offset);
        let newest = Writes(cell.writes.load(Ordering::Acquire)).sent();
        let oldest = if self.shaken.load(Ordering::Acquire) { 0 } else { oldest };
        Allowed { oldest, newest, seen: cell.seen.load(Ordering::Relaxed), after }
    }

    /// This write has been read back.
    #[inline]
    pub fn saw(&self, offset: u64, version: u32) {
        let seen = &self.cell(offset).seen;
        if seen.load(Ordering::Relaxed) < version {
            seen.fetch_max(version, Ordering::Relaxed);
        }
    }

    /// Numbers of the blocks that were sent a write, ascending.
    pub fn written(&self) -> Vec<u64> {
        let sent = |cell: &Cell| Writes(cell.writes.load(Ordering::Acquire)).sent() > 0;
        (0..).zip(self.cells.iter()).filter(|(_, cell)| sent(cell)).map(|(block, _)| block).collect()
    }

    /// Keeps a block that was not as written.
    #[cold]
    pub fn note(&self, mismatch: Mismatch) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.of(mismatch.after).defects[Defect::index(mismatch.defect)] += 1;
        if noted.examples.len() < EXAMPLES {
            noted.examples.push(mismatch);
        }
    }

    /// Adds what a thread counted.
    pub fn deliver(&self, after: bool, checked: &Checked) {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).of(after).add(checked);
    }

    /// Everything found so far.
    pub fn noted<T>(&self, look: impl FnOnce(&Noted) -> T) -> T {
        look(&self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Noted {
    fn of(&mut self, after: bool) -> &mut Checked {
        if after { &mut self.after } else { &mut self.running }
    }
}

/// Changes a word that others may change too; what it is then.
#[inline]
pub(super) fn change(word: &AtomicU64, by: impl Fn(Writes) -> Writes) -> Writes {
    let mut before = word.load(Ordering::Acquire);
    loop {
        let now = by(Writes(before));
        match word.compare_exchange_weak(before, now.0, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return now,
            Err(other) => before = other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Area = Area { start: 8192, blocks: 4 };

    fn expected() -> Expected {
        Expected::new(AREA, 4096, Marks { run: 1, epoch: 1 })
    }

    /// (oldest, newest) of the second block after a story: `b` a write begins, `e` one ends, `f` one fails.
    fn story(steps: &str) -> (u32, u32) {
        let expected = expected();
        for step in steps.chars() {
            match step {
                'b' => _ = expected.begin_write(12_288),
                step => expected.end_write(12_288, step == 'e'),
            }
        }
        let oldest = expected.oldest(12_288);
        (oldest, expected.allowed(12_288, oldest, false).newest)
    }

    #[test]
    fn one_write_after_the_other_leaves_the_last() {
        assert_eq!(
            [story(""), story("b"), story("be"), story("beb"), story("bebe")],
            [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]
        );
    }

    #[test]
    fn writes_that_overlap_leave_any_of_them() {
        assert_eq!(story("bbe"), (0, 2), "one of them is still in flight");
        assert_eq!(story("bbee"), (1, 2));
        assert_eq!(story("bebbee"), (2, 3));
        assert_eq!(story("bbebee"), (1, 3), "a chain is one group");
        assert_eq!(story("bbeebe"), (3, 3), "and ends with the next write that is alone");
    }

    #[test]
    fn a_failed_write_leaves_what_was_there_before_too_until_the_next_that_is_alone() {
        assert_eq!([story("bebf"), story("bebbef"), story("bebbfe")], [(1, 2), (1, 3), (1, 3)]);
        assert_eq!(story("bebfbe"), (3, 3));
    }

    #[test]
    fn a_group_too_long_to_be_counted_leaves_anything() {
        let long = "b".to_string() + &"be".repeat(GROUP_MAX as usize + 5);
        let (all, ended) = (GROUP_MAX as u32 + 6, long.clone() + "e");
        assert_eq!((story(&long), story(&ended)), ((0, all), (0, all)));
        assert_eq!(story(&(ended + "be")), (all + 1, all + 1));
    }

    #[test]
    fn numbers_that_run_out_stay_at_the_last() {
        let full = Writes::new(u32::MAX - 1, 0, false, 0);
        let last = full.begun().ended(true);
        assert_eq!((last.settled(), last.begun().ended(true).settled()), (Some(u32::MAX), Some(u32::MAX)));
    }

    #[test]
    fn after_a_failed_sync_anything_older_is_allowed() {
        let expected = expected();
        expected.begin_write(8192);
        expected.end_write(8192, true);
        assert_eq!(expected.oldest(8192), 1);
        expected.shake();
        assert_eq!(expected.oldest(8192), 0);
    }

    #[test]
    fn threads_that_write_one_block_together_agree_on_its_number_in_the_end() {
        let expected = expected();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        expected.begin_write(8192);
                        expected.end_write(8192, true);
                    }
                });
            }
        });
        let newest = expected.allowed(8192, 0, true).newest;
        assert_eq!((newest, Writes(expected.cells[0].writes.load(Ordering::Relaxed)).in_flight()), (40_000, 0));
        expected.begin_write(8192);
        expected.end_write(8192, true);
        assert_eq!(expected.oldest(8192), 40_001);
        assert_eq!(expected.written(), [0]);
    }
}
