//! `stend list`: the runs in the data directory. A file that cannot be read is listed as such.

use crate::out::Out;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use stend_base::{Bytes, Error, Kind, Result, say};
use stend_record::targets::names;
use stend_record::{RunState, store};
use stend_report::{Listed, ListedRun};

/// Prints the runs, the newest first.
pub fn list(out: &Out) -> Result<()> {
    let directory = store::directory()?;
    let mut runs: Vec<(i64, Listed)> = files(&directory)?.iter().map(|path| look(path)).collect();
    runs.sort_by(|(a_began, a), (b_began, b)| b_began.cmp(a_began).then_with(|| b.name.cmp(&a.name)));
    let runs: Vec<Listed> = runs.into_iter().map(|(_, listed)| listed).collect();
    let shown = directory.display().to_string();
    out.result(&match out.json {
        true => stend_report::list_json(&runs),
        false => stend_report::list_text(&runs, &shown, out.lang, out.width(), out.colour()),
    })
}

/// Run files of a directory; one that does not exist has none.
fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(directory) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|e| {
            let shown = directory.display();
            Error::new(
                Kind::RunFile,
                say!("cannot read the directory `{shown}`: {e}", "не удаётся прочитать каталог `{shown}`: {e}"),
            )
        })?,
    };
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.extension().is_some_and(|e| e == store::EXTENSION)).collect())
}

/// What a list says of a file, and when its run began (for a file that cannot be read: when it was changed).
fn look(path: &Path) -> (i64, Listed) {
    let mut log = path.as_os_str().to_os_string();
    log.push("-wal");
    let found = std::fs::metadata(path);
    let changed = found.as_ref().ok().and_then(|m| m.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    let size = found.map_or(0, |m| m.len()) + std::fs::metadata(log).map_or(0, |m| m.len());
    let run = store::glance(path).map(|seen| ListedRun {
        run: seen.header.id,
        started_unix: seen.header.started_unix,
        suite: seen.header.inputs.suite.name,
        targets: names(&seen.targets),
        going_on: seen.state == RunState::Open && stend_run::is_going_on(path),
        state: seen.state,
        cases: seen.cases,
        trials: seen.trials,
    });
    let began = run.as_ref().map_or(changed.map_or(0, |c| c.as_secs() as i64), |run| run.started_unix);
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    (began, Listed { name, path: path.display().to_string(), size: Bytes(size), run })
}
