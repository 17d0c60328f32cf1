//! The keys of an order: everything that a user asks of `stend run` in one go. Data only; must not parse.

use super::{Choice, ENGINES, Limits, Mapping, Shape, optional, required, words};
use crate::order::{LoadOf, OnLoss, VERSION};
use stend_base::Nanos;

/// Versions that are read.
pub const VERSIONS: Limits<u32> = Limits { least: VERSION, most: VERSION };
/// Bytes of a path, an identity, or the name of a host.
pub const WORD: Limits<usize> = Limits { least: 1, most: 4096 };
/// Values of a list.
pub const SEVERAL: Limits<usize> = Limits { least: 0, most: 1000 };
/// Stands of a campaign.
pub const STANDS: Limits<usize> = Limits { least: 0, most: 100 };
/// How many hosts are watched beside the one that is measured.
pub const OBSERVED: Limits<usize> = Limits { least: 0, most: 64 };
/// How many hosts make the load: as many as `doctor` looks at. Each is reached by a process with two pipes, and a process may have 1024
/// open files by default. One core takes in what a thousand send (docs/bench/fleet.md).
pub const LOADS: Limits<usize> = Limits { least: 1, most: 256 };
/// The hosts of a stand beside those (by eye).
pub const STORAGES: Limits<usize> = Limits { least: 1, most: 64 };
/// Time that a run may be given.
pub const BUDGET: Limits<Nanos> = Limits { least: Nanos::SECOND, most: super::SPAN_MAX };

/// What becomes of the run when one of several load hosts is lost.
pub const ON_LOSS: &[Choice<OnLoss>] = &[
    ("stop", "the others stop at once, and the run ends", OnLoss::Stop),
    ("go-on", "the others go on; a caveat lists the trials without it", OnLoss::GoOn),
];

/// Whose jobs, queue depths and rates those of the suite are.
pub const LOAD_OF: &[Choice<LoadOf>] = &[
    ("each-host", "those of each load host: two make twice as much", LoadOf::EachHost),
    ("all-hosts", "those of all load hosts together: each makes an equal part", LoadOf::AllHosts),
];

const PATH: Shape = Shape::Spelled("1 to 4096 bytes without control characters", "^[^\\u0000-\\u001f\\u007f]{1,4096}$");
const LABEL: Shape = Shape::Spelled(
    "1 to 64 characters without control characters, not `last`",
    "^[^\\u0000-\\u001f\\u007f-\\u009f]{1,64}$",
);
const LIMIT: Shape =
    Shape::Spelled("a limit ([gate.md](gate.md#limits))", "^[^\\u0000-\\u001f\\u007f-\\u009f]{1,300}$");
const TEXT: Shape = Shape::Spelled("the whole text of the file, at most 1 MiB", "^[\\s\\S]*$");
const SEED: Shape = Shape::Spelled("a whole number below 2^64, in quotes", "^[0-9]{1,20}$");

/// The whole order.
pub const ORDER: Mapping = Mapping {
    en: "an order",
    ru: "заказ",
    doc: "A `stend run` as data. Either `suite` with `seed`, or `resume`.",
    keys: &[
        required("order", Shape::Whole(VERSIONS), "Version of this format."),
        optional("suite", "absent", Shape::Map(&FILE), "The suite."),
        optional("directory", "where Stend runs", PATH, "Directory at which relative paths of the suite begin."),
        optional(
            "traces",
            "absent",
            Shape::List(&TRACE, SEVERAL),
            "The traces that the suite replays, in its order. A changed trace is refused. Absent: no check.",
        ),
        optional("seed", "absent", SEED, "Seed of all random choices; needed with `suite`."),
        optional("engine", "as the suite says", Shape::Word(|| words(ENGINES)), "The engine of every case."),
        optional(
            "repeats",
            "as the suite says",
            Shape::Whole(super::repeats::BLOCKS),
            "Interleaved blocks, each with a trial of every case.",
        ),
        optional("time_budget", "absent", Shape::Span(BUDGET), "Wall time that the run should take."),
        optional("resume", "absent", PATH, "The run to resume: its id, its file, or `last`."),
        optional(
            "stands",
            "absent",
            Shape::List(&FILE, STANDS),
            "Stands to put up, measure and take down; several are measured one after the other and compared with the first. Not with `on` or `resume`.",
        ),
        optional("rebuild", "false", Shape::Bool, "The stands are built anew for every block of the suite."),
        optional(
            "on",
            "absent",
            Shape::Several(&PATH, SEVERAL),
            "Targets, by path or identity, in the order in which they form the range. With several hosts: `HOST:PATH`, or a path that is meant on each. Needed without `stands` and `resume`.",
        ),
        optional(
            "against",
            "absent",
            Shape::Several(&PATH, SEVERAL),
            "Targets that are measured in turn with `on`, block by block, each in a run of its own, and then compared with it. Only with `on`, without `resume` and `output`.",
        ),
        optional(
            "lab",
            "absent",
            PATH,
            "The machine of the lab to measure in: the name of a running one, or a machine file.",
        ),
        optional(
            "ssh",
            "absent",
            Shape::Either(&[PATH, Shape::Several(&PATH, LOADS)]),
            "The host to measure on, as `ssh` knows it, or several that load together; not with `lab`.",
        ),
        optional(
            "hosts",
            "absent",
            Shape::Map(&FILE),
            "A [file of hosts](hosts.md#a-file-of-hosts): how they are reached, what each does, and its targets. Not with `ssh`, `lab`, `storage`, `stands` and `against`.",
        ),
        optional("groups", "all hosts", Shape::Several(&PATH, SEVERAL), "Only hosts of these groups of `hosts`."),
        optional(
            "load",
            "each-host",
            Shape::Word(|| words(LOAD_OF)),
            "Whose jobs, queue depths and rates those of the suite are. `all-hosts` divides the jobs, or where that is impossible the queue depth; a case where neither can be divided is refused. Only with several in `ssh`, or with `hosts`.",
        ),
        optional(
            "on_loss",
            "stop",
            Shape::Word(|| words(ON_LOSS)),
            "What happens when one of several load hosts is lost while they fill, measure or undo. Only with several in `ssh`, or with `hosts`.",
        ),
        optional(
            "storage",
            "absent",
            Shape::Either(&[PATH, Shape::Several(&PATH, STORAGES)]),
            "The hosts of a stand beside the one that is measured: `NAME=ssh:HOST`, or `NAME=MACHINE` with a running machine of the lab. Without `NAME=` where there is one.",
        ),
        optional(
            "observe",
            "absent",
            Shape::Several(&PATH, OBSERVED),
            "Hosts to watch during the run: `ssh:HOST`, or a running machine of the lab; `ssh:HOST=/srv/a,/srv/b` watches the drives below these paths, without paths all of them.",
        ),
        optional(
            "sources",
            "absent",
            Shape::Map(&FILE),
            "A [file of sources](sources.md): values to read during the run where no worker can run, such as those of a closed array. With `resume` as well.",
        ),
        optional(
            "permission",
            "nothing",
            Shape::Map(&PERMISSION),
            "Permission to write and execute. An order allows only what is listed here.",
        ),
        optional(
            "label",
            "absent",
            LABEL,
            "Label of the run in lists and reports, by which commands find it. Not with `resume`.",
        ),
        optional("gate", "absent", Shape::Map(&FILE), "Gate file with limits for the results."),
        optional("expect", "absent", Shape::Several(&LIMIT, SEVERAL), "More limits, such as `rand-read p99 < 5ms`."),
        optional("output", "a new name", PATH, "The run file to write."),
    ],
};

/// A file with its text.
pub const FILE: Mapping = Mapping {
    en: "a file",
    ru: "файл",
    doc: "The text of a file, as it was when the order was made.",
    keys: &[
        required("file", PATH, "Its name, for errors; relative paths of a stand begin at its directory."),
        required("text", TEXT, "Its content."),
    ],
};

/// A trace.
pub const TRACE: Mapping = Mapping {
    en: "a trace",
    ru: "трасса",
    doc: "A trace as it was when the order was made.",
    keys: &[
        required("file", PATH, "Its file."),
        required(
            "sha256",
            Shape::Spelled("64 hexadecimal digits, letters in lower case", "^[0-9a-f]{64}$"),
            "SHA-256 of its content.",
        ),
    ],
};

/// What is allowed.
pub const PERMISSION: Mapping = Mapping {
    en: "a permission",
    ru: "разрешение",
    doc: "Permissions, as the options of `stend run` with these names.",
    keys: &[
        optional("confirm", "nothing", Shape::Several(&PATH, SEVERAL), "Identities of devices that may be written."),
        optional(
            "overwrite_signatures",
            "none",
            Shape::Several(&PATH, SEVERAL),
            "Signatures that may be written over.",
        ),
        optional("commands", "false", Shape::Bool, "Commands of the suite may be executed, and settings changed."),
        optional("beside", "false", Shape::Bool, "Another run may load the same drives at the same time."),
    ],
};

/// Every mapping of an order, the whole first.
pub const ALL: &[&Mapping] = &[&ORDER, &FILE, &TRACE, &PERMISSION];
