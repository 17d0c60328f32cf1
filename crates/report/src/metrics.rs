//! The newest sample of a host for Prometheus. Names are those of node_exporter where the meaning is the same, else they begin with
//! `stend_`. Must not compute a rate: Prometheus does that over the counters.

mod nfs;
mod page;
mod parts;
mod run;
mod server;

pub use page::CONTENT_TYPE;
pub use run::{RunMetrics, RunNow};
pub use server::{RecordingNow, ServerNow, server_metrics_text};

use page::{Family, Page, seconds};
use std::collections::BTreeMap;
use stend_analyse::journal::Problem;
use stend_record::sample::{CpuTimes, DiskCounters, NetworkCounters};
use stend_record::{Health, HostInfo, Parts, Sample};

/// A counter of a device in base units.
type Of<T> = fn(&T) -> f64;

/// What is known of a host now.
#[derive(Debug, Clone, Copy)]
pub struct HostNow<'a> {
    /// Machine and drives; `None` where they were not looked at.
    pub host: Option<&'a HostInfo>,
    /// The newest sample.
    pub sample: &'a Sample,
    /// State of parts as it was last read, which is less often.
    pub parts: Option<&'a Parts>,
    /// What drives say of themselves, by kernel name; `None` where they were not asked.
    pub health: Option<&'a BTreeMap<String, Health>>,
    /// Problems of the journal; `None` where nothing judges.
    pub problems: Option<&'a [Problem]>,
}

const CPU: Family =
    ("node_cpu_seconds_total", "counter", "Time of each CPU by what it did; user includes niced processes.");

const MODES: [(&str, Of<CpuTimes>); 7] = [
    ("user", |c| seconds(c.user_ns)),
    ("system", |c| seconds(c.system_ns)),
    ("idle", |c| seconds(c.idle_ns)),
    ("iowait", |c| seconds(c.iowait_ns)),
    ("irq", |c| seconds(c.irq_ns)),
    ("softirq", |c| seconds(c.softirq_ns)),
    ("steal", |c| seconds(c.steal_ns)),
];

const DISKS: [(Family, Of<DiskCounters>); 9] = [
    (("node_disk_reads_completed_total", "counter", "Reads that completed."), |d| d.reads as f64),
    (("node_disk_read_bytes_total", "counter", "Bytes that were read."), |d| d.read_bytes as f64),
    (("node_disk_read_time_seconds_total", "counter", "Time of all reads together."), |d| seconds(d.read_ns)),
    (("node_disk_writes_completed_total", "counter", "Writes that completed."), |d| d.writes as f64),
    (("node_disk_written_bytes_total", "counter", "Bytes that were written."), |d| d.write_bytes as f64),
    (("node_disk_write_time_seconds_total", "counter", "Time of all writes together."), |d| seconds(d.write_ns)),
    (("node_disk_io_now", "gauge", "I/Os in flight."), |d| d.in_flight as f64),
    (("node_disk_io_time_seconds_total", "counter", "Time with at least one I/O in flight."), |d| seconds(d.busy_ns)),
    (("node_disk_io_time_weighted_seconds_total", "counter", "I/Os in flight times time."), |d| seconds(d.weighted_ns)),
];

const NETWORKS: [(Family, Of<NetworkCounters>); 8] = [
    (("node_network_receive_bytes_total", "counter", "Bytes received."), |n| n.received.bytes as f64),
    (("node_network_receive_packets_total", "counter", "Packets received."), |n| n.received.packets as f64),
    (("node_network_receive_errs_total", "counter", "Bad packets received."), |n| n.received.errors as f64),
    (("node_network_receive_drop_total", "counter", "Received packets without room."), |n| n.received.drops as f64),
    (("node_network_transmit_bytes_total", "counter", "Bytes sent."), |n| n.sent.bytes as f64),
    (("node_network_transmit_packets_total", "counter", "Packets sent."), |n| n.sent.packets as f64),
    (("node_network_transmit_errs_total", "counter", "Packets that could not be sent."), |n| n.sent.errors as f64),
    (("node_network_transmit_drop_total", "counter", "Packets to be sent without room."), |n| n.sent.drops as f64),
];

/// A page for Prometheus.
pub fn metrics_text(now: &HostNow<'_>, version: &str) -> String {
    let mut page = Page::default();
    build(&mut page, version);
    whole_host(&mut page, now);
    page.text()
}

/// The program that answers.
fn build(page: &mut Page, version: &str) {
    page.family(("stend_build_info", "gauge", "Version of the program that answers."));
    page.sample("stend_build_info", &[("version", version)], 1.0);
}

/// Everything that is known of a host.
fn whole_host(page: &mut Page, now: &HostNow<'_>) {
    let sample = now.sample;
    now.host.into_iter().for_each(|host| parts::host(page, host));
    if let Some(cpus) = &sample.cpus {
        page.family(CPU);
        for cpu in cpus {
            let number = cpu.cpu.to_string();
            MODES.iter().for_each(|(mode, of)| page.sample(CPU.0, &[("cpu", &number), ("mode", mode)], of(cpu)));
        }
    }
    host(page, sample);
    let device = |name: &str| vec![("device", name.to_string())];
    for (family, of) in DISKS {
        page.each(family, &sample.disks, |disk| Some((device(&disk.name), of(disk))));
    }
    page.each(("node_disk_flush_requests_total", "counter", "Flushes that completed."), &sample.disks, |disk| {
        Some((device(&disk.name), disk.flushes? as f64))
    });
    let time = ("node_disk_flush_requests_time_seconds_total", "counter", "Time of all flushes together.");
    page.each(time, &sample.disks, |disk| Some((device(&disk.name), seconds(disk.flush_ns?))));
    for (family, of) in NETWORKS {
        page.each(family, sample.networks.iter().flatten(), |network| Some((device(&network.name), of(network))));
    }
    sample.nfs.iter().for_each(|nfs| nfs::nfs(page, nfs));
    now.parts.into_iter().for_each(|parts| parts::parts(page, parts));
    now.health.into_iter().for_each(|health| parts::health(page, health));
    now.problems.into_iter().for_each(|problems| parts::problems(page, problems));
    page.alone(("stend_sample_read_seconds", "gauge", "How long reading this took."), Some(seconds(sample.cost_ns)));
}

/// What a host has once.
fn host(page: &mut Page, sample: &Sample) {
    let memory = sample.memory.as_ref();
    let bytes = |of: fn(&stend_record::sample::Memory) -> u64| memory.map(|memory| of(memory) as f64);
    page.alone(("node_memory_MemTotal_bytes", "gauge", "All memory."), bytes(|m| m.total_bytes));
    page.alone(("node_memory_MemAvailable_bytes", "gauge", "Usable without swapping."), bytes(|m| m.available_bytes));
    page.alone(("node_memory_Cached_bytes", "gauge", "Page cache."), bytes(|m| m.cached_bytes));
    page.alone(("node_memory_Dirty_bytes", "gauge", "Waiting to be written."), bytes(|m| m.dirty_bytes));
    page.alone(("stend_memory_swap_used_bytes", "gauge", "Swap in use."), bytes(|m| m.swap_used_bytes));
    let stalled = |of: fn(&stend_record::sample::Pressure) -> Option<u64>| of(sample.pressure.as_ref()?).map(seconds);
    page.alone(
        ("node_pressure_cpu_waiting_seconds_total", "counter", "Time some task waited for a CPU."),
        stalled(|p| p.cpu_some_ns),
    );
    page.alone(
        ("node_pressure_io_waiting_seconds_total", "counter", "Time some task waited for I/O."),
        stalled(|p| p.io_some_ns),
    );
    page.alone(
        ("node_pressure_io_stalled_seconds_total", "counter", "Time all tasks waited for I/O."),
        stalled(|p| p.io_full_ns),
    );
    page.alone(
        ("node_pressure_memory_waiting_seconds_total", "counter", "Time some task waited for memory."),
        stalled(|p| p.memory_some_ns),
    );
    page.alone(
        ("node_pressure_memory_stalled_seconds_total", "counter", "Time all tasks waited for memory."),
        stalled(|p| p.memory_full_ns),
    );
    let kills = sample.paging.as_ref().and_then(|paging| paging.oom_kills);
    page.alone(
        ("node_vmstat_oom_kill", "untyped", "Processes killed for want of memory."),
        kills.map(|kills| kills as f64),
    );
    let tcp = sample.tcp;
    page.alone(("node_netstat_Tcp_OutSegs", "untyped", "TCP segments sent."), tcp.map(|tcp| tcp.sent as f64));
    let again = ("node_netstat_Tcp_RetransSegs", "untyped", "TCP segments sent again.");
    page.alone(again, tcp.map(|tcp| tcp.sent_again as f64));
}

#[cfg(test)]
mod full;

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{expect, expect_file};
    use stend_base::Nanos;
    use stend_record::parts::{ArrayState, Temperature};
    use stend_record::sample::{Memory, Pressure};

    fn sample() -> Sample {
        let disk = |name: &str, flushes| DiskCounters {
            name: name.into(),
            reads: 7,
            read_bytes: 28_672,
            read_ns: 1_500_000_000,
            flushes,
            flush_ns: flushes.map(|n| n * 1_000_000),
            ..DiskCounters::default()
        };
        Sample {
            at: Nanos::secs(1),
            cpus: Some(vec![CpuTimes { cpu: 3, user_ns: 2_500_000_000, ..CpuTimes::default() }]),
            memory: Some(Memory { total_bytes: 1 << 33, ..Memory::default() }),
            pressure: Some(Pressure { io_some_ns: Some(1_000_000), ..Pressure::default() }),
            disks: vec![disk("sda", Some(4)), disk("a\"b\\\nc", None)],
            cost_ns: 200_000,
            ..Sample::default()
        }
    }

    fn now<'a>(sample: &'a Sample, parts: Option<&'a Parts>) -> HostNow<'a> {
        HostNow { host: None, sample, parts, health: None, problems: None }
    }

    #[test]
    fn a_page_has_the_names_of_node_exporter_in_base_units() {
        let parts = Parts {
            temperatures: vec![Temperature {
                device: "sda".into(),
                milli_celsius: 41_500,
                warning: None,
                critical: None,
            }],
            arrays: vec![ArrayState { name: "md0".into(), degraded: Some(1), ..ArrayState::default() }],
            ..Parts::default()
        };
        let page = metrics_text(&now(&sample(), Some(&parts)), "0.2.0");
        let told: String =
            page.lines().filter(|l| !l.starts_with('#') && !l.ends_with(" 0")).map(|l| format!("{l}\n")).collect();
        expect![[r#"
            stend_build_info{version="0.2.0"} 1
            node_cpu_seconds_total{cpu="3",mode="user"} 2.5
            node_memory_MemTotal_bytes 8589934592
            node_pressure_io_waiting_seconds_total 0.001
            node_disk_reads_completed_total{device="sda"} 7
            node_disk_reads_completed_total{device="a\"b\\\nc"} 7
            node_disk_read_bytes_total{device="sda"} 28672
            node_disk_read_bytes_total{device="a\"b\\\nc"} 28672
            node_disk_read_time_seconds_total{device="sda"} 1.5
            node_disk_read_time_seconds_total{device="a\"b\\\nc"} 1.5
            node_disk_flush_requests_total{device="sda"} 4
            node_disk_flush_requests_time_seconds_total{device="sda"} 0.004
            stend_disk_temperature_celsius{device="sda"} 41.5
            stend_md_missing_disks{device="md0"} 1
            stend_sample_read_seconds 0.0002
        "#]]
        .assert_eq(&told);
    }

    /// A host of which everything is known; a real Prometheus reads this page in the tests of the binary.
    #[test]
    fn a_host_of_which_everything_is_known() {
        let sample = full::sample();
        let (host, problems, health) = (full::host(), full::problems(), full::health());
        let now = HostNow {
            host: Some(&host),
            sample: &sample,
            parts: sample.parts.as_deref(),
            health: Some(&health),
            problems: Some(&problems),
        };
        expect_file!["../tests/golden/metrics/host.prom"].assert_eq(&metrics_text(&now, "0.2.0"));
    }

    #[test]
    fn each_family_is_named_once_before_its_samples_and_what_is_unknown_is_left_out() {
        let page = metrics_text(&now(&sample(), None), "0.2.0");
        let mut known: Vec<&str> = Vec::new();
        for line in page.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let name = rest.split(' ').next().unwrap();
                assert!(!known.contains(&name), "{name}");
                known.push(name);
            } else if !line.starts_with('#') {
                assert_eq!(Some(&line.split(['{', ' ']).next().unwrap()), known.last(), "{line}");
            }
        }
        assert!(!page.contains("Tcp") && !page.contains("node_pressure_cpu") && !page.contains("stend_problems"));
    }
}
