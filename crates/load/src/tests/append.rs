//! Jobs that append, by every lane.

use super::support::{contents, done, run, stream, trial};
use crate::engine::run as run_task;
use crate::target::Target;
use crate::task::Task;
use crate::{Control, layout};
use std::path::Path;
use stend_base::{Bytes, MilliIops, Nanos};
use stend_record::observed::TrialStatus;
use stend_spec::rate::{Gaps, Rate};
use stend_spec::workload::{Backend, Op, Pattern, Stream, Sync, Trial};
use stend_sys::IoFile;
use stend_sys::buffer::Pool;
use stend_sys::claim::Claim;

const LEN: Bytes = Bytes::kib(64);
const LANES: [Backend; 3] = [Backend::IoUring, Backend::Libaio, Backend::Psync];

fn scratch() -> IoFile {
    IoFile::create_scratch(Path::new(super::support::DISK), LEN.0, true).unwrap()
}

/// Two jobs, each with room for eight blocks.
fn appending(backend: Backend, sync: Sync) -> Trial {
    let writes = Stream { pattern: Pattern::Append, jobs: 2, sync, ..stream(0) };
    Trial { backend, ..trial(LEN, vec![writes]) }
}

/// Blocks up to the end of a file.
fn blocks_of(file: &IoFile) -> u64 {
    let mut pool = Pool::new(1, 4096).unwrap();
    (0..).find(|block| file.read_at(pool.slot_mut(0), block * 4096).unwrap() == 0).unwrap()
}

#[test]
fn what_is_appended_makes_a_file_of_the_job_longer_until_it_is_full_and_begins_again() {
    for backend in LANES {
        for sync in [Sync::None, Sync::Fdatasync(1), Sync::ODsync] {
            let (file, trial) = (scratch(), appending(backend, sync));
            for (limit, blocks) in [(3, 3), (8, 8), (11, 3)] {
                let jobs = layout::jobs(&trial, limit).unwrap();
                let target = Target::new(&file, &trial, &jobs).unwrap();
                let lane = crate::backend::choose_backend(&trial, &file).unwrap().lane;
                let task = Task { trial: &trial, jobs: &jobs, lane, target: &target, fault_limit: 1 };
                let outcome = run_task(&task, &Control::new(), &mut |_| {}).unwrap();
                assert_eq!((outcome.status, outcome.errors.len()), (TrialStatus::Complete, 0), "{backend:?}");
                for job in &jobs {
                    let own = target.of(job);
                    assert_eq!(blocks_of(own), blocks, "{backend:?} {sync:?} {limit}");
                    let data = contents(own, blocks as usize * 4096);
                    assert!(data.chunks(4096).all(|block| block.iter().any(|&byte| byte != 0)), "a hole");
                    assert_eq!(own.is_dsync(), sync == Sync::ODsync);
                }
            }
            assert!(contents(&file, LEN.0 as usize).iter().all(|&byte| byte == 0), "the test file was touched");
        }
    }
}

#[test]
fn a_load_goes_on_over_many_passes_closed_and_open() {
    for backend in LANES {
        let mut trial = appending(backend, Sync::None);
        let (outcome, _) = run(&trial, &scratch()).unwrap();
        assert_eq!((outcome.status, outcome.errors.len()), (TrialStatus::Complete, 0));
        assert!(done(&outcome, Op::Write).0 > 32, "two full passes of both jobs");
        trial.streams[0].rate = Some(Rate::constant(MilliIops::per_second(1000), Gaps::Even));
        trial.window = Nanos::secs(1);
        let (paced, _) = run(&trial, &scratch()).unwrap();
        let made = done(&paced, Op::Write).0;
        // A slow disk makes fewer, but goes on after its first passes, too.
        assert!(paced.status == TrialStatus::Complete && (33..=1000).contains(&made), "{made} of 1000 that were due");
    }
}

#[test]
fn a_device_cannot_be_appended_to() {
    let null = Claim::null_device(Path::new("/dev/null")).unwrap().open_write(false).unwrap();
    assert!(null.is_writable(), "it is refused for what it is, not for how it was opened");
    let job = layout::jobs(&appending(Backend::Auto, Sync::None), 1).unwrap().remove(0);
    let error = crate::target::own_file(&null, &job).unwrap_err();
    assert!(error.message.en.contains("a file without a name"), "{error}");
    let read = IoFile::open_read(Path::new("/proc/self/exe"), false).unwrap();
    assert!(crate::target::own_file(&read, &job).is_err(), "a file that may only be read");
}
