//! What the events of a case do to the machine, each with its undo: members of arrays and pools fail and come back, drives get slow or
//! fail, CPUs and links go. Touches nothing but what the run made or was confirmed to write to. Must not decide when.

mod change;
mod clusters;
mod copies;
mod copy;
mod corrupt;
mod fill;
mod filling;
mod links;
mod lower_devices;
pub(crate) mod md;
mod mirrors;
mod missing_redundancy;
mod pools;
pub(crate) mod processes;
mod replace;
mod volumes;

pub(crate) use copy::Copy;
pub(crate) use filling::Filling;
pub(crate) use replace::ended;

use crate::arm::may_execute;
use crate::arrays::{degraded, syncing};
use crate::change::{Action, Change, HostChanges, Watch};
use crate::devices::Devices;
use crate::node::Node;
use crate::owner::Owner;
use crate::roots::Roots;
use lower_devices::LowerDevices;
use missing_redundancy::MissingRedundancy;
use pools::Kept;
use std::cell::Cell;
use std::time::{Duration, Instant};
use stend_base::{Error, Result, Say, say};
use stend_record::{EventKind, TargetFacts};
use stend_spec::fault::{Act, Fault};
use stend_spec::permission::Permission;

/// How often a rebuild is looked at, and told of.
const SYNC_TICK: Duration = Duration::from_millis(100);
const SYNC_TELLS: Duration = Duration::from_secs(5);
/// How often tools are asked beside a load: each time is a process.
const ASKS: Duration = Duration::from_secs(1);
/// The same of a Ceph: its tool is a program in Python that takes 0.3 s of a CPU.
const ASKS_CLUSTER: Duration = Duration::from_secs(2);
/// Redundancy that nobody restores for so long is not waited for.
const HOPELESS: Duration = Duration::from_secs(60);

/// Whether the events of a case can be done here, and may be.
///
/// Errors: `Unsafe` where something would be changed that the run did not make and nobody confirmed, or without `--allow-commands`;
/// `Preflight` where there is nothing that an event could be done to, or where it would lose data.
pub fn foresee_faults(faults: &[Fault], context: &FaultContext) -> Result<()> {
    let lines: Vec<String> = faults.iter().flat_map(|fault| fault.act.lines()).collect();
    may_execute(context.permission, &lines)?;
    let roots = Roots::host();
    let devices = Devices::read(&roots);
    let lower = LowerDevices::of(&roots, &devices, context);
    clusters::must_survive(&lower, faults)?;
    faults.iter().try_for_each(|fault| change::change(&lower, &fault.act, 0).map(drop))
}

/// On what events may be done.
pub struct FaultContext<'a> {
    /// The targets of the run.
    pub targets: &'a [TargetFacts],
    /// They may be written.
    pub writable: bool,
    /// Name of the stand that the run made, if it made one.
    pub stand: Option<&'a str>,
    /// Its id.
    pub run_id: &'a str,
    /// What the user allowed.
    pub permission: &'a Permission,
}

/// The events of one trial. Dropping it undoes what is not undone, the last first.
pub struct Faults {
    faults: Vec<Fault>,
    /// What each would do.
    changes: Vec<Change>,
    /// What was done and is not undone, by their places in the list.
    host: HostChanges,
    /// What came of each, where there is more to tell than what it is.
    came: Vec<Option<Say>>,
    /// Arrays that must have their redundancy again.
    arrays: Vec<Node>,
    /// Numbers of mirrors of two hosts that must have it.
    mirrors: Vec<u32>,
    /// Pools and btrfs that must have it.
    kept: Kept,
    /// From then on tools are asked now and then. Tools are asked since then, now and then.
    doubted: Cell<bool>,
    asked: Cell<Instant>,
}

impl Faults {
    /// Looks up what the events of a trial are done to. `block` is that of the trial: events that take each drive in turn take its
    /// own. Changes nothing, but for what a run that was killed left of its own changes.
    pub fn prepare(
        faults: &[Fault],
        block: u32,
        context: &FaultContext,
        owner: &Owner,
        log: &mut dyn FnMut(EventKind),
    ) -> Result<Faults> {
        let roots = Roots::host();
        let host = HostChanges::begin(&roots, owner, context.permission, log)?;
        let devices = Devices::read(&roots);
        let lower = LowerDevices::of(&roots, &devices, context);
        clusters::must_survive(&lower, faults)?;
        let changes =
            faults.iter().map(|fault| change::change(&lower, &fault.act, block)).collect::<Result<Vec<_>>>()?;
        let (arrays, kept) = (lower.arrays().cloned().collect(), Kept::of(&lower));
        let mirrors = mirrors::followed(&lower);
        Ok(Faults {
            faults: faults.to_vec(),
            came: vec![None; changes.len()],
            changes,
            host,
            arrays,
            mirrors,
            kept,
            doubted: Cell::new(false),
            asked: Cell::new(Instant::now()),
        })
    }

    /// Does one. What takes its time is given up when nobody measures any more: `ended`.
    pub fn begin(&mut self, index: usize, ended: &dyn Fn() -> bool, log: &mut dyn FnMut(EventKind)) -> Result<()> {
        let Some(change) = self.changes.get(index) else { return Ok(()) };
        // What is half done is undone, too.
        self.host.note(index as u32, change)?;
        let act = &self.faults[index].act;
        let hides = matches!(act, Act::DriveError(_) | Act::DriveCorrupt { .. } | Act::DriveReplace(_));
        if (hides && !self.kept.is_empty()) || self.takes_osd(act) {
            self.doubted.set(true);
        }
        change.apply.iter().try_for_each(|action| match action {
            Action::Fill(filling) => {
                self.came[index] = Some(filling.perform(ended, log)?);
                Ok(())
            }
            action => self.host.perform(action, &mut Watch { stopped: &|| false, log }),
        })
    }

    /// Whether an event takes an OSD, which only tools tell of.
    fn takes_osd(&self, act: &Act) -> bool {
        !self.kept.clusters.is_empty() && matches!(act, Act::DriveFail(_) | Act::DaemonKill(_))
    }

    /// Undoes one that was done.
    pub fn end(&mut self, index: usize, log: &mut dyn FnMut(EventKind)) -> Result<()> {
        let result = self.host.undo(index as u32, log);
        // What has just been started has not told of itself yet.
        self.asked.set(Instant::now());
        result
    }

    /// Which events were done and are not undone, the last first.
    pub fn open(&self) -> Vec<usize> {
        self.host.open().into_iter().map(|number| number as usize).collect()
    }

    /// Whether something is done and not undone that arrays do not tell of. They show a member that is gone, or being copied. A Ceph
    /// needs up to 20 s until it notices the loss of an OSD, so it is not asked meanwhile.
    pub fn hides(&self) -> bool {
        let act = |index: &usize| &self.faults[*index].act;
        let tells =
            |act: &Act| matches!(act, Act::DriveFail(_) | Act::DriveReplace(_) | Act::PeerDown) && !self.takes_osd(act);
        !self.open().iter().map(act).all(tells)
    }

    /// Whether every array and pool has all its members, and synchronises nothing.
    pub fn is_whole(&self) -> bool {
        if self.missing(false).is_some() {
            return false;
        }
        let asks = if self.kept.clusters.is_empty() { ASKS } else { ASKS_CLUSTER };
        if self.doubted.get() && !self.hides() && self.asked.get().elapsed() >= asks {
            self.asked.set(Instant::now());
            self.doubted.set(self.missing(true).is_some());
        }
        !self.doubted.get()
    }

    /// What is not as it should be.
    fn missing(&self, asked: bool) -> Option<MissingRedundancy> {
        let far = |array: &Node| {
            let (text, is_mended) = match syncing(array) {
                Some((action, _, 0)) => (format!("{action} of {} begins", array.name), true),
                Some((action, done, all)) => {
                    (format!("{action} of {}: {} %", array.name, done.saturating_mul(100) / all), true)
                }
                None if degraded(array) > 0 => (format!("{} lacks {} members", array.name, degraded(array)), false),
                None => return None,
            };
            Some(MissingRedundancy { text, is_mended })
        };
        let mirrored = || self.mirrors.iter().find_map(|minor| mirrors::missing(&Roots::host(), *minor));
        let array = self.arrays.iter().find_map(far).or_else(mirrored);
        array.or_else(|| self.copied()).or_else(|| self.kept.missing(asked))
    }

    /// A spare that has not all of what it is to have, and nothing goes on of that.
    fn copied(&self) -> Option<MissingRedundancy> {
        let mut open = self.open().into_iter().flat_map(|index| self.changes[index].undone_by());
        open.find_map(|action| if let Action::GiveBack(copy) = action { copy.missing() } else { None })
    }

    /// Whether an event copies a drive to a spare.
    pub fn copies(&self, index: usize) -> bool {
        self.faults.get(index).is_some_and(|fault| matches!(fault.act, Act::DriveReplace(_)))
    }

    /// Waits for what an event has begun and nobody is to cut short: the copy of a drive to a spare. Ends early when `stopped` is true.
    ///
    /// Errors: `Preflight` where for a minute nothing went on of it.
    pub fn finish(&self, stopped: &dyn Fn() -> bool, log: &mut dyn FnMut(EventKind)) -> Result<()> {
        match self.open().into_iter().any(|index| self.copies(index)) {
            true => until_whole(&|| self.missing(true), HOPELESS, stopped, log).map(drop),
            false => Ok(()),
        }
    }

    /// Waits until every array and pool has its redundancy again, and tells how far that is. Ends early when `stopped` is true.
    ///
    /// Errors: `Preflight` where redundancy is lacking and for a minute nothing was done about it.
    pub fn settle(&self, stopped: &dyn Fn() -> bool, log: &mut dyn FnMut(EventKind)) -> Result<()> {
        let whole = until_whole(&|| self.missing(true), HOPELESS, stopped, log)?;
        self.doubted.set(self.doubted.get() && !whole);
        Ok(())
    }

    /// What an event is, with the name of what it is done to.
    pub fn say(&self, index: usize) -> Say {
        self.changes[index].what.clone()
    }

    /// What it was when it was done.
    pub fn say_done(&self, index: usize) -> Say {
        self.came[index].clone().unwrap_or_else(|| self.say(index))
    }

    /// What undoing it is.
    pub fn say_undone(&self, index: usize) -> Say {
        self.faults[index].act.say_undone()
    }
}

/// Waits while something lacks redundancy; `false` if it was stopped.
fn until_whole(
    missing: &dyn Fn() -> Option<MissingRedundancy>,
    patience: Duration,
    stopped: &dyn Fn() -> bool,
    log: &mut dyn FnMut(EventKind),
) -> Result<bool> {
    let (mut told, mut idle): (Option<Instant>, Option<Instant>) = (None, None);
    while let Some(MissingRedundancy { text, is_mended }) = missing() {
        let since = *idle.get_or_insert_with(Instant::now);
        if is_mended {
            idle = None;
        } else if since.elapsed() >= patience {
            return Err(not_mended(&text, patience));
        }
        if stopped() {
            return Ok(false);
        }
        if told.is_none_or(|at| at.elapsed() >= SYNC_TELLS) {
            told = Some(Instant::now());
            log(EventKind::Step { action: text });
        }
        std::thread::sleep(SYNC_TICK);
    }
    Ok(true)
}

/// Redundancy was lost, and nothing restores it.
fn not_mended(missing: &str, patience: Duration) -> Box<Error> {
    let seconds = patience.as_secs();
    Error::preflight(say!(
        "after the events of the trial: {missing}, and for {seconds} s nothing repaired it",
        "после событий испытания: {missing}, и за {seconds} с ничего не исправлено"
    ))
    .hint(say!(
        "`stend stand status` shows more; what was measured so far is in the run file",
        "подробнее — `stend stand status`; измеренное сохранено в файле прогона"
    ))
}

/// Why an event cannot be done here.
fn refused(act: &Act, why: Say) -> Box<Error> {
    let (act, Say { en, ru }) = (act.say(), why);
    let (act_en, act_ru) = (act.en, act.ru);
    Error::preflight(say!(
        "the event \"{act_en}\" is not possible here: {en}",
        "событие «{act_ru}» здесь невозможно: {ru}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    /// Waits for messages that come one after the other; how often something was logged.
    fn waited(told: &[Option<(&str, bool)>], patience: Duration) -> (Result<bool>, usize) {
        let (next, mut logged) = (Cell::new(0), 0);
        let missing = || {
            let index = next.replace(next.get() + 1).min(told.len() - 1);
            told[index].map(|(text, is_mended)| MissingRedundancy { text: text.to_string(), is_mended })
        };
        let found = until_whole(&missing, patience, &|| next.get() > 5, &mut |_| logged += 1);
        (found, logged)
    }

    #[test]
    fn redundancy_that_nobody_restores_is_not_waited_for() {
        let lost = Some(("md0 lacks 1 members", false));
        let error = waited(&[lost], Duration::ZERO).0.unwrap_err();
        assert!(error.kind == Kind::Preflight && error.message.en.contains("md0 lacks 1 members"), "{error:?}");
        let rebuilt = Some(("recovery of md0: 5 %", true));
        let (found, logged) = waited(&[rebuilt, rebuilt, None], Duration::ZERO);
        assert_eq!((found.unwrap(), logged), (true, 1));
        assert!(!waited(&[lost], Duration::from_secs(60)).0.unwrap(), "it was stopped");
    }
}
