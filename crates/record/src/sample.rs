//! One reading of telemetry. A counter the kernel does not offer is `None`: neither zero nor an error.

use serde::{Deserialize, Serialize};
use stend_base::Nanos;

/// Everything read at one moment on one host. Counters are cumulative since boot unless said otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sample {
    /// CLOCK_MONOTONIC ns.
    pub at: Nanos,
    /// One entry per CPU that is online, in ascending order of its number.
    pub cpus: Option<Vec<CpuTimes>>,
    /// Memory.
    pub memory: Option<Memory>,
    /// Pressure stall information.
    pub pressure: Option<Pressure>,
    /// The target's device and every device below it.
    pub disks: Vec<DiskCounters>,
    /// The worker process.
    pub worker: Option<ProcessCost>,
    /// The coordinator process (only when it runs on this host).
    pub coordinator: Option<ProcessCost>,
    /// How long taking this sample took, ns: part of what the tool costs.
    pub cost_ns: u64,
}

/// Time a CPU spent per state since boot, in ns (the kernel counts in ticks).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuTimes {
    /// Number of the CPU.
    pub cpu: u32,
    /// User, niced included.
    pub user_ns: u64,
    /// Kernel.
    pub system_ns: u64,
    /// Idle.
    pub idle_ns: u64,
    /// Idle with I/O outstanding.
    pub iowait_ns: u64,
    /// Hard interrupts.
    pub irq_ns: u64,
    /// Soft interrupts.
    pub softirq_ns: u64,
    /// Taken by the hypervisor.
    pub steal_ns: u64,
}

/// Memory, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Memory {
    /// All of it.
    pub total_bytes: u64,
    /// Usable without swapping.
    pub available_bytes: u64,
    /// Page cache.
    pub cached_bytes: u64,
    /// Waiting to be written.
    pub dirty_bytes: u64,
    /// Swap in use.
    pub swap_used_bytes: u64,
}

/// Pressure stall totals, ns since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Pressure {
    /// Some task waited for a CPU.
    pub cpu_some_ns: Option<u64>,
    /// Some task waited for memory.
    pub memory_some_ns: Option<u64>,
    /// All tasks waited for memory.
    pub memory_full_ns: Option<u64>,
    /// Some task waited for I/O.
    pub io_some_ns: Option<u64>,
    /// All tasks waited for I/O.
    pub io_full_ns: Option<u64>,
}

/// One line of `/proc/diskstats`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DiskCounters {
    /// Kernel name.
    pub name: String,
    /// Completed reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Time of all reads, ns.
    pub read_ns: u64,
    /// Completed writes.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Time of all writes, ns.
    pub write_ns: u64,
    /// I/Os in flight now (a gauge).
    pub in_flight: u64,
    /// Time with at least one I/O in flight, ns.
    pub busy_ns: u64,
    /// In-flight × time, ns.
    pub weighted_ns: u64,
    /// Completed flushes; kernels before 5.5 do not count them.
    pub flushes: Option<u64>,
    /// Time of all flushes, ns.
    pub flush_ns: Option<u64>,
}

/// What a process of ours used so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProcessCost {
    /// CPU time of all its threads, kernel workers of io_uring included, ns.
    pub cpu_ns: u64,
    /// Resident memory, bytes.
    pub resident_bytes: u64,
}
