//! Results of fio (`--output-format=json` or `json+`) as a run: what fio measured, in our types where they say the same, and every
//! number as it was printed. Judges nothing, and guesses nothing: what fio does not tell is marked as not known.
//!
//! What becomes what is `docs/formats/import.md`.

mod document;
mod engines;
mod gather;
pub mod log;
mod options;
mod trial;
mod unit;

use crate::build::{self, File, ImportedRun};
use crate::json;
use document::Document;
use stend_base::{Error, Result, Say, say};
use stend_record::Imported;

/// Documents in all files together.
const DOCUMENTS_MAX: usize = 10_000;
/// Jobs in all files together.
const JOBS_MAX: usize = 10_000;

/// Reads results of fio. Several files, and several documents in a file, are trials of the same case where their options are the same.
///
/// Errors are of kind `Spec`: no results of fio at all, JSON that is wrong in the middle, the same results twice, or more than fits.
/// What only lacks its end or a part is in `imported.dropped`.
pub(crate) fn read(files: &[File<'_>]) -> Result<ImportedRun> {
    let (mut sources, mut documents, mut dropped) = (Vec::new(), Vec::new(), Vec::new());
    for (index, file) in (0u32..).zip(files) {
        let (found, missing) = of_file(file)?;
        let mut versions: Vec<&str> = found.iter().map(|document| document.version.as_str()).collect();
        versions.dedup();
        sources.push(file.source(&versions.join(", ")));
        dropped.extend(missing);
        documents.extend(found.into_iter().map(|document| (index, document)));
    }
    let jobs: usize = documents.iter().map(|(_, document)| document.jobs.len()).sum();
    if documents.len() > DOCUMENTS_MAX || jobs > JOBS_MAX {
        return Err(Error::spec(say!(
            "the files hold more than {DOCUMENTS_MAX} results or {JOBS_MAX} jobs",
            "в файлах больше {DOCUMENTS_MAX} результатов или {JOBS_MAX} заданий"
        ))
        .hint(say!("import them in parts", "импортируйте их по частям")));
    }
    let gathered = gather::gather(&documents);
    let imported = Imported {
        tool: "fio".to_string(),
        files: sources,
        targets: gathered.targets,
        snapshots: gathered.snapshots,
        dropped,
    };
    build::run(imported, gathered.found, gather::axis)
}

/// The documents of a file with something in them, and what of it is not there.
fn of_file(file: &File<'_>) -> Result<(Vec<Document>, Vec<Say>)> {
    let name = file.name;
    let text = file.text()?;
    let (values, broken) = json::documents(&text);
    let mut dropped = Vec::new();
    let found: Vec<Document> = values.iter().filter_map(Document::of).collect();
    if let Some(broken) = broken {
        let (line, Say { en, ru }) = (broken.line, broken.why);
        // What was cut off by a full disk or a kill is no reason to lose what came before it.
        if !broken.truncated || found.is_empty() {
            return Err(Error::spec(say!(
                "{name}:{line}: results of fio cannot be read: {en}",
                "{name}:{line}: результаты fio не читаются: {ru}"
            ))
            .hint(results_hint()));
        }
        dropped.push(say!("{name}:{line}: the last results: {en}", "{name}:{line}: последние результаты: {ru}"));
    }
    for document in &found {
        for (line, why) in &document.dropped {
            dropped.push(build::missing(name, *line, why));
        }
    }
    if found.iter().all(|document| document.jobs.is_empty()) {
        let (en, ru) = match dropped.first() {
            Some(Say { en, ru }) => (format!(" ({en})"), format!(" ({ru})")),
            None => (String::new(), String::new()),
        };
        return Err(Error::spec(say!("`{name}` holds no results of fio{en}", "в `{name}` нет результатов fio{ru}"))
            .hint(results_hint()));
    }
    Ok((found, dropped))
}

fn results_hint() -> Say {
    say!(
        "make them with `fio --output-format=json+ --output=FILE JOBFILE`; see docs/formats/import.md",
        "получите их командой `fio --output-format=json+ --output=ФАЙЛ ЗАДАНИЯ`; см. docs/formats/import.md"
    )
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod snapshot_tests;
