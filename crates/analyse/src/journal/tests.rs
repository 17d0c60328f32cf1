//! Every rule with what trips it and with what does not, and how problems open, close, come back and stay one.

use super::*;
use stend_base::Bytes;
use stend_plan::{PlanInputs, PlanTarget};
use stend_record::parts::{ArrayState, Link, LinkState, PathState, PoolState, Temperature};
use stend_record::sample::{CpuTimes, DiskCounters, Memory, NetworkCounters, Paging, TcpCounters, Traffic};
use stend_record::{Device, Entry, HostFacts, Role, RunHeader, TargetFacts, TargetKind, WriteAccess};
use stend_spec::suite::Suite;

/// A host with six drives of one model.
pub(super) fn host() -> RunRecord {
    let target = PlanTarget::device(Bytes(0));
    let inputs = PlanInputs { suite: Suite::default(), seed: 0, target, time_budget: None, traces: Vec::new() };
    let mut run = RunRecord::new(RunHeader::new("R-1", inputs));
    let drive = |name: &str| TargetFacts {
        devices: vec![Device { name: name.into(), kind: "disk".into(), model: Some("X1".into()), ..Device::default() }],
        ..TargetFacts::new(name, TargetKind::BlockDevice, WriteAccess::OwnDirectory)
    };
    run.load_mut().targets = DRIVES.iter().map(|name| drive(name)).collect();
    run
}

const DRIVES: [&str; 6] = ["sda", "sdb", "sdc", "sdd", "sde", "sdf"];

/// A healthy host after `s` seconds: 100 reads a second of 1 ms on each drive.
pub(super) fn healthy(s: u64) -> Sample {
    let ms = |n: u64| n * 1_000_000;
    let disk = |name: &&str| DiskCounters {
        name: name.to_string(),
        reads: 100 * s,
        read_ns: ms(100 * s),
        in_flight: 1,
        ..DiskCounters::default()
    };
    let traffic = Traffic { bytes: 10_000_000 * s, packets: 10_000 * s, errors: 0, drops: 0 };
    Sample {
        at: Nanos::secs(10_000 + s),
        cpus: Some(vec![CpuTimes { user_ns: ms(100 * s), idle_ns: ms(900 * s), ..CpuTimes::default() }]),
        memory: Some(Memory { total_bytes: 100 << 30, available_bytes: 50 << 30, ..Memory::default() }),
        disks: DRIVES.iter().map(disk).collect(),
        networks: Some(vec![NetworkCounters { name: "eth0".into(), received: traffic, sent: traffic }]),
        tcp: Some(TcpCounters { sent: 10_000 * s, sent_again: 0 }),
        paging: Some(Paging { read_bytes: 0, write_bytes: 0, oom_kills: Some(2), ..Paging::default() }),
        parts: Some(Box::new(Parts {
            arrays: vec![ArrayState { name: "md0".into(), disks: 6, degraded: Some(0), ..ArrayState::default() }],
            pools: vec![PoolState {
                kind: "zfs".into(),
                name: "tank".into(),
                health: Some("ONLINE".into()),
                ..PoolState::default()
            }],
            paths: vec![PathState { device: "dm-0".into(), path: "sdb".into(), state: Some("running".into()) }],
            links: vec![LinkState {
                device: "nvme0n1".into(),
                address: "0000:01:00.0".into(),
                now: Link { speed_mt_per_s: 8000, width: 4 },
                best: Link { speed_mt_per_s: 16_000, width: 4 },
                corrected: Some(7),
            }],
            temperatures: vec![warm(45_000)],
            ..Parts::default()
        })),
        ..Sample::default()
    }
}

fn warm(milli_celsius: i64) -> Temperature {
    Temperature { device: "nvme0n1".into(), milli_celsius, warning: Some(70_000), critical: Some(80_000) }
}

/// The journal of a host of which each second is the healthy one, changed.
pub(super) fn journal(seconds: u64, change: impl Fn(u64, &mut Sample)) -> Vec<Problem> {
    let mut journal = Journal::new(&host());
    for s in 0..seconds {
        let mut sample = healthy(s);
        change(s, &mut sample);
        journal.add(sample);
    }
    journal.end()
}

pub(super) fn told(problems: &[Problem]) -> Vec<String> {
    let second = |at: Nanos| at.0 / 1_000_000_000 - 10_000;
    let one = |p: &Problem| {
        let closed = p.closed.map_or_else(|| "open".to_string(), |at| second(at).to_string());
        format!(
            "{:?} {} {:?} {}..{} x{}: {}",
            p.rule,
            p.object,
            p.severity,
            second(p.opened),
            closed,
            p.times,
            p.evidence.en
        )
    };
    problems.iter().map(one).collect()
}

pub(super) fn parts(sample: &mut Sample) -> &mut Parts {
    sample.parts.as_mut().unwrap()
}

#[test]
fn a_healthy_host_has_no_problem() {
    assert_eq!(told(&journal(1000, |_, _| {})), [""; 0]);
}

#[test]
fn problems_of_the_hosts_with_the_drives_and_of_observed_ones_have_the_name_of_their_host() {
    let mut run = host();
    for (id, name, role) in [(1, "array1", Role::Storage), (2, "db1", Role::Observe)] {
        let info = HostInfo { name: name.into(), role, facts: Some(HostFacts::default()), ..HostInfo::default() };
        run.apply(Entry::Host { host: HostId(id), info: Box::new(info) });
    }
    for s in 0..60 {
        for id in 0..3 {
            let mut sample = healthy(s);
            // Each for ten seconds, the last host first.
            let bad = 40 - 10 * u64::from(id)..50 - 10 * u64::from(id);
            parts(&mut sample).arrays[0].degraded = Some(u32::from(bad.contains(&s)));
            if id == 2 && s >= 55 {
                sample.disks.retain(|disk| disk.name != "sdb");
            }
            run.apply(Entry::Sample { host: HostId(id), sample: Box::new(sample) });
        }
    }
    let went = EventKind::Devices { came: Vec::new(), went: vec!["sdb".into()], detachable: Vec::new() };
    run.events.push(Event { host: HostId(2), ..Event::new(Nanos::secs(10_055), went) });
    assert_eq!(
        told(&of_run(&mut run)),
        [
            "ArrayDegraded db1: md0 Critical 20..30 x1: lacks 1 of 6 drives",
            "ArrayDegraded array1: md0 Critical 30..40 x1: lacks 1 of 6 drives",
            "ArrayDegraded md0 Critical 40..50 x1: lacks 1 of 6 drives",
            "DriveGone db1: sdb Critical 55..open x1: the kernel no longer lists it",
        ]
    );
}

#[test]
fn states_of_the_kernel_open_at_once_and_close_at_once() {
    let during = |s: u64| (100..200).contains(&s);
    let found = journal(300, |s, sample| {
        if during(s) {
            let parts = parts(sample);
            parts.arrays[0].degraded = Some(1);
            parts.pools[0].health = Some("DEGRADED".into());
            parts.paths[0].state = None;
            parts.links[0].now.width = 2;
        }
    });
    assert_eq!(
        told(&found),
        [
            "ArrayDegraded md0 Critical 100..200 x1: lacks 1 of 6 drives",
            "PoolUnhealthy tank Warning 100..200 x1: its state is DEGRADED",
            "PathDown dm-0/sdb Warning 100..200 x1: its state is gone",
            "LinkNarrow nvme0n1/0000:01:00.0 Warning 100..200 x1: 2 lanes of 4",
        ]
    );
}

#[test]
fn a_drive_is_too_warm_by_its_own_limits_and_cool_again_three_degrees_below() {
    let found = journal(400, |s, sample| {
        parts(sample).temperatures = vec![warm(match s {
            100..110 => 71_000,
            110..120 => 81_000,
            120..200 => 68_000,
            _ => 60_000,
        })];
    });
    assert_eq!(told(&found), ["DriveHot nvme0n1 Critical 100..200 x1: 81 °C, its own limit is 70 °C"]);
    let unknown = journal(20, |_, sample| {
        parts(sample).temperatures = vec![Temperature { warning: Some(0), critical: None, ..warm(99_000) }];
    });
    assert_eq!(unknown, [], "a drive that names no limit");
}

#[test]
fn a_drive_is_slow_among_its_siblings_only_if_it_stays_so() {
    let slow = |from: u64, to: u64| {
        journal(1000, move |s, sample| {
            // The counters of a drive that takes 5 ms a read between these seconds.
            let more = s.clamp(from, to) - from;
            sample.disks[2].read_ns += more * 400 * 1_000_000;
        })
    };
    assert_eq!(told(&slow(100, 150)), [""; 0], "less than a minute");
    let found = slow(100, 300);
    assert_eq!(told(&found), ["DriveSlow sdc Warning 101..301 x1: mean latency 5.00 ms, its siblings 1.00 ms"]);
    let alone = journal(300, |s, sample| {
        sample.disks.truncate(3);
        sample.disks[2].read_ns += s * 400 * 1_000_000;
    });
    assert_eq!(alone, [], "two siblings are no comparison");
    let busy = journal(300, |s, sample| sample.disks.iter_mut().for_each(|disk| disk.read_ns += s * 400 * 1_000_000));
    assert_eq!(busy, [], "all are slow: that is the load");
}

#[test]
fn a_drive_that_is_loaded_otherwise_than_its_siblings_is_not_slow() {
    let found = |change: fn(u64, &mut DiskCounters)| {
        told(&journal(300, move |s, sample| {
            let ms = |n: u64| n * 1_000_000;
            sample.disks.iter_mut().for_each(|disk| {
                (disk.read_bytes, disk.weighted_ns) = (100 * s * 4096, ms(100 * s));
            });
            change(s, &mut sample.disks[2]);
        }))
    };
    // 32 in flight and 6400 a second: 5 ms, as Little's law has it.
    let deep = found(|s, disk| {
        (disk.reads, disk.read_bytes) = (6_400 * s, 6_400 * s * 4096);
        (disk.read_ns, disk.weighted_ns) = (32_000 * s * 1_000_000, 32_000 * s * 1_000_000);
    });
    assert_eq!(deep, [""; 0], "it does more");
    let large = found(|s, disk| (disk.read_bytes, disk.read_ns) = ((100 * s) << 20, 500 * s * 1_000_000));
    assert_eq!(large, [""; 0], "it reads a megabyte each time");
    let writes = found(|s, disk| {
        (disk.writes, disk.write_bytes, disk.write_ns) = (disk.reads, disk.read_bytes, 500 * s * 1_000_000);
        (disk.reads, disk.read_bytes, disk.read_ns) = (0, 0, 0);
    });
    assert_eq!(writes, [""; 0], "it writes");
    let member = found(|s, disk| (disk.read_ns, disk.weighted_ns) = (500 * s * 1_000_000, 500 * s * 1_000_000));
    assert_eq!(member.len(), 1, "the same share of an array, and five times as many in flight");
    let closed = found(|s, disk| (disk.reads, disk.read_bytes) = (20 * s, 20 * s * 4096));
    assert_eq!(closed.len(), 1, "one in flight, and a fifth of the reads");
}

#[test]
fn a_drive_that_completes_nothing_does_not_answer_and_an_idle_one_does() {
    let found = journal(200, |s, sample| sample.disks[0].reads = 100 * if (50..100).contains(&s) { 50 } else { s });
    assert_eq!(told(&found), ["DriveStuck sda Critical 51..100 x1: 1 I/Os in flight, none completes"]);
    let discards = |counts_flushes: bool| {
        journal(200, move |s, sample| {
            let ms = |n: u64| n * 1_000_000;
            let disk = &mut sample.disks[0];
            // One discard of half a second after the other, and nothing else.
            (disk.reads, disk.read_ns, disk.in_flight) = (0, 0, 1);
            (disk.flushes, disk.weighted_ns) = (counts_flushes.then_some(0), ms(1000 * s));
        })
    };
    assert_eq!(discards(true), [], "a drive that discards answers");
    assert_eq!(discards(false).len(), 1, "kernels before 5.0 count the time of what is in flight");
    let hangs = journal(200, |_, sample| {
        (sample.disks[0].reads, sample.disks[0].flushes, sample.disks[0].weighted_ns) = (50, Some(7), 9_000_000);
    });
    assert_eq!(hangs.len(), 1, "its time in queue stands still");
    let md = journal(200, |_, sample| {
        let lost_count = DiskCounters { name: "md0".into(), in_flight: 3, ..DiskCounters::default() };
        sample.disks.push(lost_count);
    });
    assert_eq!(md, [], "kernels lose count of what is in flight on arrays");
    let idle = journal(200, |_, sample| (sample.disks[0].reads, sample.disks[0].in_flight) = (0, 0));
    assert_eq!(idle, []);
}

#[test]
fn ports_segments_memory_and_steal_have_limits_over_time() {
    let found = journal(300, |s, sample| {
        let s = s.clamp(100, 200) - 100;
        sample.networks.as_mut().unwrap()[0].received.errors = 5 * s;
        sample.tcp.as_mut().unwrap().sent_again = 200 * s;
        sample.cpus.as_mut().unwrap()[0].steal_ns = s * 250_000_000;
        if s > 0 && s < 100 {
            sample.memory.as_mut().unwrap().available_bytes = 2 << 30;
        }
    });
    let mut names: Vec<(JournalRule, Option<u64>)> =
        found.iter().map(|p| (p.rule, p.closed.map(|at| at.0 / 1_000_000_000 - 10_000))).collect();
    names.sort();
    assert_eq!(
        names,
        [
            (JournalRule::PortErrors, None),
            (JournalRule::SentAgain, None),
            (JournalRule::MemoryLow, None),
            (JournalRule::CpuSteal, None)
        ],
        "they close after minutes without"
    );
    let short = journal(1000, |s, sample| sample.networks.as_mut().unwrap()[0].received.errors = 5 * s.min(30));
    assert_eq!(short, [], "half a minute");
}

#[test]
fn memory_that_is_set_aside_as_huge_pages_is_no_want_of_memory() {
    let low = |huge_pages: u64, available: u64| {
        let mut run = host();
        let facts = HostFacts { huge_pages: Bytes(huge_pages << 30), ..HostFacts::default() };
        run.load_mut().facts = Some(facts);
        let mut journal = Journal::new(&run);
        for s in 0..300 {
            let mut sample = healthy(s);
            sample.memory.as_mut().unwrap().available_bytes = available << 30;
            journal.add(sample);
        }
        journal.end().len()
    };
    assert_eq!(low(0, 4), 1, "4 of 100 GiB");
    assert_eq!(low(90, 4), 0, "4 of the 10 GiB that programs can have");
    assert_eq!(low(20, 2), 1);
}

#[test]
fn a_killed_process_and_corrected_errors_are_told_once_and_for_an_hour() {
    let found = journal(5000, |s, sample| {
        if s >= 100 {
            sample.paging.as_mut().unwrap().oom_kills = Some(3);
            parts(sample).links[0].corrected = Some(19);
        }
    });
    assert_eq!(
        told(&found),
        [
            "MemoryKill host Critical 100..101 x1: processes killed: 1",
            "LinkErrors nvme0n1/0000:01:00.0 Warning 100..101 x1: errors corrected: 12",
        ]
    );
}

#[test]
fn a_flapping_drive_makes_one_problem_not_thousands() {
    let mut run = host();
    for flap in 0..500u64 {
        let names = || vec!["sda".to_string()];
        let at = |s: u64| Nanos::secs(10_000 + 20 * flap + s);
        run.events
            .push(Event::new(at(0), EventKind::Devices { came: Vec::new(), went: names(), detachable: Vec::new() }));
        run.events
            .push(Event::new(at(10), EventKind::Devices { came: names(), went: Vec::new(), detachable: Vec::new() }));
    }
    let mut journal = Journal::new(&run);
    (0..20_000).step_by(10).for_each(|s| journal.add(healthy(s)));
    let found = journal.end();
    assert_eq!(found.len(), 1, "{:?}", told(&found));
    // It was closed twice before it counted as flapping, and then when it had been there for an hour.
    let closed = found[0].closed.map(|at| at.0 / 1_000_000_000 - 10_000);
    assert_eq!((found[0].rule, found[0].times, closed), (JournalRule::DriveGone, 3, Some(9_980)));
}

#[test]
fn every_rule_is_in_the_table_once_and_closes_no_sooner_than_it_opens() {
    for (rule, limits) in LIMITS {
        assert_eq!(LIMITS.iter().filter(|(other, _)| *other == rule).count(), 1, "{rule:?}");
        assert!(limits.closes_after >= limits.opens_after, "{rule:?}");
        assert_eq!(serde_json::to_value(rule).unwrap(), rule.key());
        assert_eq!(serde_json::to_value(limits.category).unwrap(), limits.category.key());
        assert!(stend_spec::keys::notify::CATEGORIES.contains(&limits.category.key()), "{rule:?}");
        assert!(!rule.name().ru.is_empty() && rule.advice().en.ends_with('.') && rule.advice().ru.ends_with('.'));
    }
}

#[test]
fn what_closed_long_ago_is_forgotten_and_what_may_come_back_is_not() {
    let mut journal = Journal::new(&host());
    let degraded = |s: u64| (100..110).contains(&s) || (9_000..9_010).contains(&s) || s >= 9_100;
    for s in (0..9_200).step_by(5) {
        let mut sample = healthy(s);
        parts(&mut sample).arrays[0].degraded = Some(u32::from(degraded(s)));
        parts(&mut sample).pools[0].health = Some(if s == 50 { "DEGRADED" } else { "ONLINE" }.to_string());
        journal.add(sample);
        journal.forget_closed(Nanos::secs(10_000 + s));
    }
    assert_eq!(told(&journal.end()), ["ArrayDegraded md0 Critical 9000..open x2: lacks 1 of 6 drives"]);
}

#[test]
fn a_device_that_a_program_took_away_is_no_drive_that_failed() {
    let mut run = host();
    let went = ["loop7", "dm-3", "md127", "sdz"].map(String::from).to_vec();
    run.events
        .push(Event::new(Nanos::secs(10_000), EventKind::Devices { came: Vec::new(), went, detachable: Vec::new() }));
    assert_eq!(told(&Journal::new(&run).end()), ["DriveGone sdz Critical 0..open x1: the kernel no longer lists it"]);
}

#[test]
fn errors_in_the_kernels_log_open_a_problem_that_is_over_an_hour_after_the_last_and_health_one_until_it_is_well() {
    let mut run = host();
    let event = |s: u64, kind: EventKind| Event::new(Nanos::secs(10_000 + s), kind);
    let errors =
        |s| event(s, EventKind::KernelErrors { device: "sdb".into(), count: 2, text: "I/O error, dev sdb".into() });
    let health = |s, warning| {
        let health = Health { critical_warning: Some(warning), ..Health::default() };
        event(s, EventKind::DriveHealth { drives: vec![("nvme0n1".to_string(), health)] })
    };
    run.events = vec![health(5, 0), errors(100), errors(700), health(800, 8), health(2_000, 0)];
    let mut journal = Journal::new(&run);
    (0..5_000).step_by(10).for_each(|s| journal.add(healthy(s)));
    assert_eq!(
        told(&journal.end()),
        [
            "DriveErrors sdb Critical 100..700 x1: 2 in the kernel's log: I/O error, dev sdb",
            "DriveFailing nvme0n1 Critical 800..2000 x1: it is read-only",
        ]
    );
}

#[test]
fn what_was_wrong_with_a_path_a_pool_an_array_or_a_port_that_left_is_over() {
    let found = journal(200, |s, sample| {
        let parts = parts(sample);
        parts.arrays[0].degraded = Some(u32::from(s >= 10));
        parts.pools[0].health = Some(if s >= 10 { "DEGRADED" } else { "ONLINE" }.into());
        parts.paths[0].state = if s >= 10 { None } else { Some("running".into()) };
        if s >= 100 {
            (parts.arrays, parts.pools, parts.paths) = Default::default();
        }
        match sample.networks.as_mut() {
            Some(networks) if s >= 100 => networks.clear(),
            Some(networks) => networks[0].received.errors = 5 * s,
            None => {}
        }
    });
    assert_eq!(
        told(&found),
        [
            "ArrayDegraded md0 Critical 10..100 x1: lacks 1 of 6 drives",
            "PoolUnhealthy tank Warning 10..100 x1: its state is DEGRADED",
            "PathDown dm-0/sdb Warning 10..100 x1: its state is gone",
            "PortErrors eth0 Warning 1..100 x1: 5.00 bad packets per second",
        ]
    );
}

#[test]
fn a_way_to_a_drive_ends_with_the_device_behind_it_too() {
    let mut journal = Journal::new(&host());
    let mut sample = healthy(2);
    parts(&mut sample).paths[0].state = None;
    journal.add(sample);
    let kind = EventKind::Devices { came: Vec::new(), went: vec!["sdb".to_string()], detachable: Vec::new() };
    journal.happened(&Event::new(Nanos::secs(10_003), kind));
    let closed: Vec<Option<Nanos>> = journal.end().iter().map(|problem| problem.closed).collect();
    // That the drive is gone stays open.
    assert_eq!(closed, [Some(Nanos::secs(10_003)), None]);
}

#[test]
fn what_was_wrong_with_a_device_that_went_is_over_and_that_it_went_is_not() {
    let mut journal = Journal::new(&host());
    let event = |s: u64, kind| Event::new(Nanos::secs(10_000 + s), kind);
    let failing = Health { passed: Some(false), ..Health::default() };
    journal.happened(&event(1, EventKind::DriveHealth { drives: vec![("sdb".into(), failing)] }));
    let mut sample = healthy(2);
    parts(&mut sample).paths[0].state = None;
    journal.add(sample);
    let went = vec!["sdb".to_string(), "dm-0".to_string()];
    journal.happened(&event(3, EventKind::Devices { came: Vec::new(), went, detachable: Vec::new() }));
    assert!(journal.health().is_empty());
    assert_eq!(
        told(&journal.end()),
        [
            "DriveFailing sdb Critical 1..3 x1: its health check failed",
            "PathDown dm-0/sdb Warning 2..3 x1: its state is gone",
            "DriveGone sdb Critical 3..open x1: the kernel no longer lists it",
        ]
    );
}
