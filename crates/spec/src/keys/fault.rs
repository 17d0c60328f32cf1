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

/// What can be done.
pub const ACTS: &[Word] = &[
    (
        "drive.fail",
        "a member of an array of md fails and is taken out (`mdadm --fail`, `--remove`), or a member of a redundant pool of ZFS that the stand of the run made (`zpool offline`); undone, it comes back as a new drive would, with its marks erased, and is rebuilt. An array with a spare (`md: {spares: 1}`) is rebuilt onto that at once, and the drive comes back as the spare",
    ),
    (
        "drive.replace",
        "a spare of the array of md (`md: {spares: 1}`) or pool of ZFS (`zfs: {spares: 1}`) that the stand of the run made gets a copy of the member `drive`, which works on meanwhile, and takes its place (`mdadm --replace`, `zpool replace`): redundancy is never less. After the trial, when the copy is complete, there is a spare again: of md the drive that was replaced, in a pool the same as before. Takes no `for`; once in a case, and not beside `drive.fail`, `drive.error` and `drive.corrupt`",
    ),
    (
        "drive.slow",
        "every I/O of a drive takes longer by `delay`: a drive that is ill and not dead. The member must be a mapping of a `dm` layer (`dm: {linear: whole}`), whose table is changed while it runs",
    ),
    (
        "drive.error",
        "every I/O of a drive fails; the member must be a mapping of a `dm` layer, as for `drive.slow`. Undone, what was missed is made up for: an array of md that gave it up gets it back, a pool of ZFS clears its errors, a btrfs is scrubbed",
    ),
    (
        "drive.corrupt",
        "`length` bytes of a drive are overwritten with random ones behind the back of the redundant array of md, pool of ZFS or btrfs that it is a member of, all made by the stand of the run: nothing fails, and some data are wrong. Undone, the right ones are put back: a pool of ZFS and a btrfs are scrubbed, a member of md is rebuilt from the others, since md does not know which copy is right. Once in a case, and not beside `drive.fail` and `drive.error`",
    ),
    (
        "scrub",
        "an array of md compares its copies or its parity (`sync_action` is `check`), a pool of ZFS or a btrfs that the stand of the run made all of its checksums",
    ),
    (
        "snapshot",
        "a snapshot is made of what the stand of the run made: of a volume of LVM (thin, or with room left by `size`), of ZFS or of btrfs; undone, it is removed",
    ),
    (
        "path.down",
        "the path `path` is taken out of use for each device of the stand that is reached over several (`multipath: {paths: 2}` and `iscsi: {paths: 2}`, by the device mapper; `nvme_of: {paths: 2}`, by disconnecting its controller)",
    ),
    ("cpu.offline", "the CPU `cpu` is taken from the machine; needs `--allow-commands`"),
    (
        "fill",
        "the file system that the target lies on is filled to `to` by a file beside the test file; undone, that is removed. Space is reserved (`fallocate`) where that is all that a file system knows of being full (ext, XFS, F2FS on what is not thin); elsewhere (btrfs, ZFS, over thin volumes, a network) random bytes are written as fast as they can be, for ten minutes at most. Never the root file system, and nothing in memory",
    ),
    (
        "link.down",
        "the network interface `link` is down (`ip link set`); needs `--allow-commands`, and is refused where the host would lose its way to others by it",
    ),
    (
        "link.delay",
        "all that the network interface `link` sends comes later by `delay` (`tc`, netem); needs `--allow-commands`. `lo` only where the stand of the run hands something out over it (`nvme_of: {transport: tcp}`, `iscsi`, `nfs`)",
    ),
    ("link.loss", "the part `loss` of all that the network interface `link` sends is lost; as `link.delay`"),
    (
        "process.kill",
        "every process with the name `process` is killed (SIGKILL), and `undo` starts it again; needs `--allow-commands`",
    ),
    (
        "power.cut",
        "the power of the machine goes and comes back at once, and the trial ends with it; the run goes on by itself when the machine answers again, and first judges what is left of the data. Only with `--lab NAME` of a machine that stays up, as the only event of a case whose writing streams all have `verify: {crash: true}`",
    ),
    ("command", "`command` is executed, and `undo` to undo it; needs `--allow-commands`"),
];

/// An item of `events`.
pub const EVENT: Mapping = Mapping {
    en: "an event",
    ru: "событие",
    doc: "Something that is done while the case is measured. What is not undone within the trial is undone after it, and the next trial begins when every array has its full redundancy again.",
    keys: &[
        required("at", Shape::Span(AT), "When, from the begin of the measuring window on; before its end."),
        required("do", Shape::Word(|| ACTS.to_vec()), "What."),
        optional(
            "for",
            "absent",
            Shape::Span(LASTS),
            "After how long it is undone, before the end of the window; otherwise after the trial.",
        ),
        optional(
            "drive",
            "absent",
            Shape::Either(&[
                Shape::Whole(DRIVE),
                Shape::Word(|| vec![("each", "in each block the next one, beginning with the first")]),
            ]),
            "For `drive.…`: which one. Numbers count the members of the array from 1 on, in the order of its slots; without an array the drives under the target, in the order of `stend inspect`.",
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
            "For `drive.corrupt`: where it begins, counted from where the drive begins to keep data; in the middle of that without it.",
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
            Shape::Share(FULL),
            "For `fill`: which part of the space that users may have is taken then, as `df` counts it.",
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
            "For `link.loss`: which part of the packets; with TCP they are sent again.",
        ),
        optional(
            "process",
            "absent",
            Shape::Spelled("1 to 15 characters", "^[A-Za-z0-9_][A-Za-z0-9_.:+-]{0,14}$"),
            "For `process.kill`: the name that `ps -C` knows it by.",
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
    "What is done to the storage while the case is measured, in each of its trials ([faults.md](../method/faults.md)). Arrays that events touch must have been made by the stand of the run, or be the confirmed target itself. Not with `arms`, `engine: fio`, `application`, and searches.",
);
