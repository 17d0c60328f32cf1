//! One instance of an application: its data, its server, its client. Everything of it lies in two directories of its own, and its
//! processes in a control group of its own. What we write lies in a directory that no server can change: a server could have us
//! write through a link of its own else.

use super::client_output;
use super::context::{With, failed, last_words, not_started};
use super::group::{Group, Used, since};
use super::programs::{FILE, Programs, Site, nginx_conf, wrk_script};
use super::server::{Serving, free_port};
use crate::child::{self, Cut, Ended, Order, Started};
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, say};
use stend_record::EventKind;
use stend_record::app::{AppWindow, Instance as ToolOutput};
use stend_spec::app::{App, Program};
use stend_sys::tree;

/// Longest path of a unix socket, without the name that PostgreSQL gives it (`/.s.PGSQL.5432`): the kernel takes 107 bytes.
const SOCKET_MAX: usize = 107 - 15;

/// What the directory of what we write has behind its name.
const PUBLIC: &str = "public";

/// An instance that was made, with its data.
#[derive(Debug)]
pub(super) struct Instance {
    /// What its server and its client write. It is their user's.
    directory: PathBuf,
    /// What we write and they only read. It is ours.
    public: PathBuf,
    group: Option<Group>,
    /// Its tables are filled, its files are written.
    filled: bool,
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
        let public = directory.with_added_extension(PUBLIC);
        make_readable(&public)?;
        Ok(Instance { directory, public, group, filled: false })
    }

    /// The group that holds it, if its limits are held.
    pub fn group(&self) -> Option<&Group> {
        self.group.as_ref()
    }

    fn site(&self, port: u16, seed: u64) -> Site<'_> {
        Site { directory: &self.directory, public: &self.public, port, seed }
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

    /// Starts the server; the first time what it needs is made before. `ports` are those that other instances got.
    pub fn start(&mut self, ports: &mut Vec<u16>, with: &mut With<'_>) -> Result<Serving> {
        if !self.filled
            && let Some((program, words)) = with.programs.make(&self.site(0, 0))
        {
            // What a start that was cut short left is made anew.
            remove(&self.directory.join("data"))?;
            self.execute((&program, words), with)?;
        }
        let mut port = 0;
        if with.app.program == Program::NginxWrk {
            let files = (with.app.data.0 / FILE).max(1);
            self.write("random.lua", wrk_script(files).as_bytes())?;
            if !self.filled {
                self.write_files(files, with.stopped)?;
                self.filled = true;
            }
            // Chosen last: another program may take it while files are written.
            port = free_port(ports)?;
            self.write("nginx.conf", nginx_conf(&self.site(port, 0), with.app.clients).as_bytes())?;
        }
        let (program, words) = with.programs.serve(with.app, &self.site(port, 0));
        let order = self.order(with.programs, words).map_err(|error| not_started(&program, &error))?;
        let server =
            child::start(Order { program: &program, ..order }).map_err(|error| not_started(&program, &error))?;
        Ok(Serving::new(server, port))
    }

    /// Waits until the server takes connections, and fills its tables the first time.
    pub fn get_ready(&mut self, serving: &mut Serving, number: u64, with: &mut With<'_>) -> Result<()> {
        serving.get_ready(with)?;
        if !self.filled {
            if let Some(words) = with.programs.fill(with.app, &self.site(serving.port, number)) {
                self.execute((&with.programs.client(), words), with)?;
            }
            self.filled = true;
        }
        Ok(())
    }

    /// The words of its client's runs.
    pub fn load(&self, serving: &Serving, seed: u64, (ramp, windows): (u64, u64), with: &With<'_>) -> Vec<Vec<String>> {
        with.programs.load(with.app, &self.site(serving.port, seed), ramp, windows)
    }

    /// Starts one run of its client.
    pub fn client(&self, programs: &Programs, words: Vec<String>) -> std::io::Result<Started> {
        let program = programs.client();
        let order = self.order(programs, words)?;
        child::start(Order { program: &program, ..order })
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.public.join(name);
        let written = fs::write(&path, bytes).and_then(|()| fs::set_permissions(&path, readable(0o644)));
        written.map_err(|error| cannot(&path, &error))
    }

    /// Seed of the contents of its files: no two instances have the same, or storage that keeps one copy of equal data would hold
    /// all.
    fn seed(&self) -> u64 {
        let words = self.directory.as_os_str().as_encoded_bytes();
        words.iter().fold(0, |seed, byte| stend_base::random::mix(seed ^ u64::from(*byte)))
    }

    /// Files that are not in memory when the load begins. What a fill that was cut short left is written anew.
    fn write_files(&self, count: u64, stopped: &dyn Fn() -> bool) -> Result<()> {
        let directory = self.public.join("files");
        remove(&directory)?;
        make_readable(&directory)?;
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

/// An instance as the record has it, with what its group had used before and after the load.
pub(super) fn recorded(windows: Vec<AppWindow>, failed: String, (before, after): (Used, Used)) -> ToolOutput {
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

/// Removes a directory with everything in it; absent is fine.
fn remove(directory: &Path) -> Result<()> {
    let removed = tree::remove(directory);
    removed.map_err(|error| tree::refusal(&error).unwrap_or_else(|| cannot(directory, &error)))
}

/// Makes a directory of ours that a server can read.
fn make_readable(directory: &Path) -> Result<()> {
    let made = fs::create_dir(directory).and_then(|()| fs::set_permissions(directory, readable(0o755)));
    made.map_err(|error| cannot(directory, &error))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_too_deep_for_a_socket_is_refused_before_anything_is_made() {
        let error = Instance::new(PathBuf::from(format!("/{}", "a/".repeat(60))), None, None).unwrap_err();
        assert!(error.message.en.contains("too long for the socket") && error.hint.is_some(), "{error}");
    }

    #[test]
    fn what_root_writes_goes_through_no_link_of_the_user_of_the_server() {
        let scratch = tempfile::tempdir().unwrap();
        let victim = scratch.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let elsewhere = scratch.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let instance = Instance::new(scratch.path().join("0"), None, None).unwrap();
        for name in ["nginx.conf", "random.lua"] {
            std::os::unix::fs::symlink(&victim, instance.directory.join(name)).unwrap();
            instance.write(name, b"ours").unwrap();
        }
        std::os::unix::fs::symlink(&elsewhere, instance.directory.join("files")).unwrap();
        instance.write_files(1, &|| false).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    }

    #[test]
    fn files_that_a_stopped_fill_left_are_written_anew() {
        let scratch = tempfile::tempdir().unwrap();
        let instance = Instance::new(scratch.path().join("0"), None, None).unwrap();
        let stop_at_the_second = std::cell::Cell::new(0);
        let stopped = || {
            stop_at_the_second.set(stop_at_the_second.get() + 1);
            stop_at_the_second.get() > 1
        };
        instance.write_files(3, &stopped).unwrap_err();
        instance.write_files(3, &|| false).unwrap();
    }
}
