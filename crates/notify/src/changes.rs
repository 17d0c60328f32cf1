//! What changed between two looks at a journal. Pure.

use crate::item::{Happening, Item};
use std::collections::BTreeMap;
use stend_analyse::journal::{JournalRule, Problem, ProblemSeverity};
use stend_base::Nanos;

/// What was seen of each problem: when it opened, how bad it was, whether it is open, how often it came back.
type Seen = (Nanos, ProblemSeverity, bool, u32);

/// Follows the problems of one journal.
#[derive(Debug, Default)]
pub struct Changes {
    seen: BTreeMap<(JournalRule, String), Seen>,
    /// What is added to a time of the host to get ns since 1970.
    realtime_offset_ns: i64,
}

impl Changes {
    /// Changes of a journal whose clock is so many ns behind wall-clock time.
    pub fn new(realtime_offset_ns: i64) -> Changes {
        Changes { seen: BTreeMap::new(), realtime_offset_ns }
    }

    /// What happened since the last look; problems in the order in which they opened.
    pub fn look(&mut self, problems: &[Problem]) -> Vec<Item> {
        let mut found = Vec::new();
        for problem in problems {
            let key = (problem.rule, problem.object.clone());
            let now = (problem.opened, problem.severity, problem.closed.is_none(), problem.times);
            let before = self.seen.insert(key, now);
            if before == Some(now) {
                continue;
            }
            let was_open = before.is_some_and(|(opened, _, open, times)| open && (opened, times) == (now.0, now.3));
            let is_worse = before.is_some_and(|(_, severity, ..)| severity < problem.severity);
            let happened = match (was_open, problem.closed) {
                (_, Some(_)) => Happening::Closed,
                (false, None) => Happening::Opened,
                (true, None) if is_worse => Happening::Worse,
                (true, None) => continue,
            };
            // It opened and closed between two looks: both are sent.
            if happened == Happening::Closed && !was_open {
                found.push(self.item(problem, Happening::Opened));
            }
            found.push(self.item(problem, happened));
        }
        found
    }

    fn item(&self, problem: &Problem, happened: Happening) -> Item {
        let unix = |at: Nanos| self.realtime_offset_ns.saturating_add_unsigned(at.0).div_euclid(1_000_000_000);
        Item {
            happened,
            rule: problem.rule.key().to_string(),
            category: problem.rule.limits().category.key().to_string(),
            is_critical: problem.severity == ProblemSeverity::Critical,
            object: problem.object.clone(),
            name: problem.rule.name(),
            evidence: problem.evidence.clone(),
            advice: problem.rule.advice(),
            opened: unix(problem.opened),
            closed: problem.closed.map(unix).filter(|_| happened == Happening::Closed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Say;

    fn problem(severity: ProblemSeverity, closed: Option<u64>, times: u32) -> Problem {
        Problem {
            rule: JournalRule::DriveHot,
            object: "sda".into(),
            severity,
            evidence: Say::same("80 °C"),
            opened: Nanos::secs(100),
            closed: closed.map(Nanos::secs),
            times,
        }
    }

    #[test]
    fn a_problem_is_told_when_it_opens_worsens_closes_and_comes_back_and_not_again() {
        let (warning, critical) = (ProblemSeverity::Warning, ProblemSeverity::Critical);
        let mut changes = Changes::new(1_000_000_000_000);
        let mut look = |problem: Problem| -> Vec<(Happening, bool, i64, Option<i64>)> {
            let told = changes.look(&[problem]).into_iter();
            told.map(|item| (item.happened, item.is_critical, item.opened, item.closed)).collect()
        };
        assert_eq!(look(problem(warning, None, 1)), [(Happening::Opened, false, 1100, None)]);
        assert_eq!(look(problem(warning, None, 1)), []);
        assert_eq!(look(problem(critical, None, 1)), [(Happening::Worse, true, 1100, None)]);
        assert_eq!(look(problem(critical, Some(200), 1)), [(Happening::Closed, true, 1100, Some(1200))]);
        assert_eq!(look(problem(critical, None, 2)), [(Happening::Opened, true, 1100, None)]);
        let (opened, closed) = ((Happening::Opened, true, 1100, None), (Happening::Closed, true, 1100, Some(1300)));
        assert_eq!(look(problem(critical, Some(300), 3)), [opened, closed], "it came and went between two looks");
    }
}
