//! What a process does when memory that is a file is not there any more, because somebody cut the file or its disk is full where a hole was made:
//! the kernel sends SIGBUS to the thread that touches it. Memory without a file is put in its place, so that the thread goes on, and the owner of
//! the mapping learns of it. The alternatives would cost every access: a system call (`pwrite`), or a lock against cutting, which files do not
//! have.

use rustix::param::page_size;
use std::ffi::{c_int, c_void};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Mappings that are watched at once: a worker has one ledger at a time, tests of one process a few more.
const RANGES: usize = 64;

static WATCHED: [Range; RANGES] = [const { Range::new() }; RANGES];
/// What was done about the signal before; empty until there is something to watch.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

struct Range {
    taken: AtomicBool,
    /// First address; 0: nothing is watched.
    start: AtomicUsize,
    end: AtomicUsize,
    /// From here on there is memory without a file; the end as long as nothing was lost.
    lost_from: AtomicUsize,
}

impl Range {
    const fn new() -> Range {
        Range {
            taken: AtomicBool::new(false),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            lost_from: AtomicUsize::new(0),
        }
    }
}

/// A range of addresses that is watched until this is dropped, which must come before it is unmapped.
#[derive(Debug)]
pub(super) struct Watch {
    index: usize,
}

impl Watch {
    /// Watches a mapping of `len` bytes.
    pub fn begin(start: *const c_void, len: usize) -> io::Result<Watch> {
        install()?;
        let free = |range: &Range| !range.taken.swap(true, Ordering::AcqRel);
        let index = WATCHED.iter().position(free).ok_or(io::ErrorKind::QuotaExceeded)?;
        let range = &WATCHED[index];
        let end = start as usize + len.next_multiple_of(page_size());
        range.lost_from.store(end, Ordering::Release);
        range.end.store(end, Ordering::Release);
        range.start.store(start as usize, Ordering::Release);
        Ok(Watch { index })
    }

    /// Whether a part of it was not there when it was used, and what was stored there is nowhere else.
    pub fn lost(&self) -> bool {
        let range = &WATCHED[self.index];
        range.lost_from.load(Ordering::Acquire) < range.end.load(Ordering::Acquire)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let range = &WATCHED[self.index];
        range.start.store(0, Ordering::Release);
        range.taken.store(false, Ordering::Release);
    }
}

/// Has the kernel call [`handle`], once.
fn install() -> io::Result<()> {
    if BEFORE.get().is_some() {
        return Ok(());
    }
    // SAFETY: all zeros is a value of this struct of integers and an optional address.
    let (mut before, mut ours): (libc::sigaction, libc::sigaction) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    // SAFETY: only asks what is done now, and writes that to our own struct.
    if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // The first thread that comes here decides; [`handle`] must find it.
    if BEFORE.set(before).is_err() {
        return Ok(());
    }
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle;
    ours.sa_sigaction = handler as usize;
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the handler has the signature that SA_SIGINFO asks for, and calls nothing but what a handler may call.
    match unsafe { libc::sigaction(libc::SIGBUS, &raw const ours, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Puts memory in the place of what is gone, from the page that was touched to where there is such memory already, or the end. Everything else is done as
/// it was done before. Only reads atomics and makes system calls, as a handler of signals must.
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: with SA_SIGINFO the kernel passes a valid struct, and for SIGBUS that has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    for range in &WATCHED {
        let (start, end) = (range.start.load(Ordering::Acquire), range.end.load(Ordering::Acquire));
        if start == 0 || !(start..end).contains(&address) {
            continue;
        }
        // Another thread may have been here since: then the access is only tried again. Two at once may lose what one has stored
        // meanwhile, which is lost anyway when the process ends.
        let (from, until) = (page_of(address, page_size()), range.lost_from.load(Ordering::Acquire));
        if from >= until {
            return;
        }
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED);
        // replaces a part of a mapping that `Watch` says is ours and is still there; its users hold no more than atomics in it,
        // for which any bits are a value.
        let mapped = unsafe { libc::mmap(from as *mut c_void, until - from, access, kind, -1, 0) };
        if mapped != libc::MAP_FAILED {
            range.lost_from.fetch_min(from, Ordering::AcqRel);
            return;
        }
    }
    pass_on(signal, info, context);
}

/// Where the page of an address begins. Kernels for ARM have pages of 4, 16 or 64 KiB, and map nothing at less than a whole one. The size is a
/// power of two; `begin` has asked for it, so that a handler of signals finds it in memory.
fn page_of(address: usize, page: usize) -> usize {
    address & !(page - 1)
}

/// Does what was done about the signal before: by default, the process ends when it touches the memory again.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let handler = BEFORE.get().map(|before| (before.sa_sigaction, before.sa_flags & libc::SA_SIGINFO != 0));
    match handler {
        Some((address, true)) if address != libc::SIG_DFL && address != libc::SIG_IGN => {
            // SAFETY: it was installed with SA_SIGINFO and therefore is a function of this type.
            let before: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(address) };
            before(signal, info, context);
        }
        // SAFETY: gives the signal its default action; a handler may do that.
        _ => drop(unsafe { libc::signal(signal, libc::SIG_DFL) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_replaced_by_whole_pages_of_any_kernel() {
        let starts = [4, 16, 64].map(|kib| page_of(0x7fff_1234_5678, kib << 10));
        assert_eq!(starts, [0x7fff_1234_5000, 0x7fff_1234_4000, 0x7fff_1234_0000]);
        assert_eq!(page_of(0x7fff_1234_5000, 4096), 0x7fff_1234_5000);
    }
}
