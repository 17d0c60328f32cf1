//! What is measured, against whom, and what must come out (the goals P1 to P11). Data only.

use stend_base::{Bytes, Nanos};
use stend_spec::workload::{Backend, Batch, Mix, Op, Pattern, Region, Stream, Trial};

/// Range of a file, device or nothing that both work on.
pub const RANGE: Bytes = Bytes::mib(512);
/// All experiments move blocks of this size.
pub const BLOCK: Bytes = Bytes::kib(4);

/// Where I/O goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Nowhere: no I/O is made.
    Nothing,
    /// `/dev/null`.
    DevNull,
    /// A file whose pages are all in memory, through the page cache.
    HotFile,
    /// A loop device over memory, direct.
    LoopDevice,
    /// A file on the disk, direct.
    Disk,
    /// A file on tmpfs, direct: a place that io_uring hands to kernel workers.
    Tmpfs,
}

/// A load as both understand it: random blocks of 4 KiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Writes instead of reads.
    pub writes: bool,
    /// I/Os in flight per job.
    pub depth: u32,
    /// Threads.
    pub jobs: u32,
    /// How Stend submits.
    pub backend: Backend,
    /// What Stend does for several I/Os together.
    pub batch: Batch,
    /// Stend keeps a log of every I/O.
    pub log: bool,
}

/// Who else does the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// fio with everything that makes it fast and keeps its latencies.
    FioTuned,
    /// fio with engine, depth and file, all else as it comes.
    FioDefault,
    /// fio with synchronous calls.
    FioPsync,
    /// fio without I/O, with *clat* alone.
    FioNull,
    /// Stend with one thread.
    OneThread,
    /// Stend without the log of every I/O.
    NoLog,
    /// A ring of ours that measures nothing: the floor.
    Bare,
}

/// What is compared; more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// I/Os per second.
    Iops,
    /// I/Os per second of CPU time.
    PerCpu,
    /// The same I/Os per second, as time of each; a goal is how much more of it than the peer's, ns, at most.
    Time,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// Against whom.
    pub peer: Peer,
    /// In what.
    pub quantity: Quantity,
    /// What must come out; nothing against the floor, which only explains.
    pub mark: Option<Mark>,
}

/// What must come out of a comparison: a ratio of at least so much, or of time at most so many ns more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// Name of the goal.
    pub id: &'static str,
    /// The worse end of the interval must reach this.
    pub must: f64,
    /// What we aim at.
    pub stretch: f64,
}

/// One load in one place.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Its name in the table.
    pub name: &'static str,
    /// Where.
    pub place: Place,
    /// What.
    pub load: Load,
    /// What for.
    pub goals: Vec<Goal>,
}

impl Experiment {
    /// Every peer once.
    pub fn peers(&self) -> Vec<Peer> {
        let mut peers: Vec<Peer> = Vec::new();
        for goal in &self.goals {
            if !peers.contains(&goal.peer) {
                peers.push(goal.peer);
            }
        }
        peers
    }

    /// Whether the page cache is bypassed.
    pub fn direct(&self) -> bool {
        matches!(self.place, Place::LoopDevice | Place::Disk | Place::Tmpfs)
    }

    /// The load as Stend takes it, with so many jobs; everything else as the product has it by default.
    pub fn trial(&self, window: Nanos, jobs: u32, seed: u64) -> Trial {
        // More than the fastest thread fills in a trial.
        let io_log = self.load.log.then_some(Bytes::gib(16));
        let mix = Mix::only(if self.load.writes { Op::Write } else { Op::Read });
        let (queue_depth, batch) = (self.load.depth, self.load.batch);
        let stream = Stream { queue_depth, jobs, batch, ..Stream::new(mix, Pattern::Random, BLOCK) };
        let region = Region { start: Bytes(0), len: RANGE };
        let (direct, backend) = (self.direct(), self.load.backend);
        Trial { seed, direct, backend, io_log, ..Trial::new(vec![stream], window, region) }
    }
}

/// All experiments, in the order of the table.
pub fn all() -> Vec<Experiment> {
    use Quantity::{Iops, PerCpu};
    let load = |writes, depth, backend| Load { writes, depth, jobs: 1, backend, batch: Batch::default(), log: false };
    // As the tuned fio does it: 16 at a time, and one stamp for those that begin together.
    let batched = |load| Load { batch: Batch { size: 16, one_stamp: true }, ..load };
    let goal = |id, peer, quantity, must, stretch| Goal { peer, quantity, mark: Some(Mark { id, must, stretch }) };
    let floor = Goal { peer: Peer::Bare, quantity: PerCpu, mark: None };
    let of = |name, place, load, goals| Experiment { name, place, load, goals };
    let (ring, auto, null) = (Backend::IoUring, Backend::Auto, Backend::Null);
    let costs = |id| vec![goal(id, Peer::FioNull, PerCpu, 3.5, 4.7)];
    let tuned_and_default =
        || vec![goal("P7", Peer::FioTuned, PerCpu, 1.2, 1.6), goal("P7", Peer::FioDefault, PerCpu, 2.0, 2.7)];
    let disk = || vec![goal("P8", Peer::FioTuned, Iops, 0.95, 1.0), goal("P8", Peer::FioTuned, PerCpu, 1.15, 1.4)];
    let two = Load { jobs: 2, ..load(false, 32, null) };
    let null_goals =
        || vec![goal("P3", Peer::FioTuned, PerCpu, 2.5, 3.2), goal("P4", Peer::FioDefault, PerCpu, 4.0, 5.5), floor];
    let and_floor = |mut goals: Vec<Goal>| {
        goals.push(floor);
        goals
    };
    vec![
        of("no I/O, depth 1", Place::Nothing, load(false, 1, null), costs("P2")),
        of("no I/O, depth 32", Place::Nothing, load(false, 32, null), costs("P2")),
        of("no I/O, depth 32, 2 threads", Place::Nothing, two, vec![goal("P10", Peer::OneThread, Iops, 1.85, 1.95)]),
        of(
            "no I/O, depth 32, with a log",
            Place::Nothing,
            Load { log: true, ..load(false, 32, null) },
            vec![goal("P11", Peer::NoLog, Quantity::Time, 25.0, 10.0)],
        ),
        of("write /dev/null, depth 32", Place::DevNull, load(true, 32, ring), null_goals()),
        of(
            "no I/O, depth 32, in batches",
            Place::Nothing,
            batched(load(false, 32, null)),
            vec![goal("P1", Peer::FioNull, PerCpu, 8.0, 16.0)],
        ),
        of("write /dev/null, depth 32, in batches", Place::DevNull, batched(load(true, 32, ring)), null_goals()),
        of(
            "write /dev/null, depth 1, plain calls",
            Place::DevNull,
            load(true, 1, Backend::Psync),
            vec![goal("P5", Peer::FioPsync, PerCpu, 1.7, 2.0)],
        ),
        of(
            "read from the page cache, depth 32",
            Place::HotFile,
            load(false, 32, ring),
            vec![goal("P6", Peer::FioTuned, PerCpu, 1.3, 1.5), floor],
        ),
        of("read a loop device, depth 32", Place::LoopDevice, load(false, 32, auto), and_floor(tuned_and_default())),
        of("write a loop device, depth 32", Place::LoopDevice, load(true, 32, auto), tuned_and_default()),
        of(
            "read a loop device, depth 32, in batches",
            Place::LoopDevice,
            batched(load(false, 32, auto)),
            and_floor(tuned_and_default()),
        ),
        of(
            "write a loop device, depth 32, in batches",
            Place::LoopDevice,
            batched(load(true, 32, auto)),
            tuned_and_default(),
        ),
        of("read the disk, depth 32", Place::Disk, load(false, 32, auto), and_floor(disk())),
        of("write the disk, depth 32", Place::Disk, load(true, 32, auto), disk()),
        of("read the disk, depth 32, in batches", Place::Disk, batched(load(false, 32, auto)), and_floor(disk())),
        of("write the disk, depth 32, in batches", Place::Disk, batched(load(true, 32, auto)), disk()),
        of(
            "read tmpfs, depth 32",
            Place::Tmpfs,
            load(false, 32, auto),
            vec![goal("P9", Peer::FioTuned, PerCpu, 1.4, 1.9)],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_has_its_own_name_and_a_goal_that_can_be_missed() {
        let mut names: Vec<_> = all().iter().map(|experiment| experiment.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().len());
        for experiment in all() {
            let marks: Vec<Mark> = experiment.goals.iter().filter_map(|goal| goal.mark).collect();
            assert!(!marks.is_empty(), "{experiment:?}");
            for goal in &experiment.goals {
                let further =
                    |m: Mark| if goal.quantity == Quantity::Time { m.must > m.stretch } else { m.stretch > m.must };
                assert!(goal.mark.is_none_or(|m| m.must > 0.9 && further(m)), "{experiment:?}");
            }
        }
    }
}
