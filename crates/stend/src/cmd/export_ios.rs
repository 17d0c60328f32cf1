//! `stend export RUN --ios`: the log of every I/O for other programs, piece by piece.

use crate::out::Out;
use crate::save::Output;
use clap::ArgMatches;
use clap::parser::ValueSource;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::io::{Error as IoError, Write};
use std::time::{Duration, Instant};
use stend_base::{Error, Lang, Nanos, Result, format, say};
use stend_plan::Plan;
use stend_record::{HostId, RunRecord, TrialRecord, store};
use stend_report::{IoFormat, LoggedTrial, ios, ios_head};

/// An export that is over by then says nothing of its progress.
const SILENT: Duration = Duration::from_secs(2);

/// Writes the logs of a run, or of one trial of it, to a file or to the standard output.
pub fn export(arguments: &ArgMatches, output: Option<Output>, out: &Out) -> Result<()> {
    let format = format(arguments)?;
    let path = super::located(super::required(arguments, "RUN"), out)?;
    let run = stend_session::read_run(&path)?;
    let plan = run.plan()?;
    let trials = chosen(&run, arguments.get_one::<u32>("trial").copied())?;
    if format == IoFormat::Fio && trials.len() > 1 {
        let n = trials[0].trial;
        return Err(usage(say!(
            "fio's format has no column for the trial, and the run has logs of several",
            "в формате fio нет столбца для испытания, а в прогоне журналы нескольких"
        ))
        .hint(say!("name one: `--trial {n}`", "укажите одно: `--trial {n}`")));
    }
    if format == IoFormat::Fio && !run.several_loads().is_empty() {
        return Err(usage(say!(
            "fio's format has no column for the load host, and the run has several",
            "в формате fio нет столбца для нагружающей машины, а в прогоне их несколько"
        ))
        .hint(say!("use `--format csv`", "возьмите `--format csv`")));
    }
    let mut logs = store::io_logs(&path)?;
    let mut broken = None;
    let write = |to: &mut dyn Write| {
        let mut progress = Progress::new(trials.iter().map(|trial| trial.logged).sum(), out.lang);
        let written = write_all(&mut logs, (&plan, &run.several_loads()), &trials, format, &mut progress, to);
        progress.end(out);
        written.map_err(|trouble| match trouble {
            Trouble::Write(error) => error,
            Trouble::Read(error) => {
                broken = Some(error);
                IoError::other("the run file cannot be read")
            }
        })
    };
    let done = match &output {
        None => out.stream(write),
        Some(output) => output.save(write),
    };
    broken.map_or(done, Err)?;
    let Some(output) = output else { return Ok(()) };
    let file = output.path().display().to_string();
    match out.json {
        true => out.result(&serde_json::json!({"export": file}).to_string()),
        false => out.result(&file),
    }
}

/// A table, unless fio's lines are asked for.
fn format(arguments: &ArgMatches) -> Result<IoFormat> {
    let named = arguments.value_source("format") == Some(ValueSource::CommandLine);
    match super::required(arguments, "format") {
        "fio" => Ok(IoFormat::Fio),
        "csv" => Ok(IoFormat::Csv),
        _ if !named => Ok(IoFormat::Csv),
        other => Err(usage(say!(
            "`--ios` is written as `csv` or `fio`, not as `{other}`",
            "`--ios` записывается как `csv` или `fio`, но не как `{other}`"
        ))),
    }
}

/// The trials whose logs are written.
fn chosen(run: &RunRecord, wanted: Option<u32>) -> Result<Vec<&TrialRecord>> {
    let logged: Vec<&TrialRecord> = run.trials.iter().filter(|trial| trial.asked.io_log.is_some()).collect();
    if logged.is_empty() {
        return Err(usage(say!("the run has no log of every I/O", "в прогоне нет журнала операций"))
            .hint(say!("the suite asks for it with `io_log`", "его заказывает ключ `io_log` в наборе")));
    }
    let Some(wanted) = wanted else { return Ok(logged) };
    let found: Vec<_> = logged.iter().copied().filter(|trial| trial.trial == wanted).collect();
    if found.is_empty() {
        let (first, last) = (logged[0].trial, logged[logged.len() - 1].trial);
        return Err(usage(say!("there is no log of trial {wanted}", "журнала испытания {wanted} нет")).hint(say!(
            "the run has logs of trials between {first} and {last}",
            "в прогоне есть журналы испытаний от {first} до {last}"
        )));
    }
    Ok(found)
}

fn usage(message: stend_base::Say) -> Box<Error> {
    Error::usage(message)
}

/// What ends an export early.
enum Trouble {
    Read(Box<Error>),
    Write(IoError),
}

impl From<Box<Error>> for Trouble {
    fn from(error: Box<Error>) -> Trouble {
        Trouble::Read(error)
    }
}

fn write_all(
    logs: &mut store::IoLogs,
    (plan, hosts): (&Plan, &[(HostId, &str)]),
    trials: &[&TrialRecord],
    format: IoFormat,
    progress: &mut Progress,
    to: &mut dyn Write,
) -> std::result::Result<(), Trouble> {
    ios_head(format, !hosts.is_empty(), to).map_err(Trouble::Write)?;
    for trial in trials {
        let label = plan.cases.get(trial.case as usize).map_or_else(|| trial.case.to_string(), |case| case.label());
        // Without an end of the trial the start of its window is unknown; then its lines count from its first I/O.
        let windows = trial.by_host().into_iter().filter_map(|(host, _, outcome)| Some((host, outcome?.window_start)));
        let mut starts: BTreeMap<HostId, Nanos> = windows.collect();
        logs.each(trial.trial, |host, chunk| {
            let start = *starts.entry(host).or_insert(chunk.base);
            let host = hosts.iter().find(|(id, _)| *id == host).map(|(_, name)| *name);
            let trial = LoggedTrial { trial: trial.trial, case: &label, host, asked: &trial.asked, start };
            let left_out = ios(format, &trial, chunk, to).map_err(Trouble::Write)?;
            progress.step(chunk.len(), left_out);
            Ok::<(), Trouble>(())
        })?;
    }
    Ok(())
}

/// How far an export has come, on the standard error.
struct Progress {
    began: Instant,
    all: u64,
    done: u64,
    left_out: u64,
    lang: Lang,
    bar: Option<ProgressBar>,
}

impl Progress {
    fn new(all: u64, lang: Lang) -> Progress {
        Progress { began: Instant::now(), all, done: 0, left_out: 0, lang, bar: None }
    }

    fn step(&mut self, ios: u64, left_out: u64) {
        (self.done, self.left_out) = (self.done + ios, self.left_out + left_out);
        if self.began.elapsed() < SILENT {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            // Draws nothing where the standard error is no terminal.
            let bar = ProgressBar::with_draw_target(Some(self.all), ProgressDrawTarget::stderr());
            let words = say!("I/Os", "операций");
            let template = format!("{{bar:30}} {{percent}} %  {{pos}} {}", words.get(self.lang));
            ProgressStyle::with_template(&template).map_or(bar.clone(), |style| bar.with_style(style))
        });
        bar.set_position(self.done);
    }

    /// Takes the bar away and says what has no line.
    fn end(&self, out: &Out) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.left_out > 0 {
            let n = format::count(self.left_out);
            let text = say!(
                "left out because the format cannot hold them or they are damaged: {n} I/Os",
                "опущено операций, которые нельзя записать в этом формате или которые повреждены: {n}"
            );
            out.note(text.get(out.lang));
        }
    }
}
