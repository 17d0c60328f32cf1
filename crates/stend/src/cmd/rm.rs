//! `stend rm RUN…`: removes run files, and the report that Stend wrote beside each. All of them, or none if one must stay.

use crate::out::Out;
use crate::save;
use clap::ArgMatches;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use stend_base::{Code, Error, Result, say};
use stend_record::store::{self, Found};

/// A run that is to be removed.
struct RunToRemove {
    /// The file, or the link to one that is gone.
    path: PathBuf,
    /// There is a file.
    is_there: bool,
    /// The report beside it.
    report: Option<PathBuf>,
}

/// Removes the runs, after a question on the terminal.
pub fn rm(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let mut doomed: Vec<RunToRemove> = Vec::new();
    for name in super::many(arguments, "RUN") {
        let one = doom(&name, out)?;
        if doomed.iter().all(|known| known.path != one.path) {
            doomed.push(one);
        }
    }
    if !arguments.get_flag("yes") && !is_agreed(&doomed, out)? {
        out.note(say!("nothing was removed", "ничего не удалено").get(out.lang));
        return Ok(());
    }
    let mut gone = Vec::new();
    for RunToRemove { path, is_there, report } in doomed {
        match is_there {
            true => gone.extend(store::remove(&path)?),
            false => gone.extend(store::forget(&path).map(|()| path)),
        }
        if let Some(report) = report {
            save::remove(&report)?;
            gone.push(report);
        }
    }
    let shown: Vec<String> = gone.iter().map(|path| path.display().to_string()).collect();
    match out.json {
        true => out.result(&serde_json::json!({"removed": shown}).to_string()),
        false => {
            shown.iter().try_for_each(|path| out.result(say!("removed `{path}`", "удалено: `{path}`").get(out.lang)))
        }
    }
}

/// What is removed for an argument.
///
/// Errors: those of finding it; `Preflight` if it is going on, `RunFile` if it is no run file.
fn doom(name: &str, out: &Out) -> Result<RunToRemove> {
    let path = match store::find(name, &store::directory()?)? {
        Found::File(found) => {
            found.note().iter().for_each(|note| out.note(note.get(out.lang)));
            found.path
        }
        Found::Gone(run) => {
            return Ok(RunToRemove { path: run.link.unwrap_or(run.path), is_there: false, report: None });
        }
    };
    store::may_remove(&path)?;
    if stend_run::is_going_on(&path) {
        let shown = path.display();
        return Err(Error::new(
            Code::RunGoesOn,
            say!("the run in `{shown}` is still in progress", "прогон из `{shown}` ещё выполняется"),
        )
        .hint(say!("`stend stop {name}` ends it", "завершить его: `stend stop {name}`")));
    }
    let report = path.with_extension("html");
    let report = if save::is_ours(&report) { Some(report) } else { None };
    Ok(RunToRemove { path, is_there: true, report })
}

/// Asks at a terminal; without one `--yes` must have said it.
fn is_agreed(doomed: &[RunToRemove], out: &Out) -> Result<bool> {
    if out.json || !out.has_person() {
        return Err(Error::usage(say!(
            "cannot ask whether to remove it: this is not a terminal",
            "нельзя спросить, удалять ли: это не терминал"
        ))
        .hint(say!("`--yes` removes without asking", "`--yes` удаляет без вопроса")));
    }
    let files = doomed.iter().flat_map(|one| [Some(&one.path), one.report.as_ref()]).flatten();
    files.for_each(|path: &PathBuf| out.note(&shown(path)));
    out.note(say!("Remove this? [y/N]", "Удалить это? [y/N]").get(out.lang));
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    // An unreadable terminal has agreed to nothing.
    Ok(read.is_ok() && ["y", "yes", "д", "да"].contains(&line.trim().to_lowercase().as_str()))
}

fn shown(path: &Path) -> String {
    format!("  {}", path.display())
}
