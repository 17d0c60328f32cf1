//! The hosts of a stand beside the measured ones, as a run builds and watches them.

use super::{StandHost, number_of, order, owners_on, part, take_down};
use crate::control::Control;
use crate::frontend::Frontend;
use crate::worker_host::WorkerHost;
use stend_base::{Result, Say, say};
use stend_record::{EventKind, HostId, Role, StandText};
use stend_run::{ObservedHost, Setup};
use stend_wire::{StandAnswer, StandOrder};

/// The hosts of a stand beside the measured ones.
pub(crate) struct StorageHosts {
    stand: StandText,
    /// Those that are built, in that order.
    built: Vec<Built>,
}

/// One of them.
struct Built {
    of: StandHost,
    /// Its part was up before: then it stays.
    was_up: bool,
    /// Paths of what is handed out, on that host.
    handed_out: Vec<String>,
    /// What was done, until it is in the run file.
    done: Vec<EventKind>,
}

impl StorageHosts {
    /// Builds the parts of all of them. Where a part of the stand is up, all get the number that was drawn for it.
    ///
    /// Errors: those of a host; then what the others have built for this is taken down again.
    pub(crate) fn put_up(
        stand: &mut StandText,
        owner: &str,
        hosts: Vec<StandHost>,
        control: &Control,
        frontend: &Frontend,
    ) -> Result<StorageHosts> {
        let known = owners_on(&hosts, &stand.name, control, frontend)?;
        stand.nonce = number_of(&known).unwrap_or(stand.nonce);
        let mut all = StorageHosts { stand: stand.clone(), built: Vec::new() };
        for (of, known) in hosts.into_iter().zip(known) {
            // What an earlier session of this run has built goes with the run.
            let was_up = known.is_some_and(|known| known.owner != owner);
            if let Err(error) = all.build(of, was_up, owner, control, frontend) {
                all.take_down(control, frontend).into_iter().for_each(|left| frontend.note(left));
                return Err(error);
            }
        }
        Ok(all)
    }

    fn build(
        &mut self,
        of: StandHost,
        was_up: bool,
        owner: &str,
        control: &Control,
        frontend: &Frontend,
    ) -> Result<()> {
        let name = &self.stand.name;
        // Both words are one: it is never this machine.
        let there = of.host.name().en;
        frontend.note(say!("building `{name}` on `{there}`", "стенд `{name}` поднимается на `{there}`"));
        let stand = part(&self.stand, Some(&of.name))?;
        let up = StandOrder::Up { stand, until_release: false, owner: owner.to_string() };
        let (mut done, host) = (Vec::new(), of.host.clone());
        // What fails half way has to be taken down, too.
        self.built.push(Built { of, was_up, handed_out: Vec::new(), done: Vec::new() });
        let answer = order(&host, up, control, frontend, &mut |kind| done.push(kind.clone()))?;
        if let (StandAnswer::Up(raised), Some(built)) = (answer, self.built.last_mut()) {
            (built.handed_out, built.done) = (raised.targets, done);
        }
        Ok(())
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.built.len()
    }

    /// Has them watched while the other one is measured. If one cannot be watched, the run still measures: the reason is reported, and
    /// kept in the run file.
    pub(crate) fn watch(&mut self, setup: &mut Setup, frontend: &Frontend) {
        for (at, built) in (0..).zip(&mut self.built) {
            // Both words are one: it is never this machine.
            let name = built.of.host.name().en;
            let done = std::mem::take(&mut built.done);
            let mut storage = ObservedHost::new(HostId(setup.hosts.len() as u16 + at), Role::Storage, &name, done);
            if let Err(error) = storage.watch(built.of.host.reach(frontend), Some(built.handed_out.clone())) {
                frontend.note(stend_run::unwatched(&name, &error.message));
            }
            setup.observed.push(storage);
        }
    }

    /// Takes down what this run has built, from above.
    ///
    /// Gives what is left, with its reason, for people.
    pub(crate) fn take_down(&self, control: &Control, frontend: &Frontend) -> Vec<Say> {
        let own = || self.built.iter().rev().filter(|built| !built.was_up);
        let hosts: Vec<(&WorkerHost, &str)> = own().map(|built| (&built.of.host, built.of.name.as_str())).collect();
        let stand = stend_spec::parse::stand(&self.stand.text, &self.stand.file);
        let ended =
            stand.and_then(|stand| take_down(&stand, &hosts, (control, frontend), &mut |_| {}, &mut |_, _| Ok(())));
        // After a stop of the user it is not known how far it came: all are named.
        let why = |built: &Built| match &ended {
            Ok(left) => left.iter().find(|(name, _)| *name == built.of.name).map(|(_, error)| &error.message),
            Err(error) => Some(&error.message),
        };
        let line = |built: &Built| {
            let (Say { en, ru }, still) = (why(built)?, self.left_on(built));
            let (still_en, still_ru) = (still.en, still.ru);
            Some(say!("{still_en}: {en}", "{still_ru}: {ru}"))
        };
        own().filter_map(line).collect()
    }

    /// How to take down by hand what is left, on the measured hosts first. What was up before is left on purpose, and goes with the stand.
    pub(crate) fn left(&self, measured: &[WorkerHost]) -> Say {
        let own = self.built.iter().rev().filter(|built| !built.was_up);
        let (stand, file) = (&self.stand.name, &self.stand.file);
        let hosts = measured.iter().map(WorkerHost::name).chain(own.map(|built| built.of.host.name()));
        let (en, ru): (Vec<String>, Vec<String>) =
            hosts.map(|Say { en, ru }| (format!("`{en}`"), format!("`{ru}`"))).unzip();
        let (en, ru) = (en.join(", "), ru.join(", "));
        let words: String = measured.iter().map(WorkerHost::words).collect();
        let words = self.built.iter().fold(words, |words, built| words + &built.of.words());
        say!(
            "the stand `{stand}` may still be up on {en}: `stend stand down {file}{words}` takes it down, from above",
            "стенд `{stand}` мог остаться поднятым на {ru}: `stend stand down {file}{words}` уберёт его сверху вниз"
        )
    }

    fn left_on(&self, built: &Built) -> Say {
        let (stand, host) = (&self.stand.name, &built.of.host);
        let (name, words) = (host.name().en, host.words());
        say!(
            "the stand `{stand}` is still up on `{name}`; `stend stand down {stand}{words}` takes it down",
            "стенд `{stand}` остался поднятым на `{name}`; убрать его: `stend stand down {stand}{words}`"
        )
    }
}
