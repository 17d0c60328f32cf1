//! The worker's part in stands: hands orders to the crate that changes machines, and remembers what a run must take down again.

use crate::outbox::Outbox;
use stend_base::Result;
use stend_load::Control;
use stend_record::StandTargets;
use stend_spec::stand::Stand;
use stend_stand::{Owner, Watch};
use stend_wire::{Permission, StandAnswer, StandFile, StandOrder, StandOwner};

/// What a session knows of stands.
#[derive(Default)]
pub(crate) struct Stands {
    /// Name of the one that goes with the session, and whose it is then.
    until_release: Option<(String, String)>,
    /// What the one made.
    raised: Option<StandTargets>,
}

impl Stands {
    pub(crate) fn carry_out(&mut self, order: StandOrder, control: &Control, outbox: &Outbox) -> Result<StandAnswer> {
        let mut log = |kind| outbox.event(kind);
        let mut watch = Watch { stopped: &|| control.stopped(), log: &mut log };
        match order {
            StandOrder::Plan(file) => {
                let StandFile { text, file, nonce, host } = &file;
                stend_stand::plan_stand(&parsed(text, file)?.on(host.as_deref()), text, file, *nonce)
                    .map(StandAnswer::Plan)
            }
            StandOrder::Up { stand: StandFile { text, file, nonce, host }, until_release, owner } => {
                let stand = parsed(&text, &file)?.on(host.as_deref());
                // Before anything is made: what fails half way is taken down as well.
                self.until_release = until_release.then(|| (stand.name.clone(), owner.clone()));
                let owner = Owner { run_file: owner.clone(), run_id: owner, ledger: None };
                let raised = stend_stand::put_up(&stand, &text, &file, nonce, &owner, &mut watch)?;
                self.raised = Some(raised.clone());
                Ok(StandAnswer::Up(raised))
            }
            StandOrder::Down(name) => stend_stand::take_down(&name, &mut watch).map(|()| StandAnswer::Down),
            StandOrder::Status(name) => {
                let names = name.map_or_else(stend_stand::known_stands, |name| vec![name]);
                names.iter().map(|name| stend_stand::stand_status(name)).collect::<Result<_>>().map(StandAnswer::Status)
            }
            StandOrder::Owner(name) => {
                let known = stend_stand::stand_owner(&name)?;
                Ok(StandAnswer::Owner(known.map(|(owner, nonce)| StandOwner { owner, nonce })))
            }
        }
    }

    /// What the stand made may be written: nothing on it is anybody's.
    pub(crate) fn allow(&self, permission: &mut Permission) {
        let Some(raised) = &self.raised else { return };
        permission.confirm.extend(raised.identities.iter().cloned());
        permission.overwrite_signatures.extend(raised.signatures.iter().cloned());
    }

    /// The stand of the run.
    pub(crate) fn name(&self) -> Option<&str> {
        self.until_release.as_ref().map(|(name, _)| name.as_str())
    }

    /// Whether it goes with the session: it was not up before, nor is it somebody else's by the same name.
    pub(crate) fn is_ours(&self) -> bool {
        // One whose journal cannot be read is taken down as well, which then has the reason.
        let owns = |(name, owner): &(String, String)| match stend_stand::stand_owner(name) {
            Ok(known) => known.is_some_and(|(known, _)| known == *owner),
            Err(_) => true,
        };
        self.until_release.as_ref().is_some_and(owns)
    }

    /// Takes down what goes with the session.
    pub(crate) fn release(&mut self, outbox: &Outbox) -> Result<()> {
        let ours = self.is_ours();
        let Some((name, _)) = self.until_release.take().filter(|_| ours) else { return Ok(()) };
        self.raised = None;
        // What the user stopped is the load; undoing is done to its end.
        stend_stand::take_down(&name, &mut Watch { stopped: &|| false, log: &mut |kind| outbox.event(kind) })
    }
}

fn parsed(text: &str, file: &str) -> Result<Stand> {
    stend_spec::parse::stand(text, file)
}
