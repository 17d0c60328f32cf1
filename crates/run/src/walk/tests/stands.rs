//! The stand of a run comes before everything else and goes last, whatever happens between.

use super::*;
use stend_record::StandTargets;
use stend_wire::{StandAnswer, StandFile, StandOrder};

fn standing() -> Walk {
    let stand = StandFile { text: "stand: x".into(), file: "x.yaml".into(), nonce: 7, host: None };
    let mut walk = Walk::new(Asked { stand: Some(stand.clone()), ..asked() }, Nanos(0));
    let order = StandOrder::Up { stand, until_release: true, owner: "/r/R-1.stend".into() };
    assert_eq!(walk.take_actions(), [Action::Send(Request::Stand(Box::new(order)))]);
    walk
}

fn up() -> Reply {
    let raised = StandTargets { targets: vec!["/dev/md127".into()], identities: Vec::new(), signatures: Vec::new() };
    Reply::Stand(Box::new(StandAnswer::Up(raised)))
}

fn command() -> Reply {
    let kind = EventKind::Command { argv: vec!["mdadm".into()], exit: Some(0), output: String::new() };
    Reply::Event(Event::new(Nanos(1), kind))
}

#[test]
fn what_the_stand_made_is_looked_at_and_its_commands_are_kept_in_the_run_file() {
    let mut walk = standing();
    walk.apply(Input::Host(FromHost::Reply(command())), Nanos(1));
    assert!(walk.take_actions().is_empty(), "there is no run file yet");
    walk.apply(Input::Host(FromHost::Reply(up())), Nanos(2));
    let [Action::Send(Request::Inspect(inspect))] = &walk.take_actions()[..] else { panic!("inspect") };
    assert_eq!(inspect.targets, ["/dev/md127"]);
    walk.apply(Input::Host(FromHost::Reply(facts())), Nanos(3));
    let actions = walk.take_actions();
    let place = |found: &dyn Fn(&Action) -> bool| actions.iter().position(found).unwrap();
    let created = place(&|action| matches!(action, Action::Create { .. }));
    let kept = place(
        &|action| matches!(action, Action::Append(Entry::Event(event)) if matches!(event.kind, EventKind::Command { .. })),
    );
    assert!(created < kept);
}

#[test]
fn a_stand_that_cannot_be_put_up_or_is_stopped_is_taken_down() {
    let failed = || Reply::Failed(Error::preflight(say!("no", "нет")));
    let mut walk = standing();
    assert_eq!(say_to(&mut walk, failed()), ["release"]);
    assert_eq!(say_to(&mut walk, Reply::Released), [""; 0]);
    assert_eq!((walk.step, walk.ending.as_ref().unwrap().kind), (Step::Over, Kind::Preflight));

    let mut walk = standing();
    walk.apply(Input::User(UserRequest::Stop(Kind::Interrupted)), Nanos(1));
    assert_eq!(requests(&mut walk), ["stop"]);
    // It may have come to its end before the stop reached it.
    assert_eq!(say_to(&mut walk, up()), ["release"]);

    // What it made cannot be looked at, or not be planned for.
    let mut walk = standing();
    say_to(&mut walk, up());
    assert_eq!(say_to(&mut walk, failed()), ["release"]);
    let mut walk = standing();
    say_to(&mut walk, up());
    walk.apply(Input::User(UserRequest::Stop(Kind::Interrupted)), Nanos(1));
    assert_eq!(requests(&mut walk), ["stop", "release"]);
    assert_eq!(say_to(&mut walk, facts()), [""; 0], "what comes late begins nothing");
    assert_eq!(walk.step, Step::Releasing);
}

#[test]
fn a_long_command_is_waited_for_while_the_host_tells_of_others() {
    let mut walk = standing();
    let late = Nanos::secs(600);
    walk.apply(Input::Host(FromHost::Reply(command())), late);
    walk.apply(Input::Tick, late + Nanos::secs(600));
    assert_eq!(walk.step, Step::Standing);
    walk.apply(Input::Tick, late + Nanos::secs(700));
    assert_eq!(walk.ending.as_ref().unwrap().kind, Kind::HostLost);
}
