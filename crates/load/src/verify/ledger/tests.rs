//! Ledgers: what a real load leaves in one, every kind of damage between a crash and its judgement, and files that are none.

use super::crash::{Pending, Reading, pending_in};
use super::head::AreaOf;
use super::*;
use crate::area::Area;
use crate::task::Sinks;
use crate::tests::support::{DISK, trial};
use crate::verify::sector::{SECTOR, stamp};
use crate::{Control, run_trial_of};
use std::path::PathBuf;
use stend_base::{Bytes, Kind, Nanos};
use stend_record::crash::Crash;
use stend_record::observed::TrialStatus;
use stend_record::verification::{Defect, Found};
use stend_spec::workload::{Backend, Mix, Pattern, Stream, Sync, Trial, Verify};
use stend_sys::IoFile;

const MARKS: Marks = Marks { run: 77, epoch: 2 };
const RUN: &str = "R-test";
const OTHER_BOOT: &str = "another boot";
const BLOCK: usize = 4096;
/// Blocks of the target in memory.
const BLOCKS: usize = 16;

fn stream(sync: Sync) -> Stream {
    let verify = Some(Verify { after: false, crash: true });
    let spec = crate::layout::tests::stream();
    Stream { mix: Mix::of_reads(0), pattern: Pattern::Uniform, sync, verify, queue_depth: 2, ..spec }
}

/// A target in memory with the account of its only job, and what it would have been told.
struct Bench {
    scratch: tempfile::TempDir,
    disk: Vec<u8>,
    account: Account,
    keeper: Option<LedgerThread>,
    sent: Vec<u64>,
}

impl Bench {
    fn new() -> Bench {
        let scratch = tempfile::tempdir().unwrap();
        let region = Bytes((BLOCKS * BLOCK) as u64);
        let mut jobs = crate::layout::jobs(&crate::layout::tests::trial(region, vec![stream(Sync::Dsync)]), 9).unwrap();
        crate::verify::attach(&mut jobs, MARKS);
        let path = scratch.path().join("ledger");
        let keeper =
            open(&mut jobs, MARKS, Some(LedgerIn::File(LedgerPlace { path: &path, run: RUN })), true, &Control::new());
        let keeper = keeper.unwrap();
        let account = jobs[0].check.as_ref().unwrap().account.clone().unwrap();
        Bench { scratch, disk: vec![0; region.0 as usize], account, keeper, sent: vec![0; BLOCKS] }
    }

    fn path(&self) -> PathBuf {
        self.scratch.path().join("ledger")
    }

    /// A write to a block begins; its number, and what its end wants to know.
    fn begin(&mut self, block: usize) -> (u64, u64) {
        let before = self.account.begin((block * BLOCK) as u64);
        self.sent[block] += 1;
        (self.sent[block], before)
    }

    fn reach(&mut self, block: usize, sequence: u64) {
        let at = block * BLOCK;
        stamp(&mut self.disk[at..at + BLOCK], MARKS, at as u64, sequence);
    }

    /// A whole acknowledged write.
    fn write(&mut self, block: usize) {
        let (sequence, before) = self.begin(block);
        self.reach(block, sequence);
        self.account.end((block * BLOCK) as u64, before, true);
    }

    /// The machine is gone, or only the process.
    fn crash(mut self, rebooted: bool) -> Crash {
        self.keeper.take().unwrap().end().unwrap();
        let boot = if rebooted { OTHER_BOOT.to_string() } else { super::crash::boot_id() };
        judged(&pending_in(&self.path(), RUN, &boot).unwrap().unwrap(), &self.path(), &self.disk)
    }
}

fn judged(pending: &Pending, path: &Path, disk: &[u8]) -> Crash {
    let mut read = |memory: &mut [u8], offset: u64| {
        let rest = disk.get(offset as usize..).unwrap_or_default();
        let len = memory.len().min(rest.len());
        memory[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    };
    pending.judge(path, &mut Reading { read: &mut read, grain: None, go_on: &mut |_| true }).unwrap()
}

fn kinds(crash: &Crash) -> Vec<(Defect, u64)> {
    let counted = |defect: Defect| (defect, crash.checked.defects[defect.index()]);
    Defect::ALL.into_iter().map(counted).filter(|(_, n)| *n > 0).collect()
}

/// All blocks written twice, one after the other.
fn written() -> Bench {
    let mut bench = Bench::new();
    (0..2).for_each(|_| (0..BLOCKS).for_each(|block| bench.write(block)));
    bench
}

#[test]
fn what_was_acknowledged_and_is_there_raises_no_alarm_whatever_crashed() {
    for rebooted in [false, true] {
        let crash = written().crash(rebooted);
        assert_eq!((crash.acknowledged, crash.checked.ok, crash.wrong()), (16, 16, 0), "{crash:?}");
        assert_eq!((crash.run, crash.trial, crash.rebooted), (77, 1, rebooted));
    }
}

/// What is done to a target, and how.
type Damage = (&'static str, fn(&mut Bench), Vec<(Defect, u64)>);

#[test]
fn each_kind_of_damage_between_crash_and_judgement_is_named() {
    let spoil: [Damage; 8] = [
        ("the last write is gone", |b| b.reach(15, 1), vec![(Defect::Lost, 1)]),
        ("an earlier one is", |b| b.reach(3, 1), vec![(Defect::Reordered, 1)]),
        ("zeros", |b| b.disk[15 * BLOCK..].fill(0), vec![(Defect::Lost, 1)]),
        (
            "a sector of the older write",
            |b| {
                let mut old = vec![0; BLOCK];
                stamp(&mut old, MARKS, 7 * BLOCK as u64, 1);
                b.disk[7 * BLOCK + SECTOR..7 * BLOCK + 2 * SECTOR].copy_from_slice(&old[SECTOR..2 * SECTOR]);
            },
            vec![(Defect::Torn, 1)],
        ),
        ("a flipped bit", |b| b.disk[7 * BLOCK + 100] ^= 1, vec![(Defect::Corrupt, 1)]),
        (
            "the block of another place",
            |b| {
                let other = b.disk[..BLOCK].to_vec();
                b.disk[7 * BLOCK..8 * BLOCK].copy_from_slice(&other);
            },
            vec![(Defect::Misdirected, 1)],
        ),
        ("a write that nobody sent", |b| b.reach(7, 9), vec![(Defect::Phantom, 1)]),
        ("the end of the target", |b| b.disk.truncate(15 * BLOCK + 1024), vec![(Defect::Torn, 1)]),
    ];
    for (what, spoil, expected) in spoil {
        let mut bench = written();
        spoil(&mut bench);
        let crash = bench.crash(false);
        assert_eq!(kinds(&crash), expected, "{what}: {crash:?}");
        assert_eq!(crash.examples[0].defect, expected[0].0, "{what}");
        assert_eq!(crash.checked.ok, 15, "{what}");
    }
}

#[test]
fn of_writes_that_overlapped_the_first_proves_nothing_of_what_came_between() {
    let mut bench = Bench::new();
    let (first, before_first) = bench.begin(3);
    // Acknowledged while both are on their way, and lost.
    let (_, before) = bench.begin(5);
    bench.account.end((5 * BLOCK) as u64, before, true);
    let (_, before_second) = bench.begin(3);
    bench.account.end((3 * BLOCK) as u64, before_first, true);
    bench.account.end((3 * BLOCK) as u64, before_second, true);
    bench.reach(3, first);
    assert_eq!(kinds(&bench.crash(false)), [(Defect::Lost, 1)]);
}

#[test]
fn what_is_acknowledged_while_a_sync_goes_on_is_synced_once_more() {
    let bench = Bench::new();
    let ledger = bench.account.ledger.clone();
    bench.keeper.unwrap().end().unwrap();
    // The load is over before the keeper looks for the first time.
    std::fs::OpenOptions::new().write(true).open(bench.scratch.path().join("ledger")).unwrap().set_len(8).unwrap();
    keep(&ledger);
    assert!(ledger.failure.lock().unwrap().is_some(), "the ledger was cut, and the last sync sees it");
}

#[test]
fn what_was_in_flight_may_be_there_or_not_or_in_part() {
    for (what, reached) in [("not", 0), ("whole", 8), ("in part", 3)] {
        let mut bench = written();
        let (sequence, _) = bench.begin(4);
        let mut new = vec![0; BLOCK];
        stamp(&mut new, MARKS, 4 * BLOCK as u64, sequence);
        let at = 4 * BLOCK;
        bench.disk[at..at + reached * SECTOR].copy_from_slice(&new[..reached * SECTOR]);
        let crash = bench.crash(false);
        assert_eq!((crash.wrong(), crash.acknowledged), (0, 16), "{what}: {crash:?}");
        assert_eq!(crash.checked.unsettled, u64::from(reached == 3), "{what}");
    }
}

#[test]
fn a_write_that_was_cut_within_a_sector_is_counted_and_more_of_them_than_were_in_flight_are_corrupt() {
    let shorn = |count: usize| {
        let mut bench = written();
        for block in 0..count {
            bench.begin(block);
            bench.disk[block * BLOCK + 100] ^= 1;
        }
        bench.crash(false)
    };
    let (two, three) = (shorn(2), shorn(3));
    assert_eq!((two.in_flight, two.shorn, two.wrong()), (2, 2, 0), "{two:?}");
    assert_eq!((three.shorn, kinds(&three)), (2, vec![(Defect::Corrupt, 1)]), "{three:?}");
}

#[test]
fn a_ledger_that_went_down_too_knows_no_less_than_its_last_sync_and_accuses_nobody_of_what_came_after() {
    let mut bench = written();
    // Sent and acknowledged after the last sync: the target is ahead of the ledger that is left.
    bench.reach(5, 3);
    bench.reach(6, 1);
    let crash = bench.crash(true);
    assert_eq!(kinds(&crash), [(Defect::Reordered, 1)], "{crash:?}");
    let mut bench = written();
    bench.reach(5, RESERVE + 1);
    assert_eq!(kinds(&bench.crash(true)), [(Defect::Phantom, 1)]);
}

#[test]
fn writes_beyond_what_is_reserved_are_reserved_first() {
    let mut bench = Bench::new();
    bench.account.ledger.reserved.store(2, Ordering::Release);
    (0..3).for_each(|_| bench.write(9));
    assert_eq!(bench.account.ledger.map.words()[head::RESERVED / 8].load(Ordering::Acquire), 3 + RESERVE);
    assert_eq!(bench.crash(true).wrong(), 0);
}

#[test]
fn after_a_sync_that_failed_nothing_is_expected() {
    let mut bench = written();
    bench.account.shake();
    bench.disk.fill(0);
    let crash = bench.crash(false);
    assert!(crash.shaken && crash.wrong() == 0 && crash.acknowledged == 0, "{crash:?}");
}

#[test]
fn a_place_that_cannot_be_read_does_not_hide_its_neighbours() {
    let mut bench = written();
    bench.reach(8, 1);
    bench.keeper.take().unwrap().end().unwrap();
    let (path, disk) = (bench.path(), &bench.disk);
    let pending = pending_in(&path, RUN, OTHER_BOOT).unwrap().unwrap();
    let mut read = |memory: &mut [u8], offset: u64| {
        let (from, to) = (offset as usize, offset as usize + memory.len());
        if (from..to).contains(&(7 * BLOCK)) {
            return Err(io::Error::from_raw_os_error(5));
        }
        memory.copy_from_slice(&disk[from..to]);
        Ok(memory.len())
    };
    let crash = pending.judge(&path, &mut Reading { read: &mut read, grain: None, go_on: &mut |_| true }).unwrap();
    assert_eq!((crash.unread, crash.checked.ok, kinds(&crash)), (1, 14, vec![(Defect::Reordered, 1)]), "{crash:?}");
    assert_eq!(crash.examples[0].found, Found::Sector { run: 77, epoch: 2, address: 8 * BLOCK as u64, sequence: 1 });
    let mut stop = Reading { read: &mut |_, _| Ok(0), grain: None, go_on: &mut |_| false };
    assert_eq!(pending.judge(&path, &mut stop).unwrap_err().kind, Kind::Interrupted);
}

#[test]
fn what_is_no_whole_ledger_of_this_run_is_refused_and_never_replaced() {
    let mut bench = written();
    bench.keeper.take().unwrap().end().unwrap();
    let (path, good) = (bench.path(), std::fs::read(bench.path()).unwrap());
    let place = LedgerPlace { path: &path, run: RUN };
    let changed = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    let cut = |len: usize| good[..len].to_vec();
    let mut insane = good.clone();
    let oldest = insane.len() - 24;
    insane[oldest..oldest + 8].copy_from_slice(&u64::MAX.to_ne_bytes());
    for bytes in
        [cut(0), cut(100), cut(head::FIXED), cut(good.len() - 8), changed(0), changed(20), changed(70), changed(8200)]
    {
        std::fs::write(&path, &bytes).unwrap();
        let error = pending_in(&path, RUN, OTHER_BOOT).unwrap_err();
        assert_eq!(error.kind, Kind::Preflight);
        assert!(error.message.en.contains("not a complete ledger"), "{error}");
        assert!(remove_ledger(place).is_err() && std::fs::read(&path).unwrap() == bytes);
    }
    std::fs::write(&path, &good).unwrap();
    let error = pending_in(&path, "R-other", OTHER_BOOT).unwrap_err();
    assert!(error.message.en.contains("another run, `R-test`"), "{error}");
    assert!(remove_ledger(LedgerPlace { run: "R-other", ..place }).is_err() && path.exists());
    std::fs::write(&path, &insane).unwrap();
    let pending = pending_in(&path, RUN, OTHER_BOOT).unwrap().unwrap();
    let mut reading = Reading { read: &mut |_, _| Ok(0), grain: None, go_on: &mut |_| true };
    let error = pending.judge(&path, &mut reading).unwrap_err();
    assert!(error.message.en.contains("more was acknowledged than sent"), "{error}");
    remove_ledger(place).unwrap();
    assert!(pending_in(&path, RUN, OTHER_BOOT).unwrap().is_none());
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert!(pending_in(&path, RUN, OTHER_BOOT).is_err());
}

#[test]
fn a_ledger_of_blocks_that_no_trial_has_gets_no_memory_for_them() {
    let of = |block: u64| {
        let area = Area { start: 0, blocks: 1 };
        let head = Head {
            run: RUN.into(),
            marks: Marks { run: 7, epoch: 1 },
            in_flight: 1,
            direct: false,
            boot: OTHER_BOOT.into(),
            areas: vec![AreaOf { area, block, stream: 0 }],
        };
        let mut bytes = head.to_bytes(1);
        bytes.resize(head.len() as usize, 0);
        Pending::from_bytes(Path::new("ledger"), bytes, RUN, OTHER_BOOT)
    };
    assert!(of(64 << 20).is_ok());
    assert!(of(128 << 20).unwrap_err().message.en.contains("not a complete ledger"));
}

/// A trial of our own engine, of which only its ledger is kept.
fn run_with(place: Option<LedgerIn>, trial: &Trial, file: &IoFile) -> Result<stend_record::TrialOutcome> {
    let sinks = Sinks { slices: &mut |_| {}, log: &mut drop, note: &mut drop };
    run_trial_of(MARKS, place, trial, &[], file, &Control::new(), sinks)
}

/// A trial of our own engine over 1 MiB with a ledger; then what its ledger says of the file.
fn loaded(streams: Vec<Stream>, backend: Backend, direct: bool) -> (Crash, u64) {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("ledger");
    let file = IoFile::create_scratch(Path::new(DISK), 1 << 20, direct).unwrap();
    let trial = Trial { backend, direct, ..trial(Bytes::mib(1), streams) };
    let place = Some(LedgerIn::File(LedgerPlace { path: &path, run: RUN }));
    let outcome = run_with(place, &trial, &file).unwrap();
    assert_eq!(outcome.status, TrialStatus::Complete, "{outcome:?}");
    let pending = pending_in(&path, RUN, &super::crash::boot_id()).unwrap().unwrap();
    assert_eq!(pending.is_direct(), direct);
    let mut read = |memory: &mut [u8], offset| file.read_at(memory, offset);
    let mut reading = Reading { read: &mut read, grain: None, go_on: &mut |_| true };
    let blocks = trial.region.len.0 / BLOCK as u64;
    (pending.judge(&path, &mut reading).unwrap(), blocks)
}

#[test]
fn every_way_of_submitting_and_syncing_leaves_a_ledger_that_says_what_is_on_the_target() {
    for backend in [Backend::IoUring, Backend::Libaio, Backend::Psync] {
        for sync in [Sync::Dsync, Sync::ODsync, Sync::Fdatasync(1), Sync::Fsync(1)] {
            let mixed = Stream { mix: Mix::of_reads(30), queue_depth: 4, ..stream(sync) };
            let shared = Stream { jobs: 2, pattern: Pattern::SharedSequential, ..stream(sync) };
            let (crash, blocks) = loaded(vec![mixed, shared], backend, true);
            let all = crash.checked;
            assert_eq!(crash.wrong(), 0, "{backend:?} {sync:?}: {crash:?}");
            assert!(crash.acknowledged > 0 && crash.in_flight == 8, "{backend:?} {sync:?}: {crash:?}");
            assert!(all.ok + all.unsettled + all.never_written >= blocks - 2, "{backend:?} {sync:?}: {crash:?}");
        }
    }
    let (crash, _) = loaded(vec![stream(Sync::Fdatasync(1))], Backend::Psync, false);
    assert!(crash.wrong() == 0 && crash.acknowledged > 0, "{crash:?}");
}

#[test]
fn a_trial_without_such_a_stream_has_no_ledger_and_one_with_it_needs_a_place() {
    let file = IoFile::create_scratch(Path::new(DISK), 1 << 20, true).unwrap();
    let short = |stream| Trial { window: Nanos::millis(20), ..trial(Bytes::mib(1), vec![stream]) };
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("ledger");
    let place = Some(LedgerIn::File(LedgerPlace { path: &path, run: RUN }));
    let plain = short(Stream { verify: None, ..stream(Sync::Dsync) });
    run_with(place, &plain, &file).unwrap();
    assert!(!path.exists());
    let kept = short(stream(Sync::Dsync));
    let error = run_with(None, &kept, &file).unwrap_err();
    assert_eq!(error.kind, Kind::Bug);
    let nowhere = scratch.path().join("no/ledger");
    let place = Some(LedgerIn::File(LedgerPlace { path: &nowhere, run: RUN }));
    let error = run_with(place, &kept, &file).unwrap_err();
    assert_eq!(error.kind, Kind::RunFile, "{error}");
}

#[test]
fn a_ledger_that_is_cut_under_a_load_ends_the_trial_with_an_error_and_not_the_process() {
    for again in [false, true] {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("ledger");
        let place = LedgerPlace { path: &path, run: RUN };
        let region = Bytes((BLOCKS * BLOCK) as u64);
        let streams = vec![stream(Sync::Dsync)];
        let file = IoFile::create_scratch(Path::new(DISK), region.0, true).unwrap();
        // Nobody waits for that: it ends when the ledger is looked at, ten times a second.
        let asked = Trial { window: Nanos::secs(600), ..trial(region, streams) };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let ledger = loop {
                    match std::fs::File::options().write(true).open(&path) {
                        Ok(file) => break file,
                        Err(_) => std::thread::yield_now(),
                    }
                };
                let len = ledger.metadata().unwrap().len();
                ledger.set_len(0).unwrap();
                if again {
                    ledger.set_len(len).unwrap();
                }
            });
            let error = run_with(Some(LedgerIn::File(place)), &asked, &file).unwrap_err();
            assert_eq!(error.kind, Kind::RunFile, "{error}");
            assert!(error.message.en.contains("is damaged"), "{error}");
        });
    }
}
