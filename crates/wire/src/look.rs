//! What a host is asked about itself where no run follows.

use serde::{Deserialize, Serialize};
use stend_record::{Checkup, Inventory, TargetFacts};

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Look {
    /// Whether it can measure; also this target.
    Checkup(Option<String>),
    /// Its drives and what is built on them.
    Inventory {
        /// Ask each drive for its health, by a command.
        ask_drives: bool,
    },
    /// A target, by its path or identity.
    Target(String),
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Seen {
    /// Answer to [`Look::Checkup`].
    Checkup(Checkup),
    /// Answer to [`Look::Inventory`].
    Inventory(Inventory),
    /// Answer to [`Look::Target`].
    Target(TargetFacts),
}
