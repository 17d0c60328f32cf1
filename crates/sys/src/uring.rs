//! A safe io_uring: one file, slots of memory, at most one request per slot in flight. Must not retry,
//! time or interpret anything: results go to the caller as the kernel gave them.
//!
//! Soundness rests on one rule: memory of a slot is reachable only while the slot has no request, and
//! a ring dropped with requests in flight leaks its memory, because the kernel may still write there.

use crate::buffer::Pool;
use crate::file::IoFile;
use io_uring::{IoUring, opcode, squeue, types};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use stend_base::Nanos;

/// Most slots of a ring: the kernel's own limit of entries (io_uring/io_uring.h, IORING_MAX_ENTRIES).
pub const SLOTS_MAX: u32 = 32_768;
/// The kernel refuses a larger registered buffer (io_uring/rsrc.c, SZ_1G).
const REGISTERED_MAX: usize = 1 << 30;

/// A finished request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Its slot.
    pub slot: u32,
    /// Bytes moved, or minus the error number.
    pub result: i32,
}

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// File to memory.
    Read,
    /// Memory to file.
    Write,
    /// `fsync`.
    Fsync,
    /// `fdatasync`.
    Fdatasync,
}

/// A ring for one file, used by the thread that made it.
pub struct Ring {
    inner: ManuallyDrop<Inner>,
    busy: Box<[bool]>,
    in_flight: u32,
    fixed_file: bool,
    fixed_buffers: bool,
}

/// Fields drop in this order: the kernel lets go of the memory when the ring closes.
struct Inner {
    uring: IoUring,
    pool: Pool,
    file: Arc<IoFile>,
}

impl Ring {
    /// Whether io_uring can be used here: a no-op goes through a ring and comes back. The error says
    /// why not, in English.
    pub fn probe() -> Result<(), String> {
        let mut uring = build(2).map_err(|e| explain(&e))?;
        if !uring.params().is_feature_ext_arg() {
            return Err("this kernel's io_uring has no waiting with a timeout (needs Linux 5.11)".into());
        }
        // SAFETY: a no-op refers to no memory.
        let pushed = unsafe { uring.submission().push(&opcode::Nop::new().build()) };
        if pushed.is_err() {
            return Err("the submission queue of a new io_uring is full".into());
        }
        let timeout = types::Timespec::new().sec(1);
        let entered = uring.submitter().submit_with_args(1, &types::SubmitArgs::new().timespec(&timeout));
        entered.map_err(|e| explain(&e))?;
        match uring.completion().next() {
            Some(done) if done.result() >= 0 => Ok(()),
            Some(done) => Err(explain(&io::Error::from_raw_os_error(-done.result()))),
            None => Err("a no-op sent through io_uring did not come back within 1 s".into()),
        }
    }

    /// A ring with `slots` slots (1 to [`SLOTS_MAX`]) of `slot_len` bytes for `file`. Registers the file
    /// and the memory if the kernel and RLIMIT_MEMLOCK allow, else works without.
    pub fn new(file: Arc<IoFile>, slots: u32, slot_len: usize) -> io::Result<Ring> {
        if !(1..=SLOTS_MAX).contains(&slots) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let pool = Pool::new(slots as usize, slot_len)?;
        let uring = build(slots.next_power_of_two())?;
        if !uring.params().is_feature_ext_arg() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let fixed_file = uring.submitter().register_files(&[file.as_fd().as_raw_fd()]).is_ok();
        let fixed_buffers = pool.total_len() <= REGISTERED_MAX && {
            let all = libc::iovec { iov_base: pool.address(0).cast(), iov_len: pool.total_len() };
            // SAFETY: the memory lives as long as the ring: both are in `Inner`, the ring is closed first.
            unsafe { uring.submitter().register_buffers(&[all]) }.is_ok()
        };
        Ok(Ring {
            inner: ManuallyDrop::new(Inner { uring, pool, file }),
            busy: vec![false; slots as usize].into_boxed_slice(),
            in_flight: 0,
            fixed_file,
            fixed_buffers,
        })
    }

    /// Whether both the file and the memory are registered with the kernel.
    pub fn registered(&self) -> bool {
        self.fixed_file && self.fixed_buffers
    }

    /// Requests pushed and not yet reaped.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Memory of a slot. Panics if the slot has a request in flight.
    #[inline]
    pub fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        assert!(!self.busy[slot as usize], "slot {slot} is in flight");
        self.inner.pool.slot_mut(slot as usize)
    }

    /// Queues a request for the next [`submit_and_wait`](Self::submit_and_wait). A transfer moves `len`
    /// bytes between `offset` of the file and `at` of the slot's memory; a sync ignores the three.
    /// Panics if the slot is in flight or the range is not inside it.
    #[inline]
    pub fn push(&mut self, slot: u32, request: Request, at: usize, len: usize, offset: u64) {
        let slot_len = self.inner.pool.slot_len();
        assert!(!self.busy[slot as usize], "slot {slot} is in flight");
        assert!(at <= slot_len && len <= slot_len - at, "range {at}+{len} is not inside a slot of {slot_len}");
        let memory = self.inner.pool.address(slot as usize).wrapping_add(at);
        let entry = self.entry(request, memory, len as u32, offset).user_data(u64::from(slot));
        // SAFETY: the range is inside the slot (checked above), the slot's memory is not reachable by
        // anyone while `busy`, and it is neither moved nor unmapped before the request is reaped.
        let pushed = unsafe { self.inner.uring.submission().push(&entry) };
        assert!(pushed.is_ok(), "there are as many entries as slots, and a slot has one request");
        self.busy[slot as usize] = true;
        self.in_flight += 1;
    }

    /// Submits what is queued and waits until `want` requests are complete or `timeout` has passed.
    /// Returning early is normal (signal, full queue, memory pressure): look at what
    /// [`reap`](Self::reap) finds and call again.
    #[inline]
    pub fn submit_and_wait(&mut self, want: u32, timeout: Nanos) -> io::Result<()> {
        let time = types::Timespec::new().sec(timeout.0 / 1_000_000_000).nsec((timeout.0 % 1_000_000_000) as u32);
        let args = types::SubmitArgs::new().timespec(&time);
        match self.inner.uring.submitter().submit_with_args(want as usize, &args) {
            Ok(_) => Ok(()),
            Err(e) => match e.raw_os_error() {
                Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
                _ => Err(e),
            },
        }
    }

    /// Moves every completion that is in the queue now to the end of `done`; their slots are free again.
    #[inline]
    pub fn reap(&mut self, done: &mut Vec<Completion>) {
        for entry in self.inner.uring.completion() {
            let slot = entry.user_data() as u32;
            self.busy[slot as usize] = false;
            self.in_flight -= 1;
            done.push(Completion { slot, result: entry.result() });
        }
    }

    #[inline(always)]
    fn entry(&self, request: Request, memory: *mut u8, len: u32, offset: u64) -> squeue::Entry {
        let (fd, flags) = match self.fixed_file {
            true => (types::Fd(0), squeue::Flags::FIXED_FILE),
            false => (types::Fd(self.inner.file.as_fd().as_raw_fd()), squeue::Flags::empty()),
        };
        let entry = match (request, self.fixed_buffers) {
            (Request::Read, true) => opcode::ReadFixed::new(fd, memory, len, 0).offset(offset).build(),
            (Request::Read, false) => opcode::Read::new(fd, memory, len).offset(offset).build(),
            (Request::Write, true) => opcode::WriteFixed::new(fd, memory, len, 0).offset(offset).build(),
            (Request::Write, false) => opcode::Write::new(fd, memory, len).offset(offset).build(),
            (Request::Fsync, _) => opcode::Fsync::new(fd).build(),
            (Request::Fdatasync, _) => opcode::Fsync::new(fd).flags(types::FsyncFlags::DATASYNC).build(),
        };
        entry.flags(flags)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.in_flight == 0 {
            // A closed ring lets go of what is registered some time later; whoever unmounts or claims
            // the target next, or has little RLIMIT_MEMLOCK, would trip over it.
            let submitter = self.inner.uring.submitter();
            let _ = submitter.unregister_buffers();
            let _ = submitter.unregister_files();
            // SAFETY: dropped once, here; `inner` is not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.inner) }
        }
        // Otherwise ring, memory and file stay until the process ends: the kernel still uses them.
    }
}

/// SINGLE_ISSUER + DEFER_TASKRUN (Linux 6.1) complete requests inside our own system call instead of
/// interrupting us; older kernels refuse the flags with EINVAL.
fn build(entries: u32) -> io::Result<IoUring> {
    let best = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(entries);
    match best {
        Err(e) if e.raw_os_error() == Some(libc::EINVAL) => IoUring::builder().build(entries),
        other => other,
    }
}

/// Why the kernel refused io_uring.
fn explain(error: &io::Error) -> String {
    let setting = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
    match (error.raw_os_error(), setting.trim()) {
        (Some(libc::ENOSYS), _) => "this kernel has no io_uring".into(),
        (Some(libc::EPERM | libc::EACCES), "1") => {
            "io_uring is limited to privileged users (kernel.io_uring_disabled = 1)".into()
        }
        (Some(libc::EPERM | libc::EACCES), "2") => "io_uring is switched off (kernel.io_uring_disabled = 2)".into(),
        (Some(libc::EPERM | libc::EACCES), _) => {
            "io_uring is forbidden here, probably by the seccomp filter of a container".into()
        }
        (Some(libc::ENOMEM), _) => "no memory for an io_uring (RLIMIT_MEMLOCK or a full machine)".into(),
        _ => format!("io_uring cannot be set up: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const MIB: u64 = 1 << 20;

    /// A ring on a new nameless file; `None`, with a note, where io_uring is not to be had.
    fn ring(slots: u32, slot_len: usize) -> Option<Ring> {
        if let Err(reason) = Ring::probe() {
            assert!(std::env::var_os("CI").is_none(), "io_uring is needed here: {reason}");
            eprintln!("skipped: {reason}");
            return None;
        }
        let file = IoFile::create_scratch(Path::new("/var/tmp"), MIB, true).unwrap();
        Some(Ring::new(Arc::new(file), slots, slot_len).unwrap())
    }

    /// Waits for everything in flight.
    fn all(ring: &mut Ring) -> Vec<Completion> {
        let mut done = Vec::new();
        while ring.in_flight() > 0 {
            ring.submit_and_wait(1, Nanos::secs(10)).unwrap();
            ring.reap(&mut done);
        }
        done.sort_by_key(|c| c.slot);
        done
    }

    #[test]
    fn what_goes_out_through_the_ring_comes_back() {
        let Some(mut ring) = ring(3, 8192) else { return };
        for slot in 0..3 {
            ring.slot_mut(slot)[4096..].fill(slot as u8 + 1);
            ring.push(slot, Request::Write, 4096, 4096, u64::from(slot) * 4096);
        }
        assert!(all(&mut ring).iter().all(|c| c.result == 4096));
        ring.push(0, Request::Fdatasync, 0, 0, 0);
        ring.push(1, Request::Fsync, 0, 0, 0);
        assert!(all(&mut ring).iter().all(|c| c.result == 0));
        for slot in 0..3 {
            ring.push(slot, Request::Read, 0, 4096, (2 - u64::from(slot)) * 4096);
        }
        all(&mut ring);
        for slot in 0..3 {
            assert!(ring.slot_mut(slot)[..4096].iter().all(|&byte| byte == 3 - slot as u8));
        }
    }

    #[test]
    fn the_kernel_s_refusal_is_a_result_not_an_error_of_the_ring() {
        let Some(_) = ring(1, 4096) else { return };
        let named = tempfile::NamedTempFile::new().unwrap();
        let read_only = IoFile::open_read(named.path(), false).unwrap();
        let mut ring = Ring::new(Arc::new(read_only), 2, 4096).unwrap();
        ring.push(0, Request::Write, 0, 4096, 0);
        ring.push(1, Request::Read, 0, 4096, MIB);
        let results: Vec<_> = all(&mut ring).iter().map(|c| c.result).collect();
        assert_eq!(results, [-libc::EBADF, 0], "not open for writing, and beyond the end");
    }

    #[test]
    fn waiting_for_nothing_ends_with_the_timeout() {
        let Some(mut ring) = ring(1, 4096) else { return };
        ring.submit_and_wait(1, Nanos::millis(1)).unwrap();
        assert_eq!(all(&mut ring), []);
    }

    #[test]
    fn memory_in_flight_is_out_of_reach() {
        let Some(mut ring) = ring(1, 4096) else { return };
        ring.push(0, Request::Read, 0, 4096, 0);
        let mut touch = |act: &mut dyn FnMut(&mut Ring)| {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| act(&mut ring))).is_err()
        };
        assert!(touch(&mut |ring| ring.slot_mut(0).fill(0)));
        assert!(touch(&mut |ring| ring.push(0, Request::Read, 0, 4096, 0)));
        assert_eq!(all(&mut ring).len(), 1);
    }

    #[test]
    fn a_range_outside_the_slot_is_never_given_to_the_kernel() {
        let Some(mut ring) = ring(1, 4096) else { return };
        for (at, len) in [(0, 4097), (4096, 1), (usize::MAX, 2)] {
            let push = std::panic::AssertUnwindSafe(|| ring.push(0, Request::Read, at, len, 0));
            assert!(std::panic::catch_unwind(push).is_err(), "{at}+{len}");
        }
        assert_eq!(ring.in_flight(), 0);
    }

    #[test]
    fn a_ring_dropped_with_requests_in_flight_leaks_and_does_not_crash() {
        let Some(mut ring) = ring(4, 4096) else { return };
        (0..4).for_each(|slot| ring.push(slot, Request::Write, 0, 4096, u64::from(slot) * 4096));
        ring.submit_and_wait(0, Nanos(0)).unwrap();
        drop(ring);
    }

    #[test]
    fn a_ring_without_slots_or_with_too_many_is_refused() {
        let file = Arc::new(IoFile::create_scratch(Path::new("/var/tmp"), MIB, true).unwrap());
        assert!(Ring::new(file.clone(), 0, 4096).is_err());
        assert!(Ring::new(file, SLOTS_MAX + 1, 4096).is_err());
    }
}
