//! Marks of file systems and encryption whose superblock says more than its constant: formats that live alone on their device, except
//! a btrfs or bcachefs that says how many devices it has. Pure.
//!
//! Offsets and field layouts: on-disk headers of the Linux kernel (fs/*, include/uapi/linux) and of
//! cryptsetup; names: blkid(8) of util-linux 2.38.

use super::{Found, Image};

/// Every file system, swap area and encrypted container whose first superblock has fields of interest.
pub(super) fn find(image: &Image) -> Vec<Found> {
    let found =
        [ext(image), btrfs_at(image, 0x10000), bcachefs_at(image, 0x1000), luks(image), ntfs(image), vfat(image)];
    found.into_iter().flatten().collect()
}

/// ext2, ext3, ext4 and external journals share one superblock; its feature flags tell them apart.
fn ext(image: &Image) -> Option<Found> {
    const AT: u64 = 1024;
    if !ext_sane(image, AT) {
        return None;
    }
    let label = image.text(AT + 120, 16);
    Some(Found { uuid: image.uuid(AT + 104), label, ..Found::new(ext_name(image, AT)?, AT + 56) })
}

/// Whether a superblock of ext is at an offset.
pub(super) fn ext_sane(image: &Image, at: u64) -> bool {
    /// The driver's own limit is 64 KiB blocks; random bytes almost never pass it.
    const LOG_BLOCK_SIZE_MAX: u32 = 6;
    image.has(at + 56, b"\x53\xef") && image.le32(at + 24).is_some_and(|size| size <= LOG_BLOCK_SIZE_MAX)
}

/// Which of the family the superblock at an offset is of.
pub(super) fn ext_name(image: &Image, at: u64) -> Option<&'static str> {
    let (compat, incompat, ro_compat) = (image.le32(at + 92)?, image.le32(at + 96)?, image.le32(at + 100)?);
    let has_journal = compat & 0x4 != 0;
    // What ext2 and ext3 can read: file types, meta block groups (and recovery); sparse and large files, b-trees.
    let beyond_ext2 = incompat & !0x12 != 0 || ro_compat & !0x7 != 0;
    let beyond_ext3 = incompat & !0x16 != 0 || ro_compat & !0x7 != 0;
    Some(if incompat & 0x8 != 0 {
        "jbd"
    } else if !has_journal && !beyond_ext2 {
        "ext2"
    } else if has_journal && !beyond_ext3 {
        "ext3"
    } else {
        "ext4"
    })
}

/// A superblock of btrfs at an offset, which it repeats. One of several devices is a member.
pub(super) fn btrfs_at(image: &Image, at: u64) -> Option<Found> {
    if !image.has(at + 0x40, b"_BHRfS_M") || (at != 0x10000 && image.le64(at + 0x30) != Some(at)) {
        return None;
    }
    let found =
        Found { uuid: image.uuid(at + 0x20), label: image.text(at + 0x12b, 256), ..Found::new("btrfs", at + 0x40) };
    Some(if image.le64(at + 0x88)? > 1 { found.member() } else { found })
}

/// A superblock of bcachefs at an offset. One of several devices is a member.
pub(super) fn bcachefs_at(image: &Image, at: u64) -> Option<Found> {
    if !image.has(at + 24, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef") {
        return None;
    }
    let found = Found { uuid: image.uuid(at + 56), label: image.text(at + 72, 32), ..Found::new("bcachefs", at + 24) };
    Some(if image.byte(at + 123)? > 1 { found.member() } else { found })
}

fn luks(image: &Image) -> Option<Found> {
    image.has(0, b"LUKS\xba\xbe").then(|| Found { uuid: image.text(168, 40), ..Found::new("crypto_LUKS", 0) })
}

/// The second header of LUKS 2, behind a first one of 16 KiB to 4 MiB; it survives a wipe of the first.
pub(super) fn luks_second(image: &Image) -> Option<Found> {
    let at = (0..9).map(|n| 0x4000u64 << n).find(|&at| image.has(at, b"SKUL\xba\xbe"))?;
    Some(Found { uuid: image.text(at + 168, 40), ..Found::new("crypto_LUKS", at) })
}

fn ntfs(image: &Image) -> Option<Found> {
    if !image.has(3, b"NTFS    ") {
        return None;
    }
    Some(Found { uuid: image.le64(0x48).map(|serial| format!("{serial:016X}")), ..Found::new("ntfs", 3) })
}

/// FAT has no magic that everybody writes, so its parameter block must make sense as well.
fn vfat(image: &Image) -> Option<Found> {
    let magics: [(u64, &[u8]); 6] = [
        (0x52, b"MSWIN"),
        (0x52, b"FAT32   "),
        (0x36, b"MSDOS"),
        (0x36, b"FAT16   "),
        (0x36, b"FAT12   "),
        (0x36, b"FAT     "),
    ];
    let named = magics.iter().find(|(at, magic)| image.has(*at, magic)).map(|(at, _)| *at);
    let jump = matches!(image.byte(0)?, 0xeb | 0xe9);
    let at = named.or_else(|| (jump && image.has(0x1fe, b"\x55\xaa")).then_some(0x1fe))?;
    let (sector, cluster) = (image.le16(11)?, image.byte(13)?);
    let (reserved, fats, media) = (image.le16(14)?, image.byte(16)?, image.byte(21)?);
    let sane = (512..=4096).contains(&sector)
        && sector.is_power_of_two()
        && cluster.is_power_of_two()
        && reserved > 0
        && fats > 0
        && (media == 0xf0 || media >= 0xf8);
    if !sane || image.has(3, b"NTFS    ") || image.has(3, b"EXFAT   ") {
        return None;
    }
    let fat32 = image.le16(22)? == 0;
    let (serial, label) = if fat32 { (0x43, 0x47) } else { (0x27, 0x2b) };
    let uuid = image.le32(serial).filter(|&n| n != 0).map(|n| format!("{:04X}-{:04X}", n >> 16, n & 0xffff));
    let label = image.text(label, 11).filter(|label| label != "NO NAME");
    Some(Found { uuid, label, ..Found::new("vfat", at) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(size: usize, marks: &[(usize, &[u8])]) -> Image {
        let mut bytes = vec![0; size];
        for (offset, mark) in marks {
            bytes[*offset..offset + mark.len()].copy_from_slice(mark);
        }
        Image::from_bytes(&bytes)
    }

    fn names(image: &Image) -> Vec<&'static str> {
        image.signatures().iter().map(|f| f.name).collect()
    }

    #[test]
    fn two_bytes_alone_do_not_make_an_ext_file_system() {
        assert_eq!(names(&image(1 << 20, &[(0x438, b"\x53\xef")])), ["ext2"]);
        assert_eq!(names(&image(1 << 20, &[(0x438, b"\x53\xef"), (1024 + 24, b"\x07")])), [] as [&str; 0]);
    }

    #[test]
    fn a_boot_jump_without_a_parameter_block_is_not_fat() {
        assert_eq!(names(&image(1 << 20, &[(0, b"\xeb\x3c\x90"), (3, b"\x01"), (0x1fe, b"\x55\xaa")])), ["dos"]);
    }

    #[test]
    fn a_btrfs_tells_how_many_devices_it_has() {
        let marks: [(usize, &[u8]); 2] = [(0x10040, b"_BHRfS_M"), (0x10088, b"\x03")];
        assert!(image(1 << 20, &marks).signatures()[0].member);
        assert!(!image(1 << 20, &marks[..1]).signatures()[0].member);
    }

    #[test]
    fn the_second_luks_header_is_seen_without_the_first() {
        for at in [0x4000, 0x8000, 0x10_0000, 0x20_0000, 0x40_0000] {
            assert_eq!(names(&image(5 << 20, &[(at, b"SKUL\xba\xbe")])), ["crypto_LUKS"]);
        }
    }
}
