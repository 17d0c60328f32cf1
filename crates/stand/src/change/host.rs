//! What a run changes of the host that it is on: noted before it is done, one run at a time, and undone by the same code when the run
//! ends, when its worker is thrown away, and when the next run finds settings and commands that a killed one left.

use super::action::{Action, echo};
use super::condition::Condition;
use super::entry::{Entry, RunHead};
use super::journal::{self, Journal};
use super::perform::perform;
use super::{Change, Watch};
use crate::owner::{Note, Owner, boot_id};
use crate::roots::Roots;
use crate::settings;
use crate::stands::kernel_state::KernelState;
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, Say, say};
use stend_record::EventKind;
use stend_spec::permission::Permission;
use stend_sys::claim::{DirectoryOwner, OwnDirectory};

/// Name of the journal among the leases. Earlier versions held a lease of this name.
const FILE: &str = "arm.lease";

/// Changes of this host by one run. Dropping it undoes what is not undone.
#[derive(Debug)]
pub(crate) struct HostChanges {
    roots: Roots,
    journal: Journal,
    /// Numbers of changes that could not be undone, which are not tried again and stay noted.
    given_up: Vec<u32>,
}

impl HostChanges {
    /// Begins the changes of a run, and undoes first what a killed one left, if commands are allowed and no device is concerned.
    ///
    /// Errors: `Unsafe` while another run changes the host; `Preflight` where what was left is not undone.
    pub(crate) fn begin(
        roots: &Roots,
        owner: &Owner,
        permission: &Permission,
        log: &mut dyn FnMut(EventKind),
    ) -> Result<HostChanges> {
        let path = path(roots);
        if let Some(journal) = Journal::open(&path, busy)? {
            undo_left(roots, journal, permission, log)?;
        }
        let first = Entry::Run(RunHead::new(Note::own(roots, owner)));
        let journal = Journal::create(&path, first).map_err(|error| match journal::is_held(&path) {
            true => busy(&path),
            false => error,
        })?;
        Ok(HostChanges { roots: roots.clone(), journal, given_up: Vec::new() })
    }

    /// Notes a change that is about to be made, under a number that no open one has.
    pub(crate) fn note(&mut self, number: u32, change: &Change) -> Result<()> {
        self.journal.append(Entry::Change { number, undo: change.undo.clone() })
    }

    /// Does one action of a change that was noted.
    pub(crate) fn perform(&mut self, action: &Action, watch: &mut Watch) -> Result<()> {
        perform(&self.roots, action, &mut self.journal, watch)
    }

    /// Numbers of changes that are to be undone, the last first.
    pub(crate) fn open(&self) -> Vec<u32> {
        let open = self.journal.open_changes().into_iter().map(|(number, _)| number);
        open.filter(|number| !self.given_up.contains(number)).collect()
    }

    /// Undoes a change, if it is open. Where that fails the error says how a person does it, also with those that failed before, and it
    /// is not tried again: the note of it stays, so that no run measures the host as it is.
    pub(crate) fn undo(&mut self, number: u32, log: &mut dyn FnMut(EventKind)) -> Result<()> {
        if !self.open().contains(&number) {
            return Ok(());
        }
        undo(&self.roots, &mut self.journal, number, log).map_err(|error| {
            self.given_up.push(number);
            self.explained(error)
        })
    }

    /// Undoes all changes, the last first, also where that fails for one of them. The error is the first.
    pub(crate) fn undo_all(&mut self, log: &mut dyn FnMut(EventKind)) -> Result<()> {
        let mut failed = None;
        for number in self.open() {
            if let Err(error) = self.undo(number, log) {
                failed.get_or_insert(error);
            }
        }
        failed.map_or(Ok(()), |error| Err(self.explained(error)))
    }

    /// The error, with what is left to a person.
    fn explained(&self, error: Box<Error>) -> Box<Error> {
        match by_hand(&self.roots, &self.journal, &|number| self.given_up.contains(&number)) {
            None => error,
            Some(line) => error.hint(say!(
                "the host is still changed; to undo it: `{line}`",
                "машина осталась изменённой; отменить: `{line}`"
            )),
        }
    }
}

impl Drop for HostChanges {
    fn drop(&mut self) {
        // Something is left only on the way out of a worker that failed. Nobody is there to be told: what is not undone stays noted.
        for number in self.open() {
            let _ = undo(&self.roots, &mut self.journal, number, &mut |_| {});
        }
        if self.journal.open_changes().is_empty() {
            let _ = self.journal.remove();
        }
    }
}

/// The shell line that undoes what a run changed whose worker is gone; `None` if there is nothing.
pub(crate) fn left_behind(roots: &Roots) -> Option<String> {
    let path = path(roots);
    let journal = Journal::look(&path).ok()?.filter(|_| !journal::is_held(&path))?;
    by_hand(roots, &journal, &|_| true)
}

fn path(roots: &Roots) -> PathBuf {
    roots.leases().join(FILE)
}

/// Does all that undoes an open change, also where some of it fails, and notes what is left. The error is the first.
fn undo(roots: &Roots, journal: &mut Journal, number: u32, log: &mut dyn FnMut(EventKind)) -> Result<()> {
    let open = journal.open_changes().into_iter().find(|(other, _)| *other == number);
    let actions = open.map(|(_, undo)| undo.to_vec()).unwrap_or_default();
    let mut failed = None;
    for ((condition, action), index) in actions.into_iter().zip(0..) {
        if shell(roots, journal, &action).is_none() || !shows(roots, journal, &condition) {
            continue;
        }
        if let Err(error) = perform(roots, &action, journal, &mut Watch { stopped: &|| false, log }) {
            failed.get_or_insert((index, error));
        }
    }
    match failed {
        None => journal.append(Entry::Undone { number }),
        Some((from, error)) => journal.append(Entry::Left { number, from }).and(Err(error)),
    }
}

fn shows(roots: &Roots, journal: &Journal, condition: &Condition) -> bool {
    match condition {
        Condition::Always => true,
        Condition::Noted(path) => journal.before(path, &boot_id(roots)).is_some(),
        condition => KernelState::new(roots, journal).shows(condition),
    }
}

/// An action as a person would type it who has no journal; `None`: there is nothing to do.
fn shell(roots: &Roots, journal: &Journal, action: &Action) -> Option<String> {
    match action {
        Action::PutBack { path } => journal.before(path, &boot_id(roots)).map(|value| echo(path, value)),
        action => Some(action.shell()),
    }
}

/// The shell line that undoes open changes with these numbers and removes the note.
fn by_hand(roots: &Roots, journal: &Journal, of: &dyn Fn(u32) -> bool) -> Option<String> {
    // Settings do not survive a reboot, and what a command did is no longer known.
    journal.run().filter(|note| note.boot_id == boot_id(roots))?;
    let open = journal.open_changes();
    let actions = open.iter().filter(|(number, _)| of(*number)).flat_map(|(_, undo)| undo.iter());
    let lines: Vec<String> = actions
        .filter_map(|(condition, action)| Some(guarded(condition, action, shell(roots, journal, action)?)))
        .collect();
    // Later ones may erase what the first make free: where one fails, the host is not as it was left.
    (!lines.is_empty()).then(|| format!("{} && rm {}", lines.join(" && "), path(roots).display()))
}

/// An action as a part of a line that ends where a part fails, with what a shell can tell of its condition.
fn guarded(condition: &Condition, action: &Action, line: String) -> String {
    let line = match action {
        //= pkill(1): 1 is the exit code where no process is found
        Action::End { .. } => format!("{{ {line}; [ $? -le 1 ]; }}"),
        _ if line.contains("; ") => format!("{{ {line}; }}"),
        _ => line,
    };
    match condition.test() {
        Some(test) => format!("{{ ! {test} || {line}; }}"),
        None => line,
    }
}

/// Undoes what a run that is gone left of its changes, and ends its journal.
fn undo_left(
    roots: &Roots,
    mut journal: Journal,
    permission: &Permission,
    log: &mut dyn FnMut(EventKind),
) -> Result<()> {
    let Some(line) = by_hand(roots, &journal, &|_| true) else { return journal.remove() };
    // Commands are believed only where nobody but this user can have written them.
    let owner = OwnDirectory::open(&roots.leases()).and_then(|directory| directory.owner());
    let is_ours = owner.is_ok_and(|owner| owner == DirectoryOwner::Us);
    // What was done to a device is for a person, unless the kernel says that its name is not that of another one by now.
    let is_same = |path: &str| {
        let noted = journal.device_of(path);
        noted.is_some() && noted == settings::device_number(roots, path)
    };
    let of_the_host = |action: &Action| match action {
        Action::PutBack { path } => !settings::is_of_device(path) || is_same(path),
        action => matches!(action, Action::User(_)),
    };
    let open = journal.open_changes();
    let mut actions = open.iter().flat_map(|(_, undo)| undo.iter()).map(|(_, action)| action);
    if !permission.commands || !is_ours || !actions.all(of_the_host) {
        return Err(left(&Say::same(""), &line));
    }
    let text = "an earlier run left changes of an arm or event on this host: that is undone first";
    log(EventKind::Note { text: text.to_string() });
    let numbers: Vec<u32> = open.into_iter().map(|(number, _)| number).collect();
    for number in numbers {
        undo(roots, &mut journal, number, log).map_err(|error| {
            let Say { en, ru } = &error.message;
            let line = by_hand(roots, &journal, &|_| true).unwrap_or_default();
            left(&say!(", which cannot be undone: {en}", ", отменить их не удалось: {ru}"), &line)
        })?;
    }
    journal.remove()
}

/// Changes of an earlier run are left, which this line undoes.
fn left(Say { en, ru }: &Say, by_hand: &str) -> Box<Error> {
    Error::preflight(say!(
        "an earlier run left changes of an arm or event on this host{en}",
        "прежний прогон оставил на этой машине изменения варианта или события{ru}"
    ))
    .hint(say!("undo that and remove the note file: `{by_hand}`", "отмените их и удалите файл пометки: `{by_hand}`"))
}

/// Another run has the host changed.
fn busy(path: &Path) -> Box<Error> {
    let journal = Journal::look(path).ok().flatten();
    let run = journal.as_ref().and_then(Journal::run).map_or("?", |note| &note.owner.run_file).to_string();
    Error::refused(say!(
        "an arm or event of another run (`{run}`) has changed this host",
        "другой прогон (`{run}`) изменил эту машину своим вариантом или событием"
    ))
    .hint(say!("wait until it ends, or stop it", "дождитесь завершения или остановите его"))
}

#[cfg(test)]
mod tests;
