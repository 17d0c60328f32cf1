//! Verification through the whole engine, on real files.

use super::{sectors_asked, verified};
use crate::backend::Lane;
use crate::tests::support::{DISK, run, trial};
use std::path::Path;
use stend_base::{Bytes, Nanos};
use stend_record::observed::{Censored, TrialOutcome, TrialStatus};
use stend_record::verification::{ReadBack, Verification};
use stend_spec::workload::{Backend, Op, Pattern, Stream, Sync, Trial};
use stend_sys::IoFile;
use stend_sys::aio::Syncs;

const LEN: Bytes = Bytes::mib(4);
const LANES: [Backend; 3] = [Backend::IoUring, Backend::Libaio, Backend::Psync];

fn scratch() -> IoFile {
    IoFile::create_scratch(Path::new(DISK), LEN.0, true).unwrap()
}

/// Runs a trial that must be all right; what was compared in it.
fn sound(trial: &Trial) -> Verification {
    let (outcome, _) = run(trial, &scratch()).unwrap();
    assert_eq!(outcome.status, TrialStatus::Complete, "{:?}", outcome.verification);
    outcome.verification.unwrap()
}

fn read_back(outcome: &Verification) -> (u64, u64) {
    let ReadBack::Made { checked, unread } = outcome.after else { panic!("{outcome:?}") };
    assert_eq!(checked.wrong() + checked.never_written, 0, "{outcome:?}");
    (checked.ok + checked.unsettled, unread)
}

#[test]
fn every_way_of_submitting_verifies_without_alarm_and_reads_back_all_that_was_written() {
    for backend in LANES {
        let shared = Stream { pattern: Pattern::SharedSequential, jobs: 2, ..verified(40, 2) };
        let synced = Stream { sync: Sync::Fdatasync(16), ..verified(60, 8) };
        let trial = Trial { backend, ramp: Nanos::millis(50), ..trial(LEN, vec![synced, shared]) };
        let found = sound(&trial);
        assert!(found.running.ok > 100, "{backend:?}: {found:?}");
        let (read, unread) = read_back(&found);
        assert!(read > 50 && unread == 0, "{backend:?}: {found:?}");
        assert!(found.examples.is_empty() && found.memory == Bytes(16 * 1023), "{found:?}");
    }
}

#[test]
fn a_trial_that_does_not_ask_for_it_is_not_verified() {
    let (outcome, _) = run(&trial(LEN, vec![Stream { verify: None, ..verified(50, 1) }]), &scratch()).unwrap();
    assert_eq!(outcome.verification, None);
    let while_running = Some(stend_spec::workload::Verify { after: false, crash: false });
    let found = sound(&trial(LEN, vec![Stream { verify: while_running, ..verified(50, 4) }]));
    assert_eq!(found.after, ReadBack::NotAsked);
    assert!(found.running.sectors > 0);
}

#[test]
fn a_stopped_trial_says_that_it_was_not_read_back() {
    let control = crate::Control::new();
    let long = Trial { window: Nanos::secs(600), ..trial(LEN, vec![verified(50, 4)]) };
    let outcome: TrialOutcome = crate::run_trial(&long, &scratch(), &control, &mut |_| control.stop()).unwrap();
    let found = outcome.verification.unwrap();
    assert_eq!((outcome.status, found.after), (TrialStatus::Interrupted, ReadBack::Stopped));
    assert_eq!(found.running.wrong(), 0);
}

/// What a verified trial becomes that ran with `psync`, is changed, and is then read back with `lane`.
fn concluded(lane: Lane, change: impl FnOnce(&mut TrialOutcome)) -> TrialOutcome {
    let (file, asked) = (scratch(), trial(LEN, vec![verified(50, 4)]));
    let mut jobs = crate::layout::jobs(&asked, u64::MAX).unwrap();
    super::attach(&mut jobs, super::MARKS);
    let target = crate::target::Target::new(&file, &asked, &[]).unwrap();
    let control = crate::Control::new();
    let task = |lane| crate::task::Task { trial: &asked, jobs: &jobs, lane, target: &target, fault_limit: 100 };
    let mut outcome = crate::engine::run(&task(Lane::Psync), &control, &mut |_| {}).unwrap();
    change(&mut outcome);
    crate::verify::read_back::conclude(&task(lane), &control, &mut outcome);
    outcome
}

#[test]
fn a_target_with_io_in_flight_is_not_read_back_even_if_it_failed_besides() {
    let age = Nanos::SECOND;
    let outcome = concluded(Lane::Psync, |outcome| {
        outcome.status = TrialStatus::Failed;
        outcome.censored = vec![Censored { stream: 0, op: Op::Write, age, in_flight: age }];
    });
    assert_eq!((outcome.status, outcome.verification.unwrap().after), (TrialStatus::Failed, ReadBack::Stalled));
}

#[test]
fn a_pass_that_cannot_be_made_leaves_what_was_measured_and_says_why() {
    // Threads that are started from here on have no AIO.
    let without_aio = std::thread::spawn(|| {
        stend_sys::seccomp::forbid_aio().unwrap();
        concluded(Lane::Libaio(Syncs::Plain), |_| {})
    });
    let outcome = without_aio.join().unwrap();
    let found = outcome.verification.unwrap();
    let ReadBack::Impossible { reason } = found.after else { panic!("{found:?}") };
    assert!(reason.en.contains("libaio") && reason.ru.contains("libaio"), "{reason:?}");
    assert!(outcome.status == TrialStatus::Complete && found.running.ok > 0 && !outcome.jobs.is_empty());
}

#[test]
fn blocks_that_change_behind_the_load_are_a_mismatch_and_counted_in_both_passes() {
    for backend in LANES {
        let file = scratch();
        let spoiler = file.try_clone().unwrap();
        let mut memory = stend_sys::buffer::Pool::new(1, 4096).unwrap();
        let trial = Trial { backend, window: Nanos::millis(600), ..trial(Bytes::kib(64), vec![verified(50, 1)]) };
        let outcome = crate::run_trial(&trial, &file, &crate::Control::new(), &mut |_| {
            for _ in 0..20 {
                spoiler.write_at(memory.slot_mut(0), 8192).unwrap();
                std::thread::sleep(Nanos::millis(1).duration());
            }
        })
        .unwrap();
        let found = outcome.verification.unwrap();
        assert_eq!(outcome.status, TrialStatus::Mismatch, "{backend:?}: {found:?}");
        assert!(found.running.wrong() > 0, "{backend:?}: {found:?}");
        assert!(found.examples.iter().all(|example| (8192..12_288).contains(&example.address)), "{found:?}");
    }
}

#[test]
fn what_cannot_be_verified_is_our_defect_not_a_silence() {
    let reads = trial(LEN, vec![verified(100, 1)]);
    let refused = run(&reads, &scratch()).unwrap_err();
    assert_eq!(refused.kind, stend_base::Kind::Bug);
}

#[test]
fn more_expected_state_than_memory_is_refused_before_it_is_taken() {
    let vast = Trial {
        region: stend_spec::workload::Region { start: Bytes(0), len: Bytes::gib(1 << 20) },
        ..trial(LEN, vec![verified(0, 1)])
    };
    let refused = run(&vast, &scratch()).unwrap_err();
    assert_eq!(refused.kind, stend_base::Kind::Preflight);
    assert!(refused.message.en.contains("of memory"), "{refused}");
}

/// `SECTORS=10000000` makes it last as long as the disk needs for that many.
#[test]
fn sectors_of_a_real_file_with_eight_large_blocks_in_flight_raise_no_alarm() {
    let (mut sectors, mut lane) = (0, LANES.into_iter().cycle());
    let least = sectors_asked(10_000);
    while sectors < least {
        let stream = Stream { block_size: Bytes::kib(64), ..verified(70, 8) };
        let backend = lane.next().unwrap();
        let window = if least > 10_000 { Nanos::secs(3) } else { Nanos::millis(200) };
        sectors += sound(&Trial { backend, window, ..trial(LEN, vec![stream]) }).all().sectors;
    }
    println!("{sectors} sectors of a file");
}
