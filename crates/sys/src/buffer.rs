//! Page-aligned memory for direct I/O, one mapping per load thread, cut into slots of equal size.
//! Must not know what is in it.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

/// Every slot starts on such a boundary: at least the alignment of direct I/O on any device we know.
pub const ALIGNMENT: usize = 4096;
/// Mappings at least this large ask for transparent huge pages (x86-64 huge page).
const HUGE: usize = 2 << 20;

/// Slots of memory that the kernel may read and write. All pages are present: no faults under load.
#[derive(Debug)]
pub struct Pool {
    base: NonNull<u8>,
    slots: usize,
    slot_len: usize,
}

// SAFETY: the mapping belongs to the pool alone; access goes through `&self` and `&mut self`.
unsafe impl Send for Pool {}

impl Pool {
    /// Maps `slots` slots of at least `slot_len` bytes each (rounded up to [`ALIGNMENT`]), zeroed.
    pub fn new(slots: usize, slot_len: usize) -> io::Result<Pool> {
        let too_large = || io::Error::from(io::ErrorKind::OutOfMemory);
        let slot_len = slot_len.max(1).checked_next_multiple_of(ALIGNMENT).ok_or_else(too_large)?;
        let slots = slots.max(1);
        let len = slots.checked_mul(slot_len).filter(|&len| len <= isize::MAX as usize).ok_or_else(too_large)?;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no other memory.
        let base = unsafe {
            mmap_anonymous(std::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)?
        };
        let Some(base) = NonNull::new(base.cast::<u8>()) else { return Err(too_large()) };
        if len >= HUGE {
            // SAFETY: the range is the mapping just made. Refusal only means small pages.
            let _ = unsafe { madvise(base.as_ptr().cast::<c_void>(), len, Advice::LinuxHugepage) };
        }
        let mut pool = Pool { base, slots, slot_len };
        (0..slots).for_each(|slot| pool.slot_mut(slot).fill(0));
        Ok(pool)
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Bytes per slot, a multiple of [`ALIGNMENT`].
    pub fn slot_len(&self) -> usize {
        self.slot_len
    }

    /// Bytes of all slots together.
    pub fn total_len(&self) -> usize {
        self.slots * self.slot_len
    }

    /// Contents of a slot. Panics if there is no such slot.
    pub fn slot(&self, slot: usize) -> &[u8] {
        // SAFETY: inside the mapping (checked by `address`), initialised, shared like `self`.
        unsafe { std::slice::from_raw_parts(self.address(slot), self.slot_len) }
    }

    /// Contents of a slot, to be changed. Panics if there is no such slot.
    #[inline]
    pub fn slot_mut(&mut self, slot: usize) -> &mut [u8] {
        // SAFETY: inside the mapping (checked by `address`), initialised, exclusive like `self`.
        unsafe { std::slice::from_raw_parts_mut(self.address(slot), self.slot_len) }
    }

    /// Address of a slot, for the kernel. Panics if there is no such slot.
    #[inline]
    pub(crate) fn address(&self, slot: usize) -> *mut u8 {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: `slot < slots`, so the result stays inside the mapping.
        unsafe { self.base.as_ptr().add(slot * self.slot_len) }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length and nobody else has it. Whoever lets
        // the kernel use it (`uring`) leaks the pool instead of dropping it while I/O is in flight.
        let _ = unsafe { munmap(self.base.as_ptr().cast::<c_void>(), self.total_len()) };
    }
}

/// Memory of the machine, bytes: buffers must stay well below it.
pub fn memory_total() -> u64 {
    let info = rustix::system::sysinfo();
    // The field's type is the C long of the platform.
    #[allow(clippy::useless_conversion)]
    u64::from(info.totalram).saturating_mul(u64::from(info.mem_unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_aligned_zeroed_and_do_not_overlap() {
        let mut pool = Pool::new(3, 5000).unwrap();
        assert_eq!((pool.slots(), pool.slot_len(), pool.total_len()), (3, 8192, 24_576));
        for slot in 0..3 {
            assert_eq!(pool.address(slot) as usize % ALIGNMENT, 0);
            assert!(pool.slot(slot).iter().all(|&byte| byte == 0));
            pool.slot_mut(slot).fill(slot as u8 + 1);
        }
        for slot in 0..3 {
            assert!(pool.slot(slot).iter().all(|&byte| byte == slot as u8 + 1));
        }
    }

    #[test]
    fn an_impossible_size_is_an_error_not_a_panic() {
        assert!(Pool::new(usize::MAX / 2, 4096).is_err());
        assert!(Pool::new(1, usize::MAX).is_err());
    }

    #[test]
    #[should_panic(expected = "slot 2 of 2")]
    fn a_slot_beyond_the_end_panics() {
        Pool::new(2, 4096).unwrap().slot(2);
    }

    #[test]
    fn the_machine_has_memory() {
        assert!(memory_total() > 1 << 20);
    }
}
