//! The engine on real files: what is counted, where it goes, and what is written.

use super::support::{DISK, contents, done, filled, run, stream, trial};
use crate::{Control, fill, run_trial, sample_zeros};
use std::collections::HashSet;
use std::path::Path;
use stend_base::{Bytes, Millionths, Nanos};
use stend_record::observed::{Slice, TrialStatus};
use stend_spec::workload::{Backend, Op, Pages, Pattern, Region, Stream, Sync, Trial, Zone};
use stend_sys::IoFile;
use stend_sys::buffer::{self, Pool};

const LEN: Bytes = Bytes::mib(16);
const LANES: [Backend; 4] = [Backend::Auto, Backend::IoUringSqpoll, Backend::Libaio, Backend::Psync];

fn scratch(direct: bool) -> IoFile {
    IoFile::create_scratch(Path::new(DISK), LEN.0, direct).unwrap()
}

fn sum(slices: &[Slice], op: Op) -> (u64, u64, u64) {
    let of_op = slices.iter().filter(|s| s.op == op);
    of_op
        .fold((0, 0, 0), |sum, s| (sum.0 + s.ops, sum.1 + s.bytes, sum.2 + s.latency.as_ref().map_or(0, |l| l.count())))
}

#[test]
fn counters_histograms_and_bytes_say_the_same() {
    for backend in LANES {
        let mixed = Stream { queue_depth: 8, jobs: 2, ..stream(70) };
        let trial = Trial { backend, window: Nanos::millis(1250), ..trial(LEN, vec![mixed]) };
        let (outcome, slices) = run(&trial, &filled(LEN)).unwrap();
        assert_eq!(outcome.status, TrialStatus::Complete);
        for op in [Op::Read, Op::Write] {
            let (ops, bytes) = done(&outcome, op);
            assert!(ops > 0 && bytes == ops * 4096);
            assert_eq!(sum(&slices, op), (ops, bytes, ops), "without a ramp slices hold the window");
            let counts: u64 = outcome.jobs.iter().map(|j| j.latency[op.index()].count()).sum();
            assert_eq!(counts, ops);
        }
        let drained: u64 = outcome.drained.iter().map(|d| d.latency.count()).sum();
        assert!(drained <= 16, "{drained} of at most 16 in flight");
        assert!(outcome.errors.is_empty() && outcome.censored.is_empty());
    }
}

#[test]
fn buffers_lie_in_the_pages_that_were_asked_for_and_the_outcome_says_what_was_got() {
    let setting = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let given = !setting.is_empty() && !setting.contains("[never]");
    for backend in LANES {
        // Writes keep more than two huge pages of data; with psync each I/O in flight has its own memory.
        for pages in [Pages::Ordinary, Pages::Huge] {
            let large = Stream { block_size: Bytes::kib(256), queue_depth: 4, jobs: 2, ..stream(50) };
            let (outcome, _) = run(&Trial { backend, pages, ..trial(LEN, vec![large]) }, &filled(LEN)).unwrap();
            let got = outcome.engine.buffers.unwrap();
            assert!(got.size >= Bytes::mib(8), "{got:?}");
            let huge = if pages == Pages::Huge && given { got.size } else { Bytes(0) };
            assert_eq!(got.huge, huge, "{backend:?} {pages:?}");
        }
    }
}

#[test]
fn small_buffers_in_huge_pages_are_counted_by_the_page_before_anything_runs() {
    let job =
        crate::layout::jobs(&trial(LEN, vec![Stream { queue_depth: 4, ..stream(100) }]), u64::MAX).unwrap().remove(0);
    let of = |threads, pages| crate::trial::buffers(&job, threads, pages);
    assert_eq!((of(1, buffer::Pages::Ordinary), of(4, buffer::Pages::Ordinary)), (4 * 4096, 4 * 4096));
    assert_eq!((of(1, buffer::Pages::Huge), of(4, buffer::Pages::Huge)), (2 << 20, 8 << 20));
}

#[test]
fn every_interval_has_a_slice_and_every_second_its_latencies() {
    let trial = Trial { ramp: Nanos::millis(350), window: Nanos::millis(1800), ..trial(LEN, vec![stream(100)]) };
    let (outcome, slices) = run(&trial, &filled(LEN)).unwrap();
    let seen: HashSet<u32> = slices.iter().flat_map(|s| s.interval..s.interval + s.span).collect();
    // 2.15 s: the last one is half an interval.
    assert!((0..21).all(|interval| seen.contains(&interval)), "{seen:?}");
    assert!(seen.iter().all(|&interval| interval < 22));
    let with_latency: Vec<_> = slices.iter().filter(|s| s.latency.is_some()).map(|s| s.interval).collect();
    assert!(with_latency.len() >= 3 && with_latency[0] >= 9, "{with_latency:?}");
    let (all, window) = (sum(&slices, Op::Read), done(&outcome, Op::Read).0);
    assert_eq!(all.0, all.2);
    assert!(window < all.0, "the ramp is in the slices and not in the window");
    assert_eq!(outcome.window_end.0 - outcome.window_start.0, trial.window.0);
    assert_eq!(outcome.window_start.0 - outcome.load_start.0, trial.ramp.0);
}

#[test]
fn a_write_with_a_sync_each_spans_both_and_the_sync_is_timed_alone() {
    for backend in LANES {
        let durable = Stream { sync: Sync::Fdatasync(1), queue_depth: 2, ..stream(0) };
        // On a disk that others keep busy one sync may take most of a second.
        let window = Nanos::secs(2);
        let (outcome, _) = run(&Trial { backend, window, ..trial(LEN, vec![durable]) }, &filled(LEN)).unwrap();
        let (writes, syncs) = (done(&outcome, Op::Write).0, done(&outcome, Op::Sync).0);
        assert_eq!(writes, syncs);
        let [write, sync] = [Op::Write, Op::Sync].map(|op| &outcome.jobs[0].latency[op.index()]);
        assert!(writes > 0 && write.sum_ns > sync.sum_ns && sync.sum_ns > 0);
    }
}

#[test]
fn a_sync_every_n_writes_comes_once_per_n() {
    for backend in LANES {
        let durable = Stream { sync: Sync::Fsync(4), queue_depth: 4, ..stream(0) };
        // On a disk that others keep busy one sync may take most of a second.
        let trial = Trial { backend, window: Nanos::secs(2), ..trial(LEN, vec![durable]) };
        let (outcome, slices) = run(&trial, &filled(LEN)).unwrap();
        let (writes, syncs) = (sum(&slices, Op::Write).0, sum(&slices, Op::Sync).0);
        // At the end of the window up to 4 syncs are still in flight.
        assert!(syncs > 0 && writes / 4 >= syncs && writes / 4 <= syncs + 4, "{writes} writes, {syncs} syncs");
        assert_eq!(done(&outcome, Op::Sync).1, 0, "a sync moves no bytes");
    }
}

#[test]
fn nothing_outside_the_region_is_touched() {
    let half = Millionths::percent(50);
    let patterns = [
        Pattern::SharedSequential,
        Pattern::Reverse,
        Pattern::Uniform,
        Pattern::Zipf { theta_thousandths: 800 },
        Pattern::Pareto { hot: half },
        Pattern::Normal { deviation: Millionths::ALL },
        Pattern::Zones(vec![Zone { space: half, accesses: half }; 2]),
        Pattern::Strided { stride: Bytes::kib(24) },
        Pattern::Mixed { sequential: half },
    ];
    let simple = LANES.into_iter().flat_map(|b| [(b, Pattern::Random), (b, Pattern::Sequential)]);
    for (backend, pattern) in simple.chain(patterns.map(|pattern| (Backend::Auto, pattern))) {
        let file = scratch(true);
        let mut canary = Pool::new(1, LEN.0 as usize).unwrap();
        canary.slot_mut(0).fill(0xA5);
        assert_eq!(file.write_at(canary.slot(0), 0).unwrap() as u64, LEN.0);
        let region = Region { start: Bytes::kib(1028), len: Bytes::kib(516) };
        let streams = vec![
            Stream { pattern: pattern.clone(), queue_depth: 4, jobs: 3, ..stream(0) },
            Stream { pattern, block_size: Bytes::kib(12), ..stream(30) },
        ];
        // A disk that others write to may stand still for longer than a short window.
        let window = Nanos::millis(900);
        let (outcome, _) = run(&Trial { backend, region, window, ..trial(LEN, streams) }, &file).unwrap();
        assert!(done(&outcome, Op::Write).0 > 0);
        let after = contents(&file, LEN.0 as usize);
        let (start, end) = (region.start.0 as usize, (region.start.0 + region.len.0) as usize);
        assert!(after[..start].iter().chain(&after[end..]).all(|&byte| byte == 0xA5));
        assert!(after[start..start + 4096].iter().any(|&byte| byte != 0xA5));
    }
}

#[test]
fn no_two_sectors_of_what_is_written_are_alike() {
    for backend in LANES {
        let file = scratch(true);
        let writer = Stream { queue_depth: 4, jobs: 2, ..stream(0) };
        let window = Nanos::millis(600);
        let (outcome, _) = run(&Trial { backend, window, ..trial(Bytes::mib(2), vec![writer]) }, &file).unwrap();
        assert!(done(&outcome, Op::Write).0 > 0);
        // How much of the region a busy machine covers in time is not the point: zeros were not written.
        let data = contents(&file, 2 << 20);
        let written: Vec<_> = data.chunks(512).filter(|sector| sector.iter().any(|&byte| byte != 0)).collect();
        assert!(written.len() >= 8);
        assert_eq!(written.iter().collect::<HashSet<_>>().len(), written.len());
        let words: HashSet<_> = written.iter().flat_map(|sector| sector.chunks(8)).collect();
        assert!(words.len() > written.len() * 64 * 999 / 1000, "repeated words would compress");
    }
}

#[test]
fn mean_latency_times_throughput_is_the_queue_depth() {
    for backend in LANES {
        let deep = Stream { queue_depth: 32, ..stream(100) };
        let trial = Trial { backend, window: Nanos::millis(800), ..trial(LEN, vec![deep]) };
        let (outcome, _) = run(&trial, &filled(LEN)).unwrap();
        let in_flight = outcome.jobs[0].latency[0].sum_ns as f64 / trial.window.0 as f64;
        // Little's law; below 32 by the time between a completion and the next submission, which on a
        // busy machine includes waiting for a CPU.
        assert!((20.0..33.0).contains(&in_flight), "{in_flight:.2} in flight through {}", outcome.engine.backend);
    }
}

#[test]
fn a_stop_ends_the_load_and_keeps_what_was_measured() {
    for backend in LANES {
        let long = Trial { backend, window: Nanos::secs(600), ..trial(LEN, vec![stream(100)]) };
        let (control, mut slices) = (Control::new(), Vec::new());
        let outcome = run_trial(&long, &filled(LEN), &control, &mut |more: Vec<Slice>| {
            slices.extend(more);
            if slices.len() >= 2 {
                control.stop();
            }
        })
        .unwrap();
        assert_eq!(outcome.status, TrialStatus::Interrupted);
        assert!(outcome.window_end < outcome.window_start + long.window);
        assert!(outcome.window_end > outcome.window_start);
        assert_eq!(done(&outcome, Op::Read).0, sum(&slices, Op::Read).0);
    }
}

#[test]
fn a_load_does_not_begin_before_the_instant_that_was_planned_for_it() {
    let (file, control) = (filled(LEN), Control::new());
    let at = stend_sys::clock::now() + Nanos::millis(700);
    control.begin_at(at);
    let outcome = run_trial(&trial(LEN, vec![stream(100)]), &file, &control, &mut |_| {}).unwrap();
    assert!(outcome.load_start >= at, "{:?} is before {at:?}", outcome.load_start);
}

#[test]
fn a_stop_before_the_start_makes_no_load() {
    let control = Control::new();
    control.stop();
    let refused = run_trial(&trial(LEN, vec![stream(100)]), &filled(LEN), &control, &mut |_| {});
    assert_eq!(refused.unwrap_err().kind, stend_base::Kind::Interrupted);
}

#[test]
fn without_io_uring_the_trial_runs_and_says_why() {
    let outcome = std::thread::spawn(|| {
        stend_sys::seccomp::forbid_io_uring().unwrap();
        run(&trial(LEN, vec![Stream { queue_depth: 4, ..stream(50) }]), &filled(LEN)).unwrap().0
    })
    .join()
    .unwrap();
    assert_eq!(outcome.status, TrialStatus::Complete);
    assert_eq!((outcome.engine.backend.as_str(), outcome.engine.registered), ("libaio", false));
    assert!(outcome.engine.fallback_reason.contains("io_uring"));
    assert_eq!((outcome.engine.threads(), outcome.engine.plain_syncs), (1, false), "one thread per job");
}

#[test]
fn reading_past_the_end_is_a_short_transfer_and_the_trial_fails() {
    for backend in LANES {
        let mut beyond = trial(LEN, vec![Stream { queue_depth: 4, ..stream(100) }]);
        (beyond.backend, beyond.region.start, beyond.window) = (backend, LEN, Nanos::secs(600));
        let (outcome, _) = run(&beyond, &scratch(true)).unwrap();
        assert_eq!(outcome.status, TrialStatus::Failed);
        let errors = &outcome.errors[0];
        assert_eq!((outcome.errors.len(), errors.errno, errors.op), (1, 0, Op::Read));
        assert!((100..=104).contains(&errors.count), "{} failed", errors.count);
        assert!(errors.first_offset >= Some(LEN.0) && done(&outcome, Op::Read) == (0, 0));
    }
}

#[test]
fn a_few_errors_are_counted_and_the_trial_goes_on() {
    // The last of 512 blocks lies beyond the end, and every epoch of the random order meets it once.
    let mut edge = trial(Bytes::mib(2), vec![stream(100)]);
    edge.region.start = Bytes(LEN.0 - (2 << 20) + 4096);
    let (outcome, slices) = run(&edge, &filled(LEN)).unwrap();
    let failed = slices.iter().map(|s| s.errors).sum::<u64>();
    let tried = done(&outcome, Op::Read).0 + failed;
    assert!((tried / 512..=tried / 512 + 1).contains(&failed), "{failed} of {tried} failed");
    assert_eq!(failed, outcome.errors.iter().map(|e| e.count).sum::<u64>());
    assert!(outcome.errors.iter().all(|e| (e.errno, e.first_offset) == (0, Some(LEN.0))));
    assert_eq!(outcome.status, if failed < 100 { TrialStatus::Complete } else { TrialStatus::Failed });
}

#[test]
fn a_target_that_is_punted_to_kernel_workers_is_noticed() {
    let file = IoFile::create_scratch(Path::new("/dev/shm"), LEN.0, false).unwrap();
    let deep = Stream { queue_depth: 8, ..stream(0) };
    let (outcome, _) = run(&Trial { direct: false, ..trial(LEN, vec![deep]) }, &file).unwrap();
    if outcome.engine.backend == "io_uring" {
        assert!(outcome.engine.kernel_workers > Some(0), "{:?}", outcome.engine);
    }
}

#[test]
fn load_threads_report_cpu_time_and_where_they_ran() {
    let two = Stream { jobs: 2, ..stream(100) };
    let (outcome, _) = run(&trial(LEN, vec![two, stream(100)]), &filled(LEN)).unwrap();
    let allowed = stend_sys::affinity::allowed().unwrap();
    let ran_on = &outcome.engine.cpus;
    assert!(outcome.engine.threads() == 3 && !ran_on.is_empty() && ran_on.iter().all(|cpu| allowed.contains(cpu)));
    assert_eq!(outcome.jobs.iter().map(|j| (j.stream, j.job)).collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 0)]);
    if stend_sys::affinity::thread_times().is_some() {
        assert!(
            outcome.jobs.iter().all(|j| j.cpu_ns > Some(0) && j.cpu_ns == j.cpu_max_ns && j.run_delay_ns.is_some())
        );
    }
}

#[test]
fn a_fill_writes_every_block_once_and_leaves_no_zeros() {
    let region = Region { start: Bytes::kib(8), len: Bytes(3 * (1 << 20) + 12_288) };
    let file = scratch(true);
    assert_eq!(sample_zeros(&file, region, 1, &Control::new()).unwrap().zero, 1000);
    let mut seen = Vec::new();
    let outcome = fill(&file, region, 5, &Control::new(), &mut |bytes| seen.push(bytes)).unwrap();
    assert_eq!(outcome.written, region.len);
    assert!(seen.is_sorted() && seen.last().is_some_and(|&last| last <= region.len), "{seen:?}");
    let zeros = sample_zeros(&file, region, 2, &Control::new()).unwrap();
    assert_eq!((zeros.sampled, zeros.zero), (1000, 0));
    let data = contents(&file, LEN.0 as usize);
    assert!(data[..8192].iter().all(|&byte| byte == 0), "before the region");
    assert!(data[(region.start.0 + region.len.0) as usize..].iter().all(|&byte| byte == 0), "after it");
    let sectors: HashSet<_> = data[8192..8192 + region.len.0 as usize].chunks(512).collect();
    assert_eq!(sectors.len() as u64, region.len.0 / 512);
}

#[test]
fn what_is_sampled_tells_how_far_it_shrinks_and_repeats() {
    let region = Region { start: Bytes(0), len: Bytes(64 * 4096) };
    let file = scratch(false);
    // Half of the blocks are one and the same text, half are texts of their own.
    for block in 0..64u64 {
        let text = format!("{:>16}", if block % 2 == 0 { 0 } else { block }).repeat(256);
        assert_eq!(file.write_at(text.as_bytes(), block * 4096).unwrap(), 4096);
    }
    let texts = sample_zeros(&file, region, 3, &Control::new()).unwrap().contents.unwrap();
    assert!(texts.compressed.0 * 10 < 1000 * 4096, "{texts:?}");
    // 1000 draws of 64 places meet nearly all of the 32 equal ones.
    assert!((25..=31).contains(&texts.repeated), "{texts:?}");
    fill(&file, region, 5, &Control::new(), &mut |_| {}).unwrap();
    let filled = sample_zeros(&file, region, 4, &Control::new()).unwrap().contents.unwrap();
    assert_eq!((filled.compressed, filled.repeated), (Bytes(1000 * 4096), 0));
}

#[test]
fn a_stopped_fill_says_what_was_written() {
    let control = Control::new();
    let file = IoFile::create_scratch(Path::new(DISK), 1 << 34, true).unwrap();
    let region = Region { start: Bytes(0), len: Bytes::gib(16) };
    let outcome = fill(&file, region, 5, &control, &mut |_| control.stop()).unwrap();
    assert!(outcome.written.0 > 0 && outcome.written < region.len, "{outcome:?}");
    let written = contents(&file, outcome.written.0 as usize);
    assert!(written.chunks(4096).all(|block| block.iter().any(|&byte| byte != 0)));
}

#[test]
fn a_full_file_system_is_a_target_error_with_its_offset() {
    let file = IoFile::open_read(Path::new("/dev/full"), false).unwrap();
    let error = fill(&file, trial(LEN, vec![]).region, 1, &Control::new(), &mut |_| {}).unwrap_err();
    assert_eq!(error.kind, stend_base::Kind::TargetIo);
    assert!(error.message.en.contains("at byte") && error.message.ru.contains("со смещения"), "{error}");
}

#[test]
fn what_cannot_be_run_is_refused_with_its_kind() {
    let file = scratch(true);
    let refused = |trial: Trial| run(&trial, &file).unwrap_err().kind;
    let good = trial(LEN, vec![stream(100)]);
    assert_eq!(refused(Trial { direct: false, ..good.clone() }), stend_base::Kind::Bug);
    assert_eq!(refused(Trial { streams: vec![], ..good.clone() }), stend_base::Kind::Bug);
    let many = Stream { queue_depth: 2000, ..stream(100) };
    let crowd = Trial { backend: Backend::Psync, streams: vec![many], ..good.clone() };
    assert_eq!(refused(crowd), stend_base::Kind::Preflight);
    let huge = Stream { queue_depth: 32_768, block_size: Bytes::gib(1), ..stream(100) };
    let mut vast = Trial { streams: vec![huge], ..good.clone() };
    vast.region.len = Bytes::gib(64);
    assert_eq!(refused(vast), stend_base::Kind::Preflight);
    let read_only = IoFile::open_read(Path::new("/dev/zero"), true);
    if let Ok(read_only) = read_only {
        let writes = trial(LEN, vec![stream(0)]);
        assert_eq!(run(&writes, &read_only).unwrap_err().kind, stend_base::Kind::Bug);
    }
}
