//! Reads a whole host at a pace: all its block devices, also those that appear later. Must not keep or judge what it read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use stend_base::{Error, Lang, Nanos, Result, Say, format, say};
use stend_probe::{BlockDevices, NFS_SHARES_MAX, PartsProbe, Probe, block_devices};
use stend_record::parts::Temperature;
use stend_record::{EventKind, Parts, Sample};

/// Time between two looks for devices that appeared or are gone, and for states that changed. A device takes four calls, its states some
/// 40: with 32 drives it is some milliseconds each time, a thousandth of a CPU at most.
const LOOK_EVERY: Nanos = Nanos::secs(5);

/// Samples come a little early or late: a look that is due so soon happens now, and not with the next sample.
const EARLY: Nanos = Nanos::millis(100);

/// Time between two readings of temperatures, links, arrays and pools where no state changes. Each asks every drive for its temperature.
const PARTS_EVERY: Nanos = Nanos::secs(30);

/// How long a reading waits for temperatures (by eye: a drive that is well answers in milliseconds). With the time between two looks and a
/// sample every second, a state that changes is in a sample within ten seconds even if a drive hangs.
const PATIENCE: Duration = Duration::from_secs(2);

/// Readers of a host.
pub struct Sampler {
    root: PathBuf,
    devices: Vec<String>,
    /// How many more there are, and the most that a message has named.
    left_out: usize,
    told: usize,
    /// The same of shares of NFS: the most that a message has named.
    told_of_shares: usize,
    /// Files of the kernel that a message has named because they are too large.
    told_of_files: BTreeSet<&'static str>,
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
        let BlockDevices { names: devices, left_out } = block_devices(root);
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
            left_out,
            told: 0,
            told_of_shares: 0,
            told_of_files: BTreeSet::new(),
            looked: stend_sys::clock::now(),
            slow,
        })
    }

    /// Kernel names of the devices that are read.
    pub fn devices(&self) -> &[String] {
        &self.devices
    }

    /// Devices and shares of NFS that are not read because there are too many, told again only when there are more of them; and files of
    /// the kernel that are too large, each told once.
    pub fn left_out(&mut self) -> Vec<Say> {
        let devices = self.devices_left_out();
        devices.into_iter().chain(self.shares_left_out()).chain(self.files_left_out()).collect()
    }

    fn files_left_out(&mut self) -> Vec<Say> {
        let mut files = self.probe.too_large();
        files.retain(|(file, _)| self.told_of_files.insert(*file));
        let told = files.into_iter().map(|(file, limit)| {
            let (en, ru) = (format::bytes(limit, Lang::En), format::bytes(limit, Lang::Ru));
            say!(
                "`{file}` is larger than {en}: samples lack what it counts",
                "`{file}` больше {ru}: в отсчётах нет того, что он считает"
            )
        });
        told.collect()
    }

    fn shares_left_out(&mut self) -> Option<Say> {
        let left_out = self.probe.shares_left_out();
        let is_news = left_out > self.told_of_shares;
        self.told_of_shares = self.told_of_shares.max(left_out);
        is_news.then(|| {
            say!(
                "not all NFS shares are read: the first {NFS_SHARES_MAX} are, and {left_out} more are mounted",
                "читаются не все ресурсы NFS: читаются первые {NFS_SHARES_MAX}, и смонтировано ещё {left_out}"
            )
        })
    }

    fn devices_left_out(&mut self) -> Option<Say> {
        let (left_out, most) = (self.left_out, self.devices.len());
        let is_news = left_out > self.told;
        self.told = self.told.max(left_out);
        is_news.then(|| {
            say!(
                "not all block devices are read: {most} are, drives first, and {left_out} more are there",
                "читаются не все блочные устройства: читается {most}, сначала накопители, и есть ещё {left_out}"
            )
        })
    }

    /// A sample of now, and what has become of the devices since the one before, if anything has.
    pub fn read(&mut self) -> (Sample, Option<EventKind>) {
        let now = stend_sys::clock::now();
        let changed = if self.is_due(now) { self.look(now) } else { None };
        let mut sample = self.probe.read(stend_sys::clock::now());
        sample.parts = self.slow().read.take();
        (sample, changed)
    }

    /// Whether it is time to look for devices.
    fn is_due(&self, now: Nanos) -> bool {
        now.saturating_sub(self.looked) >= LOOK_EVERY.saturating_sub(EARLY)
    }

    /// Follows the devices that there are now.
    fn look(&mut self, now: Nanos) -> Option<EventKind> {
        self.looked = now;
        let BlockDevices { names: found, left_out } = block_devices(&self.root);
        self.left_out = left_out;
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

/// Reads parts until the sampler is gone. While it reads the lock is free.
fn read_slowly(root: &Path, of: &Weak<Mutex<Slow>>) {
    let mut reader = PartsReader::new(root);
    loop {
        let begun = stend_sys::clock::now();
        let Some(slow) = of.upgrade() else { return };
        let wanted = slow.lock().unwrap_or_else(PoisonError::into_inner).devices.clone();
        drop(slow);
        if let Some(read) = reader.look(begun, &wanted) {
            let Some(slow) = of.upgrade() else { return };
            slow.lock().unwrap_or_else(PoisonError::into_inner).read = Some(read);
        }
        std::thread::sleep(pause_after(stend_sys::clock::now().saturating_sub(begun)).duration());
    }
}

/// Time until the next look after one that took so long: a drive that hangs makes looks no rarer.
fn pause_after(took: Nanos) -> Nanos {
    LOOK_EVERY.saturating_sub(took)
}

/// Reads parts after some time, and at once when a state changed.
struct PartsReader {
    root: PathBuf,
    probe: PartsProbe,
    thermometers: Thermometers,
    /// When they are read whatever happens.
    next: Nanos,
}

impl PartsReader {
    fn new(root: &Path) -> PartsReader {
        let (probe, thermometers) = (PartsProbe::default(), Thermometers::new(root));
        PartsReader { root: root.to_path_buf(), probe, thermometers, next: Nanos(0) }
    }

    /// A reading, if one is due at this look.
    fn look(&mut self, now: Nanos, devices: &[String]) -> Option<Box<Parts>> {
        if now < self.next && !self.probe.has_changed(&self.root, devices) {
            return None;
        }
        self.next = now + PARTS_EVERY;
        let mut read = self.probe.read(&self.root, devices);
        read.temperatures = self.thermometers.read(devices);
        Some(read)
    }
}

/// Temperatures of drives, from a thread that one drive may hold up for ever: arrays, pools and paths are known all the same.
struct Thermometers {
    asks: Sender<Vec<String>>,
    read: Receiver<Vec<Temperature>>,
    /// An answer is due.
    is_asked: bool,
}

impl Thermometers {
    fn new(root: &Path) -> Thermometers {
        let ((asks, asked), (give, read)) = (channel::<Vec<String>>(), channel());
        let root = root.to_path_buf();
        let answers = move || {
            while let Ok(devices) = asked.recv() {
                if give.send(stend_probe::temperatures(&root, &devices)).is_err() {
                    return;
                }
            }
        };
        // Never joined, and without it there are no temperatures.
        drop(std::thread::Builder::new().name("temperatures".into()).spawn(answers));
        Thermometers { asks, read, is_asked: false }
    }

    /// Temperatures of these drives; none as long as one does not answer. What was asked before and comes late is from then.
    fn read(&mut self, devices: &[String]) -> Vec<Temperature> {
        let late = self.read.try_recv().ok();
        if self.is_asked && late.is_none() {
            return Vec::new();
        }
        self.is_asked = self.asks.send(devices.to_vec()).is_ok();
        match self.read.recv_timeout(PATIENCE) {
            Ok(now) => {
                self.is_asked = false;
                now
            }
            Err(_) => late.unwrap_or_default(),
        }
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
        let due = [4_000, 4_950, 5_000].map(|ms| sampler.is_due(sampler.looked + Nanos::millis(ms)));
        assert_eq!(due, [false, true, true], "a sample that comes early looks, too");
        let changed = sampler.look(sampler.looked + LOOK_EVERY);
        assert_eq!(
            changed,
            Some(EventKind::Devices { came: vec!["sdc".into()], went: vec!["sda".into()], detachable: Vec::new() })
        );
        assert_eq!(sampler.look(sampler.looked + LOOK_EVERY), None);
        let names: Vec<String> = sampler.read().0.disks.into_iter().map(|disk| disk.name).collect();
        assert_eq!(names, ["sdb", "sdc"]);
    }

    #[test]
    fn devices_that_are_too_many_are_told_of_once() {
        let names: Vec<String> = (0..514).map(|number| format!("dm-{number}")).collect();
        let dir = host(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let mut sampler = Sampler::new(dir.path()).unwrap();
        let told = sampler.left_out().pop().unwrap();
        assert!(told.en.contains("512 are, drives first, and 2 more are there"), "{told:?}");
        assert!(sampler.left_out().is_empty());
        put(dir.path(), "dm-514");
        sampler.look(sampler.looked + LOOK_EVERY);
        assert!(sampler.left_out().pop().unwrap().en.ends_with("and 3 more are there"));
    }

    #[test]
    fn shares_of_nfs_that_are_too_many_are_told_of_once() {
        let dir = host(&["sda"]);
        let share = |n: u64| {
            format!(
                "device f:/v{n} mounted on /m{n} with fstype nfs4 statvers=1.1\n\tbytes:\t1 2 3 4 5 6 7 8\n\tper-op statistics\n"
            )
        };
        std::fs::create_dir_all(dir.path().join("proc/self")).unwrap();
        std::fs::write(dir.path().join("proc/self/mountstats"), (0..66).map(share).collect::<String>()).unwrap();
        let mut sampler = Sampler::new(dir.path()).unwrap();
        assert!(sampler.left_out().is_empty(), "none was read yet");
        sampler.read();
        let told = sampler.left_out().pop().unwrap();
        assert_eq!(told.en, "not all NFS shares are read: the first 64 are, and 2 more are mounted");
        sampler.read();
        assert!(sampler.left_out().is_empty());
    }

    #[test]
    fn a_file_of_the_kernel_that_is_too_large_is_told_of_once() {
        let dir = host(&["sda"]);
        let table = std::fs::File::create(dir.path().join("proc/interrupts")).unwrap();
        table.set_len(65 << 20).unwrap();
        let mut sampler = Sampler::new(dir.path()).unwrap();
        assert_eq!((sampler.read().0.interrupts, sampler.left_out().len()), (None, 1));
        sampler.read();
        assert!(sampler.left_out().is_empty());
    }

    #[test]
    fn a_state_that_changes_is_read_at_the_next_look_and_in_a_sample_within_ten_seconds() {
        // A look may come just before the change, a drive that hangs may keep the reading waiting, and samples come every second.
        let patience = Nanos(PATIENCE.as_nanos() as u64);
        let latest = patience + pause_after(patience) + patience + Nanos::SECOND;
        assert!(latest <= Nanos::secs(8), "{latest:?}");
        assert_eq!(pause_after(Nanos::secs(9)), Nanos(0));
        let dir = host(&["sda", "md0"]);
        let array = dir.path().join("sys/class/block/md0/md");
        std::fs::create_dir_all(&array).unwrap();
        let put = |file: &str, text: &str| std::fs::write(array.join(file), text).unwrap();
        put("level", "raid1\n");
        put("degraded", "0\n");
        let mut reader = PartsReader::new(dir.path());
        let devices = ["sda", "md0"].map(String::from);
        let mut look = |second| {
            let parts = reader.look(Nanos::secs(second), &devices)?;
            parts.arrays[0].degraded
        };
        assert_eq!([look(100), look(105), look(110)], [Some(0), None, None]);
        put("degraded", "1\n");
        assert_eq!([look(115), look(120)], [Some(1), None]);
        assert_eq!([look(140), look(145)], [None, Some(1)], "half a minute after the last one");
    }

    #[test]
    fn a_drive_that_does_not_tell_its_temperature_hides_no_pool() {
        let dir = host(&["sda"]);
        let monitor = dir.path().join("sys/class/block/sda/device/hwmon/hwmon3");
        std::fs::create_dir_all(&monitor).unwrap();
        // Nothing ever writes into it, so that opening it waits for ever, as reading it does at a drive that is dying.
        let made = std::process::Command::new("mkfifo").arg(monitor.join("temp1_input")).status().unwrap();
        assert!(made.success());
        let pool = dir.path().join("proc/spl/kstat/zfs/tank");
        std::fs::create_dir_all(&pool).unwrap();
        std::fs::write(pool.join("state"), "DEGRADED\n").unwrap();
        let mut sampler = Sampler::new(dir.path()).unwrap();
        let begun = std::time::Instant::now();
        let parts = loop {
            assert!(begun.elapsed() < Duration::from_secs(60), "no reading of the parts");
            match sampler.read().0.parts {
                Some(parts) => break parts,
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        assert_eq!((parts.pools[0].health.as_deref(), parts.temperatures.len()), (Some("DEGRADED"), 0));
    }
}
