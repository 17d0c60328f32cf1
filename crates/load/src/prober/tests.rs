//! The prober on real files, beside our engine and beside fio.

use crate::tests::support::{Mount, filled, root, run, stream, trial};
use crate::{Control, fill, run_trial};
use std::sync::Mutex;
use stend_base::{Bytes, MilliIops, Nanos};
use stend_record::probes::Probes;
use stend_spec::prober::{Prober, Probing};
use stend_spec::rate::{Gaps, Rate};
use stend_spec::workload::{Op, Region, Stream, Sync, Trial};
use stend_sys::{IoFile, clock};

const LEN: Bytes = Bytes::mib(16);
const RESERVED: Region = Region { start: Bytes(15 << 20), len: Bytes::mib(1) };

fn probed(op: Op, per_second: u64, trial: Trial) -> Trial {
    let region = if op == Op::Write { RESERVED } else { trial.region };
    let prober = Prober { rate: MilliIops::per_second(per_second), op, block: Bytes::kib(4), region };
    Trial { probing: Probing::By(prober), ..trial }
}

fn open(read_percent: u8, sync: Sync) -> Stream {
    let rate = Some(Rate::constant(MilliIops::per_second(500), Gaps::Even));
    Stream { rate, queue_depth: 16, sync, ..stream(read_percent) }
}

fn all(probes: &Probes) -> u64 {
    probes.response.count() + probes.unanswered.count()
}

#[test]
fn every_probe_that_was_due_in_the_window_is_told_and_none_counts_for_the_load() {
    let (ramp, window) = (Nanos::millis(100), Nanos::millis(1000));
    let trial = probed(Op::Read, 100, Trial { ramp, window, ..trial(LEN, vec![open(100, Sync::None)]) });
    let (outcome, slices) = run(&trial, &filled(LEN)).unwrap();
    let probes = outcome.probes.as_ref().unwrap();
    assert!((99..=101).contains(&all(probes)), "{probes:?}");
    assert!(probes.begun >= all(probes) && probes.lasted >= window && probes.errors.is_empty());
    assert!(probes.longest.is_some_and(|silence| silence.ended && silence.length() >= Nanos::millis(9)));
    assert!(probes.response.sum_ns >= probes.service.sum_ns && probes.service.sum_ns > 0);
    assert!(probes.bytes.is_multiple_of(4096));
    assert_eq!(slices.iter().filter_map(|s| s.open.as_ref()).map(|open| open.due).sum::<u64>(), 550, "the load's own");
    assert!(slices.iter().all(|slice| slice.stream == 0));
    assert_eq!(probes.cpus, [] as [u32; 0], "beside threads that the scheduler places, it is placed so, too");
    assert_eq!(outcome.engine.threads(), 1);
}

#[test]
fn a_prober_leaves_the_cpus_of_threads_that_are_kept_on_some() {
    let allowed = stend_sys::affinity::allowed().unwrap();
    let mut kept = open(100, Sync::None);
    kept.place.cpus = vec![allowed[0]];
    let (outcome, _) = run(&probed(Op::Read, 100, trial(LEN, vec![kept])), &filled(LEN)).unwrap();
    assert_eq!(outcome.engine.cpus, [allowed[0]]);
    assert_eq!(outcome.probes.unwrap().cpus, allowed[1..]);
}

#[test]
fn a_trial_without_a_prober_records_none() {
    let (outcome, _) = run(&trial(LEN, vec![stream(100)]), &filled(LEN)).unwrap();
    assert_eq!(outcome.probes, None);
}

#[test]
fn durable_probes_overwrite_their_own_place_and_nothing_else() {
    let file = filled(LEN);
    let contents = || crate::tests::support::contents(&file, LEN.0 as usize);
    let before = contents();
    let trial = probed(Op::Write, 200, Trial { window: Nanos::millis(400), ..trial(LEN, vec![stream(100)]) });
    let (outcome, _) = run(&trial, &file).unwrap();
    let (after, start) = (contents(), RESERVED.start.0 as usize);
    assert_eq!(before[..start], after[..start], "the load only reads");
    let changed = before[start..].chunks(4096).zip(after[start..].chunks(4096)).filter(|(a, b)| a != b).count() as u64;
    let probes = outcome.probes.unwrap();
    assert_eq!(changed, probes.begun.min(256));
    assert!(changed > 0 && probes.errors.is_empty());
}

#[test]
fn a_frozen_file_system_is_silent_for_at_least_as_long_as_it_was_frozen() {
    if !root() {
        return;
    }
    let mount = Mount::new(Bytes::mib(64));
    let file = IoFile::create_scratch(mount.at.path(), LEN.0, true).unwrap();
    fill(&file, Region { start: Bytes(0), len: LEN }, 1, &Control::new(), &mut |_| {}).unwrap();
    let load = Trial { window: Nanos::millis(1500), ..trial(LEN, vec![open(0, Sync::Dsync)]) };
    let trial = probed(Op::Write, 50, load);
    let frozen = Mutex::new(None);
    let mut begun = false;
    let outcome = std::thread::scope(|scope| {
        run_trial(&trial, &file, &Control::new(), &mut |_| {
            if !std::mem::replace(&mut begun, true) {
                scope.spawn(|| {
                    mount.freeze();
                    let since = clock::now();
                    clock::sleep_until(since + Nanos::millis(600));
                    let until = clock::now();
                    mount.thaw();
                    *frozen.lock().unwrap() = Some((since, until));
                });
            }
        })
    })
    .unwrap();
    let (since, until) = frozen.lock().unwrap().unwrap();
    let probes = outcome.probes.unwrap();
    let longest = probes.longest.unwrap();
    assert!(longest.length() >= until.saturating_sub(since), "{longest:?} for {since:?} to {until:?}");
    assert!(longest.since <= since && longest.until >= until, "{longest:?} for {since:?} to {until:?}");
    // Probes that were due while all threads hung counted from then: of 600 ms and 50 per second at least the first waited for
    // nearly all of it.
    assert!(probes.response.dense().max().unwrap() >= Nanos::millis(500));
    assert_eq!(probes.response.count(), 75, "none is lost: {probes:?}");
}

#[test]
fn a_target_that_never_answers_leaves_probes_that_are_told_with_their_age() {
    if !root() {
        return;
    }
    let mount = Mount::new(Bytes::mib(64));
    let file = IoFile::create_scratch(mount.at.path(), LEN.0, true).unwrap();
    fill(&file, Region { start: Bytes(0), len: LEN }, 1, &Control::new(), &mut |_| {}).unwrap();
    let limits = Trial { window: Nanos::millis(800), drain_limit: Nanos::millis(200), ..trial(LEN, vec![stream(0)]) };
    let mut frozen = false;
    let outcome = run_trial(&probed(Op::Write, 100, limits), &file, &Control::new(), &mut |_| {
        if !std::mem::replace(&mut frozen, true) {
            mount.freeze();
        }
    })
    .unwrap();
    mount.thaw();
    let probes = outcome.probes.unwrap();
    // More hang than there are threads: I/Os that never began are reported, too.
    assert_eq!(all(&probes), 80, "{probes:?}");
    assert!(probes.unanswered.count() > 16 && probes.cpu_ns.is_none());
    let longest = probes.longest.unwrap();
    assert!(!longest.ended && longest.length() >= Nanos::millis(200), "{longest:?}");
}
