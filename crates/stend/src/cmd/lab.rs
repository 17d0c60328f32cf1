//! `stend lab`: images, and machines that stay up.

use super::place::Place;
use super::{lab_like, lab_shell, required};
use crate::out::Out;
use clap::ArgMatches;
use serde_json::{Value, json};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stend_base::format::{bytes, duration, fixed};
use stend_base::{Error, Kind, Lang, Nanos, Result, Say, say};
use stend_lab::{Built, Contents, Image, Order, Standing, Start};
use stend_run::Power;
use stend_spec::machine::Machine;

/// What `stend lab` is asked for.
pub fn lab(arguments: &ArgMatches, out: &Out) -> Result<()> {
    match arguments.subcommand() {
        Some(("build", arguments)) => build(arguments, out),
        Some(("up", arguments)) => up(arguments, out),
        Some(("down", arguments)) => down(arguments, out),
        Some(("cut", arguments)) => cut(arguments, out),
        Some(("list", _)) => list(out),
        Some(("shell", arguments)) => lab_shell::shell(&standing(arguments)?, &super::many(arguments, "COMMAND"), out),
        Some(("like", arguments)) => lab_like::like(arguments, out),
        Some(("connect", arguments)) => connect(arguments),
        _ => Err(Error::new(Kind::Usage, say!("no command given", "команда не указана"))),
    }
}

fn standing(arguments: &ArgMatches) -> Result<Standing> {
    stend_lab::find(required(arguments, "NAME"), &stend_lab::runtime_directory()?)
}

fn up(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let ended = Ended::watch()?;
    let outcome = start(required(arguments, "FILE"), arguments.get_flag("cold"), &|| ended.is_asked(), out);
    let (standing, start) = ended.outcome(outcome)?;
    if out.json {
        let mut document = shown(&standing);
        document["start"] = if start.restored { "restored" } else { "booted" }.into();
        document["answered_ns"] = json!(start.answered.as_nanos() as u64);
        document["ready_ns"] = json!(start.ready.as_nanos() as u64);
        return out.result(&document.to_string());
    }
    out.result(started(&standing.name, &start).get(out.lang))
}

/// Starts the machine of a file; it stays up.
pub(super) fn start(file: &str, cold: bool, stopped: &dyn Fn() -> bool, out: &Out) -> Result<(Standing, Start)> {
    let (machine, text) = read_machine(file)?;
    let (cache, place) = (stend_lab::cache_directory()?, stend_lab::runtime_directory()?);
    let image = Image::find(&cache, &Contents::of(&machine))?;
    stend_lab::startable(&machine.name, &place)?;
    announce(&machine, out);
    let order = Order { machine: &machine, text: &text, image: &image, cache: &cache, cold };
    let (standing, start) = stend_lab::up(&order, &place, stopped)?;
    start.notes.iter().for_each(|note| out.note(note.get(out.lang)));
    Ok((standing, start))
}

/// How a machine came up, and what can be done with it.
fn started(name: &str, start: &Start) -> Say {
    let took = Nanos(start.ready.as_nanos() as u64);
    let [en, ru] = [Lang::En, Lang::Ru].map(|lang| duration(took, lang));
    let (how, how_ru) = match start.restored {
        true => (format!("restored in {en}"), format!("восстановлена за {ru}")),
        false => (format!("booted in {en}"), format!("загрузка заняла {ru}")),
    };
    say!(
        "the machine `{name}` is up ({how}); `stend lab shell {name}` enters it, `stend lab down {name}` ends it",
        "машина `{name}` запущена ({how_ru}); `stend lab shell {name}` входит в неё, `stend lab down {name}` завершает её"
    )
}

/// What hears Ctrl-C and SIGTERM, by which a machine that is half up would stay.
pub(super) struct Ended {
    any: Arc<AtomicBool>,
    by_sigterm: Arc<AtomicBool>,
    /// Nothing is half made any more: a signal ends the process as ever.
    over: Arc<AtomicBool>,
}

impl Ended {
    /// Hears them from now on.
    pub(super) fn watch() -> Result<Ended> {
        let ended = Ended { any: Arc::default(), by_sigterm: Arc::default(), over: Arc::default() };
        let heard = [(SIGTERM, &ended.by_sigterm), (SIGTERM, &ended.any), (SIGINT, &ended.any)];
        let defaults = [SIGTERM, SIGINT].map(|signal| flag::register_conditional_default(signal, ended.over.clone()));
        let flags = heard.map(|(signal, flag)| flag::register(signal, Arc::clone(flag)));
        for registered in flags.into_iter().chain(defaults) {
            registered.map_err(|e| {
                Error::new(Kind::Bug, say!("cannot watch signals: {e}", "не удаётся следить за сигналами: {e}"))
            })?;
        }
        Ok(ended)
    }

    /// Whether one of them came.
    pub(super) fn is_asked(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// What came of it, with the exit code of the signal that interrupted it.
    pub(super) fn outcome<T>(&self, outcome: Result<T>) -> Result<T> {
        self.over.store(true, Ordering::Relaxed);
        outcome.map_err(|mut error| {
            if error.kind == Kind::Interrupted && self.by_sigterm.load(Ordering::Relaxed) {
                error.kind = Kind::Terminated;
            }
            error
        })
    }
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
    let ended = Ended::watch()?;
    standing.cut()?;
    let took = ended.outcome(standing.back(&|| ended.is_asked()))?;
    let name = &standing.name;
    if out.json {
        return out
            .result(&json!({"machine": name, "up": true, "answered_after_ns": took.as_nanos() as u64}).to_string());
    }
    out.result(answers(name, took).get(out.lang))
}

/// That a machine is there again after its power was cut.
fn answers(name: &str, took: Duration) -> Say {
    let [en, ru] = [Lang::En, Lang::Ru].map(|lang| fixed(took.as_secs_f64(), 1, lang));
    say!(
        "the power of `{name}` was cut; its guest answers again after {en} s",
        "питание `{name}` отключалось; гостевая система снова отвечает через {ru} с"
    )
}

fn list(out: &Out) -> Result<()> {
    let (up, dead, failures) = stend_lab::list(&stend_lab::runtime_directory()?);
    failures.iter().for_each(|error| out.error(error));
    for name in &dead {
        let told = say!(
            "the machine `{name}` had died; what was left of it is removed",
            "машина `{name}` завершилась сама; её следы удалены"
        );
        out.note(told.get(out.lang));
    }
    if out.json {
        return out.result(&Value::from(up.iter().map(shown).collect::<Vec<_>>()).to_string());
    }
    if up.is_empty() {
        return out.result(say!("no machine is up", "запущенных машин нет").get(out.lang));
    }
    let line = |standing: &Standing| {
        let (name, pid) = (&standing.name, standing.process().unwrap_or(0));
        let told = standing.machine().map_or_else(
            |error| error.message,
            |machine| {
                let (cpus, drives) = (machine.cpus, machine.drives.len());
                let [en, ru] = [Lang::En, Lang::Ru].map(|lang| bytes(machine.memory, lang));
                say!(
                    "CPUs: {cpus}, memory: {en}, drives: {drives}",
                    "процессоров: {cpus}, память: {ru}, накопителей: {drives}"
                )
            },
        );
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
    let (from, mut to) = stend_sys::process::own_streams().map_err(|e| {
        Error::new(Kind::HostLost, say!("cannot take over the streams: {e}", "не удаётся занять потоки: {e}"))
    })?;
    standing.connect(from, &mut to)
}

/// Makes the image of the guests.
fn build(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let contents = match arguments.get_one::<String>("FILE") {
        Some(file) => Contents::of(&read_machine(file)?.0),
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

/// The machine that stays up in which a worker runs, if it is one.
pub(super) fn standing_at(place: &Place) -> Option<Standing> {
    let Place::Lab(wanted) = place else { return None };
    stend_lab::runtime_directory().and_then(|runtime| stend_lab::find(wanted, &runtime)).ok()
}

/// Power over that machine.
pub(super) fn power(place: &Place) -> Option<Power> {
    let standing = standing_at(place)?;
    Some(Power { keeps: stend_lab::KEEP.to_string(), cut: Box::new(move || standing.cut()) })
}

/// Waits until a machine whose power was cut in a run answers again.
pub(super) fn wait_for(place: &Place, out: &Out) -> Result<()> {
    let Some(standing) = standing_at(place) else { return Ok(()) };
    let took = standing.back(&|| false)?;
    out.note(answers(&standing.name, took).get(out.lang));
    Ok(())
}

pub(super) fn announce(machine: &Machine, out: &Out) {
    let name = &machine.name;
    out.note(say!("starting the machine `{name}` of the lab", "запускается машина лаборатории `{name}`").get(out.lang));
}

pub(super) fn unreadable(name: &str, Say { en, ru }: &Say) -> Box<Error> {
    Error::new(
        Kind::Spec,
        say!("cannot read the machine file `{name}`: {en}", "не удаётся прочитать файл машины `{name}`: {ru}"),
    )
}

/// A machine file, and its text.
pub(super) fn read_machine(name: &str) -> Result<(Machine, String)> {
    let text = crate::input::text(name, stend_spec::parse::SIZE_MAX as u64).map_err(|why| unreadable(name, &why))?;
    Ok((stend_spec::parse::machine(&text, name)?, text))
}
