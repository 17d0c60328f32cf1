//! When a case is repeated often enough: at which numbers of trials its precision is looked at, and what it is held against.
//! Must not measure precision: `analyse` does, and reports it by [`Outcome::Narrow`](crate::plan::Outcome).

use serde::{Deserialize, Serialize};
use stend_base::Millionths;

/// Precision at which a case has been repeated often enough. It does not matter in which direction anything differs: a run
/// that stops as soon as a difference shows will find one by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Until {
    /// Half of the 95 % interval of the rate that a case is known by, relative to it.
    pub width: Millionths,
    /// The same of the p99 of every operation; `None`: it is not looked at.
    pub p99: Option<Millionths>,
}

/// Fewest blocks of a suite that has an [`Until`]: those of the first look.
pub const FIRST_LOOK: u32 = 6;
/// The next one.
pub const SECOND_LOOK: u32 = 8;
/// From here on every fourth block is looked at.
const SPARSE_FROM: u32 = 12;
/// Distance of looks from there on. Each look is a chance to stop on an interval that is narrow by luck.
const DISTANCE: u32 = 4;

/// Whether precision is looked at after so many trials of a case: 6, 8, 12, 16, 20, and so on.
pub fn is_look(trials: u32) -> bool {
    trials == FIRST_LOOK || trials == SECOND_LOOK || trials >= SPARSE_FROM && trials.is_multiple_of(DISTANCE)
}

#[cfg(test)]
mod tests {
    use super::is_look;

    #[test]
    fn looks_are_those_of_the_method() {
        let looks: Vec<u32> = (0..=24).filter(|n| is_look(*n)).collect();
        assert_eq!(looks, [6, 8, 12, 16, 20, 24]);
    }
}
