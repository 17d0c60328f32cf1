//! `stend lab`, and the worker that a run is given: one of this machine, or one of a machine of the lab.

use crate::out::Out;
use clap::ArgMatches;
use std::io::Read;
use std::process::Command;
use std::time::Duration;
use stend_base::{Error, Kind, Result, say};
use stend_host::Host;
use stend_lab::{Built, Image};
use stend_spec::machine::Machine;

/// How long a worker of this machine may take until it speaks; milliseconds are usual.
const HELLO_LIMIT: Duration = Duration::from_secs(60);

/// `build` is the one action that there is: makes the image of the guests.
pub fn lab(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let Built { image, found } = stend_lab::build(&stend_lab::cache_directory()?, arguments.get_flag("offline"))?;
    if out.json {
        let document = serde_json::json!({"kernel": image.kernel, "system": image.system, "found": found});
        return out.result(&document.to_string());
    }
    let place = image.kernel.parent().unwrap_or(&image.kernel).display();
    let told = match found {
        true => say!("the image is there already: {place}", "образ уже есть: {place}"),
        false => say!("the image is built: {place}", "образ собран: {place}"),
    };
    out.result(told.get(out.lang))
}

/// The worker that the command line asks for: with `--lab` in a machine that is started for it, else here.
///
/// The machine ends with the calling thread, so that must be the one that lives as long as the process.
pub fn reach(arguments: &ArgMatches, out: &Out) -> Result<Host> {
    let Some(file) = arguments.get_one::<String>("lab") else { return Host::reach(worker_command()?, HELLO_LIMIT) };
    let machine = read_machine(file)?;
    let cache = stend_lab::cache_directory()?;
    let image = Image::find(&cache)?;
    let name = &machine.name;
    out.note(say!("starting the machine `{name}` of the lab", "запускается машина лаборатории `{name}`").get(out.lang));
    stend_lab::boot(&machine, &image, &cache)
}

fn read_machine(name: &str) -> Result<Machine> {
    let unreadable = |e: std::io::Error| {
        Error::new(
            Kind::Spec,
            say!("cannot read the machine file `{name}`: {e}", "не удаётся прочитать файл машины `{name}`: {e}"),
        )
    };
    let mut text = String::new();
    // One byte more than the parser takes: it says so instead of reading a huge file.
    let limit = stend_spec::parse::SIZE_MAX as u64 + 1;
    let file = std::fs::File::open(name).map_err(unreadable)?;
    file.take(limit).read_to_string(&mut text).map_err(unreadable)?;
    stend_spec::parse::machine(&text, name)
}

/// This binary as a worker.
fn worker_command() -> Result<Command> {
    let program = std::env::current_exe().map_err(|e| {
        Error::new(
            Kind::Bug,
            say!("cannot find our own binary: {e}", "не удаётся найти собственный исполняемый файл: {e}"),
        )
    })?;
    let mut command = Command::new(program);
    command.arg("worker");
    Ok(command)
}
