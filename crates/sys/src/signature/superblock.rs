//! What the targets of the device mapper that keep a superblock write to the start of a device. Pure.
//!
//! Layouts: drivers/md/dm-integrity.c (`struct superblock`), drivers/md/dm-writecache.c (`struct wc_memory_superblock`) of Linux 6.12.

use super::Image;

/// What is at the start of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Superblock {
    /// dm-integrity.
    Checksums {
        /// What `integritysetup` draws for each; empty where it drew nothing.
        salt: String,
        /// Sectors of 512 bytes that are left for data.
        sectors: u64,
    },
    /// dm-writecache.
    WriteCache,
    /// Nothing but zeroes in all of its room: a cache would make a new one.
    Blank,
    /// Something else.
    Other,
}

/// Bytes that a superblock has for itself. File systems and tables of partitions leave the first of them zero, but not all.
const ROOM: usize = 4096;
/// First word of a cache of writes.
pub(super) const WRITE_CACHE: [u8; 8] = [0x21, 0x93, 0x48, 0x23, 1, 0, 0, 0];

impl Image {
    /// What a target of the device mapper would find; `None` of a device that is shorter than a sector.
    pub fn superblock(&self) -> Option<Superblock> {
        self.bytes(0, 512)?;
        if self.has(0, b"integrt\0") {
            let salt = self.array::<16>(48)?.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let salt = if salt.bytes().all(|digit| digit == b'0') { String::new() } else { salt };
            return Some(Superblock::Checksums { salt, sectors: self.le64(16)? });
        }
        Some(match () {
            () if self.has(0, &WRITE_CACHE) => Superblock::WriteCache,
            () if self.has(0, &[0; ROOM]) => Superblock::Blank,
            () => Superblock::Other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(marks: &[(usize, &[u8])]) -> Option<Superblock> {
        let mut bytes = vec![0; 4096];
        for (offset, mark) in marks {
            bytes[*offset..offset + mark.len()].copy_from_slice(mark);
        }
        Image::from_bytes(&bytes).superblock()
    }

    #[test]
    fn superblocks_are_told_from_each_other_and_from_anything_else() {
        let sectors = 193_656u64.to_le_bytes();
        let salt: Vec<u8> = (0..16).collect();
        let checksums = of(&[(0, b"integrt\0"), (16, &sectors), (48, &salt)]);
        let salt = "000102030405060708090a0b0c0d0e0f".to_string();
        assert_eq!(checksums, Some(Superblock::Checksums { salt, sectors: 193_656 }));
        let without = of(&[(0, b"integrt\0"), (16, &sectors)]);
        assert_eq!(without, Some(Superblock::Checksums { salt: String::new(), sectors: 193_656 }));
        assert_eq!(of(&[(0, &WRITE_CACHE)]), Some(Superblock::WriteCache));
        assert_eq!(of(&[]), Some(Superblock::Blank));
        // ext4, GPT, LVM and swap begin with zeroes, too.
        assert_eq!(of(&[(512, b"x")]), Some(Superblock::Other));
        assert_eq!(of(&[(4086, b"SWAPSPACE2")]), Some(Superblock::Other));
        assert_eq!(of(&[(0, b"XFSB")]), Some(Superblock::Other));
        assert_eq!(Image::from_bytes(&[0; 511]).superblock(), None);
    }
}
