//! What a host has: its drives, what is built on them and who uses it.

use crate::facts::{Device, HostFacts, Signature, WriteAccess};
use crate::parts::Parts;
use serde::{Deserialize, Serialize};

/// A host with its storage at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inventory {
    /// The machine.
    pub host: HostFacts,
    /// Its block devices as a tree, written down from the top: a device is followed by what lies on it, one level deeper. What lies on
    /// several devices stands below each of them.
    pub devices: Vec<InventoryDevice>,
    /// PCIe links, temperatures, arrays, paths and pools.
    pub parts: Parts,
}

/// One device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InventoryDevice {
    /// The device; its depth is that in the tree, 0 for drives.
    pub device: Device,
    /// Path in `/dev`.
    pub path: String,
    /// Serial number on the label of a drive, if it tells one.
    pub serial: Option<String>,
    /// Bytes of a logical block.
    pub logical_block: u64,
    /// Bytes of a physical block.
    pub physical_block: u64,
    /// Signatures on it, those inside its partitions included.
    pub signatures: Vec<Signature>,
    /// Where it is mounted.
    pub mounted: Vec<String>,
    /// Whether it may be written, and if not, why.
    pub access: WriteAccess,
    /// CPUs that take its completion interrupts; empty where every CPU does, or where that cannot be told.
    pub interrupt_cpus: Vec<u32>,
    /// Ports of Fibre Channel over which it is reached; `None` where it is not.
    pub fabric: Option<FabricPath>,
    /// What the drive says of itself; `None` where it was not asked or does not tell.
    pub health: Option<Health>,
}

/// A path over Fibre Channel, as the kernel tells it; what it does not know is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FabricPath {
    /// Port of this host: `host7`.
    pub host: String,
    /// Its world-wide name (WWPN).
    pub port: Option<String>,
    /// Its state: `Online`, `Linkdown`, …
    pub state: Option<String>,
    /// What its link runs at: `16 Gbit`.
    pub speed: Option<String>,
    /// World-wide name of the port at the other end.
    pub remote_port: Option<String>,
    /// State of that: `Online`, `Blocked`, …
    pub remote_state: Option<String>,
}

/// State of a drive, as `smartctl` or `nvme` reads it from the drive.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Health {
    /// The drive's own verdict: it expects to go on working.
    pub passed: Option<bool>,
    /// Share of its rated endurance that is used, percent; may be above 100.
    pub used_percent: Option<u64>,
    /// Spare blocks that are left, percent.
    pub spare_percent: Option<u64>,
    /// Reads that could not be corrected.
    pub media_errors: Option<u64>,
    /// Hours of operation.
    pub power_on_hours: Option<u64>,
    /// Degrees Celsius.
    pub celsius: Option<i64>,
    /// Warnings of an NVMe drive as bits: spare blocks low (1), too warm (2), unreliable (4), read-only (8), its memory is not backed up (16).
    #[serde(default)]
    pub critical_warning: Option<u64>,
    /// Bytes that hosts have written to it.
    #[serde(default)]
    pub bytes_written: Option<u64>,
    /// How often an NVMe drive lost its power without notice.
    #[serde(default)]
    pub unsafe_shutdowns: Option<u64>,
    /// Minutes that an NVMe drive spent at or above its own warning temperature.
    #[serde(default)]
    pub hot_minutes: Option<u64>,
    /// Seconds in which an NVMe drive slowed itself down because of heat; smartctl does not tell.
    #[serde(default)]
    pub throttled_s: Option<u64>,
}
