//! What tests of machines of the lab share.

use super::{Scratch, alive, output, stend, texts};
use std::path::PathBuf;

/// Whether machines can be started; a named skip where QEMU or the packages of the guest are missing, a failure under CI.
pub fn ready(scratch: &Scratch, test: &str) -> bool {
    let emulator = std::process::Command::new("qemu-system-x86_64").arg("--version").output();
    let built = output(&mut stend(scratch, &["lab", "build", "--offline"]));
    let (code, _, stderr) = texts(&built);
    let ready = emulator.is_ok() && code == 0;
    assert!(ready || std::env::var("CI").as_deref() != Ok("true"), "{test}: {emulator:?}, {stderr}");
    if !ready {
        eprintln!("skipped, needs QEMU and the image of the lab (`make lab-setup`): {test}");
    }
    ready
}

/// The identity of an emulated NVMe drive, which follows from its serial number.
pub fn identity(serial: &str) -> String {
    let hexadecimal = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("wwn:nvme.1b36-{}-{}-00000001", hexadecimal(serial), hexadecimal("QEMU NVMe Ctrl"))
}

/// Process ids of the emulators that have a drive of this serial number.
pub fn emulators(serial: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.starts_with("qemu-system") && line.contains(serial) && alive(*pid)
    };
    ids.filter(has).collect()
}

/// What is in the directory of images.
pub fn cached() -> Vec<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache"))).expect("a cache directory");
    let mut names: Vec<PathBuf> = std::fs::read_dir(cache.join("stend/lab"))
        .expect("images")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    names.sort();
    names
}
