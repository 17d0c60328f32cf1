//! The clocks of a simulated machine: they stand still until a test moves them. Must not know why.

use crate::execute::Clocks;
use std::cell::Cell;
use std::rc::Rc;
use stend_base::Nanos;

/// Wall clock when the first simulated boot began, ns.
pub const EPOCH: u64 = 1_700_000_000_000_000_000;
/// A boot takes so long until a run can begin.
const BOOT: Nanos = Nanos::secs(20);

/// Since the boot, and how far the wall clock is ahead of that.
#[derive(Clone)]
pub struct Time {
    since_boot: Rc<Cell<u64>>,
    booted: Rc<Cell<u64>>,
}

impl Time {
    /// A machine that has just been booted.
    pub fn new() -> Time {
        Time { since_boot: Rc::new(Cell::new(BOOT.0)), booted: Rc::new(Cell::new(EPOCH)) }
    }

    /// CLOCK_MONOTONIC.
    pub fn now(&self) -> Nanos {
        Nanos(self.since_boot.get())
    }

    /// Wall clock minus that, ns.
    pub fn offset(&self) -> u64 {
        self.booted.get()
    }

    /// Goes on; never back.
    pub fn pass_to(&self, at: Nanos) {
        self.since_boot.set(self.since_boot.get().max(at.0));
    }

    /// The machine is booted anew.
    pub fn reboot(&self) {
        self.booted.set(self.booted.get() + self.since_boot.replace(BOOT.0));
    }

    /// For the loop of a run.
    pub fn clocks(&self) -> Clocks {
        let time = self.clone();
        Box::new(move || (time.now().0, time.now().0, time.offset() + time.now().0))
    }
}
