//! What a user allows: data of an order, never of a suite. Who may do what with it is decided where targets are looked at.

use serde::{Deserialize, Serialize};

/// What the user allowed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Permission {
    /// Every `--confirm=IDENTITY`.
    pub confirm: Vec<String>,
    /// Every `--overwrite-signature=NAME`.
    pub overwrite_signatures: Vec<String>,
    /// `--allow-commands`: what the arms of the suite execute, and the settings that they change.
    pub commands: bool,
    /// `--beside`: another run may load the same drives at the same time.
    pub beside: bool,
}

impl Permission {
    /// Whether writing to an existing target was asked for at all.
    pub fn asks(&self) -> bool {
        !self.confirm.is_empty() || !self.overwrite_signatures.is_empty()
    }
}
