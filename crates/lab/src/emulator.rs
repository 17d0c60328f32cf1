//! The process of QEMU, held by a descriptor, so that another process with the same number is never taken for it. Must not know which
//! machine it runs.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use rustix::time::Timespec;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// How long QEMU may take to end when it is asked, and to be gone when it is killed.
const END_LIMIT: Duration = Duration::from_secs(10);

/// See the module.
pub(crate) struct Emulator(OwnedFd);

impl Emulator {
    /// The process that has this number now.
    pub fn of(pid: u32) -> io::Result<Emulator> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Emulator(pidfd_open(pid, PidfdFlags::empty())?))
    }

    /// Waits until it is gone, for [`END_LIMIT`] at most; a signal to us shortens the wait.
    pub fn wait(&self) {
        let limit = Timespec { tv_sec: END_LIMIT.as_secs() as i64, tv_nsec: 0 };
        let _ = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&limit));
    }

    /// Kills it if it lives, and waits.
    pub fn kill(&self) {
        // It may have ended since.
        let _ = pidfd_send_signal(&self.0, Signal::KILL);
        self.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_that_was_told_to_end_is_waited_for_and_one_that_was_not_is_killed() {
        for (is_told, act) in [(true, Emulator::wait as fn(&Emulator)), (false, Emulator::kill)] {
            // It lives until its input ends, however long we take.
            let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
            let emulator = Emulator::of(child.id()).unwrap();
            let input = child.stdin.take().unwrap();
            assert!(child.try_wait().unwrap().is_none());
            let (let_go, wait) = std::sync::mpsc::channel::<()>();
            let telling = std::thread::spawn(move || {
                if is_told {
                    std::thread::sleep(Duration::from_millis(200));
                } else {
                    wait.recv().unwrap_err();
                }
                drop(input);
            });
            act(&emulator);
            assert!(child.try_wait().unwrap().is_some(), "{is_told}");
            drop(let_go);
            telling.join().unwrap();
        }
        assert!(Emulator::of(0).is_err() && Emulator::of(u32::MAX).is_err());
    }
}
