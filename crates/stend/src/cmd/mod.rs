//! One file per verb.

pub mod audit;
mod beside;
mod campaign;
pub mod compare;
pub mod completions;
pub mod doctor;
pub mod export;
mod export_ios;
mod history;
pub mod import;
mod import_suite;
pub mod inspect;
pub mod lab;
mod lab_like;
mod lab_shell;
pub mod list;
pub mod man;
mod place;
pub mod report;
pub mod run;
pub mod show;
mod signals;
pub mod stand;
pub mod stop;
mod storage;
pub mod suites;
pub mod watch;
pub mod worker;

use crate::save::Output;
use clap::ArgMatches;
use std::path::Path;
use stend_base::{Error, Kind, Result, Say, say};
use stend_record::{RunRecord, store};
use stend_spec::plan::Plan;

/// A required argument; clap has checked that it is there.
fn required<'a>(arguments: &'a ArgMatches, name: &str) -> &'a str {
    arguments.get_one::<String>(name).map_or("", String::as_str)
}

/// All values of a repeatable option.
fn many(arguments: &ArgMatches, name: &str) -> Vec<String> {
    arguments.get_many::<String>(name).into_iter().flatten().cloned().collect()
}

/// The file that an option names, if it names one and not the standard output (`-`).
fn output(arguments: &ArgMatches, option: &str, what: Say) -> Option<Output> {
    let file = arguments.get_one::<String>(option).filter(|file| *file != "-")?;
    Some(Output::new(file, what, arguments.get_flag("force")))
}

/// Whether an option names the standard output.
fn to_standard_output(arguments: &ArgMatches, option: &str) -> bool {
    arguments.get_one::<String>(option).is_some_and(|file| file == "-")
}

/// Reads the run that the user means by an id, a unique prefix, a path or `last`.
fn read_run(arguments: &ArgMatches) -> Result<RunRecord> {
    read(required(arguments, "RUN"))
}

/// Reads a run by its name, as [`read_run`].
fn read(name: &str) -> Result<RunRecord> {
    read_file(&store::locate(name, &store::directory()?)?)
}

/// Reads a run file whose inputs make a plan, which everything that is computed of it needs.
///
/// Errors are of kind `RunFile`.
fn read_file(path: &Path) -> Result<RunRecord> {
    let run = store::read(path)?;
    match Plan::new(&run.header.inputs) {
        Ok(_) => Ok(run),
        Err(error) => {
            let (shown, en, ru) = (path.display(), &error.message.en, &error.message.ru);
            Err(Error::new(
                Kind::RunFile,
                say!("the run in `{shown}` has no possible plan: {en}", "у прогона в `{shown}` невозможный план: {ru}"),
            ))
        }
    }
}
