//! Whether a block is as it was written: docs/formats/verification.md in code. Pure; must not know how it was read.

use super::marks::Marks;
use super::sector::{self, Content, Mark, SECTOR};
use stend_record::verification::{Defect, Found};

/// What a block may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allowed {
    /// Writes before this one have been overwritten by one that was acknowledged; 0: even what was there before the
    /// trial is allowed.
    pub oldest: u32,
    /// Last write that was sent; 0: none.
    pub newest: u32,
    /// Newest write that was read back before.
    pub seen: u32,
    /// The load is over, and nothing is in flight.
    pub after: bool,
}

/// What came of looking at a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It holds this write.
    Ok(u32),
    /// The trial never wrote it.
    NeverWritten,
    /// What it holds depends on writes whose order or fate is open.
    Unsettled,
    /// It is not as it was written.
    Wrong {
        /// In which way.
        defect: Defect,
        /// The first sector of the block that tells so.
        sector: usize,
        /// What that holds.
        found: Found,
    },
}

/// What was found in the sectors of a block, as far as it matters.
#[derive(Default)]
struct Seen {
    misdirected: Option<(usize, Found)>,
    phantom: Option<(usize, Found)>,
    damaged: Option<usize>,
    /// First sector that is older than it may be.
    older: Option<(usize, Found)>,
    /// Write of the first sector that has one.
    version: Option<u32>,
    mixed: bool,
}

/// Judges a block of whole sectors that was read from `address`.
pub(crate) fn judge(data: &[u8], address: u64, marks: Marks, allowed: Allowed) -> Judgement {
    let mut seen = Seen::default();
    for (index, sector) in data.chunks_exact(SECTOR).enumerate() {
        let content = sector::read(sector, marks.run);
        seen.look(index, content, address + (index * SECTOR) as u64, marks, allowed);
    }
    seen.judgement(allowed)
}

impl Seen {
    #[inline]
    fn look(&mut self, index: usize, content: Content, address: u64, marks: Marks, allowed: Allowed) {
        let version = match content {
            Content::Marked(mark) if mark.marks.run == marks.run => {
                if mark.address != address {
                    self.misdirected.get_or_insert((index, content.found()));
                    return;
                }
                match version_in(&mark, marks, allowed) {
                    Some(version) => version,
                    None => {
                        self.phantom.get_or_insert((index, content.found()));
                        return;
                    }
                }
            }
            // Runs are numbered by their beginning, by the wall clock: a later one has written where this one was sure of its
            // own write. Where it is not, it may be older than that write: the clock may have been set back since.
            Content::Marked(mark) if mark.marks.run > marks.run && allowed.oldest > 0 => {
                self.phantom.get_or_insert((index, content.found()));
                return;
            }
            Content::Damaged => {
                self.damaged.get_or_insert(index);
                return;
            }
            // What was there before the trial.
            Content::Marked(_) | Content::Zeros | Content::Unknown => 0,
        };
        if version < allowed.oldest {
            self.older.get_or_insert((index, content.found()));
        }
        self.mixed |= self.version.is_some_and(|first| first != version);
        self.version.get_or_insert(version);
    }

    fn judgement(self, allowed: Allowed) -> Judgement {
        let wrong = |defect, (sector, found)| Judgement::Wrong { defect, sector, found };
        // Where a write overlaps the read, a sector may be half of each; and what the trial did not write may be anything.
        let settled = allowed.oldest == allowed.newest && allowed.newest > 0;
        if let (Some(sector), true) = (self.damaged, settled) {
            return wrong(Defect::Corrupt, (sector, Found::Damaged));
        }
        if let Some(place) = self.misdirected {
            return wrong(Defect::Misdirected, place);
        }
        if let Some(place) = self.phantom {
            return wrong(Defect::Phantom, place);
        }
        if allowed.newest == 0 {
            return Judgement::NeverWritten;
        }
        match (self.older, self.version) {
            (Some(place), _) if self.mixed => wrong(Defect::Torn, place),
            (Some(place), _) if !allowed.after => wrong(Defect::Stale, place),
            (Some(place), Some(version)) if allowed.seen > version => wrong(Defect::Reordered, place),
            (Some(place), _) => wrong(Defect::Lost, place),
            (None, Some(version)) if !self.mixed && self.damaged.is_none() => Judgement::Ok(version),
            (None, _) => Judgement::Unsettled,
        }
    }
}

/// Which write of the trial a sector of this run is, 0 for one of an earlier trial; `None` if it was never sent.
fn version_in(mark: &Mark, marks: Marks, allowed: Allowed) -> Option<u32> {
    if mark.marks.epoch < marks.epoch {
        return Some(0);
    }
    let sent = mark.marks.epoch == marks.epoch && mark.sequence <= u64::from(allowed.newest);
    sent.then_some(mark.sequence as u32)
}

#[cfg(test)]
mod tests;
