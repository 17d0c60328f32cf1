//! Results of diskspd, as `-Rxml` prints them, as a run. Judges nothing.
//!
//! What becomes what is `docs/formats/import.md`. Source: microsoft/diskspd, XmlResultParser.cpp, Common.cpp (the profile that is repeated
//! in the results) and IORequestGenerator.cpp (what is measured).

mod buckets;
mod profile;
mod span;

use crate::build::{self, File, ImportedRun};
use crate::printed::Printed;
use crate::xml;
use span::Document;
use std::collections::BTreeMap;
use stend_base::{Bytes, Error, Lang, Result, Say, format, say};
use stend_record::Imported;

/// Names of targets that are kept.
const TARGETS_MAX: usize = 1000;
/// Versions that are kept of a file: documents of one file are mostly of one.
const VERSIONS_MAX: usize = 16;

/// Why a text cannot be read, and at which line.
type Bad = (u32, Say);

/// Whether a text is results of diskspd.
pub(crate) fn is_results(text: &str) -> bool {
    text.contains("<Results>") && ["<Profile>", "<TimeSpan>"].iter().all(|name| text.contains(name))
}

/// Whether a text is a profile of diskspd: what it is asked for, and nothing that came of it.
pub(crate) fn is_profile(text: &str) -> bool {
    text.contains("<Profile>") && text.contains("<TimeSpans>") && !text.contains("<Results>")
}

/// Reads results. Errors are of kind `Spec`.
pub(crate) fn read(files: &[File<'_>]) -> Result<ImportedRun> {
    let mut imported = Imported { tool: "diskspd".to_string(), ..Imported::default() };
    let mut found = Vec::new();
    for (index, file) in (0u32..).zip(files) {
        let text = file.text()?;
        let Found { trials, dropped, versions, targets } = of_text(&text, index, build::TRIALS_MAX - found.len())
            .map_err(|(line, why)| refused(&build::missing(file.name, line, &why)))?;
        if trials.is_empty() {
            return Err(refused(&nothing(file.name, dropped.first())));
        }
        imported.dropped.extend(dropped.iter().map(|(line, why)| build::missing(file.name, *line, why)));
        imported.files.push(file.source(&versions.join(", ")));
        imported.targets.extend(targets);
        found.extend(trials.into_iter().map(Printed::found));
    }
    let mut seen = std::collections::HashSet::new();
    imported.targets.retain(|target| seen.len() < TARGETS_MAX && seen.insert(target.clone()));
    build::run(imported, found, axis)
}

/// What is in a text.
#[derive(Default)]
struct Found {
    trials: Vec<Printed>,
    /// What is left out.
    dropped: Vec<Bad>,
    /// What wrote it.
    versions: Vec<String>,
    /// What it was pointed at.
    targets: Vec<String>,
}

/// At most so many time spans of a text, those that are left out included.
fn of_text(text: &str, file: u32, most: usize) -> std::result::Result<Found, Bad> {
    let (roots, broken) = xml::documents(text);
    let mut found = Found::default();
    for root in roots.iter().filter(|root| root.name == "Results") {
        let document = Document::of(root);
        for (number, element) in root.all("TimeSpan").enumerate() {
            if found.trials.len() + found.dropped.len() >= most {
                let most = build::TRIALS_MAX;
                let why = say!("more than {most} time spans in all", "всего больше {most} интервалов");
                return Err((element.line, why));
            }
            match document.trial(number, element, file)? {
                Ok(trial) => found.trials.push(trial),
                Err(why) => found.dropped.push((element.line, why)),
            }
        }
        found.targets.extend(document.paths().map(String::from));
        if found.versions.len() < VERSIONS_MAX && !found.versions.contains(&document.version) {
            found.versions.push(document.version);
        }
    }
    match broken {
        // What was cut off by a full disk or a kill is no reason to lose what came before it.
        Some(broken) if broken.truncated && !found.trials.is_empty() => {
            found.dropped.push((broken.line, broken.why));
        }
        Some(broken) => return Err((broken.line, broken.why)),
        None => {}
    }
    Ok(found)
}

/// What suites have, too, is called as there.
fn axis(name: &str, value: String, _: &BTreeMap<String, String>) -> (String, String) {
    match (name, value.parse()) {
        ("BlockSize", Ok(bytes)) => ("block_size".to_string(), format::bytes(Bytes(bytes), Lang::En)),
        ("RequestCount", _) => ("queue_depth".to_string(), value),
        ("ThreadsPerFile", _) => ("jobs".to_string(), value),
        _ => (name.to_string(), value),
    }
}

fn nothing(name: &str, first: Option<&Bad>) -> Say {
    let (en, ru) = match first {
        Some((line, Say { en, ru })) => (format!(": {line}: {en}"), format!(": {line}: {ru}")),
        None => (String::new(), String::new()),
    };
    say!("`{name}` holds no time span with results{en}", "в `{name}` нет интервала с результатами{ru}")
}

fn refused(why: &Say) -> Box<Error> {
    Error::spec(why.clone()).hint(say!(
        "write them with `diskspd -Rxml … > FILE`, with -L for latencies; see docs/formats/import.md",
        "запишите их через `diskspd -Rxml … > ФАЙЛ`, с -L для задержек; см. docs/formats/import.md"
    ))
}

#[cfg(test)]
mod tests;
