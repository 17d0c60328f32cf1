//! A recording of a month, made up: a host of eight CPUs and six drives in an array, read every second and kept as `stend record` keeps it.
//! Drives do more by day than by night; in some nights one of them is missing, or hot by turns. Numbers mean nothing otherwise.

use crate::Outcome;
use std::path::Path;
use stend_base::random::draw;
use stend_base::{Bytes, Lang, Nanos};
use stend_plan::{PlanInputs, PlanTarget};
use stend_record::parts::{ArrayState, Parts, Temperature};
use stend_record::sample::{
    CpuTimes, DiskCounters, Interrupts, Memory, NetworkCounters, Paging, Pressure, TcpCounters, Traffic,
};
use stend_record::store::{Options, create};
use stend_record::{
    Device, Entry, HostFacts, HostId, HostInfo, Recording, Retention, RunHeader, RunState, Sample, TargetFacts,
    TargetKind, WriteAccess,
};
use stend_spec::suite::Suite;

/// Seconds of it.
const SECONDS: u64 = 30 * DAY;
const DAY: u64 = 86_400;
/// CPUs and drives of the host.
pub const CPUS: u32 = 8;
/// See [`CPUS`].
pub const DRIVES: u32 = 6;
/// Temperatures and arrays are read so often, seconds.
const PARTS_EVERY: u64 = 30;
/// The writer folds its log and makes old samples fewer so often, seconds of the recording.
const EDGE_EVERY: u64 = 100;
/// The writer is waited for so often, seconds of the recording: what it has not taken yet is in memory.
const SETTLE_EVERY: u64 = 10_000;
const SECOND: u64 = 1_000_000_000;

/// Writes it; it began at `started_unix`.
pub fn write(path: &Path, started_unix: i64) -> Outcome<()> {
    let told = |error: Box<stend_base::Error>| error.render(Lang::En);
    let writer = create(path, header(started_unix), Options::default()).map_err(told)?;
    writer.append(Entry::Host { host: HostId::LOAD, info: Box::new(host()) });
    let mut host = Counters::default();
    for second in 0..SECONDS {
        let sample = Box::new(host.next(second));
        writer.append(Entry::Sample { host: HostId::LOAD, sample });
        if second % EDGE_EVERY == 0 {
            writer.edge();
        }
        if second % SETTLE_EVERY == 0 && !writer.settle(std::time::Duration::from_secs(60)) {
            return Err("the writer of the recording does not keep up".into());
        }
    }
    writer.close(RunState::Complete).map(drop).map_err(told)
}

fn header(started_unix: i64) -> RunHeader {
    let suite = Suite { name: "recording".into(), ..Suite::default() };
    let target = PlanTarget::device(Bytes::gib(3840));
    let inputs = PlanInputs { suite, seed: 0, target, time_budget: None, traces: Vec::new() };
    let recording = Recording { every: Nanos::SECOND, retention: Retention::usual(Nanos::SECOND) };
    RunHeader {
        started_unix,
        stend_version: env!("CARGO_PKG_VERSION").into(),
        command_line: vec!["stend".into(), "record".into()],
        realtime_offset_ns: started_unix.saturating_mul(SECOND as i64),
        recording: Some(recording),
        ..RunHeader::new(&format!("R-bench-month-{started_unix}"), inputs)
    }
}

fn host() -> HostInfo {
    let drive = |n| Device { name: name(n), kind: "disk".into(), size: Bytes::gib(960), ..Device::default() };
    let md = Device { name: "md0".into(), kind: "raid6".into(), size: Bytes::gib(3840), ..Device::default() };
    let target = TargetFacts {
        size: Bytes::gib(3840),
        free: Bytes::gib(3840),
        physical_block: Bytes(4096),
        devices: std::iter::once(md).chain((0..DRIVES).map(drive)).collect(),
        ..TargetFacts::new("/dev/md0", TargetKind::BlockDevice, WriteAccess::Refused(Vec::new()))
    };
    let facts = HostFacts { hostname: "bench".into(), cpus: CPUS, memory: Bytes::gib(64), ..HostFacts::default() };
    HostInfo { facts: Some(facts), targets: vec![target], ..HostInfo::default() }
}

fn name(drive: u32) -> String {
    format!("nvme{drive}n1")
}

/// What the kernel has counted.
#[derive(Default)]
struct Counters {
    ops: [u64; DRIVES as usize],
    moved: u64,
    user_ns: u64,
}

impl Counters {
    fn next(&mut self, second: u64) -> Sample {
        // By night a tenth of what it is by day.
        let hour = second % DAY / 3600;
        let share = if (8..20).contains(&hour) { 100 } else { 10 };
        for (drive, ops) in self.ops.iter_mut().enumerate() {
            *ops += 40 * share + draw(drive as u64, second) % (10 * share);
        }
        self.moved += share << 20;
        self.user_ns += SECOND * share / 400;
        let ns = second * SECOND;
        let cpu = |cpu| CpuTimes {
            cpu,
            user_ns: self.user_ns,
            system_ns: ns / 20,
            idle_ns: ns / 2,
            iowait_ns: ns / 50,
            softirq_ns: ns / 100,
            ..CpuTimes::default()
        };
        let traffic = Traffic { bytes: self.moved, packets: self.moved / 1400, ..Traffic::default() };
        let nic = |n: u32| NetworkCounters { name: format!("eth{n}"), received: traffic, sent: traffic };
        Sample {
            at: Nanos(ns + SECOND),
            cpus: Some((0..CPUS).map(cpu).collect()),
            memory: Some(Memory { total_bytes: 64 << 30, available_bytes: 40 << 30, ..Memory::default() }),
            pressure: Some(Pressure { io_some_ns: Some(ns / 30), cpu_some_ns: Some(ns / 60), ..Pressure::default() }),
            disks: (0..DRIVES).map(|n| self.disk(n, ns)).collect(),
            interrupts: Some(Interrupts::default()),
            networks: Some((0..2).map(nic).collect()),
            tcp: Some(TcpCounters { sent: self.moved / 1400, sent_again: second / 60 }),
            paging: Some(Paging { read_bytes: self.moved, write_bytes: self.moved, ..Paging::default() }),
            parts: second.is_multiple_of(PARTS_EVERY).then(|| Box::new(parts(second))),
            cost_ns: 400_000,
            ..Sample::default()
        }
    }

    fn disk(&self, drive: u32, ns: u64) -> DiskCounters {
        let ops = self.ops[drive as usize];
        DiskCounters {
            name: name(drive),
            reads: ops,
            read_bytes: ops << 13,
            read_ns: ops * 90_000,
            writes: ops / 2,
            write_bytes: ops << 12,
            write_ns: ops * 20_000,
            in_flight: ops % 7,
            busy_ns: ns / 3,
            weighted_ns: ops * 110_000,
            flushes: Some(ops / 100),
            flush_ns: Some(ops * 1_000),
        }
    }
}

/// In every fifth night a member is missing for an hour, in every seventh a drive is hot and cool by turns.
fn parts(second: u64) -> Parts {
    let (day, minute) = (second / DAY, second % DAY / 60);
    let missing = day % 5 == 4 && (120..180).contains(&minute);
    let hot = day % 7 == 6 && minute < 240 && minute % 2 == 0;
    let array = ArrayState {
        name: "md0".into(),
        level: "raid6".into(),
        state: "active".into(),
        disks: DRIVES,
        degraded: Some(u32::from(missing)),
        action: Some("idle".into()),
        progress: None,
    };
    let of = |drive: u32| Temperature {
        device: name(drive),
        milli_celsius: if hot && drive == 0 { 84_000 } else { 41_000 },
        warning: Some(75_000),
        critical: Some(82_000),
    };
    Parts { arrays: vec![array], temperatures: (0..DRIVES).map(of).collect(), ..Parts::default() }
}
