//! Which file systems, volume managers, arrays, partition tables and other formats left their mark on a
//! device. Reads its ends and some fifty places between them by itself and changes nothing; must not decide what a mark means for
//! writing. Names are those that `blkid -p` prints as TYPE or PTTYPE, or of the same form where it has none.

mod backup;
mod constants;
mod filesystem;
mod firmware;
mod member;
pub mod partition;
mod pool;
mod short;
mod superblock;
mod volume_manager;

pub use pool::Pool;
pub use superblock::Superblock;

use crate::block;
use crate::file::IoFile;
use std::io;
use std::ops::Range;

/// Bytes read from the start, where almost everything is: tables, superblocks, two labels of ZFS, private regions of VxVM.
const HEAD: u64 = (1 << 20) + 4096;
/// Bytes read from the end: one of the places of Promise is 1.5 MiB before it, the second superblock of bcachefs 1 MiB and a bucket.
const TAIL: u64 = 2 << 20;

/// A mark found on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Name as `blkid -p` prints it: `ext4`, `LVM2_member`, `gpt`, …
    pub name: &'static str,
    /// Byte offset of its magic from the start of what was read.
    pub offset: u64,
    /// UUID as `blkid` writes it.
    pub uuid: Option<String>,
    /// Label.
    pub label: Option<String>,
    /// Whether what carries it is part of something larger or carries other devices, so that overwriting it harms more than this
    /// device.
    pub member: bool,
}

impl Found {
    fn new(name: &'static str, offset: u64) -> Found {
        Found { name, offset, uuid: None, label: None, member: false }
    }

    fn member(self) -> Found {
        Found { member: true, ..self }
    }
}

/// The parts of a device, or of a range of it, in which marks are kept: 3 MiB at its ends, and 4 KiB at each place where one may lie
/// apart from them.
#[derive(Debug, Clone)]
pub struct Image {
    size: u64,
    /// Offset and bytes of each part, in order, without overlap.
    parts: Vec<(u64, Vec<u8>)>,
}

impl Image {
    /// Reads from `len` bytes of `file` that begin at `start`. Fails where the device fails.
    pub fn read(file: &IoFile, start: u64, len: u64) -> io::Result<Image> {
        let read = |part: &Range<u64>| Ok((part.start, read_range(file, start + part.start, part.end - part.start)?));
        Ok(Image { size: len, parts: parts(len).iter().map(read).collect::<io::Result<_>>()? })
    }

    /// A device that consists of exactly these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Image {
        Image { size: bytes.len() as u64, parts: vec![(0, bytes.to_vec())] }
    }

    /// Every mark, in order of offset. Copies of superblocks are reported only where the first one is gone.
    pub fn signatures(&self) -> Vec<Found> {
        let mut found = first_marks(self);
        found.extend(partition::find(self, &found));
        found.extend(volume_manager::find(self, &found));
        found.extend(backup::find(self, &found));
        found.sort_by_key(|f| f.offset);
        found
    }

    /// `len` bytes at `offset`; `None` if they were not read or do not exist.
    fn bytes(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let after = self.parts.partition_point(|(start, _)| *start <= offset);
        let (start, bytes) = self.parts.get(after.checked_sub(1)?)?;
        let from = usize::try_from(offset - start).ok()?;
        bytes.get(from..from.checked_add(len)?)
    }

    fn array<const N: usize>(&self, offset: u64) -> Option<[u8; N]> {
        self.bytes(offset, N)?.try_into().ok()
    }

    fn byte(&self, offset: u64) -> Option<u8> {
        self.array::<1>(offset).map(|[b]| b)
    }

    fn le16(&self, offset: u64) -> Option<u16> {
        self.array(offset).map(u16::from_le_bytes)
    }

    fn le32(&self, offset: u64) -> Option<u32> {
        self.array(offset).map(u32::from_le_bytes)
    }

    fn be32(&self, offset: u64) -> Option<u32> {
        self.array(offset).map(u32::from_be_bytes)
    }

    fn be64(&self, offset: u64) -> Option<u64> {
        self.array(offset).map(u64::from_be_bytes)
    }

    fn le64(&self, offset: u64) -> Option<u64> {
        self.array(offset).map(u64::from_le_bytes)
    }

    fn has(&self, offset: u64, magic: &[u8]) -> bool {
        self.bytes(offset, magic.len()) == Some(magic)
    }

    /// Text of a fixed field up to the first zero byte, trimmed; `None` if nothing is left.
    fn text(&self, offset: u64, len: usize) -> Option<String> {
        let field = self.bytes(offset, len)?;
        let end = field.iter().position(|&b| b == 0).unwrap_or(len);
        let text = String::from_utf8_lossy(&field[..end]).trim().to_string();
        (!text.is_empty()).then_some(text)
    }

    /// Sixteen bytes as `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`; `None` if all are zero.
    fn uuid(&self, offset: u64) -> Option<String> {
        let raw: [u8; 16] = self.array(offset)?;
        (raw != [0; 16]).then(|| uuid_text(raw))
    }
}

/// Marks at the first place of each format; partition tables and copies need to know them.
fn first_marks(image: &Image) -> Vec<Found> {
    let readers = [constants::find, filesystem::find, member::find, short::find, firmware::find];
    readers.into_iter().flat_map(|find| find(image)).collect()
}

/// The parts of a device of this size that are read.
fn parts(size: u64) -> Vec<Range<u64>> {
    let apart = constants::places(size).chain(firmware::places(size)).chain(backup::places(size));
    let apart = apart.map(|at| at & !(backup::LEN - 1)).map(|at| at..at.saturating_add(backup::LEN));
    let ends = [0..HEAD, size.saturating_sub(TAIL)..size];
    let mut all: Vec<Range<u64>> = ends.into_iter().chain(apart).map(|part| part.start..part.end.min(size)).collect();
    all.retain(|part| part.start < part.end);
    all.sort_by_key(|part| part.start);
    all.dedup_by(|next, part| {
        let joined = next.start <= part.end;
        if joined {
            part.end = part.end.max(next.end);
        }
        joined
    });
    all
}

/// Reads every byte of the range, past a stale page cache.
fn read_range(file: &IoFile, start: u64, len: u64) -> io::Result<Vec<u8>> {
    // Only a hint: where the file system cannot drop pages, its cache is the one that everybody sees.
    let _ = block::forget_clean_pages(file, start, len);
    let mut bytes = vec![0; len as usize];
    let mut done = 0;
    while done < bytes.len() {
        match file.read_at(&mut bytes[done..], start + done as u64) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the device ends before its size")),
            Ok(n) => done += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

fn uuid_text(raw: [u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (i, byte) in raw.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_blank_device_and_an_empty_one_carry_no_mark() {
        assert_eq!(Image::from_bytes(&vec![0; 4 << 20]).signatures(), []);
        assert_eq!(Image::from_bytes(&[]).signatures(), []);
    }

    #[test]
    fn the_tail_of_a_device_is_read_at_its_own_offsets() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let size = 16u64 << 20;
        file.as_file().set_len(size).unwrap();
        std::os::unix::fs::FileExt::write_all_at(file.as_file(), b"mark", size - 4).unwrap();
        let image = Image::read(&IoFile::open_read(file.path(), false).unwrap(), 0, size).unwrap();
        assert!(image.has(size - 4, b"mark"));
        assert_eq!(image.bytes(size - 3, 4), None);
        assert_eq!(image.bytes(6 << 20, 4), None, "the middle is not read");
        assert_eq!(image.bytes(u64::MAX, 4), None);
    }

    #[test]
    fn far_marks_are_read_at_their_own_offsets() {
        let file = tempfile::NamedTempFile::new().unwrap();
        // Sparse: room for every place.
        let size = 1u64 << 41;
        file.as_file().set_len(size).unwrap();
        let put = |at: u64, bytes: &[u8]| std::os::unix::fs::FileExt::write_all_at(file.as_file(), bytes, at).unwrap();
        let btrfs = 256 << 30;
        put(btrfs + 0x30, &u64::to_le_bytes(btrfs));
        put(btrfs + 0x40, b"_BHRfS_M");
        put(100 << 30, b"bluestore block device");
        put(4 << 20, b"SKUL\xba\xbe");
        let group = (1u64 << 40) - 4096;
        put(group, b"XFSB\0\0\x10\0");
        put(group + 84, &u32::to_be_bytes((group / 4096) as u32));
        let image = Image::read(&IoFile::open_read(file.path(), false).unwrap(), 0, size).unwrap();
        let found: Vec<_> = image.signatures().into_iter().map(|f| (f.name, f.offset)).collect();
        let expected =
            [("crypto_LUKS", 4 << 20), ("ceph_bluestore", 100 << 30), ("btrfs", btrfs + 0x40), ("xfs", group)];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_read_of_a_device_stays_small_however_large_it_is() {
        for size in [0, 511, 4096, 3 << 20, (100 << 20) + 4608, 10 << 40, (8 << 60) - 512] {
            let parts = parts(size);
            assert!(parts.windows(2).all(|two| two[0].end < two[1].start), "{size}: {parts:?}");
            assert!(parts.iter().all(|part| part.start < part.end && part.end <= size));
            let read: u64 = parts.iter().map(|part| part.end - part.start).sum();
            assert!(read <= HEAD + TAIL + 64 * backup::LEN && parts.len() <= 64, "{size}: {read} in {}", parts.len());
        }
    }

    #[test]
    fn a_device_shorter_than_announced_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(4096).unwrap();
        assert!(Image::read(&IoFile::open_read(file.path(), false).unwrap(), 0, 8192).is_err());
    }

    /// Bytes of a device whose constants are put among random others.
    const SPRINKLED: u64 = 200_704;

    /// Places magics at their real offsets among random bytes, so that the code behind them is reached.
    fn sprinkled() -> impl Strategy<Value = Vec<u8>> {
        let last = SPRINKLED - 512;
        let others: Vec<(u64, &[u8])> = vec![
            (0x438, b"\x53\xef"),
            (0x10040, b"_BHRfS_M"),
            (0x1018, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"),
            (0x200, b"LABELONE"),
            (0x218, b"LVM2 001"),
            (0x1000, b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
            (0x200, b"EFI PART"),
            (0x1fe, b"\x55\xaa"),
            (0xff6, b"SWAPSPACE2"),
            (0x21000, b"\x0c\xb1\xba\0\0\0\0\0"),
            (0x400, b"\x02\0\0\0\0\0\x34\x34\0\x01"),
            (0x410, b"\x8f\x13"),
            (0x400, b"BD"),
            (0x8001, b"BEA01"),
            (0x8801, b"NSR02"),
            (0xc00, b"PRIVHEAD"),
            (0x200, b"PM\0\0\0\0\0\x01"),
            (last, b"JM"),
            (last, b"\x55\xaa\x01"),
            (last + 0x60, b"\0\0\0\x2f"),
        ];
        let magics: Vec<(u64, &[u8])> = constants::every(SPRINKLED)
            .filter(|(at, magic)| at + magic.len() as u64 <= SPRINKLED)
            .chain(others)
            .collect();
        let n = magics.len();
        let bytes = proptest::collection::vec(any::<u8>(), 0..SPRINKLED as usize + 1);
        // Few at a time, or later ones overwrite most of the earlier.
        (bytes, proptest::collection::vec(proptest::bool::weighted(0.1), n)).prop_map(move |(mut bytes, on)| {
            for ((offset, magic), _) in magics.iter().zip(on).filter(|(_, on)| *on) {
                let offset = *offset as usize;
                if let Some(place) = bytes.get_mut(offset..offset + magic.len()) {
                    place.copy_from_slice(magic);
                }
            }
            bytes
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in sprinkled()) {
            let image = Image::from_bytes(&bytes);
            image.signatures();
            partition::table(&image, 512, &|_| None);
        }
    }
}
