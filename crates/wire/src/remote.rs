//! A worker of another host, by the system's own `ssh` (keys, jump hosts and known hosts are those of the user) or by a command of the user
//! that hands on two streams (`kubectl exec -i`). Brings this program there first if it is not there yet, so that both ends are of one
//! build. Must not ask anybody anything.

mod unreachable;

use crate::link::{Host, StartedWorker, WorkerCommand};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use stend_base::{Code, Error, Result, Say, say};
use stend_spec::hosts::{NamedHost, Via};

/// How long a worker may take until it speaks: a round trip, a login, and the start of a process that is there.
const HELLO_LIMIT: Duration = Duration::from_secs(90);
/// How long a command there may take that only looks or removes.
const ANSWER_LIMIT: Duration = Duration::from_secs(90);
/// How long copying this program may take: some 45 MiB at 25 kB/s.
const COPY_LIMIT: Duration = Duration::from_secs(30 * 60);
/// How often it is seen whether a command has ended.
const TICK: Duration = Duration::from_millis(20);
/// So much of what a host says is kept for an error.
const SAID_MAX: u64 = 4096;
/// Bytes of the program that are read at a time.
const PIECE: usize = 1 << 20;
/// Most letters of the name of a host, as `ssh` would take more of it than any name has.
const NAME_MAX: usize = 255;
/// The directory of programs there, of the user who logs in.
const PLACE: &str = "d=${XDG_CACHE_HOME:-$HOME/.cache}/stend/programs";
/// Options for `ssh` that override its configuration: no questions, since nobody would see them; a host that is silent for
/// 30 s is lost; no terminal, no command and no forwarding of somebody's configuration, which a second connection could not repeat.
const OPTIONS: [&str; 13] = [
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=20",
    "-o",
    "ServerAliveInterval=10",
    "-o",
    "ServerAliveCountMax=3",
    "-o",
    "ClearAllForwardings=yes",
    "-o",
    "RemoteCommand=none",
];

/// The words of a command that is executed by `ssh` as it is typed, on a host that needs no shell of a known kind.
///
/// Errors: as [`Remote::new`].
pub fn ssh_words(destination: &str, command: &str) -> Result<Vec<String>> {
    Remote::new(destination)?;
    let words = ["ssh"].into_iter().chain(OPTIONS).chain(["--", destination, command]);
    Ok(words.map(String::from).collect())
}

/// Starts a worker, on whichever thread.
pub type StartBy<'a> = dyn FnMut(WorkerCommand) -> Result<StartedWorker> + 'a;

/// Another host, and how its shell is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// As the user calls it.
    name: String,
    shell: Shell,
    /// Words before the shell there.
    privilege: Vec<String>,
}

/// How its shell is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shell {
    /// By `ssh`: what it knows the host as.
    Ssh(String),
    /// By a command of this machine, to which the words of a shell command are added.
    Exec { program: String, arguments: Vec<String> },
}

impl Remote {
    /// `HOST`, `USER@HOST`, `ssh://USER@HOST:PORT` or a name of the configuration of `ssh`.
    ///
    /// Errors: `Usage` if it could be taken for an option, or is nothing that names a host.
    pub fn new(destination: &str) -> Result<Remote> {
        let strange = |letter: char| letter.is_whitespace() || letter.is_control();
        if destination.is_empty()
            || destination.len() > NAME_MAX
            || destination.starts_with('-')
            || destination.contains(strange)
        {
            let shown = destination.escape_default();
            return Err(Error::usage(say!(
                "`{shown}` does not name a host for `ssh`",
                "`{shown}` — не имя машины для `ssh`"
            ))
            .hint(say!(
                "for example `root@db1`, or a name of `~/.ssh/config`",
                "например `root@db1` или имя из `~/.ssh/config`"
            )));
        }
        let (name, shell) = (destination.to_string(), Shell::Ssh(destination.to_string()));
        Ok(Remote { name, shell, privilege: Vec::new() })
    }

    /// A host of a file.
    ///
    /// Errors: as [`Remote::new`], and `Usage` for a virtual machine, which has no shell.
    pub fn of(host: &NamedHost) -> Result<Remote> {
        let shell = match &host.via {
            Via::Ssh(destination) => Remote::new(destination)?.shell,
            Via::Exec { program, arguments } => Shell::Exec { program: program.clone(), arguments: arguments.clone() },
            Via::Vm(machine) => return Err(no_shell(machine)),
        };
        Ok(Remote { name: host.name.clone(), shell, privilege: host.privilege.clone() })
    }

    /// What was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts a worker there. `tell` hears of what takes a while.
    ///
    /// Errors: `HostLost` if it cannot be reached, with what `ssh` says; `Preflight` if this program cannot run there.
    pub fn reach(&self, tell: &mut dyn FnMut(Say)) -> Result<Host> {
        self.reach_by(tell, &mut WorkerCommand::start)
    }

    /// The same, but `start` starts the worker, perhaps on another thread, with which it ends.
    pub fn reach_by(&self, tell: &mut dyn FnMut(Say), start: &mut StartBy<'_>) -> Result<Host> {
        let mut program = Program::own()?;
        if !self.has(&program)? {
            let (name, size) = (&self.name, program.size.div_ceil(1 << 20));
            tell(say!(
                "copying this program to `{name}` ({size} MiB), once",
                "программа копируется на `{name}` ({size} МиБ), один раз"
            ));
            self.bring(&mut program)?;
        }
        let sum = &program.sum;
        let mut command = self.command(&format!("{PLACE}; touch -c \"$d/{sum}\"; exec \"$d/{sum}\" worker --far"));
        stend_sys::process::die_with_parent(&mut command);
        let name = &self.name;
        let host = start(WorkerCommand::new(command)).and_then(|started| started.meet_far(HELLO_LIMIT));
        let host = host.map(|host| if matches!(self.shell, Shell::Exec { .. }) { host.apart() } else { host });
        host.map_err(|error| {
            error.hint(say!(
                "the output of `{name}` is above; the worker must be built for the processor of that host; a release binary is linked statically, one built for tests is not",
                "что ответила `{name}`, показано выше; рабочий процесс должен быть собран для процессора этой машины; выпускаемая сборка статическая, сборка для тестов — нет"
            ))
        })
    }

    /// A command of a shell there. Its text must have no single quote; shells of users all take it as one word then.
    fn command(&self, script: &str) -> Command {
        debug_assert!(!script.contains('\''), "{script}");
        let mut command = match &self.shell {
            Shell::Ssh(destination) => {
                let privilege: String = self.privilege.iter().map(|word| format!("{word} ")).collect();
                let mut command = Command::new("ssh");
                command.args(OPTIONS).arg("--").arg(destination).arg(format!("exec {privilege}sh -c '{script}'"));
                command
            }
            Shell::Exec { program, arguments } => {
                let mut command = Command::new(program);
                command.args(arguments).args(&self.privilege).args(["sh", "-c", script]);
                command
            }
        };
        // In a group of its own, Ctrl-C in a terminal reaches the coordinator alone.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }

    /// Whether the program is there already.
    fn has(&self, program: &Program) -> Result<bool> {
        let script =
            format!("{PLACE}; echo stend; uname -sm; test -x \"$d/{}\" && echo here || echo none", program.sum);
        let (status, said, complaint) = self.say(&script, None, ANSWER_LIMIT)?;
        if !status.success() {
            return Err(self.unreachable(status, &said, &complaint));
        }
        let name = &self.name;
        let lines: Vec<&str> = said.lines().collect();
        let ours = own_system();
        match lines[..] {
            ["stend", system, here] if system == ours => Ok(here == "here"),
            ["stend", system, _] => Err(Error::preflight(say!(
                "`{name}` is `{system}`, and this program is for `{ours}`",
                "`{name}` — это `{system}`, а эта программа — для `{ours}`"
            ))
            .hint(say!("start Stend on a machine of the same kind", "запустите Stend на машине того же типа"))),
            _ => {
                let first = lines.first().unwrap_or(&"").escape_default();
                Err(Error::host_lost(say!(
                    "`{name}` prints `{first}` before it executes the command",
                    "`{name}` печатает `{first}`, прежде чем выполнить команду"
                ))
                .hint(say!(
                    "startup files of its shell must print nothing without a terminal",
                    "файлы запуска оболочки не должны ничего печатать без терминала"
                )))
            }
        }
    }

    /// Copies the program there under its sum: whole, or not at all. Others that were not used for a month are removed.
    ///
    /// Hosts that share a home may do this at the same time: a file that others already execute from is not replaced, which over NFS would
    /// take it from under them. Where a file system has no hard links it is moved.
    fn bring(&self, program: &mut Program) -> Result<()> {
        let sum = &program.sum;
        let script = format!(
            "{PLACE}; umask 077; mkdir -p \"$d\" && t=$(mktemp \"$d/.new-XXXXXX\") || exit 1; \
             cat >\"$t\" && test \"$(sha256sum <\"$t\")\" = \"{sum}  -\" && chmod 700 \"$t\" && \
             {{ ln \"$t\" \"$d/{sum}\" 2>/dev/null || test -x \"$d/{sum}\" || mv \"$t\" \"$d/{sum}\"; }} && rm -f \"$t\" \
             || {{ rm -f \"$t\"; echo it did not arrive whole >&2; exit 1; }}; \
             find \"$d\" -type f -mtime +30 ! -name {sum} -delete"
        );
        program.file.rewind().map_err(unreadable)?;
        let file = program.file.try_clone().map_err(unreadable)?;
        let (status, _, complaint) = self.say(&script, Some(file), COPY_LIMIT)?;
        match status.success() {
            true => Ok(()),
            false => {
                let (name, said, size) = (&self.name, complaint.trim(), program.size.div_ceil(1 << 20));
                Err(Error::host_lost(say!(
                    "cannot copy this program to `{name}`: {said}",
                    "не удаётся скопировать программу на `{name}`: {said}"
                ))
                .hint(say!(
                    "it needs {size} MiB there in `$XDG_CACHE_HOME`, or in `~/.cache` if that is not set",
                    "ей нужно там {size} МиБ в `$XDG_CACHE_HOME`, а если она не задана — в `~/.cache`"
                )))
            }
        }
    }

    /// Removes every copy of this program there, of whatever build; one that runs goes on.
    ///
    /// Errors: `HostLost` if it cannot be reached, with what `ssh` says.
    pub fn clean(&self) -> Result<()> {
        // What else somebody put there stays.
        let script = format!(
            "{PLACE}; echo stend; test ! -d \"$d\" || {{ find \"$d\" -xdev -type f -delete; rmdir -- \"$d\"; }}"
        );
        let (status, said, complaint) = self.say(&script, None, ANSWER_LIMIT)?;
        if status.success() { Ok(()) } else { Err(self.unreachable(status, &said, &complaint)) }
    }

    /// Executes a script there, and returns how it ended, what it printed and what it complained of. A paused container, or a home on a file
    /// server that is away, would hold it for ever.
    fn say(&self, script: &str, input: Option<File>, limit: Duration) -> Result<(ExitStatus, String, String)> {
        let mut command = self.command(script);
        stend_sys::process::die_with_parent(&mut command);
        command.stdin(input.map_or_else(Stdio::null, Stdio::from)).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let not_started = |error: io::Error| not_started(&program, &error);
        let mut child = command.spawn().map_err(not_started)?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        // Both are read at the same time: the one that is full would stop the other.
        let [said, complaint] = [std::thread::spawn(move || kept(out)), std::thread::spawn(move || kept(err))];
        let deadline = Instant::now() + limit;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(not_started)? {
                break status;
            }
            if Instant::now() > deadline {
                // Its own group: what it started goes with it.
                let ended = stend_sys::process::kill_group(&child);
                ended.and_then(|()| child.wait()).map_err(not_started)?;
                return Err(self.silent(limit));
            }
            std::thread::sleep(TICK);
        };
        Ok((status, said.join().unwrap_or_default(), complaint.join().unwrap_or_default()))
    }

    fn silent(&self, limit: Duration) -> Box<Error> {
        let (name, seconds) = (&self.name, limit.as_secs());
        Error::new(
            Code::HostUnreachable,
            say!("`{name}` did not answer within {seconds} s", "`{name}` не ответила за {seconds} с"),
        )
        .hint(say!(
            "see whether it is paused, or its home lies on a file server that is away",
            "проверьте, не приостановлена ли она и доступен ли файловый сервер, на котором лежит её домашний каталог"
        ))
    }
}

fn no_shell(machine: &str) -> Box<Error> {
    Error::usage(say!(
        "the virtual machine `{machine}` can only make load: it has no shell that is reached from here",
        "виртуальная машина `{machine}` может только нагружать: оболочки, доступной отсюда, у неё нет"
    ))
    .hint(say!("`--group` leaves it out", "`--group` её исключит"))
}

/// This program.
struct Program {
    file: File,
    size: u64,
    /// By which it is known on other hosts.
    sum: String,
}

impl Program {
    fn own() -> Result<Program> {
        // Not by its path: what is there now may be another build.
        let mut file = File::open("/proc/self/exe").map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        let mut known = OWN_SUM.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = match known.clone() {
            Some(sum) => sum,
            None => known.insert(summed(&mut file)?).clone(),
        };
        Ok(Program { file, size, sum })
    }
}

/// The sum of this program, once it is known: hundreds of hosts are asked for it, and it does not change while the program runs.
static OWN_SUM: Mutex<Option<String>> = Mutex::new(None);

fn summed(file: &mut File) -> Result<String> {
    let (mut sum, mut piece) = (Sha256::new(), vec![0; PIECE]);
    loop {
        let read = file.read(&mut piece).map_err(unreadable)?;
        if read == 0 {
            break;
        }
        sum.update(&piece[..read]);
    }
    Ok(sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What `uname -sm` says of the systems that this program runs on.
fn own_system() -> String {
    format!("Linux {}", std::env::consts::ARCH)
}

/// The beginning of what a stream says; the rest is read and forgotten.
fn kept(stream: Option<impl Read>) -> String {
    let mut said = Vec::new();
    if let Some(mut stream) = stream {
        // A stream that breaks has said what it had to say.
        let _ = stream.by_ref().take(SAID_MAX).read_to_end(&mut said);
        let _ = io::copy(&mut stream, &mut io::sink());
    }
    String::from_utf8_lossy(&said).into_owned()
}

fn unreadable(e: io::Error) -> Box<Error> {
    Error::bug(say!("cannot read our own program: {e}", "не удаётся прочитать собственную программу: {e}"))
}

fn not_started(program: &str, e: &io::Error) -> Box<Error> {
    let error = Error::preflight(say!("cannot start `{program}`: {e}", "не удаётся запустить `{program}`: {e}"));
    match program {
        "ssh" => error.hint(say!("it is in the package openssh-client", "она в пакете openssh-client")),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    #[test]
    fn what_could_be_an_option_or_is_no_name_is_refused() {
        for good in ["db1", "root@db1", "ssh://root@10.0.0.1:2222", "fe80::1%eth0"] {
            assert_eq!(Remote::new(good).unwrap().name(), good);
        }
        for bad in ["", "-oProxyCommand=x", "a b", "a\nb", &"x".repeat(NAME_MAX + 1)] {
            let error = Remote::new(bad).unwrap_err();
            assert!(error.kind == Kind::Usage && error.message.en.contains("does not name a host"), "{error}");
        }
    }

    #[test]
    fn a_host_that_never_answers_is_given_up_with_all_that_was_started_for_it() {
        let place = tempfile::tempdir().unwrap();
        let pid = place.path().join("pid");
        let script = format!("echo $$ >{}; sleep 1000", pid.display());
        let shell = Shell::Exec { program: "sh".into(), arguments: vec!["-c".into(), script] };
        let remote = Remote { name: "paused".into(), shell, privilege: Vec::new() };
        let error = remote.say("true", None, Duration::from_secs(2)).unwrap_err();
        assert!(error.message.en.contains("`paused` did not answer within 2 s"), "{error}");
        let pid: u32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "the command is gone");
        let shell =
            Shell::Exec { program: "sh".into(), arguments: vec!["-c".into(), "echo here; echo why >&2".into()] };
        let remote = Remote { name: "well".into(), shell, privilege: Vec::new() };
        let (status, said, complaint) = remote.say("true", None, ANSWER_LIMIT).unwrap();
        assert_eq!((status.success(), said.as_str(), complaint.as_str()), (true, "here\n", "why\n"));
    }

    #[test]
    fn ssh_asks_nobody_and_takes_the_host_as_no_option() {
        let command = Remote::new("db1").unwrap().command("exit 3");
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(words[OPTIONS.len()..], ["--", "db1", "exec sh -c 'exit 3'"]);
        assert!(words.contains(&"BatchMode=yes".to_string()), "{words:?}");
    }

    #[test]
    fn a_host_of_a_file_is_reached_by_its_command_and_with_its_rights() {
        let of = |via: Via, privilege: &[&str]| {
            let privilege = privilege.iter().map(|word| word.to_string()).collect();
            let (name, role) = ("db".to_string(), stend_spec::hosts::HostRole::Load);
            Remote::of(&NamedHost { name, via, privilege, role, groups: Vec::new(), on: Vec::new() })
        };
        let words = |remote: &Remote| -> Vec<String> {
            remote.command("exit 3").get_args().map(|word| word.to_string_lossy().into_owned()).collect()
        };
        let ssh = of(Via::Ssh("root@db1".into()), &["sudo", "-n"]).unwrap();
        assert_eq!(words(&ssh)[OPTIONS.len()..], ["--", "root@db1", "exec sudo -n sh -c 'exit 3'"]);
        assert_eq!(ssh.name(), "db");
        let exec = Via::Exec { program: "kubectl".into(), arguments: vec!["exec".into(), "-i".into(), "--".into()] };
        let exec = of(exec, &["sudo", "-n"]).unwrap();
        assert_eq!(exec.command("exit 3").get_program(), "kubectl");
        assert_eq!(words(&exec), ["exec", "-i", "--", "sudo", "-n", "sh", "-c", "exit 3"]);
        assert!(of(Via::Ssh("-oProxyCommand=x".into()), &[]).is_err());
    }

    #[test]
    fn a_program_is_known_by_all_of_its_bytes() {
        let program = Program::own().unwrap();
        assert_eq!(program.size, std::fs::metadata("/proc/self/exe").unwrap().len());
        assert_eq!(program.sum.len(), 64);
        assert_eq!(program.sum, Program::own().unwrap().sum);
    }

    #[test]
    fn hosts_that_share_a_home_do_not_replace_the_program_under_each_other() {
        use std::os::unix::fs::MetadataExt;
        let place = tempfile::tempdir().unwrap();
        let own = place.path().join("own");
        std::fs::write(&own, "a program").unwrap();
        let mut file = File::open(&own).unwrap();
        let sum = summed(&mut file).unwrap();
        let mut program = Program { file, size: 9, sum: sum.clone() };
        let arguments = vec![format!("XDG_CACHE_HOME={}", place.path().display())];
        let shell = Shell::Exec { program: "env".into(), arguments };
        let remote = Remote { name: "node".into(), shell, privilege: Vec::new() };
        let programs = place.path().join("stend/programs");
        let brought = programs.join(&sum);
        let mut inodes = Vec::new();
        for _ in 0..2 {
            remote.bring(&mut program).unwrap();
            assert_eq!(std::fs::read(&brought).unwrap(), b"a program");
            assert_eq!(std::fs::read_dir(&programs).unwrap().count(), 1, "nothing else is left");
            inodes.push(std::fs::metadata(&brought).unwrap().ino());
        }
        assert_eq!(inodes[0], inodes[1]);
    }

    #[test]
    fn a_host_may_say_much_and_the_beginning_is_kept() {
        let much = vec![b'x'; SAID_MAX as usize * 3];
        assert_eq!(kept(Some(much.as_slice())).len(), SAID_MAX as usize);
        assert_eq!(kept(None::<&[u8]>), "");
    }
}
