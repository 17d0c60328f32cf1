//! Rounds before a case is measured: what comes next after those that were. Must not judge: `analyse` does, with
//! [`Outcome::Steady`].

use crate::decision::Outcome;
use stend_spec::steady::Steady;

/// What comes next before the trials of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// A round, the first of which is 0.
    Round(u32),
    /// Its trials: it is steady, or there were as many rounds as there may be.
    Trials,
    /// Nothing: I/O failed too often.
    GivenUp,
}

/// Goes on with outcomes of rounds until those of this case are used up. `failures` counts with those of its trials, of which
/// there may be fewer than `failures_most`.
pub(crate) fn next<'h>(
    steady: &Steady,
    (failures, failures_most): (&mut usize, usize),
    outcomes: &mut impl Iterator<Item = &'h Outcome>,
) -> Next {
    let mut round = 0;
    while round < steady.rounds {
        match outcomes.next() {
            None => return Next::Round(round),
            Some(Outcome::Steady) => return Next::Trials,
            // The load stood still: whatever it had reached is lost.
            Some(Outcome::Paused) => round = 0,
            Some(Outcome::Failed | Outcome::Stalled) => {
                *failures += 1;
                round += 1;
                if *failures >= failures_most {
                    return Next::GivenUp;
                }
            }
            Some(Outcome::Ok | Outcome::Missed | Outcome::Narrow | Outcome::Incomplete) => round += 1,
        }
    }
    Next::Trials
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;
    use crate::decision::{Decision, StopReason};
    use crate::fixture;
    use proptest::prelude::*;
    use stend_base::Nanos;

    /// A plain case beside two cells with at most six rounds each, three blocks.
    const SUITE: &str = "\
suite: x
fill: none
repeats: {blocks: 3}
cases:
  - {name: settled, steady: {rounds: 6, round: 10s}, streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: [1, 8]}]}
  - {name: plain, streams: [{op: read, pattern: random, block_size: 4KiB}]}
";

    fn plan() -> Plan {
        Plan::new(&fixture::inputs(stend_spec::parse::suite(SUITE, "s.yaml").unwrap())).unwrap()
    }

    /// The decisions of a plan, as `r3` for a round and `t0` for a trial of a case, with what `answer` says to each.
    fn walk(plan: &Plan, mut answer: impl FnMut(Decision) -> Outcome) -> (String, Vec<Outcome>) {
        let (mut history, mut said) = (Vec::new(), Vec::new());
        loop {
            let decision = plan.next(&history);
            said.push(match decision {
                Decision::Round { case, round, .. } => format!("{case}r{round}"),
                Decision::Trial { case, block, .. } => format!("{case}t{block}"),
                Decision::Stop(_) | Decision::Fill { .. } => return (said.join(" "), history),
            });
            assert!(history.len() < 1000, "no end: {said:?}");
            history.push(answer(decision));
        }
    }

    #[test]
    fn rounds_come_before_the_trials_of_their_case_which_follow_without_others_between() {
        let steady_after = |round| {
            walk(&plan(), move |decision| match decision {
                Decision::Round { round: at, .. } if at == round => Outcome::Steady,
                _ => Outcome::Ok,
            })
        };
        assert_eq!(steady_after(4).0, "2t0 2t1 2t2 0r0 0r1 0r2 0r3 0r4 0t0 0t1 0t2 1r0 1r1 1r2 1r3 1r4 1t0 1t1 1t2");
        let never = steady_after(99).0;
        assert!(never.contains("0r4 0r5 0t0") && never.contains("1r5 1t0"), "{never}");
    }

    #[test]
    fn after_a_pause_the_rounds_begin_anew_and_the_trials_go_on() {
        let plan = plan();
        let mut history = vec![Outcome::Ok; 3];
        history.extend([Outcome::Ok, Outcome::Ok, Outcome::Paused]);
        assert!(matches!(plan.next(&history), Decision::Round { case: 0, round: 0, .. }));
        history.extend([Outcome::Steady, Outcome::Ok]);
        assert!(matches!(plan.next(&history), Decision::Trial { case: 0, block: 1, .. }));
        history.push(Outcome::Paused);
        assert!(matches!(plan.next(&history), Decision::Round { case: 0, round: 0, .. }));
        history.push(Outcome::Steady);
        assert!(matches!(plan.next(&history), Decision::Trial { case: 0, block: 1, .. }));
    }

    #[test]
    fn rounds_with_failed_io_give_a_case_up_as_trials_do() {
        let failing =
            |decision| if let Decision::Round { case: 0, .. } = decision { Outcome::Failed } else { Outcome::Ok };
        let (said, history) = walk(&plan(), failing);
        assert!(said.starts_with("2t0 2t1 2t2 0r0 0r1 1r0") && !said.contains("0t"), "{said}");
        assert_eq!(plan().next(&history), Decision::Stop(StopReason::Done));
    }

    #[test]
    fn the_longest_that_a_plan_may_take_is_that_of_all_rounds() {
        let plan = plan();
        let (rounds, trials) = (2 * 6 * 10, 9 * 4);
        assert_eq!((plan.trial_time(), plan.usual_trials(), plan.rounds_most()), (Nanos::secs(rounds + trials), 9, 12));
        assert_eq!(plan.rounds_time(0), Nanos::secs(60));
    }

    #[test]
    fn a_time_budget_must_hold_all_rounds() {
        let inputs = fixture::inputs(stend_spec::parse::suite(SUITE, "s.yaml").unwrap());
        let of = |secs| Plan::new(&crate::PlanInputs { time_budget: Some(Nanos::secs(secs)), ..inputs.clone() });
        assert!(of(140).unwrap_err().message.en.contains("too small"));
        assert!(of(200).unwrap().trial_time() <= Nanos::secs(160));
    }

    #[test]
    fn the_seeds_of_rounds_are_those_of_no_trial() {
        let mut seeds = Vec::new();
        walk(&plan(), |decision| {
            if let Decision::Round { seed, .. } | Decision::Trial { seed, .. } = decision {
                seeds.push(seed);
            }
            Outcome::Ok
        });
        let all = seeds.len();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), all);
    }

    proptest! {
        #[test]
        fn a_plan_ends_within_its_bounds_whatever_happens_and_decides_alike_again(answers in proptest::collection::vec(0u8..5, 1..60)) {
            let plan = plan();
            let mut answers = answers.into_iter().cycle();
            let all = [Outcome::Ok, Outcome::Steady, Outcome::Failed, Outcome::Narrow, Outcome::Missed];
            let (said, history) = walk(&plan, |_| all[usize::from(answers.next().unwrap())]);
            prop_assert!(history.len() <= (plan.rounds_most() + plan.usual_trials()) as usize, "{}", said);
            let mut replayed = history.iter();
            prop_assert_eq!(walk(&plan, |_| *replayed.next().unwrap()).0, said);
        }

        #[test]
        fn pauses_anywhere_never_keep_a_plan_from_its_end(pauses in proptest::collection::vec(0usize..80, 0..20)) {
            let plan = plan();
            let mut step = 0;
            let (said, _) = walk(&plan, |_| {
                step += 1;
                if pauses.contains(&step) { Outcome::Paused } else { Outcome::Ok }
            });
            prop_assert!(said.contains("0t2") && said.contains("1t2") && said.contains("2t2"), "{}", said);
        }
    }
}
