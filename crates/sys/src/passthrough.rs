//! A ring that hands NVMe commands to a namespace as they are, past the block layer: reads and writes, and nothing else.
//! Must not retry, time or interpret anything but the answer of the device. Why this is sound: see `queue`.

use crate::buffer::Pages;
use crate::file::IoFile;
use crate::nvme::{self, Namespace};
use crate::obstacle::Obstacle;
use crate::queue::{Completion, Queue, Request, Slots};
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use stend_base::{Nanos, say};

/// Bytes of the read that tries whether commands get through: a block of every format.
const PROBE_LEN: usize = 4096;

/// A ring for one namespace, used by the thread that made it.
pub struct Passthrough {
    inner: ManuallyDrop<Inner>,
    fixed_file: bool,
    /// Bytes of the command that each slot has in flight: the device answers with success and not with a length.
    lengths: Box<[u32]>,
}

/// Fields drop in this order: the kernel lets go of the memory when the ring closes.
struct Inner {
    uring: IoUring<squeue::Entry128, cqueue::Entry32>,
    slots: Slots,
    namespace: Namespace,
    /// Kept for what its claim holds.
    file: Arc<IoFile>,
}

impl Passthrough {
    /// Whether the namespace that `file` is takes commands: it is one, this kernel has the interface, and a read of its
    /// first blocks comes back. Returns the most bytes that one command moves.
    pub fn probe(file: &IoFile) -> Result<u64, Obstacle> {
        let namespace = Namespace::behind(file)?;
        let len_max = namespace.len_max;
        let failed = |e: &io::Error| {
            Obstacle::incurable(say!(
                "the kernel does not take NVMe commands through io_uring (needs Linux 5.19): {e}",
                "ядро не принимает команды NVMe через io_uring (нужен Linux 5.19): {e}"
            ))
        };
        let target = Arc::new(file.try_clone().map_err(|e| failed(&e))?);
        let memory = Slots::new(1, PROBE_LEN, Pages::Ordinary).map_err(|e| failed(&e))?;
        let mut ring = Passthrough::of(target, namespace, memory).map_err(|e| failed(&e))?;
        ring.push(0, Request::Read, 0, PROBE_LEN, 0);
        ring.submit_and_wait(1, Nanos::SECOND).map_err(|e| failed(&e))?;
        let mut done = Vec::new();
        ring.reap(&mut done);
        match done.first() {
            Some(done) if done.result >= 0 => Ok(len_max),
            Some(done) => Err(failed(&io::Error::from_raw_os_error(-done.result))),
            None => Err(Obstacle::incurable(say!(
                "a read sent as an NVMe command did not come back within 1 s",
                "чтение, посланное командой NVMe, не вернулось за 1 с"
            ))),
        }
    }

    /// A ring with such slots for the namespace that `file` is.
    pub fn new(file: Arc<IoFile>, memory: Slots) -> io::Result<Passthrough> {
        let namespace = Namespace::behind(&file).map_err(|obstacle| io::Error::other(obstacle.to_string()))?;
        Passthrough::of(file, namespace, memory)
    }

    fn of(file: Arc<IoFile>, namespace: Namespace, memory: Slots) -> io::Result<Passthrough> {
        let slots = memory.count();
        // Without entries of double size there is no room for a command, and the kernel refuses it.
        let uring = IoUring::builder().build(slots.next_power_of_two())?;
        if !uring.params().is_feature_ext_arg() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let fixed_file = uring.submitter().register_files(&[namespace.node.as_raw_fd()]).is_ok();
        let lengths = vec![0; slots as usize].into_boxed_slice();
        let inner = ManuallyDrop::new(Inner { uring, slots: memory, namespace, file });
        Ok(Passthrough { inner, fixed_file, lengths })
    }
}

impl Queue for Passthrough {
    /// The memory never is: this kernel interface has registered buffers only from 6.1 on, and then for whole ranges.
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
        assert!(matches!(request, Request::Read | Request::Write), "{request:?} is no command of ours");
        let write = request == Request::Write;
        let (_, offset) = self.inner.file.place(offset);
        // The kernel lets root write through a descriptor that was opened for reading.
        assert!(!write || self.inner.file.is_writable(), "only what is claimed is written");
        let namespace = &self.inner.namespace;
        let block = 1 << namespace.shift;
        assert!(
            len > 0
                && len as u64 <= namespace.len_max
                && (len as u64).is_multiple_of(block)
                && offset.is_multiple_of(block),
            "{len} bytes at {offset} are no blocks of {block} that one command moves"
        );
        let memory = self.inner.slots.claim(slot, at, len);
        let command = self.inner.namespace.command(write, memory as u64, len as u32, offset);
        let entry = match self.fixed_file {
            true => opcode::UringCmd80::new(types::Fixed(0), nvme::URING_CMD_IO).cmd(command).build(),
            false => {
                let node = types::Fd(self.inner.namespace.node.as_raw_fd());
                opcode::UringCmd80::new(node, nvme::URING_CMD_IO).cmd(command).build()
            }
        };
        self.lengths[slot as usize] = len as u32;
        // SAFETY: the range is inside the slot and the slot's memory is not reachable by anyone while it is claimed; it is
        // neither moved nor unmapped before the command is reaped. The command names no other memory.
        let pushed = unsafe { self.inner.uring.submission().push(&entry.user_data(u64::from(slot))) };
        assert!(pushed.is_ok(), "there are entries for all slots, and a slot has one request");
    }

    #[inline]
    fn submit(&mut self) -> io::Result<()> {
        crate::uring::entered(self.inner.uring.submitter().submit())
    }

    #[inline]
    fn is_ready(&mut self) -> bool {
        !self.inner.uring.completion().is_empty()
    }

    #[inline]
    fn submit_and_wait(&mut self, want: u32, timeout: Nanos) -> io::Result<()> {
        let time = types::Timespec::new().sec(timeout.0 / 1_000_000_000).nsec((timeout.0 % 1_000_000_000) as u32);
        let args = types::SubmitArgs::new().timespec(&time);
        crate::uring::entered(self.inner.uring.submitter().submit_with_args(want as usize, &args))
    }

    #[inline]
    fn reap(&mut self, done: &mut Vec<Completion>) {
        let Inner { uring, slots, .. } = &mut *self.inner;
        for entry in uring.completion() {
            let slot = entry.user_data() as u32;
            slots.release(slot);
            done.push(Completion { slot, result: moved(entry.result(), self.lengths[slot as usize]) });
        }
    }
}

/// What a command moved: all of it, or nothing and why.
//= linux, drivers/nvme/host/ioctl.c: the result is 0, minus an error number, or the status of the device, which is positive
#[inline]
fn moved(result: i32, len: u32) -> i32 {
    match result {
        0 => len as i32,
        error if error < 0 => error,
        _ => -libc::EIO,
    }
}

impl Drop for Passthrough {
    fn drop(&mut self) {
        if self.inner.slots.in_flight() == 0 {
            // A closed ring lets go of the file some time later; the next claim of the target would trip over it.
            let _ = self.inner.uring.submitter().unregister_files();
            // SAFETY: dropped once, here; `inner` is not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.inner) }
        }
        // Otherwise ring, memory and file stay until the process ends: the kernel still uses them.
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_answer_of_a_device_becomes_bytes_or_an_error() {
        assert_eq!((moved(0, 4096), moved(-libc::ENODEV, 4096)), (4096, -libc::ENODEV));
        // LBA out of range (80h) and write fault (280h) alike.
        assert_eq!((moved(0x80, 4096), moved(0x280, 4096)), (-libc::EIO, -libc::EIO));
    }

    #[test]
    fn what_is_no_namespace_gets_no_ring() {
        let file = IoFile::create_scratch(Path::new("/var/tmp"), 1 << 20, true).unwrap();
        assert!(Passthrough::probe(&file).unwrap_err().cause.ru.contains("не пространство имён NVMe"));
        let error = Passthrough::new(Arc::new(file), Slots::new(1, 4096, Pages::Ordinary).unwrap()).err().unwrap();
        assert!(error.to_string().contains("not an NVMe namespace"), "{error}");
    }
}
