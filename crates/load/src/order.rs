//! Which block comes when: every pattern as a function of (seed, index). Must not keep state that changes
//! the answer; only a shared cursor is asked how far others have come.

use crate::layout::{Cursor, Job};
use crate::places::Places;
use std::sync::Arc;
use stend_base::Millionths;
use stend_base::distribution::{Normal, SelfSimilar, Zipf};
use stend_base::permutation::{AHEAD, Permutation};
use stend_base::random::{below, draw, mix};
use stend_spec::workload::{Pattern, Zone};

/// What else than blocks is drawn for an index comes from seeds of its own, this far from the job's.
const SCATTER: u64 = 0x6A09_E667_F3BC_C908;
const CHOICE: u64 = 0xBB67_AE85_84CA_A73B;
const JUMP: u64 = 0x3C6E_F372_FE94_F82B;
/// Everything, in the unit in which shares are asked for.
const ALL: u64 = Millionths::ALL.0 as u64;

/// The order of a job's blocks, ready to be asked.
///
/// Cost of one answer asked for alone: uniform 4 ns, random 14 ns, the skewed ones with their permutation 54 to 86 ns (98,304
/// blocks, 2-vCPU KVM guest shared with other load, best of 5, with an earlier permutation).
#[derive(Debug, Clone)]
pub(crate) struct Order {
    blocks: u64,
    seed: u64,
    /// Where an order that has a place to begin at begins.
    first: u64,
    pass: Pass,
    kind: Kind,
}

/// The pass over all blocks that was asked about last. Kept only because a division costs as much as all the rest of a
/// simple order: nearly every index lies in the same pass as the one before.
#[derive(Debug, Clone, Copy)]
struct Pass {
    number: u64,
    /// First index of it.
    begin: u64,
    blocks: u64,
}

impl Pass {
    /// Place of an index in its pass; `true` if that is another pass than before.
    #[inline(always)]
    fn place(&mut self, index: u64) -> (u64, bool) {
        let place = index.wrapping_sub(self.begin);
        if place < self.blocks { (place, false) } else { (self.turn(index), true) }
    }

    #[cold]
    fn turn(&mut self, index: u64) -> u64 {
        self.number = index / self.blocks;
        self.begin = self.number * self.blocks;
        index - self.begin
    }
}

#[derive(Debug, Clone)]
enum Kind {
    Sequential,
    /// These and no others, to be read back.
    Listed(Arc<[u64]>),
    Shared(Arc<Cursor>),
    Reverse,
    /// The permutation of the current pass is kept only because making it costs as much as using it.
    Random(Permutation),
    Uniform,
    Zipf(Zipf, Permutation),
    Pareto(SelfSimilar, Permutation),
    Normal(Normal, Permutation),
    Zones(Arc<[Range]>),
    Strided(u64),
    /// Jumps per million I/Os.
    Mixed(u64),
}

/// A zone in blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    /// A draw below this, of [`ALL`], and not below that of the zone before, falls into it.
    below: u64,
    start: u64,
    len: u64,
}

impl Order {
    /// The order of a job over `blocks` places. A job that ends on its own starts at its first block, any other at a
    /// block that follows from the seed, so that trials do not all begin with the same cached blocks.
    pub fn new(job: &Job, blocks: u64) -> Order {
        let seed = job.seed;
        let anywhere = job.limit == u64::MAX && job.spec.pattern != Pattern::Append;
        let first = if anywhere { below(draw(seed, 0), blocks) } else { 0 };
        let scatter = || Permutation::new(blocks, mix(seed ^ SCATTER));
        let kind = match (&job.spec.pattern, &job.cursor) {
            (Pattern::SharedSequential, Some(cursor)) => Kind::Shared(cursor.clone()),
            // A trace has its own order, and this is not asked.
            (Pattern::Sequential | Pattern::SharedSequential | Pattern::Append | Pattern::Traced, _) => {
                Kind::Sequential
            }
            (Pattern::Reverse, _) => Kind::Reverse,
            (Pattern::Random, _) => Kind::Random(pass_order(blocks, seed, 0)),
            (Pattern::Uniform, _) => Kind::Uniform,
            (Pattern::Zipf { theta_thousandths }, _) => {
                Kind::Zipf(Zipf::new(blocks, f64::from(*theta_thousandths) / 1000.0), scatter())
            }
            (Pattern::Pareto { hot }, _) => Kind::Pareto(SelfSimilar::new(blocks, hot.as_share()), scatter()),
            (Pattern::Normal { deviation }, _) => Kind::Normal(Normal::new(blocks, deviation.as_share()), scatter()),
            (Pattern::Zones(zones), _) => Kind::Zones(ranges(zones, blocks)),
            (Pattern::Strided { stride }, _) => Kind::Strided((stride.0 / Places::pitch(&job.spec)).clamp(1, blocks)),
            (Pattern::Mixed { sequential }, _) => Kind::Mixed(u64::from(sequential.rest().0).max(1)),
        };
        let kind = job.check.as_ref().and_then(|check| check.listed.clone()).map_or(kind, Kind::Listed);
        Order { blocks, seed, first, pass: Pass { number: 0, begin: 0, blocks }, kind }
    }

    /// Whether the order of a job depends on how far others have come, so that nothing can be said ahead.
    pub fn is_shared(&self) -> bool {
        matches!(self.kind, Kind::Shared(_))
    }

    /// The blocks of the I/Os from number `index` on, counted from the start of the job's area.
    pub fn ahead(&mut self, index: u64) -> [u64; AHEAD] {
        let mut blocks = std::array::from_fn(|i| index.wrapping_add(i as u64));
        match &mut self.kind {
            Kind::Random(order) => {
                let (place, turned) = self.pass.place(index);
                if turned {
                    *order = pass_order(self.blocks, self.seed, self.pass.number);
                }
                if self.blocks - place >= AHEAD as u64 {
                    blocks = std::array::from_fn(|i| place + i as u64);
                    order.at_each(&mut blocks);
                    return blocks;
                }
            }
            Kind::Zipf(zipf, scatter) => {
                blocks = blocks.map(|index| zipf.at(self.seed, index));
                scatter.at_each(&mut blocks);
                return blocks;
            }
            Kind::Pareto(skewed, scatter) => {
                blocks = blocks.map(|index| skewed.at(self.seed, index));
                scatter.at_each(&mut blocks);
                return blocks;
            }
            Kind::Normal(normal, scatter) => {
                blocks = blocks.map(|index| normal.at(self.seed, index));
                scatter.at_each(&mut blocks);
                return blocks;
            }
            _ => {}
        }
        blocks.map(|index| self.at(index))
    }

    /// The block of the I/O number `index`, counted from the start of the job's area.
    #[inline]
    pub fn at(&mut self, index: u64) -> u64 {
        let (n, seed) = (self.blocks, self.seed);
        match &mut self.kind {
            Kind::Sequential => wrapped(self.first + self.pass.place(index).0, n),
            Kind::Listed(blocks) => blocks[(index % blocks.len() as u64) as usize],
            Kind::Shared(cursor) => cursor.take() % n,
            Kind::Reverse => wrapped(self.first + n - self.pass.place(index).0, n),
            Kind::Random(order) => {
                let (place, turned) = self.pass.place(index);
                if turned {
                    *order = pass_order(n, seed, self.pass.number);
                }
                order.at(place)
            }
            Kind::Uniform => below(draw(seed, index), n),
            Kind::Zipf(zipf, scatter) => scatter.at(zipf.at(seed, index)),
            Kind::Pareto(skewed, scatter) => scatter.at(skewed.at(seed, index)),
            Kind::Normal(normal, scatter) => scatter.at(normal.at(seed, index)),
            Kind::Zones(ranges) => in_zone(ranges, seed, index),
            Kind::Strided(stride) => strided(wrapped(self.first + self.pass.place(index).0, n), n, *stride),
            Kind::Mixed(jumps) => {
                let (place, distance) = run_of(index, *jumps, seed);
                let from = place.map_or(self.first, |run| below(draw(seed, run), n));
                (from + distance % n) % n
            }
        }
    }
}

/// A place below twice `n`, which is the number of places.
#[inline(always)]
fn wrapped(place: u64, n: u64) -> u64 {
    if place >= n { place - n } else { place }
}

fn pass_order(blocks: u64, seed: u64, pass: u64) -> Permutation {
    Permutation::new(blocks, mix(draw(seed, pass)))
}

/// Zones in blocks, those without accesses left out. The plan sees to it that each has a block.
fn ranges(zones: &[Zone], blocks: u64) -> Arc<[Range]> {
    let edge = |millionths: u64| (u128::from(blocks) * u128::from(millionths) / u128::from(ALL)) as u64;
    let (mut space, mut accesses, mut ranges) = (0, 0, Vec::with_capacity(zones.len()));
    for zone in zones {
        let start = edge(space).min(blocks - 1);
        space += u64::from(zone.space.0);
        accesses += u64::from(zone.accesses.0);
        if zone.accesses.0 > 0 {
            ranges.push(Range { below: accesses, start, len: edge(space).saturating_sub(start).max(1) });
        }
    }
    ranges.into()
}

#[inline]
fn in_zone(ranges: &[Range], seed: u64, index: u64) -> u64 {
    let choice = below(draw(seed ^ CHOICE, index), ALL);
    let zone = &ranges[ranges.partition_point(|range| range.below <= choice)];
    zone.start + below(draw(seed, index), zone.len)
}

/// Blocks 0, `stride`, 2 `stride`, … up to the end, then 1, `stride` + 1, …: the first `n % stride` of these
/// lanes have one block more than the others.
#[inline]
fn strided(position: u64, n: u64, stride: u64) -> u64 {
    let (short, longer) = (n / stride, n % stride);
    let in_longer = longer * (short + 1);
    let (lane, step) = if position < in_longer {
        (position / (short + 1), position % (short + 1))
    } else {
        let position = position - in_longer;
        (longer + position / short, position % short)
    };
    lane + step * stride
}

/// The run of neighbours that `index` belongs to (`None`: the one before the first jump), and its place in it.
///
/// Indices are cut into strata of a million over `jumps` on average, and each has one jump at a drawn place: so
/// the share of jumps is exact, and where the last one was needs no look back. Runs have the mean length of a
/// stratum and at most twice that.
#[inline]
fn run_of(index: u64, jumps: u64, seed: u64) -> (Option<u64>, u64) {
    let begin = |stratum: u64| stratum / jumps * ALL + (stratum % jumps * ALL).div_ceil(jumps);
    let jump = |stratum: u64| {
        let (from, to) = (begin(stratum), begin(stratum + 1));
        from + below(draw(seed ^ JUMP, stratum), to - from)
    };
    let stratum = index / ALL * jumps + index % ALL * jumps / ALL;
    let here = jump(stratum);
    if index >= here {
        (Some(stratum), index - here)
    } else if stratum > 0 {
        (Some(stratum - 1), index - jump(stratum - 1))
    } else {
        (None, index)
    }
}

#[cfg(test)]
mod tests;
