//! How many instances of an application hold their objective. Data only; `density` finds them, and has their words.

use serde::{Deserialize, Serialize};
use stend_base::{MilliIops, Nanos, Share};
use stend_spec::app::{Limits, Program, Slo};

/// What the search of one case found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DensityFinding {
    /// Name of the case.
    pub label: String,
    /// What ran.
    pub program: Program,
    /// What had to hold.
    pub slo: Slo,
    /// Transactions per second that each client offered; `None`: a closed loop.
    pub offered: Option<MilliIops>,
    /// What each instance could take.
    pub limits: Option<Limits>,
    /// Version of the control groups that held the limits; `None`: there were none.
    pub groups: Option<u8>,
    /// What the programs call themselves.
    pub versions: Vec<String>,
    /// Largest number that held every time, below every one that missed.
    pub held: Option<u32>,
    /// Smallest number that missed once.
    pub missed: Option<u32>,
    /// Smallest number that missed every time.
    pub failed: Option<u32>,
    /// Both ends are neighbours and were tried as often as they should.
    pub confirmed: bool,
    /// A larger number held where a smaller one missed.
    pub disordered: bool,
    /// What was tried, ascending.
    pub points: Vec<DensityPoint>,
    /// What was used up at the smallest number that missed.
    pub used_up: Vec<UsedUp>,
    /// Last words of an instance that failed, or could not be started, at that number; `None`: none did.
    pub broke: Option<String>,
}

/// One number of instances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DensityPoint {
    /// How many.
    pub instances: u32,
    /// Trials.
    pub trials: u32,
    /// Those in which all instances held.
    pub held: u32,
    /// Least part of the instances that held in a trial.
    pub within: Share,
    /// Transactions or requests per second of all instances, mean over trials.
    pub rate: f64,
    /// The least and the most of a trial.
    pub rates: (f64, f64),
    /// By what the objective decides: each instance has as many windows as must hold within this, the slowest instance of a trial
    /// just so; mean, least and most over trials. `None` where a trial has not so many windows.
    pub decisive: Option<Decisive>,
    /// Rate of the slowest instance over that of the one in the middle: how fair it was. `None` without a rate.
    pub fairness: Option<f64>,
    /// The smallest and the largest percentile that a client printed of a window; `None` if none printed one.
    pub latency: Option<(Nanos, Nanos)>,
    /// Busy part of all CPUs.
    pub cpu: Option<Share>,
    /// Part of the time in which the busiest drive had something to do.
    pub drive: Option<Share>,
    /// Part of the time in which some task waited for memory.
    pub memory_wait: Option<Share>,
    /// Part of the periods of CPU time in which the instance in the middle had used up its own.
    pub held_back: Option<Share>,
}

/// A latency of several trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Decisive {
    /// The trial in the middle; of two the worse one.
    pub middle: Nanos,
    /// The best.
    pub least: Nanos,
    /// The worst.
    pub most: Nanos,
}

/// What samples tell of, whatever it is: only that can be said not to be used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Checked {
    /// The CPUs of the machine.
    pub cpu: bool,
    /// Its drives.
    pub drive: bool,
    /// Its memory.
    pub memory: bool,
    /// The CPU time that an instance may take.
    pub own_cpu: bool,
}

/// Something of which nothing was left.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsedUp {
    /// The CPUs of the machine.
    Cpu(Share),
    /// A drive.
    Drive(Share),
    /// The memory of the machine.
    Memory(Share),
    /// The CPU time that an instance may take.
    OwnCpu(Share),
}
