//! What parts of the machine say of themselves: state that changes seldom, of what lies below the targets. Read every few
//! seconds and at both edges of a trial, not with every sample.

use serde::{Deserialize, Serialize};

/// One reading. A list is empty where there is no such part, or the kernel does not tell of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Parts {
    /// Arrays of md below the targets.
    pub arrays: Vec<ArrayState>,
    /// Mounted btrfs on the targets' devices, and all pools of ZFS: the kernel does not tell which devices those are on.
    pub pools: Vec<PoolState>,
    /// Ways to drives that have more than one: of dm-multipath, and of NVMe multipath.
    pub paths: Vec<PathState>,
    /// PCIe links of the drives, or of their controllers.
    pub links: Vec<LinkState>,
    /// Frequencies of the CPUs that tell theirs, in kHz, in the order of their numbers; at most the first 64.
    pub frequencies_khz: Vec<u64>,
    /// How often heat has held a CPU back since boot, summed over those CPUs; `None` where the kernel does not count it.
    pub throttled: Option<u64>,
    /// Temperatures of the drives. Reading one is a command to the drive, so that they are only here at edges of trials.
    pub temperatures: Vec<Temperature>,
    /// Rates of the network interfaces that have one now, at edges of trials; loopback left out.
    pub line_rates: Vec<LineRate>,
    /// The cache of ZFS; `None` without ZFS.
    pub arc: Option<ArcCounters>,
}

/// An array of md.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ArrayState {
    /// Kernel name.
    pub name: String,
    /// `raid5`, `raid10`, …
    pub level: String,
    /// Its own word: `clean`, `active`, `inactive`, …
    pub state: String,
    /// Drives that it should have; 0 if the kernel does not say.
    pub disks: u32,
    /// Drives that it lacks; `None` for levels without redundancy.
    pub degraded: Option<u32>,
    /// `idle`, or what it does beside its I/O: `resync`, `recover`, `check`, `reshape`, …; `None` for levels without redundancy.
    pub action: Option<String>,
    /// Progress of that work (done, all), in sectors of 512 bytes.
    pub progress: Option<(u64, u64)>,
}

/// A file system or pool over several devices.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PoolState {
    /// `btrfs` or `zfs`.
    pub kind: String,
    /// UUID of a btrfs, name of a pool of ZFS.
    pub name: String,
    /// btrfs: `none`, or what it does exclusively: `balance`, `device replace`, `resize`, …; kernels before 5.10 do not tell.
    pub operation: Option<String>,
    /// ZFS: `ONLINE`, `DEGRADED`, …; modules before 0.8 do not tell.
    pub health: Option<String>,
}

/// One way to a drive.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PathState {
    /// Kernel name of the device that has several.
    pub device: String,
    /// The way: a SCSI disk (`sdb`) or an NVMe controller (`nvme1`).
    pub path: String,
    /// The kernel's word: `running`, `live`, `offline`, `connecting`, …; `None` if it is gone.
    pub state: Option<String>,
}

/// A PCIe link, as it is trained.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LinkState {
    /// Kernel name of the first device that hangs on it.
    pub device: String,
    /// PCI address of the function nearest to it.
    pub address: String,
    /// As it is now.
    pub now: Link,
    /// What the device and the port that it is plugged into both can do.
    pub best: Link,
    /// Errors corrected since boot; `None` where the kernel does not report errors (AER).
    pub corrected: Option<u64>,
}

/// Speed and width of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Link {
    /// Megatransfers per second and lane: 8000 is PCIe 3, 16000 PCIe 4.
    pub speed_mt_per_s: u32,
    /// Lanes.
    pub width: u32,
}

/// Temperature of a drive.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Temperature {
    /// Kernel name.
    pub device: String,
    /// Thousandths of a degree Celsius.
    pub milli_celsius: i64,
    /// From here on the drive warns (of NVMe: WCTEMP), in the same unit.
    pub warning: Option<i64>,
    /// From here on it protects itself (of NVMe: CCTEMP).
    pub critical: Option<i64>,
}

/// Line rate of a network interface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LineRate {
    /// Name of the interface.
    pub name: String,
    /// Megabits per second.
    pub mbit_per_s: u64,
}

/// The cache of ZFS (ARC) since its module was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ArcCounters {
    /// Blocks of data that programs asked for and that were in it.
    pub demand_hits: u64,
    /// Those that were not.
    pub demand_misses: u64,
    /// Its size now.
    pub size_bytes: u64,
    /// What it may grow to.
    pub size_max_bytes: u64,
}

impl PathState {
    /// Whether I/O can go this way.
    pub fn is_usable(&self) -> bool {
        matches!(self.state.as_deref(), Some("running" | "live"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_way_that_runs_or_lives_can_be_used() {
        let usable =
            |state: Option<&str>| PathState { state: state.map(String::from), ..PathState::default() }.is_usable();
        assert!(usable(Some("running")) && usable(Some("live")));
        assert!(!usable(Some("transport-offline")) && !usable(Some("connecting")) && !usable(None));
    }
}
