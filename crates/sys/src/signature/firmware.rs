//! Members of arrays that the firmware of a controller or board assembles, where the constant is short, so that a checksum must hold as
//! well, or lies in one of many places. Pure; the others are in `constants.rs`.
//!
//! Places: the format handlers of dmraid 1.0.0.rc16 (lib/format/ataraid), checked against dumps of real members.

use super::{Found, Image};

/// Sectors before the end at which Promise controllers of different ages keep their text.
const PROMISE: [u64; 13] = [63, 255, 256, 16, 399, 591, 675, 735, 911, 974, 991, 951, 3087];

/// Every mark of this kind.
pub(super) fn find(image: &Image) -> Vec<Found> {
    let found = [promise(image), jmicron(image), silicon(image), via(image)];
    found.into_iter().flatten().map(Found::member).collect()
}

/// Where they are that lie apart from the megabytes at both ends.
pub(super) fn places(size: u64) -> impl Iterator<Item = u64> {
    PROMISE.into_iter().filter_map(move |sectors| before_end(size, sectors))
}

fn before_end(size: u64, sectors: u64) -> Option<u64> {
    (size / 512).checked_sub(sectors).map(|sector| sector * 512)
}

fn promise(image: &Image) -> Option<Found> {
    let mut places = places(image.size);
    let at = places.find(|&at| image.has(at, b"Promise Technology, Inc."))?;
    Some(Found::new("promise_fasttrack_raid_member", at))
}

/// The 64 words of its structure add up to 0 or 1.
fn jmicron(image: &Image) -> Option<Found> {
    let at = before_end(image.size, 1)?;
    let whole = image.has(at, b"JM") && sum_of_words(image, at, 128)? <= 1;
    whole.then(|| Found::new("jmicron_raid_member", at))
}

/// In the last sector, or 512, 1024 or 1536 sectors before it.
fn silicon(image: &Image) -> Option<Found> {
    const CHECKSUM: u64 = 0x13e;
    let whole = |at: &u64| {
        let sum = || Some(sum_of_words(image, *at, CHECKSUM + 2)? == 0);
        image.has(at + 0x60, b"\0\0\0\x2f") && sum() == Some(true)
    };
    let at = (0..4).filter_map(|n| before_end(image.size, 1 + 512 * n)).find(whole)?;
    Some(Found::new("silicon_medley_raid_member", at + 0x60))
}

/// Versions 0 and 1; the sum of its 50 bytes is behind them.
fn via(image: &Image) -> Option<Found> {
    const LEN: u64 = 50;
    let at = before_end(image.size, 1)?;
    let known = image.has(at, b"\x55\xaa") && image.byte(at + 2)? <= 1;
    let sum = image.bytes(at, LEN as usize)?.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    (known && sum == image.byte(at + LEN)?).then(|| Found::new("via_raid_member", at))
}

fn sum_of_words(image: &Image, at: u64, len: u64) -> Option<u16> {
    let bytes = image.bytes(at, len as usize)?;
    Some(bytes.chunks_exact(2).fold(0u16, |sum, word| sum.wrapping_add(u16::from_le_bytes([word[0], word[1]]))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 4 << 20;

    fn found(marks: &[(usize, &[u8])]) -> Vec<(&'static str, u64)> {
        let mut bytes = vec![0; SIZE];
        for (offset, mark) in marks {
            bytes[*offset..offset + mark.len()].copy_from_slice(mark);
        }
        let all = Image::from_bytes(&bytes).signatures();
        assert!(all.iter().all(|f| f.member || f.name == "dos"), "{all:?}");
        all.iter().map(|f| (f.name, f.offset)).collect()
    }

    #[test]
    fn short_constants_count_only_with_their_checksum() {
        let last = SIZE - 512;
        // "JM" is the word 0x4d4a: with its complement the sum is 0.
        let jmicron = found(&[(last, b"JM"), (last + 4, b"\xb6\xb2")]);
        assert_eq!(jmicron, [("jmicron_raid_member", last as u64)]);
        assert_eq!(found(&[(last, b"JM"), (last + 4, b"\xb6\xb3")]), []);
        // 0x55 + 0xaa + 1 = 0x100.
        assert_eq!(found(&[(last, b"\x55\xaa\x01")]), [("via_raid_member", last as u64)]);
        assert_eq!(found(&[(last, b"\x55\xaa\x01"), (last + 50, b"\x01")]), []);
        let silicon = |at: usize, sum: &'static [u8]| found(&[(at + 0x60, b"\0\0\0\x2f"), (at + 0x13e, sum)]);
        for at in [last, last - 512 * 512, last - 1536 * 512] {
            assert_eq!(silicon(at, b"\0\xd1"), [("silicon_medley_raid_member", at as u64 + 0x60)]);
            assert_eq!(silicon(at, b"\0\xd2"), []);
        }
    }

    #[test]
    fn promise_is_looked_for_wherever_its_controllers_put_it() {
        for sectors in PROMISE {
            let at = SIZE - 512 * sectors as usize;
            assert_eq!(found(&[(at, b"Promise Technology, Inc.")]), [("promise_fasttrack_raid_member", at as u64)]);
        }
    }
}
