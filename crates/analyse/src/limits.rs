//! Every limit that a check, a caveat or a grade is decided by, in one versioned table.
//!
//! A change of any value changes [`LIMITS_VERSION`], which every report prints.

pub mod list;

use stend_base::{Bytes, Nanos};

/// Version of this table: year and ordinal.
pub const LIMITS_VERSION: &str = "2026-16";

/// H01: relative deviation of bytes from I/Os × block size. The counters are exact; 1 % leaves room
/// for figures that others have rounded, and is far below a MB/MiB slip (4.86 %).
pub const BANDWIDTH_DEVIATION: f64 = 0.01;

/// H01: how near the deviation of a published number must be to a slip of units to be called that: three printed digits (by eye).
pub const SLIP_NEAR: f64 = 0.006;

/// H02: in-flight above the asked one by more than this factor is impossible in a closed loop.
pub const IN_FLIGHT_IMPOSSIBLE: f64 = 1.05;
/// H02: below this part of the asked in-flight, the queue was not filled.
pub const IN_FLIGHT_REACHED: f64 = 0.9;
/// H02: where the rest waited for its turn to be submitted, this part of the asked in-flight will do: less was in flight than waited.
pub const IN_FLIGHT_TURNS: f64 = 0.5;

/// H03: deviation of the share of an operation from the one asked for (method.md, H03).
pub const MIX_DEVIATION: f64 = 0.01;
/// H01 and H03: sizes of a mixture and the share of reads are drawn per I/O, so few I/Os deviate by chance: this
/// many standard deviations are allowed, which one case in 16,000 exceeds.
pub const MIX_SIGMA: f64 = 4.0;

/// H05: fewest expected coincidences at which an equal value says nothing (method.md, H05).
pub const COINCIDENCES_EXPECTED: f64 = 0.2;
/// H05: digits that a published number needs so that an equal one means something (method.md, H05).
pub const DUPLICATE_DIGITS: u32 = 4;
/// H05: published numbers within this share of one are its neighbours: how they lie tells what chance does there (by eye).
pub const NEIGHBOURS: f64 = 0.01;

/// H06: units of the last digit by which a published percentage may be off, either way together (method.md, H06).
pub const PERCENT_STEPS: f64 = 1.0;
/// H06: so many misses against one baseline are looked at for another one (by eye).
pub const BASELINE_MISSES: usize = 3;
/// H06: another baseline is named if it explains this share of them (by eye).
pub const BASELINE_EXPLAINS: f64 = 0.8;

/// H07: part of a measured ceiling above which the data did not come from what was measured (method.md, H07).
pub const ABOVE_CEILING: f64 = 1.03;

/// H08: relative difference of two sums of the same I/Os.
pub const SUM_DEVIATION: f64 = 0.01;
/// H08: relative deviation of the window from the planned one.
pub const WINDOW_DEVIATION: f64 = 0.02;

/// H09: fewer points of a sweep have no shape.
pub const SWEEP_POINTS: usize = 3;
/// H09: a step back of a published sweep, which has no intervals, that noise explains (by eye).
pub const SWEEP_STEP_BACK: f64 = 0.05;

/// H10: how much a cache may raise a rate before the working set counts as too small (method.md, H10).
pub const CACHE_INFLATION: f64 = 0.05;

/// H11: bytes at the drives per byte of the application; less came from, or stayed in, a cache.
pub const BYTES_AT_DRIVES: f64 = 0.95;
/// H11: part of the load time that lies between samples, over all trials of a case. Less says too
/// little about the whole: a quarter of each of many trials is still spread over the run (by eye).
pub const SAMPLES_COVER: f64 = 0.25;

/// H11, H12, H26 and others that hold counters of the machine against a trial: part of its window by which another
/// engine may not know its start. So much of what it did may lie beside what is compared: half of what H26 looks for.
pub const START_UNCERTAIN: f64 = 0.01;

/// H11, H12, H26 and others that hold counters of the machine against what the load did: standard deviations that the edges of readings
/// may make of a difference, as many as of other chances ([`MIX_SIGMA`]).
pub const EDGE_SIGMA: f64 = 4.0;
/// H11, H12: part of what the load did by which edges may excuse missing bytes; beyond it nothing can be said (by eye: a cache that
/// answered a seventh shows).
pub const EDGE_EXCUSES: f64 = 0.10;

/// H12: bytes that block devices moved for the whole machine, per byte of the application. The same as H11's:
/// direct I/O is counted there in full.
pub const BYTES_PAGED: f64 = 0.95;
/// H12: growth of the page cache per byte of direct I/O. Others fill the cache too, but not with half of what
/// the load moves (by eye).
pub const CACHE_GROWTH: f64 = 0.5;
/// H12: growth of the page cache that is ignored: other processes read this much any time (by eye).
pub const CACHE_GROWTH_MIN: Bytes = Bytes::mib(64);

/// H13: part of the reads that the cache of ZFS may answer without a label (method.md, H13).
pub const ARC_HITS: f64 = 0.05;

/// H14: later trials of reads over the first from which something began to hold what is read (method.md, H14).
pub const CACHE_WARMED: f64 = 1.10;
/// H14: the begin of writes over what came later from which a cache took them at first (method.md, H14).
pub const CACHE_FILLED: f64 = 1.20;
/// H14: the begin of a load that is held against its rest (method.md, H14).
pub const CACHE_FILLING: Nanos = Nanos::secs(10);

/// H16: part of the bytes of all areas that only one job works on (method.md, H16).
pub const AREAS_UNIQUE: f64 = 0.9;

/// H17: bytes over bytes after zstd at level 1 from which data are compressible (method.md, H17).
pub const COMPRESSIBLE: f64 = 1.05;
/// H17: share of sampled blocks that repeat another one (method.md, H17).
pub const REPEATED: f64 = 0.01;

/// H18: share of sampled blocks that hold only zeros.
pub const NEVER_WRITTEN: f64 = 0.01;

/// H26: part of the I/O at the device that is not ours (method.md, H26).
pub const FOREIGN_SHARE: f64 = 0.02;
/// H26: up to this block size devices take an I/O as one; larger ones may be split, so that only bytes can be
/// compared. 64 KiB: no device in use takes less at once (max_sectors_kb).
pub const NEVER_SPLIT: Bytes = Bytes::kib(64);
/// H26: largest usual record of ZFS, which reads a record as a whole. 1 MiB: the largest that can be set without a module parameter
/// before OpenZFS 2.2; the default is 128 KiB.
pub const ZFS_RECORD: Bytes = Bytes::mib(1);
/// H26: I/Os at a drive for such a record and the tables that lead to it: pieces of 128 KiB (by eye).
pub const ZFS_PIECES: f64 = 8.0;
/// H26: after this long ZFS has written what it was given: three groups of transactions of 5 s, one each that is open, closed and written.
pub const ZFS_SETTLED: Nanos = Nanos::secs(15);

/// H78: longest time between the load before a trial and the trial (method.md, H78).
pub const IDLE: Nanos = Nanos::secs(60);

/// H27: difference in use of the file systems that are compared (method.md, H27).
pub const FILL_DIFFERENCE: f64 = 0.02;

/// H30: fewest syncs from which none with a flush is no chance (by eye).
pub const SYNCS_JUDGED: f64 = 10.0;
/// H30: flushes per sync that come one by one; each needs one of its own, and at the edges of a stretch one or two are counted
/// beside it (by eye).
pub const FLUSHES_PER_SYNC: f64 = 0.5;
/// H30: median of syncs below which a cache that calls itself volatile was hardly emptied: drives with protection against a
/// loss of power take 12 to 60 µs, those without 0.5 ms and more (method.md, H30).
pub const SYNC_FASTEST: Nanos = Nanos(100_000);
/// H30: durable writes per second, one at a time, that no disk makes: at 15,000 turns a minute half a turn takes 2 ms.
pub const SYNC_PER_SECOND_ROTATING: f64 = 500.0;

/// H40, H41: trials from which the interval of their mean decides about a limit; of two it is 13 standard errors wide (by eye).
pub const TRIALS_SURE: usize = 3;
/// H40: part of the window that a load thread waited for a CPU. Waiting adds to latency directly: at
/// 5 % it is of the order of the spread between trials (by eye).
pub const RUN_DELAY_VISIBLE: f64 = 0.05;
/// H40: part of the window waited for a CPU from which the result is the engine's, not the storage's (by eye).
pub const RUN_DELAY_BOUND: f64 = 0.20;
/// H40: part of one CPU that the busiest load thread used; load threads sleep when they can, so
/// one that is this busy has no headroom (method.md, H40).
pub const THREAD_BUSY: f64 = 0.90;

/// H40: how late completions are stamped, at most, as a share of the mean latency, from which latencies are in part the engine's. Spread
/// evenly over the time for which their thread was busy they are late by half of it, a tenth: of the order of the spread between
/// trials (by eye). Random writes of a healthy virtual disk at depth 32 were late by at most 8.6 % (9.7 % in one trial).
pub const LATE_STAMPS: f64 = 0.20;

/// H41: mean number in flight at the device over that asked for (method.md, H41).
pub const DEPTH_REACHED: f64 = 0.8;
/// H41: the same in a single trial, below which the others do not excuse it. Half, by eye: no healthy run that was seen came near.
pub const DEPTH_LOST: f64 = 0.5;

/// H42: rate of the engine against nothing, over that of the case, below which the engine is a part of it (method.md, H42).
pub const ENGINE_HEADROOM: f64 = 2.0;

/// H43: deviation of the served rate from the offered one (method.md, H43).
pub const OFFERED_DEVIATION: f64 = 0.01;
/// H43: what is in flight at either end of a window is chance, of the order of the square root of what was due:
/// so many of them are allowed where that is more than the deviation.
pub const OFFERED_SIGMA: f64 = 2.0;
/// H43: part of a latency that may be our own lateness (by eye: below what trials differ by).
pub const OWN_LATENESS: f64 = 0.10;

/// H19: part of the places that chance would give which may be missing (by eye: one job of a hundred that repeats another one).
pub const PLACES_SHORTFALL: f64 = 0.01;
/// H19: square roots of the places to expect that chance may take away as well; their number varies by less than its root.
pub const PLACES_SIGMA: f64 = 4.0;

/// H20: how often the range of a solid-state drive is written before it is measured (SNIA SSS PTS, WIPC).
pub const PRECONDITIONED: f64 = 2.0;

/// H21 and the rounds of `steady`: values that the steady-state rule looks at (SNIA SSS PTS; method.md, 1.1).
pub const STEADY_ROUNDS: usize = 5;
/// H21: largest less smallest of them, relative to their mean (SNIA SSS PTS).
pub const STEADY_RANGE: f64 = 0.20;
/// H21: how far the line fitted through them moves, relative to their mean (SNIA SSS PTS).
pub const STEADY_SLOPE: f64 = 0.10;
/// H21: shortest fifth of what was measured that counts as a value, in intervals of 100 ms (by eye: a second).
pub const STEADY_PART: usize = 10;

/// H23: fewest independent batches of a trial (method.md, H23).
pub const BATCHES_PUBLISHABLE: usize = 20;

/// H80: arrival error of a replay that 99 % of its I/Os may have: below the gaps of most programs, above what a quiet
/// machine needs to wake up (by eye).
pub const REPLAY_LATE: Nanos = Nanos::millis(1);
/// H80: by how much its lateness may grow per time (by eye: what repeated trials differ by).
pub const REPLAY_DRIFT: f64 = 0.01;

/// H44: part of the latency that two readings of the clock may be (method.md, H44).
pub const CLOCK_COST: f64 = 0.02;
/// H44: part of the median latency over which I/Os of a batch may share one reading of the clock.
pub const BATCH_SPAN: f64 = 0.02;
/// H44: clock sources that are read without entering the kernel and do not drift between CPUs.
pub const CLOCK_SOURCES: [&str; 4] = ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"];

/// H46: interrupts of the drives that one CPU may take, in fair shares of the load threads' CPUs (method.md, H46).
pub const INTERRUPT_SHARE: f64 = 4.0;
/// H46: part of a CPU that may go into interrupts (method.md, H46).
pub const INTERRUPT_CPU_BUSY: f64 = 0.80;
/// H46: interrupts below which it does not matter who takes them (by eye: a second of a slow disk).
pub const INTERRUPTS_JUDGED: u64 = 1000;

/// H47: coefficient of variation of the mean frequency of the CPUs under load (method.md, H47).
pub const FREQUENCY_VARIATION: f64 = 0.05;
/// H47: fewest readings under load that it is computed from (by eye).
pub const FREQUENCIES_JUDGED: usize = 3;
/// H48: loss of rate between the first and the last third of a window that heat is blamed for: above what seconds of a steady load
/// differ by (by eye).
pub const THROTTLED_LOSS: f64 = 0.05;

/// H49: mean share of CPU time that the hypervisor took (method.md, H49).
pub const STEAL_MEAN: f64 = 0.01;
/// H49: that share in the worst second (method.md, H49).
pub const STEAL_SECOND: f64 = 0.05;

/// H50: part of the time that some task waited for memory (method.md, H50).
pub const MEMORY_WAIT: f64 = 0.01;
/// H50: bytes swapped, of those of the load. As much as H26 lets pass of others.
pub const SWAPPED_SHARE: f64 = FOREIGN_SHARE;
/// H50: part of the machine's memory that is available in every reading from which the machine was not short of it (by eye: Linux
/// reclaims in the foreground at 1 % and below).
pub const MEMORY_TO_SPARE: f64 = 0.1;

/// H62: bytes that members of an array or volume read per byte that was written, from which they read for the sake of writes. Above what H26
/// lets others read, 0.02 / 0.98; below the least that a stripe costs which lacks one chunk of *d*, 1 / (*d* − 1), of up to 20 (a test has both).
pub const READ_FOR_WRITES: f64 = 0.05;
/// H62: bytes that members of a volume read beyond those asked for, per byte, from which parts of records cost a read of all. Half a record,
/// the largest part, costs 1 where no other read finds it in the cache, whole records cost 0: halfway a cache may hold half of it.
pub const READ_AMPLIFIED: f64 = 0.5;

/// H61: part of the line rate from which a network is the limit (method.md, H61): what Ethernet carries besides data is 5 %.
pub const LINE_RATE_REACHED: f64 = 0.85;
/// H61: part of the TCP segments that may be sent again (method.md, H61).
pub const SENT_AGAIN: f64 = 0.001;

/// H63: deviation of the bytes at the drives from what the layers make of a write (method.md, H63).
pub const AMPLIFICATION_DEVIATION: f64 = 0.20;
/// H63: what an OSD of Ceph writes besides for each write that it gets: its log and metadata. 11 to 22 KiB were measured with Ceph 16.2
/// (docs/formats/stand.md, "What a byte costs at the drives").
pub const POOL_METADATA: Bytes = Bytes::kib(24);
/// H63: what a client of CephFS holds back at most.
//= ceph 16.2, src/common/options.cc: client_oc_max_dirty is 100 MiB
pub const POOL_CACHE: Bytes = Bytes::mib(100);

/// H65: ratio of the 95 % to the 50 % quantile of the rates of seconds below which a series is flat (method.md, H65).
pub const FLAT_TOP: f64 = 1.01;
/// H65: fewest seconds that can be called flat, over all trials of a case; fewer are flat by chance (by eye).
pub const FLAT_SECONDS: usize = 10;
/// H65: relative distance from a round number at which a rate is called round. Token buckets of the kernel
/// keep their rate to a few parts in a thousand; wider, every sixth honest rate would be round (by eye).
pub const ROUND_DISTANCE: f64 = 0.005;
/// H65: part of a known limit from which on the limit is what was measured (by eye).
pub const LIMIT_REACHED: f64 = 0.95;
/// H65: part of its first level that a rate keeps after credits are used up; smaller drops are not steps (by eye).
pub const STEP_DOWN: f64 = 0.8;
/// H65: fewest seconds on either side of a step (by eye).
pub const STEP_SECONDS: usize = 5;

/// H77: part of one CPU that reading the counters of the machine may take (method.md, H77).
pub const TELEMETRY_CPU: f64 = 0.01;
/// H71: Student's t of a slope over the blocks of a comparison above which what is compared drifted (method.md, H71).
pub const DRIFT_T: f64 = 2.5;

/// H66: bytes per I/O at the device, relative to the block size: less was split (method.md, H66).
pub const SPLIT: f64 = 0.95;
/// H66: more was merged (method.md, H66).
pub const MERGED: f64 = 1.05;

/// Fewest interleaved trials for a publishable interval: with 5 the exact sign-flip test cannot reach 5 %.
pub const TRIALS_PUBLISHABLE: u32 = 6;
/// Comparison: difference that does not matter unless the user says otherwise (method S5).
pub const MARGIN: f64 = 0.02;
/// Comparison: chance of calling any cell of a table different when none is.
pub const FALSE_DIFFERENCE: f64 = 0.05;
/// Shortest trial for a publishable number (H23).
pub const WINDOW_PUBLISHABLE: Nanos = Nanos::secs(60);

/// Half of the interval of a rate that a result should have, if its suite does not say (method S7).
pub const PRECISION: f64 = 0.02;
/// Another length of trials is named if the run would take at most this part of the time (by eye: worth a change of the suite).
pub const RUN_SHORTER: f64 = 0.8;
/// Longest trial that is suggested: beyond, what happens in it is no longer one state of a machine (by eye).
pub const WINDOW_SUGGESTED: Nanos = Nanos::secs(600);

/// Largest p at which a value is called changed over a series of runs (method S8).
pub const CHANGE_P: f64 = 0.001;
/// Least change of a value over a series of runs that is reported (method S8).
pub const CHANGE_LEAST: f64 = 0.05;

/// Shortest batch of a single trial that an interval is made from, in intervals of 100 ms: 5 s (method S2). From three
/// seconds alone an interval holds the truth in as little as none of the cases (docs/bench/coverage.md, before this limit).
pub const BATCH_INTERVALS: usize = 50;

/// H04: part of the window by which several load hosts may begin apart, beyond what is known of their clocks. Their rates are added, and each
/// is off by this part at most.
pub const HOSTS_APART: f64 = 0.01;
/// H04: part from which the sum is of another experiment.
pub const HOSTS_APART_MOST: f64 = 0.05;

/// H44: step of the wall clock against the monotonic one that is called a step.
pub const CLOCK_STEP: Nanos = Nanos::millis(1);
/// H44: part of the time that a disciplined clock may drift without a step (NTP slews by at most 500 ppm).
pub const CLOCK_SLEW: f64 = 500e-6;

/// On so few CPUs load threads share them with telemetry and control.
pub const FEW_CPUS: u32 = 2;

/// Used share of a file system from which it is called nearly full. Ten points below the 80 % at which a
/// plan refuses to fill further: allocation has little choice there, and so has the drive below (by eye).
pub const NEARLY_FULL: f64 = 0.70;
/// A working set below this many times the memory may sit in a cache of that size for the larger part.
/// Even above, up to half of the random reads can hit it (method.md, H10), so this only warns.
pub const MEMORY_SIZES: u64 = 2;
/// I/Os per second of others before the run, from which they are reported: a few per second are the commits of
/// a quiet system (by eye).
pub const OTHER_IOPS: f64 = 50.0;
/// Bytes per second of others before the run, from which they are reported (by eye).
pub const OTHER_BYTES_PER_S: f64 = 5e6;

/// Probes over I/Os of the load from which a prober is part of what is measured: a prober that nobody asked for stays
/// below by itself, up to the Poisson noise of a load of some thousand I/Os (by eye).
pub const PROBER_SHARE: f64 = 0.0055;
/// Time without an answer, in times between two probes, below which it is none: two probes in a row that are late by a
/// whole period are already rare (by eye).
pub const STANDSTILL_PERIODS: f64 = 3.0;
/// Share of the intervals in a time without an answer in which the load completed nothing, from which that is a standstill: at its
/// edges the load may have gone on for an interval while the prober had no CPU (by eye).
pub const STANDSTILL_QUIET: f64 = 0.8;
/// I/Os of a kind that a time without one would have had, from which it is no chance: of arrivals that know nothing of each other one such
/// time in 500 million has none.
pub const STOOD_EXPECTED: f64 = 20.0;

/// Sweeps: deviation from the Universal Scalability Law above which it is not used (by eye: beyond it the bend of the law is
/// somewhere else than that of the rates).
pub const USL_DEVIATION: f64 = 0.10;
/// Sweeps: a rate counts as known no better than this when the law is fitted, so that one very even pair of trials does not
/// outweigh all others (by eye: half of what trials usually differ by).
pub const USL_SPREAD: f64 = 0.01;
/// Sweeps: below the largest rate by at most this, a rate does not grow any more: the margin of comparisons.
pub const SWEEP_LEVEL: f64 = MARGIN;

/// Density: part of the periods of CPU time (100 ms) that an instance may have used up before its limit is named as what is used up.
/// By eye: below, the wait of a transaction is not seen in its percentiles.
pub const HELD_BACK: f64 = 0.05;

/// Events: part of the rate before, from which service counts as back, and below which a second is a brownout (method §6.3).
pub const FAULT_BACK: f64 = 0.90;
/// Events: length of the means that say how far a rate fell and whether it is back (method §6.3).
pub const FAULT_MEAN: Nanos = Nanos::secs(5);
/// Events: how long a rate must stay where it is back (method §6.3).
pub const FAULT_HELD: Nanos = Nanos::secs(60);
/// Events: fixed time over which lost work is also reported (method §6.3).
pub const FAULT_HORIZON: Nanos = Nanos::secs(300);
/// Events: I/Os per interval of 100 ms, from which an interval without any is a stall (by eye: of five that come at random none
/// comes in one of 150 intervals).
pub const FAULT_STALL_LEAST: f64 = 5.0;

/// Ceilings: part of a ceiling from which it limits a rate (method §5.1).
pub const BOUND_AT: f64 = 0.85;
/// Ceilings: two whose parts differ by at most this bound a rate together (method §5.1).
pub const BOUND_TOGETHER: f64 = 0.05;
/// Ceilings: below this part of all of them a rate may be bound by latency (method §5.1).
pub const LATENCY_BOUND_BELOW: f64 = 0.70;
/// Ceilings: rate over in flight / latency of one alone, from which each I/O takes as long as alone (by eye: two trials
/// differ by less than this tenth).
pub const LATENCY_BOUND_REACHED: f64 = 0.90;
/// Ceilings: part of what the lanes of a PCIe link carry that is left for data (method §5.2: 85 to 90 %).
pub const LINK_USABLE: f64 = 0.87;
/// Ceilings: part of what a network is stated to carry that is left for data (method §5.2: 94 to 95 % at an MTU of 1500).
pub const NETWORK_USABLE: f64 = 0.94;
/// Ceilings: gain of twice the queue depth below which a rate does not grow any more (method §5.3).
pub const DOUBLED_SATURATED: f64 = 0.03;
/// Ceilings: gain of twice the queue depth from which nothing was used up (method §5.3).
pub const DOUBLED_GROWS: f64 = 0.05;
