//! A storage host that is watched beside the host that is measured. Both are this machine here, each with a worker of its own, and what
//! is handed out is the directory that is measured. Between two machines: `lab_two.rs`.

use crate::support::session::{LIMIT, session, worker};
use crate::support::*;
use std::sync::mpsc::channel;
use stend_analyse::findings::{CheckResult, CheckStatus};
use stend_record::{EventKind, HostId, Role, RunRecord, RunState};
use stend_run::{LoadHost, ObservedHost, Setup};
use stend_wire::{FromHost, Host, Reply, Request, Watch};

const SUITE: &str = "suite: watched\ndefaults: {ramp: 200ms, trial: 2s}\nfill: {size: 16MiB}\nrepeats: {blocks: 1}\ncases:\n  - name: first\n    \
    streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 4}]\n  - name: second\n    \
    streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 4}]\n";

/// A storage host that hands out a directory and is watched.
fn watched(host: Host, scratch: &Scratch) -> ObservedHost {
    let mut storage = ObservedHost::new(HostId::STORAGE, Role::Storage, "array1", Vec::new());
    storage.watch(Ok(host), Some(vec![scratch.directory("data")])).expect("a storage host");
    storage
}

/// Runs the suite on a directory; `now_and_then` is called about four times a second.
fn run(scratch: &Scratch, observed: Vec<ObservedHost>, now_and_then: &mut dyn FnMut(&RunRecord)) -> RunRecord {
    let (channel, _stopper) = stend_run::channel();
    let setup = session(scratch, SUITE, vec![LoadHost::only(worker(scratch))]);
    let setup = Setup { observed, ..setup };
    let file = setup.run_file.clone();
    let read = || stend_record::store::read(&file).ok();
    let done = stend_run::execute(setup, channel, &mut |_| read().iter().for_each(&mut *now_and_then));
    assert!(done.error.is_none(), "{:?}", done.error);
    read().expect("a run file")
}

/// A check of each case, in their order.
fn checks(record: &RunRecord, id: &str) -> Vec<CheckResult> {
    let findings = stend_analyse::judge(record).expect("findings");
    let of =
        |case: &stend_analyse::findings::CaseFinding| case.checks.iter().find(|check| check.id.code() == id).cloned();
    findings.cases.iter().map(|case| of(case).expect("the check")).collect()
}

#[test]
fn a_worker_watches_what_it_is_told_and_reads_at_once_when_a_trial_begins_or_ends() {
    let scratch = Scratch::new();
    let mut host = worker(&scratch);
    let (sender, receiver) = channel();
    host.listen(move |message| drop(sender.send(message))).expect("a thread");
    let next = || match receiver.recv_timeout(LIMIT).expect("an answer") {
        FromHost::Reply(reply) => reply,
        FromHost::Lost(detail) => panic!("{detail}"),
    };
    // So rarely that all but the first one are asked for.
    let sample_every = stend_base::Nanos::secs(3600);
    let missing = scratch.join("missing").to_string_lossy().into_owned();
    host.send(&Request::Watch(Watch { targets: Some(vec![missing]), sample_every }));
    assert!(matches!(next(), Reply::Failed(_)));
    host.send(&Request::Watch(Watch { targets: Some(vec![scratch.directory("data")]), sample_every }));
    let (mut below, mut samples) = (None, Vec::new());
    while below.is_none() || samples.is_empty() {
        match next() {
            Reply::Watched { targets, .. } => below = Some(targets),
            Reply::Sample(sample) => samples.push(sample),
            other => panic!("{other:?}"),
        }
    }
    let below = below.expect("facts");
    let devices: Vec<String> = below[0].devices.iter().map(|device| device.name.clone()).collect();
    for _ in 0..3 {
        host.send(&Request::Mark);
        let Reply::Sample(sample) = next() else { panic!("a sample") };
        samples.push(sample);
    }
    assert!(samples.is_sorted_by_key(|sample| sample.at));
    for sample in &samples {
        assert_eq!(sample.disks.iter().map(|disk| disk.name.clone()).collect::<Vec<_>>(), devices);
    }
    assert!(host.end(LIMIT));
}

#[test]
fn bytes_are_counted_at_the_drives_of_the_storage_host() {
    let scratch = Scratch::new();
    let storage = watched(worker(&scratch), &scratch);
    let record = run(&scratch, vec![storage], &mut |_| {});
    assert_eq!(record.state, RunState::Complete);
    let (_, storage) = record.storages().next().expect("a storage host");
    assert_eq!((storage.name.as_str(), storage.targets.len()), ("array1", 1));
    assert!(storage.samples.is_sorted_by_key(|sample| sample.at) && storage.samples.len() > 8);
    for found in checks(&record, "H11") {
        let told = &found.measured;
        let named = told.en.contains(" of array1") && told.ru.contains(" машины array1");
        // A machine without a block device below its disk has nothing to count.
        assert!(named || storage.targets[0].devices.is_empty(), "{found:?}");
    }
}

#[test]
fn a_storage_host_that_is_lost_ends_no_run_and_what_it_would_have_told_is_not_made_up() {
    let scratch = Scratch::new();
    let host = worker(&scratch);
    let pid = rustix::process::Pid::from_raw(host.pid().expect("its own process") as i32).expect("a process");
    let storage = watched(host, &scratch);
    let mut killed = false;
    let record = run(&scratch, vec![storage], &mut |so_far| {
        if !killed && so_far.trials.first().is_some_and(|trial| trial.outcome.is_some()) {
            killed = true;
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("a kill");
        }
    });
    assert!(killed);
    assert_eq!(record.state, RunState::Complete);
    assert!(record.trials.iter().all(|trial| trial.outcome.is_some()));
    let told = record.events.iter().filter(|event| matches!(&event.kind, EventKind::Unwatched { .. }));
    assert_eq!(told.count(), 1);
    // Cases come in the order in which they were drawn.
    let case = record.trials.last().expect("a trial").case as usize;
    let last = &checks(&record, "H11")[case];
    assert_eq!(last.status, CheckStatus::NotMeasurable, "{last:?}");
    let findings = stend_analyse::judge(&record).expect("findings");
    let words: Vec<String> = findings.caveats.iter().map(|caveat| caveat.say().en).collect();
    assert!(words.iter().any(|text| text.contains("`array1` was not watched, or not all the time")), "{words:?}");
}
