//! Trees of kernels and vendors that differ from the recorded ones: what each has is read, what it lacks is missing.

use std::path::{Path, PathBuf};
use stend_base::Nanos;
use stend_probe::{PartsProbe, Probe, temperatures};
use stend_record::nfs::{NfsMount, NfsRequests, NfsServer};
use stend_record::{Parts, Sample};

fn root(tree: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(tree);
    assert!(root.is_dir(), "{tree}");
    root
}

fn names(devices: &[&str]) -> Vec<String> {
    devices.iter().map(|name| name.to_string()).collect()
}

fn sample(tree: &str, devices: &[&str]) -> Sample {
    Probe::of_host(&root(tree), names(devices), 900).read(Nanos::SECOND)
}

fn parts(tree: &str, devices: &[&str]) -> Parts {
    *PartsProbe::default().read(&root(tree), &names(devices))
}

fn ms(n: u64) -> u64 {
    n * 1_000_000
}

#[test]
fn a_kernel_3_10_with_shares_of_nfs_3_is_read_without_what_it_does_not_count() {
    let sample = sample("rhel-7-nfs3", &["sda", "sdb", "dm-0", "md127"]);
    assert_eq!(sample.cpus.unwrap()[0].user_ns, ms(6100));
    assert_eq!((sample.memory.unwrap().swap_used_bytes, sample.pressure), (1024 << 10, None));
    let paging = sample.paging.unwrap();
    assert_eq!((paging.oom_kills, paging.allocation_stalls), (None, Some(12)));
    let softirqs = sample.softirqs.unwrap();
    assert_eq!((softirqs[0].block, softirqs[1].network_receive), (4000, 700));
    let networks = sample.networks.unwrap();
    assert_eq!((networks.len(), networks[0].received.errors, networks[0].received.drops), (2, 2, 1));
    assert_eq!(sample.tcp.unwrap().sent_again, 44);
    assert_eq!(sample.disks.iter().map(|disk| disk.flushes).collect::<Vec<_>>(), [None; 4]);
    assert_eq!((sample.disks[1].in_flight, sample.interrupts, sample.limits), (3, None, None));
    let nfs = sample.nfs.unwrap();
    let of = |done, sent, timeouts, whole: u64| NfsRequests { done, sent, timeouts, time_ns: ms(whole) };
    let home = NfsMount {
        at: "/home".into(),
        export: "filer1:/vol/home".into(),
        version: "3".into(),
        read_bytes: 40_960_000,
        write_bytes: 40_960_000,
        reads: of(625, 630, 2, 2700),
        writes: of(625, 626, 0, 6000),
        others: of(360, 361, 0, 216),
        sent: 1600,
        answered: 1598,
    };
    assert_eq!((&nfs.mounts[0], nfs.server), (&home, None));
    let old = &nfs.mounts[1];
    assert_eq!((nfs.mounts.len(), old.sent, old.answered, old.reads), (2, 9, 7, of(1, 3, 1, 2300)), "over UDP");
    let array = &parts("rhel-7-nfs3", &["sda", "md127"]).arrays[0];
    assert_eq!((array.level.as_str(), array.degraded, array.action.as_deref()), ("raid1", Some(1), Some("recover")));
    assert_eq!(array.progress, Some((1_048_576, 8_388_608)));
}

#[test]
fn a_kernel_5_15_counts_on_the_paths_of_an_nvme_drive_and_has_limits_and_heat() {
    let sample = sample("ubuntu-22.04-nvme", &["nvme0n1", "loop0"]);
    let drive = &sample.disks[0];
    assert_eq!((drive.reads, drive.writes, drive.in_flight, drive.flushes), (70_010, 30_000, 1, Some(9)));
    let pressure = sample.pressure.unwrap();
    assert_eq!((pressure.cpu_some_ns, pressure.io_full_ns), (Some(8_000_000_000), Some(40_000_000)));
    let paging = sample.paging.unwrap();
    assert_eq!((paging.oom_kills, paging.allocation_stalls), (Some(2), Some(7)));
    let interrupts = sample.interrupts.unwrap();
    assert_eq!(interrupts.cpus.iter().map(|cpu| cpu.all).collect::<Vec<_>>(), [1030, 2000, 3000, 0]);
    let limits = sample.limits.unwrap();
    assert_eq!((limits.cpu_milli, limits.cpu_throttled, limits.memory_bytes), (Some(2000), Some(3), Some(8 << 30)));
    assert_eq!(sample.networks.unwrap()[0].received.bytes, 123_456_789_012);
    assert_eq!((sample.worker.unwrap().cpu_ns, sample.nfs), (ms(750), None));
    let parts = parts("ubuntu-22.04-nvme", &["nvme0n1"]);
    assert_eq!((parts.frequencies_khz, parts.throttled), (vec![2_450_000, 3_100_000], Some(5)));
    assert!(temperatures(&root("ubuntu-22.04-nvme"), &names(&["loop0"])).is_empty());
}

#[test]
fn a_kernel_6_1_is_a_client_over_two_connections_and_a_server_of_nfs() {
    let sample = sample("debian-12-nfs", &["sda", "sdb", "md0"]);
    let nfs = sample.nfs.unwrap();
    assert_eq!(nfs.mounts.len(), 1, "bound twice");
    let mount = &nfs.mounts[0];
    assert_eq!((mount.at.as_str(), mount.export.as_str()), ("/mnt/vm images", "[2001:db8::7]:/export/vm"));
    assert_eq!((mount.version.as_str(), mount.sent, mount.answered), ("4.2", 1600, 1598));
    assert_eq!((mount.read_bytes, mount.write_bytes), (1_048_576_000, 524_288_000));
    assert_eq!((mount.writes.sent, mount.writes.timeouts, mount.others.done), (501, 1, 87));
    let (read_bytes, write_bytes) = (7_340_032_000, 3_145_728_000);
    assert_eq!(nfs.server, Some(NfsServer { requests: 9040, bad: 2, read_bytes, write_bytes, threads: Some(16) }));
    assert_eq!(sample.disks[2].flushes, Some(0));
    let parts = parts("debian-12-nfs", &["sda", "sdb", "md0"]);
    assert_eq!((parts.arrays[0].degraded, parts.arrays[0].progress), (Some(0), None));
    assert_eq!(parts.pools.iter().map(|pool| pool.operation.as_deref()).collect::<Vec<_>>(), [Some("balance")]);
}

#[test]
fn a_hypervisor_with_zfs_has_its_pools_its_cache_and_the_ports_of_guests() {
    let sample = sample("proxmox-8-zfs", &["sda", "zd0"]);
    assert_eq!(sample.cpus.unwrap().iter().map(|cpu| cpu.cpu).collect::<Vec<_>>(), [0, 2]);
    let names: Vec<String> = sample.networks.unwrap().into_iter().map(|network| network.name).collect();
    assert_eq!(names, ["eno1", "vmbr0", "tap100i0"]);
    assert_eq!((sample.disks.len(), sample.disks[0].flushes), (2, Some(80)));
    let parts = parts("proxmox-8-zfs", &["sda", "zd0"]);
    let pools: Vec<(&str, Option<&str>)> =
        parts.pools.iter().map(|pool| (pool.name.as_str(), pool.health.as_deref())).collect();
    assert_eq!(pools, [("rpool", Some("DEGRADED")), ("tank", Some("ONLINE"))]);
    let arc = parts.arc.unwrap();
    assert_eq!((arc.demand_hits, arc.demand_misses, arc.size_bytes), (800, 60, 33_000_000_000));
}

#[test]
fn an_arm_machine_has_its_interrupts_and_gaps_where_files_are_missing() {
    let sample = sample("arm64-6.6", &["nvme0n1"]);
    let interrupts = sample.interrupts.unwrap();
    assert_eq!(interrupts.cpus.iter().map(|cpu| cpu.all).collect::<Vec<_>>(), [50_700, 60_900]);
    assert_eq!(sample.softirqs.unwrap()[1].block, 300);
    assert_eq!((sample.disks[0].reads, sample.cpus.unwrap().len()), (500, 2));
    let others = (sample.memory, sample.networks, sample.tcp, sample.nfs, sample.paging);
    assert_eq!(others, (None, None, None, None, None));
}
