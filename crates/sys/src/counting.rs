//! An allocator that counts by thread, so that a test can show that load threads do not allocate. Must not
//! be used by the tool itself.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Threads that can be told apart: more than any test starts. Later ones share the last entry.
const THREADS: usize = 256;
/// Not yet given an entry.
const NEW: usize = usize::MAX;

/// The system's allocator with a counter per thread; to be made the `#[global_allocator]` of a test.
#[derive(Debug, Default)]
pub struct CountingAllocator;

static USED: AtomicUsize = AtomicUsize::new(0);
/// (kernel's thread id, allocations).
static COUNTS: [(AtomicU32, AtomicU64); THREADS] = [const { (AtomicU32::new(0), AtomicU64::new(0)) }; THREADS];

thread_local! {
    // Constant and without a destructor, so that looking at it never allocates.
    static ENTRY: Cell<usize> = const { Cell::new(NEW) };
}

/// Allocations (growing an allocation included) of the thread with this id of the kernel (`gettid`) so far.
pub fn allocations(thread: u32) -> u64 {
    let of_thread = COUNTS.iter().filter(|(id, _)| id.load(Ordering::Relaxed) == thread);
    of_thread.map(|(_, count)| count.load(Ordering::Relaxed)).sum()
}

fn count() {
    let index = ENTRY.get();
    let index = if index == NEW { enter() } else { index };
    COUNTS[index].1.fetch_add(1, Ordering::Relaxed);
}

#[cold]
fn enter() -> usize {
    let index = USED.fetch_add(1, Ordering::Relaxed).min(THREADS - 1);
    COUNTS[index].0.store(rustix::thread::gettid().as_raw_nonzero().get() as u32, Ordering::Relaxed);
    ENTRY.set(index);
    index
}

// SAFETY: everything is the system allocator's; counting does not allocate, unwind or touch the memory.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
