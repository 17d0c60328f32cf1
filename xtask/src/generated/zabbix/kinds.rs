//! What an entry of the tables of the template of Zabbix is. Must not know how it is written down.

use stend_base::Say;

/// What is done to what a pattern finds.
#[derive(Clone, Copy, PartialEq)]
pub enum Then {
    /// Nothing: it is a state.
    Keep,
    /// A counter becomes what it grew by per second.
    PerSecond,
    /// The same in percent.
    PercentOfTime,
    /// A share becomes percent.
    Percent,
}

/// One number.
pub struct Item {
    /// End of its key, behind `stend.`.
    pub key: &'static str,
    pub name: fn() -> Say,
    /// Metric and labels; `@` stands for the labels of what was discovered.
    pub pattern: &'static str,
    /// Several samples fit, and their sum is meant.
    pub sum: bool,
    pub then: Then,
    pub unit: &'static str,
}

/// An alarm. In its expression `(KEY)` stands for the item of that key. Where several of a kind are discovered, it ends also when the first item
/// of its expression has had no value for five minutes.
pub struct Trigger {
    pub name: fn() -> Say,
    pub expression: &'static str,
    /// As Zabbix calls it.
    pub priority: &'static str,
}

/// Things of a kind that a host has several of, found by one of their metrics.
pub struct Discovery {
    /// End of its key.
    pub key: &'static str,
    pub name: fn() -> Say,
    pub pattern: &'static str,
    /// Labels that tell them apart.
    pub labels: &'static [&'static str],
    pub items: &'static [Item],
    pub triggers: &'static [Trigger],
}

/// A number of one sample.
pub const fn item(key: &'static str, name: fn() -> Say, pattern: &'static str, then: Then, unit: &'static str) -> Item {
    Item { key, name, pattern, sum: false, then, unit }
}

/// A number that several samples make together.
pub const fn sum(key: &'static str, name: fn() -> Say, pattern: &'static str, then: Then, unit: &'static str) -> Item {
    Item { key, name, pattern, sum: true, then, unit }
}
