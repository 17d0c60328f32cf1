//! `stend export RUN --format json|csv`: a run for other programs; with `--ios` the log of every I/O.

use crate::out::Out;
use clap::ArgMatches;
use std::io::{Result as IoResult, Write};
use std::path::Path;
use stend_base::{Error, Kind, Result, say};

/// Writes the export to a file, or to the standard output.
pub fn export(arguments: &ArgMatches, out: &Out) -> Result<()> {
    if arguments.get_flag("ios") {
        return super::export_ios::export(arguments, out);
    }
    if super::required(arguments, "format") == "fio" {
        let message = say!("`--format fio` is for `--ios`", "`--format fio` — только для `--ios`");
        return Err(Error::new(Kind::Usage, message));
    }
    let run = super::read_run(arguments)?;
    let csv = super::required(arguments, "format") == "csv";
    let trials = if csv { stend_analyse::by_trial(&run)? } else { Vec::new() };
    let write = |to: &mut dyn Write| -> IoResult<()> {
        match csv {
            true => stend_report::trials_csv(&run.header.id, &trials, to),
            false => stend_report::record_json(&run, to),
        }
    };
    match arguments.get_one::<String>("output").filter(|file| *file != "-") {
        None => out.stream(write),
        Some(file) => {
            crate::save::save(Path::new(file), &say!("the export", "экспорт"), write)?;
            match out.json {
                true => out.result(&serde_json::json!({"export": file}).to_string()),
                false => out.result(file),
            }
        }
    }
}
