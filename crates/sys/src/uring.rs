//! A safe io_uring: one target, slots of memory, at most one request per slot in flight. Must not retry,
//! time or interpret anything: results go to the caller as the kernel gave them.
//! Why this is sound: see `queue`.

mod entry;
mod tick;

use crate::affinity;
use crate::buffer::Pages;
use crate::file::IoFile;
use crate::obstacle::Obstacle;
use crate::queue::{Completion, Queue, Request, Slots};
use io_uring::{IoUring, opcode, squeue, types};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Instant;
use stend_base::{Nanos, say};
use tick::Tick;

/// The kernel refuses a larger registered buffer (io_uring/rsrc.c, SZ_1G).
const REGISTERED_MAX: usize = 1 << 30;
/// Most files that a ring registers: each of a thousand rings keeps a note in the kernel for each of them.
const REGISTERED_FILES_MAX: usize = 256;
/// Bytes of the read that tries whether a device polls: a block of every device.
const PROBE_LEN: usize = 4096;

/// Milliseconds without work after which the kernel's thread sleeps until it is woken; by eye: longer than any pause of a
/// load that is there at all.
const SUBMITTER_IDLE_MS: u32 = 1_000;

/// What is asked again and again instead of being told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polling {
    /// Nothing: submitting is a call, completions come by interrupts.
    Off,
    /// A thread of the kernel looks for what is submitted.
    Submissions,
    /// The caller asks the device whether I/Os are complete.
    Completions,
}

/// A ring for one target, used by the thread that made it.
pub struct Ring {
    inner: ManuallyDrop<Inner>,
    polling: Polling,
    fixed_file: bool,
    fixed_buffers: bool,
    tick: Tick,
}

/// Fields drop in this order: the kernel lets go of the memory when the ring closes.
struct Inner {
    uring: IoUring,
    slots: Slots,
    file: Arc<IoFile>,
}

impl Ring {
    /// Whether io_uring can be used here: a no-op goes through a ring and comes back. With [`Polling::Completions`] the
    /// target decides: see [`Ring::polls`].
    pub fn probe(polling: Polling) -> Result<(), Obstacle> {
        let polling = if polling == Polling::Completions { Polling::Off } else { polling };
        let mut uring = build(2, polling).map_err(|e| explain(&e))?;
        if !uring.params().is_feature_ext_arg() {
            return Err(Obstacle::incurable(say!(
                "io_uring of this kernel cannot wait with a timeout (needs Linux 5.11)",
                "io_uring этого ядра не умеет ждать с ограничением по времени (нужен Linux 5.11)"
            )));
        }
        // SAFETY: a no-op refers to no memory.
        let pushed = unsafe { uring.submission().push(&opcode::Nop::new().build()) };
        if pushed.is_err() {
            return Err(Obstacle::incurable(say!(
                "the submission queue of a new io_uring is full",
                "очередь подачи нового io_uring уже полна"
            )));
        }
        let timeout = types::Timespec::new().sec(1);
        let entered = uring.submitter().submit_with_args(1, &types::SubmitArgs::new().timespec(&timeout));
        entered.map_err(|e| explain(&e))?;
        match uring.completion().next() {
            Some(done) if done.result() >= 0 => Ok(()),
            Some(done) => Err(explain(&io::Error::from_raw_os_error(-done.result()))),
            None => Err(Obstacle::incurable(say!(
                "a no-op sent through io_uring did not come back within 1 s",
                "пустая операция через io_uring не вернулась за 1 с"
            ))),
        }
    }

    /// Whether a device can be asked for completions: a read of its first block goes through a ring that polls, and the
    /// queue of the device polls. Older kernels take the read in any case and let it be interrupted.
    pub fn polls(file: &IoFile) -> Result<(), Obstacle> {
        let no_queues = || {
            Obstacle::incurable(say!(
                "the device has no queues for polling (queue/io_poll is 0; NVMe: boot with nvme.poll_queues=4)",
                "у устройства нет очередей для опроса (queue/io_poll равно 0; NVMe: загрузка с nvme.poll_queues=4)"
            ))
        };
        let target = Arc::new(file.try_clone().map_err(|e| explain(&e))?);
        let memory = Slots::new(1, PROBE_LEN, Pages::Ordinary).map_err(|e| explain(&e))?;
        let mut ring = Ring::new(target, memory, Polling::Completions).map_err(|e| explain(&e))?;
        ring.push(0, Request::Read, 0, PROBE_LEN, 0);
        let mut done = Vec::new();
        ring.submit_and_wait(1, Nanos::SECOND).map_err(|e| explain(&e))?;
        ring.reap(&mut done);
        match done.first() {
            Some(done) if done.result >= 0 && crate::interrupts::is_polled(file) => Ok(()),
            Some(done) if done.result >= 0 || done.result == -libc::EOPNOTSUPP => Err(no_queues()),
            Some(done) => {
                let error = io::Error::from_raw_os_error(-done.result);
                Err(Obstacle::incurable(say!(
                    "reading the first block of the target failed: {error}",
                    "не прочитан первый блок объекта: {error}"
                )))
            }
            None => Err(Obstacle::incurable(say!(
                "a read through a polling io_uring did not come back within 1 s",
                "чтение через опрашивающий io_uring не вернулось за 1 с"
            ))),
        }
    }

    /// A ring with such slots for `file`. Registers the file
    /// and the memory if the kernel and RLIMIT_MEMLOCK allow, else works without.
    pub fn new(file: Arc<IoFile>, memory: Slots, polling: Polling) -> io::Result<Ring> {
        let slots = memory.count();
        // The kernel's thread frees the entries of a batch when it has begun all of it; by then the first of them may be
        // complete and their slots in use again.
        let entries = if polling == Polling::Submissions { slots.saturating_mul(2) } else { slots };
        let build = || build(entries.next_power_of_two(), polling);
        // The kernel's thread inherits the CPUs of its maker. On a shared CPU each would wait for the other.
        let mut uring = if polling == Polling::Submissions { affinity::elsewhere(build)? } else { build()? };
        if !uring.params().is_feature_ext_arg() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let descriptors: Vec<_> = file.descriptors().collect();
        let few = descriptors.len() <= REGISTERED_FILES_MAX;
        let fixed_file = few && uring.submitter().register_files(&descriptors).is_ok();
        let fixed_buffers = memory.all().iov_len <= REGISTERED_MAX && {
            // SAFETY: the memory lives as long as the ring: both are in `Inner`, the ring is closed first.
            unsafe { uring.submitter().register_buffers(&[memory.all()]) }.is_ok()
        };
        let tick = if polling == Polling::Off { Tick::of(&mut uring) } else { Tick::default() };
        let inner = ManuallyDrop::new(Inner { uring, slots: memory, file });
        Ok(Ring { inner, polling, fixed_file, fixed_buffers, tick })
    }

    /// Asks the device until `want` requests are complete or the time is over. A ring that polls does not heed a timeout,
    /// so each call asks once.
    fn poll(&mut self, want: u32, timeout: Nanos) -> io::Result<()> {
        let began = Instant::now();
        loop {
            entered(self.inner.uring.submitter().submit_with_args(0, &types::SubmitArgs::new()))?;
            let found = self.inner.uring.completion().len();
            if found >= want as usize || began.elapsed() >= timeout.duration() {
                return Ok(());
            }
        }
    }

    /// Queues an entry for a slot that is claimed, with an address that the claim gave.
    #[inline(always)]
    fn put(&mut self, entry: &squeue::Entry) {
        // SAFETY: the range is inside the slot and the slot's memory is not reachable by anyone while it is
        // claimed; it is neither moved nor unmapped before the request is reaped.
        let pushed = unsafe { self.inner.uring.submission().push(entry) };
        assert!(pushed.is_ok(), "there are entries for all slots, and a slot has one request");
    }
}

impl Queue for Ring {
    fn registered(&self) -> bool {
        self.fixed_file && self.fixed_buffers
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
        let (index, offset) = self.inner.file.place(offset);
        let (fd, flags) = match self.fixed_file {
            true => (types::Fd(index as RawFd), squeue::Flags::FIXED_FILE),
            false => (types::Fd(self.inner.file.descriptor(index)), squeue::Flags::empty()),
        };
        let finish = |entry: squeue::Entry| entry.flags(flags).user_data(u64::from(slot));
        match (request, self.fixed_buffers) {
            (Request::Read, true) => {
                self.put(&finish(entry::transfer(opcode::ReadFixed::CODE, fd, memory, len as u32, offset)));
            }
            (Request::Write, true) => {
                self.put(&finish(entry::transfer(opcode::WriteFixed::CODE, fd, memory, len as u32, offset)));
            }
            _ => self.put(&finish(entry::request(request, self.fixed_buffers, fd, memory, len as u32, offset))),
        }
    }

    #[inline]
    fn submit(&mut self) -> io::Result<()> {
        entered(self.inner.uring.submitter().submit())
    }

    #[inline]
    fn is_ready(&mut self) -> bool {
        !self.inner.uring.completion().is_empty() || self.inner.uring.submission().taskrun()
    }

    #[inline]
    fn submit_and_wait(&mut self, want: u32, timeout: Nanos) -> io::Result<()> {
        if self.polling == Polling::Completions {
            return self.poll(want, timeout);
        }
        if self.tick.serves(timeout) {
            return entered(self.inner.uring.submitter().submit_and_wait(want as usize));
        }
        let time = types::Timespec::new().sec(timeout.0 / 1_000_000_000).nsec((timeout.0 % 1_000_000_000) as u32);
        let args = types::SubmitArgs::new().timespec(&time);
        entered(self.inner.uring.submitter().submit_with_args(want as usize, &args))
    }

    #[inline]
    fn reap(&mut self, done: &mut Vec<Completion>) {
        let Inner { uring, slots, .. } = &mut *self.inner;
        for entry in uring.completion() {
            if self.tick.is(&entry) {
                continue;
            }
            let slot = entry.user_data() as u32;
            slots.release(slot);
            done.push(Completion { slot, result: entry.result() });
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.inner.slots.in_flight() == 0 {
            // A closed ring lets go of what is registered some time later; the next unmount or claim of the target, or
            // a small RLIMIT_MEMLOCK, would trip over it.
            let submitter = self.inner.uring.submitter();
            let _ = submitter.unregister_buffers();
            let _ = submitter.unregister_files();
            // SAFETY: dropped once, here; `inner` is not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.inner) }
        }
        // Otherwise ring, memory and file stay until the process ends: the kernel still uses them.
    }
}

/// What a call that submits or waits gave; being woken early is no error.
#[inline(always)]
pub(crate) fn entered(result: io::Result<usize>) -> io::Result<()> {
    match result {
        Ok(_) => Ok(()),
        Err(e) => match e.raw_os_error() {
            Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
            _ => Err(e),
        },
    }
}

/// SINGLE_ISSUER + DEFER_TASKRUN (Linux 6.1) complete requests inside our own system call instead of
/// interrupting us, which a kernel thread that submits excludes; NO_SQARRAY (6.6) saves a read per request. Older kernels
/// refuse flags with EINVAL.
fn build(entries: u32, polling: Polling) -> io::Result<IoUring> {
    let attempt = |single: bool, no_array: bool| {
        let mut builder = IoUring::builder();
        match polling {
            Polling::Off => {}
            Polling::Submissions => drop(builder.setup_sqpoll(SUBMITTER_IDLE_MS)),
            Polling::Completions => drop(builder.setup_iopoll()),
        }
        if single {
            builder.setup_single_issuer();
            if polling != Polling::Submissions {
                // The flag tells of requests that the next call will complete.
                builder.setup_defer_taskrun().setup_taskrun_flag();
            }
        }
        if no_array {
            builder.setup_no_sqarray();
        }
        builder.build(entries)
    };
    let refused =
        |built: &io::Result<IoUring>| built.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EINVAL));
    let best = attempt(true, true);
    if !refused(&best) {
        return best;
    }
    let good = attempt(true, false);
    if refused(&good) { attempt(false, false) } else { good }
}

/// Why the kernel refused io_uring.
fn explain(error: &io::Error) -> Obstacle {
    Obstacle::to_ring(error, &std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const MIB: u64 = 1 << 20;

    /// A ring on a new nameless file; `None`, with a note, where io_uring is not available.
    fn ring(slots: u32, slot_len: usize) -> Option<Ring> {
        if let Err(reason) = Ring::probe(Polling::Off) {
            assert!(std::env::var_os("CI").is_none(), "io_uring is needed here: {reason}");
            eprintln!("skipped: {reason}");
            return None;
        }
        let file = IoFile::create_scratch(Path::new("/var/tmp"), MIB, true).unwrap();
        Some(Ring::new(Arc::new(file), Slots::new(slots, slot_len, Pages::Ordinary).unwrap(), Polling::Off).unwrap())
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
    fn a_kernel_thread_takes_what_is_submitted_wherever_the_caller_is_pinned() {
        let Some(_) = ring(1, 4096) else { return };
        let file = Arc::new(IoFile::create_scratch(Path::new("/var/tmp"), MIB, true).unwrap());
        Ring::probe(Polling::Submissions).unwrap();
        let pinned = std::thread::spawn(move || {
            let cpu = crate::affinity::allowed().unwrap()[0];
            crate::affinity::pin_current(cpu).unwrap();
            let mut ring =
                Ring::new(file, Slots::new(3, 4096, Pages::Ordinary).unwrap(), Polling::Submissions).unwrap();
            // A slot is in use again as soon as its request is complete, whatever the thread has told of the others.
            let (mut free, mut done, mut left) = (vec![0, 1, 2], Vec::new(), 5_000u64);
            while left > 0 || ring.in_flight() > 0 {
                while let Some(slot) = free.pop().filter(|_| left > 0) {
                    ring.push(slot, Request::Write, 0, 4096, left % 256 * 4096);
                    left -= 1;
                }
                ring.submit_and_wait(1, Nanos::SECOND).unwrap();
                ring.reap(&mut done);
                assert!(done.iter().all(|c| c.result == 4096), "{done:?}");
                free.extend(done.drain(..).map(|c| c.slot));
            }
            assert_eq!(crate::affinity::allowed().unwrap(), [cpu]);
            let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
            let submitters = tasks.filter(|task| {
                std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.starts_with("iou-sqp"))
            });
            (cpu, submitters.map(|task| std::fs::read_to_string(task.join("status")).unwrap()).collect::<Vec<_>>())
        });
        let (cpu, submitters) = pinned.join().unwrap();
        assert!(!submitters.is_empty(), "no kernel thread was there");
        let alone = crate::affinity::allowed().unwrap().len() == 1;
        let own = format!("Cpus_allowed_list:\t{cpu}");
        let shares = |status: &String| status.lines().any(|line| line == own);
        assert!(alone || !submitters.iter().any(shares), "{submitters:?}");
    }

    #[test]
    fn a_device_that_does_not_poll_is_told_before_anything_is_measured() {
        let Some(_) = ring(1, 4096) else { return };
        let in_memory = IoFile::create_scratch(Path::new("/dev/shm"), MIB, false).unwrap();
        let refused = Ring::polls(&in_memory).unwrap_err();
        assert!(refused.cause.en.contains("no queues for polling"), "{refused}");
        let mut ring =
            Ring::new(Arc::new(in_memory), Slots::new(1, 4096, Pages::Ordinary).unwrap(), Polling::Completions)
                .unwrap();
        ring.push(0, Request::Read, 0, 4096, 0);
        assert_eq!(all(&mut ring).first().map(|c| c.result), Some(-libc::EOPNOTSUPP), "the kernel says so, too");
        ring.submit_and_wait(1, Nanos::millis(1)).unwrap();
    }

    #[test]
    fn several_files_are_one_space() {
        let Some(_) = ring(1, 4096) else { return };
        let files = [(); 3].map(|()| IoFile::create_scratch(Path::new("/var/tmp"), 4096, true).unwrap());
        let all = Arc::new(IoFile::joined(files.into(), &[4096; 3]).unwrap());
        let mut ring = Ring::new(all.clone(), Slots::new(3, 4096, Pages::Ordinary).unwrap(), Polling::Off).unwrap();
        for slot in 0..3 {
            ring.slot_mut(slot).fill(slot as u8 + 1);
            ring.push(slot, Request::Write, 0, 4096, u64::from(slot) * 4096);
        }
        assert!(self::all(&mut ring).iter().all(|c| c.result == 4096));
        (0..3).for_each(|slot| ring.push(slot, Request::Read, 0, 4096, (2 - u64::from(slot)) * 4096));
        self::all(&mut ring);
        assert!((0..3).all(|slot| ring.slot_mut(slot).iter().all(|&byte| byte == 3 - slot as u8)));
    }

    #[test]
    fn a_sync_is_of_the_file_that_its_offset_lies_in() {
        let Some(_) = ring(1, 4096) else { return };
        // A device that keeps nothing cannot be synced, which tells it from a file.
        let named = tempfile::NamedTempFile::new().unwrap();
        let open = |path: &Path| IoFile::open_read(path, false).unwrap();
        let both = [open(named.path()), open(Path::new("/dev/null"))];
        let both = Arc::new(IoFile::joined(both.into(), &[4096; 2]).unwrap());
        let mut ring = Ring::new(both.clone(), Slots::new(4, 4096, Pages::Ordinary).unwrap(), Polling::Off).unwrap();
        for (slot, request) in [(0, Request::Fsync), (2, Request::Fdatasync)] {
            ring.push(slot, request, 0, 0, 0);
            ring.push(slot + 1, request, 0, 0, 4096);
        }
        let results: Vec<i32> = all(&mut ring).iter().map(|c| c.result).collect();
        assert_eq!(results, [0, -libc::EINVAL, 0, -libc::EINVAL]);
        assert!(both.sync_data_at(0).is_ok() && both.sync_all_at(4095).is_ok());
        assert!(both.sync_data_at(4096).is_err() && both.sync_all_at(8191).is_err() && both.sync_data().is_err());
    }

    #[test]
    fn the_kernel_s_refusal_is_a_result_not_an_error_of_the_ring() {
        let Some(_) = ring(1, 4096) else { return };
        let named = tempfile::NamedTempFile::new().unwrap();
        let read_only = IoFile::open_read(named.path(), false).unwrap();
        let mut ring =
            Ring::new(Arc::new(read_only), Slots::new(2, 4096, Pages::Ordinary).unwrap(), Polling::Off).unwrap();
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
    fn a_ring_dropped_with_requests_in_flight_leaks_and_does_not_crash() {
        let Some(mut ring) = ring(4, 4096) else { return };
        (0..4).for_each(|slot| ring.push(slot, Request::Write, 0, 4096, u64::from(slot) * 4096));
        ring.submit_and_wait(0, Nanos(0)).unwrap();
        drop(ring);
    }
}
