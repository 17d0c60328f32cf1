//! Results of elbencho, as `--csvfile` and `--jsonfile` write them, as a run. Judges nothing.
//!
//! What becomes what is `docs/formats/import.md`. Source: elbencho, docs/csv-docs.md and source/Statistics.cpp.

mod document;
mod phase;
mod sheet;

use crate::build::{self, File, ImportedRun};
use phase::Phase;
use std::collections::BTreeMap;
use stend_base::{Bytes, Error, Lang, Result, Say, format, say};
use stend_record::Imported;

/// Columns that no other table has.
const COLUMNS: [&str; 3] = ["operation", "time ms [last]", "IOPS [last]"];

/// Whether a text is a table of elbencho.
pub(crate) fn is_table(text: &str) -> bool {
    let head = text.lines().next().unwrap_or_default();
    COLUMNS.iter().all(|column| head.split(',').any(|own| own.trim_matches([' ', '"']) == *column))
}

/// Whether a text is JSON of elbencho.
pub(crate) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("\"phase_type\"") && text.contains("\"last_done\"")
}

/// Reads tables. Errors are of kind `Spec`.
pub(crate) fn read_tables(files: &[File<'_>]) -> Result<ImportedRun> {
    run(files, sheet::phases)
}

/// Reads JSON. Errors are of kind `Spec`.
pub(crate) fn read_json(files: &[File<'_>]) -> Result<ImportedRun> {
    run(files, document::phases)
}

/// What of a file is left out, and at which line; and the phases that it holds.
type Found = (Vec<Phase>, Vec<(u32, Say)>);

fn run(files: &[File<'_>], phases: fn(&str) -> std::result::Result<Found, (u32, Say)>) -> Result<ImportedRun> {
    let mut imported = Imported { tool: "elbencho".to_string(), ..Imported::default() };
    let mut found = Vec::new();
    for (index, file) in (0u32..).zip(files) {
        let text = file.text()?;
        let (phases, dropped) = phases(&text).map_err(|(line, why)| refused(&build::missing(file.name, line, &why)))?;
        imported.dropped.extend(dropped.iter().map(|(line, why)| build::missing(file.name, *line, why)));
        if phases.is_empty() {
            return Err(refused(&nothing(file.name, dropped.first())));
        }
        let mut versions: Vec<&str> = phases.iter().map(|phase| phase.version.as_str()).collect();
        versions.dedup();
        imported.files.push(file.source(&versions.join(", ")));
        found.extend(phases.into_iter().map(|phase| phase.printed(index).found()));
    }
    build::run(imported, found, axis)
}

fn nothing(name: &str, first: Option<&(u32, Say)>) -> Say {
    let (en, ru) = match first {
        Some((_, Say { en, ru })) => (format!(" ({en})"), format!(" ({ru})")),
        None => (String::new(), String::new()),
    };
    say!(
        "`{name}` holds no phase that reads or writes data{en}",
        "в `{name}` нет фазы, которая читает или пишет данные{ru}"
    )
}

/// What suites have, too, is called as there.
fn axis(name: &str, value: String, _: &BTreeMap<String, String>) -> (String, String) {
    match name {
        "IO depth" | "io_depth" => ("queue_depth".to_string(), value),
        "threads" => ("jobs".to_string(), value),
        "block size" | "block_size" => {
            let size = value.parse().map(|bytes| format::bytes(Bytes(bytes), Lang::En));
            ("block_size".to_string(), size.unwrap_or(value))
        }
        _ => (name.to_string(), value),
    }
}

fn refused(why: &Say) -> Box<Error> {
    Error::spec(why.clone()).hint(say!(
        "write them with `elbencho --csvfile FILE` or `--jsonfile FILE`; see docs/formats/import.md",
        "запишите их через `elbencho --csvfile ФАЙЛ` или `--jsonfile ФАЙЛ`; см. docs/formats/import.md"
    ))
}

#[cfg(test)]
mod tests;
