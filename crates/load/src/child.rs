//! Another program as a child: started so that it cannot outlive us, watched until it ends, ended when it must. Must not
//! know what it is for.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use stend_base::Nanos;
use stend_sys::{clock, process};

/// How often an end, a stop and the limit are looked at.
const TICK: Duration = Duration::from_millis(20);
/// Time to end by itself once it was asked to: the worker promises to be quiet within 2 s of a stop.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);
/// Time for the kernel to end it once it was killed; one that waits for a dead device stays.
const REAP: Duration = Duration::from_millis(500);
/// Most that it may print, and most that it may say on standard error, before it is ended: 256 jobs with full histograms
/// print less. Both are in memory.
const OUTPUT_MAX: u64 = 64 << 20;
/// Most of its standard error that is kept.
pub(crate) const WORDS_MAX: u64 = 64 << 10;

/// Why a child did not come to its own end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Somebody asked to stop.
    Stopped,
    /// It took longer than it may.
    Late,
    /// It printed more than it may.
    Talked,
}

/// What is to be started.
#[derive(Debug, Default)]
pub(crate) struct Order<'a> {
    /// The program, found by PATH unless it is a path.
    pub program: &'a str,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Where it works; `None`: where we do.
    pub directory: Option<&'a Path>,
    /// Its descriptor 0; `None`: nothing.
    pub input: Option<OwnedFd>,
    /// User and group that it becomes; `None`: ours.
    pub user: Option<(u32, u32)>,
    /// The kernel gives it no transparent huge pages.
    pub ordinary_pages: bool,
    /// Lists of processes of the control groups that it enters before it is anything.
    pub groups: Vec<OwnedFd>,
}

/// A child that has ended, or was left behind.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    /// How; `None` if it hangs in the kernel although it was killed.
    pub status: Option<ExitStatus>,
    /// Whether and why it was asked to end.
    pub cut: Option<Cut>,
    /// What it printed.
    pub output: Vec<u8>,
    /// What it said on standard error, the beginning of it.
    pub words: String,
    /// Just before it was started, CLOCK_MONOTONIC.
    pub started: Nanos,
    /// When its end was seen.
    pub ended: Nanos,
}

/// A child that was started. Dropped without [`end`](Self::end), it lives until the end of our thread.
#[derive(Debug)]
pub(crate) struct Started {
    child: Child,
    output: File,
    words: File,
    started: Nanos,
    /// When it was first asked to end.
    asked: Option<Instant>,
}

/// How a child is asked to end.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ask {
    /// As Ctrl-C does.
    Interrupt,
    /// As service managers do.
    Terminate,
    /// To end at once and leave nothing of itself behind, where a program does that.
    Quit,
    /// It is not asked.
    Kill,
}

/// Starts a child in a process group of its own.
pub(crate) fn start(order: Order) -> io::Result<Started> {
    // In memory, so that neither pipes fill nor disks are written.
    let [output, words] = [process::memory_file()?, process::memory_file()?];
    let mut command = Command::new(order.program);
    command.args(order.arguments).stdin(order.input.map_or_else(Stdio::null, Stdio::from));
    if let Some(directory) = order.directory {
        command.current_dir(directory);
    }
    if let Some((user, group)) = order.user {
        command.uid(user).gid(group);
    }
    command.stdout(output.try_clone()?).stderr(words.try_clone()?).process_group(0);
    if order.ordinary_pages {
        process::ordinary_pages(&mut command);
    }
    process::enter_groups(&mut command, order.groups);
    process::die_with_parent(&mut command);
    let started = clock::now();
    let child = command.spawn()?;
    Ok(Started { child, output, words, started, asked: None })
}

impl Started {
    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Whether it prints without end.
    pub fn talks_too_much(&self) -> io::Result<bool> {
        Ok(self.output.metadata()?.len().max(self.words.metadata()?.len()) > OUTPUT_MAX)
    }

    /// The beginning of what it said on standard error so far. Moves no position, which the child shares.
    pub fn words(&self) -> io::Result<String> {
        let mut bytes = vec![0; self.words.metadata()?.len().min(WORDS_MAX) as usize];
        let read = self.words.read_at(&mut bytes, 0)?;
        Ok(String::from_utf8_lossy(&bytes[..read]).into_owned())
    }

    /// Its process, which leads a group of its own.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its standard error, by device and inode: what it starts has that, too, unless it was given another one.
    pub fn words_file(&self) -> io::Result<(u64, u64)> {
        let file = self.words.metadata()?;
        Ok((file.dev(), file.ino()))
    }

    /// Asks it and its group to end, and waits for nothing. One that has ended is left alone.
    pub fn ask(&mut self, ask: Ask) -> io::Result<()> {
        if self.child.try_wait()?.is_some() {
            return Ok(());
        }
        self.asked.get_or_insert_with(Instant::now);
        match ask {
            Ask::Interrupt => process::interrupt_group(&self.child),
            Ask::Terminate => process::terminate_group(&self.child),
            Ask::Quit => process::quit_group(&self.child),
            Ask::Kill => process::kill_group(&self.child),
        }
    }

    /// Ends it, if it has not ended: asked as Ctrl-C does, unless it was asked before, it has this long from then on. After that
    /// it is killed, and its group, too.
    pub fn end(mut self, patience: Duration) -> io::Result<Ended> {
        if self.asked.is_none() {
            self.ask(Ask::Interrupt)?;
        }
        let left = self.asked.map_or(Duration::ZERO, |asked| patience.saturating_sub(asked.elapsed()));
        let mut status = wait(&mut self.child, left)?;
        if status.is_none() {
            process::kill_group(&self.child)?;
            status = wait(&mut self.child, REAP)?;
        }
        let cut = self.asked.map(|_| Cut::Stopped);
        self.conclude(status, cut)
    }

    fn conclude(mut self, status: Option<ExitStatus>, cut: Option<Cut>) -> io::Result<Ended> {
        let ended = clock::now();
        let output = contents(&mut self.output, OUTPUT_MAX)?;
        let words = String::from_utf8_lossy(&contents(&mut self.words, WORDS_MAX)?).trim_end().to_string();
        Ok(Ended { status, cut, output, words, started: self.started, ended })
    }
}

/// Carries out `order` in a process group of its own for at most `limit`, until `stopped` is true or it has printed too
/// much. It is asked first (SIGINT), and killed if that does not help.
pub(crate) fn run(order: Order, limit: Duration, stopped: &dyn Fn() -> bool) -> io::Result<Ended> {
    let mut started = start(order)?;
    let printed = {
        let (output, words) = (started.output.try_clone()?, started.words.try_clone()?);
        move || Ok(output.metadata()?.len().max(words.metadata()?.len()))
    };
    let (status, cut) = watch(&mut started.child, limit, &printed, stopped)?;
    started.conclude(status, cut)
}

fn watch(
    child: &mut Child,
    limit: Duration,
    printed: &dyn Fn() -> io::Result<u64>,
    stopped: &dyn Fn() -> bool,
) -> io::Result<(Option<ExitStatus>, Option<Cut>)> {
    let begin = Instant::now();
    let cut = loop {
        if let Some(status) = child.try_wait()? {
            return Ok((Some(status), None));
        }
        if stopped() {
            break Cut::Stopped;
        }
        if begin.elapsed() > limit {
            break Cut::Late;
        }
        if printed()? > OUTPUT_MAX {
            break Cut::Talked;
        }
        std::thread::sleep(TICK);
    };
    let mut status = None;
    // What prints without end is not given time to print more.
    if cut != Cut::Talked {
        process::interrupt_group(child)?;
        status = wait(child, PATIENCE)?;
    }
    if status.is_none() {
        process::kill_group(child)?;
        status = wait(child, REAP)?;
    }
    Ok((status, Some(cut)))
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let begin = Instant::now();
    loop {
        match child.try_wait()? {
            None if begin.elapsed() < limit => std::thread::sleep(TICK),
            ended => return Ok(ended),
        }
    }
}

fn contents(file: &mut File, most: u64) -> io::Result<Vec<u8>> {
    let mut contents = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(most).read_to_end(&mut contents)?;
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Order<'static> {
        let arguments = ["-c", script].map(String::from).to_vec();
        Order { program: "sh", arguments, ..Order::default() }
    }

    #[test]
    fn both_outputs_and_the_end_of_a_child_are_kept_apart() {
        let ended = run(shell("echo out; echo err >&2; exit 3"), LONG, &|| false).unwrap();
        assert_eq!((ended.output.as_slice(), ended.words.as_str(), ended.cut), (&b"out\n"[..], "err", None));
        assert_eq!(ended.status.unwrap().code(), Some(3));
        assert!(ended.started < ended.ended);
    }

    #[test]
    fn a_child_and_its_children_get_no_huge_pages_where_that_is_asked() {
        let script = "grep THP_enabled /proc/self/status; sh -c 'grep THP_enabled /proc/self/status'";
        let told = |ordinary_pages| run(Order { ordinary_pages, ..shell(script) }, LONG, &|| false).unwrap().output;
        assert_eq!(String::from_utf8(told(true)).unwrap(), "THP_enabled:\t0\n".repeat(2));
        assert_eq!(String::from_utf8(told(false)).unwrap(), "THP_enabled:\t1\n".repeat(2));
    }

    #[test]
    fn one_that_is_asked_to_stop_may_still_say_what_it_knows() {
        let script = "trap 'echo told; exit 0' INT; echo ready; while :; do sleep 0.01; done";
        let ended = run(shell(script), LONG, &|| true).unwrap();
        assert_eq!(ended.cut, Some(Cut::Stopped));
        // It may have been stopped before it could set its trap.
        let told = [&b""[..], b"told\n", b"ready\ntold\n"].contains(&ended.output.as_slice());
        // On a machine that stands still for longer than our patience it is killed, and has told nothing.
        let killed = ended.status.is_some_and(|status| status.signal() == Some(9)) && ended.output == b"ready\n";
        assert!(ended.status.is_some() && (told || killed), "{ended:?}");
    }

    #[test]
    fn one_that_takes_too_long_and_does_not_listen_is_killed_with_its_children() {
        let script = "trap '' INT; sleep 1000 & echo $!; wait; wait";
        let ended = run(shell(script), Duration::from_millis(300), &|| false).unwrap();
        assert_eq!((ended.cut, ended.status.unwrap().code()), (Some(Cut::Late), None));
        let child = String::from_utf8(ended.output).unwrap();
        let state = std::fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z "), "{state}");
    }

    #[test]
    fn one_that_prints_without_end_is_ended_on_either_stream() {
        for script in ["yes", "yes >&2"] {
            let ended = run(shell(&format!("exec {script}")), LONG, &|| false).unwrap();
            assert_eq!(ended.cut, Some(Cut::Talked), "{script}");
            assert!(ended.output.len() as u64 <= OUTPUT_MAX && ended.words.len() as u64 <= WORDS_MAX);
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error_of_its_own_kind() {
        let error = run(Order { program: "/no/such/program", ..shell("") }, LONG, &|| false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
