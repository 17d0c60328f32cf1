//! `stend run SUITE --on PATH`: measure, keep, judge, report.

use crate::out::Out;
use crate::progress::{Aside, Display};
use clap::ArgMatches;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stend_base::units::parse_nanos;
use stend_base::{Error, Kind, Nanos, Result, say};
use stend_host::Permission;
use stend_record::store;
use stend_run::{Channel, Resume, Setup, Stopper};
use stend_spec::suite::Suite;

/// Suites inside the binary, by name.
const BUILT_IN: [(&str, &str); 1] = [("quick", include_str!("../../../../suites/quick/suite.yaml"))];

/// Executes a run and shows what it found.
pub fn run(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let setup = match arguments.get_one::<String>("resume") {
        Some(file) => resumed(file, arguments)?,
        None => setup(arguments)?,
    };
    let (channel, stopper) = stend_run::channel();
    watch_signals(stopper)?;
    if arguments.get_flag("dry-run") {
        return dry_run(setup, channel, out);
    }
    let display = Display::new(arguments.get_one::<String>("progress").map_or("auto", String::as_str), out);
    let aside = Aside::start(display, &setup.id, &setup.suite.name, &setup.target)?;
    let done = stend_run::execute(setup, channel, &mut |update| aside.show(update));
    aside.end();
    let shown = match &done.run_file {
        Some(path) => conclude(path, out),
        None => Ok(()),
    };
    match done.error {
        Some(error) => {
            if let Err(other) = shown {
                out.error(&other);
            }
            Err(error)
        }
        None => shown,
    }
}

/// Prints what the run would do, or refuses as the run would. Makes no file.
fn dry_run(setup: Setup, channel: Channel, out: &Out) -> Result<()> {
    let run_file = setup.run_file.clone();
    let preview = stend_run::preview(setup, channel)?;
    store::may_create(&run_file)?;
    out.result(&match out.json {
        true => stend_report::preview_json(&preview),
        false => stend_report::preview_text(&preview, out.lang, out.width(), out.colour()),
    })
}

/// Prints the findings of a finished run, writes its report, and says where both files are.
fn conclude(path: &Path, out: &Out) -> Result<()> {
    let run = store::read(path)?;
    let findings = stend_analyse::analyse(&run)?;
    let report = path.with_extension("html");
    super::report::write(&run, &report, out.lang)?;
    if out.json {
        return out.result(&stend_report::json(&findings));
    }
    out.result(&stend_report::text(&findings, out.lang, out.width(), out.colour()))?;
    let (run_file, report) = (path.display(), report.display());
    let places = say!(
        "run file  {run_file}\nreport    {report}\nnext      stend show {run_file}",
        "файл прогона  {run_file}\nотчёт         {report}\nдальше        stend show {run_file}"
    );
    out.note(places.get(out.lang));
    Ok(())
}

fn setup(arguments: &ArgMatches) -> Result<Setup> {
    let (suite, suite_text) = read_suite(super::required(arguments, "SUITE"))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let seed = match arguments.get_one::<String>("seed") {
        Some(text) => text.parse().map_err(|_| wrong("--seed", text, "a whole number", "целое число"))?,
        None => now.as_nanos() as u64,
    };
    let id = store::new_run_id(now.as_secs(), stend_base::random::mix(now.as_nanos() as u64));
    let run_file = match arguments.get_one::<String>("output") {
        Some(path) => absolute(Path::new(path))?,
        None => {
            let directory = store::directory()?;
            if !arguments.get_flag("dry-run") {
                store::make_directory(&directory)?;
            }
            directory.join(format!("{id}.{}", store::EXTENSION))
        }
    };
    Ok(Setup {
        suite,
        suite_text,
        seed,
        time_budget: arguments.get_one::<String>("time-budget").map(|text| budget(text)).transpose()?,
        target: super::required(arguments, "on").to_string(),
        permission: permission(arguments),
        id,
        run_file,
        command_line: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
        worker: worker_command()?,
        started_unix: now.as_secs() as i64,
        resume: None,
    })
}

/// A run that ended early goes on where it was: the suite, the seed and the target are those of its file.
fn resumed(file: &str, arguments: &ArgMatches) -> Result<Setup> {
    let path = store::locate(file, &store::directory()?)?;
    if stend_run::is_going_on(&path) {
        let shown = path.display();
        return Err(Error::new(
            Kind::Preflight,
            say!("the run in `{shown}` is still going on", "прогон из `{shown}` ещё выполняется"),
        )
        .hint(say!("`stend watch {file}` shows it", "`stend watch {file}` покажет его")));
    }
    let run = store::read(&path)?;
    let progressed = stend_run::progressed(&run)?;
    let header = run.header;
    Ok(Setup {
        suite: header.inputs.suite.clone(),
        suite_text: header.suite_text,
        seed: header.inputs.seed,
        time_budget: header.inputs.time_budget,
        target: progressed.target.named.clone(),
        permission: permission(arguments),
        id: header.id,
        run_file: absolute(&path)?,
        command_line: header.command_line,
        worker: worker_command()?,
        started_unix: header.started_unix,
        resume: Some(Resume { progressed, realtime_offset_ns: header.realtime_offset_ns }),
    })
}

fn permission(arguments: &ArgMatches) -> Permission {
    Permission {
        confirm: super::many(arguments, "confirm"),
        overwrite_signatures: super::many(arguments, "overwrite-signature"),
    }
}

/// A built-in suite by name, else a file.
fn read_suite(name: &str) -> Result<(Suite, String)> {
    if let Some((name, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return Ok((stend_spec::parse::suite(text, &format!("{name}.yaml"))?, text.to_string()));
    }
    let unreadable = |e: std::io::Error| {
        let known = BUILT_IN.map(|(name, _)| name).join(", ");
        Error::new(Kind::Spec, say!("cannot read the suite `{name}`: {e}", "не удаётся прочитать набор `{name}`: {e}"))
            .hint(say!("built-in suites: {known}", "встроенные наборы: {known}"))
    };
    use std::io::Read;
    let mut text = String::new();
    let file = std::fs::File::open(name).map_err(unreadable)?;
    // One byte more than the parser takes: it says so instead of reading a huge file.
    let limit = stend_spec::parse::SIZE_MAX as u64 + 1;
    file.take(limit).read_to_string(&mut text).map_err(unreadable)?;
    Ok((stend_spec::parse::suite(&text, name)?, text))
}

fn budget(text: &str) -> Result<Nanos> {
    parse_nanos(text).map_err(|_| {
        wrong("--time-budget", text, "a duration such as 90s or 5min", "длительность, например 90s или 5min")
    })
}

fn wrong(option: &str, text: &str, en: &str, ru: &str) -> Box<Error> {
    Error::new(Kind::Usage, say!("`{text}` for {option} is not {en}", "значение `{text}` параметра {option} — не {ru}"))
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|e| {
        let path = path.display();
        Error::new(Kind::Usage, say!("cannot use `{path}`: {e}", "нельзя использовать `{path}`: {e}"))
    })
}

/// This binary as a worker.
fn worker_command() -> Result<Command> {
    let program = std::env::current_exe().map_err(|e| {
        Error::new(
            Kind::Bug,
            say!("cannot find our own binary: {e}", "не удаётся найти собственный исполняемый файл: {e}"),
        )
    })?;
    let mut command = Command::new(program);
    command.arg("worker");
    Ok(command)
}

/// Ctrl-C and SIGTERM stop softly, twice at once; a lost terminal (SIGHUP) does not stop a run.
fn watch_signals(stopper: Stopper) -> Result<()> {
    let failed = |e: std::io::Error| {
        Error::new(Kind::Bug, say!("cannot watch signals: {e}", "не удаётся следить за сигналами: {e}"))
    };
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
    let watch = move || {
        let mut asked = false;
        for signal in signals.forever().filter(|s| *s != SIGHUP) {
            match (asked, signal) {
                (true, _) => stopper.abort(),
                (false, SIGTERM) => stopper.stop(Kind::Terminated),
                (false, _) => stopper.stop(Kind::Interrupted),
            }
            asked = true;
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(watch).map(drop).map_err(failed)
}
