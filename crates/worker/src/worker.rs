//! The worker's side: takes requests from one stream, does them one at a time, answers on the other.
//!
//! When the request stream ends, for whatever reason, load stops, what was made is undone, claims are
//! given up and the process ends. Nothing here decides what to do next.

use crate::calibrate;
use crate::faults::{self, Begin};
use crate::ledgers;
use crate::look;
use crate::outbox::Outbox;
use crate::ready::{self, Ready, out_of_order};
use crate::replay::Replay;
use crate::stand_orders::Stands;
use crate::telemetry::Telemetry;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use stend_base::{Error, Nanos, Result, Say, say};
use stend_load::{Control, FILL_BLOCK, LedgerIn, Marks, Programs, Sinks};
use stend_record::{ArmFacts, EventKind, TargetFacts, TrialOutcome};
use stend_spec::fault::Fault;
use stend_spec::precondition::Precondition;
use stend_spec::trace::TracedIo;
use stend_spec::workload::{Engine, Region, Trial};
use stend_stand::{Entered, FaultContext, Faults, Owner};
use stend_sys::IoFile;
use stend_wire::Permission;
use stend_wire::protocol::{
    Facts, Inspect, Reply, Request, SwitchTo, UpcomingTrial, Watch, read_frame, read_hello, write_hello,
};

/// How long the last messages may take to leave when the worker ends.
const FLUSH_LIMIT: Duration = Duration::from_secs(2);
/// How long load and undo may take after the stream was cut; then the process ends anyway.
const UNDO_LIMIT: Duration = Duration::from_secs(10);
/// A fill reports this often.
const FILL_REPORT: Nanos = Nanos::millis(200);

/// Serves one coordinator until its stream ends. Returns when everything is undone.
pub fn serve(mut from: impl Read, mut to: impl Write + Send + 'static) -> Result<()> {
    let io = |e: std::io::Error| Error::host_lost(say!("the coordinator is gone: {e}", "координатор недоступен: {e}"));
    write_hello(&mut to).map_err(io)?;
    read_hello(&mut from)?;
    // Whatever engine is wanted now: memory that a killed worker left is not given back otherwise.
    stend_load::remove_dead_scratches();
    let outbox = Outbox::new();
    let control = Arc::new(Control::new());
    let (steps, queue) = channel();
    let (done, finished) = channel();
    let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
        std::thread::Builder::new().name(name.into()).spawn(work).map(drop).map_err(io)
    };
    let writer = outbox.clone();
    spawn("writer", Box::new(move || drop(writer.drain(&mut to))))?;
    let mut session = Session {
        outbox: outbox.clone(),
        control: control.clone(),
        ready: None,
        watching: None,
        entered: None,
        traces: Vec::new(),
        stands: Stands::default(),
    };
    spawn("steps", Box::new(move || session.run(queue, &done)))?;

    let result = take_requests(&mut from, &control, &steps, &outbox).map_err(io);
    control.stop();
    drop(steps);
    if finished.recv_timeout(UNDO_LIMIT).is_err() {
        let message = say!("undo did not end in time", "откат не завершился вовремя");
        outbox.send(Reply::Failed(Error::host_lost(message)));
    }
    outbox.flush(FLUSH_LIMIT);
    outbox.close();
    result
}

/// Hands requests to the step thread; `Stop` and `Clock` take effect at once.
fn take_requests(
    from: &mut impl Read,
    control: &Control,
    steps: &Sender<Request>,
    outbox: &Outbox,
) -> std::io::Result<()> {
    while let Some(request) = read_frame::<Request>(from)? {
        match request {
            Request::Stop => control.stop(),
            Request::Clock => outbox.send(Reply::Clock(stend_sys::clock::now())),
            step => {
                if steps.send(step).is_err() {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Targets that were looked at, and what the user allowed.
type Seen = (Vec<TargetFacts>, Permission);

/// What the step thread holds.
struct Session {
    outbox: Outbox,
    control: Arc<Control>,
    ready: Option<Ready>,
    /// Telemetry of a host that another one is measured against.
    watching: Option<Telemetry>,
    /// The arm that the host is switched to.
    entered: Option<Entered>,
    /// The I/Os of the traces of the run.
    traces: Vec<Arc<Vec<TracedIo>>>,
    stands: Stands,
}

impl Session {
    fn run(&mut self, queue: Receiver<Request>, done: &Sender<()>) {
        let mut seen = None;
        while let Ok(request) = queue.recv() {
            if let Err(error) = self.step(request, &mut seen) {
                self.outbox.send(Reply::Failed(error));
            }
        }
        self.release();
        // An error means that nobody waits any more: the process is already ending.
        let _ = done.send(());
    }

    fn step(&mut self, request: Request, seen: &mut Option<Seen>) -> Result<()> {
        match request {
            Request::Inspect(mut inspect) => {
                self.stands.allow(&mut inspect.permission);
                let facts = look(&inspect, &self.outbox)?;
                *seen = Some((facts.targets.clone(), inspect.permission));
                self.outbox.send(Reply::Facts(Box::new(facts)));
            }
            Request::Rehearse(prepare) => {
                let (targets, _) = seen.as_ref().ok_or_else(|| out_of_order("rehearse"))?;
                let rehearsal = stend_stand::dry_run_all(targets, &ready::need(&prepare))?;
                self.outbox.send(Reply::Rehearsed(ledgers::rehearsed(rehearsal, prepare.ledger.as_deref())));
            }
            Request::Prepare(prepare) => {
                let (targets, permission) = seen.as_ref().ok_or_else(|| out_of_order("prepare"))?;
                self.ready = Some(Ready::make((targets, permission), &self.stands, &prepare, &self.outbox)?);
                self.outbox.send(Reply::Prepared);
            }
            Request::Judge(judge) => {
                let (targets, _) = seen.as_ref().ok_or_else(|| out_of_order("judge"))?;
                // A ledger is of one target: of several it is refused when the run is planned.
                let target = targets.first().ok_or_else(|| out_of_order("judge"))?;
                let found = ledgers::judge(&judge, target, &self.control, &self.outbox)?;
                self.outbox.send(Reply::Judged(found.map(Box::new)));
            }
            Request::Fill { region, parts, how, seed } => self.fill((region, parts), how, seed)?,
            Request::Calibrate { engine, seed } => {
                let (targets, _) = seen.as_ref().ok_or_else(|| out_of_order("calibrate"))?;
                let drives = calibrate::open(&stend_record::targets::calibrated(targets));
                self.calibrate(drives, engine, seed);
            }
            Request::SampleZeros { region, seed } => {
                let zeros = stend_load::sample_zeros(&self.open(false, true)?, region, seed, &self.control)?;
                self.outbox.send(Reply::Zeros(zeros));
            }
            Request::Switch(to) => {
                let (targets, permission) = seen.as_ref().ok_or_else(|| out_of_order("switch"))?;
                let facts = self.switch(&to, targets, permission)?;
                self.outbox.send(Reply::Switched(Box::new(facts)));
            }
            Request::Trace { number, ios } => self.keep(number as usize, ios)?,
            Request::Foresee(trials) => {
                self.foresee(&trials, seen.as_ref())?;
                self.outbox.send(Reply::Taken);
            }
            Request::Trial { ordinal, trial, faults, block, begin } => {
                self.control.begin_at(begin);
                let outcome = self.disturbed(ordinal, &trial, (&faults, block), seen.as_ref())?;
                self.outbox.send(Reply::TrialDone { ordinal, outcome: Box::new(outcome) });
            }
            Request::Stand(order) => {
                let answer = self.stands.carry_out(*order, &self.control, &self.outbox)?;
                self.outbox.send(Reply::Stand(Box::new(answer)));
            }
            Request::Release => {
                self.release();
                // Only then: a coordinator that is lost leaves the stand up, with its journal.
                if let Err(error) = self.stands.release(&self.outbox) {
                    self.outbox.send(Reply::Failed(error));
                }
                self.outbox.send(Reply::Released);
            }
            Request::Look(what) => self.outbox.send(Reply::Seen(Box::new(look::look(&what, &self.outbox)?))),
            Request::Watch(watch) => self.watch(&watch)?,
            Request::Mark => self.watching.iter().for_each(Telemetry::mark),
            // Done when they came, see `take_requests`.
            Request::Stop | Request::Clock => {}
        }
        Ok(())
    }

    fn switch(&mut self, to: &SwitchTo, targets: &[TargetFacts], permission: &Permission) -> Result<ArmFacts> {
        // What an arm changes may change the target, too.
        self.ready.iter_mut().try_for_each(Ready::close_ledgers)?;
        let outbox = self.outbox.clone();
        let mut log = move |kind| outbox.event(kind);
        if let Some(entered) = self.entered.take() {
            entered.leave(&mut log)?;
        }
        let owner = Owner { run_id: to.run.clone(), run_file: to.run_file.clone(), ledger: None };
        let control = self.control.clone();
        let stopped = move || control.stopped();
        self.entered = Some(stend_stand::enter(&to.switch, &owner, permission, &stopped, &mut log)?);
        let observed = stend_stand::observe(&to.observe, permission, &stopped, &mut log)?;
        let targets = stend_stand::inspect_all(&stend_record::targets::names(targets))?;
        Ok(ArmFacts { host: stend_stand::host_facts(), targets, observed })
    }

    fn fill(&mut self, what: (Region, u32), how: Option<Precondition>, seed: u64) -> Result<()> {
        let file = self.open(true, true)?;
        self.ready.iter_mut().try_for_each(Ready::close_ledgers)?;
        let mut last = Nanos(0);
        let mut progress = |done| {
            let now = stend_sys::clock::now();
            if now.saturating_sub(last) >= FILL_REPORT {
                last = now;
                self.outbox.send(Reply::Filling { done });
            }
        };
        let outcome = match how {
            Some(how) => stend_load::precondition(&file, what, &how, seed, &self.control, &mut progress)?,
            None => stend_load::fill_parts(&file, what, FILL_BLOCK, seed, &self.control, &mut progress)?,
        };
        self.outbox.send(Reply::Filled(outcome));
        Ok(())
    }

    fn calibrate(&mut self, drives: Vec<calibrate::Drive>, engine: Vec<Trial>, seed: u64) {
        let (control, outbox) = (self.control.clone(), self.outbox.clone());
        let mut tell = |calibration| outbox.event(EventKind::Calibrated(Box::new(calibration)));
        calibrate::read_drives(drives, seed, &control, &mut tell);
        let mut open = |trial: &Trial| self.open(trial.writes(), trial.direct);
        calibrate::run_engine(engine, &control, &mut open, &mut tell);
        self.outbox.send(Reply::Calibrated);
    }

    /// Adds I/Os to a trace, which is the last that there is, or the one after it.
    fn keep(&mut self, number: usize, ios: Vec<TracedIo>) -> Result<()> {
        if number == self.traces.len() {
            self.traces.push(Arc::default());
        }
        match self.traces.get_mut(number) {
            Some(trace) => Arc::make_mut(trace).extend(ios),
            None => return Err(out_of_order("trace")),
        }
        self.outbox.send(Reply::Taken);
        Ok(())
    }

    /// Whether trials of our own engine could be run; the error names the case.
    fn foresee(&mut self, trials: &[UpcomingTrial], seen: Option<&Seen>) -> Result<()> {
        self.foresee_events(trials, seen)?;
        let replay = self.ready.as_ref().and_then(|ready| ready.replay.as_ref());
        if let (Some(replay), Some(one)) = (replay, trials.iter().find(|one| ledgers::is_kept(&one.trial))) {
            replay.foresee().map_err(|error| of_case(&one.label, error))?;
        }
        // Opened once for all that use it alike: it may be thousands of files far away.
        let mut open: Vec<((bool, bool), IoFile)> = Vec::new();
        for (label, app) in trials.iter().filter_map(|one| Some((&one.label, one.trial.app.as_ref()?))) {
            stend_load::foresee_app(app).map_err(|error| of_case(label, error))?;
        }
        let ours = trials.iter().filter(|one| one.trial.app.is_none() && one.trial.engine == Engine::Native);
        for UpcomingTrial { label, trial, .. } in ours {
            let way = (trial.writes(), trial.direct);
            let known = open.iter().position(|(other, _)| *other == way);
            let index = known.unwrap_or(open.len());
            if known.is_none() {
                open.push((way, self.open(way.0, way.1).map_err(|error| of_case(label, error))?));
            }
            stend_load::foresee(trial, &self.traces, &open[index].1).map_err(|error| of_case(label, error))?;
        }
        Ok(())
    }

    /// Whether what happens beside trials can be done, and may be; the error names the case.
    fn foresee_events(&self, trials: &[UpcomingTrial], seen: Option<&Seen>) -> Result<()> {
        for one in trials.iter().filter(|one| !one.faults.is_empty()) {
            let context = self.context(seen)?;
            stend_stand::foresee_faults(&one.faults, &context).map_err(|error| of_case(&one.label, error))?;
        }
        Ok(())
    }

    /// Runs a trial; `begin` hears of its intervals.
    fn trial(&mut self, ordinal: u32, trial: &Trial, begin: Option<&Begin>) -> Result<TrialOutcome> {
        let ready = self.ready.as_mut().ok_or_else(|| out_of_order("I/O"))?;
        ready.tell_beside(&self.outbox);
        if (trial.app.is_some() || trial.writes()) && !ledgers::is_kept(trial) {
            ready.close_log()?;
        }
        if let Some(app) = &trial.app {
            return ready.application(trial, app, &self.control, &self.outbox);
        }
        let file = ready.open(trial.writes(), trial.direct)?;
        ready.ledgers.open(trial)?;
        ready.telemetry.mark();
        let mut emit = |slices| {
            begin.iter().for_each(|begin| begin.told());
            self.outbox.send(Reply::Slices { ordinal, slices });
        };
        let mut log = |chunk| self.outbox.send(Reply::Log { ordinal, chunk });
        let mut note = |kind| self.outbox.event(kind);
        ready.opaque |= ready::leaves_unknown_blocks(trial);
        let ran = match trial.engine {
            Engine::Native => {
                let marks = Marks::of_session(ready.since_ns, ordinal);
                let sinks = Sinks { slices: &mut emit, log: &mut log, note: &mut note };
                let ledger = ready.replay.as_ref().map(Replay::ledger);
                let ledger = ledger.or_else(|| ready.ledgers.place().map(LedgerIn::File));
                stend_load::run_trial_of(marks, ledger, trial, &self.traces, &file, &self.control, sinks)
            }
            Engine::Fio => stend_load::run_trial_by_fio(trial, &file, &self.control, &mut emit, &mut note),
            Engine::Other => Err(Error::bug(say!(
                "asked for the load of a program that nobody can run",
                "запрошена нагрузка программы, которую некому запустить"
            ))),
        };
        ready.ledgers.ended(trial, &ran);
        ready.telemetry.mark();
        ran
    }

    /// Runs a trial, with its events beside it if it has some.
    fn disturbed(
        &mut self,
        ordinal: u32,
        trial: &Trial,
        (events, block): (&[Fault], u32),
        seen: Option<&Seen>,
    ) -> Result<TrialOutcome> {
        if events.is_empty() {
            return self.trial(ordinal, trial, None);
        }
        let ready = self.ready.as_ref().ok_or_else(|| out_of_order("I/O"))?;
        let (control, outbox) = (self.control.clone(), self.outbox.clone());
        let mut log = |kind| outbox.event(kind);
        let faults = Faults::prepare(events, block, &self.context(seen)?, &ready.owner, &mut log)?;
        let load = |begin: &Begin| self.trial(ordinal, trial, Some(begin));
        faults::beside(faults, (events, trial.ramp, ordinal), (&control, &outbox), load)
    }

    /// On what events may be done.
    fn context<'a>(&'a self, seen: Option<&'a Seen>) -> Result<FaultContext<'a>> {
        let (targets, permission) = seen.ok_or_else(|| out_of_order("events"))?;
        let writable = stend_stand::may_write_all(targets, permission)?.is_ok();
        let run_id = self.ready.as_ref().map_or("", |ready| &ready.owner.run_id);
        Ok(FaultContext { targets, writable, stand: self.stands.name(), run_id, permission })
    }

    fn open(&mut self, writable: bool, direct: bool) -> Result<IoFile> {
        self.ready.as_mut().ok_or_else(|| out_of_order("I/O"))?.open(writable, direct)
    }

    fn release(&mut self) {
        if let Some(entered) = self.entered.take() {
            let outbox = self.outbox.clone();
            if let Err(error) = entered.leave(&mut |kind| outbox.event(kind)) {
                self.outbox.send(Reply::Failed(error));
            }
        }
        if let Some(ready) = self.ready.take() {
            ready.release(&self.control, &self.outbox);
        }
        self.watching = None;
    }

    /// Reads telemetry of this host from now on, of a host that is not the one that is measured.
    fn watch(&mut self, watch: &Watch) -> Result<()> {
        let targets = match &watch.targets {
            Some(targets) => stend_stand::inspect_all(targets)?,
            None => crate::inventory::drives()?,
        };
        // Before any sample: nobody owns those until it is known whose they are.
        let (host, ports) = (Box::new(stend_stand::host_facts()), stend_stand::ports());
        self.outbox.send(Reply::Watched { host, ports, targets: targets.clone() });
        self.watching = Some(Telemetry::start(&targets, 0, watch.sample_every, &self.outbox)?);
        Ok(())
    }
}

fn look(inspect: &Inspect, outbox: &Outbox) -> Result<Facts> {
    let mut targets = stend_stand::inspect_all(&inspect.targets)?;
    stend_stand::sample_contents(&mut targets, &mut |text| outbox.event(EventKind::Note { text }));
    let writes = stend_stand::may_write_all(&targets, &inspect.permission)?;
    stend_stand::must_be_alone(&targets, &inspect.permission)?;
    if let Some(need) = inspect.fio {
        stend_load::probe_fio()?.check(need)?;
    }
    for program in &inspect.programs {
        Programs::find(*program)?;
    }
    let directory = Path::new(&inspect.run_directory);
    let shares_drive = targets.iter().any(|target| stend_stand::shares_drive(directory, target));
    Ok(Facts { host: stend_stand::host_facts(), ports: stend_stand::ports(), targets, writes, shares_drive })
}

/// The error, with the case that it is about.
fn of_case(label: &str, mut error: Box<Error>) -> Box<Error> {
    let Say { en, ru } = error.message;
    error.message = say!("case `{label}`: {en}", "случай `{label}`: {ru}");
    error
}
