//! What lies at each place of a job's area: blocks of one size, or of several. Must not say which place comes when.

use crate::layout::Job;
use std::sync::Arc;
use stend_base::random::{Random, below, draw};
use stend_spec::mixture::{self, Tiling};
use stend_spec::workload::{BlockShare, Stream};

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
    /// Side by side without gaps, in a repeated cycle that holds each size as often as its share says, and a part of one at the end. For
    /// orders that visit every place once in a pass: a pass has the shares and moves every byte once.
    Tiled {
        /// How many.
        count: u64,
        /// Whole cycles.
        cycles: u64,
        /// Bytes of a cycle.
        cycle: u64,
        /// (offset in the cycle, size) of its places.
        tiles: Arc<[(u64, u64)]>,
        /// The same of the places behind the last whole cycle.
        rest: Arc<[(u64, u64)]>,
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
    /// The places of a job. Areas that are too small for the shares of a mixture were refused (`crate::layout`).
    pub fn new(job: &Job) -> Places {
        let (spec, block) = (&job.spec, job.spec.block_size.0);
        let len = job.area.blocks * block;
        if spec.block_mix.is_empty() {
            return Places::Equal { count: job.area.blocks, block };
        }
        if mixture::is_tiled(&spec.pattern) {
            let Some(tiling) = Tiling::new(&spec.block_mix, len) else {
                unreachable!("the layout refuses an area that is too small for its mixture");
            };
            return tiled(&spec.block_mix, &tiling);
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
            Places::Tiled { cycles, cycle, tiles, rest, .. } => {
                let (turn, tile) = (place / tiles.len() as u64, place % tiles.len() as u64);
                let (offset, size) = if turn < *cycles { tiles[tile as usize] } else { rest[tile as usize] };
                (turn * cycle + offset, size)
            }
            Places::Drawn { unit, sizes, seed, .. } => {
                let choice = below(draw(*seed, index), ALL);
                (place * unit, sizes[sizes.partition_point(|(below, _)| *below <= choice)].1)
            }
        }
    }
}

/// Whole cycles, and of one more what the tiling puts behind them.
fn tiled(mix: &[BlockShare], tiling: &Tiling) -> Places {
    let tiles = shuffled(mix, &tiling.cycle);
    let rest = shuffled(mix, &tiling.rest);
    let cycle = tiles.iter().map(|(_, size)| size).sum();
    let count = tiling.cycles * tiles.len() as u64 + rest.len() as u64;
    Places::Tiled { count, cycles: tiling.cycles, cycle, tiles, rest }
}

/// (offset, size) of so many blocks of each size, side by side.
fn shuffled(mix: &[BlockShare], counts: &[u64]) -> Arc<[(u64, u64)]> {
    let mut sizes: Vec<u64> =
        mix.iter().zip(counts).flat_map(|(share, count)| vec![share.size.0; *count as usize]).collect();
    Random::new(TILE_SEED).shuffle(&mut sizes);
    let mut end = 0;
    let placed = sizes.iter().map(|&size| {
        end += size;
        (end - size, size)
    });
    placed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::{stream, trial};
    use std::collections::BTreeMap;
    use stend_base::{Bytes, Millionths};
    use stend_spec::workload::{Mix, Pattern};

    /// 60 % of 4 KiB, 30 % of 16 KiB and 10 % of 64 KiB over so many KiB.
    fn job(pattern: Pattern, kib: u64) -> Job {
        let share = |kib, percent| BlockShare { size: Bytes::kib(kib), percent };
        let block_mix = vec![share(4, 60), share(16, 30), share(64, 10)];
        let spec = Stream { pattern, block_size: Bytes::kib(64), block_mix, ..stream() };
        crate::layout::jobs(&trial(Bytes::kib(kib), vec![spec]), u64::MAX).unwrap().remove(0)
    }

    #[test]
    fn tiles_cover_the_area_without_gap_or_overlap_with_exact_shares() {
        for kib in [192, 640, 1000, 6400] {
            let places = Places::new(&job(Pattern::Random, kib));
            let (mut end, mut counts) = (0, BTreeMap::new());
            for place in 0..places.count() {
                let (offset, size) = places.at(place, 99 - place % 99);
                assert_eq!(offset, end);
                end += size;
                *counts.entry(size >> 10).or_insert(0u64) += 1;
            }
            assert!(end <= kib << 10 && places.count() > 0 && (kib << 10) - end < 128 << 10, "{kib}: {end}");
            // A share is off by less than a block.
            let share = |percent: u64| percent * places.count();
            assert!(
                [(4, 60), (16, 30), (64, 10)].iter().all(|(k, p)| (100 * counts[k]).abs_diff(share(*p)) < 100),
                "{kib}: {counts:?}"
            );
        }
    }

    /// Mean bytes per I/O of the first `ios` of all jobs, relative to the one asked for.
    fn mean_of(spec: &Stream, range: Bytes, ios: u64) -> f64 {
        let (mut bytes, mut count) = (0, 0);
        for job in crate::layout::jobs(&trial(range, vec![spec.clone()]), u64::MAX).unwrap() {
            let region = job.region();
            let mut sequence = crate::sequence::Sequence::new(&job);
            let ios = if ios == 0 { sequence.places() } else { ios };
            for index in 0..ios {
                let step = sequence.at(index);
                assert!(step.offset >= region.start.0 && step.offset + u64::from(step.len) <= region.end());
                bytes += u64::from(step.len);
            }
            count += ios;
        }
        let asked: f64 = spec.sizes().map(|s| s.size.0 as f64 * f64::from(s.percent) / 100.0).sum();
        bytes as f64 / count as f64 / asked
    }

    #[test]
    fn weights_of_sizes_hold_in_small_areas_of_many_jobs_in_passes_and_in_short_trials() {
        let share = |kib, percent| BlockShare { size: Bytes::kib(kib), percent };
        let mixes = [
            vec![share(4, 60), share(64, 40)],
            vec![share(4, 60), share(16, 30), share(64, 10)],
            vec![share(8, 67), share(32, 33)],
        ];
        let orders = [
            Pattern::Random,
            Pattern::Sequential,
            Pattern::Reverse,
            Pattern::Mixed { sequential: Millionths::percent(50) },
        ];
        let drawn = [
            Pattern::Uniform,
            Pattern::Zipf { theta_thousandths: 1200 },
            Pattern::Pareto { hot: Millionths::percent(20) },
        ];
        for (block_mix, mib) in mixes.iter().flat_map(|mix| [9, 16, 37, 64, 101].map(|mib| (mix.clone(), mib))) {
            let most = block_mix.iter().map(|s| s.size).max().unwrap();
            for (jobs, read) in [(1, 100), (1, 0), (2, 70), (3, 0)] {
                let mix = Mix::of_reads(read);
                let spec = |pattern: &Pattern| Stream {
                    pattern: pattern.clone(),
                    mix,
                    jobs,
                    block_size: most,
                    block_mix: block_mix.clone(),
                    ..stream()
                };
                let mean: f64 = block_mix.iter().map(|s| s.size.0 as f64 * f64::from(s.percent) / 100.0).sum();
                let variance: f64 =
                    block_mix.iter().map(|s| (s.size.0 as f64 - mean).powi(2) * f64::from(s.percent) / 100.0).sum();
                // Four standard deviations of a draw, which what is spread evenly keeps all the more.
                let chance = |ios: u64| 4.0 * variance.sqrt() / mean / (ios as f64 * f64::from(jobs)).sqrt();
                for pattern in &orders {
                    let spec = spec(pattern);
                    if !matches!(pattern, Pattern::Mixed { .. }) {
                        let whole = mean_of(&spec, Bytes::mib(mib), 0);
                        assert!((whole - 1.0).abs() <= 0.0051, "{pattern:?} {block_mix:?} {mib} MiB x {jobs}: {whole}");
                    }
                    // Runs of half an area are no draws of single blocks.
                    let short = mean_of(&spec, Bytes::mib(mib), 200);
                    assert!(
                        (short - 1.0).abs() <= 0.005 + chance(200),
                        "{pattern:?} {block_mix:?} {mib} MiB x {jobs}: {short}"
                    );
                }
                for pattern in &drawn {
                    let short = mean_of(&spec(pattern), Bytes::mib(mib), 5000);
                    assert!((short - 1.0).abs() <= chance(5000), "{pattern:?} {block_mix:?}: {short}");
                }
            }
        }
    }

    #[test]
    fn an_area_that_cannot_hold_the_shares_is_refused() {
        let share = |kib, percent| BlockShare { size: Bytes::kib(kib), percent };
        let spec = Stream { block_size: Bytes::kib(64), block_mix: vec![share(4, 60), share(64, 40)], ..stream() };
        let error = crate::layout::jobs(&trial(Bytes::kib(128), vec![spec]), u64::MAX).unwrap_err();
        assert!(error.message.en.contains("takes 140 KiB") && error.message.ru.contains("140 КиБ"), "{error}");
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
