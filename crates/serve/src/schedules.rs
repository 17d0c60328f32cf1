//! Orders that are repeated: which time is due, what became of it, and who gets a message. One thread looks after all. Must not measure, and gives no
//! order a permission that it does not have.

mod hook;
mod store;
mod times;

use crate::clock::now_unix;
use crate::printed::printed;
use crate::tasks::Tasks;
use crate::token;
use crate::users::{Change, Sender, Users};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stend_api::{Cron, Due, Notice, Outcome, Repeat, Role, Schedule, ScheduleList, TaskState};
use stend_base::{Code, Error, Kind, Result, Say, say};
use stend_session::ordered::Ordered;
use store::Store;

/// How often tasks and hooks are looked at while one of them is waited for.
const SOON: Duration = Duration::from_secs(1);
/// How often the clock is looked at otherwise, because it may be set.
const LATER: Duration = Duration::from_secs(20);
/// Schedules at the same time.
const SCHEDULES_MAX: usize = 100;
/// Longest id: a task has it with the time behind.
const ID_MAX: usize = 40;
/// Longest address or path of a hook.
const HOOK_MAX: usize = 1000;

/// All of them.
pub struct Schedules {
    tasks: Arc<Tasks>,
    users: Arc<Users>,
    /// This program, which compares.
    program: PathBuf,
    state: Mutex<Store>,
    /// Held while an order is given to the server: that looks at targets, which may take its time, while all else goes on.
    giving: Mutex<()>,
    /// Wakes the thread that looks after them.
    wake: Condvar,
}

/// What takes its time and is done without holding the schedules.
enum Work {
    /// Give the order of a schedule to the server.
    Begin { schedule: Schedule, due_unix: i64 },
    /// Compare a run with the baseline of its schedule.
    Compare { schedule: String, due_unix: i64, run: String, baseline: String, loss_percent: usize },
    /// Call the hook.
    Call { schedule: String, hook: String, due: Due },
}

impl Schedules {
    /// Finds what earlier servers kept, and looks after all from now on.
    ///
    /// Errors: `Preflight` if what is kept cannot be read.
    pub fn open(directory: &Path, tasks: Arc<Tasks>, users: Arc<Users>, program: PathBuf) -> Result<Arc<Schedules>> {
        let state = Mutex::new(Store::open(directory)?);
        let schedules =
            Arc::new(Schedules { tasks, users, program, state, giving: Mutex::new(()), wake: Condvar::new() });
        let looking = schedules.clone();
        let thread = std::thread::Builder::new().name("schedules".into()).spawn(move || looking.look_after());
        thread.map_err(|error| {
            Error::preflight(say!("the server cannot begin: {error}", "сервер не может начать: {error}"))
        })?;
        Ok(schedules)
    }

    /// Repeats an order, or changes how; `true`: it is new. With `only_new` another one of this id stays as it is.
    ///
    /// Errors: those of reading the order; `ScheduleExists`; `NotAllowed` for one that writes to devices, executes commands, names its run file or resumes a
    /// run, for a baseline of one that measures targets in turn, and for a hook of somebody who is no admin; `Usage` for what is no id or no hook; `ServerBusy` if there are too many.
    pub fn put(
        &self,
        id: &str,
        text: &str,
        repeat: &Repeat,
        only_new: bool,
        sender: &Sender,
    ) -> Result<(Schedule, bool, Option<Change>)> {
        let order = self.tasks.ordered(text)?;
        may_be_repeated(id, &order, repeat, sender)?;
        let cron = Cron::parse(&repeat.cron)?;
        let mut store = self.state();
        let known = store.all().iter().find(|known| known.id == id).cloned();
        if known.is_none() && store.all().len() >= SCHEDULES_MAX {
            let message = say!("there are {SCHEDULES_MAX} schedules already", "расписаний уже {SCHEDULES_MAX}");
            return Err(Error::new(Code::ServerBusy, message));
        }
        let Repeat { baseline, loss_percent, notify, notify_when, paused, .. } = repeat.clone();
        let Ordered { work, on, label, .. } = order;
        let now = now_unix();
        let order_sha256 = token::hexadecimal(&token::hash(text));
        let (first_run, times) = known
            .clone()
            .map(|known| (known.first_run.filter(|_| known.order_sha256 == order_sha256), known.times))
            .unwrap_or_default();
        let schedule = Schedule {
            id: id.into(),
            cron: repeat.cron.split_ascii_whitespace().collect::<Vec<_>>().join(" "),
            baseline,
            loss_percent,
            notify,
            notify_when,
            paused,
            author: sender.name.clone(),
            changed_unix: now,
            work,
            on,
            label,
            order_sha256,
            next_unix: if paused { None } else { cron.next(now) },
            first_run,
            times,
        };
        if let Some(known) = known.as_ref().filter(|known| is_same(known, &schedule)) {
            return Ok((known.clone(), false, None));
        }
        if only_new && known.is_some() {
            return Err(exists(id));
        }
        store.put(&schedule, Some(text))?;
        drop(store);
        self.wake.notify_one();
        let change = Change { before: known.as_ref().map(shown).unwrap_or_default(), after: shown(&schedule) };
        Ok((schedule, known.is_none(), Some(change)))
    }

    /// Every schedule, by id, as somebody of this role sees it.
    pub fn list_for(&self, role: Role) -> ScheduleList {
        let schedules = self.state().all().iter().map(|schedule| schedule.clone().seen_by(role)).collect();
        ScheduleList { schema: "stend-schedules", schema_version: 1, schedules }
    }

    /// The order of one.
    ///
    /// Errors: `ScheduleUnknown`.
    pub fn order(&self, id: &str) -> Result<String> {
        let store = self.state();
        find(&store, id)?;
        store.order(id)
    }

    /// Ends one.
    ///
    /// Errors: `ScheduleUnknown`.
    pub fn remove(&self, id: &str) -> Result<Change> {
        let mut store = self.state();
        let before = shown(&find(&store, id)?);
        store.remove(id)?;
        Ok(Change { before, after: String::new() })
    }

    /// Carries one out now, as if its time had come.
    ///
    /// Errors: `ScheduleUnknown`; `TaskConflict` if its last task goes on; those of giving an order.
    pub fn run(&self, id: &str) -> Result<(Schedule, Change)> {
        let giving = self.giving();
        let schedule = find(&self.state(), id)?;
        if let Some(due) = running(&schedule) {
            let task = due.task.clone().unwrap_or_default();
            let message = say!("its task `{task}` goes on", "его задача `{task}` ещё идёт");
            return Err(Error::new(Code::TaskConflict, message));
        }
        let now = now_unix();
        let due = self.begun(&schedule, now)?;
        let after = due.task.clone().unwrap_or_default();
        let mut store = self.state();
        // It may have been changed meanwhile; one that is gone has begun all the same.
        let mut schedule = find(&store, id).unwrap_or(schedule);
        times::add(&mut schedule, due);
        if find(&store, id).is_ok() {
            store.put(&schedule, None)?;
        }
        drop((store, giving));
        self.wake.notify_one();
        Ok((schedule, Change { before: String::new(), after: format!("task {after}") }))
    }

    fn look_after(&self) {
        let mut store = self.state();
        loop {
            let (work, pause) = self.look(&mut store, now_unix());
            match work {
                Some(work) => {
                    drop(store);
                    self.work(work);
                    store = self.state();
                }
                None => store = self.wake.wait_timeout(store, pause).unwrap_or_else(PoisonError::into_inner).0,
            }
        }
    }

    /// Begins what is due, looks what has ended, and says what is to be done next and after which time to look again.
    fn look(&self, store: &mut Store, now_unix: i64) -> (Option<Work>, Duration) {
        let (mut work, mut pause) = (None, LATER);
        for mut schedule in store.all().to_vec() {
            let before = schedule.clone();
            // While another is begun its time is not taken: the next look finds it, a moment later.
            let come = if work.is_none() { times::come(&mut schedule, now_unix) } else { None };
            if let Some(due_unix) = come {
                match running(&schedule).map(|earlier| times::skipped(due_unix, earlier)) {
                    Some(skipped) => times::add(&mut schedule, skipped),
                    None => work = Some(Work::Begin { schedule: schedule.clone(), due_unix }),
                }
            }
            work = work.or_else(|| self.ended(&mut schedule));
            work = work.or_else(|| to_be_called(&schedule, now_unix));
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
        (work, pause)
    }

    /// Gives the order to the server. Nothing is held meanwhile but `giving`.
    fn begun(&self, schedule: &Schedule, due_unix: i64) -> Result<Due> {
        let sender = Sender { name: format!("schedule {}", schedule.id), role: Role::Operator };
        let task = format!("{}-{}", schedule.id, times::stamp(due_unix));
        let order = self.state().order(&schedule.id)?;
        let (given, is_new) = self.tasks.put(&task, &order, &sender, &crate::confirmations::Confirmed::default())?;
        if is_new {
            let change = Change { before: String::new(), after: format!("queued, order {}", given.order_sha256) };
            let noted = self.users.note(&sender, &format!("PUT /api/v1/tasks/{task}"), &change, now_unix());
            // The task goes on, so it is followed even if the log of changes has no room for it.
            return Ok(Due {
                reason: noted.err().map(|error| error.message),
                task: Some(task),
                ..times::due(due_unix, Outcome::Running)
            });
        }
        Ok(Due { task: Some(task), ..times::due(due_unix, Outcome::Running) })
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

    fn work(&self, work: Work) {
        match work {
            Work::Begin { schedule, due_unix } => {
                let giving = self.giving();
                // Somebody may have started it by hand just now.
                let earlier = find(&self.state(), &schedule.id).ok().and_then(|now| running(&now).cloned());
                let due = match earlier {
                    Some(earlier) => times::skipped(due_unix, &earlier),
                    None => self.begun(&schedule, due_unix).unwrap_or_else(|error| times::refused(due_unix, &error)),
                };
                self.change(&schedule.id, |schedule| times::add(schedule, due));
                drop(giving);
            }
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

    fn giving(&self) -> MutexGuard<'_, ()> {
        self.giving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, Store> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Pauses every schedule of a directory: a copy of a server begins nothing by itself.
///
/// Errors: `Preflight`.
pub fn pause_all(directory: &Path) -> Result<()> {
    let mut store = Store::open(directory)?;
    for schedule in store.all().to_vec() {
        store.put(&Schedule { paused: true, next_unix: None, ..schedule }, None)?;
    }
    Ok(())
}

fn running(schedule: &Schedule) -> Option<&Due> {
    schedule.times.iter().find(|due| due.outcome == Outcome::Running)
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

/// Whether it would change nothing.
fn is_same(known: &Schedule, new: &Schedule) -> bool {
    let of = |schedule: &Schedule| shown(schedule);
    of(known) == of(new) && known.paused == new.paused
}

/// As the log of changes has it.
fn shown(schedule: &Schedule) -> String {
    let Schedule { cron, baseline, loss_percent, notify, notify_when, paused, order_sha256, .. } = schedule;
    let when = serde_json::to_value(notify_when).unwrap_or_default();
    let (baseline, notify) = (baseline.as_deref().unwrap_or("-"), notify.as_deref().unwrap_or("-"));
    format!(
        "{cron}, order {order_sha256}, baseline {baseline}, loss {loss_percent} %, notify {notify} {when}, paused {paused}"
    )
}

fn may_be_repeated(id: &str, order: &Ordered, repeat: &Repeat, sender: &Sender) -> Result<()> {
    let usage = |message: Say| Err(Error::usage(message));
    let refused = |message: Say| Err(Error::new(Code::NotAllowed, message));
    if id.len() > ID_MAX {
        return usage(say!(
            "the id of a schedule has at most {ID_MAX} characters",
            "имя расписания — не длиннее {ID_MAX} знаков"
        ));
    }
    if order.is_destructive() {
        return refused(say!(
            "the order writes to devices, builds a stand or executes commands; that is confirmed for one run, and a schedule has many",
            "заказ пишет на устройства, поднимает стенд или выполняет команды; это подтверждают для одного прогона, а в расписании их много"
        ));
    }
    if order.names_output {
        return refused(say!(
            "the order names its run file (`output`), so every run but the first would be refused",
            "заказ называет файл прогона (`output`), и все прогоны после первого будут отклонены"
        ));
    }
    if order.resumes {
        return refused(say!(
            "the order resumes a run, which can be done once; a schedule begins a run each time",
            "заказ продолжает прогон, а продолжить его можно один раз; расписание каждый раз начинает новый"
        ));
    }
    if order.alternates && repeat.baseline.is_some() {
        let message = say!(
            "the order measures targets in turn (`against`), each into a run of its own, and a baseline is one run",
            "заказ измеряет объекты по очереди (`against`), каждый в свой прогон, а база сравнения — один прогон"
        );
        return Err(Error::new(Code::NotAllowed, message).hint(say!(
            "leave `baseline` out, or make a schedule for each target",
            "уберите `baseline` или сделайте расписание для каждого объекта"
        )));
    }
    repeat.notify.as_ref().map_or(Ok(()), |hook| may_be_called(hook, sender))
}

fn may_be_called(hook: &str, sender: &Sender) -> Result<()> {
    if sender.role < Role::Admin {
        let message = say!(
            "the server starts the program of `notify` or sends to its address, which needs the role `admin`",
            "сервер запускает программу из `notify` или пишет на адрес, для этого нужна роль `admin`"
        );
        return Err(Error::new(Code::NotAllowed, message));
    }
    let is_address = hook.starts_with("http://") || hook.starts_with("https://");
    let is_plain = !hook.chars().any(|letter| letter.is_whitespace() || letter.is_control()) && hook.len() <= HOOK_MAX;
    if !is_plain || !is_address && !hook.starts_with('/') {
        return Err(Error::usage(say!(
            "`notify` is an absolute path of a program or an address (`http://…`, `https://…`), without spaces",
            "`notify` — полный путь программы или адрес (`http://…`, `https://…`), без пробелов"
        )));
    }
    Ok(())
}

fn exists(id: &str) -> Box<Error> {
    let message = say!("there is another schedule `{id}` already", "другое расписание `{id}` уже есть");
    Error::new(Code::ScheduleExists, message).hint(say!(
        "choose another name, or end that one first",
        "выберите другое имя или сначала завершите то расписание"
    ))
}

fn find(store: &Store, id: &str) -> Result<Schedule> {
    store.all().iter().find(|known| known.id == id).cloned().ok_or_else(|| {
        Error::new(Code::ScheduleUnknown, say!("there is no schedule `{id}`", "расписания `{id}` нет")).hint(say!(
            "`/api/v1/schedules` lists the schedules there are",
            "расписания перечислены на `/api/v1/schedules`"
        ))
    })
}
