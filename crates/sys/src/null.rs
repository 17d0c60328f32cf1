//! A queue that moves nothing: every request is complete as soon as it is submitted. It takes the same path through the
//! engine as one of the kernel's, so that what a trial on it costs is the engine's own cost.

use crate::queue::{Completion, Queue, Request, Slots};
use rustix::thread::{ClockId, clock_nanosleep_relative};
use std::io;
use stend_base::Nanos;

/// See the module.
pub struct Null {
    slots: Slots,
    complete: Vec<Completion>,
}

impl Null {
    /// A queue of such slots.
    pub fn new(slots: Slots) -> Null {
        Null { complete: Vec::with_capacity(slots.count() as usize), slots }
    }
}

impl Queue for Null {
    fn registered(&self) -> bool {
        false
    }

    #[inline(always)]
    fn in_flight(&self) -> u32 {
        self.slots.in_flight()
    }

    #[inline]
    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        self.slots.slot_mut(slot)
    }

    #[inline]
    fn push(&mut self, slot: u32, request: Request, at: usize, len: usize, _offset: u64) {
        self.slots.claim(slot, at, len);
        let result = if request.moves_data() { len as i32 } else { 0 };
        self.complete.push(Completion { slot, result });
    }

    #[inline(always)]
    fn submit(&mut self) -> io::Result<()> {
        Ok(())
    }

    #[inline(always)]
    fn is_ready(&mut self) -> bool {
        !self.complete.is_empty()
    }

    #[inline]
    fn submit_and_wait(&mut self, _want: u32, timeout: Nanos) -> io::Result<()> {
        if self.complete.is_empty() {
            let time = rustix::time::Timespec {
                tv_sec: (timeout.0 / 1_000_000_000) as i64,
                tv_nsec: (timeout.0 % 1_000_000_000) as i64,
            };
            // Woken early by a signal is allowed, and nothing else can happen to this clock.
            let _ = clock_nanosleep_relative(ClockId::Monotonic, &time);
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, done: &mut Vec<Completion>) {
        for &Completion { slot, result } in &self.complete {
            self.slots.release(slot);
            done.push(Completion { slot, result });
        }
        self.complete.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Pages;

    fn null(slots: u32) -> Null {
        Null::new(Slots::new(slots, 4096, Pages::Ordinary).unwrap())
    }

    #[test]
    fn whatever_is_pushed_comes_back_whole_and_the_memory_is_untouched() {
        let mut null = null(3);
        null.slot_mut(0).fill(7);
        null.push(0, Request::Read, 0, 4096, 1 << 40);
        null.push(1, Request::Fsync, 0, 0, 0);
        null.push(2, Request::WriteDsync, 0, 4096, 0);
        assert_eq!(null.in_flight(), 3);
        let mut done = Vec::new();
        null.submit_and_wait(1, Nanos::SECOND).unwrap();
        null.reap(&mut done);
        let results: Vec<_> = done.iter().map(|c| (c.slot, c.result)).collect();
        assert_eq!((results, null.in_flight()), (vec![(0, 4096), (1, 0), (2, 4096)], 0));
        assert!(null.slot_mut(0).iter().all(|&byte| byte == 7));
    }

    #[test]
    fn with_nothing_to_do_it_waits() {
        let (before, mut null) = (crate::clock::now(), null(1));
        null.submit_and_wait(1, Nanos::millis(2)).unwrap();
        assert!(crate::clock::now().saturating_sub(before) >= Nanos::millis(2));
        null.push(0, Request::Read, 0, 4096, 0);
        null.submit_and_wait(1, Nanos::secs(1000)).unwrap();
    }
}
