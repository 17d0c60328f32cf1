//! Everything that a host says of its storage, from the crates that read it.

use std::path::Path;
use stend_base::Result;
use stend_probe::Probe;
use stend_record::{Inventory, TargetFacts};

/// Most drives of a host that are watched; a shelf has a hundred.
const DRIVES_MAX: usize = 256;

/// The drives of this host, each as a target of its own; what is made of memory or files is none.
///
/// Errors: `Preflight` where one may not be looked at.
pub fn drives() -> Result<Vec<TargetFacts>> {
    let drives = stend_stand::inventory(false).into_iter();
    let drives = drives.filter(|one| one.device.depth == 0 && one.device.kind == "disk").take(DRIVES_MAX);
    drives.map(|one| stend_stand::inspect(&one.path)).collect()
}

/// The storage of this host. With `ask_drives` drives are asked for health and temperature, which is a command to each.
pub fn inventory(ask_drives: bool) -> Inventory {
    let devices = stend_stand::inventory(ask_drives);
    let mut names: Vec<String> = devices.iter().map(|device| device.device.name.clone()).collect();
    names.sort();
    names.dedup();
    let mut probe = Probe::new(Path::new("/"), names, std::process::id(), None);
    let now = stend_sys::clock::now();
    let sample = if ask_drives { probe.read_at_edge(now) } else { probe.read(now) };
    Inventory { host: stend_stand::host_facts(), devices, parts: sample.parts.map(|parts| *parts).unwrap_or_default() }
}
