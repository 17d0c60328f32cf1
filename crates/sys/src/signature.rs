//! Which file systems, volume managers, arrays, partition tables and other formats left their mark on a
//! device. Reads the first and last megabytes by itself and changes nothing; must not decide what a mark
//! means for writing. Names are those that `blkid -p` prints as TYPE or PTTYPE.

mod filesystem;
mod member;
pub mod partition;
mod pool;
mod superblock;

pub use pool::Pool;
pub use superblock::Superblock;

use crate::block;
use crate::file::IoFile;
use std::io;

/// Bytes read from the start: the last magic that is looked for there is VMFS at 2 MiB.
const HEAD: u64 = (2 << 20) + 4096;
/// Bytes read from the end: the third ZFS label begins at most 768 KiB before it.
const TAIL: u64 = 1 << 20;

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
    /// Devices that belong together under this mark, as far as the format tells; otherwise 1.
    pub devices: u64,
}

impl Found {
    fn new(name: &'static str, offset: u64) -> Found {
        Found { name, offset, uuid: None, label: None, devices: 1 }
    }
}

/// The parts of a device, or of a range of it, in which marks are kept.
#[derive(Debug, Clone)]
pub struct Image {
    size: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Image {
    /// Reads from `len` bytes of `file` that begin at `start`. Fails where the device fails.
    pub fn read(file: &IoFile, start: u64, len: u64) -> io::Result<Image> {
        let head = len.min(HEAD);
        let tail = (len - head).min(TAIL);
        Ok(Image { size: len, head: read_range(file, start, head)?, tail: read_range(file, start + len - tail, tail)? })
    }

    /// A device that consists of exactly these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Image {
        Image { size: bytes.len() as u64, head: bytes.to_vec(), tail: Vec::new() }
    }

    /// Every mark, in order of offset.
    pub fn signatures(&self) -> Vec<Found> {
        let mut found = filesystem::find(self);
        found.extend(member::find(self));
        found.extend(partition::find(self, &found));
        found.sort_by_key(|f| f.offset);
        found
    }

    /// `len` bytes at `offset`; `None` if they were not read or do not exist.
    fn bytes(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let within = |chunk: &[u8], at: u64| -> Option<std::ops::Range<usize>> {
            let from = usize::try_from(at).ok()?;
            let to = from.checked_add(len)?;
            (to <= chunk.len()).then_some(from..to)
        };
        if let Some(range) = within(&self.head, offset) {
            return self.head.get(range);
        }
        let at = offset.checked_sub(self.size - self.tail.len() as u64)?;
        self.tail.get(within(&self.tail, at)?)
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
        assert_eq!(image.bytes(8 << 20, 4), None, "the middle is not read");
        assert_eq!(image.bytes(u64::MAX, 4), None);
    }

    #[test]
    fn a_device_shorter_than_announced_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(4096).unwrap();
        assert!(Image::read(&IoFile::open_read(file.path(), false).unwrap(), 0, 8192).is_err());
    }

    /// Places magics at their real offsets among random bytes, so that the code behind them is reached.
    fn sprinkled() -> impl Strategy<Value = Vec<u8>> {
        let magics: Vec<(usize, Vec<u8>)> = vec![
            (0x438, vec![0x53, 0xef]),
            (0x10040, b"_BHRfS_M".to_vec()),
            (0x200, b"LABELONE".to_vec()),
            (0x218, b"LVM2 001".to_vec()),
            (0x1000, vec![0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0]),
            (0x200, b"EFI PART".to_vec()),
            (0x1fe, vec![0x55, 0xaa]),
            (0xff6, b"SWAPSPACE2".to_vec()),
            (0x21000, 0x00ba_b10cu64.to_le_bytes().to_vec()),
        ];
        let n = magics.len();
        (proptest::collection::vec(any::<u8>(), 0..200_000), proptest::collection::vec(any::<bool>(), n)).prop_map(
            move |(mut bytes, on)| {
                for ((offset, magic), _) in magics.iter().zip(on).filter(|(_, on)| *on) {
                    if let Some(place) = bytes.get_mut(*offset..offset + magic.len()) {
                        place.copy_from_slice(magic);
                    }
                }
                bytes
            },
        )
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
