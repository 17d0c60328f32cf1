//! Every limit that a check, a caveat or a grade is decided by, in one versioned table.
//!
//! A change of any value changes [`LIMITS_VERSION`], which every report prints.

use stend_base::Nanos;

/// Version of this table: year and ordinal.
pub const LIMITS_VERSION: &str = "2026-1";

/// H01: relative deviation of bytes from I/Os × block size. The counters are exact; 1 % leaves room
/// for figures that others have rounded, and is far below a MB/MiB slip (4.86 %).
pub const BANDWIDTH_DEVIATION: f64 = 0.01;

/// H02: in-flight above the asked one by more than this factor is impossible in a closed loop.
pub const IN_FLIGHT_IMPOSSIBLE: f64 = 1.05;
/// H02: below this part of the asked in-flight, the queue was not filled.
pub const IN_FLIGHT_REACHED: f64 = 0.9;

/// H08: relative difference of two sums of the same I/Os.
pub const SUM_DEVIATION: f64 = 0.01;
/// H08: relative deviation of the window from the planned one.
pub const WINDOW_DEVIATION: f64 = 0.02;

/// H11: bytes at the drives per byte of the application; less came from, or stayed in, a cache.
pub const BYTES_AT_DRIVES: f64 = 0.95;
/// H11: part of the load time that lies between samples, over all trials of a case. Less says too
/// little about the whole: a quarter of each of many trials is still spread over the run (by eye).
pub const SAMPLES_COVER: f64 = 0.25;

/// H18: share of sampled blocks that hold only zeros.
pub const NEVER_WRITTEN: f64 = 0.01;

/// H40: part of the window that a load thread waited for a CPU. Waiting adds to latency directly: at
/// 5 % it is of the order of the spread between trials (by eye).
pub const RUN_DELAY_VISIBLE: f64 = 0.05;
/// H40: part of the window waited for a CPU from which the result is the generator's, not the storage's (by eye).
pub const RUN_DELAY_BOUND: f64 = 0.20;
/// H40: part of one CPU that the busiest load thread used; load threads sleep when they can, so
/// one that is this busy has no headroom (method.md, H40).
pub const THREAD_BUSY: f64 = 0.90;

/// Fewest interleaved trials for a publishable interval: with 5 the exact sign-flip test cannot reach 5 %.
pub const TRIALS_PUBLISHABLE: u32 = 6;
/// Shortest trial for a publishable number (H23).
pub const WINDOW_PUBLISHABLE: Nanos = Nanos::secs(60);

/// H44: step of the wall clock against the monotonic one that is called a step.
pub const CLOCK_STEP: Nanos = Nanos::millis(1);
/// H44: part of the time that a disciplined clock may drift without a step (NTP slews by at most 500 ppm).
pub const CLOCK_SLEW: f64 = 500e-6;

/// On so few CPUs load threads share them with telemetry and control.
pub const FEW_CPUS: u32 = 2;
