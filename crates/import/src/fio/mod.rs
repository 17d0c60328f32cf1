//! Results of fio (`--output-format=json` or `json+`) as a run: what fio measured, in our types where they say the same, and every
//! number as it was printed. Judges nothing, and guesses nothing: what fio does not tell is marked as not known.
//!
//! What becomes what is `docs/formats/import.md`.

mod document;
mod gather;
pub mod log;
mod options;
mod trial;
mod unit;

use crate::json;
use document::Document;
use encoding_rs::UTF_8;
use stend_base::{Bytes, Error, Kind, Result, Say, say};
use stend_record::{Entry, Imported, SourceFile};
use stend_spec::plan::{PlanInputs, PlanTarget};
use stend_spec::suite::Suite;

/// Longest file of results, bytes: 64 MiB, some thousand jobs with their histograms.
pub const RESULTS_MAX: usize = 64 << 20;
/// Documents in all files together.
const DOCUMENTS_MAX: usize = 10_000;
/// Jobs in all files together.
const JOBS_MAX: usize = 10_000;

/// A file of results.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// As the user named it.
    pub name: &'a str,
    /// What is in it, or so much more than [`RESULTS_MAX`] that it is refused.
    pub bytes: &'a [u8],
}

/// A run that fio made.
#[derive(Debug, Clone, PartialEq)]
pub struct FioRun {
    /// Where it came from.
    pub imported: Imported,
    /// The cases.
    pub inputs: PlanInputs,
    /// The jobs as fio repeats their options, in the form of a job file.
    pub job_file: String,
    /// When the first trial began, ns since 1970; `None` if no file tells when it was printed.
    pub started_unix_ns: Option<i64>,
    /// Trials, in the order in which they ran; times count from the first one.
    pub entries: Vec<Entry>,
}

impl FioRun {
    /// A run of which nothing has been read yet.
    pub fn nothing_yet() -> FioRun {
        FioRun {
            imported: Imported { tool: "fio".to_string(), ..Imported::default() },
            inputs: PlanInputs {
                suite: Suite { name: "fio".to_string(), ..Suite::default() },
                seed: 0,
                target: unknown_target(),
                time_budget: None,
                traces: Vec::new(),
            },
            job_file: String::new(),
            started_unix_ns: None,
            entries: Vec::new(),
        }
    }
}

/// Reads results of fio. Several files, and several documents in a file, are trials of the same case where their options are the same.
///
/// Errors are of kind `Spec`: no results of fio at all, JSON that is wrong in the middle, the same results twice, or more than fits.
/// What only lacks its end or a part is in `imported.dropped`.
pub fn read(files: &[File<'_>]) -> Result<FioRun> {
    let (mut sources, mut documents, mut dropped) = (Vec::new(), Vec::new(), Vec::new());
    for (index, file) in (0u32..).zip(files) {
        let (found, missing) = of_file(file)?;
        let mut versions: Vec<&str> = found.iter().map(|document| document.version.as_str()).collect();
        versions.dedup();
        sources.push(SourceFile {
            name: file.name.to_string(),
            size: Bytes(file.bytes.len() as u64),
            version: versions.join(", "),
        });
        dropped.extend(missing);
        documents.extend(found.into_iter().map(|document| (index, document)));
    }
    let jobs: usize = documents.iter().map(|(_, document)| document.jobs.len()).sum();
    if documents.len() > DOCUMENTS_MAX || jobs > JOBS_MAX {
        return Err(Error::new(
            Kind::Spec,
            say!(
                "the files hold more than {DOCUMENTS_MAX} results or {JOBS_MAX} jobs",
                "в файлах больше {DOCUMENTS_MAX} результатов или {JOBS_MAX} заданий"
            ),
        )
        .hint(say!("import them in parts", "импортируйте их по частям")));
    }
    let gathered = gather::gather(&documents, files)?;
    dropped.extend(gathered.dropped);
    let mut inputs = FioRun::nothing_yet().inputs;
    (inputs.suite.told, inputs.suite.blocks) = (gathered.cases, gathered.blocks);
    Ok(FioRun {
        imported: Imported {
            tool: "fio".to_string(),
            files: sources,
            targets: gathered.targets,
            snapshots: gathered.snapshots,
            dropped,
        },
        job_file: gathered.job_file,
        inputs,
        started_unix_ns: gathered.started_unix_ns,
        entries: gathered.entries,
    })
}

/// Nothing is planned, so nothing of it is asked.
fn unknown_target() -> PlanTarget {
    PlanTarget {
        count: 1,
        size: Bytes(0),
        room: None,
        logical_block: Bytes(512),
        discards: true,
        null: None,
        topology: Default::default(),
        writes: Ok(()),
    }
}

/// The documents of a file with something in them, and what of it is not there.
fn of_file(file: &File<'_>) -> Result<(Vec<Document>, Vec<Say>)> {
    let name = file.name;
    if file.bytes.len() > RESULTS_MAX {
        let most = RESULTS_MAX >> 20;
        return Err(Error::new(Kind::Spec, say!("`{name}` is longer than {most} MiB", "`{name}` длиннее {most} МиБ")));
    }
    // A mark at the beginning decides: what a Windows shell redirects is UTF-16.
    let (text, ..) = UTF_8.decode(file.bytes);
    let (values, broken) = json::documents(&text);
    let mut dropped = Vec::new();
    let found: Vec<Document> = values.iter().filter_map(Document::of).collect();
    if let Some(broken) = broken {
        let (line, Say { en, ru }) = (broken.line, broken.why);
        // What was cut off by a full disk or a kill is no reason to lose what came before it.
        if !broken.truncated || found.is_empty() {
            return Err(Error::new(
                Kind::Spec,
                say!(
                    "{name}:{line}: results of fio cannot be read: {en}",
                    "{name}:{line}: результаты fio не читаются: {ru}"
                ),
            )
            .hint(results_hint()));
        }
        dropped.push(say!("{name}:{line}: the last results: {en}", "{name}:{line}: последние результаты: {ru}"));
    }
    for document in &found {
        for (line, Say { en, ru }) in &document.dropped {
            dropped.push(say!("{name}:{line}: {en}", "{name}:{line}: {ru}"));
        }
    }
    if found.iter().all(|document| document.jobs.is_empty()) {
        let (en, ru) = match dropped.first() {
            Some(Say { en, ru }) => (format!(" ({en})"), format!(" ({ru})")),
            None => (String::new(), String::new()),
        };
        return Err(Error::new(
            Kind::Spec,
            say!("`{name}` holds no results of fio{en}", "в `{name}` нет результатов fio{ru}"),
        )
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
