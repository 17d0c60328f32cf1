//! What a comparison says: data, and what follows from one piece of it alone.

mod floor;
mod gate;
mod layers;
mod mean;
mod verdict;

use crate::chart::Chart;
use crate::findings::{CheckId, CheckResult, Estimate, GradeLevel, Headline, Quantile, Rates};
pub use floor::{Floor, Noise};
pub use gate::{Asked, Blocks, GateFinding, GatedCell, GatedGap, Limited, LimitedValue, Open, Outcome, UnfitLimit};
pub use layers::{LayerPrice, LayerRate};
pub use mean::{Mean, Metric};
use stend_base::Say;
use stend_record::RunState;
use stend_spec::workload::Op;
use stend_stats::quotient::Figure;
use stend_stats::sign_flip::Probability;
pub use verdict::{Doubt, Judged, Rule, Verdict};

/// Runs compared with the first of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The runs, the baseline first. Every list of values below is in this order.
    pub runs: Vec<ComparedRun>,
    /// Conditions that are not the same in all runs.
    pub changed: Vec<Condition>,
    /// Conditions that differ because stands were put up for the runs: each has names and identities of its own, and what it is
    /// made of is what is compared. Empty unless all runs have a stand.
    pub follow: Vec<Condition>,
    /// Conditions that are the same in all runs.
    pub same: Vec<Condition>,
    /// Cases of the baseline that another run has too, in the order of the baseline.
    pub cases: Vec<CaseComparison>,
    /// Cases that could not be compared.
    pub unmatched: Vec<Unmatched>,
    /// What was compared alternated in blocks, so that what drifted meanwhile favours nobody.
    pub interleaved: bool,
    /// What the verdicts follow.
    pub rule: Rule,
    /// How far a configuration is from itself, where that is known.
    pub floor: Option<Floor>,
    /// Geometric means of the ratios of the table.
    pub means: Vec<Mean>,
    /// What layers cost of which one run has more than another, the lowest first; empty where none stands on another.
    pub layers: Vec<LayerPrice>,
    /// Checks of the comparison as a whole, in the order of their number.
    pub checks: Vec<CheckResult>,
    /// What a gate says of it, if there is one.
    pub gate: Option<GateFinding>,
    /// Curves of the latencies of all sides; empty unless [`draw`](super::draw) was called.
    pub charts: Vec<Chart>,
}

/// Short name of a run inside a comparison: A, B, … Z, then numbers.
pub fn letter(index: usize) -> String {
    match u8::try_from(index) {
        Ok(i) if i < 26 => char::from(b'A' + i).to_string(),
        _ => (index + 1).to_string(),
    }
}

/// What a user decides about a comparison before looking at it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// Difference that does not matter, as a part of the baseline's value, above 0; `None`: 2 %, and better or worse is only
    /// what is beyond the A/A floor, too.
    pub margin: Option<f64>,
    /// How far a configuration is from itself, known from elsewhere; `None`: from arms of one configuration, if any.
    pub floor: Option<Floor>,
    /// Name of the arm that the others are compared with; `None`: the first. Runs have their baseline first.
    pub baseline_arm: Option<String>,
    /// Keys of conditions that are meant to differ, besides those that arms expect to.
    pub factors: Vec<String>,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRun {
    /// Id.
    pub run: String,
    /// Name of the suite.
    pub suite: String,
    /// The targets as the user named them.
    pub targets: Vec<String>,
    /// Name of the stand that was put up for the run and made them.
    pub stand: Option<String>,
    /// How often that was built; `None` without one.
    pub builds: Option<u32>,
    /// Wall clock at the start, seconds since 1970 UTC.
    pub started_unix: i64,
    /// How far it got.
    pub state: RunState,
    /// What the user called the run, if anything.
    pub label: Option<String>,
    /// Name of the arm, if arms of one run are compared.
    pub arm: Option<String>,
    /// What its numbers may be used for.
    pub grade: GradeLevel,
}

/// One circumstance of the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// Name for machines.
    pub key: String,
    /// Name for people.
    pub name: Say,
    /// Value by run; empty where it is not known.
    pub values: Vec<Say>,
}

/// One circumstance of one arm.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmCondition {
    /// Name for machines.
    pub key: String,
    /// Name for people.
    pub name: Say,
    /// Value; empty where it is not known.
    pub value: Say,
}

/// One case in several runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseComparison {
    /// Label, by which the cases of the runs were matched.
    pub label: String,
    /// The rate that is compared.
    pub headline: Headline,
    /// The workload by run, if it is not the same in all of them; otherwise empty.
    pub workloads: Vec<Say>,
    /// By run; `None` where the run does not have the case.
    pub sides: Vec<Option<Side>>,
}

/// One case in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Trials that count.
    pub trials: u32,
    /// Numbers of the checks that failed: this side should not be compared.
    pub failed: Vec<CheckId>,
    /// The rate, all I/Os but syncs together.
    pub rate: Estimate,
    /// Relative to the baseline; `None` for the baseline itself.
    pub rate_ratio: Option<Ratio>,
    /// Rates by stream and operation, where the case is a mix ([`crate::findings::CaseFinding::is_mix`]); else empty. They are shown, and not
    /// judged: a mix has its shares by the suite, so that its parts follow the total.
    pub parts: Vec<PartSide>,
    /// Latency by stream and operation.
    pub latencies: Vec<LatencySide>,
}

/// Rates of one operation of a mix in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct PartSide {
    /// Index of the stream.
    pub stream: u16,
    /// Operation.
    pub op: Op,
    /// I/Os and bytes per second.
    pub rates: Rates,
    /// Both relative to the baseline, I/Os first; `None` for the baseline itself, and where it lacks the operation.
    pub ratios: Option<[Ratio; 2]>,
}

/// Latency of one operation of a case in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencySide {
    /// Index of the stream.
    pub stream: u16,
    /// Operation.
    pub op: Op,
    /// p99 over all trials.
    pub p99: Quantile,
    /// Relative to the baseline; `None` for the baseline itself, and where it lacks the operation.
    pub ratio: Option<Ratio>,
}

/// One ratio of the table with its place.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'a> {
    /// Label of the case.
    pub label: &'a str,
    /// Index of the run.
    pub run: usize,
    /// What is compared.
    pub metric: Metric,
    /// Index of the stream of a latency; 0 for a rate.
    pub stream: u16,
    /// The ratio.
    pub ratio: &'a Ratio,
}

/// How a value relates to that of the baseline; 1 is equal.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratio {
    /// The ratio.
    pub value: RatioValue,
    /// 95 % interval; `None` with the reason in `basis`.
    pub interval: Option<(f64, f64)>,
    /// Where ratio and interval come from.
    pub basis: RatioBasis,
    /// How often chance alone gives at least this difference; `None` without an interval.
    pub p: Option<P>,
    /// Hodges–Lehmann's estimate and its 95 % interval, which a few disturbed blocks hardly move; `None` unless compared
    /// by blocks, its interval below six of them.
    pub robust: Option<Robust>,
    /// What it means.
    pub judged: Judged,
    /// What the interval comes from; `None` without one.
    pub by_block: Option<ByBlock>,
}

/// Values of one cell with what each block is to them.
#[derive(Debug, Clone, PartialEq)]
pub struct ByBlock {
    /// The baseline.
    pub baseline: Figure,
    /// The other run.
    pub other: Figure,
}

/// A two-sided probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct P {
    /// The probability.
    pub p: f64,
    /// Where it comes from.
    pub test: Test,
}

/// Where a probability comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// Sign flips of the blocks, all of them.
    SignFlip,
    /// Sign flips of the blocks, drawn: there are too many to try all.
    SignFlipDrawn,
    /// Welch's t test on the logarithms.
    Welch,
}

/// A ratio that a few disturbed blocks hardly move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Robust {
    /// The ratio.
    pub value: f64,
    /// 95 % interval.
    pub interval: Option<(f64, f64)>,
}

/// A ratio as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RatioValue {
    /// The ratio.
    At(f64),
    /// More than this: the other value is only known to be larger.
    Above(f64),
    /// Less than this: the baseline is only known to be larger.
    Below(f64),
    /// It cannot be told.
    Unknown,
}

/// Where a ratio and its interval come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatioBasis {
    /// Arms of one run: the two values shown, and Student's t over the blocks.
    Blocks {
        /// Blocks in which both arms have the case.
        n: u32,
    },
    /// The two values shown, with Welch's interval on logarithms.
    Trials {
        /// Trials of the baseline.
        baseline: u32,
        /// Trials of the other run.
        other: u32,
    },
    /// The two values shown; fewer than two trials in one of the runs leave no interval.
    TooFewTrials,
    /// The two percentiles shown; a single trial has too few I/Os for one of its own.
    TrialsTooShort {
        /// I/Os of the trial that has fewest.
        have: u64,
        /// I/Os needed.
        need: u64,
    },
    /// The two values shown; one is zero or only a bound, and has no logarithm to compute with.
    NotANumber,
    /// A percentile that would be needed has too few I/Os in one of the runs.
    NotEnough,
    /// Another tool printed a percentile for each of several trials or jobs, and these cannot be merged.
    NotMergeable,
}

/// A case that only one side has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmatched {
    /// Label.
    pub label: String,
    /// Indices of the runs that have it.
    pub runs: Vec<usize>,
    /// What would be compared of it.
    pub metrics: Vec<Metric>,
}

impl PartSide {
    /// One of its rates, and that relative to the baseline.
    pub fn of(&self, headline: Headline) -> (&Estimate, Option<&Ratio>) {
        let ratio = self.ratios.as_ref().map(|[iops, throughput]| match headline {
            Headline::Iops => iops,
            Headline::Throughput => throughput,
        });
        (self.rates.of(headline), ratio)
    }
}

impl RatioBasis {
    /// Blocks, or trials of the run that has fewer; 0 without an interval.
    pub fn independent(self) -> u32 {
        match self {
            RatioBasis::Blocks { n } => n,
            RatioBasis::Trials { baseline, other } => baseline.min(other),
            _ => 0,
        }
    }
}

impl From<Probability> for P {
    fn from(found: Probability) -> P {
        P { p: found.p, test: if found.exact { Test::SignFlip } else { Test::SignFlipDrawn } }
    }
}

impl CaseComparison {
    /// Every ratio of the case, in the order of [`Self::ratios_mut`].
    pub fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        let label = self.label.as_str();
        self.sides.iter().enumerate().filter_map(|(run, side)| Some((run, side.as_ref()?))).flat_map(
            move |(run, side)| {
                let of = move |metric, stream, ratio| Cell { label, run, metric, stream, ratio };
                let rate = side.rate_ratio.iter().map(move |ratio| of(Metric::Rate, 0, ratio));
                let latencies = side.latencies.iter();
                rate.chain(latencies.filter_map(move |l| Some(of(Metric::P99(l.op), l.stream, l.ratio.as_ref()?))))
            },
        )
    }

    /// Every ratio of the case: by run, its rate first.
    pub(super) fn ratios_mut(&mut self) -> impl Iterator<Item = &mut Ratio> {
        self.sides.iter_mut().flatten().flat_map(|side| {
            let latencies = side.latencies.iter_mut().filter_map(|latency| latency.ratio.as_mut());
            side.rate_ratio.iter_mut().chain(latencies)
        })
    }
}

impl Comparison {
    /// Every cell of the table, case by case, each run's rate first.
    pub fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        self.cases.iter().flat_map(CaseComparison::cells)
    }
}

impl Ratio {
    /// A ratio without an interval, about which nothing can be said.
    pub(super) fn bare(value: RatioValue, basis: RatioBasis) -> Ratio {
        let judged = Judged::doubtful(Doubt::NoInterval);
        Ratio { value, interval: None, basis, p: None, robust: None, judged, by_block: None }
    }

    /// Whether the interval includes 1, which means neither equal nor different; `None` without one.
    pub fn includes_one(&self) -> Option<bool> {
        self.interval.map(|(low, high)| (low..=high).contains(&1.0))
    }
}
