//! Other hosts: several that are looked at side by side, and what Stend leaves on them.

use super::many;
use crate::out::Out;
use clap::ArgMatches;
use stend_base::{Error, Result, Say, say};
use stend_report::OfHost;
use stend_session::{Frontend, Looked, Progress};
use stend_spec::order::NamedText;
use stend_wire::{Look, Remote, Seen};

/// `stend hosts clean`: removes the copies of this program. The first host from which that failed decides the exit code.
pub fn hosts(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let Some(("clean", arguments)) = arguments.subcommand() else { return Ok(()) };
    let mut failed = None;
    let hosts = stend_session::hosts(&many(arguments, "HOST"), file(arguments)?.as_ref(), &many(arguments, "group"))?;
    for (host, done) in stend_session::clean(&hosts) {
        match done {
            Ok(()) => out.note(say!("`{host}`: cleaned", "`{host}`: убрано").get(out.lang)),
            Err(error) => {
                out.note(&error.render(out.lang));
                failed.get_or_insert(error);
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Looks at the hosts that are named and prints what they say side by side; `None`: none is named.
///
/// Errors: `HostLost` where one said nothing, `Preflight` where one must be cured first.
pub(super) fn look(arguments: &ArgMatches, what: &Look, out: &Out) -> Option<Result<()>> {
    let named = many(arguments, "ssh");
    let is_far = !named.is_empty() || arguments.get_one::<String>("hosts").is_some();
    is_far.then(|| {
        let hosts = stend_session::hosts(&named, file(arguments)?.as_ref(), &many(arguments, "group"))?;
        side_by_side(&hosts, what, out)
    })
}

/// The file of hosts that is named.
pub(super) fn file(arguments: &ArgMatches) -> Result<Option<NamedText>> {
    let Some(file) = arguments.get_one::<String>("hosts") else { return Ok(None) };
    let text = stend_sys::regular::text(file, stend_spec::parse::SIZE_MAX as u64).map_err(|Say { en, ru }| {
        let told =
            say!("cannot read the file of hosts `{file}`: {en}", "не удаётся прочитать файл машин `{file}`: {ru}");
        Error::spec(told).hint(say!("docs/formats/hosts.md describes it", "формат описан в docs/formats/hosts.md"))
    })?;
    Ok(Some(NamedText { file: file.clone(), text }))
}

fn side_by_side(hosts: &[Remote], what: &Look, out: &Out) -> Result<()> {
    let hears = |progress: Progress<'_>| {
        if let Progress::Note(text) = progress {
            out.note(text.get(out.lang));
        }
    };
    let frontend = Frontend { hears: &hears, may_report: &|_| Ok(()), ready: None, command_line: Vec::new() };
    let looked = stend_session::look(hosts, what, &frontend);
    let shown: Vec<OfHost<'_>> = looked.iter().map(of_host).collect();
    out.result(&match out.json {
        true => stend_report::hosts_json(&shown),
        false => stend_report::hosts_text(&shown, out.lang, out.width()),
    })?;
    let names = |wanted: &dyn Fn(&OfHost<'_>) -> bool| {
        shown.iter().filter(|of| wanted(of)).map(|of| of.host).collect::<Vec<_>>().join(", ")
    };
    let silent = names(&|of| of.error.is_some());
    if !silent.is_empty() {
        return Err(Error::host_lost(say!("no answer from {silent}", "нет ответа от {silent}")));
    }
    let ill = names(&|of| of.checkup.is_some_and(|checkup| checkup.musts() > 0));
    match ill.is_empty() {
        true => Ok(()),
        false => Err(Error::preflight(say!("fix this first: {ill}", "сначала устраните препятствия: {ill}"))),
    }
}

fn of_host(looked: &Looked) -> OfHost<'_> {
    let none = OfHost { host: &looked.host, checkup: None, inventory: None, target: None, error: None };
    match &looked.seen {
        Ok(Seen::Checkup(checkup)) => OfHost { checkup: Some(checkup), ..none },
        Ok(Seen::Inventory(inventory)) => OfHost { inventory: Some(inventory), ..none },
        Ok(Seen::Target(target)) => OfHost { target: Some(target), ..none },
        Err(error) => OfHost { error: Some(error), ..none },
    }
}
