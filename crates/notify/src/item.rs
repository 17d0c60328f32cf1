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
    /// How often the receiver answered that it has moved.
    #[serde(default)]
    pub moved: u32,
    /// Not tried before then, seconds since 1970.
    pub next: i64,
    /// Messages to this receiver that were given up before this one.
    pub lost: u64,
    /// In a digest, how many problems were muted since the one before.
    #[serde(default)]
    pub muted: u64,
    /// It waits until a person has approved its kind.
    #[serde(default)]
    pub is_held: bool,
}

impl Message {
    /// What a person approves: a rule, and whether a problem opens, becomes critical or is over: `drive_gone/opened`.
    pub fn kind(&self) -> String {
        let word = |happened| match happened {
            Happening::Opened => "opened",
            Happening::Worse => "worse",
            Happening::Closed => "closed",
        };
        self.items.first().map(|item| format!("{}/{}", item.rule, word(item.happened))).unwrap_or_default()
    }

    /// What is through is not sent again. The last item always stays: without any, it would be a test message.
    pub fn drop_sent(&mut self, through: usize) {
        let through = through.min(self.items.len().saturating_sub(1));
        self.items.drain(..through);
    }
}

/// Why a message was not taken, or not all of it.
#[derive(Debug)]
pub struct Unsent {
    /// So many of its items were taken, from the first on.
    pub through: usize,
    /// Why the next one was not.
    pub why: Say,
    /// The receiver pointed to another address. It may have kept the message all the same, so that it is not sent again soon.
    pub has_moved: bool,
}

impl From<Say> for Unsent {
    /// Nothing was taken.
    fn from(why: Say) -> Unsent {
        Unsent { through: 0, why, has_moved: false }
    }
}

/// Sends the parts of a message, one for each of its items, until one is not taken.
pub fn in_turn<T>(parts: Vec<T>, mut send: impl FnMut(T) -> Result<(), Say>) -> Result<(), Unsent> {
    let mut parts = parts.into_iter().enumerate();
    parts.try_for_each(|(through, part)| send(part).map_err(|why| Unsent { through, ..Unsent::from(why) }))
}
