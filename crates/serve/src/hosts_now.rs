//! Hosts that are recorded now: the newest sample of each recording that is written, and its open problems, read once for all who ask
//! in the same moment. Must not judge: a recorder keeps in its file what it finds.

use crate::catalogue::Catalogue;
use crate::tasks::Tasks;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stend_analyse::journal::{Problem, ProblemSeverity, kept_problems};
use stend_analyse::recording::health;
use stend_api::{Filter, Listed, OpenOfRecording, OpenProblems, StateFilter, TaskState};
use stend_base::{Nanos, Result};
use stend_record::store::{self, Newest};
use stend_record::{Health, HostInfo, WallClock};
use stend_report::{HostNow, RecordingNow, ServerNow};

/// Most recordings that are looked at. By eye: each costs some ms, and a host needs one.
const RECORDINGS_MAX: usize = 16;
/// Most runs that are counted as going on.
const RUNS_MAX: usize = 1000;
/// How long what was read counts as now, however many browsers ask. By eye: they ask every five seconds, and Prometheus every fifteen.
const FRESH: Duration = Duration::from_secs(2);

/// What was read last.
#[derive(Default)]
pub struct HostsNow(Mutex<Option<(Instant, Arc<Look>)>>);

/// Recordings that are written now.
struct Look {
    recordings: Vec<Recorded>,
    /// How many of them could not be read.
    unread: usize,
}

/// One of them.
struct Recorded {
    name: String,
    newest: Newest,
    open: Vec<Problem>,
    /// What its drives say of themselves.
    health: BTreeMap<String, Health>,
}

impl HostsNow {
    /// The page for Prometheus.
    ///
    /// Errors: those of reading the directory of runs.
    pub fn metrics(&self, catalogue: &Catalogue, tasks: &Tasks, version: &str) -> Result<String> {
        let begun = Instant::now();
        let look = self.look(catalogue)?;
        let runs = catalogue.page(&going_on(Listed::Runs, RUNS_MAX))?;
        let known = tasks.list(usize::MAX, None, None)?.tasks;
        let tasks = TaskState::ALL.map(|state| (state.word(), known.iter().filter(|task| task.state == state).count()));
        let recordings: Vec<RecordingNow> = look.recordings.iter().filter_map(now).collect();
        let now = ServerNow {
            tasks: &tasks,
            run_files: runs.known,
            runs: runs.runs.len(),
            recordings: &recordings,
            unread: look.unread,
            cost: Nanos(begun.elapsed().as_nanos() as u64),
        };
        Ok(stend_report::server_metrics_text(&now, version))
    }

    /// How many problems are open in each.
    ///
    /// Errors: those of reading the directory of runs.
    pub fn open_problems(&self, catalogue: &Catalogue) -> Result<OpenProblems> {
        let look = self.look(catalogue)?;
        let recordings = look.recordings.iter().map(open_of).collect();
        Ok(OpenProblems { schema: "stend-open-problems", schema_version: 1, recordings })
    }

    /// Who asks while others read waits for what they find.
    fn look(&self, catalogue: &Catalogue) -> Result<Arc<Look>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, look)) = kept.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok(look.clone());
        }
        let found = catalogue.page(&going_on(Listed::Recordings, RECORDINGS_MAX))?.runs;
        let read: Vec<_> = found.into_iter().map(|one| recorded(one.name, Path::new(&one.path))).collect();
        let unread = read.iter().filter(|read| read.is_err()).count();
        let look = Arc::new(Look { recordings: read.into_iter().flatten().collect(), unread });
        *kept = Some((Instant::now(), look.clone()));
        Ok(look)
    }
}

fn recorded(name: String, path: &Path) -> Result<Recorded> {
    let newest = store::newest(path)?;
    let mut open = kept_problems(&newest.record.events);
    open.retain(|problem| problem.closed.is_none());
    let mut health = health(&newest.record.events);
    // A drive that is gone says nothing any more.
    let is_there = |name: &String| newest.sample.iter().flat_map(|sample| &sample.disks).any(|disk| disk.name == *name);
    health.retain(|name, _| is_there(name));
    Ok(Recorded { name, newest, open, health })
}

fn going_on(listed: Listed, limit: usize) -> Filter {
    Filter { limit, listed, state: Some(StateFilter::Running), ..Filter::default() }
}

/// `None` before the first sample.
fn now(of: &Recorded) -> Option<RecordingNow<'_>> {
    let Newest { record, sample, parts } = &of.newest;
    let (host, sample): (&HostInfo, _) = (record.load(), sample.as_ref()?);
    Some(RecordingNow {
        recording: &of.name,
        host: host.called(),
        at_unix_ns: WallClock::of(record).unix_ns(sample.at),
        now: HostNow {
            host: Some(host),
            sample,
            parts: parts.as_deref(),
            health: Some(&of.health),
            problems: Some(&of.open),
        },
    })
}

fn open_of(one: &Recorded) -> OpenOfRecording {
    let count = |severity| one.open.iter().filter(|problem| problem.severity == severity).count();
    OpenOfRecording {
        recording: one.name.clone(),
        host: one.newest.record.load().called().to_string(),
        critical: count(ProblemSeverity::Critical),
        warning: count(ProblemSeverity::Warning),
    }
}
