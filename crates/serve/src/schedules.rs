//! Orders that are repeated: which time is due, what became of it, and who gets a message. Must not measure, and gives no order a permission that
//! it does not have.

mod care;
mod hook;
mod store;
mod times;

use crate::clock::now_unix;
use crate::tasks::Tasks;
use crate::token;
use crate::users::{Change, Sender, Users};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use stend_api::{Cron, Due, Outcome, Repeat, Role, Schedule, ScheduleList};
use stend_base::format::rfc3339;
use stend_base::{Code, Error, Result, Say, say};
use stend_session::ordered::Ordered;
use store::Store;

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

impl Schedules {
    /// Finds what earlier servers kept, and looks after all from now on.
    ///
    /// Errors: `Preflight` if what is kept cannot be read.
    pub fn open(directory: &Path, tasks: Arc<Tasks>, users: Arc<Users>, program: PathBuf) -> Result<Arc<Schedules>> {
        let state = Mutex::new(Store::open(directory)?);
        let schedules =
            Arc::new(Schedules { tasks, users, program, state, giving: Mutex::new(()), wake: Condvar::new() });
        // It takes what it gets from hand to hand: what is not taken is not waiting anywhere either.
        let (worker, works) = mpsc::sync_channel(0);
        let (looking, working) = (schedules.clone(), schedules.clone());
        let thread = |name: &str| std::thread::Builder::new().name(name.into());
        let begun = thread("schedules").spawn(move || looking.look_after(&worker));
        begun.and_then(|_| thread("messages").spawn(move || working.work_off(works))).map_err(|error| {
            Error::preflight(say!("the server cannot begin: {error}", "сервер не может начать: {error}"))
        })?;
        Ok(schedules)
    }

    /// Repeats an order, or changes how; `true`: it is new. With `only_new` another one of this id stays as it is.
    ///
    /// Errors: those of reading the order; `ScheduleExists`; `NotAllowed` for one that writes to devices, executes commands, names its run file or resumes a
    /// run, for a baseline of one that measures targets in turn, and for a hook of somebody who is no admin; `Usage` for what is no id, no hook or no time to come; `ServerBusy` if there are too many.
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
        has_one_time(repeat)?;
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
        let mut schedule = Schedule {
            id: id.into(),
            cron: repeat.cron.as_ref().map(|cron| cron.split_ascii_whitespace().collect::<Vec<_>>().join(" ")),
            at_unix: repeat.at_unix,
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
            next_unix: None,
            first_run,
            times,
        };
        if let Some(known) = known.as_ref().filter(|known| is_same(known, &schedule)) {
            return Ok((known.clone(), false, None));
        }
        if only_new && known.is_some() {
            return Err(exists(id));
        }
        if repeat.at_unix.is_some_and(|at| at <= now) {
            return Err(over());
        }
        schedule.next_unix = times::next(&schedule, now).filter(|_| !paused);
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
        let due = self.begun(id, now)?;
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

    /// Gives the order to the server. Nothing is held meanwhile but `giving`.
    fn begun(&self, id: &str, due_unix: i64) -> Result<Due> {
        let (sender, task) = (Sender { name: format!("schedule {id}"), role: Role::Operator }, task_of(id, due_unix));
        let order = self.state().order(id)?;
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

/// The task of a time.
fn task_of(schedule: &str, due_unix: i64) -> String {
    format!("{schedule}-{}", times::stamp(due_unix))
}

fn running(schedule: &Schedule) -> Option<&Due> {
    schedule.times.iter().find(|due| due.outcome == Outcome::Running)
}

/// Whether it would change nothing.
fn is_same(known: &Schedule, new: &Schedule) -> bool {
    let of = |schedule: &Schedule| shown(schedule);
    of(known) == of(new) && known.paused == new.paused
}

/// As the log of changes has it.
fn shown(schedule: &Schedule) -> String {
    let Schedule { cron, at_unix, baseline, loss_percent, notify, notify_when, paused, order_sha256, .. } = schedule;
    let cron = cron.clone().or_else(|| at_unix.map(rfc3339)).unwrap_or_default();
    let when = serde_json::to_value(notify_when).unwrap_or_default();
    let (baseline, notify) = (baseline.as_deref().unwrap_or("-"), notify.as_deref().unwrap_or("-"));
    format!(
        "{cron}, order {order_sha256}, baseline {baseline}, loss {loss_percent} %, notify {notify} {when}, paused {paused}"
    )
}

fn has_one_time(repeat: &Repeat) -> Result<()> {
    match (&repeat.cron, repeat.at_unix) {
        (Some(cron), None) => Cron::parse(cron).map(drop),
        (None, Some(_)) => Ok(()),
        _ => {
            Err(Error::usage(say!("a schedule has either `cron` or `at`", "у расписания есть либо `cron`, либо `at`"))
                .hint(say!(
                    "`cron=0+2+*+*+*` repeats the order every night, `at=2026-12-24T03:00` carries it out once",
                    "`cron=0+2+*+*+*` повторяет заказ каждую ночь, `at=2026-12-24T03:00` выполняет его один раз"
                )))
        }
    }
}

fn over() -> Box<Error> {
    Error::usage(say!("`at` is a time that is over already", "время в `at` уже прошло"))
        .hint(say!("times are in UTC", "время указывается по UTC"))
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
