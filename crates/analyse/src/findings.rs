//! What a run says: the types that report, terminal and JSON all draw from. Data only.

mod caveat;
mod ceiling;
mod check;
mod density;
mod fault;
mod host_search;
mod hosts;
mod levels;
mod numa;
mod prober;
mod replay;
mod source;
mod steady;
mod sweep;

use crate::chart::Chart;
pub use caveat::Caveat;
pub use ceiling::{
    Bound, CeilingDoubt, CeilingFinding, CeilingUse, DemandFinding, Doubled, LayoutFrom, LimitTest, RateFrom, Resource,
    UnknownCeiling,
};
pub use check::{CheckId, CheckResult, CheckStatus};
pub use density::{Checked, Decisive, DensityFinding, DensityPoint, UsedUp};
pub use fault::{BackTimes, CutFinding, FaultFinding, FaultTrial};
pub use host_search::{HostSearchFinding, HostUsedUp, SearchedHosts};
pub use hosts::{ClockFinding, HostFinding, HostsFinding, LoadHostFinding, LossFinding};
pub use levels::LevelsFinding;
pub use numa::{NumaCell, NumaFinding, OfLocal};
pub use prober::{OtherOp, ProberFinding, SilenceFinding, SilenceKind, Standstill};
pub use replay::{IoLogFinding, ReplayFinding};
use serde::{Deserialize, Serialize};
pub use source::{SourceFinding, SourceValueFinding, Spread};
use std::collections::BTreeSet;
pub use steady::SteadyFinding;
use stend_base::{Bytes, MilliIops, Nanos, Say, Share};
use stend_record::RunState;
use stend_record::observed::Submissions;
use stend_spec::workload::Op;
pub use stend_stats::estimate::{Basis, Estimate};
pub use stend_stats::quantile::{Quantile, QuantileValue};
pub use sweep::{Scaling, ScalingModel, SweepFinding, SweepOf, SweepPoint};

/// Everything derived from one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Id of the run.
    pub run: String,
    /// What the user calls the run.
    pub label: Option<String>,
    /// Name of the suite.
    pub suite: String,
    /// The targets as the user named them.
    pub targets: Vec<String>,
    /// Name of the stand that was put up for the run and made them.
    pub stand: Option<String>,
    /// Wall clock at the start, seconds since 1970 UTC.
    pub started_unix: i64,
    /// From the first to the last thing recorded.
    pub elapsed: Nanos,
    /// How far the run got.
    pub state: RunState,
    /// What the numbers may be used for.
    pub grade: Grade,
    /// What was found, or why nothing was, without reasons to doubt it.
    pub headline: Say,
    /// Cases whose numbers stand out, four at most, by [`CaseFinding::case`].
    pub telling: Vec<u32>,
    /// The run in a few sentences: the headline, and what it means for the numbers.
    pub verdict: Say,
    /// Answers of the searches that began, in the order of the plan.
    pub searches: Vec<SearchFinding>,
    /// Those of the searches for a number of load hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_searches: Vec<HostSearchFinding>,
    /// What queue depth or jobs buy, where a closed loop was measured at four or more of them.
    pub sweeps: Vec<SweepFinding>,
    /// The load hosts, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<LoadHostFinding>,
    /// What was read beside the load where no worker ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceFinding>,
    /// How many instances of an application hold their objective, for the searches that began.
    pub density: Vec<DensityFinding>,
    /// What events did, of the cases that have some.
    pub faults: Vec<FaultFinding>,
    /// What far NUMA nodes cost, of cases that run on every pair of nodes.
    pub numa: Vec<NumaFinding>,
    /// Cases that ran at least one trial, in the order of the plan.
    pub cases: Vec<CaseFinding>,
    /// Cases that did not run, with the reason.
    pub not_run: Vec<NotRun>,
    /// Cases of which nothing counts: what did not run, and what has no trial that counts. Data of gates.
    #[serde(skip)]
    pub unmeasured: Vec<Unmeasured>,
    /// Labels of the cases that a search or a density tried: which ones depends on what it finds. Data of gates.
    #[serde(skip)]
    pub tried: Vec<String>,
    /// Names of the arms, with which labels begin; empty without arms. Data of gates.
    #[serde(skip)]
    pub arms: Vec<String>,
    /// Reasons to doubt the whole run, most serious first.
    pub caveats: Vec<Caveat>,
    /// Charts that hold cases against each other; none unless the suite varies a parameter.
    pub across: Vec<Chart>,
    /// Charts about the whole run; those of a case are in the case.
    pub charts: Vec<Chart>,
    /// What Stend itself used.
    pub cost: ToolCost,
    /// Version of the table of limits that the checks used.
    pub limits_version: String,
}

/// What the numbers of a run may be used for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// Screening or publishable.
    pub level: GradeLevel,
    /// The banner: what is missing for more.
    pub banner: Say,
}

/// Level of a grade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GradeLevel {
    /// Short; shown with intervals, never coloured.
    Screening,
    /// Every check that applies holds.
    Publishable,
}

/// A case that did not run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotRun {
    /// Label of the case.
    pub label: String,
    /// Why.
    pub reason: Say,
}

/// A case that was planned, and of which there is no value.
#[derive(Debug, Clone, PartialEq)]
pub struct Unmeasured {
    /// Label of the case.
    pub label: String,
    /// Why.
    pub reason: Say,
    /// Operations that it was to do.
    pub ops: Vec<Op>,
}

impl Findings {
    /// Checks that have this result in any case, each counted once, and the cases in which one of them has it.
    pub fn checks_with(&self, status: CheckStatus) -> (usize, usize) {
        let in_cases = self.cases.iter().map(|case| case.checks.iter().filter(|check| check.status == status));
        let of_each: Vec<BTreeSet<CheckId>> = in_cases.map(|checks| checks.map(|check| check.id).collect()).collect();
        let kinds: BTreeSet<CheckId> = of_each.iter().flatten().copied().collect();
        (kinds.len(), of_each.iter().filter(|checks| !checks.is_empty()).count())
    }

    /// The same where the reason for an early end is shown anyway.
    pub fn without_reason(mut self) -> Findings {
        for caveat in &mut self.caveats {
            let told = caveat.say();
            if let Caveat::EndedEarly { reason } = caveat {
                *reason = Say::same("");
                let short = caveat.say();
                for text in [&mut self.headline, &mut self.verdict] {
                    *text = Say { en: text.en.replace(&told.en, &short.en), ru: text.ru.replace(&told.ru, &short.ru) };
                }
            }
        }
        self
    }
}

/// What a search for a rate found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchFinding {
    /// Name of the case, with the axes that were not searched.
    pub label: String,
    /// Share of the I/Os that had to stay within the limit.
    pub quantile: Share,
    /// That limit, from when an I/O was due.
    pub limit: Nanos,
    /// Load hosts, on each of which these were the rates.
    pub hosts: u32,
    /// Highest rate that held every time, below every one that missed.
    pub held: Option<SearchedRate>,
    /// Lowest rate that missed.
    pub missed: Option<SearchedRate>,
    /// Both are neighbours and were looked at as often as they should.
    pub confirmed: bool,
    /// The I/Os are of several operations, which the limit holds together.
    pub together: bool,
    /// Rates up to the one that held at which trials of the curve missed all the same, ascending. The table has all trials of a rate.
    pub curve_missed: Vec<SearchedRate>,
}

/// A rate that a search tried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SearchedRate {
    /// The rate.
    pub rate: MilliIops,
    /// Trials at it while the search went on, or of its curve.
    pub looks: u32,
    /// Those that did not hold.
    pub missed: u32,
}

/// One cell of the matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseFinding {
    /// Index in the plan.
    pub case: u32,
    /// Name and axes, e.g. `rand-read, queue_depth 32`.
    pub label: String,
    /// The axes at its end with their values, e.g. `[("queue_depth", "32")]`.
    pub axes: Vec<(String, String)>,
    /// The workload in words: `random read, 4 KiB, 32 in flight`.
    pub workload: Say,
    /// What to show first: IOPS for small blocks, throughput for large ones (64 KiB and more).
    pub headline: Headline,
    /// Trials that count: their whole window was measured. One that stalled afterwards counts too;
    /// leaving out the worst would flatter.
    pub trials: u32,
    /// Trials that were interrupted, failed or cut short; they do not count.
    pub trials_left_out: u32,
    /// All I/Os of the case together; syncs are not counted.
    pub total: Rates,
    /// How precise that is and what more would take; `None` below two trials, and for a rate that a search tried.
    pub precision: Option<PrecisionFinding>,
    /// What its rounds found; `None` if it has none.
    pub steady: Option<SteadyFinding>,
    /// Both levels of its rate, where it fell from one to a lower one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<LevelsFinding>,
    /// By operation that occurred: by stream, and in the order of [`Op::ALL`].
    pub ops: Vec<OpFinding>,
    /// By target, in their order, where every job works on one of several alone; else empty.
    pub targets: Vec<TargetFinding>,
    /// What each load host did, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostsFinding>,
    /// What bounds it and how near it is; `None` where nothing was calibrated and nothing is clearly the bound.
    pub ceiling: Option<CeilingFinding>,
    /// How faithful the replay of each trace was; empty if there is none at a pace.
    pub replays: Vec<ReplayFinding>,
    /// Logs of every I/O, one per trial; empty if none is kept.
    pub io_logs: Vec<IoLogFinding>,
    /// How its I/Os were given to the kernel; `None` where each was a call of its own that waited for it, or another program made them.
    pub submissions: Option<Submissions>,
    /// What single I/Os beside the load saw; `None` if there were none.
    pub prober: Option<ProberFinding>,
    /// Why there were none, where one would expect them.
    pub no_prober: Option<Say>,
    /// Checks in the order of their number.
    pub checks: Vec<CheckResult>,
    /// Charts of this case: time series, latency distribution.
    pub charts: Vec<Chart>,
}

impl CaseFinding {
    /// Whether its rates are those of several kinds of I/O, which are shown separately beside the total: reads and writes of a mix, or
    /// several streams. Syncs are not counted in the total, and are no part of it.
    pub fn is_mix(&self) -> bool {
        self.ops.iter().filter(|op| op.op != Op::Sync).count() > 1
    }
}

/// How precise the headline rate of a case is, and what it takes to be as precise as it should.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrecisionFinding {
    /// Trials that it was measured in.
    pub trials: u32,
    /// Half of its 95 % interval, relative to it.
    pub half_width: Share,
    /// What that should be: as the suite says, or 2 %.
    pub goal: Share,
    /// Blocks of such trials that it takes, at least 6; `None`: more than 1000.
    pub needed: Option<u32>,
    /// Window of these trials.
    pub window: Nanos,
    /// Another window and the blocks that it takes, where that would be clearly less time: from how much of the spread
    /// is inside trials and how much between them.
    pub better: Option<(Nanos, u32)>,
}

/// Which rate is the headline of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Headline {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Throughput,
}

impl Rates {
    /// The one that is asked for.
    pub fn of(&self, headline: Headline) -> &Estimate {
        match headline {
            Headline::Iops => &self.iops,
            Headline::Throughput => &self.throughput,
        }
    }
}

/// Rates with their intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// I/Os per second (syncs not counted).
    pub iops: Estimate,
    /// Bytes per second.
    pub throughput: Estimate,
}

/// One operation of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpFinding {
    /// Index of the stream.
    pub stream: u16,
    /// Operation.
    pub op: Op,
    /// Rates of this operation.
    pub rates: Rates,
    /// I/Os in the latency distribution: completed in the window, completed after it, and censored.
    pub count: u64,
    /// Mean latency, ns; a lower bound if I/O was censored.
    pub latency_mean_ns: f64,
    /// p50, p99, p99.9 in this order.
    pub quantiles: Vec<Quantile>,
    /// Largest latency; a lower bound if I/O was censored.
    pub latency_max: Nanos,
    /// I/Os whose end was not seen.
    pub censored: u64,
    /// In an open loop all latencies above count from the time when an I/O was due; these count from its begin,
    /// without the wait for a place in flight. `None` in a closed loop.
    pub service: Option<Service>,
}

/// What one of several targets did in a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetFinding {
    /// The target as the user named it.
    pub target: String,
    /// All I/Os on it together; syncs are not counted.
    pub total: Rates,
    /// By operation; without I/Os that ended after the window, of which it is not known where they were.
    pub ops: Vec<OpFinding>,
}

/// Latencies of an open loop from the begin of each I/O to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Service {
    /// Mean, ns; a lower bound if I/O was censored.
    pub mean_ns: f64,
    /// The same quantiles as those of the operation.
    pub quantiles: Vec<Quantile>,
    /// Largest; a lower bound if I/O was censored.
    pub max: Nanos,
    /// I/Os that began and whose end was not seen.
    pub censored: u64,
}

/// What Stend itself used on the host during measuring windows.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolCost {
    /// CPU of the worker, load threads included, in CPUs (1 = one CPU fully used).
    pub worker_cpus: Option<f64>,
    /// CPU of the coordinator.
    pub coordinator_cpus: Option<f64>,
    /// CPU of telemetry.
    pub telemetry_cpus: Option<f64>,
    /// Largest resident memory of the worker.
    pub worker_memory: Option<Bytes>,
    /// Largest resident memory of the coordinator.
    pub coordinator_memory: Option<Bytes>,
}
