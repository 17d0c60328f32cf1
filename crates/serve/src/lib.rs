//! The server of `stend serve`: answers the requests of `stend_api` from run files, and starts processes that carry out orders. It reads what
//! runs have written and never measures, writes nothing but its tasks, the hash of its token and its certificate, and encrypts for other machines.
#![forbid(unsafe_code)]

mod answers;
pub mod backup;
mod catalogue;
mod clock;
mod confirmations;
mod connections;
mod console;
mod database;
mod directory;
mod drives;
mod guard;
mod hosts_now;
mod http;
mod intervals;
mod journal;
mod listen;
mod live;
mod login;
mod names;
mod pages;
mod patient;
mod printed;
mod remembered;
mod run_file;
mod schedules;
mod stream;
mod summary;
mod tasks;
pub mod tls;
mod token;
mod upload;
mod users;

pub use listen::{Listen, listen};
pub use names::is_name;

use answers::Results;
use catalogue::Catalogue;
use guard::Guard;
use hosts_now::HostsNow;
use http::Site;
use live::Live;
use names::Names;
use schedules::Schedules;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use stend_base::{Error, Result, say};
use tasks::Tasks;
use tls::{Files, Tls, own};
use users::Users;

/// Settings of the server.
pub struct Settings {
    /// Where it listens.
    pub listen: Listen,
    /// The certificate that it proves itself with; without one it makes its own where it encrypts.
    pub certificate: Option<Files>,
    /// Its own certificate is replaced by a new one.
    pub new_certificate: bool,
    /// Names by which it is asked beside those of the certificate.
    pub names: Vec<String>,
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
    /// Where it answers, the best address for people first.
    pub urls: Vec<String>,
    /// The token, if it was made now: it is kept nowhere.
    pub token: Option<String>,
    /// With the token: what a link has that signs its holder in, once and within an hour.
    pub code: Option<String>,
    /// How it encrypts, if it does.
    pub tls: Option<Arc<Tls>>,
    /// The file of its own certificate, without the key.
    pub public_certificate: Option<PathBuf>,
    /// The own certificate took the place of one that clients may know.
    pub is_another_certificate: bool,
}

impl Server {
    /// Looks at the certificate, begins to listen, then makes the own certificate and last the token if there are none.
    ///
    /// Errors: `Preflight` if the certificate cannot serve, the address is taken, or token, certificate and tasks cannot be kept.
    pub fn open(settings: Settings) -> Result<Server> {
        let Settings { listen, certificate, new_certificate, names, new_token, runs, program, stend_version } =
            settings;
        let given = certificate.map(Tls::of_files).transpose()?;
        let bound = TcpListener::bind(listen.address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok((listener.local_addr()?, listener))
        });
        let (address, listener) = bound.map_err(|error| cannot_listen(listen.address, &error))?;
        let beside_runs = runs.parent().unwrap_or(Path::new("/")).join("server");
        let (hash, drawn) = token::load_or_draw(&beside_runs, new_token)?;
        let tasks = Tasks::open(&beside_runs, runs.clone(), program.clone())?;
        upload::remove_remains(&beside_runs);
        let users = Arc::new(Users::open(&beside_runs, hash)?);
        let schedules = Schedules::open(&beside_runs, tasks.clone(), users.clone(), program.clone())?;
        // Behind the lock of the tasks: two servers would make two certificates.
        let own_names = names::own(address, &names);
        let made = match listen.tls && given.is_none() {
            true => Some(own::load_or_make(&beside_runs, &own_names, new_certificate, clock::now_unix())?),
            false => None,
        };
        let (public_certificate, is_another) =
            made.as_ref().map_or((None, false), |made| (Some(made.public.clone()), made.is_another));
        let tls = given.or(made.map(|made| Tls::own(made.certificate))).map(Arc::new);
        let code = drawn.as_ref().map(|_| token::new_code()).transpose().map_err(|error| no_random(&error))?;
        // Nothing can fail behind it: a token that takes the place of another one is shown.
        let token = drawn.map(|drawn| drawn.keep(&beside_runs)).transpose()?;
        let catalogue = Catalogue::new(runs);
        let urls = urls(address, tls.as_deref(), &names, &own_names);
        let guard = Arc::new(Guard::new(users.clone()));
        code.iter().for_each(|code| guard.add_link(code, hash, Instant::now()));
        let site = Site {
            guard,
            names: Names { more: names, tls: tls.clone() },
            results: Arc::new(Results {
                catalogue,
                hosts_now: HostsNow::default(),
                tasks,
                schedules,
                users,
                program,
                scratch: beside_runs,
                stend_version,
                tls: tls.clone(),
            }),
            live: Arc::new(Live::default()),
            uploads: Arc::new(tokio::sync::Semaphore::new(http::UPLOADS_MAX)),
            slow: Arc::new(tokio::sync::Semaphore::new(http::SLOW_MAX)),
        };
        Ok(Server { listener, site, urls, token, code, tls, public_certificate, is_another_certificate: is_another })
    }

    /// Answers until the process ends.
    ///
    /// Errors: `Preflight` if the system gives no event queue.
    pub fn run(self) -> Result<()> {
        connections::run(self.listener, self.site, self.tls.as_ref())
    }
}

/// Where people find a server that listens on this address.
fn urls(address: SocketAddr, tls: Option<&Tls>, more: &[String], own: &[String]) -> Vec<String> {
    let port = address.port();
    let Some(tls) = tls else { return vec![format!("http://{address}/")] };
    let names = match (tls.is_own(), address.ip().is_loopback()) {
        // Its certificate is not known to browsers under any name, so the address that leads here without a name server comes first.
        (true, true) => vec![address.ip().to_string()],
        (true, false) => {
            let is_address = |name: &&String| name.parse::<IpAddr>().is_ok();
            let is_here = |name: &str| name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
            let (addresses, names): (Vec<_>, Vec<_>) = own.iter().filter(|name| !is_here(name)).partition(is_address);
            more.iter().chain(addresses).chain(names).cloned().collect()
        }
        // A pattern is no name that can be opened.
        (false, _) => {
            let given = tls.now().facts.names.clone();
            more.iter().cloned().chain(given.into_iter().filter(|name| !name.contains('*'))).collect()
        }
    };
    let mut urls: Vec<String> = Vec::new();
    for name in names {
        let host = if name.contains(':') { format!("[{name}]") } else { name };
        let url = format!("https://{host}:{port}/");
        if !urls.contains(&url) {
            urls.push(url);
        }
    }
    if urls.is_empty() { vec![format!("https://{address}/")] } else { urls }
}

fn no_random(error: &std::io::Error) -> Box<Error> {
    Error::preflight(say!("no random numbers: {error}", "нет случайных чисел: {error}"))
}

fn cannot_listen(listen: SocketAddr, error: &std::io::Error) -> Box<Error> {
    let stend_base::Say { en, ru } = stend_sys::regular::why(error);
    Error::preflight(say!("cannot listen on {listen}: {en}", "не удаётся слушать {listen}: {ru}")).hint(say!(
        "another server may be running; name another port: `--listen 127.0.0.1:PORT`",
        "возможно, сервер уже запущен; укажите другой порт: `--listen 127.0.0.1:ПОРТ`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    fn settings(text: &str, runs: &Path) -> Settings {
        Settings {
            listen: listen(text, false).unwrap(),
            certificate: None,
            new_certificate: false,
            names: Vec::new(),
            new_token: false,
            runs: runs.into(),
            program: "/bin/false".into(),
            stend_version: "0",
        }
    }

    #[test]
    fn a_certificate_that_cannot_serve_is_refused_before_anything_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files { certificate: dir.path().join("absent"), key: dir.path().join("absent") };
        let settings = Settings { certificate: Some(files), ..settings("127.0.0.1:0", &dir.path().join("runs")) };
        let error = Server::open(settings).err().unwrap();
        assert!(error.kind == Kind::Preflight && error.message.en.contains("absent"), "{error}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_address_that_leads_to_the_server_comes_first() {
        let own: Vec<String> = ["db1", "192.0.2.7", "2001:db8::7", "127.0.0.1", "localhost"].map(String::from).to_vec();
        let of = |listen: &str, tls: Option<&Tls>| urls(listen.parse().unwrap(), tls, &[], &own);
        assert_eq!(of("127.0.0.1:80", None), ["http://127.0.0.1:80/"]);
        let key = rcgen::KeyPair::generate().unwrap();
        let made = rcgen::CertificateParams::new(own.clone()).unwrap().self_signed(&key).unwrap();
        let certificate = || tls::certificate::Certificate::of(made.pem().as_bytes(), key.serialize_pem().as_bytes());
        let tls = Tls::own(certificate().unwrap());
        assert_eq!(of("127.0.0.1:80", Some(&tls)), ["https://127.0.0.1:80/"]);
        let of_all = ["https://192.0.2.7:8421/", "https://[2001:db8::7]:8421/", "https://db1:8421/"];
        assert_eq!(of("0.0.0.0:8421", Some(&tls)), of_all);
    }

    #[test]
    fn a_second_server_leaves_the_token_of_the_first_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let runs = dir.path().join("runs");
        let first = Server::open(settings("127.0.0.1:0", &runs)).unwrap();
        let kept = || std::fs::read(dir.path().join("server/token.sha256")).unwrap();
        let before = kept();
        let second = Server::open(Settings { new_token: true, ..settings("127.0.0.1:0", &runs) });
        assert_eq!(second.err().unwrap().kind, Kind::Preflight);
        assert!(first.token.is_some() && kept() == before);
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
