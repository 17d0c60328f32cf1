//! Runs of several load hosts from a seed: 2 to 8 simulated workers, and once as many as there may be, behind the real loop. Each is at the
//! end of a link of its own, so that what they say arrives in any order. Where a loss ends the run one of them may die, hang, refuse or be
//! slow; where the others go on any number may. Whatever happens must hold what `wrong` says.

mod again;
mod wrong;

use super::cable::Cable;
use super::run_directory::{Image, RunDirectory};
use super::scenario::Scenario;
use super::session::{settle, setup};
use super::time::Time;
use super::worker::Worker;
use crate::LoadHost;
use crate::execute::{Loop, TICK};
use crate::setup::Setup;
use crate::step::{Input, UserRequest};
use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, channel};
use stend_base::random::{Random, draw};
use stend_base::{Kind, Nanos};
use stend_record::{RunRecord, store};
use stend_spec::keys::order::LOADS;
use stend_spec::order::OnLoss;
use stend_wire::protocol::write_frame;
use stend_wire::{Reply, Request};

/// Seeds that are played unless `SEEDS` says how many.
const SEEDS: u64 = 120;
/// The seed with the most hosts.
const CROWDED: u64 = 0;
/// Steps of the loop after which a run counts as one without end.
const STEPS_MAX: u64 = 2_000_000;
/// How many hosts serve reads within a time that most drives hold.
const SEARCH: &str = "load_hosts: {search: {quantile: 50%, limit: 10ms}}, ";
/// Which rate of reads is served within a time that some drives hold, by all hosts together.
const RATE: &str = "rate: {search: {from: 50/s, to: 900/s, quantile: 90%, limit: 8ms, precision: 25%}}";

/// What ends a session from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interruption {
    /// The user stops it.
    Stop,
    /// The coordinator is killed; of what waits in its spool this many 1024ths are left.
    Killed(u64),
}

/// What goes wrong with the host of this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    /// Nothing.
    None,
    /// Its stream ends at this time.
    Dies(Nanos),
    /// It says nothing from this time on.
    Hangs(Nanos),
    /// It refuses some of what it is asked.
    Refuses,
}

/// One host at the end of its link.
struct Far {
    cable: Cable,
    worker: Worker,
    delay: Nanos,
    coming: VecDeque<(Nanos, Reply)>,
    going: VecDeque<(Nanos, Request)>,
    trouble: Trouble,
    dead: bool,
    hanging: bool,
    /// Something that was made is left on its target, although it could be asked to undo that.
    left: bool,
    /// What arrived from it, and what it was asked for and when.
    said: Vec<Reply>,
    asked: Vec<(Nanos, Request)>,
}

/// A run in progress.
struct Play {
    time: Time,
    random: Random,
    fars: Vec<Far>,
    inputs: Receiver<Input>,
    /// What comes from outside, and when.
    interruption: Option<(Nanos, Interruption)>,
}

/// What came of a run.
struct Played {
    on_loss: OnLoss,
    fars: Vec<Far>,
    end: Option<Kind>,
    told: String,
    endless: bool,
    record: Option<RunRecord>,
    /// When the loss of a host was noticed.
    noticed: Option<Nanos>,
}

fn name(host: usize) -> String {
    format!("load{host}")
}

/// The suite, machines and link of a seed.
fn scenario(seed: u64, random: &mut Random) -> Scenario {
    let base = Scenario::draw(seed).untroubled();
    let kinds = [
        ("", "queue_depth: [1, 8]"),
        ("load_hosts: doubling, ", "queue_depth: [1, 8]"),
        ("load_hosts: [2, 1], ", "queue_depth: [1, 8]"),
        (SEARCH, "queue_depth: [1, 8]"),
        ("", RATE),
    ];
    let (few, load) = kinds[Random::new(draw(seed, 78)).below(kinds.len() as u64) as usize];
    let suite = format!(
        "suite: drawn\ndefaults: {{ramp: {}ms, trial: {}ms, prober: off}}\nfill: {{size: 64MiB}}\nrepeats: {{blocks: {}}}\n\
         cases:\n  - {{name: r, {few}streams: [{{op: read, pattern: random, block_size: 4KiB, {load}}}]}}\n  \
         - {{name: w, streams: [{{op: write, pattern: random, block_size: 4KiB}}]}}\n",
        random.below(3) * 300,
        400 + random.below(9) * 200,
        1 + random.below(3)
    );
    let mut machine = base.machine.clone();
    machine.drives.faults = [0; 3];
    Scenario { suite, machine, powered: false, watched: None, ..base }
}

/// Plays the run of a seed.
fn play(seed: u64) -> Played {
    let mut random = Random::new(draw(seed, 77));
    let scenario = scenario(seed, &mut random);
    let few = 2 + random.below(7) as usize;
    // As many as there may be, each with the threads that it really has.
    let count = if seed == CROWDED { LOADS.most } else { few };
    let time = Time::new();
    let (on_loss, troubles) = troubles(&mut random, count, time.now());
    let (mut fars, mut hosts) = (Vec::new(), Vec::new());
    for (number, trouble) in troubles.into_iter().enumerate() {
        let (cable, host) = Cable::new();
        let mut machine = scenario.machine.clone();
        machine.drives.seed = draw(seed, 100 + number as u64);
        machine.refuses = if trouble == Trouble::Refuses { 100 } else { 0 };
        let worker = Worker::new(&machine, format!("boot {number}"), draw(seed, number as u64), false);
        let delay = Nanos([0, 1_000_000, 200_000_000, 3_000_000_000][random.below(4) as usize]);
        hosts.push(LoadHost { name: name(number), host, targets: vec![format!("/t{number}")] });
        fars.push(Far { trouble, ..Far::new(cable, worker, delay) });
    }
    let directory = RunDirectory::new(&format!("R-fleet{seed}-{}", std::process::id()), false).expect("memory");
    let setup = Setup { on_loss, ..setup(&scenario, &directory, hosts, None) };
    let (sender, inputs) = channel();
    let run = Loop::begin(setup, sender, None, time.clocks()).expect("threads");
    let mut played = Play { time, random, fars, inputs, interruption: None }.play_out(run, &directory);
    played.on_loss = on_loss;
    played.record = store::read(&directory.run_file()).ok();
    played
}

/// What becomes of a run that loses a host, and what goes wrong with each.
fn troubles(random: &mut Random, count: usize, now: Nanos) -> (OnLoss, Vec<Trouble>) {
    let on_loss = if random.below(2) == 0 { OnLoss::Stop } else { OnLoss::GoOn };
    let mut one = || {
        let at = now + Nanos(random.below(Nanos::secs(25).0));
        match random.below(6) {
            0 | 1 => Trouble::Dies(at),
            2 => Trouble::Hangs(at),
            3 => Trouble::Refuses,
            _ => Trouble::None,
        }
    };
    let all = (0..count).map(|_| one()).collect::<Vec<Trouble>>();
    let victim = random.below(count as u64) as usize;
    let often = random.below(3) as usize;
    let keeps = |number: usize, trouble: Trouble| match on_loss {
        OnLoss::Stop => number == victim,
        // A refusal ends the run, whichever hosts are lost besides.
        OnLoss::GoOn => trouble != Trouble::Refuses && (number == victim || number % 3 < often),
    };
    let drawn = |(number, trouble)| if keeps(number, trouble) { trouble } else { Trouble::None };
    (on_loss, all.into_iter().enumerate().map(drawn).collect())
}

impl Play {
    fn play_out(mut self, mut run: Loop, directory: &RunDirectory) -> Played {
        let mut endless = true;
        for _ in 0..STEPS_MAX {
            let goes_on = run.goes_on();
            self.hear_requests();
            if !goes_on {
                endless = false;
                break;
            }
            match self.inputs.try_recv() {
                Ok(input) => run.take(input, &mut |_| {}),
                Err(_) => {
                    if let Some(image) = self.pass(&mut run, directory) {
                        return self.killed(run, &image, directory);
                    }
                }
            }
        }
        for far in &mut self.fars {
            far.left = far.worker.made && !far.dead && !far.hanging;
        }
        let done = run.finish();
        let (end, told) = (done.error.as_ref().map(|error| error.kind), done.error.map(|error| format!("{error}")));
        let stops = self.fars.iter().flat_map(|far| &far.asked).filter(|(_, request)| *request == Request::Stop);
        let noticed = stops.map(|(at, _)| *at).min();
        Played {
            on_loss: OnLoss::Stop,
            fars: self.fars,
            end,
            told: told.unwrap_or_default(),
            endless,
            record: None,
            noticed,
        }
    }

    /// The coordinator is gone; letting go of the loop writes to the file what a kill would have left out.
    fn killed(self, run: Loop, image: &Image, directory: &RunDirectory) -> Played {
        drop(run);
        directory.restore(image);
        let (fars, told) = (self.fars, "killed".to_string());
        Played { on_loss: OnLoss::Stop, fars, end: None, told, endless: false, record: None, noticed: None }
    }

    fn hear_requests(&mut self) {
        let now = self.time.now();
        for far in &mut self.fars {
            for request in far.cable.asked() {
                far.asked.push((now, request.clone()));
                let at = now + Nanos(self.random.below(far.delay.0 + 1));
                let at = far.going.back().map_or(at, |(front, _)| at.max(*front));
                far.going.push_back((at, request));
            }
        }
    }

    /// Time passes until the next thing happens, at most a tick. What a kill has left if that is it.
    fn pass(&mut self, run: &mut Loop, directory: &RunDirectory) -> Option<Image> {
        let tick = self.time.now() + Nanos(TICK.as_nanos() as u64);
        if let Some((_, interruption)) = self.interruption.take_if(|(at, _)| *at <= tick) {
            return match interruption {
                Interruption::Stop => {
                    run.take(Input::User(UserRequest::Stop(Kind::Interrupted)), &mut |_| {});
                    None
                }
                Interruption::Killed(spooled) => {
                    settle(run);
                    // Before it opens the file, nothing that waits there is its own.
                    Some(directory.image(if run.writer.is_some() { spooled } else { 1024 }))
                }
            };
        }
        let next = self.fars.iter().filter(|far| !far.dead).filter_map(Far::due).min().filter(|at| *at <= tick);
        let Some(at) = next else {
            self.time.pass_to(tick);
            run.take(Input::Tick, &mut |_| {});
            return None;
        };
        self.time.pass_to(at);
        let far = self.fars.iter_mut().filter(|far| !far.dead).find(|far| far.due() == Some(at));
        far.into_iter().for_each(|far| far.act(at, &mut self.random));
        None
    }
}

impl Far {
    fn new(cable: Cable, worker: Worker, delay: Nanos) -> Far {
        let (coming, going, said, asked) = (VecDeque::new(), VecDeque::new(), Vec::new(), Vec::new());
        let (trouble, dead, hanging, left) = (Trouble::None, false, false, false);
        Far { cable, worker, delay, coming, going, trouble, dead, hanging, left, said, asked }
    }

    fn due(&self) -> Option<Nanos> {
        let trouble = match self.trouble {
            Trouble::Dies(at) => Some(at),
            Trouble::Hangs(at) if !self.hanging => Some(at),
            _ => None,
        };
        let (coming, going) = (self.coming.front().map(|(at, _)| *at), self.going.front().map(|(at, _)| *at));
        [self.worker.due(), coming, going, trouble].into_iter().flatten().min()
    }

    fn act(&mut self, now: Nanos, random: &mut Random) {
        match self.trouble {
            Trouble::Dies(at) if at <= now => {
                self.dead = true;
                return self.cable.cut();
            }
            Trouble::Hangs(at) if at <= now => self.hanging = true,
            _ => {}
        }
        if let Some((_, reply)) = self.coming.pop_front_if(|(at, _)| *at <= now) {
            let mut frame = Vec::new();
            write_frame(&mut frame, &reply).expect("a frame");
            self.said.push(reply);
            return self.cable.say(&frame);
        }
        if let Some((_, request)) = self.going.pop_front_if(|(at, _)| *at <= now) {
            return self.worker.ask(request, now);
        }
        for reply in self.worker.act(now) {
            if !self.hanging {
                let at = now + Nanos(random.below(self.delay.0 + 1));
                let at = self.coming.back().map_or(at, |(front, _)| at.max(*front));
                self.coming.push_back((at, reply));
            }
        }
    }
}

#[test]
fn whatever_happens_to_load_hosts_the_others_stop_or_go_on_as_asked_and_all_that_was_measured_is_kept_by_host() {
    let one = super::number("STEND_SEED");
    let seeds = one.map_or(0..super::number("SEEDS").unwrap_or(SEEDS), |seed| seed..seed + 1);
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    let (mut failed, enough) = (0, seeds.end - seeds.start >= SEEDS);
    for seed in seeds {
        let played = play(seed);
        let wrong = wrong::of(&played);
        let lost = played.record.as_ref().map_or(0, |record| record.lost_loads().count());
        let end = format!("{:?}, {:?}, {}", played.on_loss, played.end, if lost > 0 { "with a loss" } else { "whole" });
        *ends.entry(end).or_default() += 1;
        if !wrong.is_empty() {
            failed += 1;
            eprintln!("seed {seed} ({:?}, {}): {wrong:?}", played.on_loss, played.told);
        }
    }
    eprintln!("{ends:?}");
    assert_eq!(failed, 0);
    let some = ["Stop, None, whole", "Stop, Some(HostLost), with a loss", "Stop, Some(Preflight), whole"];
    let others = ["GoOn, None, whole", "GoOn, None, with a loss", "GoOn, Some(HostLost), with a loss"];
    let missing: Vec<&str> = some.into_iter().chain(others).filter(|end| !ends.contains_key(*end)).collect();
    assert!(!enough || missing.is_empty(), "no seed ends so: {missing:?}");
}
