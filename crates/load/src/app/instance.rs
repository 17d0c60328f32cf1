//! One instance of an application: its data, its server, its client. Everything of it lies in a directory of its own, and its
//! processes in a control group of its own.

use super::client_output;
use super::group::{Group, since};
use super::programs::{FILE, Programs, Site, nginx_conf, wrk_script};
use crate::child::{self, Ask, Cut, Ended, Order, Started};
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stend_base::{Error, Result, say};
use stend_record::EventKind;
use stend_record::app::{AppWindow, Instance as ToolOutput};
use stend_spec::app::{App, Program};
use stend_sys::tree;

/// Longest that a server may take to start: one that was killed reads its log first.
const START_MAX: Duration = Duration::from_secs(60);
/// Longest that a server may take to write what it has in memory before it is killed.
const STOP_MAX: Duration = Duration::from_secs(20);
/// How often a server that starts is looked at.
const TICK: Duration = Duration::from_millis(20);
/// Longest path of a unix socket, without the name that PostgreSQL gives it (`/.s.PGSQL.5432`): the kernel takes 107 bytes.
const SOCKET_MAX: usize = 107 - 15;

/// An instance that was made, with its data.
#[derive(Debug)]
pub(super) struct Instance {
    directory: PathBuf,
    group: Option<Group>,
    /// Its tables are filled, its files are written.
    filled: bool,
}

/// An instance whose server runs.
#[derive(Debug)]
pub(super) struct Serving {
    server: Started,
    port: u16,
}

/// What is common to all that is done with an instance.
pub(super) struct With<'a> {
    pub programs: &'a Programs,
    pub app: &'a App,
    pub stopped: &'a dyn Fn() -> bool,
    pub log: &'a mut dyn FnMut(EventKind),
}

impl Instance {
    /// An empty one in `directory`, which its server's user can enter.
    pub fn new(directory: PathBuf, group: Option<Group>, user: Option<(u32, u32)>) -> Result<Instance> {
        if directory.as_os_str().len() > SOCKET_MAX {
            let path = directory.display();
            let message = say!(
                "`{path}` is too long for the socket of a server",
                "`{path}` — слишком длинный путь для сокета сервера"
            );
            return Err(Error::preflight(message)
                .hint(say!("name a directory with a shorter path", "укажите каталог с более коротким путём")));
        }
        DirBuilder::new().mode(0o700).create(&directory).map_err(|error| cannot(&directory, &error))?;
        if let Some((user, group)) = user {
            let given = std::os::unix::fs::chown(&directory, Some(user), Some(group));
            given.map_err(|error| cannot(&directory, &error))?;
        }
        Ok(Instance { directory, group, filled: false })
    }

    /// The group that holds it, if its limits are held.
    pub fn group(&self) -> Option<&Group> {
        self.group.as_ref()
    }

    fn order(&self, programs: &Programs, words: Vec<String>) -> std::io::Result<Order<'_>> {
        let groups = self.group.as_ref().map_or(Ok(Vec::new()), Group::doors)?;
        Ok(Order {
            arguments: words,
            directory: Some(&self.directory),
            user: programs.user(),
            groups,
            ..Order::default()
        })
    }

    /// Carries out a command of this instance to its end; failing is an error with its last words.
    fn execute(&self, command: (&str, Vec<String>), with: &mut With<'_>) -> Result<()> {
        let (program, words) = command;
        let order = self.order(with.programs, words.clone()).map_err(|error| not_started(program, &error))?;
        let ended = child::run(Order { program, ..order }, with.app.make_limit().duration(), with.stopped);
        let ended = ended.map_err(|error| not_started(program, &error))?;
        if ended.cut == Some(Cut::Stopped) {
            return Err(crate::threads::stopped_before_start());
        }
        let good = ended.cut.is_none() && ended.status.is_some_and(|status| status.success());
        if !good {
            let last = last_words(&ended);
            (with.log)(command_event(program, words, &ended));
            return Err(failed(program, &last));
        }
        Ok(())
    }

    /// Starts the server; the first time what it needs is made before.
    pub fn start(&mut self, port: u16, with: &mut With<'_>) -> Result<Serving> {
        let site = Site { directory: &self.directory, port, seed: 0 };
        if !self.filled
            && let Some((program, words)) = with.programs.make(&site)
        {
            // What a start that was cut short left is made anew.
            let data = self.directory.join("data");
            if data.exists() {
                tree::remove(&data).map_err(|error| tree::refusal(&error).unwrap_or_else(|| cannot(&data, &error)))?;
            }
            self.execute((&program, words), with)?;
        }
        if with.app.program == Program::NginxWrk {
            let files = (with.app.data.0 / FILE).max(1);
            self.write("nginx.conf", nginx_conf(port, with.app.clients).as_bytes())?;
            self.write("random.lua", wrk_script(files).as_bytes())?;
            if !self.filled {
                self.write_files(files, with.stopped)?;
                self.filled = true;
            }
        }
        let (program, words) = with.programs.serve(with.app, &site);
        let order = self.order(with.programs, words).map_err(|error| not_started(&program, &error))?;
        let server =
            child::start(Order { program: &program, ..order }).map_err(|error| not_started(&program, &error))?;
        Ok(Serving { server, port })
    }

    /// Waits until the server takes connections, and fills its tables the first time.
    pub fn get_ready(&mut self, serving: &mut Serving, number: u64, with: &mut With<'_>) -> Result<()> {
        let begin = Instant::now();
        while !serving.is_ready(with.programs.ready())? {
            if (with.stopped)() {
                return Err(crate::threads::stopped_before_start());
            }
            let ended = serving.server.has_ended().unwrap_or(true);
            if ended || begin.elapsed() > START_MAX {
                let words = serving.server.words().unwrap_or_default();
                let last = words.lines().last().unwrap_or_default().to_string();
                (with.log)(EventKind::Note { text: format!("a server that did not start said:\n{words}") });
                return Err(failed("server", &last));
            }
            std::thread::sleep(TICK);
        }
        if !self.filled {
            let site = Site { directory: &self.directory, port: serving.port, seed: number };
            if let Some(words) = with.programs.fill(with.app, &site) {
                self.execute((&with.programs.client(), words), with)?;
            }
            self.filled = true;
        }
        Ok(())
    }

    /// The words of its client's runs.
    pub fn load(&self, serving: &Serving, seed: u64, (ramp, windows): (u64, u64), with: &With<'_>) -> Vec<Vec<String>> {
        let site = Site { directory: &self.directory, port: serving.port, seed };
        with.programs.load(with.app, &site, ramp, windows)
    }

    /// Starts one run of its client.
    pub fn client(&self, programs: &Programs, words: Vec<String>) -> std::io::Result<Started> {
        let program = programs.client();
        let order = self.order(programs, words)?;
        child::start(Order { program: &program, ..order })
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.directory.join(name);
        let written = fs::write(&path, bytes).and_then(|()| fs::set_permissions(&path, readable(0o644)));
        written.map_err(|error| cannot(&path, &error))
    }

    /// Seed of the contents of its files: no two instances have the same, or storage that keeps one copy of equal data would hold
    /// all.
    fn seed(&self) -> u64 {
        let words = self.directory.as_os_str().as_encoded_bytes();
        words.iter().fold(0, |seed, byte| stend_base::random::mix(seed ^ u64::from(*byte)))
    }

    /// Files that nobody has in memory when the load begins.
    fn write_files(&self, count: u64, stopped: &dyn Fn() -> bool) -> Result<()> {
        let directory = self.directory.join("files");
        let made = fs::create_dir(&directory).and_then(|()| fs::set_permissions(&directory, readable(0o755)));
        made.map_err(|error| cannot(&directory, &error))?;
        let own = self.seed();
        let mut bytes = vec![0u8; FILE as usize];
        for number in 0..count {
            if stopped() {
                return Err(crate::threads::stopped_before_start());
            }
            let seed = stend_base::random::draw(own, number);
            for (index, word) in bytes.chunks_exact_mut(8).enumerate() {
                word.copy_from_slice(&stend_base::random::draw(seed, index as u64).to_le_bytes());
            }
            let path = directory.join(number.to_string());
            let written = File::create(&path).and_then(|mut file| {
                file.write_all(&bytes)?;
                file.set_permissions(readable(0o644))?;
                file.sync_data()?;
                stend_sys::block::forget_clean_pages(&file, 0, FILE)
            });
            written.map_err(|error| cannot(&path, &error))?;
        }
        Ok(())
    }
}

impl Serving {
    fn is_ready(&self, word: &str) -> Result<bool> {
        if word.is_empty() {
            return Ok(ports_taken().contains(&self.port));
        }
        Ok(self.server.words().map_err(|error| not_started("server", &error))?.contains(word))
    }

    /// Stops the server; its last words if it had ended before.
    pub fn stop(mut self) -> Option<String> {
        let gone = self.server.has_ended().unwrap_or(false);
        let ended = self.server.end(Ask::Terminate(STOP_MAX)).ok()?;
        gone.then(|| {
            let last = last_words(&ended);
            let status = ended.status.map_or("?".to_string(), |status| status.to_string());
            format!("the server ended ({status}): {last}")
        })
    }
}

/// What the ended runs of a client told, and whether it failed.
pub(super) fn told(app: &App, runs: &[Ended], ramp: u64, windows: u64, failed: &mut String) -> Vec<AppWindow> {
    let length = app.slo.window.0 / 1_000_000_000;
    let percent = app.slo.quantile.0 / 10_000;
    if let Some(bad) = runs.iter().find(|run| run.cut.is_some() || !run.status.is_some_and(|status| status.success())) {
        let status = bad.status.map_or("?".to_string(), |status| status.to_string());
        *failed = format!("the client ended ({status}): {}", last_words(bad));
    }
    let text = |run: &Ended| String::from_utf8_lossy(&run.output).into_owned();
    match app.program {
        Program::NginxWrk => {
            let measured = runs.iter().skip((ramp / length.max(1)) as usize);
            measured.filter_map(|run| client_output::wrk(&text(run), percent)).collect()
        }
        _ => runs.first().map_or(Vec::new(), |run| client_output::sysbench(&text(run), ramp, length, windows)),
    }
}

/// An instance as the record has it.
pub(super) fn recorded(
    windows: Vec<AppWindow>,
    failed: String,
    group: Option<&Group>,
    before: super::group::Used,
) -> ToolOutput {
    let after = group.map(Group::used).unwrap_or_default();
    ToolOutput {
        windows,
        failed: failed.chars().take(400).collect(),
        throttled_periods: since(before.throttled_periods, after.throttled_periods),
        cpu_ns: since(before.cpu_ns, after.cpu_ns),
        memory_hits: since(before.memory_hits, after.memory_hits),
    }
}

pub(super) fn command_event(program: &str, words: Vec<String>, ended: &Ended) -> EventKind {
    let said = [String::from_utf8_lossy(&ended.output).into_owned(), ended.words.clone()].concat();
    EventKind::Command {
        argv: std::iter::once(program.to_string()).chain(words).collect(),
        exit: ended.status.and_then(|status| status.code()),
        output: said.chars().take(child::WORDS_MAX as usize / 4).collect(),
    }
}

fn last_words(ended: &Ended) -> String {
    let output = String::from_utf8_lossy(&ended.output).into_owned();
    let of = |text: &str| text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_string);
    // What sysbench gives up for it says on its output.
    let fatal = output.lines().find(|line| line.starts_with("FATAL")).map(str::to_string);
    fatal.or_else(|| of(&ended.words)).or_else(|| of(&output)).unwrap_or_default()
}

/// TCP ports that somebody listens on or uses.
pub(super) fn ports_taken() -> Vec<u16> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let tables = [read("/proc/net/tcp"), read("/proc/net/tcp6")].concat();
    tables.lines().filter_map(port_of).collect()
}

fn port_of(line: &str) -> Option<u16> {
    u16::from_str_radix(line.split_whitespace().nth(1)?.rsplit_once(':')?.1, 16).ok()
}

/// Permissions that let its server's user read whatever the mask of this process is.
fn readable(mode: u32) -> Permissions {
    Permissions::from_mode(mode)
}

fn cannot(path: &Path, error: &std::io::Error) -> Box<Error> {
    let path = path.display();
    Error::preflight(say!(
        "cannot make the data of an instance: `{path}`: {error}",
        "не удаётся создать данные экземпляра: `{path}`: {error}"
    ))
}

fn not_started(program: &str, error: &std::io::Error) -> Box<Error> {
    let message = say!("cannot start `{program}`: {error}", "не удаётся запустить `{program}`: {error}");
    let refused = error.kind() == std::io::ErrorKind::PermissionDenied;
    let error = Error::preflight(message);
    if !refused {
        return error;
    }
    error.hint(say!(
        "its user must be able to enter every directory above the target: `chmod o+x`",
        "её пользователь должен иметь право войти во все каталоги над объектом: `chmod o+x`"
    ))
}

fn failed(program: &str, last: &str) -> Box<Error> {
    let name = Path::new(program).file_name().map_or(program.into(), |name| name.to_string_lossy());
    Error::preflight(say!(
        "cannot create an instance: `{name}`: {last}",
        "экземпляр не удалось создать: `{name}`: {last}"
    ))
    .hint(say!(
        "its output is in the run file: `stend export RUN --format json`",
        "её сообщения — в файле прогона: `stend export RUN --format json`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read_from_the_tables_of_the_kernel() {
        let line = "   1: 0100007F:5BA0 00000000:0000 0A 00000000:00000000 00:00000000 00000000   101        0 64234 1";
        assert_eq!(
            (port_of(line), port_of("  sl  local_address rem_address"), port_of("")),
            (Some(0x5BA0), None, None)
        );
    }

    #[test]
    fn a_directory_too_deep_for_a_socket_is_refused_before_anything_is_made() {
        let error = Instance::new(PathBuf::from(format!("/{}", "a/".repeat(60))), None, None).unwrap_err();
        assert!(error.message.en.contains("too long for the socket") && error.hint.is_some(), "{error}");
    }
}
