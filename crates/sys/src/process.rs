//! Setting a process up so that it owns its streams: used by the worker before anything else.

use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

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
        // PERM means that we lead a group already: then whoever started us has given us a session.
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

/// Kills a child that leads a process group of its own, and everything in that group.
pub fn kill_group(child: &std::process::Child) -> io::Result<()> {
    let group = rustix::process::Pid::from_child(child);
    Ok(rustix::process::kill_process_group(group, rustix::process::Signal::KILL)?)
}
