//! The one event loop: waits for the worker, the user and the clock; does what the walk decides.

use crate::ahead::expected_size;
use crate::channel::{Channel, Stopper};
use crate::control::ControlSocket;
use crate::ending::{is_of_target, machines_are_left, undone_later};
use crate::fleet::{Fleet, Notice};
use crate::observed::{Heard, ObservedHost};
use crate::pause::Pause;
use crate::progress::{Progress, Update};
use crate::setup::{Done, Setup, no_hypervisor, power_of_others};
use crate::step::{Action, Asked, Changed, Hypervised, Input, Step};
use crate::walk::Walk;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;
use stend_base::{Error, Kind, Nanos, Result, Say, say};
use stend_plan::{Plan, PlanInputs};
use stend_record::store::{Options, Writer, create, make_known};
use stend_record::{Entry, Event, EventKind, FaultMoment, HostFacts, RunHeader, StandText};
use stend_wire::{Comparer, FromHost, Inspect, Reply, Request, StandFile};

/// Longest wait of the loop: how often progress is shown and limits are looked at.
pub(crate) const TICK: Duration = Duration::from_millis(250);
/// How long a worker may take to undo and exit at the end of a run.
const END_LIMIT: Duration = Duration::from_secs(15);
/// The same after the user asked twice.
const ABORT_LIMIT: Duration = Duration::from_secs(3);
/// How long a trial may wait for the run file of the one before to reach its disk.
const SETTLE_LIMIT: Duration = Duration::from_secs(2);
/// The same after a trial with a log of every I/O: 256 MiB at 32 MB/s. Below the grace that the next trial has.
const SETTLE_LIMIT_LOG: Duration = Duration::from_secs(8);
/// Longest time between two looks at the clock in which the loop was at work: it may wait for the disk of the run file. After a longer one this
/// process was suspended.
const AWAY: Nanos = Nanos::secs(10);

/// Executes a run to its end and shows progress about four times a second.
pub fn execute(setup: Setup, channel: Channel, watch: &mut dyn FnMut(&Update)) -> Done {
    let Channel { sender, receiver } = channel;
    let stopper = Stopper { sender: sender.clone() };
    match Loop::begin(setup, sender, Some(stopper), Box::new(stend_wire::stamps)) {
        Ok(begun) => begun.run(&receiver, watch),
        Err(error) => Done { error: Some(error), ..Done::default() },
    }
}

pub(crate) fn asked(setup: &Setup) -> Asked {
    // On another machine our process and the directory of the run file are something else, or nothing.
    let here = setup.hosts.iter().all(|load| load.host.is_here());
    let directory = setup.run_file.parent().filter(|_| here).map(|path| path.to_string_lossy().into_owned());
    let keeps = setup.power.as_ref().map(|power| power.keeps.clone());
    Asked {
        suite: setup.suite.clone(),
        seed: setup.seed,
        time_budget: setup.time_budget,
        traces: setup.traces.clone(),
        inspect: Inspect {
            targets: setup.targets.clone(),
            permission: setup.permission.clone(),
            run_directory: directory.or(keeps.clone()).unwrap_or_default(),
            fio: setup.suite.needs_fio(),
            programs: setup.suite.programs(),
        },
        run: setup.id.clone(),
        run_file: setup.run_file.to_string_lossy().into_owned(),
        coordinator: if here { std::process::id() } else { 0 },
        keeps,
        resume: setup.resume.as_ref().map(|r| r.progressed.clone()),
        returned: setup.returned,
        stand: setup.stand.as_ref().map(|StandText { file, text, nonce, .. }| StandFile {
            text: text.clone(),
            file: file.clone(),
            nonce: *nonce,
            // The worker has the part that is measured, where there are several hosts. What cannot be read is refused there.
            host: stend_spec::parse::stand(text, file).ok().and_then(|stand| Some(stand.measured()?.to_string())),
        }),
        one_block: setup.one_block,
        hosts: setup.hosts.iter().map(|load| load.name.clone()).collect(),
    }
}

/// CLOCK_MONOTONIC, CLOCK_BOOTTIME and CLOCK_REALTIME, ns.
pub(crate) type Clocks = Box<dyn Fn() -> (u64, u64, u64)>;

/// A run that goes on.
pub(crate) struct Loop {
    setup: Setup,
    pub(crate) fleet: Fleet,
    pub(crate) walk: Walk,
    pub(crate) writer: Option<Writer>,
    file_error: Option<Box<Error>>,
    progress: Progress,
    clocks: Clocks,
    /// For who wants to stop the run from elsewhere; `None`: nobody may.
    stopper: Option<Stopper>,
    /// What is measured is on this machine, whose boot id the facts have.
    here: bool,
    control: Option<ControlSocket>,
    /// The trial before kept a log of every I/O.
    logged: bool,
    /// The run has begun to do what was asked, and there is something to keep.
    worked: bool,
    /// Where threads beside the loop report.
    sender: Sender<Input>,
    /// The change of machines that is under way, or was the last.
    changing: Option<std::thread::JoinHandle<()>>,
    /// When the clock was looked at last.
    looked: Nanos,
    /// Added to every time before it is kept: above 0 only after a reboot between sessions.
    shift_ns: i64,
}

impl Loop {
    /// A run whose worker has been asked for the first thing; what it answers goes to `sender`.
    pub(crate) fn begin(
        mut setup: Setup,
        sender: Sender<Input>,
        stopper: Option<Stopper>,
        clocks: Clocks,
    ) -> Result<Loop> {
        let now = Nanos(clocks().0);
        let asked = asked(&setup);
        let here = asked.coordinator != 0;
        let walk = Walk::new(asked, now);
        let mut fleet = Fleet::new(std::mem::take(&mut setup.hosts), setup.on_loss);
        let heard = sender.clone();
        fleet.listen(move |host, message| drop(heard.send(Input::From(host, message))))?;
        let progress = Progress::new(now);
        let (writer, file_error, control) = (None, None, None);
        let (logged, worked, shift_ns) = (false, false, 0);
        Ok(Loop {
            setup,
            fleet,
            walk,
            writer,
            file_error,
            progress,
            clocks,
            stopper,
            here,
            control,
            logged,
            worked,
            sender,
            changing: None,
            looked: now,
            shift_ns,
        })
    }

    /// The one place that waits.
    fn run(mut self, receiver: &Receiver<Input>, watch: &mut dyn FnMut(&Update)) -> Done {
        while self.goes_on() {
            let input = match receiver.recv_timeout(TICK) {
                Ok(input) => input,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Input::Tick,
            };
            self.take(input, watch);
        }
        self.finish()
    }

    /// Does what is to be done now; `false`: the run is over.
    pub(crate) fn goes_on(&mut self) -> bool {
        self.act();
        self.hear_observed(ObservedHost::heard);
        self.note_clocks(false);
        self.check_file();
        self.walk.step != Step::Over
    }

    /// Takes notice of what was waited for.
    pub(crate) fn take(&mut self, input: Input, watch: &mut dyn FnMut(&Update)) {
        let now = self.now();
        let gap = now.saturating_sub(std::mem::replace(&mut self.looked, now));
        if gap > AWAY {
            self.walk.was_away(gap);
        }
        let heard = match input {
            Input::From(host, message) => {
                self.progress.notice(&message, now);
                if matches!(message, FromHost::Reply(Reply::TrialDone { .. })) {
                    self.mark_observed();
                }
                self.fleet.hear(host, message, (self.walk.step, self.walk.trials), now)
            }
            Input::Tick => Vec::new(),
            input => vec![Notice::Walk(input)],
        };
        self.tell(heard, now);
        if self.fleet.is_several() && self.walk.is_late(now) {
            let late = self.fleet.late(self.walk.step, now);
            self.tell(late, now);
        }
        self.walk.apply(Input::Tick, now);
        if self.walk.step != Step::Over {
            self.progress.show(&self.walk, now, watch);
        }
    }

    fn tell(&mut self, notices: Vec<Notice>, now: Nanos) {
        for one in notices {
            match one {
                Notice::Walk(input) => self.walk.apply(input, now),
                Notice::Keep(entry) => self.walk.keep(entry, now),
                Notice::Warn(say) => self.progress.warn(say),
            }
        }
    }

    fn now(&self) -> Nanos {
        Nanos((self.clocks)().0)
    }

    pub(crate) fn act(&mut self) {
        for action in self.walk.take_actions() {
            match action {
                Action::Send(request) => {
                    if matches!(request, Request::Trial { .. } | Request::Prepare(_)) {
                        // Between trials nothing else is going on, and a sync must not run into the next one. Preparing ends
                        // what a crash can be judged by: the verdict comes first.
                        let limit = if std::mem::take(&mut self.logged) { SETTLE_LIMIT_LOG } else { SETTLE_LIMIT };
                        self.with_writer(|writer| {
                            let _late = !writer.settle(limit);
                        });
                    }
                    if matches!(request, Request::Trial { .. }) {
                        self.mark_observed();
                    }
                    self.fleet.send(&request, Nanos((self.clocks)().0));
                }
                Action::Create { inputs, spool } => self.open(|own| own.create(*inputs, spool)),
                Action::Resume { host, rebooted, spool } => self.resume(host, rebooted, spool),
                Action::Append(entry) => {
                    self.logged |= matches!(entry, Entry::IoLog { .. });
                    self.worked |= entry.tells_of_work();
                    let entry = if self.shift_ns == 0 { entry } else { entry.shifted(self.shift_ns) };
                    self.with_writer(|writer| writer.append(entry));
                }
                Action::Window(on) => self.with_writer(|writer| writer.window(on)),
                Action::Edge => self.with_writer(|writer| writer.edge()),
                Action::Warn(say) => self.progress.warn(say),
                Action::Cut => self.cut(),
                Action::Hypervise(change) => self.hypervise(change),
            }
        }
    }

    /// Nothing is asked of the worker any more: the walk hears at once what became of it.
    fn cut(&mut self) {
        let power = self.setup.power.as_ref();
        let done = power.map_or_else(|| Err(power_of_others()), |power| (power.cut)());
        self.walk.apply(Input::Cut(done), self.now());
        self.act();
    }

    /// Has the hypervisor change machines, which takes its time, while the load goes on.
    fn hypervise(&mut self, change: Hypervised) {
        let sender = self.sender.clone();
        let tell = move |changed| drop(sender.send(Input::MachinesChanged(changed)));
        let clocks: Vec<Comparer> = self.fleet.comparers();
        let begun = match self.setup.hypervisor.clone() {
            Some(hypervisor) => std::thread::Builder::new().name("hypervisor".into()).spawn({
                let tell = tell.clone();
                move || tell(hypervisor.perform(&change, &clocks))
            }),
            None => return tell(not_changed(no_hypervisor())),
        };
        match begun {
            Ok(thread) => self.changing = Some(thread),
            Err(error) => {
                let failed =
                    Error::preflight(say!("cannot start a thread: {error}", "не удаётся запустить поток: {error}"));
                tell(not_changed(failed));
            }
        }
    }

    /// Undoes what the hypervisor has done where the walk ended without it, because a host was lost. A user who does not wait leaves it.
    fn restore_machines(&mut self) {
        let left = self.walk.left_of_machines();
        let Some(hypervisor) = self.setup.hypervisor.clone() else { return };
        if self.walk.aborted {
            if !left.is_empty() {
                self.walk.end_also_with(machines_are_left());
            }
            return;
        }
        if let Some(thread) = self.changing.take() {
            // What became of it is not asked any more: it is undone in any case.
            drop(thread.join());
        }
        for change in left {
            self.note_change(&change, FaultMoment::Ends, change.act.say_undone());
            let Changed { steps, done, .. } = hypervisor.perform(&change, &[]);
            for action in steps {
                self.keep_event(EventKind::Step { action });
            }
            match done {
                Ok(()) => self.note_change(&change, FaultMoment::Undone, change.act.say_undone()),
                Err(error) => {
                    self.keep_event(EventKind::Note { text: error.message.en.clone() });
                    self.walk.end_also_with(undone_later(error));
                }
            }
        }
    }

    fn note_change(&self, change: &Hypervised, moment: FaultMoment, what: Say) {
        self.keep_event(EventKind::Fault { trial: change.trial, fault: change.fault, moment, what });
    }

    fn keep_event(&self, kind: EventKind) {
        let event = Event::new(self.now(), kind);
        self.with_writer(|writer| writer.append(Entry::Event(event).shifted(self.shift_ns)));
    }

    fn open(&mut self, work: impl FnOnce(&Loop) -> Result<Writer>) {
        match work(self) {
            Ok(writer) => {
                if let Some(why) = writer.without_spool() {
                    self.progress.warn(say!(
                        "if Stend is killed, the trial in progress will be lost: {why}",
                        "если Stend убьют, текущее испытание пропадёт: {why}"
                    ));
                }
                self.writer = Some(writer);
                self.make_known();
                self.note_clocks(false);
                self.listen();
            }
            Err(error) => self.file_error = Some(error),
        }
    }

    /// Continues the run file of an earlier session. Where our clock began anew, wall clock ties it to the axis of the first session.
    fn resume(&mut self, host: Box<HostFacts>, rebooted: bool, spool: bool) {
        let Some(resume) = &self.setup.resume else { return };
        let (monotonic, _, realtime) = (self.clocks)();
        let boot_id = self.setup.boot_id.clone();
        let by_wall_clock = realtime as i64 - monotonic as i64 - resume.realtime_offset_ns;
        let is_new = resume.progressed.clock_began_anew(&boot_id, rebooted && self.here, Nanos(monotonic));
        let (shift_ns, doubt) = match is_new {
            true => resume.progressed.shift_behind(by_wall_clock, self.progress.started),
            false => (resume.progressed.shift_ns, None),
        };
        self.shift_ns = shift_ns;
        doubt.into_iter().for_each(|doubt| self.progress.warn(doubt));
        let reserve = expected_size(&resume.progressed.plan, self.fleet.count());
        self.open(|own| stend_record::store::resume(&own.setup.run_file, Options { spool, reserve }));
        let kind = EventKind::Resumed { host, shift_ns: self.shift_ns, boot_id };
        let entry = Entry::Event(Event::new(Nanos(monotonic), kind)).shifted(self.shift_ns);
        self.with_writer(|writer| writer.append(entry));
    }

    /// Keeps how the clocks of other machines stand to ours, where that is new.
    fn note_clocks(&mut self, last: bool) {
        if self.writer.is_none() {
            return;
        }
        let at = self.now();
        for (host, stend_wire::Clock { shift_ns, uncertainty_ns }) in self.fleet.drifted(last) {
            let kind = EventKind::HostClock { shift_ns, uncertainty_ns };
            let event = Event { at, host, kind };
            self.with_writer(|writer| writer.append(Entry::Event(event).shifted(self.shift_ns)));
        }
    }

    fn mark_observed(&mut self) {
        let now = self.now();
        self.setup.observed.iter_mut().for_each(|host| host.mark(now));
    }

    /// Keeps what is known of the hosts that are watched, and what they have told. Until there is a run file, which knows the load hosts
    /// first, it waits.
    fn hear_observed(&mut self, hear: fn(&mut ObservedHost, Nanos) -> Heard) {
        let now = self.now();
        let Some(writer) = &self.writer else { return };
        for host in &mut self.setup.observed {
            let known = host.known(now);
            let (entries, warning) = hear(host, now);
            known.into_iter().chain(entries).for_each(|entry| writer.append(entry.shifted(self.shift_ns)));
            warning.into_iter().for_each(|warning| self.progress.warn(warning));
        }
        if let Some(sources) = &mut self.setup.sources {
            sources.heard(now).into_iter().for_each(|entry| writer.append(entry.shifted(self.shift_ns)));
        }
    }

    /// Has `stend list` and `last` find the run wherever its file lies. A run that they do not know is measured all the same.
    fn make_known(&mut self) {
        let Setup { run_file, id, known_in, .. } = &self.setup;
        if let Some(Err(error)) = known_in.as_ref().map(|directory| make_known(run_file, id, directory)) {
            self.progress.warn(error.message);
        }
    }

    /// Opens the socket that `stend stop` uses. A run without one works and can be stopped by a signal.
    fn listen(&mut self) {
        let Some(stopper) = self.stopper.clone() else { return };
        match ControlSocket::open(&self.setup.run_file, stopper) {
            Ok(socket) => self.control = Some(socket),
            Err(error) => self.progress.warn(say!(
                "`stend stop` cannot reach this run: {error}",
                "`stend stop` не сможет обратиться к этому прогону: {error}"
            )),
        }
    }

    fn with_writer(&self, work: impl FnOnce(&Writer)) {
        if let Some(writer) = &self.writer {
            work(writer);
        }
    }

    fn create(&self, inputs: PlanInputs, spool: bool) -> Result<Writer> {
        let plan = Plan::new(&inputs)?;
        let (monotonic, _, realtime) = (self.clocks)();
        let header = RunHeader {
            id: self.setup.id.clone(),
            started_unix: self.setup.started_unix,
            stend_version: env!("CARGO_PKG_VERSION").to_string(),
            command_line: self.setup.command_line.clone(),
            named: self.setup.targets.clone(),
            inputs,
            suite_text: self.setup.suite_text.clone(),
            realtime_offset_ns: realtime as i64 - monotonic as i64,
            imported: None,
            stand: self.setup.stand.clone(),
            label: self.setup.label.clone(),
            gate: self.setup.gate.clone(),
            recording: None,
            boot_id: self.setup.boot_id.clone(),
        };
        let options = Options { spool, reserve: expected_size(&plan, self.fleet.count()) };
        let writer = create(&self.setup.run_file, header, options)?;
        writer.append(Entry::Plan(Box::new(plan)));
        Ok(writer)
    }

    /// A run whose file cannot be written ends, softly, with what it has.
    fn check_file(&mut self) {
        let failure = self.file_error.take().or_else(|| self.writer.as_ref().and_then(Writer::failure));
        if let Some(error) = failure
            && self.walk.ending.is_none()
        {
            self.walk.apply(Input::RunFile(error), self.now());
            self.act();
        }
    }

    pub(crate) fn finish(mut self) -> Done {
        let (aborted, cut) = (self.walk.aborted, self.walk.cut);
        self.restore_machines();
        self.hear_observed(if aborted { ObservedHost::heard } else { ObservedHost::heard_last });
        self.note_clocks(true);
        let Setup { run_file, observed, resume, stand, .. } = self.setup;
        observed.into_iter().for_each(ObservedHost::end);
        let ended = self.fleet.end(match (cut.is_some(), aborted) {
            // There is nobody at its other end.
            (true, _) => Duration::ZERO,
            (false, true) => ABORT_LIMIT,
            (false, false) => END_LIMIT,
        });
        let mut error = self.walk.ending.take();
        if !ended && !aborted && cut.is_none() && error.is_none() {
            error = Some(Error::host_lost(say!(
                "the worker did not end and was killed",
                "рабочий процесс не завершился и был остановлен"
            )));
        }
        let (state, stopped) = (self.walk.state.clone(), self.walk.stopped);
        let begun = self.worked || resume.is_some() || stand.is_some();
        let refused = !begun && error.as_ref().is_some_and(|error| is_refusal(error.kind));
        let run_file = self.writer.and_then(|writer| match refused {
            true => {
                // A file that says only that there was no run would stand in every list.
                let failure = writer.discard().err()?;
                error = error.take().map(|error| error.hint(failure.message));
                Some(run_file)
            }
            false => Some(writer.close(state).unwrap_or_else(|failure| {
                error.get_or_insert(failure);
                run_file
            })),
        });
        let fine = error.is_none();
        let asks = self.walk.asks && error.as_ref().is_none_or(|error| is_of_target(error.kind));
        Done { run_file, waits: self.walk.waits && fine, asks, cut: cut.filter(|_| fine), error, stopped }
    }
}

/// Whether a run ends so where it is not begun at all, because of what was asked or of how things are.
fn is_refusal(kind: Kind) -> bool {
    matches!(kind, Kind::Usage | Kind::Spec | Kind::Preflight | Kind::Unsafe)
}

/// What becomes of a change that was not begun.
fn not_changed(error: Box<Error>) -> Changed {
    Changed { steps: Vec::new(), done: Err(error), pause: Pause::default() }
}
