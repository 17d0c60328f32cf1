//! Ranges of bytes, and their parts by shares or bytes. Pure.

use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Millionths};

/// A range of bytes on the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// First byte.
    pub start: Bytes,
    /// Length.
    pub len: Bytes,
}

/// Parts begin and end on such a boundary when they are given by shares: every block size in use divides it or is a
/// multiple.
const ALIGNMENT: Bytes = Bytes::kib(4);

/// A length, of a range that is not known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// A share of the range, cut to a multiple of 4 KiB.
    Share(Millionths),
    /// Bytes.
    Size(Bytes),
}

impl Extent {
    fn of(self, range: Bytes) -> Bytes {
        let share = |share: Millionths| u128::from(range.0) * u128::from(share.0) / u128::from(Millionths::ALL.0);
        match self {
            // Cannot be more than the range, which fits.
            Extent::Share(millionths) => Bytes(share(millionths) as u64).align_down(ALIGNMENT),
            Extent::Size(size) => size,
        }
    }
}

/// A part of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Where it begins, from the start of the range.
    pub start: Extent,
    /// How long it is; `None`: to the end of the range.
    pub size: Option<Extent>,
}

impl Part {
    /// The part of a range. It may end beyond the range; the caller has to check.
    pub fn of(self, range: Region) -> Region {
        let start = self.start.of(range.len);
        let len = self.size.map_or(Bytes(range.len.0.saturating_sub(start.0)), |size| size.of(range.len));
        Region { start: Bytes(range.start.0.saturating_add(start.0)), len }
    }
}

impl Region {
    /// The first byte behind it.
    pub fn end(self) -> u64 {
        self.start.0.saturating_add(self.len.0)
    }

    /// One of so many equal parts, counted from 0.
    pub fn part(self, parts: u32, index: u64) -> Region {
        let len = self.len.0 / u64::from(parts.max(1));
        Region { start: Bytes(self.start.0.saturating_add(index.saturating_mul(len))), len: Bytes(len) }
    }

    /// The blocks of `size` that lie wholly inside, counted from `origin`, where or behind which the region begins.
    pub fn blocks(self, origin: Bytes, size: Bytes) -> std::ops::Range<u64> {
        let (size, begin) = (size.0.max(1), self.start.0.saturating_sub(origin.0));
        begin.div_ceil(size)..self.end().saturating_sub(origin.0) / size
    }

    /// Whether all of another lies inside.
    pub fn holds(self, other: Region) -> bool {
        self.start <= other.start && other.end() <= self.end()
    }

    /// Whether any byte belongs to both.
    pub fn overlaps(self, other: Region) -> bool {
        self.start.0.max(other.start.0) < self.end().min(other.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: u64, len: u64) -> Region {
        Region { start: Bytes(start), len: Bytes(len) }
    }

    #[test]
    fn a_part_is_taken_from_the_start_of_the_range_in_whole_blocks() {
        let range = region(1 << 20, 1_000_000);
        let part = |start, size| Part { start, size }.of(range);
        let percent = |n| Extent::Share(Millionths::percent(n));
        assert_eq!(part(percent(0), None), range);
        // A tenth is 100,000 bytes, of which 98,304 are whole blocks; a fifth 200,000, 196,608.
        assert_eq!(part(percent(10), Some(percent(20))), region((1 << 20) + 98_304, 196_608));
        assert_eq!(part(Extent::Size(Bytes(512)), Some(Extent::Size(Bytes(1024)))), region((1 << 20) + 512, 1024));
        assert_eq!(part(Extent::Size(Bytes(2_000_000)), None).len, Bytes(0), "it begins behind the end");
        assert!(!range.holds(part(Extent::Size(Bytes(999_999)), Some(Extent::Size(Bytes(512))))));
        assert!(range.holds(part(Extent::Share(Millionths::ALL), None)));
        assert_eq!(part(Extent::Size(Bytes(u64::MAX)), Some(Extent::Size(Bytes(u64::MAX)))).end(), u64::MAX);
    }

    #[test]
    fn blocks_are_those_that_lie_wholly_inside() {
        let blocks = |start, len| region(start, len).blocks(Bytes(1000), Bytes(100));
        assert_eq!((blocks(1000, 500), blocks(1200, 100)), (0..5, 2..3));
        assert_eq!(blocks(1250, 400), 3..6);
        assert!(blocks(1250, 100).is_empty() && blocks(1250, 0).is_empty());
    }

    #[test]
    fn neighbours_do_not_overlap() {
        assert!(!region(0, 10).overlaps(region(10, 5)) && region(0, 10).overlaps(region(9, 1)));
        assert!(!region(0, 0).overlaps(region(0, 10)), "what is empty overlaps nothing");
        assert!(region(5, 1).overlaps(region(0, 10)) && region(0, 10).holds(region(5, 1)));
    }
}
