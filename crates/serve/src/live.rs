//! Runs that are watched: one reader of the run file for all who follow it, which ends when the last of them goes. Keeps what it read as
//! the events of a stream; who sends them says where each reader of the stream is.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use stend_analyse::{EtaQuality, LiveFigures, Seconds};
use stend_api::{Cursor, Figures, Finished, Happened, LiveState, Progress, Second};
use stend_base::{Code, Error, Nanos, Result, say};
use stend_plan::Plan;
use stend_record::store::Reader;
use stend_record::{RunRecord, RunState};
use stend_run::Update;
use tokio::sync::watch;

/// How often a file is read, as `stend watch` does.
const EVERY: Duration = Duration::from_millis(500);
/// Most runs that are watched at the same time.
const RUNS_MAX: usize = 32;
/// Most events of one piece, so that a reader that comes late takes them bit by bit.
const PIECE: usize = 256;

/// All of them.
#[derive(Default)]
pub struct Live {
    runs: Mutex<HashMap<PathBuf, Weak<Watched>>>,
}

/// A run that is watched.
pub struct Watched {
    log: Mutex<Log>,
    /// Tells those who wait that there is more.
    changed: watch::Sender<()>,
}

/// What was read so far, as the data of events.
#[derive(Default)]
struct Log {
    recorded: Vec<String>,
    seconds: Vec<(u32, u32, String)>,
    progress: String,
    finished: Option<String>,
    /// By trial, what of its slices was sent; `None`: all of it.
    trials: HashMap<u32, Option<Seconds>>,
}

/// What comes next for a reader.
pub enum Next {
    /// Events, as they are sent.
    Piece(String),
    /// Nothing yet.
    Wait,
    /// Nothing more will come.
    End,
}

impl Live {
    /// The run in a file, as others watch it already, or read from now on.
    ///
    /// Errors: those of reading it; `ServerBusy` if too many are watched.
    pub fn follow(&self, path: &Path) -> Result<Arc<Watched>> {
        let known = |runs: &mut HashMap<PathBuf, Weak<Watched>>| {
            runs.retain(|_, watched| watched.strong_count() > 0);
            let found = runs.get(path).and_then(Weak::upgrade);
            if found.is_none() && runs.len() >= RUNS_MAX { Err(too_many()) } else { Ok(found) }
        };
        if let Some(watched) = known(&mut self.runs())? {
            return Ok(watched);
        }
        // A large file takes its time, in which those who watch other runs go on.
        let reader = Reader::open(path)?;
        let plan = stend_session::plan_of(reader.record(), path)?;
        let watched = Arc::new(Watched { log: Mutex::default(), changed: watch::Sender::new(()) });
        let mut following = Following { reader, plan, path: path.to_path_buf() };
        following.look(&watched);
        let mut runs = self.runs();
        // Somebody else may have been faster with the same run.
        if let Some(watched) = known(&mut runs)? {
            return Ok(watched);
        }
        if !watched.is_finished() {
            let weak = Arc::downgrade(&watched);
            let thread = std::thread::Builder::new().name("live".into());
            thread.spawn(move || following.go_on(&weak)).map_err(|error| {
                let message = say!("cannot watch the run: {error}", "не удаётся следить за прогоном: {error}");
                Error::new(Code::ServerBusy, message)
            })?;
        }
        runs.insert(path.to_path_buf(), Arc::downgrade(&watched));
        Ok(watched)
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<PathBuf, Weak<Watched>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn too_many() -> Box<Error> {
    Error::new(Code::ServerBusy, say!("{RUNS_MAX} runs are watched already", "уже отслеживается прогонов: {RUNS_MAX}"))
}

impl Watched {
    /// What comes behind a cursor, which moves along; `shown` is the progress that the reader got last.
    pub fn next(&self, cursor: &mut Cursor, shown: &mut String, ended: &mut bool) -> Next {
        let log = self.log();
        let mut piece = String::new();
        for data in log.recorded.iter().skip(cursor.events).take(PIECE) {
            cursor.events += 1;
            event(&mut piece, Some(&cursor.text()), "recorded", data);
        }
        let begin =
            log.seconds.partition_point(|(trial, second, _)| (*trial, *second) < (cursor.trial, cursor.seconds));
        for (trial, second, data) in log.seconds[begin..].iter().take(PIECE) {
            *cursor = Cursor { trial: *trial, seconds: second + 1, ..*cursor };
            event(&mut piece, Some(&cursor.text()), "second", data);
        }
        if !piece.is_empty() {
            return Next::Piece(piece);
        }
        match &log.finished {
            Some(_) if *ended => Next::End,
            Some(data) => {
                *ended = true;
                event(&mut piece, Some(&cursor.text()), "finished", data);
                Next::Piece(piece)
            }
            None if *shown == log.progress => Next::Wait,
            None => {
                shown.clone_from(&log.progress);
                event(&mut piece, None, "progress", shown);
                Next::Piece(piece)
            }
        }
    }

    /// Whether a reader at this cursor has everything of a run that has ended.
    pub fn is_over_at(&self, cursor: Cursor) -> bool {
        let log = self.log();
        let last =
            log.seconds.last().is_none_or(|(trial, second, _)| (cursor.trial, cursor.seconds) == (*trial, second + 1));
        log.finished.is_some() && cursor.events == log.recorded.len() && last
    }

    /// Wakes up its holder when there is more.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn is_finished(&self) -> bool {
        self.log().finished.is_some()
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As the standard of server-sent events has it; data are JSON on one line.
pub fn event(piece: &mut String, id: Option<&str>, name: &str, data: &str) {
    if let Some(id) = id {
        piece.push_str(&format!("id: {id}\n"));
    }
    piece.push_str(&format!("event: {name}\ndata: {data}\n\n"));
}

/// The reader of a run file.
struct Following {
    reader: Reader,
    plan: Plan,
    path: PathBuf,
}

impl Following {
    /// Reads until the run ends or nobody follows it any more.
    fn go_on(mut self, watched: &Weak<Watched>) {
        loop {
            std::thread::sleep(EVERY);
            let Some(watched) = watched.upgrade() else { return };
            match self.reader.look() {
                Ok(()) => self.look(&watched),
                // The file is gone or broken: what was sent was there.
                Err(_) => watched.log().finished = Some(text(&Finished { state: LiveState::Lost })),
            }
            watched.changed.send_replace(());
            if watched.is_finished() {
                return;
            }
        }
    }

    fn look(&mut self, watched: &Watched) {
        let goes_on = self.reader.record().state == RunState::Open && stend_run::is_going_on(&self.path);
        if !goes_on {
            // Between the end of the process and the last look the end may have been written; what cannot be read now was read before.
            drop(self.reader.look());
        }
        let run = self.reader.record();
        let mut log = watched.log();
        log.take(run, &self.plan, goes_on);
        match goes_on {
            true => log.progress = text(&progress(stend_run::picture(run, &self.plan, stend_sys::clock::now()))),
            false => log.finished = Some(text(&Finished { state: state(&run.state) })),
        }
    }
}

impl Log {
    /// What is new in a record.
    fn take(&mut self, run: &RunRecord, plan: &Plan, goes_on: bool) {
        let begin = run.events.first().map_or(Nanos(0), |first| first.at);
        for happened in run.events.iter().skip(self.recorded.len()) {
            let elapsed_ns = happened.at.saturating_sub(begin).0;
            self.recorded.push(text(&Happened { elapsed_ns, host: happened.host.0.into(), event: &happened.kind }));
        }
        let executed = run.executed();
        let last = executed.last().map(|trial| trial.trial);
        for trial in executed {
            let Some(seconds) = self.trials.entry(trial.trial).or_insert_with(|| Some(Seconds::default())) else {
                continue;
            };
            let over = trial.outcome.is_some() || Some(trial.trial) != last || !goes_on;
            let told = seconds.look(&trial.slices, over);
            let case = plan.cases.get(trial.case as usize).map(|case| case.label()).unwrap_or_default();
            self.seconds.extend(told.into_iter().map(|(second, figures)| {
                let at = Nanos(trial.started.0 + u64::from(second) * Nanos::SECOND.0);
                let (case, elapsed_ns) = (case.clone(), at.saturating_sub(begin).0);
                let data = Second { trial: trial.trial, case, second, elapsed_ns, figures: of(&figures) };
                (trial.trial, second, text(&data))
            }));
            if over {
                self.trials.insert(trial.trial, None);
            }
        }
    }
}

fn text(data: &impl serde::Serialize) -> String {
    // Structs of numbers and strings: there is no case in which they cannot be written.
    serde_json::to_string(data).unwrap_or_default()
}

fn of(figures: &LiveFigures) -> Figures {
    let LiveFigures { iops, bytes_per_s, p50, p99, p999, max, errors } = *figures;
    let ns = |value: Option<Nanos>| value.map(|value| value.0);
    Figures {
        iops,
        throughput_bytes_per_s: bytes_per_s,
        latency_ns_p50: ns(p50),
        latency_ns_p99: ns(p99),
        latency_ns_p999: ns(p999),
        latency_ns_max: ns(max),
        errors,
    }
}

fn progress(update: Update) -> Progress {
    let left = |value: Nanos| (update.eta.quality != EtaQuality::Unknown).then_some(value.0);
    Progress {
        phase: update.phase,
        step: update.step,
        steps: update.steps,
        elapsed_ns: update.elapsed.0,
        done_share: update.done,
        left_ns: left(update.eta.left),
        left_ns_low: left(update.eta.low),
        left_ns_high: left(update.eta.high),
        silent_ns: update.silent.0,
        figures: update.live.as_ref().map(of),
        case: update.label,
    }
}

fn state(state: &RunState) -> LiveState {
    match state {
        RunState::Open => LiveState::Lost,
        RunState::Complete => LiveState::Complete,
        RunState::Suspended { .. } => LiveState::Suspended,
        RunState::Ended { .. } => LiveState::Ended,
    }
}
