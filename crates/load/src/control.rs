//! The switch that ends a load from another thread. Must not know why.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stend_base::Nanos;

/// A shared request to stop; clones are the same switch. Once thrown it stays thrown.
#[derive(Debug, Clone, Default)]
pub struct Control {
    stopped: Arc<AtomicBool>,
    /// CLOCK_MONOTONIC ns.
    begin: Arc<AtomicU64>,
}

impl Control {
    /// A switch that nobody has thrown.
    pub fn new() -> Control {
        Control::default()
    }

    /// Asks the load to end; it does within about 0.2 s plus the time I/O in flight takes, 1 s at most.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Has the next load begin at this time of CLOCK_MONOTONIC, so that it begins together with those of other hosts; one that is not
    /// ready by then begins later.
    pub fn begin_at(&self, at: Nanos) {
        self.begin.store(at.0, Ordering::Release);
    }

    /// When that is; 0: at once.
    pub(crate) fn begin(&self) -> Nanos {
        Nanos(self.begin.load(Ordering::Acquire))
    }

    /// Whether somebody asked.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}
