//! Claims between processes and over time: who holds one is named, who dies holds nothing, and what changed
//! is not written.

use crate::bench::{Bench, poke, run};
use crate::checks::{allowed, everything, owner, refused, seen};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;
use stend_base::Kind;
use stend_record::Refusal;
use stend_stand::{Need, inspect, prepare};

#[test]
fn a_run_that_was_killed_holds_nothing_and_one_that_lives_is_named() {
    let Some(mut bench) = Bench::new("a_run_that_was_killed_holds_nothing_and_one_that_lives_is_named") else { return };
    let device = bench.disk(16);
    let this = std::env::current_exe().unwrap();
    let mut command = Command::new(this);
    command.args(["--exact", "claims::claimed_by_another_process", "--nocapture"]).env("STEND_TEST_CLAIM", &device);
    let pid = bench.start(&mut command);
    let run = Refusal::InUseByRun { pid, run: "/runs/R-test.stend".into() };
    refused(&mut bench, &device, &|r| *r == run);
    bench.undo_last(); // kill -9
    allowed(&bench, &device, &[]);
}

/// The other process of the test above.
#[test]
fn claimed_by_another_process() {
    let Some(device) = std::env::var_os("STEND_TEST_CLAIM") else { return };
    let facts = inspect(device.to_str().unwrap()).unwrap();
    let held = prepare(&facts, &everything(&facts), &Need::WriteDevice(owner()), &mut |_| {}).unwrap();
    println!("ready");
    loop {
        std::thread::park();
        assert!(held.size() > stend_base::Bytes(0));
    }
}

#[test]
fn two_runs_cannot_write_to_two_partitions_of_one_disk() {
    let Some(mut bench) = Bench::new("two_runs_cannot_write_to_two_partitions_of_one_disk") else { return };
    let (_, first, second) = bench.partitioned(32, "gpt");
    let (one, two) = (inspect(&first).unwrap(), inspect(&second).unwrap());
    let held = prepare(&one, &everything(&one), &Need::WriteDevice(owner()), &mut |_| {}).unwrap();
    let refused = prepare(&two, &everything(&two), &Need::WriteDevice(owner()), &mut |_| {}).unwrap_err();
    assert!(refused.message.en.contains("in use by another run"), "{refused}");
    drop(held);
    prepare(&two, &everything(&two), &Need::WriteDevice(owner()), &mut |_| {}).unwrap();
}

#[test]
fn a_target_that_changed_after_it_was_confirmed_is_not_written() {
    let Some(mut bench) = Bench::new("a_target_that_changed_after_it_was_confirmed_is_not_written") else { return };
    let device = bench.disk(16);
    let facts = seen(&device);
    let permission = everything(&facts);
    let need = Need::WriteDevice(owner());
    // Between the claim and the first write.
    let prepared = prepare(&facts, &permission, &need, &mut |_| {}).unwrap();
    poke(&device, 4086, b"SWAPSPACE2");
    let refused = prepared.open(true, false).unwrap_err();
    assert_eq!(refused.kind, Kind::Unsafe);
    assert!(refused.message.en.contains("signatures"), "{refused}");
    drop(prepared);
    // Between the confirmation and the claim.
    let refused = prepare(&facts, &permission, &need, &mut |_| {}).unwrap_err();
    assert!(refused.message.en.contains("changed since it was checked (signatures)"), "{refused}");
    run(&["truncate", "-s", "8M", bench.dir().join("image0").to_str().unwrap()]);
    poke(&device, 4086, &[0; 10]);
    run(&["losetup", "-c", &device]);
    let refused = prepare(&facts, &permission, &need, &mut |_| {}).unwrap_err();
    assert!(refused.message.en.contains("(size)"), "{refused}");
    allowed(&bench, &device, &[]);
}

#[test]
fn direct_io_reaches_the_device() {
    let Some(mut bench) = Bench::new("direct_io_reaches_the_device") else { return };
    let device = bench.disk(16);
    let facts = inspect(&device).unwrap();
    let prepared = prepare(&facts, &everything(&facts), &Need::WriteDevice(owner()), &mut |_| {}).unwrap();
    assert!(prepared.open(true, true).unwrap().is_direct());
    assert!(prepared.open(false, true).unwrap().is_direct());
}

#[test]
fn a_device_stays_claimed_while_a_file_can_still_write_to_it() {
    let Some(mut bench) = Bench::new("a_device_stays_claimed_while_a_file_can_still_write_to_it") else { return };
    let device = bench.disk(16);
    let facts = inspect(&device).unwrap();
    let prepared = prepare(&facts, &everything(&facts), &Need::WriteDevice(owner()), &mut |_| {}).unwrap();
    let file = prepared.open(true, false).unwrap();
    drop(prepared);
    let copy = file.try_clone().unwrap();
    drop(file);
    let pid = std::process::id();
    refused(&mut bench, &device, &|r| *r == Refusal::InUseByRun { pid, run: "/runs/R-test.stend".into() });
    drop(copy);
    allowed(&bench, &device, &[]);
}

#[test]
fn the_lock_of_the_whole_disk_is_respected() {
    let Some(mut bench) = Bench::new("the_lock_of_the_whole_disk_is_respected") else { return };
    let (disk, first, _) = bench.partitioned(32, "gpt");
    let facts = inspect(&first).unwrap();
    // Held by this process, so that it is not found as an open file of another one first.
    let lock = std::fs::File::open(&disk).unwrap();
    lock.lock().unwrap();
    let refused = prepare(&facts, &everything(&facts), &Need::WriteDevice(owner()), &mut |_| {}).unwrap_err();
    assert_eq!(refused.kind, Kind::Unsafe);
    assert!(refused.message.en.contains("lock of the whole disk"), "{refused}");
    lock.unlock().unwrap();
    prepare(&facts, &everything(&facts), &Need::WriteDevice(owner()), &mut |_| {}).unwrap();
}

#[test]
fn a_device_held_exclusively_by_who_cannot_be_seen_is_refused() {
    let Some(mut bench) = Bench::new("a_device_held_exclusively_by_who_cannot_be_seen_is_refused") else { return };
    /// `O_EXCL`, which on a block device means: nobody else exclusively.
    const EXCLUSIVE: i32 = 0o200;
    let device = bench.disk(16);
    // Our own process is not looked at, so only the kernel's answer tells.
    let held = std::fs::File::options().read(true).custom_flags(EXCLUSIVE).open(&device).unwrap();
    refused(&mut bench, &device, &|r| matches!(r, Refusal::HeldBy { pid: 0, .. }));
    drop(held);
    allowed(&bench, &device, &[]);
}
