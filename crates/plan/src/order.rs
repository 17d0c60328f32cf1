//! In which order a plan runs its cells. Pure.

use stend_base::random::{Random, draw};
use stend_spec::suite::Suite;

/// Draws for the order of arms are taken from here on, those for cases below.
const ARM_DRAWS: u64 = 1 << 62;
const CASE_DRAWS: u64 = 1 << 63;

/// (block, cell) in order of execution. `cells` are those that run, by arm, but for those with rounds before them (`settled`), which
/// come last: one cell after the other with all of its blocks, in the order of the suite, so that none takes another out of its
/// steady state.
///
/// Blocks come in pairs: a random order, then its mirror, so that a linear drift cancels (method S4); in
/// each block all cases of one arm come before the next arm, because switching may take long. Where a
/// person or a reboot switches, arms follow one another as a whole.
pub fn order(suite: &Suite, cells: &[Vec<u32>], settled: &[u32], seed: u64) -> Vec<(u32, u32)> {
    let sequential = suite.is_sequential();
    let mut order = Vec::new();
    if sequential {
        for arm in cells {
            for block in 0..suite.blocks {
                order.extend(cases_of(arm, block, seed).into_iter().map(|cell| (block, cell)));
            }
        }
        return order;
    }
    for block in 0..suite.blocks {
        for arm in mirrored(&(0..cells.len()).collect::<Vec<_>>(), block, ARM_DRAWS, seed) {
            order.extend(cases_of(&cells[arm], block, seed).into_iter().map(|cell| (block, cell)));
        }
    }
    order.extend(settled.iter().flat_map(|&cell| (0..suite.blocks).map(move |block| (block, cell))));
    order
}

/// The order in which so many stands are built for a block, each of them for it alone: random, and its mirror in the block after it.
pub fn of_stands(count: usize, block: u32, seed: u64) -> Vec<usize> {
    mirrored(&(0..count).collect::<Vec<_>>(), block, ARM_DRAWS, seed)
}

fn cases_of(cells: &[u32], block: u32, seed: u64) -> Vec<u32> {
    mirrored(cells, block, CASE_DRAWS, seed)
}

/// A random order in even blocks, and its mirror in the odd block after it.
fn mirrored<T: Clone>(items: &[T], block: u32, draws: u64, seed: u64) -> Vec<T> {
    let mut items = items.to_vec();
    Random::new(draw(seed, u64::from(block & !1) | draws)).shuffle(&mut items);
    if block % 2 == 1 {
        items.reverse();
    }
    items
}

#[cfg(test)]
mod tests {
    use super::of_stands;

    #[test]
    fn stands_come_in_a_random_order_and_then_in_its_mirror() {
        let of = |block| of_stands(5, block, 7);
        let sorted = |mut order: Vec<usize>| {
            order.sort_unstable();
            order
        };
        for pair in [0, 2, 4] {
            let mirror: Vec<usize> = of(pair).into_iter().rev().collect();
            assert_eq!((of(pair + 1), sorted(of(pair))), (mirror, vec![0, 1, 2, 3, 4]));
        }
        assert!(of(0) != of(2) || of(0) != of(4), "each pair has an order of its own");
    }
}
