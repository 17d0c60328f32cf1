//! Discards and writes of zeroes on real files: what is counted, what is gone, and what is not touched.

use super::support::{DISK, contents, done, filled, run, stream, trial};
use std::path::Path;
use stend_base::Bytes;
use stend_record::observed::{Chosen, TrialStatus};
use stend_spec::workload::{Backend, Mix, Op, Region, Stream, Trial};
use stend_sys::IoFile;

const LEN: Bytes = Bytes::mib(4);
const LANES: [Backend; 3] = [Backend::Auto, Backend::IoUring, Backend::Psync];

const EOPNOTSUPP: i32 = 95;

fn only(op: Op) -> Stream {
    Stream { mix: Mix::only(op), queue_depth: 4, ..stream(100) }
}

fn zero_blocks(data: &[u8]) -> Vec<bool> {
    data.chunks(4096).map(|block| block.iter().all(|&byte| byte == 0)).collect()
}

#[test]
fn every_kind_of_a_mix_is_made_and_counted_apart() {
    for backend in LANES {
        let mix = Mix { read: 40, write: 30, discard: 15, write_zeroes: 15 };
        let all = Stream { mix, queue_depth: 8, ..stream(100) };
        let (outcome, slices) = run(&Trial { backend, ..trial(LEN, vec![all]) }, &filled(LEN)).unwrap();
        assert_eq!((outcome.status, outcome.errors.as_slice()), (TrialStatus::Complete, &[][..]));
        for op in Op::IO {
            let (ops, bytes) = done(&outcome, op);
            let counted: u64 = outcome.jobs.iter().map(|job| job.latency[op.index()].count()).sum();
            assert!(ops > 0 && bytes == ops * 4096 && counted == ops, "{op:?}: {ops}, {bytes}, {counted}");
            assert_eq!(slices.iter().filter(|s| s.op == op).map(|s| s.ops).sum::<u64>(), ops);
        }
        assert_eq!(done(&outcome, Op::Sync).0, 0);
        let chosen = if backend == Backend::Auto { Chosen::Erases } else { Chosen::Named };
        assert_eq!(outcome.engine.chosen, chosen);
    }
}

#[test]
fn what_is_erased_reads_as_zeroes_and_nothing_beside_it_changes() {
    for (backend, op) in LANES.into_iter().flat_map(|lane| [Op::Discard, Op::WriteZeroes].map(|op| (lane, op))) {
        let file = filled(LEN);
        let before = contents(&file, LEN.0 as usize);
        let region = Region { start: Bytes::mib(1), len: Bytes::mib(2) };
        let (outcome, _) = run(&Trial { backend, region, ..trial(LEN, vec![only(op)]) }, &file).unwrap();
        assert_eq!(outcome.status, TrialStatus::Complete, "{:?}", outcome.errors);
        let after = contents(&file, LEN.0 as usize);
        let (first, last) = (1 << 20, 3 << 20);
        assert!(after[..first] == before[..first] && after[last..] == before[last..], "{op:?} outside the region");
        // A random order takes every block once before any a second time.
        let (blocks, ops) = (2 << 8, done(&outcome, op).0 as usize);
        let gone = zero_blocks(&after[first..last]).into_iter().filter(|&zero| zero).count();
        assert!(gone >= ops.min(blocks), "{gone} of {blocks} are gone after {ops} of {op:?}");
        let intact = after[first..last].chunks(4096).zip(before[first..last].chunks(4096)).filter(|(a, b)| a == b);
        assert_eq!(intact.count() + gone, blocks, "a block is as it was or gone");
    }
}

#[test]
fn a_target_that_cannot_erase_fails_with_the_class_of_the_error() {
    // tmpfs makes holes and knows no zeroed ranges (mm/shmem.c, shmem_fallocate).
    let file = IoFile::create_scratch(Path::new("/dev/shm"), LEN.0, false).unwrap();
    for backend in LANES {
        let of = |op| Trial { backend, direct: false, ..trial(LEN, vec![only(op)]) };
        assert_eq!(run(&of(Op::Discard), &file).unwrap().0.status, TrialStatus::Complete);
        let (outcome, _) = run(&of(Op::WriteZeroes), &file).unwrap();
        let [errors] = outcome.errors.as_slice() else { panic!("{:?}", outcome.errors) };
        assert_eq!((outcome.status, errors.op, errors.errno), (TrialStatus::Failed, Op::WriteZeroes, EOPNOTSUPP));
        assert_eq!(done(&outcome, Op::WriteZeroes).0, 0);
    }
}

#[test]
fn a_file_that_is_open_for_reading_is_never_erased() {
    let path = tempfile::NamedTempFile::new_in(DISK).unwrap();
    std::fs::write(path.path(), vec![7; LEN.0 as usize]).unwrap();
    let file = IoFile::open_read(path.path(), true).unwrap();
    for op in [Op::Discard, Op::WriteZeroes] {
        let error = run(&trial(LEN, vec![only(op)]), &file).unwrap_err();
        assert!(error.message.en.contains("open for reading only"), "{error}");
    }
    assert!(std::fs::read(path.path()).unwrap().iter().all(|&byte| byte == 7));
}
