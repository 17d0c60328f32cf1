//! The programs of an application: where they are, who they run as, and the words they are started with. Must not start them.

use crate::child::Ask;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use stend_base::{Code, Error, Result, Say, say};
use stend_spec::app::{App, Program};

/// Directories that are looked into after those of PATH: users other than root do not have them there.
const ALSO: [&str; 2] = ["/usr/sbin", "/sbin"];
/// Where Debian keeps PostgreSQL, a directory per version.
const POSTGRESQL: &str = "/usr/lib/postgresql";
/// Tables of sysbench.
const TABLES: u64 = 4;
/// Bytes of a row with its indices: 10,000 rows took 2.5 MB in PostgreSQL 15.
const ROW: u64 = 250;
/// A file that nginx serves.
pub(super) const FILE: u64 = 16 << 10;

/// The programs of an application on this host.
#[derive(Debug, Clone)]
pub struct Programs {
    program: Program,
    /// Makes the files of a database; nginx needs nothing made.
    maker: PathBuf,
    server: PathBuf,
    client: PathBuf,
    /// User and group that they become; `None`: ours.
    user: Option<(u32, u32)>,
}

/// Where an instance is, and its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site<'a> {
    /// What its server writes.
    pub directory: &'a Path,
    /// What it only reads, beside that.
    pub public: &'a Path,
    /// Port of the loopback, for nginx.
    pub port: u16,
    /// Seed of the client.
    pub seed: u64,
}

impl Programs {
    /// Finds them. The error names the packages that are missing.
    pub fn find(program: Program) -> Result<Programs> {
        let (maker, server, client) = match program {
            Program::SysbenchPostgresql => ("initdb", "postgres", "sysbench"),
            Program::SysbenchMariadb => ("mariadb-install-db", "mariadbd", "sysbench"),
            Program::NginxWrk => ("nginx", "nginx", "wrk"),
        };
        let one = |name: &'static str| found(name).ok_or_else(|| missing(program, name));
        // A process is shown as its user's.
        let root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
        let user = if root { Some(account(program)?) } else { None };
        Ok(Programs { program, maker: one(maker)?, server: one(server)?, client: one(client)?, user })
    }

    /// Those of a directory, started as ourselves.
    #[cfg(test)]
    pub(super) fn pretended(program: Program, directory: &Path) -> Programs {
        let path = |name: &str| directory.join(name);
        Programs { program, maker: path("make"), server: path("serve"), client: path("load"), user: None }
    }

    /// User and group that they become.
    pub fn user(&self) -> Option<(u32, u32)> {
        self.user
    }

    pub(super) fn client(&self) -> String {
        self.client.display().to_string()
    }

    /// Commands that say their versions, server first.
    pub(super) fn versions(&self) -> [(String, &'static str); 2] {
        let option = |client: bool| match (self.program, client) {
            (Program::NginxWrk, _) => "-v",
            _ => "--version",
        };
        [(self.server.display().to_string(), option(false)), (self.client(), option(true))]
    }

    /// What makes the files of an instance; `None`: nothing has to be run.
    pub(super) fn make(&self, site: &Site<'_>) -> Option<(String, Vec<String>)> {
        let data = site.directory.join("data").display().to_string();
        let words: Vec<String> = match self.program {
            Program::SysbenchPostgresql => {
                let words = ["-D", &data, "-A", "trust", "-U", "stend", "--no-sync", "-E", "UTF8", "--locale=C"];
                words.map(String::from).to_vec()
            }
            Program::SysbenchMariadb => vec![
                "--no-defaults".into(),
                format!("--datadir={data}"),
                "--auth-root-authentication-method=normal".into(),
            ],
            Program::NginxWrk => return None,
        };
        Some((self.maker.display().to_string(), words))
    }

    /// What starts the server of an instance.
    pub(super) fn serve(&self, app: &App, site: &Site<'_>) -> (String, Vec<String>) {
        let data = site.directory.join("data").display().to_string();
        let directory = site.directory.display();
        // A quarter of what it may take, as manuals advise, or what PostgreSQL takes by itself.
        let cache = app.limits.map_or(128, |limits| (limits.memory.0 >> 20) / 4).max(8);
        let connections = app.clients + 10;
        let words = match self.program {
            Program::SysbenchPostgresql => vec![
                "-D".into(),
                data,
                "-k".into(),
                directory.to_string(),
                "-c".into(),
                "listen_addresses=".into(),
                "-c".into(),
                format!("shared_buffers={cache}MB"),
                "-c".into(),
                format!("max_connections={connections}"),
                "-c".into(),
                format!("max_wal_size={}MB", logs(app) >> 20),
            ],
            Program::SysbenchMariadb => vec![
                "--no-defaults".into(),
                format!("--datadir={data}"),
                format!("--socket={directory}/s"),
                format!("--pid-file={directory}/pid"),
                "--skip-networking".into(),
                format!("--innodb-buffer-pool-size={cache}M"),
                "--innodb-log-file-size=32M".into(),
                "--skip-log-bin".into(),
                format!("--max-connections={connections}"),
            ],
            Program::NginxWrk => vec![
                "-p".into(),
                directory.to_string(),
                "-c".into(),
                site.public.join("nginx.conf").display().to_string(),
                "-e".into(),
                "stderr".into(),
            ],
        };
        (self.server.display().to_string(), words)
    }

    /// What a server says once it takes connections; empty: it is seen by its port.
    pub(super) fn ready(&self) -> &'static str {
        match self.program {
            Program::SysbenchPostgresql => "ready to accept connections",
            Program::SysbenchMariadb => "ready for connections",
            Program::NginxWrk => "",
        }
    }

    /// How a server is ended whose data are removed. One of PostgreSQL frees what it shares with its processes (segments of System V, files
    /// in `/dev/shm`) only if it ends by itself; SIGQUIT is its shutdown without a last write.
    //= PostgreSQL, "Shutting Down the Server"
    pub(super) fn at_once(&self) -> Ask {
        match self.program {
            Program::SysbenchPostgresql => Ask::Quit,
            Program::SysbenchMariadb | Program::NginxWrk => Ask::Kill,
        }
    }

    /// Arguments of the client before `prepare` or `run`.
    fn sysbench(&self, app: &App, site: &Site<'_>) -> Vec<String> {
        let directory = site.directory.display();
        let rows = (app.data.0 / TABLES / ROW).max(100);
        let mut words: Vec<String> = vec!["oltp_read_write".into()];
        words.extend(match self.program {
            Program::SysbenchMariadb => vec![
                "--db-driver=mysql".into(),
                format!("--mysql-socket={directory}/s"),
                "--mysql-user=root".into(),
                "--mysql-db=test".into(),
            ],
            _ => vec![
                "--db-driver=pgsql".into(),
                format!("--pgsql-host={directory}"),
                "--pgsql-user=stend".into(),
                "--pgsql-db=postgres".into(),
            ],
        });
        // Each instance has data of its own, that nobody can keep once for several.
        let seed = site.seed % (1 << 30) + 1;
        words.extend([format!("--tables={TABLES}"), format!("--table-size={rows}"), format!("--rand-seed={seed}")]);
        words
    }

    /// What fills the tables of an instance; `None`: there are none.
    pub(super) fn fill(&self, app: &App, site: &Site<'_>) -> Option<Vec<String>> {
        if self.program == Program::NginxWrk {
            return None;
        }
        let mut words = self.sysbench(app, site);
        words.push("prepare".into());
        Some(words)
    }

    /// One run of the client after the other, each with its words: `seconds` of load before the window, then the windows.
    pub(super) fn load(&self, app: &App, site: &Site<'_>, ramp: u64, windows: u64) -> Vec<Vec<String>> {
        let length = app.slo.window.0 / 1_000_000_000;
        let percent = app.slo.quantile.0 / 10_000;
        if self.program == Program::NginxWrk {
            let script = site.public.join("random.lua").display().to_string();
            let of = |number: u64| {
                vec![
                    "-t1".to_string(),
                    format!("-c{}", app.clients),
                    format!("-d{length}s"),
                    "--latency".into(),
                    // Its default of 2 s would leave the slowest requests out of the latencies and call them errors.
                    format!("--timeout={}s", length.max(60)),
                    "-s".into(),
                    script.clone(),
                    format!("http://127.0.0.1:{}/", site.port),
                    "--".into(),
                    (site.seed.wrapping_add(number) % (1 << 30)).to_string(),
                ]
            };
            return (0..ramp / length.max(1) + windows).map(of).collect();
        }
        let mut words = self.sysbench(app, site);
        words.extend([
            format!("--threads={}", app.clients),
            // A second more, so that the last window is reported.
            format!("--time={}", ramp + windows * length + 1),
            format!("--report-interval={length}"),
            format!("--percentile={percent}"),
        ]);
        words.extend(app.rate.map(|rate| format!("--rate={}", rate.0 / 1000)));
        words.push("run".into());
        vec![words]
    }
}

/// Bytes of logs that an instance may keep besides its data: of PostgreSQL twice the data, and never more than it keeps by itself.
pub(super) fn logs(app: &App) -> u64 {
    match app.program {
        Program::SysbenchPostgresql => app.data.0.saturating_mul(2).clamp(64 << 20, 1 << 30),
        // Part of what an empty database takes.
        Program::SysbenchMariadb | Program::NginxWrk => 0,
    }
}

/// The configuration of an instance of nginx.
pub(super) fn nginx_conf(site: &Site<'_>, connections: u32) -> String {
    let port = site.port;
    // By a name of ours alone: nginx would read signs of its own in the path of a target.
    let public = site.public.file_name().unwrap_or_default().display();
    let connections = connections.saturating_mul(2).max(64);
    format!(
        "daemon off; master_process off; pid nginx.pid; error_log stderr crit;\n\
         events {{ worker_connections {connections}; }}\n\
         http {{ access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; \
         scgi_temp_path t5; server {{ listen 127.0.0.1:{port}; root ../{public}/files; }} }}\n"
    )
}

/// What has wrk ask for one of so many files at random.
pub(super) fn wrk_script(files: u64) -> String {
    let last = files.saturating_sub(1);
    format!(
        "function init(args) math.randomseed(tonumber(args[1])) end\n\
         function request() return wrk.format(\"GET\", \"/\" .. math.random(0, {last})) end\n"
    )
}

fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = std::env::split_paths(&path).chain(ALSO.map(PathBuf::from)).map(|directory| directory.join(name));
    named
        .chain(versions_of(Path::new(POSTGRESQL)).into_iter().map(|directory| directory.join("bin").join(name)))
        .find(|path| path.is_file())
}

/// Directories named by a version, the newest first.
fn versions_of(directory: &Path) -> Vec<PathBuf> {
    let number = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let mut found: Vec<PathBuf> = fs::read_dir(directory).into_iter().flatten().flatten().map(|e| e.path()).collect();
    found.retain(|path| number(path).is_some());
    found.sort_by_key(|path| std::cmp::Reverse(number(path)));
    found
}

fn missing(program: Program, name: &str) -> Box<Error> {
    let packages = program.packages();
    Error::new(Code::ProgramMissing, say!("`{name}` is not installed", "`{name}` не установлен"))
        .hint(Say::same(format!("`apt-get install {packages}`")))
}

/// The account of a server, which databases refuse to run without.
fn account(program: Program) -> Result<(u32, u32)> {
    let name = match program {
        Program::SysbenchPostgresql => "postgres",
        Program::SysbenchMariadb => "mysql",
        Program::NginxWrk => "www-data",
    };
    let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
    id_of(&accounts, name).ok_or_else(|| {
        let packages = program.packages();
        let message = say!(
            "there is no account `{name}`, which the server runs as",
            "нет учётной записи `{name}`, от имени которой работает сервер"
        );
        Error::preflight(message).hint(Say::same(format!("`apt-get install {packages}`")))
    })
}

fn id_of(accounts: &str, name: &str) -> Option<(u32, u32)> {
    let fields = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let own = fields.into_iter().find(|fields| fields.first() == Some(&name))?;
    Some((own.get(2)?.parse().ok()?, own.get(3)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::{Bytes, Kind, MilliIops, Millionths, Nanos};
    use stend_spec::app::{Limits, Slo};

    fn app(program: Program, rate: Option<u64>) -> App {
        App {
            program,
            instances: 2,
            data: Bytes::mib(100),
            clients: 4,
            rate: rate.map(MilliIops::per_second),
            limits: Some(Limits { cpu_thousandths: 1000, memory: Bytes::mib(256), iops: None }),
            slo: Slo {
                quantile: Millionths::percent(99),
                limit: Nanos::millis(100),
                served: Millionths::percent(95),
                window: Nanos::secs(10),
                windows: Millionths::percent(95),
            },
        }
    }

    fn programs(program: Program) -> Programs {
        Programs::pretended(program, Path::new("/bin"))
    }

    #[test]
    fn an_instance_is_told_its_directory_its_load_and_nothing_of_a_network() {
        let site = Site { directory: Path::new("/t/0"), public: Path::new("/t/0.public"), port: 20_000, seed: 7 };
        let postgresql = programs(Program::SysbenchPostgresql);
        let words = postgresql.load(&app(Program::SysbenchPostgresql, Some(20)), &site, 20, 6);
        assert_eq!(words.len(), 1);
        for word in [
            "--pgsql-host=/t/0",
            "--time=81",
            "--report-interval=10",
            "--percentile=99",
            "--rate=20",
            "--table-size=104857",
            "--rand-seed=8",
        ] {
            assert!(words[0].iter().any(|own| own == word), "{word}: {words:?}");
        }
        let closed = postgresql.load(&app(Program::SysbenchPostgresql, None), &site, 0, 1);
        assert!(!closed[0].iter().any(|word| word.starts_with("--rate")), "{closed:?}");
        let (_, serve) = postgresql.serve(&app(Program::SysbenchPostgresql, None), &site);
        assert!(serve.contains(&"listen_addresses=".to_string()) && serve.contains(&"shared_buffers=64MB".to_string()));
        assert!(serve.contains(&"max_wal_size=200MB".to_string()), "{serve:?}");
        let large = App { data: Bytes::gib(8), ..app(Program::SysbenchPostgresql, None) };
        assert_eq!((logs(&large), logs(&App { program: Program::NginxWrk, ..large })), (1 << 30, 0));
        let (_, serve) = programs(Program::SysbenchMariadb).serve(&app(Program::SysbenchMariadb, None), &site);
        assert!(serve.contains(&"--skip-networking".to_string()), "{serve:?}");
        let web = programs(Program::NginxWrk).load(&app(Program::NginxWrk, None), &site, 20, 6);
        assert_eq!((web.len(), web[0].last().unwrap().as_str(), web[1].last().unwrap().as_str()), (8, "7", "8"));
        assert!(nginx_conf(&site, 4).contains("listen 127.0.0.1:20000; root ../0.public/files;"));
        assert!(wrk_script(6400).contains("math.random(0, 6399)"));
    }

    #[test]
    fn what_is_missing_is_named_with_its_packages_and_the_newest_version_comes_first() {
        let error = missing(Program::SysbenchMariadb, "mariadbd");
        assert_eq!((error.kind, error.message.en.as_str()), (Kind::Preflight, "`mariadbd` is not installed"));
        assert_eq!(error.hint.unwrap().en, "`apt-get install sysbench mariadb-server`");
        let root = tempfile::tempdir().unwrap();
        for name in ["9", "15", "16", "common"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let names: Vec<_> = versions_of(root.path()).iter().map(|path| path.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["16", "15", "9"]);
        let accounts = "root:x:0:0:root:/root:/bin/sh\npostgres:x:101:104::/:/bin/sh\nbroken:x\n";
        assert_eq!(
            [id_of(accounts, "postgres"), id_of(accounts, "broken"), id_of(accounts, "x")],
            [Some((101, 104)), None, None]
        );
    }
}
