//! Whole samples over recorded trees of several kernels.

use std::path::Path;
use stend_base::Nanos;
use stend_probe::Probe;
use stend_record::Sample;
use stend_record::sample::{CpuTimes, DiskCounters, Memory, Pressure};

fn sample(tree: &str, devices: &[&str], worker: u32, coordinator: Option<u32>) -> Sample {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(tree);
    assert!(root.is_dir());
    let devices = devices.iter().map(|name| name.to_string()).collect();
    Probe::new(&root, devices, worker, coordinator).read(Nanos(77))
}

fn ms(n: u64) -> u64 {
    n * 1_000_000
}

#[test]
fn a_kernel_6_18_offers_everything() {
    let sample = sample("linux-6.18", &["vda", "loop3", "absent"], 4242, Some(4200));
    assert_eq!(sample.at, Nanos(77));
    let cpus = sample.cpus.unwrap();
    let first = CpuTimes {
        cpu: 0,
        user_ns: ms(10 * (110_337 + 94)),
        system_ns: ms(152_880),
        idle_ns: ms(2_031_580),
        iowait_ns: ms(5080),
        irq_ns: 0,
        softirq_ns: ms(1090),
        steal_ns: ms(1470),
    };
    assert_eq!((cpus.len(), cpus[0], cpus[1].cpu), (2, first, 1));
    assert_eq!(sample.memory.unwrap().total_bytes, 24_684_096 << 10);
    let pressure = Pressure {
        cpu_some_ns: Some(657_791_145_000),
        memory_some_ns: Some(0),
        memory_full_ns: Some(0),
        io_some_ns: Some(54_469_963_000),
        io_full_ns: Some(15_931_175_000),
    };
    assert_eq!(sample.pressure, Some(pressure));
    let names: Vec<&str> = sample.disks.iter().map(|disk| disk.name.as_str()).collect();
    assert_eq!(names, ["vda", "loop3"]);
    assert_eq!((sample.disks[0].flushes, sample.disks[0].flush_ns), (Some(16_098), Some(ms(3520))));
    let interrupts = sample.interrupts.unwrap();
    let cpus: Vec<(u64, u64)> = interrupts.cpus.iter().map(|cpu| (cpu.all, cpu.target)).collect();
    assert_eq!((cpus, interrupts.lines.len()), (vec![(8778, 0), (2_675_300, 0)], 0));
    let softirqs = sample.softirqs.unwrap();
    assert_eq!((softirqs[1].block, softirqs[0].network_receive), (2_815_526, 5001));
    let eth0 = &sample.networks.unwrap()[0];
    assert_eq!((eth0.name.as_str(), eth0.received.bytes, eth0.sent.packets), ("eth0", 392_138_416, 6530));
    assert_eq!(sample.tcp.unwrap().sent, 5868);
    let paging = sample.paging.unwrap();
    assert_eq!((paging.read_bytes, paging.swap_out_bytes), (112_428_887 << 10, Some(5 * 4096)));
    let io = &sample.limits.unwrap().io;
    assert_eq!((io.len(), io[0].device.as_str(), io[0].reads), (1, "loop3", Some(2000)));
    assert_eq!(sample.worker.unwrap().cpu_ns, ms(15_790));
    assert_eq!(sample.coordinator.unwrap().cpu_ns, ms(30));
}

#[test]
fn a_kernel_4_18_without_pressure_and_flushes_has_gaps_not_zeros() {
    let sample = sample("rhel-8", &["sda", "sdb"], 900, None);
    let cpus: Vec<u32> = sample.cpus.unwrap().iter().map(|cpu| cpu.cpu).collect();
    assert_eq!(cpus, [0, 1, 3]);
    let memory = Memory {
        total_bytes: 7_990_292 << 10,
        available_bytes: 7_320_112 << 10,
        cached_bytes: 730_104 << 10,
        dirty_bytes: 48 << 10,
        swap_used_bytes: 1024 << 10,
    };
    assert_eq!(sample.memory, Some(memory));
    assert_eq!(sample.pressure, None);
    let sda = DiskCounters {
        name: "sda".to_string(),
        reads: 9210,
        read_bytes: 771_204 * 512,
        read_ns: ms(40_120),
        writes: 5230,
        write_bytes: 402_212 * 512,
        write_ns: ms(30_100),
        in_flight: 2,
        busy_ns: ms(20_130),
        weighted_ns: ms(70_220),
        flushes: None,
        flush_ns: None,
    };
    assert_eq!(sample.disks[0], sda);
    assert_eq!((sample.disks[1].writes, sample.disks[1].weighted_ns, sample.disks[1].flushes), (200, ms(30), None));
    assert_eq!((sample.interrupts, sample.softirqs, sample.networks, sample.tcp), (None, None, None, None));
    assert_eq!((sample.paging, sample.limits), (None, None));
    assert_eq!(sample.worker.unwrap().cpu_ns, ms(750));
    assert_eq!(sample.coordinator, None);
}

#[test]
fn an_empty_root_gives_an_empty_sample() {
    let root = tempfile::tempdir().unwrap();
    let sample = Probe::new(root.path(), vec!["sda".to_string()], 1, Some(2)).read(Nanos(1));
    let parts = Some(Box::default());
    assert_eq!(Sample { cost_ns: 0, ..sample }, Sample { at: Nanos(1), parts, ..Sample::default() });
}

#[test]
fn the_live_kernel_is_read_and_our_own_cost_grows() {
    let pid = std::process::id();
    let mut probe = Probe::new(Path::new("/"), Vec::new(), pid, Some(pid));
    let before = probe.read(Nanos(1));
    assert!(before.cpus.is_some_and(|cpus| !cpus.is_empty()));
    assert!(before.memory.is_some() && before.paging.is_some() && before.networks.is_some());
    assert!(before.interrupts.is_some() && before.softirqs.is_some());
    let cost = |sample: &Sample| sample.worker.unwrap().cpu_ns;
    let start = before.worker.unwrap();
    assert!(start.resident_bytes > 0);
    // CPU time of a thread that has ended still counts.
    let mut after = probe.read(Nanos(2));
    for _ in 0..1000 {
        if cost(&after) > start.cpu_ns {
            break;
        }
        std::thread::spawn(|| (0..10_000_000u64).fold(0, |x, y| std::hint::black_box(x ^ y))).join().unwrap();
        after = probe.read(Nanos(3));
    }
    assert!(cost(&after) > start.cpu_ns);
}

#[test]
fn a_process_that_ended_is_a_gap() {
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let mut probe = Probe::new(Path::new("/"), Vec::new(), child.id(), None);
    let alive = probe.read(Nanos(1)).worker;
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(alive.is_some());
    assert_eq!(probe.read(Nanos(2)).worker, None);
}
