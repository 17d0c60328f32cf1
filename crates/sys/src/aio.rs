//! A safe Linux AIO context (`io_submit`), by its system calls: one target, slots of memory, at most one
//! request per slot in flight. Must not retry, time or interpret anything.
//!
//! Why this is sound: see `queue`. Requests are asynchronous for direct I/O only, and even then a target
//! that blocks in `io_submit` (frozen file system, full device queue) blocks the calling thread.
//! Layout and numbers: include/uapi/linux/aio_abi.h.

use crate::file::IoFile;
use crate::obstacle::Obstacle;
use crate::queue::{Completion, Queue, Request, Slots};
use libc::{c_int, c_long, c_ulong};
use rustix::fs::{MemfdFlags, memfd_create};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use stend_base::Nanos;

const IOCB_CMD_PREAD: u16 = 0;
const IOCB_CMD_PWRITE: u16 = 1;
const IOCB_CMD_FSYNC: u16 = 2;
const IOCB_CMD_FDSYNC: u16 = 3;

/// While the kernel has no room for a request, completions are looked for this often, by eye: long against
/// the cost of looking, short against any wait for memory.
const SHORTAGE: Nanos = Nanos::millis(1);

/// How `fsync` and `fdatasync` are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syncs {
    /// As requests among others, each run by a kernel worker thread; Linux 4.18 or later.
    Queued,
    /// By plain calls, for which everything else waits.
    Plain,
}

/// `struct io_event`.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
struct Event {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

/// Begin of what the kernel maps for a context, at the address that is its id.
//= linux, fs/aio.c, struct aio_ring
#[repr(C)]
struct Mapped {
    id: u32,
    capacity: u32,
    head: u32,
    tail: u32,
    magic: u32,
}

/// What tells that a kernel maps it so.
//= linux, fs/aio.c, AIO_RING_MAGIC
const MAGIC: u32 = 0xa10a_10a1;

/// The kernel's side; no request is in flight when it is dropped.
struct ContextId(c_ulong);

/// A context for one file.
pub struct Context {
    inner: ManuallyDrop<Inner>,
    syncs: Syncs,
    /// By slot. The kernel copies a request when it is submitted.
    requests: Box<[libc::iocb]>,
    queued: Vec<u32>,
    addresses: Vec<*mut libc::iocb>,
    /// Syncs to be made by plain calls: slot, kind, and where the file is that is meant.
    plain: Vec<(u32, Request, u64)>,
    events: Box<[Event]>,
    arrived: usize,
    /// Results that come without an event: refused requests and plain syncs.
    answered: Vec<Completion>,
}

/// Fields drop in this order: the kernel lets go of the memory when the context is destroyed.
struct Inner {
    id: ContextId,
    slots: Slots,
    file: Arc<IoFile>,
}

/// Whether AIO can be used here with `in_flight` requests at a time, over all contexts to come, and how
/// syncs are made. Only asks: everything is given back.
pub fn probe(in_flight: u64) -> Result<Syncs, Obstacle> {
    let id = ContextId::new(in_flight).map_err(|e| explain(&e))?;
    Ok(if offers_syncs(&id) { Syncs::Queued } else { Syncs::Plain })
}

/// Why the kernel refused a context.
pub fn explain(error: &io::Error) -> Obstacle {
    Obstacle::to_aio(error, &std::fs::read_to_string("/proc/sys/fs/aio-max-nr").unwrap_or_default())
}

/// Syncs a file that lives in memory: kernels without queued syncs refuse with EINVAL.
fn offers_syncs(id: &ContextId) -> bool {
    let Ok(file) = memfd_create("sync", MemfdFlags::CLOEXEC) else { return false };
    let mut request = request(0, file.as_raw_fd(), IOCB_CMD_FDSYNC);
    let mut event = [Event::default()];
    id.submit(&mut [&raw mut request]).is_ok()
        && matches!(id.events(1, Nanos::SECOND, &mut event), Ok(1) if event[0].result == 0)
}

/// A request that moves nothing.
fn request(slot: u32, fd: c_int, command: u16) -> libc::iocb {
    // SAFETY: `iocb` is integers only, for which zero is a value.
    let mut request: libc::iocb = unsafe { std::mem::zeroed() };
    request.aio_data = u64::from(slot);
    request.aio_fildes = fd as u32;
    request.aio_lio_opcode = command;
    request
}

impl ContextId {
    fn new(requests: u64) -> io::Result<ContextId> {
        let mut id: c_ulong = 0;
        let requests = c_long::try_from(requests.min(u64::from(u32::MAX))).unwrap_or(c_long::MAX);
        // SAFETY: io_setup(2) writes the id and nothing else.
        match unsafe { libc::syscall(libc::SYS_io_setup, requests, &raw mut id) } {
            0 => Ok(ContextId(id)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// One `io_submit`; returns how many of the requests the kernel took. An error is about the first.
    ///
    /// The addresses must be those of requests whose memory stays valid until their events are seen.
    fn submit(&self, requests: &mut [*mut libc::iocb]) -> io::Result<usize> {
        let (count, all) = (requests.len() as c_long, requests.as_mut_ptr());
        // SAFETY: `all` points to `count` addresses of requests that live until the call returns, by when
        // the kernel has copied them; what they point to is kept by the callers (a claimed slot, or none).
        match unsafe { libc::syscall(libc::SYS_io_submit, self.0, count, all) } {
            taken @ 0.. => Ok(taken as usize),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Whether events have come that were not fetched, without a call.
    #[inline(always)]
    fn has_events(&self) -> bool {
        let mapped = self.0 as *const Mapped;
        // SAFETY: the id of a context is the address of a page that is mapped from `io_setup` to `io_destroy`, and is read only; the
        // kernel changes `tail` meanwhile, so it is read as what may change.
        unsafe {
            (&raw const (*mapped).magic).read_volatile() == MAGIC
                && (&raw const (*mapped).head).read_volatile() != (&raw const (*mapped).tail).read_volatile()
        }
    }

    /// One `io_getevents`; returns how many events it found. A signal is none.
    fn events(&self, want: u32, timeout: Nanos, events: &mut [Event]) -> io::Result<usize> {
        let (seconds, nanos) = (timeout.0 / 1_000_000_000, timeout.0 % 1_000_000_000);
        let mut time = libc::timespec { tv_sec: seconds as libc::time_t, tv_nsec: nanos as c_long };
        let (want, room) = (c_long::from(want).min(events.len() as c_long), events.len() as c_long);
        // SAFETY: `events` has room for as many events as the call asks for, `time` outlives it.
        let found =
            unsafe { libc::syscall(libc::SYS_io_getevents, self.0, want, room, events.as_mut_ptr(), &raw mut time) };
        match found {
            0.. => Ok(found as usize),
            _ => match io::Error::last_os_error() {
                e if e.kind() == io::ErrorKind::Interrupted => Ok(0),
                e => Err(e),
            },
        }
    }
}

impl Drop for ContextId {
    fn drop(&mut self) {
        // SAFETY: destroyed once, here; waits for requests in flight, of which there are none.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.0) };
    }
}

impl Context {
    /// A context with such slots for `file`. Besides the slots it takes 200 bytes per slot. An error of kind `WouldBlock` means that
    /// the machine's limit of requests is reached: see [`explain`].
    pub fn new(file: Arc<IoFile>, memory: Slots, syncs: Syncs) -> io::Result<Context> {
        let (slots, count) = (memory.count(), memory.count() as usize);
        let id = ContextId::new(u64::from(slots))?;
        Ok(Context {
            inner: ManuallyDrop::new(Inner { id, slots: memory, file }),
            syncs,
            requests: (0..slots).map(|slot| request(slot, -1, IOCB_CMD_PREAD)).collect(),
            queued: Vec::with_capacity(count),
            addresses: Vec::with_capacity(count),
            plain: Vec::with_capacity(count),
            events: vec![Event::default(); count].into_boxed_slice(),
            arrived: 0,
            answered: Vec::with_capacity(count),
        })
    }

    /// Gives the kernel what it takes of what is queued.
    fn give(&mut self) {
        self.addresses.clear();
        for &slot in &self.queued {
            self.addresses.push(&raw mut self.requests[slot as usize]);
        }
        let mut first = 0;
        while first < self.queued.len() {
            let refused = match self.inner.id.submit(&mut self.addresses[first..]) {
                Ok(0) => break,
                Ok(taken) => {
                    first += taken;
                    continue;
                }
                Err(e) => e.raw_os_error().unwrap_or(libc::EIO),
            };
            if refused == libc::EAGAIN || refused == libc::EINTR {
                break;
            }
            self.answered.push(Completion { slot: self.queued[first], result: -refused });
            first += 1;
        }
        self.queued.drain(..first);
    }

    fn sync_plainly(&mut self) {
        for (slot, request, offset) in self.plain.drain(..) {
            let file = &self.inner.file;
            let result = if request == Request::Fsync { file.sync_all_at(offset) } else { file.sync_data_at(offset) };
            let result = result.map_or_else(|e| -e.raw_os_error().unwrap_or(libc::EIO), |()| 0);
            self.answered.push(Completion { slot, result });
        }
    }
}

impl Queue for Context {
    fn registered(&self) -> bool {
        false
    }

    #[inline(always)]
    fn in_flight(&self) -> u32 {
        self.inner.slots.in_flight()
    }

    #[inline]
    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        self.inner.slots.slot_mut(slot)
    }

    #[inline]
    fn push(&mut self, slot: u32, request: Request, at: usize, len: usize, offset: u64) {
        let memory = self.inner.slots.claim(slot, at, if request.moves_data() { len } else { 0 });
        let (command, transfer) = match request {
            Request::Read => (IOCB_CMD_PREAD, true),
            Request::Write | Request::WriteDsync => (IOCB_CMD_PWRITE, true),
            // There are no such requests.
            Request::PunchHole | Request::ZeroRange => {
                return self.answered.push(Completion { slot, result: -libc::EOPNOTSUPP });
            }
            _ if self.syncs == Syncs::Plain => return self.plain.push((slot, request, offset)),
            Request::Fsync => (IOCB_CMD_FSYNC, false),
            Request::Fdatasync => (IOCB_CMD_FDSYNC, false),
        };
        let entry = &mut self.requests[slot as usize];
        let (index, offset) = self.inner.file.place(offset);
        *entry = self::request(slot, self.inner.file.descriptor(index), command);
        if transfer {
            if request == Request::WriteDsync {
                entry.aio_rw_flags = libc::RWF_DSYNC;
            }
            (entry.aio_buf, entry.aio_nbytes, entry.aio_offset) = (memory as u64, len as u64, offset as i64);
        }
        self.queued.push(slot);
    }

    #[inline]
    fn submit(&mut self) -> io::Result<()> {
        self.give();
        if self.inner.id.has_events() {
            self.arrived += self.inner.id.events(0, Nanos(0), &mut self.events[self.arrived..])?;
        }
        Ok(())
    }

    #[inline]
    fn is_ready(&mut self) -> bool {
        self.arrived > 0 || !self.answered.is_empty() || self.inner.id.has_events()
    }

    #[inline]
    fn submit_and_wait(&mut self, want: u32, timeout: Nanos) -> io::Result<()> {
        if !self.queued.is_empty() {
            self.give();
        }
        if !self.plain.is_empty() {
            self.sync_plainly();
        }
        let known = self.arrived + self.answered.len();
        let timeout = if self.queued.is_empty() { timeout } else { timeout.min(SHORTAGE) };
        let want = want.saturating_sub(known as u32);
        self.arrived += self.inner.id.events(want, timeout, &mut self.events[self.arrived..])?;
        Ok(())
    }

    #[inline]
    fn reap(&mut self, done: &mut Vec<Completion>) {
        let came = self.events[..self.arrived].iter();
        let came = came.map(|event| Completion { slot: event.data as u32, result: event.result as i32 });
        for completion in came.chain(self.answered.drain(..)) {
            self.inner.slots.release(completion.slot);
            done.push(completion);
        }
        self.arrived = 0;
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.inner.slots.in_flight() == 0 {
            // SAFETY: dropped once, here; `inner` is not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.inner) }
        }
        // Otherwise context, memory and file stay until the process ends: the kernel still uses them.
    }
}

#[cfg(test)]
mod tests;
