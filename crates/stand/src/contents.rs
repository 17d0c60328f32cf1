//! What is on a device, by a sample of its blocks: erased, ours, or anything else. Both ends are read whole, single blocks
//! at random between them. Reads only; must not decide what may be written.

mod mark;

pub(crate) use mark::leave;

use mark::{Hash, Mark, hash};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use stend_base::Nanos;
use stend_base::own_data::{BLOCK, Content, content};
use stend_base::random::{below, draw};
use stend_record::{OwnMark, Refusal, Sampled, Signature, TargetFacts, TargetKind, UNKNOWN_DATA, WriteAccess};
use stend_sys::IoFile;
use stend_sys::buffer::Pool;

/// Bytes at either end that are read whole: what tells others what is on a device lies there.
const END: u64 = 4 << 20;
/// Blocks that are read between the ends. On a drive of which a share of 1 % is in use this misses everything with a
/// chance of 3 in 100 000, with 0.3 % in use 1 in 20; a stretch longer than two parts in 1024 is never missed.
const SAMPLES: u64 = 1024;
/// What is read of the ends at a time.
const CHUNK: usize = 256 << 10;
/// Reads in flight: drives that spin put so many in a good order, and those that do not answer them at the same time (by eye).
const THREADS: usize = 8;
/// How long a device may take. One that spins takes about 10 s; what takes longer than this is broken, or busy.
const LIMIT: Duration = Duration::from_secs(60);
/// What is said of progress is said this often.
const TELLS: Duration = Duration::from_secs(2);
/// Most beginnings of marks that are looked at.
const MARKS_MAX: usize = 16;

/// Bytes of a GUID partition table at either end: the header and 16 KiB of entries, and one block more.
const GPT: u64 = 28 << 10;
/// Partition tables: they say nothing of what is in the partitions.
const TABLES: [&str; 9] = ["PMBR", "atari", "bsd", "dasd", "dos", "gpt", "mac", "sgi", "sun"];

/// Whether these whole blocks begin with a mark that is whole, and the bytes that it takes when it is written again.
pub(crate) fn mark_in(blocks: &[u8]) -> Option<Vec<u8>> {
    Mark::parse(blocks).map(|mark| mark.to_blocks())
}

/// What is known of the blocks that were read.
#[derive(Debug, Default)]
struct Tally {
    blocks: u64,
    blank: u64,
    ours: u64,
    /// Neither, by offset.
    others: BTreeMap<u64, Hash>,
    /// Offsets at which a mark begins.
    marks: Vec<u64>,
}

/// Samples every target that is a device and may be written, and adds to its facts what was found: data that nothing says are ours
/// have to be named as [`UNKNOWN_DATA`], and where it cannot be read it is not written. Devices are read at the same time. `tell` hears
/// what is being waited for.
pub fn sample_contents(targets: &mut [TargetFacts], tell: &mut dyn FnMut(String)) {
    let wanted = |target: &&mut TargetFacts| {
        target.kind == TargetKind::BlockDevice && matches!(target.access, WriteAccess::Confirm { .. })
    };
    let wanted: Vec<&mut TargetFacts> = targets.iter_mut().filter(wanted).collect();
    let left = AtomicUsize::new(wanted.len());
    std::thread::scope(|scope| {
        for target in wanted {
            let left = &left;
            scope.spawn(move || {
                let found = sample(target);
                add(target, found);
                left.fetch_sub(1, Ordering::AcqRel);
            });
        }
        let (begun, mut told) = (Instant::now(), TELLS);
        while left.load(Ordering::Acquire) > 0 {
            std::thread::sleep(Duration::from_millis(1));
            if begun.elapsed() >= told {
                let count = left.load(Ordering::Acquire);
                tell(format!("reading a sample of the data on the devices, {} s so far: {count} left", told.as_secs()));
                told += TELLS;
            }
        }
    });
}

/// Adds to the facts of a device what a sample found.
fn add(target: &mut TargetFacts, sampled: Result<Sampled, Refusal>) {
    match sampled {
        Err(refusal) => target.access = WriteAccess::Refused(vec![refusal]),
        Ok(sampled) => add_sampled(target, sampled),
    }
}

/// The same of a sample that was taken a moment before.
pub(crate) fn add_sampled(target: &mut TargetFacts, sampled: Sampled) {
    // A file system or the like that is named explains what is on the device.
    let explained = target.signatures.iter().any(|mark| !TABLES.contains(&mark.name.as_str()));
    if let WriteAccess::Confirm { signatures, .. } = &mut target.access
        && sampled.is_unknown()
        && !explained
    {
        signatures.push(UNKNOWN_DATA.to_string());
        signatures.sort();
    }
    target.contents = Some(sampled);
}

/// Blocks that hold nothing but a partition table, which is reported by its name.
fn of_tables(target: &TargetFacts) -> Vec<Range<u64>> {
    let size = target.size.0;
    let tables = target.signatures.iter().filter(|mark| TABLES.contains(&mark.name.as_str()));
    let blocks = |mark: &Signature| match mark.name.as_str() {
        "gpt" => [Some(0..GPT), Some(size.saturating_sub(GPT)..size)],
        _ => [Some(mark.offset / BLOCK as u64 * BLOCK as u64..mark.offset + 1), None],
    };
    tables.flat_map(blocks).flatten().collect()
}

fn sample(target: &TargetFacts) -> Result<Sampled, Refusal> {
    let (path, size, identity) = (Path::new(&target.path), target.size.0, target.identity.as_deref());
    let begun = Instant::now();
    let refused = |error: Failed| Refusal::UnreadableAt { offset: error.offset, why: error.error.to_string() };
    let device = Device::open(path, size, begun + LIMIT).map_err(|error| refused(Failed { offset: 0, error }))?;
    let mut found = device.read(&device.places(fresh_seed())).map_err(refused)?;
    let tables = of_tables(target);
    found.others.retain(|at, _| !tables.iter().any(|table| table.contains(at)));
    let mark = if found.others.is_empty() { None } else { device.mark(&found, identity).map_err(refused)? };
    Ok(Sampled {
        blocks: found.blocks,
        blank: found.blank,
        ours: found.ours,
        other: found.others.len() as u64,
        first_other: found.others.keys().next().copied(),
        mark,
        took: Nanos(begun.elapsed().as_nanos() as u64),
    })
}

/// A number that neither data nor their writer could know.
fn fresh_seed() -> u64 {
    let mut seed = [0; 8];
    let drawn = std::fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut seed));
    let (_, wall, _) = stend_sys::clock::stamps();
    u64::from_ne_bytes(seed) ^ if drawn.is_ok() { 0 } else { draw(wall, u64::from(std::process::id())) }
}

/// What could not be read, and why.
#[derive(Debug)]
struct Failed {
    offset: u64,
    error: io::Error,
}

/// A device that is sampled.
struct Device {
    file: IoFile,
    size: u64,
    /// Bytes of a block that is read: 4 KiB, or a logical block if that is more.
    unit: u64,
    deadline: Instant,
}

impl Device {
    fn open(path: &Path, size: u64, deadline: Instant) -> io::Result<Device> {
        // Past the page cache: what counts is on the device.
        let direct = match IoFile::open_read(path, true) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => IoFile::open_read(path, false),
            other => other,
        };
        let file = direct?;
        let logical = stend_sys::block::geometry(&file).map_or(512, |shape| u64::from(shape.logical_block));
        Ok(Device { file, size, unit: logical.max(BLOCK as u64), deadline })
    }

    /// What is read, in order: (offset, bytes). The places between the ends follow from the seed.
    fn places(&self, seed: u64) -> Vec<(u64, usize)> {
        let tail = self.size.saturating_sub(END) / self.unit * self.unit;
        let blocks = tail.saturating_sub(END) / self.unit;
        if blocks <= SAMPLES {
            return pieces(0, self.size);
        }
        let mut places = pieces(0, END);
        places.extend((0..SAMPLES).map(|part| {
            let (from, to) = (blocks * part / SAMPLES, blocks * (part + 1) / SAMPLES);
            (END + (from + below(draw(seed, part), to - from)) * self.unit, self.unit as usize)
        }));
        places.extend(pieces(tail, self.size));
        places
    }

    /// Reads places and tells what is there.
    fn read(&self, places: &[(u64, usize)]) -> Result<Tally, Failed> {
        let next = AtomicUsize::new(0);
        let work = || -> Result<Tally, Failed> {
            let failed = |offset, error| Failed { offset, error };
            let mut pool = Pool::new(1, CHUNK.max(self.unit as usize)).map_err(|error| failed(0, error))?;
            let mut tally = Tally::default();
            while let Some(&(offset, len)) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
                if Instant::now() > self.deadline {
                    let seconds = LIMIT.as_secs();
                    let slow = io::Error::new(io::ErrorKind::TimedOut, format!("not all was read within {seconds} s"));
                    return Err(failed(offset, slow));
                }
                let memory = &mut pool.slot_mut(0)[..len];
                read_whole(&self.file, memory, offset).map_err(|error| failed(offset, error))?;
                tally.count(memory, offset);
            }
            Ok(tally)
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_fold(Tally::default(), |all, thread| {
                let gone = |_| Failed { offset: 0, error: io::Error::other("a thread that read it ended early") };
                Ok(all.with(thread.join().map_err(gone)??))
            })
        })
    }

    /// The mark that says most of what `found` leaves open; `None`: there is none.
    fn mark(&self, found: &Tally, identity: Option<&str>) -> Result<Option<OwnMark>, Failed> {
        let mut broken = None;
        for &at in found.marks.iter().take(MARKS_MAX) {
            let Some(mark) = Mark::read(&self.file, at, self.size, identity) else { continue };
            let places = self.places(mark.seed);
            if !mark.fits(&places) {
                continue;
            }
            let between: Vec<_> = places.iter().copied().filter(|place| self.is_between(place)).collect();
            let mut now = self.read(&between)?.others;
            now.extend(
                found.others.iter().filter(|(at, _)| !self.is_between(&(**at, 0))).map(|(at, hash)| (*at, *hash)),
            );
            let broken_at = mark.first_difference(&places, &now);
            let seen = OwnMark { by: mark.by, left_unix: mark.left_unix, broken_at };
            if broken_at.is_none() {
                return Ok(Some(seen));
            }
            broken = broken.or(Some(seen));
        }
        Ok(broken)
    }

    fn is_between(&self, (offset, _): &(u64, usize)) -> bool {
        (END..self.size.saturating_sub(END) / self.unit * self.unit).contains(offset)
    }
}

impl Tally {
    fn count(&mut self, memory: &[u8], offset: u64) {
        for (block, at) in memory.chunks(BLOCK).zip((offset..).step_by(BLOCK)) {
            self.blocks += 1;
            match content(block) {
                Content::Blank => self.blank += 1,
                Content::Ours => {
                    self.ours += 1;
                    if mark::begins(block) {
                        self.marks.push(at);
                    }
                }
                Content::Other => drop(self.others.insert(at, hash(block))),
            }
        }
    }

    fn with(mut self, more: Tally) -> Tally {
        self.blocks += more.blocks;
        self.blank += more.blank;
        self.ours += more.ours;
        self.others.extend(more.others);
        self.marks.extend(more.marks);
        self.marks.sort_unstable();
        self
    }
}

/// A range in pieces that are read at once.
fn pieces(from: u64, to: u64) -> Vec<(u64, usize)> {
    let each = (from..to).step_by(CHUNK);
    each.map(|at| (at, CHUNK.min((to - at) as usize))).collect()
}

fn read_whole(file: &IoFile, memory: &mut [u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    while done < memory.len() {
        match file.read_at(&mut memory[done..], offset + done as u64) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the device ends before its size")),
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;
    use stend_base::own_data::{StampScope, stamp};
    use stend_base::random::Random;

    /// A file in the place of a device.
    fn device(size: u64) -> (tempfile::NamedTempFile, Device) {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(size).unwrap();
        let device = Device::open(file.path(), size, Instant::now() + LIMIT).unwrap();
        (file, device)
    }

    fn foreign(len: usize) -> Vec<u8> {
        let mut data = vec![0; len];
        Random::new(5).fill(&mut data);
        data
    }

    fn found(device: &Device) -> Tally {
        device.read(&device.places(fresh_seed())).unwrap()
    }

    #[test]
    fn both_ends_are_read_whole_and_each_part_between_them_once() {
        let (_file, device) = device((1 << 30) + 512);
        let places = device.places(1);
        let mut ends: Vec<u64> = places.iter().map(|(at, len)| at + *len as u64).collect();
        assert!(places.windows(2).all(|pair| pair[0].0 + pair[0].1 as u64 <= pair[1].0), "in order, none twice");
        assert_eq!((places[0].0, ends.pop()), (0, Some((1 << 30) + 512)));
        assert!(found(&device).blocks >= 1024 + 2048);
        let between: Vec<u64> = places.iter().filter(|place| device.is_between(place)).map(|place| place.0).collect();
        assert_eq!(between.len() as u64, SAMPLES);
        let part = ((1 << 30) - 2 * END) / SAMPLES;
        assert!(between.windows(2).all(|pair| pair[1] - pair[0] < 2 * part + 4096), "no gap of two parts");
        assert_ne!(device.places(2), places);
    }

    #[test]
    fn small_devices_are_read_whole() {
        for size in [0, 512, 4096, (8 << 20) + 1024, 12 << 20] {
            let (_file, device) = device(size);
            assert_eq!(device.places(1).iter().map(|(_, len)| *len as u64).sum::<u64>(), size);
            assert_eq!(found(&device).blocks, size.div_ceil(4096));
        }
    }

    #[test]
    fn what_is_foreign_is_told_from_what_is_ours_or_erased_by_block() {
        let (file, device) = device(64 << 20);
        let ours: Vec<u8> =
            (0..256).flat_map(|n| [&stamp(n, StampScope::Sector)[..], &foreign(496)].concat()).collect();
        file.as_file().write_all_at(&ours, 0).unwrap();
        file.as_file().write_all_at(&[0xFF; 8192], 3 << 20).unwrap();
        file.as_file().write_all_at(b"x", (64 << 20) - 1).unwrap();
        let found = found(&device);
        assert_eq!((found.ours, found.others.keys().copied().collect::<Vec<_>>()), (32, vec![(64 << 20) - 4096]));
        assert_eq!(found.blocks, found.blank + found.ours + 1);
    }

    #[test]
    fn a_device_that_ends_early_is_refused_with_the_place() {
        let (file, device) = device(1 << 20);
        file.as_file().set_len(1 << 19).unwrap();
        let failed = device.read(&[(0, 4096), (1 << 19, 4096)]).unwrap_err();
        assert_eq!((failed.offset, failed.error.kind()), (1 << 19, io::ErrorKind::UnexpectedEof));
    }

    #[test]
    fn a_device_that_takes_too_long_is_refused() {
        let (file, _) = device(1 << 20);
        let late = Device::open(file.path(), 1 << 20, Instant::now() - Duration::from_secs(1)).unwrap();
        assert_eq!(late.read(&[(0, 4096)]).unwrap_err().error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn of_many_marks_the_one_that_holds_counts_and_one_whose_blocks_changed_does_not() {
        let size = 64 << 20;
        let (file, device) = device(size);
        let put = |data: &[u8], at: u64| file.as_file().write_all_at(data, at).unwrap();
        let data = foreign(40 << 20);
        put(&data, 0);
        let mark = |at: u64| {
            let (seed, places) = (at, device.places(at));
            let now = device.read(&places).unwrap().others;
            let each = places.iter().flat_map(|&(at, len)| (at..at + len as u64).step_by(BLOCK));
            let hashes = each.map(|at| now.get(&at).copied().unwrap_or(0)).collect();
            Mark { at, size, seed, left_unix: 1, identity: "A".into(), by: format!("R-{at}"), hashes }
        };
        let (older, newer) = (mark(size - (1 << 20)), mark(size - (2 << 20)));
        let seen = |identity| device.mark(&found(&device), identity).unwrap();
        assert_eq!(seen(Some("A")), None);
        put(&older.to_blocks(), older.at);
        put(&newer.to_blocks(), newer.at);
        assert_eq!(seen(Some("A")).unwrap().broken_at, None);
        assert_eq!(seen(Some("B")), None, "of another device");
        // What our data or an erasure replaced has no owner.
        put(&[0; 8192], 0);
        assert_eq!(seen(Some("A")).unwrap().broken_at, None);
        put(&foreign(1), 4096);
        assert_eq!(seen(Some("A")).unwrap().broken_at, Some(4096));
        put(&data, 0);
        assert_eq!(seen(Some("A")).unwrap().broken_at, None, "as it was");
    }
}
