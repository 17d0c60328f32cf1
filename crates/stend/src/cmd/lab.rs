//! `stend lab`: images, and machines that stay up.

use super::frontend::Terminal;
use super::signals::watch_signals;
use super::{lab_fault, lab_like, lab_shell, required};
use crate::out::Out;
use clap::ArgMatches;
use serde_json::{Value, json};
use std::time::Instant;
use stend_base::format::duration;
use stend_base::{Error, Lang, Nanos, Result, Say, say};
use stend_lab::{Built, Contents, Standing};

/// What `stend lab` is asked for.
pub fn lab(arguments: &ArgMatches, out: &Out) -> Result<()> {
    match arguments.subcommand() {
        Some(("build", arguments)) => build(arguments, out),
        Some(("up", arguments)) => up(arguments, out),
        Some(("down", arguments)) => down(arguments, out),
        Some(("cut", arguments)) => cut(arguments, out),
        Some(("fault", arguments)) => lab_fault::fault(&standing(arguments)?, arguments, out),
        Some(("list", _)) => list(out),
        Some(("machines", arguments)) => super::stands::machines(arguments, out),
        Some(("shell", arguments)) => lab_shell::shell(&standing(arguments)?, &super::many(arguments, "COMMAND"), out),
        Some(("like", arguments)) => lab_like::like(arguments, out),
        Some(("connect", arguments)) => connect(arguments),
        _ => Err(Error::usage(say!("no command given", "команда не указана"))),
    }
}

fn standing(arguments: &ArgMatches) -> Result<Standing> {
    stend_lab::find(required(arguments, "NAME"), &stend_lab::runtime_directory()?)
}

fn up(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let (file, began) = (required(arguments, "FILE"), Instant::now());
    let standing = Terminal::new(out, false, "none").session(|control, frontend| {
        control.hold(|stopped| stend_session::start_machine(file, stopped, frontend.hears))
    })?;
    let took = began.elapsed().as_nanos() as u64;
    if out.json {
        let mut document = shown(&standing);
        document["ready_ns"] = took.into();
        return out.result(&document.to_string());
    }
    out.result(started(&standing.name, Nanos(took)).get(out.lang))
}

/// How a machine came up, and what can be done with it.
fn started(name: &str, took: Nanos) -> Say {
    let [en, ru] = [Lang::En, Lang::Ru].map(|lang| duration(took, lang));
    say!(
        "the machine `{name}` is up (started in {en}); `stend lab shell {name}` enters it, `stend lab down {name}` stops it",
        "машина `{name}` запущена (за {ru}); `stend lab shell {name}` входит в неё, `stend lab down {name}` завершает её"
    )
}

fn down(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let standing = standing(arguments)?;
    standing.down()?;
    let name = &standing.name;
    match out.json {
        true => out.result(&json!({"machine": name, "up": false}).to_string()),
        false => out.result(say!("the machine `{name}` is down", "машина `{name}` завершена").get(out.lang)),
    }
}

fn cut(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let standing = standing(arguments)?;
    // A run that wants its host to lose its power does that itself; any other would only lose its worker.
    standing.free()?;
    standing.cut()?;
    let took = watch_signals()?.hold(|stopped| standing.back(stopped))?;
    let name = &standing.name;
    if out.json {
        return out
            .result(&json!({"machine": name, "up": true, "answered_after_ns": took.as_nanos() as u64}).to_string());
    }
    out.result(stend_session::answers(name, took).get(out.lang))
}

fn list(out: &Out) -> Result<()> {
    let (up, dead, failures) = stend_lab::list(&stend_lab::runtime_directory()?);
    failures.iter().for_each(|error| out.error(error));
    for name in &dead {
        let told = say!(
            "the machine `{name}` had died; its remains are removed",
            "машина `{name}` завершилась сама; её следы удалены"
        );
        out.note(told.get(out.lang));
    }
    if out.json {
        return out.result(&Value::from(up.iter().map(shown).collect::<Vec<_>>()).to_string());
    }
    if up.is_empty() {
        return out.result(say!("no machine is running", "запущенных машин нет").get(out.lang));
    }
    let line = |standing: &Standing| {
        let (name, pid) = (&standing.name, standing.process().unwrap_or(0));
        let told = standing.machine().map_or_else(|error| error.message, |machine| super::stands::outline(&machine));
        format!("{name}  pid {pid}  {}", told.get(out.lang))
    };
    out.result(&up.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// A machine that is up, for programs.
fn shown(standing: &Standing) -> Value {
    let drives: Vec<String> = standing
        .machine()
        .map(|machine| machine.drives.into_iter().map(|drive| drive.serial).collect())
        .unwrap_or_default();
    json!({"machine": standing.name, "up": true, "pid": standing.process(), "drives": drives})
}

/// Between a coordinator and the worker of a machine that is up.
fn connect(arguments: &ArgMatches) -> Result<()> {
    let standing = standing(arguments)?;
    let (from, mut to) = stend_sys::process::own_streams()
        .map_err(|e| Error::host_lost(say!("cannot take over the streams: {e}", "не удаётся занять потоки: {e}")))?;
    standing.connect(from, &mut to)
}

/// Makes the image of the guests.
fn build(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let contents = match arguments.get_one::<String>("FILE") {
        Some(file) => Contents::of(&stend_session::read_machine(file)?.0),
        None => Contents::default(),
    };
    let cache = stend_lab::cache_directory()?;
    let Built { image, found } = stend_lab::build(&cache, &contents, arguments.get_flag("offline"))?;
    let place = image.system.parent().unwrap_or(&image.system).display();
    if out.json {
        let document = json!({"directory": place.to_string(), "kernel": image.kernel, "system": image.system, "packages": image.packages, "found": found});
        return out.result(&document.to_string());
    }
    let told = match found {
        true => say!("the image is there already: {place}", "образ уже есть: {place}"),
        false => say!("the image is built: {place}", "образ собран: {place}"),
    };
    out.result(told.get(out.lang))
}
