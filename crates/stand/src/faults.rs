//! What the events of a case do to the machine, each with its undo: members of arrays fail and come back, drives get slow or
//! fail, CPUs go. Touches nothing but what the run made or was confirmed to write to. Must not decide when.

mod copies;
mod deeds;
mod place;

use crate::arm::{lease, may_execute};
use crate::command;
use crate::devices::{Devices, Node};
use crate::owner::Owner;
use crate::permission::Permission;
use crate::roots::Roots;
use crate::stands::{degraded, syncing};
use deeds::{Change, Deed};
use place::Place;
use std::time::{Duration, Instant};
use stend_base::{Error, Kind, Result, Say, say};
use stend_record::{EventKind, TargetFacts};
use stend_spec::fault::{Act, Fault};
use stend_sys::claim::Lease;

/// How often a rebuild is looked at, and told of.
const SYNC_TICK: Duration = Duration::from_millis(100);
const SYNC_TELLS: Duration = Duration::from_secs(5);
/// A member that failed is let go when its last I/O is through.
const LETS_GO: Duration = Duration::from_secs(10);

/// Whether the events of a case can be done here, and may be.
///
/// Errors: `Unsafe` where something would be changed that the run did not make and nobody confirmed, or without `--allow-commands`;
/// `Preflight` where there is nothing that an event could be done to, or where it would lose data.
pub fn foresee_faults(faults: &[Fault], grounds: &Grounds) -> Result<()> {
    let lines: Vec<String> = faults.iter().flat_map(|fault| fault.act.lines()).collect();
    may_execute(grounds.permission, &lines)?;
    let roots = Roots::host();
    let devices = Devices::read(&roots);
    let place = Place::of(&roots, &devices, grounds);
    faults.iter().try_for_each(|fault| deeds::change(&place, &fault.act, 0).map(drop))
}

/// On what events may be done.
pub struct Grounds<'a> {
    /// The targets of the run.
    pub targets: &'a [TargetFacts],
    /// They may be written.
    pub writable: bool,
    /// Name of the stand that the run made, if it made one.
    pub stand: Option<&'a str>,
    /// What the user allowed.
    pub permission: &'a Permission,
}

/// The events of one trial. Dropping it undoes what is not undone.
pub struct Faults {
    faults: Vec<Fault>,
    /// What each would do, and what it did and was not undone yet.
    changes: Vec<Change>,
    begun: Vec<bool>,
    /// Arrays that must have their redundancy again.
    arrays: Vec<Node>,
    /// Held for as long as something may have to be undone.
    _note: Lease,
}

impl Faults {
    /// Looks up what the events of a trial are done to. `block` is that of the trial: events that take each drive in turn take its
    /// own. Changes nothing, but notes down for others how to undo what will be done.
    pub fn prepare(faults: &[Fault], block: u32, grounds: &Grounds, owner: &Owner) -> Result<Faults> {
        let roots = Roots::host();
        let devices = Devices::read(&roots);
        let place = Place::of(&roots, &devices, grounds);
        let changes =
            faults.iter().map(|fault| deeds::change(&place, &fault.act, block)).collect::<Result<Vec<_>>>()?;
        let undo = changes.iter().rev().flat_map(|change| change.undo.iter().map(Deed::shell)).collect();
        let note = lease(&roots, owner, undo)?;
        let arrays = place.arrays().cloned().collect();
        Ok(Faults { faults: faults.to_vec(), begun: vec![false; changes.len()], changes, arrays, _note: note })
    }

    /// Does one.
    pub fn begin(&mut self, index: usize, log: &mut dyn FnMut(EventKind)) -> Result<()> {
        let Some(change) = self.changes.get(index) else { return Ok(()) };
        // What is half done is undone, too.
        self.begun[index] = true;
        change.apply.iter().try_for_each(|deed| perform(deed, log))
    }

    /// Undoes one that was done.
    pub fn end(&mut self, index: usize, log: &mut dyn FnMut(EventKind)) -> Result<()> {
        match self.begun.get_mut(index) {
            Some(begun) if *begun => *begun = false,
            _ => return Ok(()),
        }
        let mut result = Ok(());
        for deed in &self.changes[index].undo {
            if let Err(error) = perform(deed, log) {
                let shell = deed.shell();
                result = Err(error.hint(say!(
                    "the event is not undone; this would undo it: `{shell}`",
                    "событие не отменено; отменить его можно так: `{shell}`"
                )));
            }
        }
        result
    }

    /// Which events were done and are not undone, the last first.
    pub fn open(&self) -> Vec<usize> {
        (0..self.begun.len()).rev().filter(|index| self.begun[*index]).collect()
    }

    /// Whether every array has all its members, and synchronises nothing.
    pub fn is_whole(&self) -> bool {
        self.state().is_none()
    }

    /// What is not as it should be, in English, for people who wait.
    fn state(&self) -> Option<String> {
        let far = |array: &Node| match syncing(array) {
            Some((action, _, 0)) => Some(format!("{action} of {} begins", array.name)),
            Some((action, done, all)) => {
                Some(format!("{action} of {}: {} %", array.name, done.saturating_mul(100) / all))
            }
            None if degraded(array) > 0 => Some(format!("{} lacks {} members", array.name, degraded(array))),
            None => None,
        };
        self.arrays.iter().find_map(far)
    }

    /// Waits until every array has its redundancy again, and tells how far that is. Ends early when `stopped` says so.
    pub fn settle(&self, stopped: &dyn Fn() -> bool, log: &mut dyn FnMut(EventKind)) {
        let mut told: Option<Instant> = None;
        while let Some(state) = self.state() {
            if stopped() {
                return;
            }
            if told.is_none_or(|at| at.elapsed() >= SYNC_TELLS) {
                told = Some(Instant::now());
                log(EventKind::Step { action: state });
            }
            std::thread::sleep(SYNC_TICK);
        }
    }

    /// What an event is, with the name of what it is done to.
    pub fn say(&self, index: usize) -> Say {
        let Say { en, ru } = self.faults[index].act.say();
        match self.changes[index].of.as_deref() {
            Some(of) => say!("{en} ({of})", "{ru} ({of})"),
            None => Say { en, ru },
        }
    }

    /// What undoing it is.
    pub fn say_undone(&self, index: usize) -> Say {
        self.faults[index].act.say_undone()
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        // Only on the way out of a worker that failed: nobody is left to be told.
        for index in self.open() {
            let _ = self.end(index, &mut |_| {});
        }
    }
}

fn perform(deed: &Deed, log: &mut dyn FnMut(EventKind)) -> Result<()> {
    match deed {
        Deed::Run(words) => command::execute_plainly(words, &|| false, log).map(drop),
        Deed::LetGo(words) => {
            let begin = Instant::now();
            loop {
                match command::execute_plainly(words, &|| false, log) {
                    Err(_) if begin.elapsed() < LETS_GO => std::thread::sleep(SYNC_TICK),
                    result => return result.map(drop),
                }
            }
        }
        Deed::Own(words) => command::execute(words, &|| false, log).map(drop),
        Deed::Write { path, value } => {
            std::fs::write(path, value).map_err(|e| {
                Error::new(
                    Kind::Preflight,
                    say!("cannot write {value} to `{path}`: {e}", "не удалось записать {value} в `{path}`: {e}"),
                )
            })?;
            log(EventKind::Step { action: format!("echo {value} > {path}") });
            Ok(())
        }
    }
}

/// Why an event cannot be done here.
fn refused(act: &Act, why: Say) -> Box<Error> {
    let (act, Say { en, ru }) = (act.say(), why);
    let (act_en, act_ru) = (act.en, act.ru);
    Error::new(
        Kind::Preflight,
        say!("the event \"{act_en}\" cannot be done here: {en}", "событие «{act_ru}» здесь невозможно: {ru}"),
    )
}
