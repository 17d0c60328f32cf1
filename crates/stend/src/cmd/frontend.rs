//! The terminal as the frontend of a session: shows what happens, and what was found when a run ends.

use super::gate::Junit;
use super::signals::watch_signals;
use super::task::Task;
use crate::out::Out;
use crate::progress::{Display, DisplayThread, Told};
use crate::save::Output;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use stend_analyse::compare::Options;
use stend_analyse::gate::GateFinding;
use stend_analyse::{Comparison, Findings};
use stend_base::{Error, Result, Say, say};
use stend_record::{EventKind, RunRecord, RunState, store};
use stend_session::{Control, Frontend, Progress, Ready};
use stend_spec::gate::Gate;

/// What this process does with what a session tells.
pub(super) struct Terminal<'a> {
    out: &'a Out,
    /// The report takes the place of whatever file is there.
    force: bool,
    /// How progress is shown.
    progress: String,
    /// What each run is held against when it has ended.
    gate: Option<Gate>,
    /// Where what the gate says is written.
    junit: Option<Junit>,
    /// What a server hears of it.
    task: Option<&'a Task>,
    display: RefCell<Option<DisplayThread>>,
    /// Warnings of the runs and blocks before.
    told: Told,
    /// The first result that could not be shown or written.
    failed: RefCell<Option<Box<Error>>>,
}

impl<'a> Terminal<'a> {
    pub(super) fn new(out: &'a Out, force: bool, progress: &str) -> Terminal<'a> {
        let (display, told, failed) = Default::default();
        let progress = progress.to_string();
        Terminal { out, force, progress, gate: None, junit: None, task: None, display, told, failed }
    }

    /// Holds each run against this gate when it has ended.
    pub(super) fn holding(self, gate: Option<Gate>, junit: Option<Junit>) -> Terminal<'a> {
        Terminal { gate, junit, ..self }
    }

    /// Writes down for a server which runs begin.
    pub(super) fn of_task(self, task: Option<&'a Task>) -> Terminal<'a> {
        Terminal { task, ..self }
    }

    /// The report that goes beside a run file.
    ///
    /// Errors: `Usage` if two of the files that a run writes are one.
    pub(super) fn report(&self, run_file: &Path) -> Result<Output> {
        let report = super::report::beside(run_file, self.force)?;
        if let Some(Junit::File(junit)) = &self.junit {
            let run_file = Output::new(run_file, say!("the run", "прогон"), false);
            crate::save::are_different(&[run_file, report.clone(), junit.clone()])?;
        }
        Ok(report)
    }

    /// Does something in a session that Ctrl-C and SIGTERM stop.
    ///
    /// Errors: that of the session, else the first result that could not be shown.
    pub(super) fn session<T>(&self, work: impl FnOnce(&Control, &Frontend) -> Result<T>) -> Result<T> {
        let control = watch_signals()?;
        let ready: &Ready = &|arm, instruction| self.is_ready(arm, instruction);
        let frontend = Frontend {
            hears: &|progress| self.hear(progress),
            may_report: &|run_file| self.report(run_file)?.check().map(drop),
            ready: (!self.out.json && self.out.has_person()).then_some(ready),
            command_line: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
        };
        let done = work(&control, &frontend);
        match (done, self.failed.take()) {
            (Ok(done), None) => Ok(done),
            (Ok(_), Some(unshown)) => Err(unshown),
            (Err(error), unshown) => {
                unshown.iter().for_each(|unshown| self.out.error(unshown));
                Err(error)
            }
        }
    }

    fn hear(&self, progress: Progress) {
        let out = self.out;
        let shown = match progress {
            Progress::Note(text) => return out.note(text.get(out.lang)),
            Progress::Failed(error) => return out.error(error),
            Progress::Done(kind) => return tell(kind, out),
            Progress::Next { name, stand, number, count, block } => {
                return out.note(next(name, stand, (number, count), block).get(out.lang));
            }
            Progress::Began { run, suite, on } => {
                self.task.iter().for_each(|task| task.began(run));
                let started =
                    DisplayThread::start(Display::new(&self.progress, out).after(&self.told, on), run, suite, on);
                started.map(|aside| drop(self.display.replace(Some(aside))))
            }
            Progress::Update(update) => {
                return self.display.borrow().iter().for_each(|aside| aside.show(update));
            }
            Progress::Paused => {
                return self.display.take().into_iter().for_each(DisplayThread::end);
            }
            Progress::Ended { run_file } => self.conclude(run_file),
            Progress::Campaign { run_files } => table(run_files, self.force, out),
        };
        if let Err(unshown) = shown {
            match &mut *self.failed.borrow_mut() {
                Some(_) => out.error(&unshown),
                first => *first = Some(unshown),
            }
        }
    }

    /// Tells what to do, and whether Enter was pressed when it was done.
    fn is_ready(&self, arm: &str, instruction: &str) -> bool {
        use std::io::BufRead;
        let prompt = say!(
            "next arm `{arm}`: {instruction}\nPress Enter when done, or Ctrl-D to continue later with `stend run --resume`.",
            "следующий вариант `{arm}`: {instruction}\nНажмите Enter, когда сделаете, или Ctrl-D, чтобы продолжить позже командой `stend run --resume`."
        );
        self.out.note(prompt.get(self.out.lang));
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        // An unreadable terminal gives no Enter; the run waits in its file.
        read.is_ok_and(|bytes| bytes > 0)
    }

    /// What its gate says of a run. A run that goes on has the gate that it began with.
    pub(super) fn held_against(&self, run: &RunRecord, findings: &Findings) -> Option<GateFinding> {
        let gate = self.gate.clone().or_else(|| super::gate::of_record(run, self.out));
        gate.map(|gate| stend_analyse::gate::of_run(&gate, findings))
    }

    /// Prints the findings of a finished run and what a gate says of them, writes its report, and says where both files are. A report that cannot be written keeps
    /// nobody from the findings.
    fn conclude(&self, path: &Path) -> Result<()> {
        let out = self.out;
        let run = store::read(path)?;
        let report = self.report(path)?;
        // Once: of a long run it takes seconds.
        let findings = stend_analyse::analyse(&run)?;
        let gate = self.held_against(&run, &findings);
        let written = super::report::write(&run, &findings, gate.as_ref(), &report, out.lang);
        let written = written.map_err(|error| without_report(error, path, &run.state));
        let (run_file, report) = (path.display(), report.path().display());
        let places = match written {
            Ok(()) => {
                say!("run file  {run_file}\nreport    {report}", "файл прогона  {run_file}\nотчёт         {report}")
            }
            Err(_) => say!("run file  {run_file}", "файл прогона  {run_file}"),
        };
        let junit = match (&self.junit, &gate) {
            (Some(junit), Some(gate)) => junit.write(gate, out),
            _ => Ok(false),
        };
        match &junit {
            Ok(true) => {}
            _ if out.json => out.result(&stend_report::gated_json(&findings, gate.as_ref()))?,
            _ => {
                out.note(places.get(out.lang));
                if let RunState::Suspended { .. } = run.state {
                    let next = say!(
                        "go on with   stend run --resume {run_file}",
                        "продолжение   stend run --resume {run_file}"
                    );
                    out.note(next.get(out.lang));
                }
                // Why it ended early is the error of this command.
                let findings = findings.without_reason();
                super::show::print(&run, &findings, gate.as_ref(), Some(&short_name(path)), out)?;
            }
        }
        written.and(junit)?;
        gate.as_ref().map_or(Ok(()), super::gate::verdict)
    }
}

fn next(name: &str, stand: bool, (number, count): (usize, usize), block: Option<u32>) -> Say {
    match (stand, block) {
        (true, Some(build)) => say!(
            "build {build}, stand {number} of {count}: {name}",
            "сборка {build}, стенд {number} из {count}: {name}"
        ),
        (true, None) => say!("stand {number} of {count}: {name}", "стенд {number} из {count}: {name}"),
        (false, Some(block)) => say!(
            "block {block}, target {number} of {count}: {name}",
            "блок {block}, объект {number} из {count}: {name}"
        ),
        (false, None) => say!("target {number} of {count}: {name}", "объект {number} из {count}: {name}"),
    }
}

/// Every command and every change as it is made: of a stand people want to see what is done to their drives.
fn tell(kind: &EventKind, out: &Out) {
    match kind {
        EventKind::Command { argv, .. } => out.note(&format!("$ {}", stend_spec::arm::line(argv))),
        EventKind::Step { action } => out.note(&format!("· {action}")),
        _ => {}
    }
}

/// What the user may call a run here: its id if it lies where runs are looked for, else the path from here.
fn short_name(run_file: &Path) -> String {
    let looked_for = store::directory().is_ok_and(|directory| run_file.parent() == Some(&directory));
    let from_here = std::env::current_dir().ok().and_then(|here| run_file.strip_prefix(here).ok());
    let name = match (looked_for, run_file.file_stem()) {
        (true, Some(id)) => Path::new(id),
        _ => from_here.unwrap_or(run_file),
    };
    name.to_string_lossy().into_owned()
}

/// A report that could not be written, and what there is in spite of that.
fn without_report(error: Box<Error>, run_file: &Path, state: &RunState) -> Box<Error> {
    let run_file = run_file.display();
    let kept = match state {
        RunState::Complete => say!("`{run_file}` is complete", "`{run_file}` записан целиком"),
        _ => say!("`{run_file}` holds what was measured", "измеренное сохранено в `{run_file}`"),
    };
    let Say { en, ru } = kept;
    error.hint(say!(
        "{en}; `stend report {run_file} -o FILE` writes the report to another place",
        "{ru}; `stend report {run_file} -o ФАЙЛ` запишет отчёт в другое место"
    ))
}

/// Prints the runs of a campaign against the first, and writes that as a page.
fn table(run_files: &[&Path], force: bool, out: &Out) -> Result<()> {
    let runs = run_files.iter().map(|path| {
        let run = store::read(path)?;
        let findings = stend_analyse::judge(&run)?;
        Ok((run, findings))
    });
    let runs = runs.collect::<Result<Vec<_>>>()?;
    let Some(first) = run_files.first() else { return Ok(()) };
    if runs.len() < 2 {
        return Ok(());
    }
    let names: Vec<String> = run_files.iter().map(|path| short_name(path)).collect();
    let page = Output::new(comparison_beside(first), say!("the comparison", "сравнение"), force);
    let mut comparison = compared(&runs);
    let pairs: Vec<_> = runs.iter().map(|(run, findings)| (run, findings)).collect();
    stend_analyse::compare::draw(&mut comparison, &pairs);
    page.save(|to| to.write_all(stend_report::comparison_html(&comparison, out.lang).as_bytes()))?;
    let path = page.path().display();
    out.note(say!("comparison  {path}", "сравнение  {path}").get(out.lang));
    out.result(&printed(&comparison, &names, out))
}

fn compared(runs: &[(RunRecord, Findings)]) -> Comparison {
    let pairs: Vec<_> = runs.iter().map(|(run, findings)| (run, findings)).collect();
    stend_analyse::compare(&pairs, &Options::default())
}

/// The runs of a campaign against the first, as the campaign prints it.
pub(super) fn campaign(runs: &[(RunRecord, Findings)], names: &[String], out: &Out) -> String {
    printed(&compared(runs), names, out)
}

fn printed(comparison: &Comparison, names: &[String], out: &Out) -> String {
    match out.json {
        true => stend_report::comparison_json(comparison),
        false => stend_report::campaign_text(comparison, names, out.lang, out.width(), out.colour()),
    }
}

/// Where the page of the campaign goes: beside the first run.
pub(super) fn comparison_beside(first: &Path) -> PathBuf {
    let stem = first.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    first.with_file_name(format!("{stem}-campaign.html"))
}
