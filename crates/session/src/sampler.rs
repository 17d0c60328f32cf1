//! Reads a whole host at a pace: all its block devices, also those that appear later. Must not keep or judge what it read.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use stend_base::{Error, Nanos, Result, say};
use stend_probe::{PartsProbe, Probe, block_devices};
use stend_record::{EventKind, Parts, Sample};

/// Time between two looks for devices that appeared or are gone: a directory with a line for each.
const LOOK_EVERY: Nanos = Nanos::secs(10);

/// Time between two readings of temperatures, links, arrays and pools. Each asks every drive for its temperature.
const PARTS_EVERY: Duration = Duration::from_secs(30);

/// Readers of a host.
pub struct Sampler {
    root: PathBuf,
    devices: Vec<String>,
    probe: Probe,
    looked: Nanos,
    slow: Arc<Mutex<Slow>>,
}

/// What is exchanged with the thread that may have to wait for drives.
#[derive(Debug, Default)]
struct Slow {
    /// What it shall look at.
    devices: Vec<String>,
    /// What it read last, until somebody took it.
    read: Option<Box<Parts>>,
}

impl Sampler {
    /// Readers of the host whose `/proc` and `/sys` lie below `root`.
    ///
    /// Errors: kind `Preflight` if no thread can be started.
    pub fn new(root: &Path) -> Result<Sampler> {
        let devices = block_devices(root);
        let slow = Arc::new(Mutex::new(Slow { devices: devices.clone(), read: None }));
        let (of, place) = (Arc::downgrade(&slow), root.to_path_buf());
        // Never joined: one that waits for a dying drive ends with the process.
        std::thread::Builder::new().name("parts".into()).spawn(move || read_slowly(&place, &of)).map_err(|e| {
            Error::preflight(say!("cannot start telemetry: {e}", "не удалось запустить телеметрию: {e}"))
        })?;
        Ok(Sampler {
            probe: Probe::of_host(root, devices.clone(), std::process::id()),
            root: root.to_path_buf(),
            devices,
            looked: stend_sys::clock::now(),
            slow,
        })
    }

    /// Kernel names of the devices that are read.
    pub fn devices(&self) -> &[String] {
        &self.devices
    }

    /// A sample of now, and what has become of the devices since the one before, if anything has.
    pub fn read(&mut self) -> (Sample, Option<EventKind>) {
        let now = stend_sys::clock::now();
        let changed = if now.saturating_sub(self.looked) >= LOOK_EVERY { self.look(now) } else { None };
        let mut sample = self.probe.read(stend_sys::clock::now());
        sample.parts = self.slow().read.take();
        (sample, changed)
    }

    /// Follows the devices that there are now.
    fn look(&mut self, now: Nanos) -> Option<EventKind> {
        self.looked = now;
        let found = block_devices(&self.root);
        let missing = |from: &[String], of: &[String]| -> Vec<String> {
            of.iter().filter(|name| !from.contains(name)).cloned().collect()
        };
        let (came, went) = (missing(&self.devices, &found), missing(&found, &self.devices));
        if came.is_empty() && went.is_empty() {
            return None;
        }
        self.probe = Probe::of_host(&self.root, found.clone(), std::process::id());
        self.slow().devices.clone_from(&found);
        self.devices = found;
        Some(EventKind::Devices { came, went, detachable: Vec::new() })
    }

    fn slow(&self) -> std::sync::MutexGuard<'_, Slow> {
        self.slow.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads parts until nobody wants them any more. While it waits for a drive the lock is free.
fn read_slowly(root: &Path, of: &Weak<Mutex<Slow>>) {
    let mut probe = PartsProbe::default();
    loop {
        let Some(slow) = of.upgrade() else { return };
        let wanted = slow.lock().unwrap_or_else(PoisonError::into_inner).devices.clone();
        drop(slow);
        let read = probe.read(root, &wanted);
        let Some(slow) = of.upgrade() else { return };
        slow.lock().unwrap_or_else(PoisonError::into_inner).read = Some(read);
        drop(slow);
        std::thread::sleep(PARTS_EVERY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(drives: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        drives.iter().for_each(|name| put(dir.path(), name));
        let lines: String = drives.iter().map(|name| format!("8 0 {name} 1 0 8 1 1 0 8 1 0 1 1\n")).collect();
        std::fs::create_dir_all(dir.path().join("proc")).unwrap();
        std::fs::write(dir.path().join("proc/diskstats"), lines).unwrap();
        dir
    }

    fn put(root: &Path, name: &str) {
        let place = root.join("sys/class/block").join(name);
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("size"), "8\n").unwrap();
    }

    #[test]
    fn a_drive_that_is_unplugged_and_one_that_appears_are_told_once_and_followed() {
        let dir = host(&["sda", "sdb"]);
        let mut sampler = Sampler::new(dir.path()).unwrap();
        let (sample, changed) = sampler.read();
        assert_eq!((sample.disks.len(), changed), (2, None));
        std::fs::remove_dir_all(dir.path().join("sys/class/block/sda")).unwrap();
        put(dir.path(), "sdc");
        std::fs::write(
            dir.path().join("proc/diskstats"),
            "8 16 sdb 1 0 8 1 1 0 8 1 0 1 1\n8 32 sdc 1 0 8 1 1 0 8 1 0 1 1\n",
        )
        .unwrap();
        let changed = sampler.look(sampler.looked + LOOK_EVERY);
        assert_eq!(
            changed,
            Some(EventKind::Devices { came: vec!["sdc".into()], went: vec!["sda".into()], detachable: Vec::new() })
        );
        assert_eq!(sampler.look(sampler.looked + LOOK_EVERY), None);
        let names: Vec<String> = sampler.read().0.disks.into_iter().map(|disk| disk.name).collect();
        assert_eq!(names, ["sdb", "sdc"]);
    }
}
