//! Ways to drives that have several: slaves of a dm-multipath device, controllers of an NVMe subsystem.

use super::{is_controller, is_subsystem, names, word};
use crate::source::Source;
use std::path::Path;
use stend_record::parts::PathState;

/// Files with the states of all ways.
#[derive(Debug, Default)]
pub struct Paths {
    /// (device, way, file)
    states: Vec<(String, String, Source)>,
}

impl Paths {
    /// The ways to those of the devices that have more than one.
    pub fn find(root: &Path, devices: &[String]) -> Paths {
        let class = root.join("sys/class/block");
        let mut found = Paths::default();
        for device in devices {
            let place = class.join(device);
            let uuid = std::fs::read_to_string(place.join("dm/uuid")).unwrap_or_default();
            if stend_record::joins_paths(&uuid) {
                for slave in names(&place.join("slaves")) {
                    let state = Source::open(&class.join(&slave).join("device/state"));
                    found.states.push((device.clone(), slave, state));
                }
            }
            // The device of a drive with several ways is its subsystem; with one way it is the controller.
            let Ok(above) = std::fs::canonicalize(place.join("device")) else { continue };
            for controller in names(&above).into_iter().filter(|name| is_subsystem(&above) && is_controller(name)) {
                let state = Source::open(&above.join(&controller).join("state"));
                found.states.push((device.clone(), controller, state));
            }
        }
        found
    }

    /// The state of each.
    pub fn read(&mut self) -> Vec<PathState> {
        let state = |(device, path, state): &mut (String, String, Source)| PathState {
            device: device.clone(),
            path: path.clone(),
            state: state.read().and_then(word),
        };
        self.states.iter_mut().map(state).collect()
    }
}

/// Ways to NVMe drives that a reading before this one had, as many as a drive has fewer now: a controller that is lost for good leaves its
/// directory, too, and the drive still has one way less. With another one in its place none is missing. A slave of dm-multipath is a
/// block device, which is missed as such.
pub fn gone(before: &[PathState], now: &[PathState], devices: &[String]) -> Vec<PathState> {
    let to = |device: &String, paths: &[PathState]| {
        let of: Vec<String> = paths
            .iter()
            .filter(|path| path.device == *device && is_controller(&path.path))
            .map(|path| path.path.clone())
            .collect();
        of
    };
    let lost = |device: &String| {
        let (before, now) = (to(device, before), to(device, now));
        let fewer = before.len().saturating_sub(now.len());
        let gone = before.into_iter().filter(move |path| !now.contains(path)).take(fewer);
        gone.map(|path| PathState { device: device.clone(), path, state: None }).collect::<Vec<_>>()
    };
    devices.iter().flat_map(lost).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::put;
    use std::os::unix::fs::symlink;

    fn told(found: &mut Paths) -> Vec<(String, Option<String>)> {
        found.read().into_iter().map(|path| (format!("{} {}", path.device, path.path), path.state)).collect()
    }

    #[test]
    fn slaves_of_a_multipath_device_are_ways_and_those_of_a_volume_are_not() {
        let dir = tempfile::tempdir().unwrap();
        for (dm, uuid) in
            [("dm-0", "mpath-3600508b4"), ("dm-1", "LVM-x"), ("dm-2", "STEND-mpath-1"), ("dm-3", "STEND-1")]
        {
            put(dir.path(), &format!("sys/class/block/{dm}/dm/uuid"), uuid);
            for slave in ["sda", "sdb"] {
                put(dir.path(), &format!("sys/class/block/{dm}/slaves/{slave}/dev"), "8:0");
            }
        }
        put(dir.path(), "sys/class/block/sda/device/state", "running\n");
        let mut found = Paths::find(dir.path(), &["dm-0", "dm-1", "dm-2", "dm-3", "sda"].map(String::from));
        let expected =
            [("dm-0 sda", Some("running")), ("dm-0 sdb", None), ("dm-2 sda", Some("running")), ("dm-2 sdb", None)];
        assert_eq!(told(&mut found), expected.map(|(way, state)| (way.to_string(), state.map(String::from))));
        put(dir.path(), "sys/class/block/sda/device/state", "offline\n");
        assert_eq!(told(&mut found)[0].1.as_deref(), Some("offline"));
    }

    #[test]
    fn controllers_of_a_subsystem_are_ways_and_a_lone_controller_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let subsystem = "sys/devices/virtual/nvme-subsystem/nvme-subsys0";
        put(&root, &format!("{subsystem}/nvme0/state"), "live\n");
        put(&root, &format!("{subsystem}/nvme1/state"), "connecting\n");
        put(&root, &format!("{subsystem}/nvme0n1/size"), "1");
        put(&root, "sys/devices/pci0/nvme/nvme5/state", "live\n");
        for (device, above) in [("nvme0n1", subsystem), ("nvme5n1", "sys/devices/pci0/nvme/nvme5")] {
            std::fs::create_dir_all(root.join("sys/class/block").join(device)).unwrap();
            symlink(root.join(above), root.join("sys/class/block").join(device).join("device")).unwrap();
        }
        let mut found = Paths::find(&root, &["nvme0n1", "nvme5n1"].map(String::from));
        let expected = [("nvme0n1 nvme0", "live"), ("nvme0n1 nvme1", "connecting")];
        assert_eq!(told(&mut found), expected.map(|(way, state)| (way.to_string(), Some(state.to_string()))));
    }
}
