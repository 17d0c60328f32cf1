//! How to recognise data that Stend has written to storage, by their content alone: the contract is in
//! docs/formats/drives.md. Pure; must not know which run wrote them.

/// Bytes of what is recognised by itself.
pub const SECTOR: usize = 512;
/// Bytes that are judged together: a [`StampScope::Block`] speaks for the rest of them.
pub const BLOCK: usize = 4096;
/// Bytes of a stamp.
pub const STAMP: usize = 16;
/// First bytes of every sector of a verified block; the last of them count the versions of that format.
pub const VERIFIED: [u8; 8] = *b"StendV01";

/// Odd multiplier (Stafford's variant 13), so that no two words have the same seal.
const MULTIPLIER: u64 = 0xBF58_476D_1CE4_E5B9;
/// Drawn once. That they differ tells the two kinds of stamps apart.
const SEAL_SECTOR: u64 = 0x71D9_3A4E_C05B_8F26;
const SEAL_BLOCK: u64 = 0x2E86_F11B_97A3_4CD5;

/// What a stamp says is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StampScope {
    /// Its sector.
    Sector,
    /// Its sector and those after it, to the end of the block or to the next stamp.
    Block,
}

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Only zeros, or only ones: erased, or never written.
    Blank,
    /// What Stend writes, in whole or beside blank sectors.
    Ours,
    /// Something else.
    Other,
}

/// The first bytes of what is written: a word of the writer's choice and its seal, both little-endian.
///
/// Other data have the seal of their own first word by chance once in 2^63.
#[inline(always)]
pub fn stamp(word: u64, scope: StampScope) -> [u8; STAMP] {
    (u128::from(seal(word, scope)) << 64 | u128::from(word)).to_le_bytes()
}

#[inline(always)]
fn seal(word: u64, scope: StampScope) -> u64 {
    let key = match scope {
        StampScope::Sector => SEAL_SECTOR,
        StampScope::Block => SEAL_BLOCK,
    };
    (word ^ key).wrapping_mul(MULTIPLIER)
}

/// What a block of at most [`BLOCK`] bytes, read at a multiple of that, holds.
pub fn content(block: &[u8]) -> Content {
    let (mut found, mut vouched) = (Content::Blank, false);
    for sector in block.chunks(SECTOR) {
        if is_blank(sector) {
            continue;
        }
        match stamped(sector) {
            Some(scope) => vouched = scope == StampScope::Block,
            None if vouched => {}
            None => return Content::Other,
        }
        found = Content::Ours;
    }
    found
}

/// What a sector that begins with a mark of ours vouches for.
fn stamped(sector: &[u8]) -> Option<StampScope> {
    if sector.starts_with(&VERIFIED) {
        return Some(StampScope::Sector);
    }
    let stamp: [u8; STAMP] = *sector.first_chunk()?;
    let both = u128::from_le_bytes(stamp);
    let (word, given) = (both as u64, (both >> 64) as u64);
    [StampScope::Sector, StampScope::Block].into_iter().find(|&scope| seal(word, scope) == given)
}

fn is_blank(sector: &[u8]) -> bool {
    let len = sector.len();
    sector == &[0; SECTOR][..len] || sector == &[0xFF; SECTOR][..len]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use proptest::prelude::*;

    fn block(seed: u64) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        Random::new(seed).fill(&mut block);
        block
    }

    fn put(block: &mut [u8], sector: usize, stamp: &[u8]) {
        block[sector * SECTOR..][..stamp.len()].copy_from_slice(stamp);
    }

    #[test]
    fn erased_blocks_are_blank_and_one_bit_is_not() {
        assert_eq!(content(&[0; BLOCK]), Content::Blank);
        assert_eq!(content(&[0xFF; BLOCK]), Content::Blank);
        assert_eq!(content(&[]), Content::Blank);
        for (at, byte) in [(0, 1), (BLOCK - 1, 0x80), (SECTOR, 0xFF)] {
            let mut block = [0; BLOCK];
            block[at] = byte;
            assert_eq!(content(&block), Content::Other, "at {at}");
        }
    }

    #[test]
    fn a_block_is_ours_if_every_sector_says_so() {
        let mut ours = block(1);
        (0..8).for_each(|sector| put(&mut ours, sector, &stamp(sector as u64 * 77, StampScope::Sector)));
        assert_eq!(content(&ours), Content::Ours);
        for sector in 0..8 {
            let mut torn = ours;
            torn[sector * SECTOR..][..SECTOR].fill(0);
            assert_eq!(content(&torn), Content::Ours, "a sector that was not written");
            put(&mut torn, sector, b"somebody else's");
            assert_eq!(content(&torn), Content::Other, "sector {sector}");
            put(&mut torn, sector, &VERIFIED);
            assert_eq!(content(&torn), Content::Ours, "a verified sector");
        }
    }

    #[test]
    fn a_stamp_of_a_block_speaks_for_what_follows_and_for_nothing_before_it() {
        let mut compressible = block(2);
        put(&mut compressible, 0, &stamp(9, StampScope::Block));
        assert_eq!(content(&compressible), Content::Ours);
        let mut late = block(3);
        put(&mut late, 1, &stamp(9, StampScope::Block));
        assert_eq!(content(&late), Content::Other);
        put(&mut compressible, 3, &stamp(9, StampScope::Sector));
        assert_eq!(content(&compressible), Content::Other, "after a stamp of a sector each needs its own");
    }

    #[test]
    fn the_layout_is_that_of_the_document() {
        let text = |scope| stamp(0x0123_4567_89AB_CDEF, scope).map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(text(StampScope::Sector), "efcdab8967452301411062d1d8238c87");
        assert_eq!(text(StampScope::Block), "efcdab8967452301ea4466bff63d6cd2");
    }

    proptest! {
        #[test]
        fn other_peoples_data_are_never_ours(seed in any::<u64>(), text in "[ -~]{512}") {
            prop_assert_eq!(content(&block(seed)), Content::Other);
            prop_assert_eq!(content(text.as_bytes()), Content::Other);
            prop_assume!(seed != 0 && seed != u64::MAX);
            let word = seed.to_le_bytes();
            prop_assert_eq!(content(&[word, word].concat().repeat(32)), Content::Other, "a word that is repeated");
        }
    }
}
