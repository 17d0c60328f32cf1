//! Formats whose constant is so short, or stands in so many places, that fields beside it must make sense as well: nilfs2, minix, HFS,
//! UFS, squashfs, UDF, swap, and labels of disks. Pure.
//!
//! Layouts: fs/nilfs2, fs/minix, fs/hfs, fs/ufs, fs/squashfs, fs/udf and block/partitions of the Linux kernel; ECMA-167 2/9 (UDF).

use super::{Found, Image};

/// Every mark of this kind.
pub(super) fn find(image: &Image) -> Vec<Found> {
    let once = [nilfs(image, 1024), minix(image), hfs(image), ufs(image), squashfs(image), udf(image), swap(image)];
    let labels = [suspend(image), sun(image), bsd(image), mac(image), dasd(image), amiga(image)];
    once.into_iter().chain(labels).flatten().collect()
}

/// A superblock of nilfs2 at an offset; its second one is 4 KiB before the end.
pub(super) fn nilfs(image: &Image, at: u64) -> Option<Found> {
    let sane = image.le32(at)? == 2 && (16..=1024).contains(&image.le16(at + 8)?);
    let found =
        || Found { uuid: image.uuid(at + 152), label: image.text(at + 168, 80), ..Found::new("nilfs2", at + 6) };
    (image.has(at + 6, b"\x34\x34") && sane).then(found)
}

/// Versions 1 and 2 with names of 14 or 30 letters, and 3; in either byte order.
fn minix(image: &Image) -> Option<Found> {
    const AT: u64 = 1024;
    let old = [0x137f, 0x138f, 0x2468, 0x2478];
    let word = |offset: u64| image.array(AT + offset).map(|raw| [u16::from_le_bytes(raw), u16::from_be_bytes(raw)]);
    for order in [0, 1] {
        let field = |offset: u64| word(offset).map(|both| both[order]);
        // Inodes, blocks of both bitmaps, first zone of data, binary logarithm of blocks in a zone.
        let sane = |inodes: u64, maps: [u64; 2], first: u64, zone: u64| {
            let set = [inodes, maps[0], maps[1], first].into_iter().all(|offset| field(offset).is_some_and(|n| n > 0));
            set && field(zone) == Some(0)
        };
        if field(16).is_some_and(|magic| old.contains(&magic)) && sane(0, [4, 6], 8, 10) {
            return Some(Found::new("minix", AT + 16));
        }
        let inodes = if order == 0 { 0 } else { 2 };
        if field(24) == Some(0x4d5a) && sane(inodes, [6, 8], 10, 12) {
            return Some(Found::new("minix", AT + 24));
        }
    }
    None
}

/// HFS, and HFS+ in a wrapper of it.
fn hfs(image: &Image) -> Option<Found> {
    const AT: u64 = 1024;
    let block = image.be32(AT + 0x14)?;
    if !image.has(AT, b"BD") || block == 0 || !block.is_multiple_of(512) {
        return None;
    }
    let name = if image.has(AT + 0x7c, b"H+") { "hfsplus" } else { "hfs" };
    Some(Found::new(name, AT))
}

fn ufs(image: &Image) -> Option<Found> {
    const MAGICS: [u32; 6] = [0x0001_1954, 0x1954_0119, 0x0009_5014, 0x0019_5612, 0x0523_1994, 0x7c83_5e0a];
    // Where FreeBSD, older and newer, and others keep the superblock.
    let places = [0, 8 << 10, 64 << 10, 256 << 10].map(|superblock| superblock + 0x55c);
    let is = |at: &u64| {
        let (little, big) = (image.le32(*at), image.be32(*at));
        MAGICS.iter().any(|magic| little == Some(*magic) || big == Some(*magic))
    };
    places.into_iter().find(is).map(|at| Found::new("ufs", at))
}

/// From version 4 on, and before.
fn squashfs(image: &Image) -> Option<Found> {
    let (little, big) = (image.has(0, b"hsqs"), image.has(0, b"sqsh"));
    let version = image.le16(28)?;
    let name = if little && version >= 4 { "squashfs" } else { "squashfs3" };
    (little || big).then(|| Found::new(name, 0))
}

/// A volume recognition sequence with the descriptor of UDF among its blocks of 2 KiB, or of 4 KiB.
fn udf(image: &Image) -> Option<Found> {
    const AT: u64 = 0x8001;
    const BLOCKS_MAX: u64 = 64;
    let other: [&[u8]; 5] = [b"BEA01", b"BOOT2", b"CD001", b"CDW02", b"TEA01"];
    [2048, 4096].into_iter().find_map(|step| {
        let places = (0..BLOCKS_MAX).map(|n| AT + n * step);
        let sequence = places.take_while(|&at| {
            image.has(at, b"NSR02") || image.has(at, b"NSR03") || other.iter().any(|id| image.has(at, id))
        });
        let has = |at: &u64| image.has(*at, b"NSR02") || image.has(*at, b"NSR03");
        sequence.into_iter().find(has).map(|_| Found::new("udf", AT))
    })
}

/// Sizes of pages of machines that wrote a swap area; the mark ends the first page.
const PAGES: [u64; 5] = [4096, 8192, 16384, 32768, 65536];

fn swap(image: &Image) -> Option<Found> {
    let magic = |at: u64| image.has(at, b"SWAPSPACE2") || image.has(at, b"SWAP-SPACE");
    let at = PAGES.iter().map(|page| page - 10).find(|&at| magic(at))?;
    Some(Found { uuid: image.uuid(1024 + 12), label: image.text(1024 + 28, 16), ..Found::new("swap", at) })
}

/// A machine that sleeps has its memory in the swap area.
fn suspend(image: &Image) -> Option<Found> {
    let magics: [&[u8]; 4] = [b"S1SUSPEND\0", b"S2SUSPEND\0", b"ULSUSPEND\0", b"LINHIB0001"];
    let is = |at: &u64| magics.iter().any(|magic| image.has(*at, magic));
    PAGES.iter().map(|page| page - 10).find(is).map(|at| Found::new("swsuspend", at))
}

/// The words of the label cancel each other out.
fn sun(image: &Image) -> Option<Found> {
    let sector = image.bytes(0, 512)?;
    let sum = sector.chunks_exact(2).fold(0u16, |sum, word| sum ^ u16::from_be_bytes([word[0], word[1]]));
    (image.has(508, b"\xda\xbe") && sum == 0).then(|| Found::new("sun", 508))
}

/// The label says its constant twice, 132 bytes apart.
fn bsd(image: &Image) -> Option<Found> {
    const MAGIC: &[u8] = b"\x57\x45\x56\x82";
    let is = |at: &u64| image.has(*at, MAGIC) && image.has(at + 132, MAGIC);
    [0, 64, 128, 512, 512 + 64, 512 + 128, 1024].into_iter().find(is).map(|at| Found::new("bsd", at))
}

/// The map's own entry comes first and says how many there are; the block before it is left out by some who write one.
fn mac(image: &Image) -> Option<Found> {
    const ENTRIES_MAX: u32 = 256;
    let is = |at: &u64| image.has(*at, b"PM\0\0") && image.be32(at + 4).is_some_and(|n| (1..=ENTRIES_MAX).contains(&n));
    [512, 1024, 2048, 4096].into_iter().find(is).map(|at| Found::new("mac", if image.has(0, b"ER") { 0 } else { at }))
}

/// Volume labels of disks of IBM's mainframes (in EBCDIC: VOL1, LNX1, CMS1), in block 1 or 2.
fn dasd(image: &Image) -> Option<Found> {
    let labels: [&[u8]; 3] = [b"\xe5\xd6\xd3\xf1", b"\xd3\xd5\xe7\xf1", b"\xc3\xd4\xe2\xf1"];
    let is = |at: &u64| labels.iter().any(|label| image.has(*at, label) || image.has(at + 4, label));
    [512, 1024, 2048, 4096, 8192].into_iter().find(is).map(|at| Found::new("dasd", at))
}

/// In one of the first sixteen sectors.
fn amiga(image: &Image) -> Option<Found> {
    (0..16).map(|n| n * 512).find(|&at| image.has(at, b"RDSK")).map(|at| Found::new("amiga", at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(marks: &[(usize, &[u8])]) -> Vec<(&'static str, u64)> {
        let mut bytes = vec![0; 2 << 20];
        for (offset, mark) in marks {
            bytes[*offset..offset + mark.len()].copy_from_slice(mark);
        }
        Image::from_bytes(&bytes).signatures().iter().map(|f| (f.name, f.offset)).collect()
    }

    #[test]
    fn short_constants_count_only_where_the_fields_beside_them_make_sense() {
        assert_eq!(found(&[(1024 + 6, b"\x34\x34")]), []);
        assert_eq!(found(&[(1024, b"\x02"), (1024 + 6, b"\x34\x34\0\x04")]), [("nilfs2", 1030)]);
        assert_eq!(found(&[(1040, b"\x8f\x13")]), []);
        let minix: &[u8] = b"\x60\0\x2c\x01\x01\0\x01\0\x07\0\0\0\0\x1c\x08\x10\x8f\x13";
        assert_eq!(found(&[(1024, minix)]), [("minix", 1040)]);
        assert_eq!(found(&[(1024, b"BD")]), []);
        assert_eq!(found(&[(1024, b"BD"), (1024 + 0x16, b"\x02")]), [("hfs", 1024)]);
        assert_eq!(found(&[(1024, b"BD"), (1024 + 0x16, b"\x02"), (1024 + 0x7c, b"H+")]), [("hfsplus", 1024)]);
        assert_eq!(found(&[(508, b"\xda\xbe")]), []);
        assert_eq!(found(&[(0, b"\xda\xbe"), (508, b"\xda\xbe")]), [("sun", 508)]);
        assert_eq!(found(&[(512, b"\x57\x45\x56\x82")]), []);
        assert_eq!(found(&[(512, b"\x57\x45\x56\x82"), (644, b"\x57\x45\x56\x82")]), [("bsd", 512)]);
        assert_eq!(found(&[(512, b"PM")]), []);
        assert_eq!(found(&[(512, b"PM\0\0\0\0\0\x03")]), [("mac", 512)]);
        assert_eq!(found(&[(8192, b"\xe5\xd6\xd3\xf1")]), [("dasd", 8192)]);
        assert_eq!(found(&[(1024, b"RDSK")]), [("amiga", 1024)]);
    }

    #[test]
    fn a_sequence_of_descriptors_is_udf_only_with_the_one_that_says_so() {
        assert_eq!(found(&[(0x8001, b"BEA01"), (0x8801, b"TEA01")]), []);
        assert_eq!(found(&[(0x8001, b"BEA01"), (0x8801, b"NSR03"), (0x9001, b"TEA01")]), [("udf", 0x8001)]);
        let bridge = found(&[(0x8001, b"CD001"), (0x8801, b"CD001"), (0x9001, b"BEA01"), (0x9801, b"NSR02")]);
        assert_eq!(bridge, [("iso9660", 0x8001), ("udf", 0x8001)]);
        assert_eq!(found(&[(0x8001, b"BEA01"), (0x9001, b"NSR03")]), [("udf", 0x8001)], "blocks of 4 KiB");
    }

    #[test]
    fn every_place_of_ufs_and_both_byte_orders_are_looked_at() {
        for superblock in [0, 8 << 10, 64 << 10, 256 << 10] {
            let at = superblock + 0x55c;
            for magic in [b"\x54\x19\x01\0", b"\0\x01\x19\x54", b"\x19\x01\x54\x19"] {
                assert_eq!(found(&[(at, magic)]), [("ufs", at as u64)]);
            }
        }
    }

    #[test]
    fn swap_of_a_machine_with_64_kib_pages_is_seen_asleep_too() {
        assert_eq!(found(&[(65526, b"SWAPSPACE2")]), [("swap", 65526)]);
        assert_eq!(found(&[(65526, b"S1SUSPEND\0")]), [("swsuspend", 65526)]);
    }
}
