//! What events did to the load, for machines.

use serde::Serialize;
use stend_analyse::chart::Chart;
use stend_analyse::findings::{BackTimes, CutFinding, FaultFinding, FaultTrial};
use stend_base::{Nanos, Say};

/// What the events of one case did.
#[derive(Serialize)]
pub(super) struct FaultsOut<'a> {
    case: u32,
    label: &'a str,
    events: &'a [Say],
    trials: Vec<TrialOut<'a>>,
    text: Say,
    chart: Option<&'a Chart>,
    /// For a case whose power was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    cuts: Option<CutsOut>,
}

#[derive(Serialize)]
struct CutsOut {
    /// How often.
    cuts: u64,
    /// Those after which data were compared.
    judged: u64,
    /// Blocks that had been acknowledged before, and were compared.
    acknowledged: u64,
    /// Cuts that took or changed something.
    harmful: u64,
    /// Blocks whose acknowledged write is gone.
    lost: u64,
    /// Blocks of which it is there in part.
    torn: u64,
    /// Blocks that are otherwise not as acknowledged, or cannot be read.
    others: u64,
    /// How long after a cut there was something again; `null`: it is not known.
    back: Option<BackOut>,
}

/// By the clock of the coordinator, from the cut on.
#[derive(Serialize)]
struct BackOut {
    answered_ns_median: u64,
    answered_ns_max: u64,
    /// `null`: there is no stand.
    stood_ns_median: Option<u64>,
    stood_ns_max: Option<u64>,
    /// The first block was read and compared.
    read_ns_median: u64,
    read_ns_max: u64,
}

#[derive(Serialize)]
struct TrialOut<'a> {
    trial: u32,
    moments: Vec<MomentOut<'a>>,
    /// `null`: less than a second was seen before or after the first event.
    recovery: Option<RecoveryOut>,
    /// Longest time without an answer to the prober.
    silence_ns: Option<u64>,
    p99_before_ns: Option<u64>,
    p99_after_ns: Option<u64>,
    errors: u64,
    /// Blocks that were not as written; `null`: nothing was compared.
    mismatches: Option<u64>,
    /// From the first event until all arrays had their redundancy again.
    redundant_again_ns: Option<u64>,
    /// The part after the last event was undone.
    rebuilt_ns: Option<u64>,
}

#[derive(Serialize)]
struct MomentOut<'a> {
    /// Since the first event.
    at_s: f64,
    what: &'a Say,
}

#[derive(Serialize)]
struct RecoveryOut {
    /// I/Os per second before the event.
    before_per_s: f64,
    before_for_ns: u64,
    /// Part of the seconds before that were below 90 % of their mean.
    slow_before: f64,
    /// How long was seen after the event.
    seen_ns: u64,
    /// Longest time without any I/O.
    stall_ns: Option<u64>,
    /// How far the mean of 5 s fell, of what was before.
    depth: Option<f64>,
    /// From the event until 90 % was reached for good; `null`: later than what was seen.
    back_ns: Option<u64>,
    /// How long it was seen to stay, 60 s at most.
    held_ns: u64,
    /// Seconds below 90 %, all together.
    brownout_ns: u64,
    /// I/Os that were not done until then.
    lost_ios: f64,
    /// The same in seconds of full service.
    lost_s: f64,
    /// Over 300 s; `null`: fewer were seen.
    lost_in_300_s: Option<f64>,
}

pub(super) fn out(found: &FaultFinding) -> FaultsOut<'_> {
    FaultsOut {
        case: found.case,
        label: &found.label,
        events: &found.events,
        trials: found.trials.iter().map(trial).collect(),
        text: found.say(),
        chart: found.chart.as_ref(),
        cuts: found.cuts.as_ref().map(cuts),
    }
}

fn cuts(found: &CutFinding) -> CutsOut {
    let CutFinding { cuts, judged, acknowledged, harmful, .. } = *found;
    let (lost, torn, others) = (found.lost(), found.torn(), found.others());
    let back = found.back.map(|BackTimes { answered, stood, read }| BackOut {
        answered_ns_median: answered.0.0,
        answered_ns_max: answered.1.0,
        stood_ns_median: stood.map(|times| times.0.0),
        stood_ns_max: stood.map(|times| times.1.0),
        read_ns_median: read.0.0,
        read_ns_max: read.1.0,
    });
    CutsOut { cuts, judged, acknowledged, harmful, lost, torn, others, back }
}

fn trial(trial: &FaultTrial) -> TrialOut<'_> {
    let ns = |span: Option<Nanos>| span.map(|span| span.0);
    TrialOut {
        trial: trial.trial,
        moments: trial.moments.iter().map(|(at, what)| MomentOut { at_s: *at, what }).collect(),
        recovery: trial.recovery.map(|found| RecoveryOut {
            before_per_s: found.before,
            before_for_ns: found.before_for.0,
            slow_before: found.slow_before.0,
            seen_ns: found.seen.0,
            stall_ns: ns(found.stall),
            depth: found.depth.map(|depth| depth.0),
            back_ns: ns(found.back),
            held_ns: found.held.0,
            brownout_ns: found.brownout.0,
            lost_ios: found.lost,
            lost_s: found.lost_seconds(found.lost),
            lost_in_300_s: found.lost_in_horizon.map(|lost| found.lost_seconds(lost)),
        }),
        silence_ns: ns(trial.silence),
        p99_before_ns: ns(trial.tail.map(|tail| tail.0)),
        p99_after_ns: ns(trial.tail.map(|tail| tail.1)),
        errors: trial.errors,
        mismatches: trial.mismatches,
        redundant_again_ns: ns(trial.whole),
        rebuilt_ns: ns(trial.rebuilt),
    }
}
