//! Load threads do not allocate while they measure. Alone in its binary, because it replaces the allocator.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::channel;
use stend_base::{Bytes, MilliIops, Millionths, Nanos};
use stend_load::{Control, LedgerIn, LedgerPlace, Marks, Sinks, choose_backend, fill, run_trial_of};
use stend_record::TrialStatus;
use stend_spec::rate::{Gaps, Rate};
use stend_spec::workload::{Backend, BlockShare, Data, Mix, Pattern, Region, Stream, Sync, Trial, Verify, Zone};
use stend_sys::counting::{CountingAllocator, allocations};
use stend_sys::{IoFile, clock};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const REGION: Region = Region { start: Bytes(0), len: Bytes::mib(16) };

/// Allocations so far by thread, of all threads of this process whose name begins with `prefix`.
fn counts(prefix: &str) -> BTreeMap<u32, u64> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("threads").flatten();
    let named = tasks.filter(|t| std::fs::read_to_string(t.path().join("comm")).is_ok_and(|n| n.starts_with(prefix)));
    let ids = named.map(|task| task.file_name().to_str().and_then(|name| name.parse().ok()).expect("a thread id"));
    ids.map(|id| (id, allocations(id))).collect()
}

/// Every way to choose a block that is not as simple as a permutation.
fn patterns() -> Vec<Pattern> {
    let half = Millionths::percent(50);
    vec![
        Pattern::SharedSequential,
        Pattern::Zipf { theta_thousandths: 1200 },
        Pattern::Pareto { hot: Millionths::percent(20) },
        Pattern::Normal { deviation: Millionths::percent(10) },
        Pattern::Zones(vec![Zone { space: half, accesses: half }; 2]),
        Pattern::Strided { stride: Bytes::kib(64) },
        Pattern::Mixed { sequential: half },
    ]
}

/// Half reads, half writes, eight in flight, and a sync now and then, in two jobs, and two jobs for each of the other
/// patterns, with one size and with a mixture, and one that is verified and kept in a ledger, all of them closed or open loops; 150 ms of ramp so
/// that the first interval is over before the window begins.
fn trial(backend: Backend, rate: Option<Rate>) -> Trial {
    let stream = Stream {
        queue_depth: 8,
        jobs: 2,
        sync: Sync::Fdatasync(64),
        data: Data { compress_thousandths: 2000, dedup_thousandths: 1500 },
        rate,
        ..Stream::new(Mix::of_reads(50), Pattern::Random, Bytes::kib(4))
    };
    let other = |pattern| Stream { pattern, queue_depth: 1, jobs: 1, sync: Sync::None, ..stream.clone() };
    let sizes = [(4, 60), (16, 40)].map(|(kib, percent)| BlockShare { size: Bytes::kib(kib), percent });
    let mixed = |stream: Stream| Stream { block_size: Bytes::kib(16), block_mix: sizes.to_vec(), ..stream };
    let others = patterns().into_iter().map(other).flat_map(|stream| [mixed(stream.clone()), stream]);
    let verify = Some(Verify { after: false, crash: true });
    let verified = Stream { verify, data: Data::default(), sync: Sync::Dsync, ..other(Pattern::Uniform) };
    let streams = [stream.clone(), verified].into_iter().chain(others).collect();
    let ramp = Nanos::millis(150);
    // Its chunks go round many times; what comes beyond its size is counted, which allocates no more.
    let io_log = Some(Bytes::mib(1));
    Trial { ramp, seed: 5, backend, io_log, ..Trial::new(streams, Nanos::millis(1350), REGION) }
}

#[test]
fn load_threads_do_not_allocate_inside_the_window() {
    let file = IoFile::create_scratch(Path::new("/var/tmp"), REGION.len.0, true).unwrap();
    fill(&file, REGION, 3, &Control::new(), &mut |_| {}).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().join("ledger");
    let ledger = Some(LedgerIn::File(LedgerPlace { path: &path, run: "R-1" }));
    let open = || Some(Rate::constant(MilliIops::per_second(2_000), Gaps::Poisson));
    let backends = [Backend::IoUring, Backend::Libaio, Backend::Psync];
    let all = backends.into_iter().flat_map(|backend| [(backend, None), (backend, open())]);
    for (number, (backend, rate)) in (0..).zip(all) {
        let (trial, mut seen, others) = (trial(backend, rate), Vec::new(), 1 + 2 * patterns().len());
        if let Err(obstacle) = choose_backend(&trial, &file) {
            assert!(std::env::var_os("CI").is_none(), "{obstacle}");
            eprintln!("skipped: {obstacle}");
            continue;
        }
        // The load begins later than this, so that its window is not over before then.
        let before_end = clock::now() + trial.ramp + trial.window;
        let emit = &mut |_| {
            let counts = counts("load-");
            if clock::now() < before_end {
                seen.push(counts);
            }
        };
        let (marks, sinks) = (Marks::of_session(1, number), Sinks { slices: emit, log: &mut drop, note: &mut drop });
        let outcome = run_trial_of(marks, ledger.clone(), &trial, &[], &file, &Control::new(), sinks).unwrap();
        assert_eq!((outcome.status, outcome.jobs.len()), (TrialStatus::Complete, 2 + others));
        assert!(outcome.io_log.is_some_and(|log| log.recorded > 0));
        let verified = outcome.verification.unwrap().running;
        assert!(verified.wrong() == 0 && verified.sectors > 0, "{verified:?}");
        assert!(outcome.jobs.iter().all(|job| job.done[0].0 > 0 && job.done[1].0 > 0));
        assert!(seen.len() >= 2, "{seen:?}");
        let (first, last) = (&seen[0], &seen[seen.len() - 1]);
        let threads = others + if backend == Backend::Psync { 16 } else { 2 };
        assert_eq!(first.len(), threads, "{first:?}");
        assert!(first.values().all(|&count| count > 0), "setting up allocates: {first:?}");
        assert_eq!(first, last, "{backend:?}");
    }
}

#[test]
fn an_allocation_of_a_thread_is_seen_as_that_thread_s() {
    let (go, wait) = channel::<()>();
    let (done, ready) = channel();
    let thread = std::thread::Builder::new().name("allocates".into()).spawn(move || {
        let mut kept = Vec::new();
        for () in wait {
            kept.push(Box::new([0u8; 64]));
            done.send(()).unwrap();
        }
        kept.len()
    });
    let step = || {
        go.send(()).unwrap();
        ready.recv().unwrap();
        counts("allocates")
    };
    let (before, after) = (step(), step());
    assert_eq!((before.len(), after.len()), (1, 1));
    assert!(after.values().sum::<u64>() > before.values().sum::<u64>());
    drop(go);
    assert_eq!(thread.unwrap().join().unwrap(), 2);
}
