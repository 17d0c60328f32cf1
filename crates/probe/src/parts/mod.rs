//! State of the parts of the machine below the targets, from sysfs and procfs. Finds the files once and keeps them open;
//! must not judge, and never asks a drive anything while a load runs on it.

mod arc;
mod arrays;
mod heat;
mod links;
mod mirrors;
mod networks;
mod paths;
mod pools;

use crate::source::Source;
use arrays::Array;
use heat::Heat;
use links::LinkFiles;
use mirrors::Mirrors;
use networks::LineRates;
use paths::Paths;
pub use paths::gone;
use pools::Pool;
use std::path::{Path, PathBuf};
use stend_base::Nanos;
use stend_record::Parts;
use stend_record::parts::{ArrayState, LinkState, Temperature};

/// Time between two readings inside a trial: what the method asks of background work (H25), and little beside a sample
/// every second.
const EVERY: Nanos = Nanos::secs(5);

/// Most names of a directory that are looked at. Devices are limited by who asks for them, and each has its readings; the largest directory is
/// that of network interfaces, which has one or two for each container.
const NAMES_MAX: usize = 1024;

/// Readers of all parts.
#[derive(Debug)]
pub struct Readers {
    states: StateFiles,
    heat: Heat,
    line_rates: LineRates,
    arc: Source,
    /// When a sample of the regular pace reads them again.
    next: Nanos,
}

/// Readers of the states that the kernel keeps of arrays, pools, paths and links.
///
/// To find and read them takes some 40 calls for a drive behind PCIe, and a dozen for an array or a path: 32 NVMe drives are about 1300
/// calls, some milliseconds. Neither a drive nor another CPU is asked.
#[derive(Debug)]
struct StateFiles {
    arrays: Vec<Array>,
    mirrors: Mirrors,
    pools: Vec<Pool>,
    paths: Paths,
    links: Vec<LinkFiles>,
}

impl StateFiles {
    fn find(root: &Path, devices: &[String]) -> StateFiles {
        StateFiles {
            arrays: arrays::find(root, devices),
            mirrors: Mirrors::find(root, devices),
            pools: pools::find(root, devices),
            paths: Paths::find(root, devices),
            links: links::find(root, devices),
        }
    }

    fn read(&mut self) -> Parts {
        Parts {
            arrays: self.arrays.iter_mut().filter_map(Array::read).chain(self.mirrors.read()).collect(),
            pools: self.pools.iter_mut().map(Pool::read).collect(),
            paths: self.paths.read(),
            links: self.links.iter_mut().filter_map(LinkFiles::read).collect(),
            ..Parts::default()
        }
    }
}

/// States of the parts of `devices`, found anew.
pub fn states(root: &Path, devices: &[String]) -> Parts {
    states_of(&StateFiles::find(root, devices).read())
}

/// What a working array says of itself in turn, as it is written or not.
//= linux, Documentation/admin-guide/md.rst, "array_state"
const WORKING: [&str; 4] = ["clean", "active", "active-idle", "write-pending"];

/// What of a reading are states: without what changes by itself, such as temperatures, counters, how far an array has come, and whether
/// it was written a moment ago (`active`, `clean`).
pub fn states_of(parts: &Parts) -> Parts {
    let array = |array: &ArrayState| {
        let state = if WORKING.contains(&array.state.as_str()) { "" } else { &array.state };
        ArrayState { state: state.to_string(), progress: None, ..array.clone() }
    };
    let link = |link: &LinkState| LinkState { corrected: None, ..link.clone() };
    Parts {
        arrays: parts.arrays.iter().map(array).collect(),
        pools: parts.pools.clone(),
        paths: parts.paths.clone(),
        links: parts.links.iter().map(link).collect(),
        ..Parts::default()
    }
}

impl Readers {
    /// Finds what there is of `devices` (kernel names) below `root`.
    pub fn find(root: &Path, devices: &[String]) -> Readers {
        Readers { heat: Heat::find(root, devices), ..Readers::without_temperatures(root, devices) }
    }

    /// The same without what only drives themselves can tell: finding that waits for one that does not answer, too.
    pub fn without_temperatures(root: &Path, devices: &[String]) -> Readers {
        Readers {
            states: StateFiles::find(root, devices),
            heat: Heat::find(root, &[]),
            line_rates: LineRates::find(root),
            arc: arc::open(root),
            next: Nanos(0),
        }
    }

    /// A reading, if it is time for one. The first sample after an edge has one, so that also a short trial is looked at
    /// while its load runs.
    pub fn on_time(&mut self, at: Nanos) -> Option<Box<Parts>> {
        if at < self.next {
            return None;
        }
        self.next = at + EVERY;
        Some(self.read())
    }

    /// A reading at an edge of a trial.
    pub fn at_edge(&mut self) -> Box<Parts> {
        self.next = Nanos(0);
        let mut parts = self.read();
        parts.temperatures = self.heat.temperatures();
        parts.line_rates = self.line_rates.read();
        parts
    }

    fn read(&mut self) -> Box<Parts> {
        Box::new(Parts {
            frequencies_khz: self.heat.frequencies(),
            throttled: self.heat.throttled(),
            arc: self.arc.read().and_then(arc::counters),
            ..self.states.read()
        })
    }
}

/// Temperatures of the drives among `devices`, however long they take to answer.
pub fn temperatures(root: &Path, devices: &[String]) -> Vec<Temperature> {
    Heat::find(root, devices).temperatures()
}

/// Places in sysfs of the hardware behind a device: of an NVMe drive with several paths its controllers, else the drive itself.
pub(crate) fn hardware(root: &Path, device: &str) -> Vec<PathBuf> {
    let Ok(place) = std::fs::canonicalize(root.join("sys/class/block").join(device).join("device")) else {
        return Vec::new();
    };
    if !is_subsystem(&place) {
        return vec![place];
    }
    let controllers = names(&place).into_iter().filter(|name| is_controller(name));
    controllers.filter_map(|name| std::fs::canonicalize(place.join(name)).ok()).collect()
}

/// Whether a place in sysfs is a drive of NVMe with several paths, not one of its controllers.
fn is_subsystem(place: &Path) -> bool {
    place.file_name().is_some_and(|name| name.to_string_lossy().starts_with("nvme-subsys"))
}

/// `nvme1`, and not its namespace `nvme1n1`.
fn is_controller(name: &str) -> bool {
    name.strip_prefix("nvme").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Names in a directory in order; none if it is absent.
fn names(place: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names.truncate(NAMES_MAX);
    names
}

/// A word of the kernel without white space around it; nothing if it is empty.
fn word(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_at_edges_then_at_once_and_then_every_five_seconds() {
        let dir = tempfile::tempdir().unwrap();
        let mut readers = Readers::find(dir.path(), &["sda".to_string()]);
        let mut seen = |seconds: u64| readers.on_time(Nanos::secs(seconds)).is_some();
        assert_eq!([seen(1), seen(2), seen(5), seen(6), seen(7)], [true, false, false, true, false]);
        assert_eq!(*readers.at_edge(), Parts::default());
        assert!(readers.on_time(Nanos::secs(8)).is_some() && readers.on_time(Nanos::secs(9)).is_none());
    }

    #[test]
    fn states_are_the_same_as_long_as_only_counters_and_progress_move() {
        let reading = |state: &str, progress, corrected, degraded| Parts {
            arrays: vec![ArrayState {
                state: state.into(),
                progress,
                degraded: Some(degraded),
                ..ArrayState::default()
            }],
            links: vec![LinkState { corrected: Some(corrected), ..LinkState::default() }],
            frequencies_khz: vec![corrected],
            ..Parts::default()
        };
        let idle = states_of(&reading("clean", None, 3, 0));
        assert_eq!(states_of(&reading("active", Some((1, 2)), 4, 0)), idle);
        assert_eq!(states_of(&reading("write-pending", None, 4, 0)), idle);
        assert_ne!(states_of(&reading("clean", None, 3, 1)), idle);
        for state in ["broken", "inactive", "readonly"] {
            assert_ne!(states_of(&reading(state, None, 3, 0)), idle, "{state}");
        }
    }

    #[test]
    fn a_shelf_of_drives_is_read_to_the_last_one() {
        const DRIVES: usize = 90;
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let class = root.join("sys/class/block");
        let put = |path: PathBuf, text: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let mut devices = Vec::new();
        for number in 0..DRIVES {
            let device = format!("nvme{number}n1");
            let function = root.join(format!("sys/devices/pci0000:00/0000:00:01.0/{number:04}:01:00.0"));
            for end in ["max", "current"] {
                put(function.join(format!("{end}_link_speed")), "16.0 GT/s PCIe\n");
                put(function.join(format!("{end}_link_width")), "4\n");
            }
            let controller = function.join(format!("nvme/nvme{number}"));
            put(controller.join("hwmon0/temp1_input"), "40000\n");
            std::fs::create_dir_all(class.join(&device)).unwrap();
            std::os::unix::fs::symlink(&controller, class.join(&device).join("device")).unwrap();
            devices.push(device);
            put(class.join(format!("md{number}/md/level")), "raid1\n");
            devices.push(format!("md{number}"));
        }
        put(root.join(format!("proc/spl/kstat/zfs/{}/state", "z".repeat(9))), "ONLINE\n");
        (0..DRIVES).for_each(|number| put(root.join(format!("proc/spl/kstat/zfs/stats{number}")), "0\n"));
        let parts = Readers::find(&root, &devices).at_edge();
        assert_eq!((parts.temperatures.len(), parts.links.len(), parts.arrays.len()), (DRIVES, DRIVES, DRIVES));
        assert_eq!(parts.pools.len(), 1, "however many files of counters are before it");
    }

    #[test]
    fn a_drive_is_asked_nothing_while_a_load_runs_on_it() {
        let dir = tempfile::tempdir().unwrap();
        let monitor = dir.path().join("sys/class/block/nvme0n1/device/hwmon0");
        std::fs::create_dir_all(&monitor).unwrap();
        std::fs::write(monitor.join("temp1_input"), "40000\n").unwrap();
        let mut readers = Readers::find(dir.path(), &["nvme0n1".to_string()]);
        assert_eq!(readers.at_edge().temperatures.len(), 1);
        assert_eq!(readers.on_time(Nanos::secs(1)).unwrap().temperatures, []);
    }
}
