//! What io_uring is asked with. Must not push anything.

use crate::queue::Request;
use io_uring::{opcode, squeue, types};

/// What asks for a request, with memory that is registered or not.
#[inline(never)]
pub fn request(
    request: Request,
    registered: bool,
    fd: types::Fd,
    memory: *mut u8,
    len: u32,
    offset: u64,
) -> squeue::Entry {
    match (request, registered) {
        (Request::Read, true) => opcode::ReadFixed::new(fd, memory, len, 0).offset(offset).build(),
        (Request::Read, false) => opcode::Read::new(fd, memory, len).offset(offset).build(),
        (Request::Write, true) => opcode::WriteFixed::new(fd, memory, len, 0).offset(offset).build(),
        (Request::Write, false) => opcode::Write::new(fd, memory, len).offset(offset).build(),
        (Request::WriteDsync, true) => {
            opcode::WriteFixed::new(fd, memory, len, 0).offset(offset).rw_flags(libc::RWF_DSYNC).build()
        }
        (Request::WriteDsync, false) => {
            opcode::Write::new(fd, memory, len).offset(offset).rw_flags(libc::RWF_DSYNC).build()
        }
        (Request::PunchHole, _) => {
            let (mode, len) = (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE, u64::from(len));
            opcode::Fallocate::new(fd, len).offset(offset).mode(mode).build()
        }
        (Request::ZeroRange, _) => {
            let (mode, len) = (libc::FALLOC_FL_ZERO_RANGE | libc::FALLOC_FL_KEEP_SIZE, u64::from(len));
            opcode::Fallocate::new(fd, len).offset(offset).mode(mode).build()
        }
        (Request::Fsync, _) => opcode::Fsync::new(fd).build(),
        (Request::Fdatasync, _) => opcode::Fsync::new(fd).flags(types::FsyncFlags::DATASYNC).build(),
    }
}

/// The same as [`request`] for what nearly all requests are: data from or to registered memory. Made of whole words, it goes from
/// registers into the queue; the builders of the crate leave bytes in memory that are read again before they have arrived, which took 5
/// of 240 ns of a write to `/dev/null`.
//= linux, include/uapi/linux/io_uring.h: struct io_uring_sqe
#[inline(always)]
pub fn transfer(opcode: u8, fd: types::Fd, memory: *mut u8, len: u32, offset: u64) -> squeue::Entry {
    let head = u64::from(opcode) | u64::from(fd.0 as u32) << 32;
    let words: [u64; 8] = [head, offset, memory as u64, u64::from(len), 0, 0, 0, 0];
    // SAFETY: an entry is that structure, 64 bytes of numbers each of which may have any value. What they ask for is looked at where an
    // entry is pushed.
    unsafe { std::mem::transmute::<[u64; 8], squeue::Entry>(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_are_what_the_builders_make() {
        let (fd, memory) = (types::Fd(7), std::ptr::without_provenance_mut::<u8>(0x1234_5000));
        let built = [
            (opcode::ReadFixed::CODE, opcode::ReadFixed::new(fd, memory, 512, 0).offset(1 << 40).build()),
            (opcode::WriteFixed::CODE, opcode::WriteFixed::new(fd, memory, 512, 0).offset(1 << 40).build()),
        ];
        for (code, built) in built {
            // SAFETY: the builders begin with zeroes, so that all 64 bytes have values.
            let bytes = |entry| unsafe { std::mem::transmute::<squeue::Entry, [u8; 64]>(entry) };
            assert_eq!(bytes(transfer(code, fd, memory, 512, 1 << 40)), bytes(built));
        }
    }
}
