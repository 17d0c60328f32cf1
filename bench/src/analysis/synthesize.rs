//! Run files as long runs leave them, made up: their size and shape are those of real ones, their numbers mean nothing.

use crate::Outcome;
use std::path::Path;
use stend_base::histogram::Sparse;
use stend_base::random::draw;
use stend_base::{Bytes, Histogram, Lang, Nanos};
use stend_plan::{Case, Decision, PlanInputs, PlanTarget};
use stend_record::event::{Event, EventKind};
use stend_record::observed::{JobTotals, Phase, Slice, TrialOutcome};
use stend_record::sample::{CpuTimes, DiskCounters, Memory, ProcessCost};
use stend_record::store::{Options, create};
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
/// Slices of one entry: what a second of two streams has.
const CHUNK: u32 = 2 * INTERVALS;

/// How long and wide a run is.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Trials.
    pub trials: u32,
    /// Window of each, seconds.
    pub seconds: u32,
    /// Jobs of each of two streams, of which one reads and one writes.
    pub jobs: u32,
    /// Decides all numbers.
    pub seed: u64,
}

/// Writes a run of this shape that began at `started_unix`.
pub fn write(path: &Path, shape: Shape, started_unix: i64) -> Outcome<()> {
    let told = |error: Box<stend_base::Error>| error.render(Lang::En);
    let writer = create(path, header(shape, started_unix), Options::default()).map_err(told)?;
    let facts = HostFacts { hostname: "bench".into(), cpus: 2, memory: Bytes::gib(16), ..HostFacts::default() };
    let info = Box::new(HostInfo { facts: Some(facts), targets: vec![target()], ..HostInfo::default() });
    writer.append(Entry::Host { host: HostId::LOAD, info });
    let seconds = seconds(shape.seed);
    let mut at = Nanos::secs(1);
    for trial in 0..shape.trials {
        let asked = Box::new(asked(shape));
        writer.append(Entry::Decision {
            seq: trial,
            decision: Decision::Trial { case: 0, block: trial, seed: shape.seed },
        });
        writer.append(Entry::Event(Event::new(at, EventKind::Phase(Phase::Measure))));
        writer.append(Entry::TrialStart { trial, case: 0, block: trial, asked, round: false, at });
        for second in 0..shape.seconds {
            let moment = u64::from(trial) << 32 | u64::from(second);
            let slices = (0..CHUNK).map(|i| slice(second, i, &seconds, draw(shape.seed, moment))).collect();
            writer.append(Entry::slices(trial, slices));
            let sample = Box::new(sample(at + Nanos::secs(u64::from(second))));
            writer.append(Entry::Sample { host: HostId::LOAD, sample });
        }
        let outcome = outcome(shape, at, &seconds, draw(shape.seed, u64::from(trial)));
        at = outcome.window_end + Nanos::secs(1);
        writer.append(Entry::trial_end(trial, outcome));
    }
    writer.close(RunState::Complete).map(drop).map_err(told)
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
    let target = PlanTarget::device(Bytes::gib(100));
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
    let streams = vec![stream(Mix::of_reads(100)), stream(Mix::of_reads(0))];
    Trial::new(streams, Nanos::secs(u64::from(shape.seconds)), region)
}

/// Latencies of seconds: about as many used buckets as a real drive has.
fn seconds(seed: u64) -> Vec<Sparse> {
    let one = |index: usize| {
        let mut histogram = Histogram::new();
        for i in 0..OPS_PER_SECOND / 10 {
            let uniform = draw(seed, (index as u64) << 32 | i) % 1_000_000;
            // Half below 0.26 ms, with a long tail: a thousandth above 2 ms.
            let tail = 1_000_000 / (uniform + 100);
            histogram.record_many(Nanos(60_000 + uniform * 2 / 5 + tail * 2_000), 10);
        }
        histogram.sparse()
    };
    (0..SHAPES).map(one).collect()
}

fn slice(second: u32, index: u32, seconds: &[Sparse], random: u64) -> Slice {
    let (stream, interval) = ((index % 2) as u16, index / 2);
    // Around the mean by ± 5 %.
    let ops = OPS_PER_SECOND / u64::from(INTERVALS) * (950 + draw(random, u64::from(index)) % 100) / 1000;
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
        latency: last.then(|| seconds[(random % SHAPES as u64) as usize].clone()),
        open: None,
    }
}

fn outcome(shape: Shape, at: Nanos, seconds: &[Sparse], random: u64) -> TrialOutcome {
    let window_end = at + Nanos::secs(u64::from(shape.seconds));
    let job = |stream: u16, job: u32| {
        let op = if stream == 0 { Op::Read } else { Op::Write };
        let mut all = Histogram::new();
        let own = &seconds[(draw(random, u64::from(job)) % SHAPES as u64) as usize];
        (0..shape.seconds / shape.jobs.max(1)).for_each(|_| all.merge_sparse(own));
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
        jobs: (0..2).flat_map(|stream| (0..shape.jobs).map(move |index| job(stream, index))).collect(),
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
    use stend_record::store::read;

    #[test]
    fn a_run_reads_back_with_all_of_its_intervals_and_is_analysed() {
        let directory = std::env::temp_dir().join(format!("stend-bench-run-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("run.stend");
        let written = write(&path, Shape { trials: 2, seconds: 10, jobs: 3, seed: 7 }, 1_795_296_000);
        let run = read(&path);
        std::fs::remove_dir_all(&directory).unwrap();
        written.unwrap();
        let run = run.unwrap();
        assert_eq!((run.trials.len(), run.trials[0].slices.len(), run.load().samples.len()), (2, 200, 20));
        let used = run.trials[0].slices.iter().filter_map(|slice| slice.latency.as_ref()).map(|l| l.buckets.len());
        assert!(used.min() > Some(250), "as wide as those of a real drive");
        assert_eq!(run.trials[1].slices.iter().filter(|slice| slice.latency.is_some()).count(), 20);
        let found = stend_analyse::analyse(&run).unwrap();
        assert_eq!((found.cases.len(), found.cases[0].trials, found.cases[0].ops.len()), (1, 2, 2));
    }
}
