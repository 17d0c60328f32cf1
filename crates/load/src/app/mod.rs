//! An application as the load of a trial: so many instances of a server, each with data of its own on the target and a client
//! that loads it, for as long as ramp and window. Their numbers are those that the clients print. Must not judge them.
//!
//! Only programs that are named here are started, without a shell; what a suite says of them are numbers. Data and control
//! groups stay until the run lets go of its target, so that what an instance has in memory is counted to it.

mod client_output;
mod clients;
mod context;
mod group;
mod instance;
mod processes;
mod programs;
mod server;

pub use programs::Programs;

use crate::Control;
use crate::child::{self, Ended, Order};
use clients::Client;
use context::With;
use group::{Group, Hierarchy, Used, disk_of};
use instance::{Instance, command_event};
use server::Serving;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stend_base::{Bytes, Error, Kind, Nanos, Result, say};
use stend_record::EventKind;
use stend_record::app::{AppOutcome, Instance as ToolOutput};
use stend_record::observed::{EngineFacts, TrialOutcome, TrialStatus};
use stend_spec::app::{App, Program};
use stend_spec::workload::Trial;
use stend_sys::{block, clock, process};

/// How often clients are looked at.
const TICK: Duration = Duration::from_millis(20);
/// A version is said at once.
const VERSION_MAX: Duration = Duration::from_secs(10);
/// Part of the free space that data may take; a message names it.
const ROOM: (u64, u64) = (4, 5);
/// What an empty database takes: MariaDB 10.11 has 114 MB.
const EMPTY: u64 = 128 << 20;

/// The instances of a run, with their data and groups.
#[derive(Debug)]
pub struct Applications {
    directory: PathBuf,
    /// By what they are: each case has its own, which it finds again in its next trial.
    kinds: Vec<Family>,
}

/// Instances that are alike.
#[derive(Debug)]
struct Family {
    kind: InstanceKind,
    instances: Vec<Instance>,
    /// Most of them that ever served at the same time.
    served: usize,
}

/// What instances must have in common to be used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct InstanceKind(Program, Bytes, u32, Option<stend_spec::app::Limits>);

impl InstanceKind {
    fn of(app: &App) -> InstanceKind {
        InstanceKind(app.program, app.data, app.clients, app.limits)
    }
}

/// Whether limits of instances can be held here; the error says why not.
pub fn foresee_app(app: &App) -> Result<()> {
    Programs::find(app.program)?;
    app.limits.map_or(Ok(()), |_| Hierarchy::find(Path::new("/")).map(drop))
}

impl Applications {
    /// None yet; their data go into `directory`, which exists and whose owner removes it.
    pub fn new(directory: PathBuf) -> Applications {
        Applications { directory, kinds: Vec::new() }
    }

    /// Runs a trial. Errors are `Preflight` if programs, limits or data cannot be had, `Interrupted` if it was stopped before
    /// its load began. `log` gets the commands of the first instance, and of those that failed.
    pub fn run(
        &mut self,
        trial: &Trial,
        app: &App,
        control: &Control,
        log: &mut dyn FnMut(EventKind),
    ) -> Result<TrialOutcome> {
        self.run_with(&Programs::find(app.program)?, trial, app, control, log)
    }

    fn run_with(
        &mut self,
        programs: &Programs,
        trial: &Trial,
        app: &App,
        control: &Control,
        log: &mut dyn FnMut(EventKind),
    ) -> Result<TrialOutcome> {
        let clocks = clock::stamps();
        let begin = clock::now();
        process::allow_open_files();
        let stopped = || control.stopped();
        let versions = programs.versions().map(|(program, option)| version(&program, option)).to_vec();
        let mut with = With { programs, app, stopped: &stopped, log };
        self.make(app, programs)?;
        let index = self.kind(app);
        let Family { instances, served, .. } = &mut self.kinds[index];
        let instances = &mut instances[..app.instances as usize];
        let serving = match serve(instances, &mut with) {
            Ok(serving) => serving,
            // Fewer of them could be had: that so many cannot is an answer of the search.
            Err(error) if (1..instances.len()).contains(served) && error.kind == Kind::Preflight => {
                let none = AppOutcome {
                    versions,
                    groups: None,
                    set_up: clock::now().saturating_sub(begin),
                    instances: Vec::new(),
                };
                return Ok(never_served(none, app, &error, clocks));
            }
            Err(error) => return Err(error),
        };
        *served = (*served).max(instances.len());
        let set_up = clock::now().saturating_sub(begin);
        let load = trial.ramp + trial.window;
        let loads = clients::plan(trial, app, instances, &serving, &with);
        let before = used(instances);
        let load_start = clock::now();
        let limit = (load + app.load_grace(load)).duration();
        let runs = clients::run(instances, programs, loads, limit, control);
        let load_end = clock::now();
        // Read before servers write what they have in memory: that is no load.
        let used = before.into_iter().zip(used(instances)).collect();
        let words = server::stop(serving, &groups(instances), &mut with);
        let cut = control.stopped() && runs.iter().any(Client::was_cut_off);
        let told = conclude(trial, app, runs, words, used, &mut with);
        let window_end = load_end.min(load_start + load);
        let version = instances.first().and_then(|one| one.group().map(|group| group.version()));
        let outcome = AppOutcome { versions, groups: version, set_up, instances: told };
        if !cut && outcome.instances.iter().all(|one| one.windows.is_empty()) {
            let why = outcome.instances.first().map(|one| one.failed.clone()).unwrap_or_default();
            return Err(said_nothing(&why));
        }
        Ok(TrialOutcome {
            status: if cut { TrialStatus::Interrupted } else { TrialStatus::Complete },
            load_start,
            window_start: (load_start + trial.ramp).min(window_end),
            window_end,
            clocks: [clocks, clock::stamps()],
            ..outcome_of(outcome)
        })
    }

    fn kind(&mut self, app: &App) -> usize {
        let kind = InstanceKind::of(app);
        let known = self.kinds.iter().position(|own| own.kind == kind);
        known.unwrap_or_else(|| {
            self.kinds.push(Family { kind, instances: Vec::new(), served: 0 });
            self.kinds.len() - 1
        })
    }

    /// Makes the instances that there are not yet; those that there are keep their data and what they have in memory.
    fn make(&mut self, app: &App, programs: &Programs) -> Result<()> {
        let index = self.kind(app);
        let have = self.kinds[index].instances.len() as u32;
        must_fit(&self.directory, app, app.instances.saturating_sub(have))?;
        let hierarchy = app.limits.map(|_| Hierarchy::find(Path::new("/"))).transpose()?;
        if let (Some(hierarchy), true) = (&hierarchy, have == 0) {
            hierarchy.remove_dead(Path::new("/"));
        }
        let disk = disk_of(&self.directory);
        for number in have..app.instances {
            let group = match (&hierarchy, &app.limits) {
                (Some(hierarchy), Some(limits)) => {
                    Some(hierarchy.make(index as u32 * 10_000 + number, limits, disk)?)
                }
                _ => None,
            };
            let directory = self.directory.join(format!("{index}-{number:04}"));
            self.kinds[index].instances.push(Instance::new(directory, group, programs.user())?);
        }
        Ok(())
    }
}

/// Starts all servers, waits for them, and fills what is empty. Those that run when one fails are stopped.
fn serve(instances: &mut [Instance], with: &mut With<'_>) -> Result<Vec<Serving>> {
    let mut serving = Vec::with_capacity(instances.len());
    let started = (|| {
        let mut ports = Vec::new();
        for one in instances.iter_mut() {
            serving.push(one.start(&mut ports, with)?);
        }
        for (number, (one, server)) in (0..).zip(instances.iter_mut().zip(&mut serving)) {
            one.get_ready(server, number, with)?;
        }
        Ok(())
    })();
    match started {
        Ok(()) => Ok(serving),
        Err(error) => {
            server::stop(serving, &groups(instances), with);
            Err(error)
        }
    }
}

fn groups(instances: &[Instance]) -> Vec<&Group> {
    instances.iter().filter_map(Instance::group).collect()
}

/// What the groups of instances used so far.
fn used(instances: &[Instance]) -> Vec<Used> {
    instances.iter().map(|one| one.group().map(|group| group.used()).unwrap_or_default()).collect()
}

/// Reads what clients printed. `gone` are the last words of servers that ended too early.
fn conclude(
    trial: &Trial,
    app: &App,
    clients: Vec<Client>,
    gone: Vec<Option<String>>,
    used: Vec<(Used, Used)>,
    with: &mut With<'_>,
) -> Vec<ToolOutput> {
    let windows = trial.window.0 / app.slo.window.0.max(1);
    let mut all = Vec::with_capacity(clients.len());
    let program = with.programs.client();
    for ((client, gone), used) in clients.into_iter().zip(gone).zip(used) {
        let mut failed = client.failed;
        let (runs, words): (Vec<Ended>, Vec<Vec<String>>) = client.ended.into_iter().unzip();
        let told = instance::told(app, &runs, client.load.ramp, windows, &mut failed);
        let first = all.is_empty();
        if let (true, Some(run), Some(words)) = (first || !failed.is_empty(), runs.last(), words.last()) {
            (with.log)(command_event(&program, words.clone(), run));
        }
        all.push(instance::recorded(told, gone.unwrap_or(failed), used));
    }
    all
}

/// What a program calls itself; nothing if it does not say.
fn version(program: &str, option: &str) -> String {
    let order = Order { program, arguments: vec![option.to_string()], ..Order::default() };
    let Ok(ended) = child::run(order, VERSION_MAX, &|| false) else { return String::new() };
    let said = [String::from_utf8_lossy(&ended.output).into_owned(), ended.words].concat();
    said.lines().next().unwrap_or_default().chars().take(200).collect()
}

/// Whether the data of so many more instances fit.
fn must_fit(directory: &Path, app: &App, more: u32) -> Result<()> {
    let Ok((_, free)) = block::space(directory) else { return Ok(()) };
    room(app, more, free)
}

fn room(app: &App, more: u32, free: u64) -> Result<()> {
    let empty = if app.program == Program::NginxWrk { 0 } else { EMPTY };
    let need = u64::from(more).saturating_mul(app.data.0.saturating_add(empty).saturating_add(programs::logs(app)));
    let most = free / ROOM.1 * ROOM.0;
    if need <= most {
        return Ok(());
    }
    let (need, most) = (need.div_ceil(1 << 20), most >> 20);
    let message = say!(
        "no room for {more} more instances: they need about {need} MiB, and may take {most} MiB, four fifths of what is free",
        "нет места ещё для {more} экземпляров: нужно около {need} МиБ, а занять можно {most} МиБ — четыре пятых свободного места"
    );
    Err(Error::preflight(message).hint(say!(
        "name a directory with more free space, or lower `data` or `to`",
        "укажите каталог, где больше места, или уменьшите `data` или `to`"
    )))
}

fn said_nothing(why: &str) -> Box<Error> {
    let message =
        say!("no client printed a usable result: {why}", "ни один клиент не напечатал пригодного результата: {why}");
    Error::preflight(message).hint(say!(
        "its command and output are in the run file: `stend export RUN --format json`",
        "его команда и сообщения — в файле прогона: `stend export ПРОГОН --format json`"
    ))
}

/// The outcome of a trial whose instances could not all be made or started: none of them served, for the reason that one gave.
fn never_served(found: AppOutcome, app: &App, error: &Error, clocks: (u64, u64, u64)) -> TrialOutcome {
    let failed = ToolOutput { failed: error.message.en.chars().take(400).collect(), ..ToolOutput::default() };
    let now = clock::now();
    TrialOutcome {
        load_start: now,
        window_start: now,
        window_end: now,
        clocks: [clocks, clock::stamps()],
        ..outcome_of(AppOutcome { instances: vec![failed; app.instances as usize], ..found })
    }
}

/// An outcome without I/O of ours.
fn outcome_of(app: AppOutcome) -> TrialOutcome {
    TrialOutcome {
        engine: EngineFacts { backend: "application".into(), ..EngineFacts::default() },
        app: Some(app),
        ..TrialOutcome::empty(Nanos(0), (Nanos(0), Nanos(0)))
    }
}

#[cfg(test)]
mod tests;
