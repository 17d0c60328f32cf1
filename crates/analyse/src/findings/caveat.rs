//! Reasons to doubt. Data only; their words are in [`crate::caveat`], and the page of each has the name of its variant.

use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Nanos, Say, Share};
use stend_spec::external::Difference;

/// A reason to doubt, worded by what the user did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caveat {
    /// The coordinator's file has no end.
    NoEnd,
    /// No storage took part: the backend or the target moves nothing.
    NoStorage {
        /// `backend: none`, or the path of the target.
        what: String,
        /// Labels of the cases of which this holds; empty: of all.
        cases: Vec<String>,
    },
    /// The run was ended early.
    EndedEarly {
        /// Why.
        reason: Say,
    },
    /// Load hosts were lost, and the others went on.
    LoadHostLost {
        /// How many.
        hosts: u32,
        /// Load hosts that there were.
        of_hosts: u32,
        /// The first that was lost, as the user calls it.
        host: String,
        /// When, from the beginning of the run.
        after: Nanos,
        /// What the coordinator saw.
        why: String,
        /// Trials that lack a host that was asked.
        trials: u32,
        /// Trials that began.
        of_trials: u32,
        /// Cases whose numbers are those of fewer hosts.
        cases: u32,
        /// Trials that are left out, because they are of other hosts than those that count for their case.
        #[serde(default)]
        of_others: u32,
    },
    /// What would be a reason to doubt a run on the first load host holds on others.
    OnLoadHosts {
        /// Which, as the user calls them.
        hosts: Vec<String>,
        /// Load hosts that there were.
        of_hosts: u32,
        /// What holds there, as the first of them has it.
        caveat: Box<Caveat>,
    },
    /// Another tool measured, and Stend read what it printed.
    Imported {
        /// What the tool calls itself; several are joined.
        by: String,
        /// Some latencies count from after the submission of an I/O (fio: clat).
        after_submission: bool,
        /// Some latencies are percentiles as printed, without a histogram.
        printed: bool,
        /// Documents that were left out because a later one holds them.
        snapshots: u32,
    },
    /// Something of the imported files is not in the run.
    ImportedInPart {
        /// What, with file and line.
        dropped: Vec<Say>,
    },
    /// Crashes were judged, and none took anything: what that proves, and what it does not.
    CrashesSurvived {
        /// How many.
        crashes: u64,
        /// Those of them after which the host had been restarted.
        rebooted: u64,
        /// The chance that a crash takes something is below this at 95 %.
        below: Share,
    },
    /// States made from a log of writes were judged, and none lacked anything: what that proves, and what it does not.
    ReplaysSurvived {
        /// How many.
        states: u64,
        /// How many there were.
        of: u64,
    },
    /// What a crash did could not be judged.
    CrashUnknown {
        /// Why.
        reason: Say,
    },
    /// The run waits for a person to switch to an arm.
    Suspended {
        /// Name of the arm.
        arm: String,
        /// What the person is to do.
        instruction: String,
    },
    /// All of one arm was measured before the next: whatever drifted meanwhile looks like a difference.
    ArmsInSequence,
    /// Nothing that is known of host and target differs between an arm and the first one.
    ArmWithoutChange {
        /// Name of the arm.
        arm: String,
    },
    /// An arm was not the same each time that it was entered.
    ArmDrifted {
        /// Name of the arm.
        arm: String,
        /// Names of the conditions that differed.
        conditions: Vec<Say>,
    },
    /// The target is in use by others; only reads ran.
    TargetInUse {
        /// By whom, as refusals.
        reasons: Vec<Say>,
    },
    /// The target is below a hypervisor: host caches and member drives cannot be seen.
    VirtualDisk {
        /// Kernel name; of several targets all of them, with commas.
        device: String,
    },
    /// No device below the target could be found: bytes at the drives are not measurable.
    NoDevice,
    /// `io_uring` was not used.
    Fallback {
        /// What was used.
        backend: String,
        /// Why.
        reason: String,
    },
    /// Another program made the I/O, and means something else by parts of the workload.
    OtherEngine {
        /// How many cases.
        cases: u32,
        /// What is different, for any of them.
        differences: Vec<Difference>,
    },
    /// The kernel did not submit inline but through worker threads.
    KernelWorkers {
        /// How many were seen.
        count: u32,
    },
    /// Buffers were to lie in huge pages, and the kernel gave fewer.
    OrdinaryPages {
        /// Least share of the buffers of a trial that lay in huge pages.
        huge: Share,
    },
    /// Load threads and telemetry had to share CPUs.
    FewCpus {
        /// CPUs online.
        cpus: u32,
    },
    /// The wall clock stepped during the run.
    ClockStep {
        /// By how much, ns.
        by_ns: i64,
    },
    /// A prober that was asked for made more than a prober may without being part of the load.
    ProberHeavy {
        /// Label of the case in which it made most.
        case: String,
        /// Probes over I/Os of the load.
        share: Share,
    },
    /// Trials that failed, were interrupted or cut short, and do not count.
    TrialsLeftOut {
        /// How many.
        count: u32,
    },
    /// Trials that count ended before events of their case came.
    EventsMissing {
        /// How many trials.
        trials: u32,
        /// Label of the first case with such a trial.
        case: String,
        /// How many cases have one.
        cases: u32,
    },
    /// Intervals were merged because the stream to the coordinator was slow.
    IntervalsMerged {
        /// How many.
        count: u64,
    },
    /// A trial that went on would have been lost with the coordinator: nothing could be kept outside of its memory.
    NoSpool {
        /// The system's own words.
        why: String,
    },
    /// I/Os of a window that the log of every I/O lacks, because the recorder was behind.
    LogIncomplete {
        /// How many, over all trials.
        dropped: u64,
        /// I/Os that the logs hold.
        recorded: u64,
    },
    /// The part of the target read was never written (zeros): reads may be answered without the medium.
    NeverWritten {
        /// Share of sampled blocks.
        share: Share,
    },
    /// What is replayed is not all of what was recorded, or not where it was.
    TraceChanged {
        /// The trace as the suite names it.
        trace: String,
        /// Its I/Os that are replayed.
        ios: u64,
        /// Those of them that were moved or made longer to be aligned.
        aligned: u64,
        /// Lines with I/O of kinds that cannot be replayed, or of no bytes.
        left_out: u64,
        /// Offsets begin again at the end of the range.
        wrapped: bool,
        /// Offsets are scaled down to the range.
        scaled: bool,
    },
    /// The working set was filled only in part, or not at all.
    NotFilled,
    /// Reads of a range that is discarded or filled with zeroes meanwhile.
    ReadsErased {
        /// By the trial that reads it, and not only by trials of other cases.
        at_once: bool,
    },
    /// Streams that run together work on the same bytes.
    StreamsOverlap {
        /// Label of the first case in which they do.
        case: String,
        /// Number of a stream in the case, from 1.
        first: u32,
        /// Number of another one.
        second: u32,
    },
    /// The target is in this machine's memory.
    InMemory {
        /// File system or device, e.g. `tmpfs`, `zram0`.
        what: String,
    },
    /// The target is on another machine.
    OverNetwork {
        /// File system, e.g. `nfs4`.
        file_system: String,
    },
    /// The target lies on devices that other hosts hand out.
    OverFabric {
        /// One of them, e.g. `nvme1n1`; of several targets one of each, with commas.
        device: String,
        /// How it is reached: `tcp`, `rdma`, `fc`, `iscsi`, `nbd`.
        transport: String,
    },
    /// The storage host of the stand hands out the target, or keeps a copy of it, and was watched.
    StorageWatched {
        /// As the user calls it.
        host: String,
        /// Drives below what it hands out.
        drives: u32,
    },
    /// The storage host of the stand was not watched, or not all the time.
    StorageUnwatched {
        /// As the user calls it.
        host: String,
        /// Why.
        why: Say,
    },
    /// A host that the user wanted watched was not, or not all the time.
    HostUnwatched {
        /// As the user calls it.
        host: String,
        /// Why.
        why: Say,
    },
    /// A program serves the file system.
    Fuse {
        /// File system, e.g. `fuse.sshfs`.
        file_system: String,
    },
    /// The file system lies over others, as in a container.
    Overlay,
    /// The file system writes each block to a new place.
    CopyOnWrite {
        /// File system, e.g. `btrfs`.
        file_system: String,
    },
    /// The file system compresses.
    Compressed {
        /// The mount option that causes it.
        option: String,
    },
    /// A layer below encrypts.
    Encrypted {
        /// Kernel name; of several targets all of them, with commas.
        device: String,
    },
    /// Other runs of Stend loaded the same drives meanwhile.
    RunBeside {
        /// Paths of their run files, with commas.
        runs: String,
        /// Names of the drives, as the kernel has them, with commas.
        drives: String,
    },
    /// Cases write without syncs to drives whose cache is volatile.
    VolatileCache {
        /// Kernel names of the drives.
        drives: Say,
        /// How many cases.
        cases: u32,
    },
    /// A layer below keeps data on a faster device than the one behind it.
    Cached {
        /// Kernel name of what keeps them.
        device: String,
        /// How much it keeps.
        size: Bytes,
    },
    /// A drive that can be taken out.
    Removable {
        /// Kernel name; of several targets all of them, with commas.
        device: String,
    },
    /// Little free space is left when the test file is there.
    NearlyFull {
        /// Used share of the file system then.
        used: Share,
    },
    /// The working set fits into a cache as large as this machine's memory.
    MemorySized {
        /// Bytes that trials touch.
        working_set: Bytes,
        /// Memory of the host.
        memory: Bytes,
        /// Whether I/O goes around the page cache of this machine.
        direct: bool,
    },
    /// Others used the drive right before the run.
    OtherLoad {
        /// Kernel name.
        device: String,
        /// Their reads and writes per second.
        iops: f64,
        /// Their bytes per second.
        bytes_per_s: f64,
    },
    /// Fewer sequential jobs than targets: only some targets are loaded at any moment.
    TargetsInTurn {
        /// How many cases.
        cases: u32,
        /// Targets of the run.
        targets: u32,
    },
    /// What the run is about to write.
    WillWrite {
        /// Bytes of the fill.
        fill: Bytes,
        /// Time that trials with writes will take together.
        trials: Nanos,
        /// The one solid-state drive below and its size, if it can be told.
        drive: Option<(String, Bytes)>,
    },
    /// Cases that are not as precise as the suite asks, after all the blocks that it allows.
    NotPrecise {
        /// How many cases.
        cases: u32,
        /// Label of the least precise one.
        case: String,
        /// What is not precise is how the arms of the run differ in it, as the ratio of two of them.
        between_arms: bool,
        /// Half of the 95 % interval of its rate, relative to it; `None` if that is narrow enough.
        rate: Option<Share>,
        /// The same of its widest p99; `None` if that is narrow enough, or has no interval.
        p99: Option<Share>,
        /// Its p99 has no interval: trials are too short.
        no_p99: bool,
    },
    /// Cases that were measured although their rounds ended without a steady state.
    NotSteady {
        /// How many cases.
        cases: u32,
        /// Label of the first one.
        case: String,
        /// Its rounds.
        rounds: u32,
        /// Largest less smallest rate of the last five, relative to their mean; `None`: fewer were whole.
        range: Option<Share>,
        /// How far the line fitted through them moves, relative to their mean.
        slope: Option<Share>,
    },
    /// Cases with fewer trials than a publishable interval needs.
    FewTrials {
        /// How many cases.
        cases: u32,
        /// Fewest trials of any of them.
        trials: u32,
        /// Trials needed.
        need: u32,
        /// Blocks that it takes to be as precise as it should be, by how far the trials of these cases spread; at least `need`.
        blocks: u32,
        /// Time that so many blocks take, as long as those of the run; `None` where that is not known.
        takes: Option<Nanos>,
    },
}
