//! Logs as the kernel writes them, and files that are none.

use super::*;
use proptest::prelude::*;
use stend_base::Kind;
use stend_sys::IoFile;

const SECTOR: usize = 512;

/// A log that is made entry by entry.
struct Maker {
    bytes: Vec<u8>,
    count: u64,
}

impl Maker {
    fn new() -> Maker {
        Maker { bytes: vec![0; SECTOR], count: 0 }
    }

    /// An entry about so many sectors from one on, with its data.
    fn entry(mut self, sector: u64, data: &[u8], count: u64, flags: u64, mark: &str) -> Maker {
        let mut head = vec![0; SECTOR];
        for (word, at) in [sector, count, flags, mark.len() as u64].into_iter().zip((0..).step_by(8)) {
            head[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        head[ENTRY..ENTRY + mark.len()].copy_from_slice(mark.as_bytes());
        self.bytes.extend(head);
        self.bytes.extend(data);
        self.count += 1;
        self
    }

    fn write(self, sector: u64, byte: u8, flags: u64) -> Maker {
        self.entry(sector, &[byte; SECTOR], 1, flags, "")
    }

    fn flush(self) -> Maker {
        self.entry(0, &[], 0, FLUSH, "")
    }

    fn mark(self, name: &str) -> Maker {
        self.entry(0, &[], 0, MARK, name)
    }

    fn bytes(mut self) -> Vec<u8> {
        for (word, at) in [MAGIC, VERSION, self.count, SECTOR as u64].into_iter().zip((0..).step_by(8)) {
            self.bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        self.bytes
    }
}

/// A device of 64 sectors.
fn read(bytes: &[u8]) -> Result<WriteLog> {
    let size = bytes.len() as u64;
    WriteLog::read(
        "/dev/log",
        (size, 64 * SECTOR as u64),
        &mut |memory, at| {
            memory.copy_from_slice(&bytes[at as usize..at as usize + memory.len()]);
            Ok(())
        },
        &mut || true,
    )
}

/// What a file system does: two writes, a flush, a mark, a durable write, a discard, a last mark.
fn small() -> Maker {
    let log = Maker::new().write(3, 1, 0).write(8, 2, METADATA).flush().mark("stend-0");
    log.write(3, 3, FLUSH | FUA).entry(8, &[], 1, DISCARD, "").mark("stend-1")
}

#[test]
fn entries_of_every_kind_are_read_with_their_places() {
    let log = read(&small().bytes()).unwrap();
    assert_eq!((log.len(), log.mark("stend-0"), log.mark("stend-1"), log.mark("no")), (7, Some(3), Some(6), None));
    let shown: Vec<(u64, u64, bool, bool)> =
        log.entries.iter().map(|entry| (entry.to, entry.len, entry.durable, entry.discard)).collect();
    let sector = SECTOR as u64;
    let none = (0, 0, false, false);
    assert_eq!(
        shown,
        [
            (3 * sector, sector, false, false),
            (8 * sector, sector, false, false),
            (0, 0, true, false),
            none,
            (3 * sector, sector, true, false),
            (8 * sector, sector, false, true),
            none,
        ]
    );
    assert_eq!((log.entries[1].from, log.entries[4].from), (4 * sector, 8 * sector));
}

#[test]
fn what_is_no_log_is_refused_with_its_place() {
    let with = |at: usize, word: u64| {
        let mut bytes = small().bytes();
        bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        bytes
    };
    let first = SECTOR;
    let cut = |len: usize| small().bytes()[..len].to_vec();
    for (bytes, told) in [
        (Vec::new(), "byte 0: it ends there"),
        (with(0, MAGIC + 1), "byte 0: it does not begin like a log of writes"),
        (with(8, 2), "version 2 is not known"),
        (with(24, 0), "sectors cannot have 0 bytes"),
        (with(24, 513), "sectors cannot have 513 bytes"),
        (with(24, 1 << 20), "sectors cannot have 1048576 bytes"),
        (with(16, u64::MAX), "18446744073709551615 entries do not fit"),
        (with(16, 8), "byte 5632: it ends there"),
        (with(first, 64), "byte 512: entry 0: it ends behind the device"),
        (with(first, u64::MAX / 512 + 1), "entry 0: it ends behind the device"),
        (with(first + 8, u64::MAX), "entry 0: it ends behind the device"),
        (with(first + 16, 1 << 5), "entry 0: unknown flags 0x20"),
        (with(first + 16, MARK), "entry 0: a mark of 0 bytes"),
        (with(7 * SECTOR - SECTOR + 24, 481), "a mark of 481 bytes"),
        (cut(5 * SECTOR), "entries do not fit"),
    ] {
        let error = read(&bytes).unwrap_err();
        assert!(error.kind == Kind::Preflight && error.message.en.contains(told), "{told}: {error}");
        assert!(error.message.en.contains("`/dev/log`") && error.message.ru != error.message.en, "{error}");
    }
    let mut long = Maker::new().entry(0, &[], 60, 0, "").bytes();
    long.resize(8 * SECTOR, 0);
    assert!(read(&long).unwrap_err().message.en.contains("its data end behind the log"));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic_or_read_without_end(
        noise in prop::collection::vec((0usize..6 * SECTOR, any::<u8>()), 0..40),
        len in 0usize..8 * SECTOR,
    ) {
        let mut bytes = small().bytes();
        noise.into_iter().for_each(|(at, byte)| bytes[at % (6 * SECTOR)] = byte);
        bytes.truncate(len);
        if let Ok(log) = read(&bytes) {
            prop_assert!(log.len() < 16);
        }
    }
}

/// Marks and flushes, one character each: `m`, `f`, and `w` for a write.
fn drawn(picture: &str) -> (WriteLog, Vec<usize>) {
    let mut log = WriteLog { entries: Vec::new(), marks: BTreeMap::new() };
    for c in picture.chars() {
        let entry = Entry { to: 0, len: 0, from: 0, durable: c == 'f', discard: false };
        log.add(entry, (c == 'm').then(|| "m".to_string()));
    }
    let marks = picture.char_indices().filter(|(_, c)| *c == 'm').map(|(at, _)| at).collect();
    (log, marks)
}

#[test]
fn states_are_the_durable_moments_and_the_marks_from_the_first_mark_on() {
    let states = |picture: &str, most: u32| {
        let (log, marks) = drawn(picture);
        log.states(&marks, picture.len(), most)
    };
    assert_eq!(states("wfwmwfwfm", 9), (vec![3, 5, 7, 8], 4));
    assert_eq!(states("wfwf", 9), (vec![], 0), "before the first mark nothing had been acknowledged");
    // Without a single flush, as with a file system that has them switched off: the marks are what is left to look at.
    assert_eq!(states("mwwmwwm", 9), (vec![0, 3, 6], 3));
    let (chosen, all) = states(&"wfm".repeat(100), 10);
    assert_eq!((chosen.len(), all, chosen.last()), (10, 199, Some(&299)));
    let (log, marks) = drawn("mfwfmff");
    assert_eq!(log.states(&marks[..1], marks[1], 9), (vec![0, 1, 3], 3), "what follows belongs to the next trial");
}

#[test]
fn few_states_are_spread_evenly_and_end_with_the_last_mark() {
    let (log, marks) = drawn(&"ffffm".repeat(20));
    let (chosen, _) = log.states(&marks, 100, 4);
    assert_eq!(chosen, [49, 51, 98, 99]);
    assert_eq!(evenly(&[1, 2, 3, 4], 2), [2, 4]);
    assert_eq!(evenly(&[1, 2], 5), [1, 2]);
    assert!(evenly(&[], 3).is_empty() && evenly(&[1], 0).is_empty());
}

#[test]
fn a_device_is_made_what_it_was_at_each_entry_whatever_was_on_it() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("log");
    let mut bytes = small().bytes();
    let log = read(&bytes).unwrap();
    bytes.resize(bytes.len().next_multiple_of(4096), 0);
    std::fs::write(&path, bytes).unwrap();
    let size = 64 * SECTOR as u64;
    let to = IoFile::create_scratch(scratch.path(), size, false).unwrap();
    let seen = to.try_clone().unwrap();
    let look = |to: &IoFile| {
        let mut all = vec![0; size as usize];
        assert_eq!(to.read_at(&mut all, 0).unwrap(), all.len());
        let of: Vec<(usize, u8)> = all.chunks(SECTOR).map(|sector| sector[0]).enumerate().collect();
        of.into_iter().filter(|(_, byte)| *byte != 0).collect::<Vec<_>>()
    };
    to.write_at(&[9; 8 * SECTOR], 20 * SECTOR as u64).unwrap();
    for (last, expected) in [
        (0, vec![(3, 1)]),
        (2, vec![(3, 1), (8, 2)]),
        (4, vec![(3, 3), (8, 2)]),
        (6, vec![(3, 3)]),
        (1, vec![(3, 1), (8, 2)]),
    ] {
        let mut from = LogFile::new(IoFile::open_read(&path, false).unwrap()).unwrap();
        restore(&log, last, &mut from, &to, size, &mut || true).unwrap();
        assert_eq!(look(&seen), expected, "up to entry {last}");
    }
    let mut from = LogFile::new(IoFile::open_read(&path, false).unwrap()).unwrap();
    assert_eq!(restore(&log, 6, &mut from, &to, size, &mut || false).unwrap_err().kind, Kind::Interrupted);
}

#[test]
fn a_large_device_is_zeroed_in_pieces_between_which_it_can_be_stopped() {
    const PIECES: u64 = 3;
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("log");
    // A discard of all of it, cut as the device is.
    let size = PIECES * (64 << 20);
    let head = Maker::new().entry(0, &[], size / SECTOR as u64, DISCARD, "").bytes();
    let log = WriteLog::read(
        "/dev/log",
        (head.len() as u64, size),
        &mut |memory, at| {
            memory.copy_from_slice(&head[at as usize..at as usize + memory.len()]);
            Ok(())
        },
        &mut || true,
    );
    let log = log.unwrap();
    std::fs::write(&path, vec![0; 4096]).unwrap();
    let to = IoFile::create_scratch(scratch.path(), size, false).unwrap();
    let restored = |most: u64| {
        let mut asked = 0;
        let mut go_on = || {
            asked += 1;
            asked <= most
        };
        let mut from = LogFile::new(IoFile::open_read(&path, false).unwrap()).unwrap();
        let done = restore(&log, 0, &mut from, &to, size, &mut go_on);
        (done.map_err(|error| error.kind), asked)
    };
    assert_eq!(restored(u64::MAX), (Ok(()), 2 * PIECES));
    assert_eq!(restored(1), (Err(Kind::Interrupted), 2));
}

#[test]
fn a_log_of_many_small_entries_is_read_in_large_pieces_and_its_marks_are_found_at_once() {
    const MARKS: u64 = 2_000;
    const BETWEEN: u64 = 50;
    let mut maker = Maker::new();
    for number in 0..MARKS {
        for _ in 0..BETWEEN - 1 {
            maker = maker.write(3, 1, 0);
        }
        maker = maker.mark(&format!("stend-{number}"));
    }
    let bytes = maker.bytes();
    let (mut calls, mut fetched, mut asked) = (0u64, 0u64, 0u64);
    let mut read = |memory: &mut [u8], at: u64| {
        (calls, fetched) = (calls + 1, fetched + memory.len() as u64);
        memory.copy_from_slice(&bytes[at as usize..at as usize + memory.len()]);
        Ok(())
    };
    let mut go_on = || {
        asked += 1;
        true
    };
    let size = bytes.len() as u64;
    let log = WriteLog::read("/dev/log", (size, 64 * SECTOR as u64), &mut read, &mut go_on).unwrap();
    assert_eq!((log.len(), asked), (MARKS * BETWEEN, MARKS * BETWEEN));
    assert!(calls <= size / WINDOW + 10 && fetched <= 2 * size, "{calls} reads of {fetched} bytes");
    for number in 0..MARKS {
        assert_eq!(log.mark(&format!("stend-{number}")), Some(((number + 1) * BETWEEN - 1) as usize));
    }
    assert_eq!(log.marks.len() as u64, MARKS);
}

#[test]
fn a_log_of_large_entries_is_not_read_whole_and_one_that_cannot_be_read_behind_its_end_is_read() {
    // The heads of the first four lie in the window that the first one begins; from there on they are far apart.
    let large = vec![1; 512 * SECTOR];
    let mut maker = Maker::new();
    for _ in 0..20 {
        maker = maker.entry(0, &large, 512, 0, "");
    }
    let (large, small) = (maker.bytes(), small().mark("stend-2").bytes());
    let log = |bytes: &[u8], readable: u64| {
        let mut fetched = 0;
        let mut read = |memory: &mut [u8], at: u64| {
            fetched += memory.len();
            if at + memory.len() as u64 > readable {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let end = bytes.len().min(at as usize + memory.len());
            memory[..end - at as usize].copy_from_slice(&bytes[at as usize..end]);
            Ok(())
        };
        // The device is larger than what was written to it.
        let size = (bytes.len() as u64).next_multiple_of(WINDOW);
        let found = WriteLog::read("/dev/log", (size, 1 << 20), &mut read, &mut || true);
        (found.map(|log| log.len()), fetched)
    };
    assert_eq!(log(&large, u64::MAX), (Ok(20), WINDOW as usize + 16 * SECTOR));
    let (found, _) = log(&small, small.len() as u64);
    assert_eq!(found, Ok(8));
}

#[test]
fn reading_can_be_stopped() {
    let bytes = small().bytes();
    let mut read = |memory: &mut [u8], at: u64| {
        memory.copy_from_slice(&bytes[at as usize..at as usize + memory.len()]);
        Ok(())
    };
    let stopped = WriteLog::read("/dev/log", (bytes.len() as u64, 64 * SECTOR as u64), &mut read, &mut || false);
    assert_eq!(stopped.unwrap_err().kind, Kind::Interrupted);
}
