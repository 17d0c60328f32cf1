//! Marks of things that span devices, whose place or fields must be computed: LVM, md, ZFS, DRBD. Pure.
//!
//! Offsets and field layouts: drivers/md, include/uapi/linux/raid, drivers/block/drbd of the Linux kernel,
//! LVM2 lib/label, OpenZFS include/sys/vdev_impl.h; names: blkid(8) of util-linux 2.38.

use super::{Found, Image, uuid_text};

/// Every mark of this kind.
pub(super) fn find(image: &Image) -> Vec<Found> {
    [lvm(image), md(image), zfs(image), drbd(image)].into_iter().flatten().map(Found::member).collect()
}

/// The label is in one of the first four sectors.
fn lvm(image: &Image) -> Option<Found> {
    let at = (0..4).map(|n| n * 512).find(|&at| image.has(at, b"LABELONE") && image.has(at + 24, b"LVM2 001"))?;
    let raw = image.text(at + 32, 32);
    Some(Found { uuid: raw.map(|raw| lvm_uuid(&raw)), ..Found::new("LVM2_member", at + 24) })
}

/// LVM groups its 32 letters 6-4-4-4-4-4-6.
fn lvm_uuid(raw: &str) -> String {
    let mut text = String::with_capacity(38);
    for (i, letter) in raw.chars().enumerate() {
        if matches!(i, 6 | 10 | 14 | 18 | 22 | 26) {
            text.push('-');
        }
        text.push(letter);
    }
    text
}

/// Version 1.x is little-endian at the start (1.1), at 4 KiB (1.2) or 8 to 12 KiB before the end (1.0);
/// version 0.90 has the byte order of its machine and lies in the last whole 64 KiB but one.
fn md(image: &Image) -> Option<Found> {
    const MAGIC: u32 = 0xa92b_4efc;
    let sectors = image.size / 512;
    let places = [Some(0), Some(4096), sectors.checked_sub(16).map(|s| (s & !7) * 512)];
    for at in places.into_iter().flatten() {
        if image.le32(at) == Some(MAGIC) && image.le32(at + 4) == Some(1) {
            let label = image.text(at + 32, 32);
            return Some(Found { uuid: image.uuid(at + 16), label, ..Found::new("linux_raid_member", at) });
        }
    }
    let at = (image.size & !0xffff).checked_sub(0x1_0000)?;
    let (little, big) = (image.le32(at) == Some(MAGIC), image.be32(at) == Some(MAGIC));
    if !little && !big || image.le32(at + 4) != Some(0) {
        return None;
    }
    let mut uuid = [0; 16];
    for (word, offset) in uuid.chunks_exact_mut(4).zip([20, 52, 56, 60]) {
        let value = if big { image.be32(at + offset)? } else { image.le32(at + offset)? };
        word.copy_from_slice(&value.to_be_bytes());
    }
    Some(Found { uuid: Some(uuid_text(uuid)), ..Found::new("linux_raid_member", at) })
}

/// Four labels of 256 KiB, two at each end; the upper half of each is a ring of uberblocks. One that is
/// left is enough: blkid wants four, but a mark that is overlooked costs more than one that is old.
fn zfs(image: &Image) -> Option<Found> {
    const LABEL: u64 = 256 << 10;
    /// Smallest slot of the ring.
    const SLOT: u64 = 1024;
    const MAGIC: u64 = 0x00ba_b10c;
    let end = image.size - image.size % LABEL;
    let labels = [Some(0), Some(LABEL), end.checked_sub(2 * LABEL), end.checked_sub(LABEL)];
    let mut slots = labels
        .into_iter()
        .flatten()
        .flat_map(|label| (LABEL / 2..LABEL).step_by(SLOT as usize).map(move |slot| label + slot));
    slots
        .find(|&at| image.le64(at).is_some_and(|magic| magic == MAGIC || magic.swap_bytes() == MAGIC))
        .map(|at| Found { label: image.pool().and_then(|pool| pool.name), ..Found::new("zfs_member", at) })
}

/// Metadata of versions 8.3, 8.4 and 9: in the last whole 4 KiB of a device with data, where `blkid` looks from the end on, or at the
/// start of one that has nothing else. The UUID is that of the device, as `blkid` prints it; version 8.4 leaves it zero unless told
/// otherwise.
fn drbd(image: &Image) -> Option<Found> {
    const BLOCK: u64 = 4096;
    const OLD: std::ops::RangeInclusive<u32> = 0x8374_026b..=0x8374_026c;
    const NEW: u32 = 0x8374_026d;
    let internal = (image.size & !(BLOCK - 1)).checked_sub(BLOCK);
    let places = [internal, image.size.checked_sub(BLOCK), Some(0)];
    let magic = |at: u64| image.be32(at + 60).filter(|magic| OLD.contains(magic) || *magic == NEW);
    let (at, magic) = places.into_iter().flatten().find_map(|at| Some((at, magic(at)?)))?;
    let uuid = image.be64(at + if magic == NEW { 48 } else { 40 }).filter(|uuid| *uuid != 0);
    Some(Found { uuid: uuid.map(|uuid| format!("{uuid:x}")), ..Found::new("drbd", at + 60) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Large enough that the labels at both ends do not overlap.
    const SIZE: usize = 2 << 20;

    fn found(marks: &[(usize, &[u8])]) -> Vec<(&'static str, u64)> {
        let mut bytes = vec![0; SIZE];
        for (offset, mark) in marks {
            bytes[*offset..offset + mark.len()].copy_from_slice(mark);
        }
        Image::from_bytes(&bytes).signatures().iter().map(|f| (f.name, f.offset)).collect()
    }

    #[test]
    fn every_place_of_an_md_superblock_is_looked_at() {
        let v1: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0];
        let v0: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9, 0, 0, 0, 0, 90];
        let at = |offset: usize, magic| found(&[(offset, magic)]);
        assert_eq!(at(0, v1), [("linux_raid_member", 0)]);
        assert_eq!(at(4096, v1), [("linux_raid_member", 4096)]);
        assert_eq!(at(SIZE - 8192, v1), [("linux_raid_member", SIZE as u64 - 8192)]);
        assert_eq!(at(SIZE - 65536, v0), [("linux_raid_member", SIZE as u64 - 65536)]);
        assert_eq!(at(4096, v0), [], "0.90 is never at 4 KiB");
    }

    #[test]
    fn one_uberblock_in_any_label_makes_a_zfs_member() {
        let magic = &0x00ba_b10cu64.to_le_bytes()[..];
        for label in [0, 256 << 10, SIZE - (512 << 10), SIZE - (256 << 10)] {
            let slot = label + (128 << 10) + 5 * 1024;
            assert_eq!(found(&[(slot, magic)]), [("zfs_member", slot as u64)]);
        }
        assert_eq!(found(&[(64 << 10, magic)]), [], "below the ring of a label it is only data");
    }

    #[test]
    fn marks_at_the_end_belong_to_drbd_and_firmware_arrays() {
        assert_eq!(found(&[(SIZE - 4096 + 60, b"\x83\x74\x02\x6d")]), [("drbd", SIZE as u64 - 4096 + 60)]);
        assert_eq!(found(&[(SIZE - 512, b"\xde\x11\xde\x11")]), [("ddf_raid_member", SIZE as u64 - 512)]);
        assert_eq!(found(&[(SIZE - 1024, b"Intel Raid ISM Cfg Sig. ")]), [("isw_raid_member", SIZE as u64 - 1024)]);
    }

    #[test]
    fn drbd_is_found_wherever_it_keeps_its_metadata_and_told_by_the_uuid_of_its_device() {
        let magic: &[u8] = b"\x83\x74\x02\x6c";
        assert_eq!(found(&[(60, magic)]), [("drbd", 60)], "a device for metadata alone");
        let uuid = &0xf123_4567_89ab_cdefu64.to_be_bytes()[..];
        let mut bytes = vec![0; SIZE + 512];
        for (at, mark) in [(SIZE - 4096 + 60, magic), (SIZE - 4096 + 40, uuid)] {
            bytes[at..at + mark.len()].copy_from_slice(mark);
        }
        let odd = Image::from_bytes(&bytes).signatures();
        let [Found { name: "drbd", offset, uuid, member: true, .. }] = &odd[..] else { panic!("{odd:?}") };
        assert_eq!(
            (*offset, uuid.as_deref()),
            (SIZE as u64 - 4096 + 60, Some("f123456789abcdef")),
            "no whole number of 4 KiB"
        );
    }

    #[test]
    fn a_physical_volume_needs_its_label_and_its_type() {
        assert_eq!(found(&[(512, b"LABELONE"), (512 + 24, b"LVM2 001")]), [("LVM2_member", 0x218)]);
        assert_eq!(found(&[(512, b"LABELONE")]), []);
        assert_eq!(lvm_uuid("KxzfYniszcf5p5pBG77tyIdTjStXazE6"), "KxzfYn-iszc-f5p5-pBG7-7tyI-dTjS-tXazE6");
    }
}
