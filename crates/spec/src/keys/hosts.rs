//! The keys of a file of hosts. Data only; must not parse.

use super::{Choice, Limits, Mapping, Shape, optional, required, words};
use crate::hosts::HostRole;

/// Hosts of a file.
pub const HOSTS: Limits<usize> = Limits { least: 1, most: 10_000 };
/// Letters of the name of a host or a group.
pub const NAME: Limits<usize> = Limits { least: 1, most: 64 };
/// Groups that a host is in.
pub const GROUPS: Limits<usize> = Limits { least: 0, most: 32 };
/// Targets of a host, as of `--on`.
pub const TARGETS: Limits<usize> = Limits { least: 1, most: 64 };
/// Words of a command that reaches a host.
pub const EXEC: Limits<usize> = Limits { least: 1, most: 64 };
/// Words that give a shell its rights.
pub const PRIVILEGE: Limits<usize> = Limits { least: 1, most: 16 };
/// What a host does.
pub const ROLES: &[Choice<HostRole>] = &[
    ("load", "it makes the load", HostRole::Load),
    ("observe", "it is watched during the run, as with `--observe`", HostRole::Observe),
];

const NAMED: Shape = Shape::Spelled("1 to 64 letters, digits, `.`, `_`, `-`", "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$");
const SSH: Shape = Shape::Spelled("what `ssh` knows: `root@db1`, a name of `~/.ssh/config`", "^[^\\s-][^\\s]{0,254}$");
const WORD: Shape = Shape::Spelled("1 to 4096 bytes without control characters", "^[^\\u0000-\\u001f\\u007f]{1,4096}$");
const PLAIN: Shape = Shape::Spelled("a word of letters, digits and `._/=:@-`", "^[A-Za-z0-9._/=:@-]{1,255}$");
const BECOME: Shape = Shape::Either(&[
    Shape::Spelled("words of letters, digits and `._/=:@-`, such as `sudo -n`", "^[A-Za-z0-9._/=:@ -]{1,255}$"),
    Shape::Several(&PLAIN, PRIVILEGE),
]);
const MACHINE: Shape =
    Shape::Spelled("name of machines, `-` and a number", "^[A-Za-z0-9][A-Za-z0-9_-]{0,29}-[1-9][0-9]{0,3}$");
const ON: Shape = Shape::Either(&[WORD, Shape::Several(&WORD, TARGETS)]);

/// The whole file.
pub const FILE: Mapping = Mapping {
    en: "hosts file",
    ru: "файл машин",
    doc: "Hosts by their names. Keys beside `hosts` hold for every host that has none of its own.",
    keys: &[
        required("hosts", Shape::Named(&Shape::Map(&HOST), HOSTS), "The hosts, by name."),
        optional("become", "absent", BECOME, "As `become` of a host."),
        optional("on", "absent", ON, "As `on` of a host that makes load."),
    ],
};

/// A host.
pub const HOST: Mapping = Mapping {
    en: "a host",
    ru: "машина",
    doc: "One host: exactly one of `ssh`, `exec` and `vm`.",
    keys: &[
        optional(
            "ssh",
            "absent",
            SSH,
            "Reached by `ssh`: keys, jump hosts and ports are those of your configuration of `ssh`.",
        ),
        optional(
            "exec",
            "absent",
            Shape::Several(&WORD, EXEC),
            "Reached by this command of your machine. The words of a shell command are added to it; input and output must be passed unchanged, without a terminal.",
        ),
        optional(
            "vm",
            "absent",
            MACHINE,
            "A [virtual machine](virtual-machines.md) that `stend vm up` has started: `web-1`. Only with `role: load`.",
        ),
        optional(
            "become",
            "absent",
            BECOME,
            "Words before the shell that give it the needed rights; they must ask nothing.",
        ),
        optional("role", "load", Shape::Word(|| words(ROLES)), "What the host does."),
        optional("groups", "[]", Shape::Several(&NAMED, GROUPS), "Groups for `--group`."),
        optional(
            "on",
            "absent",
            ON,
            "Its targets, as `--on HOST:PATH`. With `role: observe`: watch only the drives below these paths.",
        ),
    ],
};

/// Every mapping of the file, the whole first.
pub const ALL: &[&Mapping] = &[&FILE, &HOST];
