//! What is measured, against whom, and what must come out (the goals P1 to P6, P10 and P11). Data only.

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
    /// A thousand files on the disk that form one range, direct.
    Files,
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
    /// fio with the settings that Stend has by default: files and buffers registered, each I/O submitted by itself, one completion waited
    /// for.
    FioSame,
    /// fio with engine, depth and file, all else as it comes.
    FioDefault,
    /// fio with the same settings, but 16 I/Os submitted together and as many completions waited for.
    FioBatches,
    /// fio with synchronous calls.
    FioPsync,
    /// fio without I/O, with *clat* alone.
    FioNull,
    /// Stend with one thread.
    OneThread,
    /// Stend with as many I/Os in flight in one job.
    OneJob,
    /// Stend with the same range in one file.
    OneFile,
    /// Stend without the log of every I/O.
    NoLog,
    /// `t/io_uring`, which measures no latency.
    TIoUring,
    /// A ring of ours that measures nothing, each I/O submitted by itself: the floor.
    Bare,
    /// The same, with those that begin together submitted by one call.
    BareTogether,
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
    pub name: String,
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
        matches!(self.place, Place::LoopDevice | Place::Disk | Place::Files | Place::Tmpfs)
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

fn goal(id: &'static str, peer: Peer, quantity: Quantity, must: f64, stretch: f64) -> Goal {
    Goal { peer, quantity, mark: Some(Mark { id, must, stretch }) }
}

fn load(writes: bool, depth: u32, backend: Backend) -> Load {
    Load { writes, depth, jobs: 1, backend, batch: Batch::default(), log: false }
}

/// As the tuned fio does it: 16 at a time, and one stamp for those that begin together.
fn batched(load: Load) -> Load {
    Load { batch: Batch { size: 16, one_stamp: true }, ..load }
}

fn of(name: &str, place: Place, load: Load, goals: Vec<Goal>) -> Experiment {
    Experiment { name: name.to_string(), place, load, goals }
}

/// All experiments, in the order of the table.
pub fn all() -> Vec<Experiment> {
    let mut all = of_the_engine();
    all.extend(without_a_device());
    all.extend(on_devices());
    all.extend(at_other_depths());
    all.extend(of_many());
    all
}

/// Direct I/O, alone in flight, with a few others and with many: fio in the better of its two ways.
fn at_other_depths() -> Vec<Experiment> {
    let places = [(Place::LoopDevice, "a loop device"), (Place::Disk, "the disk")];
    let kinds = [(false, "read"), (true, "write")];
    let each = |(place, on): (Place, &str), (writes, verb): (bool, &str), depth: u32| {
        let ways: &[Peer] = if depth == 1 { &[Peer::FioSame] } else { &[Peer::FioSame, Peer::FioBatches] };
        let goals = ways.iter().map(|peer| goal("P3", *peer, Quantity::Iops, 1.0, 1.05)).collect();
        of(&format!("{verb} {on}, depth {depth}"), place, load(writes, depth, Backend::Auto), goals)
    };
    let depths = |place| kinds.into_iter().flat_map(move |kind| [1, 8, 128].map(|depth| each(place, kind, depth)));
    places.into_iter().flat_map(depths).collect()
}

/// Many jobs, many files.
fn of_many() -> Vec<Experiment> {
    let jobs = |jobs| Load { jobs, ..load(false, 1, Backend::IoUring) };
    let one_job = || vec![goal("P10", Peer::OneJob, Quantity::Iops, 0.95, 1.0)];
    vec![
        of("read the disk, 64 jobs", Place::Disk, jobs(64), one_job()),
        of("read the disk, 256 jobs", Place::Disk, jobs(256), one_job()),
        of(
            "read 1,000 files, depth 32",
            Place::Files,
            load(false, 32, Backend::IoUring),
            vec![goal("P10", Peer::OneFile, Quantity::Iops, 0.95, 1.0)],
        ),
    ]
}

/// Nothing is moved.
fn of_the_engine() -> Vec<Experiment> {
    let null = Backend::Null;
    let costs = || vec![goal("P2", Peer::FioNull, Quantity::PerCpu, 3.5, 4.7)];
    let two = Load { jobs: 2, ..load(false, 32, null) };
    let logged = Load { log: true, ..load(false, 32, null) };
    let place = Place::Nothing;
    vec![
        of("no I/O, depth 1", place, load(false, 1, null), costs()),
        of("no I/O, depth 8", place, load(false, 8, null), costs()),
        of("no I/O, depth 32", place, load(false, 32, null), costs()),
        of("no I/O, depth 128", place, load(false, 128, null), costs()),
        of("no I/O, depth 32, 2 threads", place, two, vec![goal("P10", Peer::OneThread, Quantity::Iops, 1.9, 1.95)]),
        of("no I/O, depth 32, with a log", place, logged, vec![goal("P11", Peer::NoLog, Quantity::Time, 25.0, 10.0)]),
        of(
            "no I/O, depth 32, in batches",
            place,
            batched(load(false, 32, null)),
            vec![goal("P1", Peer::FioNull, Quantity::PerCpu, 8.0, 16.0)],
        ),
    ]
}

/// What must come out wherever fio has the same experiment: no fewer I/Os than fio in its best way, less CPU time than in the same, and
/// not much more than the `ring` that measures nothing and submits as Stend does there, `of_ring` of its I/Os per CPU second.
fn against_fio(ring: Peer, of_ring: (f64, f64)) -> Vec<Goal> {
    use Quantity::{Iops, PerCpu};
    let mark = Some(Mark { id: "P6", must: of_ring.0, stretch: of_ring.1 });
    let bare = |peer| Goal { peer, quantity: PerCpu, mark: mark.filter(|_| peer == ring) };
    vec![
        goal("P3", Peer::FioSame, Iops, 1.0, 1.05),
        goal("P3", Peer::FioDefault, Iops, 1.0, 1.05),
        goal("P3", Peer::FioBatches, Iops, 1.0, 1.05),
        goal("P4", Peer::FioSame, PerCpu, 1.2, 1.5),
        Goal { peer: Peer::FioDefault, quantity: PerCpu, mark: None },
        Goal { peer: Peer::FioBatches, quantity: PerCpu, mark: None },
        bare(Peer::Bare),
        bare(Peer::BareTogether),
    ]
}

/// The kernel is called, and nothing waits for a device.
fn without_a_device() -> Vec<Experiment> {
    let ring = |writes| load(writes, 32, Backend::IoUring);
    // The thread is the limit, and Stend goes over to one call for several.
    let mut cached = against_fio(Peer::BareTogether, (0.95, 1.0));
    cached.push(goal("P6", Peer::TIoUring, Quantity::Iops, 0.95, 1.0));
    let at = |depth, peers: &[Peer]| {
        let goals = peers.iter().map(|peer| goal("P3", *peer, Quantity::Iops, 1.0, 1.05)).collect();
        of(&format!("write /dev/null, depth {depth}"), Place::DevNull, load(true, depth, Backend::IoUring), goals)
    };
    let both = [Peer::FioSame, Peer::FioBatches];
    vec![
        at(1, &both[..1]),
        at(8, &both),
        of("write /dev/null, depth 32", Place::DevNull, ring(true), against_fio(Peer::BareTogether, (0.9, 0.95))),
        at(128, &both),
        of(
            "write /dev/null, depth 1, plain calls",
            Place::DevNull,
            load(true, 1, Backend::Psync),
            vec![goal("P5", Peer::FioPsync, Quantity::PerCpu, 1.7, 2.0)],
        ),
        of("read from the page cache, depth 32", Place::HotFile, ring(false), cached),
    ]
}

/// Direct I/O.
fn on_devices() -> Vec<Experiment> {
    let goals = || against_fio(Peer::Bare, (0.95, 1.0));
    // The bare ring claims nothing, so it writes to nothing that keeps data.
    let of_writes = || goals().into_iter().filter(|g| !matches!(g.peer, Peer::Bare | Peer::BareTogether)).collect();
    let [read, write] = [false, true].map(|writes| load(writes, 32, Backend::Auto));
    let (on_loop, on_disk) = (Place::LoopDevice, Place::Disk);
    vec![
        of("read a loop device, depth 32", on_loop, read, goals()),
        of("write a loop device, depth 32", on_loop, write, of_writes()),
        of("read the disk, depth 32", on_disk, read, goals()),
        of("write the disk, depth 32", on_disk, write, of_writes()),
        of("read tmpfs, depth 32", Place::Tmpfs, read, of_writes()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_has_its_own_name_and_a_goal_that_can_be_missed() {
        let mut names: Vec<_> = all().iter().map(|experiment| experiment.name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().len());
        for experiment in all() {
            let marks: Vec<Mark> = experiment.goals.iter().filter_map(|goal| goal.mark).collect();
            assert!(!marks.is_empty(), "{experiment:?}");
            for goal in &experiment.goals {
                let further =
                    |m: Mark| if goal.quantity == Quantity::Time { m.must > m.stretch } else { m.stretch > m.must };
                assert!(goal.mark.is_none_or(|m| m.must >= 0.9 && further(m)), "{experiment:?}");
            }
        }
    }
}
