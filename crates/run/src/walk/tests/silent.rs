//! How long a worker in a trial may say nothing: as long as what it has begun may take, and no longer.

use super::*;
use stend_record::{FaultMoment, IoChunk, Slice};

const TRIAL: Step = Step::Trial { case: 0, block: 0 };

/// The deadline of a trial without events is 49 s after its begin.
const LATE: Nanos = Nanos::secs(50);

fn hear(walk: &mut Walk, reply: Reply, at: Nanos) {
    walk.apply(Input::Host(FromHost::Reply(reply)), at);
}

fn event(kind: EventKind) -> Reply {
    Reply::Event(Event::new(Nanos(1), kind))
}

fn fault(moment: FaultMoment) -> Reply {
    event(EventKind::Fault { trial: 0, fault: 0, moment, what: Say::same("pull a drive") })
}

/// The step after a look at the clock.
fn step_at(walk: &mut Walk, at: Nanos) -> Step {
    walk.apply(Input::Tick, at);
    walk.step
}

#[test]
fn an_event_and_its_undo_may_take_as_long_as_their_commands() {
    for moment in [FaultMoment::Begins, FaultMoment::Ends] {
        let mut walk = in_first_trial();
        hear(&mut walk, fault(moment), Nanos::secs(31));
        assert_eq!(step_at(&mut walk, Nanos::secs(331)), TRIAL, "a scrub takes minutes");
        // The next command of the same undo begins.
        let command = EventKind::Command { argv: vec!["zpool".into()], exit: Some(0), output: String::new() };
        hear(&mut walk, event(command), Nanos::secs(600));
        assert_eq!(step_at(&mut walk, Nanos::secs(1200)), TRIAL);
        assert_eq!(step_at(&mut walk, Nanos::secs(1300)), Step::Over);
        assert_eq!(walk.ending.map(|error| error.kind), Some(Kind::HostLost));
    }
    let mut walk = in_first_trial();
    hear(&mut walk, fault(FaultMoment::Undone), Nanos::secs(31));
    assert_eq!(step_at(&mut walk, Nanos::secs(100)), Step::Over, "nothing goes on any more");
}

#[test]
fn a_load_whose_messages_are_still_on_their_way_is_not_given_up() {
    let chunk = || IoChunk { stream: 0, job: 0, base: Nanos(1), records: Default::default() };
    for log in [true, false] {
        let mut walk = in_first_trial();
        for minute in 1..10 {
            let reply = match log {
                true => Reply::Log { ordinal: 0, chunk: chunk() },
                false => Reply::Slices { ordinal: 0, slices: Vec::<Slice>::new() },
            };
            hear(&mut walk, reply, Nanos::secs(50 * minute - 10));
            assert_eq!(step_at(&mut walk, Nanos::secs(50 * minute + 40)), TRIAL, "minute {minute}");
        }
        assert_eq!(step_at(&mut walk, Nanos::secs(510)), Step::Over);
    }
    assert_eq!(step_at(&mut in_first_trial(), LATE), Step::Over);
}

#[test]
fn what_another_load_host_sends_is_heard_as_well() {
    let mut walk = in_first_trial();
    let entry = Entry::IoLog {
        host: HostId(1),
        trial: 0,
        chunk: IoChunk { stream: 0, job: 0, base: Nanos(1), records: Default::default() },
    };
    walk.keep(entry, Nanos::secs(40));
    assert_eq!(step_at(&mut walk, Nanos::secs(90)), TRIAL);
}

#[test]
fn a_load_that_is_heard_without_end_is_given_up() {
    let mut walk = in_first_trial();
    let given_up = (40..8000).step_by(50).map(Nanos::secs).find(|at| {
        hear(&mut walk, Reply::Slices { ordinal: 0, slices: Vec::<Slice>::new() }, *at);
        step_at(&mut walk, *at) == Step::Over
    });
    assert!(given_up.is_some_and(|at| at > Nanos::secs(3600) && at < Nanos::secs(3800)), "{given_up:?}");
}

#[test]
fn commands_of_one_of_several_hosts_do_not_put_off_the_end_of_a_trial() {
    let command = || event(EventKind::Command { argv: vec!["sync".into()], exit: Some(0), output: String::new() });
    for (hosts, step) in [(vec!["a".to_string(), "b".to_string()], Step::Over), (vec![String::new()], TRIAL)] {
        let mut walk = in_first_trial();
        walk.asked.hosts = hosts;
        hear(&mut walk, command(), Nanos::secs(40));
        assert_eq!(step_at(&mut walk, LATE), step);
    }
}
