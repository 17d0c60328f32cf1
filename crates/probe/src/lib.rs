//! Telemetry: reads what the kernel counts, over a given root directory. Must not interpret the numbers,
//! write anything, or fail: what is missing or malformed on this kernel is `None`.
#![forbid(unsafe_code)]

mod cost;
mod devices;
#[cfg(test)]
mod fixture;
mod group;
mod interrupts;
mod kernel;
mod kernel_log;
#[cfg(test)]
mod named_fields_tests;
mod nfs;
mod parse;
mod parts;
mod source;

pub use cost::reading_cost;
pub use devices::{BlockDevices, block_devices};
pub use kernel_log::{DeviceErrors, KernelLog};
pub use nfs::MOUNTS_MAX as NFS_SHARES_MAX;
pub use parts::temperatures;

use group::Groups;
use interrupts::Owned;
use nfs::NfsFiles;
use parts::Readers;
use source::Source;
use std::path::{Path, PathBuf};
use std::time::Instant;
use stend_base::{Bytes, Nanos};
use stend_record::parts::PathState;
use stend_record::sample::Pressure;
use stend_record::{Parts, Sample};

/// What parts of the machine tell of themselves. Temperatures are left out ([`temperatures`]): a drive that does not answer would hold all of
/// it up.
#[derive(Debug, Default)]
pub struct PartsProbe {
    /// Ways of the last reading, those that are gone included.
    paths: Vec<PathState>,
    /// States as they were then; `None`: nothing was read yet.
    states: Option<Parts>,
}

impl PartsProbe {
    /// A reading of what there is of `devices` below `root` now. All of it is found anew: pools are imported, arrays
    /// assembled and paths connected again without any block device that comes or goes.
    pub fn read(&mut self, root: &Path, devices: &[String]) -> Box<Parts> {
        let mut parts = Readers::without_temperatures(root, devices).at_edge();
        self.states = Some(parts::states_of(&parts));
        let gone = parts::gone(&self.paths, &parts.paths, devices);
        parts.paths.extend(gone);
        self.paths.clone_from(&parts.paths);
        parts
    }

    /// Whether an array, a pool, a path or a link is in another state than at the last reading. It asks nothing but the kernel, and costs
    /// some 40 calls for each drive.
    pub fn has_changed(&self, root: &Path, devices: &[String]) -> bool {
        self.states.as_ref() != Some(&parts::states(root, devices))
    }
}

/// Readers of one host, with their files kept open: one reading is a few `pread`s and no allocation
/// beyond the sample itself.
#[derive(Debug)]
pub struct Probe {
    devices: Vec<String>,
    owned: Owned,
    groups: Groups,
    /// `None`: they are read by somebody else.
    parts: Option<Readers>,
    interrupts: Source,
    softirqs: Source,
    networks: Source,
    /// `/sys/class/net`.
    interfaces: PathBuf,
    tcp: Source,
    nfs: NfsFiles,
    paging: Source,
    stat: Source,
    meminfo: Source,
    diskstats: Source,
    pressure_cpu: Source,
    pressure_memory: Source,
    pressure_io: Source,
    worker: Source,
    coordinator: Option<Source>,
    page_bytes: u64,
}

impl Probe {
    /// Opens what there is under `root` (`/` on a live host).
    ///
    /// `devices` are kernel names as in `/sys/block`; a sample lists those that exist in this order. The
    /// coordinator is given only when it runs on the same host.
    pub fn new(root: &Path, devices: Vec<String>, worker_pid: u32, coordinator_pid: Option<u32>) -> Probe {
        let parts = Some(Readers::find(root, &devices));
        Probe::with(root, devices, (worker_pid, coordinator_pid), parts)
    }

    /// Readers of a host that is watched without a load, by the process `pid`. The state of its parts is not among what they
    /// read: [`PartsProbe`] may have to wait for a drive.
    pub fn of_host(root: &Path, devices: Vec<String>, pid: u32) -> Probe {
        Probe::with(root, devices, (pid, None), None)
    }

    fn with(
        root: &Path,
        devices: Vec<String>,
        (worker_pid, coordinator_pid): (u32, Option<u32>),
        parts: Option<Readers>,
    ) -> Probe {
        let proc = root.join("proc");
        let process = |pid: u32| Source::open(&proc.join(pid.to_string()).join("stat"));
        let pressure = proc.join("pressure");
        Probe {
            owned: Owned::find(root, &devices),
            groups: Groups::find(root, worker_pid, &devices),
            parts,
            interrupts: Source::open_up_to(&proc.join("interrupts"), interrupts::TABLE_MAX),
            softirqs: Source::open(&proc.join("softirqs")),
            networks: Source::open(&proc.join("net/dev")),
            interfaces: root.join("sys/class/net"),
            tcp: Source::open(&proc.join("net/snmp")),
            nfs: NfsFiles::open(root),
            paging: Source::open(&proc.join("vmstat")),
            stat: Source::open(&proc.join("stat")),
            meminfo: Source::open(&proc.join("meminfo")),
            diskstats: Source::open(&proc.join("diskstats")),
            pressure_cpu: Source::open(&pressure.join("cpu")),
            pressure_memory: Source::open(&pressure.join("memory")),
            pressure_io: Source::open(&pressure.join("io")),
            worker: process(worker_pid),
            coordinator: coordinator_pid.map(process),
            devices,
            page_bytes: rustix::param::page_size() as u64,
        }
    }

    /// Takes one sample of the regular pace, stamped with the time that the caller read just before.
    pub fn read(&mut self, at: Nanos) -> Sample {
        self.sample(at, |parts| parts.on_time(at))
    }

    /// The same at an edge of a trial, where everything is asked.
    pub fn read_at_edge(&mut self, at: Nanos) -> Sample {
        self.sample(at, |parts| Some(parts.at_edge()))
    }

    /// How many shares of NFS the last sample lacks: those beyond [`NFS_SHARES_MAX`].
    pub fn shares_left_out(&self) -> usize {
        self.nfs.left_out()
    }

    /// Files that the last sample lacks because they are larger than what is kept of them, each with that limit.
    pub fn too_large(&self) -> Vec<(&'static str, Bytes)> {
        let files = [
            ("/proc/stat", self.stat.too_large()),
            ("/proc/diskstats", self.diskstats.too_large()),
            ("/proc/interrupts", self.interrupts.too_large()),
            ("/proc/softirqs", self.softirqs.too_large()),
            ("/proc/net/dev", self.networks.too_large()),
            ("/proc/self/mountstats", self.nfs.too_large()),
        ];
        files.into_iter().filter_map(|(file, limit)| Some((file, limit?))).collect()
    }

    fn sample(&mut self, at: Nanos, parts: impl FnOnce(&mut Readers) -> Option<Box<Parts>>) -> Sample {
        let start = Instant::now();
        let page_bytes = self.page_bytes;
        let mut sample = Sample {
            at,
            cpus: self.stat.read().and_then(parse::cpus),
            memory: self.meminfo.read().and_then(parse::memory),
            pressure: self.pressure(),
            disks: self.diskstats.read().map_or_else(Vec::new, |text| parse::disks(text, &self.devices)),
            interrupts: self.interrupts.read().and_then(|text| interrupts::hard(text, &self.owned)),
            softirqs: self.softirqs.read().and_then(interrupts::soft),
            networks: self
                .networks
                .read()
                .and_then(|text| kernel::networks(text, |name| self.interfaces.join(name).join("device").exists())),
            tcp: self.tcp.read().and_then(kernel::tcp),
            nfs: self.nfs.read(at),
            paging: self.paging.read().and_then(|text| kernel::paging(text, page_bytes)),
            limits: self.groups.read(),
            parts: self.parts.as_mut().and_then(parts),
            worker: self.worker.read().and_then(|text| parse::process(text, page_bytes)),
            coordinator: self
                .coordinator
                .as_mut()
                .and_then(Source::read)
                .and_then(|text| parse::process(text, page_bytes)),
            cost_ns: 0,
        };
        sample.cost_ns = start.elapsed().as_nanos() as u64;
        sample
    }

    /// `None` where the kernel has no pressure information at all.
    fn pressure(&mut self) -> Option<Pressure> {
        let mut pressure = Pressure::default();
        if let Some(text) = self.pressure_cpu.read() {
            pressure.cpu_some_ns = parse::stall(text, "some");
        }
        if let Some(text) = self.pressure_memory.read() {
            pressure.memory_some_ns = parse::stall(text, "some");
            pressure.memory_full_ns = parse::stall(text, "full");
        }
        if let Some(text) = self.pressure_io.read() {
            pressure.io_some_ns = parse::stall(text, "some");
            pressure.io_full_ns = parse::stall(text, "full");
        }
        (pressure != Pressure::default()).then_some(pressure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::put;
    use std::os::unix::fs::symlink;

    #[test]
    fn ten_thousand_interrupts_of_128_cpus_are_read() {
        const CPUS: usize = 128;
        let dir = tempfile::tempdir().unwrap();
        let head: String = (0..CPUS).map(|cpu| format!("     CPU{cpu}")).collect();
        let counts = format!("{:>11}", 3_000_000_000u64).repeat(CPUS);
        let line = |number| format!("{number:>5}:{counts}  PCI-MSIX-0000:01:00.0  {number}-edge      nvme0q{number}\n");
        let table: String = std::iter::once(format!("      {head}\n")).chain((0..10_000).map(line)).collect();
        put(dir.path(), "proc/interrupts", &table);
        let mut probe = Probe::of_host(dir.path(), Vec::new(), 1);
        let found = probe.read(Nanos::SECOND).interrupts.expect("the table");
        assert_eq!((found.cpus.len(), probe.too_large()), (CPUS, Vec::new()));
        assert!(found.cpus.iter().all(|cpu| cpu.all == 30_000_000_000_000), "{:?}", found.cpus[0]);
    }

    #[test]
    fn a_table_that_is_larger_than_any_real_one_is_missing_and_named() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "proc/interrupts", "");
        let file = std::fs::OpenOptions::new().write(true).open(dir.path().join("proc/interrupts")).unwrap();
        file.set_len(65 << 20).unwrap();
        let mut probe = Probe::of_host(dir.path(), Vec::new(), 1);
        assert_eq!(probe.read(Nanos::SECOND).interrupts, None);
        assert_eq!(probe.too_large(), [("/proc/interrupts", Bytes::mib(64))]);
        file.set_len(0).unwrap();
        probe.read(Nanos::secs(2));
        assert!(probe.too_large().is_empty());
    }

    #[test]
    fn a_pool_that_is_imported_later_is_read_and_one_that_is_imported_again_by_its_new_file() {
        let dir = tempfile::tempdir().unwrap();
        let state = "proc/spl/kstat/zfs/tank/state";
        let mut probe = PartsProbe::default();
        let mut health = || {
            let pools = probe.read(dir.path(), &[]).pools;
            pools.into_iter().map(|pool| pool.health.unwrap_or_default()).collect::<Vec<_>>()
        };
        assert_eq!(health(), [""; 0]);
        put(dir.path(), state, "ONLINE\n");
        assert_eq!(health(), ["ONLINE"]);
        // Another file of that name: the one before still says ONLINE to who has it open.
        std::fs::remove_file(dir.path().join(state)).unwrap();
        put(dir.path(), state, "DEGRADED\n");
        assert_eq!(health(), ["DEGRADED"]);
        std::fs::remove_dir_all(dir.path().join("proc/spl/kstat/zfs/tank")).unwrap();
        assert_eq!(health(), [""; 0], "exported");
    }

    #[test]
    fn a_state_that_changed_is_noticed_until_it_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let put = |file: &str, text: &str| put(dir.path(), &format!("sys/class/block/md0/md/{file}"), text);
        let files = [("level", "raid1\n"), ("array_state", "clean\n"), ("raid_disks", "2\n"), ("degraded", "0\n")];
        files.iter().for_each(|(file, text)| put(file, text));
        let devices = ["md0".to_string()];
        let mut probe = PartsProbe::default();
        assert!(probe.has_changed(dir.path(), &devices), "nothing was read yet");
        probe.read(dir.path(), &devices);
        put("array_state", "active\n");
        assert!(!probe.has_changed(dir.path(), &devices), "somebody wrote");
        put("degraded", "1\n");
        assert!(probe.has_changed(dir.path(), &devices) && probe.has_changed(dir.path(), &devices));
        assert_eq!(probe.read(dir.path(), &devices).arrays[0].degraded, Some(1));
        assert!(!probe.has_changed(dir.path(), &devices));
    }

    #[test]
    fn a_controller_that_is_gone_for_good_is_missed_until_another_takes_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let subsystem = "sys/devices/virtual/nvme-subsystem/nvme-subsys0";
        let live = |name: &str| put(&root, &format!("{subsystem}/{name}/state"), "live\n");
        ["nvme0", "nvme1"].iter().for_each(|name| live(name));
        std::fs::create_dir_all(root.join("sys/class/block/nvme0n1")).unwrap();
        symlink(root.join(subsystem), root.join("sys/class/block/nvme0n1/device")).unwrap();
        let mut probe = PartsProbe::default();
        let mut told = |devices: &[&str]| {
            let devices: Vec<String> = devices.iter().map(|name| name.to_string()).collect();
            let of = |path: PathState| format!("{} {}", path.path, path.state.unwrap_or_default());
            probe.read(&root, &devices).paths.into_iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(told(&["nvme0n1"]), ["nvme0 live", "nvme1 live"]);
        std::fs::remove_dir_all(root.join(subsystem).join("nvme1")).unwrap();
        assert_eq!(told(&["nvme0n1"]), ["nvme0 live", "nvme1 "]);
        assert_eq!(told(&["nvme0n1", "sdb"]), ["nvme0 live", "nvme1 "], "a stick that was plugged in changes nothing");
        live("nvme3");
        assert_eq!(told(&["nvme0n1"]), ["nvme0 live", "nvme3 live"]);
        assert_eq!(told(&[]), [""; 0], "with its drive it goes");
    }
}
