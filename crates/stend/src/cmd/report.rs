//! `stend report RUN -o FILE`: the report of a run as one HTML file, or its results as Markdown.

use crate::out::Out;
use clap::ArgMatches;
use std::path::Path;
use stend_base::{Lang, Result, say};
use stend_record::RunRecord;

/// Writes the report, or prints it when the file is `-`.
pub fn report(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let run = super::read_run(arguments)?;
    let (file, text) = match arguments.get_one::<String>("markdown") {
        Some(file) => (file.as_str(), stend_report::markdown(&stend_analyse::judge(&run)?, out.lang)),
        None => (super::required(arguments, "output"), html(&run, out.lang)?),
    };
    if file == "-" {
        return out.result(&text);
    }
    save(&text, Path::new(file))?;
    match out.json {
        true => out.result(&serde_json::json!({"report": file}).to_string()),
        false => out.result(file),
    }
}

/// Writes the HTML report of a run to a file.
pub fn write(run: &RunRecord, path: &Path, lang: Lang) -> Result<()> {
    save(&html(run, lang)?, path)
}

fn html(run: &RunRecord, lang: Lang) -> Result<String> {
    Ok(stend_report::html(&stend_analyse::analyse(run)?, run, lang))
}

fn save(text: &str, path: &Path) -> Result<()> {
    crate::save::save(path, &say!("the report", "отчёт"), |to| to.write_all(text.as_bytes()))
}
