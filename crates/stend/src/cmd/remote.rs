//! Verbs over a server whose answers are no run files: each is a request or two, and prints what the verb prints on the server's machine.

mod follow;
mod import;
pub(super) mod journal;
pub(super) mod run;
mod stop;

use crate::out::Out;
use crate::remote::Remote;
use clap::ArgMatches;
use clap::parser::ValueSource;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use stend_base::{Error, Result, Say, say};
use stend_client::{escaped, not_understood};
use stend_record::{Checkup, CheckupItem, Inventory};
use stend_report::ListedSuite;

/// Does what a verb that reads no run file asks of a server; `None`: the verb goes on as on this machine, with run files that it fetches.
pub fn asked(remote: &Remote, matches: &ArgMatches, out: &Out) -> Option<Result<()>> {
    let (verb, arguments) = matches.subcommand()?;
    Some(match verb {
        "list" => list(remote, arguments, out),
        "suites" => suites(remote, arguments, out),
        "doctor" => doctor(remote, arguments, out),
        "inspect" => inspect(remote, arguments, out),
        "import" => import::import(remote, arguments, out),
        "watch" => follow::watch(remote, arguments, out),
        "stop" => stop::stop(remote, arguments, out),
        _ => return None,
    })
}

/// Runs that are shown unless all are asked for, as `stend list` does.
const SHOWN: usize = 20;

/// A document that the server sends.
///
/// Errors: what the server says; `ServerUnreachable` for what is no such document.
pub(super) fn document<T: DeserializeOwned>(remote: &Remote, target: &str) -> Result<T> {
    let reply = remote.server.get(target)?;
    read(remote, target, &reply.body)
}

fn read<T: DeserializeOwned>(remote: &Remote, target: &str, body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|why| not_understood(remote.server.url(), target, &Say::same(why.to_string())))
}

fn text(remote: &Remote, target: &str) -> Result<String> {
    Ok(String::from_utf8_lossy(&remote.server.get(target)?.body).into_owned())
}

/// Errors: `Usage` if one of these options is given, each of which means this machine.
pub(super) fn refuse(remote: &Remote, arguments: &ArgMatches, options: &[&str]) -> Result<()> {
    let given = |name: &&&str| arguments.value_source(name) == Some(ValueSource::CommandLine);
    let Some(option) = options.iter().find(given) else { return Ok(()) };
    let (url, option) =
        (remote.server.url(), if *option == "PATH" { "PATH".to_string() } else { format!("--{option}") });
    Err(Error::usage(say!(
        "`{option}` does not work over the server {url}",
        "`{option}` не работает через сервер {url}"
    ))
    .hint(say!("leave it out, or log in to that machine", "уберите его или войдите на ту машину")))
}

/// `stend list`.
fn list(remote: &Remote, arguments: &ArgMatches, out: &Out) -> Result<()> {
    let how_many = if arguments.get_flag("all") { "all=true".to_string() } else { format!("limit={SHOWN}") };
    let condition = arguments.get_one::<String>("where");
    let condition = condition.map(|condition| format!("&where={}", escaped(condition))).unwrap_or_default();
    let form = match out.json {
        true => String::new(),
        false => {
            let (lang, width, color) = (out.lang.tag(), out.width(), out.colour());
            format!("&format=text&lang={lang}&width={width}&color={color}")
        }
    };
    out.result(&text(remote, &format!("/api/v1/runs?recordings=true&{how_many}{condition}{form}"))?)
}

/// `stend suites`.
fn suites(remote: &Remote, arguments: &ArgMatches, out: &Out) -> Result<()> {
    #[derive(Deserialize)]
    struct Suites {
        suites: Vec<Suite>,
    }
    #[derive(Deserialize)]
    struct Suite {
        name: String,
        about: Say,
        text: String,
    }
    let Suites { suites } = document(remote, "/api/v1/suites")?;
    let named = arguments.get_one::<String>("SUITE");
    if let Some(name) = named.filter(|name| !suites.iter().any(|suite| suite.name == **name)) {
        return Err(super::suites::unknown(name, suites.iter().map(|suite| suite.name.as_str())));
    }
    let meant = suites.into_iter().filter(|suite| named.is_none_or(|name| *name == suite.name));
    let shown =
        meant.map(|suite| ListedSuite::of(&suite.name, suite.about, &suite.text)).collect::<Result<Vec<_>>>()?;
    super::suites::print(&shown, named.is_some(), out)
}

/// `stend doctor`.
fn doctor(remote: &Remote, arguments: &ArgMatches, out: &Out) -> Result<()> {
    #[derive(Deserialize)]
    struct Items {
        items: Vec<CheckupItem>,
    }
    refuse(remote, arguments, &["on", "ssh", "hosts"])?;
    let Items { items } = document(remote, "/api/v1/doctor")?;
    super::doctor::print(&Checkup { items }, out)
}

/// `stend inspect`.
fn inspect(remote: &Remote, arguments: &ArgMatches, out: &Out) -> Result<()> {
    refuse(remote, arguments, &["PATH", "ssh", "hosts"])?;
    let quick = if arguments.get_flag("quick") { "?quick=true" } else { "" };
    let inventory: Inventory = document(remote, &format!("/api/v1/drives{quick}"))?;
    super::inspect::print(&inventory, out)
}
