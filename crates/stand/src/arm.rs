//! Switches the host to an arm of a suite and back: settings of the kernel and commands of the user, each
//! with its undo. Must not be reached without `--allow-commands`.

use crate::command::execute;
use crate::owner::{Note, Owner};
use crate::roots::Roots;
use serde::{Deserialize, Serialize};
use stend_base::{Code, Error, Kind, Result, say};
use stend_record::EventKind;
use stend_spec::arm::{Observation, Switch, Tunable, line};
use stend_spec::permission::Permission;
use stend_sys::claim::{Lease, NotLeased, OwnDirectory};

/// Name of the lease that a host switched to an arm is under: one run at a time changes a host.
const LEASE: &str = "arm.lease";
/// Longest note of a lease that others can read back, bytes.
const NOTE_MAX: usize = 4096;

/// What others find while a host is switched, and after a worker that was killed could not switch back.
#[derive(Debug, Serialize, Deserialize)]
struct Switched {
    #[serde(flatten)]
    note: Note,
    /// Shell lines that switch back, in order.
    undo: Vec<String>,
}

/// A host that is switched to an arm. Dropping it switches back.
#[derive(Debug)]
pub struct Entered {
    undo: Vec<Undo>,
    lease: Option<Lease>,
}

#[derive(Debug, Clone)]
enum Undo {
    Write(Tunable),
    Run(Vec<String>),
}

impl Undo {
    /// As a person would type it.
    fn shell(&self) -> String {
        match self {
            Undo::Write(t) => format!("echo {} > {}", line(std::slice::from_ref(&t.value)), t.path),
            Undo::Run(words) => line(words),
        }
    }

    fn perform(&self, log: &mut dyn FnMut(EventKind)) -> Result<()> {
        match self {
            Undo::Write(tunable) => {
                write(tunable)?;
                log(EventKind::Step { action: format!("put {} back to {}", tunable.path, tunable.value) });
                Ok(())
            }
            Undo::Run(words) => execute(words, &|| false, log).map(drop),
        }
    }
}

/// Switches the host to an arm. Each change goes to `log` when it has been made.
///
/// Errors: `Unsafe` without permission, or while another run has the host switched; `Preflight` where a
/// setting does not take or a command fails. After an error everything is as before.
pub fn enter(
    switch: &Switch,
    owner: &Owner,
    permission: &Permission,
    stopped: &dyn Fn() -> bool,
    log: &mut dyn FnMut(EventKind),
) -> Result<Entered> {
    let undo = undo_of(switch)?;
    if undo.is_empty() {
        return Ok(Entered { undo, lease: None });
    }
    may_execute(permission, &switch.changes())?;
    let lines: Vec<String> = undo.iter().map(Undo::shell).collect();
    let lease = lease(&Roots::host(), owner, lines)?;
    // Armed before the first change: whatever goes wrong from here on is undone.
    let entered = Entered { undo, lease: Some(lease) };
    let result = match switch {
        Switch::Tunables(tunables) => tunables.iter().try_for_each(|tunable| {
            let before = current(&tunable.path)?;
            write(tunable)?;
            let Tunable { path, value } = tunable;
            log(EventKind::Step { action: format!("set {path} to {value} (it was {before})") });
            Ok(())
        }),
        Switch::Command { enter, .. } => execute(enter, stopped, log).map(drop),
        Switch::None | Switch::Reboot { .. } | Switch::Person { .. } => Ok(()),
    };
    match result {
        Ok(()) => Ok(entered),
        Err(error) => {
            entered.leave(log)?;
            Err(error)
        }
    }
}

impl Entered {
    /// Switches back. What could not be undone is in the error, and the rest is undone all the same.
    pub fn leave(mut self, log: &mut dyn FnMut(EventKind)) -> Result<()> {
        self.undo_all(log)
    }

    fn undo_all(&mut self, log: &mut dyn FnMut(EventKind)) -> Result<()> {
        let mut result = Ok(());
        for undo in std::mem::take(&mut self.undo).iter().rev() {
            if let Err(error) = undo.perform(log) {
                let shell = undo.shell();
                result = Err(error.hint(say!(
                    "the host is still switched; this would switch it back: `{shell}`",
                    "машина осталась переключённой; вернуть её можно так: `{shell}`"
                )));
            }
        }
        self.lease = None;
        result
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        // Only on the way out of a worker that lost its coordinator: nobody is left to be told.
        let _ = self.undo_all(&mut |_| {});
    }
}

/// Outputs of the commands that the suite looks with, in its order.
pub fn observe(
    observations: &[Observation],
    permission: &Permission,
    stopped: &dyn Fn() -> bool,
    log: &mut dyn FnMut(EventKind),
) -> Result<Vec<(String, String)>> {
    let commands: Vec<String> = observations.iter().map(|o| line(&o.command)).collect();
    may_execute(permission, &commands)?;
    observations.iter().map(|o| Ok((o.name.clone(), execute(&o.command, stopped, log)?))).collect()
}

/// The shell line that switches a host back whose worker is gone; `None` if there is none.
pub(crate) fn left_behind(roots: &Roots) -> Option<String> {
    let seen = OwnDirectory::open(&roots.leases()).ok().and_then(|directory| Lease::look(&directory, LEASE).ok()?);
    let dead = seen.filter(|seen| !seen.held).and_then(|seen| serde_json::from_str::<Switched>(&seen.note).ok());
    // Settings do not survive a reboot, and what a command did is no longer known.
    let same_boot = |switched: &Switched| switched.note.boot_id == crate::owner::boot_id(roots);
    let file = roots.leases().join(LEASE);
    dead.filter(same_boot).map(|switched| format!("{}; rm {}", switched.undo.join("; "), file.display()))
}

/// Refuses, as `Unsafe`, a suite that would execute or change `lines` without permission.
pub fn may_execute(permission: &Permission, lines: &[String]) -> Result<()> {
    if permission.commands || lines.is_empty() {
        return Ok(());
    }
    let shown = lines.join("`, `");
    Err(Error::new(
        Code::CommandsNotAllowed,
        say!(
            "arms or events of the suite change this host or execute commands on it: `{shown}`",
            "варианты или события набора изменяют эту машину или выполняют на ней команды: `{shown}`"
        ),
    )
    .hint(say!("if you trust them, add --allow-commands", "если вы им доверяете, добавьте --allow-commands")))
}

/// What switches back, read from the host before anything is changed.
fn undo_of(switch: &Switch) -> Result<Vec<Undo>> {
    match switch {
        Switch::Tunables(tunables) => {
            let back = |t: &Tunable| Ok(Undo::Write(Tunable { path: t.path.clone(), value: current(&t.path)? }));
            tunables.iter().map(back).collect()
        }
        Switch::Command { leave, .. } => Ok(vec![Undo::Run(leave.clone())]),
        Switch::None | Switch::Reboot { .. } | Switch::Person { .. } => Ok(Vec::new()),
    }
}

/// Notes down for others, until it is dropped, that a run changes the host, and the shell lines that undo it.
pub(crate) fn lease(roots: &Roots, owner: &Owner, undo: Vec<String>) -> Result<Lease> {
    let place = roots.leases();
    let shown = place.display().to_string();
    let io =
        |e: std::io::Error| crate::claims::preflight(&shown, &say!("note what to undo", "записать, что вернуть"), &e);
    std::fs::create_dir_all(&place).map_err(io)?;
    if let Some(undo) = left_behind(roots) {
        return Err(Error::new(
            Kind::Preflight,
            say!(
                "a run that was killed left this host changed by one of its arms or events",
                "убитый прогон оставил на этой машине изменения от своего варианта или события"
            ),
        )
        .hint(say!("undo that and remove the note: `{undo}`", "отмените их и удалите записку: `{undo}`")));
    }
    let directory = OwnDirectory::open(&place).map_err(io)?;
    let switched = Switched { note: Note::own(roots, owner), undo };
    // Numbers and strings only: there is nothing in it that could fail to serialize.
    let note = serde_json::to_string(&switched).unwrap_or_default();
    if note.len() > NOTE_MAX {
        return Err(Error::new(
            Kind::Preflight,
            say!(
                "what undoes the change takes more than {NOTE_MAX} bytes to note down",
                "описание возврата занимает больше {NOTE_MAX} байт"
            ),
        )
        .hint(say!("put it into a script and name that", "вынесите его в сценарий и укажите его")));
    }
    Lease::take(&directory, LEASE, &note).map_err(|error| match error {
        NotLeased::Held(note) => {
            let run = serde_json::from_str::<Switched>(&note).map_or_else(|_| "?".into(), |s| s.note.owner.run_file);
            Error::new(
                Kind::Unsafe,
                say!(
                    "another run (`{run}`) has changed this host by one of its arms or events",
                    "другой прогон (`{run}`) изменил эту машину своим вариантом или событием"
                ),
            )
            .hint(say!("wait until it ends, or stop it", "дождитесь завершения или остановите его"))
        }
        NotLeased::Io(e) => io(e),
    })
}

/// What a setting is now. Where the kernel lists all choices, the one in brackets.
pub(crate) fn current(path: &str) -> Result<String> {
    let text = std::fs::read_to_string(path).map_err(|e| failed(path, "read", "прочитать", &e))?;
    Ok(chosen(&text))
}

fn chosen(text: &str) -> String {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word);
    bracketed.map_or_else(|| text.split_whitespace().collect::<Vec<_>>().join(" "), str::to_string)
}

/// Writes a setting and makes sure that it took.
pub(crate) fn write(Tunable { path, value }: &Tunable) -> Result<()> {
    std::fs::OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, value.as_bytes()))
        .map_err(|e| failed(path, "set", "изменить", &e))?;
    let now = current(path)?;
    if now == chosen(value) {
        return Ok(());
    }
    Err(Error::new(
        Kind::Preflight,
        say!("`{path}` was set to {value} and is {now}", "в `{path}` записано {value}, а там {now}"),
    )
    .hint(say!(
        "write the value as the kernel shows it, or use `command` and `undo`",
        "укажите значение так, как его показывает ядро, или воспользуйтесь `command` и `undo`"
    )))
}

fn failed(path: &str, en: &str, ru: &str, error: &std::io::Error) -> Box<Error> {
    Error::new(Kind::Preflight, say!("cannot {en} `{path}`: {error}", "не удалось {ru} `{path}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner() -> Owner {
        Owner { run_id: "R-test".into(), run_file: "/runs/R-test.stend".into(), ledger: None }
    }

    fn allowed() -> Permission {
        Permission { commands: true, ..Permission::default() }
    }

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(String::from).collect()
    }

    #[test]
    fn the_value_in_force_is_the_one_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber\n"), "mq-deadline");
        assert_eq!(chosen("4096\t87380\t6291456\n"), "4096 87380 6291456");
    }

    #[test]
    fn nothing_is_executed_without_permission() {
        let marker = tempfile::tempdir().unwrap();
        let file = marker.path().join("executed");
        let switch = Switch::Command { enter: words(&format!("touch {}", file.display())), leave: words("true") };
        let refused = enter(&switch, &owner(), &Permission::default(), &|| false, &mut |_| {}).unwrap_err();
        assert_eq!(refused.kind, Kind::Unsafe);
        assert!(refused.message.en.contains("touch"), "{refused}");
        let looks = [Observation { name: "x".into(), command: words(&format!("touch {}", file.display())) }];
        assert_eq!(observe(&looks, &Permission::default(), &|| false, &mut |_| {}).unwrap_err().kind, Kind::Unsafe);
        assert!(!file.exists());
    }

    #[test]
    fn a_person_s_arm_changes_nothing_here_and_needs_no_permission() {
        let switch = Switch::Person { instruction: "replace the drive".into() };
        let entered = enter(&switch, &owner(), &Permission::default(), &|| false, &mut |_| {}).unwrap();
        entered.leave(&mut |kind| panic!("{kind:?}")).unwrap();
    }

    #[test]
    fn a_host_that_was_left_switched_is_found_until_it_is_started_anew() {
        let tree = tempfile::tempdir().unwrap();
        let roots = Roots { run: tree.path().to_path_buf(), ..Roots::host() };
        assert_eq!(left_behind(&roots), None);
        let note = Note::own(&roots, &owner());
        let undo = vec!["echo 60 > /proc/sys/vm/swappiness".to_string()];
        let write = |note: Note| {
            std::fs::create_dir_all(roots.leases()).unwrap();
            let text = serde_json::to_string(&Switched { note, undo: undo.clone() }).unwrap();
            std::fs::write(roots.leases().join(LEASE), text).unwrap();
        };
        write(note.clone());
        let line = format!("echo 60 > /proc/sys/vm/swappiness; rm {}", roots.leases().join(LEASE).display());
        assert_eq!(left_behind(&roots), Some(line));
        assert_eq!(lease(&roots, &owner(), Vec::new()).unwrap_err().kind, Kind::Preflight);
        write(Note { boot_id: "earlier".into(), ..note });
        assert_eq!(left_behind(&roots), None);
        assert!(lease(&roots, &owner(), Vec::new()).is_ok());
    }

    #[test]
    fn one_run_at_a_time_has_a_host_switched() {
        let tree = tempfile::tempdir().unwrap();
        let roots = Roots { run: tree.path().to_path_buf(), ..Roots::host() };
        let held = lease(&roots, &owner(), Vec::new()).unwrap();
        let refused = lease(&roots, &owner(), Vec::new()).unwrap_err();
        assert_eq!(refused.kind, Kind::Unsafe);
        assert!(refused.message.en.contains("/runs/R-test.stend"), "{refused}");
        drop(held);
        assert!(lease(&roots, &owner(), Vec::new()).is_ok());
    }

    #[test]
    fn what_was_observed_keeps_its_name_and_order() {
        let look = |name: &str, command| Observation { name: name.into(), command: words(command) };
        let seen = observe(&[look("b", "echo two"), look("a", "echo one")], &allowed(), &|| false, &mut |_| {});
        assert_eq!(seen.unwrap(), [("b".to_string(), "two".to_string()), ("a".to_string(), "one".to_string())]);
    }
}
