//! Devices that hang, spin up, go and come back, links with several ports, and the cache of ZFS, as the journal judges them.

use super::tests::{healthy, host, journal, parts, told};
use super::*;
use stend_record::nfs::{Nfs, NfsMount};
use stend_record::parts::{ArcCounters, Link, LinkState};

fn devices(came: &[&str], went: &[&str]) -> EventKind {
    let names = |of: &[&str]| of.iter().map(|name| name.to_string()).collect();
    EventKind::Devices { came: names(came), went: names(went), detachable: Vec::new() }
}

#[test]
fn a_disk_that_spins_up_answers_and_one_that_takes_longer_does_not() {
    let mut run = host();
    run.load_mut().targets[0].devices[0].rotational = Some(true);
    let silent_for = |seconds: u64| {
        let mut journal = Journal::new(&run);
        for s in 0..200 {
            let mut sample = healthy(s);
            let done = if (50..50 + seconds).contains(&s) { 50 } else { s };
            sample.disks[..2].iter_mut().for_each(|disk| disk.reads = 100 * done);
            journal.add(sample);
        }
        told(&journal.end())
    };
    let stuck =
        |name: &str, until: u64| format!("DriveStuck {name} Critical 51..{until} x1: 1 I/Os in flight, none completes");
    assert_eq!(silent_for(31), [stuck("sdb", 81)], "it has nothing that spins");
    assert_eq!(silent_for(50), [stuck("sdb", 100), stuck("sda", 100)]);
}

#[test]
fn errors_of_a_drive_that_comes_and_goes_all_the_time_are_one_problem_and_end_an_hour_after_the_last() {
    let mut journal = Journal::new(&host());
    let mut changes = 0;
    let mut before = Vec::new();
    for s in 0..12_000 {
        let at = Nanos::secs(10_000 + s);
        // Ten minutes of this, then it stays away.
        if s < 6_000 && s % 20 == 0 {
            let here = s / 20 % 2 == 1;
            let (came, went) = if here { (vec!["sda"], vec![]) } else { (vec![], vec!["sda"]) };
            journal.happened(&Event::new(at, devices(&came, &went)));
        }
        if s < 6_000 && s % 40 == 30 {
            let kind = EventKind::KernelErrors { device: "sda".into(), count: 1, text: "I/O error".into() };
            journal.happened(&Event::new(at, kind));
        }
        journal.add(healthy(s));
        let of = |problem: &&Problem| problem.rule == JournalRule::DriveErrors;
        let now: Vec<_> = journal.problems().iter().filter(of).map(|problem| problem.closed).collect();
        changes += u32::from(now != before);
        before = now;
    }
    let found = told(&journal.end());
    let errors: Vec<&String> = found.iter().filter(|line| line.starts_with("DriveErrors")).collect();
    assert_eq!(errors.len(), 1, "{found:?}");
    assert!(errors[0].starts_with("DriveErrors sda") && errors[0].contains(" 30..5990 x3: "), "{errors:?}");
    assert_eq!(changes, 6, "it opened, went and came twice, and ended");
}

/// The journal of a host that has a share mounted, by the requests that were sent and answered at each second.
fn of_share(counts: impl Fn(u64) -> Option<(u64, u64)>) -> Vec<String> {
    told(&journal(400, |s, sample| {
        let mount = |(sent, answered)| NfsMount { at: "/mnt".into(), sent, answered, ..NfsMount::default() };
        let nfs = |counts| Box::new(Nfs { mounts: vec![mount(counts)], server: None });
        sample.nfs = counts(s).map(nfs);
    }))
}

#[test]
fn a_server_of_nfs_that_answers_nothing_is_silent_and_one_that_has_nothing_to_answer_is_not() {
    assert_eq!(of_share(|s| Some((10 * s, 10 * s))), [""; 0]);
    assert_eq!(of_share(|s| Some((10 * s.min(100), 9 * s.min(100)))), [""; 0], "idle, some answers are missing");
    assert_eq!(of_share(|s| Some((s, s - s.min(1)))), [""; 0], "one is always on its way");
    let silent = |at: u64| (100..200).contains(&at);
    let found = of_share(|s| Some((s, if silent(s) { 99 } else { s })));
    assert_eq!(found, ["NfsSilent /mnt Critical 100..200 x1: requests sent: 1, answered: none"]);
    // A client without other requests repeats one each minute, and the problem began with the first.
    let found = of_share(|s| Some((100 + s / 60, 100 + if s < 300 { 0 } else { s / 60 })));
    assert_eq!(found, ["NfsSilent /mnt Critical 60..300 x1: requests sent: 1, answered: none"]);
}

#[test]
fn a_share_that_is_unmounted_while_its_server_is_silent_is_no_problem_any_more() {
    let found = of_share(|s| (s < 200).then_some((s, s.min(100))));
    assert_eq!(found, ["NfsSilent /mnt Critical 101..200 x1: requests sent: 1, answered: none"]);
    let shares = |sample: Sample| {
        let mut journal = Journal::of_host(&HostInfo::default());
        journal.add(sample);
        journal.objects().unwrap().contains("/mnt")
    };
    let mount = NfsMount { at: "/mnt".into(), ..NfsMount::default() };
    let nfs = Some(Box::new(Nfs { mounts: vec![mount], server: None }));
    assert!(shares(Sample { nfs, ..healthy(1) }) && !shares(healthy(1)));
}

#[test]
fn a_drive_that_hung_before_it_died_is_in_the_journal_although_the_host_lists_it_no_more() {
    let mut run = host();
    run.load_mut().targets.remove(0);
    run.events.push(Event::new(Nanos::secs(10_100), devices(&[], &["sda"])));
    let mut journal = Journal::new(&run);
    for s in 0..200 {
        let mut sample = healthy(s);
        sample.disks[0].reads = 100 * s.min(50);
        if s >= 100 {
            sample.disks.remove(0);
        }
        journal.add(sample);
    }
    assert_eq!(
        told(&journal.end()),
        [
            "DriveStuck sda Critical 51..100 x1: 1 I/Os in flight, none completes",
            "DriveGone sda Critical 100..open x1: the kernel no longer lists it",
        ]
    );
}

#[test]
fn caches_and_volumes_of_programs_and_memory_are_no_drives_that_failed() {
    let mut run = host();
    run.events.push(Event::new(Nanos::secs(10_000), devices(&[], &["bcache0", "ublkb3", "pmem0"])));
    assert_eq!(told(&Journal::new(&run).end()), [""; 0]);
}

#[test]
fn what_a_person_takes_away_is_a_warning_and_over_when_it_is_back() {
    let mut run = host();
    let names = |of: &[&str]| of.iter().map(|name| name.to_string()).collect();
    let went = EventKind::Devices { came: Vec::new(), went: names(&["sdy", "sdz"]), detachable: names(&["sdz"]) };
    run.events = vec![Event::new(Nanos::secs(10_000), went), Event::new(Nanos::secs(10_007), devices(&["sdz"], &[]))];
    assert_eq!(
        told(&Journal::new(&run).end()),
        [
            "DriveGone sdy Critical 0..open x1: the kernel no longer lists it",
            "DriveGone sdz Warning 0..7 x1: the kernel no longer lists it",
        ]
    );
}

#[test]
fn a_journal_knows_what_was_well_and_what_the_host_has() {
    let mut journal = Journal::new(&host());
    for s in 0..3 {
        assert_eq!(journal.objects(), None);
        let mut sample = healthy(s);
        sample.parts.take_if(|_| s < 2);
        journal.add(sample);
    }
    let is_well = |rule: JournalRule, object: &str| journal.well().contains(&(rule, object.to_string()));
    assert!(is_well(JournalRule::DriveErrors, "sda") && is_well(JournalRule::ArrayDegraded, "md0"));
    assert!(!is_well(JournalRule::DriveFailing, "sda"), "it was not asked");
    let objects = journal.objects().unwrap();
    let there = ["host", "sda", "md0", "tank", "dm-0/sdb", "nvme0n1/0000:01:00.0", "eth0"];
    assert!(there.iter().all(|name| objects.contains(*name)), "{objects:?}");
}

#[test]
fn each_port_of_a_drive_with_two_has_its_own_link_and_one_that_is_trained_anew_is_not_over() {
    let found = journal(200, |s, sample| {
        let links = &mut parts(sample).links;
        let narrow = Link { width: 2, ..links[0].now };
        let other = LinkState { address: "0000:02:00.0".into(), now: narrow, ..links[0].clone() };
        // It cannot be read for a while.
        links.extend((!(60..120).contains(&s)).then_some(other));
    });
    assert_eq!(told(&found), ["LinkNarrow nvme0n1/0000:02:00.0 Warning 0..open x1: 2 lanes of 4"]);
}

#[test]
fn a_few_errors_that_a_link_corrected_are_no_problem() {
    let found = journal(300, |s, sample| parts(sample).links[0].corrected = Some(7 + s / 30));
    assert_eq!(told(&found), [""; 0]);
}

#[test]
fn errors_of_a_link_are_counted_over_half_a_minute_however_near_readings_are() {
    // A state that flaps has all parts read every five seconds.
    let found = journal(120, |s, sample| {
        parts(sample).links[0].corrected = Some(7 + s / 5 * 9);
        sample.parts.take_if(|_| s % 5 > 0);
    });
    let found = told(&found);
    assert_eq!(found.len(), 1, "{found:?}");
    let begins = "LinkErrors nvme0n1/0000:01:00.0 Warning 10..open x1: errors corrected: ";
    assert!(found[0].starts_with(begins), "{found:?}");
}

#[test]
fn an_array_that_is_broken_or_stays_inactive_is_a_problem_and_one_that_is_being_assembled_is_not() {
    let of = |state: &str, from: u64, until: u64, disks: u32| {
        told(&journal(100, |s, sample| {
            let array = &mut parts(sample).arrays[0];
            (array.degraded, array.disks) = (None, disks);
            array.state = if (from..until).contains(&s) { state.into() } else { "clean".into() };
            sample.parts.take_if(|_| s % 5 > 0);
        }))
    };
    assert_eq!(of("broken", 20, 40, 2), ["ArrayDegraded md0 Critical 20..40 x1: its state is broken"]);
    assert_eq!(of("inactive", 20, 40, 2), ["ArrayDegraded md0 Warning 25..40 x1: its state is inactive"]);
    assert_eq!(of("inactive", 20, 25, 2), [""; 0], "it is being assembled");
    assert_eq!(of("inactive", 0, 100, 0), [""; 0], "a container");
    assert_eq!(of("readonly", 0, 100, 2), [""; 0]);
}

#[test]
fn the_cache_of_zfs_is_memory_that_programs_can_have() {
    let low = |arc: u64| {
        let found = journal(300, |s, sample| {
            sample.memory.as_mut().unwrap().available_bytes = 2 << 30;
            parts(sample).arc = Some(ArcCounters { size_bytes: arc << 30, ..ArcCounters::default() });
            // It is read less often than memory.
            sample.parts.take_if(|_| s % 30 > 0);
        });
        found.len()
    };
    assert_eq!((low(0), low(50)), (1, 0));
    assert_eq!(low(3), 1, "a thirty-second of the memory stays with the cache");
}
