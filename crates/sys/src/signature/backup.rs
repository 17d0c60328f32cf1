//! Copies of superblocks, far from the start, that survive when the first one is overwritten: with them a tool restores the file
//! system. Pure.
//!
//! A copy counts only where it says itself that it lies there, so that neither data nor the image of a file system inside a file is
//! taken for one. It is reported where no first mark of the same name or UUID is.
//!
//! Places: mke2fs(8) (groups 1 and 3), fs/xfs/libxfs/xfs_ag.c and mkfs.xfs, fs/btrfs/disk-io.h, fs/bcachefs/bcachefs_format.h, fs/f2fs of
//! the Linux kernel; Microsoft's specifications of NTFS, FAT32 and exFAT; cryptsetup's of LUKS 2.

use super::filesystem::{btrfs_at, ext_name, ext_sane, luks_second};
use super::{Found, Image, short};

/// ext2 to ext4: offset of the second or fourth group. Groups have as many blocks as one block of bitmap has bits, of 1, 2, 4 KiB; the
/// last is of clusters of 64 KiB.
const EXT: [u64; 8] = [8193 << 10, 24577 << 10, 32 << 20, 64 << 20, 96 << 20, 128 << 20, 384 << 20, 2 << 30];
/// btrfs.
const BTRFS: [u64; 2] = [64 << 20, 256 << 30];
/// What is read at each place.
pub(super) const LEN: u64 = 4096;

/// Every copy, except those beside a first mark that is among `first`.
pub(super) fn find(image: &Image, first: &[Found]) -> Vec<Found> {
    let mut found: Vec<Found> = EXT.into_iter().filter_map(|at| ext(image, at)).collect();
    found.extend(xfs_places(image.size).filter_map(|at| xfs(image, at)));
    found.extend(BTRFS.into_iter().filter_map(|at| btrfs_at(image, at)));
    found.extend(bcachefs(image));
    found.extend(luks_second(image));
    found.extend((image.size / 4096).checked_sub(1).and_then(|block| short::nilfs(image, block * 4096)));
    found.extend([f2fs(image), exfat(image), ntfs(image), vfat(image)].into_iter().flatten());
    let known = |copy: &Found| {
        let same = |f: &&Found| f.name == copy.name || (f.uuid.is_some() && f.uuid == copy.uuid);
        first.iter().find(same).is_some()
    };
    found.retain(|copy| !known(copy));
    // One of several copies is enough.
    found.dedup_by(|later, one| later.name == one.name && later.uuid == one.uuid);
    found
}

/// Where copies are, as far as they lie apart from the megabytes at both ends.
pub(super) fn places(size: u64) -> impl Iterator<Item = u64> {
    // The second header of LUKS 2 lies at 16 KiB to 4 MiB.
    EXT.into_iter().chain(xfs_places(size)).chain(BTRFS).chain([1 << 20, 2 << 20, 4 << 20])
}

fn ext(image: &Image, at: u64) -> Option<Found> {
    if !ext_sane(image, at) {
        return None;
    }
    let group = u64::from(image.le16(at + 90)?);
    let (first, blocks) = (u64::from(image.le32(at + 20)?), u64::from(image.le32(at + 32)?));
    let here = (first + group * blocks).checked_mul(1024 << image.le32(at + 24)?);
    (group > 0 && here == Some(at)).then_some(())?;
    let label = image.text(at + 120, 16);
    Some(Found { uuid: image.uuid(at + 104), label, ..Found::new(ext_name(image, at)?, at + 56) })
}

/// The second allocation group, if there are as many as `mkfs.xfs` makes of a size: 4 to 32, or of 1 TiB each. Over stripes it rounds
/// them up to whole units, and makes them one unit shorter where they would all begin on the same drive.
fn xfs_places(size: u64) -> impl Iterator<Item = u64> {
    const BLOCK: u64 = 4096;
    const GROUP_MAX: u64 = (1 << 40) - BLOCK;
    let of_equal = (2..=5).map(|shift| (size / BLOCK).div_ceil(1 << shift) * BLOCK);
    let mut places = vec![size / 4 / BLOCK * BLOCK, GROUP_MAX];
    for equal in of_equal {
        places.push(equal);
        for unit in [64u64, 128, 256, 512, 1024].map(|kib| kib << 10) {
            let whole = equal.next_multiple_of(unit);
            places.extend([whole, whole - unit.min(whole)]);
        }
    }
    places.retain(|place| *place > 0);
    places.sort_unstable();
    places.dedup();
    places.into_iter()
}

fn xfs(image: &Image, at: u64) -> Option<Found> {
    let group = u64::from(image.be32(at + 84)?) * u64::from(image.be32(at + 4)?);
    let here = image.has(at, b"XFSB") && at > 0 && group > 0 && at.is_multiple_of(group);
    here.then(|| Found { uuid: image.uuid(at + 32), label: image.text(at + 108, 12), ..Found::new("xfs", at) })
}

/// Behind the first superblock, and whole buckets before the end.
fn bcachefs(image: &Image) -> Option<Found> {
    let near_start = (8..4096).map(|sector| sector * 512);
    let near_end = (1..=4096).filter_map(|sectors| (image.size / 512).checked_sub(sectors).map(|sector| sector * 512));
    near_start.chain(near_end).find_map(|at| {
        let copy = super::filesystem::bcachefs_at(image, at)?;
        (image.le64(at + 104)? == at / 512).then_some(copy)
    })
}

fn f2fs(image: &Image) -> Option<Found> {
    const AT: u64 = 4096 + 1024;
    image.has(AT, b"\x10\x20\xf5\xf2").then(|| Found { uuid: image.uuid(AT + 108), ..Found::new("f2fs", AT) })
}

/// The backup boot region begins twelve sectors behind the first.
fn exfat(image: &Image) -> Option<Found> {
    let places = [512, 1024, 2048, 4096].map(|sector| 12 * sector + 3);
    places.into_iter().find(|&at| image.has(at, b"EXFAT   ")).map(|at| Found::new("exfat", at))
}

/// In the last sector of its partition.
fn ntfs(image: &Image) -> Option<Found> {
    let places =
        [512, 4096].into_iter().filter_map(|sector| Some((image.size - image.size % sector).checked_sub(sector)? + 3));
    places.into_iter().find(|&at| image.has(at, b"NTFS    ")).map(|at| Found::new("ntfs", at))
}

/// FAT32 keeps its boot sector once more in sector 6.
fn vfat(image: &Image) -> Option<Found> {
    let places = [512, 1024, 2048, 4096].map(|sector| 6 * sector + 0x52);
    places.into_iter().find(|&at| image.has(at, b"FAT32   ")).map(|at| Found::new("vfat", at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(size: u64, marks: &[(u64, &[u8])]) -> Vec<(&'static str, u64)> {
        let mut bytes = vec![0; size as usize];
        for (offset, mark) in marks {
            let at = *offset as usize;
            bytes[at..at + mark.len()].copy_from_slice(mark);
        }
        Image::from_bytes(&bytes).signatures().iter().map(|f| (f.name, f.offset)).collect()
    }

    /// A superblock of ext2 with blocks of 1 KiB, of the second group of 8192 blocks.
    fn ext_copy(at: u64, group: &'static [u8]) -> Vec<(u64, &'static [u8])> {
        let first: (u64, &[u8]) = (at + 20, b"\x01");
        vec![first, (at + 32, b"\0\x20"), (at + 56, b"\x53\xef"), (at + 90, group)]
    }

    #[test]
    fn a_copy_counts_only_where_it_says_that_it_is() {
        let at = 8193 << 10;
        assert_eq!(found(16 << 20, &ext_copy(at, b"\x01")), [("ext2", at + 56)]);
        assert_eq!(found(16 << 20, &ext_copy(at, b"\x03")), [], "of the fourth group, in the place of the second");
        assert_eq!(
            found(16 << 20, &ext_copy(at, b"\0")),
            [],
            "a first superblock: the image of a file system in a file"
        );
    }

    #[test]
    fn a_copy_is_not_told_beside_the_first_mark() {
        let at = 8193 << 10;
        let both = [vec![(1080, &b"\x53\xef"[..])], ext_copy(at, b"\x01")].concat();
        assert_eq!(found(16 << 20, &both), [("ext2", 1080)]);
    }

    #[test]
    fn copies_of_the_file_systems_of_windows_and_of_flash_are_seen() {
        let last = (16 << 20) - 512;
        assert_eq!(found(16 << 20, &[(last + 3, b"NTFS    ")]), [("ntfs", last + 3)]);
        assert_eq!(found(16 << 20, &[(12 * 512 + 3, b"EXFAT   ")]), [("exfat", 12 * 512 + 3)]);
        assert_eq!(found(16 << 20, &[(6 * 512 + 0x52, b"FAT32   ")]), [("vfat", 6 * 512 + 0x52)]);
        assert_eq!(found(16 << 20, &[(5120, b"\x10\x20\xf5\xf2")]), [("f2fs", 5120)]);
        let nilfs = (16 << 20) - 4096;
        assert_eq!(found(16 << 20, &[(nilfs, b"\x02"), (nilfs + 6, b"\x34\x34\0\x04")]), [("nilfs2", nilfs + 6)]);
    }

    #[test]
    fn groups_of_xfs_are_looked_for_where_mkfs_puts_them() {
        let places: Vec<u64> = xfs_places(400 << 20).collect();
        for group in [12800 << 10, 25 << 20, 50 << 20, 100 << 20, (50 << 20) - (64 << 10), (1 << 40) - 4096] {
            assert!(places.contains(&group), "{group}: {places:?}");
        }
        let marks: [(u64, &[u8]); 3] =
            [(4 << 20, b"XFSB"), ((4 << 20) + 4, b"\0\0\x10\0"), ((4 << 20) + 84, b"\0\0\x04\0")];
        assert_eq!(found(16 << 20, &marks), [("xfs", 4 << 20)]);
    }
}
