//! Everything that a run needs from outside, and how it ended. Types only; must not act.

use crate::fleet::LoadHost;
use crate::observed::ObservedHost;
use crate::pause::{Pause, compared, seen};
use crate::resume::Progressed;
use crate::sources::Sources;
use crate::step::{Changed, Hypervised, Returned};
use std::path::PathBuf;
use std::sync::Arc;
use stend_base::{Error, Kind, Nanos, Result, say};
use stend_record::{GateText, StandText};
use stend_spec::fault::Act;
use stend_spec::order::OnLoss;
use stend_spec::permission::Permission;
use stend_spec::suite::Suite;
use stend_spec::trace::Trace;
use stend_wire::{Comparer, now};

/// Everything a run needs from outside.
pub struct Setup {
    /// The suite.
    pub suite: Suite,
    /// Its text, kept verbatim.
    pub suite_text: String,
    /// Seed of all random choices.
    pub seed: u64,
    /// Wall time the run should take.
    pub time_budget: Option<Nanos>,
    /// The traces that the suite replays, in the order of [`Suite::traces`].
    pub traces: Vec<Arc<Trace>>,
    /// Targets as the user named them, in the order in which they form the range.
    pub targets: Vec<String>,
    /// What the user allowed to be written.
    pub permission: Permission,
    /// Id of the run.
    pub id: String,
    /// What the user calls the run.
    pub label: Option<String>,
    /// What its results are held against; kept with the run.
    pub gate: Option<GateText>,
    /// Where the run file goes; must not exist.
    pub run_file: PathBuf,
    /// The directory of run files, which is to know the run wherever its file lies; `None`: there is none.
    pub known_in: Option<PathBuf>,
    /// The command line, kept with the run.
    pub command_line: Vec<String>,
    /// The hosts that make the load, each with its worker; one at least.
    pub hosts: Vec<LoadHost>,
    /// What becomes of the run when one of several load hosts is lost.
    pub on_loss: OnLoss,
    /// Wall clock now, seconds since 1970 UTC.
    pub started_unix: i64,
    /// The kernel's random id of this boot; empty: unknown.
    pub boot_id: String,
    /// Where an earlier session got to; then the run file exists and is continued.
    pub resume: Option<Resume>,
    /// The stand to put up first.
    pub stand: Option<StandText>,
    /// The hosts that are watched beside it.
    pub observed: Vec<ObservedHost>,
    /// What is read meanwhile where no worker can run.
    pub sources: Option<Sources>,
    /// The power of the worker's machine, if it is in our hands.
    pub power: Option<Power>,
    /// The hypervisor of the load hosts, if they are its virtual machines.
    pub hypervisor: Option<Hypervisor>,
    /// The session before this one cut that power.
    pub returned: Option<Returned>,
    /// End with the block that this session begins with, and leave the rest to sessions on stands that are built anew.
    pub one_block: bool,
}

/// Power over the worker's machine.
pub struct Power {
    /// A directory on it whose contents stay.
    pub keeps: String,
    /// Cuts it. It comes back by itself, and the caller of the session waits for that.
    pub cut: Box<dyn Fn() -> Result<()>>,
}

/// The hypervisor of the machines that load.
#[derive(Clone)]
pub struct Hypervisor {
    /// Does an event, or undoes it, and reports the commands that it executes. Takes its time.
    pub change: Arc<ChangeMachines>,
}

/// How machines are changed: what is done, and who hears the commands. Returns how long guests were paused, if the hypervisor says that.
pub type ChangeMachines = dyn Fn(&Hypervised, &mut dyn FnMut(String)) -> Result<Option<Nanos>> + Send + Sync;

impl Hypervisor {
    /// Does a change to its end. Guests that migrate are paused meanwhile, and so are their clocks: only ours shows for how long.
    pub(crate) fn perform(&self, change: &Hypervised, clocks: &[Comparer]) -> Changed {
        let clocks = if matches!(change.act, Act::VmMigrate { .. }) { clocks } else { &[] };
        let begun = now();
        let before = compared(clocks);
        let mut steps = Vec::new();
        let done = (self.change)(change, &mut |step| steps.push(step));
        let after = compared(clocks);
        let seen = seen(&before, &after, now().saturating_sub(begun));
        let pause = Pause { told: done.as_ref().ok().copied().flatten(), seen };
        Changed { steps, done: done.map(drop), pause }
    }
}

/// What continuing a run needs beyond its progress.
pub struct Resume {
    /// How far the plan was walked.
    pub progressed: Progressed,
    /// Wall clock minus CLOCK_MONOTONIC when the run first started, ns.
    pub realtime_offset_ns: i64,
}

/// How a run ended.
#[derive(Default)]
pub struct Done {
    /// The run file; `None` if the run never began.
    pub run_file: Option<PathBuf>,
    /// Why it ended early, or what went wrong on the way; decides the exit code.
    pub error: Option<Box<Error>>,
    /// Its block was measured, and there are others: the run waits for the next build of its stand.
    pub waits: bool,
    /// The run waits for a person, and goes on after that, even where `error` is that data were wrong or I/O failed.
    pub asks: bool,
    /// When the power of its host was cut, CLOCK_MONOTONIC of the coordinator, as its suite asks: the run goes on when the host is
    /// there again.
    pub cut: Option<Nanos>,
    /// The user wanted an end when everything had been measured: the run is complete, but nothing shall follow it.
    pub stopped: Option<Kind>,
}

/// Why the power of a worker's machine is not cut.
pub(crate) fn power_of_others() -> Box<Error> {
    Error::preflight(say!(
        "`power.cut` is not possible here: Stend does not control the power of this host",
        "`power.cut` здесь невозможен: Stend не управляет питанием этой машины"
    ))
    .hint(say!(
        "start a machine of the lab with `stend lab up FILE` and measure in it with `--lab NAME`",
        "запустите машину лаборатории командой `stend lab up ФАЙЛ` и измеряйте в ней с `--lab ИМЯ`"
    ))
}

/// Why the hypervisor is not asked for anything.
pub(crate) fn no_hypervisor() -> Box<Error> {
    Error::preflight(say!(
        "events of virtual machines (`vm.…`) are not possible here: not all load hosts are machines of `stend vm`",
        "события виртуальных машин (`vm.…`) здесь невозможны: не все нагружающие машины запущены командой `stend vm`"
    ))
    .hint(say!(
        "start machines with `stend vm up FILE` and run the suite in them with `--vm NAME`",
        "запустите машины командой `stend vm up ФАЙЛ` и выполните набор в них с `--vm ИМЯ`"
    ))
}

/// Refuses a suite whose events need a hypervisor that is not there.
pub fn may_hypervise(suite: &Suite, hypervisor: Option<&Hypervisor>) -> Result<()> {
    let asks = suite.cases.iter().flat_map(|case| &case.faults).any(|fault| fault.act.machine().is_some());
    if asks && hypervisor.is_none() { Err(no_hypervisor()) } else { Ok(()) }
}

/// Refuses a suite that cuts the power of a machine which is not in our hands.
pub fn may_cut(suite: &Suite, power: Option<&Power>) -> Result<()> {
    let cuts = suite.cases.iter().flat_map(|case| &case.faults).any(stend_spec::fault::Fault::is_cut);
    if cuts && power.is_none() { Err(power_of_others()) } else { Ok(()) }
}
