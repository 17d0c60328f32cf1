//! A simulated run from its first session to its last: whatever interrupts it, it is resumed as a user would. Keeps evidence; must not
//! judge it.

use super::run_directory::RunDirectory;
use super::scenario::{Scenario, Trouble};
use super::session::{Before, Driver, Session};
use super::time::Time;
use crate::resume::progressed;
use stend_analyse::ended_by_cut;
use stend_base::{Kind, Nanos};
use stend_plan::{Decision, Plan};
use stend_record::{Event, EventKind, RunRecord, RunState, TrialRecord, TrialStatus, store};

/// More sessions than any scenario takes: each of a stalling target measures at least one trial.
const SESSIONS_MAX: usize = 200;

/// Everything that happened.
pub struct Story {
    /// What was drawn.
    pub scenario: Scenario,
    /// Those sessions that belong to the run that was finished; a run that could not be resumed was begun anew.
    pub sessions: Vec<Session>,
    /// Events of the runs before it.
    pub given_up: Vec<Vec<Session>>,
    /// Its plan; `None`: it never got to one.
    pub plan: Option<Plan>,
    /// It came to an end of which nothing is left to do.
    pub finished: bool,
}

/// A trial as it counts: case, block, seed.
pub type Counted = (u32, u32, u64);

impl Story {
    /// Plays a scenario in a directory; `messages` are those of its undisturbed session. `None`: this user cannot have a disk that gets full.
    pub fn play(scenario: &Scenario, messages: usize, id: &str) -> Option<Story> {
        let small = scenario.troubles.iter().any(|trouble| matches!(trouble, Trouble::DiskFull(..)));
        let directory = RunDirectory::new(id, small)?;
        let time = Time::new();
        let (sessions, given_up) = (Vec::new(), Vec::new());
        let mut story = Story { scenario: scenario.clone(), sessions, given_up, plan: None, finished: false };
        let mut before = Before::default();
        for number in 0..SESSIONS_MAX {
            let earlier = story.earlier();
            if earlier.is_none() && number > 0 {
                story.given_up.push(std::mem::take(&mut story.sessions));
                directory.forget();
            }
            let mut session = Driver::run(scenario, &directory, &time, (number, messages), &before, earlier);
            session.record = directory.run_file().exists().then(|| {
                store::read(&directory.run_file())
                    .unwrap_or_else(|error| panic!("{error}: after {:?}", session.trouble))
            });
            time.pass_to(time.now() + Nanos::secs(60));
            let reset = session.fired && matches!(session.trouble, Some(Trouble::Reset(_)));
            if reset {
                time.reboot();
            }
            let boots = before.boots + u32::from(reset || session.cut.is_some());
            before = Before { left: session.left, boots, cut: session.cut };
            let plain = session.trouble.is_none();
            story.sessions.push(session);
            if story.is_over(plain) {
                story.finished = true;
                break;
            }
        }
        let record = story.record();
        story.plan = record.and_then(|record| Some(record.plan().ok()?.into_owned()));
        Some(story)
    }

    /// What the next session goes on from.
    fn earlier(&self) -> Option<(RunRecord, crate::Progressed)> {
        let record = self.record()?;
        let progressed = progressed(record).ok()?;
        Some((record.clone(), progressed))
    }

    /// The run file as the last session left it.
    pub fn record(&self) -> Option<&RunRecord> {
        self.sessions.last()?.record.as_ref()
    }

    /// Nothing is left to do; `plain`: nothing more will go wrong.
    fn is_over(&self, plain: bool) -> bool {
        let Some(record) = self.record() else { return plain };
        if record.state == RunState::Complete {
            return true;
        }
        let failed = matches!(&record.state, RunState::Ended { kind: Kind::TargetIo | Kind::Verification, .. });
        let next = progressed(record).ok().map(|earlier| earlier.plan.next(&earlier.history));
        failed && matches!(next, Some(Decision::Stop(_)) | None)
    }

    /// What it was made of, in words that can be counted.
    pub fn marks(&self) -> Vec<&'static str> {
        let (mut marks, sessions) = (Vec::new(), || self.given_up.iter().flatten().chain(&self.sessions));
        marks.extend(
            sessions().filter(|session| session.fired).filter_map(|session| Some(session.trouble.as_ref()?.name())),
        );
        let mut mark = |holds: bool, name| marks.extend(holds.then_some(name));
        mark(!self.given_up.is_empty(), "begun anew");
        mark(self.sessions.len() > 1, "resumed");
        mark(sessions().any(|session| session.cut.is_some()), "power cut");
        mark(sessions().any(|session| session.unwritten), "unwritten");
        mark(sessions().any(|session| session.end == Some(Some(Kind::Preflight))), "refused");
        mark(sessions().any(|session| !session.beside.is_empty()), "watched beside");
        let state = |wanted: fn(&RunState) -> bool| {
            sessions().any(|session| session.record.as_ref().is_some_and(|record| wanted(&record.state)))
        };
        mark(state(|state| matches!(state, RunState::Suspended { .. })), "waited for a person");
        mark(state(|state| matches!(state, RunState::Ended { kind: Kind::TargetIo, .. })), "target failed");
        let Some((plan, record)) = self.plan.as_ref().zip(self.record()) else { return marks };
        mark(plan.fill.is_some(), "filled");
        mark(!plan.ladders.is_empty(), "searched");
        mark(plan.until.is_some(), "until precise");
        mark(!record.rounds.is_empty(), "rounds");
        mark(!plan.arms.is_empty(), "arms");
        marks
    }

    /// The run file at the end, without the times at which its writer noted something by the clock of this machine.
    pub fn reproduced(&self) -> Option<RunRecord> {
        let mut record = self.record()?.clone();
        let by_writer = |event: &&mut Event| {
            matches!(event.kind, EventKind::RunFileFull { .. } | EventKind::Note { .. } | EventKind::NoSpool { .. })
        };
        record.events.iter_mut().filter(by_writer).for_each(|event| event.at = Nanos(0));
        Some(record)
    }

    /// Its sessions in a few words each, for people who look for a fault.
    pub fn summary(&self) -> String {
        let line = |session: &Session| {
            let Session { trouble, fired, end, told, unwritten, released, dead, asked, .. } = session;
            let asked: Vec<&str> = asked.iter().map(|(what, _)| *what).collect();
            let state = session.record.as_ref().map(|record| &record.state);
            format!(
                "{trouble:?} fired: {fired} end: {end:?} {told} unwritten: {unwritten} released: {released} dead: {dead} state: {state:?}\n      {}",
                asked.join(" ")
            )
        };
        self.given_up.iter().flatten().chain(&self.sessions).map(line).collect::<Vec<_>>().join("\n    ")
    }

    /// Trials that count, in order.
    pub fn counted(&self) -> Vec<Counted> {
        let (Some(record), Some(plan)) = (self.record(), &self.plan) else { return Vec::new() };
        let counts = |trial: &&TrialRecord| {
            let ended = trial.outcome.as_ref().is_some_and(|outcome| outcome.status != TrialStatus::Interrupted);
            ended || ended_by_cut(record, plan, trial)
        };
        record.trials.iter().filter(counts).map(|trial| (trial.case, trial.block, trial.asked.seed)).collect()
    }
}
