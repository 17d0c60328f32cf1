//! Orders: from the command line, or from a file. After this nobody asks the command line what is to be run.

use clap::ArgMatches;
use std::io::Read;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
use stend_base::units::parse_nanos;
use stend_base::{Error, Nanos, Result, Say, say};
use stend_spec::keys::order::{LOAD_OF, ON_LOSS};
use stend_spec::keys::repeats::BLOCKS;
use stend_spec::keys::{Choice, ENGINES};
use stend_spec::order::{NamedText, Order, SuiteWork, VERSION, Work};
use stend_spec::parse::ORDER_MAX;
use stend_spec::permission::Permission;

/// The order that a command line gives.
pub(super) fn of(arguments: &ArgMatches) -> Result<Order> {
    if let Some(file) = arguments.get_one::<String>("order") {
        let name = if file == "-" { "standard input" } else { file };
        return stend_spec::parse::order(&text(file)?, name);
    }
    let given = |name: &str| arguments.get_one::<String>(name);
    let work = match given("resume") {
        Some(resume) => Work::Resume { resume: resume.clone() },
        None => Work::Suite(Box::new(suite_work(arguments)?)),
    };
    let stands = super::many(arguments, "stand");
    let somewhere =
        !stands.is_empty() || given("resume").is_some() || given("on").is_some() || given("hosts").is_some();
    let on = super::many(arguments, "on");
    let vms = given("vm").map(|name| stend_session::vms::hosts(name, on.is_empty())).transpose()?;
    let somewhere = somewhere || vms.is_some();
    // Disks of machines that Stend made are theirs alone: to name the machines is to name the disks.
    let (of_vms, identities) = vms.map_or((None, Vec::new()), |vms| (Some(vms.file), vms.identities));
    if !somewhere {
        return Err(super::target_suggestions::none_named());
    }
    Ok(Order {
        version: VERSION,
        work,
        stands: stands.iter().map(|file| super::stand::text_of(file)).collect::<Result<_>>()?,
        rebuild: arguments.get_flag("rebuild"),
        on,
        against: super::many(arguments, "against"),
        lab: given("lab").cloned(),
        ssh: super::many(arguments, "ssh"),
        hosts: super::hosts::file(arguments)?.or(of_vms),
        groups: super::many(arguments, "group"),
        load: of_several(arguments, "load", LOAD_OF)?,
        on_loss: of_several(arguments, "on-loss", ON_LOSS)?,
        storage: super::many(arguments, "storage"),
        observe: super::many(arguments, "observe"),
        sources: super::sources::file(arguments)?,
        permission: Permission {
            confirm: super::many(arguments, "confirm").into_iter().chain(identities).collect(),
            overwrite_signatures: super::many(arguments, "overwrite-signature"),
            commands: arguments.get_flag("allow-commands"),
            beside: arguments.get_flag("beside"),
        },
        label: given("name").map(|text| label(text)).transpose()?,
        gate: super::gate::text(arguments)?,
        expect: super::many(arguments, "expect"),
        output: given("output").cloned(),
    })
}

/// The text of the suite that a command line asks for, with what it changes in it.
pub(super) fn suite(arguments: &ArgMatches) -> Result<String> {
    stend_session::written(&suite_work(arguments)?)
}

/// The suite that is named, or said in fio's words, with the directory where its relative paths begin.
fn named_suite(arguments: &ArgMatches) -> Result<(NamedText, PathBuf)> {
    let named = |option| arguments.get_one::<String>(option);
    match (named("rw"), named("SUITE")) {
        (Some(_), _) => Ok((super::workload::suite(arguments)?, PathBuf::new())),
        (None, Some(suite)) => super::suite_text(suite),
        (None, None) => Err(Error::usage(say!("no suite and no `--rw` given", "не указаны ни набор, ни `--rw`")).hint(say!(
            "a suite (`stend suites` lists them): `stend run quick --on PATH`; or a workload: `stend run --rw randread --on PATH`",
            "набор (список: `stend suites`): `stend run quick --on ПУТЬ`; или нагрузку: `stend run --rw randread --on ПУТЬ`"
        ))),
    }
}

fn suite_work(arguments: &ArgMatches) -> Result<SuiteWork> {
    let (suite, directory) = named_suite(arguments)?;
    let engine = arguments.get_one::<String>("engine");
    let engine = engine.and_then(|name| ENGINES.iter().find(|(known, ..)| known == name)).map(|(.., engine)| *engine);
    Ok(SuiteWork {
        suite,
        directory: directory.to_string_lossy().into_owned(),
        traces: Vec::new(),
        seed: seed(arguments)?,
        engine,
        repeats: repeats(arguments)?,
        time_budget: arguments.get_one::<String>("time-budget").map(|text| budget(text)).transpose()?,
    })
}

/// The text of an order: of a file, or of the standard input (`-`).
fn text(file: &str) -> Result<String> {
    let read = match file {
        "-" => {
            let mut text = String::new();
            let input = std::io::stdin().lock().take(ORDER_MAX as u64 + 1).read_to_string(&mut text);
            input.map(|_| text).map_err(|error| Say::same(error.to_string()))
        }
        file => stend_sys::regular::text(file, ORDER_MAX as u64),
    };
    read.map_err(|Say { en, ru }| {
        Error::spec(say!("cannot read the order `{file}`: {en}", "не удаётся прочитать заказ `{file}`: {ru}")).hint(
            match super::may_not_read(file) {
                true => super::permissions(file),
                false => say!(
                    "`stend run SUITE --on PATH --print-order > order.json` writes an order",
                    "заказ запишет `stend run НАБОР --on ПУТЬ --print-order > order.json`"
                ),
            },
        )
    })
}

/// The seed that the user gave, or one drawn from the clock.
fn seed(arguments: &ArgMatches) -> Result<u64> {
    match arguments.get_one::<String>("seed") {
        Some(text) => text.parse().map_err(|_| wrong("--seed", text, "a whole number, 0 or more", "целое число от 0")),
        None => Ok(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64),
    }
}

/// A word about several load hosts.
fn of_several<T: Copy + Default>(arguments: &ArgMatches, option: &str, words: &[Choice<T>]) -> Result<T> {
    let Some(given) = arguments.get_one::<String>(option) else { return Ok(T::default()) };
    let of_file = ["hosts", "vm"].iter().any(|file| arguments.get_one::<String>(file).is_some());
    if super::many(arguments, "ssh").len() < 2 && !of_file {
        return Err(Error::usage(stend_spec::parse::needs_several(&format!("--{option}"))));
    }
    let known = words.iter().find(|(word, ..)| word == given);
    Ok(known.map(|(.., value)| *value).unwrap_or_default())
}

/// What the user calls the run.
fn label(text: &str) -> Result<String> {
    match stend_spec::order::not_a_label(text) {
        Some(Say { en, ru }) => Err(Error::usage(say!("--name: {en}", "параметр --name: {ru}"))),
        None => Ok(text.to_string()),
    }
}

/// How many blocks a suite shall have. What `--rw` writes says it in its text.
fn repeats(arguments: &ArgMatches) -> Result<Option<u32>> {
    let given = arguments.get_one::<String>("repeats").filter(|_| arguments.get_one::<String>("rw").is_none());
    let number = |text: &String| text.parse().ok().filter(|blocks| BLOCKS.hold(blocks));
    let (least, most) = (BLOCKS.least, BLOCKS.most);
    let wrong = |text: &String| {
        wrong("--repeats", text, &format!("a number from {least} to {most}"), &format!("число от {least} до {most}"))
    };
    given.map(|text| number(text).ok_or_else(|| wrong(text))).transpose()
}

fn budget(text: &str) -> Result<Nanos> {
    parse_nanos(text).map_err(|Say { en, ru }| {
        Error::usage(Say { en: format!("--time-budget: {en}"), ru: format!("--time-budget: {ru}") })
            .hint(say!("for example `--time-budget 5min`", "например `--time-budget 5min`"))
    })
}

fn wrong(option: &str, text: &str, en: &str, ru: &str) -> Box<Error> {
    let example = if option == "--seed" { "7" } else { "10" };
    Error::usage(say!("{option}: `{text}` is not {en}", "{option}: `{text}` — не {ru}"))
        .hint(say!("for example `{option} {example}`", "например `{option} {example}`"))
}
