//! Limits of control groups, v1 and v2, on the worker's way to the root. Must not change one, and does not
//! look for limits that a hypervisor or an array sets.

use crate::source::Source;
use std::path::{Path, PathBuf};
use stend_record::sample::{GroupLimits, IoLimit};

/// Deepest nesting of groups that is followed; a container in a pod in a slice has about six.
const DEPTH_MAX: usize = 16;
/// A v1 memory limit from here on is the kernel's "none" (2^63 less a page).
const MEMORY_NONE: u64 = 1 << 62;
/// Files of `blkio` (v1) in the order of the fields of [`IoLimit`].
const BLKIO: [&str; 4] = ["read_bps_device", "write_bps_device", "read_iops_device", "write_iops_device"];
/// Keys of `io.max` (v2) in the same order.
const IO_MAX: [&str; 4] = ["rbps", "wbps", "riops", "wiops"];

/// Files that set limits, kept open.
#[derive(Debug, Default)]
pub struct Groups {
    /// v2 `cpu.max`: `200000 100000` or `max 100000`.
    cpu_max: Vec<Source>,
    /// v1 `cpu.cfs_quota_us` and `cpu.cfs_period_us`.
    cpu_quota: Vec<(Source, Source)>,
    /// `cpu.stat` of both.
    cpu_stat: Vec<Source>,
    /// v2 `memory.max`, v1 `memory.limit_in_bytes`.
    memory: Vec<Source>,
    /// v2 `io.max`.
    io_max: Vec<Source>,
    /// v1 `blkio.throttle.*`, by field of [`IoLimit`].
    blkio: [Vec<Source>; 4],
    /// (kernel name, `major:minor`) of the devices.
    devices: Vec<(String, String)>,
}

impl Groups {
    /// Finds the groups of process `pid`. Groups that this kernel or mount does not show are left out.
    pub fn find(root: &Path, pid: u32, devices: &[String]) -> Groups {
        let read = |path: PathBuf| std::fs::read_to_string(path).ok();
        let text = read(root.join("proc").join(pid.to_string()).join("cgroup")).unwrap_or_default();
        let number = |name: &String| {
            let number = read(root.join("sys/class/block").join(name).join("dev"))?;
            Some((name.clone(), number.trim().to_string()))
        };
        let mut groups = Groups { devices: devices.iter().filter_map(number).collect(), ..Groups::default() };
        let mounts = root.join("sys/fs/cgroup");
        for (controllers, path) in text.lines().filter_map(membership) {
            if controllers.is_empty() {
                // v2: alone, or beside v1 in a place of its own.
                let alone = mounts.join("cgroup.controllers").is_file();
                let mount = if alone { mounts.clone() } else { mounts.join("unified") };
                levels(&mount, path).iter().for_each(|level| groups.add_v2(level));
            }
            for controller in controllers.split(',') {
                levels(&mounts.join(controller), path).iter().for_each(|level| groups.add_v1(controller, level));
            }
        }
        groups
    }

    fn add_v2(&mut self, level: &Path) {
        let open = |name: &str| Source::open(&level.join(name));
        push(&mut self.cpu_max, open("cpu.max"));
        push(&mut self.memory, open("memory.max"));
        push(&mut self.io_max, open("io.max"));
        push(&mut self.cpu_stat, open("cpu.stat"));
    }

    fn add_v1(&mut self, controller: &str, level: &Path) {
        let open = |name: &str| Source::open(&level.join(name));
        match controller {
            "cpu" => {
                let (quota, period) = (open("cpu.cfs_quota_us"), open("cpu.cfs_period_us"));
                if quota.exists() {
                    self.cpu_quota.push((quota, period));
                }
                push(&mut self.cpu_stat, open("cpu.stat"));
            }
            "memory" => push(&mut self.memory, open("memory.limit_in_bytes")),
            "blkio" => {
                for (sources, name) in self.blkio.iter_mut().zip(BLKIO) {
                    push(sources, open(&format!("blkio.throttle.{name}")));
                }
            }
            _ => {}
        }
    }

    /// The limits as they are now. `None` where no group shows any file of limits.
    pub fn read(&mut self) -> Option<GroupLimits> {
        let none = self.cpu_max.is_empty() && self.cpu_quota.is_empty() && self.memory.is_empty();
        if none && self.io_max.is_empty() && self.blkio.iter().all(Vec::is_empty) {
            return None;
        }
        let modern = self.cpu_max.iter_mut().filter_map(|source| cpu_max(source.read()?));
        let old = self.cpu_quota.iter_mut().filter_map(|(quota, period)| share(quota.read()?, period.read()?));
        let cpu_milli = modern.chain(old).min();
        let throttled = self.cpu_stat.iter_mut().filter_map(|source| throttled(source.read()?));
        let memory = self.memory.iter_mut().filter_map(|source| source.read()?.trim().parse::<u64>().ok());
        Some(GroupLimits {
            cpu_milli,
            cpu_throttled: throttled.reduce(u64::saturating_add),
            memory_bytes: memory.filter(|&bytes| bytes < MEMORY_NONE).min(),
            io: self.io(),
        })
    }

    fn io(&mut self) -> Vec<IoLimit> {
        let mut found: Vec<[Option<u64>; 4]> = vec![[None; 4]; self.devices.len()];
        let devices = &self.devices;
        let mut note = |line: &str, field: usize, value: Option<u64>| {
            let number = line.split_ascii_whitespace().next();
            let Some(at) = devices.iter().position(|(_, device)| Some(device.as_str()) == number) else { return };
            let slot = &mut found[at][field];
            *slot = (*slot).into_iter().chain(value).min();
        };
        for text in self.io_max.iter_mut().filter_map(Source::read) {
            for (line, (field, key)) in text.lines().flat_map(|line| IO_MAX.iter().enumerate().map(move |k| (line, k)))
            {
                let value = line.split_ascii_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
                note(line, field, value.and_then(|value| value.parse().ok()));
            }
        }
        for (field, sources) in self.blkio.iter_mut().enumerate() {
            for text in sources.iter_mut().filter_map(Source::read) {
                text.lines().for_each(|line| {
                    let value = line.split_ascii_whitespace().nth(1).and_then(|value| value.parse().ok());
                    note(line, field, value);
                });
            }
        }
        let limits = self.devices.iter().zip(found).filter(|(_, limits)| *limits != [None; 4]);
        limits
            .map(|((name, _), [read_bytes, write_bytes, reads, writes])| IoLimit {
                device: name.clone(),
                read_bytes,
                write_bytes,
                reads,
                writes,
            })
            .collect()
    }
}

/// Keeps a file that is there.
fn push(sources: &mut Vec<Source>, source: Source) {
    if source.exists() {
        sources.push(source);
    }
}

/// (controllers, path) of a line of `/proc/PID/cgroup`: `0::/user.slice`, `7:blkio:/`.
fn membership(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once(':')?;
    rest.split_once(':')
}

/// Directories of a group and of those around it. A path that does not exist below the mount is that of the
/// host, seen from a container: the mount is then the container's own group.
fn levels(mount: &Path, path: &str) -> Vec<PathBuf> {
    let own = mount.join(path.trim_start_matches('/'));
    let own = if own.is_dir() && !path.contains("..") { own } else { mount.to_path_buf() };
    own.ancestors().take(DEPTH_MAX).take_while(|level| level.starts_with(mount)).map(Path::to_path_buf).collect()
}

/// Thousandths of a CPU from `cpu.max`; `None` without a limit.
fn cpu_max(text: &str) -> Option<u64> {
    let (quota, period) = text.trim().split_once(' ')?;
    share(quota, period)
}

/// Quota over period in thousandths; `None` without a limit (`max`, −1) or with a period of 0.
fn share(quota: &str, period: &str) -> Option<u64> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    number(quota)?.saturating_mul(1000).checked_div(number(period)?)
}

fn throttled(stat: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix("nr_throttled ")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recorded tree: process 7, device `sda` 8:0.
    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(cgroup: &str) -> Tree {
            let tree = Tree(tempfile::tempdir().unwrap());
            tree.put("proc/7/cgroup", cgroup);
            tree.put("sys/class/block/sda/dev", "8:0\n");
            tree
        }

        fn put(&self, path: &str, text: &str) {
            let path = self.0.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn limits(&self) -> Option<GroupLimits> {
            Groups::find(self.0.path(), 7, &["sda".to_string()]).read()
        }
    }

    #[test]
    fn the_narrowest_limit_on_the_way_up_counts() {
        let tree = Tree::new("0::/a/b\n");
        tree.put("sys/fs/cgroup/cgroup.controllers", "cpu io memory\n");
        tree.put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
        tree.put("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
        tree.put("sys/fs/cgroup/a/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 4\nthrottled_usec 1\n");
        tree.put("sys/fs/cgroup/a/b/memory.max", "max\n");
        tree.put("sys/fs/cgroup/a/memory.max", "1073741824\n");
        tree.put("sys/fs/cgroup/a/b/io.max", "8:0 rbps=2097152 wbps=max riops=3000 wiops=max\n");
        tree.put(
            "sys/fs/cgroup/a/io.max",
            "8:16 rbps=1 wbps=1 riops=1 wiops=1\n8:0 rbps=max wbps=max riops=1000 wiops=max\n",
        );
        let io = IoLimit { device: "sda".into(), read_bytes: Some(2 << 20), reads: Some(1000), ..IoLimit::default() };
        let limits =
            GroupLimits { cpu_milli: Some(1500), cpu_throttled: Some(4), memory_bytes: Some(1 << 30), io: vec![io] };
        assert_eq!(tree.limits(), Some(limits));
    }

    #[test]
    fn the_first_version_has_a_place_per_controller() {
        let tree = Tree::new("7:blkio:/x\n4:memory:/y\n1:cpu,cpuacct:/\n0::/\n");
        tree.put("sys/fs/cgroup/blkio/x/blkio.throttle.read_iops_device", "8:0 1000\n");
        tree.put("sys/fs/cgroup/blkio/x/blkio.throttle.write_bps_device", "8:16 5\n8:0 1048576\n");
        tree.put("sys/fs/cgroup/memory/y/memory.limit_in_bytes", "9223372036854771712\n");
        tree.put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
        tree.put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        let io = IoLimit { device: "sda".into(), write_bytes: Some(1 << 20), reads: Some(1000), ..IoLimit::default() };
        assert_eq!(tree.limits(), Some(GroupLimits { io: vec![io], ..GroupLimits::default() }));
    }

    #[test]
    fn a_container_that_sees_the_path_of_its_host_uses_the_mount() {
        let tree = Tree::new("0::/kubepods/pod7/abc\n");
        tree.put("sys/fs/cgroup/cgroup.controllers", "cpu\n");
        tree.put("sys/fs/cgroup/cpu.max", "50000 100000\n");
        assert_eq!(tree.limits().unwrap().cpu_milli, Some(500));
    }

    #[test]
    fn no_files_of_limits_is_none_and_a_malformed_one_is_no_limit() {
        let tree = Tree::new("0::/\n");
        assert_eq!(tree.limits(), None);
        tree.put("sys/fs/cgroup/cgroup.controllers", "\n");
        tree.put("sys/fs/cgroup/cpu.max", "5 0\n");
        tree.put("sys/fs/cgroup/io.max", "8:0 rbps=x\n8:0\n\n");
        assert_eq!(tree.limits(), Some(GroupLimits::default()));
    }
}
