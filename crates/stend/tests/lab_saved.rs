//! A saved guest of the lab: the second machine of a shape is restored, has a time, drives and names of its own, and a saved guest
//! that is damaged is none.

use crate::support::lab::{emulators, ready};
use crate::support::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A machine, in a place of its own, so that several can be started at once; taken down however the test ends.
struct Machine<'a> {
    scratch: &'a Scratch,
    serial: String,
    file: String,
    place: String,
    cache: String,
}

impl<'a> Machine<'a> {
    /// Described, and not up yet. All are of one shape: what is plugged in later may differ.
    fn described(scratch: &'a Scratch, letter: char, cache: &Path) -> Machine<'a> {
        let serial = format!("T{}{letter}", std::process::id());
        let text = format!(
            "machine: saved\nmemory: 512MiB\ndrives:\n  - {{serial: {serial}, count: 2, size: 64MiB, latency: 1ms}}\n  \
             - {{kind: virtio, serial: V1, size: 32MiB}}\n  - {{kind: scsi, serial: S1, size: 32MiB}}\n"
        );
        let file = scratch.file(&format!("{letter}.yaml"), &text);
        let place = scratch.directory(&format!("run-{letter}"));
        Machine { scratch, serial, file, place, cache: cache.to_string_lossy().into_owned() }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = stend(self.scratch, words);
        command.env("XDG_RUNTIME_DIR", &self.place).env("XDG_CACHE_HOME", &self.cache);
        command
    }

    /// How it came up, and what was noted on the way.
    fn up(&self) -> (Value, String) {
        let (told, notes) = expect_exit(&mut self.command(&["lab", "up", &self.file, "--json"]), 0);
        (serde_json::from_str(&told).expect("JSON"), notes)
    }

    fn guest(&self, script: &str) -> String {
        expect_exit(&mut self.command(&["lab", "shell", "saved", "--", "sh", "-c", script]), 0).0
    }

    /// All drives can be written and read, and are empty before.
    fn drives_work(&self) {
        let serial = &self.serial;
        let script = format!(
            "set -e; cd /dev/disk/by-id; for d in nvme-QEMU_NVMe_Ctrl_{serial}1 nvme-QEMU_NVMe_Ctrl_{serial}2 virtio-V1 \
             scsi-0QEMU_QEMU_HARDDISK_S1; do head -c 1M $d | tr -d '\\0' | wc -c; echo {serial} | dd of=$d bs=512 conv=sync \
             oflag=direct 2>/dev/null; dd if=$d bs=512 count=1 iflag=direct 2>/dev/null | tr -d '\\0'; done"
        );
        assert_eq!(self.guest(&script), format!("0\n{serial}\n").repeat(4));
    }

    /// What no two machines share.
    fn identities(&self) -> Vec<String> {
        let told = self.guest(
            "cat /proc/sys/kernel/random/boot_id /etc/nvme/hostid /etc/nvme/hostnqn /etc/iscsi/initiatorname.iscsi; \
             head -c 16 /dev/urandom | od -An -tx1; mktemp -u",
        );
        told.lines().map(str::to_string).collect()
    }

    /// Seconds by which its clock differs from ours at least: it was read some time between two looks at ours.
    fn clock_off(&self) -> u64 {
        let ours = || std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a time").as_secs();
        let before = ours();
        let theirs: u64 = self.guest("date +%s").trim().parse().expect("seconds");
        let after = ours();
        theirs.abs_diff(theirs.clamp(before, after))
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        drop(output(&mut self.command(&["lab", "down", "saved"])));
    }
}

/// A cache of our own, in which the image is.
fn cache(scratch: &Scratch) -> PathBuf {
    let (told, _) = expect_exit(&mut stend(scratch, &["lab", "build", "--offline", "--json"]), 0);
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let image = Path::new(told["directory"].as_str().expect("a directory"));
    let cache = PathBuf::from(scratch.directory("cache"));
    std::fs::create_dir_all(cache.join("stend/lab")).expect("a directory");
    std::os::unix::fs::symlink(image, cache.join("stend/lab").join(image.file_name().expect("a name")))
        .expect("a link");
    cache
}

/// A directory of programs with this one alone.
fn only(scratch: &Scratch, program: &str) -> String {
    let directory = scratch.directory("bin");
    let path = std::env::var_os("PATH").expect("a path");
    let found = std::env::split_paths(&path).map(|one| one.join(program)).find(|one| one.exists()).expect("installed");
    std::os::unix::fs::symlink(found, Path::new(&directory).join(program)).expect("a link");
    directory
}

#[test]
fn the_second_machine_of_a_shape_is_restored_and_shares_nothing_with_the_first() {
    let scratch = Scratch::new();
    if !ready(&scratch, "the_second_machine_of_a_shape_is_restored_and_shares_nothing_with_the_first") {
        return;
    }
    let cache = cache(&scratch);
    let [first, second, third] = ['A', 'B', 'C'].map(|letter| Machine::described(&scratch, letter, &cache));
    let (told, notes) = first.up();
    let kept: Vec<PathBuf> = std::fs::read_dir(cache.join("stend/lab/saved"))
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    assert_eq!(told["start"], "booted", "{notes}");
    if kept.is_empty() {
        // With KVM guests are not saved.
        assert!(std::fs::metadata("/dev/kvm").is_ok(), "{notes}");
        return;
    }
    first.drives_work();
    // The message says what is missing, and the saved guest is not taken for damaged.
    let mut without = second.command(&["lab", "up", &second.file, "--lang", "en"]);
    let (_, told) = expect_exit(without.env("PATH", only(&scratch, "qemu-system-x86_64")), 4);
    assert!(told.contains("apt-get install nbdkit") && kept[0].exists(), "{told}");
    let both: Vec<_> = [&second, &third]
        .map(|one| one.command(&["lab", "up", &one.file, "--json"]).stdout(Stdio::piped()).spawn().expect("started"))
        .into_iter()
        .map(|child| child.wait_with_output().expect("its end"))
        .collect();
    for output in both {
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(told["start"], "restored", "{output:?}");
        assert!(told["answered_ns"].as_u64() < told["ready_ns"].as_u64(), "{told}");
    }
    let machines = [&first, &second, &third];
    for one in machines {
        assert!(one.clock_off() <= 2, "{} s", one.clock_off());
    }
    [&second, &third].into_iter().for_each(|one| one.drives_work());
    let identities: Vec<String> = machines.iter().flat_map(|one| one.identities()).collect();
    let apart: BTreeSet<&String> = identities.iter().collect();
    assert_eq!((identities.len(), apart.len()), (18, 18), "{identities:?}");
    drop((first, second));

    // One bit of the memory in it.
    let damaged = std::fs::read(&kept[0]).map(|mut bytes| {
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        bytes
    });
    std::fs::write(&kept[0], damaged.expect("a saved guest")).expect("damaged");
    let fourth = Machine::described(&scratch, 'D', &cache);
    let mut starting = Running::new(&mut fourth.command(&["lab", "up", &fourth.file]));
    // It boots, with its drives from the start.
    eventually("a boot", Duration::from_secs(60), || {
        let lines: Vec<String> = emulators(&fourth.serial).into_iter().map(command_line).collect();
        lines.iter().any(|line| line.contains("tcg") && line.contains(&format!("serial={}1", fourth.serial)))
    });
    assert!(!kept[0].exists());
    tool(&["kill", "-INT", &starting.child.id().to_string()]);
    assert_eq!(starting.wait(Duration::from_secs(60)), Some(130));
    drop(third);
    // Machines of other tests may be up.
    let left = ('A'..='D').flat_map(|letter| emulators(&format!("T{}{letter}", std::process::id())));
    assert_eq!(left.count(), 0);
}

fn command_line(pid: u32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).into_owned()
}
