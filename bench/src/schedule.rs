//! Who runs when: contenders take turns, so that a drift of the machine hits all of them.

/// A block: each contender once and then the mirror; who is first changes from block to block.
pub fn mirrored<T: Copy>(contenders: &[T], block: usize) -> Vec<T> {
    let mut order = contenders.to_vec();
    order.rotate_left(block % contenders.len().max(1));
    let mirror: Vec<T> = order.iter().rev().copied().collect();
    [order, mirror].concat()
}

/// A round: each contender once, in reverse every other time.
pub fn alternating(contenders: usize, round: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..contenders).collect();
    if !round.is_multiple_of(2) {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_mirrored_and_take_turns_in_who_is_first() {
        assert_eq!(mirrored(&["s", "f"], 0), ["s", "f", "f", "s"]);
        assert_eq!(mirrored(&["s", "f"], 1), ["f", "s", "s", "f"]);
        assert_eq!(mirrored(&["s", "f", "a"], 2), ["a", "s", "f", "f", "s", "a"]);
    }

    #[test]
    fn rounds_alternate() {
        assert_eq!((alternating(3, 0), alternating(3, 1)), (vec![0, 1, 2], vec![2, 1, 0]));
    }
}
