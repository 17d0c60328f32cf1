//! Page-aligned memory for direct I/O, one mapping per load thread, cut into slots of equal size, and in which pages it
//! lies. Must not know what is in it.

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::ptr::NonNull;

/// Every slot starts on such a boundary: at least the alignment of direct I/O on any device we know.
pub const ALIGNMENT: usize = 4096;
/// A transparent huge page of x86-64, and of ARM kernels with pages of 4 KiB; where it is larger, [`huge_bytes`] says that none was given.
const HUGE: usize = 2 << 20;

/// The pages of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pages {
    /// Pages of 4 KiB, never joined by the kernel.
    #[default]
    Ordinary,
    /// Transparent huge pages of 2 MiB, where the kernel has them.
    Huge,
}

impl Pages {
    /// Bytes that so much memory takes. Larger than any memory where that overflows.
    pub fn round_up(self, len: usize) -> usize {
        let page = match self {
            Pages::Ordinary => ALIGNMENT,
            Pages::Huge => HUGE,
        };
        len.checked_next_multiple_of(page).unwrap_or(usize::MAX)
    }
}

/// Slots of memory that the kernel may read and write. All pages are present: no faults under load.
#[derive(Debug)]
pub struct Pool {
    /// The mapping, which is larger than the slots where these begin on a huge page.
    mapping: (NonNull<u8>, usize),
    base: NonNull<u8>,
    slots: usize,
    slot_len: usize,
}

// SAFETY: the mapping belongs to the pool alone; access goes through `&self` and `&mut self`.
unsafe impl Send for Pool {}

impl Pool {
    /// Maps `slots` slots of at least `slot_len` bytes each (rounded up to [`ALIGNMENT`]) in ordinary pages, zeroed.
    pub fn new(slots: usize, slot_len: usize) -> io::Result<Pool> {
        Pool::in_pages(slots, slot_len, Pages::Ordinary)
    }

    /// The same in such pages. Whether the kernel gave huge ones says [`huge_bytes`]: where it has none these are ordinary ones.
    pub fn in_pages(slots: usize, slot_len: usize, pages: Pages) -> io::Result<Pool> {
        let too_large = || io::Error::from(io::ErrorKind::OutOfMemory);
        let slot_len = slot_len.max(1).checked_next_multiple_of(ALIGNMENT).ok_or_else(too_large)?;
        let slots = slots.max(1);
        let len = pages.round_up(slots.checked_mul(slot_len).ok_or_else(too_large)?);
        // Room to begin on a huge page, wherever the kernel puts the mapping. What is not touched takes no memory.
        let slack = if pages == Pages::Huge { HUGE - ALIGNMENT } else { 0 };
        let mapped = len.checked_add(slack).filter(|&len| len <= isize::MAX as usize).ok_or_else(too_large)?;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no other memory.
        let start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), mapped, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)?
        };
        let Some(start) = NonNull::new(start.cast::<u8>()) else { return Err(too_large()) };
        let address = start.as_ptr().addr();
        let skip = if pages == Pages::Huge { address.next_multiple_of(HUGE) - address } else { 0 };
        // SAFETY: the start is aligned to a page, so at most `slack` bytes are skipped, and the mapping has as many more.
        let base = unsafe { start.add(skip) };
        let mut pool = Pool { mapping: (start, mapped), base, slots, slot_len };
        let advice = match pages {
            Pages::Ordinary => Advice::LinuxNoHugepage,
            Pages::Huge => Advice::LinuxHugepage,
        };
        // SAFETY: the range lies in the mapping just made, and nothing is in it yet.
        match unsafe { madvise(base.as_ptr().cast::<c_void>(), len, advice) } {
            // A kernel without transparent huge pages: all are ordinary.
            Ok(()) | Err(Errno::INVAL) => {}
            Err(e) => return Err(e.into()),
        }
        (0..slots).for_each(|slot| pool.slot_mut(slot).fill(0));
        Ok(pool)
    }

    /// Where it lies.
    pub fn addresses(&self) -> Range<usize> {
        let start = self.base.as_ptr().addr();
        start..start + self.total_len()
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
        // SAFETY: the mapping was made by `new` with this length and nobody else has it. A caller that lets the kernel
        // use it (`uring`) leaks the pool instead of dropping it while I/O is in flight.
        let _ = unsafe { munmap(self.mapping.0.as_ptr().cast::<c_void>(), self.mapping.1) };
    }
}

/// Bytes of the memory at these addresses of this process that lie in transparent huge pages, as the kernel says now.
pub fn huge_bytes(areas: &[Range<usize>]) -> io::Result<usize> {
    Ok(huge_in(&std::fs::read_to_string("/proc/self/smaps")?, areas))
}

/// From `smaps` (proc(5)): a line with the addresses of each mapping, then what it consists of. The kernel shows neighbours of
/// one kind as one mapping, whose huge pages count up to the bytes that the areas have in it.
fn huge_in(smaps: &str, areas: &[Range<usize>]) -> usize {
    let (mut inside, mut sum) = (0, 0);
    for line in smaps.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("AnonHugePages:") => {
                let kib: usize = words.next().and_then(|kib| kib.parse().ok()).unwrap_or(0);
                sum += kib.saturating_mul(1024).min(inside);
            }
            Some(word) => {
                let Some((start, end)) = word.split_once('-') else { continue };
                let number = |text| usize::from_str_radix(text, 16).ok();
                let Some((start, end)) = number(start).zip(number(end)) else { continue };
                let shared = |area: &Range<usize>| area.end.min(end).saturating_sub(area.start.max(start));
                inside = areas.iter().map(shared).sum();
            }
            None => {}
        }
    }
    sum
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
    fn ordinary_pages_are_never_huge_and_huge_ones_are_where_the_kernel_has_them() {
        // More than two huge pages, so that the kernel would join them where it does that unasked.
        let pool = |pages| Pool::in_pages(3, 3 << 20, pages).unwrap();
        let (ordinary, huge) = (pool(Pages::Ordinary), pool(Pages::Huge));
        assert_eq!(huge_bytes(&[ordinary.addresses()]).unwrap(), 0);
        assert_eq!(huge.address(0) as usize % HUGE, 0);
        let setting = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
        let expected = if setting.is_empty() || setting.contains("[never]") { 0 } else { huge.total_len() };
        assert_eq!(huge_bytes(&[huge.addresses()]).unwrap(), expected);
        assert_eq!(huge_bytes(&[ordinary.addresses(), huge.addresses()]).unwrap(), expected);
    }

    #[test]
    fn a_small_pool_in_huge_pages_lies_in_a_whole_one_and_counts_its_own_bytes() {
        let pool = Pool::in_pages(1, 4096, Pages::Huge).unwrap();
        assert_eq!((pool.address(0) as usize % HUGE, pool.total_len(), Pages::Huge.round_up(4096)), (0, 4096, HUGE));
        assert!([0, 4096].contains(&huge_bytes(&[pool.addresses()]).unwrap()));
    }

    #[test]
    fn huge_pages_of_a_mapping_count_up_to_the_bytes_that_are_ours_in_it() {
        let smaps = "00400000-00a00000 rw-p 00000000 00:00 0 \nSize: 6144 kB\nAnonHugePages:      4096 kB\nVmFlags: rd wr hg\n\
                     7f00a0000000-7f00a0400000 rw-p 00000000 00:00 0 [heap]\nAnonHugePages:      4096 kB\n\
                     7f00b0000000-7f00b0001000 r--p 00000000 fe:00 12 /a-b\nAnonHugePages:         0 kB\n";
        let of = |areas: &[Range<usize>]| huge_in(smaps, areas);
        let one = |area: Range<usize>| of(std::slice::from_ref(&area));
        assert_eq!((one(0x40_0000..0xa0_0000), one(0x40_0000..0x50_0000)), (4 << 20, 1 << 20));
        assert_eq!(of(&[0x40_0000..0x50_0000, 0x7f00_a000_0000..0x7f00_a000_1000]), (1 << 20) + 4096);
        assert_eq!(of(&[0x7f00_b000_0000..0x7f00_b000_1000, 0..0x1000]), 0);
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
