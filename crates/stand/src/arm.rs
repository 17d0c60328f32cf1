//! Switches the host to an arm of a suite and back: settings of the kernel and commands of the user, each
//! with its undo. Must not be reached without `--allow-commands`.

use crate::change::{Action, Change, HostChanges, Watch, setting};
use crate::command::execute;
use crate::owner::Owner;
use crate::roots::Roots;
use crate::settings;
use stend_base::{Code, Error, Result, Say, say};
use stend_record::EventKind;
use stend_spec::arm::{Observation, Switch, Tunable, line};
use stend_spec::permission::Permission;

/// A host that is switched to an arm. Dropping it switches back.
#[derive(Debug)]
pub struct Entered(Option<HostChanges>);

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
    let changes = changes(switch)?;
    if changes.is_empty() {
        return Ok(Entered(None));
    }
    may_execute(permission, &switch.changes())?;
    // Whatever goes wrong from here on is undone.
    let mut host = HostChanges::begin(&Roots::host(), owner, permission, log)?;
    let made = (0..).zip(&changes).try_for_each(|(number, change)| {
        host.note(number, change)?;
        change.apply.iter().try_for_each(|action| host.perform(action, &mut Watch { stopped, log }))
    });
    let entered = Entered(Some(host));
    match made {
        Ok(()) => Ok(entered),
        Err(error) => {
            entered.leave(log)?;
            Err(error)
        }
    }
}

impl Entered {
    /// Switches back. What could not be undone is in the error, and the rest is undone all the same.
    pub fn leave(self, log: &mut dyn FnMut(EventKind)) -> Result<()> {
        self.0.map_or(Ok(()), |mut host| host.undo_all(log))
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

/// What an arm changes, in order.
fn changes(switch: &Switch) -> Result<Vec<Change>> {
    match switch {
        Switch::Tunables(tunables) => {
            // Before the first is changed all must be there.
            tunables.iter().try_for_each(|tunable| settings::current(&tunable.path).map(drop))?;
            Ok(tunables.iter().map(|Tunable { path, value }| setting(path, value)).collect())
        }
        Switch::Command { enter, leave } => {
            let [enter, leave] = [enter, leave].map(|words| Action::User(words.clone()));
            let what = Say::same(enter.shell());
            Ok(vec![Change::unseen(what, vec![enter], [leave])])
        }
        Switch::None | Switch::Reboot { .. } | Switch::Person { .. } => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

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
    fn what_was_observed_keeps_its_name_and_order() {
        let look = |name: &str, command| Observation { name: name.into(), command: words(command) };
        let seen = observe(&[look("b", "echo two"), look("a", "echo one")], &allowed(), &|| false, &mut |_| {});
        assert_eq!(seen.unwrap(), [("b".to_string(), "two".to_string()), ("a".to_string(), "one".to_string())]);
    }
}
