//! `stend export RUN --format FORMAT`: a run for other programs; with `--ios` the log of every I/O.

use crate::out::Out;
use crate::save::Output;
use clap::ArgMatches;
use std::collections::BTreeSet;
use std::io::{Result as IoResult, Write};
use std::path::{Path, PathBuf};
use stend_analyse::as_fio::{GroupAsFio, Trials};
use stend_analyse::{analyse, as_fio, by_trial, judge};
use stend_base::{Error, Result, Say, say};
use stend_record::RunRecord;
use stend_report::{Book, Dialect, ResultsCsv};

/// Writes the export to a file, or to the standard output.
pub fn export(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let format = super::required(arguments, "format");
    let names = super::many(arguments, "RUN");
    if names.len() > 1 && format != "xlsx" {
        let message =
            say!("only `--format xlsx` takes several runs", "несколько прогонов принимает только `--format xlsx`");
        return Err(Error::usage(message).hint(say!("export them one by one", "выгрузите их по одному")));
    }
    let output = output(arguments).map(|output| if format == "fio-job" { output.that_is_edited() } else { output });
    if let Some(output) = output.as_ref().filter(|output| !is_folder(output)) {
        output.check()?;
    }
    if arguments.get_flag("ios") {
        return super::export_ios::export(arguments, output, out);
    }
    if format == "fio" {
        let message = say!("`--format fio` is for `--ios`", "`--format fio` — только для `--ios`");
        return Err(Error::usage(message).hint(say!(
            "results as fio prints them are `--format fio-json`",
            "результаты в виде, как их печатает fio, — `--format fio-json`"
        )));
    }
    if format == "xlsx" {
        return workbook(arguments, output, out);
    }
    if format == "run" {
        return super::redact::copy(arguments, out);
    }
    if format == "fio-job" {
        return jobs(arguments, output, out);
    }
    let run = super::read_run(arguments, out)?;
    let results = |output, dialect| -> Result<()> {
        let findings = judge(&run)?;
        let table = ResultsCsv::new(&run, &findings, dialect)?;
        one_file(output, out, |to| table.write(to))
    };
    match format {
        "csv" => results(output, Dialect::Plain),
        "csv-ru" => results(output, Dialect::Russian),
        "csv-trials" => {
            let trials = by_trial(&run)?;
            one_file(output, out, |to| stend_report::trials_csv(&run.header.id, &trials, to))
        }
        "csv-sources" => {
            if run.sources.is_empty() {
                return Err(no_sources());
            }
            one_file(output, out, |to| stend_report::sources_csv(&run, stend_analyse::start(&run), to))
        }
        "fio-json" => match output {
            Some(folder) if is_folder(&folder) => fio_folder(&run, folder.path(), arguments.get_flag("force"), out),
            output => {
                let groups = as_fio(&run, Trials::Each)?;
                one_file(output, out, |to| stend_report::fio_json(&run, &groups, to))
            }
        },
        _ => one_file(output, out, |to| stend_report::record_json(&run, to)),
    }
}

fn no_sources() -> Box<Error> {
    Error::usage(say!("the run read no sources", "прогон не опрашивал источников"))
        .hint(say!("`stend run --sources FILE` reads them", "их опрашивает `stend run --sources ФАЙЛ`"))
}

/// A workbook of one run, or of several with the first as the baseline.
fn workbook(arguments: &ArgMatches, output: Option<Output>, out: &Out) -> Result<()> {
    has_file(arguments, "xlsx")?;
    let runs = super::compare::judged(arguments, analyse, out)?;
    let comparison = stend_session::comparison::of_workbook(&runs)?;
    let runs = runs.iter().map(|(run, findings)| (run, findings)).collect();
    let bytes = stend_report::xlsx(&Book { runs, comparison: comparison.as_ref(), lang: out.lang })?;
    one_file(output, out, |to| to.write_all(&bytes))
}

/// Bytes that are no text go to a file that was named, or to the standard output where that was (`-`).
fn has_file(arguments: &ArgMatches, format: &str) -> Result<()> {
    if arguments.contains_id("output") {
        return Ok(());
    }
    let message = say!("`--format {format}` needs a file", "для `--format {format}` нужен файл");
    Err(Error::usage(message).hint(say!("name it: `-o results.{format}`", "укажите его: `-o results.{format}`")))
}

/// The file or folder that is written to, unless it is the standard output.
fn output(arguments: &ArgMatches) -> Option<Output> {
    super::output(arguments, "output", what())
}

fn what() -> Say {
    say!("the export", "экспорт")
}

/// The suite of a run, or a suite file, as jobs of fio.
fn jobs(arguments: &ArgMatches, output: Option<Output>, out: &Out) -> Result<()> {
    let name = super::required(arguments, "RUN");
    let is_suite = name.ends_with(".yaml") || name.ends_with(".yml") || stend_session::suites::find(name).is_some();
    let suite = match is_suite {
        true => super::read_suite(name)?,
        false => {
            let run = super::read_run(arguments, out)?;
            if let Some(imported) = &run.header.imported {
                let text = stend_report::fio_jobs(&run).ok_or_else(|| no_jobs(name, &imported.tool))?;
                return one_file(output, out, |to| to.write_all(text.get(out.lang).as_bytes()));
            }
            run.header.inputs.suite
        }
    };
    let exported = stend_interop::jobs::export::fio(&suite);
    let text = exported.text(out.lang);
    one_file(output, out, |to| to.write_all(text.as_bytes()))?;
    let lacks = exported.lacks.len();
    out.note(
        say!(
            "{lacks} settings are missing or differ, listed at the top of the file",
            "параметров, которых нет или которые отличаются: {lacks}, список в начале файла"
        )
        .get(out.lang),
    );
    Ok(())
}

/// An imported run has no suite of ours, and of other tools than fio, or of logs, no jobs of fio either.
fn no_jobs(name: &str, tool: &str) -> Box<Error> {
    let message = say!(
        "`{name}` was imported from {tool} and holds no fio jobs",
        "`{name}` импортирован из {tool}, заданий fio в нём нет"
    );
    Error::spec(message).hint(say!(
        "`--format json` has the options as the tool printed them; `stend import --suite` makes a suite of job files",
        "опции, как они указаны, — в `--format json`; из файлов заданий набор делает `stend import --suite`"
    ))
}

/// Writes to the file, and says where it is; without one to the standard output.
fn one_file(output: Option<Output>, out: &Out, write: impl FnOnce(&mut dyn Write) -> IoResult<()>) -> Result<()> {
    let Some(output) = output else { return out.stream(write) };
    output.save(write)?;
    let file = output.path().display().to_string();
    match out.json {
        true => out.result(&serde_json::json!({"export": file}).to_string()),
        false => out.result(&file),
    }
}

/// Whether a folder is meant: one that is there, or a name that ends as one.
fn is_folder(output: &Output) -> bool {
    output.path().as_os_str().as_encoded_bytes().ends_with(b"/") || output.path().is_dir()
}

/// A document of fio for each case, which tools find by folder and name.
fn fio_folder(run: &RunRecord, folder: &Path, force: bool, out: &Out) -> Result<()> {
    let groups = as_fio(run, Trials::Together)?;
    let (mut taken, mut outputs, mut written) = (BTreeSet::new(), Vec::new(), Vec::new());
    for group in &groups {
        let path = place(folder, group, &mut taken);
        crate::save::directory(path.parent().unwrap_or(folder))?;
        outputs.push(Output::new(path, what(), force));
    }
    crate::save::check(&outputs)?;
    for (group, output) in groups.iter().zip(&outputs) {
        output.save(|to| stend_report::fio_json(run, std::slice::from_ref(group), to))?;
        written.push(output.path().display().to_string());
    }
    match out.json {
        true => out.result(&serde_json::json!({"exports": written}).to_string()),
        false => out.result(&written.join("\n")),
    }
}

/// Where the document of a case goes: none takes the place of another.
fn place(folder: &Path, group: &GroupAsFio, taken: &mut BTreeSet<PathBuf>) -> PathBuf {
    let mut parts = stend_report::fio_json_place(group);
    let file = parts.pop().unwrap_or_default();
    let path: PathBuf = parts.iter().fold(folder.to_path_buf(), |path, part| path.join(part));
    let numbered = (2..).map(|n| path.join(format!("{}-{n}.json", file.trim_end_matches(".json"))));
    let mut candidates = std::iter::once(path.join(&file)).chain(numbered);
    // Endless, so that one of them is free.
    candidates.find(|path| taken.insert(path.clone())).unwrap_or_default()
}
