//! The journal: samples and events of a host to problems that open and close. Pure: the same recording makes the same journal.

#[cfg(test)]
mod devices_tests;
mod health;
mod judge;
mod kept;
pub mod marks;
mod rules;
#[cfg(test)]
mod tests;

pub use health::is_failing;
pub use kept::{Keeper, kept_problems};
pub use rules::{Category, JournalRule, LIMITS, Limits, ProblemSeverity, RULES_VERSION};

use crate::host_rates;
use judge::{Known, Verdict, Verdicts};
use std::collections::{BTreeMap, BTreeSet};
use stend_base::{Nanos, Say, say};
use stend_record::parts::LinkState;
use stend_record::{Event, EventKind, Health, HostId, HostInfo, Parts, RunRecord, Sample, WallClock};

/// A problem that comes back so soon is the same one.
const SAME_WITHIN: Nanos = Nanos::secs(3600);
/// One that has come so often closes only when it was away for that long, so that it does not call people every minute.
const FLAPS: u32 = 3;
/// Errors of links are counted over this time, however near readings are to each other. A little less than the usual half a minute between
/// two of them, so that one that comes early does not make it a minute.
const LINKS_WITHIN: Nanos = Nanos::secs(25);
/// Most problems that are kept; a host with more has one cause for many.
const PROBLEMS_MAX: usize = 10_000;
/// Most objects that are followed.
const OBJECTS_MAX: usize = 8_192;

/// A problem of one object.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The rule that found it.
    pub rule: JournalRule,
    /// What it concerns: a kernel name, `mpatha/sdb`, or `host`; of another host of a run with its name in front, `db1: sda`.
    pub object: String,
    /// The worst that it was.
    pub severity: ProblemSeverity,
    /// What was seen when it was worst, or last.
    pub evidence: Say,
    /// When it opened, on the clock of the host.
    pub opened: Nanos,
    /// When it closed; `None`: it is open.
    pub closed: Option<Nanos>,
    /// How often it came back within an hour, the first time included.
    pub times: u32,
}

impl Problem {
    /// As people name it.
    pub fn occurrence(&self, clock: &WallClock) -> marks::Occurrence {
        marks::Occurrence {
            rule: self.rule.key().to_string(),
            object: self.object.clone(),
            opened_unix_s: clock.unix_s(self.opened),
            is_open: self.closed.is_none(),
        }
    }
}

/// A rule and an object.
type JournalKey = (JournalRule, String);

/// An object under a rule.
#[derive(Debug, Default)]
struct Tracked {
    /// Bad since then.
    bad_since: Option<Nanos>,
    /// Good since then.
    good_since: Option<Nanos>,
    /// Its object has left, and its problem came back so often that it stays open for now.
    has_left: bool,
    /// Its problem, by its number; open or not.
    problem: Option<usize>,
}

/// Problems of every host of a run in the order in which they opened, with those that were observed and those with the drives. Takes their
/// samples out of the run.
pub fn of_run(run: &mut RunRecord) -> Vec<Problem> {
    let samples: Vec<Vec<Sample>> = run.hosts_mut().iter_mut().map(|host| std::mem::take(&mut host.samples)).collect();
    let mut all = Vec::new();
    for ((id, host), samples) in (0..).map(HostId).zip(run.hosts()).zip(samples) {
        let mut journal = Journal::of(run, id, host);
        samples.into_iter().for_each(|sample| journal.add(sample));
        let named = |problem: Problem| match id {
            HostId::LOAD => problem,
            _ => Problem { object: format!("{}: {}", host.called(), problem.object), ..problem },
        };
        all.extend(journal.end().into_iter().map(named));
    }
    all.sort_by_key(|problem| problem.opened);
    all
}

/// The journal in the making.
#[derive(Debug, Default)]
pub struct Journal {
    before: Option<Sample>,
    parts: Option<Box<Parts>>,
    /// Links since whose reading their errors are counted, and when that was.
    links: (Nanos, Vec<LinkState>),
    known: Known,
    /// Events that were not looked at, the next one last.
    events: Vec<Event>,
    /// What drives said of themselves last.
    health: BTreeMap<String, Health>,
    /// Rules and objects that were well once.
    well: BTreeSet<(JournalRule, String)>,
    tracked: BTreeMap<(JournalRule, String), Tracked>,
    problems: Vec<Problem>,
    /// What the recorder found when it read every sample.
    kept: Vec<Problem>,
}

impl Journal {
    /// A journal of the host in this record, or of the first one that is measured, whose samples are yet to come.
    pub fn new(run: &RunRecord) -> Journal {
        Journal::of(run, HostId::LOAD, run.load())
    }

    /// The same of any host of a run.
    fn of(run: &RunRecord, id: HostId, host: &HostInfo) -> Journal {
        let mut events: Vec<Event> = run.events.iter().filter(|event| event.host == id).cloned().collect();
        let kept = kept::kept_problems(&events);
        events.sort_by_key(|event| event.at);
        events.reverse();
        Journal { events, kept, ..Journal::of_host(host) }
    }

    /// A journal of a host of which nothing was read yet.
    pub fn of_host(host: &HostInfo) -> Journal {
        let mut journal = Journal::default();
        journal.meet(host);
        journal
    }

    /// Takes note of what the host is now.
    pub fn meet(&mut self, host: &HostInfo) {
        let devices = || host.targets.iter().flat_map(|target| &target.devices);
        self.known = Known {
            huge_pages: host.facts.as_ref().map_or(0, |facts| facts.huge_pages.0),
            devices: devices().map(|device| (device.name.clone(), device.kind == "disk")).collect(),
            spinning: devices().filter(|d| d.rotational == Some(true)).map(|d| d.name.clone()).collect(),
            ports: host.ports.clone(),
            models: devices().filter_map(|device| Some((device.name.clone(), device.model.clone()?))).collect(),
        };
    }

    /// Takes the next sample, and what happened before it.
    pub fn add(&mut self, sample: Sample) {
        while let Some(event) = self.events.pop_if(|event| event.at <= sample.at) {
            self.happened(&event);
        }
        if let Some(before) = &self.before
            && let Some(mut rates) = host_rates::between(before, &sample)
        {
            let arc = sample.parts.as_ref().or(self.parts.as_ref()).and_then(|parts| parts.arc);
            rates.memory.iter_mut().for_each(|memory| memory.available_bytes = host_rates::available(memory, arc));
            let said = judge::step(before, &sample, &rates, &self.known);
            self.note(sample.at, said);
        }
        if let Some(parts) = &sample.parts {
            let said = judge::parts(self.parts.as_deref(), &self.links.1, parts);
            self.note(sample.at, said);
            let there = judge::parts_there(parts);
            self.close(sample.at, |rule, object| {
                judge::RULES_OF_PARTS.contains(&rule) && !there.contains(&(rule, object.to_string()))
            });
            if sample.at.saturating_sub(self.links.0) >= LINKS_WITHIN {
                self.links = (sample.at, parts.links.clone());
            }
            self.parts = Some(parts.clone());
        }
        if let Some(networks) = &sample.networks {
            let is_there = |object: &str| networks.iter().any(|network| network.name == object);
            self.close(sample.at, |rule, object| rule == JournalRule::PortErrors && !is_there(object));
        }
        let is_mounted = |object: &str| sample.nfs_mounts().iter().any(|mount| mount.at == object);
        self.close(sample.at, |rule, object| rule == JournalRule::NfsSilent && !is_mounted(object));
        // The kernel tells of errors alone: no word is a good one. And nothing is said of what has left.
        let is_quiet =
            |(rule, _): &JournalKey, tracked: &Tracked| *rule == JournalRule::DriveErrors || tracked.has_left;
        let quiet = self.tracked.iter().filter(|(key, tracked)| is_quiet(key, tracked));
        let quiet: Vec<JournalKey> = quiet.map(|(key, _)| key.clone()).collect();
        quiet.iter().for_each(|key| self.good(sample.at, key));
        self.before = Some(sample);
    }

    /// Problems so far, in the order in which they opened.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Every rule and object that was well at least once. Who sends messages has to know: what nothing was heard of may be as bad as before.
    pub fn well(&self) -> &BTreeSet<(JournalRule, String)> {
        &self.well
    }

    /// Every object that the host has now: devices, ports, shares, arrays, pools, ways, links, and itself. `None` until all of it was read.
    pub fn objects(&self) -> Option<BTreeSet<String>> {
        let (sample, parts) = (self.before.as_ref()?, self.parts.as_ref()?);
        let disks = sample.disks.iter().map(|disk| disk.name.clone());
        let ports = sample.networks.as_ref()?.iter().map(|network| network.name.clone());
        let shares = sample.nfs_mounts().iter().map(|mount| mount.at.clone());
        let of_parts = judge::parts_there(parts).into_iter().map(|(_, object)| object);
        Some(disks.chain(ports).chain(shares).chain(of_parts).chain([judge::HOST.to_string()]).collect())
    }

    /// What drives said of themselves last, by kernel name.
    pub fn health(&self) -> &BTreeMap<String, Health> {
        &self.health
    }

    /// Forgets what closed before that time, so that a journal that goes on for months stays small. A problem that may still come back
    /// as the same one is kept. A problem closes at the time from which all was well, which may be an hour ago when it is known: a caller that
    /// follows the journal looks at [`Journal::problems`] first.
    pub fn forget_closed(&mut self, before: Nanos) {
        let keeps = |problem: &Problem| {
            problem.closed.is_none_or(|closed| closed >= before || before.saturating_sub(closed) <= SAME_WITHIN)
        };
        let mut kept = 0..;
        let numbers: Vec<Option<usize>> =
            self.problems.iter().map(|problem| if keeps(problem) { kept.next() } else { None }).collect();
        self.problems.retain(keeps);
        for tracked in self.tracked.values_mut() {
            tracked.problem = tracked.problem.and_then(|number| numbers[number]);
        }
    }

    /// Every problem in the order in which it opened. Those that the recorder kept come before what samples say that grew coarser since.
    pub fn end(mut self) -> Vec<Problem> {
        while let Some(event) = self.events.pop() {
            self.happened(&event);
        }
        kept::together(self.kept, self.problems)
    }

    /// Takes what happened on the host.
    pub fn happened(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Devices { came, went, detachable } => self.plugged(event.at, came, went, detachable),
            EventKind::DriveHealth { drives } => {
                let said = health::verdicts(&self.health, drives);
                self.note(event.at, said);
                self.health.extend(drives.iter().cloned());
            }
            EventKind::KernelErrors { device, count, text } => {
                let said = vec![(JournalRule::DriveErrors, device.clone(), health::kernel_errors(*count, text))];
                self.note(event.at, said);
            }
            _ => {}
        }
    }

    /// A person may have taken away what is detachable.
    fn plugged(&mut self, at: Nanos, came: &[String], went: &[String], detachable: &[String]) {
        went.iter().for_each(|name| self.close_of_device(at, name));
        let gone = |name: &String| {
            let severity = match detachable.contains(name) {
                true => ProblemSeverity::Warning,
                false => ProblemSeverity::Critical,
            };
            Verdict::Bad(severity, say!("the kernel no longer lists it", "в системе его больше нет"))
        };
        let went = went.iter().filter(|name| !judge::is_made(name));
        let said = went.map(|name| (JournalRule::DriveGone, name.clone(), gone(name)));
        let back = came.iter().map(|name| (JournalRule::DriveGone, name.clone(), Verdict::Good));
        let said: Verdicts = said.chain(back).collect();
        self.note(at, said);
    }

    /// What was wrong with a device ends when it goes: nothing will ever be said of it again. That it is gone is a problem of its own.
    fn close_of_device(&mut self, at: Nanos, name: &str) {
        self.health.remove(name);
        // A way to a drive ends with either.
        let is_of = |object: &str| object.split('/').any(|part| part == name);
        self.close(at, |rule, object| rule != JournalRule::DriveGone && is_of(object));
    }

    /// Ends what is over because its object is gone, and not because it is well. Where that happens again and again, it ends as other problems
    /// do that come back: when it was away for an hour.
    fn close(&mut self, at: Nanos, is_over: impl Fn(JournalRule, &str) -> bool) {
        for (_, tracked) in self.tracked.iter_mut().filter(|((rule, object), _)| is_over(*rule, object)) {
            let open = tracked.problem.and_then(|number| self.problems.get_mut(number)).filter(|p| p.closed.is_none());
            tracked.bad_since = None;
            tracked.has_left = open.as_ref().is_some_and(|problem| problem.times >= FLAPS);
            if tracked.has_left {
                tracked.good_since.get_or_insert(at);
            } else {
                tracked.good_since = None;
                open.into_iter().for_each(|problem| problem.closed = Some(at));
            }
        }
    }

    fn note(&mut self, at: Nanos, said: Verdicts) {
        for (rule, object, verdict) in said {
            let key = (rule, object);
            match verdict {
                Verdict::Bad(severity, evidence) => self.bad(at, key, severity, evidence),
                Verdict::Good => {
                    self.note_well(&key);
                    self.good(at, &key);
                }
                Verdict::Between => self.between(&key),
            }
        }
    }

    fn note_well(&mut self, key: &(JournalRule, String)) {
        if self.well.len() >= OBJECTS_MAX || self.well.contains(key) {
            return;
        }
        // The kernel tells of errors alone: of a drive that is there no word is a good one.
        let of_kernel = (key.0 == JournalRule::DriveGone).then(|| (JournalRule::DriveErrors, key.1.clone()));
        self.well.extend(of_kernel.into_iter().chain([key.clone()]));
    }

    fn bad(&mut self, at: Nanos, key: (JournalRule, String), severity: ProblemSeverity, evidence: Say) {
        if self.tracked.len() >= OBJECTS_MAX && !self.tracked.contains_key(&key) {
            return;
        }
        let (rule, object) = key.clone();
        let patience = rule.opens_after(self.known.spinning.contains(&object));
        let tracked = self.tracked.entry(key).or_default();
        (tracked.good_since, tracked.has_left) = (None, false);
        let since = *tracked.bad_since.get_or_insert(at);
        let known = tracked.problem.and_then(|number| self.problems.get_mut(number));
        if let Some(problem) = known {
            let again = problem.closed.is_some_and(|closed| at.saturating_sub(closed) <= SAME_WITHIN);
            let ripe = at.saturating_sub(since) >= patience;
            if problem.closed.is_none() || again && ripe {
                problem.times += u32::from(problem.closed.take().is_some());
                if severity >= problem.severity {
                    (problem.severity, problem.evidence) = (severity, evidence);
                }
                return;
            }
        }
        if at.saturating_sub(since) >= patience && self.problems.len() < PROBLEMS_MAX {
            tracked.problem = Some(self.problems.len());
            self.problems.push(Problem { rule, object, severity, evidence, opened: since, closed: None, times: 1 });
        }
    }

    fn good(&mut self, at: Nanos, key: &(JournalRule, String)) {
        let Some(tracked) = self.tracked.get_mut(key) else { return };
        tracked.bad_since = None;
        let since = *tracked.good_since.get_or_insert(at);
        let open = tracked.problem.and_then(|number| self.problems.get_mut(number)).filter(|p| p.closed.is_none());
        if let Some(problem) = open {
            let patience = match problem.times >= FLAPS {
                true => SAME_WITHIN,
                false => key.0.limits().closes_after,
            };
            if at.saturating_sub(since) >= patience {
                (problem.closed, tracked.has_left) = (Some(since), false);
            }
        }
    }

    /// Neither: what opened stays open, and what was on its way to open or close waits.
    fn between(&mut self, key: &(JournalRule, String)) {
        if let Some(tracked) = self.tracked.get_mut(key) {
            (tracked.bad_since, tracked.good_since, tracked.has_left) = (None, None, false);
        }
    }
}
