//! Keys of the kinds of events, one by one.

use crate::fault::{Act, Which};
use crate::parse::suite;
use stend_base::{Bytes, Lang, Millionths, Nanos};

fn text(events: &str) -> String {
    format!(
        "suite: x\ncases:\n  - name: a\n    trial: 30s\n    events: {events}\n    streams: [{{op: read, pattern: random, block_size: 4KiB}}]\n"
    )
}

pub(super) fn one(event: &str) -> Act {
    let mut suite =
        suite(&text(&format!("[{{at: 5s, {event}}}]")), "s.yaml").unwrap_or_else(|error| panic!("{error:?}"));
    suite.cases.remove(0).faults.remove(0).act
}

/// Whether a suite with these events is one.
pub(super) fn is_taken(events: &str) -> bool {
    suite(&text(events), "s.yaml").is_ok()
}

/// In both languages, without the place.
pub(super) fn refused(events: &str) -> [String; 2] {
    let error = suite(&text(events), "s.yaml").unwrap_err();
    [Lang::En, Lang::Ru].map(|lang| {
        let told = error.message.get(lang).replace('\u{a0}', " ");
        told.split_once(": ").map_or(told.clone(), |(_, why)| why.to_string())
    })
}

#[test]
fn each_kind_takes_its_keys_and_says_what_it_does() {
    let undo = || vec!["start".to_string()];
    for (event, expected, words, undone) in [
        (
            "do: fill, to: 90%",
            Act::Fill(Millionths::percent(90)),
            "the file system is filled to 90 %",
            "the file that filled it is removed",
        ),
        (
            "do: drive.replace, drive: 2",
            Act::DriveReplace(Which::Number(2)),
            "drive 2 is replaced by a spare",
            "there is a spare again",
        ),
        (
            "do: daemon.kill, drive: 2",
            Act::DaemonKill(Which::Number(2)),
            "drive 2: its daemon is killed",
            "the daemon is started again",
        ),
        ("do: link.down, link: eth1", Act::LinkDown("eth1".into()), "link eth1 is down", "link eth1 is up"),
        (
            "do: link.delay, link: lo, delay: 20ms",
            Act::LinkDelay("lo".into(), Nanos::millis(20)),
            "link lo sends with a delay of 20.0 ms",
            "link lo is as it was",
        ),
        (
            "do: link.loss, link: br-0.7, loss: 0.5%",
            Act::LinkLoss("br-0.7".into(), Millionths(5000)),
            "link br-0.7 loses 0.5 % of what it sends",
            "link br-0.7 is as it was",
        ),
        (
            "do: process.kill, process: iscsid, undo: [start]",
            Act::ProcessKill { process: "iscsid".into(), undo: undo() },
            "`iscsid` is killed",
            "`start`",
        ),
        (
            "do: drive.corrupt, drive: each, length: 1MiB",
            Act::DriveCorrupt { drive: Which::Each, from: None, length: Bytes::mib(1) },
            "a drive, in each block the next has 1 MiB of its data overwritten",
            "the data of the drive are rewritten",
        ),
        (
            "do: drive.corrupt, drive: 2, from: 8MiB, length: 4KiB",
            Act::DriveCorrupt { drive: Which::Number(2), from: Some(Bytes::mib(8)), length: Bytes::kib(4) },
            "drive 2 has 4 KiB of its data overwritten",
            "the data of the drive are rewritten",
        ),
    ] {
        let found = one(event);
        assert_eq!(found, expected, "{event}");
        assert_eq!((found.say().en.replace('\u{a0}', " ").as_str(), found.say_undone().en.as_str()), (words, undone));
    }
}

#[test]
fn what_changes_the_host_beyond_the_storage_is_listed_to_be_allowed() {
    let lines = |event: &str| one(event).lines();
    assert_eq!(lines("do: link.down, link: eth1"), ["ip link set dev eth1 down"]);
    assert_eq!(lines("do: link.delay, link: eth1, delay: 20ms"), ["tc qdisc add dev eth1 root netem delay 20ms"]);
    assert_eq!(lines("do: link.loss, link: eth1, loss: 1%"), ["tc qdisc add dev eth1 root netem loss random 1%"]);
    assert_eq!(lines("do: process.kill, process: a, undo: [b, c]"), ["pkill -KILL -x a", "b c"]);
    assert!(lines("do: fill, to: 90%").is_empty() && lines("do: drive.corrupt, drive: 1, length: 4KiB").is_empty());
}

#[test]
fn what_is_beyond_a_limit_or_lacks_its_keys_is_refused() {
    for (event, why) in [
        ("do: fill", "`fill` takes exactly `to`"),
        ("do: fill, to: 96%", "96% is outside 1% to 95%"),
        ("do: link.delay, link: eth1", "`link.delay` takes exactly `delay`, `link`"),
        ("do: link.down, link: eth1, delay: 1ms", "`link.down` takes exactly `link`"),
        ("do: link.loss, link: eth1, loss: 0%", "0% is outside 0.01% to 100%"),
        ("do: link.loss, link: eth1", "`link.loss` takes exactly `link`, `loss`"),
        ("do: process.kill, process: a", "`process.kill` takes exactly `process`, `undo`"),
        ("do: drive.corrupt, drive: 1", "`drive.corrupt` takes exactly `drive`, `length`"),
        ("do: drive.corrupt, drive: 1, length: 2GiB", "a multiple of 4 KiB from 4 KiB to 1 GiB"),
        ("do: drive.corrupt, drive: 1, length: 5000B", "a multiple of 4 KiB from 4 KiB to 1 GiB"),
        ("do: scrub, from: 0B", "`scrub` takes no other keys"),
    ] {
        assert_eq!(refused(&format!("[{{at: 5s, {event}}}]"))[0], why, "{event}");
    }
    for link in ["-all", "\"a b\"", "a/b", "sixteenletters16", "\"\""] {
        let [en, ru] = refused(&format!("[{{at: 5s, do: link.down, link: {link}}}]"));
        assert!(
            en.starts_with("a name here has 1 to 15 letters") && ru.starts_with("имя здесь — от 1 до 15"),
            "{link}: {en}"
        );
    }
}

#[test]
fn a_link_has_one_event_at_a_time() {
    let events = |second: &str| format!("[{{at: 5s, for: 5s, do: link.down, link: a}}, {second}]");
    let overlap = "events of the link `a` overlap: one is undone before the next begins";
    assert_eq!(refused(&events("{at: 8s, do: link.loss, link: a, loss: 1%}"))[0], overlap);
    assert_eq!(refused("[{at: 5s, do: link.down, link: a}, {at: 20s, do: link.down, link: a}]")[0], overlap);
    for apart in ["{at: 11s, do: link.loss, link: a, loss: 1%}", "{at: 6s, do: link.down, link: b}"] {
        assert!(suite(&text(&events(apart)), "s.yaml").is_ok(), "{apart}");
    }
}

#[test]
fn wrong_data_come_once_and_with_all_other_drives_there() {
    let corrupt = "{at: 5s, do: drive.corrupt, drive: 1, length: 1MiB}";
    let why = "`drive.corrupt` comes once in a case, and not beside `drive.fail`, `drive.error` or `daemon.kill`";
    for other in [corrupt, "{at: 6s, do: drive.fail, drive: 2}", "{at: 6s, do: drive.error, drive: 2}"] {
        assert_eq!(refused(&format!("[{corrupt}, {other}]"))[0], why, "{other}");
    }
    assert!(suite(&text(&format!("[{corrupt}, {{at: 6s, do: scrub}}]")), "s.yaml").is_ok());
}

#[test]
fn a_copy_to_a_spare_ends_itself_and_shares_the_spare_with_nothing() {
    assert_eq!(
        refused("[{at: 5s, for: 3s, do: drive.replace, drive: 1}]"),
        [
            "`drive.replace` takes no `for`: it ends with its copy",
            "у `drive.replace` нет `for`: событие кончается вместе с копированием"
        ]
    );
    let once = "`drive.replace` comes once in a case, and not beside `drive.fail`, `drive.error`, `drive.corrupt` or `daemon.kill`";
    for other in [
        "drive.replace, drive: 2",
        "drive.fail, drive: 2",
        "drive.error, drive: 2",
        "drive.corrupt, drive: 2, length: 4KiB",
    ] {
        let events = format!("[{{at: 5s, do: drive.replace, drive: 1}}, {{at: 9s, do: {other}}}]");
        assert_eq!(refused(&events)[0], once, "{other}");
    }
}
