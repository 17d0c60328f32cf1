//! A host of which everything is known, for tests.

use std::collections::BTreeMap;
use stend_analyse::journal::{JournalRule, Problem, ProblemSeverity};
use stend_base::{Bytes, Nanos, Say};
use stend_record::nfs::{Nfs, NfsMount, NfsRequests, NfsServer};
use stend_record::parts::{ArcCounters, ArrayState, Link, LinkState, PathState, PoolState, Temperature};
use stend_record::sample::{CpuTimes, DiskCounters, Memory, NetworkCounters, Paging, Pressure, TcpCounters, Traffic};
use stend_record::{Device, Health, HostFacts, HostInfo, Parts, Sample, TargetFacts, TargetKind, WriteAccess};

const DRIVE: &str = "nvme0n1";

pub fn host() -> HostInfo {
    let device = Device {
        name: DRIVE.into(),
        kind: "disk".into(),
        model: Some("PM9A3".into()),
        firmware: Some("GDC5".into()),
        rotational: Some(false),
        ..Device::default()
    };
    let target = TargetFacts {
        devices: vec![device],
        ..TargetFacts::new(format!("/dev/{DRIVE}"), TargetKind::BlockDevice, WriteAccess::OwnDirectory)
    };
    let facts = HostFacts {
        hostname: "nas".into(),
        kernel: "6.12.0 #1 SMP".into(),
        huge_pages: Bytes::gib(1),
        ..HostFacts::default()
    };
    HostInfo { facts: Some(facts), targets: vec![target], ports: vec!["eth0".into()], ..HostInfo::default() }
}

pub fn health() -> BTreeMap<String, Health> {
    let health = Health {
        // As smartctl tells of a drive that is only too warm.
        passed: Some(false),
        used_percent: Some(7),
        spare_percent: Some(98),
        media_errors: Some(2),
        power_on_hours: Some(812),
        celsius: Some(72),
        critical_warning: Some(2),
        bytes_written: Some(5_000_000_000_000),
        unsafe_shutdowns: Some(11),
        hot_minutes: Some(3),
        throttled_s: Some(42),
    };
    BTreeMap::from([(DRIVE.to_string(), health)])
}

pub fn problems() -> Vec<Problem> {
    let problem = |rule: JournalRule, severity| Problem {
        rule,
        object: DRIVE.into(),
        severity,
        evidence: Say::same("seen"),
        opened: Nanos(1),
        closed: None,
        times: 1,
    };
    vec![
        problem(JournalRule::DriveHot, ProblemSeverity::Warning),
        problem(JournalRule::DriveStuck, ProblemSeverity::Critical),
        Problem { closed: Some(Nanos(2)), ..problem(JournalRule::DriveGone, ProblemSeverity::Critical) },
    ]
}

pub fn sample() -> Sample {
    let ms = |n: u64| n * 1_000_000;
    let disk = DiskCounters {
        name: DRIVE.into(),
        reads: 1000,
        read_bytes: 4_096_000,
        read_ns: ms(100),
        writes: 500,
        write_bytes: 2_048_000,
        write_ns: ms(60),
        in_flight: 2,
        busy_ns: ms(90),
        weighted_ns: ms(160),
        flushes: Some(20),
        flush_ns: Some(ms(30)),
    };
    let traffic = Traffic { bytes: 1_500_000, packets: 1_000, errors: 3, drops: 2 };
    let cpu = |cpu| CpuTimes {
        cpu,
        user_ns: ms(100),
        system_ns: ms(50),
        idle_ns: ms(800),
        iowait_ns: ms(20),
        irq_ns: ms(5),
        softirq_ns: ms(10),
        steal_ns: ms(15),
    };
    Sample {
        at: Nanos::secs(100),
        cpus: Some(vec![cpu(0), cpu(1)]),
        memory: Some(Memory {
            total_bytes: 8 << 30,
            available_bytes: 6 << 30,
            cached_bytes: 1 << 30,
            dirty_bytes: 1 << 20,
            swap_used_bytes: 4096,
        }),
        pressure: Some(Pressure {
            cpu_some_ns: Some(ms(11)),
            memory_some_ns: Some(ms(12)),
            memory_full_ns: Some(ms(13)),
            io_some_ns: Some(ms(14)),
            io_full_ns: Some(ms(15)),
        }),
        disks: vec![disk],
        networks: Some(vec![NetworkCounters { name: "eth0".into(), received: traffic, sent: traffic }]),
        tcp: Some(TcpCounters { sent: 900, sent_again: 4 }),
        nfs: Some(Box::new(nfs())),
        paging: Some(Paging { oom_kills: Some(1), ..Paging::default() }),
        parts: Some(Box::new(parts())),
        cost_ns: 250_000,
        ..Sample::default()
    }
}

fn nfs() -> Nfs {
    let requests = |done| NfsRequests { done, sent: done + 2, timeouts: 1, time_ns: done * 3_000_000 };
    let mount = NfsMount {
        at: "/mnt/vol".into(),
        export: "filer:/vol".into(),
        version: "4.2".into(),
        read_bytes: 4_096_000,
        write_bytes: 2_048_000,
        reads: requests(1000),
        writes: requests(500),
        others: requests(70),
        sent: 1576,
        answered: 1570,
    };
    let server = NfsServer { requests: 4000, bad: 3, read_bytes: 8_192_000, write_bytes: 1_024_000, threads: Some(8) };
    Nfs { mounts: vec![mount], server: Some(server) }
}

fn parts() -> Parts {
    let link = |width| Link { speed_mt_per_s: 8000, width };
    Parts {
        arrays: vec![ArrayState { name: "md0".into(), disks: 4, degraded: Some(1), ..ArrayState::default() }],
        pools: vec![PoolState {
            kind: "zfs".into(),
            name: "tank".into(),
            health: Some("DEGRADED".into()),
            ..PoolState::default()
        }],
        paths: vec![PathState { device: "dm-0".into(), path: "sdb".into(), state: Some("running".into()) }],
        links: vec![LinkState {
            device: DRIVE.into(),
            address: "0000:01:00.0".into(),
            now: link(2),
            best: link(4),
            corrected: Some(7),
        }],
        temperatures: vec![Temperature {
            device: DRIVE.into(),
            milli_celsius: 72_000,
            warning: Some(70_000),
            critical: Some(80_000),
        }],
        arc: Some(ArcCounters { size_bytes: 1 << 30, ..ArcCounters::default() }),
        ..Parts::default()
    }
}
