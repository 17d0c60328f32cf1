//! Control groups that hold an instance to its limits, of version 1 or 2, whichever the host has. They are directories of the
//! kernel, go with their value, and those of killed workers are removed by the next one, wherever those had made them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, say};
use stend_spec::app::{CPU_PERIOD, Limits};
use stend_sys::block::DevNo;
use stend_sys::tree;

/// Names are this, the id of our process, and a number.
const PREFIX: &str = "stend-";
/// The same in the unit of the kernel's files.
const PERIOD_US: u64 = CPU_PERIOD.0 / 1000;
/// Controllers of version 1 that limits need.
const CONTROLLERS: [&str; 3] = ["cpu", "memory", "blkio"];
/// How deep below a controller groups of dead workers are looked for: sessions and containers are three or four deep.
const DEPTH_MAX: u32 = 8;
/// How often a group is created again that another worker took for a dead one's, before it was locked.
const MAKE_MAX: u32 = 10;

/// Where groups are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hierarchy {
    /// A directory per controller, in the order of [`CONTROLLERS`].
    V1([PathBuf; 3]),
    /// One for all.
    V2(PathBuf),
}

/// The group of one instance.
#[derive(Debug)]
pub(crate) struct Group {
    /// One directory, or one per controller: CPU, memory, drives.
    paths: Vec<PathBuf>,
    version: u8,
    /// Locks of them: they tell other workers that the groups are used, in containers too, where ids of processes are others.
    _locks: Vec<File>,
}

/// What the processes of a group used since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Used {
    pub cpu_ns: Option<u64>,
    pub throttled_periods: Option<u64>,
    pub memory_hits: Option<u64>,
}

impl Hierarchy {
    /// That of this host, below `root` (`/`). The error says why there is none, and what to do.
    pub fn find(root: &Path) -> Result<Hierarchy> {
        let base = root.join("sys/fs/cgroup");
        let v1 = CONTROLLERS.map(|name| own_v1(root, &base.join(name), name));
        if v1.iter().all(|path| path.join("cgroup.procs").exists()) {
            return Ok(Hierarchy::V1(v1));
        }
        let read = |name: &str| fs::read_to_string(base.join(name)).unwrap_or_default();
        let enabled = read("cgroup.subtree_control");
        let missing: Vec<&str> = ["cpu", "memory", "io"]
            .into_iter()
            .filter(|name| !enabled.split_whitespace().any(|own| own == *name))
            .collect();
        if missing.is_empty() {
            return Ok(Hierarchy::V2(base));
        }
        let missing = missing.join(", ");
        let message = if base.join("cgroup.controllers").exists() {
            say!(
                "instances cannot be limited: control groups of this host (version 2) do not have {missing} enabled",
                "экземпляры нельзя ограничить: в контрольных группах этой машины (версия 2) не включено: {missing}"
            )
        } else {
            say!(
                "instances cannot be limited: there are no control groups with cpu, memory and blkio below `/sys/fs/cgroup`",
                "экземпляры нельзя ограничить: в `/sys/fs/cgroup` нет контрольных групп с cpu, memory и blkio"
            )
        };
        Err(Error::preflight(message).hint(say!(
            "mount them; or enable them with `echo +cpu +memory +io > /sys/fs/cgroup/cgroup.subtree_control`, or write `limits: none`",
            "смонтируйте их, или включите: `echo +cpu +memory +io > /sys/fs/cgroup/cgroup.subtree_control`, или укажите `limits: none`"
        )))
    }

    fn version(&self) -> u8 {
        match self {
            Hierarchy::V1(_) => 1,
            Hierarchy::V2(_) => 2,
        }
    }

    fn bases(&self) -> &[PathBuf] {
        match self {
            Hierarchy::V1(bases) => bases,
            Hierarchy::V2(base) => std::slice::from_ref(base),
        }
    }

    /// Makes a group with these limits, `disk` being where reads and writes are limited.
    pub fn make(&self, number: u32, limits: &Limits, disk: Option<(u32, u32)>) -> Result<Group> {
        let name = format!("{PREFIX}{}-{number}", std::process::id());
        let mut group = Group { paths: Vec::new(), version: self.version(), _locks: Vec::new() };
        for base in self.bases() {
            let path = base.join(&name);
            group._locks.push(make_locked(&path).map_err(|error| cannot(&path, &error))?);
            group.paths.push(path);
        }
        for (path, file, value) in group.settings(limits, disk)? {
            let file = path.join(file);
            write(&file, &value).map_err(|error| cannot(&file, &error))?;
        }
        Ok(group)
    }

    /// Removes the groups that killed workers left anywhere below `root`: with version 1 each made them in the group that it was
    /// in itself. Whether one is dead its lock says, for ids of processes are used again.
    pub fn remove_dead(&self, root: &Path) {
        let base = root.join("sys/fs/cgroup");
        match self {
            Hierarchy::V1(_) => CONTROLLERS.iter().for_each(|name| remove_dead(&base.join(name), DEPTH_MAX)),
            Hierarchy::V2(base) => remove_dead(base, DEPTH_MAX),
        }
    }
}

fn remove_dead(directory: &Path, depth: u32) {
    let (Some(deeper), Ok(open)) = (depth.checked_sub(1), File::open(directory)) else { return };
    // What cannot be read, was removed meanwhile, or is mounted there and no control group, is not our concern.
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let Ok(inner) = tree::enter(&open, &entry.file_name(), directory) else { continue };
        if !ours(&entry.file_name().to_string_lossy()) {
            remove_dead(&entry.path(), deeper);
            continue;
        }
        // Held until the directory is gone, so that nobody begins to use it in between. One with processes stays.
        let lock = File::from(inner);
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Whether a name has the form of those that we give.
fn ours(name: &str) -> bool {
    let parts = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(pid, number)| pid.parse::<u32>().is_ok() && number.parse::<u32>().is_ok())
}

/// Makes a group and locks it. Between both another worker may have taken it for a dead one's.
fn make_locked(path: &Path) -> io::Result<File> {
    for _ in 0..MAKE_MAX {
        fs::create_dir(path)?;
        let Ok(directory) = File::open(path) else { continue };
        directory.lock()?;
        if path.exists() {
            return Ok(directory);
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

/// The group of version 1 that we are in: what limits us limits instances, too. The mount itself where that is not shown.
fn own_v1(root: &Path, mount: &Path, controller: &str) -> PathBuf {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let of = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let named = parts.next()?.split(',').any(|own| own == controller);
        named.then(|| parts.next().map(|path| path.trim_start_matches('/').to_string()))?
    };
    let own = groups.lines().find_map(of).map(|path| mount.join(path));
    own.filter(|path| path.join("cgroup.procs").exists()).unwrap_or_else(|| mount.to_path_buf())
}

impl Group {
    /// Files that look like a group of version 2.
    #[cfg(test)]
    pub fn pretended(path: PathBuf) -> Group {
        Group { paths: vec![path], version: 2, _locks: Vec::new() }
    }

    /// Every setting: where, which file, what.
    fn settings(&self, limits: &Limits, disk: Option<(u32, u32)>) -> Result<Vec<(PathBuf, &'static str, String)>> {
        let quota = u64::from(limits.cpu_thousandths) * PERIOD_US / 1000;
        let memory = limits.memory.0;
        let disk = match (limits.iops, disk) {
            (None, _) => None,
            (Some(iops), Some((major, minor))) => Some((iops, format!("{major}:{minor}"))),
            (Some(_), None) => {
                let message = say!(
                    "`iops` cannot be limited: the directory is not on a disk",
                    "`iops` нельзя ограничить: каталог лежит не на диске"
                );
                return Err(Error::preflight(message).hint(say!(
                    "leave `iops` out, or name a directory on a disk",
                    "уберите `iops` или укажите каталог на диске"
                )));
            }
        };
        let at = |index: usize| self.paths[index.min(self.paths.len() - 1)].clone();
        Ok(match self.version {
            1 => {
                let mut settings = vec![
                    (at(0), "cpu.cfs_period_us", PERIOD_US.to_string()),
                    (at(0), "cpu.cfs_quota_us", quota.to_string()),
                    (at(1), "memory.limit_in_bytes", memory.to_string()),
                ];
                // Memory and swap together, where the kernel counts that: or an instance would go on in swap, on another drive.
                let both = at(1).join("memory.memsw.limit_in_bytes");
                settings.extend(both.exists().then(|| (at(1), "memory.memsw.limit_in_bytes", memory.to_string())));
                if let Some((iops, disk)) = disk {
                    settings.push((at(2), "blkio.throttle.read_iops_device", format!("{disk} {iops}")));
                    settings.push((at(2), "blkio.throttle.write_iops_device", format!("{disk} {iops}")));
                }
                settings
            }
            _ => {
                let mut settings =
                    vec![(at(0), "cpu.max", format!("{quota} {PERIOD_US}")), (at(0), "memory.max", memory.to_string())];
                let swap = at(0).join("memory.swap.max");
                settings.extend(swap.exists().then(|| (at(0), "memory.swap.max", "0".to_string())));
                settings
                    .extend(disk.map(|(iops, disk)| (at(0), "io.max", format!("{disk} riops={iops} wiops={iops}"))));
                settings
            }
        })
    }

    /// 1 or 2.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// What a child enters it by.
    pub fn doors(&self) -> io::Result<Vec<OwnedFd>> {
        let door = |path: &PathBuf| OpenOptions::new().write(true).open(path.join("cgroup.procs")).map(OwnedFd::from);
        self.paths.iter().map(door).collect()
    }

    /// The processes in it.
    pub fn processes(&self) -> Vec<u32> {
        let read = |path: &PathBuf| fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
        let lists = self.paths.iter().map(read).collect::<Vec<_>>().concat();
        // Those of other containers are shown as 0.
        lists.lines().filter_map(|line| line.trim().parse().ok()).filter(|pid| *pid > 0).collect()
    }

    /// What its processes used so far.
    pub fn used(&self) -> Used {
        let first = self.paths.first().map(PathBuf::as_path).unwrap_or(Path::new(""));
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let number = |text: &str, key: &str| -> Option<u64> {
            text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
        };
        let stat = read(&first.join("cpu.stat"));
        let micros = |key: &str| number(&stat, key).map(|us| us.saturating_mul(1000));
        match (self.version, self.paths.as_slice()) {
            (1, [_, memory, ..]) => Used {
                cpu_ns: None,
                throttled_periods: number(&stat, "nr_throttled"),
                memory_hits: read(&memory.join("memory.failcnt")).trim().parse().ok(),
            },
            (2, [path]) => Used {
                cpu_ns: micros("usage_usec"),
                throttled_periods: number(&stat, "nr_throttled"),
                memory_hits: number(&read(&path.join("memory.events")), "max"),
            },
            _ => Used::default(),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Empty by now; one that is not stays until its processes end, and the next worker removes it.
        self.paths.iter().for_each(|path| drop(fs::remove_dir(path)));
    }
}

/// The whole disk below a directory, for limits; `None` where it lies on none.
pub(crate) fn disk_of(directory: &Path) -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    let DevNo { major, minor } = DevNo::from_raw(fs::metadata(directory).ok()?.dev());
    let node = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    // A partition has the limits of its disk.
    let disk = if node.join("partition").exists() { node.parent()?.to_path_buf() } else { node };
    let whole = DevNo::parse(&fs::read_to_string(disk.join("dev")).ok()?)?;
    Some((whole.major, whole.minor))
}

/// What a group used between two readings.
pub(crate) fn since(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    Some(after?.saturating_sub(before?))
}

fn write(path: &Path, value: &str) -> io::Result<()> {
    use std::io::Write;
    let mut file: File = OpenOptions::new().write(true).open(path)?;
    file.write_all(value.as_bytes())
}

fn cannot(path: &Path, error: &io::Error) -> Box<Error> {
    let path = path.display();
    Error::preflight(say!(
        "instances cannot be limited: `{path}`: {error}",
        "экземпляры нельзя ограничить: `{path}`: {error}"
    ))
    .hint(say!("run as root, or write `limits: none`", "запустите от root или укажите `limits: none`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use stend_base::Bytes;
    use stend_base::Kind;

    const LIMITS: Limits = Limits { cpu_thousandths: 500, memory: Bytes::mib(64), iops: Some(100) };

    fn put(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn group(paths: &[PathBuf], version: u8) -> Group {
        Group { paths: paths.to_vec(), version, _locks: Vec::new() }
    }

    fn told(group: &Group, disk: Option<(u32, u32)>) -> Vec<String> {
        let settings = group.settings(&LIMITS, disk).unwrap();
        settings.iter().map(|(path, file, value)| format!("{}/{file}={value}", path.display())).collect()
    }

    #[test]
    fn either_version_is_found_and_what_lacks_is_said() {
        let root = tempfile::tempdir().unwrap();
        let none = Hierarchy::find(root.path()).unwrap_err();
        assert!(none.kind == Kind::Preflight && none.message.en.contains("no control groups"), "{none}");
        put(root.path(), "sys/fs/cgroup/cgroup.controllers", "cpu memory io");
        put(root.path(), "sys/fs/cgroup/cgroup.subtree_control", "cpu pids");
        let part = Hierarchy::find(root.path()).unwrap_err();
        assert!(part.message.en.contains("memory, io enabled") && part.hint.is_some(), "{part}");
        put(root.path(), "sys/fs/cgroup/cgroup.subtree_control", "cpu memory io");
        assert_eq!(Hierarchy::find(root.path()).unwrap().version(), 2);
        for name in CONTROLLERS {
            put(root.path(), &format!("sys/fs/cgroup/{name}/cgroup.procs"), "");
        }
        put(root.path(), "sys/fs/cgroup/memory/own/cgroup.procs", "");
        put(root.path(), "proc/self/cgroup", "4:memory:/own\n1:cpu,cpuacct:/gone\n");
        let Hierarchy::V1([cpu, memory, _]) = Hierarchy::find(root.path()).unwrap() else { panic!("version 1") };
        assert!(memory.ends_with("memory/own") && cpu.ends_with("cgroup/cpu"), "{memory:?} {cpu:?}");
    }

    #[test]
    fn limits_are_what_each_version_calls_them() {
        let paths = ["/c", "/m", "/b"].map(PathBuf::from).to_vec();
        let [one, two] = [group(&paths, 1), group(&["/g".into()], 2)];
        assert_eq!(
            told(&one, Some((8, 0))),
            [
                "/c/cpu.cfs_period_us=100000",
                "/c/cpu.cfs_quota_us=50000",
                "/m/memory.limit_in_bytes=67108864",
                "/b/blkio.throttle.read_iops_device=8:0 100",
                "/b/blkio.throttle.write_iops_device=8:0 100"
            ]
        );
        assert_eq!(
            told(&two, Some((8, 0))),
            ["/g/cpu.max=50000 100000", "/g/memory.max=67108864", "/g/io.max=8:0 riops=100 wiops=100"]
        );
        let nowhere = two.settings(&LIMITS, None).unwrap_err();
        assert!(nowhere.message.en.contains("is not on a disk") && nowhere.hint.is_some(), "{nowhere}");
    }

    #[test]
    fn what_a_group_used_is_read_in_the_words_of_its_version() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "g/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 1\nthrottled_usec 7\n");
        put(root.path(), "g/memory.events", "low 0\nmax 3\n");
        let two = group(&[root.path().join("g")], 2);
        assert_eq!(two.used(), Used { cpu_ns: Some(5000), throttled_periods: Some(1), memory_hits: Some(3) });
        put(root.path(), "c/cpu.stat", "nr_periods 9\nnr_throttled 2\nthrottled_time 11\n");
        put(root.path(), "m/memory.failcnt", "4\n");
        let one = group(&["c", "m", "b"].map(|name| root.path().join(name)), 1);
        assert_eq!(one.used(), Used { cpu_ns: None, throttled_periods: Some(2), memory_hits: Some(4) });
        assert_eq!((since(Some(3), Some(5)), since(None, Some(5))), (Some(2), None));
    }

    #[test]
    fn only_names_of_our_form_are_ours() {
        assert!(ours("stend-12-0"));
        assert!(!["stend-x-0", "system.slice", "stend-12", "stend-12-0.scope"].iter().any(|name| ours(name)));
    }

    #[test]
    fn what_is_mounted_among_groups_is_not_looked_into() {
        let root = tempfile::tempdir().unwrap();
        let (base, other) = (root.path().join("sys/fs/cgroup"), root.path().join("other"));
        let (at, kept) = (base.join("slice"), other.join("stend-12-0"));
        [&at, &kept].iter().for_each(|path| fs::create_dir_all(path).unwrap());
        let mounted = Command::new("mount").arg("--bind").args([&other, &at]).status().unwrap().success();
        if !mounted {
            assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "mounting needs root in CI");
            return;
        }
        Hierarchy::V2(base).remove_dead(root.path());
        let left = kept.exists();
        assert!(Command::new("umount").arg(&at).status().unwrap().success());
        assert!(left);
    }

    #[test]
    fn groups_of_dead_workers_go_wherever_they_were_made_and_those_in_use_stay() {
        let root = tempfile::tempdir().unwrap();
        let cpu = root.path().join("sys/fs/cgroup/cpu");
        let v1 = Hierarchy::V1(CONTROLLERS.map(|name| root.path().join("sys/fs/cgroup").join(name)));
        // Groups of a worker in another session, of one whose id this process has now, one with a group in it, and a
        // stranger.
        let own = format!("stend-{}-7", std::process::id());
        let dead = [cpu.join("user.slice/session-1.scope/stend-12-0"), cpu.join(own)];
        let kept = [cpu.join("stend-13-0/inner"), cpu.join("stendhal")];
        dead.iter().chain(&kept).for_each(|path| fs::create_dir_all(path).unwrap());
        let used = cpu.join("stend-14-0");
        let lock = make_locked(&used).unwrap();
        v1.remove_dead(root.path());
        assert!(dead.iter().all(|path| !path.exists()) && used.exists(), "{dead:?} {used:?}");
        assert!(kept.iter().all(|path| path.exists()), "{kept:?}");
        drop(lock);
        v1.remove_dead(root.path());
        assert!(!used.exists());
    }
}
