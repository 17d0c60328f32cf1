//! How a target is brought to a known state before anything is measured: purge, then passes over the range (workload-independent
//! preconditioning, WIPC).

use serde::{Deserialize, Serialize};
use stend_base::Bytes;

/// What comes before the trials, instead of one plain fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precondition {
    /// Whether and how the range is emptied first.
    pub purge: Purge,
    /// How often the range is then written, in order; 0 leaves it as the purge did.
    pub passes: u32,
    /// Bytes per write.
    pub block_size: Bytes,
}

/// How a range is emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purge {
    /// Not at all.
    None,
    /// The range is discarded; where the target has no discard, it is zeroed.
    Discard,
}
