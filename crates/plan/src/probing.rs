//! Which cases have a prober, and how it asks. Pure.

use super::{PlanInputs, PlanTarget};
use crate::fit::why_not;
use stend_base::{Bytes, MilliIops, Nanos};
use stend_spec::case::Case;
use stend_spec::prober::{LOAD_PER_PROBE, NoProber, PROBES_LEAST, Prober, ProberKey, Probing, RATE_LEAST, RATE_MOST};
use stend_spec::region::Region;
use stend_spec::suite::SuiteCase;
use stend_spec::workload::Op;
use stend_spec::workload::{Backend, Stream, Trial};

/// Most probes of a trial: what is remembered of each takes 32 bytes until the end. In a longer trial they come further apart.
const PROBES_MOST: u64 = 1 << 20;
/// Bytes of a probe, unless a block of the target is larger.
const BLOCK: Bytes = Bytes::kib(4);
/// What durable probes overwrite again and again, at the end of the range: 256 blocks, so that no two probes that are
/// under way together meet.
const RESERVED: Bytes = Bytes::mib(1);
/// The least that is reserved, where [`RESERVED`] is too much for a small range.
const RESERVED_LEAST: Bytes = Bytes::kib(64);
/// At most this part of the range is reserved, so that the load has practically what it would have without.
const RESERVED_PART: u64 = 64;

/// What else decides, beside the trial.
pub(crate) struct ProbeContext<'a> {
    /// The target.
    pub target: &'a PlanTarget,
    /// Whether the range is written once before.
    pub filled: bool,
    /// Number of test files that the range consists of; 0 or 1 if it is one.
    pub files: usize,
}

/// The prober of a trial of a case.
pub(crate) fn probing(case: &SuiteCase, trial: &Trial, context: &ProbeContext) -> Probing {
    decide(case, trial, context).map_or_else(Probing::None, Probing::By)
}

/// Decides for trials whose lengths have changed since.
pub(crate) fn decide_again(cases: &mut [Case], inputs: &PlanInputs, files: usize) {
    let context = ProbeContext { target: &inputs.target, filled: inputs.suite.fill.is_some(), files };
    for case in cases.iter_mut().filter(|case| case.not_run.is_none()) {
        let Some(spec) = inputs.suite.cases.iter().find(|spec| spec.name == case.name) else { continue };
        case.trial.probing = probing(spec, &case.trial, &context);
        // What is reserved for durable probes may be missing now.
        if why_not(&case.trial, &inputs.target).is_some() {
            case.trial.probing = Probing::None(NoProber::NoRoom);
        }
    }
}

fn decide(case: &SuiteCase, trial: &Trial, context: &ProbeContext) -> Result<Prober, NoProber> {
    let nowhere = trial.backend == Backend::Null || context.target.null.is_some();
    let (rate, wanted) = match case.prober {
        ProberKey::Off => return Err(NoProber::Off),
        _ if nowhere => return Err(NoProber::Nowhere),
        ProberKey::At { rate, op } => (rate, op),
        ProberKey::Auto => (share_of_load(case, trial)?, None),
    };
    let rate = rate.min(rate_that_fits(trial));
    let block = BLOCK.max(context.target.logical_block);
    let durable = trial.streams.iter().any(writes_durably);
    if wanted == Some(Op::Write) && !durable {
        return Err(NoProber::NotDurable);
    }
    if durable && wanted != Some(Op::Read) {
        return reserve(trial, context, block).map(|region| Prober { rate, op: Op::Write, block, region });
    }
    let reads = trial.streams.iter().any(|stream| stream.mix.reads()) || context.filled;
    match reads || wanted.is_some() || context.target.room.is_none() {
        _ if trial.region.len < block => Err(NoProber::NoRoom),
        true => Ok(Prober { rate, op: Op::Read, block, region: trial.region }),
        false => Err(NoProber::NothingToRead),
    }
}

/// Whether a stream has writes that are durable when they, or syncs after them, end.
pub(crate) fn writes_durably(stream: &Stream) -> bool {
    stream.mix.write > 0 && stream.sync.is_durable()
}

/// The rate of a prober that nobody asked for.
fn share_of_load(case: &SuiteCase, trial: &Trial) -> Result<MilliIops, NoProber> {
    let capacity = case.streams.iter().any(|stream| stream.search.is_some() || stream.trace.is_some());
    if capacity || trial.streams.iter().all(|stream| stream.rate.is_none()) {
        return Err(NoProber::Capacity);
    }
    let length = Nanos(trial.ramp.0.saturating_add(trial.window.0));
    let offered: u64 = trial.streams.iter().filter_map(|stream| stream.rate.as_ref()).map(|r| r.mean(length).0).sum();
    let rate = MilliIops((offered / LOAD_PER_PROBE).min(RATE_MOST.0));
    // Thousandths per second and nanoseconds: 10^12 make one.
    let probes = u128::from(rate.0) * u128::from(trial.window.0) / 1_000_000_000_000;
    match rate {
        rate if rate < RATE_LEAST => Err(NoProber::TooSlow),
        _ if probes < u128::from(PROBES_LEAST) => Err(NoProber::TooShort),
        rate => Ok(rate),
    }
}

/// The rate that makes [`PROBES_MOST`] probes.
fn rate_that_fits(trial: &Trial) -> MilliIops {
    let length = u128::from(trial.ramp.0) + u128::from(trial.window.0);
    MilliIops((u128::from(PROBES_MOST) * 1_000_000_000_000 / length.max(1)).min(u128::from(u64::MAX)) as u64)
}

/// The end of the trial's region, if no stream needs it.
fn reserve(trial: &Trial, context: &ProbeContext, block: Bytes) -> Result<Region, NoProber> {
    // Cells of several files begin and end with files, which less of the range would shift.
    if context.files > 1 {
        return Err(NoProber::NoRoom);
    }
    let len = Bytes((trial.region.len.0 / RESERVED_PART).min(RESERVED.0)).align_down(block.max(BLOCK));
    if len < RESERVED_LEAST.max(block) {
        return Err(NoProber::NoRoom);
    }
    let region = Region { start: Bytes(trial.region.end() - len.0), len };
    let taken = |stream: &Stream| stream.region.is_some_and(|own| own.overlaps(region)) || stream.replay.is_some();
    if trial.streams.iter().any(taken) { Err(NoProber::NoRoom) } else { Ok(region) }
}

#[cfg(test)]
mod tests;
