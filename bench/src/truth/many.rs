//! Many threads: does the first interval of a load come as the others do, and how much memory do loads of extreme shape take?

use crate::stend::{self, Stend};
use crate::{Outcome, Settings, say};
use std::path::Path;
use stend_base::{Bytes, MilliIops, Nanos};
use stend_spec::rate::{Gaps, Rate};
use stend_spec::workload::{Backend, Mix, Pattern, Region, Stream, Trial};

/// Window of each trial.
const WINDOW: Nanos = Nanos::secs(2);
/// I/Os per second of all threads together.
const RATE: u64 = 100_000;
/// Range of the target.
const RANGE: Bytes = Bytes::gib(1);

/// One load.
pub struct Row {
    /// What it is.
    pub name: &'static str,
    /// Load threads.
    pub threads: u32,
    /// Most memory that the worker held, above what it held before.
    pub memory: Bytes,
    /// The share of the I/Os due in the first interval that began in it; `None`: the load has no rate.
    pub first: Option<f64>,
    /// The same of all intervals.
    pub all: Option<f64>,
}

/// Every load once, on a target that takes no time.
pub fn measure(settings: &Settings) -> Outcome<Vec<Row>> {
    let paced = |jobs, queue_depth| {
        let rate = Some(Rate::constant(MilliIops::per_second(RATE), Gaps::Even));
        Stream { jobs, rate, queue_depth, ..reads() }
    };
    let jobs = |each: u32, streams: usize| vec![Stream { jobs: each, ..reads() }; streams];
    let loads = [
        ("2 threads at a rate", vec![paced(2, 1)]),
        ("256 threads at a rate", vec![paced(256, 1)]),
        ("1 thread at a rate, depth 4096", vec![paced(1, 4096)]),
        ("1 thread, depth 4096", vec![Stream { queue_depth: 4096, ..reads() }]),
        ("1000 threads", jobs(1000, 1)),
        ("10,000 threads", jobs(1000, 10)),
    ];
    let mut rows = Vec::new();
    for (name, streams) in loads {
        say(&format!("many: {name}"));
        let threads = streams.iter().map(|stream| stream.jobs).sum();
        // A worker of its own for each, so that what one held does not count for the next.
        let mut stend = Stend::on_null(settings, Path::new("/dev/zero"))?;
        let region = Region { start: Bytes(0), len: RANGE };
        let trial = Trial { backend: Backend::Null, direct: false, ..Trial::new(streams, WINDOW, region) };
        let before = stend.memory()?.now;
        let (outcome, slices) = stend.trial_in_slices(trial)?;
        stend::whole(&outcome)?;
        let memory = Bytes(stend.memory()?.most.0.saturating_sub(before.0));
        stend.end()?;
        let of = |wanted: &dyn Fn(u32) -> bool| {
            let open = || slices.iter().filter(|s| wanted(s.interval)).filter_map(|s| s.open.as_ref());
            let due: u64 = open().map(|open| open.due).sum();
            (due > 0).then(|| open().map(|open| open.begun).sum::<u64>() as f64 / due as f64)
        };
        rows.push(Row { name, threads, memory, first: of(&|interval| interval == 0), all: of(&|_| true) });
    }
    Ok(rows)
}

fn reads() -> Stream {
    Stream::new(Mix::of_reads(100), Pattern::Random, Bytes::kib(4))
}
