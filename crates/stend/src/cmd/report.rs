//! `stend report RUN -o FILE`: the report of a run as one HTML file.

use crate::out::Out;
use clap::ArgMatches;
use std::path::Path;
use stend_base::{Lang, Result, say};
use stend_record::RunRecord;

/// Writes the report, or prints it when the file is `-`.
pub fn report(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let run = super::read_run(arguments)?;
    let file = super::required(arguments, "output");
    if file == "-" {
        let findings = stend_analyse::analyse(&run)?;
        return out.result(&stend_report::html(&findings, &run, out.lang));
    }
    write(&run, Path::new(file), out.lang)?;
    match out.json {
        true => out.result(&serde_json::json!({"report": file}).to_string()),
        false => out.result(file),
    }
}

/// Writes the HTML report of a run to a file.
pub fn write(run: &RunRecord, path: &Path, lang: Lang) -> Result<()> {
    let findings = stend_analyse::analyse(run)?;
    let html = stend_report::html(&findings, run, lang);
    crate::save::save(path, &say!("the report", "отчёт"), |to| to.write_all(html.as_bytes()))
}
