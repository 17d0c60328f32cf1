//! Any order of events leads to a defined end, and everything that was made is undone.

use super::*;
use crate::fixture;
use stend_base::{Bytes, Say};
use stend_plan::{PlanTarget, Room};
use stend_record::verification::{Checked, ReadBack, Verification};
use stend_record::{ArmFacts, HostFacts, IoErrors, TrialStatus, ZeroSample};
use stend_spec::workload::Op;
use stend_wire::{Inspect, Permission};

mod calibrated;
mod crashed;
mod ends;
mod machines;
mod resumed;
mod silent;
mod stands;
mod traces;
mod until;

fn asked() -> Asked {
    let text = "suite: t\nfill: {size: 64MiB}\nrepeats: {blocks: 2}\ncases:\n  - name: r\n    streams: [{op: read, pattern: random, block_size: 4KiB}]\n";
    Asked {
        suite: stend_spec::parse::suite(text, "t.yaml").unwrap(),
        seed: 5,
        time_budget: None,
        traces: Vec::new(),
        inspect: Inspect {
            targets: vec!["/t".into()],
            permission: Permission::default(),
            run_directory: "/r".into(),
            fio: None,
            programs: Vec::new(),
        },
        run: "R-1".into(),
        run_file: "/r/R-1.stend".into(),
        keeps: None,
        coordinator: 1,
        resume: None,
        returned: None,
        stand: None,
        one_block: false,
        hosts: vec![String::new()],
    }
}

fn facts() -> Reply {
    Reply::Facts(Box::new(fixture::facts()))
}

fn done(ordinal: u32, status: TrialStatus) -> Reply {
    Reply::TrialDone { ordinal, outcome: Box::new(fixture::outcome(status)) }
}

/// Feeds replies and returns the requests that were sent, in words.
fn requests(walk: &mut Walk) -> Vec<String> {
    let word = |action| match action {
        Action::Send(Request::Inspect(_)) => Some("inspect"),
        Action::Send(Request::Judge(_)) => Some("judge"),
        Action::Send(Request::Prepare(_)) => Some("prepare"),
        Action::Send(Request::Calibrate { .. }) => Some("calibrate"),
        Action::Send(Request::Fill { .. }) => Some("fill"),
        Action::Send(Request::SampleZeros { .. }) => Some("zeros"),
        Action::Send(Request::Switch(_)) => Some("switch"),
        Action::Send(Request::Trace { .. }) => Some("trace"),
        Action::Send(Request::Foresee(_)) => Some("foresee"),
        Action::Send(Request::Trial { .. }) => Some("trial"),
        Action::Send(Request::Stop) => Some("stop"),
        Action::Send(Request::Release) => Some("release"),
        _ => None,
    };
    walk.take_actions().into_iter().filter_map(word).map(String::from).collect()
}

fn say_to(walk: &mut Walk, reply: Reply) -> Vec<String> {
    walk.apply(Input::Host(FromHost::Reply(reply)), Nanos(1));
    requests(walk)
}

fn filled(written: Bytes) -> Reply {
    Reply::Filled(FillOutcome { written, elapsed: Nanos(1), passes: 1, ..FillOutcome::default() })
}

/// A walk whose target is ready and filled, with its first trial going on.
fn in_first_trial() -> Walk {
    let mut walk = Walk::new(asked(), Nanos(0));
    requests(&mut walk);
    for reply in [facts(), Reply::Prepared, Reply::Taken, filled(Bytes::mib(64)), Reply::Zeros(ZeroSample::default())] {
        say_to(&mut walk, reply);
    }
    assert!(matches!(walk.step, Step::Trial { .. }));
    walk
}

#[test]
fn a_run_goes_from_facts_to_release_in_order() {
    let mut walk = Walk::new(asked(), Nanos(0));
    assert_eq!(requests(&mut walk), ["inspect"]);
    assert_eq!(say_to(&mut walk, facts()), ["prepare"]);
    assert_eq!(say_to(&mut walk, Reply::Prepared), ["foresee"]);
    assert_eq!(say_to(&mut walk, Reply::Taken), ["fill"]);
    assert_eq!(say_to(&mut walk, filled(Bytes::mib(64))), ["zeros"]);
    assert_eq!(say_to(&mut walk, Reply::Zeros(ZeroSample::default())), ["trial"]);
    assert_eq!(say_to(&mut walk, done(0, TrialStatus::Complete)), ["trial"]);
    assert_eq!(say_to(&mut walk, done(1, TrialStatus::Complete)), ["release"]);
    assert_eq!(say_to(&mut walk, Reply::Released), [""; 0]);
    assert_eq!((walk.step, walk.ending, walk.state), (Step::Over, None, RunState::Complete));
}

#[test]
fn the_run_file_has_what_the_host_is() {
    let mut walk = Walk::new(asked(), Nanos(0));
    walk.apply(Input::Host(FromHost::Reply(facts())), Nanos(1));
    let host = walk.take_actions().into_iter().find_map(|action| match action {
        Action::Append(Entry::Host { host: HostId::LOAD, info }) => Some(info),
        _ => None,
    });
    let (host, known) = (host.expect("a host"), fixture::facts());
    assert_eq!((host.facts, host.targets, host.ports), (Some(known.host), known.targets, known.ports));
}

#[test]
fn a_trial_that_cannot_be_run_ends_the_run_before_the_fill() {
    let mut walk = Walk::new(asked(), Nanos(0));
    requests(&mut walk);
    say_to(&mut walk, facts());
    assert_eq!(say_to(&mut walk, Reply::Prepared), ["foresee"]);
    let refused = Error::preflight(say!("case `r`: no memory", "случай `r`: нет памяти"));
    assert_eq!(say_to(&mut walk, Reply::Failed(refused)), ["release"]);
    say_to(&mut walk, Reply::Released);
    assert_eq!((walk.step, walk.ending.map(|error| error.kind)), (Step::Over, Some(Kind::Preflight)));
}

#[test]
fn a_soft_stop_keeps_the_trial_and_undoes_what_was_made() {
    let mut walk = in_first_trial();
    walk.apply(Input::User(UserRequest::Stop(Kind::Terminated)), Nanos(2));
    assert_eq!(requests(&mut walk), ["stop"]);
    assert_eq!(say_to(&mut walk, done(0, TrialStatus::Interrupted)), ["release"]);
    assert_eq!(say_to(&mut walk, Reply::Released), [""; 0]);
    assert_eq!(walk.ending.unwrap().kind, Kind::Terminated);
}

#[test]
fn a_second_wish_ends_at_once() {
    let mut walk = in_first_trial();
    walk.apply(Input::User(UserRequest::Stop(Kind::Interrupted)), Nanos(2));
    walk.apply(Input::User(UserRequest::Abort), Nanos(2));
    assert_eq!(requests(&mut walk), ["stop"]);
}

#[test]
fn a_stalled_target_ends_the_run_with_its_own_exit_code() {
    let mut walk = in_first_trial();
    assert_eq!(say_to(&mut walk, done(0, TrialStatus::Stalled)), ["release"]);
    assert_eq!(walk.ending.as_ref().unwrap().kind, Kind::TargetIo);
}

#[test]
fn a_target_that_failed_io_and_then_its_undo_ends_as_a_failed_target() {
    for errors in [0, 3] {
        let mut walk = in_first_trial();
        for ordinal in 0..2 {
            let Reply::TrialDone { ordinal, mut outcome } = done(ordinal, TrialStatus::Complete) else { panic!() };
            let failed = IoErrors { stream: 0, op: Op::Write, errno: 30, count: errors, first_offset: Some(0) };
            outcome.errors.extend((errors > 0).then_some(failed));
            say_to(&mut walk, Reply::TrialDone { ordinal, outcome });
        }
        assert_eq!(walk.step, Step::Releasing);
        say_to(&mut walk, Reply::Failed(Error::preflight(say!("cannot remove", "не удалить"))));
        say_to(&mut walk, Reply::Released);
        let ending = walk.ending.expect("an error");
        let (kind, hint) = if errors > 0 { (Kind::TargetIo, "cannot remove") } else { (Kind::Preflight, "") };
        assert_eq!((ending.kind, ending.hint.map_or(String::new(), |hint| hint.en)), (kind, hint.to_string()));
    }
}

#[test]
fn hosts_may_report_any_number_of_errors() {
    let mut walk = in_first_trial();
    for ordinal in 0..2 {
        let Reply::TrialDone { ordinal, mut outcome } = done(ordinal, TrialStatus::Complete) else { panic!() };
        let failed = IoErrors { stream: 0, op: Op::Read, errno: 5, count: u64::MAX, first_offset: None };
        outcome.errors = vec![failed.clone(), failed];
        say_to(&mut walk, Reply::TrialDone { ordinal, outcome });
    }
    assert_eq!(walk.trial_errors, u64::MAX);
}

#[test]
fn wrong_data_end_the_run_with_their_own_exit_code_whatever_else_went_wrong() {
    for (errors, stopped) in [(0, false), (3, false), (0, true)] {
        let mut walk = in_first_trial();
        let Reply::TrialDone { ordinal, mut outcome } = done(0, TrialStatus::Mismatch) else { panic!() };
        let failed = IoErrors { stream: 0, op: Op::Read, errno: 5, count: errors, first_offset: Some(0) };
        outcome.errors.extend((errors > 0).then_some(failed));
        let running = Checked { defects: [2, 0, 0, 0, 0, 0, 0], ..Checked::default() };
        let found = Verification { memory: Bytes(0), running, after: ReadBack::NotAsked, examples: Vec::new() };
        outcome.verification = Some(found);
        if stopped {
            walk.apply(Input::User(UserRequest::Stop(Kind::Interrupted)), Nanos(2));
        }
        say_to(&mut walk, Reply::TrialDone { ordinal, outcome });
        if !stopped {
            assert!(matches!(walk.step, Step::Trial { .. }), "the other trials are evidence, too");
            say_to(&mut walk, done(1, TrialStatus::Complete));
        }
        say_to(&mut walk, Reply::Released);
        let ending = walk.ending.expect("an error");
        assert_eq!((ending.kind, ending.kind.exit_code()), (Kind::Verification, 7));
        assert!(ending.message.en.contains("2 blocks"), "{ending}");
    }
}

#[test]
fn what_is_left_behind_is_told_beside_wrong_data() {
    for errors in [0, 3] {
        let mut walk = in_first_trial();
        (walk.mismatches, walk.trial_errors) = (2, errors);
        for ordinal in 0..2 {
            say_to(&mut walk, done(ordinal, TrialStatus::Complete));
        }
        let left = Error::preflight(say!("cannot remove x", "не удалить x")).hint(Say::same("rm x"));
        say_to(&mut walk, Reply::Failed(left));
        say_to(&mut walk, Reply::Released);
        let ending = walk.ending.expect("an error");
        let hint = ending.hint.expect("a hint");
        assert_eq!(ending.kind, Kind::Verification);
        assert!(hint.en.ends_with("; cannot remove x; rm x") && hint.ru.ends_with("; не удалить x; rm x"), "{hint:?}");
    }
}

#[test]
fn what_is_left_behind_is_told_whatever_ended_the_run() {
    let left = |what: &str| Error::preflight(say!("cannot remove {what}", "не удалить {what}")).hint(Say::same("rm"));
    let interrupt = |walk: &mut Walk| walk.apply(Input::User(UserRequest::Stop(Kind::Interrupted)), Nanos(2));
    for (status, mismatches, kind) in [
        (TrialStatus::Stalled, 0, Kind::TargetIo),
        (TrialStatus::Interrupted, 0, Kind::Interrupted),
        (TrialStatus::Interrupted, 2, Kind::Verification),
    ] {
        let mut walk = in_first_trial();
        walk.mismatches = mismatches;
        if kind != Kind::TargetIo {
            interrupt(&mut walk);
        }
        say_to(&mut walk, done(0, status));
        assert_eq!(walk.step, Step::Releasing);
        say_to(&mut walk, Reply::Failed(left("a")));
        say_to(&mut walk, Reply::Failed(left("b")));
        say_to(&mut walk, Reply::Released);
        let ending = walk.ending.expect("an error");
        let hint = ending.hint.expect("a hint").en;
        assert!(ending.kind == kind && hint.ends_with("cannot remove a; rm; cannot remove b; rm"), "{hint}");
    }
}

#[test]
fn an_answer_to_what_was_not_asked_completes_nothing_and_ends_the_run() {
    for unasked in [Reply::Released, Reply::Prepared, filled(Bytes::mib(64)), done(7, TrialStatus::Complete), facts()] {
        let mut walk = in_first_trial();
        assert_eq!(say_to(&mut walk, unasked), ["release"]);
        assert_eq!(say_to(&mut walk, done(0, TrialStatus::Complete)), [""; 0], "what was under way is not needed");
        say_to(&mut walk, Reply::Released);
        let state = RunState::Ended { kind: Kind::Bug, reason: out_of_order().message };
        assert_eq!((walk.step, walk.history.len(), walk.state), (Step::Over, 1, state), "only the fill");
    }
}

#[test]
fn a_lost_worker_and_a_silent_one_end_the_run() {
    let mut walk = in_first_trial();
    walk.apply(Input::Host(FromHost::Lost("gone".into())), Nanos(2));
    assert_eq!((requests(&mut walk).len(), walk.step), (0, Step::Over));
    assert_eq!(walk.ending.unwrap().kind, Kind::HostLost);

    let mut silent = in_first_trial();
    silent.apply(Input::Tick, Nanos::secs(10));
    assert_eq!(silent.step, Step::Trial { case: 0, block: 0 }, "ten seconds are not yet too long");
    silent.apply(Input::Tick, Nanos::secs(3600));
    assert_eq!(silent.ending.unwrap().kind, Kind::HostLost);
}

#[test]
fn a_worker_that_reads_back_is_given_the_time_for_it_and_no_other_is() {
    for (verify, step) in [("", Step::Over), (", verify: {after: true}", Step::Trial { case: 0, block: 0 })] {
        let stream = format!("{{op: {{read: 50, write: 50}}, pattern: random, block_size: 4KiB{verify}}}");
        let text = format!("suite: t\nfill: {{size: 64MiB}}\ncases:\n  - name: r\n    streams: [{stream}]\n");
        let suite = stend_spec::parse::suite(&text, "t.yaml").unwrap();
        let mut walk = Walk::new(Asked { suite, ..asked() }, Nanos(0));
        for reply in
            [facts(), Reply::Prepared, Reply::Taken, filled(Bytes::mib(64)), Reply::Zeros(ZeroSample::default())]
        {
            say_to(&mut walk, reply);
        }
        // Ramp, window, drain and grace are 49 s; 64 MiB are read back in 68 s at most.
        walk.apply(Input::Tick, Nanos::secs(110));
        assert_eq!(walk.step, step, "{verify}");
        walk.apply(Input::Tick, Nanos::secs(120));
        assert_eq!(walk.ending.unwrap().kind, Kind::HostLost);
    }
}

#[test]
fn a_full_disk_under_the_run_file_stops_and_releases() {
    let mut walk = in_first_trial();
    let full = Error::run_file(say!("full", "полон"));
    walk.apply(Input::RunFile(full), Nanos(2));
    assert_eq!(requests(&mut walk), ["stop"]);
    assert_eq!(say_to(&mut walk, done(0, TrialStatus::Interrupted)), ["release"]);
    assert_eq!(walk.ending.unwrap().kind, Kind::RunFile);
}

#[test]
fn a_refused_target_makes_no_run_file() {
    let mut walk = Walk::new(asked(), Nanos(0));
    requests(&mut walk);
    let refused = Error::refused(say!("mounted", "смонтирован"));
    walk.apply(Input::Host(FromHost::Reply(Reply::Failed(refused))), Nanos(1));
    assert_eq!(walk.take_actions(), []);
    assert_eq!((walk.step, walk.ending.unwrap().kind), (Step::Over, Kind::Unsafe));
}

#[test]
fn a_short_fill_measures_nothing() {
    let mut walk = Walk::new(asked(), Nanos(0));
    for reply in [facts(), Reply::Prepared, Reply::Taken] {
        say_to(&mut walk, reply);
    }
    assert_eq!(say_to(&mut walk, filled(Bytes::mib(1))), ["release"]);
}

/// The file of a run whose first trial was measured and whose second was cut short.
fn interrupted_run() -> stend_record::RunRecord {
    let inputs = PlanInputs {
        suite: asked().suite,
        seed: asked().seed,
        target: PlanTarget::directory(Room { total: Bytes::gib(100), free: Bytes::gib(50) }),
        time_budget: None,
        traces: Vec::new(),
    };
    let header = stend_record::RunHeader::new("R-1", inputs);
    let mut run = stend_record::RunRecord::new(header);
    let mut again = Walk::new(asked(), Nanos(0));
    let sampled = ZeroSample { sampled: 1000, ..ZeroSample::default() };
    for reply in [facts(), Reply::Prepared, Reply::Taken, filled(Bytes::mib(64)), Reply::Zeros(sampled)] {
        again.apply(Input::Host(FromHost::Reply(reply)), Nanos(1));
    }
    again.apply(Input::Host(FromHost::Reply(done(0, TrialStatus::Complete))), Nanos(2));
    again.apply(Input::Host(FromHost::Reply(done(1, TrialStatus::Interrupted))), Nanos(3));
    for action in again.take_actions() {
        if let Action::Append(entry) = action {
            run.apply(entry);
        }
    }
    run.state = RunState::Ended { kind: Kind::Interrupted, reason: say!("stop", "стоп") };
    run
}

fn resumed(run: &stend_record::RunRecord) -> Walk {
    let resume = Some(crate::resume::progressed(run).unwrap());
    let mut walk = Walk::new(Asked { resume, ..asked() }, Nanos(0));
    assert_eq!(requests(&mut walk), ["inspect"]);
    walk
}

#[test]
fn a_resumed_run_fills_again_and_repeats_only_what_was_cut_short() {
    let run = interrupted_run();
    let mut walk = resumed(&run);
    assert_eq!(say_to(&mut walk, facts()), ["prepare"]);
    assert_eq!(say_to(&mut walk, Reply::Prepared), ["foresee"]);
    assert_eq!(say_to(&mut walk, Reply::Taken), ["fill"]);
    // Two trials were planned and one counts: one is left, with the ordinal after the last begun.
    assert_eq!(say_to(&mut walk, filled(Bytes::mib(64))), ["trial"]);
    assert_eq!(walk.trials, 3);
    assert_eq!(say_to(&mut walk, done(2, TrialStatus::Complete)), ["release"]);
}

#[test]
fn a_reboot_between_sessions_is_noticed_by_the_boot_id() {
    let mut walk = resumed(&interrupted_run());
    let Reply::Facts(mut later) = facts() else { panic!("facts") };
    later.host.boot_id = "another".into();
    walk.apply(Input::Host(FromHost::Reply(Reply::Facts(later))), Nanos(1));
    let rebooted = walk.take_actions().into_iter().find_map(|action| match action {
        Action::Resume { rebooted, .. } => Some(rebooted),
        _ => None,
    });
    assert_eq!(rebooted, Some(true));
}

#[test]
fn a_run_is_not_resumed_on_another_target_or_host_or_without_permission() {
    let run = interrupted_run();
    for change in [
        |facts: &mut Facts| facts.targets[0].path = "/other".into(),
        |facts: &mut Facts| facts.writes = Err(say!("needs --confirm", "нужен --confirm")),
        |facts: &mut Facts| (facts.host.boot_id, facts.host.hostname) = ("another".into(), "another".into()),
    ] {
        let mut walk = resumed(&run);
        let Reply::Facts(mut other) = facts() else { panic!("facts") };
        change(&mut other);
        assert!(say_to(&mut walk, Reply::Facts(other)).is_empty());
        assert_eq!(walk.ending.as_ref().map(|e| e.kind), Some(Kind::Unsafe));
    }
}

#[test]
fn doubts_about_a_target_are_said_before_anything_is_written_and_not_of_a_run_that_is_refused() {
    for refused in [false, true] {
        let mut walk = Walk::new(asked(), Nanos(0));
        let Reply::Facts(mut facts) = facts() else { panic!("facts") };
        facts.targets[0].file_system = Some("tmpfs".into());
        let answer = match refused {
            true => Reply::Failed(Error::preflight(say!("no room", "нет места"))),
            false => Reply::Taken,
        };
        for reply in [Reply::Facts(facts), Reply::Prepared, answer] {
            walk.apply(Input::Host(FromHost::Reply(reply)), Nanos(1));
        }
        let actions = walk.take_actions();
        let place = |wanted: fn(&Action) -> bool| actions.iter().position(wanted);
        let warned = place(|a| matches!(a, Action::Warn(say) if say.en.contains("in the memory of this machine")));
        let announced = place(|a| matches!(a, Action::Warn(say) if say.en.contains("The fill writes 64 MiB")));
        let written = place(|a| matches!(a, Action::Send(Request::Fill { .. })));
        match refused {
            true => assert_eq!((warned, announced, written), (None, None, None), "{actions:?}"),
            false => assert!(warned.is_some() && warned < announced && announced < written, "{actions:?}"),
        }
    }
}

fn with_arms(arms: &str) -> Asked {
    let text = "suite: t\nrepeats: {blocks: 2}\ncases:\n  - {name: w, streams: [{op: write, pattern: random, block_size: 4KiB}]}\n";
    Asked { suite: stend_spec::parse::suite(&format!("{text}{arms}\n"), "t.yaml").unwrap(), ..asked() }
}

/// Facts of an arm in which the kernel is `kernel`.
fn in_arm(kernel: &str) -> Reply {
    let Reply::Facts(facts) = facts() else { unreachable!() };
    let host = HostFacts { kernel: kernel.into(), boot_id: kernel.into(), ..facts.host };
    Reply::Switched(Box::new(ArmFacts { host, targets: facts.targets, observed: Vec::new() }))
}

fn start(asked: Asked) -> Walk {
    let mut walk = Walk::new(asked, Nanos(0));
    requests(&mut walk);
    say_to(&mut walk, facts());
    walk
}

#[test]
fn arms_alternate_and_are_entered_only_when_they_change() {
    let mut walk = start(with_arms("arms: [{name: a}, {name: b, switch: {command: [x], undo: [y]}}]"));
    assert_eq!(say_to(&mut walk, Reply::Prepared), ["switch"]);
    let mut sent = Vec::new();
    for (ordinal, kernel) in ["6.1", "6.2", "6.2", "6.1"].into_iter().enumerate() {
        if matches!(walk.step, Step::Switching { .. }) {
            sent.extend(say_to(&mut walk, in_arm(kernel)));
        }
        sent.extend(say_to(&mut walk, done(ordinal as u32, TrialStatus::Complete)));
    }
    // Two blocks in mirrored order: the arm in the middle stays.
    assert_eq!(sent, ["trial", "switch", "trial", "trial", "switch", "trial", "release"]);
    say_to(&mut walk, Reply::Released);
    assert_eq!(walk.state, RunState::Complete);
}

const UPGRADE: &str = "arms: [{name: old}, {name: new, switch: {reboot: boot 6.2}, expect: [kernel]}]";

/// The upgrade up to the point where the person has been told.
fn suspended() -> Walk {
    let mut walk = start(with_arms(UPGRADE));
    let mut sent = say_to(&mut walk, Reply::Prepared);
    sent.extend(say_to(&mut walk, in_arm("6.1")));
    for ordinal in 0..2 {
        sent.extend(say_to(&mut walk, done(ordinal, TrialStatus::Complete)));
    }
    assert_eq!(sent, ["switch", "trial", "trial", "release"]);
    say_to(&mut walk, Reply::Released);
    walk
}
