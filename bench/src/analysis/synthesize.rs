//! Run files as long runs and runs on many hosts leave them, made up: their size and shape are those of real ones, their numbers mean
//! nothing.

use crate::Outcome;
use std::path::Path;
use std::time::Duration;
use stend_base::histogram::Sparse;
use stend_base::random::draw;
use stend_base::{Bytes, Histogram, Lang, Nanos};
use stend_plan::{Case, Decision, PlanInputs, PlanTarget};
use stend_record::event::{Event, EventKind};
use stend_record::observed::{JobTotals, Phase, Slice, TrialOutcome};
use stend_record::sample::{CpuTimes, DiskCounters, Memory, ProcessCost};
use stend_record::store::{Options, Writer, create};
use stend_record::{
    Device, EngineFacts, Entry, HostFacts, HostId, HostInfo, RunHeader, RunState, Sample, TargetFacts, TargetKind,
    WriteAccess,
};
use stend_spec::pattern::Pattern;
use stend_spec::suite::Suite;
use stend_spec::workload::{Mix, OPS, Op, Region, Stream, Trial};

/// Shapes of a second's latencies; each second has one of them.
const SHAPES: usize = 64;
/// I/Os of a second of one stream.
const OPS_PER_SECOND: u64 = 20_000;
/// Intervals in a second.
const INTERVALS: u32 = 10;
/// Rate of the slow one of several hosts, in percent of the others.
const SLOW: u64 = 60;
/// One host begins a trial so much later than the one before it.
const BEGIN_APART: Nanos = Nanos(900);
/// The writer is waited for after each trial: what it has not taken yet is in memory.
const SETTLE_LIMIT: Duration = Duration::from_secs(60);

/// How long and wide a run is.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Trials.
    pub trials: u32,
    /// Window of each, seconds.
    pub seconds: u32,
    /// Load hosts, at least 1; the one in the middle of several is slow.
    pub hosts: u16,
    /// Streams of each host: one that reads, a second one that writes.
    pub streams: u16,
    /// Jobs of each stream.
    pub jobs: u32,
    /// Decides all numbers.
    pub seed: u64,
}

/// What a host does in a second.
struct Pace {
    /// I/Os of one stream.
    ops: u64,
    /// Their latencies; each second has one of these shapes.
    seconds: Vec<Sparse>,
}

impl Pace {
    /// In percent of the usual one; with as many I/Os in flight, latencies grow as the rate falls.
    fn new(seed: u64, percent: u64) -> Pace {
        Pace { ops: OPS_PER_SECOND * percent / 100, seconds: seconds(seed, percent) }
    }
}

/// What each host does.
struct Paces {
    usual: Pace,
    /// The slow host of several.
    slow: Option<(u16, Pace)>,
}

impl Paces {
    fn new(shape: Shape) -> Paces {
        let slow = (shape.hosts > 1).then(|| (shape.hosts / 2, Pace::new(shape.seed, SLOW)));
        Paces { usual: Pace::new(shape.seed, 100), slow }
    }

    fn of(&self, host: u16) -> &Pace {
        self.slow.as_ref().filter(|(slow, _)| *slow == host).map_or(&self.usual, |(_, pace)| pace)
    }
}

/// Writes a run of this shape that began at `started_unix`.
pub fn write(path: &Path, shape: Shape, started_unix: i64) -> Outcome<()> {
    let told = |error: Box<stend_base::Error>| error.render(Lang::En);
    let writer = create(path, header(shape, started_unix), Options::default()).map_err(told)?;
    for host in 0..shape.hosts {
        writer.append(Entry::Host { host: HostId(host), info: Box::new(info(shape, host)) });
    }
    let paces = Paces::new(shape);
    let mut at = Nanos::secs(1);
    clocks(&writer, shape, at, 0);
    for trial in 0..shape.trials {
        append_trial(&writer, shape, &paces, (trial, at));
        if !writer.settle(SETTLE_LIMIT) {
            return Err(format!("the writer of `{}` does not keep up", path.display()));
        }
        at = at + Nanos::secs(u64::from(shape.seconds) + 1);
    }
    clocks(&writer, shape, at, 2_500);
    writer.close(RunState::Complete).map(drop).map_err(told)
}

/// A trial that begins at a time.
fn append_trial(writer: &Writer, shape: Shape, paces: &Paces, (trial, at): (u32, Nanos)) {
    let decision = Decision::Trial { case: 0, block: trial, seed: shape.seed };
    writer.append(Entry::Decision { seq: trial, decision });
    writer.append(Entry::Event(Event::new(at, EventKind::Phase(Phase::Measure))));
    let asked = Box::new(asked(shape));
    writer.append(Entry::TrialStart { trial, case: 0, block: trial, asked, round: false, at });
    for second in 0..shape.seconds {
        for host in 0..shape.hosts {
            let random = draw(shape.seed, u64::from(trial) << 40 | u64::from(host) << 24 | u64::from(second));
            let slices = slices(shape, second, paces.of(host), random);
            writer.append(Entry::Slices { host: HostId(host), trial, slices });
            let sample = Box::new(sample(at + Nanos::secs(u64::from(second))));
            writer.append(Entry::Sample { host: HostId(host), sample });
        }
    }
    for host in 0..shape.hosts {
        let random = draw(shape.seed, u64::from(host) << 32 | u64::from(trial));
        let begin = at + Nanos(u64::from(host) * BEGIN_APART.0);
        let outcome = Box::new(outcome(shape, begin, paces.of(host), random));
        writer.append(Entry::TrialEnd { host: HostId(host), trial, outcome });
    }
}

/// Every host but the first has a clock of its own, which drifted by so many ns.
fn clocks(writer: &Writer, shape: Shape, at: Nanos, drifted: i64) {
    for host in 1..shape.hosts {
        let shift_ns = -7_000_000_000 * i64::from(host) - drifted;
        let kind = EventKind::HostClock { shift_ns, uncertainty_ns: 40_000 + 500 * u64::from(host) };
        writer.append(Entry::Event(Event { at, host: HostId(host), kind }));
    }
}

fn info(shape: Shape, host: u16) -> HostInfo {
    let facts = HostFacts { hostname: "bench".into(), cpus: 2, memory: Bytes::gib(16), ..HostFacts::default() };
    let alone = HostInfo { facts: Some(facts.clone()), targets: vec![target()], ..HostInfo::default() };
    if shape.hosts == 1 {
        return alone;
    }
    // Machines with the same boot id and the same drives would be one.
    let facts = HostFacts { hostname: format!("node{host:03}"), boot_id: format!("boot-{host}"), ..facts };
    let clock_uncertainty_ns = (host > 0).then_some(40_000);
    HostInfo { name: format!("load{host:03}"), facts: Some(facts), clock_uncertainty_ns, ..alone }
}

fn header(shape: Shape, started_unix: i64) -> RunHeader {
    let case = Case {
        name: "mix".into(),
        axes: Vec::new(),
        trial: asked(shape),
        not_run: None,
        arm: None,
        steady: None,
        faults: Vec::new(),
    };
    let suite = Suite { name: "synthesized".into(), imported: vec![case], blocks: shape.trials, ..Suite::default() };
    let target = PlanTarget { hosts: u32::from(shape.hosts), ..PlanTarget::device(Bytes::gib(100)) };
    RunHeader {
        started_unix,
        stend_version: env!("CARGO_PKG_VERSION").into(),
        command_line: vec!["stend".into(), "run".into()],
        realtime_offset_ns: started_unix.saturating_mul(1_000_000_000),
        ..RunHeader::new(
            &format!("R-bench-{started_unix}"),
            PlanInputs { suite, seed: shape.seed, target, time_budget: None, traces: Vec::new() },
        )
    }
}

fn target() -> TargetFacts {
    let device = Device { name: "sda".into(), kind: "disk".into(), size: Bytes::gib(100), ..Device::default() };
    TargetFacts {
        size: Bytes::gib(100),
        free: Bytes::gib(100),
        physical_block: Bytes(4096),
        devices: vec![device],
        ..TargetFacts::new("/dev/sda", TargetKind::BlockDevice, WriteAccess::Refused(Vec::new()))
    }
}

fn asked(shape: Shape) -> Trial {
    let stream = |mix| Stream { queue_depth: 8, jobs: shape.jobs, ..Stream::new(mix, Pattern::Random, Bytes::kib(4)) };
    let region = Region { start: Bytes(0), len: Bytes::gib(100) };
    let streams = [Mix::of_reads(100), Mix::of_reads(0)].into_iter().take(shape.streams.into()).map(stream).collect();
    Trial::new(streams, Nanos::secs(u64::from(shape.seconds)), region)
}

/// Latencies of seconds: about as many used buckets as a real drive has.
fn seconds(seed: u64, percent: u64) -> Vec<Sparse> {
    let one = |index: usize| {
        let mut histogram = Histogram::new();
        for i in 0..OPS_PER_SECOND * percent / 1000 {
            let uniform = draw(seed, (index as u64) << 32 | i) % 1_000_000;
            // Half below 0.26 ms, with a long tail: a thousandth above 2 ms.
            let tail = 1_000_000 / (uniform + 100);
            let latency = (60_000 + uniform * 2 / 5 + tail * 2_000) * 100 / percent;
            histogram.record_many(Nanos(latency), 10);
        }
        histogram.sparse()
    };
    (0..SHAPES).map(one).collect()
}

/// A second of a host.
fn slices(shape: Shape, second: u32, pace: &Pace, random: u64) -> Vec<Slice> {
    let of = |interval: u32| (0..shape.streams).map(move |stream| slice((second, interval), stream, pace, random));
    (0..INTERVALS).flat_map(of).collect()
}

fn slice((second, interval): (u32, u32), stream: u16, pace: &Pace, random: u64) -> Slice {
    // Around the mean by ± 5 %.
    let chance = draw(random, u64::from(interval) << 16 | u64::from(stream)) % 100;
    let ops = pace.ops / u64::from(INTERVALS) * (950 + chance) / 1000;
    let last = interval == INTERVALS - 1;
    Slice {
        interval: second * INTERVALS + interval,
        span: 1,
        stream,
        op: if stream == 0 { Op::Read } else { Op::Write },
        ops,
        bytes: ops * 4096,
        errors: 0,
        latency_max_ns: 20_000_000,
        latency: last.then(|| pace.seconds[(random % SHAPES as u64) as usize].clone()),
        open: None,
    }
}

fn outcome(shape: Shape, at: Nanos, pace: &Pace, random: u64) -> TrialOutcome {
    let window_end = at + Nanos::secs(u64::from(shape.seconds));
    let job = |stream: u16, job: u32| {
        let op = if stream == 0 { Op::Read } else { Op::Write };
        let mut all = Histogram::new();
        let own = &pace.seconds[(draw(random, u64::from(job)) % SHAPES as u64) as usize];
        // Every second of the stream is that of one job.
        (job..shape.seconds).step_by(shape.jobs as usize).for_each(|_| all.merge_sparse(own));
        let (mut done, mut latency) = ([(0, 0); OPS], Op::ALL.map(|_| Sparse::default()));
        done[op.index()] = (all.count(), all.count() * 4096);
        latency[op.index()] = all.sparse();
        JobTotals {
            stream,
            job,
            done,
            latency,
            cpu_ns: Some(1),
            run_delay_ns: Some(1),
            cpu_max_ns: Some(1),
            ..JobTotals::default()
        }
    };
    TrialOutcome {
        engine: EngineFacts { backend: "io_uring".into(), direct: true, ..EngineFacts::default() },
        jobs: (0..shape.streams).flat_map(|stream| (0..shape.jobs).map(move |index| job(stream, index))).collect(),
        clocks: [(at.0, at.0, at.0), (window_end.0, window_end.0, window_end.0)],
        ..TrialOutcome::empty(at, (at, window_end))
    }
}

fn sample(at: Nanos) -> Sample {
    let cpu = |cpu| CpuTimes { cpu, user_ns: at.0 / 4, system_ns: at.0 / 4, idle_ns: at.0 / 2, ..CpuTimes::default() };
    let disk = DiskCounters {
        name: "sda".into(),
        reads: at.0 / 50_000,
        read_bytes: at.0 / 50_000 * 4096,
        writes: at.0 / 50_000,
        write_bytes: at.0 / 50_000 * 4096,
        busy_ns: at.0,
        ..DiskCounters::default()
    };
    Sample {
        at,
        cpus: Some((0..2).map(cpu).collect()),
        memory: Some(Memory { total_bytes: 16 << 30, available_bytes: 8 << 30, ..Memory::default() }),
        disks: vec![disk],
        worker: Some(ProcessCost { cpu_ns: at.0, resident_bytes: 50 << 20 }),
        cost_ns: 300_000,
        ..Sample::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_record::RunRecord;
    use stend_record::store::read;

    fn made(shape: Shape) -> RunRecord {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.stend");
        write(&path, shape, 1_795_296_000).unwrap();
        read(&path).unwrap()
    }

    #[test]
    fn a_run_reads_back_with_all_of_its_intervals_and_is_analysed() {
        let run = made(Shape { trials: 2, seconds: 10, hosts: 1, streams: 2, jobs: 3, seed: 7 });
        assert_eq!((run.trials.len(), run.trials[0].slices.len(), run.load().samples.len()), (2, 200, 20));
        let used = run.trials[0].slices.iter().filter_map(|slice| slice.latency.as_ref()).map(|l| l.buckets.len());
        assert!(used.min() > Some(250), "as wide as those of a real drive");
        assert_eq!(run.trials[1].slices.iter().filter(|slice| slice.latency.is_some()).count(), 20);
        let found = stend_analyse::analyse(&run).unwrap();
        assert_eq!((found.cases.len(), found.cases[0].trials, found.cases[0].ops.len()), (1, 2, 2));
    }

    #[test]
    fn several_hosts_have_their_own_slices_and_samples_and_the_one_in_the_middle_is_slow() {
        let run = made(Shape { trials: 2, seconds: 10, hosts: 3, streams: 1, jobs: 4, seed: 7 });
        assert_eq!(run.hosts().iter().map(|host| host.samples.len()).collect::<Vec<_>>(), [20; 3]);
        let parts = run.trials.iter().flat_map(|trial| &trial.parts);
        let parts: Vec<_> = parts.map(|part| (part.slices.len(), part.outcome.is_some())).collect();
        assert_eq!(parts, [(100, true); 6]);
        let done: u64 =
            run.trials[0].outcome.as_ref().unwrap().jobs.iter().map(|job| job.done[Op::Read.index()].0).sum();
        assert_eq!(done, 10 * OPS_PER_SECOND * (200 + SLOW) / 100, "every second is that of one job");
        let found = stend_analyse::analyse(&run).unwrap();
        let hosts = found.cases[0].hosts.as_ref().unwrap();
        let (slowest, ratio) = hosts.slowest.as_ref().unwrap();
        assert_eq!((hosts.hosts[*slowest as usize].name.as_str(), (ratio.value * 100.0).round()), ("load001", 60.0));
        assert_eq!(hosts.began_apart, Nanos(2 * BEGIN_APART.0));
        assert_eq!(found.hosts[2].clock.unwrap().drift, Some((-2_500, Nanos::secs(22))));
    }
}
