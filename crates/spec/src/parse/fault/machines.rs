//! Events that the hypervisor makes: what virtual machines are changed, and how.

use super::{Given, keys, vm, whole};
use crate::fault::{Act, WhichMachine};
use crate::yaml::{Node, Value};
use stend_base::{Bytes, Result, say};

/// Events of these kinds change the same, each of its kind: a snapshot and a move give a disk another file,
/// and a machine with such a disk does not migrate.
pub(super) fn kind(act: &Act) -> Option<&str> {
    match act {
        Act::VmSnapshot { .. } | Act::VmMove { .. } | Act::VmMigrate { .. } => Some("vm.snapshot, vm.move, vm.migrate"),
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
        "vm.migrate" => {
            let (limit, to) = (given.limit, given.connection.clone());
            (&["bandwidth", "limit", "machine", "to"], to.map(|to| Act::VmMigrate { machine, to, bandwidth, limit }))
        }
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
        (None, None) if what == "vm.migrate" => Err(node.error(say!(
            "`vm.migrate` needs `to`: the libvirt that the machines migrate to",
            "для `vm.migrate` нужен `to`: libvirt, куда мигрируют машины"
        ))),
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

/// The libvirt that machines migrate to. The port of a guest's worker is a socket, which ends at the machine it is on.
pub(super) fn destination(node: &Node) -> Result<String> {
    let to = vm::connection(node)?;
    let scheme = to.split(':').next().unwrap_or_default();
    let host = to.split_once("://").map_or("", |(_, rest)| rest.split(['/', '?']).next().unwrap_or_default());
    let transport = scheme.split_once('+').map_or("unix", |(_, transport)| transport);
    if host.is_empty() && transport == "unix" && scheme.starts_with("qemu") {
        return Ok(to);
    }
    Err(node
        .error(say!(
            "`{to}` is not a libvirt of QEMU on this machine: the worker in a guest is reached through a socket, which does not follow it to another host",
            "`{to}` — не libvirt с QEMU на этой машине: рабочий процесс в госте доступен через сокет, который за ним на другую машину не перейдёт"
        ))
        .hint(say!(
            "name a second daemon of this machine (`qemu+unix:///system?socket=PATH`); between hosts measure in a machine by `--ssh`, where an event `command` has it migrate",
            "укажите второй демон этой машины (`qemu+unix:///system?socket=ПУТЬ`); между машинами измеряйте в госте через `--ssh`, а мигрирует он событием `command`"
        )))
}

/// How fast memory is copied.
pub(super) fn must_be_mebibytes(node: &Node, act: &Act) -> Result<()> {
    match act {
        Act::VmMigrate { bandwidth: Some(bandwidth), .. } if !bandwidth.0.is_multiple_of(Bytes::mib(1).0) => Err(node
            .error(say!(
                "`bandwidth` of `vm.migrate` is a whole number of MiB",
                "`bandwidth` у `vm.migrate` — целое число МиБ"
            ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::kinds_tests::{one, refused};
    use super::*;
    use stend_base::{Lang, Nanos};

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
                "do: vm.migrate, machine: each, to: 'qemu+unix:///system?socket=/s', bandwidth: 8MiB, limit: 90s",
                Act::VmMigrate {
                    machine: WhichMachine::Each,
                    to: "qemu+unix:///system?socket=/s".into(),
                    bandwidth: Some(Bytes::mib(8)),
                    limit: Some(Nanos::secs(90)),
                },
                "a virtual machine, in each block the next: live migration to `qemu+unix:///system?socket=/s`",
            ),
            (
                "do: vm.migrate, to: 'qemu:///session'",
                Act::VmMigrate { machine: all, to: "qemu:///session".into(), bandwidth: None, limit: None },
                "all virtual machines: live migration to `qemu:///session`",
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
            ("[{at: 5s, do: vm.migrate}]", "`vm.migrate` needs `to`"),
            ("[{at: 5s, do: vm.migrate, to: 50%}]", "not a libvirt of QEMU on this machine"),
            ("[{at: 5s, do: vm.migrate, to: 'qemu+ssh://b/system'}]", "does not follow it to another host"),
            ("[{at: 5s, do: vm.migrate, to: 'qemu+tcp:///system'}]", "on this machine"),
            ("[{at: 5s, do: vm.migrate, to: 'qemu://b/system'}]", "on this machine"),
            ("[{at: 5s, do: vm.migrate, to: 'xen:///system'}]", "on this machine"),
            ("[{at: 5s, do: vm.migrate, to: '--help'}]", "no URI of libvirt"),
            ("[{at: 5s, do: vm.migrate, to: 'qemu:///session', bandwidth: 5KiB}]", "whole number of MiB"),
            ("[{at: 5s, do: vm.migrate, to: 'qemu:///session', limit: 1s}]", "10 s to 1 day"),
            ("[{at: 5s, do: vm.migrate, to: 'qemu:///session', directory: /d}]", "does not take `directory`"),
            ("[{at: 5s, do: vm.limit, iops: 5, limit: 60s}]", "`vm.limit` does not take `limit`"),
            ("[{at: 5s, do: fill, to: 'qemu:///session'}]", ""),
            ("[{at: 5s, do: vm.snapshot}, {at: 6s, do: vm.migrate, to: 'qemu:///session'}]", "overlap"),
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
