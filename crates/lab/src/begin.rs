//! The guest's part of a beginning: memory that was saved becomes a guest of its own. It gets the time, random numbers and names
//! that no other one has, and waits for the drives that were plugged in. Must not be trusted to be the first thing that a guest does:
//! until then nothing of it may be used.

use rustix::time::{ClockId, Timespec, clock_settime};
use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The kernel's id of its boot, which all have that were restored from the same one. What tells machines apart reads it here.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// A new random id each time it is read.
const NEW_ID: &str = "/proc/sys/kernel/random/uuid";
/// What is laid over the id of the boot.
const OWN_BOOT_ID: &str = "/run/stend-boot-id";
/// Where the id stands by which the names of a host are made, and where those stand.
const HOST_ID: &str = "etc/nvme/hostid";
const NAMES: [&str; 3] = [HOST_ID, "etc/nvme/hostnqn", "etc/iscsi/initiatorname.iscsi"];
/// How long drives may take to appear. On two busy processors six took 5 s.
const APPEAR: Duration = Duration::from_secs(40);
/// Hundredths of a second for which the drive is waited for that a reset leaves.
const KEEP_TRIES: &str = "4000";
/// Where the guest reads after a reset how many drives there are (`guest/system.sh`).
const KEPT_DRIVES: &str = "/var/lib/stend/.drives";
/// How often they are looked for.
const TICK: Duration = Duration::from_millis(20);

/// The order to a guest when it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beginning {
    /// The time: seconds since 1970, and nanoseconds.
    pub now: (i64, u32),
    /// Random bytes.
    pub seed: Vec<u8>,
    /// Serial numbers of the NVMe drives that are plugged in.
    pub plugged: Vec<String>,
    /// How many drives the machine has in all, each once for every path: after a reset it has them from the start.
    pub drives: u32,
}

/// Begins.
pub fn begin(beginning: &Beginning) -> io::Result<()> {
    let (seconds, nanoseconds) = beginning.now;
    clock_settime(ClockId::Realtime, Timespec { tv_sec: seconds, tv_nsec: nanoseconds.into() })?;
    let mut source = OpenOptions::new().read(true).write(true).open("/dev/urandom")?;
    source.write_all(&beginning.seed)?;
    stend_sys::random::reseed(&source)?;
    // From here on what is random is this guest's alone.
    fs::write(OWN_BOOT_ID, fs::read_to_string(NEW_ID)?)?;
    // As systemd-nspawn does it for its containers: every program of the guest then sees an id of its own.
    rustix::mount::mount_bind(OWN_BOOT_ID, BOOT_ID)?;
    rename(Path::new("/"), fs::read_to_string(NEW_ID)?.trim())?;
    appear(Path::new("/sys"), &beginning.plugged, APPEAR)?;
    keep(beginning.drives)?;
    // Their names in `/dev/disk`. A late one is missing only when a command asks for it; the guest is fine.
    Command::new("udevadm").args(["settle", "-t", "30"]).status().map(drop)
}

/// Mounts what a reset of the machine leaves, and notes there how many drives to wait for then.
fn keep(drives: u32) -> io::Result<()> {
    let ended = Command::new("stend-keep").arg(KEEP_TRIES).status()?;
    if !ended.success() {
        return Err(io::Error::other(format!("what a reset leaves is not there: {ended}")));
    }
    let mut note = fs::File::create(KEPT_DRIVES)?;
    note.write_all(drives.to_string().as_bytes())?;
    // A cut of the power is what it is for.
    note.sync_all()
}

/// Gives the host below `root` this id in all of its names.
fn rename(root: &Path, id: &str) -> io::Result<()> {
    let before = fs::read_to_string(root.join(HOST_ID))?;
    let renamed: io::Result<Vec<(&str, String)>> =
        NAMES.iter().map(|name| Ok((*name, fs::read_to_string(root.join(name))?.replace(before.trim(), id)))).collect();
    renamed?.into_iter().try_for_each(|(name, text)| fs::write(root.join(name), text))
}

/// Waits until the drives with these serial numbers have a namespace with a size.
fn appear(sys: &Path, serials: &[String], limit: Duration) -> io::Result<()> {
    let start = Instant::now();
    loop {
        let there = present(sys);
        let missing: Vec<&str> = serials.iter().filter(|serial| !there.contains(serial)).map(String::as_str).collect();
        if missing.is_empty() {
            return Ok(());
        }
        if start.elapsed() >= limit {
            let (of, missing) = (serials.len(), missing.join(", "));
            return Err(io::Error::other(format!("of {of} drives these did not appear: {missing}")));
        }
        std::thread::sleep(TICK);
    }
}

/// Serial numbers of the NVMe drives whose namespace is there.
fn present(sys: &Path) -> Vec<String> {
    let blocks = fs::read_dir(sys.join("block")).into_iter().flatten().flatten().map(|entry| entry.path());
    let serial = |block: std::path::PathBuf| {
        let size: u64 = fs::read_to_string(block.join("size")).ok()?.trim().parse().ok()?;
        let serial = fs::read_to_string(block.join("device/serial")).ok()?;
        (size > 0).then(|| serial.trim().to_string())
    };
    blocks
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("nvme")))
        .filter_map(serial)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_host_has_its_new_id_in_all_of_its_names() {
        let root = tempfile::tempdir().unwrap();
        assert!(rename(root.path(), "new").is_err(), "no names to change");
        write(root.path(), NAMES[0], "0-1-2\n");
        write(root.path(), NAMES[1], "nqn.2014-08.org.nvmexpress:uuid:0-1-2\n");
        assert!(rename(root.path(), "new").is_err(), "one name is missing");
        assert_eq!(fs::read_to_string(root.path().join(NAMES[1])).unwrap(), "nqn.2014-08.org.nvmexpress:uuid:0-1-2\n");
        write(root.path(), NAMES[2], "InitiatorName=iqn.1993-08.org.debian:01:0-1-2\n");
        rename(root.path(), "7-8-9").unwrap();
        let names = NAMES.map(|name| fs::read_to_string(root.path().join(name)).unwrap());
        let expected =
            ["7-8-9\n", "nqn.2014-08.org.nvmexpress:uuid:7-8-9\n", "InitiatorName=iqn.1993-08.org.debian:01:7-8-9\n"];
        assert_eq!(names, expected);
    }

    #[test]
    fn drives_are_there_when_their_namespaces_have_a_size_and_those_that_are_not_are_named() {
        let sys = tempfile::tempdir().unwrap();
        let wanted = ["A1", "B2"].map(String::from);
        write(sys.path(), "block/nvme0n1/size", "131072\n");
        write(sys.path(), "block/nvme0n1/device/serial", "A1   \n");
        write(sys.path(), "block/nvme1n1/size", "0\n");
        write(sys.path(), "block/nvme1n1/device/serial", "B2\n");
        let error = appear(sys.path(), &wanted, Duration::ZERO).unwrap_err();
        assert!(error.to_string().ends_with("of 2 drives these did not appear: B2"), "{error}");
        write(sys.path(), "block/nvme1n1/size", "8\n");
        appear(sys.path(), &wanted, Duration::ZERO).unwrap();
    }
}
