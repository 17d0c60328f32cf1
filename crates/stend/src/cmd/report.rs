//! `stend report RUN -o FILE`: the report of a run as one HTML file, or its results as Markdown.

use crate::out::Out;
use crate::save::Output;
use clap::ArgMatches;
use std::path::Path;
use stend_base::{Error, Kind, Lang, Result, Say, say};
use stend_record::RunRecord;

/// Writes the report, or prints it when the file is `-`.
pub fn report(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let markdown = arguments.get_one::<String>("markdown");
    let file = markdown.map_or_else(|| super::required(arguments, "output"), String::as_str);
    let output = Output::new(file, what(), arguments.get_flag("force"));
    if file != "-" {
        output.check()?;
    }
    let run = super::read_run(arguments)?;
    let text = match markdown {
        Some(_) => stend_report::markdown(&stend_analyse::judge(&run)?, out.lang),
        None => html(&run, out.lang)?,
    };
    if file == "-" {
        return out.result(&text);
    }
    output.save(|to| to.write_all(text.as_bytes()))?;
    match out.json {
        true => out.result(&serde_json::json!({"report": file}).to_string()),
        false => out.result(file),
    }
}

/// The report that a run writes beside its file.
///
/// Errors: `Usage` if it would have the name of the run file.
pub fn beside(run_file: &Path, force: bool) -> Result<Output> {
    let path = run_file.with_extension("html");
    if path == run_file {
        let (shown, other) = (run_file.display(), run_file.with_extension("stend"));
        let other = other.display();
        return Err(Error::new(
            Kind::Usage,
            say!(
                "the report of a run goes beside its file, and `{shown}` would be the name of both",
                "отчёт о прогоне ложится рядом с его файлом, и оба назывались бы `{shown}`"
            ),
        )
        .hint(say!("name the run file `{other}`", "назовите файл прогона `{other}`")));
    }
    Ok(Output::new(path, what(), force))
}

/// Writes the HTML report of a run.
pub fn write(run: &RunRecord, output: &Output, lang: Lang) -> Result<()> {
    let text = html(run, lang)?;
    output.save(|to| to.write_all(text.as_bytes()))
}

fn html(run: &RunRecord, lang: Lang) -> Result<String> {
    Ok(stend_report::html(&stend_analyse::analyse(run)?, run, lang))
}

fn what() -> Say {
    say!("the report", "отчёт")
}
