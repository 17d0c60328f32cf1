//! `stend report RUN -o FILE`: the report of a run as one HTML file, or its results as Markdown; `--open` shows it.

use crate::out::Out;
use crate::save::Output;
use clap::ArgMatches;
use std::path::Path;
use stend_analyse::Findings;
use stend_analyse::gate::GateFinding;
use stend_base::{Error, Lang, Result, Say, say};
use stend_record::RunRecord;
use stend_record::store::SampleRows;

/// Writes the report, or prints it when the file is `-`.
pub fn report(arguments: &ArgMatches, out: &Out) -> Result<()> {
    // What is wrong with a gate is said before anything is read.
    let asked = super::gate::of_one_run(arguments)?;
    super::is_page(arguments)?;
    let markdown = arguments.get_one::<String>("markdown");
    let (open, force) = (arguments.get_flag("open"), arguments.get_flag("force"));
    let path = super::located(super::required(arguments, "RUN"), out)?;
    if let Some(rows) = super::recording::open(&path, arguments, &ONLY_OF_RUNS)? {
        return of_recording(&rows, &path, arguments, out);
    }
    let output = match markdown.or_else(|| arguments.get_one::<String>("output")) {
        Some(file) if open && file == "-" => return Err(nothing_to_open()),
        Some(file) => Output::new(file, what(), force),
        None if out.remote.is_some() => return Err(needs_a_place()),
        None if super::redact::asked(arguments) => return Err(needs_a_name()),
        None => beside(&path, force)?,
    };
    let file = &*output.path().to_string_lossy();
    if file != "-" {
        output.check()?;
    }
    let run = super::redact::record(arguments, stend_session::read_run(&path)?, out)?;
    let findings = match markdown {
        Some(_) => stend_analyse::judge(&run)?,
        None => stend_analyse::analyse(&run)?,
    };
    let is_asked = asked.is_some();
    let gate = asked.or_else(|| super::gate::of_record(&run, out));
    let gate = gate.map(|gate| stend_analyse::gate::of_run(&gate, &findings));
    let verdict = || gate.as_ref().filter(|_| is_asked).map_or(Ok(()), super::gate::verdict);
    let text = match markdown {
        Some(_) => stend_report::gated_markdown(&findings, gate.as_ref(), out.lang),
        None => stend_report::gated_html(&findings, &run, gate.as_ref(), arguments.get_flag("full"), out.lang),
    };
    if file == "-" {
        out.result(&text)?;
        return verdict();
    }
    output.save(|to| to.write_all(text.as_bytes()))?;
    match out.json {
        true => out.result(&serde_json::json!({"report": file}).to_string())?,
        false => out.result(file)?,
    }
    if open {
        super::open::open(output.path(), out);
    }
    verdict()
}

/// Options that say nothing of a recording.
const ONLY_OF_RUNS: [&str; 5] = ["markdown", "full", "redact", "gate", "expect"];

/// Writes the page of a recording.
fn of_recording(rows: &SampleRows, path: &Path, arguments: &ArgMatches, out: &Out) -> Result<()> {
    let force = arguments.get_flag("force");
    let output = match arguments.get_one::<String>("output") {
        Some(file) => Output::new(file, what(), force),
        None if out.remote.is_some() => return Err(needs_a_place()),
        None => beside(path, force)?,
    };
    let file = output.path().to_string_lossy().into_owned();
    if file != "-" {
        output.check()?;
    }
    let (found, problems) = super::recording::folded(rows);
    let text = stend_report::recording_html(&rows.record, &found, &problems, out.lang);
    if file == "-" {
        return out.result(&text);
    }
    output.save(|to| to.write_all(text.as_bytes()))?;
    out.result(&match out.json {
        true => serde_json::json!({"report": file}).to_string(),
        false => file,
    })?;
    if arguments.get_flag("open") {
        super::open::open(output.path(), out);
    }
    Ok(())
}

/// Beside the run file lies the report that says everything.
fn needs_a_name() -> Box<Error> {
    Error::usage(say!("`--redact` needs a file to write", "для `--redact` нужно имя файла"))
        .hint(say!("add `-o shared.html`", "добавьте `-o shared.html`"))
}

/// The run file lies on the machine of the server.
fn needs_a_place() -> Box<Error> {
    Error::usage(say!("over a server `--open` needs a file to write", "через сервер для `--open` нужно имя файла"))
        .hint(say!("add `-o report.html`", "добавьте `-o report.html`"))
}

fn nothing_to_open() -> Box<Error> {
    Error::usage(say!("a report on the standard output cannot be opened", "отчёт в стандартном выводе открыть нельзя"))
        .hint(say!(
            "name a file, or none: then it is written beside the run file",
            "укажите файл или не указывайте: тогда отчёт запишется рядом с файлом прогона"
        ))
}

/// The report that a run writes beside its file.
///
/// Errors: `Usage` if it would have the name of the run file.
pub fn beside(run_file: &Path, force: bool) -> Result<Output> {
    let path = run_file.with_extension("html");
    if path == run_file {
        let (shown, other) = (run_file.display(), run_file.with_extension("stend"));
        let other = other.display();
        return Err(Error::usage(say!(
            "the report is written beside the run file, and both would be named `{shown}`",
            "отчёт записывается рядом с файлом прогона, и оба назывались бы `{shown}`"
        ))
        .hint(say!("name the run file `{other}`", "назовите файл прогона `{other}`")));
    }
    Ok(Output::new(path, what(), force))
}

/// Writes the HTML report of a run, with its charts and what a gate says of it.
pub fn write(
    run: &RunRecord,
    findings: &Findings,
    gate: Option<&GateFinding>,
    output: &Output,
    lang: Lang,
) -> Result<()> {
    let text = stend_report::gated_html(findings, run, gate, false, lang);
    output.save(|to| to.write_all(text.as_bytes()))
}

fn what() -> Say {
    say!("the report", "отчёт")
}
