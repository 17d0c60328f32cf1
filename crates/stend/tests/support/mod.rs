//! What the end-to-end tests share: the real binary, scratch directories on a real disk, loop devices
//! and mounts that go away even when a test fails.

pub mod far;
pub mod fixed_run;
pub mod lab;
pub mod libvirt;
pub mod schema;
pub mod session;
pub mod stand;

use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a test waits for what must happen. Thirty times what it takes on an idle machine of two CPUs: a test fails because something never
/// came, not because other programs had the CPUs.
pub const IN_TIME: Duration = Duration::from_secs(90);

/// A suite of two cases that takes about three seconds.
pub const SMALL: &str = "suite: small
defaults: {ramp: 100ms, trial: 400ms}
fill: {size: 64MiB}
repeats: {blocks: 2}
cases:
  - name: read
    streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 4}]
  - name: write
    streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 4}]
";

/// A directory on the machine's disk (not RAM), removed with everything in it.
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    pub fn new() -> Scratch {
        Scratch(tempfile::Builder::new().prefix("stend-e2e-").tempdir_in("/var/tmp").expect("a scratch directory"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file and returns its path as text.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.join(name);
        std::fs::write(&path, text).expect("a scratch file");
        path.to_string_lossy().into_owned()
    }

    /// A directory inside, as text.
    pub fn directory(&self, name: &str) -> String {
        let path = self.join(name);
        std::fs::create_dir_all(&path).expect("a scratch directory");
        path.to_string_lossy().into_owned()
    }
}

/// One run at a time changes a host by arms and events: the tests that have such runs take turns.
pub fn host_turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Scratch {
    /// Also removes what a killed run left in memory. Its run file goes with the directory, so no later run can know that the spool is needless.
    fn drop(&mut self) {
        let own = self.path().as_os_str().as_encoded_bytes();
        let names_us =
            |path: &Path| std::fs::read(path).is_ok_and(|bytes| bytes.windows(own.len()).any(|part| part == own));
        for path in std::fs::read_dir("/dev/shm").into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|end| end == "spool") && names_us(&path) {
                drop(std::fs::remove_file(&path));
            }
        }
    }
}

/// The binary, in English, with its own data directory and no terminal.
pub fn stend(scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
    command
        .args(arguments)
        .env("LANG", "C")
        .env_remove("LC_ALL")
        .env_remove("LC_MESSAGES")
        .env("XDG_DATA_HOME", scratch.path())
        .env("COLUMNS", "100")
        // Tests share one disk.
        .env("STEND_LEASES", scratch.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub fn output(command: &mut Command) -> Output {
    command.output().expect("the binary runs")
}

/// (exit code, standard output, standard error)
pub fn texts(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// Runs to the end and expects an exit code; returns (stdout, stderr).
pub fn expect_exit(command: &mut Command, code: i32) -> (String, String) {
    let (got, stdout, stderr) = texts(&output(command));
    assert_eq!(got, code, "stdout:\n{stdout}\nstderr:\n{stderr}");
    (stdout, stderr)
}

/// A text as one line, since where it is broken depends on the numbers in it and on the names of temporary files.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Fails where what an error says is said twice, on either stream; that a case or a file is named first does not matter.
pub fn is_told_once(stdout: &str, stderr: &str) {
    let all = one_line(&format!("{stdout} {stderr}"));
    let reasons: Vec<String> = stderr.lines().filter_map(|line| line.strip_prefix("error: ")).map(one_line).collect();
    assert!(!reasons.is_empty(), "{stderr}");
    for reason in &reasons {
        let reason =
            reason.strip_prefix("case `").and_then(|rest| rest.split_once("`: ")).map_or(reason.as_str(), |(_, r)| r);
        assert_eq!(all.matches(reason).count(), 1, "`{reason}`\n{stdout}\n{stderr}");
    }
}

/// Everything that is said of a run, in English, each text on one line.
pub fn show_all(scratch: &Scratch, run_file: &Path) -> String {
    let words = ["show", "-v", &run_file.to_string_lossy(), "--lang", "en"];
    let (shown, _) = expect_exit(&mut stend(scratch, &words), 0);
    shown.replace("\n  ", " ")
}

/// `stend show FILE --json` of a run file that must open.
pub fn show_json(scratch: &Scratch, run_file: &Path) -> serde_json::Value {
    let (stdout, _) = expect_exit(&mut stend(scratch, &["show", &run_file.to_string_lossy(), "--json"]), 0);
    serde_json::from_str(&stdout).expect("JSON")
}

/// Whether root-only tests can run; without root they are a named skip, under CI a failure.
pub fn root(test: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    assert!(root || std::env::var("CI").as_deref() != Ok("true"), "{test} needs root");
    if !root {
        eprintln!("skipped, needs root: {test}");
    }
    root
}

/// Copies a program. By another process: one that is forked here while the copy is written would keep it from being started
/// ("Text file busy").
pub fn copy_program(from: &str, to: &Path) {
    tool(&["cp", from, &to.to_string_lossy()]);
}

/// Has everyone who writes to a database of SQLite wait, as a slow disk does, until it is dropped.
pub fn held(database: &Path) -> std::fs::File {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(database).expect("a database");
    rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::LockExclusive).expect("a lock");
    file
}

/// Runs a tool that must succeed.
pub fn tool(words: &[&str]) -> String {
    let out = Command::new(words[0]).args(&words[1..]).output().unwrap_or_else(|e| panic!("{words:?}: {e}"));
    assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().to_string()
}

/// A loop device over a sparse file.
pub struct Loop {
    pub device: String,
    pub backing: PathBuf,
}

impl Loop {
    pub fn new(scratch: &Scratch, name: &str, size: u64) -> Loop {
        let backing = scratch.join(name);
        std::fs::File::create(&backing).and_then(|f| f.set_len(size)).expect("a backing file");
        Loop { device: tool(&["losetup", "--find", "--show", &backing.to_string_lossy()]), backing }
    }

    /// What `--confirm` takes.
    pub fn identity(&self, scratch: &Scratch) -> String {
        let (stdout, _) = expect_exit(&mut stend(scratch, &["inspect", &self.device, "--json"]), 0);
        let facts: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
        facts["identity"].as_str().expect("an identity").to_string()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        drop(Command::new("losetup").args(["--detach", &self.device]).output());
    }
}

/// A mount that is taken away again.
pub struct Mount(pub PathBuf);

impl Mount {
    /// `mount ARGUMENTS POINT`
    pub fn new(arguments: &[&str], point: PathBuf) -> Mount {
        std::fs::create_dir_all(&point).expect("a mount point");
        let mut words = vec!["mount"];
        words.extend(arguments);
        let text = point.to_string_lossy().into_owned();
        words.push(&text);
        tool(&words);
        Mount(point)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        drop(Command::new("umount").args(["--lazy", &self.0.to_string_lossy()]).output());
    }
}

/// A coordinator that is killed when the test ends early; what it then leaves in memory is removed.
pub struct Running {
    pub child: Child,
    /// Spools that it had open when it was killed.
    spools: Vec<PathBuf>,
    /// Workers that it had then.
    orphans: Vec<u32>,
}

impl Running {
    pub fn new(command: &mut Command) -> Running {
        Running { child: command.spawn().expect("the binary starts"), spools: Vec::new(), orphans: Vec::new() }
    }

    /// Kills it without a chance to clean up.
    pub fn kill(&mut self) {
        // The next process may get the number of one that is reaped.
        if let Ok(None) = self.child.try_wait() {
            self.spools.extend(open_spools(self.child.id()));
            self.orphans.extend(self.workers());
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }

    /// Waits for the end, at most `limit`; its exit code, -1 if a signal ended it.
    pub fn wait(&mut self, limit: Duration) -> Option<i32> {
        self.wait_for_status(limit).map(|status| status.code().unwrap_or(-1))
    }

    /// The same as a shell tells it: 128 and the number of the signal that ended it.
    pub fn wait_as_shell(&mut self, limit: Duration) -> Option<i32> {
        let status = self.wait_for_status(limit)?;
        status.code().or_else(|| status.signal().map(|signal| 128 + signal))
    }

    fn wait_for_status(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return Some(status);
            }
            // A run that cannot write its file any more leaves its spool to its readers.
            if self.spools.is_empty() {
                self.spools = open_spools(self.child.id());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }

    /// Process ids of the workers of this coordinator.
    pub fn workers(&self) -> Vec<u32> {
        workers_of(self.child.id())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
        // A worker that lost its coordinator removes its test file first; until then its directory is not empty.
        let deadline = Instant::now() + IN_TIME;
        while self.orphans.iter().any(|pid| alive(*pid)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        // Gone already where a run ended by itself or was resumed.
        self.spools.iter().for_each(|spool| drop(std::fs::remove_file(spool)));
    }
}

/// What a process holds open in the directory of spools: its own and nobody else's.
fn open_spools(pid: u32) -> Vec<PathBuf> {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    links.filter(|path| path.starts_with("/dev/shm") && path.extension().is_some_and(|e| e == "spool")).collect()
}

fn workers_of(parent: u32) -> Vec<u32> {
    let list = format!("/proc/{parent}/task/{parent}/children");
    let children = std::fs::read_to_string(list).unwrap_or_default();
    children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Whether a process still exists and is not only waiting to be reaped. One whose first thread has ended still holds its files until the
/// others have.
pub fn alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let has_ended = stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with('Z'));
    !has_ended || std::fs::read_dir(format!("/proc/{pid}/task")).is_ok_and(|threads| threads.count() > 1)
}

/// Whether there is time for every repetition: `make nightly`.
pub fn is_nightly() -> bool {
    std::env::var_os("STEND_NIGHTLY").is_some()
}

/// Waits until a condition holds, at most `limit`.
pub fn eventually(what: &str, limit: Duration, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + limit;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts what cannot choose its port itself: `start` has one that is free, and gives nothing if another program took it first.
pub fn on_a_port<T>(mut start: impl FnMut(u16) -> Option<T>) -> T {
    let free = || TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
    (0..10).find_map(|_| start(free())).expect("one of ten ports")
}

/// Waits until a program is ready; whether it is, or has ended instead.
pub fn is_ready(what: &str, child: &mut Child, mut is_there: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + IN_TIME;
    while !is_there() {
        if child.try_wait().expect("a child").is_some() {
            return false;
        }
        assert!(Instant::now() < deadline, "not within {IN_TIME:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// Whether this process, and no other, accepts connections on the port.
pub fn listens(pid: u32, port: u16) -> bool {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let own: Vec<String> = links.map(|link| link.to_string_lossy().into_owned()).collect();
    let table = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap_or_default();
    //= linux, Documentation/networking/proc_net_tcp.rst: local address, state (0A is LISTEN), and in the tenth place the inode
    table.lines().any(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, local, _, "0A", _, _, _, _, _, inode, ..] = fields[..] else { return false };
        local.ends_with(&format!(":{port:04X}")) && own.contains(&format!("socket:[{inode}]"))
    })
}

/// Names in a directory that Stend made.
pub fn leftovers(directory: &str) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    entries.filter_map(|e| e.ok()?.file_name().into_string().ok()).filter(|name| name.starts_with(".stend-")).collect()
}

/// Every verb that the help lists.
pub fn verbs(scratch: &Scratch) -> Vec<String> {
    let verbs = commands(scratch, &[]);
    assert!(verbs.contains(&"run".to_string()), "{verbs:?}");
    verbs
}

/// The commands that the help of a verb lists, if it has any.
pub fn commands(scratch: &Scratch, verb: &[&str]) -> Vec<String> {
    let (help, _) = expect_exit(&mut stend(scratch, &[verb, &["--help", "--lang", "en"]].concat()), 0);
    let list = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
    let first_words = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    first_words.filter_map(|line| line.split_whitespace().next()).map(String::from).collect()
}
