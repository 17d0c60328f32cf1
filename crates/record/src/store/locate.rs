//! The run file that an argument of the command line means.

use super::EXTENSION;
use super::runs::{KnownRun, known_runs};
use std::path::{Path, PathBuf};
use stend_base::{Code, Error, Result, Say, say};
use stend_spec::parse::nearest;

/// Most candidates that an error lists.
const LISTED_MAX: usize = 5;

/// A run file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The file, not a link to it.
    pub path: PathBuf,
    /// Newer runs that `last` passed over, because their files are gone.
    pub gone: Vec<KnownRun>,
}

/// What an argument means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A file that is there.
    File(Located),
    /// A run that is known, whose file is gone.
    Gone(KnownRun),
}

impl Located {
    /// What to say of the runs that were passed over, if any were.
    pub fn note(&self) -> Option<Say> {
        let newest = self.gone.first()?;
        let (id, file, taken) = (&newest.name, newest.path.display(), self.path.display());
        Some(say!(
            "the last run is `{id}`, but its file `{file}` is gone; taking `{taken}`",
            "последний прогон — `{id}`, но его файла `{file}` больше нет; берётся `{taken}`"
        ))
    }
}

/// The run file that an argument means: a path, `last`, an id, the beginning of one, or the label of a run, of which the newest is meant.
///
/// Errors are of kind `Usage` and list what could have been meant, or of kind `RunFile` if the directory cannot be read.
pub fn locate(argument: &str, directory: &Path) -> Result<Located> {
    match find(argument, directory)? {
        Found::File(located) => Ok(located),
        Found::Gone(run) => Err(is_gone(&run)),
    }
}

/// As [`locate`], for who can do something with a run whose file is gone, too.
///
/// Errors as those of [`locate`].
pub fn find(argument: &str, directory: &Path) -> Result<Found> {
    let at = |path: &Path| Found::File(Located { path: path.to_path_buf(), gone: Vec::new() });
    let path = Path::new(argument);
    let is_path = argument.contains('/') || path.extension().is_some_and(|extension| extension == EXTENSION);
    if is_path && path.exists() {
        return Ok(at(path));
    }
    let known = known_runs(directory)?;
    // Labels last: a path and an id mean one run for ever, and need no look into every file.
    let labelled = || known.iter().find(|run| run.is_labelled(argument)).map(|run| at(&run.path));
    if is_path {
        return labelled().ok_or_else(|| no_file(argument));
    }
    let runs: Vec<&KnownRun> = known.iter().filter(|run| run.has_id()).collect();
    if argument == "last" {
        return last(&runs, directory);
    }
    let there = |run: &KnownRun| if run.is_there() { at(&run.path) } else { Found::Gone(run.clone()) };
    if let Some(run) = runs.iter().find(|run| run.name == argument) {
        return Ok(there(run));
    }
    let fits = |run: &&KnownRun| !argument.is_empty() && run.name.starts_with(argument);
    let fitting: Vec<&KnownRun> = runs.iter().copied().filter(fits).collect();
    match fitting.as_slice() {
        [one] => Ok(there(one)),
        [] if path.is_file() => Ok(at(path)),
        [] if path.is_dir() => Err(is_directory(argument)),
        [] => labelled().ok_or_else(|| match runs.as_slice() {
            [] => no_runs(directory),
            runs => no_such(argument, runs, &known),
        }),
        several => Err(ambiguous(argument, several)),
    }
}

/// The newest run whose file is there.
fn last(runs: &[&KnownRun], directory: &Path) -> Result<Found> {
    let Some(found) = runs.iter().position(|run| run.is_there()) else {
        return runs.first().map(|run| Found::Gone((*run).clone())).ok_or_else(|| no_runs(directory));
    };
    Ok(Found::File(Located {
        path: runs[found].path.clone(),
        gone: runs[..found].iter().map(|run| (*run).clone()).collect(),
    }))
}

fn is_gone(run: &KnownRun) -> Box<Error> {
    let (id, file) = (&run.name, run.path.display());
    Error::new(
        Code::RunUnknown,
        say!("the file of the run `{id}` is gone: `{file}`", "файла прогона `{id}` больше нет: `{file}`"),
    )
    .hint(say!(
        "if it was moved, name its path; `stend list` shows the others",
        "если он перемещён, укажите путь к нему; остальные покажет `stend list`"
    ))
}

fn is_directory(argument: &str) -> Box<Error> {
    Error::new(
        Code::RunUnknown,
        say!(
            "`{argument}` is a directory, and no run has this name",
            "`{argument}` — каталог, а прогона с таким именем нет"
        ),
    )
    .hint(how_to_name())
}

fn no_file(argument: &str) -> Box<Error> {
    Error::new(Code::RunUnknown, say!("there is no run file `{argument}`", "нет файла прогона `{argument}`"))
        .hint(how_to_name())
}

fn how_to_name() -> Say {
    say!(
        "name a run by its id, the beginning of its id, its label, a path, or `last`",
        "укажите прогон его номером, началом номера, меткой, путём или словом `last`"
    )
}

fn no_runs(directory: &Path) -> Box<Error> {
    let shown = directory.display();
    Error::new(Code::RunUnknown, say!("there are no runs in `{shown}`", "в `{shown}` нет прогонов"))
        .hint(say!("make one with `stend run quick --on PATH`", "выполните его: `stend run quick --on ПУТЬ`"))
}

fn no_such(argument: &str, runs: &[&KnownRun], known: &[KnownRun]) -> Box<Error> {
    let latest = list(runs.iter().copied());
    let labels: Vec<String> = known.iter().filter_map(KnownRun::label).collect();
    let near = nearest(argument, ["last"].into_iter().chain(labels.iter().map(String::as_str)));
    Error::new(
        Code::RunUnknown,
        say!("no run has the label or id `{argument}`", "нет прогона с меткой или номером `{argument}`"),
    )
    .hint(match near {
        Some(near) => say!("did you mean `{near}`?", "возможно, `{near}`?"),
        None => say!("the latest runs are {latest}", "последние прогоны: {latest}"),
    })
}

fn ambiguous(argument: &str, fitting: &[&KnownRun]) -> Box<Error> {
    let count = fitting.len();
    let some = list(fitting.iter().copied());
    Error::new(
        Code::RunAmbiguous,
        say!("{count} runs begin with `{argument}`", "прогонов, имена которых начинаются с `{argument}`: {count}"),
    )
    .hint(say!("use one of them: {some}", "укажите один из них: {some}"))
}

fn list<'a>(runs: impl Iterator<Item = &'a KnownRun>) -> String {
    let quoted: Vec<String> = runs.take(LISTED_MAX + 1).map(|run| format!("`{}`", run.name)).collect();
    match quoted.len() > LISTED_MAX {
        true => format!("{}, …", quoted[..LISTED_MAX].join(", ")),
        false => quoted.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::{Kind, Lang};

    fn directory_with(ids: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for id in ids {
            std::fs::write(dir.path().join(format!("{id}.stend")), "").unwrap();
        }
        dir
    }

    fn found(argument: &str, directory: &Path) -> PathBuf {
        locate(argument, directory).unwrap().path
    }

    #[test]
    fn a_run_whose_file_is_gone_is_passed_over_by_last_and_named_by_its_id() {
        let dir = directory_with(&["R-20260101T000000Z-aaaa"]);
        let (link, gone) = (dir.path().join("R-20260102T000000Z-bbbb.stend"), dir.path().join("gone"));
        std::os::unix::fs::symlink(&gone, &link).unwrap();
        let last = locate("last", dir.path()).unwrap();
        assert_eq!(last.path, dir.path().join("R-20260101T000000Z-aaaa.stend"));
        assert!(last.note().unwrap().en.contains("R-20260102T000000Z-bbbb"));
        let error = locate("R-20260102", dir.path()).unwrap_err();
        assert!(error.message.en.contains("gone") && error.kind == Kind::Usage, "{error}");
        std::fs::remove_file(&last.path).unwrap();
        assert!(locate("last", dir.path()).unwrap_err().message.en.contains("is gone"));
    }

    #[test]
    fn a_run_is_found_by_id_by_a_unique_beginning_by_path_and_as_the_last() {
        let dir = directory_with(&["R-20260101T000000Z-aaaa", "R-20260102T000000Z-bbbb"]);
        let second = dir.path().join("R-20260102T000000Z-bbbb.stend");
        for argument in ["R-20260102T000000Z-bbbb", "R-20260102", "last", second.to_str().unwrap()] {
            assert_eq!(found(argument, dir.path()), second, "{argument}");
        }
    }

    #[test]
    fn an_id_that_begins_another_one_still_means_itself() {
        let dir = directory_with(&["R-1", "R-12"]);
        assert_eq!(found("R-1", dir.path()), dir.path().join("R-1.stend"));
    }

    #[test]
    fn what_cannot_be_told_apart_or_is_absent_is_answered_with_candidates() {
        let dir = directory_with(&["R-20260101T000000Z-aaaa", "R-20260101T000000Z-bbbb"]);
        let error = locate("R-2026", dir.path()).unwrap_err();
        assert_eq!(error.kind, Kind::Usage);
        assert!(error.render(Lang::Ru).contains("R-20260101T000000Z-aaaa"), "{error}");
        let error = locate("R-1999", dir.path()).unwrap_err();
        assert!(error.render(Lang::En).contains("R-20260101T000000Z-bbbb"), "{error}");
        assert!(locate("", dir.path()).is_err());
        assert!(locate("./absent.stend", dir.path()).unwrap_err().message.en.contains("no run file"));
        let empty = tempfile::tempdir().unwrap();
        assert!(locate("last", empty.path()).unwrap_err().message.en.contains("no runs"));
        assert!(locate("last", &empty.path().join("absent")).is_err());
    }

    #[test]
    fn other_files_in_the_directory_are_not_runs() {
        let dir = directory_with(&["R-1", "notes"]);
        std::fs::write(dir.path().join("R-2.stend-wal"), "").unwrap();
        assert_eq!(found("last", dir.path()), dir.path().join("R-1.stend"));
    }

    #[test]
    fn long_lists_of_candidates_are_cut() {
        let ids: Vec<String> = (0..9).map(|i| format!("R-{i}")).collect();
        let dir = directory_with(&ids.iter().map(String::as_str).collect::<Vec<_>>());
        let hint = locate("R-", dir.path()).unwrap_err().hint.unwrap().en;
        assert_eq!(hint, "use one of them: `R-8`, `R-7`, `R-6`, `R-5`, `R-4`, …");
    }
}
