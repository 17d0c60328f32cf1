//! Results of vdbench, as its `flatfile.html` tells them, as a run. Judges nothing.
//!
//! What becomes what is `docs/formats/import.md`. Source: the comments at the head of each flatfile, which define its columns, and
//! vdbench 5.04.06.

mod flatfile;
mod load;

use crate::build::{self, File, ImportedRun};
use load::Load;
use std::collections::BTreeMap;
use stend_base::{Bytes, Error, Lang, Result, Say, format, say};
use stend_record::Imported;

/// Whether a text is a flatfile.
pub(crate) fn is_flatfile(text: &str) -> bool {
    text.lines().any(flatfile::is_head)
}

/// Whether a text is the page that vdbench writes for people.
pub(crate) fn is_summary(text: &str) -> bool {
    text.contains("Vdbench summary report") && text.contains("Starting RD=")
}

/// Reads flatfiles. Errors are of kind `Spec`.
pub(crate) fn read(files: &[File<'_>]) -> Result<ImportedRun> {
    let mut imported = Imported { tool: "vdbench".to_string(), ..Imported::default() };
    let mut found = Vec::new();
    for (index, file) in (0u32..).zip(files) {
        let text = file.text()?;
        let read = flatfile::runs(&text).and_then(|(runs, mut dropped)| {
            let mut loads = Vec::new();
            for run in runs {
                match Load::of(&run)? {
                    Ok(load) => loads.push(load),
                    Err(why) => dropped.push((run.line, why)),
                }
            }
            Ok((loads, dropped))
        });
        let (loads, dropped) = read.map_err(|(line, why)| refused(&build::missing(file.name, line, &why)))?;
        if loads.is_empty() {
            return Err(refused(&nothing(file.name, dropped.first())));
        }
        imported.dropped.extend(dropped.iter().map(|(line, why)| build::missing(file.name, *line, why)));
        imported.files.push(file.source("vdbench"));
        found.extend(loads.into_iter().map(|load| load.printed(index).found()));
    }
    build::run(imported, found, axis)
}

/// What suites have, too, is called as there.
fn axis(name: &str, value: String, _: &BTreeMap<String, String>) -> (String, String) {
    match (name, value.parse()) {
        ("xfersize", Ok(bytes)) => ("block_size".to_string(), format::bytes(Bytes(bytes), Lang::En)),
        _ => (name.to_string(), value),
    }
}

fn nothing(name: &str, first: Option<&(u32, Say)>) -> Say {
    let (en, ru) = match first {
        Some((line, Say { en, ru })) => (format!(": {line}: {en}"), format!(": {line}: {ru}")),
        None => (String::new(), String::new()),
    };
    say!("`{name}` holds no run that ended{en}", "в `{name}` нет завершённого прогона{ru}")
}

fn refused(why: &Say) -> Box<Error> {
    Error::spec(why.clone()).hint(say!(
        "import `flatfile.html` as vdbench wrote it; see docs/formats/import.md",
        "импортируйте `flatfile.html` в том виде, в каком его записал vdbench; см. docs/formats/import.md"
    ))
}

#[cfg(test)]
mod tests;
