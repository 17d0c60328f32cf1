//! The runs that requests can name: those of the directory of run files, by the names of its list, and nothing else. A request never
//! becomes a path. What a list and a summary say of runs that have ended is remembered as
//! long as their files do not change.

use crate::directory::Directory;
use crate::remembered::{Remembered, stamp};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stend_analyse::findings::Headline;
use stend_analyse::listed::{Listed, ListedRun};
use stend_api::{Filter, Listed as Kinds, Sort, StateFilter};
use stend_base::{Code, Error, Result, say};
use stend_record::RunState;
use stend_record::store::{self, KnownRun};
use stend_report::Listing;
use stend_session::Condition;
use stend_session::catalogue::look;
use stend_session::run_facts::{self, Fact};

/// The runs of this machine that are answered for.
pub struct Catalogue {
    directory: Directory,
    listed: Remembered<Listed>,
    /// Documents of summaries.
    summaries: Remembered<String>,
    /// What conditions ask for.
    facts: Remembered<Arc<Vec<Fact>>>,
}

impl Catalogue {
    /// The runs of a directory, which need not exist.
    pub fn new(directory: PathBuf) -> Catalogue {
        let (listed, summaries, facts) = (Remembered::default(), Remembered::default(), Remembered::default());
        Catalogue { directory: Directory::new(directory), listed, summaries, facts }
    }

    /// The file of [`run`](Self::run).
    ///
    /// Errors: as there.
    pub fn find(&self, name: &str) -> Result<PathBuf> {
        Ok(self.run(name)?.path)
    }

    /// The run of a name of the list, of its beginning if no other begins so, of a label, or the newest that is there and has an id (`last`).
    ///
    /// Errors: `RunUnknown`, `RunAmbiguous`; those of reading the directory.
    pub fn run(&self, name: &str) -> Result<KnownRun> {
        let known = self.directory.runs()?;
        let is_meant = |run: &&KnownRun| if name == "last" { run.has_id() } else { run.name == name };
        if let Some(found) = known.iter().filter(is_meant).find(|run| run.is_there()) {
            return Ok(found.clone());
        }
        let begins = |run: &&KnownRun| !name.is_empty() && run.has_id() && run.name.starts_with(name) && run.is_there();
        let begins: Vec<&KnownRun> = known.iter().filter(begins).collect();
        let is_labelled = |run: &&KnownRun| {
            run.is_there() && self.listed(run).run().is_some_and(|run| run.label.as_deref() == Some(name))
        };
        match begins.as_slice() {
            [one] => Ok((*one).clone()),
            [] => known.iter().find(is_labelled).cloned().ok_or_else(|| unknown(name)),
            several => Err(ambiguous(name, several)),
        }
    }

    /// The file of a recording by its name in the list.
    ///
    /// Errors: `RunUnknown`; those of reading it.
    pub fn recording(&self, name: &str) -> Result<PathBuf> {
        let path = self.find(name)?;
        match store::glance(&path)?.header.recording {
            Some(_) => Ok(path),
            None => Err(Error::new(Code::RunUnknown, say!("`{name}` is no recording", "`{name}` — не запись"))
                .hint(say!("`/api/v1/recordings` lists them", "записи перечислены на `/api/v1/recordings`"))),
        }
    }

    /// Whether a file that was found is a recording.
    pub fn is_recording(&self, path: &Path) -> bool {
        store::glance(path).is_ok_and(|found| found.header.recording.is_some())
    }

    /// A page of the list.
    ///
    /// Errors: `RunUnknown` for a cursor whose run is gone; `Usage` for what is no condition; those of reading the directory.
    pub fn page(&self, filter: &Filter) -> Result<Listing> {
        let condition = condition(filter)?;
        let known = self.directory.runs()?;
        self.forget(&known);
        // How many more meet a condition is known only when all were looked at.
        let counts = filter.condition.is_some() && filter.listed == Kinds::Both;
        if filter.sort != Sort::Newest || counts {
            return self.sorted(filter, condition.as_ref(), &known);
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
            // Thousands of runs that have ended are not opened to find the few that go on.
            if filter.state == Some(StateFilter::Running) && !stend_run::may_go_on(&run.path) {
                continue;
            }
            let listed = self.listed(run);
            if fits(filter, &listed) && self.meets(condition.as_ref(), &listed) {
                runs.push(listed);
            }
        }
        let left_out = known.len() - end;
        let next = known[..end].last().filter(|_| left_out > 0).map(|run| run.name.clone());
        Ok(Listing { runs, left_out, known: known.len(), next, directory: self.directory.path().display().to_string() })
    }

    /// The summary of a run, made once for what its file holds now.
    ///
    /// Errors: `RunUnknown`; those of making it.
    pub fn summary(&self, name: &str, make: impl FnOnce(&Path) -> Result<(String, RunState)>) -> Result<String> {
        let path = self.find(name)?;
        let stamp = stamp(&path);
        if let Some(known) = self.summaries.get(&path, &stamp) {
            return Ok(known);
        }
        let (summary, state) = make(&path)?;
        // One that has not ended may be lost in the next moment, and its file stays as it is.
        if state != RunState::Open {
            self.summaries.keep(&path, stamp, summary.clone());
        }
        Ok(summary)
    }

    /// The files of the newest runs that a filter means.
    ///
    /// Errors: `Usage` for what is no condition; those of reading the directory.
    pub fn files(&self, filter: &Filter) -> Result<Vec<PathBuf>> {
        let condition = condition(filter)?;
        let known = self.directory.runs()?;
        self.forget(&known);
        let fits = |listed: &Listed| fits(filter, listed) && self.meets(condition.as_ref(), listed);
        let meant = known.iter().filter(|run| run.is_there() && fits(&self.listed(run)));
        Ok(meant.take(filter.limit).map(|run| run.path.clone()).collect())
    }

    /// A page of the list in another order, for which every run is looked at.
    fn sorted(&self, filter: &Filter, condition: Option<&Condition>, known: &[KnownRun]) -> Result<Listing> {
        let fits = |run: &Listed| fits(filter, run) && self.meets(condition, run);
        let mut all: Vec<Listed> = known.iter().map(|run| self.listed(run)).collect();
        order(filter.sort, &mut all);
        // The run that a page ended with may have another state by now, so its place is looked up among all.
        let begin = match &filter.cursor {
            None => 0,
            Some(name) => 1 + all.iter().position(|run| run.name == *name).ok_or_else(|| unknown(name))?,
        };
        let mut behind = all.into_iter().skip(begin).filter(fits);
        let runs: Vec<Listed> = behind.by_ref().take(filter.limit).collect();
        let left_out = behind.count();
        let next = runs.last().filter(|_| left_out > 0).map(|run| run.name.clone());
        Ok(Listing { runs, left_out, known: known.len(), next, directory: self.directory.path().display().to_string() })
    }

    fn listed(&self, run: &KnownRun) -> Listed {
        let stamp = stamp(&run.path);
        if let Some(listed) = self.listed.get(&run.path, &stamp).filter(|listed| listed.name == run.name) {
            return listed;
        }
        let listed = look(run);
        // Whether a run without an end goes on is asked anew each time.
        if listed.run().is_some_and(|found| found.state != RunState::Open) {
            self.listed.keep(&run.path, stamp, listed.clone());
        }
        listed
    }

    /// Whether the facts of a run meet a condition.
    fn meets(&self, condition: Option<&Condition>, listed: &Listed) -> bool {
        let Some(condition) = condition else { return true };
        let path = Path::new(&listed.path);
        let stamp = stamp(path);
        let facts = self.facts.get(path, &stamp).unwrap_or_else(|| {
            let facts = Arc::new(run_facts::facts(listed));
            // Whether a run without an end goes on is asked anew each time.
            if listed.run().is_some_and(|found| found.state != RunState::Open) {
                self.facts.keep(path, stamp, facts.clone());
            }
            facts
        });
        condition.holds(&facts)
    }

    /// Drops what is remembered of runs that the directory does not know any more.
    fn forget(&self, known: &[KnownRun]) {
        let paths = || known.iter().map(|run| run.path.as_path());
        self.listed.forget(paths());
        self.summaries.forget(paths());
        self.facts.forget(paths());
    }
}

fn condition(filter: &Filter) -> Result<Option<Condition>> {
    filter.condition.as_deref().map(Condition::parse).transpose()
}

/// Whether a filter means a run, its condition aside. One that cannot be read has no label, target or state that could fit.
fn fits(filter: &Filter, listed: &Listed) -> bool {
    let Filter { label, target, suite, state, text, listed: kinds, limit: _, cursor: _, sort: _, condition: _ } =
        filter;
    // What cannot be read stands in the list of runs.
    let is_recording = listed.run().is_some_and(|run| run.recording);
    if matches!((kinds, is_recording), (Kinds::Runs, true) | (Kinds::Recordings, false)) {
        return false;
    }
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

fn ambiguous(name: &str, several: &[&KnownRun]) -> Box<Error> {
    let (count, first) = (several.len(), several.iter().take(5).map(|run| run.name.as_str()).collect::<Vec<_>>());
    let first = first.join("`, `");
    Error::new(
        Code::RunAmbiguous,
        say!("{count} runs begin with `{name}`", "с `{name}` начинается несколько прогонов: {count}"),
    )
    .hint(say!("among them `{first}`", "среди них `{first}`"))
}

fn unknown(name: &str) -> Box<Error> {
    Error::new(Code::RunUnknown, say!("there is no run `{name}`", "прогона `{name}` нет"))
        .hint(say!("`/api/v1/runs` lists the runs there are", "прогоны перечислены на `/api/v1/runs`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_run_is_the_newest_that_has_an_id() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["R-20261121T213000Z-aaaa", "R-20261122T213000Z-bbbb", "copy", "last"] {
            std::fs::write(dir.path().join(format!("{name}.stend")), "x").unwrap();
        }
        let catalogue = Catalogue::new(dir.path().to_path_buf());
        assert_eq!(catalogue.run("last").unwrap().name, "R-20261122T213000Z-bbbb");
        assert_eq!(catalogue.run("copy").unwrap().name, "copy");
    }

    #[test]
    fn a_page_begins_behind_a_run_that_fits_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let name = "R-20261121T213000Z-aaaa";
        std::fs::write(dir.path().join(format!("{name}.stend")), "x").unwrap();
        let catalogue = Catalogue::new(dir.path().to_path_buf());
        for sort in [Sort::Newest, Sort::Oldest, Sort::Size] {
            let (cursor, state) = (Some(name.to_string()), Some(StateFilter::Running));
            let page = catalogue.page(&Filter { limit: 5, sort, cursor, state, ..Filter::default() }).unwrap();
            assert_eq!((page.runs.len(), page.left_out), (0, 0));
        }
    }

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
