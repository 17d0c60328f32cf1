//! The beginning of a ledger: whose it is, and which blocks its cells are about. Must not trust what it reads.

use crate::area::Area;
use crate::verify::marks::Marks;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// First bytes of a ledger; the last of them count the versions of this format.
const MAGIC: [u8; 8] = *b"StendLg1";
/// Words of a cell: writes, oldest acknowledged, acknowledgements before that was sent, its own number.
pub(super) const CELL_WORDS: usize = 4;
/// Words of an area: first byte, blocks, bytes of a block, stream.
pub(super) const AREA_WORDS: usize = 4;
/// Bytes before the table of areas.
pub(super) const FIXED: usize = 8192;
/// Where the highest sequence stands that may have been sent.
pub(super) const RESERVED: usize = 4096;
/// Where it stands whether a sync has failed.
pub(super) const SHAKEN: usize = 4104;
/// Where names stand, each with [`NAME`] bytes.
const RUN: usize = 64;
const BOOT: usize = 128;
const NAME: usize = 64;
/// Where the checksum stands, of everything but itself that does not change.
const SUM: usize = 56;
/// More areas than a trial can have jobs (64 streams of 1024).
const AREAS_MAX: u64 = 1 << 16;
/// No block is larger: it is read at once.
const BLOCK_MAX: u64 = stend_spec::keys::BLOCK_SIZE.most.0;

/// Whose cells these are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AreaOf {
    pub area: Area,
    pub block: u64,
    pub stream: u16,
}

/// What a ledger says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub run: String,
    pub marks: Marks,
    /// Writes that may be in flight.
    pub in_flight: u64,
    /// The trial bypasses the page cache.
    pub direct: bool,
    /// The boot in which it was made.
    pub boot: String,
    pub areas: Vec<AreaOf>,
}

impl Head {
    /// Where the cells begin.
    pub fn cells_at(&self) -> usize {
        (FIXED + self.areas.len() * AREA_WORDS * 8).next_multiple_of(4096)
    }

    /// Bytes of the whole ledger.
    pub fn len(&self) -> u64 {
        let blocks: u64 = self.areas.iter().map(|of| of.area.blocks).fold(0, u64::saturating_add);
        blocks.saturating_mul(CELL_WORDS as u64 * 8).saturating_add(self.cells_at() as u64)
    }

    /// As it is written before the first write is sent.
    pub fn to_bytes(&self, reserved: u64) -> Vec<u8> {
        let mut bytes = vec![0; self.cells_at()];
        bytes[..8].copy_from_slice(&MAGIC);
        let Marks { run, epoch } = self.marks;
        let numbers =
            [self.len(), run, u64::from(epoch), self.in_flight, u64::from(self.direct), self.areas.len() as u64];
        for (at, number) in (8..).step_by(8).zip(numbers) {
            put(&mut bytes, at, number);
        }
        for (at, name) in [(RUN, &self.run), (BOOT, &self.boot)] {
            let name = &name.as_bytes()[..name.len().min(NAME)];
            bytes[at..at + name.len()].copy_from_slice(name);
        }
        put(&mut bytes, RESERVED, reserved);
        for (of, at) in self.areas.iter().zip((FIXED..).step_by(AREA_WORDS * 8)) {
            let words = [of.area.start, of.area.blocks, of.block, u64::from(of.stream)];
            words.into_iter().zip((at..).step_by(8)).for_each(|(word, at)| put(&mut bytes, at, word));
        }
        let sum = sum(&bytes);
        put(&mut bytes, SUM, sum);
        bytes
    }

    /// Reads that of a ledger of `len` bytes, by something that reads exactly so much from an offset on. What is no whole ledger is
    /// `InvalidData`.
    pub fn read(len: u64, read_at: &mut dyn FnMut(&mut [u8], u64) -> io::Result<()>) -> io::Result<Head> {
        let foreign = || io::Error::from(ErrorKind::InvalidData);
        let mut read = |bytes: &mut [u8], at| match read_at(bytes, at) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(foreign()),
            other => other,
        };
        let mut bytes = vec![0; FIXED];
        read(&mut bytes, 0)?;
        let count = number(&bytes, 48);
        if bytes[..8] != MAGIC || count > AREAS_MAX {
            return Err(foreign());
        }
        bytes.resize(FIXED + count as usize * AREA_WORDS * 8, 0);
        read(&mut bytes[FIXED..], FIXED as u64)?;
        Head::parse(&bytes, len).ok_or_else(foreign)
    }

    /// Reads it back; `None` for what is no whole ledger of this format.
    fn parse(bytes: &[u8], len: u64) -> Option<Head> {
        let whole = bytes.len() >= FIXED && bytes[..8] == MAGIC && number(bytes, SUM) == sum(bytes);
        let count = number(bytes.get(..FIXED)?, 48) as usize;
        if !whole || bytes.len() < FIXED + count * AREA_WORDS * 8 {
            return None;
        }
        let name = |at: usize| {
            let bytes = &bytes[at..at + NAME];
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(NAME);
            String::from_utf8(bytes[..end].to_vec()).ok()
        };
        let area = |index: usize| {
            let at = |word: usize| number(bytes, FIXED + (index * AREA_WORDS + word) * 8);
            let (start, blocks, block) = (at(0), at(1), at(2));
            let sane = blocks > 0 && block > 0 && block.is_multiple_of(512) && block <= BLOCK_MAX;
            blocks.checked_mul(block)?.checked_add(start)?;
            sane.then_some(AreaOf { area: Area { start, blocks }, block, stream: at(3) as u16 })
        };
        let head = Head {
            run: name(RUN)?,
            marks: Marks { run: number(bytes, 16), epoch: number(bytes, 24) as u32 },
            in_flight: number(bytes, 32),
            direct: number(bytes, 40) == 1,
            boot: name(BOOT)?,
            areas: (0..count).map(area).collect::<Option<_>>()?,
        };
        (head.len() == len && number(bytes, 8) == len).then_some(head)
    }
}

/// The head of the ledger of that name; `None` if there is no such file. What is there and is no whole ledger is
/// `InvalidData`.
pub(super) fn read(path: &Path) -> io::Result<Option<Head>> {
    open(path).map(|found| found.map(|(_, head)| head))
}

/// The same with the file.
pub(super) fn open(path: &Path) -> io::Result<Option<(File, Head)>> {
    let file = match stend_sys::plain::open_to_read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other?.ok_or_else(|| io::Error::from(ErrorKind::InvalidData))?,
    };
    let len = file.metadata()?.len();
    let head = Head::read(len, &mut |memory, at| file.read_exact_at(memory, at))?;
    Ok(Some((file, head)))
}

/// A sum over all that does not change: the first page without the sum itself, and the table.
fn sum(bytes: &[u8]) -> u64 {
    let count = number(bytes, 48).min(AREAS_MAX) as usize;
    let end = (FIXED + count * AREA_WORDS * 8).min(bytes.len());
    let first = crc32c::crc32c(&bytes[..SUM]);
    let rest = crc32c::crc32c_append(first, &bytes[SUM + 8..RESERVED]);
    u64::from(crc32c::crc32c_append(rest, &bytes[FIXED..end]))
}

/// Numbers are stored as the machine has them in memory, because cells are; another byte order fails the checksum.
fn put(bytes: &mut [u8], at: usize, number: u64) {
    bytes[at..at + 8].copy_from_slice(&number.to_ne_bytes());
}

pub(super) fn number(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(word)
}
