//! Orders of offsets. What each one means exactly is `docs/formats/patterns.md`.

use crate::limits::Limits;
use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Millionths};

/// Order of offsets inside a job's region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Ascending from a seeded start, wrapping at the end of the region.
    Sequential,
    /// As `sequential`, but all jobs of the stream take the next block from one cursor
    /// and share one region.
    SharedSequential,
    /// To the end of a new file of the job's own, which is emptied when it is as long as the job's region.
    Append,
    /// Descending from a seeded start, wrapping at the beginning of the region.
    Reverse,
    /// Every block once in an order fixed by the seed, then again in another order.
    Random,
    /// Every I/O to any block with equal probability, whatever came before.
    Uniform,
    /// The k-th hottest block with a probability proportional to 1 / k^theta; hot blocks lie scattered.
    Zipf {
        /// Exponent in thousandths, 1 to 10,000.
        theta_thousandths: u32,
    },
    /// The share `hot` of the blocks gets the rest of the accesses, and so on inside it; hot blocks lie scattered.
    Pareto {
        /// Above 0, at most a half.
        hot: Millionths,
    },
    /// Heat falls off from the hottest blocks as the bell curve does; hot blocks lie scattered.
    Normal {
        /// Standard deviation as a share of the region, above 0.
        deviation: Millionths,
    },
    /// Parts of the region, side by side in this order, each with its share of the accesses and uniform inside.
    /// Both shares add up to the whole.
    Zones(Vec<Zone>),
    /// Every `stride` from the start; at the end again from the next block, so that every block comes once.
    Strided {
        /// From start to start; a multiple of the block size.
        stride: Bytes,
    },
    /// A share of the I/Os goes on where the one before it ended; the others jump anywhere.
    Mixed {
        /// That share, neither nothing nor all.
        sequential: Millionths,
    },
    /// As a trace says; the stream has a [`Replay`](crate::trace::Replay).
    Traced,
}

/// A part of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    /// Share of the region.
    pub space: Millionths,
    /// Share of the accesses.
    pub accesses: Millionths,
}

/// Exponent of Zipf in thousandths. At 10 the first block gets 99.9 % of all accesses.
pub const THETA: Limits<u32> = Limits { least: 1, most: 10_000 };
/// The hot share of Pareto; at a half every block is equally hot.
pub const HOT: Limits<Millionths> = Limits { least: Millionths(1), most: Millionths::percent(50) };
/// Deviation of the bell curve; at the whole region it is nearly flat.
pub const DEVIATION: Limits<Millionths> = Limits { least: Millionths(1), most: Millionths::ALL };
/// Sequential share of a mixture: both parts must be there, the others have names of their own.
pub const SEQUENTIAL: Limits<Millionths> = Limits { least: Millionths(1), most: Millionths(999_999) };
/// Zones of a region.
pub const ZONES: Limits<usize> = Limits { least: 2, most: 64 };

impl Pattern {
    /// Whether the place of an I/O tells nothing of the place of the next one.
    pub fn is_scattered(&self) -> bool {
        match self {
            Pattern::Random | Pattern::Uniform | Pattern::Zones(_) => true,
            Pattern::Zipf { .. } | Pattern::Pareto { .. } | Pattern::Normal { .. } => true,
            Pattern::Sequential | Pattern::SharedSequential | Pattern::Append | Pattern::Reverse => false,
            Pattern::Strided { .. } | Pattern::Mixed { .. } | Pattern::Traced => false,
        }
    }

    /// Whether all blocks are equally hot, as far as one knows.
    pub fn is_even(&self) -> bool {
        !matches!(
            self,
            Pattern::Traced
                | Pattern::Zipf { .. }
                | Pattern::Pareto { .. }
                | Pattern::Normal { .. }
                | Pattern::Zones(_)
        )
    }

    /// Whether all jobs of a stream work on one region together.
    pub fn is_shared(&self) -> bool {
        matches!(self, Pattern::SharedSequential | Pattern::Traced)
    }
}
