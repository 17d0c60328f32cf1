//! The mark that is left on a device for data of ours that do not say themselves whose they are: hashes of sampled blocks, so that
//! what is found later can be told to be the same. The contract is in docs/formats/drives.md. A reader trusts a mark for one thing
//! only: these blocks need no confirmation.

use super::{Device, END, LIMIT, fresh_seed, read_whole};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Instant;
use stend_base::own_data::{BLOCK, STAMP, StampScope, stamp};
use stend_base::random::draw;
use stend_sys::{Claim, IoFile};

/// Behind the stamp of the first block; the last of them count the versions of this format.
const MAGIC: [u8; 8] = *b"StendM01";
/// Bytes of a block that are of the mark.
const ROOM: usize = BLOCK - STAMP;
/// Longest identity and name, bytes.
const TEXT_MAX: usize = 512;
/// Bytes before the texts: magic, offset, size, seed, time, number of hashes, lengths of both texts.
const FIXED: usize = 8 + 4 * 8 + 4 + 2 * 2;
/// Bytes of the sum at the end.
const SUM: usize = 32;
/// Most hashes: both ends and all samples of a device with the largest blocks (64 KiB) are fewer.
const HASHES_MAX: usize = 1 << 16;

/// What tells a block from others; 0: it said itself whose it was, or was erased.
pub(super) type Hash = u64;

/// The first bytes of its SHA-256.
pub(super) fn hash(block: &[u8]) -> Hash {
    let sum = Sha256::digest(block);
    let first = sum.first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
    first.max(1)
}

/// Whether a mark begins with this block.
pub(super) fn begins(block: &[u8]) -> bool {
    block.get(STAMP..STAMP + MAGIC.len()) == Some(&MAGIC)
}

/// What was on a device when a run or stand let it go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    /// Where the mark lies, bytes.
    pub at: u64,
    /// Bytes of the device.
    pub size: u64,
    /// From which the places between the ends follow.
    pub seed: u64,
    /// When it was left, seconds since 1970.
    pub left_unix: u64,
    /// WWN or serial number of the device; empty if it has none.
    pub identity: String,
    /// The run or stand that left it.
    pub by: String,
    /// One for each block of 4 KiB that was read, in their order.
    pub hashes: Vec<Hash>,
}

impl Mark {
    /// That at this offset; `None` where there is none that is whole and of this device.
    pub(super) fn read(file: &IoFile, at: u64, size: u64, identity: Option<&str>) -> Option<Mark> {
        let len = (size.checked_sub(at)? as usize).min(blocks_of(HASHES_MAX, 2 * TEXT_MAX) * BLOCK);
        let mut pool = stend_sys::buffer::Pool::new(1, len).ok()?;
        let memory = &mut pool.slot_mut(0)[..len / BLOCK * BLOCK];
        read_whole(file, memory, at).ok()?;
        let mark = Mark::parse(memory)?;
        (mark.at == at && mark.size == size && mark.identity == identity.unwrap_or_default()).then_some(mark)
    }

    /// From whole blocks that begin with a mark.
    pub(super) fn parse(blocks: &[u8]) -> Option<Mark> {
        let bytes: Vec<u8> = blocks.chunks_exact(BLOCK).flat_map(|block| &block[STAMP..]).copied().collect();
        let number = |at: usize| bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word));
        let short = |at: usize| bytes.get(at..)?.first_chunk().map(|word| usize::from(u16::from_le_bytes(*word)));
        if !bytes.starts_with(&MAGIC) {
            return None;
        }
        let count = u32::from_le_bytes(*bytes.get(40..)?.first_chunk()?) as usize;
        let (identity_len, by_len) = (short(44)?, short(46)?);
        if count > HASHES_MAX || identity_len > TEXT_MAX || by_len > TEXT_MAX {
            return None;
        }
        let (texts, hashes) = (FIXED, FIXED + identity_len + by_len);
        let end = hashes + count * 8;
        let sum = bytes.get(end..end + SUM)?;
        if Sha256::digest(&bytes[..end])[..] != *sum {
            return None;
        }
        let text = |from: usize, len: usize| String::from_utf8(bytes[from..from + len].to_vec()).ok();
        Some(Mark {
            at: number(8)?,
            size: number(16)?,
            seed: number(24)?,
            left_unix: number(32)?,
            identity: text(texts, identity_len)?,
            by: text(texts + identity_len, by_len)?,
            hashes: (0..count).map(|index| number(hashes + index * 8)).collect::<Option<_>>()?,
        })
    }

    /// As it is written: whole blocks, each of which says that it is ours.
    pub(super) fn to_blocks(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for number in [self.at, self.size, self.seed, self.left_unix] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend((self.hashes.len() as u32).to_le_bytes());
        for text in [&self.identity, &self.by] {
            bytes.extend((text.len() as u16).to_le_bytes());
        }
        bytes.extend(self.identity.bytes().chain(self.by.bytes()));
        self.hashes.iter().for_each(|hash| bytes.extend(hash.to_le_bytes()));
        let sum = Sha256::digest(&bytes);
        bytes.extend(sum);
        let mut blocks = Vec::new();
        for (part, index) in bytes.chunks(ROOM).zip(0..) {
            blocks.extend(stamp(draw(self.seed, index), StampScope::Block));
            blocks.extend(part);
            blocks.resize(blocks.len().next_multiple_of(BLOCK), 0);
        }
        blocks
    }

    /// Whether it has a hash for every block of these places.
    pub(super) fn fits(&self, places: &[(u64, usize)]) -> bool {
        offsets(places).count() == self.hashes.len()
    }

    /// Offset of the first block at these places that is neither erased nor ours by its own words, and not what it was.
    pub(super) fn first_difference(&self, places: &[(u64, usize)], now: &BTreeMap<u64, Hash>) -> Option<u64> {
        let known = offsets(places).zip(&self.hashes);
        known.filter(|(at, hash)| now.get(at).is_some_and(|now| now != *hash)).map(|(at, _)| at).min()
    }
}

/// Offsets of the blocks of 4 KiB at places, in their order.
fn offsets(places: &[(u64, usize)]) -> impl Iterator<Item = u64> {
    places.iter().flat_map(|&(at, len)| (at..at + len as u64).step_by(BLOCK))
}

/// Blocks that a mark with so many hashes and bytes of text takes.
fn blocks_of(hashes: usize, texts: usize) -> usize {
    (FIXED + texts + hashes * 8 + SUM).div_ceil(ROOM)
}

/// Leaves a mark on a claimed device of `size` bytes whose every byte was erased or ours when it was claimed; only bytes before `end`
/// are written. `false`: none was needed, because everything says itself that it is ours, or there is no room for one where it would
/// be found.
pub(crate) fn leave(
    claim: &Claim,
    (path, size): (&Path, u64),
    identity: Option<&str>,
    by: &str,
    end: u64,
) -> io::Result<bool> {
    let device = Device::open(path, size, Instant::now() + LIMIT)?;
    let seed = fresh_seed();
    let places = device.places(seed);
    let others = device.read(&places).map_err(|failed| failed.error)?.others;
    if others.is_empty() {
        return Ok(false);
    }
    let hashes: Vec<Hash> = offsets(&places).map(|at| others.get(&at).copied().unwrap_or(0)).collect();
    let (wall_ns, identity) = (stend_sys::clock::stamps().2, identity.unwrap_or_default().to_string());
    let by: String = by.chars().take(TEXT_MAX / 4).collect();
    let mut mark = Mark { at: 0, size, seed, left_unix: wall_ns / 1_000_000_000, identity, by, hashes };
    let len = mark.to_blocks().len() as u64;
    let Some(at) = place(size, end, len, device.unit) else { return Ok(false) };
    if mark.identity.len() > TEXT_MAX {
        return Ok(false);
    }
    mark.at = at;
    claim.write_durably(&mark.to_blocks(), at)?;
    Ok(true)
}

/// Where a mark of `len` bytes goes: as near to the end of the device as may be written, since what fills a device comes there last;
/// at its begin if that is not near enough to be found.
fn place(size: u64, end: u64, len: u64, unit: u64) -> Option<u64> {
    let len = len.next_multiple_of(unit);
    let at = end.min(size).checked_sub(len)? / unit * unit;
    let tail = size.saturating_sub(END) / unit * unit;
    match at >= tail || at + len <= END {
        true => Some(at),
        false => Some(0),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn mark() -> Mark {
        let hashes = (0..3072).map(|n| n % 3).collect();
        let (identity, by) = ("serial:A".to_string(), "R-1".to_string());
        Mark { at: 1 << 30, size: 2 << 30, seed: 77, left_unix: 1_700_000_000, identity, by, hashes }
    }

    #[test]
    fn a_mark_is_read_as_it_was_written_and_no_flipped_bit_goes_unseen() {
        let blocks = mark().to_blocks();
        assert_eq!(blocks.len(), blocks_of(3072, 11) * BLOCK);
        assert_eq!(Mark::parse(&blocks), Some(mark()));
        assert!(
            begins(&blocks) && blocks.chunks(BLOCK).all(|b| super::super::content(b) == super::super::Content::Ours)
        );
        let end = blocks.len() - BLOCK + STAMP + (FIXED + 11 + 3072 * 8 + SUM) % ROOM;
        for at in (0..end).step_by(97).filter(|at| at % BLOCK >= STAMP) {
            let mut torn = blocks.clone();
            torn[at] ^= 1;
            assert_eq!(Mark::parse(&torn), None, "byte {at}");
        }
    }

    #[test]
    fn hostile_marks_are_no_marks() {
        let mut blocks = mark().to_blocks();
        for len in [0, 1, BLOCK, 2 * BLOCK + 7] {
            assert_eq!(Mark::parse(&blocks[..len]), None, "{len} bytes");
        }
        for field in [40, 44, 46] {
            let mut wild = blocks.clone();
            wild[STAMP + field..STAMP + field + 2].fill(0xFF);
            assert_eq!(Mark::parse(&wild), None, "a length at {field}");
        }
        blocks[STAMP + 7] = b'2';
        assert_eq!(Mark::parse(&blocks), None, "another version");
    }

    #[test]
    fn a_mark_goes_where_it_is_found_and_nothing_else_may_be_written() {
        let (gib, len) = (1 << 30, 28 << 10);
        assert_eq!(place(gib, gib, len, 4096), Some(gib - len));
        assert_eq!(place(gib, gib / 2, len, 4096), Some(0), "the end may not be written");
        assert_eq!(place(gib, 1 << 20, len, 4096), Some((1 << 20) - len));
        assert_eq!(place(gib, 4096, len, 4096), None, "there is no room");
        assert_eq!(place(gib + 512, gib + 512, len, 4096), Some(gib - len));
    }
}
