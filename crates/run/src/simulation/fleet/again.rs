//! Runs of several load hosts over several sessions: hosts are lost, the coordinator is stopped or killed, machines are restarted, and the
//! run goes on with all of them until nothing is left to do. What it measured then must be what one session would have.

use super::wrong::{Measured, must, recorded, said};
use super::{Far, FarClock, Interruption, OnLoss, Play, Played, Scenario, Trouble, name, scenario, troubles};
use crate::LoadHost;
use crate::execute::Loop;
use crate::resume::progressed;
use crate::setup::Setup;
use crate::simulation::run_directory::RunDirectory;
use crate::simulation::session::setup;
use crate::simulation::time::Time;
use crate::simulation::worker::Worker;
use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use stend_base::Nanos;
use stend_base::random::{Random, draw};
use stend_record::{RunRecord, RunState, TrialRecord, TrialStatus, store};

/// Seeds that are played unless `SEEDS` says how many.
const SEEDS: u64 = 100;
/// Sessions in which something may go wrong.
const TROUBLED: usize = 3;

/// A run over its sessions.
struct Story {
    seed: u64,
    scenario: Scenario,
    directory: RunDirectory,
    time: Time,
    random: Random,
    /// How often the machine of each host was booted, and whether something of a dead worker is on its target.
    hosts: Vec<(u32, bool)>,
    marks: BTreeMap<&'static str, u64>,
    wrong: Vec<String>,
}

/// Plays the run of a seed to its end: what does not hold, and what happened.
fn play(seed: u64) -> (Vec<String>, BTreeMap<&'static str, u64>) {
    let mut random = Random::new(draw(seed, 79));
    let scenario = scenario(seed, &mut random);
    let count = 2 + random.below(5) as usize;
    let directory = RunDirectory::new(&format!("R-again{seed}-{}", std::process::id()), false).expect("memory");
    let (time, hosts) = (Time::new(), vec![(0, false); count]);
    let (marks, wrong) = (BTreeMap::new(), Vec::new());
    let mut story = Story { seed, scenario, directory, time, random, hosts, marks, wrong };
    for number in 0.. {
        let before = store::read(&story.directory.run_file()).ok();
        let record = story.session(number, before.as_ref());
        let is_over = record.as_ref().is_some_and(|record| record.state == RunState::Complete);
        if is_over || number > TROUBLED + 2 {
            let wrong = record.map_or(vec!["there is no file at its end".to_string()], |record| at_the_end(&record));
            story.wrong.extend(wrong);
            return (story.wrong, story.marks);
        }
    }
    unreachable!("it ends after so many sessions")
}

impl Story {
    /// One session, and the file that it leaves.
    fn session(&mut self, number: usize, before: Option<&RunRecord>) -> Option<RunRecord> {
        let earlier = before.and_then(|record| Some((record.clone(), progressed(record).ok()?)));
        if earlier.is_none() && before.is_some() {
            self.mark("begun anew");
            self.directory.forget();
        }
        let begun = earlier.as_ref().map_or(0, |(_, progressed)| progressed.trials);
        let is_again = earlier.is_some();
        let (on_loss, troubles, interruption) = self.draw(number);
        let (fars, hosts) = self.workers(number, &troubles);
        let setup = Setup { on_loss, ..setup(&self.scenario, &self.directory, hosts, earlier) };
        let (sender, inputs) = channel();
        let run = Loop::begin(setup, sender, None, self.time.clocks()).expect("threads");
        let random = Random::new(draw(self.seed, 1000 + number as u64));
        let play = Play::new(self.time.clone(), random, fars, inputs, interruption);
        let Played { fars, end, told, endless, .. } = play.play_out(run, &self.directory);
        let record = store::read(&self.directory.run_file()).ok();
        must(&mut self.wrong, !endless, "a session has no end");
        let killed = told == "killed";
        if killed {
            self.mark("killed");
        } else if !troubles.iter().any(|trouble| *trouble != Trouble::None) && interruption.is_none() && end.is_some() {
            self.wrong.push(format!("nothing went wrong, and session {number} ends with {told}"));
        }
        if let (Some(record), Some(before), true) = (&record, before, is_again) {
            self.mark("resumed");
            let kept = record.trials.get(..before.trials.len()) == Some(&before.trials);
            must(&mut self.wrong, kept, "what an earlier session measured has changed");
        }
        if let (Some(record), false) = (&record, killed) {
            let own: Measured = recorded(record).into_iter().filter(|((trial, _), _)| *trial >= begun).collect();
            // After a restart of our machine times are moved to the axis of the first session.
            let shift_ns = self.time.offset() as i64 - record.header.realtime_offset_ns;
            let mut said = said(&fars);
            said.values_mut().flat_map(|(_, outcome)| outcome).for_each(|outcome| outcome.shift(shift_ns));
            must(&mut self.wrong, own == said, "the file has something else than the hosts measured");
        }
        if let (Some(record), true) = (&record, troubles.iter().all(|trouble| *trouble == Trouble::None)) {
            let own = record.executed().into_iter().filter(|trial| trial.trial >= begun);
            let all = own.into_iter().all(|trial| trial.parts.len() == trial.hosts_asked(self.hosts.len()));
            must(&mut self.wrong, all, "a trial lacks a host that was there again");
        }
        self.leave(fars);
        record
    }

    /// What goes wrong in a session, and what comes from outside.
    fn draw(&mut self, number: usize) -> (OnLoss, Vec<Trouble>, Option<(Nanos, Interruption)>) {
        let (now, count) = (self.time.now(), self.hosts.len());
        if number >= TROUBLED {
            return (OnLoss::Stop, vec![Trouble::None; count], None);
        }
        let (on_loss, drawn) = troubles(&mut self.random, count, now);
        // A session that a host refuses says little of the next one.
        let calm = |trouble| if trouble == Trouble::Refuses { Trouble::None } else { trouble };
        let drawn: Vec<Trouble> = drawn.into_iter().map(calm).collect();
        let at = now + Nanos(self.random.below(Nanos::secs(25).0));
        let interruption = match self.random.below(5) {
            0 => None,
            1 | 2 => Some((at, Interruption::Stop)),
            _ => Some((at, Interruption::Killed(self.random.below(1025)))),
        };
        if drawn.iter().any(|trouble| *trouble != Trouble::None) {
            self.mark(if on_loss == OnLoss::GoOn { "went on" } else { "ended by a loss" });
        }
        (on_loss, drawn, interruption)
    }

    fn workers(&mut self, number: usize, troubles: &[Trouble]) -> (Vec<Far>, Vec<LoadHost>) {
        let (mut fars, mut hosts) = (Vec::new(), Vec::new());
        for (host, trouble) in troubles.iter().enumerate() {
            let clock = FarClock::shared();
            let (cable, link) = clock.link();
            let mut machine = self.scenario.machine.clone();
            machine.drives.seed = draw(self.seed, 100 + host as u64);
            let (boots, left) = self.hosts[host];
            let own = draw(self.seed, (number * 100 + host) as u64);
            let worker = Worker::new(&machine, format!("boot {host} {boots}"), own, left);
            let delay = Nanos([0, 1_000_000, 200_000_000, 1_000_000_000][self.random.below(4) as usize]);
            hosts.push(LoadHost { name: name(host), host: link, targets: vec![format!("/t{host}")] });
            fars.push(Far::new((cable, clock), worker, delay, *trouble));
        }
        (fars, hosts)
    }

    /// What a session leaves for the next: workers that live undo what they made, and machines may be restarted, with ours or without.
    fn leave(&mut self, fars: Vec<Far>) {
        let all = self.random.below(6) == 0;
        for (host, mut far) in fars.into_iter().enumerate() {
            if !far.dead && !far.hanging {
                far.worker.let_go();
            }
            let booted = all || self.random.below(6) == 0 && host > 0;
            self.hosts[host] = (self.hosts[host].0 + u32::from(booted), far.worker.made);
        }
        self.time.pass_to(self.time.now() + Nanos::secs(60));
        if all {
            self.mark("restarted");
            self.time.reboot();
        }
    }

    fn mark(&mut self, what: &'static str) {
        *self.marks.entry(what).or_default() += 1;
    }
}

/// What must hold of the file of a run that is over: every trial of its plan counts once.
fn at_the_end(record: &RunRecord) -> Vec<String> {
    let mut wrong = Vec::new();
    must(&mut wrong, record.state == RunState::Complete, "it is not complete when nothing goes wrong any more");
    let counts = |trial: &&TrialRecord| match &trial.outcome {
        Some(outcome) => outcome.status != TrialStatus::Interrupted,
        None => record.went_on_after(trial),
    };
    let plan = record.plan().expect("a plan").into_owned();
    let mut counted: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    record.trials.iter().filter(counts).for_each(|trial| *counted.entry((trial.block, trial.case)).or_default() += 1);
    let missing = plan.order.iter().filter(|at| counted.get(at) != Some(&1)).count();
    must(&mut wrong, missing == 0, "a trial of the plan counts not once");
    let found = stend_analyse::judge(record).expect("findings");
    for answer in found.searches {
        let lacking =
            record.trials.iter().filter(|trial| trial.asked.streams.iter().any(|stream| stream.rate.is_some()));
        let hosts = record.loads().count();
        let lacking = lacking.filter(counts).filter(|trial| {
            trial.parts.iter().filter(|part| part.outcome.is_some()).count() < trial.hosts_asked(hosts)
        });
        must(&mut wrong, answer.confirmed == (lacking.count() < 2), "a search ended otherwise than its file says");
    }
    wrong
}

#[test]
fn a_run_of_several_hosts_that_was_interrupted_anyhow_ends_with_every_trial_of_its_plan_once() {
    let one = crate::simulation::number("STEND_SEED");
    let seeds = one.map_or(0..crate::simulation::number("SEEDS").unwrap_or(SEEDS), |seed| seed..seed + 1);
    let (mut failed, enough) = (0, seeds.end - seeds.start >= SEEDS);
    let mut all: BTreeMap<&'static str, u64> = BTreeMap::new();
    for seed in seeds {
        let (wrong, marks) = play(seed);
        marks.into_iter().for_each(|(mark, count)| *all.entry(mark).or_default() += count);
        if !wrong.is_empty() {
            failed += 1;
            eprintln!("seed {seed}: {wrong:?}");
        }
    }
    eprintln!("{all:?}");
    assert_eq!(failed, 0);
    let some = ["resumed", "begun anew", "killed", "restarted", "went on", "ended by a loss"];
    let missing: Vec<&str> = some.into_iter().filter(|mark| !all.contains_key(mark)).collect();
    assert!(!enough || missing.is_empty(), "no seed has {missing:?}");
}
