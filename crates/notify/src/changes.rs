//! What changed between two looks at a journal, and which of it people want to hear. Pure.

use crate::item::{Happening, Item};
use std::collections::{BTreeMap, BTreeSet};
use stend_analyse::journal::{JournalRule, Problem, ProblemSeverity};
use stend_base::Nanos;

/// What was seen of each problem: when it opened, how bad it was, whether it is open, how often it came back.
type Seen = (Nanos, ProblemSeverity, bool, u32);

/// What people said of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Plain,
    /// Somebody knows of it: that it comes back is no news.
    Acknowledged,
    /// No messages now.
    Muted,
}

/// Follows the problems of one journal.
#[derive(Debug, Default)]
pub struct Changes {
    seen: BTreeMap<(JournalRule, String), Seen>,
    /// Problems of which something was kept back; they are sent when that ends and they are open.
    kept_back: BTreeSet<(JournalRule, String)>,
    /// Those of them that are open and muted.
    muted: BTreeSet<(String, String)>,
    /// Problems that are open and acknowledged.
    acknowledged: BTreeSet<(String, String)>,
}

impl Changes {
    /// Rule and object of every problem that is open and muted, as of the last look.
    pub fn muted(&self) -> &BTreeSet<(String, String)> {
        &self.muted
    }

    /// Rule and object of every problem that is open and acknowledged, as of the last look. Those who send have to know that it is open: its
    /// return may be no item.
    pub fn acknowledged(&self) -> &BTreeSet<(String, String)> {
        &self.acknowledged
    }

    /// What happened since the last look, problems in the order in which they opened. What is said of a problem keeps back that it opens, but
    /// not that it is over: a receiver that knows of it would show it for ever. `unix_s` has the seconds since 1970 at a time of the host: where
    /// it slept, or its clock was set, what was before keeps the time that it had.
    pub fn look(
        &mut self,
        problems: &[Problem],
        unix_s: &dyn Fn(Nanos) -> i64,
        standing: &dyn Fn(&Problem) -> Standing,
    ) -> Vec<Item> {
        self.muted.clear();
        self.acknowledged.clear();
        let mut found = Vec::new();
        for problem in problems {
            let is_open = problem.closed.is_none();
            let says = standing(problem);
            let key = (problem.rule, problem.object.clone());
            if says == Standing::Muted && is_open {
                self.muted.insert((problem.rule.key().to_string(), problem.object.clone()));
                self.kept_back.insert(key.clone());
            }
            if says == Standing::Acknowledged && is_open {
                self.acknowledged.insert((problem.rule.key().to_string(), problem.object.clone()));
            }
            let was_kept_back = (says == Standing::Plain || !is_open) && self.kept_back.remove(&key);
            let now = (problem.opened, problem.severity, problem.closed.is_none(), problem.times);
            let before = self.seen.insert(key.clone(), now);
            if before == Some(now) {
                // What was sent before it was muted is no news for the receivers, and their queue knows that.
                found.extend((was_kept_back && is_open).then(|| item_of(problem, Happening::Opened, unix_s)));
                continue;
            }
            let was_open = before.is_some_and(|(opened, _, open, times)| open && (opened, times) == (now.0, now.3));
            let is_worse = before.is_some_and(|(_, severity, ..)| severity < problem.severity);
            let happened = match (was_open, problem.closed) {
                (_, Some(_)) => Happening::Closed,
                (false, None) => Happening::Opened,
                (true, None) if is_worse && !was_kept_back => Happening::Worse,
                (true, None) if was_kept_back => Happening::Opened,
                (true, None) => continue,
            };
            match (says, happened) {
                (Standing::Muted, Happening::Opened | Happening::Worse) => continue,
                // Somebody took note of this one before.
                (Standing::Acknowledged, Happening::Opened) => {
                    self.kept_back.insert(key);
                    continue;
                }
                _ => {}
            }
            // It opened and closed between two looks: both are sent, unless people wanted to hear neither.
            if happened == Happening::Closed && !was_open && says == Standing::Plain {
                found.push(item_of(problem, Happening::Opened, unix_s));
            }
            found.push(item_of(problem, happened, unix_s));
        }
        found
    }
}

fn item_of(problem: &Problem, happened: Happening, unix_s: &dyn Fn(Nanos) -> i64) -> Item {
    Item {
        happened,
        rule: problem.rule.key().to_string(),
        category: problem.rule.limits().category.key().to_string(),
        is_critical: problem.severity == ProblemSeverity::Critical,
        object: problem.object.clone(),
        name: problem.rule.name(),
        evidence: problem.evidence.clone(),
        advice: problem.rule.advice(),
        opened: unix_s(problem.opened),
        closed: problem.closed.map(unix_s).filter(|_| happened == Happening::Closed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Say;

    /// A host that started 1000 s after 1970.
    fn unix_s(at: Nanos) -> i64 {
        1000 + (at.0 / 1_000_000_000) as i64
    }

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
        let mut changes = Changes::default();
        let mut look = |problem: Problem| -> Vec<(Happening, bool, i64, Option<i64>)> {
            let told = changes.look(&[problem], &unix_s, &|_| Standing::Plain).into_iter();
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

    #[test]
    fn after_the_host_slept_the_times_of_messages_are_those_of_the_wall_and_what_was_before_keeps_its_own() {
        // An hour, at 150 s by a clock that stands still meanwhile.
        let slept = |at: Nanos| unix_s(at) + if at < Nanos::secs(150) { 0 } else { 3600 };
        let mut changes = Changes::default();
        let warning = ProblemSeverity::Warning;
        let mut times = |problem: Problem| {
            let items = changes.look(&[problem], &slept, &|_| Standing::Plain).into_iter();
            items.map(|item| (item.opened, item.closed)).collect::<Vec<_>>()
        };
        assert_eq!(times(problem(warning, None, 1)), [(1100, None)]);
        assert_eq!(times(problem(warning, Some(200), 1)), [(1100, Some(4800))]);
    }

    /// What is heard of looks at a problem, of which people say something meanwhile.
    fn heard(looks: &[(Option<u64>, u32, ProblemSeverity, Standing)]) -> Vec<Vec<Happening>> {
        let mut changes = Changes::default();
        let look = |(closed, times, severity, says): &(Option<u64>, u32, ProblemSeverity, Standing)| {
            let items = changes.look(&[problem(*severity, *closed, *times)], &unix_s, &|_| *says);
            items.into_iter().map(|item| item.happened).collect()
        };
        looks.iter().map(look).collect()
    }

    #[test]
    fn a_muted_problem_is_sent_when_the_mute_ends_and_it_is_open_and_not_otherwise() {
        use Happening::*;
        use Standing::*;
        let warning = ProblemSeverity::Warning;
        let (muted, plain) = ((None, 1, warning, Muted), (None, 1, warning, Plain));
        assert_eq!(heard(&[muted, muted, plain, plain]), [vec![], vec![], vec![Opened], vec![]]);
        // It became critical meanwhile: one message has both.
        let critical = (None, 1, ProblemSeverity::Critical, Plain);
        assert_eq!(heard(&[muted, critical]), [vec![], vec![Opened]]);
        // It came and went between two looks: the queue, which knows of no begin, drops the end.
        assert_eq!(heard(&[(Some(200), 1, warning, Muted)]), [vec![Closed]]);
        // That it is over is for those who heard that it opened, which the queue knows.
        let over = (Some(200), 1, warning, Muted);
        assert_eq!(heard(&[plain, muted, over]), [vec![Opened], vec![], vec![Closed]]);
        assert_eq!(heard(&[plain, muted, over, (None, 2, warning, Muted)])[3], vec![]);
        let mut changes = Changes::default();
        changes.look(&[problem(warning, None, 1)], &unix_s, &|_| Muted);
        assert_eq!(changes.muted().iter().map(|(rule, _)| rule.as_str()).collect::<Vec<_>>(), ["drive_hot"]);
        changes.look(&[problem(warning, Some(200), 1)], &unix_s, &|_| Muted);
        assert!(changes.muted().is_empty(), "it is over");
    }

    #[test]
    fn an_acknowledged_problem_that_comes_back_is_no_news_but_that_it_is_worse_or_over_is() {
        use Happening::*;
        use Standing::*;
        let (warning, critical) = (ProblemSeverity::Warning, ProblemSeverity::Critical);
        let known = (None, 1, warning, Acknowledged);
        let looks = [
            (None, 1, warning, Plain),
            known,
            (Some(200), 1, warning, Acknowledged),
            (None, 2, warning, Acknowledged),
            (None, 2, critical, Acknowledged),
            // It was taken back.
            (None, 2, critical, Plain),
        ];
        assert_eq!(heard(&looks), [vec![Opened], vec![], vec![Closed], vec![], vec![Worse], vec![Opened]]);
    }

    #[test]
    fn a_recorder_that_begins_again_knows_that_an_acknowledged_problem_is_open() {
        let mut changes = Changes::default();
        let known = |_: &Problem| Standing::Acknowledged;
        assert_eq!(changes.look(&[problem(ProblemSeverity::Warning, None, 1)], &unix_s, &known), []);
        assert_eq!(changes.acknowledged().iter().map(|(rule, _)| rule.as_str()).collect::<Vec<_>>(), ["drive_hot"]);
        changes.look(&[problem(ProblemSeverity::Warning, Some(200), 1)], &unix_s, &known);
        assert!(changes.acknowledged().is_empty(), "it is over");
    }
}
