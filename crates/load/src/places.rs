//! What lies at each place of a job's area: blocks of one size, or of several. Must not say which place comes when.

use crate::layout::Job;
use std::sync::Arc;
use stend_base::random::{Random, below, draw};
use stend_spec::workload::{BlockShare, Pattern, Stream};

/// Sizes lie in the same order in every trial, so that what one wrote another reads with the same borders.
const TILE_SEED: u64 = 0x510E_527F_ADE6_82D1;
/// What size an I/O has is drawn from a seed of its own, this far from the job's.
const SIZE: u64 = 0x9B05_688C_2B3E_6C1F;
/// Sum of all shares.
const ALL: u64 = 100;

/// The places of an area, numbered from its start.
#[derive(Debug, Clone)]
pub(crate) enum Places {
    /// Side by side, all of one size.
    Equal {
        /// How many.
        count: u64,
        /// Bytes of each.
        block: u64,
    },
    /// Side by side without gaps, in a repeated cycle that holds each size as often as its share says. For orders
    /// that visit every place once in a pass: a pass has the exact shares and moves every byte once.
    Tiled {
        /// How many.
        count: u64,
        /// Bytes of a cycle.
        cycle: u64,
        /// (offset in the cycle, size) of its places.
        tiles: Arc<[(u64, u64)]>,
    },
    /// At every multiple of the smallest size, the size drawn for each I/O. For orders that come back to a place:
    /// the heat of a place must not decide how often a size comes.
    Drawn {
        /// How many.
        count: u64,
        /// The smallest size.
        unit: u64,
        /// (draws of [`ALL`] below this and not below the one before, size).
        sizes: Arc<[(u64, u64)]>,
        /// Seed of the draws.
        seed: u64,
    },
}

impl Places {
    /// The places of a job.
    pub fn new(job: &Job) -> Places {
        let (spec, block) = (&job.spec, job.spec.block_size.0);
        let len = job.area.blocks * block;
        if spec.block_mix.is_empty() {
            return Places::Equal { count: job.area.blocks, block };
        }
        if is_tiled(&spec.pattern) {
            return tiled(&spec.block_mix, len);
        }
        let unit = spec.block_size_min().0;
        let mut sum = 0;
        let sizes = spec.block_mix.iter().map(|share| {
            sum += u64::from(share.percent);
            (sum, share.size.0)
        });
        Places::Drawn { count: (len - block) / unit + 1, unit, sizes: sizes.collect(), seed: job.seed ^ SIZE }
    }

    /// How many there are, at least 1.
    pub fn count(&self) -> u64 {
        match self {
            Places::Equal { count, .. } | Places::Tiled { count, .. } | Places::Drawn { count, .. } => *count,
        }
    }

    /// Bytes from one place to the next, where that is the same everywhere.
    pub fn pitch(spec: &Stream) -> u64 {
        spec.block_size_min().0.max(1)
    }

    /// Offset in the area and length of the I/O number `index`, which goes to `place`.
    #[inline(always)]
    pub fn at(&self, place: u64, index: u64) -> (u64, u64) {
        match self {
            Places::Equal { block, .. } => (place * block, *block),
            Places::Tiled { cycle, tiles, .. } => {
                let (turn, tile) = (place / tiles.len() as u64, place % tiles.len() as u64);
                let (offset, size) = tiles[tile as usize];
                (turn * cycle + offset, size)
            }
            Places::Drawn { unit, sizes, seed, .. } => {
                let choice = below(draw(*seed, index), ALL);
                (place * unit, sizes[sizes.partition_point(|(below, _)| *below <= choice)].1)
            }
        }
    }
}

fn is_tiled(pattern: &Pattern) -> bool {
    matches!(
        pattern,
        Pattern::Sequential
            | Pattern::SharedSequential
            | Pattern::Append
            | Pattern::Reverse
            | Pattern::Random
            | Pattern::Mixed { .. }
    )
}

/// Whole cycles, and of one more what still fits.
fn tiled(mix: &[BlockShare], len: u64) -> Places {
    let divisor = mix.iter().fold(0, |divisor, share| common(divisor, share.percent)).max(1);
    let mut sizes: Vec<u64> =
        mix.iter().flat_map(|share| vec![share.size.0; usize::from(share.percent / divisor)]).collect();
    Random::new(TILE_SEED).shuffle(&mut sizes);
    let mut cycle = 0;
    let tiles: Arc<[(u64, u64)]> = sizes
        .iter()
        .map(|&size| {
            cycle += size;
            (cycle - size, size)
        })
        .collect();
    let rest = tiles.iter().take_while(|(offset, size)| offset + size <= len % cycle).count();
    Places::Tiled { count: len / cycle * tiles.len() as u64 + rest as u64, cycle, tiles }
}

/// Greatest common divisor.
fn common(a: u8, b: u8) -> u8 {
    if b == 0 { a } else { common(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::{stream, trial};
    use std::collections::BTreeMap;
    use stend_base::{Bytes, Millionths};

    /// 60 % of 4 KiB, 30 % of 16 KiB and 10 % of 64 KiB over so many KiB.
    fn job(pattern: Pattern, kib: u64) -> Job {
        let share = |kib, percent| BlockShare { size: Bytes::kib(kib), percent };
        let block_mix = vec![share(4, 60), share(16, 30), share(64, 10)];
        let spec = Stream { pattern, block_size: Bytes::kib(64), block_mix, ..stream() };
        crate::layout::jobs(&trial(Bytes::kib(kib), vec![spec]), u64::MAX).unwrap().remove(0)
    }

    #[test]
    fn tiles_cover_the_area_without_gap_or_overlap_with_exact_shares() {
        for kib in [64, 128, 640, 1000, 6400] {
            let places = Places::new(&job(Pattern::Random, kib));
            let (mut end, mut counts) = (0, BTreeMap::new());
            for place in 0..places.count() {
                let (offset, size) = places.at(place, 99 - place % 99);
                assert_eq!(offset, end);
                end += size;
                *counts.entry(size >> 10).or_insert(0u64) += 1;
            }
            assert!(end <= kib << 10 && places.count() > 0 && (kib << 10) - end < 128 << 10, "{kib}: {end}");
            if kib == 6400 {
                let whole = places.count() / 10;
                assert!(counts[&4].abs_diff(6 * whole) <= 6 && counts[&64].abs_diff(whole) <= 1, "{counts:?}");
            }
        }
    }

    #[test]
    fn drawn_sizes_have_their_shares_wherever_the_heat_is_and_stay_inside() {
        let hot = Pattern::Pareto { hot: Millionths::percent(1) };
        let places = Places::new(&job(hot, 640));
        assert_eq!(places.count(), (640 - 64) / 4 + 1);
        let sizes: Vec<u64> = (0..100_000).map(|index| places.at(7, index).1 >> 10).collect();
        for (kib, expected) in [(4, 60_000usize), (16, 30_000), (64, 10_000)] {
            let is = sizes.iter().filter(|size| **size == kib).count();
            // Binomial: at most sqrt(100,000 x 0.6 x 0.4) = 155.
            assert!(is.abs_diff(expected) < 4 * 155, "{kib} KiB: {is}");
        }
        assert!((0..1000).all(|i| places.at(places.count() - 1, i).0 + (64 << 10) <= 640 << 10));
    }
}
