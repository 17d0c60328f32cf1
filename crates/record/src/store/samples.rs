//! Made-up entries for the tests of this module: one of each kind, and runs of any length.

use crate::app::{AppOutcome, AppWindow, Instance};
use crate::calibration::{Calibration, Subject};
use crate::event::{Event, EventKind};
use crate::facts::{HostFacts, TargetFacts, TargetKind, WriteAccess};
use crate::hosts::{HostId, HostInfo, Role};
use crate::imported::{Imported, SourceFile, ToolNumber, ToolOp, ToolOutput};
use crate::io_log::{IoChunk, IoLogTotals, Logged, Records};
use crate::observed::{
    Contents, EngineFacts, FillOutcome, JobTotals, OpenSlice, OpenTotals, Phase, Slice, Submissions, TrialOutcome,
    TrialStatus, ZeroSample,
};
use crate::parts::{ArcCounters, ArrayState, LineRate, Link, LinkState, Parts, PathState, PoolState, Temperature};
use crate::probes::{Probes, Silence};
use crate::run::{Entry, GateText, RunHeader, RunRecord, StandText};
use crate::sample::{CpuTimes, Sample};
use crate::verification::{Checked, Defect, Found, Mismatch, ReadBack, Verification};
use stend_base::histogram::Sparse;
use stend_base::{Bytes, Histogram, MilliIops, Nanos, say};
use stend_plan::{Decision, Plan, PlanInputs, PlanTarget};
use stend_spec::rate::{Gaps, Rate};
use stend_spec::suite::Suite;
use stend_spec::workload::{Mix, OPS, Op, Pattern, Region, Stream, Trial, Verify};

pub fn header() -> RunHeader {
    let writes = Err(say!("needs --confirm=x", "нужно --confirm=x"));
    let target = PlanTarget {
        count: 1,
        hosts: 1,
        size: Bytes::gib(1),
        room: None,
        logical_block: Bytes(512),
        discards: true,
        null: None,
        topology: Default::default(),
        writes,
    };
    let suite = Suite { name: "quick".to_string(), blocks: 6, ..Suite::default() };
    RunHeader {
        id: "R-1".to_string(),
        started_unix: 1_795_296_153,
        stend_version: "0.1.0".to_string(),
        command_line: vec!["stend".to_string(), "run".to_string()],
        named: vec!["/var/tmp".to_string()],
        inputs: PlanInputs { suite, seed: u64::MAX, target, time_budget: Some(Nanos::secs(180)), traces: Vec::new() },
        suite_text: "suite: quick # проверка\n".to_string(),
        realtime_offset_ns: -5,
        imported: Some(imported()),
        stand: Some(StandText { name: "md".into(), file: "md.yaml".into(), text: "stand: md".into(), nonce: 7 }),
        label: Some("до".into()),
        gate: Some(GateText {
            file: "nightly.yaml".into(),
            text: "gate: nightly".into(),
            expect: vec!["iops > 1".into()],
        }),
        recording: None,
        boot_id: "5c1d2a8e-0000-4000-8000-000000000001".into(),
    }
}

/// A plan of two cells and a search over one stream.
pub fn plan() -> Plan {
    let text = "suite: quick\ncases:\n  - {name: rand-read, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: [1, 32]}]}\n  \
        - name: knee\n    streams:\n      - op: read\n        pattern: random\n        block_size: 4KiB\n        \
        rate: {search: {from: 5000/s, to: 9000/s, quantile: 99%, limit: 5ms}}\n";
    let suite = stend_spec::parse::suite(text, "quick.yaml").expect("a suite");
    Plan::new(&PlanInputs { suite, ..header().inputs }).expect("a plan")
}

pub fn trial() -> Trial {
    let stream = Stream {
        queue_depth: 32,
        rate: Some(Rate::constant(MilliIops::per_second(20_000), Gaps::Poisson)),
        verify: Some(Verify { after: true, crash: false }),
        ..Stream::new(Mix::of_reads(70), Pattern::Random, Bytes::kib(4))
    };
    let region = Region { start: Bytes(0), len: Bytes::gib(1) };
    Trial { ramp: Nanos::SECOND, seed: 7, ..Trial::new(vec![stream], Nanos::secs(3), region) }
}

/// A latency distribution as wide as that of a real drive: about 300 used buckets.
pub fn latency(seed: u64) -> Sparse {
    let mut histogram = Histogram::new();
    for i in 0..2000 {
        histogram.record(Nanos(60_000 + stend_base::random::draw(seed, i) % 400_000));
    }
    histogram.sparse()
}

/// Latencies of reads, of nothing else.
fn only(latency: Sparse) -> [Sparse; OPS] {
    Op::ALL.map(|op| if op == Op::Read { latency.clone() } else { Sparse::default() })
}

pub fn slice(interval: u32, latency: Option<Sparse>) -> Slice {
    Slice {
        interval,
        span: 1,
        stream: 0,
        op: Op::Read,
        ops: 2000,
        bytes: 8_192_000,
        errors: 0,
        latency_max_ns: 460_000,
        open: latency.as_ref().map(|latency| {
            Box::new(OpenSlice {
                due: 2010,
                begun: 2001,
                late_sum_ns: 9_000,
                late_max_ns: 70,
                service: Some(latency.clone()),
            })
        }),
        latency,
    }
}

/// One block was torn while the load ran, and one could not be read back.
fn verification() -> Verification {
    let checked = Checked { sectors: 80, ok: 9, unsettled: 1, never_written: 0, defects: [0, 0, 1, 0, 0, 0, 0] };
    let found = Found::Sector { run: u64::MAX, epoch: 1, address: 4608, sequence: 6 };
    let torn = Mismatch {
        stream: 0,
        after: false,
        defect: Defect::Torn,
        address: 4608,
        run: u64::MAX,
        epoch: 1,
        oldest: 7,
        newest: 7,
        found,
    };
    let after = ReadBack::Made { checked: Checked::default(), unread: 1 };
    Verification { memory: Bytes::mib(4), running: checked, after, examples: vec![torn] }
}

fn probes() -> Probes {
    Probes {
        response: latency(3),
        service: latency(2),
        unanswered: latency(1),
        errors: vec![(5, 2)],
        longest: Some(Silence { since: Nanos(5), until: Nanos(9), ended: false }),
        bytes: 4096,
        begun: 7,
        lasted: Nanos(8),
        cpu_ns: Some(6),
        cpus: vec![1, 3],
    }
}

fn imported() -> Imported {
    let file = SourceFile { name: "a.json".to_string(), size: Bytes(9), version: "fio-3.33".to_string() };
    Imported {
        tool: "fio".to_string(),
        files: vec![file],
        targets: vec!["/x".to_string()],
        snapshots: 2,
        dropped: vec![say!("line 7", "строка 7")],
    }
}

fn told() -> ToolOutput {
    let number = ToolNumber { name: "iops".to_string(), unit: "1/s".to_string(), printed: "9.500000".to_string() };
    let op = ToolOp {
        stream: 0,
        job: 0,
        op: Op::Read,
        latency: "clat".to_string(),
        count: 6000,
        sum_ns: 1 << 70,
        min_ns: 3,
        max_ns: u64::MAX,
        occupied_ns: Some(1 << 71),
        mergeable: true,
        percentiles: vec![(990_000, 7)],
        numbers: vec![number],
    };
    ToolOutput { file: 0, line: 1, paced: false, depth_known: true, sizes_known: true, ops: vec![op] }
}

pub fn outcome() -> TrialOutcome {
    let job = JobTotals {
        stream: 0,
        job: 0,
        done: [(6000, 24_576_000), (0, 0), (0, 0), (0, 0), (0, 0)],
        latency: only(latency(1)),
        service: Some(only(latency(2))),
        cpu_ns: Some(1),
        run_delay_ns: None,
        cpu_max_ns: Some(1),
        batch_span_ns: Some(900),
        submissions: Some(Submissions { calls: 90, ios: 100, together: 20, waited_ns: 500_000, late_ns: 700_000 }),
    };
    TrialOutcome {
        status: TrialStatus::Complete,
        load_start: Nanos(1),
        window_start: Nanos(2),
        window_end: Nanos(3),
        engine: EngineFacts { backend: "io_uring".to_string(), ..EngineFacts::default() },
        jobs: vec![job],
        drained: Vec::new(),
        censored: Vec::new(),
        open: vec![OpenTotals {
            stream: 0,
            due: 60_123,
            late: latency(2),
            own_late: latency(3),
            never_begun: Op::ALL.map(|_| latency(4)),
        }],
        errors: Vec::new(),
        probes: Some(probes()),
        verification: Some(verification()),
        io_log: Some(IoLogTotals { recorded: 3, dropped: 1, beyond: 2, failed: 1, placed: 2, places: 1 }),
        tool_output: Some(told()),
        app: Some(AppOutcome {
            versions: vec!["postgres (PostgreSQL) 15.8".into()],
            groups: Some(1),
            set_up: Nanos::SECOND,
            instances: vec![Instance {
                windows: vec![AppWindow {
                    rate_thousandths: 20_000,
                    latency: Some(Nanos::millis(38)),
                    errors: 1,
                    printed: "[ 30s ] tps: 20.00".into(),
                }],
                failed: "killed".into(),
                throttled_periods: Some(7),
                cpu_ns: None,
                memory_hits: Some(3),
            }],
        }),
        clocks: [(1, 2, 3), (4, 5, u64::MAX)],
    }
}

pub fn target() -> TargetFacts {
    TargetFacts {
        named: "/x".to_string(),
        path: "/x".to_string(),
        kind: TargetKind::Directory,
        identity: None,
        size: Bytes(1),
        free: Bytes(1),
        logical_block: Bytes(512),
        physical_block: Bytes(4096),
        file_system: Some("ext4".to_string()),
        mount_options: None,
        journal: None,
        devices: Vec::new(),
        signatures: Vec::new(),
        access: WriteAccess::OwnDirectory,
        contents: None,
        busy: None,
    }
}

pub fn sample(at: u64) -> Sample {
    let cpus = (0..2).map(|cpu| CpuTimes { cpu, user_ns: at, ..CpuTimes::default() }).collect();
    Sample { at: Nanos(at), cpus: Some(cpus), parts: Some(Box::new(parts())), ..Sample::default() }
}

/// One of each part.
fn parts() -> Parts {
    let array = ArrayState {
        name: "md0".into(),
        level: "raid5".into(),
        state: "clean".into(),
        disks: 4,
        degraded: Some(1),
        action: Some("recover".into()),
        progress: Some((1, 2)),
    };
    let health = Some("ONLINE".into());
    let link = Link { speed_mt_per_s: 8000, width: 4 };
    let (device, address) = ("nvme0n1".to_string(), "0000:01:00.0".to_string());
    let temperature = Temperature { device: device.clone(), milli_celsius: -1, warning: Some(2), critical: None };
    Parts {
        arrays: vec![array],
        pools: vec![PoolState { kind: "zfs".into(), name: "tank".into(), operation: None, health }],
        paths: vec![PathState { device: device.clone(), path: "nvme1".into(), state: None }],
        links: vec![LinkState { device, address, now: link, best: link, corrected: Some(1) }],
        frequencies_khz: vec![2_000_000],
        throttled: Some(0),
        temperatures: vec![temperature],
        line_rates: vec![LineRate { name: "eth0".into(), mbit_per_s: 25_000 }],
        arc: Some(ArcCounters { demand_hits: 1, demand_misses: 2, size_bytes: 3, size_max_bytes: 4 }),
    }
}

/// A part of a log with so many reads, the last of which failed.
pub fn chunk(count: u64) -> IoChunk {
    let io = |i: u64| {
        let (end, offset, failed) = (i * 1000, i * 4096, i + 1 == count);
        Logged { end, latency: Nanos(100_000 + i), op: Op::Read, failed, offset, size: 0 }.pack()
    };
    let records = Records::of(&(0..count).map(io).collect::<Vec<_>>());
    IoChunk { stream: 0, job: 0, base: Nanos(1_000_000), records }
}

pub fn event(at: u64) -> Entry {
    Entry::Event(Event::new(Nanos(at), EventKind::Note { text: "a note".to_string() }))
}

pub fn trial_start(trial: u32) -> Entry {
    Entry::TrialStart { trial, case: 3, block: 1, round: false, asked: Box::new(self::trial()), at: Nanos(99) }
}

/// A drive as it was read.
fn calibration() -> Calibration {
    Calibration {
        subject: Subject::Drives(vec!["sda".to_string()]),
        asked: trial(),
        found: Ok(Box::new(outcome())),
        zeros: Some(ZeroSample { sampled: 1000, zero: 2, ..ZeroSample::default() }),
    }
}

/// One of two hosts: the first is measured, the other has the drives.
fn host(host: HostId, hostname: &str) -> Entry {
    let facts = Some(HostFacts { hostname: hostname.to_string(), ..HostFacts::default() });
    let info = match host {
        HostId::LOAD => HostInfo { facts, targets: vec![target()], ..HostInfo::default() },
        _ => HostInfo {
            name: "array1".to_string(),
            role: Role::Storage,
            facts,
            targets: vec![target()],
            clock_uncertainty_ns: Some(70_000),
            ..HostInfo::default()
        },
    };
    Entry::Host { host, info: Box::new(info) }
}

/// A reading there.
pub fn read(host: HostId, at: u64) -> Entry {
    Entry::Sample { host, sample: Box::new(sample(at)) }
}

fn fill() -> FillOutcome {
    let (written, elapsed, block_size) = (Bytes::gib(1), Nanos::secs(4), Bytes::mib(1));
    FillOutcome { written, elapsed, passes: 1, block_size, ..FillOutcome::default() }
}

fn zeros() -> ZeroSample {
    let contents = Contents { compressed: Bytes(4_091_904), repeated: 2 };
    ZeroSample { sampled: 1000, zero: 1, contents: Some(contents) }
}

/// Another host that loads, before the trial, and what it did.
fn other_load() -> [Vec<Entry>; 2] {
    let host = HostId(2);
    let facts = Some(HostFacts { hostname: "b".to_string(), ..HostFacts::default() });
    let info = HostInfo { name: "b".to_string(), facts, targets: vec![target()], ..HostInfo::default() };
    let before = vec![
        Entry::Host { host, info: Box::new(info) },
        Entry::Fill { host, outcome: FillOutcome { written: Bytes::mib(7), ..fill() } },
        Entry::Zeros { host, zeros: ZeroSample { zero: 3, ..zeros() } },
    ];
    let did = vec![
        Entry::Slices { host, trial: 0, slices: vec![slice(0, Some(latency(5)))] },
        Entry::IoLog { host, trial: 0, chunk: chunk(4) },
        Entry::TrialEnd { host, trial: 0, outcome: Box::new(outcome()) },
    ];
    [before, did]
}

/// One entry of each kind but the header and the end, in an order that happens.
pub fn one_of_each() -> Vec<Entry> {
    let [other, did] = other_load();
    let mut entries = vec![
        Entry::Event(Event::new(Nanos(1), EventKind::Phase(Phase::Preflight))),
        Entry::Plan(Box::new(plan())),
        host(HostId::LOAD, "h"),
        host(HostId::STORAGE, "s"),
    ];
    entries.extend(other);
    entries.extend([
        Entry::Event(Event::new(Nanos(2), EventKind::Calibrated(Box::new(calibration())))),
        Entry::Fill { host: HostId::LOAD, outcome: fill() },
        Entry::Zeros { host: HostId::LOAD, zeros: zeros() },
        Entry::Decision { seq: 0, decision: Decision::Trial { case: 3, block: 1, seed: u64::MAX } },
        trial_start(0),
        Entry::slices(0, vec![slice(0, None), slice(1, Some(latency(3)))]),
        Entry::io_log(0, chunk(3)),
        read(HostId::LOAD, 5),
        read(HostId::STORAGE, 6),
        Entry::trial_end(0, outcome()),
        event(7),
    ]);
    entries.extend(did);
    entries
}

/// What a reader must give back after these entries.
pub fn record_of(entries: impl IntoIterator<Item = Entry>) -> RunRecord {
    let mut record = RunRecord::new(header());
    entries.into_iter().for_each(|entry| record.apply(entry));
    record
}
