//! Orders against what their definitions say of them.

use super::*;
use crate::layout::tests::{stream, trial};
use stend_base::Bytes;
use stend_spec::workload::Stream;

/// The order of `pattern` over so many blocks of 4 KiB, for a job without an end.
fn order(pattern: Pattern, blocks: u64) -> Order {
    let trial = trial(Bytes::kib(4 * blocks), vec![Stream { pattern, ..stream() }]);
    Order::new(&crate::layout::jobs(&trial, u64::MAX).unwrap()[0], blocks)
}

fn blocks(order: &mut Order, range: std::ops::Range<u64>) -> Vec<u64> {
    range.map(|index| order.at(index)).collect()
}

fn percent(n: u32) -> Millionths {
    Millionths::percent(n)
}

fn zones(shares: &[(u32, u32)]) -> Pattern {
    Pattern::Zones(shares.iter().map(|&(s, a)| Zone { space: percent(s), accesses: percent(a) }).collect())
}

/// Every pattern that is a function of the index.
fn all() -> Vec<Pattern> {
    vec![
        Pattern::Sequential,
        Pattern::Reverse,
        Pattern::Random,
        Pattern::Uniform,
        Pattern::Zipf { theta_thousandths: 1200 },
        Pattern::Pareto { hot: percent(20) },
        Pattern::Normal { deviation: percent(10) },
        zones(&[(10, 90), (90, 10)]),
        Pattern::Strided { stride: Bytes::kib(28) },
        Pattern::Mixed { sequential: percent(60) },
    ]
}

#[test]
fn the_answer_does_not_depend_on_what_was_asked_before_and_stays_inside() {
    for pattern in all() {
        for size in [1, 7, 100, 1021] {
            let mut a = order(pattern.clone(), size);
            let mut b = a.clone();
            let forward = blocks(&mut a, 0..3000);
            let mut backward: Vec<u64> = (0..3000).rev().map(|index| b.at(index)).collect();
            backward.reverse();
            assert_eq!(forward, backward, "{pattern:?}");
            assert!(forward.iter().all(|&block| block < size), "{pattern:?}");
            assert!(a.at(u64::MAX / 2) < size);
        }
    }
}

#[test]
fn orders_without_repetition_have_every_block_once_in_each_pass() {
    for pattern in [Pattern::Sequential, Pattern::Reverse, Pattern::Random, Pattern::Strided { stride: Bytes::kib(28) }]
    {
        for size in [1, 6, 7, 8, 100, 1021] {
            let mut order = order(pattern.clone(), size);
            for pass in 0..3 {
                let mut seen = blocks(&mut order, pass * size..(pass + 1) * size);
                seen.sort_unstable();
                assert_eq!(seen, (0..size).collect::<Vec<_>>(), "{pattern:?}, {size} blocks");
            }
        }
    }
}

#[test]
fn reverse_descends_from_a_seeded_start_and_wraps() {
    let order = blocks(&mut order(Pattern::Reverse, 100), 0..200);
    assert!(order.windows(2).all(|pair| (pair[1] + 1) % 100 == pair[0]), "{order:?}");
    assert_ne!(order[0], 0, "the seed of this test does not start at block 0");
}

#[test]
fn strided_steps_and_begins_again_one_block_further() {
    let (mut lanes, mut order) = (0, order(Pattern::Strided { stride: Bytes::kib(28) }, 100));
    order.first = 0;
    let seen = blocks(&mut order, 0..100);
    for pair in seen.windows(2) {
        if pair[1] == pair[0] + 7 {
            continue;
        }
        lanes += 1;
        assert_eq!(pair[1], lanes, "{seen:?}");
        assert!(pair[0] + 7 >= 100, "a lane goes on to the end: {seen:?}");
    }
    assert_eq!(lanes, 6);
}

/// Chi-square of draws against equal cells, as a standard normal deviate (Wilson-Hilferty).
fn evenness(draws: impl Iterator<Item = u64>, cells: u64, size: u64) -> f64 {
    let mut counts = vec![0.0; cells as usize];
    draws.for_each(|block| counts[(block * cells / size) as usize] += 1.0);
    let expected = counts.iter().sum::<f64>() / cells as f64;
    let chi: f64 = counts.iter().map(|count: &f64| (count - expected).powi(2) / expected).sum();
    let freedom = cells as f64 - 1.0;
    let k = 2.0 / (9.0 * freedom);
    ((chi / freedom).cbrt() - (1.0 - k)) / k.sqrt()
}

#[test]
fn uniform_is_even_and_repeats_as_chance_has_it() {
    let mut order = order(Pattern::Uniform, 1000);
    let seen = blocks(&mut order, 0..100_000);
    assert!(evenness(seen.iter().copied(), 100, 1000).abs() < 4.0);
    // After n draws a share of 1 / e has never come: 368 of 1000, standard deviation sqrt(1000 (1/e - 2/e^2)) = 9.9.
    let mut first = seen[..1000].to_vec();
    first.sort_unstable();
    first.dedup();
    assert!((1000 - first.len()).abs_diff(368) < 45, "{}", first.len());
}

#[test]
fn the_hottest_block_has_its_mass_and_the_hot_ones_lie_everywhere() {
    let size = 10_000u64;
    let mut counts = vec![0u64; size as usize];
    let mut order = order(Pattern::Zipf { theta_thousandths: 1200 }, size);
    (0..200_000).for_each(|index| counts[order.at(index) as usize] += 1);
    let sum: f64 = (1..=size).map(|k| (k as f64).powf(-1.2)).sum();
    let mut hottest: Vec<usize> = (0..counts.len()).collect();
    hottest.sort_by_key(|&block| std::cmp::Reverse(counts[block]));
    for (rank, &block) in hottest[..4].iter().enumerate() {
        let expected = 200_000.0 * ((rank + 1) as f64).powf(-1.2) / sum;
        assert!(
            (counts[block] as f64 - expected).abs() < 5.0 * expected.sqrt(),
            "rank {rank}: {} {expected}",
            counts[block]
        );
    }
    // The 500 hottest, over ten equal parts of the region: 50 each.
    assert!(evenness(hottest[..500].iter().map(|&block| block as u64), 10, size) < 4.0);
}

#[test]
fn skewed_orders_scatter_and_a_bell_is_not_in_the_middle() {
    for pattern in [Pattern::Pareto { hot: percent(20) }, Pattern::Normal { deviation: percent(5) }] {
        let mut counts = vec![0u64; 10_000];
        let mut order = order(pattern.clone(), 10_000);
        (0..200_000).for_each(|index| counts[order.at(index) as usize] += 1);
        let hot = (0..10_000u64).filter(|&block| counts[block as usize] > 40);
        assert!(evenness(hot, 10, 10_000) < 4.0, "{pattern:?}");
    }
}

#[test]
fn zones_get_their_accesses_where_the_list_puts_them() {
    let mut order = order(zones(&[(45, 5), (0, 0), (10, 90), (45, 5)]), 1000);
    let seen = blocks(&mut order, 0..100_000);
    let share = |from, to| seen.iter().filter(|block| (from..to).contains(*block)).count();
    // Binomial: sqrt(100,000 x 0.9 x 0.1) = 95, sqrt(100,000 x 0.05 x 0.95) = 69.
    assert!(share(450, 550).abs_diff(90_000) < 4 * 95, "{}", share(450, 550));
    assert!(share(0, 450).abs_diff(5_000) < 4 * 69 && share(550, 1000).abs_diff(5_000) < 4 * 69);
    assert!(evenness(seen.iter().filter(|b| (450..550).contains(*b)).map(|b| b - 450), 10, 100).abs() < 4.0);
}

#[test]
fn a_mixture_goes_on_for_its_share_and_jumps_anywhere() {
    for (sequential, expected) in [(60, 60_000), (10, 10_000), (99, 99_000)] {
        let mut order = order(Pattern::Mixed { sequential: percent(sequential) }, 100_000);
        let seen = blocks(&mut order, 0..100_001);
        let goes_on = seen.windows(2).filter(|pair| pair[1] == (pair[0] + 1) % 100_000).count();
        // A jump lands on the next block by chance once in 100,000; a stratum begins and ends inside.
        assert!(goes_on.abs_diff(expected) <= 5, "{sequential} %: {goes_on}");
        let landed = seen.windows(2).filter(|pair| pair[1] != (pair[0] + 1) % 100_000).map(|pair| pair[1]);
        assert!(evenness(landed, 10, 100_000).abs() < 4.0);
    }
}

#[test]
fn jobs_that_share_a_cursor_take_every_block_once_and_others_do_not() {
    let shared = |pattern| {
        let trial = trial(Bytes::kib(400), vec![Stream { pattern, jobs: 3, ..stream() }]);
        crate::layout::jobs(&trial, u64::MAX).unwrap()
    };
    let jobs = shared(Pattern::SharedSequential);
    assert!(jobs.iter().all(|job| job.area == jobs[0].area && job.area.blocks == 99), "three cells of 33 blocks");
    let mut orders: Vec<Order> = jobs.iter().map(|job| Order::new(job, 99)).collect();
    let seen: Vec<u64> = (0..99).map(|turn| orders[turn * turn % 3].at(0)).collect();
    assert!(seen.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 99), "{seen:?}");
    let own = shared(Pattern::Sequential);
    assert!(own[1].area.start >= own[0].area.start + own[0].area.blocks * 4096);
}

#[test]
fn a_shared_cursor_is_one_per_target() {
    let streams = vec![Stream { pattern: Pattern::SharedSequential, jobs: 6, ..stream() }];
    let trial = stend_spec::workload::Trial { parts: 3, ..trial(Bytes::kib(1200), streams) };
    let jobs = crate::layout::jobs(&trial, u64::MAX).unwrap();
    for (part, pair) in jobs.chunks(2).enumerate() {
        assert_eq!(
            (pair[0].area, pair[0].area.start, pair[0].area.blocks),
            (pair[1].area, (part as u64 * 400) << 10, 100)
        );
        assert_eq!((pair[0].leads, pair[1].leads), (true, false));
        let mut orders: Vec<Order> = pair.iter().map(|job| Order::new(job, 100)).collect();
        let seen: Vec<u64> = (0..100).map(|turn| orders[turn % 2].at(0)).collect();
        assert!(seen.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 100), "{seen:?}");
    }
}
