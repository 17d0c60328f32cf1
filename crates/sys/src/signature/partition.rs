//! Partition tables (GPT and DOS) and what they contain. Pure; tells nothing about the use of a partition.
//!
//! Layouts: UEFI 2.10 chapter 5; the DOS table as the Linux kernel reads it (block/partitions/msdos.c).

use super::{Found, Image, uuid_text};

/// Most entries that are read from one table; a GPT usually has room for 128.
const PARTITIONS_MAX: u32 = 256;
/// Type of the DOS entry that protects a GPT.
const TYPE_GPT: u8 = 0xee;
/// Type of the DOS entries of a dynamic disk of Windows.
pub(super) const TYPE_LDM: u8 = 0x42;
/// Types of DOS entries that hold a chain of logical partitions.
const TYPES_EXTENDED: [u8; 3] = [0x05, 0x0f, 0x85];

/// One used entry of a partition table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Number, from 1; logical partitions from 5.
    pub number: u32,
    /// First byte on the disk.
    pub start: u64,
    /// Bytes.
    pub len: u64,
    /// As `PARTUUID=` in fstab.
    pub uuid: Option<String>,
    /// As `PARTLABEL=` in fstab.
    pub label: Option<String>,
}

/// The table itself. `others` are the marks already found: a boot sector of FAT or NTFS ends like a table.
pub(super) fn find(image: &Image, others: &[Found]) -> Option<Found> {
    if let Some((at, _)) = gpt_header(image) {
        return Some(Found { uuid: guid(image, at + 56), ..Found::new("gpt", at) });
    }
    if !image.has(510, b"\x55\xaa") || others.iter().any(|f| matches!(f.name, "vfat" | "ntfs" | "exfat" | "BitLocker"))
    {
        return None;
    }
    let entries = [446u64, 462, 478, 494];
    let valid = entries.iter().all(|&at| matches!(image.byte(at), Some(0 | 0x80)));
    let protective = entries.iter().any(|&at| image.byte(at + 4) == Some(TYPE_GPT));
    let id = image.le32(440).filter(|&id| id != 0).map(|id| format!("{id:08x}"));
    valid.then(|| Found { uuid: id, ..Found::new(if protective { "PMBR" } else { "dos" }, 510) })
}

/// Used entries of the table on a whole disk. `sector` reads one logical block of the disk at a byte offset;
/// it is needed for logical partitions, which are chained all over the disk.
pub fn table(image: &Image, logical_block: u64, sector: &dyn Fn(u64) -> Option<Image>) -> Vec<Partition> {
    match (gpt_header(image), find(image, &super::first_marks(image))) {
        (Some((at, block)), _) => gpt(image, at, block),
        (None, Some(table)) if table.name == "dos" => dos(image, logical_block.max(512), table.uuid.as_deref(), sector),
        _ => Vec::new(),
    }
}

/// Offset of the primary or, if that is gone, the backup header, and the block size that it implies.
fn gpt_header(image: &Image) -> Option<(u64, u64)> {
    let backup = |block: u64| image.size.checked_sub(block).map(|at| (at, block));
    let places = [Some((512, 512)), Some((4096, 4096)), backup(512), backup(4096)];
    places.into_iter().flatten().find(|(at, _)| image.has(*at, b"EFI PART"))
}

/// Types of the used entries of a GPT, as GUIDs are written, and where each entry is.
pub(super) fn types(image: &Image) -> Vec<(u64, String)> {
    let Some((header, block)) = gpt_header(image) else { return Vec::new() };
    let entries = gpt_entries(image, header, block);
    entries.into_iter().filter_map(|(_, at)| Some((at, guid(image, at)?))).collect()
}

/// Where a used entry of this type is in a DOS table.
pub(super) fn dos_entry(image: &Image, wanted: u8) -> Option<u64> {
    let (number, ..) = entries(image, 512).into_iter().find(|(_, kind, ..)| *kind == wanted)?;
    Some(446 + 16 * u64::from(number - 1) + 4)
}

/// Numbers and offsets of the entries of a GPT that could be used.
fn gpt_entries(image: &Image, header: u64, block: u64) -> Vec<(u32, u64)> {
    let read = || Some((image.le64(header + 72)?, image.le32(header + 80)?, image.le32(header + 84)?));
    let Some((first, count, entry_size)) = read() else { return Vec::new() };
    let at = |i: u32| first.checked_mul(block)?.checked_add(u64::from(i) * u64::from(entry_size));
    (0..count.min(PARTITIONS_MAX)).filter_map(|i| Some((i + 1, at(i)?))).collect()
}

fn gpt(image: &Image, header: u64, block: u64) -> Vec<Partition> {
    gpt_entries(image, header, block)
        .into_iter()
        .filter_map(|(number, at)| {
            guid(image, at)?;
            let (from, to) = (image.le64(at.checked_add(32)?)?, image.le64(at + 40)?);
            Some(Partition {
                number,
                start: from.checked_mul(block)?,
                len: to.checked_sub(from)?.checked_add(1)?.checked_mul(block)?,
                uuid: guid(image, at + 16),
                label: utf16(image, at + 56),
            })
        })
        .filter(|p| fits(p, image))
        .collect()
}

fn dos(image: &Image, block: u64, id: Option<&str>, sector: &dyn Fn(u64) -> Option<Image>) -> Vec<Partition> {
    let mut partitions = Vec::new();
    let mut extended = None;
    for (number, kind, start, len) in entries(image, block) {
        if TYPES_EXTENDED.contains(&kind) {
            extended.get_or_insert(start);
        } else {
            partitions.push((number, start, len));
        }
    }
    let (base, mut next) = (extended.unwrap_or(0), extended);
    // Each link holds one logical partition and the place of the next link; the limit ends a circle.
    for number in 5..PARTITIONS_MAX {
        let Some(link) = next.take().and_then(|at| Some((at, sector(at)?))) else { break };
        for (_, kind, start, len) in entries(&link.1, block).into_iter().take(2) {
            match TYPES_EXTENDED.contains(&kind) {
                true => next = base.checked_add(start),
                false => partitions.push((number, link.0.saturating_add(start), len)),
            }
        }
    }
    let named = |number: u32| id.map(|id| format!("{id}-{number:02x}"));
    let all = partitions.into_iter().map(|(number, start, len)| Partition {
        number,
        start,
        len,
        uuid: named(number),
        label: None,
    });
    all.filter(|p| fits(p, image)).collect()
}

/// Used entries of one DOS table: (number, type, first byte, bytes).
fn entries(image: &Image, block: u64) -> Vec<(u32, u8, u64, u64)> {
    if !image.has(510, b"\x55\xaa") {
        return Vec::new();
    }
    let entry = |number: u32| {
        let at = 446 + 16 * u64::from(number - 1);
        let (kind, start, len) = (image.byte(at + 4)?, image.le32(at + 8)?, image.le32(at + 12)?);
        (kind != 0 && len != 0).then_some((number, kind, u64::from(start) * block, u64::from(len) * block))
    };
    (1..=4).filter_map(entry).collect()
}

fn fits(partition: &Partition, disk: &Image) -> bool {
    partition.start.checked_add(partition.len).is_some_and(|end| end <= disk.size) && partition.start > 0
}

/// A GUID: its first three fields are little-endian. `None` if all zero.
fn guid(image: &Image, offset: u64) -> Option<String> {
    let mut raw: [u8; 16] = image.array(offset)?;
    raw[..4].reverse();
    raw[4..6].reverse();
    raw[6..8].reverse();
    (raw != [0; 16]).then(|| uuid_text(raw))
}

/// The 36 UTF-16 letters of a partition's name.
fn utf16(image: &Image, offset: u64) -> Option<String> {
    let raw = image.bytes(offset, 72)?;
    let letters: Vec<u16> =
        raw.chunks_exact(2).map(|c| u16::from_le_bytes([c[0], c[1]])).take_while(|&c| c != 0).collect();
    (!letters.is_empty()).then(|| String::from_utf16_lossy(&letters))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: u8, start: u32, len: u32) -> Vec<u8> {
        let mut bytes = vec![0, 0, 0, 0, kind, 0, 0, 0];
        bytes.extend(start.to_le_bytes());
        bytes.extend(len.to_le_bytes());
        bytes
    }

    fn put(bytes: &mut [u8], offset: usize, what: &[u8]) {
        bytes[offset..offset + what.len()].copy_from_slice(what);
    }

    fn list(bytes: &[u8]) -> Vec<(u32, u64, u64)> {
        let sector = |at: u64| bytes.get(at as usize..at as usize + 512).map(Image::from_bytes);
        table(&Image::from_bytes(bytes), 512, &sector).iter().map(|p| (p.number, p.start, p.len)).collect()
    }

    #[test]
    fn logical_partitions_are_followed_along_their_chain() {
        let mut disk = vec![0; 1 << 20];
        put(&mut disk, 510, b"\x55\xaa");
        put(&mut disk, 446, &entry(0x83, 64, 64));
        put(&mut disk, 462, &entry(0x05, 256, 1024));
        put(&mut disk, 256 * 512 + 510, b"\x55\xaa");
        put(&mut disk, 256 * 512 + 446, &entry(0x83, 8, 16));
        put(&mut disk, 256 * 512 + 462, &entry(0x05, 128, 64));
        put(&mut disk, 384 * 512 + 510, b"\x55\xaa");
        put(&mut disk, 384 * 512 + 446, &entry(0x83, 8, 32));
        assert_eq!(list(&disk), [(1, 64 * 512, 64 * 512), (5, 264 * 512, 16 * 512), (6, 392 * 512, 32 * 512)]);
    }

    #[test]
    fn a_chain_that_bites_its_tail_ends() {
        let mut disk = vec![0; 1 << 20];
        put(&mut disk, 510, b"\x55\xaa");
        put(&mut disk, 446, &entry(0x05, 256, 1024));
        put(&mut disk, 256 * 512 + 510, b"\x55\xaa");
        put(&mut disk, 256 * 512 + 462, &entry(0x05, 0, 64));
        assert_eq!(list(&disk), []);
    }

    #[test]
    fn an_entry_that_points_past_the_disk_is_dropped() {
        let mut disk = vec![0; 1 << 20];
        put(&mut disk, 510, b"\x55\xaa");
        put(&mut disk, 446, &entry(0x83, 64, u32::MAX));
        assert_eq!(list(&disk), []);
    }

    #[test]
    fn a_backup_gpt_counts_when_the_primary_is_gone() {
        let mut disk = vec![0; 1 << 20];
        put(&mut disk, (1 << 20) - 512, b"EFI PART");
        assert_eq!(Image::from_bytes(&disk).signatures()[0].name, "gpt");
    }
}
