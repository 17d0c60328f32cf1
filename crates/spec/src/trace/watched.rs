//! What the original had in flight: I/Os from their arrival to their completion. Must not know any format.
//!
//! What completes is a request, and a request is what became of I/Os on their way down: several that were merged, or a part of
//! one that was split. So what completes is taken range by range from the I/Os that are in flight there, and an I/O ended when
//! nothing of it is left.

use super::OriginalDepth;
use std::collections::{BTreeMap, HashMap};
use stend_base::Nanos;

/// I/Os that are looked after until they complete. A trace with more in flight has no completions.
const WATCHED_MAX: usize = 1 << 20;
/// So many I/Os with the same offset are examined, the newest first. By eye: more than a program has in flight
/// at one place; it bounds the time that a hostile trace takes.
const LOOKED_AT: usize = 8;
/// What a trace says is believed if so many percent of its I/Os completed in it. The rest were in flight when it ended, or
/// their completions were lost.
const COMPLETED_LEAST: u64 = 95;

/// See the module.
#[derive(Default)]
pub(super) struct Watched {
    /// Parts of I/Os that did not complete yet: (device, begin, number of the I/O) to end.
    parts: BTreeMap<(usize, u64, u64), u64>,
    /// I/Os by their number: arrival and bytes that are left.
    pending: HashMap<u64, (Nanos, u64)>,
    arrived: u64,
    depth: Option<OriginalDepth>,
}

impl Watched {
    /// Notes an I/O of more than no bytes; `false` if nothing ever completes.
    pub fn arrived(&mut self, device: usize, at: Nanos, offset: u64, len: u64) -> bool {
        self.arrived += 1;
        self.parts.insert((device, offset, self.arrived), offset + len);
        self.pending.insert(self.arrived, (at, len));
        let now = self.pending.len() as u64;
        if let Some(depth) = &mut self.depth {
            depth.most = depth.most.max(now);
        }
        self.pending.len() < WATCHED_MAX
    }

    /// Notes that a range has completed. Takes time by what it ends, not by what is in flight.
    pub fn completed(&mut self, device: usize, at: Nanos, offset: u64, end: u64) {
        let mut from = offset;
        while from < end {
            let Some(key) = self.part_at(device, from, end) else {
                // Nothing is in flight here: on to what begins next.
                match self.parts.range((device, from, 0)..(device, end, 0)).next() {
                    Some((&(_, begin, _), _)) => from = begin,
                    None => return,
                }
                continue;
            };
            from = self.take(key, from, end, at);
        }
    }

    /// The part of an I/O that completes at a byte: one that begins there, if possible one that ends with the range, too, and the
    /// newest of those, because an old one may have lost its completion; else the last that begins before.
    fn part_at(&self, device: usize, from: u64, end: u64) -> Option<(usize, u64, u64)> {
        let here = || self.parts.range((device, from, 0)..=(device, from, u64::MAX)).rev();
        let whole = here().take(LOOKED_AT).find(|(_, part_end)| **part_end <= end);
        if let Some((key, _)) = whole.or_else(|| here().next()) {
            return Some(*key);
        }
        let before = self.parts.range((device, 0, 0)..(device, from, 0)).next_back();
        before.filter(|(_, part_end)| **part_end > from).map(|(key, _)| *key)
    }

    /// Takes what lies in a range out of a part; returns where the range goes on behind it.
    fn take(&mut self, key: (usize, u64, u64), from: u64, end: u64, at: Nanos) -> u64 {
        let (device, begin, number) = key;
        let Some(part_end) = self.parts.remove(&key) else { return end };
        let to = part_end.min(end);
        if begin < from {
            self.parts.insert(key, from);
        }
        if to < part_end {
            self.parts.insert((device, to, number), part_end);
        }
        let most = self.pending.len() as u64;
        let depth = self.depth.get_or_insert(OriginalDepth { completed: 0, in_flight_sum_ns: 0, most });
        if let Some((arrived, left)) = self.pending.get_mut(&number) {
            *left = left.saturating_sub(to - from);
            if *left == 0 {
                depth.completed += 1;
                depth.in_flight_sum_ns = depth.in_flight_sum_ns.saturating_add(at.saturating_sub(*arrived).0);
                self.pending.remove(&number);
            }
        }
        to
    }

    /// What is known at the end; `None` if too few of the I/Os completed to know it.
    pub fn depth(self) -> Option<OriginalDepth> {
        let believed = |depth: &OriginalDepth| depth.completed * 100 >= self.arrived * COMPLETED_LEAST;
        self.depth.filter(believed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is known after these: `(at, offset, len)` of arrivals, and of completions with `true` in front.
    fn depth(events: &[(bool, u64, u64, u64)]) -> Option<(u64, u64, u64)> {
        let mut watched = Watched::default();
        for &(completes, at, offset, len) in events {
            match completes {
                true => watched.completed(0, Nanos(at), offset, offset + len),
                false => assert!(watched.arrived(0, Nanos(at), offset, len)),
            }
        }
        watched.depth().map(|depth| (depth.completed, depth.in_flight_sum_ns, depth.most))
    }

    const IN: bool = false;
    const OUT: bool = true;

    #[test]
    fn an_io_that_was_split_ends_with_its_last_part_in_whatever_order_they_end() {
        assert_eq!(depth(&[(IN, 0, 100, 30), (OUT, 5, 100, 10), (OUT, 9, 110, 20)]), Some((1, 9, 1)));
        assert_eq!(
            depth(&[(IN, 0, 100, 30), (OUT, 5, 110, 10), (OUT, 6, 120, 10), (OUT, 9, 100, 10)]),
            Some((1, 9, 1))
        );
        assert_eq!(depth(&[(IN, 0, 100, 30), (OUT, 5, 100, 20)]), None, "its last part never came");
    }

    #[test]
    fn ios_that_were_merged_end_together_and_a_request_may_end_within_one() {
        assert_eq!(depth(&[(IN, 0, 100, 10), (IN, 2, 110, 10), (OUT, 9, 100, 20)]), Some((2, 16, 2)));
        let across = [(IN, 0, 100, 10), (IN, 0, 110, 10), (OUT, 4, 100, 15), (OUT, 9, 115, 5)];
        assert_eq!(depth(&across), Some((2, 13, 2)));
        // A request that began before the trace did, and one that has a hole.
        assert_eq!(depth(&[(IN, 0, 100, 10), (OUT, 3, 50, 60)]), Some((1, 3, 1)));
        assert_eq!(depth(&[(IN, 0, 100, 10), (IN, 0, 140, 10), (OUT, 3, 100, 50)]), Some((2, 6, 2)));
    }

    #[test]
    fn two_at_one_place_end_one_by_one_and_a_lost_completion_does_not_count_forever() {
        assert_eq!(depth(&[(IN, 0, 0, 8), (IN, 2, 0, 8), (OUT, 5, 0, 8), (OUT, 9, 0, 8)]), Some((2, 12, 2)));
        assert_eq!(depth(&[(IN, 0, 0, 8), (IN, 2, 0, 32), (OUT, 5, 0, 8), (OUT, 9, 0, 32)]), Some((2, 12, 2)));
        let mut lost = vec![(IN, 0, 0, 8)];
        lost.extend((1..=40).flat_map(|n| [(IN, n * 1000, 0, 8), (OUT, n * 1000 + 1, 0, 8)]));
        assert_eq!(depth(&lost), Some((40, 40, 2)));
    }

    #[test]
    fn what_completes_for_less_than_95_percent_is_not_believed() {
        let with = |lost: u64| {
            let ended = (0..95).flat_map(|n| [(IN, n, n * 8, 8), (OUT, n + 1, n * 8, 8)]);
            depth(&ended.chain((0..lost).map(|n| (IN, 100, 10_000 + n * 8, 8))).collect::<Vec<_>>())
        };
        assert_eq!((with(5).map(|depth| depth.0), with(6)), (Some(95), None));
    }

    #[test]
    fn a_trace_without_completions_is_not_watched_for_ever() {
        let mut watched = Watched::default();
        let kept = (0..2 * WATCHED_MAX as u64).take_while(|n| watched.arrived(0, Nanos(*n), n * 8, 8)).count();
        assert_eq!(kept, WATCHED_MAX - 1);
        assert_eq!(watched.depth(), None);
    }

    #[test]
    fn what_completes_takes_time_by_what_it_ends_not_by_what_is_in_flight() {
        let (mut watched, count) = (Watched::default(), 100_000);
        (0..count).for_each(|n| assert!(watched.arrived(0, Nanos(0), n, 2 * count)));
        // Each ends a part of one I/O. A look at all that are in flight there takes 10^10 steps.
        (0..count).for_each(|_| watched.completed(0, Nanos(1), 0, count));
        assert_eq!((watched.pending.len() as u64, watched.depth.map(|depth| depth.completed)), (count, Some(0)));
    }

    fn event() -> impl Strategy<Value = (bool, u64, u64, u64)> {
        (prop::bool::ANY, 0u64..100, 0u64..40, 1u64..20)
    }

    proptest! {
        #[test]
        fn what_is_in_flight_is_never_negative_and_every_io_ends_once(events in prop::collection::vec(event(), 0..60)) {
            let mut watched = Watched::default();
            for (completes, at, offset, len) in events {
                match completes {
                    true => watched.completed(0, Nanos(at), offset, offset + len),
                    false => prop_assert!(watched.arrived(0, Nanos(at), offset, len)),
                }
                let left: u64 = watched.pending.values().map(|(_, left)| left).sum();
                let parts: u64 = watched.parts.iter().map(|((_, begin, _), end)| end - begin).sum();
                prop_assert_eq!(left, parts);
            }
            let ended = watched.depth.map_or(0, |depth| depth.completed);
            prop_assert_eq!(ended + watched.pending.len() as u64, watched.arrived);
        }
    }
}
