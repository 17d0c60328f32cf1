//! A target whose speed is known: a loop device over memory, under a limit of the block-I/O controller.
//! Whatever is made here is undone when it is dropped.

use super::cell::RANGE;
use crate::Outcome;
use crate::loop_device::LoopDevice;
use std::path::{Path, PathBuf};

/// I/Os per second in each direction: slow enough for any machine, fast enough for 1 % in a short window.
const IOPS: u64 = 4000;
/// Bytes per second in each direction: decides the cells of 1 MiB.
const BYTES: u64 = 256 << 20;

/// The device and the group that this process and its children are in.
pub struct Limited {
    // Dropped first: the group before the device that it limits.
    group: Group,
    device: LoopDevice,
}

struct Group {
    path: PathBuf,
    /// Where this process was before.
    home: PathBuf,
    /// Version of the controller.
    version: u8,
    // Dropped last: what the group needs goes after the group.
    _handed_down: Option<HandedDown>,
}

/// The controller handed down to the groups below the root of version 2, where it was not.
struct HandedDown(PathBuf);

impl Limited {
    /// Makes the device, sets the limit, and puts this process under it. Needs root.
    pub fn make() -> Outcome<Limited> {
        let limited = Limited { device: LoopDevice::make(RANGE, false)?, group: Group::make()? };
        limited.limit()?;
        Ok(limited)
    }

    /// The device.
    pub fn device(&self) -> &Path {
        self.device.path()
    }

    /// What it is, for the table.
    pub fn words(&self) -> String {
        let (version, bytes) = (self.group.version, BYTES >> 20);
        format!(
            "a loop device over tmpfs, limited to {IOPS} IOPS and {bytes} MiB/s by the block-I/O controller (cgroup v{version})"
        )
    }

    fn limit(&self) -> Outcome<()> {
        let group = &self.group;
        let name = self.device().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let numbers = read(&Path::new("/sys/block").join(name).join("dev"))?;
        let numbers = numbers.trim();
        if group.version == 2 {
            let line = format!("{numbers} riops={IOPS} wiops={IOPS} rbps={BYTES} wbps={BYTES}");
            return write(&group.path.join("io.max"), &line);
        }
        for side in ["read", "write"] {
            write(&group.path.join(format!("blkio.throttle.{side}_iops_device")), &format!("{numbers} {IOPS}"))?;
            write(&group.path.join(format!("blkio.throttle.{side}_bps_device")), &format!("{numbers} {BYTES}"))?;
        }
        Ok(())
    }
}

impl Group {
    fn make() -> Outcome<Group> {
        let mounts = read(Path::new("/proc/mounts"))?;
        let (root, version) = controller(&mounts).ok_or("no block-I/O controller is mounted")?;
        let membership = read(Path::new("/proc/self/cgroup"))?;
        let home = root.join(own_group(&membership, version).trim_start_matches('/'));
        let path = root.join(format!("stend-agree-{}", std::process::id()));
        let handed_down = if version == 2 { HandedDown::make(root.join("cgroup.subtree_control"))? } else { None };
        std::fs::create_dir(&path).map_err(|e| format!("cannot make `{}`: {e}", path.display()))?;
        let group = Group { path, home, version, _handed_down: handed_down };
        write(&group.path.join("cgroup.procs"), &std::process::id().to_string())?;
        Ok(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // An empty group costs nothing should one of the two fail.
        drop(write(&self.home.join("cgroup.procs"), &std::process::id().to_string()));
        drop(std::fs::remove_dir(&self.path));
    }
}

impl HandedDown {
    /// `None` where somebody did it before: then it is not ours to take back.
    fn make(control: PathBuf) -> Outcome<Option<HandedDown>> {
        if read(&control)?.split_whitespace().any(|name| name == "io") {
            return Ok(None);
        }
        write(&control, "+io")?;
        Ok(Some(HandedDown(control)))
    }
}

impl Drop for HandedDown {
    fn drop(&mut self) {
        // Fails if somebody else made use of it meanwhile; then it stays, as it must.
        drop(write(&self.0, "-io"));
    }
}

/// Where the controller is mounted, and its version.
fn controller(mounts: &str) -> Option<(PathBuf, u8)> {
    let rows = || mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>()).filter(|row| row.len() > 3);
    let first = rows().find(|row| row[2] == "cgroup" && row[3].split(',').any(|option| option == "blkio"));
    let second = || rows().find(|row| row[2] == "cgroup2");
    first.map(|row| (row[1].into(), 1)).or_else(|| second().map(|row| (row[1].into(), 2)))
}

/// The group of this process below the controller's root.
fn own_group(membership: &str, version: u8) -> &str {
    let mut rows = membership.lines().map(|line| line.splitn(3, ':').collect::<Vec<_>>());
    let mine = rows.find(|row| match version {
        2 => row[0] == "0",
        _ => row.get(1).is_some_and(|names| names.split(',').any(|name| name == "blkio")),
    });
    mine.and_then(|row| row.get(2).copied()).unwrap_or("/")
}

fn read(path: &Path) -> Outcome<String> {
    std::fs::read_to_string(path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))
}

fn write(path: &Path, text: &str) -> Outcome<()> {
    std::fs::write(path, text).map_err(|e| format!("cannot write `{text}` to `{}`: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup /sys/fs/cgroup/blkio cgroup rw,blkio 0 0\n\
        cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";

    #[test]
    fn the_controller_is_found_in_both_versions() {
        assert_eq!(controller(FIRST), Some(("/sys/fs/cgroup/blkio".into(), 1)));
        assert_eq!(controller("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"), Some(("/sys/fs/cgroup".into(), 2)));
        assert_eq!(controller("proc /proc proc rw 0 0\n"), None);
    }

    #[test]
    fn a_controller_is_taken_back_only_if_it_was_handed_down_here() {
        let control = std::env::temp_dir().join(format!("stend-bench-control-{}", std::process::id()));
        let after = |before: &str| {
            std::fs::write(&control, before).unwrap();
            let made = HandedDown::make(control.clone()).unwrap();
            let meanwhile = read(&control).unwrap();
            drop(made);
            let text = read(&control).unwrap();
            std::fs::remove_file(&control).unwrap();
            (meanwhile, text)
        };
        let owned = |a: &str, b: &str| (a.to_string(), b.to_string());
        assert_eq!(after("cpu memory\n"), owned("+io", "-io"));
        assert_eq!(after("cpu io memory\n"), owned("cpu io memory\n", "cpu io memory\n"));
        assert_eq!(after("iocost\n"), owned("+io", "-io"));
    }

    #[test]
    fn a_process_goes_back_to_where_it_was() {
        let membership = "4:blkio:/a/b\n1:name=systemd:/x\n0::/c\n";
        assert_eq!((own_group(membership, 1), own_group(membership, 2)), ("/a/b", "/c"));
        assert_eq!(own_group("", 1), "/");
    }
}
