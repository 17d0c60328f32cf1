//! The server that a command line asks instead of this machine, and run files that came from it: they lie in a directory of their own, which
//! goes with this process. Must not know what verbs do with them.

use crate::remote_trust;
use clap::ArgMatches;
use clap::parser::ValueSource;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::cell::Cell;
use std::cell::OnceCell;
use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use stend_base::{Code, Error, Lang, Result, Say, say};
use stend_client::{Address, Server, escaped, not_understood};
use stend_record::RunRecord;

/// The variable that names the server.
const SERVER: &str = "STEND_SERVER";
/// The variable with its token.
const TOKEN: &str = "STEND_TOKEN";
/// Longest file of a token that is read; a token has 70 characters.
const TOKEN_MAX: u64 = 4096;
/// Largest run file that is fetched: 16 GiB, more than a month of samples of a large host takes.
const RUN_FILE_MAX: u64 = 16 << 30;

/// How every SQLite file begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Verbs that can ask a server.
const ASKING: [&str; 13] = [
    "run", "watch", "journal", "stop", "list", "suites", "show", "compare", "report", "export", "import", "inspect",
    "doctor",
];
/// Verbs that act on this machine: with the variable set, a user could mean the other one.
const ACTING: [&str; 9] = ["record", "top", "bundle", "notify", "rm", "stand", "lab", "vm", "hosts"];

/// A server that is asked.
pub struct Remote {
    /// Who answers.
    pub server: Server,
    directory: OnceCell<PathBuf>,
    fetched: Cell<u32>,
}

/// Whether a verb can ask a server.
pub fn can_ask(verb: &str) -> bool {
    ASKING.contains(&verb)
}

impl Remote {
    /// The server that the command line or `STEND_SERVER` names, if either does.
    ///
    /// Errors: `Usage` for what is no address, for a verb that asks no server, and without a token.
    pub fn of(matches: &ArgMatches, lang: Lang) -> Result<Option<Remote>> {
        let Some((verb, arguments)) = matches.subcommand() else { return Ok(None) };
        let flag = arguments.try_get_one::<String>("server").ok().flatten().cloned();
        let is_flag = flag.is_some();
        let variable = || std::env::var(SERVER).ok().filter(|value| !value.is_empty());
        let Some(url) = flag.or_else(variable) else {
            let given = |name: &str| arguments.try_contains_id(name).unwrap_or(false);
            let alone = ["token-file", "server-fingerprint"].into_iter().find(|name| given(name));
            return alone.map_or(Ok(None), |option| Err(without_server(option)));
        };
        // What a server has started works on its own machine.
        let of_task = verb == "run" && arguments.value_source("task") == Some(ValueSource::CommandLine);
        if of_task || !is_flag && !ASKING.contains(&verb) && !ACTING.contains(&verb) {
            return Ok(None);
        }
        if !ASKING.contains(&verb) {
            return Err(asks_none(verb, is_flag));
        }
        let address = Address::parse(&url)?;
        let trust = remote_trust::trust(arguments, &address)?;
        let token = token(arguments.get_one::<String>("token-file"))?;
        let server = Server::new(remote_trust::found(address)?, trust, &token, lang)?;
        Ok(Some(Remote { server, directory: OnceCell::new(), fetched: Cell::new(0) }))
    }

    /// The run file of a run by its name there, in a file that goes with this process.
    ///
    /// Errors: what the server says; `Preflight` if it cannot be kept.
    pub fn fetch(&self, name: &str) -> Result<PathBuf> {
        // It would be looked for by its path, and another run has that name there.
        if name.contains('/') {
            return Err(is_path(name, self.server.url()));
        }
        let directory = self.directory()?;
        let number = self.fetched.replace(self.fetched.get() + 1);
        let path = directory.join(format!("{number}.{}", stend_record::store::EXTENSION));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let mut file = file.map_err(|error| cannot_keep(&path, &error))?;
        let target = format!("/api/v1/runs/{}/file", escaped(name));
        self.server.fetch(&target, RUN_FILE_MAX, &mut file)?;
        // Any other file would be told of by a path that the user never named.
        match stend_sys::regular::bytes(&path, MAGIC.len() as u64) {
            Ok(begin) if begin.starts_with(MAGIC) => Ok(path),
            _ => Err(not_understood(self.server.url(), &target, &say!("no run file", "не файл прогона"))),
        }
    }

    /// A run by its name there.
    ///
    /// Errors: as [`fetch`](Self::fetch), and those of reading it.
    pub fn read(&self, name: &str) -> Result<RunRecord> {
        let path = self.fetch(name)?;
        let run = stend_session::read_run(&path);
        // Many runs, one after the other, need the space of one.
        drop(std::fs::remove_file(&path));
        run
    }

    fn directory(&self) -> Result<&Path> {
        if let Some(known) = self.directory.get() {
            return Ok(known);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
        let name = stend_base::random::mix(now ^ u64::from(std::process::id()) << 40);
        let path = std::env::temp_dir().join(format!("stend-{name:016x}"));
        // One that is there already is another's, and is not entered.
        DirBuilder::new().mode(0o700).create(&path).map_err(|error| cannot_keep(&path, &error))?;
        remove_at_signals(&path)?;
        Ok(self.directory.get_or_init(|| path))
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // What cannot be removed is readable for this user alone.
        self.directory.get().into_iter().for_each(|path| drop(std::fs::remove_dir_all(path)));
    }
}

/// A process that a signal ends leaves no run files behind.
fn remove_at_signals(directory: &Path) -> Result<()> {
    let failed =
        |e: std::io::Error| Error::bug(say!("cannot watch signals: {e}", "не удаётся следить за сигналами: {e}"));
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
    let directory = directory.to_path_buf();
    let watch = move || {
        if let Some(signal) = signals.forever().next() {
            drop(std::fs::remove_dir_all(&directory));
            std::process::exit(128 + signal);
        }
    };
    std::thread::Builder::new().name("fetched".into()).spawn(watch).map(drop).map_err(failed)
}

/// The token, of a file or of the environment: others see the words of a command line.
fn token(file: Option<&String>) -> Result<String> {
    let Some(file) = file else {
        let variable = std::env::var(TOKEN).ok().map(|token| token.trim().to_string());
        return variable.filter(|token| !token.is_empty()).ok_or_else(no_token);
    };
    let text = stend_sys::regular::text(file, TOKEN_MAX).map_err(|Say { en, ru }| {
        Error::new(
            Code::FileUnreadable,
            say!("cannot read the token in `{file}`: {en}", "не удаётся прочитать токен из `{file}`: {ru}"),
        )
    })?;
    Ok(text.trim().to_string())
}

fn no_token() -> Box<Error> {
    Error::usage(say!("`--server` needs a token", "для `--server` нужен токен")).hint(say!(
        "name a file with it, `--token-file FILE`, or set STEND_TOKEN; it is what follows `token=` in the link that `stend serve` printed",
        "укажите файл с ним, `--token-file ФАЙЛ`, или задайте STEND_TOKEN; это то, что стоит после `token=` в ссылке, которую напечатал `stend serve`"
    ))
}

fn without_server(option: &str) -> Box<Error> {
    Error::usage(say!("`--{option}` is given, and no server", "указан `--{option}`, а сервер — нет"))
        .hint(say!("add `--server URL`, or set STEND_SERVER", "добавьте `--server URL` или задайте STEND_SERVER"))
}

fn asks_none(verb: &str, is_flag: bool) -> Box<Error> {
    let error = Error::usage(say!(
        "`stend {verb}` works on this machine and asks no server",
        "`stend {verb}` работает на этой машине и сервер не спрашивает"
    ));
    error.hint(match is_flag {
        true => say!(
            "leave out `--server`; docs/api.md lists what works over a server",
            "уберите `--server`; что работает через сервер, перечислено в docs/api.md"
        ),
        false => say!(
            "if you mean this machine, unset STEND_SERVER; docs/api.md lists what works over a server",
            "если речь об этой машине, уберите переменную STEND_SERVER; что работает через сервер, перечислено в docs/api.md"
        ),
    })
}

fn is_path(name: &str, url: &str) -> Box<Error> {
    Error::usage(say!(
        "`{name}` is a path, and {url} finds runs by their names",
        "`{name}` — путь, а {url} находит прогоны по именам"
    ))
    .hint(say!(
        "`stend list` shows the names; for a file of this machine leave out the server",
        "имена покажет `stend list`; для файла на этой машине уберите сервер"
    ))
}

fn cannot_keep(path: &Path, error: &std::io::Error) -> Box<Error> {
    let shown = path.display();
    Error::preflight(say!("cannot write `{shown}`: {error}", "не удаётся записать `{shown}`: {error}"))
        .hint(say!("TMPDIR names another directory", "другой каталог задаёт TMPDIR"))
}
