//! Run files whose contents are known to the last digit, written by the same writer as real ones.

use std::path::Path;
use stend_base::histogram::Histogram;
use stend_base::{Bytes, Nanos};
use stend_plan::{Plan, PlanInputs, PlanTarget, Room};
use stend_record::store::{self, Options};
use stend_record::{
    EngineFacts, Entry, HostFacts, HostId, HostInfo, JobTotals, RunHeader, RunState, Slice, TargetFacts, TargetKind,
    TrialOutcome, WriteAccess,
};
use stend_spec::workload::{Op, Trial};

/// Rates of the cases relative to that of the run: no two cases of a real run are alike.
const RATES: [f64; 2] = [1.0, 0.7];

/// What a test wants to be different.
pub struct FixedRun<'a> {
    /// Id of the run.
    pub id: &'a str,
    /// Wall clock at the start.
    pub started_unix: i64,
    /// Seed.
    pub seed: u64,
    /// Kernel of the host.
    pub kernel: &'a str,
    /// Rate of the first case in the first block.
    pub iops: f64,
}

impl FixedRun<'_> {
    /// Writes the run of [`SMALL`](super::SMALL) to a new file: two blocks of two cases.
    pub fn write(&self, path: &Path) {
        let inputs = self.inputs();
        let plan = Plan::new(&inputs).expect("a plan");
        let header = RunHeader {
            id: self.id.to_string(),
            started_unix: self.started_unix,
            stend_version: "0.1.0".into(),
            command_line: ["stend", "run", "small.yaml", "--on", "/srv"].map(String::from).to_vec(),
            named: vec!["/srv".to_string()],
            inputs,
            suite_text: super::SMALL.into(),
            realtime_offset_ns: 0,
            imported: None,
            stand: None,
            label: None,
            gate: None,
            recording: None,
            boot_id: String::new(),
        };
        let writer = store::create(path, header, Options::default()).expect("a new run file");
        let facts = HostFacts {
            hostname: "lab".into(),
            kernel: self.kernel.into(),
            cpus: 4,
            memory: Bytes::gib(8),
            ..HostFacts::default()
        };
        let info = Box::new(HostInfo { facts: Some(facts), targets: vec![target()], ..HostInfo::default() });
        writer.append(Entry::Host { host: HostId::LOAD, info });
        for (trial, (block, case)) in [(0, 0), (0, 1), (1, 1), (1, 0)].into_iter().enumerate() {
            let asked = plan.trial(case, trial as u64);
            let at = Nanos::secs(100 + 2 * trial as u64);
            // The second block is 1 % faster: the trials of a case must differ to have an interval.
            let (outcome, slices) =
                load(&asked, at, self.iops * RATES[case as usize] * (1.0 + 0.01 * f64::from(block)));
            let (trial, asked) = (trial as u32, Box::new(asked));
            writer.append(Entry::TrialStart { trial, case, block, round: false, asked, at });
            writer.append(Entry::slices(trial, slices));
            writer.append(Entry::trial_end(trial, outcome));
        }
        writer.close(RunState::Complete).expect("closed");
    }

    fn inputs(&self) -> PlanInputs {
        PlanInputs {
            suite: stend_spec::parse::suite(super::SMALL, "small.yaml").expect("a suite"),
            seed: self.seed,
            target: PlanTarget::directory(Room { total: Bytes::gib(100), free: Bytes::gib(50) }),
            time_budget: None,
            traces: Vec::new(),
        }
    }
}

fn target() -> TargetFacts {
    TargetFacts {
        size: Bytes::gib(100),
        free: Bytes::gib(50),
        physical_block: Bytes(4096),
        file_system: Some("ext4".into()),
        mount_options: Some("rw,relatime".into()),
        ..TargetFacts::new("/srv", TargetKind::Directory, WriteAccess::OwnDirectory)
    }
}

/// A trial at a steady rate: its outcome, and its intervals.
fn load(asked: &Trial, load_start: Nanos, iops: f64) -> (TrialOutcome, Vec<Slice>) {
    let window_start = load_start + asked.ramp;
    let op = if asked.writes() { Op::Write } else { Op::Read };
    let ops = (iops * asked.window.as_secs()) as u64;
    let mut histogram = Histogram::new();
    // In a closed loop the latency follows from the rate: N = X · R.
    let mean = (asked.in_flight() as f64 / iops * 1e9) as u64;
    (0..ops).for_each(|i| histogram.record(Nanos(mean / 2 + mean * (i % 101) / 100)));
    let mut job = JobTotals::default();
    job.done[op.index()] = (ops, ops * 4096);
    job.latency[op.index()] = histogram.sparse();
    let intervals = ((asked.ramp.0 + asked.window.0) / 100_000_000) as u32;
    let in_each = (iops / 10.0) as u64;
    let slice = |interval: u32| Slice {
        interval,
        span: 1,
        stream: 0,
        op,
        ops: in_each,
        bytes: in_each * 4096,
        errors: 0,
        latency_max_ns: mean * 3 / 2,
        latency: (interval + 1 == intervals).then(|| histogram.sparse()),
        open: None,
    };
    let outcome = TrialOutcome {
        engine: EngineFacts { backend: "io_uring".into(), registered: true, ..EngineFacts::default() },
        jobs: vec![job],
        ..TrialOutcome::empty(load_start, (window_start, window_start + asked.window))
    };
    (outcome, (0..intervals).map(slice).collect())
}

/// Two such runs in the data directory of a scratch: the second on another kernel, with another seed, 10 % faster.
pub fn two_runs(scratch: &super::Scratch) {
    let runs = scratch.directory("stend/runs");
    let first =
        FixedRun { id: "R-20261121T213000Z-aaaa", started_unix: 1_795_296_600, seed: 7, kernel: "6.8.0", iops: 5000.0 };
    let second = FixedRun {
        id: "R-20261122T213000Z-bbbb",
        started_unix: 1_795_383_000,
        seed: 8,
        kernel: "6.12.0",
        iops: 5500.0,
    };
    for run in [first, second] {
        run.write(&Path::new(&runs).join(format!("{}.stend", run.id)));
    }
}
