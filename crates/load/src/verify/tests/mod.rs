//! Verification against a disk in memory that does wrong, and against real files.

mod disk;
mod files;

use super::*;
use crate::arrivals::Progress;
use crate::layout::tests::{stream, trial};
use crate::queue_lane::QueueLane;
use crate::recorder::{MESSAGES_PER_THREAD, Recorder};
use crate::shared::{InFlight, Shared, Times};
use disk::{Disk, Fault};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use stend_base::Bytes;
use stend_record::verification::{Defect, Found};
use stend_spec::workload::{Mix, Pattern, Stream, Sync, Verify};
use stend_sys::clock;

const MARKS: Marks = Marks { run: 77, epoch: 2 };
/// Blocks of the disk; faults are at the one in the middle.
const BLOCKS: u64 = 8;
const PLACE: u64 = 4 * 4096;

/// A verified stream of 4 KiB blocks in any order, so many in flight.
pub(super) fn verified(read_percent: u8, queue_depth: u32) -> Stream {
    let verify = Some(Verify { after: true, crash: false });
    Stream { mix: Mix::of_reads(read_percent), pattern: Pattern::Uniform, queue_depth, verify, ..stream() }
}

/// The only job of a stream, for so many I/Os over so many blocks.
fn job(spec: Stream, blocks: u64, limit: u64) -> Job {
    let mut jobs = crate::layout::jobs(&trial(Bytes(blocks * 4096), vec![spec]), limit).unwrap();
    attach(&mut jobs, MARKS);
    jobs.remove(0)
}

/// Runs a job to its end on a disk that does wrong in this way.
fn run(job: &Job, bytes: &disk::Bytes, fault: Fault) {
    let depth = job.spec.queue_depth as usize;
    let shared = Arc::new(Shared::new(u64::MAX));
    let now = clock::now().0;
    shared.publish(Times { load_start: now, window_start: now }, u64::MAX / 2, u64::MAX / 2, u64::MAX / 2);
    let (out, _inbox) = sync_channel(MESSAGES_PER_THREAD);
    let (mut recorder, _back) = Recorder::new(0, (0, false), shared, Arc::new(InFlight::new(depth, false)), out);
    let disk = |slots, len| Ok(Disk::new(bytes.clone(), fault, slots, len));
    let lane = QueueLane::new(job, &Arc::new(Progress::new(None)), disk).unwrap();
    let start = recorder.wait_for_start(Ok(false));
    lane.run(recorder, start);
}

fn empty(blocks: u64) -> disk::Bytes {
    Arc::new(Mutex::new(vec![0; (blocks * 4096) as usize]))
}

/// What is found while a mix runs, and when everything is read back.
struct Story {
    running: Checked,
    after: Checked,
    examples: Vec<Mismatch>,
}

/// One I/O in flight, half reads, on a disk that does wrong; then everything is read back from a healthy one.
fn story(spec: Stream, fault: Fault) -> Story {
    let (job, bytes) = (job(spec, BLOCKS, 2_000), empty(BLOCKS));
    run(&job, &bytes, fault);
    run(&read_back::listed(&job).unwrap(), &bytes, Fault::None);
    let expected = &job.check.as_ref().unwrap().expected;
    expected.noted(|noted| Story { running: noted.running, after: noted.after, examples: noted.examples.clone() })
}

/// Kinds of defects that were found.
fn kinds(checked: &Checked) -> Vec<Defect> {
    Defect::ALL.into_iter().filter(|defect| checked.defects[defect.index()] > 0).collect()
}

#[test]
fn each_fault_of_a_disk_is_found_and_named_while_the_load_runs_and_afterwards() {
    let misdirect = Fault::Misdirect { from: PLACE, by: 4096 };
    let invent = Fault::Invent(PLACE, MARKS);
    for (fault, running, after) in [
        (Fault::None, vec![], vec![]),
        (Fault::Forget(PLACE), vec![Defect::Stale], vec![Defect::Lost]),
        (Fault::OldCopy(PLACE), vec![Defect::Stale], vec![]),
        (Fault::Tear(PLACE), vec![Defect::Torn], vec![Defect::Torn]),
        (Fault::Flip(PLACE), vec![Defect::Corrupt], vec![Defect::Corrupt]),
        (invent, vec![Defect::Phantom], vec![Defect::Phantom]),
        (Fault::Late(PLACE), vec![Defect::Stale], vec![Defect::Reordered]),
    ] {
        let found = story(verified(50, 1), fault);
        assert_eq!((kinds(&found.running), kinds(&found.after)), (running, after), "{fault:?}: {:?}", found.examples);
        assert_eq!(found.after.ok + found.after.wrong(), BLOCKS, "{fault:?}");
        let place = PLACE..PLACE + 4096;
        assert!(found.examples.iter().all(|example| place.contains(&example.address)), "{fault:?}");
    }
    // The place that the writes should have gone to stays as it was, that beside it is overwritten now and then.
    let found = story(verified(50, 1), misdirect);
    assert_eq!(kinds(&found.running), [Defect::Stale, Defect::Misdirected], "{:?}", found.examples);
    assert!(found.after.defects[Defect::Lost.index()] == 1, "{:?}", found.examples);
}

#[test]
fn what_was_expected_and_found_is_kept_for_the_first_defects() {
    let found = story(verified(50, 1), Fault::Flip(PLACE));
    let first = found.examples[0];
    assert_eq!((first.defect, first.address, first.after), (Defect::Corrupt, PLACE + 512, false));
    assert_eq!((first.run, first.epoch, first.found), (77, 2, Found::Damaged));
    assert!(first.oldest == first.newest && first.oldest > 0);
    assert!(found.running.wrong() > 16 && found.examples.len() == 16, "{}", found.examples.len());
}

#[test]
fn a_stream_that_only_writes_is_judged_when_it_is_read_back() {
    let found = story(verified(0, 1), Fault::Forget(PLACE));
    assert_eq!((found.running, kinds(&found.after)), (Checked::default(), vec![Defect::Lost]));
    assert_eq!((found.after.ok, found.after.sectors), (BLOCKS - 1, BLOCKS * 8));
}

#[test]
fn writes_that_failed_leave_open_what_is_there_and_are_no_defect() {
    let found = story(verified(50, 1), Fault::FailWrite(PLACE));
    assert_eq!(found.running.wrong() + found.after.wrong(), 0, "{:?}", found.examples);
    assert!(found.running.unsettled > 0 && found.after.unsettled == 1, "{:?}", found.after);
}

#[test]
fn after_a_failed_sync_what_is_gone_is_no_defect_of_verification() {
    let spec = Stream { sync: Sync::Fdatasync(10), ..verified(50, 1) };
    let found = story(spec.clone(), Fault::FailSync(PLACE));
    assert_eq!(found.running.wrong() + found.after.wrong(), 0, "{:?}", found.examples);
    assert!(story(spec, Fault::None).running.ok > 900);
}

#[test]
fn blocks_that_nobody_wrote_are_counted_and_not_judged() {
    let (job, bytes) = (job(verified(50, 1), 1000, 400), empty(1000));
    bytes.lock().unwrap().fill(0xA5);
    run(&job, &bytes, Fault::None);
    let listed = read_back::listed(&job).unwrap();
    assert!(listed.limit < 250, "only what was written is read back: {}", listed.limit);
    run(&listed, &bytes, Fault::None);
    job.check.unwrap().expected.noted(|noted| {
        assert!(noted.running.never_written > 100, "{:?}", noted.running);
        assert_eq!((noted.running.wrong(), noted.after.wrong(), noted.after.never_written), (0, 0, 0));
        assert_eq!(noted.after.ok, listed.limit);
    });
}

#[test]
fn a_write_that_strays_to_a_place_that_nobody_wrote_is_found_there() {
    let (job, bytes) = (job(verified(50, 1), 64, 40), empty(64));
    run(&job, &bytes, Fault::None);
    let expected = job.check.as_ref().unwrap().expected.clone();
    let stray = (0..64).find(|block| !expected.written().contains(block)).unwrap();
    let from = (expected.written()[0] * 4096) as usize;
    bytes.lock().unwrap().copy_within(from..from + 4096, (stray * 4096) as usize);
    let check = Some(Check { expected: expected.clone(), listed: Some(vec![stray].into()), account: None });
    let reader = Job { limit: 1, check, ..read_back::listed(&job).unwrap() };
    run(&reader, &bytes, Fault::None);
    assert_eq!(expected.noted(|noted| kinds(&noted.after)), [Defect::Misdirected]);
}

/// Sectors that were compared with many in flight, on a disk that takes everything in any order.
fn sectors_without_alarm(limit: u64) -> u64 {
    let mut sectors = 0;
    for (pattern, depth) in
        [(Pattern::Uniform, 64), (Pattern::Zipf { theta_thousandths: 1200 }, 32), (Pattern::Random, 8)]
    {
        let spec = Stream { pattern, sync: Sync::Fdatasync(64), ..verified(70, depth) };
        let (job, bytes) = (job(spec, 512, limit), empty(512));
        run(&job, &bytes, Fault::None);
        run(&read_back::listed(&job).unwrap(), &bytes, Fault::None);
        job.check.unwrap().expected.noted(|noted| {
            assert_eq!(noted.running.wrong() + noted.after.wrong(), 0, "{:?}", noted.examples);
            assert!(noted.running.ok > limit / 4 && noted.running.unsettled == 0, "{:?}", noted.running);
            sectors += noted.running.sectors + noted.after.sectors;
        });
    }
    sectors
}

/// How many sectors a test of soundness compares: `SECTORS`, or so many.
pub(super) fn sectors_asked(otherwise: u64) -> u64 {
    std::env::var("SECTORS").map_or(otherwise, |text| text.parse().expect("a number of sectors"))
}

/// `SECTORS=10000000` makes it ten times as long, and tells how many there were with `--nocapture`.
#[test]
fn a_million_sectors_in_any_order_of_what_is_in_flight_raise_no_alarm() {
    let least = sectors_asked(1_000_000);
    // Three patterns, of which 70 % of the I/Os are reads of eight sectors.
    let sectors = sectors_without_alarm(least / 3 * 10 / 7 / 8 * 21 / 20);
    println!("{sectors} sectors of a disk in memory");
    assert!(sectors >= least, "{sectors}");
}

#[test]
fn a_disk_that_forgets_is_found_with_many_in_flight_too() {
    let (job, bytes) = (job(verified(50, 32), 64, 20_000), empty(64));
    run(&job, &bytes, Fault::Forget(PLACE));
    job.check.unwrap().expected.noted(|noted| assert_eq!(kinds(&noted.running), [Defect::Stale]));
}

#[test]
fn later_sessions_and_trials_have_larger_marks() {
    assert_eq!(Marks::of_session(7, 0), Marks { run: 7, epoch: 1 });
    assert_eq!(Marks::of_session(7, u32::MAX).epoch, u32::MAX);
}

#[test]
fn jobs_that_share_an_area_share_what_is_expected_of_it() {
    let spec = Stream { pattern: Pattern::SharedSequential, jobs: 3, ..verified(50, 1) };
    let own = Stream { jobs: 2, ..verified(50, 1) };
    let mut jobs = crate::layout::jobs(&trial(Bytes::mib(1), vec![own, spec, stream()]), u64::MAX).unwrap();
    let before: u64 = jobs.iter().map(memory).sum();
    attach(&mut jobs, MARKS);
    let of = |index: usize| Arc::as_ptr(&jobs[index].check.as_ref().unwrap().expected);
    assert!(of(0) != of(1) && of(1) != of(2) && of(2) == of(3) && of(3) == of(4));
    assert!(jobs[5].check.is_none());
    let used: u64 = [0, 1, 2].iter().map(|&i| jobs[i].check.as_ref().unwrap().expected.memory_used()).sum();
    assert_eq!((before, used), (used, 16 * (jobs[0].area.blocks * 2 + jobs[2].area.blocks)));
}

#[test]
fn a_verified_area_that_another_stream_writes_is_refused() {
    let plain = |read_percent| Stream { mix: Mix::of_reads(read_percent), jobs: 2, ..stream() };
    let shared = Stream { pattern: Pattern::SharedSequential, jobs: 2, ..verified(50, 1) };
    let jobs = |other| crate::layout::jobs(&trial(Bytes::mib(1), vec![verified(50, 1), other]), u64::MAX).unwrap();
    for other in [plain(0), shared.clone(), verified(0, 1)] {
        let mut jobs = jobs(other);
        check_areas(&jobs).unwrap();
        jobs[1].area.start = jobs[0].area.start + 4096;
        assert_eq!(check_areas(&jobs).unwrap_err().kind, stend_base::Kind::Preflight);
        jobs.swap(0, 1);
        assert!(check_areas(&jobs).is_err(), "whichever comes first");
    }
    let mut readers = jobs(plain(100));
    readers[1].area = readers[0].area;
    check_areas(&readers).unwrap();
    let mut unverified = crate::layout::jobs(&trial(Bytes::mib(1), vec![plain(0)]), u64::MAX).unwrap();
    unverified[1].area = unverified[0].area;
    check_areas(&unverified).unwrap();
}
