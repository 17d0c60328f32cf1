//! Marks of file systems, swap and encryption: formats that live alone on their device, except a btrfs or
//! bcachefs that says how many devices it has. Pure.
//!
//! Offsets and field layouts: on-disk headers of the Linux kernel (fs/*, include/uapi/linux) and of
//! cryptsetup; names: blkid(8) of util-linux 2.38.

use super::{Found, Image};

/// A format told by one unmistakable constant.
struct Plain {
    name: &'static str,
    offset: u64,
    magic: &'static [u8],
    /// Where its 16-byte UUID is, if it has one.
    uuid: Option<u64>,
}

const fn plain(name: &'static str, offset: u64, magic: &'static [u8], uuid: Option<u64>) -> Plain {
    Plain { name, offset, magic, uuid }
}

const PLAIN: &[Plain] = &[
    plain("xfs", 0, b"XFSB", Some(32)),
    plain("xfs_external_log", 0, b"\xfe\xed\xba\xbe", None),
    plain("BitLocker", 3, b"-FVE-FS-", None),
    plain("exfat", 3, b"EXFAT   ", None),
    plain("ReFS", 0, b"\0\0\0ReFS\0", None),
    plain("apfs", 32, b"NXSB", Some(72)),
    plain("squashfs", 0, b"hsqs", None),
    plain("erofs", 1024, b"\xe2\xe1\xf5\xe0", Some(1024 + 48)),
    plain("f2fs", 1024, b"\x10\x20\xf5\xf2", Some(1024 + 108)),
    plain("hfsplus", 1024, b"H+\0\x04", None),
    plain("hfsplus", 1024, b"HX\0\x05", None),
    plain("jfs", 0x8000, b"JFS1", Some(0x8000 + 136)),
    plain("iso9660", 0x8001, b"CD001", None),
    plain("udf", 0x8001, b"BEA01", None),
    plain("reiserfs", 0x10034, b"ReIsErFs", None),
    plain("reiserfs", 0x10034, b"ReIsEr2Fs", None),
    plain("reiserfs", 0x10034, b"ReIsEr3Fs", None),
    plain("gfs2", 0x10000, b"\x01\x16\x19\x70\0\0\0\x01", None),
    plain("ocfs2", 0x1000, b"OCFSV2", None),
    plain("ocfs2", 0x2000, b"OCFSV2", None),
    plain("VMFS", 0x20_0000, b"\x5e\xf1\xab\x2f", None),
    plain("swsuspend", 4086, b"S1SUSPEND\0", None),
    plain("swsuspend", 4086, b"S2SUSPEND\0", None),
    plain("swsuspend", 4086, b"ULSUSPEND\0", None),
    plain("swsuspend", 4086, b"LINHIB0001", None),
];

/// Every file system, swap area and encrypted container.
pub(super) fn find(image: &Image) -> Vec<Found> {
    let mut found: Vec<Found> = PLAIN
        .iter()
        .filter(|p| image.has(p.offset, p.magic))
        .map(|p| Found { uuid: p.uuid.and_then(|at| image.uuid(at)), ..Found::new(p.name, p.offset) })
        .collect();
    found.extend(
        [ext(image), btrfs(image), bcachefs(image), swap(image), luks(image), ntfs(image), vfat(image)]
            .into_iter()
            .flatten(),
    );
    for f in found.iter_mut().filter(|f| f.name == "xfs") {
        f.label = image.text(108, 12);
    }
    found
}

/// ext2, ext3, ext4 and external journals share one superblock; its feature flags tell them apart.
fn ext(image: &Image) -> Option<Found> {
    const AT: u64 = 1024;
    /// The driver's own limit is 64 KiB blocks; random bytes almost never pass it.
    const LOG_BLOCK_SIZE_MAX: u32 = 6;
    if !image.has(AT + 56, b"\x53\xef") || image.le32(AT + 24)? > LOG_BLOCK_SIZE_MAX {
        return None;
    }
    let (compat, incompat, ro_compat) = (image.le32(AT + 92)?, image.le32(AT + 96)?, image.le32(AT + 100)?);
    let has_journal = compat & 0x4 != 0;
    // What ext2 and ext3 can read: file types, meta block groups (and recovery); sparse and large files, b-trees.
    let beyond_ext2 = incompat & !0x12 != 0 || ro_compat & !0x7 != 0;
    let beyond_ext3 = incompat & !0x16 != 0 || ro_compat & !0x7 != 0;
    let name = if incompat & 0x8 != 0 {
        "jbd"
    } else if !has_journal && !beyond_ext2 {
        "ext2"
    } else if has_journal && !beyond_ext3 {
        "ext3"
    } else {
        "ext4"
    };
    let label = image.text(AT + 120, 16);
    Some(Found { uuid: image.uuid(AT + 104), label, ..Found::new(name, AT + 56) })
}

fn btrfs(image: &Image) -> Option<Found> {
    const AT: u64 = 0x10000;
    if !image.has(AT + 0x40, b"_BHRfS_M") {
        return None;
    }
    Some(Found {
        uuid: image.uuid(AT + 0x20),
        label: image.text(AT + 0x12b, 256),
        devices: image.le64(AT + 0x88)?.max(1),
        ..Found::new("btrfs", AT + 0x40)
    })
}

fn bcachefs(image: &Image) -> Option<Found> {
    const AT: u64 = 0x1000;
    if !image.has(AT + 24, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef") {
        return None;
    }
    Some(Found {
        uuid: image.uuid(AT + 56),
        label: image.text(AT + 72, 32),
        devices: u64::from(image.byte(AT + 123)?.max(1)),
        ..Found::new("bcachefs", AT + 24)
    })
}

/// The mark ends the first page; the page size is that of the machine that wrote it.
fn swap(image: &Image) -> Option<Found> {
    let page = [4096u64, 8192, 16384, 32768, 65536];
    let magic = |at: u64| image.has(at, b"SWAPSPACE2") || image.has(at, b"SWAP-SPACE");
    let at = page.iter().map(|page| page - 10).find(|&at| magic(at))?;
    Some(Found { uuid: image.uuid(1024 + 12), label: image.text(1024 + 28, 16), ..Found::new("swap", at) })
}

/// LUKS 1 and 2; the second header of LUKS 2 survives a wipe of the first one.
fn luks(image: &Image) -> Option<Found> {
    let second = (0..9).map(|n| 0x4000u64 << n);
    let at = std::iter::once(0)
        .filter(|&at| image.has(at, b"LUKS\xba\xbe"))
        .chain(second.filter(|&at| image.has(at, b"SKUL\xba\xbe")))
        .next()?;
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
        assert_eq!(image(1 << 20, &marks).signatures()[0].devices, 3);
    }

    #[test]
    fn swap_of_a_machine_with_64_kib_pages_is_seen() {
        let found = image(1 << 20, &[(65526, b"SWAPSPACE2")]).signatures();
        assert_eq!((found[0].name, found[0].offset), ("swap", 65526));
    }

    #[test]
    fn the_second_luks_header_is_seen_without_the_first() {
        assert_eq!(names(&image(1 << 20, &[(0x4000, b"SKUL\xba\xbe")])), ["crypto_LUKS"]);
    }
}
