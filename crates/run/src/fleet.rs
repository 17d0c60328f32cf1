//! The load hosts of a run behind its one walk: what the walk asks goes to each of them, and what they answer reaches it once, when all
//! have. Must not decide what comes next: where one refuses, or is lost and the run is to stop then, it stops the others and tells the walk.

mod answer;
mod joined;

use answer::Oddity;
use joined::Joined;
pub(crate) use joined::{Together, doubt, part_of, together};

use crate::channel::lost;
use crate::ending::named;
use crate::step::{Input, Step};
use std::time::Duration;
use stend_base::random::draw;
use stend_base::{Bytes, Error, Nanos, Result, Say, say};
use stend_record::{Entry, Event, EventKind, HostId, HostInfo};
use stend_spec::order::OnLoss;
use stend_spec::precondition::Purge;
use stend_spec::workload::Trial;
use stend_wire::{Clock, Comparer, FromHost, Host, Inspect, Reply, Request, StandAnswer};

/// Time from asking several hosts for a trial until it begins on all of them: a message over a slow line, opening the targets and
/// making threads and buffers of hundreds of jobs.
const START_IN: Nanos = Nanos::millis(500);
/// Longest time in which a fill reports no new bytes, beside that of a purge: a worker gives up emptying a cache after 600 s.
const FLUSH_LIMIT: Nanos = Nanos::secs(660);
/// Bytes per second that a purge empties at least: where zeroes are written, as a worker expects of the slowest drives.
const PURGED_PER_SECOND: u64 = 2_000_000;

/// A host that makes the load.
pub struct LoadHost {
    /// As the user calls it; empty where there is one.
    pub name: String,
    /// Its worker.
    pub host: Host,
    /// Its targets; empty: those of the setup.
    pub targets: Vec<String>,
}

impl LoadHost {
    /// The only one of a run.
    pub fn only(host: Host) -> LoadHost {
        LoadHost { name: String::new(), host, targets: Vec::new() }
    }
}

/// What follows from a message.
#[derive(Debug)]
pub(crate) enum Notice {
    /// The walk is to take notice of this.
    Walk(Input),
    /// This is to be kept, and changes nothing.
    Keep(Entry),
    /// The user is to know this.
    Warn(Say),
}

/// One of the hosts.
struct Member {
    load: LoadHost,
    /// Its answer to what all were asked, until the walk has those of all.
    answer: Option<Reply>,
    /// How far its fill is.
    filled: Bytes,
    /// Since when it is that far.
    filled_at: Nanos,
    /// It rests while others make the load of a trial.
    rests: bool,
    /// Nothing more will come from it.
    lost: bool,
    /// What the run file last has of its clock.
    noted: Option<Clock>,
}

/// All of them.
pub(crate) struct Fleet {
    members: Vec<Member>,
    on_loss: OnLoss,
    /// What all were asked to do last, before the undo.
    request: Option<Request>,
    /// One was lost in the trial that is going on, which the others end.
    cut_short: bool,
    /// One was lost or refused something: the trial or the fill that was going on ends on each host by itself.
    broken: bool,
    /// Length of the part that each has of devices that they share, once their targets are known; `None`: they share none.
    part: Option<Bytes>,
}

impl Fleet {
    /// Joins these hosts, in the order of their ids; one at least.
    pub fn new(hosts: Vec<LoadHost>, on_loss: OnLoss) -> Fleet {
        let member = |load| Member {
            load,
            answer: None,
            filled: Bytes(0),
            filled_at: Nanos(0),
            rests: false,
            lost: false,
            noted: None,
        };
        let members = hosts.into_iter().map(member).collect();
        Fleet { members, on_loss, request: None, cut_short: false, broken: false, part: None }
    }

    /// Hands everything that they say from now on to `sink`.
    pub fn listen(&mut self, sink: impl Fn(HostId, FromHost) + Send + Clone + 'static) -> Result<()> {
        for (id, member) in (0..).map(HostId).zip(&mut self.members) {
            let sink = sink.clone();
            member.load.host.listen(move |message| sink(id, message))?;
        }
        Ok(())
    }

    /// How the clocks of hosts of other machines stand to ours.
    pub fn clocks(&self) -> impl Iterator<Item = (HostId, Clock)> {
        (0..).map(HostId).zip(&self.members).filter_map(|(id, member)| Some((id, member.load.host.clock()?)))
    }

    /// What compares them, for another thread.
    pub fn comparers(&self) -> Vec<Comparer> {
        self.members.iter().filter(|member| !member.lost).filter_map(|member| member.load.host.comparer()).collect()
    }

    /// The clocks by which times are moved otherwise than the run file has it, each once; `last`: nothing more will be moved, and how clocks
    /// stood last counts, too.
    pub fn drifted(&mut self, last: bool) -> Vec<(HostId, Clock)> {
        let members = (0..).map(HostId).zip(&mut self.members);
        let of = |(id, member): (HostId, &mut Member)| {
            let host = &member.load.host;
            let now = if last && !member.lost { host.latest_clock() } else { host.clock() };
            let told = now.filter(|now| member.noted != Some(*now))?;
            member.noted = now;
            Some((id, told))
        };
        members.filter_map(of).collect()
    }

    /// Asks all of them; `now` is our clock.
    pub fn send(&mut self, request: &Request, now: Nanos) {
        let several = self.members.len() > 1;
        // These are asked beside something else, whose answers are awaited as before.
        let beside = matches!(request, Request::Stop | Request::Clock | Request::Mark);
        if !beside && *request != Request::Release {
            (self.broken, self.cut_short) = (false, false);
            self.request = Some(request.clone());
        }
        let uncertain = self.clocks().map(|(_, clock)| clock.uncertainty_ns).max().unwrap_or_default();
        let begin = now + START_IN + Nanos(uncertain);
        let asked = if let Request::Trial { trial, .. } = request { trial.load_hosts } else { None };
        let part = self.part;
        let alive = self.members.iter_mut().enumerate().filter(|(_, member)| !member.lost);
        for ((index, member), place) in alive.zip(0..) {
            if !beside {
                (member.answer, member.filled, member.filled_at) = (None, Bytes(0), now);
                member.rests = asked.is_some_and(|count| place >= count);
            }
            if member.rests && !beside {
                continue;
            }
            if *request == Request::Release {
                // Answered at once: how clocks stand when all is measured.
                member.load.host.ask_clock();
            }
            match several {
                true => {
                    let own = member.own(request.clone(), HostId(index as u16), (begin, part));
                    member.load.host.send(&own);
                }
                false => member.load.host.send(request),
            }
        }
    }

    /// What follows from a message that a host sent at this step of a walk with so many trials begun.
    pub fn hear(&mut self, from: HostId, message: FromHost, (step, trials): (Step, u32), now: Nanos) -> Vec<Notice> {
        let several = self.members.len() > 1;
        let Some(member) = self.members.get_mut(from.index()).filter(|member| !member.lost) else { return Vec::new() };
        if !several {
            member.lost = matches!(message, FromHost::Lost(_));
            return vec![Notice::Walk(Input::Host(message))];
        }
        match message {
            FromHost::Lost(detail) => self.lose(from, &Say::same(detail), step, now),
            FromHost::Reply(reply) => self.reply(from, reply, (step, trials), now),
        }
    }

    /// Hosts that should have answered by now count as lost.
    pub fn late(&mut self, step: Step, now: Nanos) -> Vec<Notice> {
        let silent = |(index, member): (usize, &Member)| member.is_awaited().then_some(HostId(index as u16));
        let silent: Vec<HostId> = self.members.iter().enumerate().filter_map(silent).collect();
        silent.into_iter().flat_map(|id| self.lose(id, &step.no_answer(), step, now)).collect()
    }

    /// How the user calls each of them, in the order of their ids; nothing where there is one.
    pub fn names(&self) -> Vec<String> {
        self.members.iter().map(|member| member.load.name.clone()).filter(|name| !name.is_empty()).collect()
    }

    /// The error, with the host that it is of.
    pub fn named(&self, host: HostId, error: Box<Error>) -> Box<Error> {
        match self.members.get(host.index()) {
            Some(member) if self.is_several() => named(&member.load.name, error),
            _ => error,
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.members.len()
    }

    /// Whether there are several, so that one can be late alone.
    pub fn is_several(&self) -> bool {
        self.members.len() > 1
    }

    /// Ends the streams to all of them, and waits until their workers are gone; `false`: one that was not lost had to be killed.
    pub fn end(self, limit: Duration) -> bool {
        let lost: Vec<bool> = self.members.iter().map(|member| member.lost).collect();
        let ended = Host::end_all(self.members.into_iter().map(|member| member.load.host), limit);
        ended.into_iter().zip(lost).all(|(ended, lost)| ended || lost)
    }

    fn reply(&mut self, from: HostId, reply: Reply, (step, trials): (Step, u32), now: Nanos) -> Vec<Notice> {
        if let Some(odd) = answer::oddity(self.trial().map(|(_, trial)| trial), &reply) {
            return self.lose(from, &odd.say(), step, now);
        }
        let member = &self.members[from.index()];
        let (rests, is_awaited) = (member.rests, member.is_awaited());
        let current =
            |ordinal: u32| ordinal.checked_add(1) == Some(trials) && (step.is_loaded() && !rests || self.broken);
        match reply {
            Reply::Sample(sample) => vec![Notice::Keep(Entry::Sample { host: from, sample })],
            Reply::Event(event) => {
                vec![Notice::Walk(Input::Host(FromHost::Reply(Reply::Event(Event { host: from, ..event }))))]
            }
            Reply::Slices { ordinal, slices } if current(ordinal) => {
                vec![Notice::Keep(Entry::Slices { host: from, trial: ordinal, slices })]
            }
            Reply::Log { ordinal, chunk } if current(ordinal) => {
                vec![Notice::Keep(Entry::IoLog { host: from, trial: ordinal, chunk })]
            }
            // What was going on when another one failed ends by itself.
            Reply::TrialDone { ordinal, outcome } if self.broken && current(ordinal) => {
                vec![Notice::Keep(Entry::TrialEnd { host: from, trial: ordinal, outcome })]
            }
            reply if self.broken && !matches!(reply, Reply::Released | Reply::Failed(_)) => joined::kept(from, &reply),
            Reply::Filling { done } if step == Step::Filling => {
                if !self.fill_goes_on(from, done, now) {
                    return Vec::new();
                }
                let least = self.asked().map(|member| member.filled).min().unwrap_or_default();
                vec![walk(Reply::Filling { done: least })]
            }
            Reply::Judging { .. } | Reply::Replaying { .. } if step.awaits(&reply, trials) => vec![walk(reply)],
            // A refusal takes the place of an answer; an undo may have several.
            Reply::Failed(error) if is_awaited || self.broken || step == Step::Releasing => {
                self.fail(from, error, step)
            }
            Reply::Clock(_) | Reply::Watched { .. } | Reply::Seen(_) => Vec::new(),
            // As of one host: what was under way is not needed any more.
            reply if step == Step::Releasing && !(is_awaited && reply == Reply::Released) => Vec::new(),
            reply if !(is_awaited && step.awaits(&reply, trials) && self.is_asked_for(&reply)) => {
                self.lose(from, &Oddity::OutOfTurn.say(), step, now)
            }
            reply => {
                let member = &mut self.members[from.index()];
                if let Reply::Filled(outcome) = &reply {
                    member.filled = outcome.written;
                }
                member.answer = Some(reply);
                self.join(step)
            }
        }
    }

    /// Whether a fill that is so far is going on: the number may stay while a purge or a cache is waited for, and not for ever.
    fn fill_goes_on(&mut self, host: HostId, done: Bytes, now: Nanos) -> bool {
        let purged = match &self.request {
            Some(Request::Fill { region, how: Some(how), .. }) if how.purge != Purge::None => region.len,
            _ => Bytes(0),
        };
        let member = &mut self.members[host.index()];
        if done > member.filled {
            (member.filled, member.filled_at) = (done, now);
        }
        let limit = FLUSH_LIMIT + Nanos::secs(if member.filled.0 == 0 { purged.0 / PURGED_PER_SECOND } else { 0 });
        done == member.filled && now <= member.filled_at + limit
    }

    /// Whether this answer ends what all were asked for; the undo is asked for in its own step.
    fn is_asked_for(&self, reply: &Reply) -> bool {
        *reply == Reply::Released || self.request.as_ref().is_some_and(|request| answer::ends(request, reply))
    }

    /// The trial that was asked for last, with its ordinal, if nothing but its undo was asked for since.
    fn trial(&self) -> Option<(u32, &Trial)> {
        match &self.request {
            Some(Request::Trial { ordinal, trial, .. }) => Some((*ordinal, trial.as_ref())),
            _ => None,
        }
    }

    /// If all have answered: what that means for the walk.
    fn join(&mut self, step: Step) -> Vec<Notice> {
        if self.asked().any(Member::is_awaited) {
            return Vec::new();
        }
        let members = (0..).map(HostId).zip(&mut self.members);
        let answers: Vec<(HostId, Reply)> =
            members.filter_map(|(id, member)| Some((id, member.answer.take()?))).collect();
        self.members.iter_mut().for_each(|member| member.rests = false);
        if answers.is_empty() && step.is_loaded() {
            // All hosts of the trial are lost, and those that rested go on.
            let ordinal = self.trial().map_or(0, |(ordinal, _)| ordinal);
            return vec![Notice::Walk(Input::TrialDone { ordinal, parts: Vec::new(), whole: false })];
        }
        for (host, answer) in &answers {
            if let Reply::Stand(answer) = answer
                && let StandAnswer::Up(raised) = &**answer
            {
                // One thing has another name on each host.
                self.members[host.index()].load.targets.clone_from(&raised.targets);
            }
        }
        let known = |host: HostId| {
            let load = &self.members[host.index()].load;
            let uncertain = load.host.clock().map(|clock| clock.uncertainty_ns);
            HostInfo { name: load.name.clone(), clock_uncertainty_ns: uncertain, ..HostInfo::default() }
        };
        let joined = joined::joined(answers, !self.cut_short, known);
        match joined {
            Ok(Joined { heard, part }) => {
                self.part = part.or(self.part);
                heard
            }
            Err((host, error)) => self.fail(host, error, step),
        }
    }

    /// A host says that it cannot do what was asked.
    fn fail(&mut self, host: HostId, error: Box<Error>, step: Step) -> Vec<Notice> {
        let mut heard = self.stop_others(step);
        heard.push(walk(Reply::Failed(self.named(host, error))));
        heard
    }

    /// A host is gone. The others go on if the run is to, or else stop, keep what they measured, and undo what they made.
    fn lose(&mut self, host: HostId, detail: &Say, step: Step, now: Nanos) -> Vec<Notice> {
        let member = &mut self.members[host.index()];
        member.lost = true;
        member.load.host.cut();
        let kind = EventKind::HostLost { detail: detail.en.clone() };
        let mut heard = vec![Notice::Keep(Entry::Event(Event { at: now, host, kind }))];
        if self.alive().next().is_none() {
            // Some may have ended the trial before they were lost.
            heard.extend(self.stop_others(step));
            heard.push(Notice::Walk(Input::AllLost(self.named(host, lost(detail)))));
            return heard;
        }
        if self.on_loss == OnLoss::GoOn && step.may_lose_a_host() {
            heard.push(self.missed(host, detail));
            let member = &self.members[host.index()];
            self.cut_short |= step.is_loaded() && member.answer.is_none() && !member.rests;
            heard.extend(self.join(step));
            return heard;
        }
        heard.extend(self.fail(host, lost(detail), step));
        if step == Step::Releasing {
            heard.extend(self.join(step));
        }
        heard
    }

    /// That a host is lost, and how many go on.
    fn missed(&self, host: HostId, Say { en, ru }: &Say) -> Notice {
        let (name, left, all) = (&self.members[host.index()].load.name, self.alive().count(), self.members.len());
        Notice::Warn(say!(
            "load host `{name}` is lost ({en}); {left} of {all} go on",
            "нагружающая машина `{name}` потеряна ({ru}); продолжают {left} из {all}"
        ))
    }

    /// Ends what is going on everywhere; what some have said already is kept.
    fn stop_others(&mut self, step: Step) -> Vec<Notice> {
        // They undo already, and their answers to that count.
        if step == Step::Releasing {
            return Vec::new();
        }
        self.broken = true;
        let mut heard = Vec::new();
        for (id, member) in (0..).map(HostId).zip(&mut self.members) {
            if let Some(Reply::TrialDone { ordinal, outcome }) = member.answer.take_if(|_| step.is_loaded()) {
                heard.push(Notice::Keep(Entry::TrialEnd { host: id, trial: ordinal, outcome }));
            } else if let Some(answer) = member.answer.take() {
                heard.extend(joined::kept(id, &answer));
            }
            if !member.lost {
                member.load.host.send(&Request::Stop);
            }
        }
        heard
    }

    fn alive(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| !member.lost)
    }

    /// Those whose answers are awaited.
    fn asked(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.is_asked())
    }
}

impl Member {
    fn is_asked(&self) -> bool {
        !self.lost && !self.rests
    }

    fn is_awaited(&self) -> bool {
        self.is_asked() && self.answer.is_none()
    }

    /// What one of several is asked where all are asked this: its own targets, a directory of its own where several make theirs in one
    /// that they share, its part of devices that they share, random choices of its own, and a trial that begins at `begin` of our clock.
    fn own(&self, mut request: Request, host: HostId, (begin, part): (Nanos, Option<Bytes>)) -> Request {
        let index = u64::from(host.0);
        let own_seed = |seed: &mut u64| *seed = if index == 0 { *seed } else { draw(*seed, index) };
        match &mut request {
            Request::Inspect(Inspect { targets, .. }) if !self.load.targets.is_empty() => {
                targets.clone_from(&self.load.targets);
            }
            Request::Prepare(prepare) | Request::Rehearse(prepare) => {
                prepare.run = stend_record::run_on_host(&prepare.run, host);
                prepare.begin = part.map(|len| part_of(host, len).start);
            }
            Request::Fill { seed, .. } | Request::SampleZeros { seed, .. } | Request::Calibrate { seed, .. } => {
                own_seed(seed);
            }
            Request::Trial { trial, begin: at, .. } => {
                own_seed(&mut trial.seed);
                let shift_ns = self.load.host.clock().map_or(0, |clock| clock.shift_ns);
                *at = begin.shifted(-shift_ns);
            }
            _ => {}
        }
        request
    }
}

fn walk(reply: Reply) -> Notice {
    Notice::Walk(Input::Host(FromHost::Reply(reply)))
}

#[cfg(test)]
mod tests;
