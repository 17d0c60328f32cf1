//! Machines that stay up between commands: started, found, used, ended. Each has a directory of its name with QEMU's sockets;
//! what its drives keep has no name there or anywhere. Must not outlive what it says: the next command that sees a dead
//! machine removes it.

use crate::boot::{BOOT_LIMIT, does_not_start, without_core_dumps};
use crate::command::{FromGuest, ToGuest};
use crate::console::last_lines;
use crate::emulator::Emulator;
use crate::faults::Faults;
use crate::greeting::Session;
use crate::port;
use crate::qemu::{self, COMMAND_SOCKET, CONSOLE, CONTROL, PROCESS, PROGRAM, Streams, WORKER_SOCKET};
use crate::qmp::Qmp;
use crate::socket::Socket;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stend_base::{Error, Result, Say, say};
use stend_spec::machine::Machine;
use stend_sys::tree;
use stend_wire::protocol::{read_frame, write_frame};

/// The machine file, kept in the directory.
const MACHINE: &str = "machine.yaml";
/// In it the name of the stand that the machine is part of, if it is.
const STAND: &str = "stand";
/// Locked by the process that has the worker.
const WORKER_LOCK: &str = "worker.lock";
/// Locked by the process that starts a machine, beside the directories of all.
const START_LOCK: &str = ".lock";
/// How long a guest that is up may take to answer at a port; another command may be using it.
const MEET_LIMIT: Duration = Duration::from_secs(60);
/// How long QEMU may take to reset its guest: what the guest's drives had in flight is finished first.
const RESET_LIMIT: Duration = Duration::from_secs(60);
/// Characters of a name, which is one of a directory.
const NAME_MAX: usize = 40;

/// A machine that stays up, or did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Its name.
    pub name: String,
    directory: PathBuf,
}

/// Where machines that stay up have their directories: `$XDG_RUNTIME_DIR/stend/lab`, else `/run/user/UID/stend/lab`, for root
/// `/run/stend-lab`.
pub fn runtime_directory() -> Result<PathBuf> {
    if let Some(set) = std::env::var_os("XDG_RUNTIME_DIR").filter(|value| !value.is_empty()) {
        return Ok(PathBuf::from(set).join("stend/lab"));
    }
    let user = rustix::process::getuid();
    let usual = PathBuf::from(format!("/run/user/{}", user.as_raw()));
    match (usual.is_dir(), user.is_root()) {
        (true, _) => Ok(usual.join("stend/lab")),
        (false, true) => Ok("/run/stend-lab".into()),
        (false, false) => Err(Error::preflight(say!(
            "there is no directory for the sockets of machines: XDG_RUNTIME_DIR is not set",
            "нет каталога для сокетов машин: XDG_RUNTIME_DIR не задан"
        ))
        .hint(say!("set it to a directory of your own", "укажите в нём собственный каталог"))),
    }
}

fn not_waited_for(name: &str) -> Box<Error> {
    Error::interrupted(say!(
        "interrupted; the machine `{name}` continues to boot",
        "прервано; машина `{name}` продолжает загружаться"
    ))
}

/// Says why no machine of this name can be started, if none can.
pub fn startable(name: &str, place: &Path) -> Result<()> {
    if Standing::named(name, place)?.process().is_none() {
        return Ok(());
    }
    Err(Error::preflight(say!("the machine `{name}` is already running", "машина `{name}` уже запущена"))
        .hint(say!("`stend lab down {name}` stops it", "её завершит `stend lab down {name}`")))
}

/// Waits until no other machine is being started there, and keeps others from it as long as the file is open.
pub(crate) fn start_turn(place: &Path) -> io::Result<File> {
    let lock = File::create(place.join(START_LOCK))?;
    lock.lock()?;
    Ok(lock)
}

/// All machines that are up, by their names, the names of those that had died and are removed now, and why others of these
/// could not be. While one is being started none is removed: its directory is there before its QEMU.
pub fn list(place: &Path) -> (Vec<Standing>, Vec<String>, Vec<Box<Error>>) {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let names = entries.filter(|entry| entry.path().is_dir()).filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    // Without the file none was ever started.
    let lock = File::open(place.join(START_LOCK)).ok();
    let starts = lock.as_ref().is_some_and(|lock| lock.try_lock().is_err());
    let all = names.iter().filter_map(|name| Standing::named(name, place).ok());
    let (up, dead): (Vec<Standing>, Vec<Standing>) = all.partition(|one| one.process().is_some());
    let mut removed = Vec::new();
    let mut failures = Vec::new();
    for one in dead.into_iter().filter(|_| !starts) {
        match one.remove() {
            Ok(()) => removed.push(one.name),
            Err(error) => failures.push(error),
        }
    }
    (up, removed, failures)
}

/// The machine of this name, if it is up.
pub fn find(name: &str, place: &Path) -> Result<Standing> {
    let standing = Standing::named(name, place)?;
    if standing.process().is_some() {
        return Ok(standing);
    }
    Err(Error::preflight(say!("the machine `{name}` is not running", "машина `{name}` не запущена")).hint(say!(
        "`stend lab list` shows running machines, `stend lab up FILE` starts one",
        "запущенные покажет `stend lab list`, запускает `stend lab up ФАЙЛ`"
    )))
}

impl Standing {
    pub(crate) fn named(name: &str, place: &Path) -> Result<Standing> {
        let fits = (1..=NAME_MAX).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
            // It must not look like a flag.
            && name.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
        if fits {
            return Ok(Standing { name: name.into(), directory: place.join(name) });
        }
        Err(Error::usage(say!(
            "`{name}` is not a valid name for a running machine",
            "`{name}` не годится как имя запущенной машины"
        ))
        .hint(say!(
            "use 1 to {NAME_MAX} letters (A to Z), digits, `-` and `_`",
            "допустимо от 1 до {NAME_MAX} латинских букв, цифр, `-` и `_`"
        )))
    }

    /// Makes its directory anew. Nothing of it may be up.
    pub(crate) fn prepare(&self, text: &str) -> Result<()> {
        self.remove()?;
        let made = DirBuilder::new().mode(0o700).create(&self.directory);
        made.and_then(|()| fs::write(self.directory.join(MACHINE), text)).map_err(|e| self.unkept(&e))
    }

    pub(crate) fn unkept(&self, error: &io::Error) -> Box<Error> {
        let shown = self.directory.display();
        Error::preflight(say!("cannot make `{shown}`: {error}", "не удаётся создать `{shown}`: {error}"))
    }

    /// Starts QEMU with these arguments in its directory, where sockets get short names, whatever the path. It leaves the terminal, and
    /// this returns, when it can be spoken to. What is in `kept` it finds open under the same numbers.
    pub(crate) fn launch(&self, arguments: impl FnOnce(&Streams) -> Vec<String>, kept: Vec<OwnedFd>) -> Result<Qmp> {
        let mut command = Command::new(PROGRAM);
        command.args(arguments(&Streams::Sockets { directory: &self.directory })).current_dir(&self.directory);
        kept.into_iter().for_each(|kept| stend_sys::process::keep_open(&mut command, kept));
        let output = without_core_dumps(|| command.output());
        let output = output.map_err(|e| does_not_start(&Say::same(e.to_string()), ""))?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            return Err(does_not_start(&Say::same(output.status.to_string()), &told));
        }
        self.control().map_err(|e| does_not_start(&Say::same(e.to_string()), &self.console()))
    }

    /// What the guest printed last.
    pub(crate) fn console(&self) -> String {
        fs::read(self.directory.join(CONSOLE))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// Process id of its QEMU, if that lives.
    pub fn process(&self) -> Option<u32> {
        let pid: u32 = fs::read_to_string(self.directory.join(PROCESS)).ok()?.trim().parse().ok()?;
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let console = self.directory.join(CONSOLE);
        // Another process may have got the number since.
        String::from_utf8_lossy(&line).contains(&*qemu::escaped(&console)).then_some(pid)
    }

    /// Its machine file.
    pub fn machine(&self) -> Result<Machine> {
        let file = self.directory.join(MACHINE);
        let text = fs::read_to_string(&file).map_err(|e| self.lost(&e))?;
        stend_spec::parse::machine(&text, &file.to_string_lossy())
    }

    /// Ends the machine; what its drives kept is gone, and so is QEMU. An error says why its directory stays.
    pub fn down(&self) -> Result<()> {
        let emulator = self.emulator();
        if let Ok(mut qmp) = self.control() {
            // It ends before it answers.
            drop(qmp.execute("quit", &json!({})));
        }
        // It removes the file with its number first, and then gives its memory and its drives back.
        if let Some(emulator) = emulator {
            emulator.wait();
            emulator.kill();
        }
        self.end()
    }

    /// QEMU, if it lives.
    fn emulator(&self) -> Option<Emulator> {
        let pid = self.process()?;
        Emulator::of(pid).ok().filter(|_| self.process() == Some(pid))
    }

    /// Notes that a stand made it, so that it goes with the stand.
    pub fn belongs_to(&self, stand: &str) -> Result<()> {
        fs::write(self.directory.join(STAND), stand).map_err(|e| self.unkept(&e))
    }

    /// Whether this stand made it.
    pub fn is_of(&self, stand: &str) -> bool {
        fs::read_to_string(self.directory.join(STAND)).is_ok_and(|name| name == stand)
    }

    /// Kills QEMU if it lives, and removes the directory.
    pub(crate) fn end(&self) -> Result<()> {
        match (self.emulator(), self.process().and_then(|pid| Pid::from_raw(pid as i32))) {
            (Some(emulator), _) => emulator.kill(),
            // Before Linux 5.3.
            (None, Some(pid)) => drop(kill_process(pid, Signal::KILL)),
            (None, None) => {}
        }
        self.remove()
    }

    fn remove(&self) -> Result<()> {
        tree::remove(&self.directory).map_err(|e| {
            let shown = self.directory.display();
            let message = say!("cannot remove `{shown}`: {e}", "не удаётся удалить `{shown}`: {e}");
            tree::refusal(&e).unwrap_or_else(|| Error::preflight(message))
        })
    }

    fn control(&self) -> io::Result<Qmp> {
        Socket::connect(&self.directory, CONTROL).and_then(Qmp::greeted)
    }

    /// Takes the power from the machine, as far as its guest can tell, and gives it back at once: no program hears of it, nothing
    /// is written that had not left the guest. What did leave it is in QEMU's hands, which lives on. [`Standing::back`] waits for
    /// the guest.
    pub fn cut(&self) -> Result<()> {
        let reset = || -> io::Result<()> {
            let mut qmp = self.control()?;
            // As it was started, QEMU ends where it should reset its guest. Under emulation kernels panic now and then while they
            // boot: then it boots once more, until the guest has answered.
            qmp.on_restart(false)?;
            qmp.execute("system_reset", &json!({}))?;
            qmp.wait(|event| event["event"] == "RESET", RESET_LIMIT)
        };
        reset().map_err(|e| self.lost(&e))
    }

    /// Waits until the guest of a machine that was reset answers; how long it took. When `stopped` is true, an error of kind
    /// `Interrupted`: the machine boots on.
    pub fn back(&self, stopped: &dyn Fn() -> bool) -> Result<Duration> {
        let start = Instant::now();
        let met = self.meet(COMMAND_SOCKET, BOOT_LIMIT, &|| !stopped());
        if stopped() {
            return Err(not_waited_for(&self.name));
        }
        met.and_then(|_| self.control()?.on_restart(true)).map_err(|e| self.lost(&e))?;
        Ok(start.elapsed())
    }

    /// What can be done to its drives. Only one process at a time can do it.
    pub fn faults(&self) -> Result<Faults> {
        let qmp = self.control().map_err(|e| self.lost(&e))?;
        Ok(Faults::of(&self.machine()?, qmp))
    }

    /// Waits for the guest at one of its ports while `executes` says that there is a use in it.
    pub(crate) fn meet(
        &self,
        socket: &str,
        limit: Duration,
        executes: &dyn Fn() -> bool,
    ) -> io::Result<(Socket, Session)> {
        port::meet(&self.directory, socket, limit, &|| self.process().is_some() && executes())
    }

    /// Executes a command in the guest and returns how it ended, as a shell would say it. `heard` gets pieces of its outputs,
    /// `true` for the standard error; `input`, if there is one, becomes its standard input.
    pub fn execute(
        &self,
        words: &[String],
        input: Option<Box<dyn Read + Send>>,
        heard: &mut dyn FnMut(&[u8], bool) -> Result<()>,
    ) -> Result<i32> {
        let (mut port, _) = self.meet(COMMAND_SOCKET, MEET_LIMIT, &|| true).map_err(|e| self.lost(&e))?;
        let execute = ToGuest::Execute { words: words.to_vec(), input: input.is_some() };
        write_frame(&mut port, &execute).map_err(|e| self.lost(&e))?;
        if let Some(input) = input {
            let port = port.another().map_err(|e| self.lost(&e))?;
            std::thread::Builder::new().name("input".into()).spawn(|| send(input, port)).map_err(|e| self.lost(&e))?;
        }
        loop {
            match read_frame(&mut port).map_err(|e| self.lost(&e))? {
                Some(FromGuest::Output(bytes)) => heard(&bytes, false)?,
                Some(FromGuest::Errors(bytes)) => heard(&bytes, true)?,
                Some(FromGuest::Ended(status)) => return Ok(status),
                None => return Err(self.lost(&io::ErrorKind::UnexpectedEof.into())),
            }
        }
    }

    /// Says why its worker cannot be had now, if somebody has it.
    pub fn free(&self) -> Result<()> {
        self.lock().map(drop)
    }

    fn lock(&self) -> Result<File> {
        let name = &self.name;
        let lock = File::create(self.directory.join(WORKER_LOCK)).map_err(|e| self.lost(&e))?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(_) => Err(Error::preflight(say!(
                "another run is using the machine `{name}`",
                "машину `{name}` использует другой прогон"
            ))),
        }
    }

    /// Joins this process's standard streams to the worker in the guest, until either ends. When the input ends, the guest
    /// is waited for: then what the worker made is undone.
    pub fn connect(&self, input: impl Read + Send + 'static, output: &mut impl io::Write) -> Result<()> {
        let _lock = self.lock()?;
        let alive = || self.process().is_some();
        port::join((&self.directory, WORKER_SOCKET), MEET_LIMIT, &alive, &Arc::default(), input, output)
            .map(drop)
            .map_err(|e| self.lost(&e))
    }

    /// Why it cannot be spoken to: it does not answer, or its QEMU is gone. QEMU ends with a kernel that panics, and then the
    /// console tells why.
    fn lost(&self, error: &io::Error) -> Box<Error> {
        let name = &self.name;
        let silent = say!("the machine `{name}` does not answer: {error}", "машина `{name}` не отвечает: {error}");
        if self.process().is_some() || !self.directory.exists() {
            return Error::host_lost(silent);
        }
        let ended = match last_lines(&self.console()).as_str() {
            "" => say!("the machine `{name}` has ended", "машина `{name}` завершилась"),
            lines => say!(
                "the machine `{name}` has ended; its console ends with:\n{lines}",
                "машина `{name}` завершилась; последнее на её консоли:\n{lines}"
            ),
        };
        Error::host_lost(ended)
    }
}

/// Sends what a command shall read, and that it ends.
fn send(mut input: Box<dyn Read + Send>, mut port: Socket) {
    let mut piece = vec![0; 32 << 10];
    loop {
        let read = input.read(&mut piece).unwrap_or(0);
        // A command that has ended needs no more input.
        if write_frame(&mut port, &ToGuest::Input(piece[..read].to_vec())).is_err() || read == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    #[test]
    fn only_machines_that_live_are_listed_and_the_others_are_removed() {
        let place = tempfile::tempdir().unwrap();
        for name in ["dead", "reused"] {
            fs::create_dir(place.path().join(name)).unwrap();
        }
        // A process that lives, but is no QEMU of this machine.
        fs::write(place.path().join("reused").join(PROCESS), std::process::id().to_string()).unwrap();
        let (up, dead, failures) = list(place.path());
        assert!(failures.is_empty());
        assert_eq!((up, dead), (Vec::new(), vec!["dead".to_string(), "reused".to_string()]));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        assert_eq!(list(&place.path().join("nowhere")), (Vec::new(), Vec::new(), Vec::new()));
    }

    #[test]
    fn a_machine_that_is_being_started_is_not_taken_for_a_dead_one() {
        let place = tempfile::tempdir().unwrap();
        let standing = Standing::named("new", place.path()).unwrap();
        let turn = start_turn(place.path()).unwrap();
        standing.prepare("machine: new\n").unwrap();
        assert_eq!(list(place.path()), (Vec::new(), Vec::new(), Vec::new()));
        assert!(place.path().join("new").join(MACHINE).exists());
        drop(turn);
        assert_eq!(list(place.path()).1, ["new"], "its start has ended, and it is not up");
    }

    #[test]
    fn a_machine_whose_emulator_is_gone_tells_the_end_of_its_console() {
        let place = tempfile::tempdir().unwrap();
        let standing = Standing::named("panicked", place.path()).unwrap();
        fs::create_dir(place.path().join("panicked")).unwrap();
        let lost = || standing.lost(&io::ErrorKind::ConnectionReset.into()).message.en;
        assert_eq!(lost(), "the machine `panicked` has ended");
        fs::write(place.path().join("panicked").join(CONSOLE), "booted\nKernel panic - not syncing\n").unwrap();
        assert!(lost().ends_with("its console ends with:\nbooted\nKernel panic - not syncing"), "{}", lost());
    }

    #[test]
    fn what_is_mounted_in_the_directory_of_a_dead_machine_is_neither_emptied_nor_kept_quiet() {
        let place = tempfile::tempdir().unwrap();
        let at = place.path().join("dead/inside");
        fs::create_dir_all(&at).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "none"]).arg(&at).status().unwrap().success();
        if !mounted {
            assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "mounting needs root in CI");
            return;
        }
        fs::write(at.join("precious"), "x").unwrap();
        let (_, dead, failures) = list(place.path());
        let standing = Standing::named("dead", place.path()).unwrap();
        let down = standing.down().unwrap_err();
        let kept = at.join("precious").exists();
        assert!(Command::new("umount").arg(&at).status().unwrap().success());
        assert!(kept && dead.is_empty() && failures.len() == 1, "{dead:?} {failures:?}");
        assert!(down.kind == Kind::Unsafe && down.message.ru.contains("dead/inside"), "{down}");
        standing.down().unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_machine_that_is_not_up_is_an_error_that_says_how_to_see_them() {
        let place = tempfile::tempdir().unwrap();
        let error = find("m", place.path()).unwrap_err();
        assert!(error.kind == Kind::Preflight && error.hint.unwrap().ru.contains("stend lab list"));
        for name in ["../m", "", "a b", "-m", &"x".repeat(41)] {
            let error = find(name, place.path()).unwrap_err();
            assert!(error.kind == Kind::Usage && error.message.en.contains("is not a valid name"), "{name}: {error}");
        }
    }

    #[test]
    fn a_worker_is_had_by_one_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("m")).unwrap();
        let standing = Standing::named("m", place.path()).unwrap();
        let lock = standing.lock().unwrap();
        assert!(standing.free().unwrap_err().message.en.contains("another run"));
        drop(lock);
        standing.free().unwrap();
    }
}
