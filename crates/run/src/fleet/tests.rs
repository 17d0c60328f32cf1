//! What a fleet forgets, and what it does not.

use super::*;
use std::time::Duration;
use stend_base::Kind;
use stend_record::observed::FillOutcome;
use stend_record::{Aftermath, FaultMoment, HostFacts, KeptProblem, Slice, TrialStatus, ZeroSample};
use stend_spec::precondition::Precondition;
use stend_spec::workload::{Mix, Op, Pattern, Region, Stream};
use stend_wire::StandOrder;
use stend_wire::protocol::{Prepare, write_hello};

impl Fleet {
    /// Asks each for its time, as links do that reach other machines: those of simulated hosts have no thread for it.
    pub(crate) fn ask_clocks(&mut self) {
        self.members.iter_mut().for_each(|member| member.load.host.ask_clock());
    }
}

/// Hosts whose workers have said hello; what they say otherwise is handed in by the test.
fn fleet(names: &[&str]) -> Fleet {
    let host = |name: &&str| {
        let mut said = Vec::new();
        write_hello(&mut said).unwrap();
        let host = Host::over(std::io::Cursor::new(said), std::io::sink(), Duration::from_secs(60)).unwrap();
        LoadHost { name: name.to_string(), host, targets: Vec::new() }
    };
    Fleet::new(names.iter().map(host).collect(), OnLoss::Stop)
}

fn filled(bytes: u64) -> FromHost {
    FromHost::Reply(Reply::Filled(FillOutcome { written: Bytes(bytes), ..FillOutcome::default() }))
}

#[test]
fn a_stop_forgets_no_answer_of_a_host_that_was_faster() {
    for asked_meanwhile in [Request::Stop, Request::Clock, Request::Mark] {
        let mut fleet = fleet(&["a", "b"]);
        let now = Nanos::secs(1);
        let region = Region { start: Bytes(0), len: Bytes::mib(1) };
        fleet.send(&Request::Fill { region, parts: 1, how: None, seed: 1 }, now);
        let first = fleet.hear(HostId(0), filled(1), (Step::Filling, 0), now);
        assert!(first.is_empty(), "the other one has not answered");
        fleet.send(&asked_meanwhile, now);
        let heard = fleet.hear(HostId(1), filled(2), (Step::Filling, 0), now);
        let parts = heard.iter().find_map(|notice| match notice {
            Notice::Walk(Input::Filled(parts)) => Some(parts.iter().map(|(host, of)| (host.0, of.written.0)).collect()),
            _ => None,
        });
        assert_eq!(parts, Some(vec![(0, 1), (1, 2)]), "{asked_meanwhile:?}: {heard:?}");
        assert!(fleet.late(Step::Releasing, now).len() >= 2, "what was answered is used up");
    }
}

/// A fleet that goes on without what it loses, asked for a trial of so many hosts.
fn asked_of(names: &[&str], hosts: u32) -> Fleet {
    let mut fleet = Fleet { on_loss: OnLoss::GoOn, ..fleet(names) };
    ask(&mut fleet, Some(hosts));
    fleet
}

fn ask(fleet: &mut Fleet, hosts: Option<u32>) {
    let region = Region { start: Bytes(0), len: Bytes::mib(1) };
    let trial = Box::new(Trial { load_hosts: hosts, ..Trial::new(Vec::new(), Nanos::secs(1), region) });
    fleet.send(&Request::Trial { ordinal: 0, trial, faults: Vec::new(), block: 0, begin: Nanos(0) }, NOW);
}

const NOW: Nanos = Nanos::secs(1);
const TRIAL: Step = Step::Trial { case: 0, block: 0 };

fn done(fleet: &mut Fleet, host: u16) -> Vec<Notice> {
    let outcome = Box::new(crate::fixture::outcome(TrialStatus::Complete));
    fleet.hear(HostId(host), FromHost::Reply(Reply::TrialDone { ordinal: 0, outcome }), (TRIAL, 1), NOW)
}

fn lost_in_trial(fleet: &mut Fleet, host: u16) -> Vec<Notice> {
    fleet.hear(HostId(host), FromHost::Lost("gone".into()), (TRIAL, 1), NOW)
}

/// Hosts of which the walk hears how the trial ended there, and whether none was lost.
fn ended(heard: &[Notice]) -> Option<(Vec<u16>, bool)> {
    heard.iter().find_map(|notice| match notice {
        Notice::Walk(Input::TrialDone { parts, whole, .. }) => {
            Some((parts.iter().map(|(host, _)| host.0).collect(), *whole))
        }
        _ => None,
    })
}

fn is_refused(heard: &[Notice]) -> bool {
    heard.iter().any(|notice| matches!(notice, Notice::Walk(Input::Host(FromHost::Reply(Reply::Failed(_))))))
}

#[test]
fn a_trial_of_fewer_hosts_ends_with_them_and_the_others_rest() {
    let mut fleet = asked_of(&["a", "b", "c"], 2);
    assert_eq!(ended(&done(&mut fleet, 0)), None, "the other one is awaited");
    assert_eq!(ended(&done(&mut fleet, 1)), Some((vec![0, 1], true)));
    ask(&mut fleet, None);
    done(&mut fleet, 0);
    done(&mut fleet, 1);
    assert_eq!(ended(&done(&mut fleet, 2)), Some((vec![0, 1, 2], true)), "the next one is of all");
}

#[test]
fn a_host_that_rests_may_be_lost_and_a_trial_without_any_host_counts_for_nothing() {
    let mut fleet = asked_of(&["a", "b", "c"], 1);
    assert!(!is_refused(&lost_in_trial(&mut fleet, 2)));
    assert_eq!(ended(&done(&mut fleet, 0)), Some((vec![0], true)), "its load did not change");
    let mut fleet = asked_of(&["a", "b", "c"], 2);
    lost_in_trial(&mut fleet, 0);
    assert_eq!(ended(&done(&mut fleet, 1)), Some((vec![1], false)));
    ask(&mut fleet, Some(2));
    done(&mut fleet, 1);
    assert_eq!(ended(&done(&mut fleet, 2)), Some((vec![1, 2], true)), "the first two that are left");
    let mut fleet = asked_of(&["a", "b", "c"], 1);
    assert_eq!(ended(&lost_in_trial(&mut fleet, 0)), Some((vec![], false)), "nothing of it counts");
    ask(&mut fleet, None);
    done(&mut fleet, 1);
    assert_eq!(ended(&done(&mut fleet, 2)), Some((vec![1, 2], true)));
}

/// Whether a host was lost for what it said: the run file has the reason, and the user is warned by its name.
fn is_lost(heard: &[Notice], host: u16, name: &str) -> bool {
    let event = heard.iter().any(|notice| match notice {
        Notice::Keep(Entry::Event(Event { host: of, kind: EventKind::HostLost { detail }, .. })) => {
            of.0 == host && detail.starts_with("it ")
        }
        _ => false,
    });
    let named = |say: &Say| say.en.contains(&format!("`{name}`")) && say.ru.contains(&format!("`{name}`"));
    let is_russian = |say: &Say| !say.ru.contains("it ");
    event && heard.iter().any(|notice| matches!(notice, Notice::Warn(say) if named(say) && is_russian(say)))
}

#[test]
fn an_answer_of_a_host_that_rests_loses_that_host_alone() {
    let mut fleet = asked_of(&["a", "b"], 1);
    let heard = done(&mut fleet, 1);
    assert!(is_lost(&heard, 1, "b") && !is_refused(&heard), "{heard:?}");
    assert_eq!(ended(&done(&mut fleet, 0)), Some((vec![0], true)));
}

fn slice(interval: u32, span: u32) -> Slice {
    Slice {
        interval,
        span,
        stream: 0,
        op: Op::Read,
        ops: 1,
        bytes: 4096,
        errors: 0,
        latency_max_ns: 1,
        latency: None,
        open: None,
    }
}

/// Events that only a coordinator, a worker alone or a recording has.
fn events_of_others() -> Vec<EventKind> {
    let resumed = EventKind::Resumed { host: Box::new(HostFacts::default()), shift_ns: 0, boot_id: String::new() };
    let moment = FaultMoment::Begins;
    let problem = KeptProblem {
        rule: "full".into(),
        object: "/".into(),
        severity: "warning".into(),
        evidence: Say::same("full"),
        opened: NOW,
        closed: None,
        times: 1,
    };
    vec![
        resumed,
        EventKind::Fault { trial: 0, fault: 0, moment, what: Say::same("pull a drive") },
        EventKind::Crash(Aftermath::Unknown { reason: Say::same("no ledger") }),
        EventKind::Replaying { state: 1, states: 2 },
        EventKind::Devices { came: vec!["sdb".into()], went: Vec::new(), detachable: Vec::new() },
        EventKind::WallClock { ahead_ns: 7 },
        EventKind::Problem(Box::new(problem)),
    ]
}

/// What a host in a trial of no streams and 1 s does not say if it does what it is asked.
fn oddities() -> Vec<Reply> {
    let outcome = || Box::new(crate::fixture::outcome(TrialStatus::Complete));
    let mut longer = outcome();
    longer.window_end = longer.window_start + Nanos::secs(2);
    let events = events_of_others().into_iter().map(|kind| Reply::Event(Event::new(NOW, kind)));
    let others = vec![
        Reply::Prepared,
        Reply::Taken,
        Reply::Released,
        Reply::Calibrated,
        Reply::Zeros(ZeroSample::default()),
        Reply::Filled(FillOutcome::default()),
        Reply::Filling { done: Bytes(1) },
        Reply::Judging { done: Bytes(1) },
        Reply::Facts(Box::new(crate::fixture::facts())),
        Reply::TrialDone { ordinal: 7, outcome: outcome() },
        Reply::TrialDone { ordinal: 0, outcome: longer },
        Reply::Slices { ordinal: 7, slices: Vec::new() },
        Reply::Slices { ordinal: 0, slices: Vec::new() },
        Reply::Slices { ordinal: 0, slices: vec![slice(0, 1)] },
    ];
    others.into_iter().chain(events).collect()
}

#[test]
fn intervals_behind_the_end_of_a_trial_lose_their_host() {
    let reads = || Stream::new(Mix::only(Op::Read), Pattern::Random, Bytes::kib(4));
    let heard = |interval: u32, span: u32| {
        let mut fleet = asked_of(&["a", "b"], 2);
        let region = Region { start: Bytes(0), len: Bytes::mib(1) };
        let ramp = Nanos::millis(450);
        let trial = Box::new(Trial { ramp, ..Trial::new(vec![reads()], Nanos::secs(1), region) });
        fleet.send(&Request::Trial { ordinal: 0, trial, faults: Vec::new(), block: 0, begin: Nanos(0) }, NOW);
        let said = Reply::Slices { ordinal: 0, slices: vec![slice(interval, span)] };
        fleet.hear(HostId(1), FromHost::Reply(said), (TRIAL, 1), NOW)
    };
    // 1.45 s are 15 intervals.
    for (interval, span) in [(0, 1), (0, 15), (14, 1), (14, 0)] {
        let heard = heard(interval, span);
        assert!(matches!(&heard[..], [Notice::Keep(Entry::Slices { .. })]), "{interval} {span}: {heard:?}");
    }
    for (interval, span) in [(0, u32::MAX), (u32::MAX, u32::MAX), (16, 1), (15, 2)] {
        assert!(is_lost(&heard(interval, span), 1, "b"), "{interval} {span}");
    }
}

#[test]
fn a_fill_that_reports_the_same_over_and_over_holds_nothing_for_ever() {
    let goes_on = |purge: Purge, done: u64, after: Nanos| {
        let mut fleet = fleet(&["a", "b"]);
        let region = Region { start: Bytes(0), len: Bytes(2_000_000_000) };
        let how = Some(Precondition { purge, passes: 1, block_size: Bytes::mib(1) });
        fleet.send(&Request::Fill { region, parts: 1, how, seed: 1 }, NOW);
        let mut hear = |at| {
            let said = FromHost::Reply(Reply::Filling { done: Bytes(done) });
            !fleet.hear(HostId(1), said, (Step::Filling, 0), at).is_empty()
        };
        assert!(hear(NOW));
        hear(NOW + after)
    };
    for (purge, done, limit) in [(Purge::None, 7, 660), (Purge::Discard, 7, 660), (Purge::Discard, 0, 1660)] {
        assert!(goes_on(purge, done, Nanos::secs(limit)), "{purge:?} {done}: a cache is emptied, or a range purged");
        assert!(!goes_on(purge, done, Nanos::secs(limit + 1)), "{purge:?} {done}");
    }
}

#[test]
fn a_host_that_says_what_it_was_not_asked_is_lost_as_by_a_cut() {
    for odd in oddities() {
        let say = |fleet: &mut Fleet| fleet.hear(HostId(1), FromHost::Reply(odd.clone()), (TRIAL, 1), NOW);
        let mut fleet = asked_of(&["a", "b", "c"], 3);
        let heard = say(&mut fleet);
        assert!(is_lost(&heard, 1, "b") && !is_refused(&heard), "{odd:?}: {heard:?}");
        assert!(done(&mut fleet, 1).is_empty(), "nothing more is heard from it");
        done(&mut fleet, 0);
        assert_eq!(ended(&done(&mut fleet, 2)), Some((vec![0, 2], false)), "{odd:?}");
        let mut fleet = Fleet { on_loss: OnLoss::Stop, ..asked_of(&["a", "b", "c"], 3) };
        let heard = say(&mut fleet);
        let told = heard.iter().find_map(|notice| match notice {
            Notice::Walk(Input::Host(FromHost::Reply(Reply::Failed(error)))) => Some(error),
            _ => None,
        });
        let told = told.unwrap_or_else(|| panic!("{odd:?}: {heard:?}"));
        assert!(told.kind == Kind::HostLost && told.message.en.starts_with("`b`: "), "{odd:?}: {told}");
    }
}

#[test]
fn a_refusal_ends_the_run_and_one_of_a_host_that_was_asked_nothing_loses_it() {
    let refusal = || FromHost::Reply(Reply::Failed(Error::preflight(say!("no room", "нет места"))));
    let mut fleet = asked_of(&["a", "b", "c"], 3);
    let heard = fleet.hear(HostId(1), refusal(), (TRIAL, 1), NOW);
    assert!(is_refused(&heard) && !is_lost(&heard, 1, "b"), "{heard:?}");
    let mut fleet = asked_of(&["a", "b", "c"], 3);
    done(&mut fleet, 1);
    let heard = fleet.hear(HostId(1), refusal(), (TRIAL, 1), NOW);
    assert!(is_lost(&heard, 1, "b") && !is_refused(&heard), "{heard:?}");
    done(&mut fleet, 0);
    assert_eq!(ended(&done(&mut fleet, 2)), Some((vec![0, 1, 2], true)), "what it had measured counts");
}

#[test]
fn an_answer_to_another_request_of_the_same_step_is_that_of_its_host() {
    let mut fleet = fleet(&["a", "b"]);
    fleet.send(&Request::Foresee(Vec::new()), NOW);
    let heard = fleet.hear(HostId(0), FromHost::Reply(Reply::Prepared), (Step::Preparing, 0), NOW);
    let named = |notice: &Notice| match notice {
        Notice::Walk(Input::Host(FromHost::Reply(Reply::Failed(error)))) => error.message.en.starts_with("`a`: "),
        _ => false,
    };
    assert!(heard.iter().any(named), "{heard:?}");
}

#[test]
fn each_host_gets_its_part_of_a_device_that_they_share_and_the_names_that_a_stand_gave_it() {
    let mut fleet = fleet(&["a", "b"]);
    let stood = |target: &str| {
        let raised = stend_record::StandTargets { targets: vec![target.to_string()], ..Default::default() };
        FromHost::Reply(Reply::Stand(Box::new(StandAnswer::Up(raised))))
    };
    fleet.send(&Request::Stand(Box::new(StandOrder::Down("a".into()))), NOW);
    fleet.hear(HostId(1), stood("/dev/nvme3n1"), (Step::Standing, 0), NOW);
    let heard = fleet.hear(HostId(0), stood("/dev/nvme1n1"), (Step::Standing, 0), NOW);
    assert!(matches!(&heard[..], [Notice::Walk(_)]), "{heard:?}");
    let inspect = Inspect {
        targets: vec!["/dev/nvme1n1".into()],
        permission: Default::default(),
        run_directory: String::new(),
        fio: None,
        programs: Vec::new(),
    };
    let asked = |fleet: &Fleet, host: u16, request: Request| {
        fleet.members[usize::from(host)].own(request, HostId(host), (NOW, fleet.part))
    };
    fleet.send(&Request::Inspect(inspect.clone()), NOW);
    for (host, name) in [(0, "/dev/nvme1n1"), (1, "/dev/nvme3n1")] {
        let Request::Inspect(own) = asked(&fleet, host, Request::Inspect(inspect.clone())) else { panic!() };
        assert_eq!(own.targets, [name]);
        let mut facts = crate::fixture::facts();
        facts.targets[0].kind = stend_record::TargetKind::BlockDevice;
        facts.targets[0].identity = Some("wwn:uuid.1".into());
        facts.targets[0].size = Bytes::mib(64);
        fleet.hear(HostId(host), FromHost::Reply(Reply::Facts(Box::new(facts))), (Step::Inspecting, 0), NOW);
    }
    let prepare = Prepare {
        files: Vec::new(),
        share: Bytes::mib(16),
        begin: None,
        write: true,
        run: "r".into(),
        run_file: String::new(),
        ledger: None,
        coordinator: 0,
        sample_every: Nanos::secs(1),
    };
    let begin = |host: u16| match asked(&fleet, host, Request::Prepare(prepare.clone())) {
        Request::Prepare(own) => own.begin,
        _ => None,
    };
    assert_eq!([begin(0), begin(1)], [Some(Bytes(0)), Some(Bytes::mib(32))]);
}
