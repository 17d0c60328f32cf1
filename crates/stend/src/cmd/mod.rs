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

use clap::ArgMatches;
use stend_base::Result;
use stend_record::{RunRecord, store};

/// A required argument; clap has checked that it is there.
fn required<'a>(arguments: &'a ArgMatches, name: &str) -> &'a str {
    arguments.get_one::<String>(name).map_or("", String::as_str)
}

/// All values of a repeatable option.
fn many(arguments: &ArgMatches, name: &str) -> Vec<String> {
    arguments.get_many::<String>(name).into_iter().flatten().cloned().collect()
}

/// Reads the run that the user means by an id, a unique prefix, a path or `last`.
fn read_run(arguments: &ArgMatches) -> Result<RunRecord> {
    read(required(arguments, "RUN"))
}

/// Reads a run by its name, as [`read_run`].
fn read(name: &str) -> Result<RunRecord> {
    let path = store::locate(name, &store::directory()?)?;
    store::read(&path)
}
