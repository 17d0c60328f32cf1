//! The mark that every sector of a verified block carries, and its body: docs/formats/verification.md is the contract.
//! Pure; must not know what is expected.

use super::marks::Marks;
use stend_base::own_data;
use stend_base::random::draw;
use stend_record::verification::Found;

/// Bytes that have a mark of their own: the smallest unit that any storage writes whole.
pub(crate) const SECTOR: usize = 512;
/// Where what follows the magic lies, little-endian.
const RUN: usize = 8;
const ADDRESS: usize = 16;
const SEQUENCE: usize = 24;
const EPOCH: usize = 32;
const BODY: usize = 36;
/// CRC32C of everything before it. At the end, so that a sector that was cut short has none.
const SUM: usize = SECTOR - 4;
/// 2^64 divided by the golden ratio: its multiples visit all residues far from one another.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// Odd multiplier whose products spread over the upper half (Stafford's variant 13 of a mixer of 64 bits).
const MIXER: u64 = 0xBF58_476D_1CE4_E5B9;

/// What a sector says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Which run and trial wrote it.
    pub marks: Marks,
    /// Byte address of the sector on the target.
    pub address: u64,
    /// Which write to its block in that trial, from 1.
    pub sequence: u64,
}

/// What a sector holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// A marked sector whose checksum holds.
    Marked(Mark),
    /// The magic or the number of this run is there, and the checksum does not hold.
    Damaged,
    /// Only zeros.
    Zeros,
    /// Anything else.
    Unknown,
}

impl Content {
    /// The same for the run file.
    pub fn found(self) -> Found {
        match self {
            Content::Marked(Mark { marks, address, sequence }) => {
                Found::Sector { run: marks.run, epoch: marks.epoch, address, sequence }
            }
            Content::Damaged => Found::Damaged,
            Content::Zeros => Found::Zeros,
            Content::Unknown => Found::Unknown,
        }
    }
}

/// Marks every sector of a block that is written to `address`, whose length is a multiple of [`SECTOR`].
///
/// What it costs is in `docs/formats/verification.md`.
pub(crate) fn stamp(block: &mut [u8], marks: Marks, address: u64, sequence: u64) {
    for (sector, address) in block.chunks_exact_mut(SECTOR).zip((address..).step_by(SECTOR)) {
        write(sector, &Mark { marks, address, sequence });
    }
}

#[inline]
fn write(sector: &mut [u8], mark: &Mark) {
    sector[..RUN].copy_from_slice(&own_data::VERIFIED);
    sector[RUN..ADDRESS].copy_from_slice(&mark.marks.run.to_le_bytes());
    sector[ADDRESS..SEQUENCE].copy_from_slice(&mark.address.to_le_bytes());
    sector[SEQUENCE..EPOCH].copy_from_slice(&mark.sequence.to_le_bytes());
    sector[EPOCH..BODY].copy_from_slice(&mark.marks.epoch.to_le_bytes());
    let mut key =
        draw(mark.marks.run ^ u64::from(mark.marks.epoch) << 32, mark.address ^ mark.sequence.rotate_left(40));
    for word in sector[BODY..SUM].chunks_exact_mut(8) {
        key = key.wrapping_add(SPREAD);
        let mixed = (key ^ key >> 32).wrapping_mul(MIXER);
        word.copy_from_slice(&(mixed ^ mixed >> 32).to_le_bytes());
    }
    let sum = crc32c::crc32c(&sector[..SUM]);
    sector[SUM..].copy_from_slice(&sum.to_le_bytes());
}

/// What a sector of [`SECTOR`] bytes holds, seen from the run number `run`.
#[inline]
pub(crate) fn read(sector: &[u8], run: u64) -> Content {
    let marked = sector[..RUN] == own_data::VERIFIED;
    if marked && crc32c::crc32c(&sector[..SUM]).to_le_bytes() == sector[SUM..] {
        let marks = Marks { run: number(sector, RUN), epoch: number(sector, EPOCH) as u32 };
        let (address, sequence) = (number(sector, ADDRESS), number(sector, SEQUENCE));
        return Content::Marked(Mark { marks, address, sequence });
    }
    if sector.iter().all(|&byte| byte == 0) {
        Content::Zeros
    } else if marked || number(sector, RUN) == run {
        Content::Damaged
    } else {
        Content::Unknown
    }
}

/// The eight bytes at `at`.
#[inline]
fn number(sector: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&sector[at..at + 8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MARKS: Marks = Marks { run: 0x1122_3344_5566_7788, epoch: 9 };

    fn block(address: u64, sequence: u64) -> Vec<u8> {
        let mut block = vec![0; 8 * SECTOR];
        stamp(&mut block, MARKS, address, sequence);
        block
    }

    #[test]
    fn the_layout_is_that_of_the_document() {
        let sector = &block(4096, 5)[SECTOR..2 * SECTOR];
        assert_eq!(&sector[..8], b"StendV01");
        assert_eq!(sector[8..16], MARKS.run.to_le_bytes());
        assert_eq!(sector[16..24], (4096u64 + 512).to_le_bytes());
        assert_eq!(sector[24..32], 5u64.to_le_bytes());
        assert_eq!(sector[32..36], 9u32.to_le_bytes());
        // The check value of CRC-32C: RFC 3720, appendix B.4, 32 bytes of zeros.
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(sector[508..], crc32c::crc32c(&sector[..508]).to_le_bytes());
    }

    #[test]
    fn equal_marks_make_equal_bytes_and_others_others() {
        assert_eq!(block(4096, 5), block(4096, 5));
        assert_ne!(block(4096, 5)[40..48], block(4096, 6)[40..48]);
        assert_ne!(block(4096, 5)[40..48], block(8192, 5)[40..48]);
    }

    #[test]
    fn marked_blocks_do_not_compress() {
        let data: Vec<u8> = (0..256).flat_map(|i| block(i * 4096, 1 + i % 3)).collect();
        let compressed = zstd::bulk::compress(&data, 3).unwrap().len();
        let ratio = data.len() as f64 / compressed as f64;
        // The mark is 36 of 512 bytes, of which zstd finds nearly all again.
        assert!(ratio < 1.08, "{ratio}");
    }

    #[test]
    fn zeros_and_foreign_data_are_told_from_damage() {
        assert_eq!(read(&[0; SECTOR], MARKS.run), Content::Zeros);
        assert_eq!(read(&[7; SECTOR], MARKS.run), Content::Unknown);
        let mut sector = block(0, 1);
        sector.truncate(SECTOR);
        sector[3] ^= 1;
        assert_eq!(read(&sector, MARKS.run), Content::Damaged, "without the magic the run still tells whose it is");
        assert_eq!(read(&sector, 1), Content::Unknown);
    }

    proptest! {
        #[test]
        fn what_was_marked_is_read_back(run in any::<u64>(), epoch in any::<u32>(), address in 0u64..1 << 60, sequence in any::<u64>()) {
            let (marks, mut block) = (Marks { run, epoch }, vec![0; 2 * SECTOR]);
            stamp(&mut block, marks, address, sequence);
            for (i, sector) in block.chunks(SECTOR).enumerate() {
                let address = address + (i * SECTOR) as u64;
                prop_assert_eq!(read(sector, run), Content::Marked(Mark { marks, address, sequence }));
            }
        }

        #[test]
        fn no_flipped_bit_goes_unseen(bit in 0..SECTOR * 8, sequence in any::<u64>()) {
            let mut sector = block(1 << 20, sequence);
            sector.truncate(SECTOR);
            sector[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(read(&sector, MARKS.run), Content::Damaged);
        }
    }
}
