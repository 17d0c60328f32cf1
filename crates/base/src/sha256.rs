//! SHA-256 (FIPS 180-4), to say which file something was read from: the same sum as `sha256sum` prints. Nothing here
//! keeps a secret, so that it need not take the same time for all inputs.

/// Bytes of one block.
const BLOCK: usize = 64;

/// A sum in the making.
#[derive(Debug, Clone)]
pub struct Sha256 {
    state: [u32; 8],
    /// The block that is not full yet, and how full it is.
    block: [u8; BLOCK],
    filled: usize,
    /// Bytes so far.
    length: u64,
}

/// First 32 bits of the fractional parts of the square roots of the first eight primes (FIPS 180-4, 5.3.3).
const START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// First 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2), computed here:
/// a table could have a wrong digit, arithmetic could not have only one.
const ROUND: [u32; 64] = round_constants();

const fn round_constants() -> [u32; 64] {
    let (mut constants, mut found, mut candidate) = ([0; 64], 0, 2u64);
    while found < 64 {
        if is_prime(candidate) {
            constants[found] = cube_root_fraction(candidate);
            found += 1;
        }
        candidate += 1;
    }
    constants
}

const fn is_prime(number: u64) -> bool {
    let mut divisor = 2;
    while divisor * divisor <= number {
        if number.is_multiple_of(divisor) {
            return false;
        }
        divisor += 1;
    }
    true
}

/// The cube root times 2^32, rounded down, without its whole part: the largest r with r^3 <= n 2^96, bit by bit.
const fn cube_root_fraction(number: u64) -> u32 {
    // The 64th prime is 311, its root below 7: 35 bits, the cube of which needs 105.
    let (mut root, mut bit) = (0u128, 1u128 << 34);
    while bit > 0 {
        let larger = root | bit;
        if larger * larger * larger <= (number as u128) << 96 {
            root = larger;
        }
        bit >>= 1;
    }
    root as u32
}

impl Default for Sha256 {
    fn default() -> Sha256 {
        Sha256 { state: START, block: [0; BLOCK], filled: 0, length: 0 }
    }
}

impl Sha256 {
    /// Adds bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        self.length = self.length.wrapping_add(bytes.len() as u64);
        while !bytes.is_empty() {
            let taken = bytes.len().min(BLOCK - self.filled);
            self.block[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
            self.filled += taken;
            bytes = &bytes[taken..];
            if self.filled == BLOCK {
                compress(&mut self.state, &self.block);
                self.filled = 0;
            }
        }
    }

    /// The sum of everything added, as 64 hexadecimal digits.
    pub fn hex(mut self) -> String {
        let bits = self.length.wrapping_mul(8);
        self.update(&[0x80]);
        while self.filled != BLOCK - 8 {
            self.update(&[0]);
        }
        self.update(&bits.to_be_bytes());
        self.state.iter().map(|word| format!("{word:08x}")).collect()
    }
}

/// FIPS 180-4, 6.2.2.
fn compress(state: &mut [u32; 8], block: &[u8; BLOCK]) {
    let mut words = [0u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
    }
    for t in 16..64 {
        let (early, late) = (words[t - 15], words[t - 2]);
        let small_0 = early.rotate_right(7) ^ early.rotate_right(18) ^ early >> 3;
        let small_1 = late.rotate_right(17) ^ late.rotate_right(19) ^ late >> 10;
        words[t] = words[t - 16].wrapping_add(small_0).wrapping_add(words[t - 7]).wrapping_add(small_1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, constant) in words.iter().zip(ROUND) {
        let large_1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = e & f ^ !e & g;
        let first = h.wrapping_add(large_1).wrapping_add(choice).wrapping_add(constant).wrapping_add(*word);
        let large_0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = a & b ^ a & c ^ b & c;
        let second = large_0.wrapping_add(majority);
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
    }
    for (sum, word) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *sum = sum.wrapping_add(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(pieces: &[&[u8]]) -> String {
        let mut sum = Sha256::default();
        pieces.iter().for_each(|piece| sum.update(piece));
        sum.hex()
    }

    /// Sources: FIPS 180-2, B.1 to B.3, and `sha256sum` of coreutils.
    #[test]
    fn sums_are_those_of_the_standard_and_of_sha256sum() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((sum(&[b"abc"]), sum(&[b"a", b"", b"bc"])), (abc.into(), abc.into()));
        assert_eq!(sum(&[]), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        let two_blocks: &[u8] = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(sum(&[two_blocks]), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        let million = vec![b'a'; 1000];
        let million: Vec<&[u8]> = (0..1000).map(|_| million.as_slice()).collect();
        assert_eq!(sum(&million), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }

    #[test]
    fn pieces_of_any_length_have_the_sum_of_the_whole() {
        let bytes: Vec<u8> = (0..300u32).map(|i| (i * 7) as u8).collect();
        let whole = sum(&[&bytes]);
        for cut in [1, 55, 56, 63, 64, 65, 128, 299] {
            assert_eq!(sum(&[&bytes[..cut], &bytes[cut..]]), whole, "{cut}");
        }
    }
}
