//! What verification found in one trial. Types only: what each word means exactly is in
//! `docs/formats/verification.md`, the judging is done by the load engine.

use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Say, say};

/// In which way a block was not as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Defect {
    /// After the load: an acknowledged write is not there.
    Lost,
    /// During the load: a read returned something older than what had been acknowledged before.
    Stale,
    /// A part of the block is of one write and a part of an older one.
    Torn,
    /// A block of another address.
    Misdirected,
    /// A block of ours whose checksum does not hold.
    Corrupt,
    /// A whole block that was never sent there.
    Phantom,
    /// After the load: an older write has replaced one that had been read back.
    Reordered,
}

impl Defect {
    /// All kinds, in the order of their index.
    pub const ALL: [Defect; 7] = [
        Defect::Lost,
        Defect::Stale,
        Defect::Torn,
        Defect::Misdirected,
        Defect::Corrupt,
        Defect::Phantom,
        Defect::Reordered,
    ];

    const GRAVEST_FIRST: [Defect; 7] = [
        Defect::Corrupt,
        Defect::Misdirected,
        Defect::Phantom,
        Defect::Torn,
        Defect::Reordered,
        Defect::Lost,
        Defect::Stale,
    ];

    /// Position in [`Defect::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The word for it.
    pub fn say(self) -> Say {
        match self {
            Defect::Lost => say!("lost", "потеряно"),
            Defect::Stale => say!("stale", "устарело"),
            Defect::Torn => say!("torn", "разорвано"),
            Defect::Misdirected => say!("misdirected", "не на своём месте"),
            Defect::Corrupt => say!("corrupt", "искажено"),
            Defect::Phantom => say!("phantom", "не записывалось"),
            Defect::Reordered => say!("reordered", "в другом порядке"),
        }
    }
}

/// Blocks that were compared, by what came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Checked {
    /// Sectors of 512 bytes looked at, of all blocks below.
    pub sectors: u64,
    /// Blocks that held what they must.
    pub ok: u64,
    /// Blocks whose content is left open by writes that overlapped the read or each other, or that failed; nothing that is
    /// wrong whatever became of those was found in them.
    pub unsettled: u64,
    /// Blocks that the trial had not written: not verifiable.
    pub never_written: u64,
    /// Blocks that were not as written, by kind, in the order of [`Defect::ALL`].
    pub defects: [u64; 7],
}

impl Checked {
    /// Blocks that were not as written.
    pub fn wrong(&self) -> u64 {
        self.defects.iter().fold(0, |sum: u64, n| sum.saturating_add(*n))
    }

    /// The kind among them that says most about the cause; the target reports none of them.
    pub fn gravest(&self) -> Option<Defect> {
        Defect::GRAVEST_FIRST.into_iter().find(|kind| self.defects[kind.index()] > 0)
    }

    /// Adds the counts of another.
    pub fn add(&mut self, other: &Checked) {
        let add = |sum: &mut u64, n: u64| *sum = sum.saturating_add(n);
        add(&mut self.sectors, other.sectors);
        add(&mut self.ok, other.ok);
        add(&mut self.unsettled, other.unsettled);
        add(&mut self.never_written, other.never_written);
        self.defects.iter_mut().zip(other.defects).for_each(|(sum, n)| add(sum, n));
    }
}

/// What a sector held that was not as it must.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// A whole sector of Stend's.
    Sector {
        /// Number of the run.
        run: u64,
        /// Number of the trial in it, from 1.
        epoch: u32,
        /// Byte address that it was written for.
        address: u64,
        /// Which write to its block in that trial, from 1.
        sequence: u64,
    },
    /// A sector of Stend's whose checksum does not hold.
    Damaged,
    /// Only zeros.
    Zeros,
    /// Nothing that Stend has ever marked.
    Unknown,
}

/// One block that was not as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mismatch {
    /// Index of the stream in the trial.
    pub stream: u16,
    /// It was found when everything was read back after the window.
    pub after: bool,
    /// In which way.
    pub defect: Defect,
    /// Byte address of its first sector that tells so.
    pub address: u64,
    /// Number of the run that the trial belongs to.
    pub run: u64,
    /// Number of the trial in it, from 1.
    pub epoch: u32,
    /// The oldest write that it might have held, 0 for what was there before the trial.
    pub oldest: u32,
    /// The newest that had been sent there.
    pub newest: u32,
    /// What it held.
    pub found: Found,
}

/// What became of reading everything back after the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadBack {
    /// The suite does not ask for it.
    NotAsked,
    /// The trial had been stopped before.
    Stopped,
    /// The target had not answered until the end of the trial.
    Stalled,
    /// It could not be begun, or did not come to its end.
    Impossible {
        /// Why.
        reason: Say,
    },
    /// It was made.
    Made {
        /// What it found.
        checked: Checked,
        /// Blocks that were not read: it was stopped, took too long, or reading failed.
        unread: u64,
    },
}

/// What verification found in one trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// Memory that the expected state of every block took.
    pub memory: Bytes,
    /// Reads of the load itself, ramp and drain included.
    pub running: Checked,
    /// Reading back after the window.
    pub after: ReadBack,
    /// The first blocks that were not as written, 16 at most.
    pub examples: Vec<Mismatch>,
}

impl Verification {
    /// Everything that was compared, during and after the load.
    pub fn all(&self) -> Checked {
        let mut all = self.running;
        if let ReadBack::Made { checked, .. } = &self.after {
            all.add(checked);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_both_passes_add_up_without_overflow() {
        let mut running = Checked { sectors: 8, ok: 1, ..Checked::default() };
        running.defects[Defect::Torn.index()] = u64::MAX;
        let mut checked = Checked { sectors: 16, ok: 1, never_written: 2, ..Checked::default() };
        checked.defects[Defect::Torn.index()] = 1;
        let after = ReadBack::Made { checked, unread: 0 };
        let all = Verification { memory: Bytes(0), running, after, examples: Vec::new() }.all();
        assert_eq!((all.sectors, all.ok, all.never_written, all.wrong()), (24, 2, 2, u64::MAX));
    }

    #[test]
    fn every_kind_stands_at_its_index_and_has_a_word_of_its_own() {
        let mut words: Vec<String> = Defect::ALL.iter().map(|defect| defect.say().ru).collect();
        assert!(Defect::ALL.iter().enumerate().all(|(index, defect)| defect.index() == index));
        words.sort();
        words.dedup();
        assert_eq!(words.len(), Defect::ALL.len());
    }
}
