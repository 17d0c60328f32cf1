//! What a seed draws: a suite, a machine, a link, and what goes wrong. Everything follows from the seed, so that it replays.

use super::drives::Drives;
use super::worker::Machine;
use std::fmt::Write;
use stend_base::Nanos;
use stend_base::random::{Random, draw};

/// A run and all that happens to it.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// What it follows from.
    pub seed: u64,
    /// Text of its suite.
    pub suite: String,
    /// The machine that is measured.
    pub machine: Machine,
    /// A message takes at most so long.
    pub delay: Nanos,
    /// The suite cuts the power of the machine, which is in our hands.
    pub powered: bool,
    /// A host with the drives is watched, whose messages take at most so long.
    pub watched: Option<Nanos>,
    /// What goes wrong in the first sessions; in those after them nothing does.
    pub troubles: Vec<Trouble>,
}

/// When something goes wrong: when so many messages of the worker have arrived, and this much later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Messages, as a share in 1024ths of those that an undisturbed session has.
    pub share: u64,
    /// Time after the last of them.
    pub later: Nanos,
}

/// What goes wrong in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The worker ends after so many bytes (modulo its length) of a message.
    Dies(Moment, u64),
    /// It says nothing any more, and does not end.
    Hangs(Moment),
    /// Between two messages come bytes that are none.
    Garbage(Moment, Vec<u8>),
    /// Between two messages comes an answer to nothing.
    Unasked(Moment, u64),
    /// The user stops the run.
    Stop(Moment),
    /// The user stops it and, that much later, at once.
    Abort(Moment, Nanos),
    /// The file system of the run file has room for so many pages more.
    DiskFull(Moment, u64),
    /// The coordinator is killed; of what waits in its spool this many 1024ths are left.
    Killed(Moment, u64),
    /// The machine is reset, and booted anew before the next session.
    Reset(Moment),
}

impl Trouble {
    /// In one word.
    pub fn name(&self) -> &'static str {
        match self {
            Trouble::Dies(..) => "worker died",
            Trouble::Hangs(_) => "worker hung",
            Trouble::Garbage(..) => "garbage",
            Trouble::Unasked(..) => "unasked answer",
            Trouble::Stop(_) => "stop",
            Trouble::Abort(..) => "abort",
            Trouble::DiskFull(..) => "full disk",
            Trouble::Killed(..) => "coordinator killed",
            Trouble::Reset(_) => "machine reset",
        }
    }

    /// When.
    pub fn moment(&self) -> Moment {
        match self {
            Trouble::Dies(at, _) | Trouble::Hangs(at) | Trouble::Garbage(at, _) | Trouble::Unasked(at, _) => *at,
            Trouble::Reset(at) => *at,
            Trouble::Stop(at) | Trouble::Abort(at, _) | Trouble::DiskFull(at, _) | Trouble::Killed(at, _) => *at,
        }
    }
}

impl Scenario {
    /// What follows from a seed.
    pub fn draw(seed: u64) -> Scenario {
        let mut random = Random::new(draw(seed, 1));
        let faulty = random.below(8) == 0;
        let mut per_mille = |most: u64| if faulty { random.below(most) } else { 0 };
        let faults = [per_mille(200), per_mille(60), per_mille(200)];
        let drives = Drives {
            seed: draw(seed, 2),
            latency: Nanos(10_000 + random.below(20_000_000)),
            iops: 100 + random.below(200_000),
            noise: [0, 2, 10, 60][random.below(4) as usize],
            faults,
        };
        let machine = Machine {
            drives,
            shares_drive: random.below(2) == 0,
            slowness: Nanos([1_000, 50_000_000, 3_000_000_000][random.below(3) as usize]),
            interval: Nanos::millis([200, 500, 1000][random.below(3) as usize]),
            refuses: if random.below(16) == 0 { random.below(150) } else { 0 },
        };
        let delay = Nanos([0, 100_000, 30_000_000, 900_000_000][random.below(4) as usize]);
        let watched = (random.below(3) == 0).then(|| Nanos(random.below(2_000_000_000)));
        let troubles = (0..1 + random.below(3)).map(|_| trouble(&mut random)).collect();
        let suite = suite(&mut random);
        let powered = suite.contains("power.cut");
        // Its ledger must outlive the target.
        let machine = Machine { shares_drive: machine.shares_drive && !powered, ..machine };
        Scenario { seed, suite, machine, delay, powered, watched, troubles }
    }

    /// The same without what goes wrong.
    pub fn untroubled(&self) -> Scenario {
        let machine = Machine { refuses: 0, ..self.machine.clone() };
        Scenario { troubles: Vec::new(), machine, ..self.clone() }
    }
}

fn trouble(random: &mut Random) -> Trouble {
    let later = Nanos(random.below(4).pow(2) * random.below(200_000_000));
    // One of eight comes at the very begin, where what is short is.
    let share = if random.below(8) == 0 { random.below(60) } else { random.below(1024) };
    let at = Moment { share, later };
    match random.below(17) {
        0..2 => Trouble::Dies(at, random.next_u64()),
        2 => Trouble::Hangs(at),
        3 => Trouble::Garbage(at, garbage(random)),
        4..6 => Trouble::Unasked(at, random.next_u64()),
        6..9 => Trouble::Stop(at),
        9 => Trouble::Abort(at, Nanos(random.below(1_000_000_000))),
        10 => Trouble::Reset(at),
        11 => Trouble::DiskFull(at, random.below(10)),
        _ => Trouble::Killed(at, random.below(1025)),
    }
}

/// Half of it announces a length that it does not have.
fn garbage(random: &mut Random) -> Vec<u8> {
    let mut bytes = vec![0; 4 + random.below(60) as usize];
    random.fill(&mut bytes);
    if random.below(2) == 0 {
        let length = bytes.len() as u32 - 4;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
    }
    bytes
}

/// The kind of suite that cuts the power.
const CUTTING: u64 = 8;

/// A small suite.
fn suite(random: &mut Random) -> String {
    let ramp = random.below(3) * 300;
    let window = 200 + random.below(9) * 200;
    let mut text = format!("suite: drawn\ndefaults: {{ramp: {ramp}ms, trial: {window}ms, prober: off}}\n");
    let kind = random.below(10);
    let arms = kind == 9;
    if random.below(3) > 0 {
        text += "fill: {size: 64MiB}\n";
        if random.below(3) == 0 {
            text += "precondition: {purge: discard, passes: 1}\n";
        }
    }
    if random.below(5) == 0 {
        text += "calibrate: members\n";
    }
    let blocks = match kind {
        0 => "12, until: {width: 5%, p99: none}".to_string(),
        _ => (1 + random.below(4)).to_string(),
    };
    writeln!(text, "repeats: {{blocks: {blocks}}}").expect("text");
    if arms {
        let second = ["command: [x], undo: [y]", "person: change it"][random.below(2) as usize];
        writeln!(text, "arms: [{{name: a}}, {{name: b, switch: {{{second}}}}}]").expect("text");
    }
    text += "cases:\n";
    for case in 0..1 + random.below(3) {
        let steady = if !arms && kind == 1 { "steady: {rounds: 7, round: 400ms}, " } else { "" };
        let streams: Vec<String> = match kind {
            2 | 3 if case == 0 => vec![searching(random)],
            CUTTING if case == 0 => {
                let at = 1000 + random.below(1500);
                write!(text, "  - {{name: cut, trial: 3s, events: [{{at: {at}ms, do: power.cut}}], ").expect("text");
                text +=
                    "streams: [{op: write, pattern: random, block_size: 4KiB, sync: dsync, verify: {crash: true}}]}\n";
                continue;
            }
            _ => (0..1 + random.below(2)).map(|_| stream(random, !steady.is_empty())).collect(),
        };
        writeln!(text, "  - {{name: c{case}, {steady}streams: [{}]}}", streams.join(", ")).expect("text");
    }
    // A suite that only reads needs something to read.
    match text.contains("fill: ") || text.contains("write") {
        true => text,
        false => text.replacen("suite: drawn\n", "suite: drawn\nfill: {size: 64MiB}\n", 1),
    }
}

fn stream(random: &mut Random, steady: bool) -> String {
    let (op, writes) = [("read", false), ("write", true), ("{read: 70, write: 30}", true)][random.below(3) as usize];
    let depth = ["1", "8", "[1, 4]", "32"][random.below(4) as usize];
    let mut stream = format!("{{op: {op}, pattern: random, block_size: 4KiB, queue_depth: {depth}");
    match random.below(5) {
        0 if !steady => stream += &format!(", rate: {}/s", 10 + random.below(5000)),
        1 if writes => stream += ", verify: {after: true}",
        _ => {}
    }
    stream + "}"
}

fn searching(random: &mut Random) -> String {
    let from = 10 + random.below(200);
    let to = from * (2 + random.below(30));
    let limit = 1 + random.below(40);
    let search = format!("{{from: {from}/s, to: {to}/s, quantile: 90%, limit: {limit}ms, precision: 20%}}");
    format!("{{op: read, pattern: random, block_size: 4KiB, rate: {{search: {search}}}}}")
}
