//! What the n-th I/O of a job is, computed from n alone, several of them at a time and ahead of need. Must not keep state that
//! changes the answer.

use crate::layout::Job;
use crate::order::Order;
use crate::places::Places;
use crate::replaying::Replaying;
use crate::step::Step;
use stend_base::permutation::AHEAD;
use stend_base::random::{below, draw};
use stend_spec::workload::{Mix, Op, Pattern};

/// Operation and range of every I/O of a job by its index.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    order: Order,
    places: Places,
    start: u64,
    /// Shares of reads, of these with writes, and of both with discards, in percent.
    up_to: [u64; 3],
    /// One of the shares is all.
    is_pure: bool,
    seed: u64,
    /// What a trace says instead.
    replay: Option<Replaying>,
    /// What comes from this index on, as far as it is known already.
    from: u64,
    ahead: [Step; AHEAD],
    /// How much of that is: all or nothing.
    known: u64,
}

impl Sequence {
    /// The sequence of a job.
    pub fn new(job: &Job) -> Sequence {
        let places = Places::new(job);
        Sequence {
            order: Order::new(job, places.count()),
            places,
            // What appends counts from the start of a file of its own.
            start: if job.spec.pattern == Pattern::Append { 0 } else { job.area.start },
            up_to: shares(job.spec.mix),
            is_pure: shares(job.spec.mix).iter().all(|share| matches!(share, 0 | 100)),
            seed: job.seed,
            replay: job.replay.clone(),
            from: 0,
            ahead: [Step { op: Op::Read, offset: 0, len: 0, durable: false }; AHEAD],
            known: 0,
        }
    }

    /// How many places there are, each of which an order that covers them all comes to once per pass.
    pub fn places(&self) -> u64 {
        self.places.count()
    }

    /// The I/O number `index`; asked for in order, nearly always one that is known already. The permutation
    /// (`stend_base::permutation`) documents what that saves.
    #[inline(always)]
    pub fn at(&mut self, index: u64) -> Step {
        let place = index.wrapping_sub(self.from);
        if place < self.known { self.ahead[(place % AHEAD as u64) as usize] } else { self.look_ahead(index) }
    }

    #[inline(never)]
    fn look_ahead(&mut self, index: u64) -> Step {
        if let Some(replay) = &self.replay {
            return replay.at(index);
        }
        if self.order.is_shared() {
            let block = self.order.at(index);
            return self.step(index, block);
        }
        for (i, block) in self.order.ahead(index).into_iter().enumerate() {
            self.ahead[i] = self.step(index.wrapping_add(i as u64), block);
        }
        (self.from, self.known) = (index, AHEAD as u64);
        self.ahead[0]
    }

    #[inline(always)]
    fn step(&self, index: u64, block: u64) -> Step {
        // One sequence of draws decides operations, another the order of blocks; most streams need no first one.
        let drawn = if self.is_pure { 0 } else { below(draw(!self.seed, index), 100) };
        let [read, write, discard] = self.up_to;
        let op = match drawn {
            _ if drawn < read => Op::Read,
            _ if drawn < write => Op::Write,
            _ if drawn < discard => Op::Discard,
            _ => Op::WriteZeroes,
        };
        let (offset, len) = self.places.at(block, index);
        Step { op, offset: self.start + offset, len: len as u32, durable: false }
    }
}

fn shares(mix: Mix) -> [u64; 3] {
    let [read, write, discard] = [mix.read, mix.write, mix.discard].map(u64::from);
    [read, read + write, read + write + discard]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::{stream, trial};
    use stend_base::Bytes;
    use stend_spec::workload::{Pattern, Stream};

    fn job(spec: Stream, limit: u64) -> Job {
        let mut trial = trial(Bytes::kib(400), vec![spec]);
        trial.region.start = Bytes::kib(64);
        crate::layout::jobs(&trial, limit).unwrap().remove(0)
    }

    fn blocks(sequence: &mut Sequence, range: std::ops::Range<u64>) -> Vec<u64> {
        range.map(|i| (sequence.at(i).offset - 65_536) / 4096).collect()
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
        let mix = Mix { read: 60, write: 25, discard: 5, write_zeroes: 10 };
        let mut sequence = Sequence::new(&job(Stream { mix, ..stream() }, u64::MAX));
        let mut found = [0u64; Op::ALL.len()];
        (0..100_000).for_each(|i| found[sequence.at(i).op.index()] += 1);
        for (op, percent) in mix.shares() {
            let (share, is) = (f64::from(percent) / 100.0, found[op.index()]);
            // Binomial: of 60 % a deviation of sqrt(100,000 x 0.6 x 0.4) = 155.
            let deviation = (1e5 * share * (1.0 - share)).sqrt();
            assert!((is as f64 - 1e5 * share).abs() < 4.0 * deviation, "{is} of {op:?}");
        }
        assert_eq!(found[Op::Sync.index()], 0);
    }

    #[test]
    fn pure_mixes_are_pure() {
        for op in Op::IO {
            let spec = Stream { mix: Mix::only(op), ..stream() };
            let mut sequence = Sequence::new(&job(spec, u64::MAX));
            assert!((0..10_000).all(|i| sequence.at(i).op == op));
        }
    }
}
