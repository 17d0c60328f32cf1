//! Seeded randomness: a small fast generator, and stateless draws by index for the load engine.

/// SplitMix64 (Steele, Lea, Flood 2014): a 64-bit mix with full avalanche; also seeds [`Random`].
#[inline(always)]
pub fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A draw that depends only on (seed, index): threads can share a sequence without sharing state.
#[inline(always)]
pub fn draw(seed: u64, index: u64) -> u64 {
    mix(seed ^ mix(index))
}

/// Maps a 64-bit draw to `0..n` by multiply-high; bias below 2^-32 for any n under 2^32.
#[inline(always)]
pub fn below(draw: u64, n: u64) -> u64 {
    ((u128::from(draw) * u128::from(n)) >> 64) as u64
}

/// log2 of the intervals that [`LOG2`] cuts an octave into.
const LOG_BITS: u32 = 10;
/// log2(1 + i / 2^[`LOG_BITS`]) in units of 2^-32.
static LOG2: [u64; (1 << LOG_BITS) + 1] = log2_table();

/// Made bit by bit by squaring, in integers, so that every machine has the same.
const fn log2_table() -> [u64; (1 << LOG_BITS) + 1] {
    let mut table = [0; (1 << LOG_BITS) + 1];
    let mut i = 0;
    while i < 1 << LOG_BITS {
        // 1 + i / 2^LOG_BITS with 62 fractional bits.
        let mut x = ((1 << LOG_BITS) + i as u64) << (62 - LOG_BITS);
        let mut bit = 0;
        while bit < 32 {
            let square = ((x as u128 * x as u128) >> 62) as u64;
            let carry = square >> 63;
            (x, table[i]) = (square >> carry, table[i] << 1 | carry);
            bit += 1;
        }
        i += 1;
    }
    table[1 << LOG_BITS] = 1 << 32;
    table
}

/// Maps a 64-bit draw to an exponential distribution with mean 1: a fixed-point number of `fraction` bits
/// (at most 32), at least 0 and below 45. In integers, so that every machine has the same; the straight lines
/// between the entries of the table are at most 2·10^-7 off.
#[inline]
pub fn exponential(draw: u64, fraction: u32) -> u64 {
    // −ln u = ln 2 · −log2 u, u = (draw + 1/2) / 2^64.
    let u = draw | 1;
    let zeros = u.leading_zeros();
    // Without the leading bit: the fraction of the octave, 64 bits.
    let mantissa = (u << zeros) << 1;
    let (index, rest) = ((mantissa >> (64 - LOG_BITS)) as usize, mantissa << LOG_BITS);
    let (low, high) = (LOG2[index], LOG2[index + 1]);
    let log = low + ((u128::from(high - low) * u128::from(rest)) >> 64) as u64;
    let bits = (u64::from(zeros + 1) << 32) - log;
    // ln 2 in units of 2^-32.
    const LN2: u64 = 2_977_044_472;
    ((u128::from(bits) * u128::from(LN2)) >> (64 - fraction)) as u64
}

/// xoshiro256** (Blackman, Vigna 2018).
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// A generator whose whole sequence follows from `seed`.
    pub fn new(seed: u64) -> Random {
        let mut z = seed;
        let state = std::array::from_fn(|_| {
            z = mix(z);
            z
        });
        Random { state }
    }

    /// The next 64 bits.
    #[inline(always)]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A whole number in `0..n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        below(self.next_u64(), n)
    }

    /// Uniform in `[0, 1)`, 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Fills `out` with bytes that no compressor shrinks.
    pub fn fill(&mut self, out: &mut [u8]) {
        let mut chunks = out.chunks_exact_mut(8);
        for chunk in &mut chunks {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes());
        }
        let rest = chunks.into_remainder();
        let last = self.next_u64().to_le_bytes();
        rest.copy_from_slice(&last[..rest.len()]);
    }

    /// Fisher–Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_fixed_by_the_seed() {
        let mut a = Random::new(7);
        let mut b = Random::new(7);
        let mut c = Random::new(8);
        let (x, y, z): (Vec<_>, Vec<_>, Vec<_>) = (
            (0..9).map(|_| a.next_u64()).collect(),
            (0..9).map(|_| b.next_u64()).collect(),
            (0..9).map(|_| c.next_u64()).collect(),
        );
        assert_eq!(x, y);
        assert_ne!(x, z);
    }

    #[test]
    fn splitmix_matches_its_published_first_outputs() {
        // Reference: splitmix64.c with seed 1234567.
        let first = mix(1_234_567);
        assert_eq!(first, 6_457_827_717_110_365_317);
    }

    #[test]
    fn exponential_draws_are_minus_the_logarithm() {
        for i in 0..10_000u64 {
            // All octaves, the smallest and the largest draws too.
            let u = draw(3, i) >> (i % 64);
            let exact = -(((u | 1) as f64) / 2f64.powi(64)).ln();
            let found = exponential(u, 32) as f64 / 2f64.powi(32);
            assert!((found - exact).abs() < 3e-7, "{u}: {found} instead of {exact}");
        }
        assert!(exponential(u64::MAX, 20) <= 1);
    }

    #[test]
    fn draws_are_uniform_over_ten_cells() {
        let mut cells = [0u32; 10];
        for i in 0..100_000 {
            cells[below(draw(42, i), 10) as usize] += 1;
        }
        // chi-square, 9 degrees of freedom, p = 0.001: 27.9
        let chi: f64 = cells.iter().map(|&n| (f64::from(n) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 27.9, "chi-square {chi}, cells {cells:?}");
    }
}
