//! Results of Iometer, as its `results.csv` tells them, as a run. Judges nothing.
//!
//! What becomes what is `docs/formats/import.md`. Source: Iometer 1.1, ManagerList.cpp, PageSetup.cpp and AccessSpecList.cpp (what is written),
//! Worker.cpp and IOGrunt.cpp (what it means).

mod access;
mod load;
mod sections;

use crate::build::{self, File, ImportedRun};
use crate::printed::Printed;
use std::collections::BTreeMap;
use stend_base::{Error, Result, Say, say};
use stend_record::Imported;

/// Why a text cannot be read, and at which line.
type Bad = (u32, Say);

/// Whether a text is a file of results.
pub(crate) fn is_results(text: &str) -> bool {
    text.lines().any(sections::is_head)
}

/// Reads files of results. Errors are of kind `Spec`.
pub(crate) fn read(files: &[File<'_>]) -> Result<ImportedRun> {
    let mut imported = Imported { tool: "Iometer".to_string(), ..Imported::default() };
    let mut found = Vec::new();
    for (index, file) in (0u32..).zip(files) {
        let text = file.text()?;
        let read = sections::read(&text).and_then(|(tests, mut dropped)| {
            let mut trials = Vec::new();
            for test in &tests {
                match load::trial(test, index)? {
                    Ok(trial) => trials.push(trial),
                    Err(why) => dropped.push((test.row.line, why)),
                }
            }
            Ok((trials, dropped))
        });
        let (trials, dropped) = read.map_err(|(line, why)| refused(&build::missing(file.name, line, &why)))?;
        if trials.is_empty() {
            return Err(refused(&nothing(file.name, dropped.first())));
        }
        imported.dropped.extend(dropped.iter().map(|(line, why)| build::missing(file.name, *line, why)));
        let mut versions: Vec<&str> = trials.iter().map(|trial| trial.version.as_str()).collect();
        versions.dedup();
        imported.files.push(file.source(&versions.join(", ")));
        found.extend(trials.into_iter().map(Printed::found));
    }
    build::run(imported, found, axis)
}

/// What suites have, too, is called as there.
fn axis(name: &str, value: String, _: &BTreeMap<String, String>) -> (String, String) {
    match name {
        "Queue Depth" => ("queue_depth".to_string(), value),
        "# Disks" => ("jobs".to_string(), value),
        _ => (name.to_string(), value),
    }
}

fn nothing(name: &str, first: Option<&Bad>) -> Say {
    let (en, ru) = match first {
        Some((line, Say { en, ru })) => (format!(": {line}: {en}"), format!(": {line}: {ru}")),
        None => (String::new(), String::new()),
    };
    say!("`{name}` holds no results of a test{en}", "в `{name}` нет результатов испытания{ru}")
}

fn refused(why: &Say) -> Box<Error> {
    Error::spec(why.clone()).hint(say!(
        "import `results.csv` as Iometer wrote it; see docs/formats/import.md",
        "импортируйте `results.csv` в том виде, в каком его записал Iometer; см. docs/formats/import.md"
    ))
}

#[cfg(test)]
mod tests;
