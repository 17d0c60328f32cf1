//! How the arrivals of an open loop add up over time: what its rate is at any moment. Integers only: nothing drifts.

use stend_base::MilliIops;
use stend_spec::rate::{Rate, Shape, Step};

/// Counts are fixed-point numbers of so many fractional bits: gaps of a Poisson process are exact to a
/// millionth of the mean gap, and 2^44 arrivals are more than ten million per second make in a week.
pub(crate) const FRACTION: u32 = 20;
/// Equal steps that a ramp or a swing is made of; each differs by a thousandth of the range from the next.
const PARTS: u64 = 1024;

/// Time from count: the integral of the rate, inverted piece by piece.
///
/// Amounts are kept in millionths of a millionth of an arrival: a rate of n thousandths per second adds n of them
/// each nanosecond, so that every border is exact.
#[derive(Debug, Clone)]
pub(crate) struct Course {
    sections: Vec<Section>,
}

/// A stretch of the course: pieces that come once and the last of which goes on, or that repeat.
#[derive(Debug, Clone)]
struct Section {
    start: u64,
    amount: u128,
    /// (length, amount) of one repetition.
    repeats: Option<(u64, u128)>,
    pieces: Vec<Piece>,
}

/// Constant rate, from a time and an amount inside the section on.
#[derive(Debug, Clone, Copy)]
struct Piece {
    start: u64,
    amount: u128,
    rate: u64,
}

impl Course {
    /// Memory that it takes, bytes.
    pub fn memory(&self) -> u64 {
        let pieces: usize = self.sections.iter().map(|section| section.pieces.len()).sum();
        (pieces * size_of::<Piece>() + self.sections.len() * size_of::<Section>()) as u64
    }

    /// The course of a checked rate.
    pub fn new(rate: &Rate) -> Course {
        let mut sections: Vec<Section> = Vec::new();
        for (index, step) in rate.steps.iter().enumerate() {
            let pieces = match rate.steps.get(index + 1) {
                Some(next) if next.shape == Shape::Ramp => ramp(step.rate, next.rate, next.at.0 - step.at.0),
                _ => level_or_wave(step),
            };
            let amount = sections.last().map_or(0, |last| last.amount_at(step.at.0));
            sections.push(Section::new(step, amount, pieces));
        }
        Course { sections }
    }

    /// When the rate has added up to `count` (with [`FRACTION`] bits): ns since the start of the load, rounded
    /// down; `None` if it never does.
    #[inline]
    pub fn due(&self, count: u64) -> Option<u64> {
        // 10^12 / 2^20, exactly.
        let amount = (u128::from(count) * 244_140_625) >> 8;
        let section = &self.sections[self.sections.partition_point(|s| s.amount <= amount).saturating_sub(1)];
        section.time_of(amount - section.amount)
    }

    /// The least count that is not due before `time`: what the rate has added up to by then, rounded up.
    pub fn count(&self, time: u64) -> u64 {
        let section = &self.sections[self.sections.partition_point(|s| s.start <= time).saturating_sub(1)];
        let count = (section.amount_at(time) << 8).div_ceil(244_140_625);
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

impl Section {
    fn new(step: &Step, amount: u128, lengths: Vec<(u64, u64)>) -> Section {
        let (mut pieces, mut start, mut sum) = (Vec::with_capacity(lengths.len()), 0, 0u128);
        for (length, rate) in lengths {
            pieces.push(Piece { start, amount: sum, rate });
            start += length;
            sum += u128::from(length) * u128::from(rate);
        }
        let repeats = match step.shape {
            Shape::Sine { .. } | Shape::Burst { .. } => Some((start, sum)),
            Shape::Jump | Shape::Ramp => None,
        };
        Section { start: step.at.0, amount, repeats, pieces }
    }

    /// Time at which `amount` more than at the start of the section has been added.
    #[inline]
    fn time_of(&self, amount: u128) -> Option<u64> {
        let (begin, rest) = match self.repeats {
            Some((_, 0)) => return None,
            Some((length, sum)) => (u128::from(self.start) + u128::from(length) * (amount / sum), amount % sum),
            None => (u128::from(self.start), amount),
        };
        let piece = self.pieces[self.pieces.partition_point(|p| p.amount <= rest).saturating_sub(1)];
        let inside = (rest - piece.amount).checked_div(u128::from(piece.rate))?;
        u64::try_from(begin + u128::from(piece.start) + inside).ok()
    }

    /// Amount since the start of the load at `time`, which is not before the section.
    fn amount_at(&self, time: u64) -> u128 {
        let inside = time - self.start;
        let (before, rest) = match self.repeats {
            Some((length, sum)) => (u128::from(inside / length) * sum, inside % length),
            None => (0, inside),
        };
        let piece = self.pieces[self.pieces.partition_point(|p| p.start <= rest).saturating_sub(1)];
        self.amount + before + piece.amount + u128::from(rest - piece.start) * u128::from(piece.rate)
    }
}

/// (length, rate) of pieces from one rate to another.
fn ramp(from: MilliIops, to: MilliIops, length: u64) -> Vec<(u64, u64)> {
    let border = |i: u64| (u128::from(length) * u128::from(i) / u128::from(PARTS)) as u64;
    let rate = |i: u64| (from.0 * (2 * PARTS - 2 * i - 1) + to.0 * (2 * i + 1)) / (2 * PARTS);
    (0..PARTS).map(|i| (border(i + 1) - border(i), rate(i))).collect()
}

fn level_or_wave(step: &Step) -> Vec<(u64, u64)> {
    let Step { rate, shape, .. } = step;
    match *shape {
        Shape::Jump | Shape::Ramp => vec![(0, rate.0)],
        Shape::Burst { rate: high, every, lasting } => vec![(lasting.0, high.0), (every.0 - lasting.0, rate.0)],
        Shape::Sine { amplitude, period } => {
            let swing = |i: u64| ((2 * i + 1) as f64 / PARTS as f64 * std::f64::consts::PI).sin() * amplitude.0 as f64;
            let pieces = ramp(*rate, *rate, period.0).into_iter().zip(0..PARTS);
            pieces.map(|((length, rate), i)| (length, rate.saturating_add_signed(swing(i).round() as i64))).collect()
        }
    }
}
