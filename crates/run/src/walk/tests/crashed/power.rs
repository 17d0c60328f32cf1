//! The power of the host is cut in the middle of a trial, as its suite asks.

use super::*;
use stend_record::FaultMoment;
use stend_record::Slice;

const SUITE: &str = "suite: t
defaults: {ramp: 1s, trial: 20s}
repeats: {blocks: 2}
cases:
  - name: log
    events: [{at: 5s, do: power.cut}]
    streams: [{op: write, pattern: random, block_size: 4KiB, sync: dsync, verify: {crash: true}}]
";

fn cutting(keeps: Option<&str>) -> Asked {
    let suite = stend_spec::parse::suite(SUITE, "t.yaml").unwrap();
    Asked { suite, coordinator: 0, keeps: keeps.map(str::to_string), ..asked() }
}

fn elsewhere() -> Reply {
    let Reply::Facts(mut facts) = facts() else { unreachable!() };
    facts.shares_drive = false;
    Reply::Facts(facts)
}

/// A walk in its first trial, and everything that was wanted until then.
fn in_trial() -> (Walk, Vec<Action>) {
    let mut walk = Walk::new(cutting(Some("/k")), Nanos(0));
    let mut wanted = Vec::new();
    for reply in [elsewhere(), Reply::Prepared, Reply::Taken] {
        walk.apply(Input::Host(FromHost::Reply(reply)), Nanos::secs(1));
        wanted.extend(walk.take_actions());
    }
    assert_eq!(walk.step, Step::Trial { case: 0, block: 0 });
    (walk, wanted)
}

fn slices(walk: &mut Walk, at: Nanos) {
    let slices: Vec<Slice> = Vec::new();
    walk.apply(Input::Host(FromHost::Reply(Reply::Slices { ordinal: 0, slices })), at);
}

/// Moments of the event that are kept, and whether the power is to be cut now.
fn told(walk: &mut Walk) -> (Vec<FaultMoment>, bool) {
    let actions = walk.take_actions();
    let moment = |action: &Action| match action {
        Action::Append(Entry::Event(Event { kind: EventKind::Fault { trial: 0, fault: 0, moment, .. }, .. })) => {
            Some(*moment)
        }
        _ => None,
    };
    (actions.iter().filter_map(moment).collect(), actions.contains(&Action::Cut))
}

#[test]
fn the_worker_is_not_asked_to_cut_its_own_power_and_keeps_its_ledger_where_that_stays() {
    let (_, wanted) = in_trial();
    let mut seen = (None, None, None);
    for action in wanted {
        match action {
            Action::Send(Request::Prepare(prepare)) => seen.0 = prepare.ledger,
            Action::Send(Request::Foresee(trials)) => seen.1 = Some(trials[0].faults.len()),
            Action::Send(Request::Trial { faults, .. }) => seen.2 = Some(faults.len()),
            _ => {}
        }
    }
    assert_eq!(seen, (Some("/k/R-1.ledger".to_string()), Some(0), Some(0)));
}

#[test]
fn where_power_is_not_ours_the_worker_is_shown_the_event_and_refuses_it() {
    let mut walk = Walk::new(Asked { coordinator: 7, ..cutting(None) }, Nanos(0));
    let mut shown = None;
    for reply in [elsewhere(), Reply::Prepared] {
        walk.apply(Input::Host(FromHost::Reply(reply)), Nanos(1));
        for action in walk.take_actions() {
            if let Action::Send(Request::Foresee(trials)) = action {
                shown = Some(trials[0].faults.len());
            }
        }
    }
    assert_eq!(shown, Some(1));
}

#[test]
fn power_is_cut_at_its_time_in_the_window_and_the_session_ends_as_it_should() {
    let (mut walk, _) = in_trial();
    walk.apply(Input::Tick, Nanos::secs(60));
    assert_eq!(told(&mut walk), (Vec::new(), false), "no load has begun that it could come upon");
    slices(&mut walk, Nanos::millis(60_100));
    slices(&mut walk, Nanos::millis(62_000));
    walk.apply(Input::Tick, Nanos::millis(65_999));
    assert_eq!(told(&mut walk), (Vec::new(), false));
    walk.apply(Input::Tick, Nanos::millis(66_000));
    assert_eq!(told(&mut walk), (vec![FaultMoment::Begins], true));
    walk.apply(Input::Cut(Ok(())), Nanos::millis(66_100));
    assert_eq!(told(&mut walk), (vec![FaultMoment::Done], false));
    assert_eq!((walk.step, walk.cut, walk.ending.is_none()), (Step::Over, Some(Nanos::millis(66_100)), true));
    assert!(matches!(&walk.state, RunState::Ended { reason, .. } if reason.en.contains("was cut as planned")));
}

#[test]
fn a_run_that_was_stopped_keeps_its_host_alive_and_power_that_stays_ends_the_run() {
    let (mut walk, _) = in_trial();
    slices(&mut walk, Nanos::secs(10));
    walk.apply(Input::User(UserRequest::Stop(Kind::Interrupted)), Nanos::secs(11));
    walk.take_actions();
    walk.apply(Input::Tick, Nanos::secs(17));
    assert_eq!(told(&mut walk), (Vec::new(), false));

    let (mut walk, _) = in_trial();
    slices(&mut walk, Nanos::secs(10));
    walk.apply(Input::Tick, Nanos::secs(17));
    walk.take_actions();
    walk.apply(Input::Cut(Err(Error::host_lost(Say::same("no answer")))), Nanos::secs(17));
    assert_eq!(requests(&mut walk), ["stop"]);
    assert_eq!(say_to(&mut walk, done(0, TrialStatus::Interrupted)), ["release"]);
    say_to(&mut walk, Reply::Released);
    assert_eq!((walk.cut, walk.ending.map(|error| error.kind)), (None, Some(Kind::HostLost)));
}

/// What a run file holds after a session whose actions were these.
fn record(walk: &mut Walk, wanted: Vec<Action>) -> stend_record::RunRecord {
    let Reply::Facts(seen) = elsewhere() else { unreachable!() };
    let suite = cutting(None).suite;
    let target = ahead::plan_target(&seen);
    let mut run = interrupted_run();
    run.header.inputs = PlanInputs { suite, seed: 5, target, time_budget: None, traces: Vec::new() };
    (run.trials, run.rounds, run.events, run.decisions) = Default::default();
    run.load_mut().fill = None;
    for action in wanted.into_iter().chain(walk.take_actions()) {
        if let Action::Append(entry) = action {
            run.apply(entry);
        }
    }
    run
}

#[test]
fn a_trial_whose_power_was_cut_is_not_run_again_and_one_that_was_only_about_to_be_is() {
    let (mut walk, mut wanted) = in_trial();
    slices(&mut walk, Nanos::secs(10));
    walk.apply(Input::Tick, Nanos::secs(17));
    wanted.extend(walk.take_actions());
    let run = record(&mut walk, wanted);
    let about = resume::progressed(&run).unwrap();
    assert_eq!((about.history, about.trials, about.pending_ledger), (Vec::new(), 1, true));
    walk.apply(Input::Cut(Ok(())), Nanos::secs(17));
    let mut run = run;
    for action in walk.take_actions() {
        if let Action::Append(entry) = action {
            run.apply(entry);
        }
    }
    let cut = resume::progressed(&run).unwrap();
    assert_eq!((&cut.history, cut.trials, cut.pending_ledger), (&vec![Outcome::Ok], 1, true));

    let mut walk = Walk::new(Asked { resume: Some(cut), ..cutting(Some("/k")) }, Nanos(0));
    let Reply::Facts(mut facts) = elsewhere() else { unreachable!() };
    facts.host.boot_id = "after".into();
    requests(&mut walk);
    assert_eq!(say_to(&mut walk, Reply::Facts(facts)), ["judge"], "before anything else");
    assert_eq!(say_to(&mut walk, Reply::Judged(None)), ["prepare"]);
    assert_eq!(say_to(&mut walk, Reply::Prepared), ["foresee"]);
    assert_eq!(say_to(&mut walk, Reply::Taken), ["trial"]);
    assert_eq!((walk.step, walk.trials), (Step::Trial { case: 0, block: 1 }, 2));
}

/// A session after the last of the cuts, which went at 100 s and whose guest answered at 120 s; `history` is what has been done.
fn after_the_last_cut(history: Vec<Outcome>) -> Walk {
    let (mut first, wanted) = in_trial();
    let mut cut = resume::progressed(&record(&mut first, wanted)).unwrap();
    let filled: String = SUITE.replacen("repeats", "fill: {size: 1MiB}\nrepeats", 1);
    cut.inputs.suite = stend_spec::parse::suite(&filled, "t.yaml").unwrap();
    cut.plan = Plan::new(&cut.inputs).unwrap();
    (cut.history, cut.trials, cut.filled) = (history, 2, true);
    let returned = Some(crate::step::Returned { cut: Nanos::secs(100), answered: Nanos::secs(120) });
    let file = stend_wire::StandFile { text: String::new(), file: "s.yaml".into(), nonce: 1, host: None };
    let asked = Asked { resume: Some(cut), returned, stand: Some(file), ..cutting(Some("/k")) };
    let mut walk = Walk::new(asked, Nanos::secs(121));
    let hear = |walk: &mut Walk, reply, at| walk.apply(Input::Host(FromHost::Reply(reply)), Nanos::secs(at));
    let raised =
        stend_record::StandTargets { identities: Vec::new(), signatures: Vec::new(), targets: vec!["/t".into()] };
    hear(&mut walk, Reply::Stand(Box::new(stend_wire::StandAnswer::Up(raised))), 130);
    let Reply::Facts(mut facts) = elsewhere() else { unreachable!() };
    facts.host.boot_id = "after".into();
    hear(&mut walk, Reply::Facts(facts), 131);
    walk
}

#[test]
fn it_is_kept_how_long_it_took_until_guest_stand_and_data_were_there_again() {
    let mut walk = after_the_last_cut(vec![Outcome::Ok; 3]);
    for (reply, at) in [
        (Reply::Judging { done: Bytes(1) }, 133),
        (Reply::Judging { done: Bytes(2) }, 140),
        (Reply::Judged(crash(0)), 150),
    ] {
        walk.apply(Input::Host(FromHost::Reply(reply)), Nanos::secs(at));
    }
    let kept = walk.take_actions().into_iter().find_map(|action| match action {
        Action::Append(Entry::Event(Event { kind: EventKind::Back(back), .. })) => Some(back),
        _ => None,
    });
    let [answered, stood, read] = [20, 30, 33].map(Nanos::secs);
    assert_eq!(kept, Some(stend_record::Back { trial: 1, answered, stood: Some(stood), read }));
}

#[test]
fn nothing_is_filled_again_behind_the_last_cut() {
    let requested = |history: Vec<Outcome>| {
        let mut walk = after_the_last_cut(history);
        requests(&mut walk);
        say_to(&mut walk, Reply::Judged(None));
        say_to(&mut walk, Reply::Prepared);
        say_to(&mut walk, Reply::Taken)
    };
    assert_eq!(requested(vec![Outcome::Ok; 2]), ["fill"], "a block is left, which needs it");
    assert_eq!(requested(vec![Outcome::Ok; 3]), ["release"]);
}
