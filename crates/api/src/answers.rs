//! Answers that no verb prints. Must not compute them.

use serde::Serialize;

/// That the server is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Health {
    /// `stend-health`.
    pub schema: &'static str,
    /// Raised when a field changes its meaning or goes away; new fields do not raise it.
    pub schema_version: u32,
    /// Version of Stend.
    pub stend_version: &'static str,
}

impl Health {
    /// The answer of a server of this version.
    pub fn of(stend_version: &'static str) -> Health {
        Health { schema: "stend-health", schema_version: 1, stend_version }
    }
}

/// That a run was asked to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StopAsked {
    /// `stend-stop`.
    pub schema: &'static str,
    /// Raised when a field changes its meaning or goes away; new fields do not raise it.
    pub schema_version: u32,
    /// Id of the run.
    pub run: String,
    /// Whether it does not wait for its trial.
    pub now: bool,
}
