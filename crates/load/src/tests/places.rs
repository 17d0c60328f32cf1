//! Where streams work and when they rest, on real files, one or several.

use super::support::{DISK, contents, done, filled, run, stream, trial};
use stend_base::{Bytes, Nanos};
use stend_record::observed::TrialStatus;
use stend_spec::workload::{Backend, Op, Pattern, Region, Stream, Sync, Think, Trial};
use stend_sys::IoFile;

const LEN: Bytes = Bytes::mib(8);
const LANES: [Backend; 3] = [Backend::IoUring, Backend::Libaio, Backend::Psync];

fn region(start: u64, len: u64) -> Region {
    Region { start: Bytes(start), len: Bytes(len) }
}

#[test]
fn a_stream_touches_its_region_and_nothing_else_and_jobs_share_it() {
    let mib = |n: u64| n << 20;
    for pattern in [Pattern::Random, Pattern::SharedSequential, Pattern::Sequential] {
        let file = filled(LEN);
        let before = contents(&file, LEN.0 as usize);
        let own = |start, len| Some(region(mib(start), mib(len)));
        let writer = Stream { pattern: pattern.clone(), jobs: 3, queue_depth: 4, region: own(3, 2), ..stream(0) };
        let reader = Stream { region: own(0, 8), ..stream(100) };
        let (outcome, _) = run(&trial(LEN, vec![writer, reader]), &file).unwrap();
        assert_eq!(outcome.status, TrialStatus::Complete);
        assert!(done(&outcome, Op::Write).0 > 0 && done(&outcome, Op::Read).0 > 0);
        let after = contents(&file, LEN.0 as usize);
        let changed = before.chunks(1 << 20).zip(after.chunks(1 << 20)).map(|(a, b)| a != b);
        let changed: Vec<usize> = changed.enumerate().filter(|(_, differs)| *differs).map(|(i, _)| i).collect();
        assert!(!changed.is_empty() && changed.iter().all(|mib| (3..5).contains(mib)), "{changed:?}");
        let areas: Vec<Region> = outcome.engine.jobs.iter().map(|job| job.area).collect();
        assert!(areas[..3].iter().all(|&area| region(mib(3), mib(2)).holds(area)), "{areas:?}");
        assert_eq!(areas[0].overlaps(areas[1]), pattern.is_shared());
        assert_eq!(areas[3], region(0, mib(8)));
    }
}

#[test]
fn a_region_outside_of_the_range_is_our_defect() {
    let outside = Stream { region: Some(region(LEN.0 - 4096, 8192)), ..stream(100) };
    assert!(run(&trial(LEN, vec![outside]), &filled(LEN)).unwrap_err().message.en.contains("outside"));
}

#[test]
fn users_who_rest_make_as_many_ios_as_their_rests_allow() {
    for backend in LANES {
        for every in [1, 5] {
            let think = Some(Think { time: Nanos::millis(20), every });
            let resting = Stream { queue_depth: 3, think, ..stream(100) };
            let window = Nanos::millis(900);
            let (outcome, _) = run(&Trial { backend, window, ..trial(LEN, vec![resting]) }, &filled(LEN)).unwrap();
            assert_eq!((outcome.status, outcome.engine.jobs[0].in_flight), (TrialStatus::Complete, 3));
            // Each of three users rests at least 20 ms after every so many: 45 rests at most, and one start.
            let (ios, most) = (done(&outcome, Op::Read).0, 3 * 46 * u64::from(every));
            assert!(ios > 0 && ios <= most, "{backend:?}, every {every}: {ios} of at most {most}");
            // Latencies and whole rests of all users fit the window, of each user but its last rest.
            let rests = (ios.saturating_sub(3 * u64::from(every - 1)) / u64::from(every)).saturating_sub(3);
            let waited = outcome.jobs[0].latency[Op::Read.index()].sum_ns;
            assert!(waited <= u128::from(3 * window.0 - rests * 20_000_000), "a rest is no latency: {waited} ns");
        }
    }
}

#[test]
fn a_long_rest_does_not_outlast_the_trial() {
    for backend in LANES {
        let think = Some(Think { time: Nanos::secs(600), every: 1 });
        let resting = Stream { think, ..stream(100) };
        let (outcome, _) = run(&Trial { backend, ..trial(LEN, vec![resting]) }, &filled(LEN)).unwrap();
        assert_eq!((outcome.status, done(&outcome, Op::Read).0), (TrialStatus::Complete, 1), "{backend:?}");
        assert!(outcome.censored.is_empty() && outcome.drained.is_empty());
    }
}

#[test]
fn jobs_on_several_files_touch_every_block_of_them_by_every_lane() {
    for backend in LANES {
        let len = [Bytes::kib(256), Bytes::kib(64), Bytes::kib(64), Bytes::kib(128)];
        let files = len.map(|len| IoFile::create_scratch(std::path::Path::new(DISK), len.0, true).unwrap());
        let copies: Vec<IoFile> = files.iter().map(|file| file.try_clone().unwrap()).collect();
        let all = IoFile::joined(files.into(), &len.map(|len| len.0)).unwrap();
        let writes = |sync| Stream { jobs: 4, queue_depth: 4, sync, ..stream(0) };
        for sync in [Sync::None, Sync::Fdatasync(1), Sync::Fsync(1), Sync::ODsync] {
            let trial = Trial { backend, ..trial(Bytes::kib(512), vec![writes(sync)]) };
            let (outcome, _) = run(&trial, &all).unwrap();
            assert_eq!((outcome.status, outcome.errors.len()), (TrialStatus::Complete, 0), "{backend:?} {sync:?}");
        }
        for (file, len) in copies.iter().zip(len) {
            let blocks = contents(file, len.0 as usize);
            assert!(
                blocks.chunks(4096).all(|block| block.iter().any(|&byte| byte != 0)),
                "{backend:?}: a hole in {len:?}"
            );
        }
        let reads = Trial { backend, ..trial(Bytes::kib(512), vec![Stream { jobs: 3, ..stream(100) }]) };
        assert_eq!(run(&reads, &all).unwrap().0.errors, []);
    }
}

#[test]
fn a_fill_of_several_files_leaves_no_zeros_in_any() {
    let len = [Bytes::mib(3), Bytes::kib(12), Bytes::kib(20)];
    let files = len.map(|len| IoFile::create_scratch(std::path::Path::new(DISK), len.0, true).unwrap());
    let all = IoFile::joined(files.into(), &len.map(|len| len.0)).unwrap();
    let range = region(0, len.into_iter().sum::<Bytes>().0);
    let filled = crate::fill(&all, range, 1, &crate::Control::new(), &mut |_| {}).unwrap();
    let zeros = crate::sample_zeros(&all, range, 2, &crate::Control::new()).unwrap();
    assert_eq!((filled.written, zeros.zero), (range.len, 0));
}
