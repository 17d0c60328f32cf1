//! What is read from a device, or decides what may be written to one.

use sha2::{Digest, Sha256};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use stend_base::Bytes;
use stend_base::own_data::{BLOCK, STAMP};
use stend_load::{Pending, Reading, WriteLog};
use stend_stand::untrusted;
use stend_sys::IoFile;
use stend_sys::signature::{Image, partition};

/// Places in a ledger (docs/formats/verification.md): its length, its checksum, the run, the count of areas.
const LEN: std::ops::Range<usize> = 8..16;
const COUNT: std::ops::Range<usize> = 48..56;
const SUM: std::ops::Range<usize> = 56..64;
const RUN: std::ops::Range<usize> = 64..128;
const RESERVED: usize = 4096;
const FIXED: usize = 8192;
const AREA: usize = 32;

/// So much of a target is judged, at least a block of it.
const ENOUGH: Bytes = Bytes::mib(1);

/// Where the list is in the label of a pool (docs/formats/signatures.md).
const LABEL_LIST: std::ops::Range<usize> = 16 << 10..128 << 10;
/// A device with room for everything that lies at a fixed place.
const DEVICE: u64 = 160 << 20;
/// Where something may lie: beginnings, copies, and what counts from the end.
const PLACES: [u64; 16] = [
    0,
    4 << 10,
    64 << 10,
    128 << 10,
    256 << 10,
    1 << 20,
    2 << 20,
    4 << 20,
    8 << 20,
    32 << 20,
    64 << 20,
    128 << 20,
    DEVICE - (1 << 20),
    DEVICE - (128 << 10),
    DEVICE - (64 << 10),
    DEVICE - (8 << 10),
];

/// A ledger as it is, and once more with a sum that fits.
pub fn ledger(bytes: &[u8]) {
    judged(bytes);
    let mut whole = bytes.to_vec();
    let word = |bytes: &[u8], at: std::ops::Range<usize>| {
        bytes.get(at).and_then(|word| word.first_chunk()).map_or(0, |word| u64::from_ne_bytes(*word))
    };
    let areas = (word(bytes, COUNT) as usize).saturating_mul(AREA);
    let Some(end) = areas.checked_add(FIXED).filter(|end| *end <= bytes.len()) else { return };
    whole[..8].copy_from_slice(b"StendLg1");
    whole[LEN].copy_from_slice(&(bytes.len() as u64).to_ne_bytes());
    let sum = crc32c::crc32c(&whole[..SUM.start]);
    let sum = crc32c::crc32c_append(sum, &whole[SUM.end..RESERVED]);
    let sum = crc32c::crc32c_append(sum, &whole[FIXED..end]);
    whole[SUM].copy_from_slice(&u64::from(sum).to_ne_bytes());
    judged(&whole);
}

/// By a target that holds what the ledger holds, over and over.
fn judged(bytes: &[u8]) {
    let run = bytes.get(RUN).unwrap_or_default();
    let run = run.split(|byte| *byte == 0).next().and_then(|run| std::str::from_utf8(run).ok()).unwrap_or_default();
    let Ok(pending) = Pending::from_bytes(Path::new("ledger"), bytes.to_vec(), run, "boot") else { return };
    // A target is as large as it is: behind its end nothing is read.
    let size = 4 * bytes.len() as u64;
    let read = &mut |memory: &mut [u8], at: u64| -> io::Result<usize> {
        let len = memory.len().min(size.saturating_sub(at) as usize);
        let from = at as usize % bytes.len();
        memory[..len].iter_mut().zip(bytes.iter().cycle().skip(from)).for_each(|(to, from)| *to = *from);
        Ok(len)
    };
    // A few KiB of ledger may be about gigabytes of target, all of which would be read.
    let go_on = &mut |done: Bytes| done < ENOUGH;
    let _ = pending.judge(Path::new("ledger"), &mut Reading { read, grain: None, go_on });
}

/// A log of writes to a device of 1 GiB.
pub fn write_log(bytes: &[u8]) {
    let mut read = |memory: &mut [u8], at: u64| {
        let from = usize::try_from(at).ok().and_then(|at| bytes.get(at..)?.get(..memory.len()));
        memory.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    };
    let Ok(log) = WriteLog::read("fuzzed", (bytes.len() as u64, 1 << 30), &mut read, &mut || true) else { return };
    let marks: Vec<usize> = log.mark("").into_iter().chain(log.mark("x")).collect();
    let (chosen, all) = log.states(&marks, log.len() as usize, 8);
    assert!(chosen.len() as u64 <= all && chosen.iter().all(|at| (*at as u64) < log.len()));
}

/// The beginning of a device: its signatures, its partition table, the superblock of a target of the device mapper; and the bytes as the
/// list in the label of a pool.
pub fn signatures(bytes: &[u8]) {
    looked_at(&Image::from_bytes(bytes), bytes.len() as u64, &|at| {
        let at = usize::try_from(at).ok()?;
        Some(Image::from_bytes(bytes.get(at..at.checked_add(512)?)?))
    });
    let mut label = vec![0; LABEL_LIST.end];
    let len = bytes.len().min(LABEL_LIST.len());
    label[LABEL_LIST][..len].copy_from_slice(&bytes[..len]);
    Image::from_bytes(&label).pool();
}

fn looked_at(image: &Image, size: u64, sector: &dyn Fn(u64) -> Option<Image>) {
    assert!(image.signatures().iter().all(|mark| mark.offset < size));
    for block in [512, 4096] {
        let partitions = partition::table(image, block, sector);
        assert!(partitions.iter().all(|p| p.start.checked_add(p.len).is_some_and(|end| end <= size)));
    }
    let _ = (image.pool(), image.superblock());
}

/// A device of which the bytes say what lies where: pieces of up to 1 KiB, counted from places where something may lie.
pub fn far_signatures(bytes: &[u8]) {
    let mut file = tempfile::Builder::new().prefix("stend-untrusted-").tempfile_in(crate::MEMORY).expect("memory");
    file.as_file().set_len(DEVICE).expect("memory");
    let mut rest = bytes;
    while let Some(([place, low, high, len], behind)) = rest.split_first_chunk() {
        let within = u64::from(u16::from_le_bytes([*low, *high])) * 8;
        let (piece, behind) = behind.split_at(behind.len().min(usize::from(*len) * 4));
        let at = (PLACES[usize::from(*place) % PLACES.len()] + within).min(DEVICE - piece.len() as u64);
        file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(piece)).expect("memory");
        rest = behind;
    }
    let open = IoFile::open_read(file.path(), false).expect("memory");
    let read = |at: u64, len: u64| Image::read(&open, at, len);
    let sector = |at: u64| (at.checked_add(512)? <= DEVICE).then(|| read(at, 512).ok())?;
    looked_at(&read(0, DEVICE).expect("memory"), DEVICE, &sector);
}

/// The mark on a drive, as it is, and once more with a sum that fits. Whatever is taken for one is written as it was read.
pub fn mark(bytes: &[u8]) {
    untrusted::mark(bytes);
    let mut own: Vec<u8> = bytes.chunks_exact(BLOCK).flat_map(|block| &block[STAMP..]).copied().collect();
    let short = |at: usize| own.get(at..)?.first_chunk().map(|word| usize::from(u16::from_le_bytes(*word)));
    let count = own.get(40..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u32::from_le_bytes(*word) as usize);
    let texts = short(44).unwrap_or(0) + short(46).unwrap_or(0);
    let Some(end) = count.checked_mul(8).map(|hashes| 48 + texts + hashes).filter(|end| end + 32 <= own.len()) else {
        return;
    };
    own[..8].copy_from_slice(b"StendM01");
    let sum = Sha256::digest(&own[..end]);
    own[end..end + 32].copy_from_slice(&sum);
    let blocks: Vec<u8> =
        own.chunks(BLOCK - STAMP).flat_map(|part| [0; STAMP].into_iter().chain(part.iter().copied())).collect();
    let Some(again) = untrusted::mark(&blocks) else { return };
    assert_eq!(untrusted::mark(&again).as_ref(), Some(&again), "what is written is read back");
}
