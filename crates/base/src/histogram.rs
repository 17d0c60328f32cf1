//! Latency histogram: log-linear, mergeable, the whole range of `u64` nanoseconds.
//!
//! Values below 256 have a bucket each; above, every power of two is cut into 128 equal buckets, so
//! that the upper edge of a bucket is at most 1/128 above any value in it (fio: 1/64 of the octave).

use crate::buckets::Buckets;
use crate::units::{Nanos, Share};
use serde::{Deserialize, Serialize};

/// log2 of the buckets per octave.
const SUB_BITS: u32 = 7;
const LINEAR: u64 = 2 << SUB_BITS;

/// Number of buckets that cover all of `u64`: 256 exact ones and 128 for each of 56 octaves.
pub const BUCKETS: usize = (LINEAR as usize) + ((64 - SUB_BITS as usize - 1) << SUB_BITS);

/// Counts per bucket, plus exact count, sum, minimum and maximum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64]>,
    count: u64,
    sum_ns: u128,
    min: u64,
    max: u64,
    /// First and last used bucket beyond those of `min` and `max`: only a histogram that another tool rounded, or that lies, has any.
    /// So recording needs nothing beside `min` and `max`, and readers look at the used part only.
    stray: Option<(usize, usize)>,
}

/// The non-empty buckets of a histogram, as it is stored and sent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sparse {
    /// (gap to the previous used bucket, count), ascending; gaps keep the encoding short.
    pub buckets: Buckets,
    /// Exact sum of all values, ns.
    pub sum_ns: u128,
    /// Smallest value, ns; meaningless when there are no buckets.
    pub min_ns: u64,
    /// Largest value, ns.
    pub max_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram::new()
    }
}

/// Bucket of a value.
#[inline(always)]
pub fn bucket(value: u64) -> usize {
    if value < LINEAR {
        return value as usize;
    }
    let shift = 63 - value.leading_zeros() - SUB_BITS;
    ((shift as usize) << SUB_BITS) + (value >> shift) as usize
}

/// Largest value that falls into a bucket.
pub fn upper_edge(bucket: usize) -> u64 {
    if (bucket as u64) < LINEAR {
        return bucket as u64;
    }
    let shift = (bucket >> SUB_BITS) - 1;
    let mantissa = (bucket & ((1 << SUB_BITS) - 1)) as u128 + (1 << SUB_BITS);
    (((mantissa + 1) << shift) - 1) as u64
}

/// Smallest value that falls into a bucket.
pub fn lower_edge(bucket: usize) -> u64 {
    if bucket == 0 { 0 } else { upper_edge(bucket - 1) + 1 }
}

/// Buckets that are added at once.
const STRIDE: usize = 16;

impl Histogram {
    /// An empty histogram; allocates about 60 KB once, recording never allocates.
    pub fn new() -> Self {
        Histogram {
            counts: vec![0; BUCKETS].into_boxed_slice(),
            count: 0,
            sum_ns: 0,
            min: u64::MAX,
            max: 0,
            stray: None,
        }
    }

    /// Adds one value.
    #[inline(always)]
    pub fn record(&mut self, value: Nanos) {
        self.counts[bucket(value.0)] += 1;
        self.count += 1;
        self.sum_ns += u128::from(value.0);
        self.min = self.min.min(value.0);
        self.max = self.max.max(value.0);
    }

    /// Adds one value so many times.
    pub fn record_many(&mut self, value: Nanos, count: u64) {
        if count > 0 {
            self.counts[bucket(value.0)] += count;
            self.add_totals(count, u128::from(value.0) * u128::from(count), value.0, value.0);
        }
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        let used = other.used();
        for (mine, theirs) in self.counts[used.clone()].iter_mut().zip(&other.counts[used]) {
            *mine = mine.saturating_add(*theirs);
        }
        self.add_totals(other.count, other.sum_ns, other.min, other.max);
        if let Some((first, last)) = other.stray {
            self.reach(first, last);
        }
    }

    /// Adds all values of a stored histogram. Buckets beyond the range are ignored (hostile file).
    pub fn merge_sparse(&mut self, other: &Sparse) {
        let (mut index, mut first, mut last, mut count) = (0usize, None, 0, 0u64);
        for (gap, n) in &other.buckets {
            index = index.saturating_add(gap as usize);
            let Some(slot) = self.counts.get_mut(index) else { break };
            *slot = slot.saturating_add(n);
            count = count.saturating_add(n);
            first.get_or_insert(index);
            last = index;
        }
        if let (1.., Some(first)) = (count, first) {
            self.add_totals(count, other.sum_ns, other.min_ns, other.max_ns);
            self.reach(first, last);
        }
    }

    /// Keeps what is beyond the buckets of `min` and `max`.
    fn reach(&mut self, first: usize, last: usize) {
        let inner = (bucket(self.min), bucket(self.max));
        if first < inner.0 || last > inner.1 {
            let (from, to) = self.stray.unwrap_or((first, last));
            self.stray = Some((from.min(first), to.max(last)));
        }
    }

    /// The buckets outside which all are empty.
    fn used(&self) -> std::ops::Range<usize> {
        if self.count == 0 {
            return 0..0;
        }
        let (first, last) = self.stray.unwrap_or((BUCKETS, 0));
        let last = last.max(bucket(self.max));
        bucket(self.min).min(first).min(last)..last + 1
    }

    fn add_totals(&mut self, count: u64, sum_ns: u128, min: u64, max: u64) {
        self.count = self.count.saturating_add(count);
        self.sum_ns = self.sum_ns.saturating_add(sum_ns);
        self.min = self.min.min(min);
        self.max = self.max.max(max);
    }

    /// The non-empty buckets.
    pub fn sparse(&self) -> Sparse {
        let mut last = 0;
        let mut buckets = Buckets::default();
        for (index, n) in self.filled() {
            buckets.push((index - last) as u32, n);
            last = index;
        }
        buckets.shrink_to_fit();
        Sparse { buckets, sum_ns: self.sum_ns, min_ns: self.min, max_ns: self.max }
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        let used = self.used();
        self.counts[used].fill(0);
        (self.count, self.sum_ns, self.min, self.max, self.stray) = (0, 0, u64::MAX, 0, None);
    }

    /// Number of recorded values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Exact mean; `None` if empty.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// Exact sum of all values, ns.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Exact smallest value; `None` if empty.
    pub fn min(&self) -> Option<Nanos> {
        (self.count > 0).then_some(Nanos(self.min))
    }

    /// Exact largest value; `None` if empty.
    pub fn max(&self) -> Option<Nanos> {
        (self.count > 0).then_some(Nanos(self.max))
    }

    /// Latency below or at which the share `q` of all recorded I/Os completed (nearest rank).
    ///
    /// Upper edge of the bucket, never above the exact maximum: not below the true value, at most
    /// 1/128 above. `None` if empty.
    pub fn quantile(&self, q: Share) -> Option<Nanos> {
        let rank = (q.0.clamp(0.0, 1.0) * self.count as f64).ceil() as u64;
        self.at_rank(rank.max(1))
    }

    /// The value of the given rank, 1 to `count()`, with the error bound of [`quantile`](Self::quantile).
    pub fn at_rank(&self, rank: u64) -> Option<Nanos> {
        if rank == 0 || rank > self.count {
            return None;
        }
        let (used, mut seen) = (self.used(), 0u64);
        let mut from = used.start;
        // Many at once up to the place, in a seventh of the time of looking at each (an import of histograms spent 7.6 % here, now
        // 1.0 %). Counts that do not fit into their sum
        // (hostile file) are looked at one by one.
        while self.count < u64::MAX && from + STRIDE <= used.end {
            let sum: u64 = self.counts[from..from + STRIDE].iter().sum();
            if seen + sum >= rank {
                break;
            }
            (seen, from) = (seen + sum, from + STRIDE);
        }
        (from..used.end).find_map(|index| {
            seen = seen.saturating_add(self.counts[index]);
            (seen >= rank).then(|| Nanos(upper_edge(index).min(self.max)))
        })
    }

    /// Non-empty buckets as (lower edge, upper edge, count), ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (Nanos, Nanos, u64)> + '_ {
        self.filled().map(|(index, n)| (Nanos(lower_edge(index)), Nanos(upper_edge(index)), n))
    }

    /// Index and count of every bucket that is not empty, ascending.
    fn filled(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.used().map(|index| (index, self.counts[index])).filter(|(_, n)| *n > 0)
    }
}

impl Sparse {
    /// Number of values.
    pub fn count(&self) -> u64 {
        self.buckets.iter().fold(0, |sum, (_, n)| sum.saturating_add(n))
    }

    /// As a full histogram.
    pub fn dense(&self) -> Histogram {
        let mut histogram = Histogram::new();
        histogram.merge_sparse(self);
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_bucket_ends_at_the_largest_integer() {
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert_eq!(upper_edge(BUCKETS - 1), u64::MAX);
    }

    #[test]
    fn an_empty_histogram_has_no_quantile() {
        assert_eq!(Histogram::new().quantile(Share(0.5)), None);
        assert_eq!(Histogram::new().sparse().dense(), Histogram::new());
    }

    #[test]
    fn one_value_many_times_is_that_value_each_time() {
        let (mut once, mut each) = (Histogram::new(), Histogram::new());
        once.record_many(Nanos(70_000), 3);
        once.record_many(Nanos(9), 0);
        (0..3).for_each(|_| each.record(Nanos(70_000)));
        assert_eq!(once, each);
    }

    #[test]
    fn a_stall_of_ten_hours_keeps_its_maximum() {
        let mut h = Histogram::new();
        h.record(Nanos::secs(36_000));
        assert_eq!(h.quantile(Share(0.999)), Some(Nanos::secs(36_000)));
    }

    #[test]
    fn a_hostile_sparse_histogram_is_cut_not_a_panic() {
        let hostile = Sparse {
            buckets: vec![(u32::MAX, 1), (u32::MAX, u64::MAX)].into(),
            sum_ns: u128::MAX,
            min_ns: 9,
            max_ns: 1,
        };
        assert_eq!(hostile.dense().count(), 0);
    }

    #[test]
    fn counts_beyond_the_told_minimum_and_maximum_are_found_and_forgotten() {
        let (low, high) = (bucket(1_000), bucket(9_000_000));
        let lying = Sparse {
            buckets: vec![(low as u32, 3), ((high - low) as u32, 4)].into(),
            sum_ns: 7,
            min_ns: 50_000,
            max_ns: 60_000,
        };
        let mut found = lying.dense();
        assert_eq!(found.sparse().buckets, lying.buckets);
        assert_eq!((found.at_rank(7).is_some(), found.buckets().count()), (true, 2));
        let mut sum = Histogram::new();
        sum.record(Nanos(55_000));
        sum.merge(&found);
        assert_eq!((sum.buckets().map(|(_, _, n)| n).sum::<u64>(), sum.count()), (8, 8));
        found.clear();
        assert_eq!(found, Histogram::new());
        // A maximum below the minimum, and counts that do not fit.
        let mut hostile =
            Sparse { buckets: vec![(5, u64::MAX), (5, u64::MAX)].into(), sum_ns: u128::MAX, min_ns: 9, max_ns: 1 }
                .dense();
        let twice = hostile.clone();
        hostile.merge(&twice);
        assert_eq!((hostile.count(), hostile.buckets().count()), (u64::MAX, 2));
        hostile.clear();
        assert_eq!(hostile, Histogram::new());
    }

    proptest! {
        #[test]
        fn every_value_lies_in_its_bucket_and_the_edge_is_at_most_one_128th_above(v in any::<u64>(), s in 0u32..64) {
            let value = v >> s;
            let b = bucket(value);
            prop_assert!(lower_edge(b) <= value && value <= upper_edge(b));
            prop_assert!((upper_edge(b) - value) as f64 <= value as f64 / 128.0);
        }

        #[test]
        fn merging_parts_equals_recording_the_whole(values in prop::collection::vec(0u64..1 << 40, 0..200), cut in 0usize..200) {
            let (mut whole, mut a, mut b) = (Histogram::new(), Histogram::new(), Histogram::new());
            for (i, &v) in values.iter().enumerate() {
                whole.record(Nanos(v));
                if i < cut { a.record(Nanos(v)) } else { b.record(Nanos(v)) }
            }
            let mut merged = a.clone();
            merged.merge_sparse(&b.sparse());
            a.merge(&b);
            prop_assert_eq!(&a, &whole);
            prop_assert_eq!(&merged, &whole);
        }

        #[test]
        fn every_rank_is_where_counting_one_by_one_finds_it(values in prop::collection::vec(0u64..1 << 18, 1..200), rank in 1u64..250) {
            let mut h = Histogram::new();
            values.iter().for_each(|v| h.record(Nanos(*v)));
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let expected = sorted.get(rank as usize - 1).map(|v| Nanos(upper_edge(bucket(*v)).min(h.max)));
            prop_assert_eq!(h.at_rank(rank), expected);
        }

        #[test]
        fn quantiles_agree_with_hdrhistogram(values in prop::collection::vec(1u64..1 << 40, 1..300), q in 0.0f64..1.0) {
            let mut ours = Histogram::new();
            let mut peer = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1 << 42, 5).unwrap();
            for &v in &values {
                ours.record(Nanos(v));
                peer.record(v).unwrap();
            }
            let (a, b) = (ours.quantile(Share(q)).unwrap().0 as f64, peer.value_at_quantile(q) as f64);
            prop_assert!((a - b).abs() <= b / 128.0 + 1.0, "{} against {}", a, b);
        }
    }
}
