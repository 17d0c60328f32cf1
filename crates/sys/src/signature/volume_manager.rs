//! Volume managers and clusters of other systems, told by records in sectors of their own or by the types of partitions: Windows LDM,
//! VxVM, GPFS, vSAN, Storage Spaces, Apple RAID and Core Storage, Ceph. Pure.
//!
//! Layouts: the LDM documentation of the Linux-NTFS project and block/partitions/ldm.h of the Linux kernel; IBM's documentation of NSDs
//! ("NSD disk discovery"). Types of partitions: the vendors', as sfdisk lists them.

use super::partition::{self, TYPE_LDM};
use super::{Found, Image};

const SECTOR: u64 = 512;
/// Where LDM, whose format is that of VxVM, keeps its private header on a disk with a DOS table.
const PRIVHEAD_LDM: u64 = 6 * SECTOR;
/// Records at the edges of a private region of LDM or VxVM.
const RECORDS: [&[u8]; 2] = [b"PRIVHEAD", b"TOCBLOCK"];
/// How far from either end private regions are looked for: that of LDM is the last MiB.
const REGION: u64 = 1 << 20;

/// Types of partitions whose contents carry no mark that could be recognised, as GUIDs are written.
const TYPES: [(&str, &str); 11] = [
    ("5808c8aa-7e8f-42e0-85d2-e1e90434cfb3", "ldm_member"),
    ("af9b60a0-1431-4f62-bc68-3311714a69ad", "ldm_member"),
    ("e75caf8f-f680-4cee-afa3-b001e56efc2d", "storage_spaces_member"),
    ("37affc90-ef7d-4e96-91c3-2d7ae055b174", "gpfs_member"),
    ("381cfccc-7288-11e0-92ee-000c2911d0b2", "vsan_member"),
    ("52414944-0000-11aa-aa11-00306543ecac", "apple_raid_member"),
    ("53746f72-6167-11aa-aa11-00306543ecac", "core_storage_member"),
    ("4fbd7e29-9d25-41b8-afd0-062c0ceff05d", "ceph_osd_member"),
    ("45b0969e-9b03-4f30-b4c6-b4b80ceff106", "ceph_osd_member"),
    ("30cd0809-c2b2-499c-8879-2d6b78529876", "ceph_osd_member"),
    ("5ce17fce-4087-4169-b7ff-056cc58473f9", "ceph_osd_member"),
];

/// Every mark of this kind; `others` are those already found, tables among them.
pub(super) fn find(image: &Image, others: &[Found]) -> Vec<Found> {
    let has_table = others.iter().any(|f| f.name == "dos");
    let mut found: Vec<Found> = [ldm(image, has_table), vxvm(image), gpfs(image)].into_iter().flatten().collect();
    for (offset, kind) in partition::types(image) {
        let named = TYPES.iter().find(|(guid, _)| *guid == kind);
        found.extend(named.map(|(_, name)| Found::new(name, offset)));
    }
    found.into_iter().map(Found::member).collect()
}

fn ldm(image: &Image, has_table: bool) -> Option<Found> {
    let private = |at: &u64| RECORDS.iter().any(|record| image.has(*at, record));
    let of_table = || partition::dos_entry(image, TYPE_LDM).filter(|_| has_table);
    let at_end = || sectors(image.size.saturating_sub(REGION).next_multiple_of(SECTOR), image.size).find(private);
    let at = Some(PRIVHEAD_LDM).filter(private).or_else(at_end).or_else(of_table)?;
    Some(Found::new("ldm_member", at))
}

/// The private region is somewhere near the start: 128 KiB behind it on disks that all systems can share.
fn vxvm(image: &Image) -> Option<Found> {
    let end = REGION.min(image.size.saturating_sub(REGION));
    let at = sectors(0, end).filter(|at| *at != PRIVHEAD_LDM).find(|at| image.has(*at, RECORDS[0]))?;
    Some(Found::new("vxvm_member", at))
}

/// Version 1 keeps the descriptor of an NSD in sector 2, and says in words that it does; version 2 has a partition of its own type.
fn gpfs(image: &Image) -> Option<Found> {
    const AT: u64 = 2 * SECTOR;
    let sector = image.bytes(AT, SECTOR as usize)?;
    let says = |words: &[u8]| sector.windows(words.len()).any(|part| part == words);
    (says(b"NSD descriptor") || says(b"GPFS")).then(|| Found::new("gpfs_member", AT))
}

fn sectors(from: u64, to: u64) -> impl Iterator<Item = u64> {
    (from..to).step_by(SECTOR as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 4 << 20;

    fn members(marks: &[(usize, &[u8])]) -> Vec<(&'static str, u64)> {
        let mut bytes = vec![0; SIZE];
        for (offset, mark) in marks {
            bytes[*offset..offset + mark.len()].copy_from_slice(mark);
        }
        let all = Image::from_bytes(&bytes).signatures();
        all.iter().filter(|f| f.member).map(|f| (f.name, f.offset)).collect()
    }

    #[test]
    fn private_headers_belong_to_ldm_at_its_places_and_to_vxvm_elsewhere() {
        assert_eq!(members(&[(0xc00, b"PRIVHEAD")]), [("ldm_member", 0xc00)]);
        assert_eq!(members(&[(SIZE - 512, b"PRIVHEAD")]), [("ldm_member", SIZE as u64 - 512)]);
        assert_eq!(members(&[(SIZE - (1 << 20) + 512, b"TOCBLOCK")]), [("ldm_member", 3 * (1 << 20) + 512)]);
        assert_eq!(members(&[(256 * 512, b"PRIVHEAD")]), [("vxvm_member", 256 * 512)]);
        assert_eq!(members(&[(2 << 20, b"PRIVHEAD")]), [], "in the middle it is only data");
    }

    #[test]
    fn a_dynamic_disk_is_told_by_its_dos_table_alone() {
        assert_eq!(members(&[(446 + 4, b"\x42\0\0\0\x3f\0\0\0\0\x10"), (510, b"\x55\xaa")]), [("ldm_member", 446 + 4)]);
        assert_eq!(members(&[(446 + 4, b"\x83\0\0\0\x3f\0\0\0\0\x10"), (510, b"\x55\xaa")]), []);
    }

    #[test]
    fn the_descriptor_of_an_nsd_says_so_in_words() {
        assert_eq!(members(&[(1024 + 48, b"NSD descriptor for /dev/sdb created by GPFS")]), [("gpfs_member", 1024)]);
    }

    #[test]
    fn types_of_partitions_tell_what_their_contents_do_not() {
        // The first three fields of a GUID are little-endian.
        let storage_spaces = b"\x8f\xaf\x5c\xe7\x80\xf6\xee\x4c\xaf\xa3\xb0\x01\xe5\x6e\xfc\x2d";
        let header: &[(usize, &[u8])] = &[(512, b"EFI PART"), (512 + 72, b"\x02"), (512 + 80, b"\x80\0\0\0\x80")];
        let with = |kind: &'static [u8]| members(&[header, &[(1024 + 128, kind), (1024 + 128 + 32, b"\x08")]].concat());
        assert_eq!(with(storage_spaces), [("storage_spaces_member", 1024 + 128)]);
        assert_eq!(with(&[1; 16]), []);
    }
}
