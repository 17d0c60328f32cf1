//! A simulated run from its first session to its last: whoever interrupts it, it is resumed as a user would. Keeps evidence; must not judge
//! it.

use super::place::Place;
use super::scenario::{Scenario, Trouble};
use super::session::{Driver, Session};
use super::time::Time;
use crate::resume::progressed;
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
    /// Of the runs before it.
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
        let place = Place::new(id, small)?;
        let time = Time::new();
        let (sessions, given_up) = (Vec::new(), Vec::new());
        let mut story = Story { scenario: scenario.clone(), sessions, given_up, plan: None, finished: false };
        let mut left = false;
        for number in 0..SESSIONS_MAX {
            let earlier = story.earlier();
            if earlier.is_none() {
                story.given_up.push(std::mem::take(&mut story.sessions));
                place.forget();
            }
            let mut session = Driver::run(scenario, &place, &time, (number, left, messages), earlier);
            left = session.left;
            session.record = place.run_file().exists().then(|| {
                store::read(&place.run_file()).unwrap_or_else(|error| panic!("{error}: after {:?}", session.trouble))
            });
            time.pass_to(time.now() + Nanos::secs(60));
            if session.fired && matches!(session.trouble, Some(Trouble::Reset(_))) {
                time.reboot();
            }
            let plain = session.trouble.is_none();
            story.sessions.push(session);
            if story.is_over(plain) {
                story.finished = true;
                break;
            }
        }
        let record = story.record();
        story.plan = record.and_then(|record| Plan::new(&record.header.inputs).ok());
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
        let plan = Plan::new(&record.header.inputs).ok();
        let next = plan.zip(progressed(record).ok()).map(|(plan, earlier)| plan.next(&earlier.history));
        failed && matches!(next, Some(Decision::Stop(_)) | None)
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
        let trials = self.record().map(|record| record.trials.as_slice()).unwrap_or_default();
        trials.iter().filter(|trial| counts(trial)).map(|trial| (trial.case, trial.block, trial.asked.seed)).collect()
    }
}

/// Whether a trial is not run again.
pub fn counts(trial: &TrialRecord) -> bool {
    trial.outcome.as_ref().is_some_and(|outcome| outcome.status != TrialStatus::Interrupted)
}
