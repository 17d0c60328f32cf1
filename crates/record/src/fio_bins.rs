//! fio's buckets of latency, and how they become ours. Pure. Here, because those who have fio make the I/O and those who read
//! what it once printed need the same.
//!
//! fio counts values below 128 ns one by one and cuts every power of two above into 64 equal buckets, 29 groups of 64 in
//! all; the last bucket takes whatever is longer (stat.h of fio). Ours are half as wide ([`stend_base::histogram`]): what
//! is known of an I/O is its bucket, and it is taken to lie at the upper edge, so that no latency is too low.

use std::collections::BTreeMap;
use stend_base::buckets::Buckets;
use stend_base::histogram::{Sparse, bucket};

/// log2 of the buckets per octave.
const SUB_BITS: u32 = 6;
/// Buckets of fio: 29 groups of 64.
pub const BINS: usize = 29 << SUB_BITS;

/// Counts by number of fio's bucket.
pub type Bins = BTreeMap<u32, u64>;

/// The bucket that a value falls into.
pub fn bin(value: u64) -> u32 {
    if value < 2 << SUB_BITS {
        return value as u32;
    }
    let shift = 63 - value.leading_zeros() - SUB_BITS;
    let bin = (u64::from(shift + 1) << SUB_BITS) + ((value >> shift) & ((1 << SUB_BITS) - 1));
    bin.min(BINS as u64 - 1) as u32
}

/// Smallest and largest value of a bucket; the last one is shown without what lies above its own width.
pub const fn edges(bin: u32) -> (u64, u64) {
    let bin = if (bin as usize) < BINS { bin as u64 } else { BINS as u64 - 1 };
    if bin < 2 << SUB_BITS {
        return (bin, bin);
    }
    let shift = (bin >> SUB_BITS) - 1;
    let lower = ((1 << SUB_BITS) + (bin & ((1 << SUB_BITS) - 1))) << shift;
    (lower, lower + (1 << shift) - 1)
}

/// What fio knows exactly of the values in its buckets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exact {
    /// Smallest, ns.
    pub min_ns: u64,
    /// Largest, ns.
    pub max_ns: u64,
    /// Mean, ns.
    pub mean_ns: f64,
}

/// The counts as they are stored. Without `exact` the edges of the buckets stand for the extremes and their middles for
/// the sum.
pub fn sparse(bins: &Bins, exact: Option<Exact>) -> Sparse {
    sparse_in(bins, exact, 1)
}

/// As [`sparse`] of buckets of values in units of `unit_ns` (`exact` stays in ns): before its version 3 fio counted microseconds.
pub fn sparse_in(bins: &Bins, exact: Option<Exact>, unit_ns: u64) -> Sparse {
    let used: Vec<(u32, u64)> = bins.iter().map(|(bin, count)| (*bin, *count)).collect();
    sparse_of(&used, exact, unit_ns)
}

/// As [`sparse_in`] of (bucket, count), by bucket ascending.
pub fn sparse_of(bins: &[(u32, u64)], exact: Option<Exact>, unit_ns: u64) -> Sparse {
    let edges = |bin| {
        let (lower, upper) = edges(bin);
        (lower * unit_ns, (upper + 1) * unit_ns - 1)
    };
    let used = || bins.iter().filter(|(_, count)| *count > 0);
    let (Some(&(first, _)), Some(&(last, _))) = (used().next(), used().next_back()) else { return Sparse::default() };
    // The last bucket of all has no upper edge: only the maximum tells how far it went.
    let (min_ns, max_ns) = exact.map_or((edges(first).0, edges(last).1), |e| (e.min_ns, e.max_ns.max(e.min_ns)));
    let mut buckets = Buckets::with_capacity(bins.len());
    // What lies in one bucket of ours comes one after the other.
    let (mut before, mut open) = (0u32, None::<(u32, u64)>);
    let (mut count, mut middles) = (0u64, 0u128);
    for &(bin, n) in used() {
        let (lower, upper) = edges(bin);
        let at = if bin as usize == BINS - 1 { max_ns.max(lower) } else { upper.min(max_ns.max(lower)) };
        let ours = bucket(at) as u32;
        open = match open {
            Some((same, sum)) if ours <= same => Some((same, sum.saturating_add(n))),
            full => {
                before = full.map_or(before, |full| close(&mut buckets, before, full));
                Some((ours, n))
            }
        };
        count = count.saturating_add(n);
        middles = middles.saturating_add(u128::from(lower.midpoint(upper)) * u128::from(n));
    }
    if let Some(full) = open {
        close(&mut buckets, before, full);
    }
    buckets.shrink_to_fit();
    let sum_ns = exact.map_or(middles, |e| (e.mean_ns.max(0.0) * count as f64).round() as u128);
    Sparse { buckets, sum_ns, min_ns, max_ns }
}

/// The same of counts of which nothing else is known, those of a histogram log: (bucket, count), by bucket ascending, none of them 0. Such
/// logs are long, so that each bucket has a few ns, and `scratch` is used again and again.
pub fn sparse_of_log(bins: &[(u32, u64)], scratch: &mut Buckets) -> Sparse {
    let (Some(&(first, _)), Some(&(last, _))) = (bins.first(), bins.last()) else { return Sparse::default() };
    scratch.clear();
    let (mut before, mut sum_ns) = (0, 0u128);
    for &(bin, n) in bins {
        let (middle, ours) = PLACES[(bin as usize).min(BINS - 1)];
        scratch.push(ours - before, n);
        before = ours;
        sum_ns = sum_ns.saturating_add(u128::from(middle) * u128::from(n));
    }
    Sparse { buckets: scratch.clone(), sum_ns, min_ns: edges(first).0, max_ns: edges(last).1 }
}

/// Middle of each of fio's buckets, ns, and the bucket of ours that it becomes.
static PLACES: [(u64, u32); BINS] = places();

const fn places() -> [(u64, u32); BINS] {
    let mut places = [(0, 0); BINS];
    let mut bin = 0;
    while bin < BINS {
        let (lower, upper) = edges(bin as u32);
        places[bin] = (lower.midpoint(upper), bucket_of_edge(bin as u32));
        bin += 1;
    }
    places
}

/// Our bucket of the upper edge of one of fio's: both are cut alike, ours twice as fine.
const fn bucket_of_edge(bin: u32) -> u32 {
    if bin < 2 << SUB_BITS { bin } else { 2 * bin + 1 - (2 << SUB_BITS) }
}

/// Adds a bucket of ours behind the one `before` it, and says which it is.
fn close(buckets: &mut Buckets, before: u32, (ours, count): (u32, u64)) -> u32 {
    buckets.push(ours - before, count);
    ours
}

/// How many values are in all buckets.
pub fn count(bins: &Bins) -> u64 {
    bins.values().fold(0, |sum, n| sum.saturating_add(*n))
}

/// Adds `more` to the counts.
pub fn add(bins: &mut Bins, more: &Bins) {
    for (&bin, &n) in more {
        let sum = bins.entry(bin).or_default();
        *sum = sum.saturating_add(n);
    }
}

/// What of `all` is left without `part`; `None` if a bucket of the part holds more than the whole.
pub fn rest(all: &Bins, part: &Bins) -> Option<Bins> {
    let mut left = all.clone();
    for (bin, n) in part.iter().filter(|(_, n)| **n > 0) {
        let have = left.get_mut(bin)?;
        *have = have.checked_sub(*n)?;
    }
    left.retain(|_, n| *n > 0);
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stend_base::{Histogram, Nanos, Share};

    proptest! {
        #[test]
        fn every_value_below_the_clip_lies_between_the_edges_of_its_bucket(value in 0u64..1 << 34) {
            let (lower, upper) = edges(bin(value));
            prop_assert!(lower <= value && value <= upper);
            prop_assert!(upper - lower <= lower / 64, "{} to {}", lower, upper);
        }

        #[test]
        fn a_quantile_is_never_below_the_true_one_and_at_most_a_64th_above(
            mut values in prop::collection::vec(1u64..1 << 34, 1..200), per_mille in 0u32..1000,
        ) {
            values.sort_unstable();
            let mut bins = Bins::new();
            values.iter().for_each(|&v| *bins.entry(bin(v)).or_default() += 1);
            let mean_ns = values.iter().sum::<u64>() as f64 / values.len() as f64;
            let exact = Exact { min_ns: values[0], max_ns: values[values.len() - 1], mean_ns };
            let stored = sparse(&bins, Some(exact));
            prop_assert_eq!(stored.count(), values.len() as u64);
            let share = f64::from(per_mille) / 1000.0;
            let truth = values[((share * values.len() as f64).ceil() as usize).clamp(1, values.len()) - 1];
            let mut histogram = Histogram::new();
            histogram.merge_sparse(&stored);
            let found = histogram.quantile(Share(share)).unwrap();
            prop_assert!(found >= Nanos(truth) && found.0 - truth <= truth / 64 + 1, "{:?} for {}", found, truth);
            prop_assert!(found.0 <= stored.max_ns);
        }

        #[test]
        fn a_log_says_the_same_as_the_other_way_of_reading_its_counts(
            counts in prop::collection::btree_map(0u32..1856, 1u64..1 << 40, 0..80),
        ) {
            let counts: Vec<(u32, u64)> = counts.into_iter().collect();
            prop_assert_eq!(sparse_of_log(&counts, &mut Buckets::from(vec![(7, 7)])), sparse_of(&counts, None, 1));
        }

        #[test]
        fn a_part_and_its_rest_are_the_whole(
            all in prop::collection::btree_map(0u32..1856, 0u64..100, 0..20), keep in 0u64..100,
        ) {
            let part: Bins = all.iter().map(|(&bin, &n)| (bin, n.min(keep))).collect();
            let mut sum = rest(&all, &part).unwrap();
            add(&mut sum, &part);
            prop_assert_eq!(count(&sum), count(&all));
        }
    }

    #[test]
    fn our_bucket_of_an_edge_is_that_of_its_value() {
        for bin in 0..BINS as u32 {
            assert_eq!(bucket_of_edge(bin), bucket(edges(bin).1) as u32, "{bin}");
        }
    }

    #[test]
    fn the_buckets_are_those_of_fio() {
        // From the log of fio 3.33: counts of a value are in this column, and `json+` names its middle.
        for (value, middle) in [(127, 127), (1560, 1560), (42_410, 42_240), (6_663_377, 6_651_904)] {
            let (lower, upper) = edges(bin(value));
            assert_eq!(lower + (upper + 1 - lower) / 2, middle, "{value}");
        }
        assert_eq!((bin(u64::MAX), edges(1855)), (1855, (17_045_651_456, 17_179_869_183)));
    }

    #[test]
    fn what_fio_clips_is_stored_at_its_maximum() {
        let exact = Exact { min_ns: 5, max_ns: 60_000_000_000, mean_ns: 1.0 };
        let stored = sparse(&Bins::from([(5, 1), (1855, 2)]), Some(exact));
        assert_eq!((stored.max_ns, stored.buckets.len(), stored.count()), (60_000_000_000, 2, 3));
        let mut histogram = Histogram::new();
        histogram.merge_sparse(&stored);
        assert_eq!(histogram.quantile(Share(1.0)), Some(Nanos(60_000_000_000)));
    }

    #[test]
    fn a_part_larger_than_the_whole_has_no_rest() {
        let all = Bins::from([(3, 5)]);
        assert_eq!(rest(&all, &Bins::from([(3, 6)])), None);
        assert_eq!(rest(&all, &Bins::from([(4, 1)])), None);
        assert_eq!(rest(&all, &Bins::from([(3, 5), (4, 0)])), Some(Bins::new()));
    }
}
