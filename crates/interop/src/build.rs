//! A run of what another tool printed, whatever the tool: which trials are repetitions of one case, how cases of one name
//! differ, and when they ran. Judges nothing. Pure.

use encoding_rs::UTF_8;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use stend_base::{Bytes, Error, Nanos, Result, Say, say};
use stend_plan::{Case, PlanInputs, PlanTarget};
use stend_record::observed::{Slice, TrialOutcome};
use stend_record::{Entry, Imported, SourceFile};
use stend_spec::suite::Suite;
use stend_spec::workload::Trial;

/// Longest file of results, bytes: 64 MiB, some thousand jobs of fio with their histograms.
pub const RESULTS_MAX: usize = 64 << 20;
/// Trials of all files together: what a run may have of each case is as many blocks.
pub(crate) const TRIALS_MAX: usize = 10_000;
/// Jobs of one trial: more would not fit into a row of a run file.
const JOBS_PER_TRIAL: usize = 1000;
/// Options that a label tells: more of them nobody reads, and all cases of a name have them.
const AXES_MAX: usize = 32;
/// Their names together, bytes.
const AXES_BYTES_MAX: u64 = 4096;
/// Numbers that fio prints with each job and that grow until its last job ends: how long it has run, and how long it will.
const OF_THE_PROGRAM: [&str; 2] = ["elapsed", "eta"];
/// What an option is where it is not told.
const DEFAULT: &str = "default";

/// How an option of the tool and its value are called in a label, among all options of its case.
pub(crate) type Axis = fn(&str, String, &BTreeMap<String, String>) -> (String, String);

/// A file of results.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// As the user named it.
    pub name: &'a str,
    /// What is in it, or so much more than [`RESULTS_MAX`] that it is refused.
    pub bytes: &'a [u8],
}

impl<'a> File<'a> {
    /// What is in it. A mark at the beginning decides how: what a Windows shell redirects is UTF-16. One that is longer than
    /// [`RESULTS_MAX`] is refused (`Spec`).
    pub(crate) fn text(&self) -> Result<Cow<'a, str>> {
        if self.bytes.len() > RESULTS_MAX {
            let (name, most) = (self.name, RESULTS_MAX >> 20);
            let what = say!("`{name}` is longer than {most} MiB", "`{name}` длиннее {most} МиБ");
            return Err(Error::spec(what));
        }
        Ok(UTF_8.decode(self.bytes).0)
    }

    /// The file as it is listed in a run. `version`: what the tool calls itself in it.
    pub(crate) fn source(&self, version: &str) -> SourceFile {
        let (name, version) = (self.name.to_string(), version.to_string());
        SourceFile { name, size: Bytes(self.bytes.len() as u64), version }
    }
}

/// A run that another tool made.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedRun {
    /// Where it came from.
    pub imported: Imported,
    /// The cases.
    pub inputs: PlanInputs,
    /// What was asked for, as the tool repeats it; of fio in the form of a job file.
    pub asked_text: String,
    /// When the first trial began, ns since 1970; `None` if no file tells when it was made.
    pub started_unix_ns: Option<i64>,
    /// Trials, in the order in which they ran; times count from the first one.
    pub entries: Vec<Entry>,
}

impl ImportedRun {
    /// A run of which nothing has been read yet.
    pub fn nothing_yet(tool: &str) -> ImportedRun {
        ImportedRun {
            imported: Imported { tool: tool.to_string(), ..Imported::default() },
            inputs: PlanInputs {
                suite: Suite { name: tool.to_string(), ..Suite::default() },
                seed: 0,
                target: unknown_target(),
                time_budget: None,
                traces: Vec::new(),
            },
            asked_text: String::new(),
            started_unix_ns: None,
            entries: Vec::new(),
        }
    }
}

/// Nothing is planned, so nothing of it is asked.
fn unknown_target() -> PlanTarget {
    PlanTarget {
        count: 1,
        hosts: 1,
        size: Bytes(0),
        room: None,
        logical_block: Bytes(512),
        discards: true,
        null: None,
        topology: Default::default(),
        writes: Ok(()),
    }
}

/// A trial that was found in a file. Where and by which version it was printed is in `outcome`.
pub(crate) struct Found {
    /// Name of the case.
    pub name: String,
    /// The same text for trials that are repetitions of each other.
    pub key: String,
    /// What cases of one name may differ in, by the tool's own name for it.
    pub options: BTreeMap<String, String>,
    /// When it began, since 1970; `None` if that is not told.
    pub started: Option<Nanos>,
    /// From its start, ramp included, to its end.
    pub lasted: Nanos,
    /// What was asked for.
    pub asked: Trial,
    /// What came of it; its times count from its start.
    pub outcome: TrialOutcome,
    /// Its intervals; empty if the tool gives none.
    pub slices: Vec<Slice>,
}

impl Found {
    /// File and line of it.
    fn place(&self, files: &[SourceFile]) -> String {
        let (file, line) = self.outcome.tool_output.as_ref().map_or((0, 0), |told| (told.file as usize, told.line));
        format!("{}:{line}", files.get(file).map_or("", |file| file.name.as_str()))
    }

    /// Its numbers as printed, without those of the whole program.
    fn printed(&self) -> Vec<&str> {
        let ops = self.outcome.tool_output.iter().flat_map(|told| &told.ops);
        let own = ops.flat_map(|op| &op.numbers).filter(|number| !OF_THE_PROGRAM.contains(&number.name.as_str()));
        own.map(|number| number.printed.as_str()).collect()
    }
}

/// The run of these trials, in the order of time; without dates one after the other, as they were named. `axis` says how the options
/// of the tool are called in labels of cases.
///
/// Errors are of kind `Spec`: the same results twice, or more trials than fit.
pub(crate) fn run(imported: Imported, mut found: Vec<Found>, axis: Axis) -> Result<ImportedRun> {
    let mut run = ImportedRun { imported, ..ImportedRun::nothing_yet("") };
    run.inputs.suite.name = run.imported.tool.clone();
    if found.len() > TRIALS_MAX {
        let message = say!("the files hold more than {TRIALS_MAX} trials", "в файлах больше {TRIALS_MAX} испытаний");
        return Err(Error::spec(message).hint(say!("import them in parts", "импортируйте их по частям")));
    }
    refuse_copies(&found, &run.imported.files)?;
    let (files, dropped) = (&run.imported.files, &mut run.imported.dropped);
    found.retain(|trial| {
        let fits = trial.outcome.jobs.len() <= JOBS_PER_TRIAL;
        if !fits {
            let place = trial.place(files);
            dropped.push(say!(
                "{place}: a group of more than {JOBS_PER_TRIAL} jobs",
                "{place}: группа более чем из {JOBS_PER_TRIAL} заданий"
            ));
        }
        fits
    });
    let first = in_order(&mut found);
    let dated = first.is_some();
    let (mut cases, mut at) = (Cases::default(), Nanos(0));
    for (number, trial) in (0u32..).zip(found) {
        let (case, block) = cases.place(&trial);
        if let (Some(first), Some(started)) = (first, trial.started) {
            at = started.saturating_sub(first);
        }
        let mut outcome = trial.outcome;
        outcome.shift(i64::try_from(at.0).unwrap_or(i64::MAX));
        let asked = Box::new(trial.asked);
        run.entries.push(Entry::TrialStart { trial: number, case, block, round: false, asked, at });
        if !trial.slices.is_empty() {
            run.entries.push(Entry::slices(number, trial.slices));
        }
        run.entries.push(Entry::trial_end(number, outcome));
        if !dated {
            at = at + trial.lasted;
        }
    }
    run.started_unix_ns = first.map(|first| i64::try_from(first.0).unwrap_or(0));
    run.inputs.suite.blocks = cases.trials.iter().copied().max().unwrap_or(0);
    run.asked_text = cases.text();
    run.inputs.suite.imported = cases.named(axis);
    Ok(run)
}

/// Puts trials into the order of time if all tell when they began; the begin of the first then.
fn in_order(found: &mut [Found]) -> Option<Nanos> {
    if found.iter().any(|trial| trial.started.is_none()) {
        return None;
    }
    found.sort_by_key(|trial| trial.started);
    found.first().and_then(|trial| trial.started)
}

/// Two trials whose numbers are all the same are one that was named twice.
fn refuse_copies(found: &[Found], files: &[SourceFile]) -> Result<()> {
    let mut seen: HashMap<(&str, Vec<&str>), &Found> = HashMap::new();
    for trial in found {
        let numbers = trial.printed();
        // A job that did nothing prints nothing.
        if numbers.is_empty() {
            continue;
        }
        let Some(first) = seen.insert((&trial.key, numbers), trial) else { continue };
        let (one, other) = (first.place(files), trial.place(files));
        return Err(Error::spec(say!(
            "{other} holds the same results as {one}",
            "{other} содержит те же результаты, что и {one}"
        ))
        .hint(say!("name each result once", "укажите каждый результат один раз")));
    }
    Ok(())
}

/// Cases by what makes trials the same.
#[derive(Default)]
struct Cases {
    cases: Vec<Case>,
    /// Options of each, for its label.
    options: Vec<BTreeMap<String, String>>,
    trials: Vec<u32>,
    by_key: HashMap<String, u32>,
}

impl Cases {
    /// The case of a trial, and which trial of it this is.
    fn place(&mut self, trial: &Found) -> (u32, u32) {
        let case = *self.by_key.entry(trial.key.clone()).or_insert_with(|| {
            let (axes, told) = (Vec::new(), trial.asked.clone());
            let name = trial.name.clone();
            self.cases.push(Case {
                name,
                axes,
                trial: told,
                not_run: None,
                arm: None,
                steady: None,
                faults: Vec::new(),
            });
            self.options.push(trial.options.clone());
            self.trials.push(0);
            self.cases.len() as u32 - 1
        });
        let count = &mut self.trials[case as usize];
        *count += 1;
        (case, *count - 1)
    }

    /// The cases, those of one name told apart by the options in which they differ.
    fn named(mut self, axis: Axis) -> Vec<Case> {
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, case) in self.cases.iter().enumerate() {
            by_name.entry(case.name.clone()).or_default().push(index);
        }
        for alike in by_name.into_values().filter(|alike| alike.len() > 1) {
            let axes = differing(&alike.iter().map(|index| &self.options[*index]).collect::<Vec<_>>());
            for (count, index) in alike.iter().enumerate() {
                let of = |name: &str| self.options[*index].get(name).map_or(DEFAULT, String::as_str).to_string();
                let told = axes.iter().flatten().map(|name| axis(name, of(name), &self.options[*index])).collect();
                // What differs without a name that tells it, or in too many, is counted.
                let counted = || vec![("variant".to_string(), (count + 1).to_string())];
                self.cases[*index].axes = if axes.is_some() { told } else { counted() };
            }
        }
        self.cases
    }

    /// What was asked for in all cases, as options are repeated.
    fn text(&self) -> String {
        let mut text = String::new();
        for (case, options) in self.cases.iter().zip(&self.options) {
            text += &format!("[{}]\n", case.name);
            for (name, value) in options {
                text += &if value.is_empty() { format!("{name}\n") } else { format!("{name}={value}\n") };
            }
        }
        text
    }
}

/// Names of the options in which these cases differ; `None` if there are none, or more than a label holds.
///
/// Each option is looked at once: names may be as many as a file has lines, and cases, too.
fn differing<'o>(cases: &[&'o BTreeMap<String, String>]) -> Option<Vec<&'o str>> {
    // In how many cases a name stands, with what value, and whether it is the same in all of them.
    let mut names: BTreeMap<&str, (usize, &str, bool)> = BTreeMap::new();
    for (name, value) in cases.iter().copied().flatten() {
        let (count, first, same) = names.entry(name).or_insert((0, value, true));
        *count += 1;
        *same &= *first == value;
    }
    let differ = |(count, value, same): &(usize, &str, bool)| !same || (*count < cases.len() && *value != DEFAULT);
    let axes: Vec<&str> = names.iter().filter(|(_, told)| differ(told)).map(|(name, _)| *name).collect();
    let long = axes.len() > AXES_MAX || sum(axes.iter().map(|name| name.len() as u64)) > AXES_BYTES_MAX;
    (!axes.is_empty() && !long).then_some(axes)
}

/// Sum of counts that a file tells: the most there can be, where they come to more.
pub(crate) fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// What of a file is not in the run, with its place.
pub(crate) fn missing(name: &str, line: u32, why: &Say) -> Say {
    let Say { en, ru } = why;
    say!("{name}:{line}: {en}", "{name}:{line}: {ru}")
}
