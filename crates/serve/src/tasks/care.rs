//! Looks after tasks: what has become of their processes, and which begins next. Must not be asked by requests.

use super::process::{self, Seen};
use super::queue::{self, Turn};
use super::{EVERY, KEPT_MAX, Known, State, Tasks, ended, now, over};
use std::path::Path;
use std::sync::PoisonError;
use std::time::Duration;
use stend_api::TaskState;
use stend_base::{Code, Error, Say, say};
use stend_record::store as run_files;

impl Tasks {
    /// Looks after all tasks until the server ends.
    pub(super) fn look_after(&self) {
        let mut state = self.state();
        loop {
            state.children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
            for at in 0..state.tasks.len() {
                self.look(&mut state, at);
            }
            self.begin(&mut state);
            self.forget(&mut state);
            let waits = |known: &Known| !known.task.state.is_over() || known.is_unsaved;
            let pause = if state.tasks.iter().any(waits) { EVERY } else { Duration::from_secs(3600) };
            state = self.wake.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// What has become of a task.
    fn look(&self, state: &mut State, at: usize) {
        let known = &mut state.tasks[at];
        if known.task.state.is_over() {
            if known.is_unsaved {
                known.is_unsaved = state.store.change(&known.task).is_err();
            }
            return;
        }
        let home = self.home(&known.task.id);
        let (before, seen) = (known.task.clone(), home.look());
        // One that waits has no files yet, unless a server began it and was killed before it could write that down.
        if known.task.state == TaskState::Queued && seen == Seen::Nothing {
            return;
        }
        let sessions = home.sessions();
        (known.task.runs, known.task.sessions) = (process::runs(&sessions), sessions.len());
        match seen {
            Seen::Lives => {
                known.task.state = TaskState::Running;
                known.task.current_run = sessions.last().cloned();
                known.task.reason = None;
                known.task.started_unix = known.task.started_unix.or(Some(now()));
                known.ask_to_stop(&self.runs);
            }
            Seen::Ended(end) => ended(&mut known.task, end),
            Seen::Gone | Seen::Nothing => {
                let gone = say!(
                    "its process is gone without a result; what it measured is in its run files",
                    "её процесс исчез без результата; измеренное осталось в файлах прогонов"
                );
                over(&mut known.task, TaskState::Lost, None, Some((Code::HostLost, gone)));
            }
        }
        if state.tasks[at].task != before {
            self.keep(state, at);
        }
    }

    /// Begins what need not wait.
    fn begin(&self, state: &mut State) {
        let turns = queue::turns(&state.tasks.iter().map(|known| &known.task).collect::<Vec<_>>());
        for (at, turn) in turns {
            let task = &mut state.tasks[at].task;
            match turn {
                Turn::Wait(why) if task.reason.as_ref() == Some(&why) => continue,
                Turn::Wait(why) => task.reason = Some(why),
                Turn::Begin => {
                    let order = state.store.order(&task.id);
                    let begun = order.and_then(|order| {
                        self.home(&task.id).start(&self.program, &order).map_err(|error| not_begun(&error))
                    });
                    match begun {
                        Ok(child) => {
                            (task.state, task.reason, task.started_unix) = (TaskState::Running, None, Some(now()));
                            state.children.push(child);
                        }
                        Err(error) => over(task, TaskState::Failed, None, Some((error.code, error.message))),
                    }
                }
            }
            self.keep(state, at);
        }
    }

    /// Forgets the oldest that are over.
    fn forget(&self, state: &mut State) {
        let over = state.tasks.iter().map(|known| &known.task).filter(|task| task.state.is_over());
        let mut over: Vec<(String, u64)> = over.map(|task| (task.id.clone(), task.change)).collect();
        over.truncate(over.len().saturating_sub(KEPT_MAX));
        for (id, change) in over {
            if state.store.remove(&id).is_ok() {
                self.home(&id).remove();
                self.published().remove(&change);
                state.tasks.retain(|known| known.task.id != id);
            }
        }
    }
}

impl Known {
    /// Asks the run that goes on to end, once in each of its sessions; one that has no socket yet is asked at the next look.
    fn ask_to_stop(&mut self, runs: &Path) {
        let (Some(now), Some(run)) = (self.stop, &self.task.current_run) else { return };
        let asked = Some((self.task.sessions, now));
        let file = runs.join(format!("{run}.{}", run_files::EXTENSION));
        if self.asked != asked && stend_run::ask_to_stop(&file, now).is_ok() {
            self.asked = asked;
        }
    }
}

fn not_begun(error: &std::io::Error) -> Box<Error> {
    let Say { en, ru } = stend_sys::regular::why(error);
    Error::preflight(say!("its process could not begin: {en}", "её процесс не удалось начать: {ru}"))
}
