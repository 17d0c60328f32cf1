//! One reading of telemetry. A counter the kernel does not offer is `None`: neither zero nor an error.

use crate::nfs::{Nfs, NfsMount};
use crate::parts::Parts;
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
    /// Hard interrupts.
    pub interrupts: Option<Interrupts>,
    /// Soft interrupts, one entry per CPU that the kernel lists.
    pub softirqs: Option<Vec<SoftInterrupts>>,
    /// Network interfaces, loopback left out, at most 64.
    pub networks: Option<Vec<NetworkCounters>>,
    /// TCP over IPv4 and IPv6.
    pub tcp: Option<TcpCounters>,
    /// NFS; `None` where the host is neither client nor server.
    pub nfs: Option<Box<Nfs>>,
    /// What the memory management moved, of the whole machine.
    pub paging: Option<Paging>,
    /// What the control group of the worker, and those around it, allow now.
    pub limits: Option<GroupLimits>,
    /// What parts of the machine say of themselves; `None` in samples that did not ask them.
    pub parts: Option<Box<Parts>>,
    /// The worker process.
    pub worker: Option<ProcessCost>,
    /// The coordinator process (only when it runs on this host).
    pub coordinator: Option<ProcessCost>,
    /// How long taking this sample took, ns: part of what the tool costs.
    pub cost_ns: u64,
}

impl Sample {
    /// Shares of NFS that are mounted; none where there are none.
    pub fn nfs_mounts(&self) -> &[NfsMount] {
        self.nfs.as_ref().map_or(&[], |nfs| &nfs.mounts)
    }
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

/// Interrupts since boot, of the numbered lines of `/proc/interrupts`; timers and calls between CPUs have
/// names and are not in them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Interrupts {
    /// One entry per CPU that is online.
    pub cpus: Vec<CpuInterrupts>,
    /// Lines of the target's devices and of the controllers they hang on. Empty if none could be told.
    pub lines: Vec<InterruptLine>,
}

/// Interrupts that one CPU took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuInterrupts {
    /// Number of the CPU.
    pub cpu: u32,
    /// Interrupts of all numbered lines.
    pub all: u64,
    /// Interrupts of the lines of the target's devices.
    pub target: u64,
}

/// One interrupt line of a target's device.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct InterruptLine {
    /// As the driver calls it, e.g. `nvme0q1`.
    pub name: String,
    /// Interrupts on all CPUs.
    pub count: u64,
}

/// Soft interrupts that one CPU handled since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SoftInterrupts {
    /// Number of the CPU.
    pub cpu: u32,
    /// Completions of block I/O.
    pub block: u64,
    /// Packets received.
    pub network_receive: u64,
    /// Every kind.
    pub all: u64,
}

/// One line of `/proc/net/dev`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NetworkCounters {
    /// Name of the interface.
    pub name: String,
    /// Received.
    pub received: Traffic,
    /// Sent.
    pub sent: Traffic,
}

/// One direction of an interface since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// Bytes.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
    /// Bad packets.
    pub errors: u64,
    /// Packets without room.
    pub drops: u64,
}

/// TCP segments since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TcpCounters {
    /// Sent, those sent again not counted.
    pub sent: u64,
    /// Sent again.
    pub sent_again: u64,
}

/// Paging of the whole machine since boot, from `/proc/vmstat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Paging {
    /// Bytes that were read from block devices, direct I/O included.
    pub read_bytes: u64,
    /// Bytes that were written to block devices, direct I/O included.
    pub write_bytes: u64,
    /// Bytes read back from swap; `None` on a kernel without swap.
    pub swap_in_bytes: Option<u64>,
    /// Bytes written to swap; `None` on a kernel without swap.
    pub swap_out_bytes: Option<u64>,
    /// Processes killed for want of memory; kernels before 4.13 do not count them.
    pub oom_kills: Option<u64>,
    /// Times that an allocation had to free memory itself.
    pub allocation_stalls: Option<u64>,
}

/// Limits of control groups on the way from the worker's own to the root: the narrowest of each.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GroupLimits {
    /// CPU time per time, in thousandths of a CPU; `None` without a limit.
    pub cpu_milli: Option<u64>,
    /// Periods in which a CPU limit stopped the group, so far.
    pub cpu_throttled: Option<u64>,
    /// Memory, bytes; `None` without a limit.
    pub memory_bytes: Option<u64>,
    /// Limits on I/O of the target's devices that have any.
    pub io: Vec<IoLimit>,
}

/// Limit on the I/O of a control group to one device; `None` is no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IoLimit {
    /// Kernel name of the device.
    pub device: String,
    /// Bytes read per second.
    pub read_bytes: Option<u64>,
    /// Bytes written per second.
    pub write_bytes: Option<u64>,
    /// Reads per second.
    pub reads: Option<u64>,
    /// Writes per second.
    pub writes: Option<u64>,
}
