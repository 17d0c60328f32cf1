//! Hosts that are recorded now: the newest sample of each recording that is written, and its open problems, read once for all who ask
//! in the same moment. Must not judge: a recorder keeps in its file what it finds.

use crate::catalogue::Catalogue;
use crate::tasks::Tasks;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use stend_analyse::journal::{Problem, ProblemSeverity, kept_problems};
use stend_analyse::recording::health;
use stend_api::{Filter, Listed, OpenOfRecording, OpenProblems, StateFilter, TaskState};
use stend_base::{Nanos, Result};
use stend_record::store::{self, Newest};
use stend_record::{Health, HostInfo, WallClock};
use stend_report::{HostNow, RecordingNow, ServerNow};

/// Most recordings that are looked at; the others are counted. By eye: each costs some ms, and a host needs one.
const RECORDINGS_MAX: usize = 16;
/// Most runs that are counted as going on.
const RUNS_MAX: usize = 1000;
/// How long what was read counts as now, however many browsers ask. By eye: they ask every five seconds, and Prometheus every fifteen.
const FRESH: Duration = Duration::from_secs(2);

/// What was read last, and when.
#[derive(Default)]
pub struct HostsNow {
    /// Held by the one who reads, for as long as the files take.
    reading: Mutex<()>,
    kept: Mutex<Option<(Instant, Arc<Look>)>>,
}

/// Recordings that are written now.
struct Look {
    recordings: Vec<Recorded>,
    /// How many of them could not be read.
    unread: usize,
    /// How many more there are, which were not looked at.
    left_out: usize,
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
            left_out: look.left_out,
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
        let left_out = look.left_out;
        Ok(OpenProblems { schema: "stend-open-problems", schema_version: 1, recordings, left_out })
    }

    /// Who asks while others read gets what was read before, however old, and waits only if there is nothing: files may hang, and few
    /// threads answer.
    fn look(&self, catalogue: &Catalogue) -> Result<Arc<Look>> {
        let is_fresh = |(at, _): &(Instant, Arc<Look>)| at.elapsed() < FRESH;
        let before = self.kept();
        if let Some((_, look)) = before.as_ref().filter(|kept| is_fresh(kept)) {
            return Ok(look.clone());
        }
        let _reading = match self.reading.try_lock() {
            Ok(reading) => reading,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => match before {
                Some((_, look)) => return Ok(look),
                None => self.reading.lock().unwrap_or_else(PoisonError::into_inner),
            },
        };
        // Another has read it meanwhile.
        if let Some((_, look)) = self.kept().filter(is_fresh) {
            return Ok(look);
        }
        let mut found = catalogue.page(&going_on(Listed::Recordings, usize::MAX))?.runs;
        let left_out = found.len().saturating_sub(RECORDINGS_MAX);
        found.truncate(RECORDINGS_MAX);
        let read: Vec<_> = found.into_iter().map(|one| recorded(one.name, Path::new(&one.path))).collect();
        let unread = read.iter().filter(|read| read.is_err()).count();
        let look = Arc::new(Look { recordings: read.into_iter().flatten().collect(), unread, left_out });
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), look.clone()));
        Ok(look)
    }

    fn kept(&self) -> Option<(Instant, Arc<Look>)> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn who_asks_while_others_read_gets_what_was_read_before() {
        let dir = tempfile::tempdir().unwrap();
        let catalogue = Catalogue::new(dir.path().join("none"));
        let hosts = HostsNow::default();
        let old = Arc::new(Look { recordings: Vec::new(), unread: 7, left_out: 0 });
        let at = Instant::now().checked_sub(2 * FRESH).unwrap();
        *hosts.kept.lock().unwrap() = Some((at, old));
        let reading = hosts.reading.lock().unwrap();
        std::thread::scope(|scope| {
            let (give, taken) = mpsc::channel();
            let (hosts, catalogue) = (&hosts, &catalogue);
            scope.spawn(move || give.send(hosts.look(catalogue).unwrap().unread));
            let unread = taken.recv_timeout(Duration::from_secs(30));
            drop(reading);
            assert_eq!(unread, Ok(7));
        });
        assert_eq!(hosts.look(&catalogue).unwrap().unread, 0, "it is read when the others have ended");
    }
}
