//! What a comparison says of a cell, and by which rule.

use crate::findings::CheckId;
use stend_base::Nanos;

/// What a ratio means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The whole interval is beyond the margin, on the good side: more of a rate, less of a latency.
    Better,
    /// The whole interval is beyond the margin, on the bad side.
    Worse,
    /// The interval excludes equality and reaches into the margin.
    Differs,
    /// The whole interval is within the margin.
    Equivalent,
    /// None of these can be said; [`Judged::doubt`] says why.
    Inconclusive,
}

/// Why nothing can be said.
#[derive(Debug, Clone, PartialEq)]
pub enum Doubt {
    /// The interval holds equality and reaches beyond the margin.
    Wide,
    /// There is no interval; the basis of the ratio says why.
    NoInterval,
    /// Too few blocks (or trials, of runs that did not alternate) for a table of so many cells.
    TooFew {
        /// Blocks, or trials of the run that has fewer.
        have: u32,
        /// Needed for this table.
        need: u32,
    },
    /// It looks different, and among so many cells one does by chance.
    Chance,
    /// It is smaller than what this stand differs from itself.
    InsideFloor,
    /// A check failed in the baseline or in the other run: its number, e.g. `H18`.
    Failed(Vec<CheckId>),
    /// The label means another workload in the other run.
    OtherWorkload,
}

/// The verdict of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is inconclusive; `None` for every other verdict.
    pub doubt: Option<Doubt>,
    /// p of the ratio after Holm's correction for all cells that are judged together; `None` for those left out.
    pub p_adjusted: Option<f64>,
    /// Better or worse, and measured in alternating blocks: only then may a colour say it. Between runs that were
    /// made one after the other anything else may have changed, too.
    pub coloured: bool,
}

impl Judged {
    /// Nothing can be said, for this reason.
    pub(in super::super) fn doubtful(doubt: Doubt) -> Judged {
        Judged { verdict: Verdict::Inconclusive, doubt: Some(doubt), p_adjusted: None, coloured: false }
    }
}

/// What the cells of a table are held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Difference that does not matter, as a part of the baseline's value: 0.02 is from 1 / 1.02 to 1.02. What is called
    /// equivalent lies within it; noise cannot widen it, or a noisy stand would call everything equal.
    pub margin: f64,
    /// What a rate must differ by to be called better or worse: the margin, or the A/A floor if that is more.
    pub rate: f64,
    /// The same of a latency.
    pub latency: f64,
    /// Cells that are judged together.
    pub cells: u32,
    /// Cells that are judged together once each has enough blocks: those that have too few now count, too.
    pub together: u32,
    /// Blocks (or trials of each run) that so many cells need: with fewer no p can be small enough.
    pub needed: u32,
    /// Blocks that it takes to tell the cells apart that have too few or too wide an interval, by how far their blocks spread; at least `needed`. `None`: more
    /// than 1000.
    pub suggested: Option<u32>,
    /// What a block took in the runs that are compared, at most; `None` where that is not known.
    pub block: Option<Nanos>,
}
