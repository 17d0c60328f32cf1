//! `stend run SUITE --stand A --stand B …`: each stand is put up, measured and taken down, one after the other; then all are
//! compared with the first. A stand that fails does not keep the next ones from being measured.

use super::run::{Stoppers, conclude, setup, to_its_end};
use crate::out::Out;
use clap::ArgMatches;
use std::path::{Path, PathBuf};
use stend_analyse::compare::Options;
use stend_base::{Error, Kind, Result, say};
use stend_record::store;

/// Runs the suite on every stand, then prints the table and writes it as a page.
pub fn campaign(stands: &[String], arguments: &ArgMatches, stoppers: &Stoppers, out: &Out) -> Result<()> {
    if arguments.get_one::<String>("output").is_some() {
        return Err(Error::new(Kind::Usage, say!("`--output` is for one stand", "`--output` — для одного стенда"))
            .hint(say!("without it each run has a file of its own", "без него у каждого прогона будет свой файл")));
    }
    // What is wrong with the last file is said before the first drive is written to.
    let names =
        stands.iter().map(|file| super::stand::read(file).map(|stand| stand.name)).collect::<Result<Vec<_>>>()?;
    let mut done: Vec<(String, PathBuf)> = Vec::new();
    let mut failed: Option<Box<Error>> = None;
    for ((file, name), number) in stands.iter().zip(&names).zip(1..) {
        let count = stands.len();
        out.note(say!("stand {number} of {count}: {name}", "стенд {number} из {count}: {name}").get(out.lang));
        let ended = setup(arguments, Some(file), out).and_then(|setup| to_its_end(setup, arguments, stoppers, out));
        // Between runs Ctrl-C ends all of it.
        stoppers.aim(None);
        let error = match ended {
            Ok(ended) => {
                if let Some(path) = ended.run_file {
                    if let Err(unshown) = conclude(&path, out) {
                        out.error(&unshown);
                    }
                    done.push((name.clone(), path));
                }
                ended.error
            }
            Err(error) => Some(error),
        };
        let Some(error) = error else { continue };
        out.error(&error);
        let stopped = matches!(error.kind, Kind::Interrupted | Kind::Terminated);
        failed.get_or_insert(error);
        if stopped {
            break;
        }
    }
    table(&done, out)?;
    failed.map_or(Ok(()), Err)
}

fn table(done: &[(String, PathBuf)], out: &Out) -> Result<()> {
    let runs = done.iter().map(|(_, path)| {
        let run = store::read(path)?;
        let findings = stend_analyse::analyse(&run)?;
        Ok((run, findings))
    });
    let runs = runs.collect::<Result<Vec<_>>>()?;
    let Some((_, first)) = done.first() else { return Ok(()) };
    if runs.len() < 2 {
        return Ok(());
    }
    let pairs: Vec<_> = runs.iter().map(|(run, findings)| (run, findings)).collect();
    let comparison = stend_analyse::compare(&pairs, &Options::default());
    let page = beside(first);
    crate::save::save(&page, &say!("the comparison", "сравнение"), |to| {
        to.write_all(stend_report::comparison_html(&comparison, out.lang).as_bytes())
    })?;
    out.note(&page.display().to_string());
    out.result(&match out.json {
        true => stend_report::comparison_json(&comparison),
        false => stend_report::campaign_text(&comparison, out.lang),
    })
}

/// Where the page of the campaign goes: beside the first run.
fn beside(first: &Path) -> PathBuf {
    let stem = first.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    first.with_file_name(format!("{stem}-campaign.html"))
}
