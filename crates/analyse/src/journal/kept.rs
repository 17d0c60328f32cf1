//! Problems that a recorder keeps in its file, because samples grow coarser with age: what changed, and the journal of both. Must not judge.

use super::{JournalRule, Problem, ProblemSeverity, SAME_WITHIN};
use std::collections::BTreeMap;
use stend_base::Nanos;
use stend_record::{Event, EventKind, KeptProblem};

/// What tells one occurrence from others.
type Key = (JournalRule, String, Nanos);

/// Follows the problems of a journal for the file.
#[derive(Debug, Default)]
pub struct Keeper {
    /// How bad each was, when it closed, and how often it came, as the file has it.
    seen: BTreeMap<Key, (ProblemSeverity, Option<Nanos>, u32)>,
}

impl Keeper {
    /// What the file lacks of these problems: that one opened, became worse, closed or came back. Looked at after every sample.
    pub fn changes(&mut self, problems: &[Problem]) -> Vec<EventKind> {
        let before = std::mem::take(&mut self.seen);
        let mut changes = Vec::new();
        for problem in problems {
            let key = (problem.rule, problem.object.clone(), problem.opened);
            let now = (problem.severity, problem.closed, problem.times);
            if before.get(&key) != Some(&now) {
                changes.push(EventKind::Problem(Box::new(kept(problem))));
            }
            self.seen.insert(key, now);
        }
        changes
    }
}

fn kept(problem: &Problem) -> KeptProblem {
    let Problem { rule, object, severity, evidence, opened, closed, times } = problem.clone();
    let (rule, severity) = (rule.key().to_string(), severity.key().to_string());
    KeptProblem { rule, object, severity, evidence, opened, closed, times }
}

/// The last state of each problem that was kept, in the order in which they opened. One of a rule that is not known here is left out.
pub fn kept_problems(events: &[Event]) -> Vec<Problem> {
    let mut last: BTreeMap<Key, Problem> = BTreeMap::new();
    for event in events {
        let EventKind::Problem(kept) = &event.kind else { continue };
        if let Some(problem) = problem(kept) {
            last.insert((problem.rule, problem.object.clone(), problem.opened), problem);
        }
    }
    in_order(last.into_values().collect())
}

fn problem(kept: &KeptProblem) -> Option<Problem> {
    let severities = [ProblemSeverity::Warning, ProblemSeverity::Critical];
    Some(Problem {
        rule: JournalRule::of(&kept.rule)?,
        object: kept.object.clone(),
        severity: severities.into_iter().find(|severity| severity.key() == kept.severity)?,
        evidence: kept.evidence.clone(),
        opened: kept.opened,
        closed: kept.closed,
        times: kept.times,
    })
}

/// Both without what is in both. What was kept was found in every sample, so its times count; what samples say of an open problem is newer.
pub(super) fn together(mut kept: Vec<Problem>, found: Vec<Problem>) -> Vec<Problem> {
    if kept.is_empty() {
        return found;
    }
    let mut more = Vec::new();
    for problem in found {
        let mut same = kept.iter_mut().filter(|of| is_same(of, &problem)).peekable();
        if same.peek().is_none() {
            more.push(problem);
            continue;
        }
        let of_open = same.find(|of| of.closed.is_none() && of.severity == problem.severity);
        of_open.into_iter().for_each(|of| of.evidence = problem.evidence.clone());
    }
    kept.extend(more);
    in_order(kept)
}

/// Whether two states are of one problem: within an hour the same one comes back.
fn is_same(one: &Problem, other: &Problem) -> bool {
    let end = |of: &Problem| of.closed.map_or(Nanos(u64::MAX), |closed| closed + SAME_WITHIN);
    (one.rule, &one.object) == (other.rule, &other.object) && one.opened <= end(other) && other.opened <= end(one)
}

fn in_order(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by_key(|problem| problem.opened);
    problems
}

#[cfg(test)]
mod tests {
    use super::super::tests::{healthy, host, parts, told};
    use super::super::{Journal, Problem};
    use super::*;
    use stend_record::{RunRecord, Sample};

    /// A minute of a pool that is degraded and of a drive that hangs, 600 s after the begin.
    fn sample(s: u64) -> Sample {
        let mut sample = healthy(s);
        if (600..660).contains(&s) {
            parts(&mut sample).pools[0].health = Some("DEGRADED".into());
            sample.disks[0].reads = 100 * 600;
        }
        sample
    }

    /// What a recorder sees of this, and the record with what it keeps.
    fn recorded(seconds: u64) -> (Vec<Problem>, RunRecord) {
        let (mut run, mut keeper) = (host(), Keeper::default());
        let mut journal = Journal::new(&run);
        for s in 0..seconds {
            let sample = sample(s);
            let at = sample.at;
            journal.add(sample);
            run.events.extend(keeper.changes(journal.problems()).into_iter().map(|kind| Event::new(at, kind)));
            journal.forget_closed(at);
        }
        (journal.end(), run)
    }

    fn again(run: &RunRecord, seconds: impl Iterator<Item = u64>) -> Vec<Problem> {
        let mut journal = Journal::new(run);
        seconds.for_each(|s| journal.add(sample(s)));
        journal.end()
    }

    #[test]
    fn a_short_problem_is_still_in_the_journal_when_its_samples_have_grown_coarser() {
        let (live, run) = recorded(1_200);
        assert_eq!(live.len(), 2, "{:?}", told(&live));
        // A sample each five minutes: none is of the bad minute.
        let coarse = || (0..1_200).filter(|s| s % 300 == 100);
        assert_eq!(told(&again(&run, coarse())), told(&live));
        let mut without = run.clone();
        without.events.clear();
        assert_eq!(told(&again(&without, coarse())), [""; 0], "samples alone have lost it");
        // As long as samples are there, both say the same.
        assert_eq!(told(&again(&run, 0..1_200)), told(&live));
        assert_eq!(told(&again(&without, 0..1_200)), told(&live));
    }

    #[test]
    fn what_changes_is_kept_once_and_what_stays_is_not() {
        let (live, run) = recorded(1_200);
        let states = |problem: &Problem| {
            let of =
                |event: &&Event| matches!(&event.kind, EventKind::Problem(kept) if kept.rule == problem.rule.key());
            run.events.iter().filter(of).count()
        };
        assert_eq!(live.iter().map(states).collect::<Vec<_>>(), [2, 2], "it opened and closed");
    }

    #[test]
    fn an_open_problem_has_what_was_seen_last_and_another_hour_is_another_problem() {
        let (_, mut run) = recorded(650);
        let open = again(&run, 0..650);
        assert!(open.iter().all(|problem| problem.closed.is_none()), "{:?}", told(&open));
        // Half a day later the pool is degraded again, which only samples know.
        let late = open.iter().find(|problem| problem.rule == JournalRule::PoolUnhealthy).unwrap();
        let closed = Problem { closed: Some(late.opened + Nanos::SECOND), ..late.clone() };
        let later = Problem { opened: late.opened + Nanos::secs(43_200), ..late.clone() };
        let soon = Problem { opened: late.opened + Nanos::secs(3_000), ..late.clone() };
        assert_eq!(together(vec![closed.clone()], vec![later.clone()]), [closed.clone(), later]);
        assert_eq!(together(vec![closed.clone()], vec![soon]), std::slice::from_ref(&closed));
        let newer = Problem { evidence: stend_base::Say::same("newer"), ..late.clone() };
        assert_eq!(together(vec![late.clone()], vec![newer.clone()]), [newer]);
        // A rule of a later version is no problem here.
        let unknown = KeptProblem { rule: "flux_low".into(), ..kept(late) };
        run.events = vec![Event::new(Nanos(1), EventKind::Problem(Box::new(unknown)))];
        assert_eq!(kept_problems(&run.events), []);
    }
}
