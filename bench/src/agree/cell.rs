//! What is compared: eight workloads, and the numbers that one trial of either tool gives. Data only.

use stend_base::format::bytes;
use stend_base::{Bytes, Lang, Nanos};
use stend_spec::workload::{Backend, Mix, Op, Pattern, Region, Stream, Trial};

/// Load before each window.
pub const RAMP: Nanos = Nanos::millis(500);
/// Range of the target that both use. Not larger, so that filling it takes seconds.
pub const RANGE: Bytes = Bytes::mib(512);

/// One workload.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// Random without repetition instead of sequential.
    pub random: bool,
    /// Writes instead of reads.
    pub writes: bool,
    /// Bytes per I/O.
    pub block_size: Bytes,
    /// I/Os in flight.
    pub queue_depth: u32,
}

/// All workloads, in the order of the table.
pub fn all() -> Vec<Cell> {
    let of = |random, kib, queue_depth| {
        [false, true].map(|writes| Cell { random, writes, block_size: Bytes::kib(kib), queue_depth })
    };
    // 512 KiB is the largest sequential size that fio's buffers of 4 KiB pages pass in one request (128 segments on a
    // loop device); at 1 MiB its I/Os are split and the limiter charges them twice.
    [of(true, 4, 1), of(true, 4, 32), of(false, 512, 8), of(false, 1024, 8)].concat()
}

impl Cell {
    /// Name in the table.
    pub fn name(&self) -> String {
        let pattern = if self.random { "random" } else { "sequential" };
        let operation = if self.writes { "write" } else { "read" };
        let size = bytes(self.block_size, Lang::En);
        format!("{pattern} {operation} {size}, depth {}", self.queue_depth)
    }

    /// The workload as the engine takes it.
    pub fn trial(&self, window: Nanos, seed: u64) -> Trial {
        let mix = Mix::only(if self.writes { Op::Write } else { Op::Read });
        let pattern = if self.random { Pattern::Random } else { Pattern::Sequential };
        let stream = Stream { queue_depth: self.queue_depth, ..Stream::new(mix, pattern, self.block_size) };
        let region = Region { start: Bytes(0), len: RANGE };
        Trial { ramp: RAMP, seed, backend: Backend::IoUring, ..Trial::new(vec![stream], window, region) }
    }
}

/// What one trial gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// I/Os per second of the window.
    pub iops: f64,
    /// Mean latency from handing the I/O to the kernel to its end, ns.
    pub latency_ns: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_its_own_name() {
        let mut names: Vec<String> = all().iter().map(Cell::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all().len(), "{names:?}");
    }
}
