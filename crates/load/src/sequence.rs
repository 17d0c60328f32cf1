//! What the n-th I/O of a job is, computed from n alone. Must not keep state that changes the answer.

use crate::layout::{Area, Job};
use stend_base::permutation::Permutation;
use stend_base::random::{below, draw, mix};
use stend_spec::workload::{Op, Pattern};

/// Operation and offset of every I/O of a job by its index. The permutation of the current epoch is
/// kept only because making it costs as much as using it.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    pattern: Pattern,
    area: Area,
    block: u64,
    read_percent: u64,
    seed: u64,
    first: u64,
    epoch: u64,
    order: Permutation,
}

impl Sequence {
    /// The sequence of a job. A job that ends on its own starts at its first block, any other at a
    /// block that follows from the seed, so that trials do not all begin with the same cached blocks.
    pub fn new(job: &Job) -> Sequence {
        let first = if job.limit == u64::MAX { below(draw(job.seed, 0), job.area.blocks) } else { 0 };
        Sequence {
            pattern: job.spec.pattern,
            area: job.area,
            block: job.spec.block_size.0,
            read_percent: u64::from(job.spec.mix.read_percent),
            seed: job.seed,
            first,
            epoch: 0,
            order: epoch_order(job.area.blocks, job.seed, 0),
        }
    }

    /// Operation and byte offset of the I/O number `index`.
    #[inline]
    pub fn at(&mut self, index: u64) -> (Op, u64) {
        // One sequence of draws decides operations, another the order of blocks.
        let read = below(draw(!self.seed, index), 100) < self.read_percent;
        let block = match self.pattern {
            Pattern::Sequential => (self.first + index % self.area.blocks) % self.area.blocks,
            Pattern::Random => {
                let (epoch, position) = (index / self.area.blocks, index % self.area.blocks);
                if epoch != self.epoch {
                    (self.epoch, self.order) = (epoch, epoch_order(self.area.blocks, self.seed, epoch));
                }
                self.order.at(position)
            }
        };
        (if read { Op::Read } else { Op::Write }, self.area.start + block * self.block)
    }
}

fn epoch_order(blocks: u64, seed: u64, epoch: u64) -> Permutation {
    Permutation::new(blocks, mix(draw(seed, epoch)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::{stream, trial};
    use stend_base::Bytes;
    use stend_spec::workload::{Mix, Stream};

    fn job(spec: Stream, limit: u64) -> Job {
        let mut trial = trial(Bytes::kib(400), vec![spec]);
        trial.region.start = Bytes::kib(64);
        crate::layout::jobs(&trial, limit).unwrap().remove(0)
    }

    fn blocks(sequence: &mut Sequence, range: std::ops::Range<u64>) -> Vec<u64> {
        range.map(|i| (sequence.at(i).1 - 65_536) / 4096).collect()
    }

    #[test]
    fn random_covers_every_block_once_per_epoch_and_each_epoch_differs() {
        let mut sequence = Sequence::new(&job(stream(), u64::MAX));
        let (first, second) = (blocks(&mut sequence, 0..100), blocks(&mut sequence, 100..200));
        for epoch in [&first, &second] {
            let mut sorted = epoch.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..100).collect::<Vec<_>>());
        }
        assert_ne!(first, second);
    }

    #[test]
    fn the_answer_does_not_depend_on_what_was_asked_before() {
        let mut a = Sequence::new(&job(stream(), u64::MAX));
        let mut b = a.clone();
        let forward: Vec<_> = (0..300).map(|i| a.at(i)).collect();
        let mut backward: Vec<_> = (0..300).rev().map(|i| b.at(i)).collect();
        backward.reverse();
        assert_eq!(forward, backward);
    }

    #[test]
    fn sequential_ascends_from_a_seeded_start_and_wraps() {
        let spec = Stream { pattern: Pattern::Sequential, ..stream() };
        let order = blocks(&mut Sequence::new(&job(spec.clone(), u64::MAX)), 0..200);
        assert!(order.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 100), "{order:?}");
        assert_ne!(order[0], 0, "the seed of this test does not start at block 0");
        assert_eq!(blocks(&mut Sequence::new(&job(spec, 100)), 0..3), [0, 1, 2]);
    }

    #[test]
    fn the_mix_is_met_within_four_standard_deviations() {
        let spec = Stream { mix: Mix { read_percent: 70 }, ..stream() };
        let mut sequence = Sequence::new(&job(spec, u64::MAX));
        let reads = (0..100_000).filter(|&i| sequence.at(i).0 == Op::Read).count();
        // Binomial: 70,000 expected, sqrt(100,000 x 0.7 x 0.3) = 145.
        assert!(reads.abs_diff(70_000) < 4 * 145, "{reads} reads");
    }

    #[test]
    fn pure_mixes_are_pure() {
        for (percent, op) in [(100, Op::Read), (0, Op::Write)] {
            let spec = Stream { mix: Mix { read_percent: percent }, ..stream() };
            let mut sequence = Sequence::new(&job(spec, u64::MAX));
            assert!((0..10_000).all(|i| sequence.at(i).0 == op));
        }
    }
}
