//! The server of `stend serve`: answers the requests of `stend_api` from run files, and starts processes that carry out orders. It reads what
//! runs have written and never measures, writes nothing but its tasks and the hash of its token, and listens on this machine alone.
#![forbid(unsafe_code)]

mod answers;
pub mod backup;
mod catalogue;
mod clock;
mod confirmations;
mod console;
mod database;
mod guard;
mod http;
mod journal;
mod live;
mod login;
mod pages;
mod printed;
mod remembered;
mod run_file;
mod schedules;
mod stream;
mod summary;
mod tasks;
mod token;
mod upload;
mod users;

use answers::Results;
use catalogue::Catalogue;
use guard::Guard;
use http::Site;
use live::Live;
use schedules::Schedules;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stend_base::{Error, Result, say};
use tasks::Tasks;
use users::Users;

/// Settings of the server.
pub struct Settings {
    /// Where it listens: an address with a port, as the user wrote it.
    pub listen: String,
    /// A new token takes the place of the one there is.
    pub new_token: bool,
    /// Run files.
    pub runs: PathBuf,
    /// This program, which carries out orders.
    pub program: PathBuf,
    /// Version of Stend.
    pub stend_version: &'static str,
}

/// A server that listens and does not answer yet.
pub struct Server {
    listener: TcpListener,
    site: Site,
    /// Where it listens; with the port that the system chose, if none was named.
    pub address: SocketAddr,
    /// The token, if it was made now: it is kept nowhere.
    pub token: Option<String>,
}

impl Server {
    /// Begins to listen, then makes the token if there is none.
    ///
    /// Errors: `Usage` for what is no address, or one of other machines; `Preflight` if the address is taken, or token and tasks cannot be
    /// kept.
    pub fn open(settings: Settings) -> Result<Server> {
        let Settings { listen, new_token, runs, program, stend_version } = settings;
        let listen = address(&listen)?;
        let bound = TcpListener::bind(listen).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok((listener.local_addr()?, listener))
        });
        let (address, listener) = bound.map_err(|error| cannot_listen(listen, &error))?;
        let beside_runs = runs.parent().unwrap_or(Path::new("/")).join("server");
        let (hash, token) = token::load_or_make(&beside_runs, new_token)?;
        let tasks = Tasks::open(&beside_runs, runs.clone(), program.clone())?;
        upload::remove_remains(&beside_runs);
        let users = Arc::new(Users::open(&beside_runs, hash)?);
        let schedules = Schedules::open(&beside_runs, tasks.clone(), users.clone(), program.clone())?;
        let catalogue = Catalogue::new(runs);
        let site = Site {
            guard: Guard::new(users.clone()),
            results: Arc::new(Results {
                catalogue,
                tasks,
                schedules,
                users,
                program,
                scratch: beside_runs,
                stend_version,
            }),
            live: Arc::new(Live::default()),
            uploads: Arc::new(tokio::sync::Semaphore::new(http::UPLOADS_MAX)),
        };
        Ok(Server { listener, site, address, token })
    }

    /// Answers until the process ends.
    ///
    /// Errors: `Preflight` if the system gives no event queue.
    pub fn run(self) -> Result<()> {
        http::run(self.listener, self.site)
    }
}

/// An address that a server may listen on.
///
/// Errors: `Usage` for what is none, or is one of other machines.
pub fn address(text: &str) -> Result<SocketAddr> {
    let address: SocketAddr = text.parse().map_err(|_| no_address(text))?;
    if address.ip().is_loopback() { Ok(address) } else { Err(not_this_machine(address)) }
}

fn no_address(text: &str) -> Box<Error> {
    let message = say!("`--listen {text}` is not an address with a port", "`--listen {text}` — не адрес с портом");
    Error::usage(message).hint(say!("for example `--listen 127.0.0.1:8421`", "например `--listen 127.0.0.1:8421`"))
}

fn not_this_machine(listen: SocketAddr) -> Box<Error> {
    let port = listen.port();
    Error::usage(say!(
        "`{listen}` can be reached from other machines, and the server does not encrypt",
        "`{listen}` доступен с других машин, а сервер не шифрует"
    ))
    .hint(say!(
        "listen on 127.0.0.1, and from elsewhere use `ssh -L {port}:127.0.0.1:{port} HOST`",
        "слушайте 127.0.0.1, а с другой машины подключайтесь через `ssh -L {port}:127.0.0.1:{port} МАШИНА`"
    ))
}

fn cannot_listen(listen: SocketAddr, error: &std::io::Error) -> Box<Error> {
    Error::preflight(say!("cannot listen on {listen}: {error}", "не удаётся слушать {listen}: {error}")).hint(say!(
        "another server may be running; name another port: `--listen 127.0.0.1:PORT`",
        "возможно, сервер уже запущен; укажите другой порт: `--listen 127.0.0.1:ПОРТ`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    fn settings(listen: &str, runs: &Path) -> Settings {
        Settings {
            listen: listen.into(),
            new_token: false,
            runs: runs.into(),
            program: "/bin/false".into(),
            stend_version: "0",
        }
    }

    #[test]
    fn an_address_of_other_machines_is_refused_and_makes_no_token() {
        let dir = tempfile::tempdir().unwrap();
        for listen in ["0.0.0.0:0", "192.0.2.1:80", "[::]:0", "localhost", "127.0.0.1", "127.0.0.1:99999"] {
            let error = Server::open(settings(listen, &dir.path().join("runs"))).err().unwrap();
            assert_eq!(error.kind, Kind::Usage, "{listen}");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_taken_port_is_named_and_makes_no_token() {
        let dir = tempfile::tempdir().unwrap();
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let listen = taken.local_addr().unwrap().to_string();
        let error = Server::open(settings(&listen, &dir.path().join("runs"))).err().unwrap();
        assert!(error.kind == Kind::Preflight && error.message.en.contains(&listen), "{error}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
