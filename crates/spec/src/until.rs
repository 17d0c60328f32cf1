//! When a case is repeated often enough: at which numbers of trials its precision is looked at, and what it is held against.
//! Must not measure precision: `analyse` does, and says so by [`Outcome::Narrow`](crate::plan::Outcome).

use serde::{Deserialize, Serialize};
use stend_base::Millionths;

/// Precision at which a case has been repeated often enough. It does not matter in which direction anything differs: whoever
/// stops as soon as a difference shows will find one by chance.
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
    use crate::fixture;
    use crate::plan::{Decision, Outcome, Plan, StopReason};

    #[test]
    fn looks_are_those_of_the_method() {
        let looks: Vec<u32> = (0..=24).filter(|n| is_look(*n)).collect();
        assert_eq!(looks, [6, 8, 12, 16, 20, 24]);
    }

    #[test]
    fn a_case_that_is_precise_is_not_repeated_and_the_others_go_on() {
        let stream = "[{op: read, pattern: random, block_size: 4KiB}]";
        let text = format!(
            "suite: x\nfill: none\nrepeats: {{blocks: 8, until: {{}}}}\ncases:\n  - {{name: a, streams: {stream}}}\n  \
             - {{name: b, streams: {stream}}}\n"
        );
        let plan = Plan::new(&fixture::inputs(crate::parse::suite(&text, "x").unwrap())).unwrap();
        let (mut history, mut count) = (Vec::new(), [0; 2]);
        while let Decision::Trial { case, .. } = plan.next(&history) {
            count[case as usize] += 1;
            let narrow = case == 0 && count[0] == 6;
            history.push(if narrow { Outcome::Narrow } else { Outcome::Ok });
        }
        assert_eq!(count, [6, 8]);
        assert_eq!(plan.next(&history), Decision::Stop(StopReason::Done));
    }

    #[test]
    fn a_case_whose_arms_differ_precisely_ends_in_all_of_them() {
        let stream = "[{op: read, pattern: random, block_size: 4KiB}]";
        let text = format!(
            "suite: x\nfill: none\nrepeats: {{blocks: 8, until: {{}}}}\narms: [{{name: x}}, {{name: y}}]\ncases:\n  \
             - {{name: a, streams: {stream}}}\n  - {{name: b, streams: {stream}}}\n"
        );
        let plan = Plan::new(&fixture::inputs(crate::parse::suite(&text, "x").unwrap())).unwrap();
        let (mut history, mut count) = (Vec::new(), [0; 4]);
        while let Decision::Trial { case, block, .. } = plan.next(&history) {
            count[case as usize] += 1;
            // Whichever arm is the last of the sixth block completes it.
            let narrow = block == 5 && case % 2 == 0 && (count[0], count[2]) == (6, 6);
            history.push(if narrow { Outcome::Narrow } else { Outcome::Ok });
        }
        assert_eq!(count, [6, 8, 6, 8]);
    }
}
