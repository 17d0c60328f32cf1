//! A phase of elbencho as a trial, whichever form told it. Pure.

use crate::build::sum;
use crate::date;
use crate::printed::{Printed, Side, mix_of};
use std::collections::BTreeMap;
use stend_base::{Bytes, Nanos, Say, say};
use stend_spec::pattern::Pattern;
use stend_spec::workload::{Op, Pages, Stream};

/// A phase that read or wrote data.
#[derive(Debug)]
pub struct Phase {
    /// Its line.
    pub line: u32,
    /// `elbencho` and its version.
    pub version: String,
    /// The command line, as it is repeated.
    pub command: String,
    /// Label given by the user; may be empty.
    pub label: String,
    /// Name of the phase: `READ`, `WRITE`, `RWMIX30`, …
    pub operation: String,
    /// When it began.
    pub started: Option<Nanos>,
    /// What it was asked for, by elbencho's names.
    pub options: BTreeMap<String, String>,
    /// From the start to the end of the slowest thread.
    pub lasted: Nanos,
    /// I/Os and bytes are both told so well that they must agree by the block size.
    pub sizes_known: bool,
    /// Kinds of I/O.
    pub sides: Vec<Side>,
}

/// What elbencho was asked for, under the names of one of its forms.
pub struct Names {
    /// Threads of a host.
    pub threads: &'static str,
    /// Hosts.
    pub hosts: &'static str,
    /// I/Os in flight of a thread.
    pub depth: &'static str,
    /// Bytes of an I/O.
    pub block: &'static str,
    /// Order of offsets.
    pub random: &'static str,
    /// Around the page cache.
    pub direct: &'static str,
}

/// Flags that say more of the load than the columns do, with a value behind them.
const LOAD_FLAGS: [&str; 16] = [
    "--blockvaralgo",
    "--blockvarpct",
    "--cores",
    "--fadv",
    "--flock",
    "--limitread",
    "--limitwrite",
    "--madv",
    "--randalgo",
    "--randamount",
    "--rwmixpct",
    "--rwmixthr",
    "--rwmixthrpct",
    "--timelimit",
    "--verify",
    "--zones",
];
/// The same without a value.
const LOAD_WORDS: [&str; 12] = [
    "--backward",
    "--dropcache",
    "--infloop",
    "--mmap",
    "--nofdsharing",
    "--norandalign",
    "--preallocfile",
    "--readinline",
    "--strided",
    "--sync",
    "--trunctosize",
    "--verifydirect",
];

/// Those of a command, whose words stand in quotes. Names of files, labels and places of results are none of the load.
fn load_flags(command: &str) -> Vec<(String, String)> {
    let mut words = command.split('"').skip(1).step_by(2).peekable();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let (flag, own) = word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value)));
        if LOAD_FLAGS.contains(&flag) {
            let behind = || words.next_if(|next| !next.starts_with("--")).unwrap_or_default();
            found.push((flag.to_string(), own.unwrap_or_else(behind).to_string()));
        } else if LOAD_WORDS.contains(&flag) {
            found.push((flag.to_string(), "yes".to_string()));
        }
    }
    found
}

/// Kinds of phases that do something else than reading or writing data.
pub fn no_io(operation: &str) -> Say {
    say!(
        "phase `{operation}` reads and writes no data, so it was left out",
        "фаза `{operation}` не читает и не пишет данных, она пропущена"
    )
}

/// A phase whose time elbencho tells as 0 ms has no rate.
pub fn too_short(operation: &str) -> Say {
    say!(
        "phase `{operation}` took less than a millisecond, so it was left out",
        "фаза `{operation}` заняла меньше миллисекунды, она пропущена"
    )
}

/// When a phase began.
pub fn started(text: &str) -> Option<Nanos> {
    date::iso(text)
}

impl Phase {
    /// As a trial of the file with this index.
    pub fn printed(mut self, file: u32) -> Printed {
        self.options.extend(load_flags(&self.command));
        let names = if self.options.contains_key("IO depth") { &TABLE } else { &JSON };
        let word = |name: &str| self.options.get(name).map(|value| value.trim()).unwrap_or_default();
        let count = |name: &str| word(name).parse::<u32>().ok();
        let yes = |name: &str| ["1", "true"].contains(&word(name));
        let block = word(names.block).parse::<u64>().unwrap_or(0);
        let ios = |op: Op| sum(self.sides.iter().filter(|side| side.op == op).map(|side| side.ios));
        let jobs = count(names.threads).unwrap_or(1).max(1).saturating_mul(count(names.hosts).unwrap_or(1).max(1));
        // At most one of these is set. With strides the threads take turns at blocks.
        //= elbencho, OffsetGenerator.h: OffsetGenReverseSeq, OffsetGenStrided; ProgArgs.cpp refuses two of them
        let stride = block.saturating_mul(u64::from(jobs));
        let pattern = match () {
            () if yes(names.random) => Pattern::Uniform,
            () if self.options.contains_key("--backward") => Pattern::Reverse,
            () if self.options.contains_key("--strided") && stride > block => {
                Pattern::Strided { stride: Bytes(stride) }
            }
            () => Pattern::Sequential,
        };
        let stream = Stream {
            queue_depth: count(names.depth).unwrap_or(0),
            jobs,
            ..Stream::new(mix_of(ios(Op::Read), ios(Op::Write)), pattern, Bytes(block))
        };
        let name = match self.label.trim() {
            "" => self.operation.clone(),
            label => format!("{label} {}", self.operation),
        };
        Printed {
            file,
            line: self.line,
            direct: yes(names.direct),
            pages: Pages::Ordinary,
            // elbencho's --limitread and --limitwrite.
            paced: self.command.contains("--limit"),
            version: self.version,
            command: self.command,
            name,
            options: self.options,
            started: self.started,
            ramp: Nanos(0),
            window: self.lasted,
            stream,
            sizes_known: self.sizes_known,
            failed: false,
            errors: 0,
            sides: self.sides,
            slices: Vec::new(),
        }
    }
}

/// Names in tables.
const TABLE: Names = Names {
    threads: "threads",
    hosts: "hosts",
    depth: "IO depth",
    block: "block size",
    random: "random",
    direct: "direct IO",
};
/// Names in JSON.
const JSON: Names = Names {
    threads: "threads",
    hosts: "hosts",
    depth: "io_depth",
    block: "block_size",
    random: "random_offsets",
    direct: "direct_io",
};
