//! What Stend says about a problem, as it waits in the file. Data only.

use serde::{Deserialize, Serialize};
use stend_base::Say;

/// What happened to a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happening {
    /// It opened, or came back.
    Opened,
    /// A warning became critical.
    Worse,
    /// It is over.
    Closed,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// What.
    pub happened: Happening,
    /// Stable word of the rule.
    pub rule: String,
    /// Stable word of the category.
    pub category: String,
    /// Whether data or service are at risk.
    pub is_critical: bool,
    /// What it concerns.
    pub object: String,
    /// What the rule calls it.
    pub name: Say,
    /// What was seen.
    pub evidence: Say,
    /// What to do.
    pub advice: Say,
    /// When it opened, seconds since 1970.
    pub opened: i64,
    /// When it closed.
    pub closed: Option<i64>,
}

impl Item {
    /// Whether both are about the same problem.
    pub fn is_of(&self, rule: &str, object: &str) -> bool {
        self.rule == rule && self.object == object
    }

    /// `critical` or `warning`.
    pub fn severity(&self) -> &'static str {
        if self.is_critical { "critical" } else { "warning" }
    }
}

/// A message to one receiver, until it has been taken there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Ascending.
    pub id: u64,
    /// Name of the receiver.
    pub receiver: String,
    /// It collects what waited.
    pub is_digest: bool,
    /// What it tells; nothing in a test.
    pub items: Vec<Item>,
    /// When it was made, seconds since 1970.
    pub made: i64,
    /// How often it was tried.
    pub tries: u32,
    /// Not tried before then, seconds since 1970.
    pub next: i64,
    /// Messages to this receiver that were given up before this one.
    pub lost: u64,
}
