//! AIO on a nameless file: what goes out comes back, and every refusal has its place.

use super::*;
use crate::buffer::Pages;
use std::path::Path;

const MIB: u64 = 1 << 20;

fn scratch() -> Arc<IoFile> {
    Arc::new(IoFile::create_scratch(Path::new("/var/tmp"), MIB, true).unwrap())
}

/// A context on a new nameless file; `None`, with a note, where AIO is not available.
fn context(slots: u32, slot_len: usize, syncs: Syncs) -> Option<Context> {
    if let Err(obstacle) = probe(u64::from(slots)) {
        assert!(std::env::var_os("CI").is_none(), "AIO is needed here: {obstacle}");
        eprintln!("skipped: {obstacle}");
        return None;
    }
    Some(Context::new(scratch(), Slots::new(slots, slot_len, Pages::Ordinary).unwrap(), syncs).unwrap())
}

/// Waits for everything in flight.
fn all(context: &mut Context) -> Vec<Completion> {
    let mut done = Vec::new();
    while context.in_flight() > 0 {
        context.submit_and_wait(1, Nanos::secs(10)).unwrap();
        context.reap(&mut done);
    }
    done.sort_by_key(|c| c.slot);
    done
}

#[test]
fn what_goes_out_through_aio_comes_back() {
    for syncs in [Syncs::Queued, Syncs::Plain] {
        let Some(mut context) = context(3, 8192, syncs) else { return };
        for slot in 0..3 {
            context.slot_mut(slot)[4096..].fill(slot as u8 + 1);
            context.push(slot, Request::Write, 4096, 4096, u64::from(slot) * 4096);
        }
        assert!(all(&mut context).iter().all(|c| c.result == 4096));
        context.push(0, Request::Fdatasync, 0, 0, 0);
        context.push(1, Request::Fsync, 0, 0, 0);
        assert_eq!(all(&mut context).iter().map(|c| c.result).collect::<Vec<_>>(), [0, 0], "{syncs:?}");
        for slot in 0..3 {
            context.push(slot, Request::Read, 0, 4096, (2 - u64::from(slot)) * 4096);
        }
        all(&mut context);
        for slot in 0..3 {
            assert!(context.slot_mut(slot)[..4096].iter().all(|&byte| byte == 3 - slot as u8));
        }
    }
}

#[test]
fn this_kernel_queues_syncs_as_every_one_since_4_18_does() {
    let Ok(syncs) = probe(1) else { return };
    assert_eq!(syncs, Syncs::Queued);
}

#[test]
fn a_refused_request_is_a_result_and_holds_up_nothing_behind_it() {
    let Some(_) = context(1, 4096, Syncs::Queued) else { return };
    let named = tempfile::NamedTempFile::new().unwrap();
    let read_only = IoFile::open_read(named.path(), false).unwrap();
    let mut context =
        Context::new(Arc::new(read_only), Slots::new(3, 4096, Pages::Ordinary).unwrap(), Syncs::Queued).unwrap();
    context.push(0, Request::Write, 0, 4096, 0);
    context.push(1, Request::Read, 0, 4096, MIB);
    context.push(2, Request::Write, 0, 4096, 0);
    let results: Vec<_> = all(&mut context).iter().map(|c| c.result).collect();
    assert_eq!(results, [-libc::EBADF, 0, -libc::EBADF], "not open for writing, and beyond the end");
}

#[test]
fn waiting_for_nothing_ends_with_the_timeout() {
    let Some(mut context) = context(1, 4096, Syncs::Queued) else { return };
    context.submit_and_wait(1, Nanos::millis(1)).unwrap();
    assert_eq!(all(&mut context), []);
}

#[test]
fn completions_that_nobody_reaped_yet_are_kept() {
    let Some(mut context) = context(4, 4096, Syncs::Queued) else { return };
    for slot in 0..4 {
        context.push(slot, Request::Read, 0, 4096, 0);
        context.submit_and_wait(slot + 1, Nanos::secs(10)).unwrap();
    }
    let mut done = Vec::new();
    context.reap(&mut done);
    done.sort_by_key(|c| c.slot);
    assert_eq!(done.iter().map(|c| (c.slot, c.result)).collect::<Vec<_>>(), [0, 1, 2, 3].map(|slot| (slot, 4096)));
}

#[test]
fn a_context_dropped_with_requests_in_flight_leaks_and_does_not_crash() {
    let Some(mut context) = context(4, 4096, Syncs::Queued) else { return };
    (0..4).for_each(|slot| context.push(slot, Request::Write, 0, 4096, u64::from(slot) * 4096));
    context.submit_and_wait(0, Nanos(0)).unwrap();
    drop(context);
}

#[test]
fn more_requests_than_the_machine_allows_name_the_sysctl_and_the_command() {
    let limit = std::fs::read_to_string("/proc/sys/fs/aio-max-nr").unwrap();
    let obstacle = probe(limit.trim().parse::<u64>().unwrap() + 1).unwrap_err();
    assert!(obstacle.cause.en.contains("fs.aio-max-nr") && obstacle.cause.ru.contains("fs.aio-max-nr"));
    assert!(obstacle.to_string().contains("`sysctl -w fs.aio-max-nr="), "{obstacle}");
}

#[test]
fn a_filtered_thread_has_no_aio_and_says_why() {
    let obstacle = std::thread::spawn(|| {
        crate::seccomp::forbid_aio().unwrap();
        probe(1).unwrap_err()
    })
    .join()
    .unwrap();
    assert!(obstacle.to_string().contains("seccomp"), "{obstacle}");
}
