//! The prober of a case: single I/Os beside its load, far enough apart to cost it nothing, that tell how long the target
//! stood still as one client sees it. Which cases have one, and how it asks. Pure.

use crate::plan::PlanTarget;
use crate::rate::Rate;
use crate::suite::SuiteCase;
use crate::workload::{Backend, Op, Region, Stream, Trial};
use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Lang, MilliIops, Nanos, Say, format, say};

/// A prober that nobody asked for makes one I/O for at least so many of the load: 0.5 %, which no result shows
/// (the noise of the best of them is larger).
pub const LOAD_PER_PROBE: u64 = 200;
/// It asks no more often than this: a stall is then told to 10 ms, which is less than what people notice.
pub const RATE_MOST: MilliIops = MilliIops::per_second(100);
/// Nor less often: it would tell a stall of a second from none by chance.
pub const RATE_LEAST: MilliIops = MilliIops::per_second(1);
/// Fewest probes of a window, below which none are made: nine tenths of a window would be as good as unseen with one.
pub const PROBES_LEAST: u64 = 10;
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

/// What a suite says of the prober.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProberKey {
    /// None.
    Off,
    /// One where the load comes at a rate of its own.
    #[default]
    Auto,
    /// One that asks this often.
    At {
        /// I/Os per second.
        rate: MilliIops,
        /// What they do; `None`: what suits the case.
        op: Option<Op>,
    },
}

/// Whether a trial has a prober.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Probing {
    /// It has none.
    None(NoProber),
    /// It has this one.
    By(Prober),
}

/// A prober: single I/Os at equal distances from the start of the load on, each as late as it likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prober {
    /// I/Os per second.
    pub rate: MilliIops,
    /// Reads, or writes that are durable when they end.
    pub op: Op,
    /// Bytes of each.
    pub block: Bytes,
    /// Where, at random. Of writes this is theirs alone: no stream of the trial goes there.
    pub region: Region,
}

/// Why a trial has no prober.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoProber {
    /// The suite says so.
    #[default]
    Off,
    /// The case asks what the target can do at most, and a prober would be part of what it does.
    Capacity,
    /// It would need more than its share of the load to ask often enough.
    TooSlow,
    /// The window is too short for enough probes.
    TooShort,
    /// The target keeps nothing, or the case makes no I/O.
    Nowhere,
    /// There is nothing to read: the case does not read, and nothing is written before it.
    NothingToRead,
    /// There is no room that the streams leave free for durable writes.
    NoRoom,
    /// Durable writes were asked for, and no stream makes any.
    NotDurable,
}

impl NoProber {
    /// The reason in words.
    pub fn say(self) -> Say {
        let (least, share) = (format::rate(RATE_LEAST, Lang::En), LOAD_PER_PROBE);
        let least_ru = format::rate(RATE_LEAST, Lang::Ru);
        let load = |lang| format::rate(MilliIops(RATE_LEAST.0 * share), lang);
        let (load, load_ru) = (load(Lang::En), load(Lang::Ru));
        match self {
            NoProber::Off => say!("`prober: off` in the suite", "в наборе указано `prober: off`"),
            NoProber::Capacity => say!(
                "the load has no rate of its own, and probes would be part of what is measured",
                "у нагрузки нет своей частоты, и пробы стали бы частью измеряемого"
            ),
            NoProber::TooSlow => say!(
                "0.5 % of a load below {load} is less than {least}, too seldom to tell anything",
                "0,5 % нагрузки ниже {load_ru} — реже {least_ru}, слишком редко, чтобы что-то сказать"
            ),
            NoProber::TooShort => say!(
                "the window is too short for {PROBES_LEAST} probes that are 0.5 % of the load",
                "окно слишком короткое для {PROBES_LEAST} проб, составляющих 0,5 % нагрузки"
            ),
            NoProber::Nowhere => say!("no I/O goes to storage", "ввод-вывод не доходит до хранилища"),
            NoProber::NothingToRead => say!(
                "the case does not read, and nothing is written before it that could be read",
                "случай не читает, и до него не записано ничего, что можно было бы читать"
            ),
            NoProber::NoRoom => say!(
                "the streams leave no room for its durable writes",
                "потоки не оставляют места для его надёжных записей"
            ),
            NoProber::NotDurable => say!(
                "it was to write durably, and no stream of the case does",
                "пробы должны были быть надёжными записями, а в случае нет потока с такими"
            ),
        }
    }
}

impl Trial {
    /// The part of the trial's region that its streams share: all but what is reserved for durable probes.
    pub fn free_region(&self) -> Region {
        match self.probing {
            Probing::By(Prober { op: Op::Write, region, .. }) => {
                Region { len: Bytes(self.region.len.0.saturating_sub(region.len.0)), ..self.region }
            }
            _ => self.region,
        }
    }

    /// The prober, if it has one.
    pub fn prober(&self) -> Option<&Prober> {
        match &self.probing {
            Probing::By(prober) => Some(prober),
            Probing::None(_) => None,
        }
    }
}

/// What else decides, beside the trial.
pub(crate) struct Site<'a> {
    /// The target.
    pub target: &'a PlanTarget,
    /// Whether the range is written once before.
    pub filled: bool,
    /// Number of test files that the range consists of; 0 or 1 if it is one.
    pub files: usize,
}

/// The prober of a trial of a case.
pub(crate) fn probing(case: &SuiteCase, trial: &Trial, site: &Site) -> Probing {
    decide(case, trial, site).map_or_else(Probing::None, Probing::By)
}

fn decide(case: &SuiteCase, trial: &Trial, site: &Site) -> Result<Prober, NoProber> {
    let nowhere = trial.backend == Backend::Null || site.target.null.is_some();
    let (rate, wanted) = match case.prober {
        ProberKey::Off => return Err(NoProber::Off),
        _ if nowhere => return Err(NoProber::Nowhere),
        ProberKey::At { rate, op } => (rate, op),
        ProberKey::Auto => (share_of_load(case, trial)?, None),
    };
    let rate = rate.min(rate_that_fits(trial));
    let block = BLOCK.max(site.target.logical_block);
    let durable = trial.streams.iter().any(writes_durably);
    if wanted == Some(Op::Write) && !durable {
        return Err(NoProber::NotDurable);
    }
    if durable && wanted != Some(Op::Read) {
        return reserve(trial, site, block).map(|region| Prober { rate, op: Op::Write, block, region });
    }
    let reads = trial.streams.iter().any(|stream| stream.mix.reads()) || site.filled;
    match reads || wanted.is_some() || site.target.room.is_none() {
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
fn reserve(trial: &Trial, site: &Site, block: Bytes) -> Result<Region, NoProber> {
    // Cells of several files begin and end with files, which less of the range would shift.
    if site.files > 1 {
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

impl Rate {
    /// The mean from the start until `length`, cut to thousandths.
    pub fn mean(&self, length: Nanos) -> MilliIops {
        use crate::rate::Shape;
        let mut sum = 0u128;
        for (index, step) in self.steps.iter().enumerate() {
            let next = self.steps.get(index + 1);
            let until = next.map_or(length.0, |next| next.at.0).min(length.0);
            let (time, own) = (u128::from(until.saturating_sub(step.at.0)), u128::from(step.rate.0));
            sum += time
                * match (next, step.shape) {
                    (Some(next), _) if next.shape == Shape::Ramp => own.midpoint(u128::from(next.rate.0)),
                    (_, Shape::Burst { rate, every, lasting }) => {
                        let (every, lasting) = (u128::from(every.0.max(1)), u128::from(lasting.0));
                        (u128::from(rate.0) * lasting + own * every.saturating_sub(lasting)) / every
                    }
                    _ => own,
                };
        }
        MilliIops((sum / u128::from(length.0.max(1))) as u64)
    }
}

#[cfg(test)]
#[path = "prober_tests.rs"]
mod tests;
