//! Runs of several load hosts from a seed: 2 to 8 simulated workers behind the real loop, each at the end of a link of its own, so that
//! what they say arrives in any order. One of them may die, hang, refuse or be slow; whatever happens must hold what `wrong` says.

use super::cable::Cable;
use super::place::Place;
use super::scenario::Scenario;
use super::session::setup;
use super::time::Time;
use super::worker::Worker;
use crate::LoadHost;
use crate::execute::{Loop, TICK};
use crate::step::Input;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc::{Receiver, channel};
use stend_base::random::{Random, draw};
use stend_base::{Kind, Nanos};
use stend_record::{EventKind, HostId, RunRecord, RunState, Slice, TrialOutcome, store};
use stend_wire::protocol::write_frame;
use stend_wire::{Reply, Request};

/// Seeds that are played unless `SEEDS` says how many.
const SEEDS: u64 = 120;
/// Steps of the loop after which a run counts as one without end.
const STEPS_MAX: u64 = 200_000;
/// After a loss nobody may load longer than this.
const STOP_LIMIT: Nanos = Nanos::secs(2);

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
}

/// What came of a run.
struct Played {
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

/// Plays the run of a seed.
fn play(seed: u64) -> Played {
    let mut random = Random::new(draw(seed, 77));
    let base = Scenario::draw(seed).untroubled();
    let suite = format!(
        "suite: drawn\ndefaults: {{ramp: {}ms, trial: {}ms, prober: off}}\nfill: {{size: 64MiB}}\nrepeats: {{blocks: {}}}\n\
         cases:\n  - {{name: r, streams: [{{op: read, pattern: random, block_size: 4KiB, queue_depth: [1, 8]}}]}}\n  \
         - {{name: w, streams: [{{op: write, pattern: random, block_size: 4KiB}}]}}\n",
        random.below(3) * 300,
        400 + random.below(9) * 200,
        1 + random.below(3)
    );
    let mut machine = base.machine.clone();
    machine.drives.faults = [0; 3];
    let scenario = Scenario { suite, machine, powered: false, watched: None, ..base };
    let count = 2 + random.below(7) as usize;
    let time = Time::new();
    let at = time.now() + Nanos(random.below(Nanos::secs(25).0));
    let trouble = match random.below(6) {
        0 | 1 => Trouble::Dies(at),
        2 => Trouble::Hangs(at),
        3 => Trouble::Refuses,
        _ => Trouble::None,
    };
    let victim = random.below(count as u64) as usize;
    let (mut fars, mut hosts) = (Vec::new(), Vec::new());
    for number in 0..count {
        let (cable, host) = Cable::new();
        let trouble = if number == victim { trouble } else { Trouble::None };
        let mut machine = scenario.machine.clone();
        machine.drives.seed = draw(seed, 100 + number as u64);
        machine.refuses = if trouble == Trouble::Refuses { 100 } else { 0 };
        let worker = Worker::new(&machine, format!("boot {number}"), draw(seed, number as u64), false);
        let delay = Nanos([0, 1_000_000, 200_000_000, 3_000_000_000][random.below(4) as usize]);
        hosts.push(LoadHost { name: name(number), host, targets: vec![format!("/t{number}")] });
        let (coming, going, said, asked) = (VecDeque::new(), VecDeque::new(), Vec::new(), Vec::new());
        fars.push(Far {
            cable,
            worker,
            delay,
            coming,
            going,
            trouble,
            dead: false,
            hanging: false,
            left: false,
            said,
            asked,
        });
    }
    let place = Place::new(&format!("R-fleet{seed}-{}", std::process::id()), false).expect("memory");
    let setup = setup(&scenario, &place, hosts, None);
    let (sender, inputs) = channel();
    let run = Loop::begin(setup, sender, None, time.clocks()).expect("threads");
    let mut played = Play { time, random, fars, inputs }.play_out(run);
    played.record = store::read(&place.run_file()).ok();
    played
}

impl Play {
    fn play_out(mut self, mut run: Loop) -> Played {
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
                Err(_) => self.pass(&mut run),
            }
        }
        for far in &mut self.fars {
            far.left = far.worker.made && !far.dead && !far.hanging;
        }
        let done = run.finish();
        let (end, told) = (done.error.as_ref().map(|error| error.kind), done.error.map(|error| format!("{error}")));
        let stops = self.fars.iter().flat_map(|far| &far.asked).filter(|(_, request)| *request == Request::Stop);
        let noticed = stops.map(|(at, _)| *at).min();
        Played { fars: self.fars, end, told: told.unwrap_or_default(), endless, record: None, noticed }
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

    /// Time passes until the next thing happens, at most a tick.
    fn pass(&mut self, run: &mut Loop) {
        let tick = self.time.now() + Nanos(TICK.as_nanos() as u64);
        let next = self.fars.iter().filter(|far| !far.dead).filter_map(Far::due).min().filter(|at| *at <= tick);
        let Some(at) = next else {
            self.time.pass_to(tick);
            return run.take(Input::Tick, &mut |_| {});
        };
        self.time.pass_to(at);
        let far = self.fars.iter_mut().filter(|far| !far.dead).find(|far| far.due() == Some(at));
        far.into_iter().for_each(|far| far.act(at, &mut self.random));
    }
}

impl Far {
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

    /// Whether it was asked for load, or anything else that takes time, after this.
    fn asked_after(&self, noticed: Nanos) -> bool {
        let ends = |request: &Request| matches!(request, Request::Stop | Request::Release | Request::Clock);
        self.asked.iter().any(|(at, request)| *at > noticed && !ends(request))
    }
}

/// What each host measured in each trial, by what arrived from it.
type Measured = BTreeMap<(u32, HostId), (Vec<Slice>, Option<TrialOutcome>)>;

fn said(fars: &[Far]) -> Measured {
    let mut all = Measured::new();
    for (host, far) in (0..).map(HostId).zip(fars) {
        for reply in &far.said {
            match reply {
                Reply::Slices { ordinal, slices } => {
                    all.entry((*ordinal, host)).or_default().0.extend_from_slice(slices);
                }
                Reply::TrialDone { ordinal, outcome } => {
                    all.entry((*ordinal, host)).or_default().1 = Some(outcome.as_ref().clone());
                }
                _ => {}
            }
        }
    }
    all
}

fn recorded(record: &RunRecord) -> Measured {
    let of = |trial: &stend_record::TrialRecord| {
        let number = trial.trial;
        trial
            .by_host()
            .into_iter()
            .map(|(host, slices, outcome)| ((number, host), (slices.to_vec(), outcome.cloned())))
            .filter(|(_, (slices, outcome))| !slices.is_empty() || outcome.is_some())
            .collect::<Vec<_>>()
    };
    record.executed().into_iter().flat_map(of).collect()
}

fn must(wrong: &mut Vec<String>, holds: bool, what: &str) {
    wrong.extend((!holds).then(|| what.to_string()));
}

/// What does not hold of a run.
fn wrong(played: &Played) -> Vec<String> {
    let mut wrong = Vec::new();
    let Played { fars, end, told, record, .. } = played;
    must(&mut wrong, !played.endless, "it has no end");
    for far in fars {
        must(&mut wrong, far.worker.out_of_turn.is_empty(), "a worker was asked out of turn");
        must(&mut wrong, !far.left, "something was left on a target");
    }
    let Some(record) = record else {
        must(&mut wrong, end.is_some(), "it measured nothing and says nothing");
        return wrong;
    };
    must(&mut wrong, said(fars) == recorded(record), "the file has something else than the hosts measured");
    let victim = fars.iter().position(|far| far.trouble != Trouble::None);
    let trouble = victim.map_or(Trouble::None, |victim| fars[victim].trouble);
    let lost = record.events.iter().find_map(|event| match event.kind {
        EventKind::HostLost { .. } => Some(event.host),
        _ => None,
    });
    match (trouble, end) {
        (Trouble::None, _) => {
            must(&mut wrong, record.state == RunState::Complete, "nothing went wrong, and it is not complete")
        }
        // It may have ended before.
        (_, None) => must(&mut wrong, record.state == RunState::Complete, "it says nothing and is not complete"),
        (Trouble::Refuses, Some(kind)) => {
            must(&mut wrong, *kind == Kind::Preflight, "a refusal is told as something else")
        }
        (_, Some(kind)) => {
            must(&mut wrong, *kind == Kind::HostLost, "a lost host is told as something else");
            must(&mut wrong, lost == victim.map(|victim| HostId(victim as u16)), "the file names another lost host");
        }
    }
    if let (Some(victim), Some(_)) = (victim, end) {
        must(&mut wrong, told.contains(&name(victim)), "the error does not name the host");
    }
    if let (Some(_), Some(noticed)) = (end, played.noticed) {
        for far in fars.iter().filter(|far| !far.dead && !far.hanging) {
            must(&mut wrong, !far.asked_after(noticed), "a host went on after another was lost");
            let stop = far.asked.iter().find(|(_, request)| *request == Request::Stop);
            must(&mut wrong, stop.is_some_and(|(at, _)| *at <= noticed + STOP_LIMIT), "a host was not stopped in time");
        }
    }
    let loads = record.loads().map(|(_, host)| (host.name.clone(), host.facts.is_some()));
    must(&mut wrong, loads.eq((0..fars.len()).map(|host| (name(host), true))), "the file does not know the hosts");
    for (seeds, begins) in (0..).map_while(|ordinal| trials_of(fars, ordinal)) {
        must(
            &mut wrong,
            seeds.len() == fars.len() && begins.len() == 1,
            "a trial is not drawn apart, or does not begin together",
        );
    }
    wrong
}

/// Seeds and begins of a trial that every host was asked for.
fn trials_of(fars: &[Far], number: u32) -> Option<(BTreeSet<u64>, BTreeSet<Nanos>)> {
    let asked = fars.iter().map(|far| {
        far.asked.iter().find_map(|(_, request)| match request {
            Request::Trial { ordinal, trial, begin, .. } if *ordinal == number => Some((trial.seed, *begin)),
            _ => None,
        })
    });
    Some(asked.collect::<Option<Vec<_>>>()?.into_iter().unzip())
}

#[test]
fn whatever_happens_to_one_load_host_the_others_stop_and_all_that_was_measured_is_kept_by_host() {
    let one = super::number("STEND_SEED");
    let seeds = one.map_or(0..super::number("SEEDS").unwrap_or(SEEDS), |seed| seed..seed + 1);
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    let (mut failed, enough) = (0, seeds.end - seeds.start >= SEEDS);
    for seed in seeds {
        let played = play(seed);
        let wrong = wrong(&played);
        *ends.entry(format!("{:?}", played.end)).or_default() += 1;
        if !wrong.is_empty() {
            failed += 1;
            eprintln!("seed {seed} ({}): {wrong:?}", played.told);
        }
    }
    eprintln!("{ends:?}");
    assert_eq!(failed, 0);
    assert!(!enough || ends.len() == 3, "a run that is complete, one that lost a host, one that was refused: {ends:?}");
}
