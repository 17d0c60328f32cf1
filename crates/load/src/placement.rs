//! Which CPU each load thread runs on. Pure; must not look at the machine.

/// CPUs for `threads` load threads, taken in turn from `allowed`. With more than two CPUs the first is
/// left to control and telemetry, so that they do not run in the gaps of a load thread. Empty if no CPU
/// is known: threads then run where the scheduler puts them.
pub(crate) fn place(allowed: &[u32], threads: usize) -> Vec<u32> {
    let usable = if allowed.len() > 2 { &allowed[1..] } else { allowed };
    usable.iter().copied().cycle().take(if usable.is_empty() { 0 } else { threads }).collect()
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn the_first_cpu_is_left_to_control_where_there_are_more_than_two() {
        assert_eq!(place(&[0, 1, 2, 3], 5), [1, 2, 3, 1, 2]);
        assert_eq!(place(&[4, 6], 3), [4, 6, 4]);
        assert_eq!(place(&[3], 2), [3, 3]);
        assert!(place(&[], 2).is_empty());
    }
}
