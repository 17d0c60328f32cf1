//! What was found on the target after a crash. Types only: what each word means is in
//! `docs/formats/verification.md`, the judging is done by the load engine.

use crate::verification::{Checked, Mismatch};
use serde::{Deserialize, Serialize};
use stend_base::Say;

/// What a session that goes on after a crash found before anything else touched the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aftermath {
    /// Every block was compared with the ledger.
    Judged(Box<Crash>),
    /// It cannot be told what the crash did.
    Unknown {
        /// Why.
        reason: Say,
    },
}

/// One crash, judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crash {
    /// Number of the run, or of its session, in the marks.
    pub run: u64,
    /// Ordinal of the trial that was going on, or had ended last.
    pub trial: u32,
    /// The host has been restarted since: the ledger may lack what was acknowledged after its last sync.
    pub rebooted: bool,
    /// A sync of the trial had failed: the writer knew that acknowledged writes may be gone, and none was expected.
    pub shaken: bool,
    /// Blocks with an acknowledged write.
    pub acknowledged: u64,
    /// Writes that may have been in flight at the crash.
    pub in_flight: u64,
    /// What came of the blocks.
    pub checked: Checked,
    /// Blocks left open that have a sector whose checksum does not hold: at most as many as could be in flight.
    pub shorn: u64,
    /// Blocks that could not be read.
    pub unread: u64,
    /// The first blocks that were not as written, 16 at most.
    pub examples: Vec<Mismatch>,
    /// Nothing crashed: the state was made from a log of all writes.
    #[serde(default)]
    pub replayed: Option<Replayed>,
}

/// A state of the target that was rebuilt from a log of all writes, as a loss of power at that moment would have left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    /// The last entry of the log in it, from 0.
    pub entry: u64,
    /// Entries of the log.
    pub entries: u64,
    /// States of the trial that could be examined.
    pub states: u64,
    /// The layers above the log could not be brought up in it.
    pub broken: Option<Say>,
}

impl Crash {
    /// Blocks that were not as written or cannot be read any more; 1 at least where nothing could be brought up.
    pub fn wrong(&self) -> u64 {
        self.checked.wrong().saturating_add(self.unread).max(u64::from(self.broken().is_some()))
    }

    /// Why the layers above the log could not be brought up.
    pub fn broken(&self) -> Option<&Say> {
        self.replayed.as_ref()?.broken.as_ref()
    }
}
