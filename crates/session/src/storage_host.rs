//! The host with the drives of a stand of two hosts: it is built there before the other host takes in what is handed out, and taken
//! down after that has let go.

use crate::control::Control;
use crate::frontend::Frontend;
use crate::worker_host::{Hosts, WorkerHost};
use stend_base::{Error, Result, say};
use stend_record::{EventKind, HostId, Role, StandText};
use stend_run::{ObservedHost, Setup};
use stend_spec::stand::Side;
use stend_wire::{StandAnswer, StandFile, StandOrder};

/// A stand of two hosts, as the host with the drives knows it.
pub(crate) struct Storage {
    /// The machine.
    host: WorkerHost,
    /// Name of the stand.
    stand: String,
    /// It was up before: then it stays.
    was_up: bool,
    /// Paths of what is handed out, on that host.
    handed_out: Vec<String>,
    /// What was done, until it is in the run file.
    done: Vec<EventKind>,
}

/// Name of the host with the drives; `None`: the stand has one host.
///
/// Errors: `Usage` where the file of the stand and the command line do not agree on how many hosts there are.
pub(crate) fn host_of(stand: &StandText, given: &Hosts) -> Result<Option<WorkerHost>> {
    let across = stend_spec::parse::stand(&stand.text, &stand.file)?.across.is_some();
    let host = WorkerHost::storage(given)?;
    let measured = WorkerHost::measured(given, Some(stand))?;
    let file = &stand.file;
    match (across, host) {
        (true, None) => Err(Error::usage(say!(
            "the stand in `{file}` needs two hosts, but only one is given",
            "стенду из `{file}` нужны две машины, а указана одна"
        ))
        .hint(say!(
            "`--lab NAME` or `--ssh HOST` (else this host) is measured; `--storage NAME` or `--storage ssh:HOST` has the drives",
            "измеряется `--lab ИМЯ`, `--ssh МАШИНА` или эта машина; накопители — у `--storage ИМЯ` или `--storage ssh:МАШИНА`"
        ))),
        (false, Some(_)) => Err(Error::usage(say!(
            "the stand in `{file}` uses one host: `--storage` has no effect",
            "стенд из `{file}` — на одной машине: `--storage` не нужен"
        ))
        .hint(say!("`across` in the file makes a stand of two hosts", "стендом на двух машинах его делает `across` в файле"))),
        (true, Some(host)) if measured == host => Err(Error::usage(say!(
            "the measured host and `--storage` are the same machine",
            "измеряемая машина и `--storage` — одна и та же машина"
        ))),
        (true, Some(WorkerHost::Lab(lab))) if !matches!(measured, WorkerHost::Lab(_)) => Err(Error::usage(say!(
            "only machines of the lab can reach `{lab}`",
            "машина лаборатории `{lab}` доступна только машинам лаборатории"
        ))
        .hint(say!(
            "measure a machine of the lab too (`--lab NAME`), or use a host outside the lab for storage (`--storage ssh:HOST`)",
            "измеряйте тоже машину лаборатории (`--lab ИМЯ`) или возьмите накопители машины вне её (`--storage ssh:МАШИНА`)"
        ))),
        (_, host) => Ok(host),
    }
}

/// Has the host with the drives do something about its part of a stand; everything that it does goes to `tell`.
pub(crate) fn order(
    host: &WorkerHost,
    what: StandOrder,
    control: &Control,
    frontend: &Frontend,
    tell: &mut dyn FnMut(&EventKind),
) -> Result<StandAnswer> {
    let (channel, stopper) = stend_run::channel();
    control.aim(Some(stopper));
    let answer = stend_run::order(host.reach(frontend)?, what, channel, tell);
    control.aim(None);
    answer
}

/// The part of a stand file for one host.
pub(crate) fn part(stand: &StandText, side: Side) -> StandFile {
    let StandText { file, text, nonce, .. } = stand.clone();
    StandFile { text, file, nonce, side: Some(side) }
}

/// Builds the part of the host with the drives; `None`: the stand has one host.
pub(crate) fn put_up(
    stand: &StandText,
    owner: &str,
    given: &Hosts,
    control: &Control,
    frontend: &Frontend,
) -> Result<Option<Storage>> {
    let Some(host) = host_of(stand, given)? else { return Ok(None) };
    let name = &stand.name;
    let known = order(&host, StandOrder::Status(None), control, frontend, &mut |_| {})?;
    let was_up = matches!(known, StandAnswer::Status(stands) if stands.iter().any(|one| one.name == *name));
    // Both words are one: it is never this machine.
    let there = host.name().en;
    let told = say!("building `{name}` on `{there}`", "стенд `{name}` поднимается на `{there}`");
    frontend.note(told);
    let mut storage =
        Storage { host: host.clone(), stand: name.clone(), was_up, handed_out: Vec::new(), done: Vec::new() };
    let up = StandOrder::Up { stand: part(stand, Side::Storage), until_release: false, owner: owner.to_string() };
    let mut keep = |kind: &EventKind| {
        storage.done.push(kind.clone());
    };
    match order(&host, up, control, frontend, &mut keep) {
        Ok(answer) => {
            if let StandAnswer::Up(raised) = answer {
                storage.handed_out = raised.targets;
            }
            Ok(Some(storage))
        }
        Err(error) => {
            // The first error is the one to be told; what cannot be taken away now is named by `stand status`.
            drop(storage.take_down(control, frontend));
            Err(error)
        }
    }
}

impl Storage {
    /// Has the host watched while the other one is measured. If it cannot be watched, the run still measures: the reason is reported,
    /// and kept in the run file.
    pub(crate) fn watch(&mut self, setup: &mut Setup, frontend: &Frontend) {
        // Both words are one: it is never this machine.
        let name = self.host.name().en;
        let done = std::mem::take(&mut self.done);
        let mut storage = ObservedHost::new(HostId::STORAGE, Role::Storage, &name, done);
        if let Err(error) = storage.watch(self.host.reach(frontend), Some(self.handed_out.clone())) {
            frontend.note(stend_run::unwatched(&name, &error.message));
        }
        setup.observed.push(storage);
    }

    /// Takes it down, unless it was up before.
    pub(crate) fn take_down(&self, control: &Control, frontend: &Frontend) -> Result<()> {
        if self.was_up {
            return Ok(());
        }
        order(&self.host, StandOrder::Down(self.stand.clone()), control, frontend, &mut |_| {}).map(drop)
    }

    /// How to take it down by hand.
    pub(crate) fn left(&self) -> stend_base::Say {
        let Storage { host, stand, .. } = self;
        let (name, words) = (host.name().en, host.words());
        say!(
            "the stand `{stand}` is still up on `{name}`; `stend stand down {stand}{words}` takes it down",
            "стенд `{stand}` остался поднятым на `{name}`; убрать его: `stend stand down {stand}{words}`"
        )
    }
}
