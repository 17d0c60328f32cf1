//! The runs that requests can name: those of the directory of run files, by the names of its list, and nothing else. A request never
//! becomes a path. What a list says of runs that have ended is remembered as long as their files do not change.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use stend_analyse::findings::Headline;
use stend_analyse::listed::{Listed, ListedRun};
use stend_api::{Filter, Sort};
use stend_base::{Code, Error, Result, say};
use stend_record::RunState;
use stend_record::store::{self, KnownRun};
use stend_report::Listing;
use stend_session::catalogue::look;

/// What changes when a file does: size and time of change, of the file and of its log.
type Stamp = [Option<(u64, i64, i64)>; 2];

/// The runs of this machine that are answered for.
pub struct Catalogue {
    directory: PathBuf,
    seen: Mutex<HashMap<PathBuf, (Stamp, Listed)>>,
}

impl Catalogue {
    /// The runs of a directory, which need not exist.
    pub fn new(directory: PathBuf) -> Catalogue {
        Catalogue { directory, seen: Mutex::default() }
    }

    /// The file of a run by its name in the list, or of the newest that is there (`last`).
    ///
    /// Errors: `RunUnknown`; those of reading the directory.
    pub fn find(&self, name: &str) -> Result<PathBuf> {
        let known = store::known_runs(&self.directory)?;
        let found = known.iter().find(|run| (run.name == name || name == "last") && run.is_there());
        found.map(|run| run.path.clone()).ok_or_else(|| unknown(name))
    }

    /// A page of the list.
    ///
    /// Errors: `RunUnknown` for a cursor whose run is gone; those of reading the directory.
    pub fn page(&self, filter: &Filter) -> Result<Listing> {
        let known = store::known_runs(&self.directory)?;
        self.forget(&known);
        if filter.sort != Sort::Newest {
            return self.sorted(filter, &known);
        }
        let begin = match &filter.cursor {
            None => 0,
            Some(name) => 1 + known.iter().position(|run| run.name == *name).ok_or_else(|| unknown(name))?,
        };
        let (mut runs, mut end) = (Vec::new(), begin);
        for run in &known[begin..] {
            if runs.len() == filter.limit {
                break;
            }
            end += 1;
            let listed = self.listed(run);
            if fits(filter, &listed) {
                runs.push(listed);
            }
        }
        let left_out = known.len() - end;
        let next = known[..end].last().filter(|_| left_out > 0).map(|run| run.name.clone());
        Ok(Listing { runs, left_out, next, directory: self.directory.display().to_string() })
    }

    /// A page of the list in another order, for which every run is looked at.
    fn sorted(&self, filter: &Filter, known: &[KnownRun]) -> Result<Listing> {
        let mut all: Vec<Listed> = known.iter().map(|run| self.listed(run)).filter(|run| fits(filter, run)).collect();
        order(filter.sort, &mut all);
        let begin = match &filter.cursor {
            None => 0,
            Some(name) => 1 + all.iter().position(|run| run.name == *name).ok_or_else(|| unknown(name))?,
        };
        let left_out = all.len().saturating_sub(begin + filter.limit);
        let runs: Vec<Listed> = all.into_iter().skip(begin).take(filter.limit).collect();
        let next = runs.last().filter(|_| left_out > 0).map(|run| run.name.clone());
        Ok(Listing { runs, left_out, next, directory: self.directory.display().to_string() })
    }

    fn listed(&self, run: &KnownRun) -> Listed {
        let stamp = stamp(&run.path);
        let seen = || self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, listed)) =
            seen().get(&run.path).filter(|(known, listed)| *known == stamp && listed.name == run.name)
        {
            return listed.clone();
        }
        let listed = look(run);
        // Whether a run without an end goes on is asked anew each time.
        if listed.run().is_some_and(|found| found.state != RunState::Open) {
            seen().insert(run.path.clone(), (stamp, listed.clone()));
        }
        listed
    }

    /// Drops what is remembered of runs that the directory does not know any more.
    fn forget(&self, known: &[KnownRun]) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() > known.len() {
            let paths: std::collections::HashSet<&Path> = known.iter().map(|run| run.path.as_path()).collect();
            seen.retain(|path, _| paths.contains(path.as_path()));
        }
    }
}

fn stamp(path: &Path) -> Stamp {
    let mut log = path.as_os_str().to_os_string();
    log.push("-wal");
    [path, Path::new(&log)].map(|file| {
        let found = file.symlink_metadata().ok()?;
        Some((found.size(), found.mtime(), found.mtime_nsec()))
    })
}

/// Whether a filter means a run. One that cannot be read has no label, target or state that could fit.
fn fits(filter: &Filter, listed: &Listed) -> bool {
    let Filter { label, target, suite, state, text, limit: _, cursor: _, sort: _ } = filter;
    if label.is_none() && target.is_none() && suite.is_none() && state.is_none() && text.is_none() {
        return true;
    }
    let Some(run) = listed.run() else { return false };
    let has = |text: &str, part: &Option<String>| {
        part.as_ref().is_none_or(|part| text.to_lowercase().contains(&part.to_lowercase()))
    };
    let any_name = || {
        let leading = run.result.as_ref().map(|leading| leading.label.as_str());
        let targets = run.targets.iter().map(String::as_str);
        let names = [listed.name.as_str(), run.label.as_deref().unwrap_or_default(), &run.suite];
        names.into_iter().chain(targets).chain(leading).any(|name| has(name, text))
    };
    any_name()
        && has(run.label.as_deref().unwrap_or_default(), label)
        && has(&run.suite, suite)
        && target.as_ref().is_none_or(|_| run.targets.iter().any(|name| has(name, target)))
        && state.is_none_or(|state| state.fits(&run.state, run.going_on))
}

/// Puts runs in an order; those that are equal in it, and those that cannot be read, stay newest first.
fn order(sort: Sort, runs: &mut [Listed]) {
    let by_text = |of: fn(&ListedRun) -> String| move |run: &Listed| run.run().map(of).filter(|text| !text.is_empty());
    // What has no such text comes last.
    let last = |text: Option<String>| (text.is_none(), text);
    match sort {
        Sort::Newest => {}
        Sort::Oldest => runs.reverse(),
        Sort::Suite => runs.sort_by_key(|run| last(by_text(|run| run.suite.clone())(run))),
        Sort::Target => runs.sort_by_key(|run| last(by_text(|run| run.targets.join(" "))(run))),
        Sort::Size => runs.sort_by_key(|run| Reverse(run.size.0)),
        Sort::Rate => runs.sort_by(|a, b| {
            let of = |run: &Listed| {
                let leading = run.run().and_then(|run| run.result.as_ref());
                leading.map_or((2, 0.0), |found| match found.headline {
                    Headline::Iops => (0, found.total.iops.value),
                    Headline::Throughput => (1, found.total.throughput.value),
                })
            };
            let ((kind, rate), (other, than)) = (of(a), of(b));
            kind.cmp(&other).then(than.total_cmp(&rate))
        }),
    }
}

fn unknown(name: &str) -> Box<Error> {
    Error::new(Code::RunUnknown, say!("there is no run `{name}`", "прогона `{name}` нет"))
        .hint(say!("`/api/v1/runs` lists the runs there are", "прогоны перечислены на `/api/v1/runs`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_a_path_finds_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let runs = dir.path().join("runs");
        std::fs::create_dir(&runs).unwrap();
        std::fs::write(dir.path().join("outside.stend"), "x").unwrap();
        std::fs::write(runs.join("inside.stend"), "x").unwrap();
        let catalogue = Catalogue::new(runs.clone());
        assert_eq!(catalogue.find("inside").unwrap(), runs.join("inside.stend"));
        let outside = dir.path().join("outside.stend").display().to_string();
        for name in ["../outside", "../outside.stend", &outside, "inside.stend", "./inside", "", ".", "..", "R-1"] {
            assert_eq!(catalogue.find(name).unwrap_err().code, Code::RunUnknown, "{name}");
        }
    }
}
