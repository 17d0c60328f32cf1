//! `stend export RUN --format FORMAT`: a run for other programs; with `--ios` the log of every I/O.

use crate::out::Out;
use clap::ArgMatches;
use std::collections::BTreeSet;
use std::io::{Result as IoResult, Write};
use std::path::{Path, PathBuf};
use stend_analyse::as_fio::{GroupAsFio, Trials};
use stend_analyse::compare::Options;
use stend_analyse::{analyse, as_fio, by_trial, judge};
use stend_base::{Error, Kind, Result, say};
use stend_record::RunRecord;
use stend_report::{Book, Dialect, ResultsCsv};

/// Writes the export to a file, or to the standard output.
pub fn export(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let format = super::required(arguments, "format");
    let names = super::many(arguments, "RUN");
    if names.len() > 1 && format != "xlsx" {
        let message =
            say!("several runs go into `--format xlsx` alone", "несколько прогонов принимает только `--format xlsx`");
        return Err(Error::new(Kind::Usage, message).hint(say!("export them one by one", "выгрузите их по одному")));
    }
    if arguments.get_flag("ios") {
        return super::export_ios::export(arguments, out);
    }
    if format == "fio" {
        let message = say!("`--format fio` is for `--ios`", "`--format fio` — только для `--ios`");
        return Err(Error::new(Kind::Usage, message).hint(say!(
            "results as fio prints them are `--format fio-json`",
            "результаты в виде, как их печатает fio, — `--format fio-json`"
        )));
    }
    if format == "xlsx" {
        return workbook(arguments, &names, out);
    }
    if format == "parquet" {
        return parquet(arguments, out);
    }
    if format == "fio-job" {
        return jobs(arguments, out);
    }
    let run = super::read_run(arguments)?;
    let file = arguments.get_one::<String>("output").map(String::as_str).filter(|file| *file != "-");
    let results = |dialect| -> Result<()> {
        let findings = judge(&run)?;
        let table = ResultsCsv::new(&run, &findings, dialect)?;
        one_file(file, out, |to| table.write(to))
    };
    match format {
        "csv" => results(Dialect::Plain),
        "csv-ru" => results(Dialect::Russian),
        "csv-trials" => {
            let trials = by_trial(&run)?;
            one_file(file, out, |to| stend_report::trials_csv(&run.header.id, &trials, to))
        }
        "fio-json" => match file.filter(|file| is_folder(file)) {
            Some(folder) => fio_folder(&run, Path::new(folder), out),
            None => {
                let groups = as_fio(&run, Trials::Each)?;
                one_file(file, out, |to| stend_report::fio_json(&run, &groups, to))
            }
        },
        _ => one_file(file, out, |to| stend_report::record_json(&run, to)),
    }
}

/// A workbook of one run, or of several with the first as the baseline.
fn workbook(arguments: &ArgMatches, names: &[String], out: &Out) -> Result<()> {
    let file = binary_file(arguments, "xlsx")?;
    let runs = super::compare::judged_all(names, analyse)?;
    let comparison = match &runs[..] {
        [(run, findings)] => stend_analyse::compare_arms(run, findings, &Options::default())?,
        _ => Some(stend_analyse::compare(&runs.iter().map(|(r, f)| (r, f)).collect::<Vec<_>>(), &Options::default())),
    };
    let runs = runs.iter().map(|(run, findings)| (run, findings)).collect();
    let book = Book { runs, comparison: comparison.as_ref(), lang: out.lang };
    let bytes = stend_report::xlsx(&book).map_err(|why| {
        Error::new(Kind::Bug, say!("cannot make the workbook: {why}", "не удаётся составить книгу: {why}"))
    })?;
    one_file(file, out, |to| to.write_all(&bytes))
}

/// Where bytes go that are no text: a file that was named, or `None` for the standard output where that was (`-`).
fn binary_file<'a>(arguments: &'a ArgMatches, format: &str) -> Result<Option<&'a str>> {
    let Some(file) = arguments.get_one::<String>("output") else {
        let message = say!("`--format {format}` needs a file", "для `--format {format}` нужен файл");
        return Err(Error::new(Kind::Usage, message)
            .hint(say!("name it: `-o results.{format}`", "укажите его: `-o results.{format}`")));
    };
    Ok(Some(file.as_str()).filter(|file| *file != "-"))
}

/// The figures of every trial, as `csv-trials` has them.
#[cfg(feature = "parquet")]
fn parquet(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let file = binary_file(arguments, "parquet")?;
    let run = super::read_run(arguments)?;
    let bytes = stend_report::trials_parquet(&run.header.id, &by_trial(&run)?).map_err(|why| {
        Error::new(Kind::Bug, say!("cannot make the Parquet file: {why}", "не удаётся составить файл Parquet: {why}"))
    })?;
    one_file(file, out, |to| to.write_all(&bytes))
}

/// This build is without its library.
#[cfg(not(feature = "parquet"))]
fn parquet(arguments: &ArgMatches, _out: &Out) -> Result<()> {
    binary_file(arguments, "parquet")?;
    let message = say!("this build of Stend does not write Parquet", "эта сборка Stend не пишет Parquet");
    Err(Error::new(Kind::Usage, message).hint(say!(
        "`--format csv-trials` has the same columns; a build that writes it: `cargo build --release --features parquet`",
        "те же столбцы — в `--format csv-trials`; сборка, которая умеет: `cargo build --release --features parquet`"
    )))
}

/// The suite of a run, or a suite file, as jobs of fio.
fn jobs(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let name = super::required(arguments, "RUN");
    let is_suite = name.ends_with(".yaml") || name.ends_with(".yml") || crate::suites::find(name).is_some();
    let file = arguments.get_one::<String>("output").map(String::as_str).filter(|file| *file != "-");
    let suite = match is_suite {
        true => super::run::read_suite(name)?.0,
        false => {
            let run = super::read_run(arguments)?;
            if let Some(imported) = &run.header.imported {
                let text = stend_report::told_jobs(&run).ok_or_else(|| no_jobs(name, &imported.tool))?;
                return one_file(file, out, |to| to.write_all(text.get(out.lang).as_bytes()));
            }
            run.header.inputs.suite
        }
    };
    let exported = stend_spec::jobs::export::fio(&suite);
    let text = exported.text(out.lang);
    one_file(file, out, |to| to.write_all(text.as_bytes()))?;
    let lacks = exported.lacks.len();
    out.note(
        say!(
            "{lacks} things are not in it, or are otherwise; the file begins with them",
            "чего нет или что иначе: {lacks}; файл с этого начинается"
        )
        .get(out.lang),
    );
    Ok(())
}

/// An imported run has no suite of ours, and of other tools than fio, or of logs, no jobs of fio either.
fn no_jobs(name: &str, tool: &str) -> Box<Error> {
    let message = say!(
        "`{name}` was imported from {tool} and holds no jobs of fio",
        "`{name}` импортирован из {tool}, заданий fio в нём нет"
    );
    Error::new(Kind::Spec, message).hint(say!(
        "`--format json` has the options as they were told; `stend import --suite` makes a suite of job files",
        "опции, как они указаны, — в `--format json`; из файлов заданий набор делает `stend import --suite`"
    ))
}

/// Writes to the file, and says where it is; without one to the standard output.
fn one_file(file: Option<&str>, out: &Out, write: impl FnOnce(&mut dyn Write) -> IoResult<()>) -> Result<()> {
    let Some(file) = file else { return out.stream(write) };
    crate::save::save(Path::new(file), &say!("the export", "экспорт"), write)?;
    match out.json {
        true => out.result(&serde_json::json!({"export": file}).to_string()),
        false => out.result(file),
    }
}

/// Whether a folder is meant: one that is there, or a name that ends as one.
fn is_folder(name: &str) -> bool {
    name.ends_with('/') || Path::new(name).is_dir()
}

/// A document of fio for each case, which tools find by folder and name.
fn fio_folder(run: &RunRecord, folder: &Path, out: &Out) -> Result<()> {
    let groups = as_fio(run, Trials::Together)?;
    let mut taken = BTreeSet::new();
    let mut written = Vec::new();
    for group in &groups {
        let path = place(folder, group, &mut taken);
        crate::save::directory(path.parent().unwrap_or(folder))?;
        let one = std::slice::from_ref(group);
        crate::save::save(&path, &say!("the export", "экспорт"), |to| stend_report::fio_json(run, one, to))?;
        written.push(path.display().to_string());
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
