//! Setting a process up so that it owns its streams: used by the worker before anything else.

use rustix::fs::{MemfdFlags, Mode, OFlags};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::Duration;

/// Descriptors below this stay free for children and libraries that expect small numbers.
const HIGH: i32 = 100;

/// Takes standard input and output away for a protocol and returns them as (input, output).
///
/// The process becomes the leader of its own session, so that Ctrl-C in a terminal does not reach it.
/// The returned descriptors are high and closed on exec; descriptor 0 becomes `/dev/null` and 1 the
/// standard error, so that nothing printed by us or a child can corrupt the protocol.
pub fn own_streams() -> io::Result<(File, File)> {
    if let Err(error) = rustix::process::setsid()
        && error != rustix::io::Errno::PERM
    {
        // PERM means that we lead a group already: then our parent has given us a session.
        return Err(error.into());
    }
    let high = |fd: rustix::fd::BorrowedFd| rustix::io::fcntl_dupfd_cloexec(fd, HIGH).map(File::from);
    let input = high(rustix::stdio::stdin())?;
    let output = high(rustix::stdio::stdout())?;
    let null: OwnedFd = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok((input, output))
}

/// A stream whose other end must say something now and then.
pub struct Heard<R> {
    from: R,
    limit: Duration,
}

impl<R: AsFd> Heard<R> {
    /// Reading fails with `TimedOut` when nothing came for `limit`, which is below a month.
    pub fn new(from: R, limit: Duration) -> Heard<R> {
        Heard { from, limit }
    }
}

impl<R: Read + AsFd> Read for Heard<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let limit = Timespec { tv_sec: self.limit.as_secs() as i64, tv_nsec: self.limit.subsec_nanos().into() };
        // An end and an error are something to read, too.
        match rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(&self.from, PollFlags::IN)], Some(&limit)))? {
            0 => Err(io::Error::new(io::ErrorKind::TimedOut, format!("silent for {} s", self.limit.as_secs()))),
            _ => self.from.read(to),
        }
    }
}

/// Lets this process and its later children have as many open files as the system grants it (`RLIMIT_NOFILE`, soft to
/// hard), and says how many those are.
pub fn allow_open_files() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Where that is refused, what is allowed now is what counts.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// A file without a name in memory; it is gone when it is closed.
pub fn memory_file() -> io::Result<File> {
    Ok(File::from(rustix::fs::memfd_create("output", MemfdFlags::CLOEXEC)?))
}

/// Has a child, once it is started, killed by the kernel when the calling *thread* ends, whichever way that happens.
/// One that is started after its parent has ended does not run at all.
pub fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    let in_child = move || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        // The parent may have ended before that: then nobody sends the signal any more.
        if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(rustix::io::Errno::SRCH.into()) }
    };
    // SAFETY: between fork and exec only async-signal-safe functions may be called. Both are bare system calls that
    // neither allocate nor lock, and an `io::Error` of a number allocates nothing.
    unsafe { command.pre_exec(in_child) };
}

/// Has a child, and whatever it starts, get ordinary pages alone, whatever the host does unasked: the kernel joins none of its
/// memory to transparent huge pages.
pub fn ordinary_pages(command: &mut Command) {
    let in_child = || Ok(rustix::thread::disable_transparent_huge_pages(true)?);
    // SAFETY: as in `die_with_parent`: one bare system call.
    unsafe { command.pre_exec(in_child) };
}

/// Hands a descriptor to a child under its number; here it is closed when the command is dropped.
pub fn keep_open(command: &mut Command, descriptor: OwnedFd) {
    let in_child = move || Ok(rustix::io::fcntl_setfd(&descriptor, rustix::io::FdFlags::empty())?);
    // SAFETY: as in `die_with_parent`: one bare system call.
    unsafe { command.pre_exec(in_child) };
}

/// Has a child, before it becomes its program, enter the control groups whose lists of processes these are.
pub fn enter_groups(command: &mut Command, groups: Vec<OwnedFd>) {
    if groups.is_empty() {
        return;
    }
    let in_child = move || {
        // 0 is the process that writes it.
        groups.iter().try_for_each(|group| rustix::io::write(group, b"0").map(drop).map_err(io::Error::from))
    };
    // SAFETY: between fork and exec only async-signal-safe functions may be called. `write` is a bare system call that
    // neither allocates nor locks, and an `io::Error` of a number allocates nothing.
    unsafe { command.pre_exec(in_child) };
}

/// Asks a child that leads a process group of its own, and that group, to end, as service managers do.
pub fn terminate_group(child: &Child) -> io::Result<()> {
    let group = rustix::process::Pid::from_child(child);
    Ok(rustix::process::kill_process_group(group, rustix::process::Signal::TERM)?)
}

/// Asks a child that leads a process group of its own to end, as Ctrl-C in a terminal would.
pub fn interrupt_group(child: &Child) -> io::Result<()> {
    let group = rustix::process::Pid::from_child(child);
    Ok(rustix::process::kill_process_group(group, rustix::process::Signal::INT)?)
}

/// Asks a child that leads a process group of its own, and that group, to end at once (SIGQUIT).
pub fn quit_group(child: &Child) -> io::Result<()> {
    let group = rustix::process::Pid::from_child(child);
    Ok(rustix::process::kill_process_group(group, rustix::process::Signal::QUIT)?)
}

/// Kills a child that leads a process group of its own, and everything in that group.
pub fn kill_group(child: &Child) -> io::Result<()> {
    let group = rustix::process::Pid::from_child(child);
    Ok(rustix::process::kill_process_group(group, rustix::process::Signal::KILL)?)
}

/// Kills a process; never this one nor the first of the machine. Error: one that is gone has no such process (`ESRCH`).
pub fn kill(pid: u32) -> io::Result<()> {
    signal(pid, |pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL))
}

/// Whether this process may kill another one: an error says why not.
pub fn may_kill(pid: u32) -> io::Result<()> {
    signal(pid, rustix::process::test_kill_process)
}

/// Whether an error says that there is no such process.
pub fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

fn signal(pid: u32, send: impl Fn(rustix::process::Pid) -> rustix::io::Result<()>) -> io::Result<()> {
    let foreign = |pid: &i32| *pid > 1 && pid.unsigned_abs() != std::process::id();
    let pid = i32::try_from(pid).ok().filter(foreign).and_then(rustix::process::Pid::from_raw);
    Ok(send(pid.ok_or(io::ErrorKind::InvalidInput)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::Stdio;
    use std::time::Instant;

    #[test]
    fn a_stream_that_is_silent_fails_and_one_that_ends_or_speaks_is_read() {
        let (from, mut to) = io::pipe().unwrap();
        to.write_all(b"said").unwrap();
        let mut heard = Heard::new(from, Duration::from_millis(1));
        let mut word = [0; 8];
        assert_eq!(heard.read(&mut word).unwrap(), 4);
        assert_eq!(heard.read(&mut word).unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(to);
        let begun = Instant::now();
        // A child that another test starts in this moment has the other end, too, until it is another program.
        let end = loop {
            match heard.read(&mut word) {
                Err(error) if error.kind() == io::ErrorKind::TimedOut && begun.elapsed().as_secs() < 60 => {}
                end => break end.unwrap(),
            }
        };
        assert_eq!(end, 0);
    }

    /// Starts a child that would live for long, from a thread that ends at once.
    fn orphan(prepare: fn(&mut Command)) -> Child {
        let start = move || {
            let mut command = Command::new("sleep");
            prepare(command.arg("1000").stdin(Stdio::null()));
            command.spawn().unwrap()
        };
        std::thread::spawn(start).join().unwrap()
    }

    #[test]
    fn another_process_is_killed_and_neither_this_one_nor_the_first() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        may_kill(child.id()).unwrap();
        kill(child.id()).unwrap();
        child.wait().unwrap();
        assert!(is_gone(&kill(child.id()).unwrap_err()));
        for pid in [0, 1, std::process::id(), u32::MAX] {
            assert_eq!(kill(pid).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{pid}");
        }
    }

    #[test]
    fn a_child_has_the_descriptor_that_it_is_given_and_no_other() {
        use std::os::fd::AsRawFd;
        let open = || -> OwnedFd { std::fs::File::open("/dev/null").unwrap().into() };
        let (given, other) = (open(), open());
        let [kept, closed] = [&given, &other].map(|one| format!("/proc/self/fd/{}", one.as_raw_fd()));
        let mut command = Command::new("readlink");
        command.args([&kept, &closed]);
        keep_open(&mut command, given);
        let seen = command.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&seen.stdout), "/dev/null\n");
    }

    #[test]
    fn a_child_dies_with_the_thread_that_started_it_and_only_where_that_was_asked() {
        let mut bound = orphan(die_with_parent);
        let since = Instant::now();
        let ended = loop {
            if let Some(status) = bound.try_wait().unwrap() {
                break Some(status);
            }
            if since.elapsed() > Duration::from_secs(90) {
                break None;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut free = orphan(|_| {});
        let lives = free.try_wait().unwrap().is_none();
        free.kill().unwrap();
        free.wait().unwrap();
        assert!(ended.is_some_and(|status| !status.success()), "{ended:?}");
        assert!(lives);
    }
}
