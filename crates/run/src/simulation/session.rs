//! One session of a simulated run: the real loop, walk, link and run file, a simulated worker, and time that passes only here. Keeps what
//! happened as evidence; must not judge it.

use super::cable::Cable;
use super::observer::Observer;
use super::run_directory::{Image, RunDirectory};
use super::scenario::{Moment, Scenario, Trouble};
use super::time::{EPOCH, Time};
use super::worker::{Worker, name};
use crate::LoadHost;
use crate::execute::{Loop, TICK};
use crate::setup::{Done, Power, Resume, Setup};
use crate::step::{Input, Returned, Step, UserRequest};
use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use stend_base::random::{Random, draw};
use stend_base::{Kind, Nanos};
use stend_record::{RunRecord, Sample};
use stend_wire::protocol::write_frame;
use stend_wire::{FromHost, Permission, Reply, Request};

/// The thread that writes the run file has so long to do its work; it never needs that.
const SETTLE: Duration = Duration::from_secs(600);
/// Steps of the loop after which a session counts as one without end.
const STEPS_MAX: u64 = 200_000;

/// What became of a session.
#[derive(Debug, Default)]
pub struct Session {
    /// What was to go wrong.
    pub trouble: Option<Trouble>,
    /// It did.
    pub fired: bool,
    /// Virtual time when something was last heard or wished, and when it ended.
    pub heard: Nanos,
    pub ended: Nanos,
    /// It had to be given up.
    pub endless: bool,
    /// Answers as the worker sent them, and as the walk took them, in order; without those that were garbage.
    pub said: Vec<Reply>,
    pub taken: Vec<Reply>,
    /// What its times must be moved by to be on the axis of the run, ns.
    pub shift_ns: i64,
    /// What a host said that is watched, as it arrived.
    pub beside: Vec<Sample>,
    /// The first so many of `taken` came before there was a run file to keep them in.
    pub unkept: usize,
    /// (what the worker was asked for, after the user had wanted an end).
    pub asked: Vec<(&'static str, bool)>,
    /// The power of its machine was cut, as the suite asks: when.
    pub cut: Option<Nanos>,
    /// How it ended: kind of the error. `None`: it was killed.
    pub end: Option<Option<Kind>>,
    /// The message of that error.
    pub told: String,
    /// It has opened the run file.
    pub opened: bool,
    /// The run file could not be written.
    pub unwritten: bool,
    /// The worker was asked to undo, and said that it had.
    pub released: bool,
    /// The worker's process is gone by itself, or had to be killed.
    pub dead: bool,
    /// Trials whose windows the worker measured to their ends.
    pub whole: Vec<u32>,
    /// Steps that the worker was asked for when it could not do them.
    pub out_of_turn: Vec<String>,
    /// Something that was made is left on the target.
    pub left: bool,
    /// What the run file holds; `None`: there is none.
    pub record: Option<RunRecord>,
}

/// What a session finds.
#[derive(Debug, Default)]
pub struct Before {
    /// Something of a dead worker is on the target.
    pub left: bool,
    /// How often the machine was booted.
    pub boots: u32,
    /// The session before it cut the power.
    pub cut: Option<Nanos>,
}

/// A session in progress.
pub struct Driver<'a> {
    scenario: &'a Scenario,
    directory: &'a RunDirectory,
    time: &'a Time,
    random: Random,
    cable: Cable,
    worker: Worker,
    observer: Option<Observer>,
    /// The power of its machine was cut.
    off: Rc<Cell<bool>>,
    /// On their way to the coordinator, and to the worker.
    coming: VecDeque<(Nanos, Vec<u8>)>,
    going: VecDeque<(Nanos, Request)>,
    inputs: Receiver<Input>,
    /// When the trouble comes, once its first condition holds; how many messages that takes.
    due: Option<Nanos>,
    after: usize,
    arrived: usize,
    /// Troubles of the stream that are to meet the next message.
    hit: bool,
    hanging: bool,
    wished: bool,
    seen: Session,
}

/// Messages of an undisturbed session, which give the moments.
pub fn messages(sessions: &[Session]) -> usize {
    sessions.iter().map(|session| session.said.len()).max().unwrap_or_default()
}

impl<'a> Driver<'a> {
    /// The session of this number; `messages` are those of an undisturbed one.
    pub fn run(
        scenario: &'a Scenario,
        directory: &'a RunDirectory,
        time: &'a Time,
        (number, messages): (usize, usize),
        before: &Before,
        earlier: Option<(RunRecord, crate::Progressed)>,
    ) -> Session {
        let seed = draw(scenario.seed, 1000 + number as u64);
        let (cable, host) = Cable::new();
        let trouble = scenario.troubles.get(number).cloned();
        let mut machine = scenario.machine.clone();
        if trouble.is_none() {
            machine.refuses = 0;
        }
        let shift_ns =
            earlier.as_ref().map_or(0, |(record, _)| time.offset() as i64 - record.header.realtime_offset_ns);
        let mut setup = setup(scenario, directory, vec![LoadHost::only(host)], earlier);
        // That of the coordinator, whose clock begins anew with it. A cut of power is one of the machine that is measured.
        setup.boot_id = format!("boot at {}", time.offset());
        let watched = scenario.watched.map(|delay| Observer::new(draw(seed, 2), delay, time.now()));
        let (observer, observed) = watched.unzip();
        setup.observed.extend(observed);
        let off = Rc::new(Cell::new(false));
        let switch = Rc::clone(&off);
        let cut = Box::new(move || {
            switch.set(true);
            Ok(())
        });
        setup.power = scenario.powered.then(|| Power { keeps: "/keep".into(), cut });
        setup.returned = before.cut.map(|cut| Returned { cut, answered: time.now() });
        let (sender, inputs) = channel();
        let after = trouble.as_ref().map_or(0, |trouble| messages * trouble.moment().share as usize / 1024);
        let seen = Session { trouble, heard: time.now(), shift_ns, ..Session::default() };
        let mut driver = Driver {
            scenario,
            directory,
            time,
            random: Random::new(seed),
            cable,
            worker: Worker::new(&machine, format!("boot {}", before.boots), draw(seed, 1), before.left),
            observer,
            off,
            coming: VecDeque::new(),
            going: VecDeque::new(),
            inputs,
            due: None,
            after,
            arrived: 0,
            hit: false,
            hanging: false,
            wished: false,
            seen,
        };
        let begun = Loop::begin(setup, sender, None, time.clocks()).expect("a thread");
        driver.arm();
        let image = driver.walk(begun);
        driver.end(image)
    }

    /// Drives the loop to its end; the files as they were then if it was killed.
    fn walk(&mut self, mut run: Loop) -> Option<Image> {
        for step in 0.. {
            run.act();
            if self.may_fail() {
                // Else it would hear of a failure when the thread of the file has come to it.
                settle(&run);
            }
            let goes_on = run.goes_on();
            self.seen.opened |= run.writer.is_some();
            if self.may_fail() {
                settle(&run);
                self.seen.unwritten |= run.writer.as_ref().is_some_and(|writer| writer.failure().is_some());
            }
            self.seen.dead |= self.off.get();
            self.hear_requests();
            if !goes_on {
                break;
            }
            if step == STEPS_MAX {
                self.seen.endless = true;
                break;
            }
            match self.inputs.try_recv() {
                Ok(input) => self.give(&mut run, input),
                Err(_) => {
                    if let Some(image) = self.pass(&mut run) {
                        return Some(image);
                    }
                }
            }
        }
        self.seen.ended = self.now();
        self.observer.iter_mut().for_each(Observer::arrive_all);
        let Done { error, cut, .. } = run.finish();
        self.seen.cut = cut;
        self.seen.end = Some(error.as_ref().map(|error| error.kind));
        self.seen.told = error.map(|error| format!("{error}")).unwrap_or_default();
        None
    }

    /// Whatever arrived goes to the loop.
    fn give(&mut self, run: &mut Loop, input: Input) {
        if let Input::From(_, FromHost::Reply(reply)) = &input {
            if run.writer.is_none() {
                self.seen.unkept = self.seen.taken.len() + 1;
            }
            self.seen.taken.push(reply.clone());
            self.seen.released |= *reply == Reply::Released && run.walk.step == Step::Releasing;
        }
        self.wished |= matches!(input, Input::User(_));
        self.seen.heard = if matches!(input, Input::Tick) { self.seen.heard } else { self.now() };
        run.take(input, &mut |update| assert!((0.0..=1.0).contains(&update.done), "{update:?}"));
    }

    /// The run file may be refused a write.
    fn may_fail(&self) -> bool {
        matches!(self.seen.trouble, Some(Trouble::DiskFull(..)))
    }

    fn hear_requests(&mut self) {
        let now = self.now();
        self.observer.iter_mut().for_each(|observer| observer.hear(now));
        for request in self.cable.asked() {
            self.seen.asked.push((name(&request), self.wished));
            let at = self.arrival(self.going.back().map(|(at, _)| *at));
            self.going.push_back((at, request));
        }
    }

    /// When a message arrives that is sent now, not before the one in front of it.
    fn arrival(&mut self, front: Option<Nanos>) -> Nanos {
        let at = self.now() + Nanos(self.random.below(self.scenario.delay.0 + 1));
        front.map_or(at, |front| front.max(at))
    }

    fn now(&self) -> Nanos {
        self.time.now()
    }

    /// Time passes until the next thing happens, at most a tick.
    fn pass(&mut self, run: &mut Loop) -> Option<Image> {
        let tick = self.now() + Nanos(TICK.as_nanos() as u64);
        let worker = self.worker.due().filter(|_| !self.seen.dead);
        let coming = self.coming.front().map(|(at, _)| *at);
        let going = self.going.front().map(|(at, _)| *at);
        let observer = self.observer.as_ref().map(Observer::due);
        let next = [worker, coming, going, self.due, observer].into_iter().flatten().min();
        let Some(at) = next.filter(|at| *at <= tick) else {
            self.time.pass_to(tick);
            self.give(run, Input::Tick);
            return None;
        };
        self.time.pass_to(at);
        if self.due == Some(at) {
            self.due = None;
            return self.fire(run);
        }
        if observer == Some(at) {
            self.observer.iter_mut().for_each(|observer| observer.act(at));
        } else if coming == Some(at) {
            let (_, bytes) = self.coming.pop_front()?;
            self.arrive(&bytes);
        } else if going == Some(at) {
            let (_, request) = self.going.pop_front()?;
            if !self.seen.dead {
                self.worker.ask(request, at);
            }
        } else {
            self.worker.act(at).iter().for_each(|reply| self.send(reply));
        }
        None
    }

    fn send(&mut self, reply: &Reply) {
        if self.seen.dead || self.hanging {
            return;
        }
        let mut frame = Vec::new();
        write_frame(&mut frame, reply).expect("a frame");
        if std::mem::take(&mut self.hit)
            && let Some(Trouble::Dies(_, bytes)) = self.seen.trouble
        {
            // The last of them: it said all of it and died.
            let whole = frame.len();
            frame.truncate((bytes % (whole as u64 + 1)) as usize);
            self.seen.dead = true;
            self.seen.said.extend((frame.len() == whole).then(|| reply.clone()));
        } else {
            self.seen.said.push(reply.clone());
        }
        let at = self.arrival(self.coming.back().map(|(at, _)| *at));
        self.coming.push_back((at, frame));
    }

    fn arrive(&mut self, bytes: &[u8]) {
        self.cable.say(bytes);
        self.arrived += 1;
        if self.seen.dead && self.coming.is_empty() {
            self.cable.cut();
        }
        self.arm();
    }

    /// Starts the clock of the trouble when enough has arrived.
    fn arm(&mut self) {
        if let Some(trouble) = &self.seen.trouble
            && self.arrived == self.after
        {
            let Moment { later, .. } = trouble.moment();
            self.due = Some(self.now() + later);
            self.after = usize::MAX;
        }
    }

    /// The trouble comes.
    fn fire(&mut self, run: &mut Loop) -> Option<Image> {
        self.seen.fired = true;
        match self.seen.trouble.clone()? {
            Trouble::Dies(..) => self.hit = true,
            Trouble::Hangs(_) => self.hanging = true,
            Trouble::Garbage(_, bytes) => self.cable.say(&bytes),
            Trouble::Unasked(_, seed) => {
                let mut frame = Vec::new();
                write_frame(&mut frame, &unasked(seed)).expect("a frame");
                self.cable.say(&frame);
            }
            Trouble::Stop(_) => self.give(run, Input::User(UserRequest::Stop(Kind::Interrupted))),
            Trouble::Abort(..) if self.wished => self.give(run, Input::User(UserRequest::Abort)),
            Trouble::Abort(_, later) => {
                self.due = Some(self.now() + later);
                self.give(run, Input::User(UserRequest::Stop(Kind::Terminated)));
            }
            Trouble::DiskFull(_, pages) => self.directory.fill(pages),
            Trouble::Reset(_) => {
                settle(run);
                // What is in memory is gone, and the worker as well.
                self.seen.dead = true;
                return Some(self.directory.image(0));
            }
            Trouble::Killed(_, spooled) => {
                settle(run);
                // Before it opens the file, nothing that waits there is its own.
                return Some(self.directory.image(if self.seen.opened { spooled } else { 1024 }));
            }
        }
        None
    }

    /// The coordinator is gone, one way or the other.
    fn end(mut self, image: Option<Image>) -> Session {
        // Letting go of the loop writes to the file what a kill would have left out.
        if let Some(image) = &image {
            self.directory.restore(image);
            self.seen.ended = self.now();
        }
        self.directory.make_room();
        if self.hanging {
            self.seen.dead = true;
        }
        if !self.seen.dead {
            self.worker.let_go();
        }
        self.seen.beside = self.observer.take().map(|observer| observer.said).unwrap_or_default();
        self.seen.left = self.worker.made;
        self.seen.whole = std::mem::take(&mut self.worker.whole);
        self.seen.out_of_turn = std::mem::take(&mut self.worker.out_of_turn);
        self.seen
    }
}

/// Waits until the thread of the run file has done its work.
pub fn settle(run: &Loop) {
    if let Some(writer) = &run.writer {
        assert!(writer.settle(SETTLE), "the thread of the run file stands still");
    }
}

/// What the loop of a run of these hosts needs.
pub fn setup(
    scenario: &Scenario,
    directory: &RunDirectory,
    hosts: Vec<LoadHost>,
    earlier: Option<(RunRecord, crate::Progressed)>,
) -> Setup {
    let run_file = directory.run_file();
    let id = run_file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let suite = stend_spec::parse::suite(&scenario.suite, "drawn.yaml");
    let resume =
        earlier.map(|(record, progressed)| Resume { progressed, realtime_offset_ns: record.header.realtime_offset_ns });
    Setup {
        suite: suite.unwrap_or_else(|error| panic!("{error}\n{}", scenario.suite)),
        suite_text: scenario.suite.clone(),
        seed: draw(scenario.seed, 3),
        time_budget: None,
        traces: Vec::new(),
        targets: vec!["/t".into()],
        permission: Permission::default(),
        id,
        label: None,
        gate: None,
        run_file,
        known_in: None,
        command_line: Vec::new(),
        hosts,
        on_loss: Default::default(),
        started_unix: (EPOCH / 1_000_000_000) as i64,
        boot_id: String::new(),
        resume,
        stand: None,
        observed: Vec::new(),
        sources: None,
        power: None,
        hypervisor: None,
        returned: None,
        one_block: false,
    }
}

/// An answer that nobody asked for.
fn unasked(seed: u64) -> Reply {
    let zeros = Default::default();
    let outcome = || Box::new(crate::fixture::outcome(stend_record::TrialStatus::Complete));
    let all = [
        Reply::Released,
        Reply::Prepared,
        Reply::Taken,
        Reply::Calibrated,
        Reply::Zeros(zeros),
        Reply::Filled(Default::default()),
        Reply::Judged(None),
        Reply::Facts(Box::new(crate::fixture::facts())),
        Reply::TrialDone { ordinal: 1_000_000, outcome: outcome() },
        Reply::Slices { ordinal: 1_000_000, slices: Vec::new() },
        Reply::Judging { done: Default::default() },
    ];
    all[(seed % all.len() as u64) as usize].clone()
}
