//! The host with the drives of a stand of two hosts: it is built there before the other host takes in what is handed out, and taken
//! down after that has let go.

use super::run::Stoppers;
use crate::out::Out;
use clap::ArgMatches;
use stend_base::{Error, Kind, Result, say};
use stend_host::{StandAnswer, StandFile, StandOrder};
use stend_record::{EventKind, StandText};
use stend_spec::stand::Side;

/// A stand of two hosts, as the host with the drives knows it.
pub(super) struct Storage {
    /// The machine.
    host: String,
    /// Name of the stand.
    stand: String,
    /// It was up before: then it stays.
    was_up: bool,
    /// What was done.
    pub done: Vec<EventKind>,
}

/// Name of the host with the drives; `None`: the stand has one host.
///
/// Errors: `Usage` where the file of the stand and the command line do not agree on how many hosts there are.
pub(super) fn host_of(stand: &StandText, arguments: &ArgMatches) -> Result<Option<String>> {
    let across = stend_spec::parse::stand(&stand.text, &stand.file)?.across.is_some();
    let host = arguments.get_one::<String>("storage");
    let file = &stand.file;
    match (across, host) {
        (true, None) => Err(Error::new(
            Kind::Usage,
            say!(
                "the stand in `{file}` is of two hosts, and only one is given",
                "стенд из `{file}` — на двух машинах, а указана одна"
            ),
        )
        .hint(say!(
            "`--lab NAME` is the machine that is measured, `--storage NAME` the one with the drives",
            "`--lab ИМЯ` — измеряемая машина, `--storage ИМЯ` — машина с накопителями"
        ))),
        (false, Some(_)) => Err(Error::new(
            Kind::Usage,
            say!(
                "the stand in `{file}` is of one host: `--storage` has no use",
                "стенд из `{file}` — на одной машине: `--storage` не нужен"
            ),
        )
        .hint(say!("`across` in the file makes it one of two", "стендом на двух машинах его делает `across` в файле"))),
        (true, Some(host)) if arguments.get_one::<String>("lab") == Some(host) => Err(Error::new(
            Kind::Usage,
            say!("`--lab` and `--storage` name one machine", "`--lab` и `--storage` называют одну машину"),
        )),
        (_, host) => Ok(host.cloned()),
    }
}

/// Has the host with the drives do something about its part of a stand; everything that it does goes to `tell`.
pub(super) fn order(
    host: &str,
    what: StandOrder,
    stoppers: &Stoppers,
    tell: &mut dyn FnMut(&EventKind),
) -> Result<StandAnswer> {
    let (channel, stopper) = stend_run::channel();
    stoppers.aim(Some(stopper));
    let answer = stend_run::order(super::lab::reach_standing(host)?, what, channel, tell);
    stoppers.aim(None);
    answer
}

/// Of a stand file the part of the host with the drives.
pub(super) fn part(stand: &StandText) -> StandFile {
    let StandText { file, text, nonce, .. } = stand.clone();
    StandFile { text, file, nonce, side: Some(Side::Storage) }
}

/// Builds the part of the host with the drives; `None`: the stand has one host.
pub(super) fn put_up(
    stand: &StandText,
    owner: &str,
    arguments: &ArgMatches,
    stoppers: &Stoppers,
    out: &Out,
) -> Result<Option<Storage>> {
    let Some(host) = host_of(stand, arguments)? else { return Ok(None) };
    let name = &stand.name;
    let known = order(&host, StandOrder::Status(None), stoppers, &mut |_| {})?;
    let was_up = matches!(known, StandAnswer::Status(stands) if stands.iter().any(|one| one.name == *name));
    let told = say!("building `{name}` on `{host}`", "стенд `{name}` поднимается на `{host}`");
    out.note(told.get(out.lang));
    let mut storage = Storage { host: host.clone(), stand: name.clone(), was_up, done: Vec::new() };
    let up = StandOrder::Up { stand: part(stand), until_release: false, owner: owner.to_string() };
    let mut keep = |kind: &EventKind| {
        storage.done.push(EventKind::Elsewhere { host: host.clone(), what: Box::new(kind.clone()) });
    };
    match order(&host, up, stoppers, &mut keep) {
        Ok(_) => Ok(Some(storage)),
        Err(error) => {
            // The first error is the one to be told; what cannot be taken away now is named by `stand status`.
            drop(storage.take_down(stoppers));
            Err(error)
        }
    }
}

impl Storage {
    /// Takes it down, unless it was up before.
    pub(super) fn take_down(&self, stoppers: &Stoppers) -> Result<()> {
        if self.was_up {
            return Ok(());
        }
        order(&self.host, StandOrder::Down(self.stand.clone()), stoppers, &mut |_| {}).map(drop)
    }

    /// How to take it down by hand.
    pub(super) fn left(&self) -> stend_base::Say {
        let Storage { host, stand, .. } = self;
        say!(
            "the stand `{stand}` is still up on `{host}`; `stend stand down {stand} --lab {host}` takes it down",
            "стенд `{stand}` остался поднятым на `{host}`; убрать его: `stend stand down {stand} --lab {host}`"
        )
    }
}
