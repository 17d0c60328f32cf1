//! What a look at a machine found: can it measure, and what would disturb it. Data only.

use serde::{Deserialize, Serialize};
use stend_base::Say;

/// Everything that was looked at, in the order of looking.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Checkup {
    /// One entry per thing.
    pub items: Vec<CheckupItem>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckupItem {
    /// Stable name, e.g. `io_uring`; several items may share it, e.g. one per left directory.
    pub id: String,
    /// How bad it is.
    pub level: Level,
    /// What was found.
    pub found: Say,
    /// What that means for measuring; empty if nothing.
    pub affects: Say,
    /// The one command that cures it; `None` if it is fine or no command does.
    pub cure: Option<String>,
}

/// How bad a finding about a machine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Measuring works; something is slower, less exact or not available.
    Warn,
    /// Without a cure nothing worth having is measured.
    Must,
}

impl Checkup {
    /// How many things must be cured.
    pub fn musts(&self) -> usize {
        self.items.iter().filter(|item| item.level == Level::Must).count()
    }
}
