//! Several hosts that load in one run, below the command line: all are this machine here, each with a worker, leases and a directory of
//! its own.

use crate::support::session::{session, worker};
use crate::support::*;
use stend_analyse::findings::{Caveat, CheckStatus};
use stend_base::Kind;
use stend_record::{EventKind, HostId, RunRecord, RunState, TrialOutcome, TrialStatus, store};
use stend_run::{Done, LoadHost, Setup};
use stend_spec::order::OnLoss;

const NAMES: [&str; 2] = ["a", "b"];
const STEPS: &str = "suite: steps
defaults: {ramp: 100ms, trial: 500ms}
fill: {size: 8MiB}
repeats: {blocks: 2}
cases:
  - {name: steps, load_hosts: doubling, streams: [{op: read, pattern: random, block_size: 4KiB}]}
  - {name: alone, load_hosts: 1, streams: [{op: read, pattern: random, block_size: 4KiB}]}
  - {name: all, streams: [{op: read, pattern: random, block_size: 4KiB}]}
  - {name: beyond, load_hosts: 3, streams: [{op: read, pattern: random, block_size: 4KiB}]}
";

/// Workers of two hosts, with the process ids of each.
fn hosts(places: &[Scratch; 2]) -> (Vec<LoadHost>, Vec<i32>) {
    let host = |(place, name): (&Scratch, &str)| LoadHost {
        name: name.to_string(),
        host: worker(place),
        targets: vec![place.directory("data")],
    };
    let hosts: Vec<LoadHost> = places.iter().zip(NAMES).map(host).collect();
    let pids = hosts.iter().map(|load| load.host.pid().expect("its own process") as i32).collect();
    (hosts, pids)
}

/// Runs the suite on two hosts; `now_and_then` is called about four times a second.
fn run(suite: &str, places: &[Scratch; 2], now_and_then: impl FnMut(&RunRecord, &[i32])) -> (Done, RunRecord) {
    run_with(OnLoss::Stop, suite, places, now_and_then)
}

fn run_with(
    on_loss: OnLoss,
    suite: &str,
    places: &[Scratch; 2],
    mut now_and_then: impl FnMut(&RunRecord, &[i32]),
) -> (Done, RunRecord) {
    let (hosts, pids) = hosts(places);
    let setup = Setup { on_loss, ..session(&places[0], suite, hosts) };
    let file = setup.run_file.clone();
    let (channel, _stopper) = stend_run::channel();
    let read = || store::read(&file).ok();
    let done = stend_run::execute(setup, channel, &mut |_| read().iter().for_each(|run| now_and_then(run, &pids)));
    (done, read().expect("a run file"))
}

/// Completed I/Os of all jobs.
fn ops(outcome: &TrialOutcome) -> u64 {
    outcome.jobs.iter().flat_map(|job| job.done).map(|(ops, _)| ops).sum()
}

/// Nothing that the run made is left there.
fn is_clean(place: &Scratch) -> bool {
    std::fs::read_dir(place.join("data")).expect("a directory").next().is_none()
}

/// What each host did adds up, and that the other one used the same drive and kernel is not taken for the I/O of strangers.
fn assert_findings(record: &RunRecord) {
    let findings = stend_analyse::judge(record).expect("findings");
    assert_eq!(findings.hosts.iter().map(|host| host.name.as_str()).collect::<Vec<_>>(), NAMES);
    for case in &findings.cases {
        let hosts = &case.hosts.as_ref().expect("both hosts").hosts;
        let (total, sum) = (case.total.iops.value, hosts.iter().map(|host| host.total.iops.value).sum::<f64>());
        assert!(total > 0.0 && (sum - total).abs() < 1e-6 * total, "{sum} {total}");
        assert!(case.workload.en.ends_with("on each of 2 load hosts"), "{}", case.workload.en);
        let mine: Vec<_> = case.checks.iter().filter(|check| check.status == CheckStatus::Fail).collect();
        assert!(mine.is_empty(), "{mine:#?}");
    }
}

#[test]
fn two_hosts_load_together_and_a_trial_is_what_both_did() {
    let places = [Scratch::new(), Scratch::new()];
    let (done, record) = run(SMALL, &places, |_, _| {});
    assert!(done.error.is_none(), "{:?}", done.error);
    assert_eq!((&record.state, record.trials.len()), (&RunState::Complete, 4));
    for (load, name) in record.loads().zip(NAMES) {
        let (_, host) = load;
        assert_eq!((host.name.as_str(), host.targets.len()), (name, 1));
        assert!(host.fill.is_some() && host.zeros.is_some() && host.samples.len() > 2, "{name}");
    }
    for trial in &record.trials {
        let whole = trial.outcome.as_ref().expect("an outcome of both");
        let parts: Vec<&TrialOutcome> = trial.parts.iter().filter_map(|part| part.outcome.as_ref()).collect();
        assert_eq!((parts.len(), whole.status, whole.jobs.len()), (2, TrialStatus::Complete, 2));
        assert!(parts.iter().all(|part| ops(part) > 0));
        assert_eq!(ops(whole), parts.iter().map(|part| ops(part)).sum::<u64>());
        let apart = parts[0].load_start.0.abs_diff(parts[1].load_start.0);
        eprintln!("trial {}: the hosts began {apart} ns apart", trial.trial);
    }
    let findings = stend_analyse::judge(&record).expect("findings");
    assert_eq!(findings.cases.len(), 2);
    assert!(places.iter().all(is_clean));
    assert_findings(&record);
}

#[test]
fn a_case_of_fewer_hosts_is_made_by_the_first_ones_alone() {
    let places = [Scratch::new(), Scratch::new()];
    let (done, record) = run(STEPS, &places, |_, _| {});
    assert!(done.error.is_none(), "{:?}", done.error);
    assert_eq!(record.trials.len(), 8);
    for trial in &record.trials {
        let hosts: Vec<u16> = trial.parts.iter().map(|part| part.host.0).collect();
        let [one, two] = [vec![0], vec![0, 1]];
        assert_eq!(hosts, if trial.asked.load_hosts == Some(1) { one } else { two });
        let whole = trial.outcome.as_ref().expect("an outcome");
        assert!(whole.jobs.len() == hosts.len() && ops(whole) > 0);
    }
    let findings = stend_analyse::judge(&record).expect("findings");
    let told: Vec<(&str, usize)> = findings
        .cases
        .iter()
        .map(|case| (case.label.as_str(), case.hosts.as_ref().expect("hosts").hosts.len()))
        .collect();
    assert_eq!(told, [("steps, load_hosts 1", 1), ("steps, load_hosts 2", 2), ("alone", 1), ("all", 2)]);
    assert_eq!(findings.not_run.len(), 1);
    assert!(findings.not_run[0].reason.en.contains("needs 3 load hosts; the run has 2"), "{:?}", findings.not_run);
    let lost = findings.caveats.iter().any(|caveat| matches!(caveat, Caveat::LoadHostLost { .. }));
    assert!(!lost && findings.cases.iter().all(|case| case.hosts.as_ref().is_some_and(|of| of.without.is_empty())));
    assert!(places.iter().all(is_clean));
}

/// Kills the worker of the second host once both load; returns whether it did.
fn kill_second(so_far: &RunRecord, pids: &[i32]) -> bool {
    let both = so_far.trials.iter().any(|trial| trial.parts.iter().all(|part| part.slices.len() > 4));
    if both {
        let pid = rustix::process::Pid::from_raw(pids[1]).expect("a process");
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("a kill");
    }
    both
}

#[test]
fn a_host_that_is_lost_stops_the_other_and_all_that_was_measured_is_kept() {
    let places = [Scratch::new(), Scratch::new()];
    let long = SMALL.replace("trial: 400ms", "trial: 60s");
    let mut killed = false;
    let (done, record) = run(&long, &places, |so_far, pids| killed = killed || kill_second(so_far, pids));
    let error = done.error.expect("an error");
    assert!(killed && error.kind == Kind::HostLost && error.message.en.starts_with("`b`: "), "{error}");
    assert!(matches!(record.state, RunState::Ended { kind: Kind::HostLost, .. }));
    let lost = record.events.iter().find(|event| matches!(event.kind, EventKind::HostLost { .. }));
    assert_eq!(lost.map(|event| event.host), Some(HostId(1)));
    let [trial] = record.trials.as_slice() else { panic!("one trial began") };
    let [a, b] = trial.parts.as_slice() else { panic!("on two hosts") };
    assert!(!b.slices.is_empty() && b.outcome.is_none() && trial.outcome.is_none());
    let kept = a.outcome.as_ref().expect("what the other one measured");
    assert!(kept.status == TrialStatus::Interrupted && ops(kept) > 0);
    assert!(is_clean(&places[0]), "the other one has undone what it made");
}

#[test]
fn the_others_go_on_without_a_lost_host_if_the_user_says_so() {
    let places = [Scratch::new(), Scratch::new()];
    let suite = SMALL.replace("trial: 400ms", "trial: 3s");
    let mut killed = false;
    let (done, record) = run_with(OnLoss::GoOn, &suite, &places, |so_far, pids| {
        killed = killed || kill_second(so_far, pids);
    });
    assert!(killed && done.error.is_none(), "{:?}", done.error);
    assert_eq!((&record.state, record.trials.len()), (&RunState::Complete, 4));
    let [cut, later @ ..] = record.trials.as_slice() else { panic!("trials") };
    let [a, b] = cut.parts.as_slice() else { panic!("on two hosts") };
    let kept = a.outcome.as_ref().expect("what the other one measured");
    assert!(kept.status == TrialStatus::Complete && ops(kept) > 0, "its trial is whole");
    assert!(!b.slices.is_empty() && b.outcome.is_none() && cut.outcome.is_none());
    for trial in later {
        let hosts: Vec<HostId> = trial.parts.iter().map(|part| part.host).collect();
        assert!(hosts == [HostId(0)] && trial.outcome.is_some(), "{hosts:?}");
    }
    let findings = stend_analyse::judge(&record).expect("findings");
    for case in &findings.cases {
        let of = case.hosts.as_ref().expect("hosts");
        assert_eq!((of.hosts.len(), &of.without), (1, &vec!["b".to_string()]));
    }
    assert_eq!(findings.hosts[1].lost.as_ref().expect("a loss").trials, [0, 1, 2, 3]);
    assert!(is_clean(&places[0]));
}
