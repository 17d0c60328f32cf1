//! Blocks of several sizes on a real file: what is counted, and where it lands.

use super::support::{DISK, contents, done, filled, run, stream, trial};
use std::path::Path;
use stend_base::{Bytes, Nanos};
use stend_record::TrialStatus;
use stend_spec::workload::{Backend, BlockShare, Op, Pattern, Region, Stream, Trial};
use stend_sys::IoFile;

const LEN: Bytes = Bytes::mib(8);

/// 60 % of 4 KiB and 40 % of 64 KiB: 28 KiB on average.
fn mixed(read_percent: u8, pattern: Pattern) -> Stream {
    let block_mix = [(4, 60), (64, 40)].map(|(kib, percent)| BlockShare { size: Bytes::kib(kib), percent }).to_vec();
    Stream { pattern, block_size: Bytes::kib(64), block_mix, queue_depth: 4, ..stream(read_percent) }
}

#[test]
fn every_size_of_a_mixture_counts_its_own_bytes() {
    for backend in [Backend::IoUring, Backend::Libaio, Backend::Psync] {
        for pattern in [Pattern::Sequential, Pattern::Uniform] {
            let even = pattern == Pattern::Sequential;
            let (outcome, slices) =
                run(&Trial { backend, ..trial(LEN, vec![mixed(100, pattern)]) }, &filled(LEN)).unwrap();
            assert_eq!((outcome.status, outcome.errors.len()), (TrialStatus::Complete, 0));
            let (ops, bytes) = done(&outcome, Op::Read);
            assert_eq!(bytes, slices.iter().map(|slice| slice.bytes).sum::<u64>());
            assert!(ops > 0 && bytes.is_multiple_of(4096));
            // Tiled: a cycle of five has two large ones, and what is begun or in flight at the edges may be missing.
            // Drawn: the deviation of the sum is 29.4 KiB sqrt(ops).
            let slack = if even { 10.0 * 65_536.0 } else { 5.0 * 29.4 * 1024.0 * (ops as f64).sqrt() };
            assert!(
                (bytes as f64 - ops as f64 * 28.0 * 1024.0).abs() <= slack,
                "{backend:?}: {bytes} bytes, {ops} I/Os"
            );
        }
    }
}

#[test]
fn a_mixture_writes_every_byte_of_its_region_and_none_beside_it() {
    let file = IoFile::create_scratch(Path::new(DISK), LEN.0, true).unwrap();
    let region = Region { start: Bytes::mib(1), len: Bytes::kib(560) };
    let window = Nanos::millis(900);
    run(&Trial { region, window, ..trial(LEN, vec![mixed(0, Pattern::Random)]) }, &file).unwrap();
    let after = contents(&file, LEN.0 as usize);
    let (start, end) = (region.start.0 as usize, (region.start.0 + region.len.0) as usize);
    let zero = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
    assert!(zero(&after[..start]) && zero(&after[end..]));
    // 560 KiB hold the largest size eight times: 512 KiB, which are three cycles of 140 KiB and a part of a fourth.
    let written = after[start..end].chunks(4096).filter(|block| !zero(block)).count();
    assert!((1..=128).contains(&written), "{written} blocks of 4 KiB");
}
