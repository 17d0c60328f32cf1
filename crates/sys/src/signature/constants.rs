//! Formats that one unmistakable constant at a fixed place tells. Pure.
//!
//! Places and constants: on-disk headers of the Linux kernel (fs/*, include/uapi/linux, drivers/md, drivers/block/drbd), of cryptsetup,
//! Ceph, stratisd and QEMU (docs/interop), Microsoft's open specifications (VHD, VHDX, exFAT), and what the real tools write; names:
//! blkid(8) of util-linux 2.38 where it has one.

use super::superblock::WRITE_CACHE;
use super::{Found, Image};

/// Where a constant is.
enum Place {
    /// Bytes from the start.
    Start(u64),
    /// Bytes before the end, which is the last whole sector.
    End(u64),
}

use Place::{End, Start};

/// A format and its constant.
struct Constant {
    name: &'static str,
    place: Place,
    magic: &'static [u8],
    /// Where its 16-byte UUID is, from the start, if it has one.
    uuid: Option<u64>,
}

const fn at(name: &'static str, offset: u64, magic: &'static [u8]) -> Constant {
    Constant { name, place: Start(offset), magic, uuid: None }
}

const fn with_uuid(name: &'static str, offset: u64, magic: &'static [u8], uuid: u64) -> Constant {
    Constant { name, place: Start(offset), magic, uuid: Some(uuid) }
}

/// The label of an OSD of Ceph.
const fn bluestore(offset: u64) -> Constant {
    with_uuid("ceph_bluestore", offset, b"bluestore block device", offset + BLUESTORE_UUID)
}

const fn before_end(name: &'static str, distance: u64, magic: &'static [u8]) -> Constant {
    Constant { name, place: End(distance), magic, uuid: None }
}

/// What stands alone on its device: overwriting it harms nothing else.
const ALONE: &[Constant] = &[
    with_uuid("xfs", 0, b"XFSB", 32),
    at("xfs_external_log", 0, b"\xfe\xed\xba\xbe"),
    at("BitLocker", 3, b"-FVE-FS-"),
    // The GUID of BitLocker in a boot sector that looks like FAT (To Go), and in that of Windows 7 and later.
    at("BitLocker", 424, b"\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01"),
    at("BitLocker", 160, b"\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01"),
    at("exfat", 3, b"EXFAT   "),
    at("ReFS", 0, b"\0\0\0ReFS\0"),
    with_uuid("apfs", 32, b"NXSB", 72),
    with_uuid("erofs", 1024, b"\xe2\xe1\xf5\xe0", 1024 + 48),
    with_uuid("f2fs", 1024, b"\x10\x20\xf5\xf2", 1024 + 108),
    at("hfsplus", 1024, b"H+\0\x04"),
    at("hfsplus", 1024, b"HX\0\x05"),
    with_uuid("jfs", 0x8000, b"JFS1", 0x8000 + 136),
    at("iso9660", 0x8001, b"CD001"),
    at("iso9660", 0x8009, b"CDROM"),
    at("reiserfs", 0x2034, b"ReIsErFs"),
    at("reiserfs", 0x10034, b"ReIsErFs"),
    at("reiserfs", 0x10034, b"ReIsEr2Fs"),
    at("reiserfs", 0x10034, b"ReIsEr3Fs"),
    at("reiser4", 0x10000, b"ReIsEr4"),
    at("gfs2", 0x10000, b"\x01\x16\x19\x70\0\0\0\x01"),
    at("ocfs", 8, b"OracleCFS"),
    at("ocfs2", 0x400, b"OCFSV2"),
    at("ocfs2", 0x800, b"OCFSV2"),
    at("ocfs2", 0x1000, b"OCFSV2"),
    at("ocfs2", 0x2000, b"OCFSV2"),
    at("VMFS", 0x20_0000, b"\x5e\xf1\xab\x2f"),
    at("zonefs", 0, b"SFOZ"),
    at("cramfs", 0, b"\x45\x3d\xcd\x28"),
    at("cramfs", 0, b"\x28\xcd\x3d\x45"),
    at("cramfs", 512, b"\x45\x3d\xcd\x28"),
    at("romfs", 0, b"-rom1fs-"),
    at("ubifs", 0, b"\x31\x18\x10\x06"),
    // HP-UX on big-endian machines keeps it in block 8.
    at("vxfs", 0x400, b"\xf5\xfc\x01\xa5"),
    at("vxfs", 0x2000, b"\xa5\x01\xfc\xf5"),
    at("befs", 0x220, b"1SFB"),
    at("befs", 0x220, b"BFS1"),
    at("befs", 0x20, b"1SFB"),
    at("bfs", 0, b"\xce\xfa\xad\x1b"),
    at("hpfs", 0x2000, b"\x49\xe8\x95\xf9"),
    at("nss", 0x1000, b"SPB5"),
    at("mpool", 0, b"mpoolDev"),
    at("swsuspend", 0, b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c"),
    at("DM_verity_hash", 0, b"verity\0\0"),
    // Images of disks of machines, written to a device as they are. `blkid` has no names for them.
    at("qcow2", 0, b"QFI\xfb"),
    at("qed", 0, b"QED\0"),
    at("vhdx", 0, b"vhdxfile"),
    at("vhd", 0, b"conectix"),
    before_end("vhd", 512, b"conectix"),
    at("vdi", 64, b"\x7f\x10\xda\xbe"),
    at("vmdk", 0, b"KDMV"),
    at("vmdk", 0, b"COWD"),
    at("vmdk", 0, b"# Disk DescriptorFile"),
    at("parallels", 0, b"WithoutFreeSpace"),
    at("parallels", 0, b"WithouFreSpacExt"),
    before_end("dmg", 512, b"koly\0\0\0\x04"),
    // Partition tables.
    at("sgi", 0, b"\x0b\xe5\xa9\x41"),
    at("aix", 0, b"\xc9\xc2\xd4\xc1"),
];

/// Where the UUID of an OSD is in its label, behind the magic, the same UUID as text, and what tells version and length.
//= ceph 16.2, src/os/bluestore/bluestore_types.cc, bluestore_bdev_label_t::encode()
const BLUESTORE_UUID: u64 = 60 + 6;

/// What is part of something larger, or carries other devices.
const MEMBERS: &[Constant] = &[
    with_uuid("bcache", 0x1018, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81", 0x1028),
    bluestore(0),
    // Newer releases repeat the label at 1, 10, 100 and 1000 GiB.
    bluestore(1 << 30),
    bluestore(10 << 30),
    bluestore(100 << 30),
    bluestore(1000 << 30),
    at("vdo", 0, b"dmvdo001"),
    at("stratis", 512 + 4, b"!Stra0tis\x86\xff\x02^\x41rh"),
    at("stratis", 9 * 512 + 4, b"!Stra0tis\x86\xff\x02^\x41rh"),
    at("oracleasm", 32, b"ORCLDISK"),
    at("VMFS_volume_member", 0x10_0000, b"\x0d\xd0\x01\xc0"),
    at("ubi", 0, b"UBI#"),
    at("drbdmanage_control_volume", 0, b"$DRBDmgr=q"),
    at("drbdproxy_datalog", 16, b"DRBDdlh*"),
    at("LVM1_member", 0, b"HM\x01\0"),
    at("LVM1_member", 0, b"HM\x02\0"),
    at("DM_snapshot_cow", 0, b"SnAp"),
    at("DM_integrity", 0, b"integrt\0"),
    // `blkid` has no names for these: metadata of targets of the device mapper.
    at("DM_writecache", 0, &WRITE_CACHE),
    with_uuid("DM_thin_metadata", 32, b"\xba\x52\x9c\x01\0\0\0\0", 16),
    with_uuid("DM_cache_metadata", 32, b"\x03\xc4\x18\0\0\0\0\0", 16),
    with_uuid("DM_era_metadata", 32, b"\x7b\x07\xc1\x7e\0\0\0\0", 16),
    with_uuid("DM_clone_metadata", 32, b"\x64\x7f\xf2\x8a\0\0\0\0", 16),
    at("DM_zoned", 0, b"DBZD"),
    at("DM_mirror_log", 0, b"rRiM"),
    at("storage_spaces_member", 0, b"SPACEDB "),
    at("storage_spaces_member", 0x1000, b"SDBC    "),
    // AIX keeps the record of its volume manager in sector 7.
    at("aix_lvm_member", 7 * 512, b"_LVM"),
    // Firmware arrays. Those whose constant is short are in `firmware.rs`.
    before_end("ddf_raid_member", 512, b"\xde\x11\xde\x11"),
    before_end("ddf_raid_member", 257 * 512, b"\xde\x11\xde\x11"),
    before_end("isw_raid_member", 2 * 512, b"Intel Raid ISM Cfg Sig. "),
    before_end("lsi_mega_raid_member", 512, b"$XIDE$"),
    before_end("nvidia_raid_member", 2 * 512, b"NVIDIA  "),
    before_end("adaptec_raid_member", 512, b"\x37\xfc\x4d\x1e"),
    before_end("hpt45x_raid_member", 11 * 512, b"\xf3\x16\x78\x5a"),
    before_end("hpt45x_raid_member", 11 * 512, b"\xfd\x16\x78\x5a"),
    at("hpt37x_raid_member", 9 * 512 + 32, b"\xf0\x16\x78\x5a"),
    at("hpt37x_raid_member", 9 * 512 + 32, b"\xfd\x16\x78\x5a"),
];

/// Every mark of this kind.
pub(super) fn find(image: &Image) -> Vec<Found> {
    let alone = ALONE.iter().filter_map(|constant| constant.on(image));
    let members = MEMBERS.iter().filter_map(|constant| Some(constant.on(image)?.member()));
    let mut found: Vec<Found> = alone.chain(members).collect();
    for xfs in found.iter_mut().filter(|f| f.name == "xfs") {
        xfs.label = image.text(108, 12);
    }
    found
}

/// Where constants are that lie apart from the megabytes at both ends.
pub(super) fn places(size: u64) -> impl Iterator<Item = u64> {
    ALONE.iter().chain(MEMBERS).filter_map(move |constant| constant.offset(size))
}

impl Constant {
    fn offset(&self, size: u64) -> Option<u64> {
        match self.place {
            Start(offset) => Some(offset),
            End(distance) => (size - size % 512).checked_sub(distance),
        }
    }

    fn on(&self, image: &Image) -> Option<Found> {
        let at = self.offset(image.size).filter(|&at| image.has(at, self.magic))?;
        Some(Found { uuid: self.uuid.and_then(|at| image.uuid(at)), ..Found::new(self.name, at) })
    }
}

/// Every constant with its place on a device of this size.
#[cfg(test)]
pub(super) fn every(size: u64) -> impl Iterator<Item = (u64, &'static [u8])> {
    ALONE.iter().chain(MEMBERS).filter_map(move |constant| Some((constant.offset(size)?, constant.magic)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_is_found_at_its_place_and_counts_as_what_it_is() {
        const SIZE: u64 = 4 << 20;
        for (constants, is_member) in [(ALONE, false), (MEMBERS, true)] {
            for constant in constants {
                let offset = constant.offset(SIZE).unwrap();
                if offset >= SIZE {
                    continue; // On a device that is that large: `far_marks_are_read_at_their_own_offsets`.
                }
                let mut bytes = vec![0; SIZE as usize];
                bytes[offset as usize..][..constant.magic.len()].copy_from_slice(constant.magic);
                let found = Image::from_bytes(&bytes).signatures();
                let mark = found.iter().find(|f| f.name == constant.name && f.offset == offset);
                assert_eq!(mark.map(|f| f.member), Some(is_member), "{} at {offset}: {found:?}", constant.name);
            }
        }
    }
}
