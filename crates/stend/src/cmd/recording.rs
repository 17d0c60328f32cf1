//! Recordings among runs: opens and folds one, and shows it.

use crate::out::Out;
use clap::ArgMatches;
use clap::parser::ValueSource;
use std::path::Path;
use stend_analyse::journal::{Journal, Problem};
use stend_analyse::recording::{Fold, Recorded};
use stend_base::{Error, Result, say};
use stend_record::store::{self, SampleRows};

/// The recording in this file; `None` if a run is in it.
///
/// Errors: kind `Usage` if an option was given that says nothing of a recording.
pub fn open(path: &Path, arguments: &ArgMatches, only_of_runs: &[&str]) -> Result<Option<SampleRows>> {
    if store::glance(path)?.header.recording.is_none() {
        return Ok(None);
    }
    let given = |name: &&&str| arguments.value_source(name) == Some(ValueSource::CommandLine);
    if let Some(option) = only_of_runs.iter().find(given) {
        return Err(Error::usage(say!(
            "`--{option}` is about runs, and this is a recording",
            "`--{option}` относится к прогонам, а это запись"
        ))
        .hint(say!("leave the option out", "уберите этот ключ")));
    }
    SampleRows::open(path).map(Some)
}

/// Everything that it says, and its journal.
pub fn folded(rows: &SampleRows) -> (Recorded, Vec<Problem>) {
    let mut journal = Journal::new(&rows.record);
    let ends = rows.at(0).zip(rows.at(rows.len().saturating_sub(1))).unwrap_or_default();
    let runs = stend_session::concurrent_runs(&rows.record, ends);
    let mut fold = Fold::new(ends.0, ends.1, rows.len()).of_host(rows.record.load()).with_runs(runs);
    for sample in (0..rows.len()).filter_map(|index| rows.get(index)) {
        journal.add(sample.clone());
        fold.add(sample);
    }
    (fold.end(&rows.record), journal.end())
}

/// Options of `show` that are about runs.
const OF_SHOWN_RUNS: [&str; 4] = ["verbose", "gate", "expect", "junit"];

/// Prints a recording. `false`: it is a run.
pub fn show(path: &Path, arguments: &ArgMatches, out: &Out) -> Result<bool> {
    let Some(rows) = open(path, arguments, &OF_SHOWN_RUNS)? else { return Ok(false) };
    let (found, problems) = folded(&rows);
    let text = match out.json {
        true => stend_report::recording_json(&rows.record, &found),
        false => stend_report::recording_text(&rows.record, &found, &problems, out.lang, out.width(), out.colour()),
    };
    out.result(&text).map(|()| true)
}
