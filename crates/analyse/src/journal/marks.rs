//! What people say of problems: that they know of one (acknowledged), or want no messages until a time (muted). Pure: the time is an argument.

mod occurrence;

pub use occurrence::{Author, Named, Occurrence, Wish, named, until};

use serde::{Deserialize, Serialize};
use stend_base::{Say, say};

/// Half of the time after which a problem that comes back is a new one. Samples grow coarser with age, which moves the begin of a problem
/// by a step of 5 minutes at most, unless `--keep` asks for more.
const SAME_BEGIN: i64 = 1800;
/// Longest mute, seconds: nothing is silent for ever.
pub const MUTE_MAX: i64 = 366 * 86_400;
/// Most letters of a comment.
pub const COMMENT_MAX: usize = 500;
/// Most letters of any name.
const NAME_MAX: usize = 256;
/// The end of the year 9999.
const TIME_MAX: i64 = 253_402_300_799;
/// How long an acknowledgement is kept, seconds: samples stay for 400 days by default.
const KEPT: i64 = 400 * 86_400;

/// What one person says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// The host with the problem.
    pub host: String,
    /// What the problem concerns, as the journal names it.
    pub object: String,
    /// Stable word of the rule; absent: every rule, and also what lies below the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What is said.
    pub mark: MarkKind,
    /// Who said it.
    pub by: String,
    /// When, seconds since 1970.
    pub at_unix_s: i64,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// What is said of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum MarkKind {
    /// Somebody knows of this occurrence.
    Acknowledged {
        /// When it opened, seconds since 1970.
        opened_unix_s: i64,
    },
    /// No messages until then, also of occurrences that are yet to come.
    Muted {
        /// The end, seconds since 1970.
        until_unix_s: i64,
    },
}

impl Mark {
    /// When a mute ends.
    pub fn until(&self) -> Option<i64> {
        match self.mark {
            MarkKind::Muted { until_unix_s } => Some(until_unix_s),
            MarkKind::Acknowledged { .. } => None,
        }
    }

    /// Whether both say the same kind of thing of the same problem: the newer one takes the place of the older.
    pub fn is_of_same(&self, other: &Mark) -> bool {
        let is_kind = match (self.mark, other.mark) {
            (MarkKind::Muted { .. }, MarkKind::Muted { .. }) => true,
            (MarkKind::Acknowledged { opened_unix_s: one }, MarkKind::Acknowledged { opened_unix_s: other }) => {
                begins_with(one, other)
            }
            _ => false,
        };
        is_kind && (&self.host, &self.object, &self.rule) == (&other.host, &other.object, &other.rule)
    }

    /// Errors: what no mark may be, in words.
    pub fn check(&self) -> Result<(), Say> {
        let names = [&self.host, &self.object, &self.by].into_iter().chain(&self.rule);
        for name in names {
            if name.is_empty() || name.chars().count() > NAME_MAX {
                return Err(say!(
                    "a name is empty or longer than {NAME_MAX} letters",
                    "имя пустое или длиннее {NAME_MAX} знаков"
                ));
            }
        }
        let comment = self.comment.as_deref().unwrap_or_default();
        if comment.chars().count() > COMMENT_MAX {
            return Err(say!(
                "the comment is longer than {COMMENT_MAX} letters",
                "комментарий длиннее {COMMENT_MAX} знаков"
            ));
        }
        if [comment, &self.by].iter().any(|text| text.chars().any(char::is_control)) {
            return Err(say!("the comment or a name is more than one line", "комментарий или имя — не одна строка"));
        }
        let times = match self.mark {
            MarkKind::Acknowledged { opened_unix_s } => [self.at_unix_s, opened_unix_s],
            MarkKind::Muted { until_unix_s } => [self.at_unix_s, until_unix_s],
        };
        if times.iter().any(|time| !(0..=TIME_MAX).contains(time)) {
            return Err(say!("a time is outside the years 1970 to 9999", "время вне годов с 1970 по 9999"));
        }
        match (self.mark, &self.rule) {
            (MarkKind::Acknowledged { .. }, None) => {
                Err(say!("an acknowledgement names no rule", "принятие к сведению не называет правило"))
            }
            _ => Ok(()),
        }
    }

    /// Whether it still matters.
    fn holds(&self, now: i64) -> bool {
        match self.mark {
            MarkKind::Acknowledged { .. } => now - self.at_unix_s < KEPT,
            MarkKind::Muted { until_unix_s } => now < until_unix_s,
        }
    }
}

/// All that is said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks(Vec<Mark>);

impl Marks {
    /// These, the oldest first.
    pub fn new(marks: Vec<Mark>) -> Marks {
        Marks(marks)
    }

    /// Every one, the oldest first.
    pub fn all(&self) -> &[Mark] {
        &self.0
    }

    /// Who knows of a problem of a host.
    pub fn acknowledged(&self, host: &str, problem: &Occurrence) -> Option<&Mark> {
        self.0.iter().rev().find(|mark| {
            matches!(mark.mark, MarkKind::Acknowledged { opened_unix_s } if begins_with(opened_unix_s, problem.opened_unix_s))
                && mark.host == host
                && mark.object == problem.object
                && mark.rule.as_deref() == Some(&problem.rule)
        })
    }

    /// The longest mute of a problem of a host that holds now.
    pub fn muted(&self, host: &str, problem: &Occurrence, now: i64) -> Option<&Mark> {
        let covers = |mark: &&Mark| match &mark.rule {
            Some(rule) => mark.object == problem.object && *rule == problem.rule,
            None => {
                let below = problem.object.strip_prefix(&mark.object);
                below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
        };
        self.mutes(host, now).filter(covers).max_by_key(|mark| mark.until())
    }

    /// Mutes of a host that hold now.
    pub fn mutes(&self, host: &str, now: i64) -> impl Iterator<Item = &Mark> {
        self.0.iter().filter(move |mark| mark.host == host && mark.until().is_some_and(|until| now < until))
    }

    /// What is said something of on a host, also where a recording that was begun later has no such problem.
    pub fn occurrences(&self, host: &str) -> Vec<Occurrence> {
        let of = |mark: &Mark| {
            let opened_unix_s = match mark.mark {
                MarkKind::Acknowledged { opened_unix_s } => opened_unix_s,
                MarkKind::Muted { .. } => 0,
            };
            Some(Occurrence { rule: mark.rule.clone()?, object: mark.object.clone(), opened_unix_s, is_open: false })
        };
        self.0.iter().filter(|mark| mark.host == host).filter_map(of).collect()
    }

    /// Takes what is said in place of what was said before, which comes back.
    pub fn put(&mut self, mark: Mark) -> Option<Mark> {
        let before = self.take(&mark);
        self.0.push(mark);
        before
    }

    /// Takes back what is said of the same problem as in this mark.
    pub fn take(&mut self, like: &Mark) -> Option<Mark> {
        let at = self.0.iter().position(|mark| mark.is_of_same(like))?;
        Some(self.0.remove(at))
    }

    /// Forgets what does not matter any more.
    pub fn forget(&mut self, now: i64) {
        self.0.retain(|mark| mark.holds(now));
    }
}

/// Whether both are the begin of the same occurrence.
fn begins_with(one: i64, other: i64) -> bool {
    one.abs_diff(other) <= SAME_BEGIN.unsigned_abs()
}

#[cfg(test)]
mod tests;
