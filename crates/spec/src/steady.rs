//! Rounds before a case is measured: its own load again and again, until its rate is steady (workload-dependent preconditioning,
//! WDPC). Pure.

use serde::{Deserialize, Serialize};
use stend_base::Nanos;

/// Rounds until the rate of a case is steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steady {
    /// Most rounds; then the case is measured all the same, and the result says that it was not steady.
    pub rounds: u32,
    /// Length of each.
    pub round: Nanos,
}

impl Steady {
    /// Time of all rounds that there may be.
    pub fn longest(&self) -> Nanos {
        Nanos(self.round.0.saturating_mul(u64::from(self.rounds)))
    }
}
