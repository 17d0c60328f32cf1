//! Which CPU each load thread runs on. Pure; must not look at the machine.

use std::collections::BTreeMap;

/// CPUs for `threads` load threads, taken in turn from `allowed`: first those of `interrupts`, which take the completions
/// of the target, so that a thread finds them in its own cache (reads of a disk with one queue by a prototype: 1.40 times
/// fio's I/Os per CPU time there, 0.80 times on the other of two CPUs). With more than two CPUs the first of the others is
/// left to control and telemetry, so that they do not run in the gaps of a load thread. Empty if no CPU is known: threads
/// then run where the scheduler puts them.
pub(crate) fn place(allowed: &[u32], interrupts: &[u32], threads: usize) -> Vec<u32> {
    let near = allowed.iter().filter(|cpu| interrupts.contains(cpu));
    let far: Vec<&u32> = allowed.iter().filter(|cpu| !interrupts.contains(cpu)).collect();
    let spare = usize::from(allowed.len() > 2 && !far.is_empty());
    let usable: Vec<u32> = near.chain(far.into_iter().skip(spare)).copied().collect();
    let threads = if usable.is_empty() { 0 } else { threads };
    usable.into_iter().cycle().take(threads).collect()
}

/// CPUs for the threads of several streams: (how many, the CPUs that the stream names). Those that name none are
/// placed as if they were alone.
pub(crate) fn place_streams(allowed: &[u32], interrupts: &[u32], threads: &[(usize, &[u32])]) -> Vec<Option<u32>> {
    let free = threads.iter().filter(|(_, named)| named.is_empty()).map(|(count, _)| count).sum();
    let mut free = place(allowed, interrupts, free).into_iter();
    // Named CPUs are shared out evenly, whichever lists they stand in: first the one with the fewest threads.
    let mut taken: BTreeMap<u32, usize> = BTreeMap::new();
    let mut least = |named: &[u32]| {
        let cpu = named.iter().copied().min_by_key(|cpu| taken.get(cpu).copied().unwrap_or(0))?;
        *taken.entry(cpu).or_default() += 1;
        Some(cpu)
    };
    let each = threads.iter().flat_map(|&(count, named)| std::iter::repeat_n(named, count));
    each.map(|named| if named.is_empty() { free.next() } else { least(named) }).collect()
}

#[cfg(test)]
mod tests {
    use super::{place, place_streams};

    #[test]
    fn the_first_cpu_is_left_to_control_where_there_are_more_than_two() {
        assert_eq!(place(&[0, 1, 2, 3], &[], 5), [1, 2, 3, 1, 2]);
        assert_eq!(place(&[4, 6], &[], 3), [4, 6, 4]);
        assert_eq!(place(&[3], &[], 2), [3, 3]);
        assert!(place(&[], &[], 2).is_empty());
    }

    #[test]
    fn threads_go_where_completions_arrive_first() {
        assert_eq!(place(&[0, 1], &[1], 3), [1, 0, 1]);
        assert_eq!(place(&[0, 1, 2, 3], &[0], 3), [0, 2, 3]);
        assert_eq!(place(&[0, 1, 2, 3], &[0, 1, 2, 3], 5), [0, 1, 2, 3, 0]);
        assert_eq!(place(&[2, 3], &[7], 1), [2], "not where it may not run");
    }

    #[test]
    fn streams_that_name_cpus_get_them_and_the_others_the_rest_in_turn() {
        let named = [5, 6];
        let found = place_streams(&[0, 1, 2], &[], &[(2, &[]), (3, &named), (1, &[])]);
        assert_eq!(found, [1, 2, 5, 6, 5, 1].map(Some));
        assert_eq!(place_streams(&[], &[], &[(1, &[]), (1, &named)]), [None, Some(5)]);
        let apart = place_streams(&[0, 1, 2], &[], &[(1, &named), (1, &[]), (1, &named)]);
        assert_eq!(apart, [5, 1, 6].map(Some), "each of them has one of the two");
        let wider = place_streams(&[], &[], &[(1, &[5]), (3, &[5, 6, 7])]);
        assert_eq!(wider, [5, 6, 7, 5].map(Some), "another list with the same CPU goes on where there is room");
    }
}
