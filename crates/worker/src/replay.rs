//! A run on a stand that keeps a log of every write: ledgers of its trials, and after them every state in which the power could have
//! gone, rebuilt and judged. Decides only in which order; the judging is that of a crash.

use crate::outbox::Outbox;
use crate::stand_orders::Stands;
use std::cell::Cell;
use std::sync::Arc;
use stend_base::{Bytes, Error, Nanos, Result, Say, say};
use stend_load::{Control, LedgerIn, LogFile, Reading, Recorded, Recorder, WriteLog};
use stend_record::{Aftermath, Crash, EventKind, Replayed, TargetFacts};
use stend_stand::{Owner, Rewind, Watch};
use stend_wire::protocol::{Prepare, Reply};

/// What a session needs to replay the log of its stand.
pub(crate) struct Replay {
    rewind: Rewind,
    recorder: Arc<Recorder>,
    target: TargetFacts,
    /// Mount points of the test files; none if the target is the device.
    sizes: Vec<Bytes>,
    owner: Owner,
    /// The stand was put up by this run: then the log begins with it.
    ours: bool,
}

/// How often the coordinator hears that something long goes on: it waits for eleven minutes.
const TELL_EVERY: Nanos = Nanos::secs(10);

/// What the coordinator hears while the log is read, and while a state is rebuilt and judged.
struct Progress<'a> {
    control: &'a Control,
    outbox: &'a Outbox,
    /// The state and how many there are; (0, 0): the log is read.
    at: Cell<(u32, u32)>,
    told: Cell<Nanos>,
}

impl Progress<'_> {
    /// Goes on with a state.
    fn reach(&self, at: (u32, u32)) {
        self.at.set(at);
        self.tell();
    }

    fn tell(&self) {
        let (state, states) = self.at.get();
        self.told.set(stend_sys::clock::now());
        self.outbox.send(Reply::Replaying { state, states });
    }

    /// Whether to go on; tells now and then that it does.
    fn go_on(&self) -> bool {
        if stend_sys::clock::now().saturating_sub(self.told.get()) >= TELL_EVERY {
            self.tell();
        }
        !self.control.stopped()
    }
}

/// Name of a mark in the log.
fn mark(number: u64) -> String {
    format!("stend-{number}")
}

impl Replay {
    /// That of a session whose stand keeps a log; `None`: it keeps none.
    pub fn of(stands: &Stands, targets: &[TargetFacts], prepare: &Prepare, owner: Owner) -> Result<Option<Replay>> {
        let (Some(name), [target]) = (stands.name(), targets) else { return Ok(None) };
        let Some(rewind) = Rewind::of(name)? else { return Ok(None) };
        let marker = rewind.clone();
        let recorder = Arc::new(Recorder::new(move |number| marker.mark(&mark(number))));
        let (target, sizes, ours) = (target.clone(), prepare.files.clone(), stands.is_ours());
        Ok(Some(Replay { rewind, recorder, target, sizes, owner, ours }))
    }

    /// Where ledgers are kept that are to be judged by the log.
    pub fn ledger(&self) -> LedgerIn<'static> {
        LedgerIn::Memory(self.recorder.clone())
    }

    /// Refuses a log that began before the run did: what was on the device then nobody knows.
    pub fn foresee(&self) -> Result<()> {
        if self.ours {
            return Ok(());
        }
        Err(Error::preflight(say!(
            "the stand was up before the run, so that its log of writes does not begin with it",
            "стенд был поднят до прогона, поэтому его журнал записей начинается не с него"
        ))
        .hint(say!("take it down first: the run puts it up again", "сначала уберите его: прогон поднимет его заново")))
    }

    /// Examines the states of the trials so far, each told as an event; the layers above the log are stopped then, and the target is
    /// as in the last state. The target must have been let go.
    pub fn examine(&self, trials: &[Recorded], control: &Control, outbox: &Outbox) -> Result<()> {
        let mut log = |kind| outbox.event(kind);
        let mut watch = Watch { stopped: &|| control.stopped(), log: &mut log };
        self.rewind.must_be_whole(&mut watch)?;
        self.rewind.end_log(&mut watch)?;
        let (file, size) = self.rewind.open_log()?;
        let (_, device) = self.rewind.open_device(&self.owner)?;
        let mut file = LogFile::new(file)?;
        let name = self.rewind.log().to_string();
        let progress = Progress { control, outbox, at: Cell::new((0, 0)), told: Cell::default() };
        let go_on = &mut || progress.go_on();
        let writes = WriteLog::read(&name, (size, device), &mut |memory, at| file.read(memory, at), go_on)?;
        let marks = trials.iter().map(|trial| self.marks(trial, &writes)).collect::<Result<Vec<_>>>()?;
        let ends = trials.iter().map(|trial| trial.end().map(|number| self.entry_of(number, &writes)).transpose());
        let ends = ends.collect::<Result<Vec<_>>>()?;
        let end = |index: usize| {
            let next = marks.get(index + 1).and_then(|next| next.first());
            ends[index].or(next.map(|(_, at)| *at))
        };
        let chosen: Vec<(Vec<usize>, u64)> = (marks.iter().enumerate())
            .map(|(index, marks)| {
                let places: Vec<usize> = marks.iter().map(|(_, at)| *at).collect();
                writes.states(&places, end(index).unwrap_or(writes.len() as usize), self.rewind.points)
            })
            .collect();
        let states = chosen.iter().map(|(states, _)| states.len() as u32).fold(0, u32::saturating_add);
        let mut state = 0;
        for ((trial, marks), (places, all)) in trials.iter().zip(&marks).zip(&chosen) {
            for &last in places {
                state += 1;
                progress.reach((state, states));
                let before = marks.iter().rev().find(|(_, at)| *at <= last).map_or(0, |(number, _)| *number);
                let replayed = Replayed { entry: last as u64, entries: writes.len(), states: *all, broken: None };
                {
                    let (to, size) = self.rewind.open_device(&self.owner)?;
                    stend_load::restore_from_log(&writes, last, &mut file, &to, size, go_on)?;
                }
                let crash = self.judge(trial, before, replayed, &progress)?;
                outbox.event(EventKind::Crash(Aftermath::Judged(Box::new(crash))));
            }
        }
        Ok(())
    }

    /// The marks of a trial with their entries in the log.
    fn marks(&self, trial: &Recorded, writes: &WriteLog) -> Result<Vec<(u64, usize)>> {
        trial.marks().map(|number| Ok((number, self.entry_of(number, writes)?))).collect()
    }

    /// The entry of a mark in the log.
    fn entry_of(&self, number: u64, writes: &WriteLog) -> Result<usize> {
        let (name, log) = (mark(number), self.rewind.log());
        let lacks = say!(
            "the log of writes on `{log}` has no mark `{name}`",
            "в журнале записей на `{log}` нет метки `{name}`"
        );
        writes.mark(&name).ok_or_else(|| Error::preflight(lacks))
    }

    /// Something that has no ledger is about to write.
    pub fn close(&self) -> Result<()> {
        self.recorder.close()
    }

    /// Brings up what lies on the device as it is now, compares it with what had been acknowledged, and stops it again.
    fn judge(&self, trial: &Recorded, mark: u64, replayed: Replayed, progress: &Progress) -> Result<Crash> {
        // After fifty repeats of the same commands the verdicts show more than their output.
        let mut log = |_| progress.tell();
        let mut watch = Watch { stopped: &|| progress.control.stopped(), log: &mut log };
        let started = self.rewind.start(&mut watch)?;
        let found = started.and_then(|()| self.open(trial.is_direct()));
        let crash = match found {
            Ok(file) => {
                let grain = file.as_ref().and_then(|file| file.grain());
                let mut read =
                    |memory: &mut [u8], offset| file.as_ref().map_or(Ok(0), |file| file.read_at(memory, offset));
                let go_on = &mut |_| progress.go_on();
                trial.judge(mark, replayed, &mut Reading { read: &mut read, grain, go_on })
            }
            Err(why) => trial.unread(mark, replayed, why),
        };
        self.rewind.stop(&mut watch)?;
        crash
    }

    /// The target; `None`: its test file is not there.
    fn open(&self, direct: bool) -> std::result::Result<Option<stend_sys::IoFile>, Say> {
        stend_stand::open_replayed(&self.target, &self.owner.run_id, &self.sizes, direct).map_err(|error| error.message)
    }

    /// Trials that are to be examined.
    pub fn take(&self) -> Vec<Recorded> {
        self.recorder.take()
    }
}
