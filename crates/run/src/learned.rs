//! What trials have shown so far, and on which hosts: the same while a run goes on and when its file is read to go on with it. Pure.

use std::collections::BTreeMap;
use stend_analyse::{Ended, Looks};
use stend_plan::{Outcome, Plan};
use stend_record::{HostId, TrialOutcome};

/// Which trial, or round before the trials of a case, has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Which {
    /// Index of the case.
    pub case: u32,
    /// Block of a trial, number of a round.
    pub number: u32,
    /// It is a round.
    pub round: bool,
}

/// What is remembered of trials.
#[derive(Debug, Clone, Default)]
pub struct Learned {
    /// What tells when a case is precise enough.
    looks: Looks,
    /// The hosts that made the last trial or round of each case.
    loaded_by: BTreeMap<u32, Vec<HostId>>,
}

impl Learned {
    /// What the end of a trial means for what comes next, on `whole` and on each host that made it. A host of it was lost meanwhile if it is
    /// `cut_short`; `hosts` is how many the run has. Trials must come in the order of the run.
    pub(crate) fn ended(
        &mut self,
        plan: &Plan,
        which: Which,
        (whole, parts): (&TrialOutcome, &[(HostId, &TrialOutcome)]),
        (cut_short, hosts): (bool, u32),
    ) -> Outcome {
        let Which { case, number, round } = which;
        let made_by: Vec<HostId> = parts.iter().map(|(host, _)| *host).collect();
        let asked = plan.cases[case as usize].trial.load_hosts.map_or(hosts, |count| count.min(hosts));
        let lacks_hosts = cut_short || made_by.len() < asked as usize;
        if cut_short {
            self.looks = Looks::default();
        }
        let before = self.loaded_by.insert(case, made_by.clone());
        // Also where a host was lost after it had measured its part of the trial before.
        if before.is_some_and(|before| before != made_by) {
            self.looks.forget(case);
        }
        let ended = Ended { whole, parts: parts.iter().map(|(_, outcome)| *outcome).collect(), lacks_hosts };
        let found = match round {
            true => self.looks.round(plan, (case, number), &ended),
            false => self.looks.step(plan, (case, number), &ended),
        };
        if cut_short {
            self.looks = Looks::default();
        }
        found
    }

    /// All hosts of a trial were lost: nothing of it counts, nor do looks at others.
    pub(crate) fn lost(&mut self) -> Outcome {
        self.looks = Looks::default();
        Outcome::Incomplete
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_plan::PlanInputs;
    use stend_record::TrialStatus;

    #[test]
    fn a_searched_rate_is_tried_only_where_all_hosts_of_the_run_were_there_to_the_end() {
        let search = "rate: {search: {from: 50/s, to: 200/s, quantile: 90%, limit: 1ms}}";
        let text = format!(
            "suite: s\ncases: [{{name: c, streams: [{{op: read, pattern: random, block_size: 4KiB, {search}}}]}}]\n"
        );
        let inputs = PlanInputs {
            suite: stend_spec::parse::suite(&text, "s.yaml").unwrap(),
            seed: 1,
            target: crate::ahead::plan_target(&crate::fixture::facts()),
            time_budget: None,
            traces: Vec::new(),
        };
        let (plan, outcome) = (Plan::new(&inputs).unwrap(), crate::fixture::outcome(TrialStatus::Complete));
        let of = |hosts: &[u16], cut_short| {
            let parts: Vec<(HostId, &TrialOutcome)> = hosts.iter().map(|host| (HostId(*host), &outcome)).collect();
            let which = Which { case: plan.ladders[0].cells[0], number: 0, round: false };
            Learned::default().ended(&plan, which, (&outcome, &parts), (cut_short, 3))
        };
        assert_eq!(of(&[0, 1, 2], false), Outcome::Missed, "nothing was served");
        assert_eq!(of(&[0, 2], false), Outcome::Incomplete, "one was lost before");
        assert_eq!(of(&[0, 1, 2], true), Outcome::Incomplete, "one was lost meanwhile");
        assert_eq!(Learned::default().lost(), Outcome::Incomplete);
    }
}
