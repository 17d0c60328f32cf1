//! Builder of small run records for tests: a default that passes every check, and the means to spoil it.

mod cases;
mod imported;
mod load_hosts;
mod sources;
mod two_hosts;

pub use self::imported::{by_fio, imported};
pub use cases::{case, open_case, traced_case};
pub use load_hosts::{loads_mut, several};
pub use sources::source;
pub use two_hosts::{mirrored, over_storage, over_two_storages, unwatched, watching};

use stend_base::histogram::{Histogram, Sparse};
use stend_base::{Bytes, Nanos};
use stend_plan::{Plan, PlanInputs, PlanTarget, Room};
use stend_record::observed::{BufferPages, FillOutcome, JobFacts, OpenSlice, OpenTotals};
use stend_record::sample::{CpuTimes, DiskCounters, Paging, ProcessCost};
use stend_record::{
    ArmFacts, Contents, Device, EngineFacts, Event, EventKind, HostFacts, JobTotals, Parts, RunHeader, RunRecord,
    RunState, Sample, Slice, TargetFacts, TargetKind, TrialOutcome, TrialRecord, TrialStatus, WriteAccess, ZeroSample,
};
use stend_spec::arm::{Arm, Switch};
use stend_spec::suite::{Fill, Suite, SuiteCase};
use stend_spec::workload::{OPS, Op, Sync, Trial};

/// A slice of stream 0 with 4 KiB I/Os and no histogram.
pub fn slice(interval: u32, op: Op, ops: u64) -> Slice {
    Slice {
        interval,
        span: 1,
        stream: 0,
        op,
        ops,
        bytes: ops * 4096,
        errors: 0,
        latency_max_ns: 0,
        latency: None,
        open: None,
    }
}

/// A histogram of `count` values spread evenly over ± 50 % around `centre`, whose sum is exactly
/// `count × centre`.
fn spread(count: u64, centre: Nanos) -> Sparse {
    let mut histogram = Histogram::new();
    const STEPS: u64 = 101;
    for step in 0..STEPS {
        let share = count / STEPS + u64::from(step < count % STEPS);
        let value = Nanos(centre.0 / 2 + centre.0 * step / (STEPS - 1));
        if share > 0 {
            histogram.merge_sparse(&Sparse {
                buckets: vec![(stend_base::histogram::bucket(value.0) as u32, share)].into(),
                sum_ns: u128::from(share) * u128::from(centre.0),
                min_ns: value.0,
                max_ns: value.0,
            });
        }
    }
    histogram.sparse()
}

/// An open loop that kept its times: every I/O that was due began within a microsecond.
fn on_time(due: u64) -> OpenTotals {
    OpenTotals {
        stream: 0,
        due,
        late: spread(1_000, Nanos(2_000)),
        own_late: spread(1_000, Nanos(1_000)),
        never_begun: Op::ALL.map(|_| Sparse::default()),
    }
}

/// A run of one random-read case at depth 32 on a directory, complete and without trials.
pub fn run() -> RunBuilder {
    run_of(vec![case("rand-read", 100, 32, Sync::None)])
}

/// A run of these cases, as [`run`].
pub fn run_of(cases: Vec<SuiteCase>) -> RunBuilder {
    let suite = Suite { name: "small".into(), fill: Some(Fill::Auto), cases, blocks: 6, ..Suite::default() };
    let inputs = PlanInputs {
        traces: suite.traces().into_iter().map(cases::traced).collect(),
        suite,
        seed: 7,
        target: PlanTarget::directory(Room { total: Bytes::gib(100), free: Bytes::gib(50) }),
        time_budget: None,
    };
    let fill = Plan::new(&inputs).expect("the fixture's plan").fill.unwrap_or_default();
    let mut record = RunRecord::new(RunHeader {
        started_unix: 1_767_323_045,
        stend_version: "0.1.0".into(),
        command_line: ["stend", "run", "small", "--on", "/srv"].map(String::from).to_vec(),
        named: vec!["/srv".to_string()],
        ..RunHeader::new("R-20260102T030405Z-abcd", inputs)
    });
    record.state = RunState::Complete;
    record.load_mut().facts = Some(HostFacts {
        hostname: "lab".into(),
        cpus: 8,
        memory: Bytes::gib(64),
        clock_source: Some("tsc".into()),
        governor: Some("performance".into()),
        ..HostFacts::default()
    });
    record.load_mut().targets = vec![target()];
    record.load_mut().fill = Some(FillOutcome {
        written: fill,
        elapsed: Nanos::secs(4),
        passes: 1,
        block_size: Bytes::mib(1),
        ..FillOutcome::default()
    });
    let whole = Contents { compressed: Bytes(1000 * 4096), repeated: 0 };
    record.load_mut().zeros = Some(ZeroSample { sampled: 1000, zero: 0, contents: Some(whole) });
    record.load_mut().samples.push(sample(Nanos::secs(99)));
    RunBuilder { now: Nanos::secs(100), record }
}

fn target() -> TargetFacts {
    TargetFacts {
        size: Bytes::gib(100),
        free: Bytes::gib(50),
        physical_block: Bytes(4096),
        file_system: Some("ext4".into()),
        devices: vec![
            Device { start: Some(Bytes::mib(1)), ..device("sda1", "partition") },
            Device { depth: 1, ..device("sda", "disk") },
        ],
        ..TargetFacts::new("/srv", TargetKind::Directory, WriteAccess::OwnDirectory)
    }
}

/// A device that forgets nothing.
fn device(name: &str, kind: &str) -> Device {
    let write_cache = Some("write through".into());
    Device { name: name.into(), kind: kind.into(), write_cache, ..Device::default() }
}

/// A first sample: CPU counters are zero, the drives have already moved some data since boot.
fn sample(at: Nanos) -> Sample {
    let disk = |name: &str| DiskCounters {
        name: name.into(),
        read_bytes: 7 << 40,
        write_bytes: 7 << 40,
        ..DiskCounters::default()
    };
    Sample {
        at,
        cpus: Some((0..8).map(|cpu| CpuTimes { cpu, ..CpuTimes::default() }).collect()),
        disks: vec![disk("sda1"), disk("sda")],
        paging: Some(Paging { swap_in_bytes: Some(0), swap_out_bytes: Some(0), ..Paging::default() }),
        parts: Some(Box::new(Parts { throttled: Some(0), ..Parts::default() })),
        worker: Some(ProcessCost { cpu_ns: 0, resident_bytes: 64 << 20 }),
        coordinator: Some(ProcessCost { cpu_ns: 0, resident_bytes: 16 << 20 }),
        cost_ns: 200_000,
        ..Sample::default()
    }
}

/// Builds a run trial by trial; a second passes between trials.
#[derive(Clone)]
pub struct RunBuilder {
    record: RunRecord,
    now: Nanos,
}

impl RunBuilder {
    /// Begins a trial of `case`, by default at 10 000 IOPS over a window of 2 s with nothing wrong.
    pub fn trial(self, case: u32) -> TrialBuilder {
        let plan = Plan::new(&self.record.header.inputs).expect("the fixture's plan");
        let asked = plan.trial(case, self.record.trials.len() as u64);
        TrialBuilder {
            run: self,
            case,
            block: 0,
            asked,
            iops: 10_000.0,
            status: TrialStatus::Complete,
            at_drives: 1.0,
            shape: |_| 1.0,
            changes: Vec::new(),
        }
    }

    /// Changes what the plan follows from, before the first trial.
    pub fn inputs(mut self, change: impl FnOnce(&mut PlanInputs)) -> RunBuilder {
        change(&mut self.record.header.inputs);
        self
    }

    /// The same cases in arms, each entered once, in which the kernel is as named.
    pub fn arms(mut self, arms: &[(&str, Switch, &str)]) -> RunBuilder {
        for (index, (name, switch, kernel)) in arms.iter().enumerate() {
            let arm = Arm { name: name.to_string(), switch: switch.clone(), expect: Vec::new() };
            self.record.header.inputs.suite.arms.push(arm);
            self = self.entered(index as u32, kernel);
        }
        self
    }

    /// An arm is entered, and the kernel is this one.
    pub fn entered(mut self, arm: u32, kernel: &str) -> RunBuilder {
        let host = HostFacts { kernel: kernel.into(), ..self.record.load().facts.clone().expect("a host") };
        let facts = Box::new(ArmFacts { host, targets: vec![target()], observed: Vec::new() });
        self.record.events.push(Event::new(self.now, EventKind::Arm { arm, facts }));
        self
    }

    /// Six trials of every case, ± 1 % around the rates given per case.
    pub fn six_blocks(mut self, iops: &[f64]) -> RunBuilder {
        for block in 0..6 {
            for (case, &rate) in iops.iter().enumerate() {
                let factor = 1.0 + 0.002 * (f64::from(block) - 2.5) * 2.0;
                self = self.trial(case as u32).block(block).iops(rate * factor).done();
            }
        }
        self
    }

    /// The record so far.
    pub fn record(self) -> RunRecord {
        self.record
    }
}

type Change = Box<dyn FnOnce(&mut TrialOutcome, &mut Vec<Slice>)>;

/// Builds one trial.
pub struct TrialBuilder {
    run: RunBuilder,
    case: u32,
    block: u32,
    asked: Trial,
    iops: f64,
    status: TrialStatus,
    at_drives: f64,
    shape: fn(u32) -> f64,
    changes: Vec<Change>,
}

impl TrialBuilder {
    /// Its block; the first one otherwise.
    pub fn block(mut self, block: u32) -> Self {
        self.block = block;
        self
    }

    /// Mean rate over the window.
    pub fn iops(mut self, iops: f64) -> Self {
        self.iops = iops;
        self
    }

    /// Length of the window.
    pub fn window(mut self, window: Nanos) -> Self {
        self.asked.window = window;
        self
    }

    /// How it ends.
    pub fn status(mut self, status: TrialStatus) -> Self {
        self.status = status;
        self
    }

    /// Bytes at the drives per byte of the application.
    pub fn at_drives(mut self, share: f64) -> Self {
        self.at_drives = share;
        self
    }

    /// Factor on the rate by interval of the window.
    pub fn shape(mut self, shape: fn(u32) -> f64) -> Self {
        self.shape = shape;
        self
    }

    /// A last change of what was recorded.
    pub fn change(mut self, change: impl FnOnce(&mut TrialOutcome, &mut Vec<Slice>) + 'static) -> Self {
        self.changes.push(Box::new(change));
        self
    }

    /// Ends the trial.
    pub fn done(self) -> RunBuilder {
        self.end(true)
    }

    /// Ends the run within the trial: there is no outcome.
    pub fn unfinished(self) -> RunBuilder {
        self.end(false)
    }

    /// Slices of ramp and window, and what completed in the window, by operation.
    fn load(&self, latency: Nanos) -> (Vec<Slice>, [(u64, u64); OPS]) {
        let (ramp, window) = (self.asked.ramp.0 / 100_000_000, self.asked.window.0 / 100_000_000);
        let stream = &self.asked.streams[0];
        let ops_of = |interval: u64| {
            let factor = (self.shape)(interval.saturating_sub(ramp) as u32);
            let all = (self.iops / 10.0 * factor) as u64;
            let of = |op| all * u64::from(stream.mix.share(op)) / 100;
            let (erased, syncs) =
                ([Op::Discard, Op::WriteZeroes].map(of), matches!(stream.sync, Sync::Fdatasync(1) | Sync::Fsync(1)));
            let writes = all - of(Op::Read) - erased[0] - erased[1];
            [
                of(Op::Read),
                if stream.mix.write > 0 { writes } else { 0 },
                erased[0],
                erased[1],
                if syncs { writes } else { 0 },
            ]
        };
        let (mut slices, mut done) = (Vec::new(), [(0u64, 0u64); OPS]);
        for interval in 0..ramp + window {
            for (op, ops) in Op::ALL.into_iter().zip(ops_of(interval)).filter(|(_, ops)| *ops > 0) {
                let bytes = if op == Op::Sync { 0 } else { ops * stream.block_size.0 };
                let full_second = (interval + 1) % 10 == 0;
                slices.push(Slice {
                    interval: interval as u32,
                    op,
                    bytes,
                    latency_max_ns: latency.0 * 3 / 2,
                    latency: full_second.then(|| spread(ops * 10, latency)),
                    open: stream.is_open().then(|| {
                        Box::new(OpenSlice {
                            due: ops,
                            begun: ops,
                            service: full_second.then(|| spread(ops * 10, Nanos(latency.0 / 2))),
                            ..OpenSlice::default()
                        })
                    }),
                    ..slice(0, op, ops)
                });
                if interval >= ramp {
                    let sum = &mut done[op.index()];
                    *sum = (sum.0 + ops, sum.1 + bytes);
                }
            }
        }
        (slices, done)
    }

    fn end(mut self, finished: bool) -> RunBuilder {
        let load_start = self.run.now;
        let window_start = load_start + self.asked.ramp;
        let window_end = window_start + self.asked.window;
        // In a closed loop the latency follows from the rate: N = X · R.
        let latency = Nanos((self.asked.in_flight() as f64 / self.iops * 1e9) as u64);
        let (mut slices, done) = self.load(latency);
        let open = self.asked.streams[0].is_open();
        let mut outcome = TrialOutcome {
            status: self.status,
            engine: self.engine(),
            jobs: vec![JobTotals {
                stream: 0,
                job: 0,
                done,
                latency: done.map(|(ops, _)| spread(ops, latency)),
                service: open.then(|| done.map(|(ops, _)| spread(ops, Nanos(latency.0 / 2)))),
                cpu_ns: Some(self.asked.window.0 / 10),
                run_delay_ns: Some(self.asked.window.0 / 1000),
                cpu_max_ns: Some(self.asked.window.0 / 10),
                ..JobTotals::default()
            }],
            open: if open { vec![on_time(done.iter().map(|(ops, _)| ops).sum())] } else { Vec::new() },
            clocks: [load_start, window_end].map(|t| (t.0, t.0, t.0 + 1_767_000_000_000_000_000)),
            ..TrialOutcome::empty(load_start, (window_start, window_end))
        };
        self.telemetry(&slices, load_start, window_end);
        for change in self.changes {
            change(&mut outcome, &mut slices);
        }
        let trials = &mut self.run.record.trials;
        let begun = TrialRecord::new(trials.len() as u32, (self.case, self.block), self.asked, load_start);
        trials.push(TrialRecord { slices, outcome: finished.then_some(outcome), ..begun });
        self.run.now = window_end + Nanos::secs(1);
        self.run
    }

    /// What the engine reports when it does what it is asked.
    fn engine(&self) -> EngineFacts {
        let stream = &self.asked.streams[0];
        EngineFacts {
            backend: "io_uring".into(),
            registered: true,
            direct: self.asked.direct,
            buffers: Some(BufferPages { size: Bytes::mib(4), huge: Bytes(0) }),
            clock_read_ns: 25,
            jobs: vec![JobFacts {
                stream: 0,
                job: 0,
                in_flight: stream.queue_depth,
                block_size: stream.block_size,
                area: self.asked.region,
                dsync: stream.sync == Sync::ODsync,
                memory_node: Some(stream.place.memory.unwrap_or(0)),
            }],
            ..EngineFacts::default()
        }
    }

    /// Samples every half second of load, with what the trial moves at the drive.
    fn telemetry(&mut self, slices: &[Slice], from: Nanos, to: Nanos) {
        let mut last = self.run.record.load().samples.last().cloned().unwrap_or_default();
        let intervals = ((to.0 - from.0) / 100_000_000) as u32;
        last.at = from;
        self.run.record.load_mut().samples.push(last.clone());
        for interval in 0..intervals {
            for slice in slices.iter().filter(|s| s.interval == interval) {
                let bytes = (slice.bytes as f64 * self.at_drives) as u64;
                let ops = (slice.ops as f64 * self.at_drives) as u64;
                for disk in &mut last.disks {
                    let (counted, moved) = match slice.op {
                        Op::Read => (&mut disk.reads, &mut disk.read_bytes),
                        Op::Write => (&mut disk.writes, &mut disk.write_bytes),
                        Op::Discard | Op::WriteZeroes | Op::Sync => continue,
                    };
                    (*counted, *moved) = (*counted + ops, *moved + bytes);
                }
                if let Some(paging) = last.paging.as_mut().filter(|_| Op::TRANSFERS.contains(&slice.op)) {
                    let moved = if slice.op == Op::Read { &mut paging.read_bytes } else { &mut paging.write_bytes };
                    *moved += bytes;
                }
            }
            last.disks.iter_mut().for_each(|disk| disk.weighted_ns += self.asked.in_flight() * 100_000_000);
            for cpu in last.cpus.iter_mut().flatten() {
                cpu.user_ns += 25_000_000;
                cpu.idle_ns += 75_000_000;
            }
            for (process, share) in [(&mut last.worker, 10), (&mut last.coordinator, 1)] {
                if let Some(cost) = process {
                    cost.cpu_ns += share * 1_000_000;
                }
            }
            last.at = last.at + Nanos::millis(100);
            if interval % 5 == 4 {
                self.run.record.load_mut().samples.push(last.clone());
            }
        }
    }
}
