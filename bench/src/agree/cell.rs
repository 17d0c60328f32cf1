//! What is compared: workloads, and the numbers that one trial of either tool gives. Data only.

use stend_base::format::bytes;
use stend_base::{Bytes, Lang, Nanos};
use stend_spec::workload::{Backend, Mix, Op, Pages, Pattern, Region, Stream, Trial};

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
    /// What buffers lie in; where it matters, the name says it.
    pub pages: Pages,
}

/// All workloads, in the order of the table.
pub fn all() -> Vec<Cell> {
    let of = |random, kib, queue_depth, pages| {
        [false, true].map(|writes| Cell { random, writes, block_size: Bytes::kib(kib), queue_depth, pages })
    };
    let small = [1, 32].map(|depth| of(true, 4, depth, Pages::Ordinary));
    // 512 KiB is the largest size that ordinary pages pass in one request (128 segments on a loop device): above it I/Os
    // are split and the limiter charges each part.
    let large = [128, 256, 512, 1024, 4096];
    let large = large.into_iter().flat_map(|kib| [Pages::Ordinary, Pages::Huge].map(|pages| of(false, kib, 8, pages)));
    small.into_iter().chain(large).flatten().collect()
}

impl Cell {
    /// Name in the table.
    pub fn name(&self) -> String {
        let pattern = if self.random { "random" } else { "sequential" };
        let operation = if self.writes { "write" } else { "read" };
        let size = bytes(self.block_size, Lang::En);
        let pages = match (self.random, self.pages) {
            (true, _) => "",
            (false, Pages::Ordinary) => ", ordinary pages",
            (false, Pages::Huge) => ", huge pages",
        };
        format!("{pattern} {operation} {size}, depth {}{pages}", self.queue_depth)
    }

    /// The workload as the engine takes it.
    pub fn trial(&self, window: Nanos, seed: u64) -> Trial {
        let mix = Mix::only(if self.writes { Op::Write } else { Op::Read });
        let pattern = if self.random { Pattern::Random } else { Pattern::Sequential };
        let stream = Stream { queue_depth: self.queue_depth, ..Stream::new(mix, pattern, self.block_size) };
        let region = Region { start: Bytes(0), len: RANGE };
        Trial {
            ramp: RAMP,
            seed,
            backend: Backend::IoUring,
            pages: self.pages,
            ..Trial::new(vec![stream], window, region)
        }
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
    fn large_blocks_are_compared_with_both_kinds_of_pages() {
        let of = |kib, pages| all().iter().filter(|c| c.block_size == Bytes::kib(kib) && c.pages == pages).count();
        for kib in [128, 256, 1024, 4096] {
            assert_eq!((of(kib, Pages::Ordinary), of(kib, Pages::Huge)), (2, 2), "{kib}");
        }
        assert_eq!(all().iter().filter(|cell| cell.name().contains("pages")).count(), 20);
    }

    #[test]
    fn every_cell_has_its_own_name() {
        let mut names: Vec<String> = all().iter().map(Cell::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all().len(), "{names:?}");
    }
}
