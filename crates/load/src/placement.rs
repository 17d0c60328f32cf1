//! Which CPU each load thread is kept on. Pure; must not look at the machine.

use std::collections::BTreeMap;

/// The CPU of each thread, for (how many threads, the CPUs that their stream names) one after the other; `None` where a stream names
/// none: the scheduler then decides, as it does for fio and for applications, so that what is measured is what these get.
///
/// Named CPUs are shared out evenly, whichever lists they stand in: first the one with the fewest threads.
pub(crate) fn place(threads: &[(usize, &[u32])]) -> Vec<Option<u32>> {
    let mut taken: BTreeMap<u32, usize> = BTreeMap::new();
    let mut least = |named: &[u32]| {
        let cpu = named.iter().copied().min_by_key(|cpu| taken.get(cpu).copied().unwrap_or(0))?;
        *taken.entry(cpu).or_default() += 1;
        Some(cpu)
    };
    let each = threads.iter().flat_map(|&(count, named)| std::iter::repeat_n(named, count));
    each.map(&mut least).collect()
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn the_scheduler_places_threads_whose_stream_names_no_cpu() {
        assert_eq!(place(&[(2, &[])]), [None, None]);
        assert!(place(&[]).is_empty());
    }

    #[test]
    fn streams_that_name_cpus_get_them_in_turn() {
        let named = [5, 6];
        assert_eq!(place(&[(2, &[]), (3, &named), (1, &[])]), [None, None, Some(5), Some(6), Some(5), None]);
        let apart = place(&[(1, &named), (1, &[]), (1, &named)]);
        assert_eq!(apart, [Some(5), None, Some(6)], "each of them has one of the two");
        let wider = place(&[(1, &[5]), (3, &[5, 6, 7])]);
        assert_eq!(wider, [5, 6, 7, 5].map(Some), "another list with the same CPU goes on where there is room");
    }
}
