//! Events that the hypervisor makes: what virtual machines are changed, and how.

use super::{Given, keys, whole};
use crate::fault::{Act, WhichMachine};
use crate::yaml::{Node, Value};
use stend_base::{Result, say};

/// Events of these kinds change the same, each of its kind: a snapshot and a move give a disk another file.
pub(super) fn kind(act: &Act) -> Option<&str> {
    match act {
        Act::VmSnapshot { .. } | Act::VmMove { .. } => Some("vm.snapshot, vm.move"),
        Act::VmLimit { .. } => Some("vm.limit"),
        _ => None,
    }
}

/// What the hypervisor does to virtual machines; `None`: it is something else. Most of its keys may be left out.
pub(super) fn act(node: &Node, what: &str, given: &Given) -> Option<Result<Act>> {
    let machine = given.machine.unwrap_or(WhichMachine::All);
    let (directory, iops, bandwidth) = (given.directory.clone(), given.iops, given.bandwidth);
    let (known, act): (&[&str], Option<Act>) = match what {
        "vm.snapshot" => (&["machine", "directory"], Some(Act::VmSnapshot { machine, directory })),
        "vm.move" => (&["machine", "directory"], directory.map(|directory| Act::VmMove { machine, directory })),
        "vm.limit" => {
            let limited = iops.is_some() || bandwidth.is_some();
            (&["machine", "iops", "bandwidth"], limited.then_some(Act::VmLimit { machine, iops, bandwidth }))
        }
        _ => return None,
    };
    let other = given.names().into_iter().find(|name| !known.contains(name));
    Some(match (act, other) {
        (_, Some(other)) => Err(node.error(say!("`{what}` does not take `{other}`", "у `{what}` нет ключа `{other}`"))),
        (Some(act), None) => Ok(act),
        (None, None) if what == "vm.move" => {
            Err(node.error(say!("`vm.move` needs `directory`", "для `vm.move` нужен `directory`")))
        }
        (None, None) => Err(node.error(say!(
            "`vm.limit` needs `iops`, `bandwidth` or both",
            "для `vm.limit` нужны `iops`, `bandwidth` или оба"
        ))),
    })
}

/// Which of them.
pub(super) fn which(node: &Node) -> Result<WhichMachine> {
    match &node.value {
        Value::Text(word) if word == "each" => Ok(WhichMachine::Each),
        _ => whole(node, keys::MACHINE).map(WhichMachine::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::super::kinds_tests::{one, refused};
    use super::*;
    use stend_base::{Bytes, Lang};

    #[test]
    fn what_the_hypervisor_does_takes_its_keys_and_says_what_it_is() {
        let (all, directory) = (WhichMachine::All, || Some("/d".to_string()));
        for (event, expected, words) in [
            (
                "do: vm.snapshot",
                Act::VmSnapshot { machine: all, directory: None },
                "all virtual machines: a snapshot of the disks",
            ),
            (
                "do: vm.snapshot, machine: each, directory: /d",
                Act::VmSnapshot { machine: WhichMachine::Each, directory: directory() },
                "a virtual machine, in each block the next: a snapshot of the disks",
            ),
            (
                "do: vm.move, machine: 2, directory: /d",
                Act::VmMove { machine: WhichMachine::Number(2), directory: "/d".into() },
                "virtual machine 2: the disks move to `/d`",
            ),
            (
                "do: vm.limit, iops: 300, bandwidth: 1MiB",
                Act::VmLimit { machine: all, iops: Some(300), bandwidth: Some(Bytes::mib(1)) },
                "all virtual machines: each disk does 300 IOPS, 1 MiB/s at most",
            ),
        ] {
            let act = one(event);
            assert_eq!(act, expected);
            assert_eq!(act.say().get(Lang::En).replace('\u{a0}', " "), words);
            assert!(act.machine().is_some() && act.drive().is_none() && act.lines().is_empty());
            assert_ne!(act.say_undone().en, act.say_undone().ru);
        }
    }

    #[test]
    fn keys_that_are_missing_or_of_others_and_events_at_once_are_refused() {
        for (events, told) in [
            ("[{at: 5s, do: vm.move}]", "`vm.move` needs `directory`"),
            ("[{at: 5s, do: vm.limit}]", "`vm.limit` needs `iops`, `bandwidth` or both"),
            ("[{at: 5s, do: vm.limit, iops: 5, drive: 1}]", "`vm.limit` does not take `drive`"),
            ("[{at: 5s, do: vm.snapshot, iops: 5}]", "`vm.snapshot` does not take `iops`"),
            ("[{at: 5s, do: scrub, machine: 1}]", "`scrub` takes no other keys"),
            ("[{at: 5s, do: vm.snapshot, machine: 0}]", "1 to 64"),
            ("[{at: 5s, do: vm.move, directory: d}]", "not an absolute path"),
            ("[{at: 5s, do: vm.snapshot}, {at: 6s, do: vm.move, directory: /d}]", "overlap"),
            ("[{at: 5s, for: 3s, do: vm.limit, iops: 5}, {at: 7s, do: vm.limit, iops: 6}]", "`vm.limit` of virtual"),
        ] {
            let [en, ru] = refused(events);
            assert!(en.contains(told) && ru != en, "{events}: {en}");
        }
        let apart = "[{at: 5s, for: 1s, do: vm.snapshot}, {at: 5s, do: vm.limit, iops: 5}, {at: 7s, do: vm.snapshot}]";
        assert!(super::super::kinds_tests::is_taken(apart));
    }
}
