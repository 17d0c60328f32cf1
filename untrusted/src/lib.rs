//! Every parser of bytes that others may have written, as a function of the bytes alone. `fuzz/` looks for bytes that one of them
//! cannot take, and `tests/replay.rs` reads the corpora again; so nothing here may touch the machine, but for a file in memory.
//!
//! A target must return, whatever the bytes are: without a panic, in time and memory that are in proportion to them.
#![forbid(unsafe_code)]

mod asked;
mod devices;
mod hosts;
pub mod made;
mod runs;
mod shown;
mod specs;
mod tables;

/// Where a file is memory.
const MEMORY: &str = "/dev/shm";

/// A parser with what is done with what it read.
pub struct Target {
    /// Name, of the directory of its corpus, too.
    pub name: &'static str,
    /// What it takes the bytes for.
    pub reads: &'static str,
    /// Reads them.
    pub run: fn(&[u8]),
    /// Most bytes that the search makes; what is larger is slower and finds no more.
    pub largest: usize,
    /// It shows a whole run, which takes milliseconds.
    pub shows_runs: bool,
    /// Directories of the repository that hold files of the kind, beside `untrusted/corpus/NAME`.
    pub beside: &'static [&'static str],
}

/// All of them.
pub const TARGETS: [Target; 31] = [
    target("run-file", "a run file, shown in every form", runs::file, 192).of_runs(),
    target("run-rows", "a run file of which rows were changed", runs::rows, 4).of_runs(),
    target("run-entries", "what a run is made of", runs::entries, 128).of_runs(),
    target("spool", "the spool of a run that was killed", runs::spool, 128).of_runs(),
    target("io-log", "a piece of the log of every I/O", runs::io_log, 4),
    target("from-worker", "replies of a worker", hosts::from_worker, 128),
    target("to-worker", "requests to a worker", hosts::to_worker, 16),
    target("journal", "the journal of a stand", hosts::journal, 8),
    target("notes", "notes in leases, mounts, what blkid and smartctl print, marks of problems", hosts::notes, 4),
    target("ledger", "the ledger of a verified trial, judged", devices::ledger, 16),
    target("write-log", "the log of dm-log-writes", devices::write_log, 16),
    target("signatures", "the beginning of a device: signatures, partitions, pools", devices::signatures, 64),
    target("signatures-far", "a device of 160 MiB with pieces at known places", devices::far_signatures, 8),
    target("drive-mark", "the mark on a drive that was let go", devices::mark, 8),
    target("suite", "a suite, laid out for four targets", specs::suite, 16).beside(&["suites", "lab/suites"]),
    target("stand", "a stand file", specs::stand, 16).beside(&["stands"]),
    target("machine", "a machine of the lab, machines of libvirt", specs::machine, 16).beside(&["lab"]),
    target("gate", "a gate for comparisons", specs::gate, 16),
    target("hosts", "a file of hosts", specs::hosts, 16),
    target("sources", "a file of sources", specs::sources, 16),
    target("receivers", "a file of receivers", specs::receivers, 16),
    target("request", "a request to the server: method, address, body", asked::request, 8),
    target("terms", "a condition of a list, the times of a schedule", asked::terms, 4),
    target("answers", "what sources answer", specs::answers, 16),
    target("order", "an order", specs::order, 64),
    target("trace", "recorded I/O: iolog, blkparse", specs::trace, 16),
    target("jobs", "jobs of other tools", specs::jobs, 16).beside(&["crates/interop/tests/job_corpus"]),
    target("results", "results of other tools, shown in every form", tables::results, 32)
        .of_runs()
        .beside(&["crates/interop/tests/corpus", "crates/interop/tests/fixtures"]),
    target("logs", "logs of fio, shown in every form", tables::logs, 16)
        .of_runs()
        .beside(&["crates/interop/tests/corpus/fio-logs"]),
    target("tables", "published tables, audited", tables::published, 16).beside(&["published"]),
    target("ours", "a file in whose place a result is to be put", tables::ours, 16),
];

/// A target that reads files of its own corpus only, of so many KiB at most.
const fn target(name: &'static str, reads: &'static str, run: fn(&[u8]), kib: usize) -> Target {
    Target { name, reads, run, largest: kib << 10, shows_runs: false, beside: &[] }
}

impl Target {
    const fn of_runs(self) -> Target {
        Target { shows_runs: true, ..self }
    }

    const fn beside(self, beside: &'static [&'static str]) -> Target {
        Target { beside, ..self }
    }
}

/// The target of this name.
pub fn named(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
