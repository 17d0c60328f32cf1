//! Looks after schedules: which time has come, what has become of its task, and who gets a message. One thread looks and gives orders; another one
//! does what may take minutes. Must not be asked by requests.

use super::store::Store;
use super::{Schedules, find, hook, running, task_of, times};
use crate::clock::now_unix;
use crate::printed::printed;
use std::collections::VecDeque;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Duration;
use stend_api::{Due, Notice, Outcome, Schedule, TaskState};
use stend_base::{Kind, say};

/// How often tasks and hooks are looked at while one of them is waited for.
const SOON: Duration = Duration::from_secs(1);
/// How often the clock is looked at otherwise, because it may be set.
const LATER: Duration = Duration::from_secs(20);

/// What may take minutes.
#[derive(Debug)]
pub(super) enum Work {
    /// Compare a run with the baseline of its schedule.
    Compare { schedule: String, due_unix: i64, run: String, baseline: String, loss_percent: usize },
    /// Call the hook.
    Call { schedule: String, hook: String, due: Due },
}

/// Times that have come and whose orders are still to be given: id of the schedule, and the time.
type Given = VecDeque<(String, i64)>;

impl Schedules {
    /// Looks after all until the server ends. `worker` takes what may take minutes, one at a time.
    pub(super) fn look_after(&self, worker: &SyncSender<Work>) {
        let (mut store, mut given) = (self.state(), Given::new());
        loop {
            let pause = self.look(&mut store, now_unix(), &mut given, worker);
            match given.pop_front() {
                Some((id, due_unix)) => {
                    drop(store);
                    self.give(&id, due_unix);
                    store = self.state();
                }
                None => store = self.wake.wait_timeout(store, pause).unwrap_or_else(PoisonError::into_inner).0,
            }
        }
    }

    /// Does what may take minutes until the server ends.
    pub(super) fn work_off(&self, works: Receiver<Work>) {
        for work in works {
            self.work(work);
            self.wake.notify_one();
        }
    }

    /// Notes which times have come before anything is done that takes its time, looks what has ended, and says when to look again.
    fn look(&self, store: &mut Store, now_unix: i64, given: &mut Given, worker: &SyncSender<Work>) -> Duration {
        let (mut compare, mut call, mut pause) = (None, None, LATER);
        for mut schedule in store.all().to_vec() {
            let before = schedule.clone();
            if let Some(due_unix) = times::come(&mut schedule, now_unix) {
                let earlier = running(&schedule).map(|earlier| times::skipped(due_unix, earlier));
                if earlier.is_none() {
                    given.push_back((schedule.id.clone(), due_unix));
                }
                // Kept before its task is there: of a server that ends meanwhile the next one finds a time without a task.
                let task = Some(task_of(&schedule.id, due_unix));
                let begins = Due { task, ..times::due(due_unix, Outcome::Running) };
                times::add(&mut schedule, earlier.unwrap_or(begins));
            }
            let is_given = given.iter().any(|(id, _)| *id == schedule.id);
            // Each is looked at, whatever there is to do already: one that seems to go on would skip its next time.
            let ended = if is_given { None } else { self.ended(&mut schedule) };
            compare = compare.or(ended);
            call = call.or_else(|| to_be_called(&schedule, now_unix));
            if running(&schedule).is_some() || schedule.times.iter().any(|due| due.notice == Notice::Pending) {
                pause = SOON;
            }
            if let Some(next) = schedule.next_unix {
                pause = pause.min(Duration::from_secs(next.saturating_sub(now_unix).max(0) as u64));
            }
            // What cannot be kept now, such as on a full disk, is in memory, and is tried again with the next change.
            if schedule != before {
                store.keep(&schedule);
            }
        }
        // One that the worker has no hand for is found again by a later look: what became of it is kept before the next one is taken.
        compare.or(call).into_iter().for_each(|work| drop(worker.try_send(work)));
        pause
    }

    /// What has become of the task that goes on.
    fn ended(&self, schedule: &mut Schedule) -> Option<Work> {
        let due = running(schedule)?.clone();
        let settle = |schedule: &mut Schedule, outcome, reason| {
            times::settle(schedule, due.due_unix, outcome, reason);
            None
        };
        let task = match self.tasks.get(due.task.as_deref()?) {
            Ok(task) => task,
            Err(error) => return settle(schedule, Outcome::Error, Some(error.message)),
        };
        let run = task.runs.last().cloned();
        match (task.state, task.exit_code) {
            (TaskState::Queued | TaskState::Running, _) => None,
            (TaskState::Ended, Some(0)) => match (schedule.baseline.clone(), run) {
                (None, _) | (_, None) => settle(schedule, Outcome::Passed, None),
                (Some(_), _) if task.order_sha256 != schedule.order_sha256 => {
                    let reason = say!(
                        "the schedule has another order by now, so the run was not compared",
                        "у расписания теперь другой заказ, поэтому прогон не сравнивался"
                    );
                    settle(schedule, Outcome::Passed, Some(reason))
                }
                (Some(baseline), Some(run)) => {
                    let is_first = baseline == "first";
                    if is_first && schedule.first_run.is_none() {
                        schedule.first_run = Some(run);
                        return settle(schedule, Outcome::Passed, None);
                    }
                    let baseline = schedule.first_run.clone().filter(|_| is_first).unwrap_or(baseline);
                    let (id, loss_percent) = (schedule.id.clone(), schedule.loss_percent);
                    Some(Work::Compare { schedule: id, due_unix: due.due_unix, run, baseline, loss_percent })
                }
            },
            (TaskState::Ended, Some(10)) => settle(schedule, Outcome::Failed, task.reason),
            (TaskState::Ended, Some(11)) => settle(schedule, Outcome::Undecided, task.reason),
            _ => settle(schedule, Outcome::Error, task.reason),
        }
    }

    /// Gives the order of a time that has come to the server. Nothing is held meanwhile but `giving`.
    fn give(&self, id: &str, due_unix: i64) {
        let giving = self.giving();
        // Somebody may have started it by hand just now.
        let found = find(&self.state(), id).ok();
        let is_another = |due: &&Due| due.outcome == Outcome::Running && due.due_unix != due_unix;
        let due = match found.as_ref().and_then(|schedule| schedule.times.iter().find(is_another)) {
            Some(earlier) => times::skipped(due_unix, earlier),
            None => self.begun(id, due_unix).unwrap_or_else(|error| times::refused(due_unix, &error)),
        };
        self.change(id, |schedule| times::replace(schedule, due));
        drop(giving);
    }

    fn work(&self, work: Work) {
        match work {
            Work::Compare { schedule, due_unix, run, baseline, loss_percent } => {
                let gate = format!("gate: regression\nrules:\n- {{loss: {loss_percent}%}}\n");
                let words = ["compare", "--gate", "/dev/stdin", "--json", "--", &baseline, &run];
                let (outcome, reason) = match printed(&self.program, &words, &gate) {
                    Ok(_) => (Outcome::Passed, None),
                    Err(error) => (outcome_of(error.kind), Some(error.message)),
                };
                self.change(&schedule, |schedule| times::settle(schedule, due_unix, outcome, reason));
            }
            Work::Call { schedule, hook, due } => {
                let called = hook::call(&hook, &schedule, &due);
                self.change(&schedule, |schedule| times::called(schedule, due.due_unix, called.err(), now_unix()));
            }
        }
    }

    /// Changes one, if it is still there.
    fn change(&self, id: &str, change: impl FnOnce(&mut Schedule)) {
        let mut store = self.state();
        if let Ok(mut schedule) = find(&store, id) {
            change(&mut schedule);
            store.keep(&schedule);
        }
    }
}

fn outcome_of(kind: Kind) -> Outcome {
    match kind {
        Kind::GateFailed => Outcome::Failed,
        Kind::Inconclusive => Outcome::Undecided,
        _ => Outcome::Error,
    }
}

/// The oldest message that is to be delivered now.
fn to_be_called(schedule: &Schedule, now_unix: i64) -> Option<Work> {
    let hook = schedule.notify.clone()?;
    let due = schedule.times.iter().rev().find(|due| times::is_to_be_called(due, now_unix))?;
    Some(Work::Call { schedule: schedule.id.clone(), hook, due: due.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::times::tests::{MIDNIGHT, schedule};
    use crate::tasks::tests::{kept, task};
    use crate::users::Users;
    use std::path::Path;
    use std::sync::mpsc::sync_channel;
    use std::sync::{Arc, Condvar, Mutex};
    use stend_api::Task;

    /// Schedules that no thread looks after, beside these tasks.
    fn schedules(directory: &Path, tasks: &[Task], all: &[Schedule]) -> Schedules {
        let tasks = kept(directory, tasks);
        let users = Arc::new(Users::open(directory, [0; 32]).unwrap());
        let mut store = Store::open(directory).unwrap();
        all.iter().for_each(|schedule| store.put(schedule, Some("")).unwrap());
        let (state, giving) = (Mutex::new(store), Mutex::new(()));
        Schedules { tasks, users, program: "/bin/false".into(), state, giving, wake: Condvar::new() }
    }

    fn outcomes(schedule: &Schedule) -> Vec<(Outcome, Option<&str>)> {
        schedule.times.iter().map(|due| (due.outcome, due.task.as_deref())).collect()
    }

    #[test]
    fn every_time_that_has_come_is_kept_before_a_slow_hook_or_the_first_order_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = Schedule { id: "a".into(), ..schedule("0 * * * *", MIDNIGHT) };
        times::add(&mut first, times::due(MIDNIGHT - 3600, Outcome::Failed));
        let second = Schedule { id: "b".into(), ..schedule("0 * * * *", MIDNIGHT) };
        let schedules = schedules(dir.path(), &[], &[first, second]);
        // The worker has no hand for the message of the first.
        let (worker, _works) = sync_channel(0);
        let mut given = Given::new();
        schedules.look(&mut schedules.state(), MIDNIGHT, &mut given, &worker);
        assert_eq!(given, [("a".to_string(), MIDNIGHT), ("b".to_string(), MIDNIGHT)]);
        let on_disk = Store::open(dir.path()).unwrap();
        let begins = (Outcome::Running, Some("b-20261128T000000Z"));
        assert_eq!(outcomes(&on_disk.all()[1]), [begins]);
        // Neither is over because its task is not there yet; and one that is not taken says why, and has no task.
        schedules.look(&mut schedules.state(), MIDNIGHT + 1, &mut given, &worker);
        assert_eq!(outcomes(&schedules.state().all()[1]), [begins]);
        schedules.give("b", MIDNIGHT);
        let refused = schedules.state().all()[1].clone();
        assert_eq!(outcomes(&refused), [(Outcome::Error, None)]);
        assert!(refused.times[0].reason.is_some() && refused.times[0].notice == Notice::Pending);
        assert!(schedules.tasks.get("b-20261128T000000Z").is_err());
    }

    #[test]
    fn a_server_that_ended_while_it_gave_an_order_leaves_a_time_that_the_next_one_calls_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let mut nightly = schedule("0 2 * * *", MIDNIGHT + 86_400);
        let task = Some("nightly-20261128T000000Z".to_string());
        times::add(&mut nightly, Due { task, ..times::due(MIDNIGHT, Outcome::Running) });
        // A message of another one, for which the worker has no hand, keeps it from nothing.
        let mut other = Schedule { id: "a".into(), ..schedule("0 2 * * *", MIDNIGHT + 86_400) };
        times::add(&mut other, times::due(MIDNIGHT - 3600, Outcome::Failed));
        let schedules = schedules(dir.path(), &[], &[other, nightly]);
        let (worker, _works) = sync_channel(0);
        schedules.look(&mut schedules.state(), MIDNIGHT + 60, &mut Given::new(), &worker);
        let settled = schedules.state().all()[1].times[0].clone();
        assert!(settled.outcome == Outcome::Error && settled.reason.is_some(), "{settled:?}");
    }

    #[test]
    fn a_run_of_an_order_that_was_replaced_is_no_baseline_and_is_not_compared() {
        let dir = tempfile::tempdir().unwrap();
        let ended = Task {
            state: TaskState::Ended,
            exit_code: Some(0),
            runs: vec!["R-1".into()],
            order_sha256: "old".into(),
            ..task("t")
        };
        let of = |id: &str, order: &str, first_run: Option<&str>| {
            let mut of = Schedule { id: id.into(), order_sha256: order.into(), ..schedule("0 * * * *", MIDNIGHT) };
            (of.baseline, of.first_run) = (Some("first".into()), first_run.map(String::from));
            times::add(&mut of, Due { task: Some("t".into()), ..times::due(0, Outcome::Running) });
            of
        };
        let schedules = schedules(dir.path(), &[ended], &[]);
        let done = |mut schedule: Schedule| {
            let work = schedules.ended(&mut schedule).is_some();
            (schedule.first_run.clone(), schedule.times[0].outcome, schedule.times[0].reason.is_some(), work)
        };
        assert_eq!(done(of("a", "old", None)), (Some("R-1".into()), Outcome::Passed, false, false));
        assert_eq!(done(of("b", "new", None)), (None, Outcome::Passed, true, false));
        assert_eq!(done(of("c", "new", Some("R-0"))), (Some("R-0".into()), Outcome::Passed, true, false));
        assert_eq!(done(of("d", "old", Some("R-0"))), (Some("R-0".into()), Outcome::Running, false, true));
    }
}
