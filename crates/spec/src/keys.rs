//! The keys of a suite file, each described once: the parser takes names, limits and words from here, and
//! the JSON Schema and the reference are generated from it. Data only; must not parse.

pub use crate::limits::Limits;
use crate::workload::{Backend, Engine};
pub use data::DATA;
use stend_base::{Bytes, MilliIops, Millionths, Nanos};

pub mod app;
pub mod arm;
pub mod batch;
pub mod calibrate;
pub mod ceilings;
pub mod confirm;
pub mod data;
pub mod fault;
pub mod files;
pub mod gate;
pub mod hosts;
pub mod io_log;
pub mod load_hosts;
pub mod machine;
pub mod notify;
pub mod operation;
pub mod order;
pub mod pages;
pub mod pattern;
pub mod placement;
pub mod precondition;
pub mod prober;
pub mod rate;
pub mod repeats;
pub mod sources;
pub mod stand;
pub mod steady;
pub mod trace;
pub mod verify;
pub mod vm;

/// One kind of mapping in a suite file.
#[derive(Debug, Clone, Copy)]
pub struct Mapping {
    /// What errors call it, in English.
    pub en: &'static str,
    /// The same in Russian.
    pub ru: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Its keys, in the order in which people write them.
    pub keys: &'static [Key],
}

/// One key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Name.
    pub name: &'static str,
    /// What holds if the key is absent, as YAML; `None`: it must be there.
    pub default: Option<&'static str>,
    /// What may stand behind it.
    pub shape: Shape,
    /// A list of such values is allowed too: each multiplies the cells of the matrix.
    pub axis: bool,
    /// Meaning.
    pub doc: &'static str,
}

/// What may stand behind a key.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// 1 to 200 characters without control characters.
    Name,
    /// So many letters (A to Z) and digits.
    Serial(Limits<usize>),
    /// Text that a pattern describes: what it is, and the pattern.
    Spelled(&'static str, &'static str),
    /// `true` or `false`.
    Bool,
    /// A duration with its unit.
    Span(Limits<Nanos>),
    /// A size with its unit, a multiple of the second number of bytes.
    Size(Limits<Bytes>, u64),
    /// A whole number.
    Whole(Limits<u32>),
    /// A part of a whole, in percent with the sign.
    Share(Limits<Millionths>),
    /// A number with at most three decimals; the limits are in thousandths.
    Thousandths(Limits<u32>),
    /// A number of I/Os per second with its unit, to a thousandth.
    Rate(Limits<MilliIops>),
    /// Bytes or bits per second with their unit; the limits are in bytes.
    Throughput(Limits<Bytes>),
    /// One of some words, each with its meaning.
    Word(fn() -> Vec<Word>),
    /// A mapping of at least two sizes to shares in percent, which add up to 100; sizes are multiples of the
    /// smallest.
    Sizes(Limits<Bytes>),
    /// A mapping.
    Map(&'static Mapping),
    /// A list of mappings, of this length.
    List(&'static Mapping, Limits<usize>),
    /// A list of such values, of this length.
    Several(&'static Shape, Limits<usize>),
    /// A mapping from names that the user chooses, with so many of them.
    Named(&'static Shape, Limits<usize>),
    /// Any of these.
    Either(&'static [Shape]),
}

/// Most I/Os in flight of one case.
pub const IN_FLIGHT_MAX: u64 = 65_536;

/// A word with its meaning.
pub type Word = (&'static str, &'static str);
/// A word with its meaning and the value that it stands for.
pub type Choice<T> = (&'static str, &'static str, T);

fn words<T>(choices: &'static [Choice<T>]) -> Vec<Word> {
    choices.iter().map(|(word, doc, _)| (*word, *doc)).collect()
}

/// How I/O is submitted.
pub const BACKENDS: &[Choice<Backend>] = &[
    ("auto", "the best that works here; the run file shows which one and why", Backend::Auto),
    ("io_uring", "`io_uring`, or an error", Backend::IoUring),
    (
        "io_uring_sqpoll",
        "`io_uring` with a kernel thread per job that polls the submission queue (fio: `sqthread_poll`), or an error. Each of these threads keeps a CPU busy, never that of its job; its time is not in the CPU time of the job",
        Backend::IoUringSqpoll,
    ),
    (
        "io_uring_iopoll",
        "`io_uring` with polled completions instead of interrupts (fio: `hipri`), or an error. Needs `direct: true` and a device with polling queues; not with syncs, discards, zeroes or traces",
        Backend::IoUringIopoll,
    ),
    (
        "nvme_passthrough",
        "NVMe commands through `io_uring` to the generic character device (`/dev/ng0n1`; fio: `io_uring_cmd`), past the block layer, or an error; needs `direct: true`, a whole NVMe namespace as target, and root; not with syncs, discards, zeroes or traces. The kernel's counters of the drive do not see these I/Os",
        Backend::NvmePassthrough,
    ),
    ("libaio", "Linux AIO (`io_submit`), or an error; needs `direct: true`", Backend::Libaio),
    ("psync", "`pread` and `pwrite`, one thread per I/O in flight", Backend::Psync),
    ("none", "no I/O at all: measures the cost of the engine itself", Backend::Null),
];

/// What makes the I/O.
pub const ENGINES: &[Choice<Engine>] = &[
    ("native", "Stend's own engine", Engine::Native),
    ("fio", "the fio of the host; the result lists where its meaning differs", Engine::Fio),
];

/// Cases of a suite, streams of a case: far more than anybody reads.
pub const CASES: Limits<usize> = Limits { least: 1, most: 10_000 };
/// Arms of a suite; one alone would compare with nothing.
pub const ARMS: Limits<usize> = Limits { least: 2, most: 16 };
/// Words of a command.
pub const COMMAND: Limits<usize> = Limits { least: 1, most: 100 };
/// Kernel settings of an arm, things observed.
pub const SETTINGS: Limits<usize> = Limits { least: 1, most: 100 };
/// Facts that an arm expects to have changed.
pub const EXPECTED: Limits<usize> = Limits { least: 1, most: 100 };
/// Streams that run together.
pub const STREAMS: Limits<usize> = Limits { least: 1, most: 64 };
/// Size of one I/O; one of 64 MiB is already far beyond what drives split.
pub const BLOCK_SIZE: Limits<Bytes> = Limits { least: Bytes(512), most: Bytes::mib(64) };
/// A block is a multiple of this, bytes: the smallest sector.
pub const BLOCK_UNIT: u64 = 512;
/// I/Os in flight per job.
pub const DEPTH: Limits<u32> = Limits { least: 1, most: 4096 };
/// Jobs per stream.
pub const JOBS: Limits<u32> = Limits { least: 1, most: 1024 };
/// Share of one size in a mixture of sizes.
pub const SIZE_PERCENT: Limits<u32> = Limits { least: 1, most: 99 };
/// Ratios of compression and deduplication, in thousandths.
pub const RATIO: Limits<u32> = Limits { least: 1000, most: 100_000 };
/// Longest ramp or window: a week.
pub(crate) const SPAN_MAX: Nanos = Nanos::secs(7 * 86_400);
/// Ramp.
pub const RAMP: Limits<Nanos> = Limits { least: Nanos(0), most: SPAN_MAX };
/// Window; two intervals of 100 ms at least.
pub const WINDOW: Limits<Nanos> = Limits { least: Nanos::millis(200), most: SPAN_MAX };
/// A fill of a chosen size.
pub const FILL_SIZE: Limits<Bytes> = Limits { least: Bytes::mib(1), most: Bytes(u64::MAX) };

const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, default: None, shape, axis: false, doc }
}

const fn optional(name: &'static str, default: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, default: Some(default), shape, axis: false, doc }
}

const fn axis(key: Key) -> Key {
    Key { axis: true, ..key }
}

/// Settings that a case may have for itself or take from `defaults`.
const DIRECT: Key = optional("direct", "true", Shape::Bool, "Bypass the page cache (`O_DIRECT`).");
const RAMP_KEY: Key =
    optional("ramp", "1s", Shape::Span(RAMP), "Load before the window; its completions are not counted.");
const TRIAL: Key = optional("trial", "3s", Shape::Span(WINDOW), "Length of the measuring window of each trial.");
const BACKEND: Key = optional("backend", "auto", Shape::Word(|| words(BACKENDS)), "How I/O is submitted.");

const ENGINE: Key = optional(
    "engine",
    "native",
    Shape::Word(|| words(ENGINES)),
    "What makes the I/O; `stend run --engine` wins. With `fio`, a key that fio cannot express is an error.",
);

const PROBER: Key = optional(
    "prober",
    "auto",
    Shape::Either(&[Shape::Word(|| words(prober::WORDS)), Shape::Map(&prober::PROBER)]),
    "Single I/Os of 4 KiB beside the load, one at a time, which show how long the target stood still for a client. They do not count in the results of the case.",
);

/// The whole file.
pub const SUITE: Mapping = Mapping {
    en: "suite",
    ru: "набор",
    doc: "What to measure.",
    keys: &[
        required("suite", Shape::Name, "Name of the suite."),
        optional("defaults", "{}", Shape::Map(&DEFAULTS), "Settings of every case that does not have its own."),
        optional(
            "fill",
            "none",
            Shape::Either(&[Shape::Word(|| vec![("none", "nothing is written before the trials")]), Shape::Map(&FILL)]),
            "How much of the target is written once, in order, with incompressible data, before the first trial.",
        ),
        precondition::KEY,
        optional(
            "files",
            "absent",
            Shape::Map(&files::FILES),
            "Several test files instead of one; together they form one range. For a target that is a directory. Blocks must divide the files; not for mixtures of block sizes, syncs after several writes, traces and `engine: fio`. A sync applies to the file of the write before it.",
        ),
        calibrate::KEY,
        ceilings::KEY,
        confirm::KEY,
        optional("repeats", "{blocks: 6}", Shape::Map(&repeats::REPEATS), "How often cases are repeated."),
        optional(
            "arms",
            "absent",
            Shape::List(&arm::ARM, ARMS),
            "Levels of one thing that changes between measurements, e.g. before and after an upgrade. Every case runs in every arm. Arms that Stend switches alternate within each pair of blocks, in a random order and then in reverse. If a person or a reboot switches to one of them, each arm is completed before the next.",
        ),
        optional(
            "observe",
            "absent",
            Shape::Named(&arm::COMMAND_WORDS, SETTINGS),
            "Commands whose output is recorded with each arm, by name; `expect` may use these names. Needs `arms`, and `--allow-commands` when the run is started.",
        ),
        required(
            "cases",
            Shape::List(&CASE, CASES),
            "What is measured. Every combination of the values of its axes is one cell of the matrix.",
        ),
    ],
};

/// `defaults`.
pub const DEFAULTS: Mapping = Mapping {
    en: "defaults",
    ru: "defaults",
    doc: "Settings of every case that does not have its own.",
    keys: &[DIRECT, pages::KEY, RAMP_KEY, TRIAL, BACKEND, ENGINE, io_log::KEY, PROBER, steady::KEY],
};

/// `fill`.
pub const FILL: Mapping = Mapping {
    en: "fill",
    ru: "fill",
    doc: "How much is written before the first trial.",
    keys: &[required(
        "size",
        Shape::Either(&[
            Shape::Word(|| {
                vec![(
                    "auto",
                    "8 GiB, or the largest power of two within 10 % of the free space if that is less; less with a time budget",
                )]
            }),
            Shape::Size(FILL_SIZE, 1),
        ]),
        "How much.",
    )],
};

/// An item of `cases`.
pub const CASE: Mapping = Mapping {
    en: "a case",
    ru: "случай",
    doc: "One workload with its axes; `direct`, `pages`, `ramp`, `trial`, `backend`, `engine`, `io_log`, `prober` and `steady` win over `defaults`.",
    keys: &[
        required("name", Shape::Name, "Name, unique in the suite."),
        DIRECT,
        pages::KEY,
        RAMP_KEY,
        TRIAL,
        BACKEND,
        ENGINE,
        io_log::KEY,
        PROBER,
        steady::KEY,
        fault::KEY,
        load_hosts::KEY,
        optional(
            "streams",
            "absent",
            Shape::List(&STREAM, STREAMS),
            "Streams that run at the same time. Required without `application`.",
        ),
        optional(
            "application",
            "absent",
            Shape::Map(&app::APPLICATION),
            "The load is instances of an application, as many as hold an objective. Such a case has no other keys but `name`, `ramp` and `trial`. Its suite has only such cases, and no keys but `suite`, `defaults` and `cases`.",
        ),
    ],
};

/// An item of `streams`.
pub const STREAM: Mapping = Mapping {
    en: "a stream",
    ru: "поток",
    doc: "A homogeneous part of a workload. All streams and jobs of a case together keep at most 65 536 I/Os in flight.",
    keys: &[
        optional(
            "op",
            "absent",
            Shape::Either(&[Shape::Word(|| words(operation::OPERATIONS)), Shape::Map(&operation::MIX)]),
            "Operation: one kind, or a mix of kinds by their number. Everything but `read` changes the target and needs the same permission. Required without `trace`.",
        ),
        optional(
            "pattern",
            "absent",
            Shape::Either(&[Shape::Word(|| words(pattern::PATTERNS)), Shape::Map(&pattern::PATTERN)]),
            "Order of offsets. Required without `trace`.",
        ),
        axis(optional(
            "block_size",
            "absent",
            Shape::Either(&[Shape::Size(BLOCK_SIZE, BLOCK_UNIT), Shape::Sizes(BLOCK_SIZE)]),
            "Bytes per I/O. A mapping such as `{4KiB: 60, 64KiB: 40}` mixes sizes by their shares of the I/Os and cannot be one of a list. Required without `trace`.",
        )),
        axis(optional(
            "queue_depth",
            "1",
            Shape::Whole(DEPTH),
            "I/Os kept in flight per job (fio: `iodepth`). With `rate`: the most in flight, by default 64; I/Os due beyond that wait, and the wait counts in their latency.",
        )),
        axis(optional(
            "jobs",
            "1",
            Shape::Either(&[Shape::Whole(JOBS), Shape::Map(&files::JOBS_EACH)]),
            "Independent load threads, each with its own region (fio: `numjobs`); counted over all targets and `files` together, or for each.",
        )),
        optional(
            "sync",
            "none",
            Shape::Either(&[Shape::Word(|| words(operation::SYNC_WORDS)), Shape::Map(&operation::SYNC)]),
            "When written data must be durable. Needs writes in `op`.",
        ),
        optional(
            "data",
            "incompressible",
            Shape::Either(&[
                Shape::Word(|| vec![("incompressible", "random data, no two sectors alike")]),
                Shape::Map(&DATA),
            ]),
            "What is written. Needs writes in `op`; the fill is always incompressible.",
        ),
        axis(optional(
            "rate",
            "none",
            Shape::Either(&[
                Shape::Word(|| vec![("none", "closed loop: the next I/O begins when one ends")]),
                Shape::Rate(rate::RATE),
                Shape::Map(&rate::RATE_MAP),
            ]),
            "Open loop: I/Os begin when they are due, not when others end; of all jobs together, from the start of the load. Latency counts from the time when an I/O was due. A plain rate has equal gaps.",
        )),
        optional(
            "verify",
            "none",
            Shape::Either(&[Shape::Word(|| vec![("none", "no verification")]), Shape::Map(&verify::VERIFY)]),
            "Every written block gets a mark in each of its sectors, and every read of the stream is compared with what the trial wrote there ([verification.md](verification.md)). A mismatch ends the run with exit code 7. Costs CPU time for each I/O, and memory for each block. Contradicts `op: read`, `discard`, `write_zeroes`, a mixture of block sizes, `data`, and `backend: none`.",
        ),
        optional(
            "region",
            "equal",
            Shape::Either(&[
                Shape::Word(|| vec![("equal", "the jobs of all streams of the case share the range equally")]),
                Shape::Map(&placement::REGION),
            ]),
            "The part of the range that the jobs of the stream share; with `jobs: {per_target: …}` that part of each target, shared by the jobs of the target. Either all streams of a case have a region, or none. Regions may overlap; check H16 shows that.",
        ),
        optional(
            "think",
            "none",
            Shape::Either(&[
                Shape::Word(|| vec![("none", "the next I/O begins when one ends")]),
                Shape::Map(&placement::THINK),
            ]),
            "Rests between I/Os of a closed loop. Contradicts `rate`.",
        ),
        optional(
            "batch",
            "{size: 1}",
            Shape::Map(&batch::BATCH),
            "Submits and completes several I/Os together. Contradicts `rate` and `backend: psync`.",
        ),
        batch::SUBMIT_KEY,
        optional(
            "cpus",
            "any",
            Shape::Either(&[
                Shape::Word(|| vec![("any", "the scheduler chooses, as for other programs")]),
                Shape::Several(&Shape::Whole(placement::NUMBER), placement::CPUS),
            ]),
            "CPUs of the load threads, in turn: each thread stays on one. Contradicts `numa` where that has `cpu`.",
        ),
        optional(
            "numa",
            "any",
            Shape::Either(&[Shape::Word(|| words(placement::NUMA_WORDS)), Shape::Map(&placement::NUMA)]),
            "NUMA nodes of the load threads and of their buffers.",
        ),
        optional(
            "trace",
            "absent",
            Shape::Map(&trace::TRACE),
            "Replays recorded I/O instead, at its own pace, scaled, or as fast as possible. Its writes need the same permission as any write. Contradicts `op`, `pattern`, `block_size`, `rate`, `sync`, `think`, `batch` and `verify`. Beside other streams all need a `region`. Where neither the case nor `defaults` name `ramp` and `trial`, a replay at a pace has no ramp, and its window is as long as the trace.",
        ),
    ],
};

/// Every mapping of a suite file, the whole first.
pub const ALL: &[&Mapping] = &[
    &SUITE,
    &DEFAULTS,
    &FILL,
    &precondition::PRECONDITION,
    &files::FILES,
    &files::JOBS_EACH,
    &repeats::REPEATS,
    &repeats::UNTIL,
    &steady::STEADY,
    &prober::PROBER,
    &CASE,
    &load_hosts::LOAD_HOSTS,
    &load_hosts::SEARCH,
    &app::APPLICATION,
    &app::COUNT,
    &app::LIMITS,
    &app::SLO,
    &STREAM,
    &pattern::PATTERN,
    &pattern::ZIPF,
    &pattern::PARETO,
    &pattern::NORMAL,
    &pattern::ZONE,
    &pattern::STRIDED,
    &operation::MIX,
    &operation::SYNC,
    &placement::REGION,
    &placement::THINK,
    &batch::BATCH,
    &io_log::IO_LOG,
    &placement::NUMA,
    &DATA,
    &verify::VERIFY,
    &trace::TRACE,
    &arm::ARM,
    &arm::SWITCH,
    &fault::EVENT,
    &rate::RATE_MAP,
    &rate::SEARCH,
    &rate::STEP,
    &rate::SHAPE,
    &rate::SINE,
    &rate::BURST,
    &ceilings::CEILINGS,
    &ceilings::LAYOUT,
    &ceilings::OF_DRIVES,
    &ceilings::STRIPE,
    &ceilings::RAID10,
    &ceilings::PARITY,
    &ceilings::REPLICATION,
    &ceilings::ERASURE,
    &ceilings::DRIVE,
];
