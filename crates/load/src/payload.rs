//! The data that is written: incompressible, and no two sectors alike. Must not depend on what was read.
//!
//! A slot's memory is [written data, as many blocks as fit its part of the pool | block read into].
//! Written blocks take turns through the slot's part, so that a compressor looking at neighbouring
//! blocks finds no repetition; before each write every sector gets a fresh 8-byte stamp, so that
//! deduplication finds none either.

use stend_base::random::{Random, draw};
use stend_spec::workload::Stream;

/// Random data per job. Larger than the windows of the compressors in storage stacks (ZFS records are up
/// to 1 MiB, btrfs extents 128 KiB, zstd level 3 looks back 2 MiB), small enough for one job's buffers to
/// be registered under the usual RLIMIT_MEMLOCK of 8 MiB.
const POOL: usize = 4 << 20;
/// Smallest unit that any array we know deduplicates.
const SECTOR: usize = 512;
/// 2^64 divided by the golden ratio: multiples of it visit all residues far from one another.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Where a slot's memory holds what, and how its data change. Cost of a stamp: see [`Payload::stamp`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Payload {
    seed: u64,
    block: usize,
    variants: u64,
    reads: bool,
}

impl Payload {
    /// The payload of a job that keeps `depth` I/Os in flight.
    pub fn new(spec: &Stream, seed: u64) -> Payload {
        let block = spec.block_size.0 as usize;
        let share = POOL / spec.queue_depth.max(1) as usize;
        let variants = if spec.mix.writes() { (share / block.max(1)).max(1) } else { 0 };
        Payload { seed, block, variants: variants as u64, reads: spec.mix.reads() }
    }

    /// Bytes of memory a slot needs.
    pub fn slot_len(&self) -> usize {
        self.block.saturating_mul(self.variants as usize + usize::from(self.reads))
    }

    /// Fills the memory of slot number `slot` with random data, once.
    pub fn prime(&self, slot: u64, memory: &mut [u8]) {
        let written = self.block * self.variants as usize;
        Random::new(draw(self.seed, slot)).fill(&mut memory[..written]);
    }

    /// Where reads go.
    pub fn read_at(&self) -> usize {
        self.block * self.variants as usize
    }

    /// Makes the next `len` bytes to be written and returns where they are. `turn` counts the writes of the slot,
    /// `index` is the I/O's own and never the same twice in a job.
    ///
    /// Costs 34 ns per 4 KiB write and 10 µs per MiB (2-vCPU KVM guest shared with other load, best of 3);
    /// half of the 4 KiB figure is the wait for memory that has left the cache since its last turn.
    #[inline]
    pub fn stamp(&self, memory: &mut [u8], turn: u64, index: u64, len: usize) -> usize {
        let at = (turn % self.variants) as usize * self.block;
        let mut stamp = draw(self.seed, index);
        for sector in memory[at..at + len].chunks_exact_mut(SECTOR) {
            stamp = stamp.wrapping_add(SPREAD);
            sector[..8].copy_from_slice(&stamp.to_le_bytes());
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::stream;
    use std::collections::HashSet;
    use stend_base::Bytes;
    use stend_spec::workload::Mix;

    fn spec(read_percent: u8, block: u64, depth: u32) -> Stream {
        Stream { mix: Mix { read_percent }, block_size: Bytes(block), queue_depth: depth, ..stream() }
    }

    #[test]
    fn memory_is_only_taken_for_what_the_mix_needs() {
        let len = |percent, block, depth| Payload::new(&spec(percent, block, depth), 1).slot_len();
        assert_eq!(len(100, 4096, 32), 4096);
        assert_eq!(len(0, 4096, 32), 128 << 10);
        assert_eq!(len(70, 4096, 32), (128 << 10) + 4096);
        assert_eq!(len(0, 1 << 20, 8), 1 << 20);
    }

    #[test]
    fn no_sector_is_ever_written_twice_and_reads_do_not_touch_the_data() {
        let payload = Payload::new(&spec(50, 4096, 1), 5);
        let mut memory = vec![0; payload.slot_len()];
        payload.prime(0, &mut memory);
        let mut seen = HashSet::new();
        for turn in 0..3000 {
            memory[payload.read_at()..].fill(0);
            let at = payload.stamp(&mut memory, turn, turn * 3, 4096);
            for sector in memory[at..at + 4096].chunks(512) {
                assert!(seen.insert(sector.to_vec()), "a sector came twice");
            }
        }
    }

    #[test]
    fn what_is_written_has_no_repeated_word_that_a_compressor_could_use() {
        let payload = Payload::new(&spec(0, 4096, 4), 6);
        let mut memory = vec![0; payload.slot_len()];
        payload.prime(0, &mut memory);
        let mut words = HashSet::new();
        for turn in 0..payload.slot_len() as u64 / 4096 {
            let at = payload.stamp(&mut memory, turn, turn, 4096);
            words.extend(memory[at..at + 4096].windows(8).step_by(4).map(<[u8]>::to_vec));
        }
        // Matches of 8 bytes at random positions: n^2 / 2^65, far below one.
        assert_eq!(words.len(), payload.slot_len() / 4096 * ((4096 - 8) / 4 + 1));
    }
}
