//! Every block exactly once in an order that looks random, without a bitmap.

use crate::random::mix;

/// A permutation of `0..n` that computes any element on its own: a four-round Feistel network on the
/// next even number of bits, walked until the result is inside (fewer than four steps on average).
#[derive(Debug, Clone, Copy)]
pub struct Permutation {
    n: u64,
    half_bits: u32,
    mask: u64,
    keys: [u64; 4],
}

impl Permutation {
    /// The permutation of `0..n` chosen by `seed`. `n` must be at least 1.
    pub fn new(n: u64, seed: u64) -> Permutation {
        assert!(n >= 1, "a permutation needs at least one element");
        let bits = (64 - (n - 1).leading_zeros()).max(2);
        let half_bits = bits.div_ceil(2);
        let mut key = seed;
        let keys = std::array::from_fn(|_| {
            key = mix(key);
            key
        });
        Permutation { n, half_bits, mask: (1u64 << half_bits) - 1, keys }
    }

    /// Number of elements.
    pub fn len(&self) -> u64 {
        self.n
    }

    /// Never: there is at least one element.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The element at `index`, which must be below [`len`](Self::len).
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.n);
        let mut x = index;
        loop {
            x = self.round_trip(x);
            if x < self.n {
                return x;
            }
        }
    }

    #[inline(always)]
    fn round_trip(&self, x: u64) -> u64 {
        let (mut left, mut right) = (x >> self.half_bits, x & self.mask);
        for key in self.keys {
            let next = left ^ (mix(right ^ key) & self.mask);
            (left, right) = (right, next);
        }
        (left << self.half_bits) | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_block_comes_exactly_once(n in 1u64..5000, seed in any::<u64>()) {
            let p = Permutation::new(n, seed);
            let mut seen = vec![false; n as usize];
            for i in 0..n {
                let x = p.at(i) as usize;
                prop_assert!(!seen[x], "block {} twice", x);
                seen[x] = true;
            }
        }
    }

    #[test]
    fn the_largest_region_stays_inside() {
        let n = (1u64 << 62) + 12345;
        let p = Permutation::new(n, 3);
        assert!((0..1000).all(|i| p.at(i) < n));
    }

    #[test]
    fn neighbours_are_scattered() {
        let p = Permutation::new(100_000, 9);
        let near = (1..100_000).filter(|&i| p.at(i).abs_diff(p.at(i - 1)) < 100).count();
        // Expected by chance: 100,000 x 200 / 100,000 = 200.
        assert!((100..300).contains(&near), "{near} near neighbours");
    }
}
