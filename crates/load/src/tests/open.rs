//! Open loops on real files: what is due is made or told, and a stall is seen by all who had to wait.

use super::support::{DISK, Mount, done, filled, root, run, stream, trial};
use crate::{Control, INTERVAL, run_trial};
use std::sync::Mutex;
use stend_base::{Bytes, Histogram, MilliIops, Nanos, Share};
use stend_record::observed::{OpenTotals, Slice, TrialOutcome, TrialStatus};
use stend_spec::rate::{Gaps, Rate, Shape, Step};
use stend_spec::workload::{Backend, Op, Stream, Sync, Trial};
use stend_sys::{IoFile, clock};

const LEN: Bytes = Bytes::mib(16);
const LANES: [Backend; 3] = [Backend::IoUring, Backend::Libaio, Backend::Psync];

fn open(read_percent: u8, per_second: u64, gaps: Gaps) -> Stream {
    let rate = Some(Rate::constant(MilliIops::per_second(per_second), gaps));
    Stream { rate, queue_depth: 16, ..stream(read_percent) }
}

/// (due, begun, latest) over all intervals and operations.
fn offered(slices: &[Slice]) -> (u64, u64, u64) {
    let open = slices.iter().filter_map(|s| s.open.as_ref());
    open.fold((0, 0, 0), |sum, o| (sum.0 + o.due, sum.1 + o.begun, sum.2.max(o.late_max_ns)))
}

fn never_begun(outcome: &TrialOutcome) -> u64 {
    outcome.open.iter().flat_map(|open| &open.never_begun).map(|ages| ages.count()).sum()
}

/// Everything that an open-loop trial of one stream knows of its latencies, from when I/Os were due.
fn responses(outcome: &TrialOutcome) -> Histogram {
    let mut all = Histogram::new();
    outcome.jobs.iter().flat_map(|job| &job.latency).for_each(|latency| all.merge_sparse(latency));
    outcome.drained.iter().for_each(|drained| all.merge_sparse(&drained.latency));
    all
}

#[test]
fn every_io_that_is_due_is_made_once_and_both_its_latencies_are_kept() {
    for (backend, gaps) in LANES.into_iter().flat_map(|b| [(b, Gaps::Even), (b, Gaps::Poisson)]) {
        let spec = Stream { jobs: 2, ..open(50, 1_000, gaps) };
        let (ramp, window) = (Nanos::millis(150), Nanos::millis(1_200));
        let trial = Trial { backend, ramp, window, ..trial(LEN, vec![spec]) };
        let (outcome, slices) = run(&trial, &filled(LEN)).unwrap();
        assert_eq!(outcome.status, TrialStatus::Complete);
        let last = (outcome.window_end.0 - outcome.load_start.0 - 1) / INTERVAL.0;
        assert!(slices.iter().all(|s| u64::from(s.interval) <= last), "an interval behind the end of the load");
        let (due, begun, _) = offered(&slices);
        assert!(due == 1_350 || gaps == Gaps::Poisson && due.abs_diff(1_350) < 200, "{due}");
        let completed = slices.iter().map(|s| s.ops).sum::<u64>();
        let drained: u64 = outcome.drained.iter().map(|d| d.latency.count()).sum();
        assert_eq!((completed + drained, never_begun(&outcome)), (due, 0), "{backend:?}");
        assert!(begun <= due && begun + drained >= due);
        for op in [Op::Read, Op::Write] {
            let mut served = 0;
            for job in &outcome.jobs {
                let (latency, service) = (&job.latency[op.index()], &job.service.as_ref().unwrap()[op.index()]);
                assert_eq!(latency.count(), service.count());
                assert!(latency.sum_ns >= service.sum_ns && service.sum_ns > 0);
                served += service.count();
            }
            assert_eq!(served, done(&outcome, op).0);
        }
        let [OpenTotals { stream: 0, own_late, .. }] = outcome.open.as_slice() else { panic!("{:?}", outcome.open) };
        assert_eq!(own_late.count(), due);
    }
}

#[test]
fn a_closed_loop_has_nothing_of_an_open_one() {
    let trial = trial(LEN, vec![stream(100), open(100, 500, Gaps::Even)]);
    let (outcome, slices) = run(&trial, &filled(LEN)).unwrap();
    assert!(slices.iter().all(|s| s.open.is_some() == (s.stream == 1)));
    assert!(outcome.jobs.iter().all(|job| job.service.is_some() == (job.stream == 1)));
    assert_eq!(outcome.open.iter().map(|open| open.stream).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_target_that_cannot_keep_up_ends_in_time_and_what_never_began_is_counted_with_its_age() {
    for backend in LANES {
        let file = IoFile::create_scratch(std::path::Path::new(DISK), LEN.0, true).unwrap();
        let spec = Stream { sync: Sync::Fdatasync(1), ..open(0, 2_000_000, Gaps::Even) };
        // The end cuts an interval, and draining lasts beyond that interval.
        let trial = Trial { backend, window: Nanos::millis(350), ..trial(LEN, vec![spec]) };
        let (outcome, slices) = run(&trial, &file).unwrap();
        assert_eq!(outcome.status, TrialStatus::Complete, "being behind is not a stall");
        let (due, begun, late) = offered(&slices);
        assert_eq!((due, outcome.open[0].due), (700_000, 700_000));
        assert!(begun < due && late > 100_000_000, "{begun} begun, {late} ns late");
        let answered = slices.iter().filter(|s| s.op == Op::Write).map(|s| s.ops).sum::<u64>()
            + outcome.drained.iter().filter(|d| d.op == Op::Write).map(|d| d.latency.count()).sum::<u64>();
        assert_eq!(answered + never_begun(&outcome), due, "{backend:?}");
        let ages = &outcome.open[0].never_begun[Op::Write.index()];
        // The youngest was due at the end of the window, and the backlog was worked at for as long again.
        assert!(
            ages.min_ns >= 350_000_000 && ages.max_ns <= ages.min_ns + 350_000_000,
            "{} {}",
            ages.min_ns,
            ages.max_ns
        );
    }
}

#[test]
fn a_schedule_that_pauses_is_followed() {
    let steps = [(0, 2_000), (500, 0), (1_000, 1_000)].map(|(at, rate)| Step {
        at: Nanos::millis(at),
        rate: MilliIops::per_second(rate),
        shape: Shape::Jump,
    });
    let rate = Some(Rate { gaps: Gaps::Even, steps: steps.to_vec() });
    for backend in LANES {
        let spec = Stream { rate: rate.clone(), queue_depth: 4, ..stream(100) };
        let trial = Trial { backend, window: Nanos::millis(1_500), ..trial(LEN, vec![spec]) };
        let (outcome, slices) = run(&trial, &filled(LEN)).unwrap();
        let due = |from: u32, to: u32| -> u64 {
            let inside = slices.iter().filter(|s| (from..to).contains(&s.interval));
            inside.filter_map(|s| s.open.as_ref()).map(|open| open.due).sum()
        };
        assert_eq!((due(0, 5), due(5, 10), due(10, 15)), (1_000, 0, 500), "{backend:?}");
        assert_eq!(outcome.status, TrialStatus::Complete);
    }
}

#[test]
fn everybody_who_had_to_wait_for_a_stall_is_in_the_percentiles() {
    if !root() {
        return;
    }
    for backend in LANES {
        let mount = Mount::new(Bytes::mib(64));
        let file = IoFile::create_scratch(mount.at.path(), LEN.0, true).unwrap();
        // Far fewer places than I/Os that become due during the stall.
        let (rate, window) = (1_000, Nanos::millis(2_000));
        let spec = Stream { queue_depth: 4, ..open(0, rate, Gaps::Even) };
        let trial = Trial { backend, window, ..trial(LEN, vec![spec]) };
        let frozen = Mutex::new((Nanos(0), Nanos(0)));
        let outcome = std::thread::scope(|scope| {
            let mut calls = 0;
            run_trial(&trial, &file, &Control::new(), &mut |_| {
                calls += 1;
                if calls == 5 {
                    mount.freeze();
                    frozen.lock().unwrap().0 = clock::now();
                    scope.spawn(|| {
                        std::thread::sleep(Nanos::millis(300).duration());
                        frozen.lock().unwrap().1 = clock::now();
                        mount.thaw();
                    });
                }
            })
            .unwrap()
        });
        let (from, to) = *frozen.lock().unwrap();
        let load = outcome.load_start.0;
        // Whatever was due while the file system was frozen cannot have ended before it was thawed.
        let mut least: Vec<u64> = (0..2 * rate)
            .map(|n| load + n * 1_000_000)
            .map(|due| if (from.0..to.0).contains(&due) { to.0 - due } else { 0 })
            .collect();
        least.sort_unstable();
        let found = responses(&outcome);
        assert_eq!((outcome.status, found.count()), (TrialStatus::Complete, 2 * rate));
        for q in [0.9, 0.95, 0.99, 0.999] {
            let (found, least) = (found.quantile(Share(q)).unwrap().0, least[(q * 2_000.0) as usize - 1]);
            assert!(found >= least, "{backend:?} p{q}: {found} ns, and {least} ns at least");
        }
        assert!(least[1_979] > 200_000_000, "the stall is long enough for p99 to lie in it");
    }
}

#[test]
fn a_stop_ends_an_open_loop_that_is_far_behind() {
    for backend in LANES {
        let control = Control::new();
        let long = Trial { backend, window: Nanos::secs(600), ..trial(LEN, vec![open(100, 1_000_000, Gaps::Poisson)]) };
        let mut calls = 0;
        let outcome = run_trial(&long, &filled(LEN), &control, &mut |_| {
            calls += 1;
            if calls == 3 {
                control.stop();
            }
        })
        .unwrap();
        assert_eq!(outcome.status, TrialStatus::Interrupted);
        assert!(never_begun(&outcome) > 0);
    }
}

#[test]
fn a_window_with_nothing_due_at_its_end_lasts_to_its_end() {
    let steps = [(0, 1_000), (300, 0)].map(|(at, rate)| Step {
        at: Nanos::millis(at),
        rate: MilliIops::per_second(rate),
        shape: Shape::Jump,
    });
    for backend in LANES {
        let spec = Stream { rate: Some(Rate { gaps: Gaps::Even, steps: steps.to_vec() }), ..stream(100) };
        let trial = Trial { backend, window: Nanos::millis(1_200), ..trial(LEN, vec![spec]) };
        let (outcome, slices) = run(&trial, &filled(LEN)).unwrap();
        assert_eq!(outcome.status, TrialStatus::Complete);
        assert_eq!(outcome.window_end.0 - outcome.window_start.0, trial.window.0, "{backend:?}");
        assert_eq!(done(&outcome, Op::Read).0, 300);
        // The slices hold the window and nothing else, so that rates can be taken from them.
        assert!(slices.iter().all(|slice| slice.interval + slice.span <= 12), "{backend:?}");
    }
}
