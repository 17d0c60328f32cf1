//! `stend run SUITE --on PATH`: measure, keep, judge, report.

use super::place::Place;
use super::signals::{Stoppers, watch_signals};
use super::storage;
use crate::out::Out;
use crate::progress::{Aside, Display};
use crate::traces;
use clap::ArgMatches;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stend_base::units::parse_nanos;
use stend_base::{Error, Kind, Nanos, Result, Say, say};
use stend_host::Permission;
use stend_record::targets::{in_line, names};
use stend_record::{RunState, StandText, store};
use stend_run::{Channel, Done, Progressed, Resume, Returned, Setup};
use stend_spec::arm::Switch;
use stend_spec::keys::ENGINES;
use stend_spec::suite::Suite;

/// Executes a run and shows what it found.
pub fn run(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let stoppers = watch_signals()?;
    let stands = super::many(arguments, "stand");
    if arguments.get_flag("dry-run") && !stands.is_empty() {
        return Err(Error::new(
            Kind::Usage,
            say!(
                "what a run does on a stand that is not up cannot be told ahead",
                "что прогон сделает на ещё не поднятом стенде, заранее неизвестно"
            ),
        )
        .hint(say!(
            "`stend stand plan FILE` shows what the stand does; after `stend stand up FILE` a dry run takes its target with `--on`",
            "что сделает стенд, покажет `stend stand plan ФАЙЛ`; после `stend stand up ФАЙЛ` объект стенда можно указать в `--on`"
        )));
    }
    if stands.len() > 1 || arguments.get_flag("rebuild") {
        return super::campaign::campaign(&stands, arguments, &stoppers, out);
    }
    let setup = match arguments.get_one::<String>("resume") {
        Some(file) => resumed(file, arguments, out)?,
        None => setup(arguments, stands.first().map(String::as_str), seed(arguments)?, out)?,
    };
    if arguments.get_flag("dry-run") {
        let (channel, stopper) = stend_run::channel();
        stoppers.aim(Some(stopper));
        return dry_run(setup, channel, arguments.get_flag("force"), out);
    }
    let done = to_its_end(setup, arguments, &stoppers, out)?;
    let shown = match &done.run_file {
        Some(path) => conclude(path, arguments.get_flag("force"), out),
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

/// Executes a run, over the steps of persons that it waits for and the cuts of power that it asks for.
pub(super) fn to_its_end(setup: Setup, arguments: &ArgMatches, stoppers: &Stoppers, out: &Out) -> Result<Done> {
    let mut setup = setup;
    let stand = setup.stand.clone();
    let place = Place::measured(arguments, stand.as_ref())?;
    let owner = setup.run_file.to_string_lossy().into_owned();
    // Before anything is built on a host with the drives of a stand, and before hours are measured for nothing.
    if setup.resume.is_none() {
        store::may_create(&setup.run_file)?;
    }
    super::report::beside(&setup.run_file, arguments.get_flag("force"))?.check()?;
    let storage =
        stand.as_ref().map(|stand| storage::put_up(stand, &owner, arguments, stoppers, out)).transpose()?.flatten();
    if let Some(storage) = &storage {
        setup.elsewhere = storage.done.clone();
    }
    let done = loop {
        stend_stand::may_execute(&setup.permission, &setup.suite.changes())?;
        let (channel, stopper) = stend_run::channel();
        stoppers.aim(Some(stopper));
        let display = Display::new(arguments.get_one::<String>("progress").map_or("auto", String::as_str), out);
        let on = setup.stand.as_ref().map_or_else(|| in_line(&setup.targets), |stand| stand.name.clone());
        if let Some(storage) = &storage {
            storage.watch(&mut setup, out);
        }
        let aside = Aside::start(display, &setup.id, &setup.suite.name, &on)?;
        let done = stend_run::execute(setup, channel, &mut |update| aside.show(update));
        aside.end();
        match &done.run_file {
            Some(path) if done.error.is_none() && person_is_ready(path, stoppers, out)? => {
                setup = resumed(&path.to_string_lossy(), arguments, out)?;
            }
            Some(path) => match done.cut {
                Some(cut) => {
                    // Until then Ctrl-C ends all of it; the run file says where it was.
                    stoppers.aim(None);
                    super::lab::wait_for(&place, out)?;
                    let returned = Some(Returned { cut, answered: stend_host::now() });
                    setup = Setup { returned, ..resumed(&path.to_string_lossy(), arguments, out)? };
                }
                None => break done,
            },
            None => break done,
        }
    };
    if let Some(storage) = storage {
        // Under a client that has not let go it would be a fault of the storage.
        let lost = done.error.as_ref().is_some_and(|error| error.kind == Kind::HostLost);
        let failed = if lost { None } else { storage.take_down(stoppers, out).err() };
        if let Some(error) = &failed {
            out.error(error);
        }
        if lost || failed.is_some() {
            out.note(storage.left().get(out.lang));
        }
    }
    if let Some(stand) = &stand {
        left_up(stand, &done, &place, out);
    }
    Ok(done)
}

/// Names the stand that an abort or a lost worker left, and what takes it down.
fn left_up(stand: &StandText, done: &Done, place: &Place, out: &Out) {
    let (name, words) = (&stand.name, place.words());
    let told = match place {
        Place::Here if !stend_stand::known_stands().contains(name) => return,
        Place::Here => say!(
            "the stand `{name}` is still up; `stend stand down {name}` takes it down",
            "стенд `{name}` остался поднятым; убрать его: `stend stand down {name}`"
        ),
        // One of this run alone has ended with it.
        Place::Lab(_) if super::lab::standing_at(place).is_none() => return,
        // A host that is gone cannot be asked.
        Place::Lab(_) | Place::Far(_) => {
            let ended = done.error.as_ref().map(|error| error.kind);
            if !matches!(ended, Some(Kind::HostLost | Kind::Interrupted | Kind::Terminated)) {
                return;
            }
            let there = place.name().en;
            say!(
                "the stand `{name}` may still be up on `{there}`: `stend stand status{words}` shows it, `stend stand down {name}{words}` takes it down",
                "стенд `{name}` мог остаться поднятым на `{there}`: покажет `stend stand status{words}`, уберёт `stend stand down {name}{words}`"
            )
        }
    };
    out.note(told.get(out.lang));
}

/// Prints what the run would do, or refuses as the run would. Makes no file.
fn dry_run(setup: Setup, channel: Channel, force: bool, out: &Out) -> Result<()> {
    store::may_create(&setup.run_file)?;
    let report = super::report::beside(&setup.run_file, force)?;
    // A run makes the directory of run files if it is not there yet.
    let replaces = if setup.run_file.parent().is_some_and(Path::exists) { report.check()? } else { false };
    let mut preview = stend_run::preview(setup, channel)?;
    preview.ahead.report = report.path().to_string_lossy().into_owned();
    preview.ahead.report_replaces = replaces;
    out.result(&match out.json {
        true => stend_report::preview_json(&preview),
        false => stend_report::preview_text(&preview, out.lang, out.width(), out.colour()),
    })
}

/// If the run waits for a person and somebody sits at the terminal: tells what to do, and whether Enter
/// was pressed when it was done. A reboot cannot be waited for.
fn person_is_ready(path: &Path, stoppers: &Stoppers, out: &Out) -> Result<bool> {
    use std::io::BufRead;
    let run = store::read(path)?;
    let RunState::Suspended { arm, instruction } = &run.state else { return Ok(false) };
    let next = run.header.inputs.suite.arms.get(*arm as usize);
    let waits = next.is_some_and(|arm| matches!(arm.switch, Switch::Person { .. }));
    if !waits || out.json || !out.has_person() {
        return Ok(false);
    }
    let name = next.map_or("", |arm| &arm.name);
    let prompt = say!(
        "next arm `{name}`: {instruction}\nPress Enter when it is done, or Ctrl-D to go on later with `stend run --resume`.",
        "следующий вариант `{name}`: {instruction}\nНажмите Enter, когда сделаете, или Ctrl-D, чтобы продолжить позже командой `stend run --resume`."
    );
    out.note(prompt.get(out.lang));
    stoppers.aim(None);
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    // An unreadable terminal is nobody's Enter; the run waits in its file.
    Ok(read.is_ok_and(|bytes| bytes > 0))
}

/// Prints the findings of a finished run, writes its report, and says where both files are. A report that cannot be written keeps
/// nobody from the findings.
pub(super) fn conclude(path: &Path, force: bool, out: &Out) -> Result<()> {
    let run = store::read(path)?;
    let report = super::report::beside(path, force)?;
    let written =
        super::report::write(&run, &report, out.lang).map_err(|error| without_report(error, path, &run.state));
    if out.json {
        out.result(&stend_report::json(&stend_analyse::analyse(&run)?))?;
        return written;
    }
    super::show::print(&run, &stend_analyse::judge(&run)?, out)?;
    let (run_file, report) = (path.display(), report.path().display());
    let places = match written {
        Ok(()) => say!(
            "run file  {run_file}\nreport    {report}\nnext      stend show {run_file}",
            "файл прогона  {run_file}\nотчёт         {report}\nдальше        stend show {run_file}"
        ),
        Err(_) => say!(
            "run file  {run_file}\nnext      stend show {run_file}",
            "файл прогона  {run_file}\nдальше        stend show {run_file}"
        ),
    };
    out.note(places.get(out.lang));
    if let RunState::Suspended { .. } = run.state {
        let next = say!("go on with   stend run --resume {run_file}", "продолжение   stend run --resume {run_file}");
        out.note(next.get(out.lang));
    }
    written
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

/// What a new run needs, on a stand if its file is given.
pub(super) fn setup(arguments: &ArgMatches, stand: Option<&str>, seed: u64, out: &Out) -> Result<Setup> {
    let stand = stand.map(super::stand::read).transpose()?;
    let (mut suite, suite_text, directory) = read_suite(super::required(arguments, "SUITE"))?;
    let engine = arguments.get_one::<String>("engine");
    if let Some((.., engine)) = engine.and_then(|name| ENGINES.iter().find(|(known, ..)| known == name)) {
        suite.run_by(*engine);
    }
    let traces = traces::of_suite(&suite, &directory)?;
    let now = since_1970();
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
    let place = Place::measured(arguments, stand.as_ref())?;
    let power = super::lab::power(&place);
    stend_run::may_cut(&suite, power.as_ref())?;
    Ok(Setup {
        suite,
        suite_text,
        seed,
        time_budget: arguments.get_one::<String>("time-budget").map(|text| budget(text)).transpose()?,
        traces,
        targets: super::many(arguments, "on"),
        permission: permission(arguments),
        id,
        run_file,
        command_line: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
        host: place.reach(out)?,
        power,
        started_unix: now.as_secs() as i64,
        resume: None,
        stand,
        elsewhere: Vec::new(),
        storage: None,
        returned: None,
        one_block: false,
    })
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO)
}

/// The seed that the user gave, or one drawn from the clock.
pub(super) fn seed(arguments: &ArgMatches) -> Result<u64> {
    match arguments.get_one::<String>("seed") {
        Some(text) => text.parse().map_err(|_| wrong("--seed", text, "a whole number", "целое число")),
        None => Ok(since_1970().as_nanos() as u64),
    }
}

/// A run that ended early goes on where it was: the suite, the seed and the target are those of its file.
pub(super) fn resumed(file: &str, arguments: &ArgMatches, out: &Out) -> Result<Setup> {
    let path = store::locate(file, &store::directory()?)?;
    if stend_run::is_going_on(&path) {
        let shown = path.display();
        return Err(Error::new(
            Kind::Preflight,
            say!("the run in `{shown}` is still going on", "прогон из `{shown}` ещё выполняется"),
        )
        .hint(say!("`stend watch {file}` shows it", "`stend watch {file}` покажет его")));
    }
    let run = super::read_file(&path)?;
    let progressed = stend_run::progressed(&run)?;
    let header = run.header;
    let place = Place::measured(arguments, header.stand.as_ref())?;
    let power = super::lab::power(&place);
    stend_run::may_cut(&header.inputs.suite, power.as_ref())?;
    Ok(Setup {
        suite: header.inputs.suite.clone(),
        suite_text: header.suite_text,
        seed: header.inputs.seed,
        time_budget: header.inputs.time_budget,
        traces: traces::again(&header.inputs.traces)?,
        targets: targets_of_resumed(&progressed, arguments)?,
        permission: permission(arguments),
        id: header.id,
        run_file: absolute(&path)?,
        command_line: header.command_line,
        host: place.reach(out)?,
        power,
        started_unix: header.started_unix,
        resume: Some(Resume { progressed, realtime_offset_ns: header.realtime_offset_ns }),
        stand: header.stand,
        elsewhere: Vec::new(),
        storage: None,
        returned: None,
        one_block: false,
    })
}

/// The targets of the earlier sessions, or those that the next arm puts in their place.
fn targets_of_resumed(progressed: &Progressed, arguments: &ArgMatches) -> Result<Vec<String>> {
    let (earlier, given) = (names(&progressed.targets), super::many(arguments, "on"));
    if given.is_empty() {
        return Ok(earlier);
    }
    let (then, now) = (in_line(&earlier), in_line(&given));
    match earlier == given || progressed.new_target {
        true => Ok(given),
        false => Err(Error::new(
            Kind::Usage,
            say!("the run goes on with `{then}`, not with `{now}`", "прогон продолжается на `{then}`, а не на `{now}`"),
        )
        .hint(say!(
            "only an arm that has `target_identity` in `expect` replaces the target",
            "объект заменяет только вариант, у которого в `expect` есть `target_identity`"
        ))),
    }
}

fn permission(arguments: &ArgMatches) -> Permission {
    Permission {
        confirm: super::many(arguments, "confirm"),
        overwrite_signatures: super::many(arguments, "overwrite-signature"),
        commands: arguments.get_flag("allow-commands"),
        beside: arguments.get_flag("beside"),
    }
}

/// A built-in suite by name, else a file; with its text, and the directory where its relative paths begin.
pub fn read_suite(name: &str) -> Result<(Suite, String, PathBuf)> {
    if let Some(known) = crate::suites::find(name) {
        let suite = stend_spec::parse::suite(known.text, &format!("{name}.yaml"))?;
        return Ok((suite, known.text.to_string(), PathBuf::new()));
    }
    let text = crate::input::text(name, stend_spec::parse::SIZE_MAX as u64).map_err(|Say { en, ru }| {
        Error::new(
            Kind::Spec,
            say!("cannot read the suite `{name}`: {en}", "не удаётся прочитать набор `{name}`: {ru}"),
        )
        .hint(say!("`stend suites` lists those that are built in", "встроенные наборы покажет `stend suites`"))
    })?;
    let directory = Path::new(name).parent().map(Path::to_path_buf).unwrap_or_default();
    match stend_spec::parse::suite(&text, name) {
        Ok(suite) => Ok((suite, text, directory)),
        Err(error) if stend_spec::jobs::is_jobs(&text) => Err(error.hint(say!(
            "this looks like a job file of another tool: `stend import --suite {name} -o suite.yaml` makes a suite of it",
            "похоже на файл заданий другой программы: набор из него сделает `stend import --suite {name} -o suite.yaml`"
        ))),
        Err(error) => Err(error),
    }
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
