//! A session that goes on where a crash ended its run.

use super::*;
use stend_record::crash::{Aftermath, Crash};

mod power;

const SUITE: &str = "suite: t
fill: {size: 64MiB}
repeats: {blocks: 2}
cases:
  - name: log
    streams: [{op: write, pattern: random, block_size: 4KiB, sync: dsync, verify: {crash: true}}]
";

/// Facts of a target that does not share a drive with the run file, of a host in this boot.
fn elsewhere(boot: &str) -> Reply {
    let Reply::Facts(mut facts) = facts() else { unreachable!() };
    facts.shares_drive = false;
    facts.host.boot_id = boot.into();
    Reply::Facts(facts)
}

fn new_run() -> Asked {
    Asked { suite: stend_spec::parse::suite(SUITE, "t.yaml").unwrap(), ..asked() }
}

/// What the person asks for who goes on after a crash in the first trial, in the boot `A`.
fn going_on() -> Asked {
    let Reply::Facts(seen) = elsewhere("A") else { unreachable!() };
    let suite = new_run().suite;
    let target = ahead::plan_target(&seen);
    let inputs = PlanInputs { suite, seed: 5, target, time_budget: None, traces: Vec::new() };
    let earlier = resume::Progressed {
        beside: Vec::new(),
        plan: Plan::new(&inputs).unwrap(),
        inputs,
        history: vec![Outcome::Ok],
        learned: Default::default(),
        decisions: 2,
        trials: 1,
        measured: Nanos(0),
        filled: true,
        errors: 0,
        mismatches: 0,
        pending_ledger: true,
        calibrated: false,
        zeros_sampled: false,
        loads: vec![resume::EarlierHost {
            name: String::new(),
            host: HostFacts { boot_id: "A".into(), ..seen.host.clone() },
            targets: seen.targets.clone(),
        }],
        shift_ns: 0,
        boot_id: String::new(),
        last: Nanos(0),
        arms: Vec::new(),
        suspended: None,
        new_target: false,
        new_storage: false,
    };
    Asked { resume: Some(earlier), ..new_run() }
}

/// A walk that waits for the judgement.
fn judging(boot: &str) -> Walk {
    let mut walk = Walk::new(going_on(), Nanos(0));
    requests(&mut walk);
    assert_eq!(say_to(&mut walk, elsewhere(boot)), ["judge"]);
    walk
}

fn crash(unread: u64) -> Option<Box<Aftermath>> {
    let checked = Checked { ok: 10, ..Checked::default() };
    let (run, trial, rebooted, shaken) = (9, 0, false, false);
    let (acknowledged, in_flight, shorn, examples) = (10, 1, 0, Vec::new());
    let replayed = None;
    let crash =
        Crash { run, trial, rebooted, shaken, acknowledged, in_flight, checked, shorn, unread, examples, replayed };
    Some(Box::new(Aftermath::Judged(Box::new(crash))))
}

/// What is kept of crashes, and the requests, after a reply.
fn kept(walk: &mut Walk, reply: Reply) -> (Vec<Aftermath>, Vec<&'static str>) {
    walk.apply(Input::Host(FromHost::Reply(reply)), Nanos(1));
    let (mut found, mut order) = (Vec::new(), Vec::new());
    for action in walk.take_actions() {
        match action {
            Action::Append(Entry::Event(Event { kind: EventKind::Crash(aftermath), .. })) => {
                found.push(aftermath);
                order.push("verdict");
            }
            Action::Edge => order.push("edge"),
            Action::Send(Request::Prepare(prepare)) => {
                assert_eq!(prepare.ledger.as_deref(), Some("/r/R-1.stend.ledger"));
                order.push("prepare");
            }
            _ => {}
        }
    }
    (found, order)
}

#[test]
fn a_crash_is_judged_and_the_verdict_kept_before_the_target_is_touched() {
    let mut walk = judging("A");
    let (found, order) = kept(&mut walk, Reply::Judged(crash(0)));
    assert_eq!((found.len(), order), (1, vec!["verdict", "edge", "prepare"]));
    assert_eq!(walk.mismatches, 0);
    let mut walk = judging("A");
    kept(&mut walk, Reply::Judged(crash(3)));
    say_to(&mut walk, Reply::Failed(Error::preflight(Say::same("no room"))));
    say_to(&mut walk, Reply::Released);
    assert_eq!(walk.ending.map(|error| error.kind), Some(Kind::Verification), "lost data weigh more");
}

#[test]
fn a_ledger_that_is_missing_is_told_where_there_must_have_been_one() {
    let (found, order) = kept(&mut judging("A"), Reply::Judged(None));
    assert_eq!((found.len(), order), (0, vec!["edge", "prepare"]), "a worker that lived on has taken it away");
    let (found, _) = kept(&mut judging("B"), Reply::Judged(None));
    assert!(matches!(found.as_slice(), [Aftermath::Unknown { .. }]), "{found:?}");
}

/// What a worker is asked to judge when a run goes on.
fn judge(asked: Asked) -> stend_wire::Judge {
    let mut walk = Walk::new(asked, Nanos(0));
    requests(&mut walk);
    walk.apply(Input::Host(FromHost::Reply(elsewhere("A"))), Nanos(1));
    let judge = |action| if let Action::Send(Request::Judge(judge)) = action { Some(judge) } else { None };
    walk.take_actions().into_iter().find_map(judge).unwrap()
}

#[test]
fn a_worker_is_asked_for_a_ledger_that_is_missing_also_without_a_restart() {
    assert!(judge(going_on()).kept);
    let mut judged = going_on();
    judged.resume.as_mut().unwrap().pending_ledger = false;
    assert!(!judge(judged).kept);
}

#[test]
fn a_ledger_is_pending_until_it_is_judged_or_its_trial_ends_well() {
    let mut run = interrupted_run();
    let pending = |run: &stend_record::RunRecord| resume::progressed(run).unwrap().pending_ledger;
    assert!(!pending(&run), "no trial kept one");
    let kept = going_on().resume.unwrap().plan.cases[0].trial.clone();
    run.trials.iter_mut().for_each(|trial| trial.asked = kept.clone());
    assert!(!pending(&run), "it was stopped");
    let last = run.trials.len() - 1;
    run.trials[last].outcome.as_mut().unwrap().status = TrialStatus::Failed;
    assert!(pending(&run), "the worker left it");
    run.trials[last].outcome = None;
    assert!(pending(&run));
    let at = run.trials[last].started + Nanos(1);
    run.events.push(Event::new(at, EventKind::Crash(*crash(0).unwrap())));
    assert!(!pending(&run), "a session after it has looked");
}

#[test]
fn judging_may_take_long_as_long_as_it_goes_on_and_ends_when_asked() {
    let mut walk = judging("A");
    let later = Nanos(SILENCE_LIMIT.0 - 1);
    walk.apply(Input::Host(FromHost::Reply(Reply::Judging { done: Bytes(1) })), later);
    walk.apply(Input::Tick, later + later);
    assert_eq!(walk.step, Step::Judging);
    walk.apply(Input::User(UserRequest::Stop(Kind::Interrupted)), later);
    assert_eq!(requests(&mut walk), ["stop"]);
    assert_eq!(kept(&mut walk, Reply::Judged(crash(0))).1, ["verdict"], "nothing is prepared that nobody wants");
    assert_eq!(walk.step, Step::Releasing);
}

#[test]
fn a_new_run_judges_nothing_and_its_ledger_must_lie_elsewhere() {
    let mut walk = Walk::new(new_run(), Nanos(0));
    requests(&mut walk);
    assert_eq!(say_to(&mut walk, elsewhere("A")), ["prepare"]);
    let mut walk = Walk::new(new_run(), Nanos(0));
    requests(&mut walk);
    assert_eq!(say_to(&mut walk, facts()), [""; 0]);
    assert_eq!((walk.step, walk.ending.map(|error| error.kind)), (Step::Over, Some(Kind::Preflight)));
    let mut walk = Walk::new(Asked { coordinator: 0, ..new_run() }, Nanos(0));
    requests(&mut walk);
    assert_eq!(say_to(&mut walk, elsewhere("A")), [""; 0]);
    let error = walk.ending.unwrap();
    assert!(error.kind == Kind::Preflight && error.message.en.contains("from another machine"), "{error}");
}

/// A run on a stand that keeps a log of every write, on another machine and beside its target.
fn logged() -> Asked {
    let text = "stand: x\nlayers:\n- zram: {size: 64MiB, count: 2}\n- dm: {log_writes: {}}\n- fs: {type: ext4}\n";
    let stand = stend_wire::StandFile { text: text.into(), file: "x.yaml".into(), nonce: 7, host: None };
    Asked { stand: Some(stand), coordinator: 0, ..new_run() }
}

#[test]
fn where_a_log_is_replayed_the_ledger_needs_no_place_outside() {
    let Reply::Facts(mut beside) = facts() else { unreachable!() };
    beside.shares_drive = true;
    let plan = Plan::new(&going_on().resume.unwrap().inputs).unwrap();
    assert!(ahead::with_its_ledger(plan.clone(), &beside, &Asked { stand: None, ..logged() }).is_err());
    let plan = ahead::with_its_ledger(plan, &beside, &logged()).unwrap();
    assert_eq!(ahead::prepare(&logged(), &plan).ledger, None);
    assert!(ahead::prepare(&new_run(), &plan).ledger.is_some());
}

#[test]
fn a_state_that_lacks_something_ends_the_run_with_wrong_data() {
    for (unread, kind) in [(0, None), (3, Some(Kind::Verification))] {
        let mut walk = judging("A");
        requests(&mut walk);
        let found = *crash(unread).unwrap();
        let event = Event::new(Nanos(2), EventKind::Crash(found));
        let (kept, _) = kept(&mut walk, Reply::Event(event));
        assert_eq!(kept.len(), 1);
        walk.apply(Input::User(UserRequest::Abort), Nanos(3));
        let ended = walk.ending.as_ref().map(|error| error.kind);
        assert_eq!(ended.filter(|kind| *kind == Kind::Verification), kind);
    }
}

#[test]
fn a_replay_of_a_log_is_shown_state_by_state_with_the_time_left() {
    let mut walk = Walk::new(new_run(), Nanos(0));
    walk.step = Step::Releasing;
    walk.created = true;
    let mut progress = crate::progress::Progress::new(Nanos(0));
    let mut show = |walk: &Walk, at: u64| {
        let mut seen = None;
        progress.show(walk, Nanos::secs(at), &mut |update| seen = Some(update.clone()));
        seen.unwrap()
    };
    let kept = |walk: &mut Walk| -> Vec<Event> {
        let of = |action| if let Action::Append(Entry::Event(event)) = action { Some(event) } else { None };
        walk.take_actions().into_iter().filter_map(of).collect()
    };
    assert_eq!((show(&walk, 99).replay, show(&walk, 99).phase), (None, Phase::CleanUp));
    for (state, at, left) in [(1, 100, 20.0), (5, 140, 57.0)] {
        walk.apply(Input::Host(FromHost::Reply(Reply::Replaying { state, states: 10 })), Nanos::secs(at));
        let shown = show(&walk, at);
        assert_eq!((shown.replay, shown.phase), (Some((state, 10)), Phase::Replay));
        assert_eq!(shown.done, f64::from(state - 1) / 10.0);
        // The pace is ten seconds a state, against two by eye.
        assert!((shown.eta.left.as_secs() - left).abs() < 10.0, "{:?}", shown.eta);
    }
    // A watcher in another terminal has the file alone, and sees the same.
    let mut record = interrupted_run();
    let plan = Plan::new(&record.header.inputs).unwrap();
    (record.state, record.events) = (RunState::Open, kept(&mut walk));
    let phases = record.events.iter().filter(|event| event.kind == EventKind::Phase(Phase::Replay));
    assert_eq!(phases.count(), 1, "said once");
    let (near, far) = (show(&walk, 150), crate::watch::picture(&record, &plan, Nanos::secs(150)));
    assert_eq!((far.phase, far.replay, far.done), (near.phase, near.replay, near.done));
    assert_eq!(far.eta.left, near.eta.left);
}

#[test]
fn a_replay_that_takes_hours_is_waited_for_as_long_as_it_tells_of_its_progress() {
    let mut walk = Walk::new(new_run(), Nanos(0));
    (walk.step, walk.created) = (Step::Releasing, true);
    // The log is read, then the first of two states is rebuilt and judged.
    for (at, state) in (0..10).zip([0, 0, 0, 1, 1, 1, 1, 2, 2, 2]) {
        let states = if state == 0 { 0 } else { 2 };
        walk.apply(Input::Host(FromHost::Reply(Reply::Replaying { state, states })), Nanos::secs(600 * at));
        walk.apply(Input::Tick, Nanos::secs(600 * at + 599));
        assert_eq!(walk.step, Step::Releasing, "state {state}");
    }
    let told = |action| match action {
        Action::Append(Entry::Event(Event { kind: EventKind::Replaying { state, states }, .. })) => {
            Some((state, states))
        }
        _ => None,
    };
    let told: Vec<(u32, u32)> = walk.take_actions().into_iter().filter_map(told).collect();
    assert_eq!(told, [(1, 2), (2, 2)], "each state is kept once");
    walk.apply(Input::Tick, Nanos::secs(5400 + 661));
    assert_eq!(walk.step, Step::Over);
}
