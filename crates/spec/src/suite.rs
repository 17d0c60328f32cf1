//! A suite: what to measure, as the user asked for it, checked and with defaults filled in.

use crate::app::{AppSpec, Program};
use crate::arm::{Arm, Observation};
use crate::calibration::Calibrate;
use crate::case::Case;
use crate::ceilings::Ceilings;
use crate::confirm::Test;
use crate::fault::Fault;
use crate::files::Files;
use crate::load_hosts::LoadHosts;
use crate::precondition::Precondition;
use crate::prober::ProberKey;
use crate::rate::Rate;
use crate::region::Part;
use crate::search::Search;
use crate::steady::Steady;
use crate::topology::Placement;
use crate::trace::{Pace, Source, TraceSpec};
use crate::until::Until;
use crate::workload::{Backend, Batch, BlockShare, Data, Engine, Mix, Pages, Pattern, Submit, Sync, Think, Verify};
use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Nanos};

/// What to measure: ordered cases with their preparation and repeats.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Suite {
    /// Short name, e.g. `quick`.
    pub name: String,
    /// Whether and how much of the target is written once before measuring.
    pub fill: Option<Fill>,
    /// What comes before the trials instead of one plain fill; only with `fill`.
    pub precondition: Option<Precondition>,
    /// The test files, if they are several.
    pub files: Option<Files>,
    /// Ceilings that are measured first.
    pub calibrate: Calibrate,
    /// What is stated of the storage besides.
    pub ceilings: Option<Ceilings>,
    /// Tests of cause that are run beside the cases, each once.
    pub confirm: Vec<Test>,
    /// Cases in the order of the file.
    pub cases: Vec<SuiteCase>,
    /// Cells that another tool ran, of an imported run; then there are no `cases` and nothing is planned.
    #[serde(rename = "told")]
    pub imported: Vec<Case>,
    /// Interleaved blocks; every block runs every case once in every arm.
    pub blocks: u32,
    /// Precision at which a case is not repeated any more; then `blocks` is the largest number.
    pub until: Option<Until>,
    /// Levels of what is varied between measurements; empty: there is only the machine as it is.
    pub arms: Vec<Arm>,
    /// What is looked at in each arm beyond inventory.
    pub observe: Vec<Observation>,
}

/// How much of the target is written once, in order, before the first trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// The smaller of 8 GiB and 10 % of the free space, scaled down with the time budget.
    Auto,
    /// Exactly this much.
    Size(Bytes),
}

/// What a number of jobs is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobsOf {
    /// The whole range.
    #[default]
    Range,
    /// All files of a target: as many for each of its files, multiplied already.
    Files,
    /// Each target.
    Target,
}

/// One case of a suite; axes with several values make several cells of the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteCase {
    /// Name, unique in the suite.
    pub name: String,
    /// An application is the load; then there are no streams.
    pub app: Option<AppSpec>,
    /// Streams that run together.
    pub streams: Vec<StreamSpec>,
    /// Load time before the window.
    pub ramp: Nanos,
    /// Length of the measuring window.
    pub window: Nanos,
    /// Bypass the page cache.
    pub direct: bool,
    /// What the buffers of its I/Os lie in.
    pub pages: Pages,
    /// How I/O is submitted.
    pub backend: Backend,
    /// What makes the I/O.
    pub engine: Engine,
    /// Bytes that the log of every I/O of a trial may take; `None`: there is no log.
    pub io_log: Option<Bytes>,
    /// Single I/Os beside the load.
    pub prober: ProberKey,
    /// Rounds until its rate is steady, before it is measured.
    pub steady: Option<Steady>,
    /// What is done to the storage in each trial, in the order of time.
    pub faults: Vec<Fault>,
    /// How many of the load hosts make it.
    #[serde(default)]
    pub load_hosts: LoadHosts,
}

/// One stream with its axes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamSpec {
    /// What its I/Os do.
    pub mix: Mix,
    /// Order of offsets.
    pub pattern: Pattern,
    /// Bytes per I/O; of a mixture the largest alone.
    pub block_size: Vec<Bytes>,
    /// As in [`Stream`](crate::workload::Stream).
    pub block_mix: Vec<BlockShare>,
    /// I/Os in flight per job.
    pub queue_depth: Vec<u32>,
    /// Jobs, as `jobs_of` counts them.
    pub jobs: Vec<u32>,
    /// What the jobs are counted in.
    pub jobs_of: JobsOf,
    /// Durability.
    pub sync: Sync,
    /// What is written.
    pub data: Data,
    /// Arrivals of an open loop; none: closed loop.
    pub rate: Vec<Rate>,
    /// Whether and when data are compared with what was written.
    pub verify: Option<Verify>,
    /// The part of the range that the stream works on; `None`: its equal share.
    pub region: Option<Part>,
    /// Rests of a closed loop.
    pub think: Option<Think>,
    /// What is done for several I/Os together.
    pub batch: Batch,
    /// How its I/Os are given to the kernel.
    pub submit: Submit,
    /// CPUs and NUMA nodes.
    pub placement: Placement,
    /// The rate is searched; then there is none in `rate`.
    pub search: Option<Search>,
    /// A trace says what its I/Os do, where and when; then `mix` is empty, and `block_size` is one of 0.
    pub trace: Option<TraceSpec>,
}

impl SuiteCase {
    /// Such an application, with every key about I/O of our own at its default.
    pub fn of_application(name: String, spec: AppSpec) -> SuiteCase {
        SuiteCase { app: Some(spec), ..SuiteCase::new(name, Vec::new(), (Nanos(0), spec.app.slo.window)) }
    }

    /// These streams of direct I/O by the engine of Stend, with nothing beside them.
    pub fn new(name: String, streams: Vec<StreamSpec>, (ramp, window): (Nanos, Nanos)) -> SuiteCase {
        SuiteCase {
            name,
            app: None,
            streams,
            ramp,
            window,
            direct: true,
            pages: Pages::Ordinary,
            backend: Backend::Auto,
            engine: Engine::Native,
            io_log: None,
            prober: ProberKey::Off,
            steady: None,
            faults: Vec::new(),
            load_hosts: LoadHosts::All,
        }
    }
}

impl StreamSpec {
    /// Such I/Os with every other key at its default.
    pub fn new(mix: Mix, pattern: Pattern, block_size: Bytes) -> StreamSpec {
        StreamSpec {
            mix,
            pattern,
            block_size: vec![block_size],
            block_mix: Vec::new(),
            queue_depth: vec![1],
            jobs: vec![1],
            jobs_of: JobsOf::Range,
            sync: Sync::None,
            data: Data::default(),
            rate: Vec::new(),
            verify: None,
            region: None,
            think: None,
            batch: Batch::default(),
            submit: Submit::default(),
            placement: Placement::default(),
            search: None,
            trace: None,
        }
    }

    /// What the rate may be: each multiplies the cells of the matrix. `None`: one closed loop.
    pub fn rates(&self) -> Vec<Option<Rate>> {
        let found = self.search.as_ref().map_or_else(|| self.rate.clone(), Search::arrivals);
        if found.is_empty() { vec![None] } else { found.into_iter().map(Some).collect() }
    }

    /// What the pace of its trace may be, likewise. `None`: there is no trace.
    pub fn paces(&self) -> Vec<Option<Pace>> {
        self.trace.as_ref().map_or_else(|| vec![None], |trace| trace.pace.iter().copied().map(Some).collect())
    }
}

impl Suite {
    /// Whether all of one arm comes before the next, because a person or a reboot switches between some.
    pub fn is_sequential(&self) -> bool {
        self.arms.iter().any(|arm| arm.switch.instruction().is_some())
    }

    /// Whether it only reads and fills nothing, so that a target without data would answer from holes. A trace may write.
    pub fn needs_data(&self) -> bool {
        let reads = |stream: &StreamSpec| stream.trace.is_none() && stream.mix.reads() && !stream.mix.writes();
        let only_reads =
            |case: &SuiteCase| case.app.is_none() && case.backend != Backend::Null && case.streams.iter().all(reads);
        self.fill.is_none() && !self.cases.is_empty() && self.cases.iter().all(only_reads)
    }

    /// Has every case run by `engine`, whatever its own key says.
    pub fn run_by(&mut self, engine: Engine) {
        self.cases.iter_mut().for_each(|case| case.engine = engine);
    }

    /// The applications of its cases, each program once.
    pub fn programs(&self) -> Vec<Program> {
        let mut found = Vec::new();
        for spec in self.cases.iter().filter_map(|case| case.app) {
            if !found.contains(&spec.app.program) {
                found.push(spec.app.program);
            }
        }
        found
    }

    /// The traces that are replayed, each once, in the order of the file.
    pub fn traces(&self) -> Vec<&Source> {
        let mut found: Vec<&Source> = Vec::new();
        for trace in self.cases.iter().flat_map(|case| &case.streams).filter_map(|stream| stream.trace.as_ref()) {
            if !found.contains(&&trace.source) {
                found.push(&trace.source);
            }
        }
        found
    }

    /// Everything that the suite would execute or change on the host, one line each.
    pub fn changes(&self) -> Vec<String> {
        let observed = self.observe.iter().map(|o| crate::arm::line(&o.command));
        let events = self.cases.iter().flat_map(|case| &case.faults).flat_map(|fault| fault.act.lines());
        self.arms.iter().flat_map(|arm| arm.switch.changes()).chain(observed).chain(events).collect()
    }
}
