//! One simulated load host at the end of its link: its worker, its clock, and what goes wrong with it. Must not judge.

use crate::fixture;
use crate::simulation::cable::{Ahead, Cable};
use crate::simulation::worker::Worker;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use stend_base::Nanos;
use stend_base::random::Random;
use stend_record::{ArmFacts, Event, EventKind, TrialStatus};
use stend_wire::protocol::write_frame;
use stend_wire::{Host, Reply, Request};

/// A message of a slow host takes at most so long: there and back, with all else that may take time, it is below every limit of a step.
const SLOW: Nanos = Nanos::secs(15);
/// Clocks of other machines, against ours, ns: not much younger, three hours and thirty years older.
const AHEAD: [i64; 3] = [-5_000_000_000, 3 * 3600 * 1_000_000_000, 30 * 365 * 86_400 * 1_000_000_000];
/// A clock is set by at most so much, either way: the trial that is going on may end so much later, and is waited for.
const STEP_MAX: Nanos = Nanos::secs(8);

/// Time between two messages of a host that hangs and still talks: shorter than any step waits.
const CHAT_EVERY: Nanos = Nanos::secs(50);

/// What goes wrong with the host of this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing.
    None,
    /// Its stream ends at this time.
    Dies(Nanos),
    /// It says nothing from this time on.
    Hangs(Nanos),
    /// From this time on it only tells of commands, over and over.
    Chats(Nanos),
    /// It refuses some of what it is asked.
    Refuses,
    /// At this time come bytes that are no message.
    Garbage(Nanos, u64),
    /// At this time comes a message that it cannot have been asked for.
    Odd(Nanos, u64),
    /// Its messages take long, and nothing is wrong with that.
    Slow,
}

impl Trouble {
    fn at(self) -> Option<Nanos> {
        match self {
            Trouble::Dies(at) | Trouble::Hangs(at) | Trouble::Chats(at) => Some(at),
            Trouble::Garbage(at, _) | Trouble::Odd(at, _) => Some(at),
            Trouble::None | Trouble::Refuses | Trouble::Slow => None,
        }
    }

    /// Whether the host is lost by it.
    pub fn is_loss(self) -> bool {
        self.at().is_some()
    }
}

/// The clock of a host against that of the coordinator.
pub struct FarClock {
    ahead: Ahead,
    /// It is that of another machine.
    pub is_own: bool,
    /// When it will be set, and by how much.
    step: Option<(Nanos, i64)>,
    /// When it was set, and when the coordinator looked at it after that.
    stepped: Option<Nanos>,
    looked: Option<Nanos>,
}

impl FarClock {
    /// That of the coordinator.
    pub fn shared() -> FarClock {
        FarClock { ahead: Ahead::default(), is_own: false, step: None, stepped: None, looked: None }
    }

    /// One of its own, which is set at some time within 25 s from `now` on, or never.
    pub fn drawn(random: &mut Random, now: Nanos) -> FarClock {
        let drawn = random.below(1 + AHEAD.len() as u64) as usize;
        let clock = FarClock::shared();
        let Some(ahead) = AHEAD.get(drawn).copied() else { return clock };
        clock.ahead.store(ahead, Ordering::Relaxed);
        let at = now + Nanos(random.below(Nanos::secs(25).0));
        let by = random.below(2 * STEP_MAX.0) as i64 - STEP_MAX.0 as i64;
        // One that has just begun to count cannot be set back far.
        let step = (random.below(3) == 0 && ahead > 0).then_some((at, by));
        FarClock { is_own: true, step, ..clock }
    }

    /// A link to the machine that has it.
    pub fn link(&self) -> (Cable, Host) {
        if self.is_own { Cable::of_another_machine(Ahead::clone(&self.ahead)) } else { Cable::new() }
    }

    /// How far it is ahead now, ns.
    fn ahead_ns(&self) -> i64 {
        self.ahead.load(Ordering::Relaxed)
    }

    fn theirs(&self, ours: Nanos) -> Nanos {
        ours.shifted(self.ahead_ns())
    }

    fn ours(&self, theirs: Nanos) -> Nanos {
        theirs.shifted(-self.ahead_ns())
    }

    fn step(&mut self, now: Nanos) {
        if let Some((_, by)) = self.step.take_if(|(at, _)| *at <= now) {
            self.ahead.fetch_add(by, Ordering::Relaxed);
            self.stepped = Some(now);
        }
    }

    /// The coordinator has compared it.
    pub fn looked_at(&mut self, now: Nanos) {
        if self.stepped.is_some() {
            self.looked.get_or_insert(now);
        }
    }

    /// Whether it was set, and the coordinator has seen that.
    pub fn was_set(&self) -> bool {
        self.looked.is_some()
    }

    /// This time by our clock, of one that was not set.
    pub fn never_set(&self, theirs: Nanos) -> Option<Nanos> {
        self.stepped.is_none().then(|| self.ours(theirs))
    }

    /// Whether the coordinator knew it as it was from the first of these times to the second: not from when it was set until that was seen.
    pub fn was_known(&self, from: Nanos, to: Nanos) -> bool {
        self.stepped.is_none_or(|stepped| to < stepped || self.looked.is_some_and(|looked| from >= looked))
    }
}

/// A message of a host.
pub struct Message {
    /// When it was sent and when it arrived, by our clock.
    pub sent: Nanos,
    pub arrived: Nanos,
    /// How far the host's clock was ahead of ours when it was sent, ns.
    pub ahead_ns: i64,
    /// With times of the host's clock.
    pub reply: Reply,
}

/// One host at the end of its link.
pub struct Far {
    pub cable: Cable,
    pub worker: Worker,
    pub clock: FarClock,
    delay: Nanos,
    coming: VecDeque<Message>,
    going: VecDeque<(Nanos, Request)>,
    pub trouble: Trouble,
    /// When that was there for the coordinator to see.
    pub struck: Option<Nanos>,
    pub dead: bool,
    pub hanging: bool,
    /// When it tells of a command next.
    chats: Option<Nanos>,
    /// The coordinator has hung up: nothing that arrives counts any more.
    gone: bool,
    /// Something that was made is left on its target, although it could be asked to undo that.
    pub left: bool,
    /// What arrived from it, and what it was asked for and when.
    pub said: Vec<Message>,
    pub asked: Vec<(Nanos, Request)>,
}

impl Far {
    pub fn new((cable, clock): (Cable, FarClock), worker: Worker, delay: Nanos, trouble: Trouble) -> Far {
        Far {
            cable,
            worker,
            clock,
            delay: if trouble == Trouble::Slow { SLOW } else { delay },
            coming: VecDeque::new(),
            going: VecDeque::new(),
            trouble,
            struck: None,
            dead: false,
            hanging: false,
            chats: None,
            gone: false,
            left: false,
            said: Vec::new(),
            asked: Vec::new(),
        }
    }

    /// Whether it can be asked for anything.
    pub fn is_there(&self) -> bool {
        !self.dead && !self.hanging && !self.gone
    }

    /// Takes what it was asked for since the last time.
    pub fn hear(&mut self, now: Nanos, random: &mut Random) {
        for request in self.cable.asked() {
            self.asked.push((now, request.clone()));
            let at = now + Nanos(random.below(self.delay.0 + 1));
            let at = self.going.back().map_or(at, |(front, _)| at.max(*front));
            self.going.push_back((at, request));
        }
        if !self.gone && self.cable.is_let_go() {
            self.gone = true;
            self.going.clear();
            if !self.dead && !self.hanging {
                self.worker.let_go();
            }
        }
    }

    /// When it next does something.
    pub fn due(&self) -> Option<Nanos> {
        if self.dead {
            return None;
        }
        let worker = self.worker.due().map(|at| self.clock.ours(at));
        let coming = self.coming.front().map(|message| message.arrived);
        let going = self.going.front().map(|(at, _)| *at);
        let step = self.clock.step.map(|(at, _)| at);
        let chats = self.chats.filter(|_| !self.gone);
        [worker, coming, going, step, chats, self.pending()].into_iter().flatten().min()
    }

    /// When its trouble comes, if that did not come yet.
    fn pending(&self) -> Option<Nanos> {
        self.trouble.at().filter(|_| self.struck.is_none() && !self.gone)
    }

    /// Does the next thing that is due.
    pub fn act(&mut self, now: Nanos, random: &mut Random) {
        self.clock.step(now);
        if self.pending().is_some_and(|at| at <= now) {
            self.struck = Some(now);
            return self.strike(now);
        }
        if self.chats.take_if(|at| *at <= now).is_some() {
            return self.chat(now);
        }
        if let Some(message) = self.coming.pop_front_if(|message| message.arrived <= now) {
            return self.arrive(Message { arrived: now, ..message });
        }
        let theirs = self.clock.theirs(now);
        if let Some((_, request)) = self.going.pop_front_if(|(at, _)| *at <= now) {
            return self.worker.ask(request, theirs);
        }
        for reply in self.worker.act(theirs) {
            if !self.hanging {
                let at = now + Nanos(random.below(self.delay.0 + 1));
                let arrived = self.coming.back().map_or(at, |front| at.max(front.arrived));
                self.coming.push_back(Message { sent: now, arrived, ahead_ns: self.clock.ahead_ns(), reply });
            }
        }
    }

    fn arrive(&mut self, message: Message) {
        if matches!(message.reply, Reply::Failed(_)) {
            self.struck.get_or_insert(message.arrived);
        }
        let frame = frame(&message.reply);
        if !self.gone {
            self.said.push(message);
        }
        self.cable.say(&frame);
    }

    fn strike(&mut self, now: Nanos) {
        match self.trouble {
            Trouble::Dies(_) => {
                self.dead = true;
                self.cable.cut();
            }
            Trouble::Hangs(_) => self.hanging = true,
            Trouble::Chats(_) => {
                self.hanging = true;
                self.chat(now);
            }
            Trouble::Garbage(_, seed) => self.cable.say(&garbage(seed)),
            Trouble::Odd(_, seed) => self.cable.say(&frame(&odd(seed))),
            Trouble::None | Trouble::Refuses | Trouble::Slow => {}
        }
    }

    /// Tells of a command, and will again.
    fn chat(&mut self, now: Nanos) {
        self.cable.say(&frame(&command(self.clock.theirs(now))));
        self.chats = Some(now + CHAT_EVERY);
    }
}

fn command(at: Nanos) -> Reply {
    let kind = EventKind::Command { argv: vec!["sync".into()], exit: Some(0), output: String::new() };
    Reply::Event(Event::new(at, kind))
}

fn frame(reply: &Reply) -> Vec<u8> {
    let mut frame = Vec::new();
    write_frame(&mut frame, reply).expect("a frame");
    frame
}

/// A frame that is too long, one that is no message, or words.
fn garbage(seed: u64) -> Vec<u8> {
    match seed % 3 {
        0 => vec![0xff; 4],
        1 => vec![3, 0, 0, 0, 0xff, 0xff, 0xff],
        _ => b"Connection closed by remote host\n".to_vec(),
    }
}

/// What no step of these runs waits for.
fn odd(seed: u64) -> Reply {
    let outcome = Box::new(fixture::outcome(TrialStatus::Complete));
    let facts = fixture::facts();
    let arm = ArmFacts { host: facts.host, targets: facts.targets, observed: Vec::new() };
    let clock = EventKind::HostClock { shift_ns: 7, uncertainty_ns: 7 };
    match seed % 4 {
        0 => Reply::TrialDone { ordinal: 1_000_000, outcome },
        1 => Reply::Slices { ordinal: 1_000_000, slices: Vec::new() },
        2 => Reply::Switched(Box::new(arm)),
        _ => Reply::Event(Event::new(Nanos(1), clock)),
    }
}
