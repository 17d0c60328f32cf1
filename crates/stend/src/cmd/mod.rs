//! One file per verb.

pub mod audit;
pub mod bundle;
pub mod compare;
pub mod completions;
pub mod doctor;
pub mod export;
mod export_ios;
mod frontend;
mod gate;
mod history;
pub mod hosts;
pub mod import;
mod import_suite;
pub mod inspect;
pub mod journal;
pub mod lab;
mod lab_fault;
mod lab_like;
mod lab_shell;
pub mod list;
pub mod man;
mod notify;
pub mod notify_vendor;
mod open;
mod order;
mod published;
pub mod record;
mod recording;
mod redact;
pub mod remote;
pub mod report;
pub mod rm;
pub mod run;
pub mod serve;
pub mod serve_backup;
pub mod serve_install;
pub mod show;
mod signals;
mod sources;
pub mod stand;
pub mod stands;
pub mod stop;
pub mod suites;
mod target_suggestions;
mod task;
pub mod top;
pub mod vm;
pub mod watch;
pub mod worker;
pub(crate) mod workload;

use crate::out::Out;
use crate::save::Output;
use clap::ArgMatches;
use std::path::{Path, PathBuf};
use stend_base::{Code, Error, Result, Say, say};
use stend_record::{RunRecord, store};
use stend_session::suites as built_in;
use stend_spec::order::NamedText;
use stend_spec::suite::Suite;

/// A required argument; clap has checked that it is there.
fn required<'a>(arguments: &'a ArgMatches, name: &str) -> &'a str {
    arguments.get_one::<String>(name).map_or("", String::as_str)
}

/// All values of a repeatable option.
fn many(arguments: &ArgMatches, name: &str) -> Vec<String> {
    arguments.get_many::<String>(name).into_iter().flatten().cloned().collect()
}

/// The file that an option names, if it names one and not the standard output (`-`).
fn output(arguments: &ArgMatches, option: &str, what: Say) -> Option<Output> {
    let file = arguments.get_one::<String>(option).filter(|file| *file != "-")?;
    Some(Output::new(file, what, arguments.get_flag("force")))
}

/// Errors: `Usage` if `-o`, which writes a web page, names a file of another form.
fn is_page(arguments: &ArgMatches) -> Result<()> {
    let Some(file) = arguments.get_one::<String>("output") else { return Ok(()) };
    let end = Path::new(file).extension().and_then(|end| end.to_str()).unwrap_or_default().to_ascii_lowercase();
    let instead = match end.as_str() {
        "md" | "markdown" if arguments.try_contains_id("markdown").is_ok() => {
            say!("for Markdown say `--markdown {file}`", "для Markdown укажите `--markdown {file}`")
        }
        "md" | "markdown" => {
            let page = Path::new(file).with_extension("html");
            let page = page.display();
            say!("name it `{page}`", "назовите его `{page}`")
        }
        "csv" | "xlsx" => say!(
            "for a table say `stend export RUN --format {end} -o {file}`",
            "для таблицы есть `stend export ПРОГОН --format {end} -o {file}`"
        ),
        "json" => say!(
            "for JSON say `--json` without `-o`, and redirect the standard output",
            "для JSON укажите `--json` без `-o` и перенаправьте стандартный вывод"
        ),
        _ => return Ok(()),
    };
    let error = say!(
        "`-o` writes an HTML page, and `{file}` is named like another form",
        "`-o` записывает страницу HTML, а имя `{file}` — как у файла другого вида"
    );
    Err(Error::usage(error).hint(instead))
}

/// The file of this program.
///
/// Errors: `Preflight` if the system does not tell.
fn this_program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|error| {
        let message = say!("cannot find this program: {error}", "не удаётся найти эту программу: {error}");
        Error::preflight(message)
    })
}

/// Whether an option names the standard output.
fn to_standard_output(arguments: &ArgMatches, option: &str) -> bool {
    arguments.get_one::<String>(option).is_some_and(|file| file == "-")
}

/// Reads the run that the user means by an id, a unique prefix, a path or `last`; with `--redact` without its secrets.
fn read_run(arguments: &ArgMatches, out: &Out) -> Result<RunRecord> {
    redact::record(arguments, read(required(arguments, "RUN"), out)?, out)
}

/// Reads a run by its name, as it is.
fn read(name: &str, out: &Out) -> Result<RunRecord> {
    match &out.remote {
        Some(remote) => remote.read(name),
        None => stend_session::read_run(&located(name, out)?),
    }
}

/// The file of a run by its name, as [`read_run`], fetched if a server has it; says which runs `last` passed over because their files are gone.
fn located(name: &str, out: &Out) -> Result<PathBuf> {
    if let Some(remote) = &out.remote {
        return remote.fetch(name);
    }
    let found = store::locate(name, &store::directory()?)?;
    found.note().iter().for_each(|note| out.note(note.get(out.lang)));
    Ok(found.path)
}

/// A built-in suite by name, else a file; with the directory where its relative paths begin.
fn suite_text(name: &str) -> Result<(NamedText, PathBuf)> {
    if let Some(known) = built_in::find(name) {
        return Ok((NamedText { file: format!("{name}.yaml"), text: known.text.to_string() }, PathBuf::new()));
    }
    let text = stend_sys::regular::text(name, stend_spec::parse::SIZE_MAX as u64).map_err(|Say { en, ru }| {
        Error::new(
            Code::SuiteUnknown,
            say!("cannot read the suite `{name}`: {en}", "не удаётся прочитать набор `{name}`: {ru}"),
        )
        .hint(match stend_spec::parse::nearest(name, built_in::ALL.iter().map(|suite| suite.name)) {
            _ if may_not_read(name) => permissions(name),
            Some(near) => say!("did you mean `{near}`?", "возможно, `{near}`?"),
            None => say!("`stend suites` lists the built-in ones", "встроенные наборы покажет `stend suites`"),
        })
    })?;
    let directory = Path::new(name).parent().map(Path::to_path_buf).unwrap_or_default();
    Ok((NamedText { file: name.to_string(), text }, directory))
}

/// Both: a suite by its name.
fn read_suite(name: &str) -> Result<Suite> {
    stend_session::suite(&suite_text(name)?.0)
}

/// Whether a file is there and this user may not read it.
fn may_not_read(name: &str) -> bool {
    let asked = stend_sys::access::may(name, stend_sys::access::Intent::Read);
    asked.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}

/// What helps then.
fn permissions(name: &str) -> Say {
    say!("check the permissions: `ls -l {name}`", "проверьте права: `ls -l {name}`")
}

/// A file that the user names and that cannot be read.
fn unreadable(name: &str, Say { en, ru }: &Say) -> Box<Error> {
    Error::new(Code::FileUnreadable, say!("cannot read `{name}`: {en}", "не удаётся прочитать `{name}`: {ru}")).hint(
        match may_not_read(name) {
            true => permissions(name),
            false => {
                say!("name a file that exists and that you may read", "укажите существующий файл, доступный для чтения")
            }
        },
    )
}
