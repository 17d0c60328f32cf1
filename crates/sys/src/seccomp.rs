//! Seccomp filters that take io_uring or AIO away, as many containers do. Used to prove that the tool copes;
//! must not be used to protect anything.

use std::io;

/// `offsetof(struct seccomp_data, nr)` (linux/seccomp.h).
const OFFSET_OF_NUMBER: u32 = 0;

/// From now on io_uring_setup fails with EPERM in the calling thread and in all threads and processes
/// that it starts; other threads are not affected. Cannot be undone.
pub fn forbid_io_uring() -> io::Result<()> {
    forbid(libc::SYS_io_uring_setup)
}

/// The same for io_setup, and with it all of Linux AIO.
pub fn forbid_aio() -> io::Result<()> {
    forbid(libc::SYS_io_setup)
}

fn forbid(call: libc::c_long) -> io::Result<()> {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let mut filter = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, OFFSET_OF_NUMBER),
        libc::sock_filter { jf: 1, ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call as u32) },
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: plain integers as prctl(2) wants them.
    let privileges = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    if privileges != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `program` points to `filter`; both outlive the call, which copies them.
    let installed = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    if installed != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uring::{Polling, Ring};

    #[test]
    fn a_filtered_thread_has_no_io_uring_and_says_why() {
        let reason = std::thread::spawn(|| {
            forbid_io_uring().unwrap();
            Ring::probe(Polling::Off).unwrap_err().to_string()
        })
        .join()
        .unwrap();
        assert!(reason.contains("seccomp") || reason.contains("io_uring_disabled"), "{reason}");
    }
}
