//! An application as the load of a trial: so many instances of a server, each with data of its own on the target and a client
//! that loads it, for as long as ramp and window. Their numbers are those that the clients print. Must not judge them.
//!
//! Only programs that are named here are started, without a shell; what a suite says of them are numbers. Data and control
//! groups stay until the run lets go of its target, so that what an instance has in memory is counted to it.

mod client_output;
mod group;
mod instance;
mod programs;

pub use programs::Programs;

use crate::Control;
use crate::child::{self, Ask, Ended, Order, Started};
use group::{Hierarchy, Used, disk_of};
use instance::{Instance, Serving, With, command_event, ports_taken};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stend_base::{Bytes, Error, Kind, Nanos, Result, say};
use stend_record::EventKind;
use stend_record::app::{AppOutcome, Instance as ToolOutput};
use stend_record::observed::{EngineFacts, TrialOutcome, TrialStatus};
use stend_spec::app::{App, Program};
use stend_spec::workload::Trial;
use stend_sys::{block, clock, process};

/// How often clients are looked at.
const TICK: Duration = Duration::from_millis(20);
/// Longest that clients may take beyond ramp and window: they connect, and end what is going on.
const GRACE: Duration = Duration::from_secs(60);
/// First port that is tried; below are those of services.
const FIRST_PORT: u16 = 20_000;
/// A version is said at once.
const VERSION_MAX: Duration = Duration::from_secs(10);
/// Part of the free space that data may take.
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
        let clocks = clock::stamps();
        let begin = clock::now();
        process::allow_open_files();
        let programs = Programs::find(app.program)?;
        let stopped = || control.stopped();
        let versions = programs.versions().map(|(program, option)| version(&program, option)).to_vec();
        let mut with = With { programs: &programs, app, stopped: &stopped, log };
        self.make(app, &programs)?;
        let index = self.kind(app);
        let Family { instances, served, .. } = &mut self.kinds[index];
        let instances = &mut instances[..app.instances as usize];
        let mut serving = match serve(instances, &mut with) {
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
        let before: Vec<Used> =
            instances.iter().map(|one| one.group().map(|group| group.used()).unwrap_or_default()).collect();
        let load_start = clock::now();
        let loads = plan(trial, app, instances, &serving, &with);
        let runs = run_clients(instances, &programs, loads, trial, control);
        let load_end = clock::now();
        let told = conclude(trial, app, instances, &mut serving, runs, &before, &mut with);
        let planned = load_start + trial.ramp + trial.window;
        let window_end = load_end.min(planned);
        let cut = control.stopped() && load_end < planned;
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
        let mut taken = ports_taken();
        for one in instances.iter_mut() {
            let port = free_port(&mut taken)?;
            serving.push(one.start(port, with)?);
        }
        for (number, (one, server)) in (0..).zip(instances.iter_mut().zip(&mut serving)) {
            one.get_ready(server, number, with)?;
        }
        Ok(())
    })();
    match started {
        Ok(()) => Ok(serving),
        Err(error) => {
            serving.into_iter().for_each(|server| drop(server.stop()));
            Err(error)
        }
    }
}

fn free_port(taken: &mut Vec<u16>) -> Result<u16> {
    let port = (FIRST_PORT..u16::MAX).find(|port| !taken.contains(port)).ok_or_else(|| {
        Error::preflight(say!("no port of the loopback is free", "на локальном интерфейсе нет свободного порта"))
    })?;
    taken.push(port);
    Ok(port)
}

/// What one client does: when it begins, and its runs.
struct Load {
    /// After the start of the load.
    delay: Duration,
    /// Ramp of its own, seconds: all end together.
    ramp: u64,
    /// Words of its runs, last first.
    left: Vec<Vec<String>>,
}

/// Clients begin one window after the other within the ramp, so that they do not move in step.
fn plan(trial: &Trial, app: &App, instances: &[Instance], serving: &[Serving], with: &With<'_>) -> Vec<Load> {
    let second = Nanos::SECOND.0;
    let (length, ramp) = (app.slo.window.0 / second, trial.ramp.0 / second);
    let (steps, windows) = ((ramp / length.max(1)).max(1), trial.window.0 / app.slo.window.0.max(1));
    let one = |(number, (instance, serving)): (u64, (&Instance, &Serving))| {
        let delay = number % steps * length;
        let ramp = ramp.saturating_sub(delay);
        let seed = stend_base::random::draw(trial.seed, number);
        let mut left = instance.load(serving, seed, (ramp, windows), with);
        left.reverse();
        Load { delay: Duration::from_secs(delay), ramp, left }
    };
    (0..).zip(instances.iter().zip(serving)).map(one).collect()
}

/// A client in the course of its runs.
struct Client {
    load: Load,
    going: Option<(Started, Vec<String>)>,
    ended: Vec<(Ended, Vec<String>)>,
    failed: String,
}

/// Runs all clients to their ends, or until somebody stops or time is up.
fn run_clients(
    instances: &[Instance],
    programs: &Programs,
    loads: Vec<Load>,
    trial: &Trial,
    control: &Control,
) -> Vec<Client> {
    let client = |load| Client { load, going: None, ended: Vec::new(), failed: String::new() };
    let mut clients: Vec<Client> = loads.into_iter().map(client).collect();
    let (begin, limit) = (Instant::now(), (trial.ramp + trial.window).duration() + GRACE);
    loop {
        let over = control.stopped() || begin.elapsed() > limit;
        let mut busy = false;
        for (client, instance) in clients.iter_mut().zip(instances) {
            busy |= client.go_on(instance, programs, begin.elapsed(), over);
        }
        if !busy {
            return clients;
        }
        std::thread::sleep(TICK);
    }
}

impl Client {
    /// Looks after it; `false` once it has nothing more to do.
    fn go_on(&mut self, instance: &Instance, programs: &Programs, at: Duration, over: bool) -> bool {
        if let Some((mut started, words)) = self.going.take() {
            let endless = started.talks_too_much().unwrap_or(true);
            if !over && !endless && !started.has_ended().unwrap_or(true) {
                self.going = Some((started, words));
                return true;
            }
            match started.end(Ask::Interrupt) {
                Ok(ended) => {
                    // One that failed does not go on with its next run: its server is gone, or refuses.
                    if !ended.status.is_some_and(|status| status.success()) {
                        self.load.left.clear();
                    }
                    self.ended.push((ended, words));
                }
                Err(error) => self.fail(&error),
            }
        }
        if over || at < self.load.delay {
            return !over;
        }
        let Some(words) = self.load.left.pop() else { return false };
        match instance.client(programs, words.clone()) {
            Ok(started) => self.going = Some((started, words)),
            Err(error) => self.fail(&error),
        }
        self.going.is_some()
    }

    fn fail(&mut self, error: &std::io::Error) {
        self.failed = error.to_string();
        self.load.left.clear();
    }
}

/// Reads what clients printed and stops all servers.
fn conclude(
    trial: &Trial,
    app: &App,
    instances: &[Instance],
    serving: &mut Vec<Serving>,
    clients: Vec<Client>,
    before: &[Used],
    with: &mut With<'_>,
) -> Vec<ToolOutput> {
    let windows = trial.window.0 / app.slo.window.0.max(1);
    let mut all = Vec::with_capacity(instances.len());
    let servers = std::mem::take(serving);
    let program = with.programs.client();
    for (((client, server), instance), before) in clients.into_iter().zip(servers).zip(instances).zip(before) {
        let mut failed = client.failed;
        let (runs, words): (Vec<Ended>, Vec<Vec<String>>) = client.ended.into_iter().unzip();
        let told = instance::told(app, &runs, client.load.ramp, windows, &mut failed);
        let first = all.is_empty();
        if let (true, Some(run), Some(words)) = (first || !failed.is_empty(), runs.last(), words.last()) {
            (with.log)(command_event(&program, words.clone(), run));
        }
        // Read before the server writes what it has in memory: that is no load.
        let mut recorded = instance::recorded(told, failed, instance.group(), *before);
        if let Some(words) = server.stop() {
            recorded.failed = words;
        }
        all.push(recorded);
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
    let need = u64::from(more).saturating_mul(app.data.0.saturating_add(EMPTY).saturating_add(programs::logs(app)));
    if need <= free / ROOM.1 * ROOM.0 {
        return Ok(());
    }
    let [need, free] = [need, free].map(|bytes| bytes >> 20);
    let message = say!(
        "no room for {more} more instances: they need about {need} MiB, and {free} MiB are free",
        "нет места ещё для {more} экземпляров: нужно около {need} МиБ, свободно {free} МиБ"
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
        "его команда и сообщения — в файле прогона: `stend export RUN --format json`"
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
