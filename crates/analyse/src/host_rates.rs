//! What a host did between two samples: every rate of a drive, a CPU or a network that a chart, a live view or an exporter shows is
//! computed here. Must not judge. A counter that went back or jumped impossibly far (a device that was replaced, a counter that wrapped,
//! garbage) gives no value.

use crate::counter::{cpus_are_possible, grown, waited};
use crate::cpu;
use stend_base::Nanos;
use stend_record::nfs::{NfsMount, NfsRequests, NfsServer};
use stend_record::parts::ArcCounters;
use stend_record::sample::{DiskCounters, Memory, NetworkCounters, Pressure, Traffic};
use stend_record::{Parts, Sample};

/// A host between two samples.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostRates {
    /// Time of the later sample.
    pub at: Nanos,
    /// Time between both.
    pub span: Nanos,
    /// Busy share of all CPUs; waiting for I/O is idle.
    pub cpu_busy: Option<f64>,
    /// Share of the time of all CPUs that was idle while an I/O was outstanding.
    pub cpu_iowait: Option<f64>,
    /// Share of the time of all CPUs that a hypervisor took.
    pub cpu_steal: Option<f64>,
    /// Memory at the later sample.
    pub memory: Option<Memory>,
    /// Shares of time in which tasks waited.
    pub stalls: Stalls,
    /// Devices that both samples have, in the order of the later one.
    pub drives: Vec<DriveRates>,
    /// Interfaces that both samples have.
    pub networks: Vec<NetworkRates>,
    /// Share of TCP segments that were sent again; `None` if none was sent.
    pub tcp_sent_again: Option<f64>,
    /// Shares of NFS that both samples have.
    pub nfs_mounts: Vec<NfsMountRates>,
    /// The server of NFS, if it ran at both samples.
    pub nfs_server: Option<NfsServerRates>,
}

/// Shares of time, 0 to 1 (pressure stall information).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stalls {
    /// Some task waited for a CPU.
    pub cpu_some: Option<f64>,
    /// Some task waited for memory.
    pub memory_some: Option<f64>,
    /// All tasks waited for memory.
    pub memory_full: Option<f64>,
    /// Some task waited for I/O.
    pub io_some: Option<f64>,
    /// All tasks waited for I/O.
    pub io_full: Option<f64>,
}

/// A block device between two samples.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DriveRates {
    /// Kernel name.
    pub name: String,
    /// Reads completed per second.
    pub reads: f64,
    /// Writes completed per second.
    pub writes: f64,
    /// Bytes read per second.
    pub read_bytes: f64,
    /// Bytes written per second.
    pub write_bytes: f64,
    /// Mean latency of reads, waiting in the queue of the kernel included; `None` without reads.
    pub read_latency: Option<Nanos>,
    /// The same of writes.
    pub write_latency: Option<Nanos>,
    /// I/Os in flight on average.
    pub queue: f64,
    /// Share of time with at least one I/O in flight. A device that works on many at once can do more at 100 %.
    pub busy: f64,
}

impl DriveRates {
    /// Reads and writes per second.
    pub fn iops(&self) -> f64 {
        self.reads + self.writes
    }
}

/// A network interface between two samples.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NetworkRates {
    /// Name of the interface.
    pub name: String,
    /// Bytes received per second.
    pub received: f64,
    /// Bytes sent per second.
    pub sent: f64,
    /// Bad packets per second, both ways.
    pub errors: f64,
    /// Packets without room per second, both ways.
    pub drops: f64,
}

/// A share of NFS between two samples.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NfsMountRates {
    /// Where it is mounted.
    pub at: String,
    /// What is mounted.
    pub export: String,
    /// Requests to read that were answered per second.
    pub reads: f64,
    /// The same of writes.
    pub writes: f64,
    /// The same of all others.
    pub others: f64,
    /// Bytes read from the server per second.
    pub read_bytes: f64,
    /// Bytes written to it per second.
    pub write_bytes: f64,
    /// Mean time of a request to read, waiting in the queue of the client included; `None` without one.
    pub read_latency: Option<Nanos>,
    /// The same of writes.
    pub write_latency: Option<Nanos>,
    /// Requests per second that were sent again.
    pub sent_again: f64,
}

/// The server of NFS between two samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NfsServerRates {
    /// Requests of clients per second.
    pub requests: f64,
    /// Bytes that clients read per second.
    pub read_bytes: f64,
    /// Bytes that they wrote per second.
    pub write_bytes: f64,
}

/// What happened between two samples of one host. `None` if the later one is not later.
pub fn between(before: &Sample, after: &Sample) -> Option<HostRates> {
    let span = Nanos(after.at.0.checked_sub(before.at.0).filter(|ns| *ns > 0)?);
    let cpus = before.cpus.as_deref().zip(after.cpus.as_deref());
    let cpus = cpus.filter(|(before, after)| cpus_are_possible(before, after, span));
    Some(HostRates {
        at: after.at,
        span,
        cpu_busy: cpus.and_then(|(b, a)| cpu::busy(b, a)),
        cpu_iowait: cpus.and_then(|(b, a)| cpu::share_of(b, a, |c| c.iowait_ns)),
        cpu_steal: cpus.and_then(|(b, a)| cpu::share_of(b, a, |c| c.steal_ns)),
        memory: after.memory,
        stalls: stalls(before, after, span),
        drives: after
            .disks
            .iter()
            .filter_map(|disk| drive(before.disks.iter().find(|earlier| earlier.name == disk.name)?, disk, span))
            .collect(),
        networks: after
            .networks
            .iter()
            .flatten()
            .filter_map(|after| {
                network(before.networks.iter().flatten().find(|earlier| earlier.name == after.name)?, after, span)
            })
            .collect(),
        tcp_sent_again: before.tcp.zip(after.tcp).and_then(|(b, a)| {
            let (sent, again) = (grown(b.sent, a.sent, span)?, grown(b.sent_again, a.sent_again, span)?);
            (sent > 0).then(|| (again as f64 / sent as f64).min(1.0))
        }),
        nfs_mounts: nfs_mounts(before, after, span),
        nfs_server: server(before).zip(server(after)).and_then(|(before, after)| nfs_server(before, after, span)),
    })
}

fn server(sample: &Sample) -> Option<&NfsServer> {
    sample.nfs.as_ref()?.server.as_ref()
}

fn nfs_mounts(before: &Sample, after: &Sample, span: Nanos) -> Vec<NfsMountRates> {
    let is_same = |one: &NfsMount, other: &NfsMount| (&one.at, &one.export) == (&other.at, &other.export);
    let both = after
        .nfs_mounts()
        .iter()
        .filter_map(|now| Some((before.nfs_mounts().iter().find(|earlier| is_same(earlier, now))?, now)));
    both.filter_map(|(before, after)| nfs_mount(before, after, span)).collect()
}

/// `None` if a counter went back or jumped: the share was mounted anew.
fn nfs_mount(before: &NfsMount, after: &NfsMount, span: Nanos) -> Option<NfsMountRates> {
    let per_second = |count: u64| count as f64 / span.as_secs();
    let rate = |of: fn(&NfsMount) -> u64| grown(of(before), of(after), span).map(per_second);
    let latency = |of: fn(&NfsMount) -> &NfsRequests| {
        let done = grown(of(before).done, of(after).done, span)?;
        Some(waited(of(before).time_ns, of(after).time_ns)?.checked_div(done).map(Nanos))
    };
    // The kernel counts both when a request is over.
    let again = |requests: &NfsRequests| requests.sent.saturating_sub(requests.done);
    let all_again = |mount: &NfsMount| {
        let each = [&mount.reads, &mount.writes, &mount.others].map(again);
        each.into_iter().fold(0, u64::saturating_add)
    };
    Some(NfsMountRates {
        at: after.at.clone(),
        export: after.export.clone(),
        reads: rate(|m| m.reads.done)?,
        writes: rate(|m| m.writes.done)?,
        others: rate(|m| m.others.done)?,
        read_bytes: rate(|m| m.read_bytes)?,
        write_bytes: rate(|m| m.write_bytes)?,
        read_latency: latency(|m| &m.reads)?,
        write_latency: latency(|m| &m.writes)?,
        sent_again: per_second(grown(0, all_again(after).saturating_sub(all_again(before)), span)?),
    })
}

fn nfs_server(before: &NfsServer, after: &NfsServer, span: Nanos) -> Option<NfsServerRates> {
    let rate = |of: fn(&NfsServer) -> u64| Some(grown(of(before), of(after), span)? as f64 / span.as_secs());
    Some(NfsServerRates {
        requests: rate(|s| s.requests)?,
        read_bytes: rate(|s| s.read_bytes)?,
        write_bytes: rate(|s| s.write_bytes)?,
    })
}

/// The interfaces whose traffic is that of the host: its `ports`, which have hardware, or all where none of them is known. What a bond, a
/// VLAN or a bridge counts is counted by a port, too.
pub fn of_ports<'a, N>(networks: &'a [N], name: fn(&N) -> &String, ports: &'a [String]) -> impl Iterator<Item = &'a N> {
    let is_port = move |network: &N| ports.contains(name(network));
    let are_known = networks.iter().any(is_port);
    networks.iter().filter(move |network| !are_known || is_port(network))
}

/// Memory that programs can have, bytes. The kernel does not count the cache of ZFS (ARC), which shrinks down to its minimum when they want
/// more. Run files do not have that minimum: it is a thirty-second of all memory, unless `zfs_arc_min` is set.
//= openzfs, module/zfs/arc.c, arc_init(): "Set min cache to 1/32 of all memory, or 32MB, whichever is more"
pub fn available(memory: &Memory, arc: Option<ArcCounters>) -> u64 {
    let stays = (memory.total_bytes / 32).max(32 << 20);
    let gives = arc.map_or(0, |arc| arc.size_bytes.saturating_sub(stays));
    memory.available_bytes.saturating_add(gives).min(memory.total_bytes)
}

/// Mean frequency of the CPUs that tell theirs, Hz.
pub fn frequency(parts: &Parts) -> Option<f64> {
    let all = &parts.frequencies_khz;
    (!all.is_empty()).then(|| all.iter().map(|khz| *khz as f64 * 1e3).sum::<f64>() / all.len() as f64)
}

/// How often heat held CPUs back between two readings.
pub fn throttled(before: &Parts, after: &Parts) -> u64 {
    let counts = before.throttled.zip(after.throttled);
    counts.map_or(0, |(before, after)| after.saturating_sub(before))
}

fn stalls(before: &Sample, after: &Sample, span: Nanos) -> Stalls {
    let share = |of: fn(&Pressure) -> Option<u64>| {
        let waited = grown(of(before.pressure.as_ref()?)?, of(after.pressure.as_ref()?)?, span)?;
        Some((waited as f64 / span.0 as f64).min(1.0))
    };
    Stalls {
        cpu_some: share(|p| p.cpu_some_ns),
        memory_some: share(|p| p.memory_some_ns),
        memory_full: share(|p| p.memory_full_ns),
        io_some: share(|p| p.io_some_ns),
        io_full: share(|p| p.io_full_ns),
    }
}

/// `None` if any counter went back or jumped: then it is another device, or one that began to count anew.
fn drive(before: &DiskCounters, after: &DiskCounters, span: Nanos) -> Option<DriveRates> {
    let count = |of: fn(&DiskCounters) -> u64| grown(of(before), of(after), span);
    // One that hung adds all of its time when it ends, to how long the device was busy, too.
    let time = |of: fn(&DiskCounters) -> u64| waited(of(before), of(after));
    let (reads, writes) = (count(|d| d.reads)?, count(|d| d.writes)?);
    let (read_ns, write_ns) = (time(|d| d.read_ns)?, time(|d| d.write_ns)?);
    let per_second = |count: u64| count as f64 / span.as_secs();
    Some(DriveRates {
        name: after.name.clone(),
        reads: per_second(reads),
        writes: per_second(writes),
        read_bytes: per_second(count(|d| d.read_bytes)?),
        write_bytes: per_second(count(|d| d.write_bytes)?),
        read_latency: read_ns.checked_div(reads).map(Nanos),
        write_latency: write_ns.checked_div(writes).map(Nanos),
        queue: time(|d| d.weighted_ns)? as f64 / span.0 as f64,
        // The kernel counts in ticks, so that a short span may hold a little more than itself.
        busy: (time(|d| d.busy_ns)? as f64 / span.0 as f64).min(1.0),
    })
}

fn network(before: &NetworkCounters, after: &NetworkCounters, span: Nanos) -> Option<NetworkRates> {
    let per_second = |count: u64| count as f64 / span.as_secs();
    let both = |of: fn(&Traffic) -> u64| {
        let received = grown(of(&before.received), of(&after.received), span)?;
        Some(per_second(received.saturating_add(grown(of(&before.sent), of(&after.sent), span)?)))
    };
    Some(NetworkRates {
        name: after.name.clone(),
        received: per_second(grown(before.received.bytes, after.received.bytes, span)?),
        sent: per_second(grown(before.sent.bytes, after.sent.bytes, span)?),
        errors: both(|t| t.errors)?,
        drops: both(|t| t.drops)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_record::nfs::Nfs;
    use stend_record::sample::{CpuTimes, TcpCounters};

    #[test]
    fn cpus_have_a_mean_frequency_and_heat_counts_what_grew() {
        let of = |frequencies_khz: &[u64], throttled| {
            let frequencies_khz = frequencies_khz.iter().map(|khz| *khz as _).collect();
            Parts { frequencies_khz, throttled, ..Parts::default() }
        };
        let (none, cool, hot) = (of(&[], None), of(&[2_000_000, 3_000_000], Some(3)), of(&[1_000_000], Some(10)));
        assert_eq!([&none, &cool, &hot].map(frequency), [None, Some(2.5e9), Some(1e9)]);
        assert_eq!([throttled(&cool, &hot), throttled(&none, &hot), throttled(&hot, &cool)], [7, 0, 0]);
    }

    /// A host after `s` seconds in which a drive did 100 reads and 50 writes of 4 KiB per second, at 2 and 4 ms each.
    fn sample(s: u64) -> Sample {
        let ms = |n: u64| n * 1_000_000;
        let disk = DiskCounters {
            name: "sda".into(),
            reads: 100 * s,
            read_bytes: 409_600 * s,
            read_ns: ms(200 * s),
            writes: 50 * s,
            write_bytes: 204_800 * s,
            write_ns: ms(200 * s),
            busy_ns: ms(300 * s),
            weighted_ns: ms(400 * s),
            ..DiskCounters::default()
        };
        let traffic = |bytes| Traffic { bytes, packets: s, errors: 0, drops: 3 * s };
        let cpu = CpuTimes {
            user_ns: ms(250 * s),
            idle_ns: ms(500 * s),
            iowait_ns: ms(200 * s),
            steal_ns: ms(50 * s),
            ..CpuTimes::default()
        };
        Sample {
            at: Nanos::secs(1000 + s),
            cpus: Some(vec![cpu]),
            pressure: Some(Pressure { io_some_ns: Some(ms(100 * s)), ..Pressure::default() }),
            disks: vec![disk],
            networks: Some(vec![NetworkCounters {
                name: "eth0".into(),
                received: traffic(1000 * s),
                sent: traffic(500 * s),
            }]),
            tcp: Some(TcpCounters { sent: 200 * s, sent_again: s }),
            ..Sample::default()
        }
    }

    #[test]
    fn rates_are_what_counters_grew_by_over_the_time_between() {
        let rates = between(&sample(10), &sample(20)).unwrap();
        let drive = &rates.drives[0];
        assert_eq!((drive.reads, drive.writes, drive.iops()), (100.0, 50.0, 150.0));
        assert_eq!((drive.read_bytes, drive.write_bytes), (409_600.0, 204_800.0));
        assert_eq!((drive.read_latency, drive.write_latency), (Some(Nanos::millis(2)), Some(Nanos::millis(4))));
        assert_eq!((drive.queue, drive.busy), (0.4, 0.3));
        assert_eq!((rates.cpu_busy, rates.cpu_iowait, rates.cpu_steal), (Some(0.3), Some(0.2), Some(0.05)));
        assert_eq!((rates.stalls.io_some, rates.stalls.cpu_some), (Some(0.1), None));
        assert_eq!((rates.networks[0].received, rates.networks[0].sent, rates.networks[0].drops), (1000.0, 500.0, 6.0));
        assert_eq!(rates.tcp_sent_again, Some(0.005));
    }

    #[test]
    fn a_share_of_nfs_has_rates_and_one_that_was_mounted_anew_has_none() {
        let with = |s: u64, mounted: u64| {
            let requests = |done| NfsRequests { done, sent: done + s, timeouts: 0, time_ns: done * 3_000_000 };
            let mount = NfsMount {
                at: "/mnt".into(),
                export: "filer:/vol".into(),
                read_bytes: 1000 * s,
                reads: requests(10 * (s - mounted)),
                ..NfsMount::default()
            };
            let server = Some(NfsServer { requests: 7 * s, ..NfsServer::default() });
            Sample { nfs: Some(Box::new(Nfs { mounts: vec![mount], server })), ..sample(s) }
        };
        let rates = between(&with(10, 0), &with(20, 0)).unwrap();
        let mount = &rates.nfs_mounts[0];
        assert_eq!((mount.reads, mount.read_bytes, mount.sent_again), (10.0, 1000.0, 1.0));
        assert_eq!((mount.read_latency, mount.write_latency), (Some(Nanos::millis(3)), None));
        assert_eq!(rates.nfs_server.map(|server| server.requests), Some(7.0));
        let anew = between(&with(10, 0), &with(20, 19)).unwrap();
        assert_eq!((anew.nfs_mounts.len(), anew.nfs_server.is_some()), (0, true));
        assert_eq!(between(&sample(10), &with(20, 0)).unwrap().nfs_server, None);
    }

    #[test]
    fn a_counter_that_went_back_is_no_rate_and_takes_only_its_own_device_along() {
        let (mut before, mut after) = (sample(10), sample(11));
        for of in [&mut before, &mut after] {
            of.disks.push(DiskCounters { name: "sdb".into(), ..of.disks[0].clone() });
        }
        after.disks[0].read_ns = 0;
        let rates = between(&before, &after).unwrap();
        assert_eq!(rates.drives.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["sdb"]);
        after.disks.remove(1);
        assert!(between(&before, &after).unwrap().drives.is_empty(), "a drive that vanished has no rate");
        assert_eq!(between(&after, &before), None, "time does not go back");
        assert_eq!(between(&before, &before), None);
    }

    #[test]
    fn a_counter_that_jumps_further_than_a_device_can_is_no_rate() {
        const FAR: u64 = 1_000_000_000_000;
        let after = |change: fn(&mut Sample)| {
            let mut after = sample(11);
            change(&mut after);
            between(&sample(10), &after).unwrap()
        };
        let drives: [fn(&mut DiskCounters); 8] = [
            |d| d.reads *= FAR,
            |d| d.writes *= FAR,
            |d| d.read_bytes *= FAR,
            |d| d.write_bytes *= FAR,
            |d| d.read_ns = u64::MAX,
            |d| d.write_ns = u64::MAX,
            |d| d.busy_ns = u64::MAX,
            |d| d.weighted_ns = u64::MAX,
        ];
        for (number, change) in drives.into_iter().enumerate() {
            let mut far = sample(11);
            change(&mut far.disks[0]);
            assert!(between(&sample(10), &far).unwrap().drives.is_empty(), "{number}");
        }
        let port: fn(&mut Sample) -> &mut NetworkCounters = |sample| &mut sample.networks.as_mut().unwrap()[0];
        let ways: [fn(&mut Traffic); 3] = [|t| t.bytes = u64::MAX, |t| t.errors = u64::MAX, |t| t.drops = u64::MAX];
        for of in ways {
            let (mut received, mut sent) = (sample(11), sample(11));
            of(&mut port(&mut received).received);
            of(&mut port(&mut sent).sent);
            assert!([received, sent].iter().all(|far| between(&sample(10), far).unwrap().networks.is_empty()));
        }
        let far = after(|s| s.tcp = Some(TcpCounters { sent: u64::MAX, sent_again: 5 }));
        assert_eq!((far.tcp_sent_again, far.drives.len()), (None, 1), "it takes nothing else along");
        let far = after(|s| s.pressure.as_mut().unwrap().io_some_ns = Some(u64::MAX));
        assert_eq!((far.stalls.io_some, far.cpu_busy), (None, Some(0.3)));
        let far = after(|s| s.cpus.as_mut().unwrap()[0].user_ns = u64::MAX);
        assert_eq!((far.cpu_busy, far.cpu_iowait, far.cpu_steal), (None, None, None));
    }

    #[test]
    fn a_share_of_nfs_whose_counters_jump_is_no_rate() {
        let with = |change: fn(&mut NfsMount), s: u64| {
            let requests = NfsRequests { done: s, sent: s, timeouts: 0, time_ns: s };
            let mut mount = NfsMount { at: "/mnt".into(), reads: requests, writes: requests, ..NfsMount::default() };
            change(&mut mount);
            Sample { nfs: Some(Box::new(Nfs { mounts: vec![mount], server: None })), ..sample(s) }
        };
        let rates = |change: fn(&mut NfsMount)| between(&with(|_| {}, 10), &with(change, 11)).unwrap().nfs_mounts.len();
        assert_eq!(rates(|_| {}), 1);
        let far: [fn(&mut NfsMount); 5] = [
            |m| m.reads.done = u64::MAX,
            |m| m.writes.time_ns = u64::MAX,
            |m| m.read_bytes = u64::MAX,
            |m| m.write_bytes = u64::MAX,
            |m| (m.reads.sent, m.writes.sent, m.others.sent) = (u64::MAX, u64::MAX, u64::MAX),
        ];
        for (number, change) in far.into_iter().enumerate() {
            assert_eq!(rates(change), 0, "{number}");
        }
    }

    #[test]
    fn a_byte_that_a_bond_counts_too_is_counted_once() {
        let network = |name: &str| NetworkRates { name: name.into(), received: 100.0, ..NetworkRates::default() };
        let networks = ["bond0", "eth0", "eth1", "eth0.7", "br0"].map(network);
        let received = |ports: &[&str]| -> f64 {
            let ports: Vec<String> = ports.iter().map(|name| name.to_string()).collect();
            of_ports(&networks, |network| &network.name, &ports).map(|network| network.received).sum()
        };
        assert_eq!(received(&["eth0", "eth1", "eth2"]), 200.0);
        assert_eq!((received(&[]), received(&["eth9"])), (500.0, 500.0), "a container has no hardware");
    }

    #[test]
    fn what_did_nothing_has_no_latency_and_what_is_missing_is_none() {
        let (before, mut after) = (sample(10), sample(10));
        after.at = Nanos::secs(1011);
        let rates = between(&before, &after).unwrap();
        assert_eq!((rates.drives[0].read_latency, rates.drives[0].busy, rates.tcp_sent_again), (None, 0.0, None));
        let (a, b) = (Nanos(1), Nanos(2));
        let bare = between(&Sample { at: a, ..Sample::default() }, &Sample { at: b, ..Sample::default() }).unwrap();
        assert_eq!((bare.cpu_busy, bare.memory, bare.drives.len()), (None, None, 0));
    }
}
