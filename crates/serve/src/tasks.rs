//! Tasks: orders that were given to the server, each carried out by a process of its own that outlives the server. One thread looks where
//! they are and begins the next. Must not measure, and gives an order no permission that it does not have.

mod care;
mod process;
mod queue;
mod store;

use crate::clock::now_unix as now;
use crate::confirmations::{Confirmations, Confirmed};
use crate::drives;
use crate::printed::printed;
use crate::token;
use crate::users::Sender;
use process::Home;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use stend_api::{Role, Task, TaskList, TaskState, Validated};
use stend_base::{Code, Error, Kind, Lang, Result, Say, say};
use stend_record::store as run_files;
use stend_session::ordered::{Ordered, ordered};
use store::Store;
use tokio::sync::watch;

/// How often the processes are looked at.
const EVERY: Duration = Duration::from_millis(250);
/// Tasks that wait.
const QUEUED_MAX: usize = 200;
/// Tasks that are over and still known; the oldest go first, with their logs.
const KEPT_MAX: usize = 1000;
/// Most tasks of one piece of a stream.
const PIECE: usize = 256;

/// All of them.
pub struct Tasks {
    /// Directories of their processes.
    directory: PathBuf,
    /// Where their run files go.
    runs: PathBuf,
    /// This program.
    program: PathBuf,
    /// What dry runs have shown.
    confirmations: Confirmations,
    state: Mutex<State>,
    /// Each task as it was kept last, by its change. Streams read it on the thread of all connections: it is never held while anything is written.
    published: Mutex<BTreeMap<u64, Task>>,
    /// Wakes the thread that looks after them.
    wake: Condvar,
    /// Tells streams that there is more.
    changed: watch::Sender<()>,
}

struct State {
    store: Store,
    /// Oldest first.
    tasks: Vec<Known>,
    change: u64,
    /// Processes that this server began: the system wants their end to be asked for.
    children: Vec<Child>,
}

struct Known {
    task: Task,
    /// The last change could not be kept, such as on a full disk.
    is_unsaved: bool,
    /// Its runs shall end: at once, if true.
    stop: Option<bool>,
    /// The session that was asked last, by its number, and whether at once.
    asked: Option<(usize, bool)>,
}

impl Tasks {
    /// Finds the tasks of earlier servers, and looks after all from now on.
    ///
    /// Errors: `Preflight` if another server does so, or what is kept cannot be read.
    pub fn open(directory: &Path, runs: PathBuf, program: PathBuf) -> Result<Arc<Tasks>> {
        run_files::make_server_directory(directory)?;
        let store = Store::open(directory)?;
        let tasks = store.all()?;
        let change = tasks.iter().map(|task| task.change).max().unwrap_or(0);
        let published = Mutex::new(tasks.iter().map(|task| (task.change, task.clone())).collect());
        let homes = directory.join("tasks");
        let known = |task: Task| {
            let stop = Home::new(&homes, &task.id).stop();
            Known { task, is_unsaved: false, stop, asked: None }
        };
        let state = State { store, tasks: tasks.into_iter().map(known).collect(), change, children: Vec::new() };
        let tasks = Arc::new(Tasks {
            directory: directory.join("tasks"),
            runs,
            program,
            confirmations: Confirmations::default(),
            state: Mutex::new(state),
            published,
            wake: Condvar::new(),
            changed: watch::Sender::new(()),
        });
        let looking = tasks.clone();
        let thread = std::thread::Builder::new().name("tasks".into()).spawn(move || looking.look_after());
        thread.map_err(|error| {
            Error::preflight(say!("the server cannot begin: {error}", "сервер не может начать: {error}"))
        })?;
        Ok(tasks)
    }

    /// Whether an order can be read.
    ///
    /// Errors: those of its parsers.
    pub fn validate(&self, text: &str) -> Result<Validated> {
        let Ordered { work, on, confirms, overwrites_signatures, commands, builds, loads, .. } = self.ordered(text)?;
        let (schema, schema_version) = ("stend-order-check", 1);
        Ok(Validated { schema, schema_version, work, on, loads, confirms, overwrites_signatures, commands, builds })
    }

    /// What an order asks for.
    ///
    /// Errors: those of its parsers.
    pub fn ordered(&self, text: &str) -> Result<Ordered> {
        ordered(text, &|targets| drives::below(&self.program, targets))
    }

    /// What an order would do, as `stend run --dry-run --json` prints it (of several targets as an array), and what confirms that it may write to devices.
    ///
    /// Errors: those of that command.
    pub fn dry_run(&self, text: &str, sender: &Sender) -> Result<(Vec<u8>, Option<String>)> {
        let (order, preview) = self.previewed(text, &["--json"])?;
        let confirmation = match order.is_destructive() && sender.role >= Role::Destroyer {
            true => Some(self.confirmations.give(&order.text, &preview, Instant::now())?),
            false => None,
        };
        Ok((process::as_one(preview), confirmation))
    }

    /// The same as people read it, in a language, with or without colours. It confirms nothing.
    ///
    /// Errors: as [`dry_run`](Self::dry_run).
    pub fn dry_run_text(&self, text: &str, lang: Lang, color: bool) -> Result<Vec<u8>> {
        let color = if color { "always" } else { "never" };
        Ok(self.previewed(text, &["--lang", lang.tag(), "--color", color])?.1)
    }

    /// Takes an order; `true`: it is new.
    ///
    /// Errors: those of reading it; `NotAllowed` for one that a server does not carry out; `TaskConflict` if the id has another order;
    /// `ServerBusy` if too many wait.
    pub fn put(&self, id: &str, text: &str, sender: &Sender, confirmed: &Confirmed) -> Result<(Task, bool)> {
        let order_sha256 = token::hexadecimal(&token::hash(text));
        let same = |state: &State| {
            let found = state.tasks.iter().find(|known| known.task.id == id)?;
            Some(if found.task.order_sha256 == order_sha256 {
                Ok((found.task.clone(), false))
            } else {
                Err(another(id))
            })
        };
        if let Some(known) = same(&self.state()) {
            return known;
        }
        let order = self.ordered(text)?;
        may_be_given(&order, sender)?;
        if order.is_destructive() {
            let now = || Ok(self.previewed(text, &["--json"])?.1);
            self.confirmations.take(&order.text, &order.confirms, confirmed, now, Instant::now())?;
        }
        let mut state = self.state();
        // Somebody else may have been faster while the drives were looked at.
        if let Some(known) = same(&state) {
            return known;
        }
        if state.tasks.iter().filter(|known| known.task.state == TaskState::Queued).count() >= QUEUED_MAX {
            return Err(Error::new(
                Code::ServerBusy,
                say!("{QUEUED_MAX} tasks wait already", "уже ждут задач: {QUEUED_MAX}"),
            ));
        }
        let Ordered { work, on, label, loads, text, .. } = order;
        let task = Task {
            id: id.to_string(),
            change: state.change + 1,
            state: TaskState::Queued,
            reason: None,
            code: None,
            exit_code: None,
            work,
            on,
            label,
            loads,
            runs: Vec::new(),
            current_run: None,
            sessions: 0,
            order_sha256,
            created_unix: now(),
            started_unix: None,
            ended_unix: None,
        };
        // What is left of a forgotten task of this id.
        self.home(id).remove();
        state.store.add(&task, &text)?;
        state.change += 1;
        state.tasks.push(Known { task: task.clone(), is_unsaved: false, stop: None, asked: None });
        self.publish(0, &task);
        drop(state);
        self.wake.notify_one();
        Ok((task, true))
    }

    /// A task.
    ///
    /// Errors: `TaskUnknown`.
    pub fn get(&self, id: &str) -> Result<Task> {
        let state = self.state();
        let found = state.tasks.iter().find(|known| known.task.id == id);
        found.map(|known| known.task.clone()).ok_or_else(|| unknown(id))
    }

    /// The newest tasks, or those before the one that a page ended with, whatever its state is by now.
    ///
    /// Errors: `TaskUnknown` for a cursor whose task is forgotten.
    pub fn list(&self, limit: usize, wanted: Option<TaskState>, cursor: Option<&str>) -> Result<TaskList> {
        let state = self.state();
        let end = match cursor {
            None => state.tasks.len(),
            Some(id) => state.tasks.iter().position(|known| known.task.id == id).ok_or_else(|| unknown(id))?,
        };
        let fits = |known: &&Known| wanted.is_none_or(|wanted| known.task.state == wanted);
        let found: Vec<&Known> = state.tasks.iter().take(end).rev().filter(fits).collect();
        let left_out = found.len().saturating_sub(limit);
        let tasks: Vec<Task> = found.into_iter().take(limit).map(|known| known.task.clone()).collect();
        let next = tasks.last().filter(|_| left_out > 0).map(|task| task.id.clone());
        Ok(TaskList { schema: "stend-tasks", schema_version: 1, tasks, left_out, next })
    }

    /// The text of its order.
    ///
    /// Errors: `TaskUnknown`; those of reading it.
    pub fn order(&self, id: &str) -> Result<String> {
        self.get(id)?;
        self.state().store.order(id)
    }

    /// The end of what a process printed.
    ///
    /// Errors: `TaskUnknown`.
    pub fn log(&self, id: &str) -> Result<Vec<u8>> {
        self.get(id)?;
        Ok(self.home(id).log())
    }

    /// Has the runs of a task end, or takes it from the queue; its state before that.
    ///
    /// Errors: `TaskUnknown`; `TaskConflict` if it is over.
    pub fn stop(&self, id: &str, now: bool) -> Result<(TaskState, Task)> {
        let mut state = self.state();
        let at = state.tasks.iter().position(|known| known.task.id == id).ok_or_else(|| unknown(id))?;
        let known = &mut state.tasks[at];
        let before = known.task.state;
        match before {
            TaskState::Queued => {
                let stopped = say!("stopped before it began", "остановлена до начала");
                over(
                    &mut known.task,
                    TaskState::Ended,
                    Some(Kind::Interrupted.exit_code()),
                    Some((Code::Interrupted, stopped)),
                );
                self.keep(&mut state, at);
            }
            TaskState::Running => {
                let now = now || known.stop == Some(true);
                Home::new(&self.directory, id).keep_stop(now).map_err(|error| stop_not_kept(&error))?;
                known.stop = Some(now);
            }
            _ => {
                return Err(Error::new(
                    Code::TaskConflict,
                    say!(
                        "the task `{id}` is over and cannot be stopped",
                        "задача `{id}` закончилась, останавливать нечего"
                    ),
                ));
            }
        }
        let task = state.tasks[at].task.clone();
        drop(state);
        self.wake.notify_one();
        Ok((before, task))
    }

    /// Tasks that changed after this change, in the order of their changes. Waits for no disk.
    pub fn since(&self, after: u64) -> Vec<Task> {
        self.published().range(after.saturating_add(1)..).take(PIECE).map(|(_, task)| task.clone()).collect()
    }

    /// Wakes up its holder when there is more.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// The only way to a dry run: what a server does not carry out is refused before a process reads the order, because a dry run asks sources
    /// and reaches hosts as well.
    fn previewed(&self, text: &str, form: &[&str]) -> Result<(Ordered, Vec<u8>)> {
        let order = self.ordered(text)?;
        let words = [&["run", "--order", "-", "--dry-run"], form].concat();
        let printed = printed(&self.program, &words, &order.text)?;
        Ok((order, printed))
    }

    fn home(&self, id: &str) -> Home {
        Home::new(&self.directory, id)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn published(&self) -> MutexGuard<'_, BTreeMap<u64, Task>> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of a task in the place of what its change before this one was.
    fn publish(&self, before: u64, task: &Task) {
        let mut published = self.published();
        published.remove(&before);
        published.insert(task.change, task.clone());
        drop(published);
        self.changed.send_replace(());
    }

    /// Keeps a change of a task and tells of it.
    fn keep(&self, state: &mut State, at: usize) {
        state.change += 1;
        let before = std::mem::replace(&mut state.tasks[at].task.change, state.change);
        // What cannot be kept now is tried again; after a crash the files of the process tell the same.
        state.tasks[at].is_unsaved = state.store.change(&state.tasks[at].task).is_err();
        self.publish(before, &state.tasks[at].task);
    }
}

/// Ends the tasks that waited when a directory was saved: a copy of a server begins nothing by itself.
///
/// Errors: `Preflight`.
pub fn drop_queue(directory: &Path) -> Result<()> {
    let store = Store::open(directory)?;
    for mut task in store.all()?.into_iter().filter(|task| task.state == TaskState::Queued) {
        let waited = say!(
            "it waited when the backup was made; send it again to have it carried out",
            "она ждала, когда делали резервную копию; чтобы выполнить её, отправьте заказ ещё раз"
        );
        over(&mut task, TaskState::Ended, Some(Kind::Interrupted.exit_code()), Some((Code::Interrupted, waited)));
        store.change(&task)?;
    }
    Ok(())
}

fn stop_not_kept(error: &std::io::Error) -> Box<Error> {
    Error::preflight(say!(
        "the server cannot keep that the task shall end: {error}",
        "серверу не удаётся сохранить просьбу закончить задачу: {error}"
    ))
}

/// Nothing more will happen to a task.
fn over(task: &mut Task, state: TaskState, exit_code: Option<u8>, why: Option<(Code, Say)>) {
    let (code, reason) = why.unzip();
    (task.state, task.exit_code, task.code, task.reason) = (state, exit_code, code, reason);
    (task.current_run, task.ended_unix) = (None, Some(now()));
}

/// Its process has ended. A gate that failed and a stop on request are results; everything else but 0 is a failure.
fn ended(task: &mut Task, end: process::End) {
    let was_carried_out = end.error.as_ref().is_none_or(|error| {
        matches!(error.kind, Kind::GateFailed | Kind::Inconclusive | Kind::Interrupted | Kind::Terminated)
    });
    let state = if was_carried_out { TaskState::Ended } else { TaskState::Failed };
    over(task, state, Some(end.exit_code), end.error.map(|error| (error.code, error.message)));
}

/// An order that writes to devices or executes commands needs who may destroy; none chooses where the server keeps its runs.
fn may_be_given(order: &Ordered, sender: &Sender) -> Result<()> {
    let refused = |message: Say| Err(Error::new(Code::NotAllowed, message));
    if order.is_destructive() && sender.role < Role::Destroyer {
        return refused(say!(
            "the order writes to devices, builds a stand or executes commands, which needs the role `destroyer`",
            "заказ пишет на устройства, поднимает стенд или выполняет команды, для этого нужна роль `destroyer`"
        ));
    }
    if order.names_output {
        return refused(say!(
            "the order names its run file (`output`); runs of the server go to its own directory",
            "заказ называет файл прогона (`output`), а прогоны сервера лежат в его каталоге"
        ));
    }
    Ok(())
}

fn another(id: &str) -> Box<Error> {
    Error::new(Code::TaskConflict, say!("the task `{id}` has another order", "у задачи `{id}` другой заказ"))
        .hint(say!("give this order another id", "дайте этому заказу другое имя"))
}

fn unknown(id: &str) -> Box<Error> {
    Error::new(Code::TaskUnknown, say!("there is no task `{id}`", "задачи `{id}` нет"))
        .hint(say!("`/api/v1/tasks` lists the tasks there are", "задачи перечислены на `/api/v1/tasks`"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Tasks that an earlier server has kept.
    pub(crate) fn kept(directory: &Path, tasks: &[Task]) -> Arc<Tasks> {
        let store = Store::open(directory).unwrap();
        tasks.iter().for_each(|task| store.add(task, "").unwrap());
        drop(store);
        Tasks::open(directory, directory.join("runs"), "/bin/false".into()).unwrap()
    }

    pub(crate) fn task(id: &str) -> Task {
        Task {
            id: id.into(),
            change: 1,
            state: TaskState::Queued,
            reason: None,
            code: None,
            exit_code: None,
            work: "s.yaml".into(),
            on: Vec::new(),
            label: None,
            loads: vec!["local".into()],
            runs: Vec::new(),
            current_run: None,
            sessions: 0,
            order_sha256: String::new(),
            created_unix: 0,
            started_unix: None,
            ended_unix: None,
        }
    }

    #[test]
    fn a_failed_gate_is_a_result_and_a_failed_drive_is_not() {
        let ended = |kind: Kind| {
            let mut task = task("a");
            ended(
                &mut task,
                process::End { exit_code: kind.exit_code(), error: Some(*Error::new(kind, say!("x", "y"))) },
            );
            (task.state, task.exit_code)
        };
        assert_eq!(ended(Kind::GateFailed), (TaskState::Ended, Some(10)));
        assert_eq!(ended(Kind::Interrupted), (TaskState::Ended, Some(130)));
        assert_eq!(ended(Kind::TargetIo), (TaskState::Failed, Some(6)));
    }

    #[test]
    fn a_task_that_is_being_kept_holds_up_no_stream() {
        let dir = tempfile::tempdir().unwrap();
        let over = |id: &str, change| Task { change, state: TaskState::Ended, ..task(id) };
        let tasks = kept(dir.path(), &[over("a", 2), over("b", 1)]);
        let mut state = tasks.state();
        // What an fsync holds for as long as it takes.
        let (sender, receiver) = std::sync::mpsc::channel();
        let reading = tasks.clone();
        std::thread::spawn(move || sender.send([reading.since(0), reading.since(1)]));
        let ids = |tasks: &[Task]| tasks.iter().map(|task| task.id.clone()).collect::<Vec<_>>();
        let seen = receiver.recv_timeout(Duration::from_secs(60)).expect("an answer while the tasks are held");
        assert_eq!(seen.each_ref().map(|tasks| ids(tasks).join(" ")), ["b a", "a"]);
        tasks.keep(&mut state, 1);
        assert_eq!(ids(&tasks.since(0)), ["a", "b"], "only its newest state");
    }

    #[test]
    fn a_second_server_does_not_look_after_the_same_tasks() {
        let dir = tempfile::tempdir().unwrap();
        let open = || Tasks::open(dir.path(), dir.path().join("runs"), "/bin/false".into());
        let _first = open().unwrap();
        let error = open().err().unwrap();
        assert!(error.kind == Kind::Preflight && error.hint.is_some(), "{error}");
    }
}
