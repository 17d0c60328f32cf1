//! The keys of `events`. Data only; must not parse.

use super::arm::COMMAND_WORDS;
use super::{Key, Limits, Mapping, SPAN_MAX, Shape, Word, optional, required};
use stend_base::{Bytes, Millionths, Nanos};

/// Events of a case: each is undone, and people must be able to tell them apart in a chart.
pub const EVENTS: Limits<usize> = Limits { least: 1, most: 16 };
/// When one comes: there must be something before it to compare with.
pub const AT: Limits<Nanos> = Limits { least: Nanos::secs(1), most: SPAN_MAX };
/// How long one lasts.
pub const LASTS: Limits<Nanos> = Limits { least: Nanos::millis(100), most: SPAN_MAX };
/// Numbers of drives.
pub const DRIVE: Limits<u32> = Limits { least: 1, most: 1024 };
/// How much slower a drive gets; dm-delay counts whole milliseconds.
pub const DELAY: Limits<Nanos> = Limits { least: Nanos::millis(1), most: Nanos::secs(60) };
/// How much of a drive is overwritten: the largest takes seconds.
pub const LENGTH: Limits<Bytes> = Limits { least: Bytes::kib(4), most: Bytes::mib(1024) };
/// Where; the largest drives have less than 1 PiB.
pub const FROM: Limits<Bytes> = Limits { least: Bytes(0), most: Bytes(1 << 50) };
/// What is overwritten begins and ends with whole pages.
pub const OVERWRITE_UNIT: u64 = 4096;
/// Numbers of paths.
pub const PATH: Limits<u32> = Limits { least: 1, most: super::stand::exports::DRIVE_PATHS.most };
/// Numbers of CPUs; Linux has no more than 8192, and CPU 0 of most machines cannot go.
pub const CPU: Limits<u32> = Limits { least: 1, most: 8191 };

/// How full a file system is made: beyond that it would be the emergency that is measured.
pub const FULL: Limits<Millionths> = Limits { least: Millionths::percent(1), most: Millionths::percent(95) };
/// How much of what a link sends is lost.
pub const LOSS: Limits<Millionths> = Limits { least: Millionths(100), most: Millionths::ALL };
/// Bytes in the name of a network interface; the kernel has no longer ones.
//= linux, include/uapi/linux/if.h: "#define IFNAMSIZ 16", with the zero at its end
pub const LINK: Limits<usize> = Limits { least: 1, most: 15 };
/// Bytes in the name of a process; the kernel cuts longer ones.
//= linux, include/linux/sched.h: "#define TASK_COMM_LEN 16", with the zero at its end
pub const PROCESS: Limits<usize> = Limits { least: 1, most: 15 };

/// How long a migration may take.
pub const MIGRATION: Limits<Nanos> = Limits { least: Nanos::secs(10), most: Nanos::secs(24 * 3600) };

/// Places of virtual machines among those that load.
pub const MACHINE: Limits<u32> = Limits { least: 1, most: crate::vm::NUMBER_MAX };

/// What can be done.
pub const ACTS: &[Word] = &[
    (
        "drive.fail",
        "a member of an md array fails and is taken out (`mdadm --fail`, `--remove`), or a member of a redundant ZFS pool that the stand of the run made (`zpool offline`), or an OSD of a Ceph that it made (SIGKILL). Undone, it comes back as a new drive, with its marks erased, and is rebuilt. An array with a spare (`md: {spares: 1}`) is rebuilt onto it at once, and the drive comes back as the spare",
    ),
    (
        "drive.replace",
        "the member `drive` is copied to a spare, which then takes its place (`mdadm --replace`, `zpool replace`). The member works on meanwhile, so redundancy is never less. The stand of the run made the md array (`md: {spares: 1}`) or ZFS pool (`zfs: {spares: 1}`). After the trial, when the copy is complete, there is a spare again: with md the replaced drive, in a pool the same as before. Takes no `for`; once in a case, and not beside `drive.fail`, `drive.error`, `drive.corrupt` and `daemon.kill`",
    ),
    (
        "drive.slow",
        "every I/O of a drive takes longer by `delay`: a failing drive that still answers. The member must be a mapping of a `dm` layer (`dm: {linear: whole}`), whose table is changed while it runs",
    ),
    (
        "drive.error",
        "every I/O of a drive fails; the member must be a mapping of a `dm` layer, as for `drive.slow`. Undone, missed writes are repaired: an md array that dropped the drive gets it back, a ZFS pool clears its errors, a btrfs is scrubbed, a redundant LVM volume takes the drive back (`lvchange --refresh`)",
    ),
    (
        "drive.corrupt",
        "`length` bytes of a drive are silently overwritten with random data. No I/O fails, but some data are wrong. The drive is a member of a redundant md array, ZFS pool or btrfs that the stand of the run made. Undone, the data are repaired: a ZFS pool and a btrfs are scrubbed; an md member is rebuilt from the others, since md does not know which copy is right. Once in a case, and not beside `drive.fail`, `drive.error` and `daemon.kill`",
    ),
    (
        "scrub",
        "an md array compares its copies or parity (`sync_action` is `check`); a ZFS pool or a btrfs that the stand of the run made checks all its checksums",
    ),
    (
        "snapshot",
        "takes a snapshot of an LVM volume (thin, or with room left by `size`), of ZFS or of btrfs that the stand of the run made; undone, it is removed",
    ),
    (
        "path.down",
        "the path `path` is disabled for each multipath device of the stand (`multipath: {paths: 2}` and `iscsi: {paths: 2}`, by the device mapper; `nvme_of: {paths: 2}`, by disconnecting its controller)",
    ),
    (
        "peer.down",
        "the mirror of two hosts (`drbd`) that the stand of the run made is disconnected from its peer (`drbdadm disconnect`): what is written meanwhile is on one host alone. Undone, it connects, and the peer gets what it missed",
    ),
    (
        "daemon.kill",
        "the daemon that serves a drive, an OSD of a Ceph that the stand of the run made, is killed (SIGKILL). Undone, it is started again with what is on its drive, and catches up",
    ),
    ("cpu.offline", "the CPU `cpu` is taken from the machine; needs `--allow-commands`"),
    (
        "fill",
        "a file beside the test file fills the file system of the target to `to`; undone, it is removed. On ext, XFS and F2FS that are not thin, space is only reserved (`fallocate`). Elsewhere (btrfs, ZFS, thin volumes, a network) random bytes are written at full rate, for ten minutes at most. Never the root file system, and nothing in memory",
    ),
    (
        "link.down",
        "the network interface `link` is down (`ip link set`); needs `--allow-commands`, and is refused where this would cut off the host",
    ),
    (
        "link.delay",
        "everything that the network interface `link` sends is delayed by `delay` (`tc`, netem); needs `--allow-commands`. `lo` only where the stand of the run exports something over it (`nvme_of: {transport: tcp}`, `iscsi`, `nfs`)",
    ),
    (
        "link.loss",
        "the share `loss` of all packets that the network interface `link` sends is lost; otherwise as `link.delay`",
    ),
    (
        "process.kill",
        "every process with the name `process` is killed (SIGKILL), and `undo` starts it again; needs `--allow-commands`",
    ),
    (
        "power.cut",
        "the power of the machine is cut and comes back at once, and the trial ends. The run continues by itself when the machine answers again, and first checks the data. Only with `--lab NAME` of a machine that stays up, as the only event of a case whose writing streams all have `verify: {crash: true}`",
    ),
    (
        "vm.snapshot",
        "the hypervisor takes a snapshot of the disks of the virtual machines that load (`--vm NAME`), which then write into new files. Undone, these are merged into the disks and removed",
    ),
    (
        "vm.move",
        "the hypervisor moves the disks of the virtual machines that load to files in `directory`, while they are in use. Undone, it moves them back",
    ),
    (
        "vm.migrate",
        "the virtual machines that load (`--vm NAME`) migrate live to the libvirt `to`, which is on this machine, too. Undone, they migrate back",
    ),
    (
        "vm.limit",
        "the hypervisor limits each disk of the virtual machines that load to `iops`, `bandwidth` or both. Undone, the limits are those of the file of machines",
    ),
    ("command", "runs `command`, and `undo` to undo it; needs `--allow-commands`"),
];

/// An item of `events`.
pub const EVENT: Mapping = Mapping {
    en: "an event",
    ru: "событие",
    doc: "A change during the measurement of the case. If it is not undone within the trial, it is undone after it. The next trial begins when every array has its full redundancy again.",
    keys: &[
        required("at", Shape::Span(AT), "Time from the begin of the measuring window; before its end."),
        required("do", Shape::Word(|| ACTS.to_vec()), "What."),
        optional(
            "for",
            "absent",
            Shape::Span(LASTS),
            "Time until it is undone, before the end of the window; otherwise after the trial.",
        ),
        optional(
            "drive",
            "absent",
            Shape::Either(&[
                Shape::Whole(DRIVE),
                Shape::Word(|| vec![("each", "in each block the next one, beginning with the first")]),
            ]),
            "For `drive.…` and `daemon.kill`: which one. Numbers count the members of the array from 1 on, in the order of its slots; of a Ceph its OSDs in the order of their numbers; without an array the drives under the target, in the order of `stend inspect`.",
        ),
        optional(
            "delay",
            "absent",
            Shape::Span(DELAY),
            "For `drive.slow` and `link.delay`: by how much, in whole milliseconds.",
        ),
        optional(
            "from",
            "absent",
            Shape::Size(FROM, OVERWRITE_UNIT),
            "For `drive.corrupt`: where it begins, from the start of the data area of the drive; default: its middle.",
        ),
        optional(
            "length",
            "absent",
            Shape::Size(LENGTH, OVERWRITE_UNIT),
            "For `drive.corrupt`: how much is overwritten.",
        ),
        optional("path", "absent", Shape::Whole(PATH), "For `path.down`: which one, from 1 on."),
        optional("cpu", "absent", Shape::Whole(CPU), "For `cpu.offline`: which one."),
        optional(
            "to",
            "absent",
            Shape::Either(&[Shape::Share(FULL), super::vm::URI]),
            "For `fill`: the share of the space available to users that is then in use, as `df` counts it. For `vm.migrate`: the libvirt that the machines migrate to, as in `virsh --connect`.",
        ),
        optional(
            "link",
            "absent",
            Shape::Spelled(
                "1 to 15 characters without spaces, not beginning with a dash",
                "^[A-Za-z0-9_.@][A-Za-z0-9_.@-]{0,14}$",
            ),
            "For `link.…`: name of a network interface.",
        ),
        optional(
            "loss",
            "absent",
            Shape::Share(LOSS),
            "For `link.loss`: the share of the packets; TCP sends them again.",
        ),
        optional(
            "process",
            "absent",
            Shape::Spelled("1 to 15 characters", "^[A-Za-z0-9_][A-Za-z0-9_.:+-]{0,14}$"),
            "For `process.kill`: the name that `ps -C` knows it by.",
        ),
        optional(
            "machine",
            "all of them",
            Shape::Either(&[
                Shape::Whole(MACHINE),
                Shape::Word(|| vec![("each", "in each block the next one, beginning with the first")]),
            ]),
            "For `vm.…`: which one of the virtual machines that load, from 1 on, in the order of the hosts of the run.",
        ),
        optional(
            "directory",
            "absent",
            super::vm::DIRECTORY,
            "For `vm.move`: where the disks move to. For `vm.snapshot`: where the new files are, by default beside the disks; needed where a disk is a device.",
        ),
        optional("iops", "absent", Shape::Whole(super::machine::IOPS), "For `vm.limit`: most I/Os per second."),
        optional(
            "bandwidth",
            "absent",
            Shape::Size(super::machine::BANDWIDTH, 1),
            "For `vm.limit`: most bytes per second. For `vm.migrate`: most bytes per second at which memory is copied, in whole MiB.",
        ),
        optional(
            "limit",
            "2 min, and a second for each 4 MiB of memory",
            Shape::Span(MIGRATION),
            "For `vm.migrate`: how long a machine may take. One that takes longer stays where it is, and the run ends with an error.",
        ),
        optional("command", "absent", COMMAND_WORDS, "For `command`: its words, without a shell."),
        optional("undo", "absent", COMMAND_WORDS, "For `command` and `process.kill`: words of what undoes it."),
    ],
};

/// As a key of a case.
pub const KEY: Key = optional(
    "events",
    "absent",
    Shape::List(&EVENT, EVENTS),
    "Changes to the storage during each trial of the case ([faults.md](../method/faults.md)). Arrays that events touch must have been made by the stand of the run, or be the confirmed target itself. Not with `arms`, `engine: fio`, `application`, and searches.",
);
