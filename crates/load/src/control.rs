//! The switch that ends a load from another thread. Must not know why.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A shared request to stop; clones are the same switch. Once thrown it stays thrown.
#[derive(Debug, Clone, Default)]
pub struct Control {
    stopped: Arc<AtomicBool>,
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

    /// Whether somebody asked.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}
