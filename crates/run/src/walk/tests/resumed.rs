//! A session that goes on where an earlier one suspended its run.

use super::*;
use stend_record::{Device, TargetFacts, TargetKind};

/// What the person asks for who goes on after the reboot of [`UPGRADE`]; `mismatches` blocks were wrong before it.
pub(super) fn going_on(mismatches: u64) -> Asked {
    let Reply::Switched(old) = in_arm("6.1") else { unreachable!() };
    let Reply::Facts(seen) = facts() else { unreachable!() };
    let inputs = PlanInputs {
        suite: with_arms(UPGRADE).suite,
        seed: 5,
        target: ahead::plan_target(&seen),
        time_budget: None,
        traces: Vec::new(),
    };
    let earlier = resume::Progressed {
        beside: Vec::new(),
        plan: Plan::new(&inputs).unwrap(),
        inputs,
        history: vec![Outcome::Ok; 2],
        learned: Default::default(),
        decisions: 3,
        trials: 2,
        measured: Nanos(0),
        filled: false,
        errors: 0,
        mismatches,
        pending_ledger: false,
        calibrated: false,
        zeros_sampled: false,
        loads: vec![resume::EarlierHost {
            name: String::new(),
            host: HostFacts { boot_id: "6.1".into(), ..seen.host.clone() },
            targets: seen.targets.clone(),
        }],
        shift_ns: 0,
        boot_id: String::new(),
        last: Nanos(0),
        arms: vec![(0, *old)],
        suspended: Some(1),
        new_target: false,
        new_storage: false,
    };
    Asked { resume: Some(earlier), ..with_arms(UPGRADE) }
}

/// A session that goes on after the reboot.
fn after_the_reboot(kernel_now: &str, mismatches: u64) -> Walk {
    let mut walk = start(going_on(mismatches));
    assert_eq!(say_to(&mut walk, Reply::Prepared), ["switch"]);
    say_to(&mut walk, in_arm(kernel_now));
    walk
}

#[test]
fn after_the_reboot_the_arm_is_looked_at_and_measured() {
    let mut walk = after_the_reboot("6.2", 0);
    assert!(matches!(walk.step, Step::Trial { block: 0, case: 1 }), "{:?}", walk.step);
    say_to(&mut walk, done(2, TrialStatus::Complete));
    assert_eq!(say_to(&mut walk, done(3, TrialStatus::Complete)), ["release"]);
    say_to(&mut walk, Reply::Released);
    assert_eq!((walk.ending, walk.state), (None, RunState::Complete));
}

#[test]
fn wrong_data_of_an_earlier_session_are_those_of_the_run() {
    let mut walk = after_the_reboot("6.2", 4);
    say_to(&mut walk, done(2, TrialStatus::Complete));
    say_to(&mut walk, done(3, TrialStatus::Complete));
    say_to(&mut walk, Reply::Released);
    assert_eq!(walk.ending.map(|error| error.kind), Some(Kind::Verification));
}

#[test]
fn a_host_that_was_not_rebooted_is_not_measured_under_the_new_name() {
    let mut walk = after_the_reboot("6.1", 0);
    say_to(&mut walk, Reply::Released);
    let error = walk.ending.unwrap();
    assert!(error.kind == Kind::Preflight && error.message.en.contains("has not been rebooted"), "{error}");
    assert!(matches!(walk.state, RunState::Suspended { arm: 1, .. }), "it still waits");
}

#[test]
fn wrong_data_of_an_earlier_session_say_nothing_of_another_target() {
    let mut walk = Walk::new(going_on(2), Nanos(0));
    let Reply::Facts(mut other) = facts() else { unreachable!() };
    other.targets[0].named = "/other".into();
    other.targets[0].path = "/other".into();
    say_to(&mut walk, Reply::Facts(other));
    assert_eq!((walk.step, walk.ending.map(|error| error.kind)), (Step::Over, Some(Kind::Unsafe)));
}

#[test]
fn new_errors_are_warned_of_although_there_were_some_before() {
    let mut walk = after_the_reboot("6.2", 4);
    walk.take_actions();
    let Reply::TrialDone { ordinal, mut outcome } = done(2, TrialStatus::Mismatch) else { unreachable!() };
    let running = Checked { defects: [1, 0, 0, 0, 0, 0, 0], ..Checked::default() };
    let found = Verification { memory: Bytes(0), running, after: ReadBack::NotAsked, examples: Vec::new() };
    outcome.verification = Some(found);
    walk.apply(Input::Host(FromHost::Reply(Reply::TrialDone { ordinal, outcome })), Nanos(1));
    let warned = |action: &Action| matches!(action, Action::Warn(text) if text.en.contains("H79"));
    assert!(walk.take_actions().iter().any(warned));
}

#[test]
fn a_reboot_suspends_the_run_without_an_error() {
    let walk = suspended();
    let told = RunState::Suspended { arm: 1, instruction: "boot 6.2".into() };
    assert_eq!((walk.step, walk.ending, walk.state), (Step::Over, None, told));
}

/// Two cases in two blocks, on a stand that is built for each block.
fn block_by_block() -> Asked {
    let stream = "streams: [{op: read, pattern: random, block_size: 4KiB}]";
    let text = format!(
        "suite: t\nfill: {{size: 64MiB}}\nrepeats: {{blocks: 2}}\ncases:\n  - {{name: r, {stream}}}\n  - {{name: s, {stream}}}\n"
    );
    Asked { suite: stend_spec::parse::suite(&text, "t.yaml").unwrap(), one_block: true, ..asked() }
}

/// What a session sends after the facts, if every trial is complete, and which blocks it measures.
fn session(asked: Asked) -> (Vec<String>, Vec<u32>, Walk) {
    session_with(asked, 0)
}

/// The same where so many I/Os of its first trial fail.
fn session_with(asked: Asked, errors: u64) -> (Vec<String>, Vec<u32>, Walk) {
    let mut walk = Walk::new(asked, Nanos(0));
    let (mut sent, mut blocks) = (Vec::new(), Vec::new());
    for reply in [facts(), Reply::Prepared, Reply::Taken, filled(Bytes::mib(64)), Reply::Zeros(ZeroSample::default())] {
        if !matches!(walk.step, Step::Trial { .. }) {
            sent.extend(say_to(&mut walk, reply));
        }
    }
    while let Step::Trial { block, .. } = walk.step {
        blocks.push(block);
        let Reply::TrialDone { ordinal, mut outcome } = done(walk.trials - 1, TrialStatus::Complete) else {
            unreachable!()
        };
        let failed = IoErrors { stream: 0, op: Op::Read, errno: 5, count: errors, first_offset: Some(0) };
        outcome.errors.extend((errors > 0 && blocks.len() == 1).then_some(failed));
        sent.extend(say_to(&mut walk, Reply::TrialDone { ordinal, outcome }));
    }
    say_to(&mut walk, Reply::Released);
    (sent, blocks, walk)
}

/// What the second session of [`block_by_block`] goes on from, if so many I/Os of the first one failed.
fn after_the_first_block(errors: u64) -> Asked {
    let Reply::Facts(seen) = facts() else { unreachable!() };
    let Asked { resume, .. } = going_on(0);
    let inputs = PlanInputs {
        suite: block_by_block().suite,
        seed: 5,
        target: ahead::plan_target(&seen),
        time_budget: None,
        traces: Vec::new(),
    };
    let earlier = resume::Progressed {
        beside: Vec::new(),
        plan: Plan::new(&inputs).unwrap(),
        inputs,
        history: vec![Outcome::Ok; 3],
        filled: true,
        zeros_sampled: true,
        arms: Vec::new(),
        suspended: None,
        errors,
        ..resume.unwrap()
    };
    Asked { resume: Some(earlier), ..block_by_block() }
}

#[test]
fn a_failed_io_in_one_block_does_not_keep_the_other_blocks_from_being_measured() {
    let (_, blocks, first) = session_with(block_by_block(), 3);
    assert_eq!((blocks, first.waits, first.ending), (vec![0, 0], true, None));
    let (_, blocks, last) = session(after_the_first_block(3));
    assert_eq!((blocks, last.waits, last.ending.map(|error| error.kind)), (vec![1, 1], false, Some(Kind::TargetIo)));
    let mut walk = start(with_arms(UPGRADE));
    say_to(&mut walk, Reply::Prepared);
    say_to(&mut walk, in_arm("6.1"));
    (walk.trial_errors, walk.mismatches) = (3, 2);
    for ordinal in 0..2 {
        say_to(&mut walk, done(ordinal, TrialStatus::Complete));
    }
    say_to(&mut walk, Reply::Released);
    assert_eq!(walk.ending.map(|error| error.kind), Some(Kind::Verification), "the person may never come back");
    assert!(walk.asks && matches!(walk.state, RunState::Suspended { arm: 1, .. }), "the person is waited for");
}

#[test]
fn a_run_whose_coordinator_was_rebooted_is_tied_to_its_axis_by_the_wall_clock() {
    let mut run = interrupted_run();
    let anew = |run: &stend_record::RunRecord, boot: &str, rebooted: bool, now: u64| {
        crate::resume::progressed(run).unwrap().clock_began_anew(boot, rebooted, Nanos(now))
    };
    // A file that does not know the boot of its coordinator: the last event is of 3 ns.
    assert!(!anew(&run, "A", false, 1_000) && anew(&run, "A", true, 1_000));
    assert!(anew(&run, "A", false, 0), "the clock has not come so far");
    run.header.boot_id = "A".into();
    assert!(!anew(&run, "A", true, 1_000), "the host was rebooted alone: its times are put on our clock");
    assert!(anew(&run, "B", false, 1_000), "the host was not");
    let kind = EventKind::Resumed { host: Box::default(), shift_ns: 7, boot_id: "B".into() };
    run.apply(Entry::Event(Event::new(Nanos(4), kind)));
    assert!(!anew(&run, "B", false, 1_000) && anew(&run, "A", false, 1_000));
    let earlier = crate::resume::Progressed { last: Nanos(50), ..crate::resume::progressed(&run).unwrap() };
    assert_eq!(earlier.shift_behind(41, Nanos(10)), (41, None));
    let (shift_ns, doubt) = earlier.shift_behind(40, Nanos(10));
    assert_eq!(Nanos(10).shifted(shift_ns), Nanos(51), "the axis does not go back");
    assert!(doubt.is_some_and(|doubt| doubt.en.contains("before the end of the earlier session")));
}

#[test]
fn on_a_stand_that_is_built_for_a_block_a_session_measures_that_block_and_the_run_waits_for_the_next_build() {
    let (_, blocks, first) = session(block_by_block());
    assert_eq!((blocks, first.waits, &first.ending), (vec![0, 0], true, &None));
    assert!(matches!(first.state, RunState::Ended { kind: Kind::Interrupted, .. }), "{:?}", first.state);
    let (sent, blocks, second) = session(after_the_first_block(0));
    assert!(sent.contains(&"fill".to_string()), "what was written went with the stand: {sent:?}");
    assert_eq!((blocks, second.waits, second.state), (vec![1, 1], false, RunState::Complete));
}

/// How a trial ended that read 5 blocks otherwise than they had been written.
fn wrong_outcome() -> Box<stend_record::TrialOutcome> {
    let running = Checked { defects: [5, 0, 0, 0, 0, 0, 0], ..Checked::default() };
    let found = Verification { memory: Bytes(0), running, after: ReadBack::NotAsked, examples: Vec::new() };
    let failed = IoErrors { stream: 0, op: Op::Read, errno: 5, count: 3, first_offset: Some(0) };
    let outcome = fixture::outcome(TrialStatus::Mismatch);
    Box::new(stend_record::TrialOutcome { verification: Some(found), errors: vec![failed], ..outcome })
}

#[test]
fn what_was_wrong_in_a_trial_that_lost_another_host_is_counted_in_its_session_and_after() {
    let mut walk = in_first_trial();
    let ended = |host| Entry::TrialEnd { host, trial: 0, outcome: wrong_outcome() };
    walk.keep(ended(HostId(0)), Nanos(2));
    assert_eq!(walk.faults(), (3, 5));
    let mut run = interrupted_run();
    run.header.inputs.target.hosts = 2;
    let info = HostInfo { name: "b".into(), ..run.load().info.clone() };
    run.apply(Entry::Host { host: HostId(1), info: Box::new(info) });
    let asked = Box::new(run.trials[0].asked.clone());
    run.apply(Entry::TrialStart { trial: 2, case: 0, block: 1, round: false, asked, at: Nanos(4) });
    run.apply(Entry::TrialEnd { host: HostId(0), trial: 2, outcome: wrong_outcome() });
    let lost = EventKind::HostLost { detail: "gone".into() };
    run.apply(Entry::Event(Event { at: Nanos(5), host: HostId(1), kind: lost }));
    assert!(run.trials[2].outcome.is_none(), "it did not end on all");
    let earlier = crate::resume::progressed(&run).unwrap();
    assert_eq!((earlier.errors, earlier.mismatches), (3, 5));
}

#[test]
fn a_complete_run_is_not_resumed() {
    let mut run = interrupted_run();
    run.state = RunState::Complete;
    assert_eq!(crate::resume::progressed(&run).unwrap_err().kind, Kind::RunFile);
}

#[test]
fn a_run_that_was_stopped_while_its_range_was_filled_again_measures_nothing_twice() {
    let mut run = interrupted_run();
    let before = crate::resume::progressed(&run).unwrap();
    run.apply(Entry::Fill {
        host: HostId::LOAD,
        outcome: FillOutcome { written: Bytes::mib(1), ..FillOutcome::default() },
    });
    let after = crate::resume::progressed(&run).unwrap();
    assert_eq!((after.history, after.filled), (before.history, true));
}

#[test]
fn a_session_on_the_boot_of_the_one_before_has_its_axis() {
    let mut run = interrupted_run();
    assert_eq!(crate::resume::progressed(&run).unwrap().shift_ns, 0);
    for shift_ns in [7, -9] {
        let kind = EventKind::Resumed { host: Box::default(), shift_ns, boot_id: String::new() };
        run.apply(Entry::Event(Event::new(Nanos(1), kind)));
        assert_eq!(crate::resume::progressed(&run).unwrap().shift_ns, shift_ns);
    }
}

/// A target on an ext4 in the first partition of a disk of its own.
fn on_disk(kind: TargetKind) -> TargetFacts {
    let device = |name: &str, kind: &str, depth, identity: &str| Device {
        name: name.into(),
        kind: kind.into(),
        depth,
        identity: Some(identity.into()),
        ..Device::default()
    };
    let devices = vec![device("sda1", "partition", 0, "wwn:1-part1"), device("sda", "disk", 1, "wwn:1")];
    TargetFacts { kind, file_system: Some("ext4".into()), devices, ..fixture::target() }
}

/// Whether a run that began on one target goes on on another, after this boot.
fn goes_on(then: &TargetFacts, found: TargetFacts, boot_id: &str) -> bool {
    let mut earlier = crate::resume::progressed(&interrupted_run()).unwrap();
    earlier.loads[0].targets = vec![then.clone()];
    let mut walk = Walk::new(Asked { resume: Some(earlier), ..asked() }, Nanos(0));
    requests(&mut walk);
    let Reply::Facts(mut now) = facts() else { unreachable!() };
    (now.targets, now.host.boot_id) = (vec![found], boot_id.into());
    let sent = say_to(&mut walk, Reply::Facts(now));
    assert_eq!(sent.is_empty(), walk.ending.as_ref().is_some_and(|error| error.kind == Kind::Unsafe), "{sent:?}");
    !sent.is_empty()
}

#[test]
fn a_run_does_not_go_on_below_the_path_of_its_target_when_something_else_is_mounted_there() {
    for kind in [TargetKind::Directory, TargetKind::File] {
        for boot in ["", "another"] {
            let then = on_disk(kind);
            let with = |change: &dyn Fn(&mut TargetFacts)| {
                let mut found = then.clone();
                change(&mut found);
                goes_on(&then, found, boot)
            };
            assert!(with(&|_| {}));
            assert!(with(&|found| found.devices.iter_mut().for_each(|device| device.name.insert(0, 'x'))), "renamed");
            assert!(!with(&|found| found.file_system = Some("xfs".into())));
            // The disk of the system; another partition of the same disk.
            let elsewhere = |part: &str, disk: &str| {
                let (part, disk) = (Some(part.to_string()), Some(disk.to_string()));
                with(&|found| (found.devices[0].identity, found.devices[1].identity) = (part.clone(), disk.clone()))
            };
            assert!(!elsewhere("wwn:2-part1", "wwn:2"));
            assert!(!elsewhere("wwn:1-part2", "wwn:1"));
        }
    }
}

#[test]
fn a_target_whose_devices_have_no_identity_is_known_by_their_names_until_the_next_boot() {
    let nameless = |name: &str, identity: Option<&str>| {
        let mut target = on_disk(TargetKind::Directory);
        target.devices.truncate(1);
        (target.devices[0].name, target.devices[0].identity) = (name.into(), identity.map(str::to_string));
        target
    };
    assert!(goes_on(&nameless("vda", None), nameless("vda", None), ""));
    assert!(!goes_on(&nameless("vda", None), nameless("vdb", None), ""));
    assert!(goes_on(&nameless("vda", None), nameless("vdb", None), "another"));
    // The number of the device that a file lies on is of one boot.
    assert!(goes_on(&nameless("loop0", Some("loop:259:2:7")), nameless("loop1", Some("loop:259:3:7")), "another"));
    assert!(!goes_on(&nameless("loop0", Some("loop:259:2:7")), nameless("loop1", Some("loop:259:3:7")), ""));
    let none = TargetFacts { devices: Vec::new(), file_system: Some("nfs4".into()), ..fixture::target() };
    assert!(goes_on(&none, none.clone(), "another"));
}

/// A walk of a run that began on hosts `a` and `b`, each with a target and a boot of its own, and what they find now.
fn on_two(change: impl Fn(&mut Vec<(HostId, Facts)>)) -> Walk {
    let Reply::Facts(seen) = facts() else { unreachable!() };
    let mut earlier = crate::resume::progressed(&interrupted_run()).unwrap();
    let mut each: Vec<(HostId, Facts)> = Vec::new();
    earlier.loads = Vec::new();
    for (id, name) in [(0, "a"), (1, "b")] {
        let mut now = (*seen).clone();
        (now.host.boot_id, now.host.hostname) = (format!("boot {name}"), name.into());
        now.targets[0].path = format!("/t-{name}");
        let (host, targets) = (now.host.clone(), now.targets.clone());
        earlier.loads.push(crate::resume::EarlierHost { name: name.into(), host, targets });
        each.push((HostId(id), now));
    }
    let mut walk = Walk::new(Asked { resume: Some(earlier), hosts: vec!["a".into(), "b".into()], ..asked() }, Nanos(0));
    requests(&mut walk);
    change(&mut each);
    walk.apply(Input::Facts { together: Box::new(each[0].1.clone()), each }, Nanos(1));
    walk
}

#[test]
fn every_load_host_is_the_one_that_the_run_began_on_with_the_target_that_it_had() {
    assert_eq!(requests(&mut on_two(|_| {})), ["prepare"]);
    assert_eq!(requests(&mut on_two(|each| each[1].1.host.boot_id = "next".into())), ["prepare"], "b was restarted");
    type Change = fn(&mut Vec<(HostId, Facts)>);
    let changes: [(Change, &str); 5] = [
        (|each| (each[1].1.host.boot_id, each[1].1.host.hostname) = ("x".into(), "c".into()), "began on the host `b`"),
        (|each| each[1].1.targets[0].path = "/t-a".into(), "`/t-a` is not the target"),
        (|each| each[1].1.writes = Err(say!("needs --confirm", "нужен --confirm")), "the run writes"),
        (|each| each[1].1.targets.push(fixture::target()), "1 targets, not with 2"),
        (|each| each.swap(0, 1), "`a`: the run began on the host `a`, and this is `b`"),
    ];
    let fewer = on_two(|each| each.truncate(1)).ending.expect("a refusal");
    assert!(
        fewer.message.en.contains("2 load hosts, not with 1") && fewer.message.ru.contains("числом 2, а не 1"),
        "{fewer}"
    );
    for (change, told) in changes {
        let walk = on_two(change);
        let error = walk.ending.expect("a refusal");
        assert!(error.kind == Kind::Unsafe && error.message.en.contains(told), "{error}");
        assert!(["`a`: ", "`b`: "].iter().any(|name| error.message.en.starts_with(name)), "{error}");
    }
}
