//! How often each size of a mixture lies in the area of a job, so that the load has the shares that were asked for whatever the
//! length of the area is. Pure; which place comes when is not said here.

use crate::workload::{BlockShare, Pattern};

/// Bytes that may be of another size than the shares say, as a part of all, behind whole cycles: half of what H01 calls a contradiction.
const MISPLACED_MOST: f64 = 0.005;
/// The same in an area that is shorter than a cycle, where less is often not possible: all of it.
const MISPLACED_SHORT: f64 = 0.01;
/// Sum of all shares.
const ALL: u64 = 100;

/// Whether an order visits every place once in a pass. The sizes of a mixture then lie side by side; in other orders the size is
/// drawn for each I/O.
pub fn is_tiled(pattern: &Pattern) -> bool {
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

/// An area filled with the sizes of a mixture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tiling {
    /// Whole cycles.
    pub cycles: u64,
    /// How often each size lies in a cycle, in the order of the mixture: the smallest whole numbers in the ratio of the shares.
    pub cycle: Vec<u64>,
    /// How often each lies behind the last whole cycle.
    pub rest: Vec<u64>,
}

impl Tiling {
    /// Fills `len` bytes as far as the shares allow it. Behind whole cycles lie as many blocks as fit with at most 0.5 % of all bytes in
    /// blocks that are too many or too few of their size; in an area shorter than a cycle those that keep the shares best. `None` if that
    /// is off by more than 1 %; an area of [`cycle_len`] never is.
    pub fn new(mix: &[BlockShare], len: u64) -> Option<Tiling> {
        let cycle = cycle(mix);
        let cycle_len = bytes(mix, &cycle);
        let cycles = len.checked_div(cycle_len)?;
        let room = len % cycle_len;
        let candidates = (0..cycle.iter().sum::<u64>()).rev().map(|blocks| (apportioned(mix, blocks), blocks));
        let mut fitting = candidates.filter(|(rest, _)| bytes(mix, rest) <= room).map(|(rest, blocks)| {
            let total = cycles * cycle_len + bytes(mix, &rest);
            (misplaced(mix, &rest, blocks) / total as f64, rest)
        });
        let rest = if cycles > 0 {
            fitting.find(|(off, _)| *off <= MISPLACED_MOST)?.1
        } else {
            // Without any block it is 0 / 0, which is not at most anything.
            let possible = fitting.filter(|(off, _)| *off <= MISPLACED_SHORT);
            possible.reduce(|best, next| if next.0 < best.0 { next } else { best })?.1
        };
        Some(Tiling { cycles, cycle, rest })
    }
}

/// Bytes of the shortest area that has exactly the shares of a mixture.
pub fn cycle_len(mix: &[BlockShare]) -> u64 {
    bytes(mix, &cycle(mix))
}

fn cycle(mix: &[BlockShare]) -> Vec<u64> {
    let divisor = mix.iter().fold(0, |divisor, share| common(divisor, share.percent)).max(1);
    mix.iter().map(|share| u64::from(share.percent / divisor)).collect()
}

fn bytes(mix: &[BlockShare], counts: &[u64]) -> u64 {
    mix.iter().zip(counts).map(|(share, count)| share.size.0 * count).sum()
}

/// So many blocks divided by the shares; what is left over goes to the largest remainders.
fn apportioned(mix: &[BlockShare], blocks: u64) -> Vec<u64> {
    let mut counts: Vec<u64> = mix.iter().map(|share| blocks * u64::from(share.percent) / ALL).collect();
    let missing = blocks - counts.iter().sum::<u64>();
    let mut order: Vec<usize> = (0..mix.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(blocks * u64::from(mix[i].percent) % ALL));
    order.iter().take(missing as usize).for_each(|&i| counts[i] += 1);
    counts
}

/// Bytes of the blocks that are too many or too few of their size.
fn misplaced(mix: &[BlockShare], counts: &[u64], blocks: u64) -> f64 {
    let off = |(share, count): (&BlockShare, &u64)| {
        let exact = blocks as f64 * f64::from(share.percent) / ALL as f64;
        (*count as f64 - exact).abs() * share.size.0 as f64
    };
    mix.iter().zip(counts).map(off).sum()
}

/// Greatest common divisor.
fn common(a: u8, b: u8) -> u8 {
    if b == 0 { a } else { common(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stend_base::Bytes;

    fn mix(sizes: &[(u64, u8)]) -> Vec<BlockShare> {
        sizes.iter().map(|&(kib, percent)| BlockShare { size: Bytes::kib(kib), percent }).collect()
    }

    fn totals(tiling: &Tiling) -> Vec<u64> {
        tiling.cycle.iter().zip(&tiling.rest).map(|(each, rest)| tiling.cycles * each + rest).collect()
    }

    #[test]
    fn a_mebibyte_has_28_kib_per_block_and_not_26_7() {
        // 7 cycles of 3 x 4 + 2 x 64 KiB; of the 44 KiB behind them nothing but 4 KiB would fit.
        let sizes = mix(&[(4, 60), (64, 40)]);
        let found = Tiling::new(&sizes, 1 << 20).unwrap();
        assert_eq!((totals(&found), found.rest), (vec![21, 14], vec![0, 0]));
    }

    #[test]
    fn a_long_cycle_does_not_leave_a_third_of_the_area_unused() {
        // A cycle of 100 blocks has 67.1 MiB.
        let sizes = mix(&[(4, 33), (1024, 67)]);
        let len = 100 << 20;
        let counts = totals(&Tiling::new(&sizes, len).unwrap());
        assert!(bytes(&sizes, &counts) > len / 100 * 98, "{counts:?}");
    }

    #[test]
    fn what_cannot_have_the_shares_is_too_small() {
        let sizes = mix(&[(4, 60), (64, 40)]);
        assert_eq!(cycle_len(&sizes), 140 << 10);
        assert_eq!(Tiling::new(&sizes, 139 << 10), None);
        assert!(Tiling::new(&sizes, 140 << 10).is_some());
        assert_eq!(Tiling::new(&sizes, 0), None);
    }

    proptest! {
        #[test]
        fn shares_hold_in_every_area_and_most_of_it_is_used(
            cut in 1u8..99, second in 0u8..99, sizes in prop::sample::subsequence(vec![4u64, 8, 16, 64, 128, 1024], 3), kib in 4u64..400_000,
        ) {
            let second = second.min(99 - cut);
            let shares = [(sizes[0], cut), (sizes[1], second), (sizes[2], 100 - cut - second)];
            let sizes = mix(&shares.into_iter().filter(|(_, percent)| *percent > 0).collect::<Vec<_>>());
            let len = kib << 10;
            let Some(found) = Tiling::new(&sizes, len) else {
                prop_assert!(len < cycle_len(&sizes));
                return Ok(());
            };
            let counts = totals(&found);
            let (blocks, used) = (counts.iter().sum::<u64>(), bytes(&sizes, &counts));
            prop_assert!(blocks > 0 && used <= len);
            let mean = sizes.iter().map(|share| share.size.0 as f64 * f64::from(share.percent) / 100.0).sum::<f64>();
            let off = used as f64 / blocks as f64 / mean - 1.0;
            let most = if found.cycles > 0 { MISPLACED_MOST } else { MISPLACED_SHORT };
            prop_assert!(off.abs() <= most * 1.02, "{} % off", off * 100.0);
            // Never less than whole cycles, and nearly all where a block more or less is below the bound.
            prop_assert!(used >= len / cycle_len(&sizes) * cycle_len(&sizes));
            if found.cycles >= 1 && len as f64 * MISPLACED_MOST > 4.0 * sizes.iter().map(|s| s.size.0).max().unwrap() as f64 {
                prop_assert!(used as f64 > 0.97 * len as f64, "{used} of {len}");
            }
        }
    }
}
