//! `stend import --suite FOLDER`: how each file of jobs in a folder imports. Makes no suite, and runs nothing.

use super::super::import::folders;
use super::read;
use crate::out::Out;
use std::collections::BTreeMap;
use std::path::Path;
use stend_base::{Error, Lang, Result, Say, say};
use stend_interop::jobs::{self, ImportContext, Outcome};

/// Prints a line for each file that holds jobs, and the sums.
pub(super) fn of_folder(folder: &str, output: bool, world: &ImportContext, out: &Out) -> Result<()> {
    if output {
        let message = say!(
            "a folder gives a table, not a suite, so `-o` has nothing to write",
            "каталог даёт таблицу, а не набор: для `-o` писать нечего"
        );
        return Err(Error::usage(message).hint(say!("name one file of it", "укажите один файл из него")));
    }
    let (mut found, mut others) = (Vec::new(), 0u32);
    folders::below(Path::new(folder), 0, &|_| true, &mut found, &mut others)?;
    found.sort();
    let mut rows = Vec::new();
    for path in found {
        match of_file(&path, world) {
            Some(outcome) => rows.push((path.display().to_string(), outcome)),
            None => others = others.saturating_add(1),
        }
    }
    if rows.is_empty() {
        let message =
            say!("there is no job file in `{folder}` or below", "ни в `{folder}`, ни ниже нет файлов заданий");
        return Err(Error::usage(message).hint(say!(
            "Stend recognises job files of fio, diskspd, vdbench and Iometer by their content",
            "Stend узнаёт файлы заданий fio, diskspd, vdbench и Iometer по содержимому"
        )));
    }
    if out.json { out.result(&document(&rows, others).to_string()) } else { out.result(&text(&rows, others, out.lang)) }
}

/// What becomes of a file; `None`: it holds no jobs.
fn of_file(path: &Path, world: &ImportContext) -> Option<Outcome> {
    let name = path.display().to_string();
    let bytes = read(&name).ok()?;
    std::str::from_utf8(&bytes).ok().filter(|text| jobs::is_job_file(text))?;
    Some(jobs::assess(&name, &bytes, world))
}

fn counts(rows: &[(String, Outcome)]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::from(["whole", "losses", "refused", "unclear"].map(|word| (word, 0)));
    rows.iter().for_each(|(_, outcome)| *counts.entry(outcome.word()).or_default() += 1);
    counts
}

/// Why a file is not whole.
fn reasons(outcome: &Outcome) -> Vec<Say> {
    match outcome {
        Outcome::Whole => Vec::new(),
        Outcome::Losses(told) => told.clone(),
        Outcome::Refused(error) | Outcome::Unclear(error) => vec![error.message.clone()],
    }
}

fn word(outcome: &Outcome) -> Say {
    match outcome {
        Outcome::Whole => say!("whole", "целиком"),
        Outcome::Losses(_) => say!("with losses (--lenient)", "с потерями (--lenient)"),
        Outcome::Refused(_) => say!("refused", "отказ"),
        Outcome::Unclear(_) => say!("unclear, please report it", "непонятно, сообщите нам"),
    }
}

fn text(rows: &[(String, Outcome)], others: u32, lang: Lang) -> String {
    let mut lines = Vec::new();
    for (name, outcome) in rows {
        lines.push(format!("{}: {}", stend_report::clean(name), word(outcome).get(lang)));
        lines.extend(reasons(outcome).iter().map(|why| format!("  {}", why.get(lang))));
    }
    let counts = counts(rows);
    let [whole, losses, refused, unclear] = ["whole", "losses", "refused", "unclear"].map(|word| counts[word]);
    let all = rows.len();
    let sums = say!(
        "{all} job files: {whole} whole, {losses} with losses, {refused} refused, {unclear} unclear; {others} other files",
        "файлов заданий {all}: целиком {whole}, с потерями {losses}, отказов {refused}, непонятно {unclear}; прочих файлов {others}"
    );
    lines.push(sums.get(lang).to_string());
    lines.join("\n")
}

fn document(rows: &[(String, Outcome)], others: u32) -> serde_json::Value {
    let files: Vec<serde_json::Value> = rows
        .iter()
        .map(
            |(name, outcome)| serde_json::json!({"file": name, "outcome": outcome.word(), "reasons": reasons(outcome)}),
        )
        .collect();
    serde_json::json!({"files": files, "counts": counts(rows), "other_files": others})
}
