//! What the machine is, for the head of a page.

use crate::Settings;
use crate::fio::Fio;
use std::process::Command;

/// (what, value) in the order of the table.
pub fn facts(settings: &Settings, fio: &Fio) -> Vec<(&'static str, String)> {
    let mut facts = of_host(settings);
    facts
        .iter_mut()
        .filter(|(name, _)| *name == "versions")
        .for_each(|(_, value)| *value += &format!(", {}", fio.version));
    facts
}

/// The same where fio takes no part.
pub fn of_host(settings: &Settings) -> Vec<(&'static str, String)> {
    let line = |path: &str, key: &str| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let found = text.lines().find(|line| line.starts_with(key)).unwrap_or_default();
        found.split_once(':').map_or(found, |(_, value)| value).trim().to_string()
    };
    let output = Command::new(&settings.stend).arg("--version").output();
    let version = output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_string()).unwrap_or_default();
    let date = Command::new("date").args(["-u", "+%F"]).output();
    let date = date.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_string()).unwrap_or_default();
    let cpus = std::thread::available_parallelism().map_or(0, usize::from);
    vec![
        ("CPU", format!("{}, {cpus} CPUs", line("/proc/cpuinfo", "model name"))),
        ("kernel", line("/proc/sys/kernel/osrelease", "")),
        ("versions", version),
        ("load average before, and at the end", format!("{}; {}", settings.load_before, load_average())),
        ("measured on", date),
    ]
}

/// Processes that run or wait for a CPU: the averages over 1, 5 and 15 minutes.
pub fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
